// SPDX-License-Identifier: GPL-3.0-or-later
// Says that a scroll area has more above its upper edge, or below its lower one.
#pragma once

class QScrollArea;

namespace parallelarium {

// A fade with an arrow at the lower edge of `area` while it can be scrolled down, and at the upper
// one while it can be scrolled up. The area owns them; a click scrolls.
void add_scroll_hint(QScrollArea& area);

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// Says that a scroll area has more below its lower edge.
#pragma once

class QScrollArea;

namespace parallelarium {

// A fade with an arrow at the lower edge of `area` while it can be scrolled down. The area owns it;
// the mouse goes through it.
void add_scroll_hint(QScrollArea& area);

}  // namespace parallelarium

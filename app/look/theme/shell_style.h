// SPDX-License-Identifier: GPL-3.0-or-later
// Rules of the window's own parts (strip cells, chips, banners), beside those of the theme.
#pragma once

#include <QString>

#include "app/look/theme/theme.h"

namespace parallelarium {

QString shell_style_sheet(const Theme& theme);

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// QCustomPlot's header uses Qt's keywords, which the rest of the program is built without.
#pragma once

#define signals Q_SIGNALS
#define slots Q_SLOTS
#define foreach Q_FOREACH
#include <qcustomplot.h>
#undef signals
#undef slots
#undef foreach

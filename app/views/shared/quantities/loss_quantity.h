// SPDX-License-Identifier: GPL-3.0-or-later
// The loss as a quantity: that of the shown run, of the run under way, and of one rank alone.
#pragma once

#include <QLocale>

#include "app/state/session.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {

// `run`: the run of the present Setup, or null. `other_run`: there is a run of other settings.
Quantity loss_quantity(const Session& session, const RunRecord* run, bool other_run,
                       const QLocale& locale);

}  // namespace parallelarium

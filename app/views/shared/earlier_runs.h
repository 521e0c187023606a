// SPDX-License-Identifier: GPL-3.0-or-later
// The menu of earlier runs: which there are, in which order, and how they are named.
#pragma once

#include <functional>

#include "app/state/run/run_store.h"

class QMenu;

namespace parallelarium {

// An entry for each run that no view shows for itself, the latest first. `choose` gets a copy that
// outlives the store's. Without any, the menu cannot be opened.
void add_earlier_runs(QMenu& menu, const RunStore& runs,
                      const std::function<void(const RunRecord&)>& choose);

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The menu of earlier runs: its entries, their order and their names.
#pragma once

#include <functional>

#include "app/state/run/run_store.h"

class QMenu;

namespace parallelarium {

// Adds an entry for each run that no view shows by itself, latest first. `choose` gets a copy that
// outlives that of the store. If there are no entries, the menu cannot be opened.
void add_earlier_runs(QMenu& menu, const RunStore& runs,
                      const std::function<void(const RunRecord&)>& choose);

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// What a search found as a table for files, in the C locale.
#pragma once

#include <string>

#include "app/state/plan/plan_search.h"
#include "app/views/view.h"

namespace parallelarium {

// A line for each plan that can be selected, with its figures and settings, and then one for each
// other plan that was simulated, of which the search kept the step time and the memory alone. The
// search must have an answer.
std::string search_csv(const PlanSearch& search);
// That for export; none: nothing was found yet.
std::optional<ViewTable> searched_table(const Session& session);

}  // namespace parallelarium

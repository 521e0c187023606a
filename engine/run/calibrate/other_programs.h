// SPDX-License-Identifier: Apache-2.0
// How many cores other programs use while this one measures.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "engine/plan/placement/cores.h"

namespace parallelarium {

// The clocks of the system at one moment, in seconds.
struct CoreClocks {
  double wall = 0;
  double busy = 0;  // all programs on the cores of this program, added up
  double own = 0;   // this program on all of its cores, added up
};

// Cores that other programs used between two moments, on average: at least 0. None if no time has
// passed.
std::optional<double> cores_used_by_others(const CoreClocks& before, const CoreClocks& after);

// Seconds that the processing units of `cores` were busy since the system began, from the text of
// /proc/stat, whose numbers are ticks. Time that a virtual machine's host gave to others does not
// count. None: the text lacks one of the units. Source: proc(5).
std::optional<double> busy_seconds(std::string_view stat, const std::vector<Core>& cores,
                                   double ticks_per_second);

// The clocks of this moment. None: the system does not tell, for example without /proc.
std::optional<CoreClocks> core_clocks(const std::vector<Core>& cores);

}  // namespace parallelarium

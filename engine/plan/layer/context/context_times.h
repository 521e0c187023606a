// SPDX-License-Identifier: Apache-2.0
// Compares how much of the causal square each CP rank computes with how long its attention took.
// This shows what a contiguous split costs and what zigzag saves.
#pragma once

#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/program/timeline.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Seconds of attention by CP rank: the sum over all layers and micro-batches of the step, averaged
// over the ranks at that place along CP. The list is empty without CP, or if no rank of some place
// was built. `timeline` belongs to a prediction or a run of this Program. Cost: proportional to the
// ops.
std::vector<double> attention_seconds(const Setup& setup, const Program& program,
                                      const Timeline& timeline);

struct ContextTimes {
  std::vector<double> work;     // by CP rank: blocks of scores, as LayerContext::blocks_of
  std::vector<double> seconds;  // as attention_seconds()
  bool known() const { return !work.empty() && !seconds.empty(); }
};
ContextTimes context_times(const Setup& setup, const Program& program, const Timeline& timeline);

// Divides each value by the least. Empty if one of them is nothing.
std::vector<double> over_least(const std::vector<double>& of);

}  // namespace parallelarium

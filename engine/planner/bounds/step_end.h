// SPDX-License-Identifier: Apache-2.0
// What a step does beside its actions: gradients are added up over the replicas, and after the last
// action all parameters are updated. Read from the drafts that the sharding pass writes.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// One bucket. Where ZeRO keeps only parts of it: bytes of its parameters and of its gradients, and
// the nanoseconds to gather the ones, and to clear the others before, in the compute lane. Always:
// the nanoseconds to reduce its gradients over replicas, and then across groups of ZeRO.
struct BucketCost {
  std::int64_t gathered = 0, gradients = 0;
  std::int64_t gather = 0, reduce = 0, clear = 0, across = 0;
};

// Least nanoseconds and bytes of one rank.
struct RankEnd {
  std::int64_t norm = 0;    // of its gradients
  std::int64_t update = 0;  // after all ranks of its pipeline know the norm, to the step's end
  std::int64_t reduce = 0;  // to add up all its gradients once, in the data lane
  std::int64_t across = 0;  // then to add up its own parts over groups of ZeRO, once a step
  // To gather all its parameters once, in the data lane, where that is before they are read.
  std::int64_t gather = 0;
  // Of a layer's buckets together, at least; of its smallest bucket of experts, and of other
  // parameters; of the buckets of the token table and the head; of whatever is read at once.
  BucketCost layer, experts, others, table, head, least;
  int prefetch = 0;  // stretches whose buckets are gathered ahead, where each action does
  int layers = 0;    // of its smallest stage
};
using StepEnd = std::vector<RankEnd>;  // by place in the pipeline

// What a StepEnd depends on.
struct EndKey {
  std::int32_t tp = 1, cp = 1, ep = 1, dp = 1, pp = 1, stages = 1;
  std::int32_t zero_group = 0;
  std::uint8_t zero = 0, way = 0, order = 0;  // how ranks hold their stages, and stand
  std::uint8_t cut = 0;                       // of the layers
  bool expert_tensor = true;
  auto operator<=>(const EndKey&) const = default;
};
// `cut`: another number for other stage_layers.
EndKey end_key_of(const Setup& setup, std::uint8_t cut);
// Cost: the parameters of ranks that differ.
StepEnd step_end(const Setup& setup, const Machine& machine);

// The stages that a rank of the pipeline holds, as the Setup's schedule has them.
std::vector<int> stages_on(const Setup& setup, int rank);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// What a step does beside its actions: it adds up gradients over the replicas, and after the last
// action it updates all parameters. This is read from the drafts that the sharding pass writes.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// The costs of one bucket. `gathered`, `gradients`: bytes of its parameters and of its gradients.
// `gather`, `clear`: nanoseconds to gather the parameters, and to clear the gradients in the
// compute lane. These four are 0 unless ZeRO keeps only parts of the bucket. `reduce`, `across`:
// nanoseconds to reduce its gradients over replicas, and then across groups of ZeRO.
struct BucketCost {
  std::int64_t gathered = 0, gradients = 0;
  std::int64_t gather = 0, reduce = 0, clear = 0, across = 0;
};

// Least nanoseconds and bytes of one rank.
struct RankEnd {
  std::int64_t norm = 0;    // to compute the norm of its gradients
  std::int64_t update = 0;  // after all ranks of its pipeline know the norm, to the step's end
  std::int64_t reduce = 0;  // to add up all its gradients once, in the data lane
  std::int64_t across = 0;  // then to add up its own parts over groups of ZeRO, once a step
  // To gather all its parameters once, in the data lane, if that comes before they are read.
  std::int64_t gather = 0;
  // `layer`: the least of a layer's buckets together. `experts`, `others`: its smallest bucket of
  // experts, and of other parameters. `table`, `head`: the buckets of the token table and of the
  // head. `least`: the least of anything that is read at once.
  BucketCost layer, experts, others, table, head, least;
  int prefetch = 0;  // stretches whose buckets are gathered ahead, if each action gathers
  int layers = 0;    // layers of its smallest stage
};
using StepEnd = std::vector<RankEnd>;  // by place in the pipeline

// What a StepEnd depends on.
struct EndKey {
  std::int32_t tp = 1, cp = 1, ep = 1, dp = 1, pp = 1, stages = 1;
  std::int32_t zero_group = 0;
  // `way`: how ranks hold their stages; `order`: of ranks.
  std::uint8_t zero = 0, way = 0, order = 0;
  std::uint8_t cut = 0;  // cut of the layers into stages
  bool expert_tensor = true;
  auto operator<=>(const EndKey&) const = default;
};
// `cut`: a number that differs if stage_layers differ.
EndKey end_key_of(const Setup& setup, std::uint8_t cut);
// Cost: proportional to the parameters of the ranks that differ.
StepEnd step_end(const Setup& setup, const Machine& machine);

// The stages that a rank of the pipeline holds with the Setup's schedule.
std::vector<int> stages_on(const Setup& setup, int rank);

}  // namespace parallelarium

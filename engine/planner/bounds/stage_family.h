// SPDX-License-Identifier: Apache-2.0
// The stages of all candidates that differ in PP, DP, ZeRO, schedule, rank order, cut and
// micro-batches alone.
//
// A stage is known by its shape: its ends, and how many layers it has. Stages of few layers are
// read from Programs of their own. What paths and peaks are of more layers follows from those of
// two and of three: they are the most of several sums, each of which grows by the same with every
// layer, so that what follows is no more than what more layers take.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"
#include "engine/planner/bounds/bound.h"

namespace parallelarium {

// What the stages of a family have in common.
struct StageKey {
  std::int32_t tp = 1, cp = 1, ep = 1, micro_batch = 1;
  std::uint8_t recompute = 0;
  bool sequence_parallel = false, expert_tensor = true;
  bool executable = false;      // with experts, whose buffers go by it
  std::int32_t ep_on_node = 0;  // ranks of a group on each of its nodes; 0: at most
  auto operator<=>(const StageKey&) const = default;
};
StageKey key_of(const Candidate& candidate, const Setup& setup, const Machine& machine);

// What a stage of a family is known by.
struct StageShape {
  std::uint8_t place = 0;  // of its rank: 0 the first, 1 the second, 2 any other
  bool last = false;
  std::int16_t dense = 0, experts = 0;  // layers; those with experts come behind
  auto operator<=>(const StageShape&) const = default;
};
// By stage. validate(setup) must be empty.
std::vector<StageShape> shapes_of(const Setup& setup);

class StageFamily {
 public:
  // Reads what table() needs of these shapes. `example`: a valid Setup of the family.
  // `with_stretches`: laned_bound() needs them. Error: what the passes refuse. Cost: a millisecond.
  static Result<StageFamily> make(const Setup& example, const Machine& machine,
                                  const std::set<StageShape>& shapes, bool with_stretches);
  // Of a candidate, by its stages, of which there must be one and no shape that make() was not
  // told.
  StageTable table(const std::vector<StageShape>& stages) const;

 private:
  struct Bounds {
    StageBound whole, split;
  };
  Bounds bounds_of(const StageShape& shape) const;

  std::map<StageShape, Bounds> read_;
  bool grows_ = true;  // layers of a kind are alike
  std::int64_t transfer_ = 0;
};

// Makes the table of one Setup. `with_stretches`: as make() takes it.
Result<StageTable> stage_table(const Setup& setup, const Machine& machine,
                               bool with_stretches = true);

}  // namespace parallelarium

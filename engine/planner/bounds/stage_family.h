// SPDX-License-Identifier: Apache-2.0
// The stages of all candidates that differ only in PP, DP, ZeRO, schedule, rank order, cut and
// micro-batches.
//
// A stage is identified by its shape: its ends, and its number of layers. Stages of few layers are
// read from Programs of their own. Paths and peaks for more layers follow from those for two and
// for three layers. Each is the maximum of several sums, and each sum grows by the same amount with
// every layer. So the extrapolated values never exceed the real ones.
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

// The properties that all stages of a family share.
struct StageKey {
  std::int32_t tp = 1, cp = 1, ep = 1, micro_batch = 1;
  std::uint8_t recompute = 0;
  bool sequence_parallel = false, expert_tensor = true;
  // With experts: whether the engine can execute it, which decides their buffers.
  bool executable = false;
  std::int32_t ep_on_node = 0;  // ranks of a group on each of its nodes; 0: as many as possible
  auto operator<=>(const StageKey&) const = default;
};
StageKey key_of(const Candidate& candidate, const Setup& setup, const Machine& machine);

// What identifies a stage in a family.
struct StageShape {
  std::uint8_t place = 0;  // place of its rank: 0 the first, 1 the second, 2 any other
  bool last = false;
  std::int16_t dense = 0, experts = 0;  // numbers of layers; those with experts come last
  auto operator<=>(const StageShape&) const = default;
};
// The shape of each stage. validate(setup) must be empty.
std::vector<StageShape> shapes_of(const Setup& setup);

class StageFamily {
 public:
  // Reads what table() needs for these shapes. `example` is a valid Setup of the family.
  // `with_stretches` reads the stretches too, which laned_bound() needs. Error: that of the passes.
  // Cost: a millisecond.
  static Result<StageFamily> make(const Setup& example, const Machine& machine,
                                  const std::set<StageShape>& shapes, bool with_stretches);
  // The table of a candidate with these stages, at least one. make() must have got all of their
  // shapes.
  StageTable table(const std::vector<StageShape>& stages) const;

 private:
  struct Bounds {
    StageBound whole, split;
  };
  Bounds bounds_of(const StageShape& shape) const;

  std::map<StageShape, Bounds> read_;
  bool grows_ = true;  // layers of a kind are alike, so sums grow evenly
  std::int64_t transfer_ = 0;
};

// Makes the table of one Setup. `with_stretches`: as make() takes it.
Result<StageTable> stage_table(const Setup& setup, const Machine& machine,
                               bool with_stretches = true);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Lower bounds of a candidate's step time and memory without building its Program.
//
// They stand on stages that the passes build and the cost model times, as predict() does: one
// micro-batch through the stages of a model with as many layers each. What a stage's actions take
// in the compute lane, when they need what comes and have what goes, and what they keep is read
// there; a walk of the Order then adds it up. The walk has the same lane order as the Program, a
// subset of its edges and no duration longer, so that no step is shorter than it says. After its
// last action a rank updates its parameters (step_end.h).
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/passes/arrange/nominal_walk.h"
#include "engine/plan/order/order.h"
#include "engine/planner/bounds/step_end.h"
#include "engine/planner/space.h"

namespace parallelarium {

// Where a rank's lanes and what passes its stage stand before a stretch of an action (a layer, the
// token table, or final norm and head), and after it: when the compute lane is free, when the
// pipeline lane is free, and when what comes is there, or what goes can leave. Before it also when
// its experts are gathered, and its other parameters.
enum class LanePoint : std::uint8_t { kCompute, kPipeline, kPassing, kExperts, kOthers };
inline constexpr std::size_t kLaneEnds = 3, kLaneBegins = 5;
inline constexpr std::int64_t kNoWay = INT64_MIN / 4;
// The longest ways through a stretch, in nanoseconds, to each point from each; kNoWay: none.
using LaneWays = std::array<std::array<std::int64_t, kLaneBegins>, kLaneEnds>;
struct StretchBound {
  enum class Part : std::uint8_t { kLayer, kTable, kHead, kOther };
  LaneWays ways{};
  Part part = Part::kOther;
};

// These are the least times (nanoseconds) and bytes of one kind of action on a stage.
struct ActionBound {
  std::int64_t busy = 0;        // in the compute lane
  std::int64_t duration = 0;    // from its first op there to its last: what it waits for besides
  std::int64_t until_need = 0;  // of it, what may pass before what comes is needed
  std::int64_t until_have = 0;  // of it, what passes at least before what goes can leave
  std::int64_t peak_bytes = 0;  // beside model states, with one micro-batch under way
  // The same until a layer's parameters are read, until the first of its buckets is read, while the
  // token table is read, and while the head is.
  std::int64_t layer_bytes = 0, buckets_bytes = 0, table_bytes = 0, head_bytes = 0;
};

struct StageBound {
  std::array<ActionBound, 4> actions;                  // by ActionKind
  std::array<std::vector<StretchBound>, 4> stretches;  // of each
  std::int64_t kept_bytes = 0;     // of a micro-batch from its forward to its backward
  std::int64_t waiting_bytes = 0;  // of it, from its input gradients to its weight gradients
  double shared = 0, experts = 0;  // parameters of a rank, see StageParameters
  double copied_table = 0;         // of `shared`: the last stage's copy of a tied table
};

// The stages of all candidates that differ in DP, ZeRO, schedule, rank order and micro-batches
// alone, and in the numbers of layers where none has too few.
struct StageTable {
  std::vector<StageBound> whole, split;  // as a whole or a split backward leaves them
  bool alike = false;                    // three stand for all: the first, one between, the last
  std::vector<std::uint8_t> rows;        // by stage, in `whole` and `split`; empty: by its place
  const StageBound& stage(int index, int stages, bool of_split) const;
  std::int64_t transfer = 0;  // nanoseconds between two stages, at least

  // Of `layers` each, and what one layer more adds; empty: it is of the candidate's own layers.
  int layers = 0;
  std::vector<StageBound> whole_more, split_more;
  bool grows() const { return !whole_more.empty(); }
  // For stages of so many layers. Paths and peaks are the most of several sums, each of which grows
  // by the same with every layer, so that what follows from two numbers of layers is no more than
  // what more of them take. grows() must be true. `with_stretches`: laned_bound() alone reads
  // these.
  StageTable grown(const std::vector<int>& layers_of_stages, bool with_stretches) const;
};

// What a StageTable depends on.
struct StageKey {
  std::int32_t tp = 1, cp = 1, ep = 1, micro_batch = 1, stages = 1, layers = 0;
  std::uint8_t recompute = 0;
  std::uint8_t cut = 0;  // Candidate::layers, where no three stages stand for all
  bool sequence_parallel = false;
  bool executable = false;      // with experts, whose buffers go by it
  std::int32_t ep_on_node = 0;  // ranks of a group on each of its nodes; 0: at most
  auto operator<=>(const StageKey&) const = default;
};
StageKey key_of(const Candidate& candidate, const Setup& setup, const Machine& machine);

// Error: what the passes refuse. `setup`: a valid candidate with that key.
Result<StageTable> stage_table(const Setup& setup, const Machine& machine);

struct Bound {
  std::int64_t nanoseconds = 0;  // of the step
  std::int64_t bytes = 0;        // of the fullest rank
  int stage = 0;                 // of that rank
  std::int64_t states = 0;       // its model states
};
// From sums alone. Cost: the number of stages.
Bound quick_bound(const Setup& setup, const StageTable& table, const StepEnd& end);
// From a walk of the Order too. Cost: the number of actions.
Result<Bound> walked_bound(const Setup& setup, const StageTable& table, const StepEnd& end);
// Of the time alone, from a walk that has the pipeline lanes too, in which transfers wait for both
// their ranks and the messages of a ring for the transfers before them. 0: this Setup has no such
// walk. Cost: the number of actions, and the pieces of every stage where nobody knows what
// nominal_ranks() says of the order.
using NominalRanksOf = std::function<const std::vector<NominalRank>&(const Order& order)>;
Result<std::int64_t> laned_bound(const Setup& setup, const Machine& machine,
                                 const StageTable& table, const StepEnd& end,
                                 const NominalRanksOf& known = nullptr);

// Empty where the table is of the Setup's own layers already.
StageTable own_table(const Setup& setup, const StageTable& shared, bool with_stretches);
// After all actions: the ranks of a pipeline wait for each other's norms, and then update.
std::int64_t with_end(const StepEnd& end, std::int64_t actions);
// Whether exchanges of tokens hide inside pairs of actions.
bool has_pairs(const Setup& setup);

}  // namespace parallelarium

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
// pipeline lane and that of rings are, and when what comes is there, or what goes can leave. Before
// it also when its experts are gathered, and its other parameters.
enum class LanePoint : std::uint8_t { kCompute, kPipeline, kRings, kPassing, kExperts, kOthers };
inline constexpr std::size_t kLaneEnds = 4, kLaneBegins = 6;
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

// What the stages of a candidate take: see stage_family.h.
struct StageTable {
  std::vector<StageBound> whole, split;  // as a whole or a split backward leaves them
  std::vector<std::uint8_t> rows;        // by stage, in `whole` and `split`
  std::int64_t transfer = 0;             // nanoseconds between two stages, at least
  const StageBound& stage(int index, bool of_split) const {
    return (of_split ? split : whole)[rows[static_cast<std::size_t>(index)]];
  }
};

struct Bound {
  std::int64_t nanoseconds = 0;  // of the step
  std::int64_t bytes = 0;        // of the fullest rank
  int stage = 0;                 // of that rank
  std::int64_t states = 0;       // its model states
};
// From sums alone, for all Setups that differ from one in ZeRO alone. Cost: the number of stages.
class QuickBound {
 public:
  QuickBound(const Setup& setup, StageTable table);
  Bound of(const Setup& setup, const StepEnd& end) const;

 private:
  struct RankBound {
    std::vector<int> held;          // stages
    std::int64_t until_reduce = 0;  // nanoseconds before all its gradients are added up; 0: unknown
    // Bytes: of other micro-batches beside the one at work, or, of a rank with several stages, of
    // all that are under way together; and of tokens.
    std::int64_t beside = 0, alone = 0, tokens = 0;
  };
  const StageTable table_;
  std::int64_t actions_ = 0;  // nanoseconds until all have ended
  std::vector<RankBound> ranks_;
};

// What a walk of an Order says whatever the end of a step is.
struct OrderWalk {
  // While a rank is at actions of one kind on one of its chunks, right behind a backward of
  // `leaving` or behind anything else, these are the most bytes of other micro-batches that it
  // holds.
  struct Held {
    std::int16_t chunk = 0, leaving = kNothing;
    ActionKind kind = ActionKind::kForward;
    std::int64_t bytes = 0;
  };
  static constexpr std::int16_t kNothing = -1;
  std::int64_t nanoseconds = 0;            // until all actions have ended
  std::vector<std::vector<int>> stages;    // by rank and chunk
  std::vector<std::vector<Held>> fullest;  // by rank
};
// Cost: the number of actions.
Result<OrderWalk> walk_order(const Setup& setup, const StageTable& table);
// From a walk of the Order too. Cost: the number of stages.
Bound walked_bound(const Setup& setup, const StageTable& table, const StepEnd& end,
                   const OrderWalk& walk);
// Bounds the time by walking ranks 0, 1 and the last alone, data lane included, as if every message
// were there. It is never above laned_bound(). It is 0 unless ZeRO moves data in every action:
// walked_bound() says as much then. Cost: the number of actions.
Result<std::int64_t> alone_bound(const Setup& setup, const Machine& machine,
                                 const StageTable& table, const StepEnd& end);
// Of the time alone, from a walk that has the other lanes too, in which transfers wait for both
// their ranks and the messages of a ring for the buckets before them. 0: this Setup has no such
// walk. Cost: the number of actions, and the pieces of every stage where nobody knows what
// nominal_ranks() says of the order.
using NominalRanksOf = std::function<const std::vector<NominalRank>&(const Order& order)>;
Result<std::int64_t> laned_bound(const Setup& setup, const Machine& machine,
                                 const StageTable& table, const StepEnd& end,
                                 const NominalRanksOf& known = nullptr);
// The same; makes the tables itself. The Setup must be valid.
Result<std::int64_t> laned_bound(const Setup& setup, const Machine& machine);

// The larger of what sums and a walk of the Order say of one Setup, which must be valid. Cost: a
// few milliseconds, and the number of actions.
Result<Bound> bound_of(const Setup& setup, const Machine& machine);
// Whether bounds hold: they know neither a torus, nor collectives by steps, nor attention to nearby
// tokens alone, nor an order of one's own.
bool may_bound(const Setup& setup, const Machine& machine);

// After all actions: the ranks of a pipeline wait for each other's norms, and then update.
std::int64_t with_end(const StepEnd& end, std::int64_t actions);
// Whether exchanges of tokens hide inside pairs of actions.
bool has_pairs(const Setup& setup);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Lower bounds of a candidate's step time and memory without building its Program.
//
// They are read from stages that the passes build and the cost model times, as in predict(): one
// micro-batch goes through the stages of a model with equally many layers each. There one reads how
// long a stage's actions take in the compute lane, when they need what comes and have what leaves,
// and what they keep. A walk of the Order then adds this up. The walk has the lane order of the
// Program, a subset of its edges, and no longer duration. So no step is shorter than the walk says.
// After its last action a rank updates its parameters (step_end.h).
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
#include "engine/planner/space/space.h"
#include "engine/predict/repeats/order_repeats.h"

namespace parallelarium {

// A moment before or after a stretch of an action. A stretch is a layer, the token table, or final
// norm and head. kCompute, kPipeline, kRings: when that lane is free. kPassing: before the stretch
// when what comes is there, after it when what goes can leave. kExperts, kOthers: when its experts
// and its other parameters are gathered; only before the stretch.
enum class LanePoint : std::uint8_t { kCompute, kPipeline, kRings, kPassing, kExperts, kOthers };
inline constexpr std::size_t kLaneEnds = 4, kLaneBegins = 6;
inline constexpr std::int64_t kNoWay = INT64_MIN / 4;
// The longest ways through a stretch, in nanoseconds, as [to][from]; kNoWay: there is none.
using LaneWays = std::array<std::array<std::int64_t, kLaneBegins>, kLaneEnds>;
struct StretchBound {
  enum class Part : std::uint8_t { kLayer, kTable, kHead, kOther };
  LaneWays ways{};
  Part part = Part::kOther;
};

// The least times (nanoseconds) and bytes of one kind of action on a stage.
struct ActionBound {
  std::int64_t busy = 0;        // time in the compute lane
  std::int64_t duration = 0;    // from its first op there to its last, with waiting
  std::int64_t until_need = 0;  // the part of it that may pass before what comes is needed
  std::int64_t until_have = 0;  // the part of it that passes at least before what goes can leave
  std::int64_t peak_bytes = 0;  // bytes beside model states, with one micro-batch under way
  // The peak until a layer's parameters are read, until the first of its buckets is read, while the
  // token table is read, and while the head is read.
  std::int64_t layer_bytes = 0, buckets_bytes = 0, table_bytes = 0, head_bytes = 0;
};

struct StageBound {
  std::array<ActionBound, 4> actions;                  // by ActionKind
  std::array<std::vector<StretchBound>, 4> stretches;  // by ActionKind
  std::int64_t kept_bytes = 0;  // of a micro-batch, from its forward to its backward
  // Of a micro-batch, from its input gradients to its weight gradients.
  std::int64_t waiting_bytes = 0;
  double shared = 0, experts = 0;  // parameters of a rank, see StageParameters
  double copied_table = 0;         // of `shared`: the last stage's copy of a tied table
};

// The bounds of a candidate's stages: see stage_family.h.
struct StageTable {
  std::vector<StageBound> whole, split;  // rows for whole and for split backwards
  std::vector<std::uint8_t> rows;        // by stage: index in `whole` and `split`
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
// Bounds that come from sums alone. One object serves all Setups that differ only in ZeRO. Cost:
// the number of stages.
class QuickBound {
 public:
  QuickBound(const Setup& setup, StageTable table);
  Bound of(const Setup& setup, const StepEnd& end) const;

 private:
  struct RankBound {
    std::vector<int> held;          // the stages that it holds
    std::int64_t until_reduce = 0;  // nanoseconds before all its gradients are added up; 0: unknown
    // Bytes. `beside`: of other micro-batches beside the one at work. `alone`: for a rank with
    // several stages, of all that are under way together. `tokens`: of tokens.
    std::int64_t beside = 0, alone = 0, tokens = 0;
  };
  const StageTable table_;
  std::int64_t actions_ = 0;  // nanoseconds until all actions have ended
  std::vector<RankBound> ranks_;
};

// What a walk of an Order says, independent of the end of the step.
struct OrderWalk {
  // The most bytes of other micro-batches that a rank holds while it does actions of one kind on
  // one of its chunks, right behind a backward of chunk `leaving` (kNothing: behind anything else).
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
// `known`: what repeated_order() says of the Setup. Cost: the number of actions; with what comes
// again, few of its micro-batches.
Result<OrderWalk> walk_order(const Setup& setup, const StageTable& table,
                             const std::optional<RepeatedOrder>& known = {});
// The bound that also uses a walk of the Order. Cost: the number of stages.
Bound walked_bound(const Setup& setup, const StageTable& table, const StepEnd& end,
                   const OrderWalk& walk);
// Bounds the time by walking ranks 0, 1 and the last alone, with their data lanes, as if every
// message were there. It is never above laned_bound(). It is 0 unless ZeRO moves data in every
// action; walked_bound() is as good otherwise. `known` and cost are those of walk_order().
Result<std::int64_t> alone_bound(const Setup& setup, const Machine& machine,
                                 const StageTable& table, const StepEnd& end,
                                 const std::optional<RepeatedOrder>& known = {});
// Bounds the time alone, by a walk with all lanes. In it transfers wait for both their ranks, and
// messages of a ring wait for the buckets before them. 0: this Setup has no such walk. `known`
// gives what nominal_ranks() says of an order. Cost: the number of actions and, without `known`,
// the pieces of every stage.
using NominalRanksOf = std::function<const std::vector<NominalRank>&(const Order& order)>;
Result<std::int64_t> laned_bound(const Setup& setup, const Machine& machine,
                                 const StageTable& table, const StepEnd& end,
                                 const NominalRanksOf& known = nullptr);
// The same, but makes the tables itself. The Setup must be valid.
Result<std::int64_t> laned_bound(const Setup& setup, const Machine& machine);

// The larger bound of sums and of a walk of the Order, for one valid Setup. Cost: a few
// milliseconds, and the number of actions.
Result<Bound> bound_of(const Setup& setup, const Machine& machine);
// Whether bounds hold. They do not know a torus, collectives done in steps, attention to nearby
// tokens alone, or an order of the user.
bool may_bound(const Setup& setup, const Machine& machine);

// The end of the step if all actions end at `actions`: the ranks of a pipeline wait for each
// other's norms, and then update.
std::int64_t with_end(const StepEnd& end, std::int64_t actions);
// Whether exchanges of tokens hide inside pairs of actions.
bool has_pairs(const Setup& setup);

}  // namespace parallelarium

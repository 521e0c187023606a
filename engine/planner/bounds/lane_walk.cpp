// SPDX-License-Identifier: Apache-2.0
// Walks an Order with the least durations in the order in which a Program has its actions and
// transfers (nominal_walk.h), so that every lane has them in the Program's order.
#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "engine/passes/build.h"
#include "engine/planner/bounds/bound.h"
#include "engine/planner/bounds/rank_passages.h"
#include "engine/planner/bounds/repeated_walk.h"
#include "engine/planner/bounds/stage_family.h"
#include "engine/predict/cost/simulate.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

bool may_walk(const Setup& setup, const Machine& machine) {
  return !has_pairs(setup) && !setup.offload_activations && setup.overlap_pipeline &&
         !machine.local && machine.pairs.empty();
}

class LaneWalk : public NominalSink {
 public:
  LaneWalk(const Setup& setup, const StageTable& table, const StepEnd& end, const Order& order)
      : order_(order), passages_(setup, table, end, order), ranks_(order.ranks.size()) {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      ranks_[rank].at = passages_.before_first(rank);
  }

  bool is_paired(int, std::size_t) const override { return false; }

  void start(int rank, std::size_t index, bool) override {
    RankLanes& lanes = ranks_[static_cast<std::size_t>(rank)];
    const Action& action = order_.ranks[static_cast<std::size_t>(rank)][index];
    const bool weight = action.kind == ActionKind::kWeightGrad;
    const std::size_t cell = cell_of(stage_of(rank, action), action);
    Moments before = lanes.at;
    before[static_cast<std::size_t>(PassageTime::kArrival)] = weight ? kNoWay : arrived_[cell];
    lanes.at = passages_.of(static_cast<std::size_t>(rank), index).of(before);
    if (!weight) left_[cell] = lanes[PassageTime::kLeaves];
  }

  void transfer(const NominalTransfer& moved) override {
    if (moved.from == moved.to) return;  // the compute lane's order is enough
    const std::size_t left = cell_of(stage_of(moved.from, *moved.action), *moved.action);
    Action taker = *moved.action;
    taker.chunk = moved.to_chunk;
    const std::size_t arrives = cell_of(stage_of(moved.to, taker), taker);
    RankLanes& a = ranks_[static_cast<std::size_t>(moved.from)];
    RankLanes& b = ranks_[static_cast<std::size_t>(moved.to)];
    std::int64_t begin =
        std::max(left_[left], moved.exchanged
                                  ? a.transfer_begin
                                  : std::max(a[PassageTime::kPipeline], b[PassageTime::kPipeline]));
    begin = std::max<std::int64_t>(begin, 0);
    const std::int64_t end =
        begin + durations_[static_cast<std::size_t>(moved.from) * ranks_.size() +
                           static_cast<std::size_t>(moved.to)];
    arrived_[arrives] = end;
    if (moved.exchanged) arrived_[a.transfer_arrives] = std::max(arrived_[a.transfer_arrives], end);
    for (RankLanes* lanes : {&a, &b})
      (*lanes)[PassageTime::kPipeline] = std::max((*lanes)[PassageTime::kPipeline], end);
    a.transfer_begin = b.transfer_begin = begin;
    a.transfer_arrives = b.transfer_arrives = arrives;
  }

  bool known() const { return passages_.known(); }

  // Walks all ranks with the messages between them, from the beginning.
  void walk_together(const Setup& setup, const Machine& machine,
                     const std::vector<NominalRank>& ranks) {
    for (auto* cells : {&left_, &arrived_})
      cells->assign(2 * static_cast<std::size_t>(order_.stages) *
                        static_cast<std::size_t>(order_.microbatches),
                    kNoWay);
    time_transfers(setup, machine);
    walk_nominally(order_, ranks, boundary_bytes(setup), *this);
  }
  // Walks one rank for which every message is always there, from the beginning. With `repeats` it
  // is the rank of the whole order whose shorter one this walks.
  void walk_alone(std::size_t rank, const OrderRepeats* repeats) {
    Moments& at = ranks_[rank].at;
    const auto walk = [&](std::size_t first, std::size_t last) {
      for (std::size_t index = first; index < last; ++index) at = passages_.of(rank, index).of(at);
      return WalkTimes(at.begin(), at.end());
    };
    const std::size_t all = order_.ranks[rank].size();
    if (repeats == nullptr) {
      walk(0, all);
      return;
    }
    const std::size_t cut = repeats->ranks[rank].cut, length = repeats->ranks[rank].length;
    const WalkTimes before = walk(0, cut - length), now = walk(cut - length, cut);
    const WalkTimes end = walk_repeated(before, now, repeats->times,
                                        [&, begin = cut - length](const WalkTimes& from) {
                                          std::copy(from.begin(), from.end(), at.begin());
                                          return walk(begin, begin + length);
                                        });
    std::copy(end.begin(), end.end(), at.begin());
    walk(cut, all);
  }
  // Whether walk_alone() may do so.
  bool repeats_alike(std::size_t rank, const OrderRepeats& repeats) const {
    return passages_.repeat(rank, repeats.ranks[rank].cut, repeats.ranks[rank].length);
  }
  std::int64_t end() const {
    std::int64_t end = 0;
    for (const RankLanes& lanes : ranks_)
      for (const PassageTime lane :
           {PassageTime::kCompute, PassageTime::kPipeline, PassageTime::kData, PassageTime::kRings})
        end = std::max(end, lanes.at[static_cast<std::size_t>(lane)]);
    return end;
  }

 private:
  struct RankLanes {
    Moments at = {0, 0, 0, 0, kNoWay, kNoWay, kNoWay, kNoWay};
    std::int64_t transfer_begin = 0;  // of the latest
    std::size_t transfer_arrives = 0;
    std::int64_t& operator[](PassageTime moment) { return at[static_cast<std::size_t>(moment)]; }
  };

  int stage_of(int rank, const Action& action) const {
    return order_.stage_of[static_cast<std::size_t>(rank)][static_cast<std::size_t>(action.chunk)];
  }
  std::size_t cell_of(int stage, const Action& action) const {
    const std::size_t way = action.kind == ActionKind::kForward ? 0 : 1;
    return (way * static_cast<std::size_t>(order_.stages) + static_cast<std::size_t>(stage)) *
               static_cast<std::size_t>(order_.microbatches) +
           static_cast<std::size_t>(action.microbatch);
  }

  void time_transfers(const Setup& setup, const Machine& machine) {
    const std::size_t count = ranks_.size();
    Program program;
    program.world = setup.mesh.ranks();
    program.representatives = true;
    program.ranks.resize(count);
    for (std::size_t stage = 0; stage < count; ++stage) {
      Coordinates at;
      at.pp = static_cast<int>(stage);
      program.ranks[stage].rank = rank_of(setup.mesh, at);
    }
    program.groups.push_back({Axis::kPp, group_of(setup.mesh, Axis::kPp, 0)});
    const CostModel cost(program, machine, setup);
    Op send;
    send.kind = OpKind::kSend;
    send.group = 0;
    send.bytes = boundary_bytes(setup);
    durations_.resize(count * count);
    for (std::size_t from = 0; from < count; ++from)
      for (std::size_t to = 0; to < count; ++to) {
        send.peer = program.ranks[to].rank;
        durations_[from * count + to] = cost.nanoseconds(send, program.ranks[from].rank);
      }
  }

  const Order& order_;
  RankPassages passages_;
  std::vector<RankLanes> ranks_;
  std::vector<std::int64_t> left_, arrived_;  // by direction, stage and micro-batch
  std::vector<std::int64_t> durations_;       // of transfers, by both ranks
};

}  // namespace

Result<std::int64_t> alone_bound(const Setup& setup, const Machine& machine,
                                 const StageTable& table, const StepEnd& end,
                                 const std::optional<RepeatedOrder>& known) {
  if (!may_walk(setup, machine) || !walks_data(setup)) return std::int64_t{0};
  std::optional<Order> made;
  if (!known) {
    Result<Order> order = make_order(setup);
    if (!order) return order.error();
    made = std::move(*order);
  }
  LaneWalk walk(setup, table, end, known ? known->shorter : *made);
  if (!walk.known()) return std::int64_t{0};
  const auto last = static_cast<std::size_t>(setup.mesh.pp) - 1;
  for (const std::size_t rank : std::set{std::size_t{0}, std::min<std::size_t>(1, last), last}) {
    if (known && !walk.repeats_alike(rank, known->repeats))
      return alone_bound(setup, machine, table, end);
    walk.walk_alone(rank, known ? &known->repeats : nullptr);
  }
  return with_end(end, walk.end());
}

Result<std::int64_t> laned_bound(const Setup& setup, const Machine& machine,
                                 const StageTable& table, const StepEnd& end,
                                 const NominalRanksOf& known) {
  if (!may_walk(setup, machine)) return std::int64_t{0};
  const Result<Order> order = make_order(setup);
  if (!order) return order.error();
  LaneWalk walk(setup, table, end, *order);
  if (!walk.known()) return std::int64_t{0};
  walk.walk_together(setup, machine, known ? known(*order) : nominal_ranks(setup, *order));
  return with_end(end, walk.end());
}

Result<std::int64_t> laned_bound(const Setup& setup, const Machine& machine) {
  if (!may_walk(setup, machine)) return std::int64_t{0};
  const Result<StageTable> table = stage_table(setup, machine, true);
  if (!table) return table.error();
  return laned_bound(setup, machine, *table, step_end(setup, machine));
}

}  // namespace parallelarium

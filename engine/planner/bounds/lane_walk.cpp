// SPDX-License-Identifier: Apache-2.0
// Walks an Order with the least durations in the order in which a Program has its actions and
// transfers (nominal_walk.h), so that every lane has them in the Program's order.
#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "engine/passes/build.h"
#include "engine/passes/shard/shard.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/bounds/bound.h"
#include "engine/planner/bounds/passage.h"
#include "engine/planner/bounds/stage_family.h"
#include "engine/predict/cost/simulate.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

// Whether no two stretches share a bucket. Then its gradients are added up over replicas behind the
// last stretch that adds to them.
bool walks_last_reduces(const Setup& setup) { return !setup.model.tied; }

// Whether data lanes are walked in every action, which gathers a bucket anew and adds it up.
bool walks_data(const Setup& setup) {
  return walks_last_reduces(setup) && zero_stage(setup) >= 2 && setup.zero_prefetch == 1 &&
         setup.zero_reshard;
}

// Whether messages of rings wait in their lane behind what is gathered and added up. Where
// gradients are added up at the end of the step alone, rings are through by then.
bool have_rings_lane_of_buckets(const Setup& setup) {
  return lane_of_rings(setup) == Lane::kData && (zero_stage(setup) >= 2 || setup.overlap_gradients);
}

// By rank and chunk, the last of its actions that adds to gradients; -1: none.
std::vector<std::vector<std::int64_t>> last_adding(const Order& order) {
  std::vector<std::vector<std::int64_t>> last;
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    last.emplace_back(order.stage_of[rank].size(), -1);
    for (std::size_t at = 0; at < order.ranks[rank].size(); ++at) {
      const Action& action = order.ranks[rank][at];
      if (action.kind == ActionKind::kBackward || action.kind == ActionKind::kWeightGrad)
        last.back()[static_cast<std::size_t>(action.chunk)] = static_cast<std::int64_t>(at);
    }
  }
  return last;
}

bool may_walk(const Setup& setup, const Machine& machine) {
  return !has_pairs(setup) && !setup.offload_activations && setup.overlap_pipeline &&
         !machine.local && machine.pairs.empty();
}

class LaneWalk : public NominalSink {
 public:
  LaneWalk(const Setup& setup, const StageTable& table, const StepEnd& end, const Order& order)
      : order_(order),
        end_(end),
        data_(walks_data(setup)),
        rings_beside_buckets_(have_rings_lane_of_buckets(setup)),
        ranks_(order.ranks.size()) {
    if (walks_last_reduces(setup)) last_adding_ = last_adding(order);
    const ScheduleRule* rule = find_schedule_rule(setup.schedule);
    const bool splits = rule == nullptr || rule->splits_backward;
    for (int stage = 0; stage < order.stages; ++stage)
      for (std::size_t kind = 0; kind < 4; ++kind)
        stretches_.push_back(
            walked(stretches_of(table, stage, static_cast<ActionKind>(kind), splits)));
    for (const std::vector<Walked>& of_action : stretches_)
      for (const Walked& stretch : of_action)
        known_ = known_ && stretch.part != StretchBound::Part::kOther;
    data_ = data_ && known_;
    if (data_) find_next();
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const std::size_t chunks = order.stage_of[rank].size();
      ranks_[rank].passages.resize(chunks * 4 * 2 * (chunks * 4 + 1));
      if (!data_ || order.ranks[rank].empty()) continue;
      Passage begin;
      gather(begin, rank, first_of(rank), 0);
      begin.finish();
      ranks_[rank].at = begin.of(ranks_[rank].at);
    }
  }

  bool is_paired(int, std::size_t) const override { return false; }

  void start(int rank, std::size_t index, bool) override {
    RankLanes& lanes = ranks_[static_cast<std::size_t>(rank)];
    const Action& action = order_.ranks[static_cast<std::size_t>(rank)][index];
    const bool weight = action.kind == ActionKind::kWeightGrad;
    const std::size_t cell = cell_of(stage_of(rank, action), action);
    Moments before = lanes.at;
    before[static_cast<std::size_t>(PassageTime::kArrival)] = weight ? kNoWay : arrived_[cell];
    lanes.at = passage_of(static_cast<std::size_t>(rank), index).of(before);
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

  // Whether every stretch is known for what it is, which it is not where pieces are folded.
  bool known() const { return known_; }

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
  // Walks one rank for which every message is always there, from the beginning.
  void walk_alone(std::size_t rank) {
    Moments& at = ranks_[rank].at;
    for (std::size_t index = 0; index < order_.ranks[rank].size(); ++index)
      at = passage_of(rank, index).of(at);
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
    // Of actions by kind_of(), by whether it is the last that adds to its chunk's gradients, and by
    // the kind_of() of the action before which it gathers; null: none was walked yet.
    std::vector<std::unique_ptr<const Passage>> passages;
    std::vector<std::int32_t> next;  // by action, the first one behind it that has stretches; -1
    std::int64_t& operator[](PassageTime moment) { return at[static_cast<std::size_t>(moment)]; }
  };

  // A stretch as it is walked: few points have a way to others.
  struct Way {
    std::uint8_t from = 0, to = 0;  // LanePoint
    std::int64_t takes = 0;
  };
  struct Walked {
    StretchBound::Part part = StretchBound::Part::kOther;
    std::vector<Way> ways;
  };
  static std::vector<Walked> walked(const std::vector<StretchBound>& stretches) {
    std::vector<Walked> result;
    for (const StretchBound& stretch : stretches) {
      Walked& one = result.emplace_back(Walked{stretch.part, {}});
      for (std::uint8_t to = 0; to < kLaneEnds; ++to)
        for (std::uint8_t from = 0; from < kLaneBegins; ++from) {
          const std::int64_t takes = stretch.ways[to][from];
          const bool stays = from == to && takes <= 0 && to < kLanes;
          if (takes > kNoWay && !stays) one.ways.push_back({from, to, takes});
        }
    }
    return result;
  }
  static std::vector<StretchBound> stretches_of(const StageTable& table, int stage, ActionKind kind,
                                                bool splits) {
    const auto at = static_cast<std::size_t>(kind);
    const auto& whole = table.stage(stage, false).stretches[at];
    if (!splits || kind == ActionKind::kBackward) return whole;
    std::vector<StretchBound> parted = table.stage(stage, true).stretches[at];
    if (kind != ActionKind::kForward) return parted;
    // Some orders have whole backwards, too.
    for (std::size_t stretch = 0; stretch < parted.size(); ++stretch)
      for (std::size_t to = 0; to < kLaneEnds; ++to)
        for (std::size_t from = 0; from < kLaneBegins; ++from) {
          std::int64_t& way = parted[stretch].ways[to][from];
          way = std::min(way, whole[stretch].ways[to][from]);
        }
    return parted;
  }
  const std::vector<Walked>& stretches_at(int stage, ActionKind kind) const {
    return stretches_[static_cast<std::size_t>(stage) * 4 + static_cast<std::size_t>(kind)];
  }

  bool is_last_adding(int rank, std::size_t index, const Action& action) const {
    if (last_adding_.empty()) return false;
    const std::vector<std::int64_t>& last = last_adding_[static_cast<std::size_t>(rank)];
    return last[static_cast<std::size_t>(action.chunk)] == static_cast<std::int64_t>(index);
  }
  const BucketCost& bucket_of(int rank, const Walked& stretch) const {
    const RankEnd& end = end_[static_cast<std::size_t>(rank)];
    if (stretch.part == StretchBound::Part::kTable) return end.table;
    return stretch.part == StretchBound::Part::kHead ? end.head : end.layer;
  }
  static std::size_t kind_of(const Action& action) {
    return static_cast<std::size_t>(action.chunk) * 4 + static_cast<std::size_t>(action.kind);
  }
  const std::vector<Walked>& stretches_of(std::size_t rank, const Action& action) const {
    return stretches_at(stage_of(static_cast<int>(rank), action), action.kind);
  }
  void find_next() {
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const std::vector<Action>& line = order_.ranks[rank];
      ranks_[rank].next.assign(line.size(), -1);
      for (std::size_t at = line.size(); at-- > 1;)
        ranks_[rank].next[at - 1] = stretches_of(rank, line[at]).empty()
                                        ? ranks_[rank].next[at]
                                        : static_cast<std::int32_t>(at);
    }
  }
  // The rank's first action that has stretches; null: none has.
  const Action* first_of(std::size_t rank) const {
    const std::vector<Action>& line = order_.ranks[rank];
    return stretches_of(rank, line.front()).empty() ? behind(rank, 0) : &line.front();
  }
  const Action* behind(std::size_t rank, std::size_t index) const {
    const std::int32_t next = ranks_[rank].next[index];
    return next < 0 ? nullptr : &order_.ranks[rank][static_cast<std::size_t>(next)];
  }

  const Passage& passage_of(std::size_t rank, std::size_t index) {
    RankLanes& lanes = ranks_[rank];
    const Action& action = order_.ranks[rank][index];
    const Action* next = data_ ? behind(rank, index) : nullptr;
    const bool last = is_last_adding(static_cast<int>(rank), index, action);
    const std::size_t kinds = order_.stage_of[rank].size() * 4;
    auto& known = lanes.passages[(kind_of(action) * 2 + (last ? 1 : 0)) * (kinds + 1) +
                                 (next == nullptr ? kinds : kind_of(*next))];
    if (!known) known = std::make_unique<const Passage>(walk(rank, action, last, next));
    return *known;
  }

  // Through all stretches of an action; `next`: the first action behind it that has some.
  Passage walk(std::size_t rank, const Action& action, bool last, const Action* next) const {
    const bool adds =
        action.kind == ActionKind::kWeightGrad || action.kind == ActionKind::kBackward;
    const PassageTime rings = rings_beside_buckets_ ? PassageTime::kData : PassageTime::kRings;
    const std::vector<Walked>& stretches = stretches_of(rank, action);
    Passage passage;
    for (std::size_t at = 0; at < stretches.size(); ++at) {
      const BucketCost& bucket = bucket_of(static_cast<int>(rank), stretches[at]);
      Latest experts, others;
      if (data_) {
        if (adds) passage[PassageTime::kCompute] = passage[PassageTime::kCompute] + bucket.clear;
        experts = std::exchange(passage[PassageTime::kExperts], Latest());
        others = std::exchange(passage[PassageTime::kOthers], Latest());
        if (at + 1 < stretches.size())
          gather(passage, rank, &action, at + 1);
        else
          gather(passage, rank, next, 0);
      }
      const Latest in[kLaneBegins] = {passage[PassageTime::kCompute],
                                      passage[PassageTime::kPipeline],
                                      passage[rings],
                                      passage[PassageTime::kArrival],
                                      experts,
                                      others};
      Latest* out[kLaneEnds] = {&passage[PassageTime::kCompute], &passage[PassageTime::kPipeline],
                                &passage[rings], &passage[PassageTime::kLeaves]};
      for (const Way& way : stretches[at].ways) out[way.to]->raise(in[way.from] + way.takes);
      Latest& data = passage[PassageTime::kData];
      if ((data_ && adds) || last) {
        data.raise(passage[PassageTime::kCompute]);
        data = data + bucket.reduce;
      }
      if (last) data = data + bucket.across;
    }
    passage.finish();
    return passage;
  }

  // For that stretch of the rank's action, in the data lane, after all in the compute lane so far.
  // Of a split backward the input part gathers what it reads, and the weight part the table, which
  // that does not read.
  void gather(Passage& passage, std::size_t rank, const Action* action, std::size_t at) const {
    if (action == nullptr) return;
    const Walked& stretch = stretches_of(rank, *action)[at];
    const bool table = stretch.part == StretchBound::Part::kTable;
    if (action->kind == ActionKind::kWeightGrad && !table) return;
    if (action->kind == ActionKind::kInputGrad && table) return;
    const std::int64_t takes = bucket_of(static_cast<int>(rank), stretch).gather;
    if (takes == 0) return;
    Latest begin = passage[PassageTime::kData];
    begin.raise(passage[PassageTime::kCompute]);
    passage[PassageTime::kData] = begin + takes;
    if (stretch.part != StretchBound::Part::kLayer) {
      passage[PassageTime::kOthers] = passage[PassageTime::kData];
      return;
    }
    // Whichever of a layer's buckets comes first.
    const RankEnd& end = end_[rank];
    if (end.experts.gather > 0) passage[PassageTime::kExperts] = begin + end.experts.gather;
    if (end.others.gather > 0) passage[PassageTime::kOthers] = begin + end.others.gather;
  }

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
  const StepEnd& end_;
  bool data_ = false, known_ = true;
  const bool rings_beside_buckets_;
  std::vector<std::vector<std::int64_t>> last_adding_;  // empty: not walked
  std::vector<RankLanes> ranks_;
  std::vector<std::vector<Walked>> stretches_;  // by stage and ActionKind
  std::vector<std::int64_t> left_, arrived_;    // by direction, stage and micro-batch
  std::vector<std::int64_t> durations_;         // of transfers, by both ranks
};

}  // namespace

Result<std::int64_t> alone_bound(const Setup& setup, const Machine& machine,
                                 const StageTable& table, const StepEnd& end) {
  if (!may_walk(setup, machine) || !walks_data(setup)) return std::int64_t{0};
  const Result<Order> order = make_order(setup);
  if (!order) return order.error();
  LaneWalk walk(setup, table, end, *order);
  if (!walk.known()) return std::int64_t{0};
  const std::size_t last = order->ranks.size() - 1;
  for (const std::size_t rank : std::set{std::size_t{0}, std::min<std::size_t>(1, last), last})
    walk.walk_alone(rank);
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

// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/bounds/rank_passages.h"

#include <algorithm>
#include <utility>

#include "engine/passes/shard/shard.h"
#include "engine/plan/setup/schedule_rules.h"

namespace parallelarium {

namespace {

// Whether no two stretches share a bucket. Then its gradients are added up over replicas behind the
// last stretch that adds to them.
bool walks_last_reduces(const Setup& setup) { return !setup.model.tied; }

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

}  // namespace

bool walks_data(const Setup& setup) {
  return walks_last_reduces(setup) && zero_stage(setup) >= 2 && setup.zero_prefetch == 1 &&
         setup.zero_reshard;
}

RankPassages::RankPassages(const Setup& setup, const StageTable& table, const StepEnd& end,
                           const Order& order)
    : order_(order),
      end_(end),
      data_(walks_data(setup)),
      rings_beside_buckets_(have_rings_lane_of_buckets(setup)),
      lines_(order.ranks.size()) {
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
  for (std::size_t rank = 0; rank < lines_.size(); ++rank) {
    const std::size_t kinds = order.stage_of[rank].size() * 4;
    lines_[rank].passages.resize(kinds * 2 * (kinds + 1));
  }
}

Moments RankPassages::before_first(std::size_t rank) const {
  const Moments free = {0, 0, 0, 0, kNoWay, kNoWay, kNoWay, kNoWay};
  if (!data_ || order_.ranks[rank].empty()) return free;
  Passage begin;
  gather(begin, rank, first_of(rank), 0);
  begin.finish();
  return begin.of(free);
}

bool RankPassages::repeat(std::size_t rank, std::size_t cut, std::size_t length) const {
  const auto end = static_cast<std::int64_t>(cut);
  if (!last_adding_.empty())
    for (const std::int64_t last : last_adding_[rank])
      if (last >= 0 && last < end) return false;
  if (!data_) return true;
  const std::int32_t next = lines_[rank].next[cut - 1];
  return next >= end && next < end + static_cast<std::int64_t>(length);
}

std::vector<RankPassages::Walked> RankPassages::walked(const std::vector<StretchBound>& stretches) {
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

std::vector<StretchBound> RankPassages::stretches_of(const StageTable& table, int stage,
                                                     ActionKind kind, bool splits) {
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

bool RankPassages::is_last_adding(std::size_t rank, std::size_t index, const Action& action) const {
  if (last_adding_.empty()) return false;
  const std::vector<std::int64_t>& last = last_adding_[rank];
  return last[static_cast<std::size_t>(action.chunk)] == static_cast<std::int64_t>(index);
}

const BucketCost& RankPassages::bucket_of(std::size_t rank, const Walked& stretch) const {
  const RankEnd& end = end_[rank];
  if (stretch.part == StretchBound::Part::kTable) return end.table;
  return stretch.part == StretchBound::Part::kHead ? end.head : end.layer;
}

void RankPassages::find_next() {
  for (std::size_t rank = 0; rank < lines_.size(); ++rank) {
    const std::vector<Action>& line = order_.ranks[rank];
    lines_[rank].next.assign(line.size(), -1);
    for (std::size_t at = line.size(); at-- > 1;)
      lines_[rank].next[at - 1] = stretches_of(rank, line[at]).empty()
                                      ? lines_[rank].next[at]
                                      : static_cast<std::int32_t>(at);
  }
}

// The rank's first action that has stretches; null: none has.
const Action* RankPassages::first_of(std::size_t rank) const {
  const std::vector<Action>& line = order_.ranks[rank];
  return stretches_of(rank, line.front()).empty() ? behind(rank, 0) : &line.front();
}

const Action* RankPassages::behind(std::size_t rank, std::size_t index) const {
  const std::int32_t next = lines_[rank].next[index];
  return next < 0 ? nullptr : &order_.ranks[rank][static_cast<std::size_t>(next)];
}

const Passage& RankPassages::of(std::size_t rank, std::size_t index) {
  Line& line = lines_[rank];
  const Action& action = order_.ranks[rank][index];
  const Action* next = data_ ? behind(rank, index) : nullptr;
  const bool last = is_last_adding(rank, index, action);
  const std::size_t kinds = order_.stage_of[rank].size() * 4;
  auto& known = line.passages[(kind_of(action) * 2 + (last ? 1 : 0)) * (kinds + 1) +
                              (next == nullptr ? kinds : kind_of(*next))];
  if (!known) known = std::make_unique<const Passage>(walk(rank, action, last, next));
  return *known;
}

// Through all stretches of an action; `next`: the first action behind it that has some.
Passage RankPassages::walk(std::size_t rank, const Action& action, bool last,
                           const Action* next) const {
  const bool adds = action.kind == ActionKind::kWeightGrad || action.kind == ActionKind::kBackward;
  const PassageTime rings = rings_beside_buckets_ ? PassageTime::kData : PassageTime::kRings;
  const std::vector<Walked>& stretches = stretches_of(rank, action);
  Passage passage;
  for (std::size_t at = 0; at < stretches.size(); ++at) {
    const BucketCost& bucket = bucket_of(rank, stretches[at]);
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
void RankPassages::gather(Passage& passage, std::size_t rank, const Action* action,
                          std::size_t at) const {
  if (action == nullptr) return;
  const Walked& stretch = stretches_of(rank, *action)[at];
  const bool table = stretch.part == StretchBound::Part::kTable;
  if (action->kind == ActionKind::kWeightGrad && !table) return;
  if (action->kind == ActionKind::kInputGrad && table) return;
  const std::int64_t takes = bucket_of(rank, stretch).gather;
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

}  // namespace parallelarium

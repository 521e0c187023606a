// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/bounds/bound.h"

#include <algorithm>

#include "engine/passes/pieces.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/bounds/stage_of.h"
#include "engine/predict/memory.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

bool has_pairs(const Setup& setup) {
  return setup.overlap_experts && setup.mesh.ep > 1 && setup.mesh.cp == 1;
}

namespace {

std::int64_t states_of(const Setup& setup, const StageTable& table, const std::vector<int>& held) {
  const int stages = stages_of(setup);
  double shared = 0, experts = 0;
  bool first = false, last = false;
  for (const int stage : held) {
    const StageBound& bound = table.stage(stage, false);
    shared += bound.shared;
    experts += bound.experts;
    first = first || stage == 0;
    last = last || stage == stages - 1;
  }
  if (first && last && stages > 1) shared -= table.stage(stages - 1, false).copied_table;
  const Precision held_bytes = held_precision(setup);
  const int zero = held_zero(setup), shards = shards_of(setup);
  const int of_experts = std::max(1, shards / setup.mesh.ep);
  return static_cast<std::int64_t>(model_states(shared, held_bytes, zero, shards).total() +
                                   model_states(experts, held_bytes, zero, of_experts).total());
}

// Bytes of the step's tokens where the first stage is, and of their targets where the last one is,
// beside those of one micro-batch, which peaks count.
std::int64_t tokens_of(const Setup& setup, const std::vector<int>& held) {
  const auto holds = [&](int stage) {
    return std::find(held.begin(), held.end(), stage) != held.end() ? 1 : 0;
  };
  const int times = holds(0) + holds(stages_of(setup) - 1);
  return times == 0 ? 0 : times * local_sizes(setup).N * (setup.microbatches - 1) * 4;
}

// Forwards whose backward is to come that a rank has at once, at least.
std::int64_t under_way(const Setup& setup, int rank) {
  if (setup.schedule == Schedule("interleaved") && setup.mesh.pp > 1) {
    const std::int64_t microbatches = setup.microbatches, chunks = setup.chunks;
    const std::int64_t round =
        interleaved_round(setup.mesh.pp, setup.microbatches, setup.microbatch_group);
    return std::min(microbatches * chunks,
                    (chunks - 1) * round + 2 * (setup.mesh.pp - 1 - rank) + 1);
  }
  if (stages_of(setup) != setup.mesh.pp || setup.mesh.pp == 1) return 1;
  if (setup.schedule == Schedule("1f1b") || setup.schedule == Schedule("zb-h1") ||
      setup.schedule == Schedule("zb-h2"))
    return std::min<std::int64_t>(setup.microbatches, setup.mesh.pp - rank);
  return setup.schedule == Schedule("gpipe") ? setup.microbatches : 1;
}

void widen(Bound& bound, std::int64_t bytes, std::int64_t states, int rank) {
  if (bytes <= bound.bytes) return;
  bound.bytes = bytes;
  bound.states = states;
  bound.stage = rank;
}

}  // namespace

namespace {

// How long what enters at the first stage is under way to each, and what leaves each to the end,
// at least.
struct Ways {
  std::vector<std::int64_t> in, out;
};
Ways ways_of(const StageOf& of) {
  Ways ways{{0}, {0}};
  for (int stage = 0; stage < of.stages(); ++stage) {
    ways.in.push_back(ways.in.back() + of.passage(stage, ActionKind::kForward));
    ways.out.push_back(ways.out.back() + of.passage(stage, ActionKind::kBackward));
  }
  return ways;
}

// What a rank takes that holds these stages: before its first action what it needs has to come,
// less what it may do before; and where backwards are whole, after its last action what leaves it
// has to come to the first stage. Where it holds one stage, all its gradients are added up after
// its last backward began.
std::int64_t rank_time(const Setup& setup, const StageOf& of, const Ways& ways,
                       const std::vector<int>& held, std::int64_t reduce) {
  std::int64_t busy = 0;
  for (const int stage : held) busy += of.busy(stage);
  const int first = *std::min_element(held.begin(), held.end());
  std::int64_t need = 0, rest = 0;
  for (const int stage : held) {
    need = std::max(need, of.action(stage, ActionKind::kForward).until_need);
    const ActionBound out = of.action(stage, ActionKind::kBackward);
    rest = std::max(rest, out.duration - out.until_have);
  }
  const auto at = static_cast<std::size_t>(first);
  std::int64_t time = setup.microbatches * busy + std::max<std::int64_t>(0, ways.in[at] - need);
  const std::int64_t backward = of.action(held.front(), ActionKind::kBackward).duration;
  const bool alone = held.size() == 1 && !of.splits();
  const std::int64_t reduced = alone ? time - backward + reduce : 0;
  if (!of.splits()) time += std::max<std::int64_t>(0, ways.out[at] - rest);
  return std::max(time, reduced);
}

}  // namespace

namespace {

// What the data lane of some rank takes: ZeRO 2 and 3 reduce in every micro-batch, and ZeRO 3
// gathers there, too.
std::int64_t data_time(const Setup& setup, const StepEnd& end) {
  const int zero = shards_of(setup) > 1 ? held_zero(setup) : 0;
  // A stage that is held twice has only its share of the micro-batches on either rank.
  const std::int64_t microbatches = setup.microbatches / (holds_stages_twice(setup) ? 2 : 1);
  const std::int64_t reduces = zero >= 2 ? microbatches : 1;
  const std::int64_t gathers = zero >= 3 ? microbatches * (setup.zero_reshard ? 2 : 1) : 0;
  std::int64_t most = 0;
  for (const RankEnd& rank : end)
    most = std::max(most, reduces * rank.reduce + gathers * rank.gather + rank.across);
  return most;
}

}  // namespace

std::int64_t with_end(const StepEnd& end, std::int64_t actions) {
  std::int64_t norm = INT64_MAX, update = 0;
  for (const RankEnd& rank : end) {
    norm = std::min(norm, rank.norm);
    update = std::max(update, rank.update);
  }
  return actions + (end.empty() ? 0 : norm) + update;
}

Bound quick_bound(const Setup& setup, const StageTable& table, const StepEnd& end) {
  const StageOf of(setup, table);
  const Ways ways = ways_of(of);
  const int ranks = setup.mesh.pp;
  std::int64_t all = 0;
  Bound bound;
  for (int stage = 0; stage < of.stages(); ++stage) all += of.busy(stage);
  for (int rank = 0; rank < ranks; ++rank) {
    const std::vector<int> held = stages_on(setup, rank);
    // A stage that is held twice has its micro-batches on either rank.
    if (!holds_stages_twice(setup))
      bound.nanoseconds =
          std::max(bound.nanoseconds, rank_time(setup, of, ways, held,
                                                end[static_cast<std::size_t>(rank)].reduce +
                                                    end[static_cast<std::size_t>(rank)].across));
    std::int64_t own = 0, kept = of.kept(held.front());
    for (const int stage : held) {
      own = std::max(own, of.peak(stage, end[static_cast<std::size_t>(rank)]));
      kept = std::min(kept, of.kept(stage));
    }
    // The last of them may be of the stage that holds least.
    const std::int64_t under = under_way(setup, rank);
    const std::int64_t states = states_of(setup, table, held);
    const std::int64_t always = states + tokens_of(setup, held);
    if (held.size() == 1 || under == 1)
      widen(bound, always + own + (under - 1) * kept, states, rank);
    else
      widen(bound, always + std::max(own, under * kept), states, rank);
  }
  // Some rank has at least its share of all work.
  bound.nanoseconds = std::max(bound.nanoseconds, all * setup.microbatches / ranks);
  bound.nanoseconds = with_end(end, std::max(bound.nanoseconds, data_time(setup, end)));
  return bound;
}

namespace {

// Walks an Order with the least durations; see bound.h.
class Walk {
 public:
  Walk(const Setup& setup, const StageTable& table, const StepEnd& end, const Order& order)
      : table_(table),
        of_(setup, table),
        order_(order),
        end_(end),
        layers_(layers_of_stages(setup)) {
    pairs_ = has_pairs(setup);
    const auto cells =
        static_cast<std::size_t>(order.stages) * static_cast<std::size_t>(order.microbatches);
    forward_.assign(cells, -1);
    backward_.assign(cells, -1);
    ranks_.resize(order.ranks.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const int number = static_cast<int>(rank);
      ranks_[rank].states = states_of(setup, table, order.stage_of[rank]);
      ranks_[rank].held = tokens_of(setup, order.stage_of[rank]);
      for (const int stage : order.stage_of[rank])
        for (int at = 0; at < 4; ++at) {
          const auto kind = static_cast<ActionKind>(at);
          const int layers = layers_[static_cast<std::size_t>(stage)];
          bounds_.push_back(of_.action(stage, kind));
          peaks_.push_back(
              {of_.peak(stage, kind, end[rank]), of_.first_peak(stage, kind, end[rank], layers)});
        }
      ranks_[rank].first_bound = bounds_.size() - 4 * order.stage_of[rank].size();
      for (const int stage : order.stage_of[rank]) {
        ranks_[rank].kept.push_back(of_.kept(stage));
        ranks_[rank].waiting.push_back(of_.waiting(stage));
      }
      widen(bound_, ranks_[rank].states, ranks_[rank].states, number);
    }
  }

  Bound run() {
    for (bool moves = true; moves;) {
      moves = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
        while (step(rank)) moves = true;
    }
    for (const RankState& rank : ranks_)
      bound_.nanoseconds = std::max(bound_.nanoseconds, rank.free);
    return bound_;
  }

 private:
  struct RankState {
    std::size_t next = 0, first_bound = 0;
    std::int64_t free = 0, held = 0, states = 0;
    std::int64_t leaving = 0;  // gradients of the action before that are on their way
    // Of the first half of a pair whose second comes next; halves take turns.
    std::int64_t pair_begin = -1, pair_first = 0;
    std::vector<std::int64_t> kept, waiting;  // by chunk
  };

  std::size_t cell(int stage, int microbatch) const {
    return static_cast<std::size_t>(stage) * static_cast<std::size_t>(order_.microbatches) +
           static_cast<std::size_t>(microbatch);
  }

  // Whether the rank's next action can be placed, which it then is.
  bool step(std::size_t rank) {
    RankState& state = ranks_[rank];
    const std::vector<Action>& line = order_.ranks[rank];
    if (state.next >= line.size()) return false;
    const Action& action = line[state.next];
    const auto chunk = static_cast<std::size_t>(action.chunk);
    const int stage = order_.stage_of[rank][chunk];
    const bool forward = action.kind == ActionKind::kForward;
    const bool weight = action.kind == ActionKind::kWeightGrad;
    std::int64_t arrival = 0;
    if (!weight && (forward ? stage > 0 : stage + 1 < order_.stages)) {
      const std::int64_t left = forward ? forward_[cell(stage - 1, action.microbatch)]
                                        : backward_[cell(stage + 1, action.microbatch)];
      if (left < 0) return false;
      const std::vector<int>& here = order_.stage_of[rank];
      const bool stays =
          std::find(here.begin(), here.end(), stage + (forward ? -1 : 1)) != here.end();
      arrival = left + (stays ? 0 : table_.transfer);
    }
    const ActionBound& bound =
        bounds_[state.first_bound + 4 * chunk + static_cast<std::size_t>(action.kind)];
    const bool ends_pair = state.pair_begin >= 0;
    const std::int64_t begin = ends_pair ? state.pair_begin : state.free;
    const std::int64_t needed = arrival - bound.until_need;
    // Without ops, as the input part of a first stage without layers, an action waits for nothing.
    const bool empty = bound.busy == 0;
    const std::int64_t end = empty ? begin : std::max(begin, needed) + bound.duration;
    const std::int64_t leaves = empty ? arrival : std::max(begin, needed) + bound.until_have;
    const std::int64_t together = begin + (ends_pair ? state.pair_first : 0) + bound.busy;
    const bool starts_pair = pairs_ && action.overlapped_with_next;
    state.pair_begin = starts_pair ? begin : -1;
    state.pair_first = bound.busy;
    state.free = std::max({state.free, end, together});
    if (!weight) (forward ? forward_ : backward_)[cell(stage, action.microbatch)] = leaves;
    hold(state, rank, chunk, action.kind, starts_pair || ends_pair);
    ++state.next;
    return true;
  }

  // While a pair is at work, neither half is at its fullest when the other is.
  void hold(RankState& state, std::size_t rank, std::size_t chunk, ActionKind kind, bool paired) {
    if (kind == ActionKind::kWeightGrad) {
      state.held -= state.waiting[chunk];
      state.leaving = 0;
      return;
    }
    const bool forward = kind == ActionKind::kForward;
    if (!forward) state.held -= state.kept[chunk];
    const int stage = order_.stage_of[rank][chunk];
    const int layers = layers_[static_cast<std::size_t>(stage)];
    const Peaks& peaks = peaks_[state.first_bound + 4 * chunk + static_cast<std::size_t>(kind)];
    std::int64_t peak = peaks.any;
    const bool last = state.next + 1 == order_.ranks[rank].size();
    if (state.leaving > 0 && !last && kind != ActionKind::kInputGrad)
      peak = std::max(peak, peaks.first + state.leaving);
    state.leaving =
        kind == ActionKind::kBackward ? StageOf::last_gradients(stage, end_[rank], layers) : 0;
    if (!paired)
      widen(bound_, state.states + state.held + peak, state.states, static_cast<int>(rank));
    if (forward) state.held += state.kept[chunk];
    if (kind == ActionKind::kInputGrad) state.held += state.waiting[chunk];
  }

  const StageTable& table_;
  StageOf of_;
  const Order& order_;
  const StepEnd& end_;
  const std::vector<int> layers_;  // of each stage
  bool pairs_ = false;
  std::vector<RankState> ranks_;
  struct Peaks {
    std::int64_t any = 0, first = 0;  // the latter of its first stretch
  };
  // By rank, chunk and kind.
  std::vector<ActionBound> bounds_;
  std::vector<Peaks> peaks_;
  std::vector<std::int64_t> forward_, backward_;
  Bound bound_;
};

}  // namespace

Result<Bound> walked_bound(const Setup& setup, const StageTable& table, const StepEnd& end) {
  const Result<Order> order = make_order(setup);
  if (!order) return order.error();
  Bound bound = Walk(setup, table, end, *order).run();
  bound.nanoseconds = with_end(end, std::max(bound.nanoseconds, data_time(setup, end)));
  return bound;
}

}  // namespace parallelarium

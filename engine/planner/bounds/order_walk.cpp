// SPDX-License-Identifier: Apache-2.0
// Walks an Order with the least durations; see bound.h.
#include <algorithm>
#include <set>
#include <utility>

#include "engine/planner/bounds/bound.h"
#include "engine/planner/bounds/repeated_walk.h"
#include "engine/planner/bounds/stage_of.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

class ActionWalk {
 public:
  ActionWalk(const Setup& setup, const StageTable& table, const Order& order)
      : order_(order), transfer_(table.transfer), pairs_(has_pairs(setup)) {
    const StageOf of(setup, table);
    left_.assign(
        2 * static_cast<std::size_t>(order.stages) * static_cast<std::size_t>(order.microbatches),
        kNotYet);
    ranks_.resize(order.ranks.size());
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const std::vector<int>& here = order.stage_of[rank];
      const auto holds = [&](int stage) {
        return std::find(here.begin(), here.end(), stage) != here.end();
      };
      for (const int stage : here) {
        ChunkState& chunk = ranks_[rank].chunks.emplace_back();
        chunk.stage = stage;
        chunk.from_before = holds(stage - 1) ? 0 : transfer_;
        chunk.from_behind = holds(stage + 1) ? 0 : transfer_;
        chunk.kept = of.kept(stage);
        chunk.waiting = of.waiting(stage);
        for (std::size_t kind = 0; kind < 4; ++kind) {
          const ActionBound bound = of.action(stage, static_cast<ActionKind>(kind));
          chunk.times[kind] = {bound.busy, bound.duration, bound.until_need, bound.until_have};
        }
      }
      // Of every chunk and kind behind nothing, then behind a backward of each chunk.
      ranks_[rank].fullest.assign(4 * here.size() * (here.size() + 1), kNothingHeld);
    }
  }

  OrderWalk run() {
    walk_until([](std::size_t) { return SIZE_MAX; });
    return told();
  }
  // Of the whole order whose shorter one this walks. None: what comes again may not do the same.
  std::optional<OrderWalk> run_repeated(const OrderRepeats& repeats) {
    if (pairs_) return std::nullopt;
    const auto bodies_before_cut = [&](std::size_t rank, std::size_t bodies) {
      return repeats.ranks[rank].cut - bodies * repeats.ranks[rank].length;
    };
    // Ranks that need what others do behind the cut come less far, before a body as behind it.
    walk_until([&](std::size_t rank) { return bodies_before_cut(rank, 1); });
    const std::vector<RankState> begun = ranks_;
    const std::vector<std::int64_t> left = left_;
    std::vector<std::size_t> taken;  // the ranks of the body's actions, in an order that goes
    walk_until([&](std::size_t rank) { return bodies_before_cut(rank, 0); }, &taken);
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
      const RankState &from = begun[rank], &to = ranks_[rank];
      if (to.next - from.next != repeats.ranks[rank].length ||
          from.next < bodies_before_cut(rank, 2) || to.held != from.held ||
          to.leaving != from.leaving)
        return std::nullopt;
    }
    const auto later = static_cast<std::size_t>(repeats.microbatches);
    const std::optional<std::set<std::size_t>> crossing = crossing_cells(left, later);
    if (!crossing) return std::nullopt;

    const auto times_of = [&](const std::vector<RankState>& ranks, std::size_t earlier) {
      WalkTimes times;
      times.reserve(ranks.size() + crossing->size());
      for (const RankState& rank : ranks) times.push_back(rank.free);
      for (const std::size_t cell : *crossing) times.push_back(left_[cell - earlier]);
      return times;
    };
    const auto go_to = [&](const WalkTimes& times, std::size_t earlier) {
      auto time = times.begin();
      for (RankState& rank : ranks_) rank.free = *time++;
      for (const std::size_t cell : *crossing) left_[cell - earlier] = *time++;
    };
    const auto walk_body = [&](const WalkTimes& times) {
      go_to(times, later);
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank) ranks_[rank].next = begun[rank].next;
      for (const std::size_t rank : taken) step(rank);
      return times_of(ranks_, 0);
    };
    go_to(walk_repeated(times_of(begun, later), times_of(ranks_, 0), repeats.times, walk_body), 0);
    return run();
  }

 private:
  // Walks each rank until that action, or as far as it can go.
  template <class Until>
  void walk_until(const Until& until, std::vector<std::size_t>* taken = nullptr) {
    for (bool moves = true; moves;) {
      moves = false;
      for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
        while (ranks_[rank].next < until(rank) && step(rank)) {
          moves = true;
          if (taken) taken->push_back(rank);
        }
    }
  }

  // The cells that have been written and will be read. `before`: left_ a body earlier. None: those
  // so many micro-batches earlier were not the same a body earlier.
  std::optional<std::set<std::size_t>> crossing_cells(const std::vector<std::int64_t>& before,
                                                      std::size_t microbatches) const {
    std::set<std::size_t> crossing;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
      for (std::size_t at = ranks_[rank].next; at < order_.ranks[rank].size(); ++at) {
        const std::size_t read = cell_before(rank, order_.ranks[rank][at]);
        if (read != kNoCell && left_[read] != kNotYet) crossing.insert(read);
      }
    const auto of_all = static_cast<std::size_t>(order_.microbatches);
    for (const std::size_t cell : crossing) {
      const std::size_t own = cell % of_all;  // micro-batch
      if (own < microbatches || before[cell - microbatches] == kNotYet) return std::nullopt;
      if (before[cell] == kNotYet) continue;
      if (own + microbatches >= of_all || crossing.count(cell + microbatches) == 0)
        return std::nullopt;
    }
    return crossing;
  }

  OrderWalk told() const {
    OrderWalk walk;
    walk.stages = order_.stage_of;
    for (const RankState& rank : ranks_) {
      walk.nanoseconds = std::max(walk.nanoseconds, rank.free);
      walk.fullest.push_back(fullest_of(rank));
    }
    return walk;
  }

  static constexpr std::int64_t kNotYet = -1, kNothingHeld = INT64_MIN;
  static constexpr std::size_t kNoCell = SIZE_MAX;
  struct ActionTime {
    std::int64_t busy = 0, duration = 0, until_need = 0, until_have = 0;
  };
  struct ChunkState {
    int stage = 0;
    // What a transfer from the stage before takes, and from the one behind.
    std::int64_t from_before = 0, from_behind = 0;
    std::int64_t kept = 0, waiting = 0;
    ActionTime times[4];  // by ActionKind
  };
  struct RankState {
    std::size_t next = 0;
    std::int64_t free = 0, held = 0;
    std::int16_t leaving = OrderWalk::kNothing;  // the chunk whose backward was the action before
    // Of the first half of a pair whose second comes next; halves take turns.
    std::int64_t pair_begin = kNotYet, pair_first = 0;
    std::vector<ChunkState> chunks;
    std::vector<std::int64_t> fullest;
  };

  // In left_: what the action hands over at that stage.
  std::size_t cell(const Action& action, int stage) const {
    const std::size_t way = action.kind == ActionKind::kForward ? 0 : 1;
    return (way * static_cast<std::size_t>(order_.stages) + static_cast<std::size_t>(stage)) *
               static_cast<std::size_t>(order_.microbatches) +
           static_cast<std::size_t>(action.microbatch);
  }
  // The cell of what the rank's action needs; kNoCell: it waits for no other action.
  std::size_t cell_before(std::size_t rank, const Action& action) const {
    if (action.kind == ActionKind::kWeightGrad) return kNoCell;
    const int stage = order_.stage_of[rank][static_cast<std::size_t>(action.chunk)];
    const int from = action.kind == ActionKind::kForward ? stage - 1 : stage + 1;
    return from < 0 || from >= order_.stages ? kNoCell : cell(action, from);
  }

  // Whether the rank's next action can be placed, which it then is.
  bool step(std::size_t rank) {
    RankState& state = ranks_[rank];
    const std::vector<Action>& line = order_.ranks[rank];
    if (state.next >= line.size()) return false;
    const Action& action = line[state.next];
    const ChunkState& chunk = state.chunks[static_cast<std::size_t>(action.chunk)];
    const int stage = chunk.stage;
    const bool forward = action.kind == ActionKind::kForward;
    const bool weight = action.kind == ActionKind::kWeightGrad;
    std::int64_t arrival = 0;
    if (const std::size_t read = cell_before(rank, action); read != kNoCell) {
      const std::int64_t left = left_[read];
      if (left == kNotYet) return false;
      arrival = left + (forward ? chunk.from_before : chunk.from_behind);
    }
    const ActionTime& time = chunk.times[static_cast<std::size_t>(action.kind)];
    const bool ends_pair = state.pair_begin != kNotYet;
    const std::int64_t begin = ends_pair ? state.pair_begin : state.free;
    const std::int64_t needed = arrival - time.until_need;
    // Without ops, as the input part of a first stage without layers, an action waits for nothing.
    const bool empty = time.busy == 0;
    const std::int64_t end = empty ? begin : std::max(begin, needed) + time.duration;
    const std::int64_t leaves = empty ? arrival : std::max(begin, needed) + time.until_have;
    const std::int64_t together = begin + (ends_pair ? state.pair_first : 0) + time.busy;
    const bool starts_pair = pairs_ && action.overlapped_with_next;
    state.pair_begin = starts_pair ? begin : kNotYet;
    state.pair_first = time.busy;
    state.free = std::max({state.free, end, together});
    if (!weight) left_[cell(action, stage)] = leaves;
    hold(state, action, state.next + 1 == line.size(), starts_pair || ends_pair);
    ++state.next;
    return true;
  }

  // While a pair is at work, neither half is at its fullest when the other is. Behind a rank's last
  // action but one nothing is on its way any more.
  static void hold(RankState& state, const Action& action, bool last, bool paired) {
    const auto number = static_cast<std::size_t>(action.chunk);
    const ChunkState& chunk = state.chunks[number];
    const std::int16_t before = std::exchange(state.leaving, OrderWalk::kNothing);
    if (action.kind == ActionKind::kWeightGrad) {
      state.held -= chunk.waiting;
      return;
    }
    const bool forward = action.kind == ActionKind::kForward;
    if (!forward) state.held -= chunk.kept;
    if (action.kind == ActionKind::kBackward) state.leaving = static_cast<std::int16_t>(number);
    if (!paired) {
      const std::size_t of = 4 * number + static_cast<std::size_t>(action.kind);
      const bool behind =
          before != OrderWalk::kNothing && !last && action.kind != ActionKind::kInputGrad;
      const std::size_t at = behind ? static_cast<std::size_t>(before) + 1 : 0;
      std::int64_t& most = state.fullest[at * 4 * state.chunks.size() + of];
      most = std::max(most, state.held);
    }
    if (forward) state.held += chunk.kept;
    if (action.kind == ActionKind::kInputGrad) state.held += chunk.waiting;
  }

  static std::vector<OrderWalk::Held> fullest_of(const RankState& rank) {
    std::vector<OrderWalk::Held> fullest;
    for (std::size_t at = 0; at < rank.fullest.size(); ++at) {
      if (rank.fullest[at] == kNothingHeld) continue;
      const std::size_t of = at % (4 * rank.chunks.size()), behind = at / (4 * rank.chunks.size());
      fullest.push_back({static_cast<std::int16_t>(of / 4),
                         static_cast<std::int16_t>(static_cast<std::ptrdiff_t>(behind) - 1),
                         static_cast<ActionKind>(of % 4), rank.fullest[at]});
    }
    return fullest;
  }

  const Order& order_;
  const std::int64_t transfer_;
  const bool pairs_;
  std::vector<RankState> ranks_;
  std::vector<std::int64_t> left_;  // by direction, stage and micro-batch, when it has left
};

}  // namespace

Result<OrderWalk> walk_order(const Setup& setup, const StageTable& table,
                             const std::optional<RepeatedOrder>& known) {
  if (known)
    if (auto walk = ActionWalk(setup, table, known->shorter).run_repeated(known->repeats))
      return std::move(*walk);
  const Result<Order> order = make_order(setup);
  if (!order) return order.error();
  return ActionWalk(setup, table, *order).run();
}

}  // namespace parallelarium

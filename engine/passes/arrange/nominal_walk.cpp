// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/arrange/nominal_walk.h"

#include <algorithm>
#include <limits>

namespace parallelarium {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kNominalLinkBytesPerSecond = 1e12;

// What each rank does next, of which one comes first: the earliest, of those at the same time one
// that finishes before one that starts, and then that of the lowest rank.
class NextEvents {
 public:
  struct Event {
    double time = kNever;
    bool finish = false;
  };

  explicit NextEvents(std::size_t ranks) {
    while (leaves_ < ranks) leaves_ *= 2;
    events_.resize(leaves_);
    first_.resize(2 * leaves_);
    for (std::size_t rank = 0; rank < leaves_; ++rank)
      first_[leaves_ + rank] = static_cast<std::int32_t>(rank);
    for (std::size_t at = leaves_ - 1; at > 0; --at) first_[at] = first_[2 * at];
  }
  void set(std::int32_t rank, Event event) {
    events_[rank] = event;
    for (std::size_t at = (leaves_ + rank) / 2; at > 0; at /= 2) {
      const std::int32_t left = first_[2 * at], right = first_[2 * at + 1];
      first_[at] = before(events_[right], events_[left]) ? right : left;
    }
  }
  std::int32_t first() const { return first_[1]; }
  const Event& of(std::int32_t rank) const { return events_[rank]; }

 private:
  static bool before(const Event& a, const Event& b) {
    return a.time != b.time ? a.time < b.time : a.finish && !b.finish;
  }
  std::size_t leaves_ = 1;           // a power of two
  std::vector<Event> events_;        // by rank
  std::vector<std::int32_t> first_;  // at each node of a tree the rank that comes first below it
};

class NominalWalk {
 public:
  NominalWalk(const Order& order, const std::vector<NominalRank>& ranks, std::int64_t bytes,
              NominalSink& sink)
      : order_(order),
        ranks_(ranks),
        bytes_(bytes),
        sink_(sink),
        states_(ranks.size()),
        events_(ranks.size()) {
    const auto cells = static_cast<std::size_t>(order.stages) * order.microbatches;
    input_.assign(cells, kNever);
    gradient_.assign(cells, kNever);
    forward_done_.assign(cells, false);
    input_done_.assign(cells, false);
    holders_.resize(cells);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      for (const Action& action : order.ranks[r]) {
        const int stage = order.stage_of[r][action.chunk];
        holders_[cell(stage, action.microbatch)] = {static_cast<std::int32_t>(r), action.chunk};
        if (stage == 0) input_[cell(0, action.microbatch)] = 0;
      }
    }
  }

  std::vector<int> run() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) await(static_cast<std::int32_t>(r), 0);
    for (;;) {
      const std::int32_t rank = events_.first();
      const auto [time, finishes] = events_.of(rank);
      if (time == kNever) break;
      if (finishes) {
        finish(rank, time);
        // Others may finish now, too, and exchange data with this rank before it goes on.
        if (shares_lane(rank)) {
          await(rank, time);
          continue;
        }
      }
      start(rank, time);
    }
    std::vector<int> walked;
    for (const State& state : states_) walked.push_back(static_cast<int>(state.next));
    return walked;
  }

 private:
  struct State {
    std::size_t next = 0;
    bool busy = false;
    bool paired = false;  // the actions at `next` and behind it are under way together
    double pipe_free = 0;
    // The latest transfer, while nothing else followed it in its lane.
    bool transferred = false, transfer_sends = false;
    std::int32_t transfer_peer = -1;
    double transfer_time = -1;
  };

  std::size_t cell(int stage, int microbatch) const {
    return static_cast<std::size_t>(stage) * order_.microbatches + microbatch;
  }

  double ready_time(const Action& action, int stage) const {
    const std::size_t at = cell(stage, action.microbatch);
    switch (action.kind) {
      case ActionKind::kForward:
        return input_[at];
      case ActionKind::kBackward:
      case ActionKind::kInputGrad:
        return forward_done_[at] ? gradient_[at] : kNever;
      case ActionKind::kWeightGrad:
        return input_done_[at] ? 0 : kNever;
    }
    return kNever;
  }

  // When what comes next on a rank can start; kNever: not known yet, or there is nothing.
  double next_time(std::int32_t r) const {
    const State& state = states_[r];
    const std::vector<Action>& line = order_.ranks[r];
    if (state.next >= line.size()) return kNever;
    const Action& action = line[state.next];
    const double ready = ready_time(action, order_.stage_of[r][action.chunk]);
    if (!sink_.is_paired(r, state.next)) return ready;
    const Action& other = line[state.next + 1];
    return std::max(ready, ready_time(other, order_.stage_of[r][other.chunk]));
  }

  // Whether what comes next on a rank has ops in the lane of transfers.
  bool shares_lane(std::int32_t r) const {
    const std::vector<Action>& line = order_.ranks[r];
    const std::size_t next = states_[r].next;
    if (next >= line.size()) return false;
    const auto shares = [&](const Action& action) {
      return ranks_[r].shares_lane[action.chunk][static_cast<std::size_t>(action.kind)];
    };
    return shares(line[next]) || (sink_.is_paired(r, next) && shares(line[next + 1]));
  }

  // A rank that is free starts what comes next as soon as that can start. One at work looks for
  // that when it has finished.
  void await(std::int32_t r, double now) {
    if (states_[r].busy) return;
    events_.set(r, {std::max(next_time(r), now), false});
  }

  // Starts the next action of a rank that is free, or notes when it can start.
  void start(std::int32_t r, double now) {
    State& state = states_[r];
    if (const double ready = next_time(r); ready > now) {
      events_.set(r, {ready, false});
      return;
    }
    const bool paired = sink_.is_paired(r, state.next);
    if (shares_lane(r)) state.transferred = false;
    sink_.start(r, state.next, paired);
    double seconds = 0;
    for (std::size_t at = state.next; at <= state.next + (paired ? 1 : 0); ++at) {
      const Action& begun = order_.ranks[r][at];
      seconds += ranks_[r].seconds[begun.chunk][static_cast<std::size_t>(begun.kind)];
    }
    state.busy = true;
    state.paired = paired;
    events_.set(r, {now + seconds, true});
  }

  void finish(std::int32_t r, double now) {
    State& state = states_[r];
    state.busy = false;
    const std::size_t first = state.next;
    state.next += state.paired ? 2 : 1;
    for (std::size_t at = first; at < state.next; ++at) finish_action(r, order_.ranks[r][at], now);
  }
  void finish_action(std::int32_t r, const Action& action, double now) {
    const int stage = order_.stage_of[r][action.chunk];
    const std::size_t at = cell(stage, action.microbatch);
    if (action.kind == ActionKind::kForward) {
      forward_done_[at] = true;
      if (stage + 1 < order_.stages) {
        const double arrival = transfer(r, action, stage + 1, now);
        input_[cell(stage + 1, action.microbatch)] = arrival;
        await(holders_[cell(stage + 1, action.microbatch)].rank, now);
      } else {
        gradient_[at] = now;
      }
    } else if (action.kind == ActionKind::kInputGrad) {
      input_done_[at] = true;
    }
    if ((action.kind == ActionKind::kBackward || action.kind == ActionKind::kInputGrad) &&
        stage > 0) {
      const double arrival = transfer(r, action, stage - 1, now);
      gradient_[cell(stage - 1, action.microbatch)] = arrival;
      await(holders_[cell(stage - 1, action.microbatch)].rank, now);
    }
  }

  // Returns when the data is there.
  double transfer(std::int32_t from, const Action& action, int to_stage, double now) {
    const auto [to, to_chunk] = holders_[cell(to_stage, action.microbatch)];
    const bool forward = action.kind == ActionKind::kForward;
    NominalTransfer moved{from, to, to_chunk, &action, forward, false};
    if (from == to) {
      sink_.transfer(moved);
      return now;
    }
    // Two transfers in opposite directions that become ready together are one exchange.
    State& a = states_[from];
    State& b = states_[to];
    moved.exchanged = a.transferred && b.transferred && a.transfer_peer == to &&
                      b.transfer_peer == from && a.transfer_time == now && b.transfer_time == now &&
                      !a.transfer_sends && b.transfer_sends;
    sink_.transfer(moved);
    double begin = std::max({now, a.pipe_free, b.pipe_free});
    if (moved.exchanged) begin = now;
    a.transferred = b.transferred = !moved.exchanged;
    a.transfer_peer = to;
    b.transfer_peer = from;
    a.transfer_sends = true;
    b.transfer_sends = false;
    a.transfer_time = b.transfer_time = begin == now ? now : -1;
    const double end = begin + static_cast<double>(bytes_) / kNominalLinkBytesPerSecond;
    a.pipe_free = b.pipe_free = end;
    return end;
  }

  const Order& order_;
  const std::vector<NominalRank>& ranks_;
  const std::int64_t bytes_;
  NominalSink& sink_;
  std::vector<State> states_;
  std::vector<double> input_, gradient_;
  std::vector<bool> forward_done_, input_done_;
  // By stage and micro-batch: a stage that is held twice has some micro-batches on either rank.
  struct Holder {
    std::int32_t rank = -1;
    int chunk = 0;
  };
  std::vector<Holder> holders_;
  NextEvents events_;
};

}  // namespace

std::vector<int> walk_nominally(const Order& order, const std::vector<NominalRank>& ranks,
                                std::int64_t boundary_bytes, NominalSink& sink) {
  return NominalWalk(order, ranks, boundary_bytes, sink).run();
}

}  // namespace parallelarium

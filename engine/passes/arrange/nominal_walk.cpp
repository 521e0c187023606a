// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/arrange/nominal_walk.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace parallelarium {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kNominalLinkBytesPerSecond = 1e12;

struct NominalEvent {
  double time = 0;
  bool finish = false;  // finishing comes before starting at the same time
  std::int32_t rank = 0;
  bool operator>(const NominalEvent& other) const {
    if (time != other.time) return time > other.time;
    if (finish != other.finish) return !finish;
    return rank > other.rank;
  }
};

class NominalWalk {
 public:
  NominalWalk(const Order& order, const std::vector<NominalRank>& ranks, std::int64_t bytes,
              NominalSink& sink)
      : order_(order), ranks_(ranks), bytes_(bytes), sink_(sink), states_(ranks.size()) {
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
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      events_.push({0, false, static_cast<std::int32_t>(r)});
    while (!events_.empty()) {
      const NominalEvent event = events_.top();
      events_.pop();
      if (event.finish) finish(event.rank, event.time);
      start(event.rank, event.time);
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
    // The latest transfer, while nothing else followed it in the pipeline lane.
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

  void start(std::int32_t r, double now) {
    State& state = states_[r];
    if (state.busy || state.next >= order_.ranks[r].size()) return;
    const Action& action = order_.ranks[r][state.next];
    double ready = ready_time(action, order_.stage_of[r][action.chunk]);
    const bool paired = sink_.is_paired(r, state.next);
    if (paired) {
      const Action& other = order_.ranks[r][state.next + 1];
      ready = std::max(ready, ready_time(other, order_.stage_of[r][other.chunk]));
    }
    if (ready == kNever) return;
    if (ready > now) {
      events_.push({ready, false, r});
      return;
    }
    sink_.start(r, state.next, paired);
    double seconds = 0;
    for (std::size_t at = state.next; at <= state.next + (paired ? 1 : 0); ++at) {
      const Action& begun = order_.ranks[r][at];
      seconds += ranks_[r].seconds[begun.chunk][static_cast<std::size_t>(begun.kind)];
      if (ranks_[r].rings[begun.chunk][static_cast<std::size_t>(begun.kind)])
        state.transferred = false;
    }
    state.busy = true;
    state.paired = paired;
    events_.push({now + seconds, true, r});
  }

  void finish(std::int32_t r, double now) {
    State& state = states_[r];
    state.busy = false;
    for (int actions = state.paired ? 2 : 1; actions > 0; --actions)
      finish_action(r, order_.ranks[r][state.next++], now);
  }
  void finish_action(std::int32_t r, const Action& action, double now) {
    const int stage = order_.stage_of[r][action.chunk];
    const std::size_t at = cell(stage, action.microbatch);
    if (action.kind == ActionKind::kForward) {
      forward_done_[at] = true;
      if (stage + 1 < order_.stages) {
        const double arrival = transfer(r, action, stage + 1, now);
        input_[cell(stage + 1, action.microbatch)] = arrival;
        wake(holders_[cell(stage + 1, action.microbatch)].rank, arrival);
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
      wake(holders_[cell(stage - 1, action.microbatch)].rank, arrival);
    }
  }

  void wake(std::int32_t rank, double time) { events_.push({time, false, rank}); }

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
  std::priority_queue<NominalEvent, std::vector<NominalEvent>, std::greater<>> events_;
};

}  // namespace

std::vector<int> walk_nominally(const Order& order, const std::vector<NominalRank>& ranks,
                                std::int64_t boundary_bytes, NominalSink& sink) {
  return NominalWalk(order, ranks, boundary_bytes, sink).run();
}

}  // namespace parallelarium

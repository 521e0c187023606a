// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/arrange.h"

#include <algorithm>
#include <limits>
#include <queue>

namespace parallelarium {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kNominalLinkBytesPerSecond = 1e12;

struct Event {
  double time = 0;
  bool finish = false;  // finishing comes before starting at the same time
  std::int32_t rank = 0;
  bool operator>(const Event& other) const {
    if (time != other.time) return time > other.time;
    if (finish != other.finish) return !finish;
    return rank > other.rank;
  }
};

class Walk {
 public:
  Walk(const Order& order, std::vector<RankPlan>& plans, std::int64_t boundary_bytes, DataType type,
       const std::vector<int>& ranks, const std::vector<std::int32_t>& groups, ActionHooks& hooks)
      : order_(order),
        plans_(plans),
        bytes_(boundary_bytes),
        type_(type),
        ranks_(ranks),
        groups_(groups),
        hooks_(hooks),
        states_(plans.size()) {
    send_.operands.resize(1);
    recv_.operands.resize(1);
    const auto cells = static_cast<std::size_t>(order.stages) * order.microbatches;
    input_.assign(cells, kNever);
    gradient_.assign(cells, kNever);
    forward_done_.assign(cells, false);
    input_done_.assign(cells, false);
    holders_.resize(cells);
    for (std::size_t r = 0; r < plans.size(); ++r) {
      State& state = states_[r];
      for (std::size_t c = 0; c < order.stage_of[r].size(); ++c) {
        state.tables.emplace_back(
            static_cast<std::size_t>(order.microbatches) * plans[r].chunks[c].slots, -1);
      }
      for (const Action& action : order.ranks[r]) {
        const int stage = order.stage_of[r][action.chunk];
        holders_[cell(stage, action.microbatch)] = {static_cast<std::int32_t>(r), action.chunk};
        if (stage == 0) input_[cell(0, action.microbatch)] = 0;
      }
      if (plans[r].folds) choose_folds(r);
    }
  }

  Result<void> run(std::vector<ForwardEdge>* waits) {
    for (std::size_t r = 0; r < plans_.size(); ++r)
      events_.push({0, false, static_cast<std::int32_t>(r)});
    while (!events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      if (event.finish) finish(event.rank, event.time);
      start(event.rank, event.time);
    }
    if (waits != nullptr) {
      std::vector<int> walked;
      for (const State& state : states_) walked.push_back(static_cast<int>(state.next));
      *waits = emit_waits(order_, walked, plans_, bytes_, type_, ranks_, groups_);
      return {};
    }
    for (std::size_t r = 0; r < plans_.size(); ++r) {
      if (states_[r].next < order_.ranks[r].size()) {
        return message("order-stuck", "Stage {} never gets what action {} of its order needs.", r,
                       states_[r].next + 1);
      }
    }
    return {};
  }

 private:
  struct State {
    std::size_t next = 0;
    bool busy = false;
    bool paired = false;  // the actions at `next` and behind it are under way together
    double pipe_free = 0;
    std::vector<std::vector<std::int32_t>> tables;  // by chunk; slots of each micro-batch in turn
    // Stage level, by chunk and micro-batch: whether its backward is split, and whether its actions
    // are folded across stretches.
    std::vector<bool> split, whole;
    // The latest transfer, while nothing else followed it in the pipeline lane.
    std::int32_t transfer_op = -1, transfer_peer = -1;
    double transfer_time = -1;
    bool transfer_sends = false;
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
    const int stage = order_.stage_of[r][action.chunk];
    double ready = ready_time(action, stage);
    const bool paired = is_paired(r);
    if (paired) {
      const Action& other = order_.ranks[r][state.next + 1];
      ready = std::max(ready, ready_time(other, order_.stage_of[r][other.chunk]));
    }
    if (ready == kNever) return;
    if (ready > now) {
      events_.push({ready, false, r});
      return;
    }
    double seconds = seconds_of(r, action);
    if (paired) {
      emit_pair(r);
      seconds += seconds_of(r, order_.ranks[r][state.next + 1]);
    } else {
      emit_action(r, action);
    }
    state.busy = true;
    state.paired = paired;
    events_.push({now + seconds, true, r});
  }
  double seconds_of(std::int32_t r, const Action& action) const {
    return plans_[r].chunks[action.chunk].seconds[static_cast<int>(action.kind)];
  }

  // Whether the next two actions are a pair whose exchanges hide behind each other's work. Where
  // sharding adds collectives to one of them, they go one after the other.
  bool is_paired(std::int32_t r) const {
    const std::size_t next = states_[r].next;
    return plans_[r].pairs && order_.ranks[r][next].overlapped_with_next &&
           next + 1 < order_.ranks[r].size() && hooks_.is_quiet(plans_[r], next) &&
           hooks_.is_quiet(plans_[r], next + 1);
  }
  // The drafts of both, in turn up to the next exchange of tokens.
  void emit_pair(std::int32_t r) {
    const std::size_t next = states_[r].next;
    std::span<const Draft> left[2];
    for (std::size_t half = 0; half < 2; ++half) {
      const Action& action = order_.ranks[r][next + half];
      const ChunkDrafts& chunk = plans_[r].chunks[action.chunk];
      left[half] = chunk.of(action.kind);
      if (plans_[r].folds) {
        const bool split = states_[r].split[fold_cell(action)];
        const FoldedDrafts& folded = chunk.folded_of(action.kind, split);
        left[half] = states_[r].whole[fold_cell(action)] ? folded.whole : folded.stretches;
      }
    }
    for (std::size_t half = 0; !left[0].empty() || !left[1].empty(); half = 1 - half) {
      const Action& action = order_.ranks[r][next + half];
      std::size_t end = 0;
      while (end < left[half].size() && left[half][end].op.purpose != Purpose::kTokens) ++end;
      end = std::min(end + 1, left[half].size());
      const RankEmitter::Place place{action.microbatch, static_cast<std::int16_t>(action.chunk),
                                     static_cast<std::int32_t>(next + half)};
      emit_drafts(r, left[half].first(end), place, table_of(r, action.chunk, action.microbatch),
                  plans_[r].emitter->program().batches);
      left[half] = left[half].subspan(end);
    }
    for (std::size_t half = 0; half < 2; ++half) {
      const Action& action = order_.ranks[r][next + half];
      hooks_.skip(plans_[r],
                  plans_[r].chunks[action.chunk].stretches[static_cast<int>(action.kind)]);
    }
  }

  // All actions of a micro-batch are folded alike, since they share buffers.
  void choose_folds(std::size_t r) {
    State& state = states_[r];
    const std::size_t cells =
        plans_[r].chunks.size() * static_cast<std::size_t>(order_.microbatches);
    state.split.assign(cells, false);
    state.whole.assign(cells, true);
    for (std::size_t at = 0; at < order_.ranks[r].size(); ++at) {
      const Action& action = order_.ranks[r][at];
      const std::size_t of = fold_cell(action);
      if (action.kind == ActionKind::kInputGrad) state.split[of] = true;
      if (!hooks_.is_quiet(plans_[r], at)) state.whole[of] = false;
    }
  }
  std::size_t fold_cell(const Action& action) const {
    return static_cast<std::size_t>(action.chunk) * static_cast<std::size_t>(order_.microbatches) +
           static_cast<std::size_t>(action.microbatch);
  }
  void emit_action(std::int32_t r, const Action& action) {
    const RankPlan& plan = plans_[r];
    const ChunkDrafts& chunk = plan.chunks[action.chunk];
    if (!plan.folds) return emit_stretches(r, action, chunk.of(action.kind));
    const FoldedDrafts& drafts = chunk.folded_of(action.kind, states_[r].split[fold_cell(action)]);
    if (!states_[r].whole[fold_cell(action)]) return emit_stretches(r, action, drafts.stretches);
    const RankEmitter::Place place{action.microbatch, static_cast<std::int16_t>(action.chunk),
                                   static_cast<std::int32_t>(states_[r].next)};
    emit_drafts(r, drafts.whole, place, table_of(r, action.chunk, action.microbatch),
                plan.emitter->program().batches);
    hooks_.skip(plans_[r], chunk.stretches[static_cast<int>(action.kind)]);
  }

  void emit_stretches(std::int32_t r, const Action& action, const std::vector<Draft>& drafts) {
    State& state = states_[r];
    RankPlan& plan = plans_[r];
    const SlotTable table = table_of(r, action.chunk, action.microbatch);
    const RankEmitter::Place place{action.microbatch, static_cast<std::int16_t>(action.chunk),
                                   static_cast<std::int32_t>(state.next)};
    const std::int32_t first_batch = plan.emitter->program().batches;
    for (std::size_t begin = 0, end = 0; begin < drafts.size(); begin = end) {
      end = stretch_end(drafts, begin);
      const Stretch stretch{action.chunk, action.microbatch,
                            std::span(drafts).subspan(begin, end - begin), table};
      hooks_.before(plan, stretch);
      emit_drafts(r, stretch.drafts, place, table, first_batch);
      hooks_.after(plan, stretch);
    }
  }

  // Batches of the drafts are counted from `first_batch`.
  void emit_drafts(std::int32_t r, std::span<const Draft> drafts, const RankEmitter::Place& place,
                   SlotTable table, std::int32_t first_batch) {
    RankEmitter& emitter = *plans_[r].emitter;
    std::int32_t& batches = emitter.program().batches;
    for (const Draft& draft : drafts) {
      // What the data lane moves leaves or comes no sooner than it stands in the compute lane.
      const std::int32_t needs =
          draft.op.lane == Lane::kData ? emitter.last_of(Lane::kCompute) : -1;
      const std::int32_t op = emitter.emit(draft, place, table, needs);
      if (draft.op.batch < 0) continue;
      emitter.rank().ops[op].batch = first_batch + draft.op.batch;
      batches = std::max(batches, first_batch + draft.op.batch + 1);
      states_[r].transfer_op = -1;  // no longer the lane's last
    }
  }

  SlotTable table_of(std::int32_t r, int chunk, int microbatch) {
    const auto slots = static_cast<std::size_t>(plans_[r].chunks[chunk].slots);
    return SlotTable(states_[r].tables[chunk]).subspan(slots * microbatch, slots);
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
        const double arrival = transfer(r, action, stage + 1, Purpose::kActivations, now);
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
      const double arrival = transfer(r, action, stage - 1, Purpose::kGradients, now);
      gradient_[cell(stage - 1, action.microbatch)] = arrival;
      wake(holders_[cell(stage - 1, action.microbatch)].rank, arrival);
    }
  }

  void wake(std::int32_t rank, double time) { events_.push({time, false, rank}); }

  // Appends Send and Recv (unless both stages are on one rank) and returns when the data is there.
  double transfer(std::int32_t from, const Action& action, int to_stage, Purpose purpose,
                  double now) {
    const auto [to, to_chunk] = holders_[cell(to_stage, action.microbatch)];
    const ChunkDrafts& source = plans_[from].chunks[action.chunk];
    const ChunkDrafts& target = plans_[to].chunks[to_chunk];
    const bool forward = purpose == Purpose::kActivations;
    const SlotTable source_table = table_of(from, action.chunk, action.microbatch);
    const SlotTable target_table = table_of(to, to_chunk, action.microbatch);
    const std::int32_t source_slot = forward ? source.output_slot
                                     : action.kind == ActionKind::kInputGrad
                                         ? source.input_gradient_slot
                                         : source.gradient_slot;
    const std::int32_t target_slot = forward ? target.input_slot : target.gradient_slot;
    if (from == to) {
      target_table[target_slot] = source_table[source_slot];
      return now;
    }
    const int boundary = forward ? target.chunk.begin : -1;
    BoundaryTransfer sent{OpKind::kSend, plans_[0].transfers, purpose, ranks_[to],
                          boundary,      source_slot,         bytes_,  type_};
    fill_transfer(send_, sent);
    sent.kind = OpKind::kRecv;
    sent.peer = ranks_[from];
    sent.slot = target_slot;
    fill_transfer(recv_, sent);
    send_.op.group = groups_[from];
    recv_.op.group = groups_[to];
    recv_.operands[0].opens = bytes_;
    recv_.operands[0].access = Access::kWrite;
    const RankEmitter::Place place{action.microbatch, static_cast<std::int16_t>(action.chunk), -1};
    const RankEmitter::Place to_place{action.microbatch, static_cast<std::int16_t>(to_chunk), -1};
    const std::int32_t send_op = plans_[from].emitter->emit(send_, place, source_table);
    const std::int32_t recv_op = plans_[to].emitter->emit(recv_, to_place, target_table);
    // Two transfers in opposite directions that become ready together are one exchange.
    State& a = states_[from];
    State& b = states_[to];
    const bool exchange = a.transfer_op >= 0 && b.transfer_op >= 0 && a.transfer_peer == to &&
                          b.transfer_peer == from && a.transfer_time == now &&
                          b.transfer_time == now && !a.transfer_sends && b.transfer_sends;
    double begin = std::max({now, a.pipe_free, b.pipe_free});
    if (exchange) {
      begin = now;
      RankProgram& rank_a = plans_[from].emitter->rank();
      RankProgram& rank_b = plans_[to].emitter->rank();
      const std::int32_t batch = plans_[from].emitter->program().batches++;
      rank_a.ops[a.transfer_op].batch = rank_a.ops[send_op].batch = batch;
      rank_b.ops[b.transfer_op].batch = rank_b.ops[recv_op].batch = batch;
      a.transfer_op = b.transfer_op = -1;
    } else {
      a.transfer_op = send_op;
      b.transfer_op = recv_op;
    }
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
  std::vector<RankPlan>& plans_;
  std::int64_t bytes_;
  DataType type_;
  const std::vector<int>& ranks_;
  const std::vector<std::int32_t>& groups_;
  ActionHooks& hooks_;
  std::vector<State> states_;
  Draft send_, recv_;  // written anew for each transfer
  std::vector<double> input_, gradient_;
  std::vector<bool> forward_done_, input_done_;
  // By stage and micro-batch: a stage that is held twice has some micro-batches on either rank.
  struct Holder {
    std::int32_t rank = -1;
    int chunk = 0;
  };
  std::vector<Holder> holders_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
};

}  // namespace

Result<void> arrange(const Order& order, std::vector<RankPlan>& plans, std::int64_t boundary_bytes,
                     DataType type, const std::vector<int>& ranks_of_plans,
                     const std::vector<std::int32_t>& pipeline_groups, ActionHooks& hooks,
                     std::vector<ForwardEdge>* waits) {
  return Walk(order, plans, boundary_bytes, type, ranks_of_plans, pipeline_groups, hooks)
      .run(waits);
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/arrange/arrange.h"

#include <algorithm>
#include <utility>

#include "engine/passes/arrange/nominal_walk.h"

namespace parallelarium {

namespace {

// Whether no op of their lane is between the two.
bool follow_each_other(const RankProgram& rank, std::int32_t op, std::int32_t later) {
  return std::none_of(rank.ops.begin() + op + 1, rank.ops.begin() + later,
                      [lane = rank.ops[static_cast<std::size_t>(op)].lane](const Op& between) {
                        return between.lane == lane;
                      });
}

// Appends the ops of what the walk starts and moves.
class Emission : public NominalSink {
 public:
  Emission(const Order& order, std::vector<RankPlan>& plans, std::int64_t boundary_bytes,
           DataType type, const std::vector<int>& ranks, const std::vector<std::int32_t>& groups,
           ActionHooks& hooks)
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
    for (std::size_t r = 0; r < plans.size(); ++r) {
      State& state = states_[r];
      for (std::size_t c = 0; c < order.stage_of[r].size(); ++c) {
        state.tables.emplace_back(
            static_cast<std::size_t>(order.microbatches) * plans[r].chunks[c].slots, -1);
      }
      if (plans[r].folds) choose_folds(r);
    }
  }

  void start(int r, std::size_t index, bool paired) override {
    if (paired)
      emit_pair(r, index);
    else
      emit_action(r, index);
  }

  // Whether the action and the next one are a pair whose exchanges hide behind each other's work.
  // Where sharding adds collectives to one of them, they go one after the other.
  bool is_paired(int r, std::size_t index) const override {
    return plans_[r].pairs && order_.ranks[r][index].overlapped_with_next &&
           index + 1 < order_.ranks[r].size() && hooks_.is_quiet(plans_[r], index) &&
           hooks_.is_quiet(plans_[r], index + 1);
  }

  // Appends Send and Recv unless both stages are on one rank.
  void transfer(const NominalTransfer& moved) override {
    const Action& action = *moved.action;
    const std::int32_t from = moved.from, to = moved.to;
    const ChunkDrafts& source = plans_[from].chunks[action.chunk];
    const ChunkDrafts& target = plans_[to].chunks[moved.to_chunk];
    const SlotTable source_table = table_of(from, action.chunk, action.microbatch);
    const SlotTable target_table = table_of(to, moved.to_chunk, action.microbatch);
    const std::int32_t source_slot = moved.forward ? source.output_slot
                                     : action.kind == ActionKind::kInputGrad
                                         ? source.input_gradient_slot
                                         : source.gradient_slot;
    if (from == to) {
      target_table[moved.forward ? target.input_slot : target.gradient_slot] =
          source_table[source_slot];
      return;
    }
    const std::int32_t target_slot =
        moved.forward ? target.received_slot : target.received_gradient_slot;
    const std::int32_t whole_slot = moved.forward ? target.input_slot : target.gradient_slot;
    const bool shares = target_slot != whole_slot;
    const int boundary = moved.forward ? target.chunk.begin : -1;
    const Purpose purpose = moved.forward ? Purpose::kActivations : Purpose::kGradients;
    BoundaryTransfer sent{OpKind::kSend, plans_[0].transfers, purpose, ranks_[to],
                          boundary,      source_slot,         bytes_,  type_,
                          shares};
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
    const RankEmitter::Place to_place{action.microbatch, static_cast<std::int16_t>(moved.to_chunk),
                                      -1};
    const std::int32_t send_op = plans_[from].emitter->emit(send_, place, source_table);
    const std::int32_t recv_op = plans_[to].emitter->emit(recv_, to_place, target_table);
    RankProgram& rank_a = plans_[from].emitter->rank();
    RankProgram& rank_b = plans_[to].emitter->rank();
    // A lane does an exchange at once, so nothing else of it may stand between: a sum of TP that
    // hides there (Setup::overlap_tensor) leaves two messages, one after the other.
    if (moved.exchanged && follow_each_other(rank_a, states_[from].transfer_op, send_op) &&
        follow_each_other(rank_b, states_[to].transfer_op, recv_op)) {
      const std::int32_t batch = plans_[from].emitter->program().batches++;
      rank_a.ops[states_[from].transfer_op].batch = rank_a.ops[send_op].batch = batch;
      rank_b.ops[states_[to].transfer_op].batch = rank_b.ops[recv_op].batch = batch;
    }
    states_[from].transfer_op = send_op;
    states_[to].transfer_op = recv_op;
  }

 private:
  struct State {
    std::vector<std::vector<std::int32_t>> tables;  // by chunk; slots of each micro-batch in turn
    // Stage level, by chunk and micro-batch: whether its backward is split, and whether its actions
    // are folded across stretches.
    std::vector<bool> split, whole;
    std::int32_t transfer_op = -1;  // the latest
  };

  // The drafts of both, in turn up to the next exchange of tokens.
  void emit_pair(std::int32_t r, std::size_t next) {
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
    bool busy = false;  // the lane of a ring, from here on
    // By chunk, whether a forward has waited for its parameters, layer by layer, if they come.
    const std::vector<std::int32_t>& coming = plans_[r].coming;
    std::vector<bool> begun(
        plans_[r].chunks.size(),
        std::all_of(coming.begin(), coming.end(), [](std::int32_t op) { return op < 0; }));
    for (std::size_t at = 0; at < order_.ranks[r].size(); ++at) {
      const Action& action = order_.ranks[r][at];
      const std::size_t of = fold_cell(action);
      const bool quiet = hooks_.is_quiet(plans_[r], at);
      busy = busy || (plans_[r].folds_rings && !quiet);
      if (action.kind == ActionKind::kInputGrad) state.split[of] = true;
      const auto chunk = static_cast<std::size_t>(action.chunk);
      if (!quiet || busy || !begun[chunk] || !plans_[r].chunks[chunk].folded.across)
        state.whole[of] = false;
      if (action.kind == ActionKind::kForward) begun[chunk] = true;
    }
  }
  std::size_t fold_cell(const Action& action) const {
    return static_cast<std::size_t>(action.chunk) * static_cast<std::size_t>(order_.microbatches) +
           static_cast<std::size_t>(action.microbatch);
  }
  void emit_action(std::int32_t r, std::size_t index) {
    const Action& action = order_.ranks[r][index];
    const RankPlan& plan = plans_[r];
    const ChunkDrafts& chunk = plan.chunks[action.chunk];
    if (!plan.folds) return emit_stretches(r, index, chunk.of(action.kind));
    const FoldedDrafts& drafts = chunk.folded_of(action.kind, states_[r].split[fold_cell(action)]);
    if (!states_[r].whole[fold_cell(action)]) return emit_stretches(r, index, drafts.stretches);
    const RankEmitter::Place place{action.microbatch, static_cast<std::int16_t>(action.chunk),
                                   static_cast<std::int32_t>(index)};
    emit_drafts(r, drafts.whole, place, table_of(r, action.chunk, action.microbatch),
                plan.emitter->program().batches);
    hooks_.skip(plans_[r], chunk.stretches[static_cast<int>(action.kind)]);
  }

  void emit_stretches(std::int32_t r, std::size_t index, const std::vector<Draft>& drafts) {
    const Action& action = order_.ranks[r][index];
    RankPlan& plan = plans_[r];
    const SlotTable table = table_of(r, action.chunk, action.microbatch);
    const RankEmitter::Place place{action.microbatch, static_cast<std::int16_t>(action.chunk),
                                   static_cast<std::int32_t>(index)};
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
      std::int32_t needs = waits_for_computing(draft) ? emitter.last_of(Lane::kCompute) : -1;
      if (draft.awaits >= 0)
        needs = std::exchange(plans_[r].coming[static_cast<std::size_t>(draft.awaits)], -1);
      const std::int32_t op = emitter.emit(draft, place, table, needs);
      if (draft.op.batch < 0) continue;
      emitter.rank().ops[op].batch = first_batch + draft.op.batch;
      batches = std::max(batches, first_batch + draft.op.batch + 1);
    }
  }

  SlotTable table_of(std::int32_t r, int chunk, int microbatch) {
    const auto slots = static_cast<std::size_t>(plans_[r].chunks[chunk].slots);
    return SlotTable(states_[r].tables[chunk]).subspan(slots * microbatch, slots);
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
};

NominalRank nominal_rank(const RankPlan& plan) {
  NominalRank rank;
  for (const ChunkDrafts& chunk : plan.chunks) {
    rank.seconds.push_back({});
    rank.shares_lane.push_back({});
    for (std::size_t kind = 0; kind < 4; ++kind) {
      rank.seconds.back()[kind] = chunk.seconds[kind];
      rank.shares_lane.back()[kind] =
          plan.transfers == Lane::kCompute || has_rings(chunk.of(static_cast<ActionKind>(kind)));
    }
  }
  return rank;
}

}  // namespace

Result<void> arrange(const Order& order, std::vector<RankPlan>& plans, std::int64_t boundary_bytes,
                     DataType type, const std::vector<int>& ranks_of_plans,
                     const std::vector<std::int32_t>& pipeline_groups, ActionHooks& hooks,
                     std::vector<ForwardEdge>* waits) {
  std::vector<NominalRank> ranks;
  for (const RankPlan& plan : plans) ranks.push_back(nominal_rank(plan));
  Emission emission(order, plans, boundary_bytes, type, ranks_of_plans, pipeline_groups, hooks);
  const std::vector<int> walked = walk_nominally(order, ranks, boundary_bytes, emission);
  if (waits != nullptr) {
    *waits =
        emit_waits(order, walked, plans, boundary_bytes, type, ranks_of_plans, pipeline_groups);
    return {};
  }
  for (std::size_t r = 0; r < plans.size(); ++r) {
    if (walked[r] < static_cast<int>(order.ranks[r].size())) {
      return message("order-stuck", "Stage {} never gets what action {} of its order needs.", r,
                     walked[r] + 1);
    }
  }
  return {};
}

}  // namespace parallelarium

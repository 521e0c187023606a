// SPDX-License-Identifier: Apache-2.0
// Gathers parameters before they are read: ZeRO 3 a bucket for every action, into a buffer of its
// own, and ZeRO 1 and 2, where they gather ahead, each once where it lies.
#include "engine/passes/shard/shard.h"
#include "engine/passes/shard/shard_drafts.h"

namespace parallelarium {

void await_buckets(const Setup& setup, const RankProgram& rank, std::vector<Draft>& forward) {
  if (!gathers_ahead(setup)) return;
  std::vector<bool> read(rank.buckets.size());
  for (Draft& draft : forward) {
    for (const DraftOperand& operand : draft.operands) {
      if (operand.tensor != Tensor::kParameters) continue;
      const std::int16_t bucket = bucket_at(rank, operand.offset);
      if (!read[static_cast<std::size_t>(bucket)]) draft.awaits = bucket;
      read[static_cast<std::size_t>(bucket)] = true;
    }
  }
}

// All buckets, as the first forwards of the rank's chunks come to read them.
void ShardPass::gather_ahead(RankPlan& plan) {
  const RankProgram& rank = plan.emitter->rank();
  std::vector<bool> begun(plan.chunks.size()), gathered(rank.buckets.size());
  for (const Action& action : rank.actions) {
    const auto chunk = static_cast<std::size_t>(action.chunk);
    if (action.kind != ActionKind::kForward || begun[chunk]) continue;
    begun[chunk] = true;
    for (const Draft& draft : plan.chunks[chunk].forward) {
      for (const DraftOperand& operand : draft.operands) {
        if (operand.tensor != Tensor::kParameters) continue;
        const auto at = static_cast<std::size_t>(bucket_at(rank, operand.offset));
        if (gathered[at]) continue;
        gathered[at] = true;
        const Bucket& bucket = rank.buckets[at];
        const std::int32_t group = state_of(plan).homes[at].shard_group;
        if (group < 0) continue;
        Draft gather = gather_draft(setup_, rank, bucket, group);
        gather.op.phase = Phase::kForward;
        plan.coming[at] = plan.emitter->emit(gather, {}, {});
      }
    }
  }
}

void ShardPass::gather(RankPlan& plan, const State& state, Task& task) const {
  const RankProgram& rank = plan.emitter->rank();
  const Bucket& bucket = rank.buckets[static_cast<std::size_t>(task.bucket)];
  const Home& home = state.homes[static_cast<std::size_t>(task.bucket)];
  if (home.shard_group < 0) return;
  const DataType type = parameter_type(setup_);
  DraftOperand whole = temporary(Tensor::kGathered, Access::kWrite, type, 0, bucket.count);
  whole.opens = bucket.count * size_of(type);
  Draft draft = data_draft(
      CollectiveKind::kAllGather, Purpose::kParameters, home.shard_group, bucket.count,
      {whole, own_part(setup_, rank, task.bucket, Tensor::kParameters, Access::kRead, type)});
  draft.op.phase = task.phase;
  draft.op.layer = home.layer;
  // Not before the stretch that it is gathered ahead of.
  plan.emitter->emit(draft, {task.microbatch, task.chunk, -1}, {&task.buffer, 1},
                     plan.emitter->last_of(Lane::kCompute));
}

}  // namespace parallelarium

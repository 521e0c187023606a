// SPDX-License-Identifier: Apache-2.0
// Adds up the gradients of a bucket over its replicas.
#include "engine/passes/shard/shard.h"
#include "engine/passes/shard/shard_drafts.h"

namespace parallelarium {

// Adds up the gradients of copies.
void ShardPass::reduce_copies(RankPlan& plan, const State& state, const Task& task) const {
  const Home& home = state.homes[static_cast<std::size_t>(task.bucket)];
  const Bucket& bucket = plan.emitter->rank().buckets[static_cast<std::size_t>(task.bucket)];
  const DataType type = gradient_type(setup_);
  const std::int32_t buffer = state.opened[static_cast<std::size_t>(task.bucket)];
  for (const Copies& copies : home.copies) {
    const DraftOperand operand =
        buffer >= 0
            ? temporary(Tensor::kBucketGradients, Access::kAccumulate, type,
                        copies.begin - bucket.begin, copies.count)
            : range(Tensor::kGradients, Access::kAccumulate, type, copies.begin, copies.count);
    Draft draft = data_draft(CollectiveKind::kAllReduce, Purpose::kReplicated, copies.group,
                             copies.count, {operand});
    draft.op.layer = home.layer;
    emit_data(plan, draft, buffer);
  }
}

// Between the type that gradients are held in and fp32, in the data lane, so that no compute op
// waits for the reduction.
Draft ShardPass::convert_draft(RankPlan& plan, const DraftOperand& to, const DraftOperand& from,
                               std::int16_t layer) {
  Draft draft =
      compute_draft(Piece::kCombine, to.count, to.count * (size_of(to.type) + size_of(from.type)));
  draft.op.lane = Lane::kData;
  draft.op.layer = layer;
  draft.operands = {to, from};
  std::int32_t& work = convert_works_.try_emplace(to.count, -1).first->second;
  draft.op.work = work;
  std::vector<Draft> drafts{std::move(draft)};
  plan.emitter->register_work(drafts);
  work = drafts[0].op.work;
  return std::move(drafts[0]);
}

// Adds up what replicas have of `from`, in the type that the Setup asks for. `reduce` says how and
// over whom. `into` takes the sum, or the rank's part of it: `from` itself where it is of the same
// tensor. `buffer`: a temporary one of `from`, or -1.
void ShardPass::reduce_over(RankPlan& plan, Draft reduce, DraftOperand from, DraftOperand into,
                            std::int32_t buffer) {
  if (size_of(from.type) == reduced_bytes(setup_)) {
    reduce.operands = {from};
    if (into.tensor != from.tensor) reduce.operands.push_back(into);
    emit_data(plan, reduce, buffer);
    return;
  }
  from.access = Access::kRead;
  std::int32_t table[] = {buffer, -1};
  const auto emit = [&](const Draft& draft) {
    plan.emitter->emit(draft, {}, table, plan.emitter->last_of(Lane::kCompute));
  };
  DraftOperand wide =
      range(Tensor::kBucketGradients, Access::kWrite, DataType::kF32, 0, from.count);
  wide.slot = 1;
  wide.shard = from.shard;
  wide.opens = from.count * size_of(DataType::kF32);
  emit(convert_draft(plan, wide, from, reduce.op.layer));
  wide.opens = 0;
  wide.access = Access::kAccumulate;
  reduce.op.type = DataType::kF32;
  reduce.op.bytes = wide.count * size_of(DataType::kF32);
  reduce.operands = {wide};
  emit(reduce);
  wide.access = Access::kRead;
  DraftOperand part = into.tensor == from.tensor ? into : from;
  part.access = Access::kWrite;
  if (into.count < wide.count) {  // the rank's own
    const Bucket& bucket = plan.emitter->rank().buckets[static_cast<std::size_t>(into.shard)];
    wide.shard = part.shard = into.shard;
    wide.count = part.count = into.count;
    wide.offset = bucket.own_begin - bucket.begin;
    if (into.tensor != from.tensor) part.offset = wide.offset;
  }
  emit(convert_draft(plan, part, wide, reduce.op.layer));
  if (into.tensor == from.tensor) return;
  Draft sum = convert_draft(plan, into, part, reduce.op.layer);
  sum.op.reduction = Reduction::kSum;
  sum.op.type = into.type;
  sum.operands = {into, into, part};
  sum.operands[0].access = Access::kWrite;
  sum.operands[1].access = sum.operands[2].access = Access::kRead;
  emit(sum);
}

void ShardPass::reduce(RankPlan& plan, State& state, const Task& task) {
  const RankProgram& rank = plan.emitter->rank();
  const Bucket& bucket = rank.buckets[static_cast<std::size_t>(task.bucket)];
  const Home& home = state.homes[static_cast<std::size_t>(task.bucket)];
  const int zero = zero_stage(setup_);
  const DataType type = gradient_type(setup_);
  const DraftOperand own =
      own_part(setup_, rank, task.bucket, Tensor::kGradients, Access::kAccumulate, type);
  const auto draft = [&](CollectiveKind kind, std::int32_t group, const DraftOperand& from) {
    Draft reduce = data_draft(kind, Purpose::kGradients, group, from.count, {from});
    reduce.op.layer = home.layer;
    return reduce;
  };
  if (task.what == What::kSynchronise) {
    // Hybrid sharding: the chunks of all groups are added up.
    if (home.across_group >= 0)
      reduce_over(plan, draft(CollectiveKind::kAllReduce, home.across_group, own), own, own, -1);
    return;
  }
  reduce_copies(plan, state, task);
  std::int32_t& buffer = state.opened[static_cast<std::size_t>(task.bucket)];
  if (home.shard_group < 0) return;
  const DraftOperand whole =
      buffer >= 0
          ? temporary(Tensor::kBucketGradients, Access::kAccumulate, type, 0, bucket.count)
          : range(Tensor::kGradients, Access::kAccumulate, type, bucket.begin, bucket.count);
  const auto kind = zero == 0 ? CollectiveKind::kAllReduce : CollectiveKind::kReduceScatter;
  reduce_over(plan, draft(kind, home.shard_group, whole), whole, zero == 0 ? whole : own, buffer);
  if (buffer >= 0) state.closing.push_back(buffer);
  buffer = -1;
}

}  // namespace parallelarium

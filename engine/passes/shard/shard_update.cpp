// SPDX-License-Identifier: Apache-2.0
// After all actions: what remains to be added up, and the update.
#include <algorithm>

#include "engine/passes/shard/shard.h"
#include "engine/passes/shard/shard_drafts.h"

namespace parallelarium {

// Both copies of a tied table on two ranks add up their gradients, so that they stay equal. With
// ZeRO the table is a bucket of its own on both.
void ShardPass::add_up_tables(std::vector<RankPlan>& plans, const std::vector<int>& ranks) const {
  if (!setup_.model.tied) return;
  std::vector<int> holders;
  bool any_copy = false;
  const auto table_of = [](const RankPlan& plan) {
    return find_slice(plan.emitter->rank().parameters, Parameter::kTokenTable, -1);
  };
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const ParameterSlice* table = table_of(plans[i]);
    if (table == nullptr) continue;
    holders.push_back(ranks[i]);
    any_copy = any_copy || table->shared_copy;
  }
  if (!any_copy) return;
  std::sort(holders.begin(), holders.end());
  const DataType type = gradient_type(setup_);
  for (RankPlan& plan : plans) {
    const ParameterSlice* table = table_of(plan);
    if (table == nullptr) continue;
    const RankProgram& rank = plan.emitter->rank();
    const DraftOperand part =
        zero_stage(setup_) > 0
            ? own_part(setup_, rank, bucket_at(rank, table->offset), Tensor::kGradients,
                       Access::kAccumulate, type)
            : range(Tensor::kGradients, Access::kAccumulate, type, table->offset, table->count);
    emit_data(plan, data_draft(CollectiveKind::kAllReduce, Purpose::kEmbedding,
                               plan.emitter->group(Axis::kPp, holders), part.count, {part}));
  }
}

// The two ranks that hold the same stages (DualPipe: r and p - 1 - r), or -1.
std::int32_t ShardPass::mirrored_pair(std::vector<RankPlan>& plans, const std::vector<int>& ranks,
                                      std::size_t index) {
  RankPlan& plan = plans[index];
  if (std::none_of(plan.chunks.begin(), plan.chunks.end(), [](auto& c) { return c.chunk.copy; }))
    return -1;
  const int own = ranks[index], mirrored = ranks[ranks.size() - 1 - index];
  return plan.emitter->group(Axis::kPp, {std::min(own, mirrored), std::max(own, mirrored)});
}

// They add up their gradients, or with ZeRO the chunks that are left of them.
void ShardPass::add_up_copies(std::vector<RankPlan>& plans, const std::vector<int>& ranks) const {
  const DataType type = gradient_type(setup_);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    RankPlan& plan = plans[i];
    const RankProgram& rank = plan.emitter->rank();
    const std::int32_t pair = mirrored_pair(plans, ranks, i);
    if (pair < 0) continue;
    std::vector<DraftOperand> parts;
    if (zero_stage(setup_) == 0) {
      parts = {range(Tensor::kGradients, Access::kAccumulate, type, 0, parameter_count(rank))};
    } else {
      for (std::size_t bucket = 0; bucket < rank.buckets.size(); ++bucket) {
        parts.push_back(own_part(setup_, rank, static_cast<std::int16_t>(bucket),
                                 Tensor::kGradients, Access::kAccumulate, type));
      }
    }
    for (const DraftOperand& part : parts) {
      emit_data(plan, data_draft(CollectiveKind::kAllReduce, Purpose::kGradients, pair, part.count,
                                 {part}));
    }
  }
}

void ShardPass::finish(std::vector<RankPlan>& plans, const std::vector<int>& ranks) {
  add_up_tables(plans, ranks);
  add_up_copies(plans, ranks);
  for (std::size_t i = 0; i < plans.size(); ++i) update(plans[i], mirrored_pair(plans, ranks, i));
}

// The choices of the whole batch move the biases of selection.
void ShardPass::update_router_bias(RankPlan& plan,
                                   std::initializer_list<std::int32_t> groups) const {
  std::int64_t count = 0;
  for (const Buffer& buffer : plan.emitter->rank().buffers)
    if (buffer.tensor == Tensor::kRouterLoads) count = buffer.bytes / 4;
  for (const std::int32_t group : groups) {
    if (group < 0) continue;
    emit_data(
        plan,
        data_draft(CollectiveKind::kAllReduce, Purpose::kCounts, group, count,
                   {range(Tensor::kRouterLoads, Access::kAccumulate, DataType::kF32, 0, count)}));
  }
  Draft bias = compute_draft(Piece::kRouter, count, 3 * count * 4);
  bias.operands = {range(Tensor::kRouterLoads, Access::kRead, DataType::kF32, 0, count),
                   range(Tensor::kRouterBias, Access::kAccumulate, DataType::kF32, 0, count)};
  emit_one(plan, std::move(bias));
}

// The norm of all gradients: each rank's own part, then its sum over those who hold the others.
void ShardPass::update_norm(RankPlan& plan, std::int64_t mine) const {
  RankEmitter& emitter = *plan.emitter;
  const RankProgram& rank = emitter.rank();
  const DataType gradients = gradient_type(setup_);
  const int zero = zero_stage(setup_);
  Draft norm = norm_draft(setup_, mine);
  if (zero == 0) {
    norm.operands.push_back(range(Tensor::kGradients, Access::kRead, gradients, 0, mine));
  } else {
    const auto buckets = static_cast<std::int16_t>(rank.buckets.size());
    for (std::int16_t bucket = 0; bucket < buckets; ++bucket) {
      norm.operands.push_back(
          own_part(setup_, rank, bucket, Tensor::kGradients, Access::kRead, gradients));
    }
  }
  norm.operands.push_back(range(Tensor::kSquareSum, Access::kWrite, DataType::kF64, 0, 1));
  emit_one(plan, std::move(norm));

  const auto sum_squares = [&](Axis axis, std::int32_t group) {
    if (group < 0) return;
    Draft sum = collective_draft(CollectiveKind::kAllReduce, axis, Purpose::kNorm, 8,
                                 DataType::kF64, Draft{});
    sum.op.phase = Phase::kUpdate;
    sum.op.group = group;
    sum.operands.push_back(range(Tensor::kSquareSum, Access::kAccumulate, DataType::kF64, 0, 1));
    emit_one(plan, std::move(sum));
  };
  const auto sum_over = [&](Axis axis) {
    sum_squares(axis, emitter.group(axis, group_of(setup_.mesh, axis, rank.rank)));
  };
  // Whole experts are spread over TP and DP: without ZeRO, only all ranks together have each once.
  if (zero == 0 && has_whole_experts(setup_)) return sum_over(Axis::kWorld);
  sum_over(Axis::kTp);
  sum_over(Axis::kPp);
  // Without ZeRO every rank of an EP group has its own experts and the same of everything else.
  if (ep_holds_shard_groups(setup_) || (zero == 0 && setup_.mesh.ep > 1))
    sum_over(Axis::kEp);
  else if (zero >= 1)
    sum_squares(Axis::kDp, replica_group(setup_, plan, Replicas::kShard, false));
}

void ShardPass::update_parameters(RankPlan& plan, std::int64_t mine) const {
  const RankProgram& rank = plan.emitter->rank();
  const Precision& precision = setup_.precision;
  const DataType gradients = gradient_type(setup_);
  Draft optimizer = optimizer_draft(setup_, mine);
  if (setup_.offload_optimizer) return update_offloaded(plan, std::move(optimizer), mine);
  if (is_trainable(precision)) {
    const DataType moments = precision.moments_bytes == 4 ? DataType::kBf16 : DataType::kF32;
    const auto add_parts = [&](const auto& part) {
      DraftOperand second = part(Tensor::kMoments, Access::kAccumulate, moments);
      second.offset += mine;
      optimizer.operands.insert(
          optimizer.operands.end(),
          {part(Tensor::kParameters, Access::kAccumulate, parameter_type(setup_)),
           part(Tensor::kGradients, Access::kRead, gradients),
           part(Tensor::kMoments, Access::kAccumulate, moments), second});
      if (precision.master_bytes > 0)
        optimizer.operands.push_back(part(Tensor::kMaster, Access::kAccumulate, DataType::kF32));
    };
    if (zero_stage(setup_) == 0) {
      add_parts([&](Tensor tensor, Access access, DataType type) {
        return range(tensor, access, type, 0, mine);
      });
    } else {
      const auto buckets = static_cast<std::int16_t>(rank.buckets.size());
      for (std::int16_t bucket = 0; bucket < buckets; ++bucket)
        add_parts([&](Tensor tensor, Access access, DataType type) {
          return own_part(setup_, rank, bucket, tensor, access, type);
        });
    }
    optimizer.operands.push_back(range(Tensor::kSquareSum, Access::kRead, DataType::kF64, 0, 1));
  }
  emit_one(plan, std::move(optimizer));
}

// The states come from the host's memory and go back, a bucket at a time, and the optimizer works
// on them meanwhile.
void ShardPass::update_offloaded(RankPlan& plan, Draft optimizer, std::int64_t mine) const {
  const std::int64_t each = setup_.precision.master_bytes + setup_.precision.moments_bytes;
  std::int64_t largest = 0;
  for (const Bucket& bucket : plan.emitter->rank().buckets)
    largest = std::max(largest, zero_stage(setup_) >= 1 ? bucket.own_count : bucket.count);
  DraftOperand states =
      temporary(Tensor::kScratch, Access::kWrite, DataType::kU8, 0, largest * each);
  states.opens = largest * each;
  Draft stream = compute_draft(Piece::kOffload, mine, 2 * mine * each);
  stream.operands.push_back(states);
  states.opens = 0;
  states.access = Access::kAccumulate;
  optimizer.operands.push_back(states);
  std::vector<Draft> drafts{std::move(stream), std::move(optimizer)};
  plan.emitter->register_work(drafts);
  std::int32_t buffer = -1;
  for (const Draft& draft : drafts)
    plan.emitter->emit(draft, {}, {&buffer, 1}, plan.emitter->last_of(Lane::kData));
}

void ShardPass::update(RankPlan& plan, std::int32_t mirrored) const {
  RankEmitter& emitter = *plan.emitter;
  const RankProgram& rank = emitter.rank();
  const int zero = zero_stage(setup_);
  const std::int32_t replicas = replica_group(setup_, plan, Replicas::kAll, false);
  if (emitter.holds(Tensor::kLossSum)) {
    for (const std::int32_t group : {replicas, mirrored}) {
      if (group < 0) continue;
      emit_data(plan,
                data_draft(CollectiveKind::kAllReduce, Purpose::kLoss, group, 1,
                           {range(Tensor::kLossSum, Access::kAccumulate, DataType::kF64, 0, 1)}));
    }
  }
  if (emitter.holds(Tensor::kRouterLoads)) {
    const std::int32_t over_tp =
        routes_own_tokens(setup_)
            ? emitter.group(Axis::kTp, group_of(setup_.mesh, Axis::kTp, rank.rank))
            : -1;
    update_router_bias(plan, {over_tp, replicas, mirrored});
  }
  const std::int64_t mine = zero >= 1 ? own_count(rank) : parameter_count(rank);
  update_norm(plan, mine);
  update_parameters(plan, mine);
  if ((zero != 1 && zero != 2) || gathers_ahead(setup_)) return;
  for (const Bucket& bucket : rank.buckets) {
    const std::int32_t group =
        replica_group(setup_, plan, Replicas::kShard, has_experts(rank, bucket));
    if (group < 0) continue;
    emit_data(plan, gather_draft(setup_, rank, bucket, group));
  }
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/shard.h"

#include <algorithm>
#include <numeric>

namespace parallelarium {

namespace {

std::int64_t share(std::int64_t count, std::int64_t n) { return (count + n - 1) / n; }

std::int64_t parameter_count(const RankProgram& rank) {
  return rank.parameters.empty() ? 0 : rank.parameters.back().offset + rank.parameters.back().count;
}

bool is_expert(Parameter parameter) { return parameter == Parameter::kExpertWeights; }
// Parameters kept when states are cut for their replicas: routed and shared experts have fewer
// replicas than the rest, by EP.
std::int64_t sharded_count(const Setup& setup, const RankProgram& rank) {
  const std::int64_t n = shard_ranks(setup);
  std::int64_t dense = 0, experts = 0;
  for (const ParameterSlice& slice : rank.parameters) {
    (is_expert(slice.parameter) ? experts : dense) += slice.count;
  }
  return share(dense, n) + share(experts, std::max<std::int64_t>(1, n / setup.mesh.ep));
}

bool is_table(Parameter parameter) {
  return parameter == Parameter::kTokenTable || parameter == Parameter::kPositionTable;
}

Draft compute_draft(Piece piece, std::int64_t elements, std::int64_t bytes) {
  Draft draft;
  draft.op.piece = piece;
  draft.op.phase = Phase::kUpdate;
  Work work;
  work.piece = piece;
  work.phase = Phase::kUpdate;
  work.elements = elements;
  work.bytes = bytes;
  draft.work.push_back(work);
  return draft;
}

DraftOperand held(Tensor tensor, Access access, DataType type, std::int64_t offset,
                  std::int64_t count) {
  DraftOperand operand;
  operand.tensor = tensor;
  operand.access = access;
  operand.type = type;
  operand.offset = offset;
  operand.count = count;
  return operand;
}

DataType gradient_type(const Setup& setup) {
  return setup.precision.gradient_bytes == 2 ? DataType::kBf16 : DataType::kF32;
}
DataType parameter_type(const Setup& setup) {
  return setup.precision.parameter_bytes == 2 ? DataType::kBf16 : DataType::kF32;
}

// Whether the slice belongs to a chunk that another rank counts.
bool is_copied(const RankPlan& plan, const ParameterSlice& slice) {
  return std::any_of(plan.chunks.begin(), plan.chunks.end(), [&](const ChunkDrafts& drafts) {
    const Chunk& chunk = drafts.chunk;
    if (!chunk.copy) return false;
    if (slice.layer < 0) return is_table(slice.parameter) ? chunk.first : chunk.last;
    return slice.layer >= chunk.layers.front() && slice.layer <= chunk.layers.back();
  });
}

void emit_one(RankPlan& plan, Draft draft) {
  std::vector<Draft> drafts{std::move(draft)};
  plan.emitter->register_work(drafts);
  plan.emitter->emit(drafts[0], {}, {}, plan.emitter->last_of(Lane::kData));
}

}  // namespace

int shard_ranks(const Setup& setup) {
  return setup.zero_group > 0 ? setup.zero_group : setup.mesh.dp * setup.mesh.cp;
}

void ShardPass::hold_states(RankPlan& plan) const {
  const Precision& precision = setup_.precision;
  const std::int64_t count = parameter_count(plan.emitter->rank());
  const std::int64_t cut = sharded_count(setup_, plan.emitter->rank());
  const auto shard = [&](int from_stage) { return setup_.zero >= from_stage ? cut : count; };
  RankEmitter& emitter = *plan.emitter;
  emitter.hold(Tensor::kParameters, shard(3) * precision.parameter_bytes);
  emitter.hold(Tensor::kGradients, shard(2) * precision.gradient_bytes);
  if (precision.master_bytes > 0) emitter.hold(Tensor::kMaster, shard(1) * precision.master_bytes);
  emitter.hold(Tensor::kMoments, shard(1) * precision.moments_bytes);
  const LocalSizes sizes = local_sizes(setup_);
  const std::int64_t tokens_bytes = sizes.N * setup_.microbatches * 4;
  bool first = false, last = false;
  for (const ChunkDrafts& chunk : plan.chunks) {
    first = first || chunk.chunk.first;
    last = last || chunk.chunk.last;
  }
  if (first) emitter.hold(Tensor::kTokens, tokens_bytes);
  if (last) emitter.hold(Tensor::kTargets, tokens_bytes);
  if (last) emitter.hold(Tensor::kLossSum, 8);
  emitter.hold(Tensor::kSquareSum, 8);

  Draft zero = compute_draft(Piece::kZeroGrad, shard(2), shard(2) * precision.gradient_bytes);
  zero.operands.push_back(
      held(Tensor::kGradients, Access::kWrite, gradient_type(setup_), 0, shard(2)));
  emit_one(plan, std::move(zero));
}

std::int32_t ShardPass::replica_group(RankPlan& plan, bool experts) const {
  const Mesh& mesh = setup_.mesh;
  const int rank = plan.emitter->rank().rank;
  std::vector<int> ranks;
  const Coordinates here = coordinates_of(mesh, rank);
  for (int d = 0; d < mesh.dp; ++d) {
    if (experts && d % mesh.ep != here.dp % mesh.ep) continue;
    for (int c = 0; c < mesh.cp; ++c) {
      Coordinates at = here;
      at.dp = d;
      at.cp = c;
      ranks.push_back(rank_of(mesh, at));
    }
  }
  std::sort(ranks.begin(), ranks.end());
  return plan.emitter->group(Axis::kDp, std::move(ranks));
}

std::vector<ShardPass::Bucket> ShardPass::buckets_of(RankPlan& plan, const Stretch& stretch) const {
  const Chunk& chunk = plan.chunks[stretch.chunk].chunk;
  Bucket dense, experts;
  dense.begin = -1;
  experts.begin = -1;
  const auto belongs = [&](const ParameterSlice& slice) {
    const bool layer_here = slice.layer >= 0 && slice.layer >= chunk.layers.front() &&
                            slice.layer <= chunk.layers.back();
    const bool tables = slice.layer < 0 && is_table(slice.parameter) && !slice.shared_copy;
    if (stage_level_) return layer_here || (tables ? chunk.first : slice.layer < 0 && chunk.last);
    if (stretch.layer >= 0) return slice.layer == stretch.layer;
    if (slice.layer >= 0) return false;
    return stretch.head != tables;
  };
  for (const ParameterSlice& slice : plan.emitter->rank().parameters) {
    if (!belongs(slice)) continue;
    Bucket& bucket = is_expert(slice.parameter) ? experts : dense;
    if (bucket.begin < 0) bucket.begin = slice.offset;
    bucket.count += slice.count;
  }
  std::vector<Bucket> result;
  for (Bucket* bucket : {&dense, &experts}) {
    if (bucket->count == 0) continue;
    bucket->group = replica_group(plan, bucket == &experts);
    bucket->layer = static_cast<std::int16_t>(stretch.layer);
    if (bucket->group >= 0) result.push_back(*bucket);
  }
  return result;
}

void ShardPass::reduce(RankPlan& plan, const Bucket& bucket) const {
  const CollectiveKind kind =
      setup_.zero == 0 ? CollectiveKind::kAllReduce : CollectiveKind::kReduceScatter;
  plan.emitter->emit_bucket(kind, bucket.group, Purpose::kGradients, Tensor::kGradients,
                            gradient_type(setup_), bucket.begin, bucket.count, bucket.layer);
}

std::int32_t ShardPass::before(RankPlan& plan, const Stretch& stretch) {
  if (setup_.zero < 3) return -1;
  auto found = std::find_if(gathered_.begin(), gathered_.end(),
                            [&](const auto& entry) { return entry.first == &plan; });
  if (found == gathered_.end()) {
    gathered_.push_back({&plan, {}});
    found = std::prev(gathered_.end());
  }
  Gathered& state = found->second;
  RankEmitter& emitter = *plan.emitter;
  // The gather may overlap with the stretch before this one: it waits for what ran before that.
  const std::int32_t waits_for = state.marker;
  state.marker = emitter.last_of(Lane::kCompute);
  std::int32_t gather = -1;
  for (const Bucket& bucket : buckets_of(plan, stretch)) {
    Draft draft = collective_draft(CollectiveKind::kAllGather, Axis::kDp, Purpose::kParameters,
                                   bucket.count * size_of(parameter_type(setup_)),
                                   parameter_type(setup_), Draft{});
    draft.op.lane = Lane::kData;
    draft.op.group = bucket.group;
    draft.op.layer = bucket.layer;
    DraftOperand operand;
    operand.tensor = Tensor::kGathered;
    operand.layer = bucket.layer;
    operand.access = Access::kWrite;
    operand.type = parameter_type(setup_);
    operand.count = bucket.count;
    operand.opens = draft.op.bytes;
    operand.slot = 0;
    draft.operands.push_back(operand);
    std::int32_t slot = -1;
    gather = emitter.emit(draft, {stretch.microbatch, static_cast<std::int16_t>(stretch.chunk), -1},
                          {&slot, 1}, waits_for);
    state.buffer = slot;
  }
  return gather;
}

void ShardPass::after(RankPlan& plan, const Stretch& stretch) {
  for (auto& [owner, state] : gathered_) {
    if (owner == &plan && state.buffer >= 0) {
      plan.emitter->extend(state.buffer, plan.emitter->last_of(Lane::kCompute));
      state.buffer = -1;
    }
  }
  const bool reduces = stretch.weights && (stretch.last || setup_.zero >= 2);
  if (!reduces) return;
  for (const Bucket& bucket : buckets_of(plan, stretch)) reduce(plan, bucket);
}

// Both copies of a tied table on two ranks add up their gradients, so that they stay equal.
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
  for (RankPlan& plan : plans) {
    const ParameterSlice* table = table_of(plan);
    if (table == nullptr) continue;
    plan.emitter->emit_bucket(CollectiveKind::kAllReduce, plan.emitter->group(Axis::kPp, holders),
                              Purpose::kEmbedding, Tensor::kGradients, gradient_type(setup_),
                              table->offset, table->count, -1);
  }
}

// Ranks that hold the same stages (DualPipe: r and p - 1 - r) add up their gradients, or with ZeRO
// the shards that are left of them.
void ShardPass::add_up_copies(std::vector<RankPlan>& plans, const std::vector<int>& ranks) const {
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto& chunks = plans[i].chunks;
    if (std::none_of(chunks.begin(), chunks.end(), [](auto& c) { return c.chunk.copy; })) continue;
    const int mirrored = ranks[ranks.size() - 1 - i];
    const std::vector<int> pair = {std::min(ranks[i], mirrored), std::max(ranks[i], mirrored)};
    RankEmitter& emitter = *plans[i].emitter;
    const std::int64_t count =
        setup_.zero >= 1 ? sharded_count(setup_, emitter.rank()) : parameter_count(emitter.rank());
    emitter.emit_bucket(CollectiveKind::kAllReduce, emitter.group(Axis::kPp, pair),
                        Purpose::kGradients, Tensor::kGradients, gradient_type(setup_), 0, count,
                        -1);
  }
}

void ShardPass::finish(std::vector<RankPlan>& plans, const std::vector<int>& ranks) {
  add_up_tables(plans, ranks);
  add_up_copies(plans, ranks);
  for (RankPlan& plan : plans) update(plan);
}

void ShardPass::update(RankPlan& plan) const {
  RankEmitter& emitter = *plan.emitter;
  const RankProgram& rank = emitter.rank();
  const Precision& precision = setup_.precision;
  const DataType gradients = gradient_type(setup_);
  const std::int32_t replicas = replica_group(plan, false);
  if (emitter.holds(Tensor::kLossSum) && replicas >= 0) {
    emitter.emit_bucket(CollectiveKind::kAllReduce, replicas, Purpose::kLoss, Tensor::kLossSum,
                        DataType::kF64, 0, 1, -1);
  }
  const std::int64_t all = parameter_count(rank);
  const std::int64_t mine = setup_.zero >= 1 ? sharded_count(setup_, rank) : all;

  Draft norm = compute_draft(Piece::kGradNorm, mine, mine * precision.gradient_bytes);
  if (setup_.zero == 0) {
    std::int64_t begin = 0, count = 0;
    const auto flush = [&] {
      if (count > 0)
        norm.operands.push_back(held(Tensor::kGradients, Access::kRead, gradients, begin, count));
      count = 0;
    };
    for (const ParameterSlice& slice : rank.parameters) {
      if (slice.shared_copy || is_copied(plan, slice)) {
        flush();
        continue;
      }
      if (count == 0) begin = slice.offset;
      count += slice.count;
    }
    flush();
  }
  norm.operands.push_back(held(Tensor::kSquareSum, Access::kWrite, DataType::kF64, 0, 1));
  emit_one(plan, std::move(norm));

  for (const Axis axis : {Axis::kTp, Axis::kPp}) {
    const std::int32_t group = emitter.group(axis, group_of(setup_.mesh, axis, rank.rank));
    if (group < 0) continue;
    Draft sum = collective_draft(CollectiveKind::kAllReduce, axis, Purpose::kNorm, 8,
                                 DataType::kF64, Draft{});
    sum.op.phase = Phase::kUpdate;
    sum.op.group = group;
    sum.operands.push_back(held(Tensor::kSquareSum, Access::kAccumulate, DataType::kF64, 0, 1));
    emit_one(plan, std::move(sum));
  }

  // Reads gradient and states, writes states and parameter.
  const std::int64_t touched = precision.gradient_bytes + precision.parameter_bytes +
                               2 * (precision.master_bytes + precision.moments_bytes) +
                               (precision.master_bytes == 0 ? precision.parameter_bytes : 0);
  Draft optimizer = compute_draft(Piece::kOptimizer, mine, mine * touched);
  if (setup_.zero == 0 && precision.name == "fp32") {
    optimizer.operands = {held(Tensor::kParameters, Access::kAccumulate, DataType::kF32, 0, all),
                          held(Tensor::kGradients, Access::kRead, DataType::kF32, 0, all),
                          held(Tensor::kMoments, Access::kAccumulate, DataType::kF32, 0, all),
                          held(Tensor::kMoments, Access::kAccumulate, DataType::kF32, all, all),
                          held(Tensor::kSquareSum, Access::kRead, DataType::kF64, 0, 1)};
  }
  emit_one(plan, std::move(optimizer));

  if ((setup_.zero == 1 || setup_.zero == 2) && replicas >= 0) {
    emitter.emit_bucket(CollectiveKind::kAllGather, replicas, Purpose::kParameters,
                        Tensor::kParameters, parameter_type(setup_), 0, all, -1);
  }
}

}  // namespace parallelarium

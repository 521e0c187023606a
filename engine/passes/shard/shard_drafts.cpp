// SPDX-License-Identifier: Apache-2.0
#include "engine/passes/shard/shard_drafts.h"

#include <algorithm>

namespace parallelarium {

std::int64_t parameter_count(const RankProgram& rank) {
  return rank.parameters.empty() ? 0 : rank.parameters.back().offset + rank.parameters.back().count;
}
std::int64_t own_count(const RankProgram& rank) {
  return rank.buckets.empty() ? 0 : rank.buckets.back().held + rank.buckets.back().own_count;
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

Draft norm_draft(const Setup& setup, std::int64_t mine) {
  return compute_draft(Piece::kGradNorm, mine, mine * setup.precision.gradient_bytes);
}

Draft optimizer_draft(const Setup& setup, std::int64_t mine) {
  const Precision& precision = setup.precision;
  // Reads gradient and states, writes states and parameter.
  const std::int64_t touched = precision.gradient_bytes + precision.parameter_bytes +
                               2 * (precision.master_bytes + precision.moments_bytes) +
                               (precision.master_bytes == 0 ? precision.parameter_bytes : 0);
  return compute_draft(Piece::kOptimizer, mine, mine * touched);
}

DraftOperand range(Tensor tensor, Access access, DataType type, std::int64_t offset,
                   std::int64_t count) {
  DraftOperand operand;
  operand.tensor = tensor;
  operand.access = access;
  operand.type = type;
  operand.offset = offset;
  operand.count = count;
  return operand;
}

DraftOperand temporary(Tensor tensor, Access access, DataType type, std::int64_t offset,
                       std::int64_t count) {
  DraftOperand operand = range(tensor, access, type, offset, count);
  operand.slot = 0;
  return operand;
}

DataType gradient_type(const Setup& setup) {
  return setup.precision.gradient_bytes == 2 ? DataType::kBf16 : DataType::kF32;
}
DataType parameter_type(const Setup& setup) {
  return setup.precision.parameter_bytes == 2 ? DataType::kBf16 : DataType::kF32;
}

void emit_one(RankPlan& plan, Draft draft) {
  std::vector<Draft> drafts{std::move(draft)};
  plan.emitter->register_work(drafts);
  plan.emitter->emit(drafts[0], {}, {}, plan.emitter->last_of(Lane::kData));
}

Draft data_draft(CollectiveKind kind, Purpose purpose, std::int32_t group, std::int64_t count,
                 std::vector<DraftOperand> operands) {
  const DataType type = operands.front().type;
  Draft draft = collective_draft(kind, Axis::kDp, purpose, count * size_of(type), type, Draft{});
  draft.op.lane = Lane::kData;
  draft.op.phase = Phase::kUpdate;
  draft.op.group = group;
  draft.operands = std::move(operands);
  return draft;
}

std::int32_t emit_data(RankPlan& plan, const Draft& draft, std::int32_t buffer) {
  return plan.emitter->emit(draft, {}, {&buffer, 1}, plan.emitter->last_of(Lane::kCompute));
}

std::vector<int> replica_ranks(const Setup& setup, Replicas which, bool experts,
                               const Coordinates& here) {
  const Mesh& mesh = setup.mesh;
  // Whole experts have replicas among the ranks of TP, too.
  const int wide = experts && !mesh.expert_tensor ? mesh.tp : 1;
  const int shard = wide * (zero_stage(setup) > 0 ? shard_ranks(setup) : mesh.dp * mesh.cp);
  const auto place_of = [&](const Coordinates& at) {
    return (at.dp * mesh.cp + at.cp) * wide + at.tp % wide;
  };
  const int own_place = place_of(here), part = expert_place(mesh, here).part;
  std::vector<int> ranks;
  for (int place = 0; place < mesh.dp * mesh.cp * wide; ++place) {
    Coordinates at = here;
    if (wide > 1) at.tp = place % wide;
    at.cp = place / wide % mesh.cp;
    at.dp = place / wide / mesh.cp;
    if (experts && expert_place(mesh, at).part != part) continue;
    const bool same_shard = place / shard == own_place / shard;
    const bool same_part = place % shard == own_place % shard;
    if (which == Replicas::kShard && !same_shard) continue;
    if (which == Replicas::kAcross && !same_part) continue;
    ranks.push_back(rank_of(mesh, at));
  }
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

std::int32_t replica_group(const Setup& setup, RankPlan& plan, Replicas which, bool experts) {
  const Coordinates here = coordinates_of(setup.mesh, plan.emitter->rank().rank);
  return plan.emitter->group(Axis::kDp, replica_ranks(setup, which, experts, here));
}

namespace {

const ParameterSlice* first_slice(const RankProgram& rank, const Bucket& bucket) {
  const auto at = std::lower_bound(
      rank.parameters.begin(), rank.parameters.end(), bucket.begin,
      [](const ParameterSlice& slice, std::int64_t offset) { return slice.offset < offset; });
  return at == rank.parameters.end() || at->offset != bucket.begin ? nullptr : &*at;
}

}  // namespace

bool has_experts(const RankProgram& rank, const Bucket& bucket) {
  const ParameterSlice* slice = first_slice(rank, bucket);
  return slice != nullptr && slice->parameter == Parameter::kExpertWeights;
}

std::int16_t layer_of(const RankProgram& rank, const Bucket& bucket) {
  const ParameterSlice* slice = first_slice(rank, bucket);
  return slice != nullptr ? slice->layer : std::int16_t{-1};
}

Draft gather_draft(const Setup& setup, const RankProgram& rank, const Bucket& bucket,
                   std::int32_t group) {
  Draft gather = data_draft(CollectiveKind::kAllGather, Purpose::kParameters, group, bucket.count,
                            {range(Tensor::kParameters, Access::kAccumulate, parameter_type(setup),
                                   bucket.begin, bucket.count)});
  gather.op.layer = layer_of(rank, bucket);
  return gather;
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The sharding pass writes its ops with these functions.
#pragma once

#include <vector>

#include "engine/passes/shard/shard.h"

namespace parallelarium {

std::int64_t parameter_count(const RankProgram& rank);
// Elements of a buffer that holds the rank's own parts alone.
std::int64_t own_count(const RankProgram& rank);
std::int16_t layer_of(const RankProgram& rank, const Bucket& bucket);
bool has_experts(const RankProgram& rank, const Bucket& bucket);
DataType gradient_type(const Setup& setup);
DataType parameter_type(const Setup& setup);

Draft compute_draft(Piece piece, std::int64_t elements, std::int64_t bytes);
// Without operands: the norm of a rank's gradients, and its optimizer, for `mine` parameters.
Draft norm_draft(const Setup& setup, std::int64_t mine);
Draft optimizer_draft(const Setup& setup, std::int64_t mine);
DraftOperand range(Tensor tensor, Access access, DataType type, std::int64_t offset,
                   std::int64_t count);
// A range of a bucket's temporary buffer, which is the only slot of the op.
DraftOperand temporary(Tensor tensor, Access access, DataType type, std::int64_t offset,
                       std::int64_t count);
// A collective of the data lane on `count` elements of the first operand's type.
Draft data_draft(CollectiveKind kind, Purpose purpose, std::int32_t group, std::int64_t count,
                 std::vector<DraftOperand> operands);
// Of a bucket's parameters where ranks hold them whole, in the data lane.
Draft gather_draft(const Setup& setup, const RankProgram& rank, const Bucket& bucket,
                   std::int32_t group);
// Emits an op of the update, after everything in the data lane so far.
void emit_one(RankPlan& plan, Draft draft);
// Emits into the data lane, after everything in the compute lane so far.
std::int32_t emit_data(RankPlan& plan, const Draft& draft, std::int32_t buffer = -1);

// kShard: the replicas that share a bucket; kAcross: those with the same chunk in the other groups;
// kAll: all. Without ZeRO, kShard is all too. Returns -1 if the rank is alone.
enum class Replicas { kShard, kAcross, kAll };
std::int32_t replica_group(const Setup& setup, RankPlan& plan, Replicas which, bool experts);
// The same group as ascending global ranks, for the rank at `here`.
std::vector<int> replica_ranks(const Setup& setup, Replicas which, bool experts,
                               const Coordinates& here);

}  // namespace parallelarium

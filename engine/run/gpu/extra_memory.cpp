// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/extra_memory.h"

#include <algorithm>
#include <map>
#include <set>

#include "engine/plan/program/kernels_of_pieces.h"
#include "engine/run/gpu/nccl/nccl_staging.h"
#include "kernels/attention/attention.h"
#include "kernels/base/launch.h"
#include "kernels/products/fp8_linear.h"

namespace parallelarium {

namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;
constexpr std::int64_t kProtocols = (512 << 10) + 120 * 640 * 8 * 8 + 4 * kMiB;
constexpr std::int64_t kNvls = kMiB;
// Assumed: kernels of products as they are loaded, and of NCCL with the stacks that they ask for.
constexpr std::int64_t kCode = 64 * kMiB, kNcclCode = 64 * kMiB;
// Assumed: what a communicator has beside its buffers, the world's too, which connects nothing.
constexpr std::int64_t kEachCommunicator = 8 * kMiB;

// Of collectives within a node. Source: NVIDIA/nccl, src/graph/search.cc and tuning.cc: a channel
// for each link that a ring may use, twice; 32 at most since Hopper.
std::int64_t channels_of(const GpuFacts& gpu) {
  if (gpu.major >= 9) return 32;
  return gpu.major == 8 ? 24 : 12;
}

std::int64_t rows_of(const Shape& shape) { return shape.B * shape.T; }

bool is_linear(Piece piece) {
  return piece == Piece::kQkv || piece == Piece::kProjection || piece == Piece::kMlpIn ||
         piece == Piece::kMlpOut || piece == Piece::kHead;
}

// Copies in FP8, of a linear layer.
std::int64_t fp8_scratch_of(const Shape& shape, const Op& op, std::span<const Operand> operands) {
  const auto count = [&](std::size_t index) { return operands[index].count; };
  const std::int64_t N = rows_of(shape);
  if (op.phase == Phase::kWeightGrad) return fp8_workspace(N, count(0) / N, count(1) / N);
  const std::int64_t one = count(0) / N, other = count(1) / one;
  return std::max(fp8_workspace(N, one, other), fp8_workspace(N, other, one));
}

// As cuda/device.cpp asks for it: the sums of a bias' gradient, an operand rounded to bf16, the
// scores of unfused attention.
std::int64_t scratch_of(const Program& program, const RankProgram& rank, const Op& op) {
  const Shape& shape = program.shape;
  const auto N = static_cast<std::size_t>(rows_of(shape));
  const std::span<const Operand> operands = rank.operands_of(op);
  const bool grad = op.phase == Phase::kInputGrad || op.phase == Phase::kWeightGrad;
  std::int64_t bytes = 0;
  const auto need = [&](std::size_t more) {
    bytes = std::max(bytes, static_cast<std::int64_t>(more));
  };
  if (shape.fp8 && multiplies_fp8(op.piece) && op.piece != Piece::kExpert)
    bytes = fp8_scratch_of(shape, op, operands);
  if (is_linear(op.piece) && grad && operands.size() >= 3) {
    if (operands[0].type == DataType::kF32 && operands[1].type == DataType::kBf16)
      need(static_cast<std::size_t>(operands[0].count * size_of(DataType::kBf16)));
    if (operands.size() > 3)
      need(column_sums_workspace(N, static_cast<std::size_t>(operands[3].count)));
  }
  if (op.piece == Piece::kAttention && op.phase == Phase::kInputGrad && !shape.fused) {
    const AttentionShape attention{shape.B, shape.sequence, shape.H, shape.K, shape.D};
    const std::int64_t each = size_of(operands[0].type);
    const std::int64_t heads = heads_at_once(attention, each);
    if (heads > 1) need(static_cast<std::size_t>(heads * attention.T * attention.T * each));
  }
  if (op.phase == Phase::kWeightGrad)  // norms'
    need(column_sums_workspace(N, static_cast<std::size_t>(shape.C)));
  if (op.piece == Piece::kEmbedding) need(embedding_grad_workspace(N));
  if (op.piece == Piece::kRouter)
    need(route_workspace(N, static_cast<std::size_t>(shape.experts.model.count)));
  return bytes;
}

struct Used {
  bool collectives = false;
  std::set<int> senders;
};

std::int64_t communicators_of(const Program& program, const RankProgram& rank,
                              const GpuFacts& gpu) {
  std::map<int, Used> groups;
  for (const Op& op : rank.ops) {
    if (op.kind == OpKind::kCompute) continue;
    const Group& group = program.groups[static_cast<std::size_t>(op.group)];
    if (group.ranks.size() < 2) continue;
    Used& used = groups[op.group];
    if (op.kind == OpKind::kRecv) used.senders.insert(op.peer);
    if (op.kind != OpKind::kCollective) continue;
    // Those between two buffers go as messages with every member (executor_exchange.cpp).
    if (op.collective == CollectiveKind::kAllToAll)
      used.senders.insert(group.ranks.begin(), group.ranks.end());
    else
      used.collectives = true;
  }
  std::int64_t bytes = kEachCommunicator;
  for (auto& [index, used] : groups) {
    used.senders.erase(rank.rank);
    const auto ranks =
        static_cast<std::int64_t>(program.groups[static_cast<std::size_t>(index)].ranks.size());
    bytes += kEachCommunicator + nccl_buffer_bytes(gpu, ranks, used.collectives,
                                                   static_cast<std::int64_t>(used.senders.size()));
  }
  return bytes;
}

}  // namespace

std::int64_t nccl_buffer_bytes(const GpuFacts& gpu, std::int64_t ranks, bool collectives,
                               std::int64_t senders) {
  if (gpu.peers.empty() || ranks < 2) return 0;  // in the host's memory
  const std::int64_t channels = channels_of(gpu);
  std::int64_t bytes = 0;
  if (collectives) {
    bytes += channels * std::min<std::int64_t>(ranks - 1, 2) * kProtocols;
    if (gpu.major >= 9 && ranks > 2) bytes += channels * 2 * kNvls * ranks / 2;
  }
  // The channels of messages are shared among the peers of a node.
  if (senders > 0) bytes += std::max(channels / 4, senders) * kProtocols;
  return bytes;
}

ExtraMemory extra_memory(const Program& program, const RankProgram& rank, const GpuFacts& gpu,
                         bool nccl) {
  ExtraMemory extra;
  extra.workspace = kMatmulWorkspace;
  extra.code = kCode;
  for (const Op& op : rank.ops)
    if (op.kind == OpKind::kCompute)
      extra.scratch = std::max(extra.scratch, scratch_of(program, rank, op));
  if (!nccl) return extra;
  for (int lane = 0; lane < kLanes; ++lane)
    extra.scratch += nccl_scratch_bytes(program, rank, static_cast<Lane>(lane));
  extra.communicators = communicators_of(program, rank, gpu);
  extra.code += kNcclCode;
  return extra;
}

}  // namespace parallelarium

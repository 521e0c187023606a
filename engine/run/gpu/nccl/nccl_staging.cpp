// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/nccl/nccl_staging.h"

#include <algorithm>

namespace parallelarium {

namespace {

// Messages lie one after another in scratch, where wide accesses are fast.
constexpr std::int64_t kStagingAlignment = 256;
std::int64_t aligned(std::int64_t bytes) {
  return (bytes + kStagingAlignment - 1) / kStagingAlignment * kStagingAlignment;
}

bool is_staged(const Op& op) {
  return op.operand_count > 1 || (op.kind == OpKind::kRecv && op.reduction != Reduction::kNone);
}

}  // namespace

bool is_staged(const TransferPart& part) {
  return !part.stretches.empty() || part.reduction != Reduction::kNone;
}

std::byte* stage(DeviceStream& lane, const TransferPart& part, std::byte* scratch) {
  std::byte* const next = scratch + aligned(part.bytes);
  if (!part.send) return next;
  for (const MemoryPiece& place : part.stretches) {
    lane.copy(scratch, place.data, place.bytes);
    scratch += place.bytes;
  }
  return next;
}

void unstage(DeviceStream& lane, const TransferPart& part, const std::byte* scratch) {
  const MemoryPiece whole{part.data, part.bytes};
  const std::span<const MemoryPiece> places =
      part.stretches.empty() ? std::span(&whole, 1) : part.stretches;
  for (const MemoryPiece& place : places) {
    if (part.reduction == Reduction::kNone) {
      lane.copy(place.data, scratch, place.bytes);
    } else {
      const std::byte* parts[] = {place.data, scratch};
      lane.combine(part.type, part.reduction, place.data, parts, 1,
                   place.bytes / size_of(part.type));
    }
    scratch += place.bytes;
  }
}

std::int64_t nccl_scratch_bytes(const Program& program, const RankProgram& rank, Lane lane) {
  std::int64_t bytes = 0, of_batch = 0;
  std::int32_t batch = -1;
  for (const Op& op : rank.ops) {
    if (op.lane != lane) continue;
    if (op.kind == OpKind::kSend || op.kind == OpKind::kRecv) {
      if (op.batch < 0 || op.batch != batch) of_batch = 0;
      batch = op.batch;
      if (is_staged(op)) of_batch += aligned(op.bytes);
      bytes = std::max(bytes, of_batch);
    }
    if (op.kind != OpKind::kCollective) continue;
    const auto n =
        static_cast<int>(program.groups[static_cast<std::size_t>(op.group)].ranks.size());
    if (n < 2) continue;
    const std::int64_t element = size_of(op.type);
    const std::int64_t chunk = chunk_of(op.bytes / element, n, 0).end * element;
    const auto operands = rank.operands_of(op);
    // From one buffer to another it goes as a transfer (executor_exchange.cpp).
    if (op.collective == CollectiveKind::kAllToAll && operands.size() == 1)
      bytes = std::max(bytes, op.bytes);
    if (op.collective == CollectiveKind::kReduceScatter && operands.size() > 1 &&
        operands[1].access == Access::kAccumulate) {
      bytes = std::max(bytes, chunk);
    }
  }
  return bytes;
}

}  // namespace parallelarium

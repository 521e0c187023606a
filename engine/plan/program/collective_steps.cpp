// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/program/collective_steps.h"

#include <algorithm>
#include <limits>

namespace parallelarium {

namespace {

const Op& op_at(const RankProgram& rank, std::int32_t op) {
  return rank.ops[static_cast<std::size_t>(op)];
}

// The elements of one buffer that steps touch: the collective's array, since the others are scratch
// or what an array is copied from.
struct ArrayOfSteps {
  std::int32_t buffer = -1;
  std::int64_t begin = std::numeric_limits<std::int64_t>::max(), end = 0;
};

ArrayOfSteps array_of(const RankProgram& rank, std::int32_t first, std::int32_t last) {
  ArrayOfSteps array;
  for (std::int32_t at = first; at < last; ++at) {
    if (op_at(rank, at).kind == OpKind::kCompute) continue;
    for (const Operand& operand : rank.operands_of(op_at(rank, at))) {
      if (rank.buffers[static_cast<std::size_t>(operand.buffer)].tensor == Tensor::kScratch)
        continue;
      array.buffer = operand.buffer;
      array.begin = std::min(array.begin, operand.offset);
      array.end = std::max(array.end, operand.offset + operand.count);
    }
  }
  return array;
}

}  // namespace

bool is_collective(const Op& op) { return op.kind == OpKind::kCollective || op.steps_from >= 0; }

std::int32_t end_of_collective(const RankProgram& rank, std::int32_t first) {
  const std::int32_t steps = op_at(rank, first).steps_from;
  const auto ops = static_cast<std::int32_t>(rank.ops.size());
  std::int32_t end = first + 1;
  if (steps >= 0)
    while (end < ops && op_at(rank, end).steps_from == steps) ++end;
  return end;
}

Op whole_of(const Op& step) {
  Op whole = step;
  whole.kind = OpKind::kCollective;
  return whole;
}

std::int64_t sent_in_collective(const Program& program, const RankProgram& rank,
                                std::int32_t first) {
  const Op& op = op_at(rank, first);
  if (op.steps_from < 0) {
    const std::vector<int>& group = program.groups[static_cast<std::size_t>(op.group)].ranks;
    const auto place = std::find(group.begin(), group.end(), rank.rank) - group.begin();
    return op.repeat * collective_volume(op.collective, op.type, op.bytes,
                                         static_cast<int>(group.size()), static_cast<int>(place))
                           .sent;
  }
  std::int64_t sent = 0;
  for (std::int32_t at = first; at < end_of_collective(rank, first); ++at)
    if (op_at(rank, at).kind == OpKind::kSend)
      sent += op_at(rank, at).bytes * op_at(rank, at).repeat;
  return sent;
}

std::vector<MovingChunk> moving_chunks(const RankProgram& rank, const std::vector<Span>& spans,
                                       std::int32_t first, Nanoseconds time) {
  std::vector<MovingChunk> chunks;
  const std::int32_t end = end_of_collective(rank, first);
  const ArrayOfSteps array = array_of(rank, first, end);
  for (std::int32_t at = first; at < end; ++at) {
    const Op& op = op_at(rank, at);
    const Span& span = spans[static_cast<std::size_t>(at)];
    if (op.kind != OpKind::kSend || time < span.begin || time >= span.end) continue;
    MovingChunk chunk;
    chunk.to = op.peer;
    chunk.done = static_cast<double>((time - span.begin).count()) /
                 static_cast<double>((span.end - span.begin).count());
    std::int64_t from = array.end, to = array.begin;
    for (const Operand& operand : rank.operands_of(op)) {
      if (operand.buffer != array.buffer) continue;
      from = std::min(from, operand.offset);
      to = std::max(to, operand.offset + operand.count);
    }
    if (from < to) {
      const auto all = static_cast<double>(array.end - array.begin);
      chunk.begin = static_cast<double>(from - array.begin) / all;
      chunk.end = static_cast<double>(to - array.begin) / all;
    }
    chunks.push_back(chunk);
  }
  return chunks;
}

}  // namespace parallelarium

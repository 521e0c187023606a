// SPDX-License-Identifier: Apache-2.0
#include "engine/collectives/algorithms/writer.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace parallelarium {

namespace {

constexpr std::int64_t kAlignment = 256;  // bytes: that of the device's allocations

std::int64_t array_count(const CollectiveSpec& spec, int rank) {
  if (spec.counts.empty()) return spec.bytes / size_of(spec.type);
  std::int64_t count = 0;
  for (int to = 0; to < spec.ranks; ++to)
    count += spec.counts[static_cast<std::size_t>(rank * spec.ranks + to)];
  return count;
}

// What rank `from` has for rank `to` of an all-to-all.
std::int64_t pair_count(const CollectiveSpec& spec, int from, int to) {
  if (!spec.counts.empty()) return spec.counts[static_cast<std::size_t>(from * spec.ranks + to)];
  const ChunkRange range = chunk_of(spec.bytes / size_of(spec.type), spec.ranks, to);
  return range.end - range.begin;
}

}  // namespace

ChunkRange chunk_range(const Collective& collective, int chunk) {
  const CollectiveSpec& spec = collective.spec;
  if (spec.kind != CollectiveKind::kAllToAll)
    return chunk_of(spec.bytes / size_of(spec.type), collective.chunks, chunk);
  const int from = chunk / spec.ranks, to = chunk % spec.ranks;
  std::int64_t begin = 0;
  for (int before = 0; before < to; ++before) begin += pair_count(spec, from, before);
  return {begin, begin + pair_count(spec, from, to)};
}

ChunkRange result_range(const Collective& collective, int chunk) {
  const CollectiveSpec& spec = collective.spec;
  const int from = chunk / spec.ranks, to = chunk % spec.ranks;
  std::int64_t begin = 0;
  for (int before = 0; before < from; ++before) begin += pair_count(spec, before, to);
  return {begin, begin + pair_count(spec, from, to)};
}

Writer::Writer(const CollectiveSpec& spec, int chunks) : spec_(spec) {
  made_.chunks = chunks;
  made_.spec = spec;
  Program& program = made_.program;
  program.world = spec.ranks;
  Group everyone;
  for (int rank = 0; rank < spec.ranks; ++rank) everyone.ranks.push_back(rank);
  program.groups.push_back(std::move(everyone));
  program.ranks.resize(static_cast<std::size_t>(spec.ranks));
  for (int rank = 0; rank < spec.ranks; ++rank) {
    at(rank).rank = rank;
    at(rank).at.dp = rank;
    add_scratch(rank, array_count(spec, rank));
    at(rank).buffers.back().tensor = Tensor::kArray;
    if (spec.kind != CollectiveKind::kAllToAll) continue;
    std::int64_t received = 0;
    for (int from = 0; from < spec.ranks; ++from) received += pair_count(spec, from, rank);
    add_scratch(rank, received);
    at(rank).buffers.back().tensor = Tensor::kResult;
  }
}

std::int64_t Writer::count() const { return spec_.bytes / size_of(spec_.type); }

Cells Writer::chunk(int chunk) const {
  const ChunkRange range = chunk_range(made_, chunk);
  return {0, range.begin, range.end - range.begin};
}

Cells Writer::result(int chunk) const {
  const ChunkRange range = result_range(made_, chunk);
  return {1, range.begin, range.end - range.begin};
}

std::int32_t Writer::add_scratch(int rank, std::int64_t count) {
  RankProgram& program = at(rank);
  Buffer buffer;
  buffer.bytes = count * size_of(spec_.type);
  buffer.offset = program.arena_bytes;
  program.arena_bytes += (buffer.bytes + kAlignment - 1) / kAlignment * kAlignment;
  program.buffers.push_back(buffer);
  return static_cast<std::int32_t>(program.buffers.size() - 1);
}

void Writer::begin_step() {
  made_.steps.emplace_back();
  ++made_.program.batches;
}

void Writer::add_operands(RankProgram& rank, Op& op, std::span<const Cells> cells, Access access) {
  op.operand_first = static_cast<std::int32_t>(rank.operands.size());
  for (const Cells& range : cells) {
    // Neighbours in memory are one stretch.
    if (op.operand_count > 0) {
      Operand& last = rank.operands.back();
      if (last.buffer == range.buffer && last.offset + last.count == range.offset) {
        last.count += range.count;
        continue;
      }
    }
    rank.operands.push_back({range.buffer, access, spec_.type, -1, range.offset, range.count});
    ++op.operand_count;
  }
}

void Writer::message(int from, int to, std::span<const MessagePart> parts, Arrival arrival) {
  assert(from != to && !parts.empty() && !made_.steps.empty());
  std::vector<Cells> sources, targets;
  Op op;
  op.type = spec_.type;
  op.group = 0;
  op.batch = made_.program.batches - 1;
  op.piece = Piece::kTransfer;
  op.chunk = static_cast<std::int16_t>(parts.front().chunk);
  for (const MessagePart& part : parts) {
    sources.push_back(part.source);
    targets.push_back(part.target);
    op.bytes += part.source.count * size_of(spec_.type);
  }
  Op send = op, recv = op;
  send.kind = OpKind::kSend;
  send.peer = to;
  add_operands(at(from), send, sources, Access::kRead);
  recv.kind = OpKind::kRecv;
  recv.peer = from;
  // An average is a sum until it is finished.
  const bool combines = arrival == Arrival::kCombines;
  if (combines)
    recv.reduction = spec_.reduction == Reduction::kAvg ? Reduction::kSum : spec_.reduction;
  add_operands(at(to), recv, targets, combines ? Access::kAccumulate : Access::kWrite);
  at(from).ops.push_back(send);
  at(to).ops.push_back(recv);
  for (const MessagePart& part : parts) {
    made_.steps.back().push_back({from, to, part.chunk, part.source.count * size_of(spec_.type),
                                  arrival != Arrival::kReplaces,
                                  static_cast<std::int32_t>(at(from).ops.size() - 1),
                                  static_cast<std::int32_t>(at(to).ops.size() - 1)});
  }
}

void Writer::pass(int from, int to, std::span<const int> chunks, Arrival arrival) {
  std::vector<MessagePart> parts;
  for (const int index : chunks) parts.push_back({index, chunk(index), chunk(index)});
  message(from, to, parts, arrival);
}

void Writer::add_compute(int rank, Cells target, std::span<const Cells> parts,
                         Reduction reduction) {
  if (target.count == 0) return;
  Op op;
  op.piece = Piece::kCombine;
  op.type = spec_.type;
  op.group = 0;
  op.reduction = reduction;
  RankProgram& program = at(rank);
  op.operand_first = static_cast<std::int32_t>(program.operands.size());
  program.operands.push_back(
      {target.buffer, Access::kWrite, spec_.type, -1, target.offset, target.count});
  for (const Cells& part : parts) {
    program.operands.push_back(
        {part.buffer, Access::kRead, spec_.type, -1, part.offset, part.count});
  }
  op.operand_count = static_cast<std::int32_t>(parts.size() + 1);
  Work work;
  work.piece = Piece::kCombine;
  work.elements = target.count * static_cast<std::int64_t>(parts.size());
  work.bytes = target.count * static_cast<std::int64_t>(parts.size() + 1) * size_of(spec_.type);
  work.flops = reduction == Reduction::kNone
                   ? 0
                   : static_cast<double>(target.count) * static_cast<double>(parts.size() - 1);
  op.work = static_cast<std::int32_t>(made_.program.works.size());
  made_.program.works.push_back({work});
  program.ops.push_back(op);
}

void Writer::combine(int rank, Cells target, std::span<const Cells> parts, bool last) {
  Reduction reduction = spec_.reduction;
  if (reduction == Reduction::kAvg && !last) reduction = Reduction::kSum;
  add_compute(rank, target, parts, reduction);
}

void Writer::finish(int rank, Cells cells) {
  if (spec_.reduction == Reduction::kAvg && reduces(spec_.kind) && ranks() > 1)
    add_compute(rank, cells, std::array{cells}, Reduction::kAvg);
}

void Writer::copy(int rank, Cells target, Cells source) {
  add_compute(rank, target, std::array{source}, Reduction::kNone);
}

Collective Writer::done() && { return std::move(made_); }

int levels_of(int n) {
  int levels = 0;
  while ((1 << levels) < n) ++levels;
  return levels;
}

bool is_power_of_two(int n) { return n > 0 && (n & (n - 1)) == 0; }

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cpu/direct.h"

#include <array>
#include <cassert>

namespace parallelarium {

namespace {

constexpr std::size_t kMostMembers = 64;  // ranks of a collective alone; a training has 16

struct Bytes {
  std::int64_t begin = 0, size = 0;
};

Bytes chunk_bytes(const DirectMember& member, int index) {
  const std::int64_t size = size_of(member.type);
  const ChunkRange range =
      chunk_of(member.bytes / size, static_cast<int>(member.arrays.size()), index);
  return {range.begin * size, (range.end - range.begin) * size};
}

// The sum (or maximum) over members in rank order. Nobody else reads or writes this chunk of this
// member's array meanwhile.
void sum_chunk(const DirectMember& member, Bytes chunk) {
  const auto me = static_cast<std::size_t>(member.me);
  const bool elsewhere =
      member.kind == CollectiveKind::kReduceScatter && member.owns[me] != nullptr;
  std::byte* target = elsewhere ? member.owns[me] : member.arrays[me] + chunk.begin;
  std::array<const std::byte*, kMostMembers + 1> parts;  // no allocation in a step
  std::size_t count = member.arrays.size();
  assert(count <= kMostMembers);
  for (std::size_t i = 0; i < count; ++i) parts[i] = member.arrays[i] + chunk.begin;
  if (elsewhere && member.adds) parts[count++] = target;
  member.device->combine(member.type,
                         member.reduction == Reduction::kMax ? Reduction::kMax : Reduction::kSum,
                         target, {parts.data(), count}, 1, chunk.size / size_of(member.type));
}

Moved swap_chunks(const DirectMember& member) {
  Moved moved;
  const auto n = static_cast<int>(member.arrays.size());
  for (int other = 0; other < n; ++other) {
    if (other == member.me) continue;
    const Bytes mine = chunk_bytes(member, other), theirs = chunk_bytes(member, member.me);
    if (other > member.me) {
      member.device->swap(member.arrays[static_cast<std::size_t>(member.me)] + mine.begin,
                          member.arrays[static_cast<std::size_t>(other)] + theirs.begin, mine.size);
    }
    moved.sent += mine.size;
    moved.received += mine.size;
  }
  return moved;
}

}  // namespace

bool can_collect(CollectiveKind kind, DataType type, Reduction reduction) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kReduceScatter:
      return type != DataType::kU8 &&
             (reduction == Reduction::kSum || reduction == Reduction::kMax ||
              reduction == Reduction::kNone);
    case CollectiveKind::kAllGather:
    case CollectiveKind::kAllToAll:
    case CollectiveKind::kBroadcast:
      return true;
    case CollectiveKind::kScatter:
    case CollectiveKind::kGather:
    case CollectiveKind::kReduce:
      return false;  // by steps only, see engine/collectives
  }
  return false;
}

Moved reduce_own_chunk(const DirectMember& member) {
  if (member.kind == CollectiveKind::kAllToAll) return swap_chunks(member);
  if (member.kind != CollectiveKind::kAllReduce && member.kind != CollectiveKind::kReduceScatter) {
    return {};
  }
  const Bytes chunk = chunk_bytes(member, member.me);
  sum_chunk(member, chunk);
  const auto others = static_cast<std::int64_t>(member.arrays.size()) - 1;
  Moved moved;
  moved.received = others * chunk.size;
  for (int i = 0; i <= others; ++i) {
    if (i != member.me) moved.sent += chunk_bytes(member, i).size;
  }
  return moved;
}

Moved gather_chunks(const DirectMember& member) {
  Moved moved;
  std::byte* own = member.arrays[static_cast<std::size_t>(member.me)];
  const auto n = static_cast<int>(member.arrays.size());
  const auto copy = [&](int from, Bytes chunk) {
    const std::byte* elsewhere = member.kind == CollectiveKind::kAllGather
                                     ? member.owns[static_cast<std::size_t>(from)]
                                     : nullptr;
    const std::byte* source = elsewhere != nullptr
                                  ? elsewhere
                                  : member.arrays[static_cast<std::size_t>(from)] + chunk.begin;
    if (source != own + chunk.begin) {
      member.device->copy(own + chunk.begin, source, chunk.size);
    }
    if (from != member.me) moved.received += chunk.size;
  };
  if (member.kind == CollectiveKind::kBroadcast) {
    if (member.me == 0) {
      moved.sent = (n - 1) * member.bytes;
    } else {
      copy(0, {0, member.bytes});
    }
  } else if (member.kind == CollectiveKind::kAllReduce ||
             member.kind == CollectiveKind::kAllGather) {
    for (int i = 0; i < n; ++i) copy(i, chunk_bytes(member, i));
    moved.sent = (n - 1) * chunk_bytes(member, member.me).size;
  }
  return moved;
}

}  // namespace parallelarium

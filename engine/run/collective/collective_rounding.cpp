// SPDX-License-Identifier: Apache-2.0
// Two algorithms on the same inexact inputs, compared bit by bit.
#include <algorithm>
#include <cstring>
#include <limits>

#include "engine/run/collective/collective_parts.h"

namespace parallelarium {

namespace {

// The element's bits as a number that grows with the value, one for each step to the next value
// that the type has. Zero and negative zero are the same.
std::int64_t place_of(DataType type, const std::byte* array, std::int64_t element) {
  const auto ordered = [](std::int64_t bits, std::int64_t sign) {
    return (bits & sign) != 0 ? -(bits & ~sign) : bits;
  };
  const std::byte* at = array + element * size_of(type);
  if (type == DataType::kF64) {
    std::int64_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return ordered(bits, std::numeric_limits<std::int64_t>::min());
  }
  if (type == DataType::kBf16) {
    std::uint16_t bits = 0;
    std::memcpy(&bits, at, sizeof bits);
    return ordered(bits, 0x8000);
  }
  std::uint32_t bits = 0;
  std::memcpy(&bits, at, sizeof bits);
  return type == DataType::kI32 ? static_cast<std::int32_t>(bits) : ordered(bits, 0x80000000);
}

// Elements of the array that are a result on the rank.
ChunkRange result_of(const CollectiveSpec& spec, int rank) {
  const std::int64_t count = spec.bytes / size_of(spec.type);
  if (spec.kind == CollectiveKind::kReduceScatter) return chunk_of(count, spec.ranks, rank);
  const bool none = spec.kind == CollectiveKind::kReduce && rank != spec.root;
  return {0, none ? 0 : count};
}

}  // namespace

Result<Collective> rounding_rival(const CollectiveSpec& spec, const std::string& algorithm) {
  if (!reduces(spec.kind))
    return message("collective-rounding",
                   "{} combines nothing, so nothing is rounded; compare the bits of reduce, "
                   "reduce_scatter or all_reduce.",
                   name_of(spec.kind));
  CollectiveSpec other = spec;
  other.algorithm = algorithm;
  other.segments = other.node_size = 0;
  return make_collective(other);
}

Result<RoundingComparison> compare_rounding(const Collective& collective, const Collective& other,
                                            const std::atomic<bool>* cancel, InputValue inputs,
                                            const CollectiveRanks& on) {
  const CollectiveSpec& spec = collective.spec;
  assert(reduces(spec.kind) && other.spec.kind == spec.kind && other.spec.bytes == spec.bytes);
  const auto here = arrays_after(collective, inputs, on, cancel);
  if (!here) return here.error();
  const auto there = arrays_after(other, inputs, on, cancel);
  if (!there) return there.error();
  RoundingComparison seen;
  seen.other = other.spec.algorithm;
  for (int rank = 0; rank < spec.ranks; ++rank) {
    const std::byte* a = (*here)[static_cast<std::size_t>(rank)].data();
    const std::byte* b = (*there)[static_cast<std::size_t>(rank)].data();
    const ChunkRange result = result_of(spec, rank);
    for (int chunk = 0; chunk < collective.chunks; ++chunk) {
      const ChunkRange range = chunk_range(collective, chunk);
      RoundingCell& cell = seen.cells.emplace_back();
      for (std::int64_t element = std::max(range.begin, result.begin);
           element < std::min(range.end, result.end); ++element) {
        ++cell.elements;
        const std::int64_t mine = place_of(spec.type, a, element);
        const std::int64_t theirs = place_of(spec.type, b, element);
        if (mine == theirs) continue;
        if (cell.differing++ == 0) {
          cell.first = element;
          cell.here = read_value(spec.type, a, element);
          cell.there = read_value(spec.type, b, element);
        }
        // Values of either sign lie further apart than the number can say only in float64.
        const auto steps = static_cast<std::uint64_t>(std::max(mine, theirs)) -
                           static_cast<std::uint64_t>(std::min(mine, theirs));
        seen.most_steps = std::max(
            seen.most_steps,
            static_cast<std::int64_t>(std::min<std::uint64_t>(
                steps, static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))));
      }
      seen.elements += cell.elements;
      seen.differing += cell.differing;
    }
    if (spec.kind == CollectiveKind::kAllReduce)
      seen.ranks_agree =
          seen.ranks_agree && (*here)[static_cast<std::size_t>(rank)] == here->front();
  }
  return seen;
}

}  // namespace parallelarium

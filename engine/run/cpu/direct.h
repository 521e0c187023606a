// SPDX-License-Identifier: Apache-2.0
// The arithmetic and copies of the direct collectives, for one member among threads that see each
// other's memory (the host's, or that of one GPU). All members wait for each other between the two
// functions and after the second.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/plan/program/program.h"
#include "engine/train/device_stream.h"

namespace parallelarium {

// Bytes that crossed between members, counted where they are read.
struct Moved {
  std::int64_t sent = 0, received = 0;
};

struct DirectMember {
  DeviceStream* device = nullptr;  // copies and adds
  CollectiveKind kind = CollectiveKind::kAllReduce;
  DataType type = DataType::kF32;
  std::int64_t bytes = 0;              // of the whole array
  int me = 0;                          // index in the group
  std::span<std::byte* const> arrays;  // every member's, by index
  std::span<std::byte* const> owns;    // every member's own chunk if it lies elsewhere, or null
  Reduction reduction = Reduction::kSum;
  bool adds = false;  // reduce_scatter adds to the own chunk elsewhere
};

// Whether this version can do the kind with such numbers.
bool can_collect(CollectiveKind kind, DataType type, Reduction reduction);

// First half. all_reduce and reduce_scatter make the own chunk the sum of all members' in rank
// order; all_to_all swaps chunks with every member of a higher index. Others do nothing.
Moved reduce_own_chunk(const DirectMember& member);

// Second half. all_reduce and all_gather copy the other members' own chunks; broadcast copies all
// from member 0. Others do nothing.
Moved gather_chunks(const DirectMember& member);

}  // namespace parallelarium

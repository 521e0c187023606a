// SPDX-License-Identifier: Apache-2.0
// The arithmetic and copies of the direct collectives, for one member among threads that see each
// other's memory: host memory, or that of one GPU. Between the two functions all members wait for
// each other, and again after.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/plan/program/program.h"
#include "engine/train/device_stream.h"

namespace parallelarium {

// Bytes that crossed between members, as counted where they were read.
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
  std::span<std::byte* const> owns;    // every member's own chunk where it lies elsewhere, or null
  Reduction reduction = Reduction::kSum;
  bool adds = false;  // reduce_scatter adds to the own chunk that lies elsewhere
};

// Whether this version reduces or moves such numbers this way.
bool can_collect(CollectiveKind kind, DataType type, Reduction reduction);

// First half. all_reduce and reduce_scatter: the own chunk becomes the sum of all members' in rank
// order; all_to_all: swaps chunks with every member of a higher index. The rest: nothing.
Moved reduce_own_chunk(const DirectMember& member);

// Second half. all_reduce and all_gather: copies the other members' own chunks; broadcast: copies
// all from member 0. The rest: nothing.
Moved gather_chunks(const DirectMember& member);

}  // namespace parallelarium

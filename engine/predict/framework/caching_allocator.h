// SPDX-License-Identifier: Apache-2.0
// The rules by which PyTorch's caching allocator reserves device memory. Nothing is allocated here.
#pragma once

#include <cstdint>
#include <vector>

namespace parallelarium {

// What PyTorch has reserved after a sequence of allocations and frees.
//
// Every stream has two pools: one for blocks up to 1 MiB, one for larger blocks. A pool gives what
// it was freed to its own stream alone. An allocation is rounded up to 512 bytes. It takes the
// smallest free block of its pool that is large enough, of several the one with the lowest address.
// What is left of the block stays free. Free neighbours merge. If no block is large enough, the
// pool reserves more. It gives nothing back, so what is reserved is also the most that ever was.
//
// Segments are fixed, or expandable if the process runs with expandable_segments:True. A fixed
// segment has 2 MiB for small blocks, 20 MiB for blocks below 10 MiB, else the block's size rounded
// up to 2 MiB. Of a large block in it, 1 MiB or less that is left is not split off. Blocks of two
// segments never merge. An expandable segment is one for each pool. It grows at its end, by pages
// of 2 MiB (small) or 20 MiB (large), and its last block is taken only if no other is large enough.
//
// A device has no limit here, where PyTorch would give back unused segments and try again.
//
// Source: pytorch/pytorch 001074d, c10/cuda/CUDACachingAllocator.cpp (kMinBlockSize to kRoundLarge,
// get_allocation_size, should_split, get_free_block, try_merge_blocks, Note [Expandable Segments]).
class CachingAllocator {
 public:
  enum class Segments : std::uint8_t { kFixed, kExpandable };
  using Block = std::int32_t;

  CachingAllocator(Segments segments, int streams);

  // The stream must be one of the allocator's, and the bytes must not be negative.
  Block allocate(std::int64_t bytes, int stream);
  // Gives the block back to its stream's pool. It must have been allocated and not freed since.
  void free(Block block);

  std::int64_t reserved_bytes() const;  // of all streams

 private:
  struct Piece {
    std::int64_t address = 0, size = 0;
    std::int32_t previous = -1, next = -1;  // neighbours in the segment
    std::int32_t pool = 0;
    bool free = false;
  };
  struct Free {
    std::int64_t size = 0, address = 0;
    Block block = -1;
    auto operator<=>(const Free&) const = default;
  };
  struct Pool {
    std::vector<Free> free;  // ascending
    Block last = -1;         // of an expandable segment
    std::int64_t reserved = 0;
  };

  Block make(const Piece& piece);
  void list(Block block);    // as free
  void unlist(Block block);  // no longer free
  Block find(Pool& pool, std::int64_t size);
  Block reserve(int number, std::int64_t size);
  Block grow(int number, std::int64_t size);
  void absorb_next(Block block);

  Segments segments_;
  std::vector<Pool> pools_;  // of stream s: 2 s for large blocks, 2 s + 1 for small ones
  std::vector<Piece> pieces_;
  std::vector<Block> unused_;  // of `pieces_`
  std::int64_t next_address_ = 0;
};

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/framework/caching_allocator.h"

#include <algorithm>
#include <cassert>

namespace parallelarium {

namespace {

constexpr std::int64_t kSmallest = 512, kMostSmall = 1 << 20, kLeastOwnSegment = 10 << 20;
constexpr std::int64_t kSmallPage = 2 << 20, kLargePage = 20 << 20, kSegmentUnit = 2 << 20;

std::int64_t rounded_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

bool is_small(int pool) { return pool % 2 == 1; }

std::int64_t segment_bytes(std::int64_t size) {
  if (size <= kMostSmall) return kSmallPage;
  return size < kLeastOwnSegment ? kLargePage : rounded_up(size, kSegmentUnit);
}

}  // namespace

CachingAllocator::CachingAllocator(Segments segments, int streams)
    : segments_(segments), pools_(static_cast<std::size_t>(2 * streams)) {}

CachingAllocator::Block CachingAllocator::make(const Piece& piece) {
  if (unused_.empty()) {
    pieces_.push_back(piece);
    return static_cast<Block>(pieces_.size()) - 1;
  }
  const Block block = unused_.back();
  unused_.pop_back();
  pieces_[block] = piece;
  return block;
}

void CachingAllocator::list(Block block) {
  Piece& piece = pieces_[block];
  piece.free = true;
  std::vector<Free>& free = pools_[piece.pool].free;
  const Free entry{piece.size, piece.address, block};
  free.insert(std::lower_bound(free.begin(), free.end(), entry), entry);
}

void CachingAllocator::unlist(Block block) {
  Piece& piece = pieces_[block];
  piece.free = false;
  std::vector<Free>& free = pools_[piece.pool].free;
  free.erase(std::lower_bound(free.begin(), free.end(), Free{piece.size, piece.address, block}));
}

CachingAllocator::Block CachingAllocator::find(Pool& pool, std::int64_t size) {
  auto fits = std::lower_bound(pool.free.begin(), pool.free.end(), Free{size, 0, -1});
  if (fits == pool.free.end()) return -1;
  if (fits->block == pool.last && std::next(fits) != pool.free.end()) ++fits;
  const Block block = fits->block;
  pool.free.erase(fits);
  pieces_[block].free = false;
  return block;
}

CachingAllocator::Block CachingAllocator::reserve(int number, std::int64_t size) {
  const std::int64_t bytes = segment_bytes(size);
  pools_[number].reserved += bytes;
  const Block block = make({.address = next_address_, .size = bytes, .pool = number});
  next_address_ += bytes;
  return block;
}

CachingAllocator::Block CachingAllocator::grow(int number, std::int64_t size) {
  Pool& pool = pools_[number];
  const bool joins = pool.last >= 0 && pieces_[pool.last].free;
  const std::int64_t there = joins ? pieces_[pool.last].size : 0;
  const std::int64_t bytes = rounded_up(size - there, is_small(number) ? kSmallPage : kLargePage);
  if (joins) {
    unlist(pool.last);
    pieces_[pool.last].size += bytes;
  } else {
    const Block block =
        make({.address = pool.reserved, .size = bytes, .previous = pool.last, .pool = number});
    if (pool.last >= 0) pieces_[pool.last].next = block;
    pool.last = block;
  }
  pool.reserved += bytes;
  return pool.last;
}

CachingAllocator::Block CachingAllocator::allocate(std::int64_t bytes, int stream) {
  assert(bytes >= 0 && stream >= 0 && 2 * static_cast<std::size_t>(stream) < pools_.size());
  const std::int64_t size = std::max(kSmallest, rounded_up(bytes, kSmallest));
  const int number = 2 * stream + (size <= kMostSmall ? 1 : 0);
  const bool expands = segments_ == Segments::kExpandable;
  Block block = find(pools_[number], size);
  if (block < 0) block = expands ? grow(number, size) : reserve(number, size);
  const std::int64_t left = pieces_[block].size - size;
  if (is_small(number) || expands ? left < kSmallest : left <= kMostSmall) return block;
  const Piece whole = pieces_[block];
  const Block rest = make({.address = whole.address + size,
                           .size = left,
                           .previous = block,
                           .next = whole.next,
                           .pool = number});
  pieces_[block].size = size;
  pieces_[block].next = rest;
  if (whole.next >= 0) pieces_[whole.next].previous = rest;
  if (pools_[number].last == block) pools_[number].last = rest;
  list(rest);
  return block;
}

void CachingAllocator::absorb_next(Block block) {
  const Block next = pieces_[block].next;
  Pool& pool = pools_[pieces_[block].pool];
  pieces_[block].size += pieces_[next].size;
  pieces_[block].next = pieces_[next].next;
  if (pieces_[next].next >= 0) pieces_[pieces_[next].next].previous = block;
  if (pool.last == next) pool.last = block;
  unused_.push_back(next);
}

void CachingAllocator::free(Block block) {
  assert(block >= 0 && !pieces_[block].free);
  if (const Block next = pieces_[block].next; next >= 0 && pieces_[next].free) {
    unlist(next);
    absorb_next(block);
  }
  if (const Block before = pieces_[block].previous; before >= 0 && pieces_[before].free) {
    unlist(before);
    absorb_next(before);
    block = before;
  }
  list(block);
}

std::int64_t CachingAllocator::reserved_bytes() const {
  std::int64_t sum = 0;
  for (const Pool& pool : pools_) sum += pool.reserved;
  return sum;
}

}  // namespace parallelarium

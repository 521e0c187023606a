// SPDX-License-Identifier: Apache-2.0
// Against sums, bounds and examples that were worked by hand.
#include "engine/predict/framework/caching_allocator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

namespace parallelarium {
namespace {

constexpr std::int64_t kMib = 1 << 20;
constexpr auto kFixed = CachingAllocator::Segments::kFixed;
constexpr auto kExpandable = CachingAllocator::Segments::kExpandable;

// Bytes, MiB or parts of one, that are reserved after these are allocated in one stream.
std::int64_t reserved_for(CachingAllocator::Segments segments, const std::vector<double>& mib) {
  CachingAllocator allocator(segments, 1);
  for (const double size : mib) allocator.allocate(static_cast<std::int64_t>(size * kMib), 0);
  return allocator.reserved_bytes();
}

TEST(CachingAllocator, ReservesByTheSizeOfABlock) {
  // Four of 1/2 MiB share one segment; a byte above 1 MiB is large; 10 MiB has a segment of its
  // own.
  EXPECT_EQ(reserved_for(kFixed, {0.5, 0.5, 0.5, 0.5}), 2 * kMib);
  EXPECT_EQ(reserved_for(kFixed, {1.0, 1.0, 1.0}), 4 * kMib);
  EXPECT_EQ(reserved_for(kFixed, {1.5}), 20 * kMib);
  EXPECT_EQ(reserved_for(kFixed, {9.0, 9.0}), 20 * kMib);
  EXPECT_EQ(reserved_for(kFixed, {10.0}), 10 * kMib);
  EXPECT_EQ(reserved_for(kFixed, {10.5, 100.25}), 12 * kMib + 102 * kMib);
  EXPECT_EQ(reserved_for(kExpandable, {0.5, 0.5, 0.5, 0.5, 0.5}), 4 * kMib);
  EXPECT_EQ(reserved_for(kExpandable, {10.5, 100.25}), 120 * kMib);
  EXPECT_EQ(reserved_for(kFixed, {0}), 2 * kMib);
}

TEST(CachingAllocator, ReservesTheSumInAnyOrderWhereNothingIsFreed) {
  std::vector<double> mib;
  std::int64_t sum = 0;
  for (int size = 10; size < 60; ++size) {
    mib.push_back(size + 0.3);
    sum += (size / 2 * 2 + 2) * kMib;
  }
  std::mt19937 random(1);
  for (int trial = 0; trial < 5; ++trial) {
    EXPECT_EQ(reserved_for(kFixed, mib), sum);
    std::shuffle(mib.begin(), mib.end(), random);
  }
}

TEST(CachingAllocator, GivesWhatAStreamHasFreedToNoOther) {
  for (const auto segments : {kFixed, kExpandable}) {
    CachingAllocator allocator(segments, 2);
    allocator.free(allocator.allocate(100 * kMib, 0));
    allocator.allocate(100 * kMib, 0);
    EXPECT_EQ(allocator.reserved_bytes(), 100 * kMib);
    allocator.allocate(100 * kMib, 1);
    EXPECT_EQ(allocator.reserved_bytes(), 200 * kMib);
  }
}

// Two neighbours of 40 MiB are free where 80 MiB are asked for: in two fixed segments they stay
// two.
TEST(CachingAllocator, MergesInsideASegmentAlone) {
  const auto after = [](CachingAllocator::Segments segments) {
    CachingAllocator allocator(segments, 1);
    const auto first = allocator.allocate(40 * kMib, 0), second = allocator.allocate(40 * kMib, 0);
    allocator.free(first);
    allocator.free(second);
    allocator.allocate(80 * kMib, 0);
    return allocator.reserved_bytes();
  };
  EXPECT_EQ(after(kFixed), 160 * kMib);
  EXPECT_EQ(after(kExpandable), 80 * kMib);
  // Pieces of one fixed segment merge, whichever is freed first.
  for (const bool backwards : {false, true}) {
    CachingAllocator allocator(kFixed, 1);
    allocator.free(allocator.allocate(80 * kMib, 0));
    auto first = allocator.allocate(40 * kMib, 0), second = allocator.allocate(30 * kMib, 0);
    if (backwards) std::swap(first, second);
    allocator.free(first);
    allocator.free(second);
    allocator.allocate(80 * kMib, 0);
    EXPECT_EQ(allocator.reserved_bytes(), 80 * kMib);
  }
}

TEST(CachingAllocator, TakesTheSmallestBlockThatFits) {
  CachingAllocator allocator(kFixed, 1);
  const auto large = allocator.allocate(100 * kMib, 0), small = allocator.allocate(60 * kMib, 0);
  allocator.free(large);
  allocator.free(small);
  allocator.allocate(50 * kMib, 0);
  allocator.allocate(100 * kMib, 0);
  EXPECT_EQ(allocator.reserved_bytes(), 160 * kMib);
  // 10 MiB are left of the smaller one.
  allocator.allocate(10 * kMib, 0);
  EXPECT_EQ(allocator.reserved_bytes(), 160 * kMib);
}

// Of 60 MiB in a fixed segment 1 MiB stays with 59 MiB, while more than 1 MiB is split off.
TEST(CachingAllocator, SplitsLargeBlocksOfFixedSegmentsAboveOneMib) {
  CachingAllocator allocator(kFixed, 1);
  allocator.free(allocator.allocate(60 * kMib, 0));
  const auto whole = allocator.allocate(59 * kMib, 0);
  allocator.allocate(kMib + 512, 0);
  EXPECT_EQ(allocator.reserved_bytes(), 80 * kMib);
  allocator.free(whole);
  allocator.allocate(58 * kMib, 0);
  allocator.allocate(2 * kMib, 0);
  EXPECT_EQ(allocator.reserved_bytes(), 80 * kMib);
}

// The end of an expandable segment could grow, so a larger free block comes first.
TEST(CachingAllocator, TakesTheEndOfAnExpandableSegmentLast) {
  CachingAllocator allocator(kExpandable, 1);
  const auto first = allocator.allocate(50 * kMib, 0);
  allocator.allocate(20 * kMib, 0);  // keeps 10 MiB free behind it: 80 MiB are reserved
  allocator.free(first);
  const auto ten = allocator.allocate(10 * kMib, 0);  // in the 50 MiB
  allocator.allocate(40 * kMib, 0);                   // in the rest of them
  EXPECT_EQ(allocator.reserved_bytes(), 80 * kMib);
  allocator.free(ten);
  allocator.allocate(30 * kMib, 0);  // the end grows by 20 MiB
  EXPECT_EQ(allocator.reserved_bytes(), 100 * kMib);
}

TEST(CachingAllocator, ReservesWhatIsHeldAndGivesNothingBack) {
  for (const auto segments : {kFixed, kExpandable})
    for (unsigned seed = 1; seed <= 20; ++seed) {
      std::mt19937 random(seed);
      CachingAllocator allocator(segments, 3);
      struct Held {
        CachingAllocator::Block block;
        std::int64_t bytes;
        int stream;
      };
      std::vector<Held> held;
      std::int64_t now[3] = {}, most[3] = {}, before = 0, sum = 0;
      for (int op = 0; op < 400; ++op) {
        if (!held.empty() && random() % 2 == 0) {
          std::swap(held[random() % held.size()], held.back());
          allocator.free(held.back().block);
          now[held.back().stream] -= held.back().bytes;
          held.pop_back();
        } else {
          const std::int64_t bytes =
              random() % 3 == 0 ? random() % (2 * kMib) : random() % (90 * kMib);
          const int stream = static_cast<int>(random() % 3);
          held.push_back({allocator.allocate(bytes, stream), bytes, stream});
          now[stream] += bytes;
          most[stream] = std::max(most[stream], now[stream]);
          sum += bytes + 21 * kMib;
        }
        EXPECT_GE(allocator.reserved_bytes(), before);
        before = allocator.reserved_bytes();
      }
      EXPECT_GE(allocator.reserved_bytes(), most[0] + most[1] + most[2]);
      EXPECT_LE(allocator.reserved_bytes(), sum);
    }
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// What measures a GPU's memories computes what its CPU twin does, to the bit.
#include <random>

#include "kernels/memory/gpu_memory.h"
#include "tests/gpu/twin.h"

namespace parallelarium {
namespace {

using namespace twin;

class Memories : public OnGpu<testing::Test> {
 protected:
  static ChainEnd end_of(DeviceArray<ChainEnd>& end) { return end.host().front(); }
};

TEST_F(Memories, AChaseEndsWhereTheTwinDoes) {
  for (const int bits : {0, 5, 9}) {
    DeviceArray<ChaseLine> lines(std::vector<ChaseLine>(std::size_t{1} << bits));
    std::vector<ChaseLine> twins(std::size_t{1} << bits);
    DeviceArray<ChainEnd> end(std::vector<ChainEnd>(1));
    ASSERT_EQ(chain_lines(lines.data(), bits, nullptr), cudaSuccess);
    chain_lines_cpu(twins.data(), bits);
    for (const std::uint64_t first : {0, 3})
      for (const std::int64_t loads : {0, 1, 100, 1001}) {
        ASSERT_EQ(chase(end.data(), lines.data(), bits, first, loads, nullptr), cudaSuccess);
        EXPECT_EQ(end_of(end).place, chase_cpu(twins.data(), bits, first, loads).place)
            << bits << " bits, " << loads << " loads";
        EXPECT_GE(end_of(end).cycles, 0);
      }
  }
}

TEST_F(Memories, AChaseInSharedMemoryEndsWhereItsStepsLead) {
  DeviceArray<ChainEnd> end(std::vector<ChainEnd>(1));
  for (const std::int64_t loads : {0, 1, 777, 5000}) {
    ASSERT_EQ(chase_shared(end.data(), loads, nullptr), cudaSuccess);
    EXPECT_EQ(end_of(end).place, place_of(static_cast<std::uint64_t>(loads), kSharedChainBits));
  }
}

TEST_F(Memories, AChainOfSumsIsRoundedOnceAStep) {
  DeviceArray<ChainEnd> end(std::vector<ChainEnd>(1));
  std::mt19937 bits(seed());
  std::uniform_real_distribution<float> some(0.1F, 0.9F);
  for (const std::int64_t steps : {0, 64, 640}) {
    const float value = some(bits), factor = some(bits), summand = some(bits);
    ASSERT_EQ(multiply_add_chain(end.data(), value, factor, summand, steps, nullptr), cudaSuccess);
    EXPECT_EQ(end_of(end).value, multiply_add_chain_cpu(value, factor, summand, steps).value);
  }
  EXPECT_EQ(multiply_add_chain(end.data(), 1, 1, 1, 63, nullptr), cudaErrorInvalidValue);
}

TEST_F(Memories, CopiesLeaveWhatLiesBetween) {
  for (const std::int64_t count : {1, 1000, 5003})
    for (const std::size_t stride : {1, 2, 7, 64})
      for (const std::size_t shift : {0, 1}) {
        const Floats from = random(count), before = random(count);
        auto a = on_device<float>(from, shift), b = on_device<float>(before, shift);
        ASSERT_EQ(copy_strided(b.data(), a.data(), from.size(), stride, 2, 3, nullptr),
                  cudaSuccess);
        Floats expected = before;
        copy_strided_cpu(expected.data(), from.data(), from.size(), stride);
        EXPECT_EQ(b.floats(), expected) << count << " by " << stride;
      }
}

// Small whole numbers, whose sums floats hold exactly in every order.
TEST_F(Memories, ProductsAreTheSameForEveryTile) {
  constexpr std::size_t kSide = 64;
  std::mt19937 bits(seed());
  Floats a(kSide * kSide), b(kSide * kSide), expected(kSide * kSide);
  for (Floats* factor : {&a, &b})
    for (float& number : *factor) number = static_cast<float>(static_cast<int>(bits() % 17) - 8);
  plain_product_cpu(expected.data(), a.data(), b.data(), kSide);
  auto a_there = on_device<float>(a), b_there = on_device<float>(b);
  for (const int tile : {1, 4, 8, 16, 32}) {
    auto c = on_device<float>(filled(kSide * kSide, -1));
    ASSERT_EQ(tiled_product(c.data(), a_there.data(), b_there.data(), kSide, tile, nullptr),
              cudaSuccess);
    EXPECT_EQ(c.floats(), expected) << tile;
  }
  EXPECT_EQ(tiled_product(nullptr, nullptr, nullptr, 64, 5, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(tiled_product(nullptr, nullptr, nullptr, 63, 8, nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace parallelarium

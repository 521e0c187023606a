// SPDX-License-Identifier: Apache-2.0
// What ranks on one GPU do to each other's memory, and attention block by block.
#include <cstring>
#include <memory>
#include <tuple>

#include "kernels/attention/rotary.h"
#include "kernels/base/launch.h"
#include "kernels/block_attention/block_attention.h"
#include "kernels/gpu.h"
#include "kernels/vocabulary/embedding.h"
#include "tests/gpu/twin.h"

namespace parallelarium {
namespace {

using namespace twin;

class Exchange : public OnGpu<testing::Test> {};

TEST_F(Exchange, CombineTakesThePartsInOrderToTheBit) {
  for (const auto& [count, shift] :
       {std::pair<std::int64_t, std::size_t>{1, 1}, {7, 0}, {1000, 1}, {1003, 0}}) {
    std::vector<Floats> parts;
    for (int i = 0; i < 3; ++i) parts.push_back(random(count));
    for (const Combine how : {Combine::kSum, Combine::kLargest}) {
      Floats expected = parts[0];
      for (std::size_t i = 0; i < expected.size(); ++i) {
        for (std::size_t part = 1; part < parts.size(); ++part)
          expected[i] = how == Combine::kLargest ? std::max(expected[i], parts[part][i])
                                                 : expected[i] + parts[part][i];
      }
      auto a = on_device<float>(parts[0]), b = on_device<float>(parts[1], shift),
           c = on_device<float>(parts[2]), target = on_device<float>(parts[0], 3 * shift);
      const float* all[] = {a.data(), b.data(), c.data()};
      const auto size = static_cast<std::size_t>(count);
      ASSERT_EQ(combine<float>(target.data(), all, 3, how, 1, size, nullptr), cudaSuccess);
      EXPECT_EQ(target.host(), expected);
      ASSERT_EQ(combine<float>(b.data(), all, 3, how, 1, size, nullptr), cudaSuccess);
      EXPECT_EQ(b.host(), expected) << "into one of the parts";
    }
  }
}

template <class T>
std::vector<T> random_numbers(std::int64_t count) {
  const Floats values = random(count);
  std::vector<T> numbers(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_same_v<T, Bf16>)
      numbers[i] = round_to_bf16(values[i]);
    else if constexpr (std::is_same_v<T, std::int32_t>)
      numbers[i] = static_cast<std::int32_t>(values[i] * 1e9F);  // sums and products wrap around
    else
      numbers[i] = static_cast<T>(values[i]) + static_cast<T>(1e-9);
  }
  return numbers;
}
template <class T>
bool same_bits(const std::vector<T>& a, const std::vector<T>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
}

template <class T>
void expect_combine_like_the_cpu(Combine how) {
  for (const int parts_count : {1, 2, 3, 17, kMostCombined}) {
    if (how == Combine::kCopy && parts_count > 1) continue;
    for (const std::size_t count : {std::size_t{1}, std::size_t{7}, std::size_t{1000}}) {
      // A shift of one element: single numbers instead of 16 bytes at a time.
      for (const std::size_t shift : {std::size_t{0}, std::size_t{1}}) {
        std::vector<std::vector<T>> parts;
        std::vector<std::unique_ptr<DeviceArray<T>>> parts_;
        std::vector<const T*> from, from_;
        for (int part = 0; part < parts_count; ++part) {
          parts.push_back(random_numbers<T>(static_cast<std::int64_t>(count)));
          parts_.push_back(std::make_unique<DeviceArray<T>>(parts.back(), part == 0 ? shift : 0));
          from_.push_back(parts_.back()->data());
        }
        for (const std::vector<T>& part : parts) from.push_back(part.data());
        std::vector<T> target = random_numbers<T>(static_cast<std::int64_t>(count));
        DeviceArray<T> target_(target);
        combine_cpu(target.data(), from.data(), from.size(), how, 3, count);
        ASSERT_EQ(combine<T>(target_.data(), from_.data(), parts_count, how, 3, count, nullptr),
                  cudaSuccess);
        EXPECT_TRUE(same_bits(target_.host(), target))
            << parts_count << " parts of " << count << " of " << sizeof(T) << " bytes, how "
            << static_cast<int>(how);
        DeviceArray<T>& last = *parts_.back();
        ASSERT_EQ(combine<T>(last.data(), from_.data(), parts_count, how, 3, count, nullptr),
                  cudaSuccess);
        EXPECT_TRUE(same_bits(last.host(), target)) << "into one of the parts";
      }
    }
  }
}

TEST_F(Exchange, CombineEqualsTheCpuTwinToTheBit) {
  for (const Combine how : {Combine::kCopy, Combine::kSum, Combine::kLargest, Combine::kProduct,
                            Combine::kSmallest, Combine::kAverage}) {
    expect_combine_like_the_cpu<float>(how);
    expect_combine_like_the_cpu<double>(how);
    expect_combine_like_the_cpu<Bf16>(how);
    expect_combine_like_the_cpu<std::int32_t>(how);
  }
  EXPECT_EQ(combine<float>(nullptr, nullptr, kMostCombined + 1, Combine::kSum, 1, 1, nullptr),
            cudaErrorInvalidValue);
  EXPECT_EQ(combine<float>(nullptr, nullptr, 0, Combine::kSum, 1, 1, nullptr),
            cudaErrorInvalidValue);
}

// Added up in fp32 and rounded once: 256 + 1 - 256 + 1 is 2, and would be 1 with every sum rounded.
TEST_F(Exchange, CombineOfBf16RoundsOnce) {
  auto a = on_device<Bf16>({256}), b = on_device<Bf16>({1}), c = on_device<Bf16>({-256});
  auto target = on_device<Bf16>({1});
  const Bf16* all[] = {a.data(), b.data(), c.data(), target.data()};
  ASSERT_EQ(combine<Bf16>(target.data(), all, 4, Combine::kSum, 1, 1, nullptr), cudaSuccess);
  EXPECT_EQ(target.floats(), Floats{2});
  ASSERT_EQ(combine<Bf16>(target.data(), all, 3, Combine::kLargest, 1, 1, nullptr), cudaSuccess);
  EXPECT_EQ(target.floats(), Floats{256});
}

TEST_F(Exchange, SwapSwapsWholeWordsAndSingleBytes) {
  for (const std::size_t shift : {std::size_t{0}, std::size_t{1}, std::size_t{4}}) {
    std::vector<unsigned char> first(1003), second(1003);
    for (std::size_t i = 0; i < first.size(); ++i) {
      first[i] = static_cast<unsigned char>(i);
      second[i] = static_cast<unsigned char>(3 * i + 1);
    }
    DeviceArray<unsigned char> a(first, shift), b(second);
    constexpr std::size_t kBytes = 1001;
    ASSERT_EQ(swap_bytes(a.data(), b.data(), kBytes, nullptr), cudaSuccess);
    std::swap_ranges(first.begin(), first.begin() + kBytes, second.begin());
    EXPECT_EQ(a.host(), first);
    EXPECT_EQ(b.host(), second);
  }
}

TEST_F(Exchange, TokensOfAnotherRanksPartAreZerosAndGatherNothing) {
  constexpr std::int64_t N = 6, T = 3, C = 5, V = 4;
  const std::vector<std::int32_t> tokens = {2, -1, 0, -3, 2, 1};
  const Floats table = random(V * C), positions = random(T * C), dx = random(N * C);
  Floats x(static_cast<std::size_t>(N * C)), dtable = random(V * C), dpositions = random(T * C);
  DeviceArray<std::int32_t> tokens_(tokens);
  auto table_ = on_device<float>(table), positions_ = on_device<float>(positions),
       x_ = on_device<float>(x), dx_ = on_device<float>(dx), dtable_ = on_device<float>(dtable),
       dpositions_ = on_device<float>(dpositions);
  auto space = workspace(embedding_grad_workspace(N));
  embedding_forward_cpu(x.data(), tokens.data(), table.data(), positions.data(), N, T, C);
  embedding_grad_cpu(dtable.data(), dpositions.data(), dx.data(), tokens.data(), N, T, C);
  ASSERT_EQ(embedding_forward<float>(x_.data(), tokens_.data(), table_.data(), positions_.data(), N,
                                     T, C, nullptr),
            cudaSuccess);
  ASSERT_EQ((embedding_grad<float, float>(dtable_.data(), dpositions_.data(), dx_.data(),
                                          tokens_.data(), space.data(), N, T, C, nullptr)),
            cudaSuccess);
  EXPECT_EQ(x_.host(), x);
  EXPECT_EQ(dtable_.host(), dtable);
  EXPECT_EQ(dpositions_.host(), dpositions);
}

TEST_F(Exchange, RotaryStartsAtThePositionItIsGiven) {
  const AttentionShape shape{2, 5, 2, 1, 6};
  Floats qkv = random(2 * 5 * 4 * 6);
  auto qkv_ = on_device<float>(qkv);
  rotary_cpu(qkv.data(), Turn::kForward, shape, 37);
  ASSERT_EQ(rotary<float>(qkv_.data(), Turn::kForward, shape, nullptr, 37), cudaSuccess);
  EXPECT_LE(difference(qkv_.host(), qkv), bound<float>(0));
}

// Two ranks of a ring with zigzag positions, each block after the other; one rank alone is the case
// of one block.
TEST_F(Exchange, BlockAttentionEqualsTheCpuTwin) {
  struct Case {
    AttentionShape shape;
    int ranks;
  };
  for (const auto& [shape, ranks] :
       {Case{{1, 40, 2, 1, 8}, 1}, Case{{2, 36, 4, 2, 5}, 2}, Case{{1, 3, 1, 1, 40}, 1}}) {
    const std::int64_t T = shape.T, H = shape.H, K = shape.K, D = shape.D, B = shape.B;
    const auto runs_of = [T = T, ranks = ranks](int rank) {
      if (ranks == 1) return TokenRuns{1, {0, 0}};
      return TokenRuns{2, {rank * T / 2, (2 * ranks - 1 - rank) * T / 2}};
    };
    const std::int64_t stride = 2 * K * D;
    const Floats qkv = random(B * T * (H + 2 * K) * D), dcontext = random(B * T * H * D);
    const auto zeros = [](std::int64_t count) { return filled(count, 0); };
    Floats context = zeros(B * T * H * D), lse = zeros(B * H * T), sums = lse;
    Floats dqkv = random(B * T * (H + 2 * K) * D);
    Floats scratch(static_cast<std::size_t>(block_attention_scratch(shape)));
    auto qkv_ = on_device<float>(qkv), dcontext_ = on_device<float>(dcontext),
         context_ = on_device<float>(context), lse_ = on_device<float>(lse),
         sums_ = on_device<float>(sums), dqkv_ = on_device<float>(dqkv);
    std::vector<Floats> keys, dkeys;
    for (int rank = 0; rank < ranks; ++rank) {
      keys.push_back(random(B * T * stride));
      dkeys.push_back(random(B * T * stride));
    }
    const auto block_of = [&](int rank) {
      return AttentionBlock{shape, runs_of(0), runs_of(rank), stride, rank == 0};
    };
    for (int rank = 0; rank < ranks; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      auto keys_ = on_device<float>(keys[at]);
      block_attention_forward_cpu(context.data(), lse.data(), sums.data(), scratch.data(),
                                  qkv.data(), keys[at].data(), block_of(rank));
      ASSERT_EQ(block_attention_forward(context_.data(), lse_.data(), sums_.data(), qkv_.data(),
                                        keys_.data(), block_of(rank), nullptr),
                cudaSuccess);
    }
    block_attention_finish_cpu(context.data(), lse.data(), sums.data(), shape);
    ASSERT_EQ(block_attention_finish(context_.data(), lse_.data(), sums_.data(), shape, nullptr),
              cudaSuccess);
    EXPECT_LE(difference(context_.host(), context), bound<float>(0) + 1e-6);
    EXPECT_LE(difference(lse_.host(), lse), bound<float>(0) + 1e-6);
    for (int rank = 0; rank < ranks; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      auto keys_ = on_device<float>(keys[at]), dkeys_ = on_device<float>(dkeys[at]);
      block_attention_backward_cpu(dqkv.data(), dkeys[at].data(), scratch.data(), dcontext.data(),
                                   qkv.data(), keys[at].data(), context.data(), lse.data(),
                                   block_of(rank));
      ASSERT_EQ(block_attention_backward(dqkv_.data(), dkeys_.data(), dcontext_.data(), qkv_.data(),
                                         keys_.data(), context_.data(), lse_.data(), block_of(rank),
                                         nullptr),
                cudaSuccess);
      EXPECT_LE(difference(dkeys_.host(), dkeys[at]), bound<float>(0) + 1e-6);
    }
    EXPECT_LE(difference(dqkv_.host(), dqkv), bound<float>(0) + 1e-6);
  }
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Attention that sees a rank's keys and values and then another's equals its CPU twin, on tensor
// cores and off them.
#include "kernels/block_attention/block_attention.h"

#include "kernels/gpu.h"
#include "tests/gpu/twin.h"

namespace parallelarium {
namespace {

using namespace twin;

// One rank, or two of a ring: the first holds the queries, and brings its keys before the other's.
enum class Cut { kWhole, kFirstHalf, kSecondHalf, kZigzag };
struct Case {
  AttentionShape shape;  // T of one rank
  Cut cut;
  double dropout = 0;
};

// D of whole and of padded tiles, or of none; runs that are no multiple of a tile, longer and
// shorter than one; keys shared by two heads, once and twice, and by three.
constexpr Case kCases[] = {
    {{1, 70, 2, 1, 64}, Cut::kFirstHalf, 0.1}, {{2, 33, 2, 2, 20}, Cut::kFirstHalf},
    {{1, 70, 2, 2, 32}, Cut::kWhole, 0.1},     {{2, 65, 2, 1, 64}, Cut::kSecondHalf, 0.1},
    {{1, 130, 1, 1, 64}, Cut::kZigzag},        {{1, 142, 2, 1, 64}, Cut::kZigzag, 0.1},
    {{1, 66, 3, 1, 96}, Cut::kZigzag, 0.1},    {{1, 67, 1, 1, 96}, Cut::kWhole},
    {{1, 36, 4, 2, 128}, Cut::kZigzag, 0.1},   {{1, 97, 2, 2, 128}, Cut::kWhole, 0.5},
    {{2, 6, 2, 1, 8}, Cut::kZigzag, 0.3},      {{1, 1, 1, 1, 8}, Cut::kWhole, 0.3},
    {{1, 38, 2, 1, 20}, Cut::kZigzag, 0.1}};

// Where a rank's tokens stand; rank 0 computes.
TokenRuns runs_of(const Case& c, int rank) {
  const std::int64_t T = c.shape.T;
  switch (c.cut) {
    case Cut::kWhole:
      return {};
    case Cut::kFirstHalf:  // sees nothing of the other's
      return {1, {rank == 0 ? 0 : T, 0}};
    case Cut::kSecondHalf:
      return {1, {rank == 0 ? T : 0, 0}};
    case Cut::kZigzag:
      return rank == 0 ? TokenRuns{2, {0, 3 * T / 2}} : TokenRuns{2, {T / 2, T}};
  }
  return {};
}

template <class T>
class BlockAttentionTwin : public OnGpu<testing::Test> {};
TYPED_TEST_SUITE(BlockAttentionTwin, Storages);

TYPED_TEST(BlockAttentionTwin, EqualsTheCpuTwin) {
  using T = TypeParam;
  for (const Case& c : kCases)
    for (const std::size_t shift : {0, 1}) {  // off 16 bytes: no tensor cores
      if (!shift_matters<T>(shift, c.shape.T)) continue;
      SCOPED_TRACE(testing::Message()
                   << "T " << c.shape.T << " H " << c.shape.H << " K " << c.shape.K << " D "
                   << c.shape.D << " cut " << static_cast<int>(c.cut) << " shift " << shift);
      const auto [B, L, H, K, D] = c.shape;
      const int ranks = c.cut == Cut::kWhole ? 1 : 2;
      const std::int64_t A = (H + 2 * K) * D, own_at = H * D;
      // Numbered behind another sample and two heads.
      const AttentionDropout numbers{make_dropout(c.dropout, seed()), 1, 2, H + 3, ranks * L};
      // The rank's own keys are columns of qkv; the other's come alone.
      const auto block_of = [&](int rank) {
        return AttentionBlock{c.shape,   runs_of(c, 0), runs_of(c, rank), rank == 0 ? A : 2 * K * D,
                              rank == 0, numbers};
      };
      const Floats qkv = random_stored<T>(B * L * A);
      const Floats dcontext = random_stored<T>(B * L * H * D);
      const Floats other = random_stored<T>(B * L * 2 * K * D);
      Floats dother = random_stored<T>(B * L * 2 * K * D);  // others gave to it
      Floats context(dcontext.size(), 7.0F), dqkv(qkv.size(), 0.0F);
      Floats row_max = filled(B * H * L, 7), row_sum = row_max;
      Floats scratch(static_cast<std::size_t>(block_attention_scratch(c.shape)));
      auto qkv_ = on_device<T>(qkv, shift), other_ = on_device<T>(other, shift);
      auto dcontext_ = on_device<T>(dcontext), context_ = on_device<T>(context);
      auto dqkv_ = on_device<T>(dqkv, shift), dother_ = on_device<T>(dother, shift);
      auto row_max_ = on_device<float>(row_max), row_sum_ = on_device<float>(row_sum);
      for (int rank = 0; rank < ranks; ++rank) {
        const AttentionBlock block = block_of(rank);
        block_attention_forward_cpu(context.data(), row_max.data(), row_sum.data(), scratch.data(),
                                    qkv.data(), rank == 0 ? qkv.data() + own_at : other.data(),
                                    block);
        ASSERT_EQ(block_attention_forward<T>(
                      context_.data(), row_max_.data(), row_sum_.data(), qkv_.data(),
                      rank == 0 ? qkv_.data() + own_at : other_.data(), block, nullptr),
                  cudaSuccess);
        EXPECT_LE(difference(row_max_.host(), row_max), bound<float>(0));
        EXPECT_LE(difference(row_sum_.host(), row_sum), bound<float>(0));
        // In bf16: probabilities and the result, which is rounded after each block.
        EXPECT_LE(difference(context_.floats(), context), bound<T>(2 + rank));
      }
      block_attention_finish_cpu(context.data(), row_max.data(), row_sum.data(), c.shape);
      ASSERT_EQ(block_attention_finish<T>(context_.data(), row_max_.data(), row_sum_.data(),
                                          c.shape, nullptr),
                cudaSuccess);
      EXPECT_LE(difference(context_.floats(), context), bound<T>(2 + ranks));
      EXPECT_LE(difference(row_max_.host(), row_max), bound<float>(0));
      for (int rank = 0; rank < ranks; ++rank) {
        const AttentionBlock block = block_of(rank);
        block_attention_backward_cpu(dqkv.data(), rank == 0 ? dqkv.data() + own_at : dother.data(),
                                     scratch.data(), dcontext.data(), qkv.data(),
                                     rank == 0 ? qkv.data() + own_at : other.data(), context.data(),
                                     row_max.data(), block);
        ASSERT_EQ(block_attention_backward<T>(dqkv_.data(),
                                              rank == 0 ? dqkv_.data() + own_at : dother_.data(),
                                              dcontext_.data(), qkv_.data(),
                                              rank == 0 ? qkv_.data() + own_at : other_.data(),
                                              context_.data(), row_max_.data(), block, nullptr),
                  cudaSuccess);
      }
      // In bf16: the context in delta, P or dS, and the result after each block.
      EXPECT_LE(difference(dqkv_.floats(), dqkv), bound<T>(4 + ranks));
      EXPECT_LE(difference(dother_.floats(), dother), bound<T>(4));
    }
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/dropout.h"

#include "kernels/attention/attention.h"
#include "kernels/gpu.h"
#include "kernels/products/gpu_matmul.h"
#include "tests/gpu/twin.h"

namespace parallelarium {
namespace {

using namespace twin;

using Mask = std::vector<std::uint8_t>;

template <class T>
class DropoutTwin : public OnGpu<testing::Test> {};
TYPED_TEST_SUITE(DropoutTwin, Storages);

// From a number that begins a draw and from one within; aligned and not.
TYPED_TEST(DropoutTwin, TheResidualAndItsGradientEqualTheCpuTwin) {
  for (const std::int64_t count : {0, 1, 3, 257, 5003})
    for (const auto& [first, shift] :
         {std::pair<std::int64_t, std::size_t>{13, 0}, {16, 0}, {16, 1}}) {
      const auto n = static_cast<std::size_t>(count);
      const Floats stream = random_stored<TypeParam>(count),
                   branch = random_stored<TypeParam>(count);
      const Dropout dropout = make_dropout(0.3, seed());
      Floats out(n), dbranch(n);
      Mask mask(n);
      dropout_residual_cpu(out.data(), mask.data(), stream.data(), branch.data(), dropout, first,
                           n);
      dropout_grad_cpu(dbranch.data(), stream.data(), mask.data(), dropout.scale, n);
      auto stream_ = on_device<TypeParam>(stream);
      auto branch_ = on_device<TypeParam>(branch, shift);
      auto out_ = on_device<TypeParam>(filled(count, 7));
      auto dbranch_ = on_device<TypeParam>(filled(count, 7));
      DeviceArray<std::uint8_t> mask_(Mask(n, 7), shift);
      ASSERT_EQ(dropout_residual<TypeParam>(out_.data(), mask_.data(), stream_.data(),
                                            branch_.data(), dropout, first, n, nullptr),
                cudaSuccess);
      ASSERT_EQ(dropout_grad<TypeParam>(dbranch_.data(), stream_.data(), mask_.data(),
                                        dropout.scale, n, nullptr),
                cudaSuccess);
      EXPECT_EQ(mask_.host(), mask);
      EXPECT_LE(difference(out_.floats(), out), bound<TypeParam>(1));
      EXPECT_LE(difference(dbranch_.floats(), dbranch), bound<TypeParam>(1));
    }
}

TYPED_TEST(DropoutTwin, UnfusedAttentionEqualsTheCpuTwin) {
  for (const AttentionShape& shape :
       {AttentionShape{1, 1, 1, 1, 1}, {2, 5, 4, 2, 3}, {1, 40, 2, 1, 8}, {2, 65, 2, 2, 16}})
    for (const std::int64_t heads : {std::int64_t{1}, std::int64_t{2}}) {
      const auto [B, T, H, K, D] = shape;
      const auto square = static_cast<std::size_t>(B * H * T * T);
      const Floats qkv = random_stored<TypeParam>(B * T * (H + 2 * K) * D);
      const Floats dcontext = random_stored<TypeParam>(B * T * H * D);
      const AttentionDropout of{make_dropout(0.2, seed()), 1, 2, H + 3, T};
      Floats context(dcontext.size()), probabilities(square), dropped(square), dqkv(qkv.size());
      Floats scratch(static_cast<std::size_t>(T * T));
      Mask mask(square);
      const DroppedProbabilities<float> cpu{mask.data(), dropped.data(), of};
      attention_forward_cpu(context.data(), probabilities.data(), qkv.data(), shape, cpu);
      attention_backward_cpu(dqkv.data(), scratch.data(), dcontext.data(), qkv.data(),
                             probabilities.data(), shape, cpu);
      constexpr std::size_t kBytes = 4 << 20;
      auto space = workspace(kBytes);
      GpuMatmul matmul(space.data(), kBytes, false);
      auto qkv_ = on_device<TypeParam>(qkv);
      auto dcontext_ = on_device<TypeParam>(dcontext);
      auto context_ = on_device<TypeParam>(Floats(context.size(), 7.0F));
      auto dqkv_ = on_device<TypeParam>(Floats(dqkv.size(), 7.0F));
      auto probabilities_ = on_device<TypeParam>(Floats(square, 7.0F));
      auto dropped_ = on_device<TypeParam>(Floats(square, 7.0F));
      DeviceArray<std::uint8_t> mask_(Mask(square, 7));
      auto scratch_ = on_device<TypeParam>(filled(heads * T * T, 7));
      const DroppedProbabilities<TypeParam> gpu{mask_.data(), dropped_.data(), of};
      ASSERT_EQ(attention_forward<TypeParam>(matmul, context_.data(), probabilities_.data(),
                                             qkv_.data(), shape, nullptr, gpu),
                CUBLAS_STATUS_SUCCESS);
      ASSERT_EQ(attention_backward<TypeParam>(matmul, dqkv_.data(), scratch_.data(), heads,
                                              dcontext_.data(), qkv_.data(), probabilities_.data(),
                                              shape, nullptr, gpu),
                CUBLAS_STATUS_SUCCESS);
      EXPECT_EQ(mask_.host(), mask);
      const double score = std::sqrt(static_cast<double>(D));
      EXPECT_LE(difference(dropped_.floats(), dropped), bound<TypeParam>(2 + score));
      EXPECT_LE(difference(context_.floats(), context), bound<TypeParam>(3 + score));
      EXPECT_LE(difference(dqkv_.floats(), dqkv), bound<TypeParam>(5 + score));
    }
}

template <class T>
class DropoutBlocks : public OnGpu<testing::Test> {};
TYPED_TEST_SUITE(DropoutBlocks, Storages);

// Two ranks' blocks in zigzag, keys and values of both in turn. In bf16 what several blocks add to
// is rounded after each.
TYPED_TEST(DropoutBlocks, AttentionEqualsTheCpuTwin) {
  const AttentionShape shape{2, 8, 4, 2, 3};
  const auto [B, T, H, K, D] = shape;
  const std::int64_t A = (H + 2 * K) * D;
  const AttentionDropout of{make_dropout(0.3, seed()), 1, 2, H + 3, 2 * T};
  const TokenRuns own{2, {0, 12}}, other{2, {4, 8}};
  const Floats qkv = random_stored<TypeParam>(B * T * A);
  const Floats keys[2] = {random_stored<TypeParam>(B * T * A), random_stored<TypeParam>(B * T * A)};
  const Floats dcontext = random_stored<TypeParam>(B * T * H * D);
  Floats context(dcontext.size()), row_max(static_cast<std::size_t>(B * H * T)), row_sum = row_max;
  Floats scratch(static_cast<std::size_t>(block_attention_scratch(shape)));
  Floats dqkv(qkv.size()), dkeys[2] = {Floats(qkv.size()), Floats(qkv.size())};
  auto qkv_ = on_device<TypeParam>(qkv);
  auto dcontext_ = on_device<TypeParam>(dcontext);
  auto context_ = on_device<TypeParam>(context);
  auto row_max_ = on_device<float>(row_max);
  auto row_sum_ = on_device<float>(row_sum);
  auto dqkv_ = on_device<TypeParam>(dqkv);
  for (int step = 0; step < 2; ++step) {
    const AttentionBlock block{shape, own, step == 0 ? own : other, A, step == 0, of};
    auto keys_ = on_device<TypeParam>(keys[step]);
    block_attention_forward_cpu(context.data(), row_max.data(), row_sum.data(), scratch.data(),
                                qkv.data(), keys[step].data() + H * D, block);
    ASSERT_EQ(block_attention_forward<TypeParam>(context_.data(), row_max_.data(), row_sum_.data(),
                                                 qkv_.data(), keys_.data() + H * D, block, nullptr),
              cudaSuccess);
    EXPECT_LE(difference(context_.floats(), context), bound<TypeParam>(1 + step));
  }
  block_attention_finish_cpu(context.data(), row_max.data(), row_sum.data(), shape);
  ASSERT_EQ(block_attention_finish<TypeParam>(context_.data(), row_max_.data(), row_sum_.data(),
                                              shape, nullptr),
            cudaSuccess);
  for (int step = 0; step < 2; ++step) {
    const AttentionBlock block{shape, own, step == 0 ? own : other, A, step == 0, of};
    auto keys_ = on_device<TypeParam>(keys[step]);
    auto dkeys_ = on_device<TypeParam>(dkeys[step]);
    block_attention_backward_cpu(dqkv.data(), dkeys[step].data() + H * D, scratch.data(),
                                 dcontext.data(), qkv.data(), keys[step].data() + H * D,
                                 context.data(), row_max.data(), block);
    ASSERT_EQ(block_attention_backward<TypeParam>(
                  dqkv_.data(), dkeys_.data() + H * D, dcontext_.data(), qkv_.data(),
                  keys_.data() + H * D, context_.data(), row_max_.data(), block, nullptr),
              cudaSuccess);
    EXPECT_LE(difference(dkeys_.floats(), dkeys[step]), bound<TypeParam>(4));
  }
  EXPECT_LE(difference(dqkv_.floats(), dqkv), bound<TypeParam>(5));
}

}  // namespace
}  // namespace parallelarium

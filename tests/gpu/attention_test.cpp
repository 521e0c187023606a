// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/attention.h"

#include "kernels/attention/fused_attention.h"
#include "kernels/base/grid_rows.h"
#include "kernels/gpu.h"
#include "kernels/products/gpu_matmul.h"
#include "tests/gpu/twin.h"

namespace parallelarium {
namespace {

using namespace twin;

// B, T, H, K, D: single elements, odd heads, shared key/value heads; D of 8 and more goes through
// tensor cores in bf16; 40 to 150 tokens are several tiles, the last of them not full.
constexpr AttentionShape kShapes[] = {{1, 1, 1, 1, 1},    {2, 3, 1, 1, 2},   {1, 7, 3, 3, 2},
                                      {2, 5, 4, 2, 3},    {1, 40, 2, 1, 8},  {2, 65, 2, 2, 16},
                                      {1, 150, 2, 1, 64}, {1, 70, 3, 1, 72}, {1, 129, 2, 2, 128},
                                      {1, 33, 1, 1, 130}, {2, 97, 4, 2, 24}};

template <class T>
struct Expected {
  explicit Expected(const AttentionShape& s)
      : qkv(random_stored<T>(s.B * s.T * (s.H + 2 * s.K) * s.D)),
        dcontext(random_stored<T>(s.B * s.T * s.H * s.D)),
        context(dcontext.size()),
        dqkv(qkv.size()),
        probabilities(static_cast<std::size_t>(s.B * s.H * s.T * s.T)) {
    Floats scratch(static_cast<std::size_t>(s.T * s.T));
    attention_forward_cpu(context.data(), probabilities.data(), qkv.data(), s);
    attention_backward_cpu(dqkv.data(), scratch.data(), dcontext.data(), qkv.data(),
                           probabilities.data(), s);
  }
  Floats qkv, dcontext, context, dqkv, probabilities;
};

template <class T>
class AttentionTwin : public OnGpu<testing::Test> {};
TYPED_TEST_SUITE(AttentionTwin, Storages);

TYPED_TEST(AttentionTwin, FusedEqualsTheUnfusedCpuTwin) {
  for (const AttentionShape& shape : kShapes)
    for (const std::size_t shift : {0, 1}) {  // off 16 bytes: no tensor cores
      if (!shift_matters<TypeParam>(shift, shape.T)) continue;
      SCOPED_TRACE(testing::Message() << "T " << shape.T << " H " << shape.H << " K " << shape.K
                                      << " D " << shape.D << " shift " << shift);
      const Expected<TypeParam> expected(shape);
      auto qkv = on_device<TypeParam>(expected.qkv, shift);
      auto dcontext = on_device<TypeParam>(expected.dcontext);
      auto context = on_device<TypeParam>(Floats(expected.context.size(), 7.0F));
      auto dqkv = on_device<TypeParam>(Floats(expected.qkv.size(), 7.0F), shift);
      auto lse = on_device<float>(filled(shape.B * shape.H * shape.T, 7));
      auto scratch = on_device<float>(filled(fused_attention_scratch(shape), 7));
      ASSERT_EQ(fused_attention_forward<TypeParam>(context.data(), lse.data(), qkv.data(), shape,
                                                   nullptr),
                cudaSuccess);
      ASSERT_EQ(fused_attention_backward<TypeParam>(dqkv.data(), scratch.data(), dcontext.data(),
                                                    qkv.data(), context.data(), lse.data(), shape,
                                                    nullptr),
                cudaSuccess);
      Floats cpu_context(expected.context.size());
      Floats cpu_lse(static_cast<std::size_t>(shape.B * shape.H * shape.T));
      Floats cpu_scratch(static_cast<std::size_t>(fused_attention_scratch(shape)));
      fused_attention_forward_cpu(cpu_context.data(), cpu_lse.data(), cpu_scratch.data(),
                                  expected.qkv.data(), shape);
      EXPECT_LE(relative_difference(lse.floats(), cpu_lse), bound<float>(0));
      // In bf16: probabilities and the result are rounded.
      EXPECT_LE(relative_difference(context.floats(), expected.context), bound<TypeParam>(2));
      // In bf16: the context in delta, P or dS, the result.
      if (shape.T > 1) {
        EXPECT_LE(relative_difference(dqkv.floats(), expected.dqkv), bound<TypeParam>(3));
      }
    }
}

// More heads than a grid has rows, of one token each, which attends to itself alone.
TYPED_TEST(AttentionTwin, FusedTakesAnyNumberOfSequences) {
  const AttentionShape shape{kMostGridRows / 2 + 2, 1, 2, 2, 8};
  const std::int64_t C = shape.H * shape.D, rows = shape.B * shape.H;
  const Floats qkv_values = random_stored<TypeParam>(shape.B * 3 * C);
  const Floats dcontext_values = random_stored<TypeParam>(shape.B * C);
  auto qkv = on_device<TypeParam>(qkv_values);
  auto dcontext = on_device<TypeParam>(dcontext_values);
  auto context = on_device<TypeParam>(filled(shape.B * C, 7));
  auto dqkv = on_device<TypeParam>(filled(shape.B * 3 * C, 7));
  auto lse = on_device<float>(filled(rows, 7));
  auto scratch = on_device<float>(filled(fused_attention_scratch(shape), 7));
  ASSERT_EQ(
      fused_attention_forward<TypeParam>(context.data(), lse.data(), qkv.data(), shape, nullptr),
      cudaSuccess);
  ASSERT_EQ(
      fused_attention_backward<TypeParam>(dqkv.data(), scratch.data(), dcontext.data(), qkv.data(),
                                          context.data(), lse.data(), shape, nullptr),
      cudaSuccess);
  const Floats out = context.floats(), gradient = dqkv.floats();
  const auto part_of = [C](const Floats& all, std::int64_t token, std::int64_t part) {
    const auto from = all.begin() + token * 3 * C + part * C;
    return Floats(from, from + C);
  };
  for (std::int64_t token = 0; token < shape.B; ++token) {
    const Floats own(out.begin() + token * C, out.begin() + (token + 1) * C);
    const Floats slope(dcontext_values.begin() + token * C,
                       dcontext_values.begin() + (token + 1) * C);
    ASSERT_LE(difference(own, part_of(qkv_values, token, 2)), bound<TypeParam>(1)) << token;
    ASSERT_LE(difference(part_of(gradient, token, 2), slope), bound<TypeParam>(1)) << token;
    for (const std::int64_t part : {0, 1}) {  // no score to change
      ASSERT_LE(difference(part_of(gradient, token, part), Floats(slope.size(), 0.0F)),
                bound<TypeParam>(2))
          << token;
    }
  }
}

TYPED_TEST(AttentionTwin, UnfusedEqualsTheCpuTwinWithAnyScratch) {
  for (const AttentionShape& shape : kShapes)
    for (const std::int64_t heads : {std::int64_t{1}, std::int64_t{2}}) {
      const Expected<TypeParam> expected(shape);
      constexpr std::size_t kBytes = 4 << 20;
      auto space = workspace(kBytes);
      GpuMatmul matmul(space.data(), kBytes, false);
      auto qkv = on_device<TypeParam>(expected.qkv);
      auto dcontext = on_device<TypeParam>(expected.dcontext);
      auto context = on_device<TypeParam>(Floats(expected.context.size(), 7.0F));
      auto dqkv = on_device<TypeParam>(Floats(expected.qkv.size(), 7.0F));
      auto probabilities = on_device<TypeParam>(Floats(expected.probabilities.size(), 7.0F));
      auto scratch = on_device<TypeParam>(filled(heads * shape.T * shape.T, 7));
      ASSERT_EQ(attention_forward<TypeParam>(matmul, context.data(), probabilities.data(),
                                             qkv.data(), shape, nullptr),
                CUBLAS_STATUS_SUCCESS);
      ASSERT_EQ(
          attention_backward<TypeParam>(matmul, dqkv.data(), scratch.data(), heads, dcontext.data(),
                                        qkv.data(), probabilities.data(), shape, nullptr),
          CUBLAS_STATUS_SUCCESS);
      // In bf16: scores, which are at most D, and the probabilities.
      const double score = std::sqrt(static_cast<double>(shape.D));
      EXPECT_LE(relative_difference(probabilities.floats(), expected.probabilities),
                bound<TypeParam>(1 + score));
      EXPECT_LE(relative_difference(context.floats(), expected.context),
                bound<TypeParam>(2 + score));
      if (shape.T > 1) {
        EXPECT_LE(relative_difference(dqkv.floats(), expected.dqkv), bound<TypeParam>(4 + score));
      }
    }
}

TYPED_TEST(AttentionTwin, TheTurnEqualsTheCpuTwinBothWays) {
  // Single pairs, whole packs, more pairs than a block's, more rows than a block turns at once.
  for (const AttentionShape shape : {AttentionShape{1, 1, 1, 1, 2},
                                     {2, 5, 4, 2, 6},
                                     {3, 3, 1, 1, 24},
                                     {2, 7, 2, 2, 160},
                                     {1, 200, 3, 1, 64},
                                     {9, 2, 5, 1, 64}})
    for (const Turn turn : {Turn::kForward, Turn::kBack}) {
      Floats qkv = random_stored<TypeParam>(shape.B * shape.T * (shape.H + 2 * shape.K) * shape.D);
      auto qkv_ = on_device<TypeParam>(qkv);
      rotary_cpu(qkv.data(), turn, shape);
      ASSERT_EQ(rotary<TypeParam>(qkv_.data(), turn, shape, nullptr), cudaSuccess);
      EXPECT_LE(relative_difference(qkv_.floats(), qkv), bound<TypeParam>(1));
    }
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/launch.h"
#include "kernels/gpu.h"
#include "kernels/vocabulary/cross_entropy.h"
#include "kernels/vocabulary/embedding.h"
#include "tests/gpu/twin.h"

namespace parallelarium {
namespace {

using namespace twin;

template <class T>
class Loss : public OnGpu<testing::Test> {};
TYPED_TEST_SUITE(Loss, Storages);

// The vocabulary in one piece, and cut in two at an odd place as ranks would hold it; the largest
// takes a block several turns. Rows as far apart as in a run, then without gaps at an odd address.
TYPED_TEST(Loss, ThePartsEqualTheCpuTwinWhoeverHoldsTheTarget) {
  for (const std::int64_t N : {1, 5})
    for (const std::int64_t V : {2, 7, 65, 4099, 25001})
      for (const auto& [first, pitch] : {std::pair{std::int64_t{0}, V},
                                         {V / 2, V},
                                         {std::int64_t{0}, (V + 7) / 8 * 8},
                                         {V / 2, (V + 7) / 8 * 8}}) {
        const Floats logits = random_stored<TypeParam>(N * pitch);
        const auto targets = random_tokens(N, V + first);
        const auto rows = static_cast<std::size_t>(N);
        Floats row_max(rows), sum_exp(rows), target_logit(rows);
        Floats grad = logits;
        double loss_sum_ = 1.5;
        loss_max_cpu(row_max.data(), logits.data(), N, V, pitch);
        parallelarium::loss_sum_cpu(sum_exp.data(), target_logit.data(), logits.data(),
                                    row_max.data(), targets.data(), N, V, first, pitch);
        loss_cpu(&loss_sum_, row_max.data(), sum_exp.data(), target_logit.data(), N);
        loss_grad_cpu(grad.data(), row_max.data(), sum_exp.data(), targets.data(), 0.25F, N, V,
                      first, pitch);
        auto logits_ = on_device<TypeParam>(logits, pitch == V ? 1 : 0);
        DeviceArray<std::int32_t> targets_(targets);
        auto max_ = on_device<float>(filled(N, 7));
        auto sum_ = on_device<float>(filled(N, 7));
        auto target_ = on_device<float>(filled(N, 7));
        DeviceArray<double> total(std::vector<double>{1.5});
        ASSERT_EQ(loss_max<TypeParam>(max_.data(), logits_.data(), N, V, nullptr, pitch),
                  cudaSuccess);
        ASSERT_EQ(loss_sum<TypeParam>(sum_.data(), target_.data(), logits_.data(), max_.data(),
                                      targets_.data(), N, V, first, nullptr, pitch),
                  cudaSuccess);
        if (first == 0) {
          auto own_max = on_device<float>(filled(N, 7));
          auto own_sum = on_device<float>(filled(N, 7));
          auto own_target = on_device<float>(filled(N, 7));
          ASSERT_EQ(loss_max_sum<TypeParam>(own_max.data(), own_sum.data(), own_target.data(),
                                            logits_.data(), targets_.data(), N, V, nullptr, pitch),
                    cudaSuccess);
          EXPECT_EQ(own_max.host(), row_max);
          EXPECT_EQ(own_target.host(), target_logit);
          EXPECT_LE(relative_difference(own_sum.host(), sum_exp), bound<float>(0));
        }
        ASSERT_EQ(loss(total.data(), max_.data(), sum_.data(), target_.data(), N, nullptr),
                  cudaSuccess);
        EXPECT_EQ(max_.host(), row_max);
        EXPECT_EQ(target_.host(), target_logit);
        EXPECT_LE(relative_difference(sum_.host(), sum_exp), bound<float>(0));
        EXPECT_NEAR(total.host()[0], loss_sum_, bound<float>(0) * std::abs(loss_sum_) + 1e-6);
        ASSERT_EQ(loss_grad<TypeParam>(logits_.data(), max_.data(), sum_.data(), targets_.data(),
                                       0.25F, N, V, first, nullptr, pitch),
                  cudaSuccess);
        // exp is good to a few units in the last place on either side.
        EXPECT_LE(relative_difference(logits_.floats(), grad), bound<TypeParam>(1) + 1e-6);
      }
}

template <class T>
class EmbeddingTwin : public OnGpu<testing::Test> {};
TYPED_TEST_SUITE(EmbeddingTwin, Storages);

TYPED_TEST(EmbeddingTwin, ForwardEqualsTheCpuTwinToTheBit) {
  for (const std::int64_t C : {1, 7, 64, 1032}) {
    constexpr std::int64_t N = 6;
    constexpr std::int64_t V = 11;
    const auto tokens = random_tokens(N, V);
    const auto table = stored<TypeParam>(random(V * C));
    const auto positions = stored<TypeParam>(random(3 * C));
    std::vector<TypeParam> x(static_cast<std::size_t>(N * C));
    DeviceArray<std::int32_t> tokens_(tokens);
    DeviceArray<TypeParam> table_(table);
    DeviceArray<TypeParam> positions_(positions);
    DeviceArray<TypeParam> x_(x);
    for (const bool learned : {true, false}) {
      embedding_forward_cpu(x.data(), tokens.data(), table.data(),
                            learned ? positions.data() : nullptr, N, 3, C);
      ASSERT_EQ(
          embedding_forward<TypeParam>(x_.data(), tokens_.data(), table_.data(),
                                       learned ? positions_.data() : nullptr, N, 3, C, nullptr),
          cudaSuccess);
      EXPECT_EQ(x_.floats(), widened(x));
    }
  }
}

// 1024 tokens are one sorted block, 1025 two, 5000 need three turns of merging. Runs of a token end
// before, at, and after the rows that a thread asks for at once; rows are wide in one storage, both
// or none, shorter than a block and longer.
TYPED_TEST(EmbeddingTwin, GradientAddsInTheOrderOfTheTokens) {
  for (const auto [N, V, C] : {std::array<std::int64_t, 3>{1, 1, 1},
                               {7, 2, 5},
                               {1024, 40, 3},
                               {1025, 3, 2},
                               {5000, 300, 9},
                               {60, 7, 200},
                               {8, 1, 8},
                               {16, 1, 12},
                               {17, 1, 64},
                               {1030, 3, 4},
                               {33, 5, 1032},
                               {40, 6, 2056}}) {
    const std::int64_t T = N % 5 == 0 ? N / 5 : N;
    const auto tokens = random_tokens(N, V);
    const Floats dx = random_stored<TypeParam>(N * C);
    Floats dtable = random_stored<TypeParam>(V * C);
    Floats dpositions = random_stored<TypeParam>(T * C);
    DeviceArray<std::int32_t> tokens_(tokens);
    auto dx_ = on_device<TypeParam>(dx);
    auto dtable_ = on_device<TypeParam>(dtable);
    auto dpositions_ = on_device<TypeParam>(dpositions);
    auto main_table = on_device<float>(dtable);
    auto main_positions = on_device<float>(dpositions);
    auto space = workspace(embedding_grad_workspace(static_cast<std::size_t>(N)));
    embedding_grad_cpu(dtable.data(), dpositions.data(), dx.data(), tokens.data(), N, T, C);
    ASSERT_EQ(
        (embedding_grad<TypeParam, TypeParam>(dtable_.data(), dpositions_.data(), dx_.data(),
                                              tokens_.data(), space.data(), N, T, C, nullptr)),
        cudaSuccess);
    ASSERT_EQ(
        (embedding_grad<float, TypeParam>(main_table.data(), main_positions.data(), dx_.data(),
                                          tokens_.data(), space.data(), N, T, C, nullptr)),
        cudaSuccess);
    EXPECT_EQ(main_table.host(), dtable);  // the same additions in the same order
    EXPECT_EQ(main_positions.host(), dpositions);
    EXPECT_EQ(dtable_.floats(), widened(stored<TypeParam>(dtable)));
    EXPECT_EQ(dpositions_.floats(), widened(stored<TypeParam>(dpositions)));
  }
}

}  // namespace
}  // namespace parallelarium

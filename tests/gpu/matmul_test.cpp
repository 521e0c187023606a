// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "kernels/products/gpu_matmul.h"
#include "kernels/products/linear.h"
#include "tests/gpu/twin.h"

namespace parallelarium {
namespace {

using namespace twin;

template <class T>
class LinearTwin : public OnGpu<testing::Test> {};
TYPED_TEST_SUITE(LinearTwin, Storages);

constexpr std::size_t kBytes = 4 << 20;

Floats magnitudes(Floats of) {
  for (float& value : of) value = std::abs(value);
  return of;
}
// What a forward adds up, without signs.
Floats magnitudes_of(const Floats& x, const Floats& w, const Floats* b, std::int64_t N,
                     std::int64_t M, std::int64_t K) {
  Floats sums(static_cast<std::size_t>(N * M));
  const Floats bias = b != nullptr ? magnitudes(*b) : Floats();
  linear_forward_cpu(sums.data(), magnitudes(x).data(), magnitudes(w).data(),
                     b != nullptr ? bias.data() : nullptr, N, M, K);
  return sums;
}
// How far apart the first two are, as share of the third.
double apart(const Floats& a, const Floats& b, const Floats& of) {
  double difference = 0, size = 0;
  for (std::size_t at = 0; at < of.size(); ++at) {
    difference += std::pow(double{a[at]} - double{b[at]}, 2);
    size += std::pow(double{of[at]}, 2);
  }
  return std::sqrt(difference / size);
}

TYPED_TEST(LinearTwin, ForwardAndGradientsEqualTheCpuTwin) {
  auto space = workspace(kBytes);
  GpuMatmul matmul(space.data(), kBytes, false);
  for (const auto [N, M, K] :
       {std::array<std::int64_t, 3>{1, 1, 1}, {3, 5, 7}, {16, 24, 8}, {65, 33, 17}, {64, 96, 128}})
    for (const bool with_bias : {true, false}) {
      const Floats x = random_stored<TypeParam>(N * K);
      const Floats w = random_stored<TypeParam>(M * K);
      const Floats b = random_stored<TypeParam>(M);
      const Floats dy = random_stored<TypeParam>(N * M);
      Floats dw = random_stored<TypeParam>(M * K);
      Floats y(static_cast<std::size_t>(N * M));
      Floats dx(x.size());
      auto x_ = on_device<TypeParam>(x);
      auto w_ = on_device<TypeParam>(w);
      auto b_ = on_device<TypeParam>(b);
      auto dy_ = on_device<TypeParam>(dy);
      auto dw_ = on_device<TypeParam>(dw);
      auto main_dw = on_device<float>(dw);
      auto y_ = on_device<TypeParam>(filled(N * M, 7));
      auto dx_ = on_device<TypeParam>(filled(N * K, 7));
      linear_forward_cpu(y.data(), x.data(), w.data(), with_bias ? b.data() : nullptr, N, M, K);
      linear_input_grad_cpu(dx.data(), dy.data(), w.data(), N, M, K);
      linear_weight_grad_cpu(dw.data(), nullptr, dy.data(), x.data(), N, M, K);
      ASSERT_EQ(linear_forward<TypeParam>(matmul, y_.data(), x_.data(), w_.data(),
                                          with_bias ? b_.data() : nullptr, N, M, K, nullptr),
                CUBLAS_STATUS_SUCCESS);
      ASSERT_EQ(
          linear_input_grad<TypeParam>(matmul, dx_.data(), dy_.data(), w_.data(), N, M, K, nullptr),
          CUBLAS_STATUS_SUCCESS);
      ASSERT_EQ((linear_weight_grad<TypeParam, TypeParam>(matmul, dw_.data(), dy_.data(), x_.data(),
                                                          N, M, K, nullptr)),
                CUBLAS_STATUS_SUCCESS);
      ASSERT_EQ((linear_weight_grad<float, TypeParam>(matmul, main_dw.data(), dy_.data(), x_.data(),
                                                      N, M, K, nullptr)),
                CUBLAS_STATUS_SUCCESS);
      // Beside a bias that cancels a product, the rounding of the product is no small one.
      const Floats summed = magnitudes_of(x, w, with_bias ? &b : nullptr, N, M, K);
      EXPECT_LE(apart(y_.floats(), y, summed), bound<TypeParam>(1));
      EXPECT_LE(relative_difference(dx_.floats(), dx), bound<TypeParam>(1));
      EXPECT_LE(relative_difference(dw_.floats(), dw), bound<TypeParam>(1));
      EXPECT_LE(relative_difference(main_dw.floats(), dw), bound<float>(0));
    }
}

// As logits lie, so that their rows begin at multiples of 16 bytes however many they are. Products
// of tensor cores are cut where they are odd; of the gradient of the input, the rest is rounded
// once more.
TYPED_TEST(LinearTwin, RowsOfTheOutputMayBeApart) {
  auto space = workspace(kBytes);
  for (const std::int64_t cut_from : {std::int64_t{0}, std::int64_t{1} << 30})
    for (const auto [N, M, K, pitch] : {std::array<std::int64_t, 4>{1, 1, 1, 8},
                                        {3, 5, 7, 8},
                                        {16, 24, 8, 24},
                                        {65, 33, 17, 40},
                                        {40, 257, 96, 264},
                                        {128, 50257, 16, 50264}}) {
      GpuMatmul matmul(space.data(), kBytes, false, cut_from);
      const Floats x = random_stored<TypeParam>(N * K);
      const Floats w = random_stored<TypeParam>(M * K);
      Floats dy = random_stored<TypeParam>(N * pitch);
      for (std::int64_t n = 0; n < N; ++n)  // not made use of, not even times zero
        for (std::int64_t m = M; m < pitch; ++m)
          dy[static_cast<std::size_t>(n * pitch + m)] = std::numeric_limits<float>::quiet_NaN();
      Floats dw = random_stored<TypeParam>(M * K);
      Floats y = filled(N * pitch, 7);
      Floats dx(x.size());
      auto x_ = on_device<TypeParam>(x);
      auto w_ = on_device<TypeParam>(w);
      auto dy_ = on_device<TypeParam>(dy);
      auto dw_ = on_device<TypeParam>(dw);
      auto y_ = on_device<TypeParam>(y);
      auto dx_ = on_device<TypeParam>(filled(N * K, 7));
      linear_forward_cpu(y.data(), x.data(), w.data(), nullptr, N, M, K, pitch);
      linear_input_grad_cpu(dx.data(), dy.data(), w.data(), N, M, K, pitch);
      linear_weight_grad_cpu(dw.data(), nullptr, dy.data(), x.data(), N, M, K, pitch);
      const TypeParam* const no_bias = nullptr;
      ASSERT_EQ(linear_forward<TypeParam>(matmul, y_.data(), x_.data(), w_.data(), no_bias, N, M, K,
                                          nullptr, pitch),
                CUBLAS_STATUS_SUCCESS);
      ASSERT_EQ(linear_input_grad<TypeParam>(matmul, dx_.data(), dy_.data(), w_.data(), N, M, K,
                                             nullptr, pitch),
                CUBLAS_STATUS_SUCCESS);
      ASSERT_EQ((linear_weight_grad<TypeParam, TypeParam>(matmul, dw_.data(), dy_.data(), x_.data(),
                                                          N, M, K, nullptr, pitch)),
                CUBLAS_STATUS_SUCCESS);
      EXPECT_LE(relative_difference(y_.floats(), y), bound<TypeParam>(1));
      EXPECT_LE(relative_difference(dx_.floats(), dx), bound<TypeParam>(1));
      EXPECT_LE(relative_difference(dw_.floats(), dw), bound<TypeParam>(1));
    }
}

TYPED_TEST(LinearTwin, AddressesMayBeOddAndAKeptPlanServesEachAlignment) {
  auto space = workspace(kBytes);
  GpuMatmul matmul(space.data(), kBytes, false);
  constexpr std::int64_t N = 20;
  constexpr std::int64_t M = 12;
  constexpr std::int64_t K = 36;
  const Floats x = random_stored<TypeParam>(N * K);
  const Floats w = random_stored<TypeParam>(M * K);
  const Floats b = random_stored<TypeParam>(M);
  Floats y(static_cast<std::size_t>(N * M));
  linear_forward_cpu(y.data(), x.data(), w.data(), b.data(), N, M, K);
  // In the last two the bias alone is odd, and it alone is not.
  for (const auto& [shift, bias_shift] : {std::pair<std::size_t, std::size_t>{0, 0},
                                          {1, 1},
                                          {8, 8},
                                          {3, 3},
                                          {0, 0},
                                          {0, 1},
                                          {1, 0}}) {
    auto x_ = on_device<TypeParam>(x, shift);
    auto w_ = on_device<TypeParam>(w, shift);
    auto b_ = on_device<TypeParam>(b, bias_shift);
    auto y_ = on_device<TypeParam>(filled(N * M, 7), shift);
    ASSERT_EQ(linear_forward<TypeParam>(matmul, y_.data(), x_.data(), w_.data(), b_.data(), N, M, K,
                                        nullptr),
              CUBLAS_STATUS_SUCCESS);
    EXPECT_LE(relative_difference(y_.floats(), y), bound<TypeParam>(1));
  }
}

}  // namespace
}  // namespace parallelarium

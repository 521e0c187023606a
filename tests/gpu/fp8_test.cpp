// SPDX-License-Identifier: Apache-2.0
// What GPUs copy into FP8, number by number, and what they multiply of it, beside the CPU twin.
#include "kernels/base/fp8.h"

#include <limits>

#include "kernels/gpu.h"
#include "kernels/products/fp8_linear.h"
#include "kernels/products/gpu_matmul.h"
#include "tests/gpu/twin.h"

namespace parallelarium {
namespace {

using namespace twin;

template <class F>
class Fp8CastTwin : public OnGpu<testing::Test> {};
using Formats = testing::Types<E4m3, E5m2>;
TYPED_TEST_SUITE(Fp8CastTwin, Formats);

template <class F>
std::vector<std::uint8_t> expected(const std::vector<Bf16>& values, Fp8Scale& scale) {
  std::uint32_t largest = 0;
  for (const Bf16 value : values)
    largest = std::max<std::uint32_t>(largest, (value.bits & 0x7FFFU) << 16);
  scale = fp8_scale<F>(largest);
  std::vector<std::uint8_t> codes;
  for (const Bf16 value : values) codes.push_back(round_to_fp8<F>(widen(value) * scale.scale).bits);
  return codes;
}
template <class F>
bool same(std::uint8_t a, std::uint8_t b) {
  return a == b || (std::isnan(widen(F{a})) && std::isnan(widen(F{b})));
}

// `shift`: where the operand begins, in elements past a multiple of 256 bytes.
template <class F>
void compare_casts(const std::vector<Bf16>& values, std::int64_t rows, std::int64_t columns,
                   std::size_t shift) {
  Fp8Scale scale;
  const std::vector<std::uint8_t> codes = expected<F>(values, scale);
  DeviceArray<Bf16> from(values, shift);
  auto parts = workspace(kFp8Parts * 4);
  DeviceArray<float> inverse(Floats{7, 7});
  DeviceArray<std::uint8_t> to(std::vector<std::uint8_t>(codes.size(), 0xEE));
  ASSERT_EQ(cast_fp8(reinterpret_cast<F*>(to.data()), inverse.data(), parts.data(), from.data(),
                     rows, columns, 0, nullptr),
            cudaSuccess);
  EXPECT_EQ(inverse.host(), (Floats{scale.inverse, 7}));
  const std::vector<std::uint8_t> got = to.host();
  for (std::size_t i = 0; i < codes.size(); ++i)
    ASSERT_TRUE(same<F>(got[i], codes[i])) << i << " " << widen(values[i]);

  const std::int64_t pitch = fp8_padded(rows);
  DeviceArray<std::uint8_t> turned(
      std::vector<std::uint8_t>(static_cast<std::size_t>(columns * pitch), 0xEE));
  ASSERT_EQ(cast_fp8(reinterpret_cast<F*>(turned.data()), inverse.data() + 1, parts.data(),
                     from.data(), rows, columns, pitch, nullptr),
            cudaSuccess);
  EXPECT_EQ(inverse.host(), (Floats{scale.inverse, scale.inverse}));
  const std::vector<std::uint8_t> other = turned.host();
  for (std::int64_t column = 0; column < columns; ++column)
    for (std::int64_t row = 0; row < pitch; ++row) {
      const std::uint8_t at = other[static_cast<std::size_t>(column * pitch + row)];
      const std::uint8_t there =
          row < rows ? got[static_cast<std::size_t>(row * columns + column)] : 0;
      ASSERT_EQ(at, there) << row << " " << column;
    }
}

TYPED_TEST(Fp8CastTwin, EveryNumberOfBf16IsRoundedAsTheTwinRoundsIt) {
  std::vector<Bf16> values;
  for (unsigned bits = 0; bits < 65536; ++bits)
    values.push_back({static_cast<std::uint16_t>(bits)});
  compare_casts<TypeParam>(values, 256, 256, 0);  // with its NaNs: the scale is 1
  for (const float largest : {1.0F, 0.7F, 448.0F, 60000.0F, 3e38F, 1e-38F}) {
    std::vector<Bf16> smaller;
    for (const Bf16 value : values)
      smaller.push_back(std::abs(widen(value)) <= largest ? value : round_to_bf16(largest));
    compare_casts<TypeParam>(smaller, 256, 256, 0);
  }
}

TYPED_TEST(Fp8CastTwin, TurnedCopiesAreTheSameAndPaddedWithZeros) {
  for (const auto& [rows, columns] : {std::array<std::int64_t, 2>{1, 16},
                                      {3, 16},
                                      {16, 16},
                                      {17, 48},
                                      {64, 64},
                                      {65, 80},
                                      {130, 208}})
    for (const std::size_t shift : {0, 1, 8})
      compare_casts<TypeParam>(stored<Bf16>(random(rows * columns)), rows, columns, shift);
}

TYPED_TEST(Fp8CastTwin, ZerosAreZerosWithAScaleOfOne) {
  compare_casts<TypeParam>(std::vector<Bf16>(48 * 32), 48, 32, 0);
}

class Fp8LinearTwin : public OnGpu<testing::Test> {
 protected:
  // cuBLASLt multiplies FP8 from compute capability 8.9 on.
  void SetUp() override {
    OnGpu<testing::Test>::SetUp();
    if (IsSkipped()) return;
    int major = 0, minor = 0;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, 0);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, 0);
    if (10 * major + minor < 89) GTEST_SKIP() << "this GPU multiplies no FP8";
  }
};

// Tensor cores of Hopper add up FP8 with fewer bits than fp32 has between the sums that they keep.
constexpr double kFp8Sums = 1e-3;

TEST_F(Fp8LinearTwin, ForwardAndGradientsEqualTheCpuTwin) {
  constexpr std::size_t kBytes = 32 << 20;
  auto space = workspace(kBytes);
  GpuMatmul matmul(space.data(), kBytes, false);
  for (const auto& [N, M, K] : {std::array<std::int64_t, 3>{1, 16, 16},
                                {7, 32, 48},
                                {16, 48, 16},
                                {65, 64, 80},
                                {128, 96, 128}})
    for (const bool with_bias : {true, false}) {
      const Floats x = random_stored<Bf16>(N * K), w = random_stored<Bf16>(M * K);
      const Floats b = random_stored<Bf16>(M), dy = random_stored<Bf16>(N * M);
      const Floats dw = random_stored<Bf16>(M * K);
      auto copies = workspace(static_cast<std::size_t>(fp8_workspace(N, M, K)));
      auto x_ = on_device<Bf16>(x);
      auto w_ = on_device<Bf16>(w);
      auto b_ = on_device<Bf16>(b);
      auto dy_ = on_device<Bf16>(dy);
      auto dw_ = on_device<Bf16>(dw);
      auto main_dw = on_device<float>(dw);
      auto y_ = on_device<Bf16>(filled(N * M, 7));
      auto dx_ = on_device<Bf16>(filled(N * K, 7));
      const Bf16* const bias = with_bias ? b_.data() : nullptr;
      ASSERT_EQ(fp8_linear_forward(matmul, y_.data(), x_.data(), w_.data(), bias, copies.data(), N,
                                   M, K, nullptr),
                CUBLAS_STATUS_SUCCESS);
      ASSERT_EQ(fp8_linear_input_grad(matmul, dx_.data(), dy_.data(), w_.data(), copies.data(), N,
                                      M, K, nullptr),
                CUBLAS_STATUS_SUCCESS);
      ASSERT_EQ(fp8_linear_weight_grad(matmul, dw_.data(), dy_.data(), x_.data(), copies.data(), N,
                                       M, K, nullptr),
                CUBLAS_STATUS_SUCCESS);
      ASSERT_EQ(fp8_linear_weight_grad(matmul, main_dw.data(), dy_.data(), x_.data(), copies.data(),
                                       N, M, K, nullptr),
                CUBLAS_STATUS_SUCCESS);
      const auto xs = stored<Bf16>(x), ws = stored<Bf16>(w), bs = stored<Bf16>(b);
      const auto dys = stored<Bf16>(dy);
      std::vector<Bf16> y(dys.size()), dx(xs.size());
      Floats sums = dw;
      fp8_linear_forward_cpu(y.data(), xs.data(), ws.data(), with_bias ? bs.data() : nullptr, N, M,
                             K);
      fp8_linear_input_grad_cpu(dx.data(), dys.data(), ws.data(), N, M, K);
      fp8_linear_weight_grad_cpu(sums.data(), static_cast<float*>(nullptr), dys.data(), xs.data(),
                                 N, M, K);
      EXPECT_LE(relative_difference(y_.floats(), widened(y)), kFp8Sums + bound<Bf16>(1));
      EXPECT_LE(relative_difference(dx_.floats(), widened(dx)), kFp8Sums + bound<Bf16>(1));
      EXPECT_LE(relative_difference(dw_.floats(), sums), kFp8Sums + bound<Bf16>(1));
      EXPECT_LE(relative_difference(main_dw.floats(), sums), kFp8Sums + bound<float>(0));
    }
}

// Sums of ones are exact whatever the order and the bits of the sum.
TEST_F(Fp8LinearTwin, SumsOfOnesAreExact) {
  constexpr std::int64_t N = 48, M = 64, K = 96;
  auto space = workspace(4 << 20);
  GpuMatmul matmul(space.data(), 4 << 20, false);
  auto copies = workspace(static_cast<std::size_t>(fp8_workspace(N, M, K)));
  auto x = on_device<Bf16>(filled(N * K, 1));
  auto w = on_device<Bf16>(filled(M * K, 1));
  auto dy = on_device<Bf16>(filled(N * M, 1));
  auto y = on_device<Bf16>(filled(N * M, 7));
  auto dx = on_device<Bf16>(filled(N * K, 7));
  auto dw = on_device<float>(filled(M * K, 5));
  ASSERT_EQ(fp8_linear_forward(matmul, y.data(), x.data(), w.data(), nullptr, copies.data(), N, M,
                               K, nullptr),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(fp8_linear_input_grad(matmul, dx.data(), dy.data(), w.data(), copies.data(), N, M, K,
                                  nullptr),
            CUBLAS_STATUS_SUCCESS);
  ASSERT_EQ(fp8_linear_weight_grad(matmul, dw.data(), dy.data(), x.data(), copies.data(), N, M, K,
                                   nullptr),
            CUBLAS_STATUS_SUCCESS);
  EXPECT_LE(relative_difference(y.floats(), filled(N * M, K)), 1e-6);
  EXPECT_LE(relative_difference(dx.floats(), filled(N * K, M)), 1e-6);
  EXPECT_LE(relative_difference(dw.floats(), filled(M * K, N + 5)), 1e-6);
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "kernels/base/fp8.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kernels/products/fp8_linear.h"
#include "tests/kernels/bf16_kernels.h"
#include "tests/kernels/reference.h"

namespace parallelarium {
namespace {

// By Micikevicius et al. 2022, Table 1: (-1)^s 2^(e - bias) 1.m, or 2^(1 - bias) 0.m where e is 0.
struct Written {
  int exponent_bits, bias;
  bool has_infinity;
};
template <class F>
constexpr Written written() {
  return sizeof(F) == 1 && Fp8Format<F>::kSignificand == 3 ? Written{4, 7, false}
                                                           : Written{5, 15, true};
}
template <class F>
double value_of(unsigned code) {
  const auto [exponent_bits, bias, has_infinity] = written<F>();
  const int significand_bits = 7 - exponent_bits;
  const int e = static_cast<int>(code >> significand_bits) & ((1 << exponent_bits) - 1);
  const int m = static_cast<int>(code) & ((1 << significand_bits) - 1);
  const double sign = (code & 0x80) != 0 ? -1 : 1;
  const bool last = e == (1 << exponent_bits) - 1;
  const bool all = m == (1 << significand_bits) - 1;
  if (has_infinity && last)
    return m == 0 ? sign * HUGE_VAL : std::numeric_limits<double>::quiet_NaN();
  if (!has_infinity && last && all) return std::numeric_limits<double>::quiet_NaN();
  const double fraction = std::ldexp(m, -significand_bits);
  return sign * (e == 0 ? std::ldexp(fraction, 1 - bias) : std::ldexp(1 + fraction, e - bias));
}

template <class F>
class Fp8 : public testing::Test {};
using Formats = testing::Types<E4m3, E5m2>;
TYPED_TEST_SUITE(Fp8, Formats);

TYPED_TEST(Fp8, EveryOfThe256CodesIsWhatItsFormatSaysAndComesBack) {
  for (unsigned code = 0; code < 256; ++code) {
    const TypeParam number{static_cast<std::uint8_t>(code)};
    const double value = value_of<TypeParam>(code);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(widen(number))) << code;
      continue;
    }
    EXPECT_EQ(double{widen(number)}, value) << code;
    EXPECT_EQ(double{widen(round_to_bf16(widen(number)))}, value) << code << ": not in bf16";
    if (std::isinf(value)) continue;
    EXPECT_EQ(round_to_fp8<TypeParam>(static_cast<float>(value)).bits, code);
  }
  EXPECT_EQ((value_of<TypeParam>(Fp8Format<TypeParam>::kLargestBits)),
            double{Fp8Format<TypeParam>::kLargest});
}

// Between every number and the next: the middle goes to the even code, its neighbours in fp32 to
// the nearer one.
TYPED_TEST(Fp8, RoundsToTheNearestAndTiesToEven) {
  for (unsigned sign : {0U, 0x80U})
    for (unsigned low = 0; low < Fp8Format<TypeParam>::kLargestBits; ++low) {
      const auto middle =
          static_cast<float>((value_of<TypeParam>(low) + value_of<TypeParam>(low + 1)) / 2);
      const float s = sign != 0 ? -1.0F : 1.0F;
      EXPECT_EQ(round_to_fp8<TypeParam>(s * std::nextafter(middle, 0.0F)).bits, sign | low);
      EXPECT_EQ(round_to_fp8<TypeParam>(s * std::nextafter(middle, 1e30F)).bits, sign | (low + 1));
      EXPECT_EQ(round_to_fp8<TypeParam>(s * middle).bits, sign | (low + low % 2));
    }
}

TYPED_TEST(Fp8, WhatIsTooLargeStaysAtTheLargestAndANaNStaysOne) {
  const std::uint8_t largest = Fp8Format<TypeParam>::kLargestBits;
  for (const float value :
       {Fp8Format<TypeParam>::kLargest, 1.0001F * Fp8Format<TypeParam>::kLargest, 1e30F,
        std::numeric_limits<float>::infinity()}) {
    EXPECT_EQ(round_to_fp8<TypeParam>(value).bits, largest);
    EXPECT_EQ(round_to_fp8<TypeParam>(-value).bits, largest | 0x80);
  }
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(widen(round_to_fp8<TypeParam>(nan))));
  EXPECT_TRUE(std::isnan(widen(round_to_fp8<TypeParam>(-nan))));
  EXPECT_EQ(round_to_fp8<TypeParam>(0.0F).bits, 0);
  EXPECT_EQ(round_to_fp8<TypeParam>(std::numeric_limits<float>::denorm_min()).bits, 0);
}

TYPED_TEST(Fp8, TheScaleTakesTheLargestNumberToTheFormatsOwn) {
  const auto scale_for = [](float largest) {
    return fp8_scale<TypeParam>(std::bit_cast<std::uint32_t>(largest));
  };
  for (const float largest : {1.0F, 0.3F, 7e-5F, 1e30F, 3e-30F}) {
    const Fp8Scale scale = scale_for(largest);
    EXPECT_EQ(round_to_fp8<TypeParam>(largest * scale.scale).bits,
              Fp8Format<TypeParam>::kLargestBits);
    EXPECT_NEAR(scale.scale * scale.inverse, 1, 1e-6);
  }
  for (const float unscaled :
       {0.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    EXPECT_EQ(scale_for(unscaled).scale, 1);
    EXPECT_EQ(scale_for(unscaled).inverse, 1);
  }
  // The smallest numbers of bf16: the scale and its inverse stay normal numbers.
  const Fp8Scale scale = scale_for(std::bit_cast<float>(0x10000U));
  EXPECT_TRUE(std::isnormal(scale.scale) && std::isnormal(scale.inverse));
}

using Bf16s = std::vector<Bf16>;
Bf16s random_bf16(std::int64_t count, unsigned seed, float size) {
  reference::Floats values = reference::random_floats(count, seed);
  Bf16s stored(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) stored[i] = round_to_bf16(size * values[i]);
  return stored;
}
// What a tensor stands for once it is in FP8: the nearest of all 127 sizes, by trying each.
template <class F>
std::vector<double> in_fp8(const Bf16s& values) {
  double largest = 0;
  for (const Bf16 value : values) largest = std::max(largest, std::abs(double{widen(value)}));
  const float scale = Fp8Format<F>::kLargest / static_cast<float>(largest);
  std::vector<double> result;
  for (const Bf16 value : values) {
    const double wanted = std::abs(double{widen(value) * scale});
    unsigned best = 0;
    for (unsigned code = 1; code <= Fp8Format<F>::kLargestBits; ++code) {
      const double nearer = std::abs(value_of<F>(code) - wanted),
                   near = std::abs(value_of<F>(best) - wanted);
      if (nearer < near || (nearer == near && code % 2 == 0)) best = code;
    }
    result.push_back(std::copysign(value_of<F>(best), double{widen(value)}) / double{scale});
  }
  return result;
}

// Sums of N, M or K products in fp32, a rounded scale and the rounding to bf16 stand between them.
constexpr double kBf16 = 1.0 / 256, kSums = 1e-5;

TEST(Fp8Linear, ProductsAreThoseOfTheRoundedNumbersInDoublePrecision) {
  for (const auto& [N, M, K] :
       {std::array<std::int64_t, 3>{1, 16, 16}, {7, 32, 48}, {33, 48, 16}, {64, 16, 80}}) {
    const Bf16s x = random_bf16(N * K, 1, 3), w = random_bf16(M * K, 2, 0.02F);
    const Bf16s b = random_bf16(M, 3, 0.1F), dy = random_bf16(N * M, 4, 1e-6F);
    const auto xs = in_fp8<E4m3>(x), ws = in_fp8<E4m3>(w), dys = in_fp8<E5m2>(dy);
    const auto at = [](std::int64_t row, std::int64_t width, std::int64_t column) {
      return static_cast<std::size_t>(row * width + column);
    };
    std::vector<double> y(b.size() * x.size() / static_cast<std::size_t>(K));
    std::vector<double> dx(x.size()), dw(w.size()), db(b.size());
    for (std::int64_t n = 0; n < N; ++n)
      for (std::int64_t m = 0; m < M; ++m) {
        double sum = widen(b[at(0, 0, m)]);
        for (std::int64_t k = 0; k < K; ++k) {
          sum += xs[at(n, K, k)] * ws[at(m, K, k)];
          dx[at(n, K, k)] += dys[at(n, M, m)] * ws[at(m, K, k)];
          dw[at(m, K, k)] += dys[at(n, M, m)] * xs[at(n, K, k)];
        }
        y[at(n, M, m)] = sum;
        db[at(0, 0, m)] += double{widen(dy[at(n, M, m)])};
      }
    Bf16s y_out(y.size()), dx_out(dx.size());
    fp8_linear_forward_cpu(y_out.data(), x.data(), w.data(), b.data(), N, M, K);
    fp8_linear_input_grad_cpu(dx_out.data(), dy.data(), w.data(), N, M, K);
    // Gradients of weights are added to what is there; 1e-6 keeps the sum exact enough to see it.
    reference::Floats dw_out(dw.size(), 1e-6F), db_out(db.size(), 0);
    fp8_linear_weight_grad_cpu(dw_out.data(), db_out.data(), dy.data(), x.data(), N, M, K);
    for (double& value : dw) value += 1e-6;
    const auto widened = [](const Bf16s& values) {
      std::vector<double> result;
      for (const Bf16 value : values) result.push_back(widen(value));
      return result;
    };
    EXPECT_LE(reference::relative_difference(widened(y_out), y), kBf16);
    EXPECT_LE(reference::relative_difference(widened(dx_out), dx), kBf16);
    EXPECT_LE(reference::relative_difference(dw_out, dw), kSums);
    EXPECT_LE(reference::relative_difference(db_out, db), kSums);
    // FP8 itself is what makes them differ from products of bf16, by some percent.
    Bf16s same(y.size());
    linear_forward_cpu(same.data(), x.data(), w.data(), b.data(), N, M, K);
    EXPECT_GT(reference::relative_difference(widened(same), y), 2e-3);
    EXPECT_LT(reference::relative_difference(widened(same), y), 0.06);
  }
}

TEST(Fp8Linear, GradientsOfWeightsInSixteenBitAreTheRoundedOnes) {
  constexpr std::int64_t N = 20, M = 32, K = 48;
  const Bf16s x = random_bf16(N * K, 5, 1), dy = random_bf16(N * M, 6, 1);
  reference::Floats dw(M * K, 0), db(M, 0);
  Bf16s dw16(M * K), db16(M);
  fp8_linear_weight_grad_cpu(dw.data(), db.data(), dy.data(), x.data(), N, M, K);
  fp8_linear_weight_grad_cpu(dw16.data(), db16.data(), dy.data(), x.data(), N, M, K);
  for (std::size_t i = 0; i < dw.size(); ++i) EXPECT_EQ(dw16[i].bits, round_to_bf16(dw[i]).bits);
  for (std::size_t i = 0; i < db.size(); ++i) EXPECT_EQ(db16[i].bits, round_to_bf16(db[i]).bits);
}

// A tensor of zeros, and one with an infinity, whose scale is 1.
TEST(Fp8Linear, ZerosGiveZerosAndAnInfinityTheLargestNumber) {
  constexpr std::int64_t N = 2, M = 16, K = 16;
  const Bf16s w = random_bf16(M * K, 7, 1);
  Bf16s x(N * K), y(N * M, Bf16{0x1234});
  fp8_linear_forward_cpu(y.data(), x.data(), w.data(), nullptr, N, M, K);
  for (const Bf16 value : y) EXPECT_EQ(widen(value), 0);
  x[0].bits = 0x7F80;
  Bf16s ones(M * K, round_to_bf16(1));
  fp8_linear_forward_cpu(y.data(), x.data(), ones.data(), nullptr, N, M, K);
  EXPECT_EQ(widen(y[0]), 448);
  EXPECT_EQ(widen(y[M]), 0);
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// FP8 as what tensor cores multiply: numbers of 8 bits beside one scale for all of a tensor.
//
// E4M3 has 4 bits of exponent and 3 of significand, no infinity, and is for activations and
// weights. E5M2 has 5 and 2, as the upper byte of fp16 has, and is for gradients. A tensor is
// multiplied by its scale, so that its largest number becomes the format's, and rounded to the
// nearest; what would be larger than the format's largest stays at that. Every number of either is
// one of bf16, too. Sources: Micikevicius et al. 2022, FP8 Formats for Deep Learning (arXiv
// 2209.05433), sections 3 and 3.2, Table 1; scales: TransformerEngine, Float8CurrentScaling and
// transformer_engine/common/recipe/recipe_common.cuh, compute_scale_from_amax.
// The same functions serve the CPU and CUDA kernels, as those of bf16.h.
#pragma once

#include <bit>
#include <cstdint>

#include "kernels/base/bf16.h"

namespace parallelarium {

struct E4m3 {
  std::uint8_t bits = 0;
};
struct E5m2 {
  std::uint8_t bits = 0;
};

template <class F>
struct Fp8Format;
template <>
struct Fp8Format<E4m3> {
  static constexpr int kSignificand = 3, kBias = 7;
  static constexpr float kLargest = 448;
  static constexpr std::uint8_t kLargestBits = 0x7E, kInfinity = 0;  // it has none
};
template <>
struct Fp8Format<E5m2> {
  static constexpr int kSignificand = 2, kBias = 15;
  static constexpr float kLargest = 57344;
  static constexpr std::uint8_t kLargestBits = 0x7B, kInfinity = 0x7C;
};
inline constexpr std::uint8_t kFp8NaN = 0x7F;

// Rounds to the nearest, ties to even; infinity becomes the largest, and NaN kFp8NaN.
template <class F>
constexpr F round_to_fp8(float value) {
  using Format = Fp8Format<F>;
  constexpr int kShift = 23 - Format::kSignificand;
  constexpr std::uint32_t kSmallestNormal = static_cast<std::uint32_t>(128 - Format::kBias) << 23;
  // A sum with this has the smallest subnormal number for its last place.
  constexpr std::uint32_t kMagic = static_cast<std::uint32_t>(128 - Format::kBias + kShift) << 23;
  constexpr auto kLargest = std::bit_cast<std::uint32_t>(Format::kLargest);
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t size = bits & 0x7FFF'FFFFU;
  const std::uint32_t subnormal =
      std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) + std::bit_cast<float>(kMagic)) -
      kMagic;
  const std::uint32_t normal =
      ((size + ((1U << (kShift - 1)) - 1) + ((size >> kShift) & 1U)) >> kShift) -
      (static_cast<std::uint32_t>(127 - Format::kBias) << Format::kSignificand);
  std::uint32_t code = size < kSmallestNormal ? subnormal : normal;
  code = size >= kLargest ? std::uint32_t{Format::kLargestBits} : code;
  code |= (bits >> 24) & 0x80U;
  return {static_cast<std::uint8_t>(size > 0x7F80'0000U ? std::uint32_t{kFp8NaN} : code)};
}

template <class F>
constexpr float widen_fp8(F value) {
  using Format = Fp8Format<F>;
  constexpr int kShift = 23 - Format::kSignificand;
  constexpr auto kBiases = static_cast<std::uint32_t>(127 - Format::kBias) << 23;
  constexpr auto kSubnormal = std::bit_cast<float>(
      static_cast<std::uint32_t>(128 - Format::kBias - Format::kSignificand) << 23);
  const std::uint32_t size = value.bits & 0x7FU;
  const std::uint32_t sign = std::uint32_t{value.bits & 0x80U} << 24;
  const auto small = std::bit_cast<std::uint32_t>(static_cast<float>(size) * kSubnormal);
  std::uint32_t bits = size >> Format::kSignificand == 0 ? small : (size << kShift) + kBiases;
  if (size > Format::kLargestBits) bits = size == Format::kInfinity ? 0x7F80'0000U : 0x7FC0'0000U;
  return std::bit_cast<float>(bits | sign);
}
constexpr float widen(E4m3 value) { return widen_fp8(value); }
constexpr float widen(E5m2 value) { return widen_fp8(value); }

// What a tensor is multiplied by, and what its products are multiplied by instead.
struct Fp8Scale {
  float scale = 1, inverse = 1;
};
// `largest`: the bits of the tensor's largest number without its sign, as fp32 (so that NaN is the
// largest). Where that is zero or not finite the scale is 1. A scale has a normal number for its
// inverse, since libraries may take others for zero.
template <class F>
constexpr Fp8Scale fp8_scale(std::uint32_t largest) {
  constexpr float kMost = 0x1p126F;
  if (largest == 0 || largest >= 0x7F80'0000U) return {};
  const float scale = Fp8Format<F>::kLargest / std::bit_cast<float>(largest);
  const float bounded = scale < kMost ? scale : kMost;
  return {bounded, 1.0F / bounded};
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// bf16 as storage: the upper half of an fp32 number, so 8 bits of significand and fp32's range.
//
// Nobody computes in bf16. Kernels widen what they read (exact) and round what they write once, to
// the nearest (half a unit in the last place: a relative error of at most 2^-8).
// The same functions serve the CPU and CUDA kernels (nvcc: --expt-relaxed-constexpr).
#pragma once

#include <bit>
#include <cstdint>

namespace parallelarium {

struct Bf16 {
  std::uint16_t bits = 0;
};

constexpr float widen(Bf16 value) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(value.bits) << 16);
}

// Rounds to nearest, ties to even. A number beyond the largest bf16 becomes infinity; NaN becomes a
// quiet NaN of its sign.
constexpr Bf16 round_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const bool nan = (bits & 0x7FFF'FFFFU) > 0x7F80'0000U;
  const std::uint32_t rounded = nan ? bits | 0x0040'0000U : bits + 0x7FFFU + ((bits >> 16) & 1U);
  return {static_cast<std::uint16_t>(rounded >> 16)};
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Makes the CPU kernels vector code on every computer.
//
// The programs are built for the oldest x86-64, so the hot kernels are compiled three times (SSE2,
// AVX2 with FMA, AVX-512) and the loader picks one for the processor. The last bit of a result may
// therefore differ between two kinds of processors, never between ranks on one computer. CMake
// leaves PARALLELARIUM_CLONES undefined if the compiler cannot do this, and under sanitizers, which
// do not know the loader's choice.
#pragma once

#include <bit>
#include <cstdint>

#ifdef PARALLELARIUM_CLONES
#define PARALLELARIUM_VECTOR \
  __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define PARALLELARIUM_VECTOR
#endif

namespace parallelarium {

// e^x; relative error below 2 units in the last place. x must be in [-87, 88]. Unlike std::exp it
// has no branches, so loops over it vectorise. Method and coefficients: Cephes expf (Moshier): x =
// n ln 2 + r, a polynomial for e^r, then n into the exponent.
[[gnu::always_inline]] inline float exp_within_range(float x) {
  constexpr float kRound = 12582912.0F;  // 1.5 * 2^23: adding it leaves no fraction bits
  const float n = (x * 1.44269504088896341F + kRound) - kRound;
  float r = x - n * 0.693359375F;
  r = r - n * -2.12194440e-4F;
  float p = 1.9875691500e-4F;
  p = p * r + 1.3981999507e-3F;
  p = p * r + 8.3334519073e-3F;
  p = p * r + 4.1665795894e-2F;
  p = p * r + 1.6666665459e-1F;
  p = p * r + 5.0000001201e-1F;
  p = p * r * r + r + 1.0F;
  const auto exponent = (static_cast<std::int32_t>(n) + 127) << 23;
  return p * std::bit_cast<float>(exponent);
}

// e^x, clamped outside of [-87, 88].
[[gnu::always_inline]] inline float fast_exp(float x) {
  x = x < -87.0F ? -87.0F : x;
  x = x > 88.0F ? 88.0F : x;
  return exp_within_range(x);
}

// 1 / (1 + e^-x); below -75 it stays at 3e-33. A smaller bound would make u sigmoid(z) a subnormal
// number. Compilers compute that product for every element before they choose, and gelu_forward
// then takes nine times as long (tests/bench/kernels_bench).
[[gnu::always_inline]] inline float fast_sigmoid(float x) {
  x = x < -75.0F ? -75.0F : x;
  x = x > 75.0F ? 75.0F : x;
  return 1.0F / (1.0F + exp_within_range(-x));
}

}  // namespace parallelarium

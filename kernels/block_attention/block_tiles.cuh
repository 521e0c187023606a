// SPDX-License-Identifier: Apache-2.0
// What forward and backward of block attention on tensor cores share beyond attention_tiles.cuh:
// masks by positions, sums that go on, and dropout. Which probabilities of a tile are kept is drawn
// a tile ahead, one number for 16 or 32 neighbouring keys, and waits in shared memory.
#pragma once

#include "kernels/attention/attention_tiles.cuh"
#include "kernels/block_attention/block_runs.cuh"

namespace parallelarium::tiles {

#ifdef PARALLELARIUM_TENSOR_CORES

// Bit i: whether element first + i is kept, for `n` of them; a draw decides on four.
template <int n>
__device__ inline std::uint32_t kept_bits(const Dropout& dropout, std::int64_t first) {
  const std::uint64_t draw = static_cast<std::uint64_t>(first) >> 2;
  const unsigned beside = static_cast<unsigned>(first) & 3;
  const auto four = [&](std::uint64_t bits) {
    std::uint32_t kept = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
      kept |=
          (static_cast<std::uint32_t>(bits >> 16 * i) & 0xFFFF) >= dropout.threshold ? 1U << i : 0U;
    return kept;
  };
  std::uint64_t kept = 0;
#pragma unroll
  for (int i = 0; i < n / 4; ++i)
    kept |= std::uint64_t{four(random_bits(dropout.key, draw + i))} << 4 * i;
  if (beside != 0) kept |= std::uint64_t{four(random_bits(dropout.key, draw + n / 4))} << n;
  return static_cast<std::uint32_t>(kept >> beside);
}

// Hides keys, the columns, behind their queries, and what the tile holds behind its run. position:
// of the lane's first row.
template <int n>
__device__ inline void hide_unseen_keys(float (&scores)[n / 8][4], int position, const Rows& keys) {
  const int seen = position - keys.position;  // of the first row, the last key
  if (n - 1 <= seen && n <= keys.left) return;
  const int first = static_cast<int>(threadIdx.x) % 4 * 2;
  hide<n>(scores, [&](int down, int right) {
    return first + right > seen + down || first + right >= keys.left;
  });
}

// dcontext . context of a row, for the four lanes that share it.
__device__ inline float delta_of(const Bf16* dcontext, const Bf16* context, int D, bool there) {
  float sum = 0;
  for (int d = static_cast<int>(threadIdx.x) % 4 * 8; there && d < D; d += 32) {
    const auto slopes = load<8>(dcontext + d);
    const auto values = load<8>(context + d);
#pragma unroll
    for (int i = 0; i < 8; ++i) sum += slopes.at[i] * values.at[i];
  }
  return over_row(sum, Sum{});
}

// The warp's rows that `left` counts, from memory in the layout of a product; zeros elsewhere.
template <int kD>
__device__ inline void load_rows(float (&values)[kD / 8][4], const Bf16* from, std::int64_t stride,
                                 int left, int D) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = lane / 4 + 8 * half;
    const Bf16* const at = from + row * stride + lane % 4 * 2;
#pragma unroll
    for (int tile = 0; tile < kD / 8; ++tile) {
      if (row >= left || tile * 8 >= D) continue;
      const auto two = load<2>(at + tile * 8);
      values[tile][2 * half] = two.at[0];
      values[tile][2 * half + 1] = two.at[1];
    }
  }
}
// to += values * factor.
template <int kD>
__device__ inline void add_rows(Bf16* to, std::int64_t stride, int left, int D,
                                const float (&values)[kD / 8][4], float factor) {
  const int lane = static_cast<int>(threadIdx.x) % 32;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int row = lane / 4 + 8 * half;
    Bf16* const at = to + row * stride + lane % 4 * 2;
#pragma unroll
    for (int tile = 0; tile < kD / 8; ++tile) {
      if (row >= left || tile * 8 >= D) continue;
      const auto two = load<2>(at + tile * 8);
      *reinterpret_cast<std::uint32_t*>(at + tile * 8) =
          pack_bf16(two.at[0] + values[tile][2 * half] * factor,
                    two.at[1] + values[tile][2 * half + 1] * factor);
    }
  }
}

#endif

}  // namespace parallelarium::tiles

// SPDX-License-Identifier: Apache-2.0
// The forward of fused attention on bf16 tensor cores (attention_tiles.cuh).
#include "kernels/attention_tiles.cuh"
#include "kernels/fused_attention_tiles.h"

namespace parallelarium {
namespace {

using namespace tiles;

constexpr int kForwardTile = 64;  // keys of a tile

template <int kD>
__global__ void __launch_bounds__(kThreads)
    forward_kernel(Bf16* context, float* lse, const Bf16* qkv, Strides s, float scale) {
#ifdef PARALLELARIUM_TENSOR_CORES
  constexpr int kTile = kForwardTile * kPitch<kD>;
  Bf16* const q = reinterpret_cast<Bf16*>(dynamic_shared());
  Bf16* const keys = q + kRows * kPitch<kD>;  // two tiles of keys, then two of values
  Bf16* const values = keys + 2 * kTile;
  const std::int64_t b = blockIdx.y / s.heads;
  const std::int64_t h = blockIdx.y % s.heads;
  const std::int64_t first = std::int64_t{gridDim.x - 1 - blockIdx.x} * kRows;  // long rows first
  const Bf16* const sequence = qkv + b * s.length * s.qkv;
  const Bf16* const k_from = sequence + (s.heads + h / (s.heads / s.kv_heads)) * s.D;
  const Bf16* const v_from = k_from + s.kv_heads * s.D;
  const auto fetch = [&](std::int64_t tile) {
    load_rows<kD, kForwardTile>(keys + tile % 2 * kTile, k_from, s.qkv, tile * kForwardTile,
                                s.length, s.D);
    load_rows<kD, kForwardTile>(values + tile % 2 * kTile, v_from, s.qkv, tile * kForwardTile,
                                s.length, s.D);
  };
  load_rows<kD, kRows>(q, sequence + h * s.D, s.qkv, first, s.length, s.D);
  fetch(0);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const std::int64_t row = first + warp * 16 + lane / 4;  // and row + 8
  const float scale2 = scale * kLog2E;
  float out[kD / 8][4] = {};
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {};  // this lane's part
  const std::int64_t tiles = (first + kRows + kForwardTile - 1) / kForwardTile;
  for (std::int64_t tile = 0; tile < tiles && tile * kForwardTile < s.length; ++tile) {
    wait_for_copies();
    __syncthreads();  // the tile is there, and nobody reads the other buffer any more
    if (tile + 1 < tiles) fetch(tile + 1);
    float p[kForwardTile / 8][4] = {};
    multiply_by_rows<kD, kForwardTile>(p, q + warp * 16 * kPitch<kD>, keys + tile % 2 * kTile);
    const std::int64_t key = tile * kForwardTile + lane % 4 * 2;
    if (tile * kForwardTile + kForwardTile > first + warp * 16) {
#pragma unroll
      for (int at = 0; at < kForwardTile / 8; ++at)
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (key + at * 8 + i % 2 > row + i / 2 * 8) p[at][i] = -INFINITY;
    }
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      float seen = largest[half];
#pragma unroll
      for (const auto& four : p)
        seen = Largest{}(seen, Largest{}(four[2 * half], four[2 * half + 1]));
      seen = over_row(seen, Largest{});
      const float kept = exp2f((largest[half] - seen) * scale2);
      largest[half] = seen;
      sum[half] *= kept;
#pragma unroll
      for (auto& four : p)
#pragma unroll
        for (int i = 2 * half; i < 2 * half + 2; ++i) {
          four[i] = exp2f(four[i] * scale2 - seen * scale2);
          sum[half] += four[i];
        }
#pragma unroll
      for (auto& four : out) {
        four[2 * half] *= kept;
        four[2 * half + 1] *= kept;
      }
    }
    multiply_by_columns<kD, kForwardTile>(out, p, values + tile % 2 * kTile);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    sum[half] = over_row(sum[half], Sum{});
    if (lane % 4 == 0 && row + 8 * half < s.length)
      lse[std::int64_t{blockIdx.y} * s.length + row + 8 * half] =
          largest[half] * scale + logf(sum[half]);
  }
  store_rows<kD>(context + b * s.length * s.context + h * s.D, s.context, first + warp * 16,
                 s.length, s.D, out, 1.0F / sum[0], 1.0F / sum[1]);
#endif
}

template <int kD>
cudaError_t forward(Bf16* context, float* lse, const Bf16* qkv, const AttentionShape& shape,
                    cudaStream_t stream) {
  constexpr std::size_t kBytes = (kRows + 4 * kForwardTile) * kPitch<kD> * sizeof(Bf16);
  const cudaError_t status = allow_shared(forward_kernel<kD>, kBytes);
  if (status != cudaSuccess) return status;
  return launch(forward_kernel<kD>, grid_for(shape.T, shape.B * shape.H), dim3(kThreads), kBytes,
                stream, context, lse, qkv, strides_of(shape), scale_of(shape));
}

}  // namespace

cudaError_t fused_attention_forward_tiles(Bf16* context, float* lse, const Bf16* qkv,
                                          const AttentionShape& shape, cudaStream_t stream) {
  return shape.D <= 64 ? forward<64>(context, lse, qkv, shape, stream)
                       : forward<128>(context, lse, qkv, shape, stream);
}

}  // namespace parallelarium

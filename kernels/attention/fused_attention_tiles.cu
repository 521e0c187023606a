// SPDX-License-Identifier: Apache-2.0
// The forward of fused attention on bf16 tensor cores (attention_tiles.cuh).
#include "kernels/attention/attention_tiles.cuh"
#include "kernels/attention/fused_attention_tiles.h"

namespace parallelarium {
namespace {

using namespace tiles;

constexpr int kForwardTile = 64;  // keys of a tile
// Blocks that the shared memory of a multiprocessor takes, with heads of 64: more would only take
// registers away.
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 900
constexpr int kBlocks = 4;
#elif __CUDA_ARCH__ == 800
constexpr int kBlocks = 3;
#else
constexpr int kBlocks = 2;
#endif

template <int kD>
__global__ void __launch_bounds__(kThreads, kD == 64 ? kBlocks : 2)
    forward_kernel(Bf16* context, float* lse, const Bf16* qkv, Strides s, float scale) {
#ifdef PARALLELARIUM_TENSOR_CORES
  constexpr int kTile = kForwardTile * kPitch<kD>;
  Bf16* const q = reinterpret_cast<Bf16*>(dynamic_shared());
  Bf16* const keys = q + kRows * kPitch<kD>;  // two tiles of keys, then two of values
  Bf16* const values = keys + 2 * kTile;
  const int b = static_cast<int>(blockIdx.y) / s.heads;
  const int h = static_cast<int>(blockIdx.y) % s.heads;
  const int first = static_cast<int>(gridDim.x - 1 - blockIdx.x) * kRows;  // long rows first
  const Bf16* const sequence = qkv + std::int64_t{b} * s.length * s.qkv;
  const Bf16* const k_from = sequence + (s.heads + h / (s.heads / s.kv_heads)) * s.D;
  TileReader<kD> reader(k_from, s.qkv, s.length, s.D);
  const auto fetch = [&](int key) {
    const int at = key / kForwardTile % 2 * kTile;
    reader.template read<kForwardTile>(keys + at);
    reader.template read<kForwardTile>(values + at, s.kv_heads * s.D);
    reader.template go_on<kForwardTile>();
  };
  TileReader<kD>(sequence + first * s.qkv + h * s.D, s.qkv, s.length - first, s.D)
      .template read<kRows>(q);
  fetch(0);

  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int row = first + warp * 16 + lane / 4;  // and row + 8
  const float scale2 = scale * kLog2E;
  wait_for_copies();
  __syncthreads();
  std::uint32_t left[kD / 16][4];
#pragma unroll
  for (int k = 0; k < kD; k += 16) load_left<kD>(left[k / 16], q + warp * 16 * kPitch<kD>, k);
  float out[kD / 8][4] = {};
  float largest[2] = {-INFINITY, -INFINITY};
  float sum[2] = {};  // this lane's part
  const int end = first + kRows < s.length ? first + kRows : s.length;
  for (int key = 0; key < end; key += kForwardTile) {
    wait_for_copies();
    __syncthreads();  // the tile is there, and nobody reads the other buffer any more
    if (key + kForwardTile < end) fetch(key + kForwardTile);
    const int at = key / kForwardTile % 2 * kTile;
    float p[kForwardTile / 8][4] = {};
#pragma unroll
    for (int k = 0; k < kD; k += 16) multiply_part<kD, kForwardTile>(p, left[k / 16], keys + at, k);
    hide_later_keys<kForwardTile>(p, row, key);
    join_scores<kD, kForwardTile>(out, p, largest, sum, scale2);
    multiply_by_columns<kD, kForwardTile>(out, p, values + at);
  }
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    sum[half] = over_row(sum[half], Sum{});
    if (lane % 4 == 0 && row + 8 * half < s.length)
      lse[std::int64_t{blockIdx.y} * s.length + row + 8 * half] =
          largest[half] * scale + logf(sum[half]);
  }
  store_rows<kD>(context + std::int64_t{b} * s.length * s.context + h * s.D, s.context,
                 first + warp * 16, s.length, s.D, out, 1.0F / sum[0], 1.0F / sum[1]);
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

bool has_fused_attention_tiles() {
  thread_local int asked = -1;
  thread_local bool has = false;
  int device = -1;
  if (cudaGetDevice(&device) != cudaSuccess) return false;
  if (device != asked) has = architecture_of(forward_kernel<64>) >= 80;
  asked = device;
  return has;
}

cudaError_t fused_attention_forward_tiles(Bf16* context, float* lse, const Bf16* qkv,
                                          const AttentionShape& shape, cudaStream_t stream) {
  return shape.D <= 64 ? forward<64>(context, lse, qkv, shape, stream)
                       : forward<128>(context, lse, qkv, shape, stream);
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The forward of attention to keys that come block by block, in fp32 arithmetic, for every GPU,
// storage and head size; and the choice between it and tensor cores (block_attention_tiles.cu).
#include "kernels/block_attention/block_rows.cuh"
#include "kernels/gpu.h"

namespace parallelarium {
namespace {

using namespace rows;
using tiles::Block;
using tiles::kNothingSeen;
using tiles::Rows;
using tiles::Work;

template <class T, int kChunks>
__global__ void __launch_bounds__(kThreads, kChunks == 1 ? 2 : 1)
    block_forward_kernel(T* context, float* row_max, float* row_sum, const T* qkv,
                         const T* keys_values, Block block) {
  __shared__ Shared shared;
  const auto& s = block.s;
  const auto all = block.queries.all<kRows>();
  const Work work(s.heads, all.count());
  const int b = work.b, h = work.h;
  const Rows own = block.queries.rows<kRows>(all, all.count() - 1 - work.tile);  // long rows first
  const auto seen = block.keys.before<kRows>(own.position + min(kRows, own.left));
  if (seen.count() == 0) return;
  const std::int64_t token = std::int64_t{b} * s.length + own.token;
  const std::int64_t stats = (std::int64_t{b} * s.heads + h) * s.length + own.token;
  T* const to = context + token * s.context + h * s.D;
  const Matrix<T> queries{qkv + token * s.qkv + h * s.D, s.qkv, own.left};
  float out[2][kColumns<kChunks>] = {};
  float largest[2] = {kNothingSeen, kNothingSeen};
  float sum[2] = {};
  if (!block.first) {
    for_own_elements<kChunks>(s.context, own.left, s.D,
                              [&](int r, int u, std::int64_t at) { out[r][u] = widened(to[at]); });
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      if (2 * y() + r >= own.left) continue;
      largest[r] = row_max[stats + 2 * y() + r];
      sum[r] = row_sum[stats + 2 * y() + r];
    }
  }
  for (int tile = 0; tile < seen.count(); ++tile) {
    const Rows rows = block.keys.rows<kRows>(seen, tile);
    const T* const k_from = keys_values +
                            (std::int64_t{b} * s.length + rows.token) * block.keys_values +
                            h / (s.heads / s.kv_heads) * s.D;
    const Matrix<T> keys{k_from, block.keys_values, rows.left};
    const Matrix<T> values{k_from + s.kv_heads * s.D, block.keys_values, rows.left};
    float scores[2][2] = {};
    multiply_rows(scores, shared, queries, keys, s.D);
#pragma unroll
    for (int r = 0; r < 2; ++r) {
      const int row = 2 * y() + r;
      float most = largest[r];
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        scores[r][c] =
            hidden(own, row, rows, x() + 16 * c) ? -INFINITY : scores[r][c] * block.scale;
        most = Largest{}(most, scores[r][c]);
      }
      most = over_row(most, Largest{});
      const float kept = __expf(largest[r] - most);
      largest[r] = most;
      const std::int64_t number = block.dropout.row(b, h, own.position + row) + rows.position;
      float added = 0;
#pragma unroll
      for (int c = 0; c < 2; ++c) {
        const float e = __expf(scores[r][c] - most);
        added += e;
        shared.p[row * kScorePitch + x() + 16 * c] =
            e * factor_of(block.dropout, number + x() + 16 * c);
      }
      sum[r] = sum[r] * kept + over_row(added, Sum{});
#pragma unroll
      for (float& value : out[r]) value *= kept;
    }
    gather_rows<kChunks>(out, shared, shared.p, kScorePitch, 1, values, s.D);
  }
#pragma unroll
  for (int r = 0; r < 2; ++r) {
    if (x() != 0 || 2 * y() + r >= own.left) continue;
    row_max[stats + 2 * y() + r] = largest[r];
    row_sum[stats + 2 * y() + r] = sum[r];
  }
  for_own_elements<kChunks>(s.context, own.left, s.D,
                            [&](int r, int u, std::int64_t at) { to[at] = rounded<T>(out[r][u]); });
}

constexpr unsigned kLanesOfFinish = 32;

template <class T>
__global__ void __launch_bounds__(kLanesOfFinish)
    block_finish_kernel(T* context, float* row_max, const float* row_sum, AttentionShape shape) {
  const std::int64_t L = shape.T, H = shape.H, D = shape.D;
  const std::int64_t row = blockIdx.x;
  const std::int64_t t = row % L, h = row / L % H, b = row / L / H;
  const float total = row_sum[row];
  T* out = context + (b * L + t) * H * D + h * D;
  for (std::int64_t d = threadIdx.x; d < D; d += kLanesOfFinish)
    out[d] = rounded<T>(widened(out[d]) * (1.0F / total));
  if (threadIdx.x == 0) row_max[row] += logf(total);
}

}  // namespace

template <class T>
cudaError_t block_attention_forward(T* context, float* row_max, float* row_sum, const T* qkv,
                                    const T* keys_values, const AttentionBlock& block,
                                    cudaStream_t stream) {
  if (!can(block.shape)) return cudaErrorInvalidValue;
  if (block.shape.B * block.shape.T == 0) return cudaSuccess;
  if constexpr (std::is_same_v<T, Bf16>)
    if (for_tensor_cores(block, context, qkv, keys_values))
      return block_attention_forward_tiles(context, row_max, row_sum, qkv, keys_values, block,
                                           stream);
  const Block packed = tiles::block_of(block);
  return launch(
      block.shape.D <= kChunk ? block_forward_kernel<T, 1> : block_forward_kernel<T, kMostChunks>,
      tiles::grid_of<kRows>(packed.queries, block.shape.B * block.shape.H), dim3(kThreads), 0,
      stream, context, row_max, row_sum, qkv, keys_values, packed);
}

template <class T>
cudaError_t block_attention_finish(T* context, float* row_max, const float* row_sum,
                                   const AttentionShape& shape, cudaStream_t stream) {
  if (shape.B * shape.T == 0) return cudaSuccess;
  return launch(block_finish_kernel<T>, dim3(static_cast<unsigned>(shape.B * shape.H * shape.T)),
                dim3(kLanesOfFinish), 0, stream, context, row_max, row_sum, shape);
}

#define PARALLELARIUM_FOR(T)                                                                   \
  template cudaError_t block_attention_forward(T*, float*, float*, const T*, const T*,         \
                                               const AttentionBlock&, cudaStream_t);           \
  template cudaError_t block_attention_finish(T*, float*, const float*, const AttentionShape&, \
                                              cudaStream_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium

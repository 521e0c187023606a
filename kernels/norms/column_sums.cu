// SPDX-License-Identifier: Apache-2.0
// Sums over the rows of an array, which are the gradients of what every row shares: gains and
// biases of norms, biases of linear layers.
#include "kernels/base/vector.cuh"
#include "kernels/gpu.h"

namespace parallelarium {
namespace {

constexpr unsigned kSumWarps = 8;

// In two passes. First, blockIdx.y takes a part of the rows and blockIdx.x a strip of
// 32 W columns: every lane W columns, every warp each kSumWarps-th row; the warps' sums are added
// in order into parts [2, parts, C] (kWeighted: weighted by the normalised input; and plain).
template <int W, bool kWeighted, class T>
__global__ void __launch_bounds__(32 * kSumWarps)
    column_parts_kernel(float* parts, const T* dy, const T* x, const float* stats, std::int64_t N,
                        std::int64_t C, std::int64_t part_rows) {
  // The W columns of a lane stand so far apart that lanes and neighbouring columns alike fall on
  // banks of their own.
  constexpr unsigned kApart = W == 1 ? 32 : 32 + 32 / W;
  __shared__ float shared[2][kSumWarps][kApart * W];
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const std::int64_t strip = std::int64_t{blockIdx.x} * 32 * W;
  const std::int64_t c = strip + lane * W;
  const std::int64_t begin = blockIdx.y * part_rows;
  const std::int64_t end = begin + part_rows < N ? begin + part_rows : N;
  Floats<W> weighted{};
  Floats<W> plain{};
  if (c < C)
#pragma unroll 4
    for (std::int64_t n = begin + warp; n < end; n += kSumWarps) {
      const auto grads = load<W>(dy + n * C + c);
      if constexpr (kWeighted) {
        const auto values = load<W>(x + n * C + c);
        const float mean = stats[n];
        const float rstd = stats[N + n];
#pragma unroll
        for (int i = 0; i < W; ++i) weighted.at[i] += grads.at[i] * ((values.at[i] - mean) * rstd);
      }
#pragma unroll
      for (int i = 0; i < W; ++i) plain.at[i] += grads.at[i];
    }
#pragma unroll
  for (int i = 0; i < W; ++i) {
    shared[0][warp][i * kApart + lane] = weighted.at[i];
    shared[1][warp][i * kApart + lane] = plain.at[i];
  }
  __syncthreads();
  const unsigned first = kWeighted ? 0 : 32 * W;
  for (unsigned at = first + threadIdx.x; at < 2 * 32 * W; at += 32 * kSumWarps) {
    const unsigned which = at / (32 * W);
    const unsigned column = at % (32 * W);
    float sum = 0;
    for (unsigned from = 0; from < kSumWarps; ++from)
      sum += shared[which][from][column % W * kApart + column / W];
    if (strip + column < C) parts[(which * gridDim.y + blockIdx.y) * C + strip + column] = sum;
  }
}

// Then blockIdx.x adds the parts of 32 columns, every warp each kSumWarps-th part, and the warps'
// sums in order; blockIdx.y: weighted, plain.
template <class G>
__global__ void __launch_bounds__(32 * kSumWarps)
    add_parts_kernel(G* weighted, G* plain, const float* parts, std::int64_t count,
                     std::int64_t C) {
  __shared__ float shared[kSumWarps][32];
  G* const sums = blockIdx.y == 0 ? weighted : plain;
  if (sums == nullptr) return;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  const std::int64_t c = std::int64_t{blockIdx.x} * 32 + lane;
  const float* const from = parts + blockIdx.y * count * C + c;
  float sum = 0;
  if (c < C)
#pragma unroll 8
    for (std::int64_t part = warp; part < count; part += kSumWarps) sum += from[part * C];
  shared[warp][lane] = sum;
  __syncthreads();
  if (warp != 0 || c >= C) return;
  sum = 0;
  for (unsigned of = 0; of < kSumWarps; ++of) sum += shared[of][lane];
  sums[c] = rounded<G>(widened(sums[c]) + sum);
}

template <class G, class T>
cudaError_t sum_columns(G* weighted, G* plain, const T* dy, const T* x, const float* stats,
                        void* workspace, std::int64_t N, std::int64_t C, cudaStream_t stream) {
  if (N == 0 || C == 0) return cudaSuccess;
  const auto rows = static_cast<std::size_t>(N);
  const auto columns = static_cast<std::size_t>(C);
  const bool wide = rows_are_wide(dy, columns, sizeof(T)) &&
                    (x == nullptr || rows_are_wide(x, columns, sizeof(T)));
  const int width = wide ? kWidth<T> : 1;
  const auto part_count = static_cast<unsigned>(column_parts(rows));
  const dim3 grid(static_cast<unsigned>(divide_up(columns, 32 * static_cast<std::size_t>(width))),
                  part_count);
  auto* const parts = static_cast<float*>(workspace);
  const auto kernel = x != nullptr ? wide ? column_parts_kernel<kWidth<T>, true, T>
                                          : column_parts_kernel<1, true, T>
                      : wide ? column_parts_kernel<kWidth<T>, false, T>
                                   : column_parts_kernel<1, false, T>;
  const cudaError_t status = launch(kernel, grid, dim3(32 * kSumWarps), 0, stream, parts, dy, x,
                                    stats, N, C, static_cast<std::int64_t>(rows_of_part(rows)));
  if (status != cudaSuccess) return status;
  return launch(add_parts_kernel<G>, dim3(static_cast<unsigned>(divide_up(columns, 32)), 2),
                dim3(32 * kSumWarps), 0, stream, weighted, plain, static_cast<const float*>(parts),
                static_cast<std::int64_t>(part_count), C);
}

}  // namespace

template <class G, class T>
cudaError_t norm_weight_grad(G* dgain, G* dbias, const T* dy, const T* x, const float* stats,
                             void* workspace, std::int64_t N, std::int64_t C, cudaStream_t stream) {
  return sum_columns(dgain, dbias, dy, x, stats, workspace, N, C, stream);
}
template <class G, class T>
cudaError_t column_sums(G* sums, const T* rows, void* workspace, std::int64_t N, std::int64_t C,
                        cudaStream_t stream) {
  return sum_columns(static_cast<G*>(nullptr), sums, rows, static_cast<const T*>(nullptr),
                     static_cast<const float*>(nullptr), workspace, N, C, stream);
}

#define PARALLELARIUM_FOR(G, T)                                                          \
  template cudaError_t norm_weight_grad(G*, G*, const T*, const T*, const float*, void*, \
                                        std::int64_t, std::int64_t, cudaStream_t);       \
  template cudaError_t column_sums(G*, const T*, void*, std::int64_t, std::int64_t, cudaStream_t);
PARALLELARIUM_FOR(float, float)
PARALLELARIUM_FOR(float, Bf16)
PARALLELARIUM_FOR(Bf16, Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium

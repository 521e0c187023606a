// SPDX-License-Identifier: Apache-2.0
// Embedding, its gradient, and rotary positions.
//
// The gradient adds rows in the order of the tokens, without atomics: keys (token, position) are
// sorted, then every run of equal tokens is gathered by the threads of one block. The sort is by
// blocks in shared memory and then by merging: keys are distinct, so their order is unique however
// they were moved.
#include "kernels/base/vector.cuh"
#include "kernels/gpu.h"

namespace parallelarium {
namespace {

using Key = unsigned long long;  // token in the upper half, position in the lower
constexpr unsigned kSortThreads = 512;
constexpr unsigned kSortBlock = 2 * kSortThreads;

template <class T>
__global__ void embedding_forward_kernel(T* x, const std::int32_t* tokens, const T* table,
                                         const T* positions, std::int64_t N, std::int64_t length,
                                         std::int64_t C, bool wide) {
  for (std::int64_t n = blockIdx.x; n < N; n += gridDim.x) {
    const std::int64_t token = tokens[n];
    for_columns<kWidth<T>>(C, wide, [&](std::int64_t c, auto width) {
      constexpr int W = decltype(width)::value;
      Floats<W> values{};
      if (token >= 0) values = load<W>(table + token * C + c);
      if (positions != nullptr) {
        const auto added = load<W>(positions + n % length * C + c);
#pragma unroll
        for (int i = 0; i < W; ++i) values.at[i] += added.at[i];
      }
      store(x + n * C + c, values);
    });
  }
}

// Sorts every kSortBlock keys by themselves (bitonic network; Batcher 1968).
__global__ void __launch_bounds__(kSortThreads)
    sort_blocks_kernel(Key* keys, const std::int32_t* tokens, std::int64_t N) {
  __shared__ Key block[kSortBlock];
  const std::int64_t begin = std::int64_t{blockIdx.x} * kSortBlock;
  for (unsigned i = threadIdx.x; i < kSortBlock; i += kSortThreads) {
    const std::int64_t n = begin + i;
    block[i] =
        n < N ? Key{static_cast<std::uint32_t>(tokens[n])} << 32 | static_cast<Key>(n) : ~Key{0};
  }
  for (unsigned run = 2; run <= kSortBlock; run *= 2)
    for (unsigned apart = run / 2; apart > 0; apart /= 2) {
      __syncthreads();
      const unsigned low = threadIdx.x / apart * 2 * apart + threadIdx.x % apart;
      const bool upwards = (low & run) == 0;
      const Key a = block[low];
      const Key b = block[low + apart];
      if ((a > b) == upwards) {
        block[low] = b;
        block[low + apart] = a;
      }
    }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < kSortBlock; i += kSortThreads)
    if (begin + i < N) keys[begin + i] = block[i];
}

// Pairs of sorted runs become runs of twice the length: a key's place is its place in its own run
// plus the number of smaller keys in the other.
__global__ void merge_runs_kernel(Key* to, const Key* from, std::int64_t run, std::int64_t N) {
  const std::int64_t at = std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (at >= N) return;
  const Key key = from[at];
  const std::int64_t pair = at / (2 * run) * 2 * run;
  const bool second = at - pair >= run;
  const std::int64_t other = second ? pair : pair + run;
  std::int64_t low = other < N ? other : N;
  std::int64_t high = other + run < N ? other + run : N;
  const std::int64_t begin = low;
  while (low < high) {
    const std::int64_t middle = low + (high - low) / 2;
    if (from[middle] < key)
      low = middle + 1;
    else
      high = middle;
  }
  to[pair + (at - pair - (second ? run : 0)) + (low - begin)] = key;
}

constexpr unsigned kGatherThreads = 128;
constexpr int kAhead = 8;  // rows asked for before the first is added

// The rows of keys [at, at + kAhead); -1 for what is not of the token's run.
__device__ inline Numbers<std::int32_t, kAhead> rows_of_run(const Key* keys, std::int64_t at,
                                                            std::int64_t N, Key token) {
  Numbers<std::int32_t, kAhead> rows;
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    const Key key = at + i < N ? keys[at + i] : ~Key{0};
    rows.at[i] = key >> 32 == token ? static_cast<std::int32_t>(key) : -1;
  }
  return rows;
}

// `strip` threads gather the run of equal tokens that begins at a key, if one does, a pack of W
// columns each; blockIdx.y counts strips of columns. While rows are on their way, the thread looks
// up which ones follow.
template <int W, class G, class T>
__global__ void __launch_bounds__(kGatherThreads)
    gather_runs_kernel(G* dtable, const T* dx, const Key* keys, std::int64_t N, std::int64_t C,
                       unsigned strip) {
  const unsigned runs = blockDim.x / strip;
  const unsigned run = threadIdx.x / strip;
  std::int64_t at = std::int64_t{blockIdx.x} * runs + run;
  const std::int64_t c = (std::int64_t{blockIdx.y} * strip + threadIdx.x % strip) * W;
  if (run == runs || at >= N || c >= C) return;
  const Key token = keys[at] >> 32;
  if (at > 0 && keys[at - 1] >> 32 == token) return;
  if (token > 0x7FFFFFFFU) return;  // negative: in another rank's part of the table
  G* const out = dtable + static_cast<std::int64_t>(token) * C + c;
  auto sum = load<W>(out);
  auto rows = rows_of_run(keys, at, N, token);
  for (bool more = true; more;) {
    Pack<T, W> packs[kAhead] = {};
#pragma unroll
    for (int i = 0; i < kAhead; ++i)
      if (rows.at[i] >= 0) packs[i] = load_pack<W>(dx + rows.at[i] * C + c);
    more = rows.at[kAhead - 1] >= 0;
    at += kAhead;
    auto following = rows;
    if (more) following = rows_of_run(keys, at, N, token);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) {
      if (rows.at[i] < 0) continue;
      const auto values = widened(packs[i]);
#pragma unroll
      for (int k = 0; k < W; ++k) sum.at[k] += values.at[k];
    }
    rows = following;
  }
  store(out, sum);
}

template <int W, class G, class T>
cudaError_t gather_runs(G* dtable, const T* dx, const Key* keys, std::int64_t N, std::int64_t C,
                        cudaStream_t stream) {
  const std::size_t packs = divide_up(static_cast<std::size_t>(C), W);
  const std::size_t strips = divide_up(packs, kGatherThreads);
  const auto strip = static_cast<unsigned>(divide_up(packs, strips));
  const unsigned runs = kGatherThreads / strip;
  const auto blocks = static_cast<unsigned>(divide_up(static_cast<std::size_t>(N), runs));
  return launch(gather_runs_kernel<W, G, T>, dim3(blocks, static_cast<unsigned>(strips)),
                dim3(threads_for_row(runs * strip, 1, kGatherThreads)), 0, stream, dtable, dx, keys,
                N, C, strip);
}

// dpositions[t] += sum over sequences b of dx[b, t], one thread for each pack of W numbers.
template <int W, class G, class T>
__global__ void position_grad_kernel(G* dpositions, const T* dx, std::int64_t N,
                                     std::int64_t count) {
  const std::int64_t at = (std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x) * W;
  if (at >= count) return;
  auto sum = load<W>(dpositions + at);
#pragma unroll 4
  for (std::int64_t from = at; from < N; from += count) {
    const auto values = load<W>(dx + from);
#pragma unroll
    for (int k = 0; k < W; ++k) sum.at[k] += values.at[k];
  }
  store(dpositions + at, sum);
}

constexpr unsigned kRotaryThreads = 128;
constexpr unsigned kPairs = 64;  // whose angles a block works out

// Block (t, strip) turns a strip of the pairs (d, d + D/2) of every head and sequence at position
// t: they share the angles, which take doubles and far longer than the turning.
template <int W, class T>
__global__ void __launch_bounds__(kRotaryThreads)
    rotary_kernel(T* qkv, bool back, std::int64_t first_position, unsigned sequences,
                  std::int64_t length, unsigned heads, std::int64_t A, unsigned D) {
  __shared__ float cosines[kPairs];
  __shared__ float sines[kPairs];
  constexpr double kLogOfBase = 9.210340371976184;  // of 10000
  const unsigned half = D / 2;
  const unsigned strip = blockIdx.y * kPairs;
  const unsigned pairs = half - strip < kPairs ? half - strip : kPairs;
  const auto position = static_cast<double>(first_position + std::int64_t{blockIdx.x});
  if (threadIdx.x < pairs) {
    const double frequency = exp(-2.0 * (strip + threadIdx.x) / D * kLogOfBase);
    double sine = 0;
    double cosine = 0;
    sincos(position * frequency, &sine, &cosine);
    cosines[threadIdx.x] = static_cast<float>(cosine);
    sines[threadIdx.x] = static_cast<float>(back ? -sine : sine);
  }
  __syncthreads();
  const unsigned packs = pairs / W;
  const unsigned rows_at_once = kRotaryThreads / packs;
  if (threadIdx.x >= rows_at_once * packs) return;
  const unsigned pair = threadIdx.x % packs * W;
  Floats<W> cosine, sine;
#pragma unroll
  for (int i = 0; i < W; ++i) {
    cosine.at[i] = cosines[pair + i];
    sine.at[i] = sines[pair + i];
  }
  for (unsigned row = threadIdx.x / packs; row < sequences * heads; row += rows_at_once) {
    const std::int64_t token = row / heads * length + blockIdx.x;
    T* const at = qkv + token * A + row % heads * D + strip + pair;
    auto first = load<W>(at);
    auto second = load<W>(at + half);
#pragma unroll
    for (int i = 0; i < W; ++i) {
      const float before = first.at[i];
      first.at[i] = before * cosine.at[i] - second.at[i] * sine.at[i];
      second.at[i] = second.at[i] * cosine.at[i] + before * sine.at[i];
    }
    store(at, first);
    store(at + half, second);
  }
}

unsigned blocks_of(std::int64_t count, unsigned threads) {
  return static_cast<unsigned>(divide_up(static_cast<std::size_t>(count), threads));
}

}  // namespace

template <class T>
cudaError_t embedding_forward(T* x, const std::int32_t* tokens, const T* table, const T* positions,
                              std::int64_t N, std::int64_t T_, std::int64_t C,
                              cudaStream_t stream) {
  if (N == 0) return cudaSuccess;
  const auto columns = static_cast<std::size_t>(C);
  const bool wide = rows_are_wide(x, columns, sizeof(T)) &&
                    rows_are_wide(table, columns, sizeof(T)) &&
                    rows_are_wide(positions, columns, sizeof(T));
  return launch(embedding_forward_kernel<T>, dim3(static_cast<unsigned>(N)),
                dim3(threads_for_row(columns, wide ? kWidth<T> : 1, 256)), 0, stream, x, tokens,
                table, positions, N, T_, C, wide);
}

template <class G, class T>
cudaError_t embedding_grad(G* dtable, G* dpositions, const T* dx, const std::int32_t* tokens,
                           void* workspace, std::int64_t N, std::int64_t T_, std::int64_t C,
                           cudaStream_t stream) {
  if (N == 0) return cudaSuccess;
  constexpr unsigned kThreads = 128;
  Key* keys = static_cast<Key*>(workspace);
  Key* other = keys + N;
  cudaError_t status = launch(sort_blocks_kernel, dim3(blocks_of(N, kSortBlock)),
                              dim3(kSortThreads), 0, stream, keys, tokens, N);
  for (std::int64_t run = kSortBlock; run < N && status == cudaSuccess; run *= 2) {
    status = launch(merge_runs_kernel, dim3(blocks_of(N, kThreads)), dim3(kThreads), 0, stream,
                    other, static_cast<const Key*>(keys), run, N);
    std::swap(keys, other);
  }
  if (status != cudaSuccess) return status;
  const auto are_wide = [&](const G* sums, std::int64_t columns) {
    return rows_are_wide(sums, static_cast<std::size_t>(columns), sizeof(G)) &&
           rows_are_wide(dx, static_cast<std::size_t>(columns), sizeof(T));
  };
  status = are_wide(dtable, C) ? gather_runs<kWidth<T>>(dtable, dx, keys, N, C, stream)
                               : gather_runs<1>(dtable, dx, keys, N, C, stream);
  if (status != cudaSuccess || dpositions == nullptr) return status;
  const bool wide = are_wide(dpositions, T_ * C);
  const unsigned blocks = blocks_of(T_ * C, kThreads * (wide ? kWidth<T> : 1));
  return launch(wide ? position_grad_kernel<kWidth<T>, G, T> : position_grad_kernel<1, G, T>,
                dim3(blocks), dim3(kThreads), 0, stream, dpositions, dx, N * C, T_ * C);
}

template <class T>
cudaError_t rotary(T* qkv, Turn turn, const AttentionShape& shape, cudaStream_t stream,
                   std::int64_t first) {
  const std::int64_t half = shape.D / 2;
  if (shape.B * shape.T * half == 0) return cudaSuccess;
  const bool wide = rows_are_wide(qkv, static_cast<std::size_t>(half), sizeof(T));
  return launch(wide ? rotary_kernel<kWidth<T>, T> : rotary_kernel<1, T>,
                dim3(static_cast<unsigned>(shape.T), blocks_of(half, kPairs)), dim3(kRotaryThreads),
                0, stream, qkv, turn == Turn::kBack, first, static_cast<unsigned>(shape.B), shape.T,
                static_cast<unsigned>(shape.H + shape.K), (shape.H + 2 * shape.K) * shape.D,
                static_cast<unsigned>(shape.D));
}

#define PARALLELARIUM_FOR(T)                                                                      \
  template cudaError_t embedding_forward(T*, const std::int32_t*, const T*, const T*,             \
                                         std::int64_t, std::int64_t, std::int64_t, cudaStream_t); \
  template cudaError_t rotary(T*, Turn, const AttentionShape&, cudaStream_t, std::int64_t);
#define PARALLELARIUM_GRAD_FOR(G, T)                                                              \
  template cudaError_t embedding_grad(G*, G*, const T*, const std::int32_t*, void*, std::int64_t, \
                                      std::int64_t, std::int64_t, cudaStream_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
PARALLELARIUM_GRAD_FOR(float, float)
PARALLELARIUM_GRAD_FOR(float, Bf16)
PARALLELARIUM_GRAD_FOR(Bf16, Bf16)
#undef PARALLELARIUM_FOR
#undef PARALLELARIUM_GRAD_FOR

}  // namespace parallelarium

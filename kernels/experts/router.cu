// SPDX-License-Identifier: Apache-2.0
// Routers. A warp works on one token, its lanes on some of the experts each. Which row a choice
// gets depends on all choices before it, so rows are given expert by expert: a block counts the
// choices of its expert in the order of the tokens. No atomics: the same routes each time.
#include <limits>

#include "kernels/base/vector.cuh"
#include "kernels/gpu.h"

namespace parallelarium {
namespace {

constexpr unsigned kTokensOfBlock = 4;  // a warp each
constexpr unsigned kThreads = 256;
constexpr std::size_t kUsualShared = 48 << 10;  // of a block, on every GPU without asking
constexpr float kNever = -std::numeric_limits<float>::infinity();

// A warp's part of the block's dynamic shared memory.
__device__ inline float* part_of_warp(std::int64_t floats) {
  return reinterpret_cast<float*>(dynamic_shared()) + threadIdx.x / 32 * floats;
}
__device__ inline std::int64_t token_of_warp() {
  return std::int64_t{blockIdx.x} * kTokensOfBlock + threadIdx.x / 32;
}

template <class Body>
__device__ inline void for_own_experts(std::int64_t E, const Body& body) {
  for (std::int64_t e = threadIdx.x % 32; e < E; e += 32) body(e);
}

// Affinities [E] of one token; every lane gets the log-sum-exp of its logits.
template <class T>
__device__ inline float affinities(float* affinity, const T* logits, const RouterShape& shape) {
  float most = kNever;
  for_own_experts(shape.E, [&](std::int64_t e) { most = Largest{}(most, widened(logits[e])); });
  most = over_warp(most, Largest{});
  float sum = 0;
  for_own_experts(shape.E, [&](std::int64_t e) {
    affinity[e] = expf(widened(logits[e]) - most);
    sum += affinity[e];
  });
  sum = over_warp(sum, Sum{});
  for_own_experts(shape.E, [&](std::int64_t e) {
    affinity[e] = shape.sigmoid ? 1 / (1 + expf(-widened(logits[e]))) : affinity[e] / sum;
  });
  __syncwarp();
  return most + logf(sum);
}

// A number and its expert as one key: the larger number has the larger key, of equal ones the first
// expert.
using Key = unsigned long long;
__device__ inline Key key_of(float value, std::int64_t expert) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t ordered = (bits >> 31) != 0 ? ~bits : bits | 0x8000'0000U;
  return Key{ordered} << 32 | (0xFFFF'FFFFU - static_cast<std::uint32_t>(expert));
}
__device__ inline std::int64_t expert_of(Key key) {
  return static_cast<std::int64_t>(0xFFFF'FFFFU - (key & 0xFFFF'FFFFU));
}
struct LargestKey {
  __device__ Key operator()(Key a, Key b) const { return a > b ? a : b; }
};

__device__ inline bool is_skewed(std::int64_t token, double skew) {
  const auto t = static_cast<double>(token);
  return floor((t + 1) * skew) > floor(t * skew);
}

// Leaves the experts of the `group_limit` groups whose best two add up to most; of equal groups the
// first stay. sums: [groups].
__device__ inline void limit_groups(float* selection, float* sums, const RouterShape& shape) {
  if (shape.groups == 0 || shape.group_limit == shape.groups) return;
  const std::int64_t width = shape.E / shape.groups;
  for (std::int64_t g = threadIdx.x % 32; g < shape.groups; g += 32) {
    float first = kNever, second = kNever;
    for (std::int64_t e = g * width; e < (g + 1) * width; ++e) {
      const float value = selection[e];
      if (value > first) {
        second = first;
        first = value;
      } else if (value > second) {
        second = value;
      }
    }
    sums[g] = width == 1 ? first : first + second;
  }
  __syncwarp();
  for (std::int64_t g = threadIdx.x % 32; g < shape.groups; g += 32) {
    std::int64_t before = 0;
    for (std::int64_t other = 0; other < shape.groups; ++other)
      before += sums[other] > sums[g] || (sums[other] == sums[g] && other < g);
    if (before < shape.group_limit) continue;
    for (std::int64_t e = g * width; e < (g + 1) * width; ++e) selection[e] = kNever;
  }
  __syncwarp();
}

// What of shared memory a token needs, in floats.
constexpr std::int64_t choose_floats(const RouterShape& shape) {
  return 2 * shape.E + shape.groups;
}
constexpr std::int64_t grad_floats(const RouterShape& shape) { return 2 * shape.E; }

// Experts and gates of each token, its normalised affinities, its log-sum-exp.
template <class T>
__global__ void choose_experts_kernel(float* gates, std::int32_t* routes, float* shares,
                                      float* log_sums, const T* logits, const float* bias,
                                      RouterShape shape) {
  const std::int64_t n = token_of_warp(), E = shape.E, k = shape.k;
  if (n >= shape.N) return;
  const unsigned lane = threadIdx.x % 32;
  float* affinity = part_of_warp(choose_floats(shape));
  float* selection = affinity + E;
  const float log_sum = affinities(affinity, logits + n * E, shape);
  if (lane == 0) log_sums[n] = log_sum;
  float all = 0;
  for_own_experts(E, [&](std::int64_t e) { all += affinity[e]; });
  all = over_warp(all, Sum{});
  for_own_experts(E, [&](std::int64_t e) {
    shares[n * E + e] = affinity[e] / all;
    selection[e] = bias != nullptr ? affinity[e] + bias[e] : affinity[e];
  });
  if (lane == 0 && is_skewed(n, shape.skew)) selection[0] = -kNever;
  __syncwarp();
  limit_groups(selection, selection + E, shape);
  float sum = 0;
  for (std::int64_t j = 0; j < k; ++j) {
    Key best = 0;
    for_own_experts(E, [&](std::int64_t e) { best = LargestKey{}(best, key_of(selection[e], e)); });
    const std::int64_t expert = expert_of(over_warp(best, LargestKey{}));
    // Its own lane alone looks at it again.
    if (lane == expert % 32) selection[expert] = kNever;
    sum += affinity[expert];
    if (lane != 0) continue;
    routes[n * k + j] = static_cast<std::int32_t>(expert);
    gates[n * k + j] = affinity[expert];
  }
  if (lane != 0 || k == 1) return;
  for (std::int64_t j = 0; j < k; ++j) gates[n * k + j] /= sum;
}

// chosen[e]: how many choices are expert e's. A block for each expert.
__global__ void count_choices_kernel(std::int32_t* chosen, const std::int32_t* routes,
                                     std::int64_t choices) {
  __shared__ std::int32_t of_warps[kThreads / 32];
  std::int32_t count = 0;
  for (std::int64_t i = threadIdx.x; i < choices; i += kThreads)
    count += routes[i] == static_cast<std::int32_t>(blockIdx.x);
  count = over_block(count, of_warps, Sum{});
  if (threadIdx.x == 0) chosen[blockIdx.x] = count;
}

__device__ inline std::int32_t kept_of(std::int32_t chosen, std::int64_t capacity) {
  return capacity == 0 || chosen < capacity ? chosen : static_cast<std::int32_t>(capacity);
}

// The rows of one expert's choices, in the order of the choices; a block for each expert, a stretch
// of the choices for each thread.
__global__ void place_rows_kernel(std::int32_t* rows, std::int32_t* counts, float* record,
                                  const std::int32_t* chosen, const std::int32_t* routes,
                                  RouterShape shape) {
  __shared__ std::int32_t of_warps[kThreads / 32];
  __shared__ std::int32_t of_threads[kThreads];
  const std::int64_t expert = blockIdx.x, choices = shape.N * shape.k;
  const std::int64_t place = shape.place_of(expert);
  std::int32_t first = 0;
  for (std::int64_t e = threadIdx.x; e < shape.E; e += kThreads)
    if (shape.place_of(e) < place) first += kept_of(chosen[e], shape.capacity);
  first = over_block(first, of_warps, Sum{});

  const std::int64_t each = (choices + kThreads - 1) / kThreads;
  const std::int64_t begin = threadIdx.x * each;
  const std::int64_t end = begin + each < choices ? begin + each : choices;
  std::int32_t own = 0;
  for (std::int64_t i = begin; i < end; ++i) own += routes[i] == expert;
  of_threads[threadIdx.x] = own;
  __syncthreads();
  for (unsigned step = 1; step < kThreads; step *= 2) {
    const std::int32_t earlier = threadIdx.x >= step ? of_threads[threadIdx.x - step] : 0;
    __syncthreads();
    of_threads[threadIdx.x] += earlier;
    __syncthreads();
  }
  std::int32_t next = of_threads[threadIdx.x] - own;
  for (std::int64_t i = begin; i < end; ++i) {
    if (routes[i] != expert) continue;
    rows[i] = shape.capacity == 0 || next < shape.capacity ? first + next : -1;
    ++next;
  }
  if (threadIdx.x != 0) return;
  const std::int32_t kept = kept_of(chosen[expert], shape.capacity);
  counts[place] = kept;
  record[expert] = static_cast<float>(chosen[expert]);
  record[shape.E + expert] = static_cast<float>(kept);
}

// Mean share of each expert, and the mean squared log-sum-exp: a block for each mean.
__global__ void means_kernel(float* means, const float* shares, const float* log_sums,
                             std::int64_t N, std::int64_t E) {
  __shared__ double of_warps[kThreads / 32];
  const std::int64_t expert = blockIdx.x;
  double sum = 0;
  for (std::int64_t n = threadIdx.x; n < N; n += kThreads) {
    const auto value = static_cast<double>(expert < E ? shares[n * E + expert] : log_sums[n]);
    sum += expert < E ? value : value * value;
  }
  sum = over_block(sum, of_warps, Sum{});
  if (threadIdx.x == 0) means[expert] = static_cast<float>(sum / static_cast<double>(N));
}

template <class T>
__global__ void route_grad_kernel(T* dlogits, const float* dgates, const T* logits,
                                  const float* gates, const std::int32_t* routes, float scale,
                                  RouterShape shape) {
  const std::int64_t n = token_of_warp(), N = shape.N, E = shape.E, k = shape.k;
  if (n >= N) return;
  float* affinity = part_of_warp(grad_floats(shape));
  float* gradient = affinity + E;
  const T* row = logits + n * E;
  const float log_sum = affinities(affinity, row, shape);
  const float each = scale / static_cast<float>(N);
  const std::int32_t* chosen = routes + chosen_at(N, k);
  // d(balance loss) / d(normalised affinity).
  const auto pull = [&](std::int64_t e) {
    return shape.balance * static_cast<float>(E) * each * static_cast<float>(chosen[e]) /
           static_cast<float>(N * k);
  };
  // With respect to affinities: sums over all, then over the chosen.
  float all = 0, mean_pull = 0;
  for_own_experts(E, [&](std::int64_t e) {
    all += affinity[e];
    mean_pull += affinity[e] * pull(e);
  });
  all = over_warp(all, Sum{});
  mean_pull = over_warp(mean_pull, Sum{}) / all;
  for_own_experts(E, [&](std::int64_t e) { gradient[e] = (pull(e) - mean_pull) / all; });
  __syncwarp();
  if (threadIdx.x % 32 == 0) {
    float sum = 0, mean_gate = 0;
    for (std::int64_t i = n * k; i < (n + 1) * k; ++i) {
      sum += affinity[routes[i]];
      mean_gate += gates[i] * dgates[i];
    }
    for (std::int64_t i = n * k; i < (n + 1) * k; ++i)
      gradient[routes[i]] += k == 1 ? dgates[i] : (dgates[i] - mean_gate) / sum;
  }
  __syncwarp();
  // With respect to logits.
  float mean = 0;
  if (!shape.sigmoid) {
    for_own_experts(E, [&](std::int64_t e) { mean += affinity[e] * gradient[e]; });
    mean = over_warp(mean, Sum{});
  }
  const float pull_z = 2 * shape.z * each * log_sum;
  for_own_experts(E, [&](std::int64_t e) {
    const float a = affinity[e];
    const float slope = shape.sigmoid ? a * (1 - a) * gradient[e] : a * (gradient[e] - mean);
    const float share = shape.sigmoid ? expf(widened(row[e]) - log_sum) : a;
    dlogits[n * E + e] = rounded<T>(slope + pull_z * share);
  });
}

// A block for each layer.
__global__ void update_bias_kernel(float* bias, const float* loads, float rate, std::int64_t E) {
  __shared__ double of_warps[kThreads / 32];
  const std::int64_t first = std::int64_t{blockIdx.x} * E;
  double sum = 0;  // of whole numbers: exact in any order
  for (std::int64_t e = threadIdx.x; e < E; e += kThreads)
    sum += static_cast<double>(loads[first + e]);
  sum = over_block(sum, of_warps, Sum{});
  for (std::int64_t e = threadIdx.x; e < E; e += kThreads) {
    const double over = static_cast<double>(loads[first + e]) * static_cast<double>(E) - sum;
    if (over != 0) bias[first + e] += over > 0 ? -rate : rate;
  }
}

// Puts a kernel that works on a token with each warp on the stream.
template <class... Parameters, class... Arguments>
cudaError_t launch_router(void (*kernel)(Parameters...), const RouterShape& shape,
                          std::int64_t floats, cudaStream_t stream, Arguments... arguments) {
  const std::size_t shared = kTokensOfBlock * static_cast<std::size_t>(floats) * sizeof(float);
  if (shared > kUsualShared) {
    if (const cudaError_t status = allow_shared(kernel, shared); status != cudaSuccess)
      return status;
  }
  const std::size_t blocks = divide_up(static_cast<std::size_t>(shape.N), kTokensOfBlock);
  return launch(kernel, dim3(static_cast<unsigned>(blocks)), dim3(kTokensOfBlock * 32), shared,
                stream, arguments..., shape);
}

}  // namespace

template <class T>
cudaError_t route(float* gates, std::int32_t* routes, float* record, const T* logits,
                  const float* bias, const RouterShape& shape, void* workspace,
                  cudaStream_t stream) {
  const std::int64_t N = shape.N, E = shape.E, k = shape.k;
  float* shares = static_cast<float*>(workspace);
  float* log_sums = shares + N * E;
  std::int32_t* chosen = routes + chosen_at(N, k);
  const auto experts = static_cast<unsigned>(E);
  cudaError_t status = launch_router(choose_experts_kernel<T>, shape, choose_floats(shape), stream,
                                     gates, routes, shares, log_sums, logits, bias);
  if (status == cudaSuccess)
    status = launch(count_choices_kernel, dim3(experts), dim3(kThreads), 0, stream, chosen,
                    static_cast<const std::int32_t*>(routes), N * k);
  if (status == cudaSuccess)
    status =
        launch(place_rows_kernel, dim3(experts), dim3(kThreads), 0, stream, routes + rows_at(N, k),
               routes + counts_at(N, k, E), record, static_cast<const std::int32_t*>(chosen),
               static_cast<const std::int32_t*>(routes), shape);
  if (status == cudaSuccess)
    status = launch(means_kernel, dim3(experts + 1), dim3(kThreads), 0, stream, record + 2 * E,
                    static_cast<const float*>(shares), static_cast<const float*>(log_sums), N, E);
  return status;
}

template <class T>
cudaError_t route_grad(T* dlogits, const float* dgates, const T* logits, const float* gates,
                       const std::int32_t* routes, float scale, const RouterShape& shape,
                       cudaStream_t stream) {
  return launch_router(route_grad_kernel<T>, shape, grad_floats(shape), stream, dlogits, dgates,
                       logits, gates, routes, scale);
}

cudaError_t update_bias(float* bias, const float* loads, float rate, std::int64_t layers,
                        std::int64_t E, cudaStream_t stream) {
  if (layers == 0) return cudaSuccess;
  return launch(update_bias_kernel, dim3(static_cast<unsigned>(layers)), dim3(kThreads), 0, stream,
                bias, loads, rate, E);
}

#define PARALLELARIUM_FOR(T)                                                                     \
  template cudaError_t route(float*, std::int32_t*, float*, const T*, const float*,              \
                             const RouterShape&, void*, cudaStream_t);                           \
  template cudaError_t route_grad(T*, const float*, const T*, const float*, const std::int32_t*, \
                                  float, const RouterShape&, cudaStream_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Rates of the CUDA kernels on one GPU, as a table in Markdown: bytes per second of those that are
// bound by memory, beside a plain copy on the same GPU; FLOP/s of matrix products and attention,
// beside a product of 8192 in the same arithmetic. Rows are as wide as those of GPT-2 124M, and
// arrays, of random numbers, larger than the caches. Times are medians of CUDA events around
// several launches. Exit status 77 where there is no GPU.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/fused_attention.h"
#include "kernels/gpu.h"
#include "kernels/gpu_matmul.h"
#include "kernels/launch.h"

namespace parallelarium {
namespace {

// 300 MB for an array of N rows in bf16: several times what the caches of current GPUs hold.
constexpr std::int64_t kN = 196608, kC = 768, kV = 50257, kTokens = 4096, kF = 3072;
constexpr std::int64_t kPitch = 50264;  // of logits in a run

// Ends the program with the call's error: a benchmark has nothing better to do.
void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(1);
}
void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuBLASLt: %s\n", cublasLtGetStatusString(status));
  std::exit(1);
}

struct Free {
  void operator()(void* address) const { cudaFree(address); }
};
using Memory = std::unique_ptr<void, Free>;
Memory zeros(std::size_t bytes) {
  void* address = nullptr;
  check(cudaMalloc(&address, bytes));
  check(cudaMemset(address, 0, bytes));
  return Memory(address);
}

// Uniform in [low, 1), the same 2^20 again and again. Constant operands would flip fewer bits, and
// with the power that saves, tensor cores run faster than any training does.
template <class T>
Memory numbers(std::size_t count, float low = -1) {
  constexpr std::size_t kPattern = std::size_t{1} << 20;
  std::mt19937 bits(1);
  std::uniform_real_distribution<float> uniform(low, 1);
  std::vector<T> pattern(std::min(count, kPattern));
  for (T& value : pattern) {
    if constexpr (std::is_same_v<T, Bf16>)
      value = round_to_bf16(uniform(bits));
    else
      value = uniform(bits);
  }
  void* address = nullptr;
  check(cudaMalloc(&address, count * sizeof(T)));
  Memory memory(address);
  auto* const to = static_cast<T*>(address);
  check(cudaMemcpy(to, pattern.data(), pattern.size() * sizeof(T), cudaMemcpyHostToDevice));
  for (std::size_t done = pattern.size(); done < count; done *= 2)
    check(cudaMemcpy(to + done, to, std::min(done, count - done) * sizeof(T),
                     cudaMemcpyDeviceToDevice));
  return memory;
}

// Median seconds of one launch.
template <class Launch>
double seconds_of(const Launch& launch) {
  constexpr int kRepeats = 7;
  constexpr int kLaunches = 10;
  cudaEvent_t begin = nullptr;
  cudaEvent_t end = nullptr;
  check(cudaEventCreate(&begin));
  check(cudaEventCreate(&end));
  for (int turn = 0; turn < 3; ++turn) check(launch());
  std::vector<double> seconds;
  for (int repeat = 0; repeat < kRepeats; ++repeat) {
    check(cudaEventRecord(begin, nullptr));
    for (int turn = 0; turn < kLaunches; ++turn) check(launch());
    check(cudaEventRecord(end, nullptr));
    check(cudaEventSynchronize(end));
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin, end));
    seconds.push_back(double{milliseconds} * 1e-3 / kLaunches);
  }
  check(cudaEventDestroy(begin));
  check(cudaEventDestroy(end));
  std::nth_element(seconds.begin(), seconds.begin() + kRepeats / 2, seconds.end());
  return seconds[kRepeats / 2];
}

double copy_rate = 0;  // bytes per second of a copy, read and written both counted
int cache_bytes = 0;   // of the last level

template <class Launch>
void memory_row(const char* kernel, const char* storage, double bytes, const Launch& launch) {
  const double seconds = seconds_of(launch);
  std::printf("| %s | %s | %.1f us | %.0f GB/s | %.0f %% of copy%s |\n", kernel, storage,
              seconds * 1e6, bytes / seconds * 1e-9, 100 * bytes / seconds / copy_rate,
              bytes < 4.0 * cache_bytes ? ", partly in the cache" : "");
}

// Returns FLOP/s. `peak`: those that count as all; 0: this row's.
template <class Launch>
double compute_row(const std::string& kernel, const char* storage, double flops, double peak,
                   const Launch& launch) {
  const double seconds = seconds_of(launch);
  const double rate = flops / seconds;
  std::printf("| %s | %s | %.1f us | %.1f TFLOP/s | %.0f %% of product |\n", kernel.c_str(),
              storage, seconds * 1e6, rate * 1e-12, 100 * rate / (peak > 0 ? peak : rate));
  return rate;
}

template <class T>
void memory_bound(const char* storage) {
  constexpr std::size_t kCount = kN * kC;
  constexpr double kBytes = double{kCount} * sizeof(T);
  const Memory a = numbers<T>(kCount), b = numbers<T>(kCount), c = numbers<T>(kCount),
               wide = numbers<T>(2 * kCount);
  const Memory gain = numbers<T>(2 * kC), stats = zeros(2 * kN * sizeof(float)),
               table = numbers<T>(kV * kC), tokens = zeros(kN * sizeof(std::int32_t)),
               space = zeros(std::max({column_sums_workspace(kN, kC), embedding_grad_workspace(kN),
                                       sum_of_squares_workspace()}));
  std::vector<std::int32_t> spread(kN);
  for (std::int64_t n = 0; n < kN; ++n)
    spread[static_cast<std::size_t>(n)] = static_cast<std::int32_t>(n * 7919 % kV);
  check(cudaMemcpy(tokens.get(), spread.data(), kN * sizeof(std::int32_t), cudaMemcpyHostToDevice));
  const auto at = [](const Memory& memory) { return static_cast<T*>(memory.get()); };
  const auto floats = [](const Memory& memory) { return static_cast<float*>(memory.get()); };
  auto* const token = static_cast<const std::int32_t*>(tokens.get());
  const auto row = [&](const char* kernel, double bytes, const auto& launch) {
    memory_row(kernel, storage, bytes, launch);
  };
  row("residual_add", 3 * kBytes,
      [&] { return residual_add<T>(at(c), at(a), at(b), kCount, nullptr); });
  row("accumulate", 3 * kBytes, [&] { return accumulate<T>(at(a), at(b), kCount, nullptr); });
  for (const std::int64_t C : {kC, 2 * kC, 4 * kC, std::int64_t{8192}})  // bias: of the table
    row(("residual_bias_add, C " + std::to_string(C)).c_str(), 3 * kBytes, [&, C] {
      return residual_bias_add<T>(at(c), at(a), at(b), at(table), kN * kC / C, C, nullptr);
    });
  row("gelu_forward", 2 * kBytes, [&] { return gelu_forward<T>(at(c), at(b), kCount, nullptr); });
  row("gelu_backward", 3 * kBytes,
      [&] { return gelu_backward<T>(at(c), at(a), at(b), kCount, nullptr); });
  row("swiglu_forward", 3 * kBytes,
      [&] { return swiglu_forward<T>(at(c), at(wide), kN, kC, nullptr); });
  row("swiglu_backward", 5 * kBytes,
      [&] { return swiglu_backward<T>(at(wide), at(a), at(wide), kN, kC, nullptr); });
  row("layer_norm_forward", 2 * kBytes, [&] {
    return layer_norm_forward<T>(at(c), floats(stats), at(b), at(gain), at(gain), kN, kC, nullptr);
  });
  row("rms_norm_forward", 2 * kBytes,
      [&] { return rms_norm_forward<T>(at(c), floats(stats), at(b), at(gain), kN, kC, nullptr); });
  row("layer_norm_input_grad, accumulating", 4 * kBytes, [&] {
    return layer_norm_input_grad<T>(at(c), at(a), at(b), at(gain), floats(stats), true, kN, kC,
                                    nullptr);
  });
  row("norm_weight_grad", 2 * kBytes, [&] {
    return norm_weight_grad<T, T>(at(gain), at(gain) + kC, at(a), at(b), floats(stats), space.get(),
                                  kN, kC, nullptr);
  });
  row("column_sums", kBytes,
      [&] { return column_sums<T, T>(at(gain), at(a), space.get(), kN, kC, nullptr); });
  constexpr std::int64_t kLength = 1024;
  constexpr std::int64_t kHeads = kN * kC / (kLength * kLength);
  row("causal_softmax", 1.5 * kBytes,
      [&] { return causal_softmax<T>(at(c), kHeads, kLength, nullptr); });
  row("causal_softmax_grad", 2 * kBytes, [&] {
    return causal_softmax_grad<T>(at(c), at(a), kLength * kLength, 0.125F, kHeads, kLength,
                                  nullptr);
  });
  const AttentionShape turned{kN / 1024, 1024, 4, 4, 64};  // (H + 2K) D = kC
  row("rotary", 2 * kBytes * 2 / 3,
      [&] { return rotary<T>(at(a), Turn::kForward, turned, nullptr); });
  row("embedding_forward", 3 * kBytes,
      [&] { return embedding_forward<T>(at(c), token, at(table), at(b), kN, kN, kC, nullptr); });
  // Every row of the table gathers several tokens, and is read and written once.
  row("embedding_grad", kBytes + 2.0 * kV * kC * sizeof(T), [&] {
    return embedding_grad<T, T>(at(table), nullptr, at(a), token, space.get(), kN, 1024, kC,
                                nullptr);
  });
  row("sum_of_squares", kBytes, [&] {
    return sum_of_squares<T>(static_cast<double*>(stats.get()), at(a), space.get(), one_run(kCount),
                             nullptr);
  });

  constexpr double kLogits = double{kTokens} * kV * sizeof(T);
  const Memory logits = numbers<T>(kTokens * kPitch);
  const Memory row_max = zeros(kTokens * sizeof(float)), sum = zeros(kTokens * sizeof(float)),
               target = zeros(kTokens * sizeof(float));
  row("loss_max", kLogits,
      [&] { return loss_max<T>(floats(row_max), at(logits), kTokens, kV, nullptr, kPitch); });
  row("loss_sum", kLogits, [&] {
    return loss_sum<T>(floats(sum), floats(target), at(logits), floats(row_max), token, kTokens, kV,
                       0, nullptr, kPitch);
  });
  row("loss_max_sum", kLogits, [&] {
    return loss_max_sum<T>(floats(row_max), floats(sum), floats(target), at(logits), token, kTokens,
                           kV, nullptr, kPitch);
  });
  row("loss_grad", 2 * kLogits, [&] {
    return loss_grad<T>(at(logits), floats(row_max), floats(sum), token, 1e-4F, kTokens, kV, 0,
                        nullptr, kPitch);
  });
}

void optimizer() {
  constexpr std::size_t kCount = std::size_t{1} << 26;
  // Second moments are not negative.
  const Memory master = numbers<float>(kCount), g = numbers<float>(kCount),
               m = numbers<float>(kCount), v = numbers<float>(kCount, 0),
               half = numbers<Bf16>(kCount), half_g = numbers<Bf16>(kCount), squares = zeros(8);
  const auto floats = [](const Memory& memory) { return static_cast<float*>(memory.get()); };
  const auto bf16 = [](const Memory& memory) { return static_cast<Bf16*>(memory.get()); };
  auto* const sum = static_cast<const double*>(squares.get());
  memory_row("adamw", "fp32", 28.0 * kCount, [&] {
    return adamw<float, float, float>(floats(master), nullptr, floats(g), floats(m), floats(v), sum,
                                      1.0F, AdamW{}, one_run(kCount), nullptr);
  });
  Runs runs;  // as many as GPT-2 124M has: matrices, and biases between them
  for (int pair = 0; pair < 49; ++pair) {
    runs.add(kCount / 49 - 768, true);
    runs.add(768, false);
  }
  const auto of_runs = static_cast<double>(runs.length());
  memory_row("adamw, 98 runs", "fp32", 28 * of_runs, [&] {
    return adamw<float, float, float>(floats(master), nullptr, floats(g), floats(m), floats(v), sum,
                                      1.0F, AdamW{}, runs, nullptr);
  });
  memory_row("adamw, fp32 master", "bf16", 28.0 * kCount, [&] {
    return adamw<Bf16, Bf16, float>(bf16(half), floats(master), bf16(half_g), floats(m), floats(v),
                                    sum, 1.0F, AdamW{}, one_run(kCount), nullptr);
  });
}

// Returns FLOP/s of the first, which the others are compared with.
template <class T>
double products(const char* storage, bool tf32) {
  constexpr std::size_t kSpace = 32U << 20;
  const Memory space = zeros(kSpace);
  GpuMatmul matmul(space.get(), kSpace, tf32);
  double peak = 0;
  // The head with its rows apart as in a run, and without gaps.
  for (const auto [N, M, K, pitch] : {std::array<std::int64_t, 4>{8192, 8192, 8192, 8192},
                                      {16384, 3 * kC, kC, 3 * kC},
                                      {16384, kF, kC, kF},
                                      {16384, kC, kF, kC},
                                      {16384, kV, kC, kPitch},
                                      {16384, kV, kC, kV}}) {
    const auto count = [](std::int64_t rows, std::int64_t columns) {
      return static_cast<std::size_t>(rows * columns);
    };
    const Memory x = numbers<T>(count(N, K)), w = numbers<T>(count(M, K)),
                 y = zeros(count(N, pitch) * sizeof(T));
    const auto at = [](const Memory& memory) { return static_cast<T*>(memory.get()); };
    const std::string size = " " + std::to_string(N) + " x " + std::to_string(M) + " x " +
                             std::to_string(K) +
                             (pitch > M ? ", rows " + std::to_string(pitch) + " apart" : "");
    const double flops = 2.0 * static_cast<double>(N * M * K);
    const double rate = compute_row("linear_forward" + size, storage, flops, peak, [&] {
      return linear_forward<T>(matmul, at(y), at(x), at(w), static_cast<const T*>(nullptr), N, M, K,
                               nullptr, pitch);
    });
    if (peak == 0) peak = rate;
    if (M != kV) continue;
    compute_row("linear_input_grad" + size, storage, flops, peak, [&] {
      return linear_input_grad<T>(matmul, at(x), at(y), at(w), N, M, K, nullptr, pitch);
    });
    compute_row("linear_weight_grad" + size, storage, flops, peak, [&] {
      return linear_weight_grad<T, T>(matmul, at(w), at(y), at(x), N, M, K, nullptr, pitch);
    });
  }
  return peak;
}

template <class T>
void attention(const char* storage, std::int64_t D, double peak) {
  const AttentionShape shape{16, 1024, kC / D, kC / D, D};
  const auto tokens = static_cast<std::size_t>(shape.B * shape.T);
  const Memory qkv = numbers<T>(tokens * 3 * kC), dqkv = zeros(tokens * 3 * kC * sizeof(T)),
               context = zeros(tokens * kC * sizeof(T)), dcontext = numbers<T>(tokens * kC),
               lse = zeros(static_cast<std::size_t>(shape.B * shape.H * shape.T) * 4),
               scratch = zeros(static_cast<std::size_t>(fused_attention_scratch(shape)) * 4);
  const auto at = [](const Memory& memory) { return static_cast<T*>(memory.get()); };
  auto* const sums = static_cast<float*>(lse.get());
  // Half of the scores of 4 T^2 D: those that the mask leaves. The backward counts 2.5 forwards.
  const double flops = 2.0 * static_cast<double>(shape.B * shape.H * shape.T * shape.T * shape.D);
  const std::string size = " 16 x 1024, D " + std::to_string(D);
  compute_row("fused_attention_forward" + size, storage, flops, peak, [&] {
    return fused_attention_forward<T>(at(context), sums, at(qkv), shape, nullptr);
  });
  compute_row("fused_attention_backward" + size, storage, 2.5 * flops, peak, [&] {
    return fused_attention_backward<T>(at(dqkv), static_cast<float*>(scratch.get()), at(dcontext),
                                       at(qkv), at(context), sums, shape, nullptr);
  });
}

int run() {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess || devices == 0) {
    std::fprintf(stderr, "No GPU: %s\n",
                 status == cudaSuccess ? "none found" : cudaGetErrorString(status));
    return 77;
  }
  check(cudaDeviceGetAttribute(&cache_bytes, cudaDevAttrL2CacheSize, 0));
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);  // rows that are done outlive a failure
  constexpr std::size_t kCopy = std::size_t{1} << 29;
  {
    const Memory from = numbers<float>(kCopy / sizeof(float)), to = zeros(kCopy);
    const double seconds = seconds_of([&] {
      return cudaMemcpyAsync(to.get(), from.get(), kCopy, cudaMemcpyDeviceToDevice, nullptr);
    });
    copy_rate = 2.0 * kCopy / seconds;
    std::printf("| kernel | storage | time | rate | share |\n|---|---|---|---|---|\n");
    std::printf("| copy of 512 MiB | | %.1f us | %.0f GB/s | |\n", seconds * 1e6, copy_rate * 1e-9);
  }
  memory_bound<float>("fp32");
  memory_bound<Bf16>("bf16");
  optimizer();
  const double fp32 = products<float>("fp32", false);
  products<float>("tf32", true);
  const double bf16 = products<Bf16>("bf16", false);
  attention<Bf16>("bf16", 64, bf16);
  attention<Bf16>("bf16", 128, bf16);
  attention<float>("fp32", 64, fp32);
  return 0;
}

}  // namespace
}  // namespace parallelarium

int main() { return parallelarium::run(); }

// SPDX-License-Identifier: Apache-2.0
// What cuda_kernels_bench times with: arrays on the GPU, medians of CUDA events, rows of its table.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "kernels/base/bf16.h"

namespace parallelarium {

// 300 MB for an array of N rows in bf16: several times what the caches of current GPUs hold.
inline constexpr std::int64_t kN = 196608, kC = 768, kV = 50257;

// Ends the program with the call's error: a benchmark has nothing better to do.
inline void check(cudaError_t status) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "CUDA: %s\n", cudaGetErrorString(status));
  std::exit(1);
}
inline void check(cublasStatus_t status) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  std::fprintf(stderr, "cuBLASLt: %s\n", cublasLtGetStatusString(status));
  std::exit(1);
}

struct Free {
  void operator()(void* address) const { cudaFree(address); }
};
using Memory = std::unique_ptr<void, Free>;
inline Memory zeros(std::size_t bytes) {
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

inline double copy_rate = 0;  // bytes per second of a copy, read and written both counted
inline int cache_bytes = 0;   // of the last level

// Rows of memory_row that do not lie in the cache in part.
struct OfCopy {
  int rows = 0, enough = 0;  // with the goal's share of the copy rate at least
  double worst = 0;          // share
  std::string name;          // of the worst, with its storage
};
inline OfCopy of_copy;
inline constexpr double kGoalOfCopy = 0.8;

template <class Launch>
void memory_row(const char* kernel, const char* storage, double bytes, const Launch& launch) {
  const double seconds = seconds_of(launch);
  const double share = bytes / seconds / copy_rate;
  const bool cached = bytes < 4.0 * cache_bytes;
  std::printf("| %s | %s | %.1f us | %.0f GB/s | %.0f %% of copy%s |\n", kernel, storage,
              seconds * 1e6, bytes / seconds * 1e-9, 100 * share,
              cached ? ", partly in the cache" : "");
  if (cached) return;
  of_copy.enough += share >= kGoalOfCopy ? 1 : 0;
  if (of_copy.rows++ > 0 && share >= of_copy.worst) return;
  of_copy.worst = share;
  of_copy.name = std::string(kernel) + " in " + storage;
}

// A line below the table. Nothing where no row counts.
inline void print_worst() {
  if (of_copy.rows == 0) return;
  std::printf("\nMemory-bound kernels: worst %.1f %% of copy, %s; %d of %d reach %.0f %%.\n",
              100 * of_copy.worst, of_copy.name.c_str(), of_copy.enough, of_copy.rows,
              100 * kGoalOfCopy);
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

// Kernels of dropout, exchanges between ranks and experts (cuda_exchange_rows.cpp).
template <class T>
void exchange_rows(const char* storage);

}  // namespace parallelarium

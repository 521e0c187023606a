// SPDX-License-Identifier: Apache-2.0
// Calibration measures these on a device: matrix products, kernels, copies.
#pragma once

#include <algorithm>
#include <chrono>
#include <iterator>
#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/run/calibrate/bench_timing.h"
#include "engine/run/stop.h"
#include "engine/train/device.h"

namespace parallelarium {

// The sizes of heads and routers: a vocabulary of bytes, a handful of experts.
inline constexpr std::int64_t kBenchVocabulary = 256, kBenchExperts = 8;

// Measured seconds of one call on one thread.
struct ProductTime {
  std::int64_t m = 0, n = 0, k = 0;
  double seconds = 0;
  std::string phase = {};  // as MatmulPoint's
  std::string type = {};
  double host_seconds = 0;  // as CallTime's
};
struct KernelTime {
  std::string kernel;
  double elements = 0;  // of one call
  double seconds = 0;
  std::string type = {};  // as MatmulPoint's
  double host_seconds = 0;
};

// What to measure: products of `hidden` by `hidden` with these numbers of tokens, kernels on
// sequences of these lengths, and a copy that no cache holds. Defaults suit cores.
struct BenchSizes {
  struct Width {
    std::int64_t hidden = 0;
    std::vector<std::int64_t> tokens;
    std::int64_t vocabulary = 0;  // vocabulary of one more head; 0: none
    std::vector<std::int64_t> head_tokens = {};
  };
  struct Sequence {
    std::int64_t T = 0, C = 0, H = 0;         // H 0: skip kernels that need heads
    std::vector<std::int64_t> batches = {1};  // sequences that one call of fused attention takes
  };
  struct Logits {
    std::int64_t N = 0, V = 0;
  };
  std::vector<Width> widths;
  std::vector<Sequence> sequences;
  std::int64_t copy_bytes = 0;
  std::chrono::nanoseconds least = std::chrono::milliseconds{2};  // least time to repeat each
  DataType type = DataType::kF32;                                 // kF32 or kBf16
  bool fp8 = false;                                               // FP8 products, made from kBf16
  std::vector<Logits> logits = {};  // for losses beside those over bytes
  // How many parameters one call updates, and how many gradients one call clears.
  std::vector<std::int64_t> updated = {1 << 16}, cleared = {1 << 16, 1 << 19, 1 << 22};
  std::int64_t places_bytes = 4 << 20;  // all places of an operand; more than a cache
  BenchSizes in(DataType other) const {
    BenchSizes sizes = *this;
    sizes.type = other;
    return sizes;
  }
};
BenchSizes cpu_bench_sizes();
BenchSizes gpu_bench_sizes();

// Measures the three products of linear layers as transformers use them, from small to large. Ends
// early, without the largest, at `deadline` or when the run is stopped. On devices that run behind,
// all times here lie between two marks.
std::vector<ProductTime> measure_products(Device& device, const BenchSizes& sizes,
                                          TimePoint deadline, const Stop& stop);

// Measures every kernel of kernels_of_pieces.h at several sizes.
std::vector<KernelTime> measure_kernels(Device& device, const BenchSizes& sizes, const Stop& stop);

// Bytes read and written per second by a copy that no cache holds.
double measure_copy(Device& device, const BenchSizes& sizes);

// The time of a kernel that has almost nothing to do.
CallTime measure_empty(Device& device);

template <class Time>
void append(std::vector<Time>& times, std::vector<Time> more) {
  std::move(more.begin(), more.end(), std::back_inserter(times));
}

// A point for each shape, phase and type: the median over devices and rounds.
std::vector<MatmulPoint> points_of(const std::vector<ProductTime>& times, const Origin& origin);
// A rate for each kernel, type and size, in that order: the median over devices and rounds.
std::vector<KernelRate> rates_of(const std::vector<KernelTime>& times, const Origin& origin);

// Sets the peaks of a Machine from its points, and the share of them that fp32 products reach.
// Without a point in 16 bit, the peak of fp32 stands for it.
void set_peaks(Machine& machine, const Origin& origin);

std::string today();  // "2026-11-21", in UTC
std::string this_host();

}  // namespace parallelarium

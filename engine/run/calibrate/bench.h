// SPDX-License-Identifier: Apache-2.0
// What calibration measures on a device: matrix products, kernels, copies.
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

// Heads and routers are measured at these sizes: a vocabulary of bytes, a handful of experts.
inline constexpr std::int64_t kBenchVocabulary = 256, kBenchExperts = 8;

// Measured seconds of one thread, in the order of the lists below.
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

// What is measured: squares of `hidden` with so many tokens each, kernels of so long sequences, and
// a copy that no cache holds. Defaults are those of cores.
struct BenchSizes {
  struct Width {
    std::int64_t hidden = 0;
    std::vector<std::int64_t> tokens;
    std::int64_t vocabulary = 0;  // of one more head; 0: none
    std::vector<std::int64_t> head_tokens = {};
  };
  struct Sequence {
    std::int64_t T = 0, C = 0, H = 0;         // H 0: nothing that depends on heads
    std::vector<std::int64_t> batches = {1};  // sequences that one call of fused attention takes
  };
  struct Logits {
    std::int64_t N = 0, V = 0;
  };
  std::vector<Width> widths;
  std::vector<Sequence> sequences;
  std::int64_t copy_bytes = 0;
  std::chrono::nanoseconds least = std::chrono::milliseconds{2};  // for which each is repeated
  DataType type = DataType::kF32;                                 // kF32 or kBf16
  std::vector<Logits> logits = {};  // of losses beside those over bytes
  // Parameters that one call updates, gradients that one call clears.
  std::vector<std::int64_t> updated = {1 << 16}, cleared = {1 << 16, 1 << 19, 1 << 22};
  std::int64_t places_bytes = 4 << 20;  // of all places of an operand that no cache shall hold
  BenchSizes in(DataType other) const {
    BenchSizes sizes = *this;
    sizes.type = other;
    return sizes;
  }
};
BenchSizes cpu_bench_sizes();
BenchSizes gpu_bench_sizes();

// The three products of linear layers as transformers use them, from small to large. Ends early at
// `deadline` or when the run is stopped, without the largest. On devices that run behind all times
// here are those between two marks.
std::vector<ProductTime> measure_products(Device& device, const BenchSizes& sizes,
                                          TimePoint deadline, const Stop& stop);

// Every kernel of kernels_of_pieces.h, each at several sizes.
std::vector<KernelTime> measure_kernels(Device& device, const BenchSizes& sizes, const Stop& stop);

// Bytes read and written per second by a copy that no cache holds.
double measure_copy(Device& device, const BenchSizes& sizes);

// Of a kernel that has almost nothing to do.
CallTime measure_empty(Device& device);

template <class Time>
void append(std::vector<Time>& times, std::vector<Time> more) {
  std::move(more.begin(), more.end(), std::back_inserter(times));
}

// A point for each shape, phase and type: the middle of what several devices and rounds measured of
// it.
std::vector<MatmulPoint> points_of(const std::vector<ProductTime>& times,
                                   const std::string& origin);
// A rate for each kernel, type and size: the middle of those of all devices and rounds. Sorted so.
std::vector<KernelRate> rates_of(const std::vector<KernelTime>& times, const std::string& origin);

// The peaks of a Machine with such points, and which share of it products in fp32 reach. Where none
// was measured in 16 bit, the peak of fp32 stands for it.
void set_peaks(Machine& machine, const std::string& origin);

std::string today();  // "2026-11-21", in UTC
std::string this_host();

}  // namespace parallelarium

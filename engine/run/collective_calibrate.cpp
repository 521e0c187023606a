// SPDX-License-Identifier: Apache-2.0
#include "engine/run/collective_calibrate.h"

#include <algorithm>
#include <chrono>

#include "engine/run/collective_run.h"
#include "engine/train/device.h"

namespace parallelarium {

namespace {

using Clock = std::chrono::steady_clock;

Result<double> seconds_of(CollectiveKind kind, const char* algorithm, std::int64_t bytes,
                          const std::atomic<bool>* cancel) {
  CollectiveSpec spec;
  spec.kind = kind;
  spec.algorithm = algorithm;
  spec.ranks = 2;
  spec.bytes = bytes;
  const Result<Collective> collective = make_collective(spec);
  if (!collective) return collective.error();
  CollectiveRunOptions options;
  options.warmup = 3;
  options.repeats = bytes > (1 << 20) ? 9 : 41;
  const Result<CollectiveObservation> seen = run_collective(*collective, options, cancel);
  if (!seen) return seen.error();
  return seen->seconds;
}

double combine_seconds(std::int64_t bytes) {
  const auto count = static_cast<std::size_t>(bytes / 4);
  std::vector<float> a(count, 1.0F), b(count, 1.0F);
  const std::unique_ptr<Device> device = make_cpu_device();
  auto* target = reinterpret_cast<std::byte*>(a.data());
  const std::byte* parts[] = {target, reinterpret_cast<std::byte*>(b.data())};
  std::vector<double> times;
  for (int repeat = 0; repeat < 9; ++repeat) {
    const auto begin = Clock::now();
    device->combine(DataType::kF32, Reduction::kMax, target, parts, 1,
                    static_cast<std::int64_t>(count));
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + 4, times.end());
  return times[4];
}

}  // namespace

Result<std::vector<TransferPoint>> measure_transfers(std::int64_t most_bytes,
                                                     const std::atomic<bool>* cancel) {
  using K = CollectiveKind;
  std::vector<TransferPoint> points;
  for (std::int64_t bytes = 64; bytes <= most_bytes; bytes *= 4) {
    const Result<double> one = seconds_of(K::kBroadcast, "direct", bytes, cancel);
    if (!one) return one.error();
    const Result<double> both = seconds_of(K::kAllGather, "ring", 2 * bytes, cancel);
    if (!both) return both.error();
    const Result<double> combined = seconds_of(K::kReduce, "tree", bytes, cancel);
    if (!combined) return combined.error();
    const Result<double> both_combined = seconds_of(K::kReduceScatter, "ring", 2 * bytes, cancel);
    if (!both_combined) return both_combined.error();
    // Combining as ranks do it: an op of its own, of what has just come from another core.
    const Result<double> afterwards = seconds_of(K::kAllReduce, "direct", bytes, cancel);
    if (!afterwards) return afterwards.error();
    const double combine = std::max(*afterwards - *both, combine_seconds(bytes));
    points.push_back({bytes, *one, *both, *combined, *both_combined, combine});
  }
  return points;
}

}  // namespace parallelarium

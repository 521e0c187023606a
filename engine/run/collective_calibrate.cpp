// SPDX-License-Identifier: Apache-2.0
#include "engine/run/collective_calibrate.h"

#include <algorithm>
#include <array>
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
  options.repeats = bytes > (1 << 20) ? 5 : 21;
  const Result<CollectiveObservation> seen = run_collective(*collective, options, cancel);
  if (!seen) return seen.error();
  return seen->seconds;
}

// What one core takes for `work` on two arrays of so many bytes: target, then source.
template <class Work>
double seconds_alone(std::int64_t bytes, const Work& work) {
  const auto count = static_cast<std::size_t>(bytes / 4);
  std::vector<float> a(count, 1.0F), b(count, 1.0F);
  auto* target = reinterpret_cast<std::byte*>(a.data());
  const auto* source = reinterpret_cast<const std::byte*>(b.data());
  std::vector<double> times;
  for (int repeat = 0; repeat < 9; ++repeat) {
    const auto begin = Clock::now();
    work(target, source);
    times.push_back(std::chrono::duration<double>(Clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + 4, times.end());
  return times[4];
}

Result<std::vector<TransferPoint>> measure_once(std::int64_t most_bytes,
                                                const std::atomic<bool>* cancel) {
  using K = CollectiveKind;
  std::vector<TransferPoint> points;
  const std::unique_ptr<Device> device = make_cpu_device();
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
    // The same of copying what stays.
    const Result<double> beside = seconds_of(K::kAllToAll, "pairwise", 2 * bytes, cancel);
    if (!beside) return beside.error();
    const double combining = seconds_alone(bytes, [&](std::byte* target, const std::byte* source) {
      const std::byte* parts[] = {target, source};
      device->combine(DataType::kF32, Reduction::kMax, target, parts, 1, bytes / 4);
    });
    const double copying = seconds_alone(bytes, [&](std::byte* target, const std::byte* source) {
      device->copy(target, source, bytes);
    });
    points.push_back({bytes, *one, *both, *combined, *both_combined,
                      std::max(*afterwards - *both, combining),
                      std::max(*beside - *both, copying)});
  }
  return points;
}

}  // namespace

// In three rounds, of which each figure's middle one stands: what else the computer does for a
// moment is no property of its messages.
Result<std::vector<TransferPoint>> measure_transfers(std::int64_t most_bytes,
                                                     const std::atomic<bool>* cancel) {
  std::array<std::vector<TransferPoint>, 3> rounds;
  for (std::vector<TransferPoint>& round : rounds) {
    Result<std::vector<TransferPoint>> points = measure_once(most_bytes, cancel);
    if (!points) return points;
    round = std::move(*points);
  }
  for (std::size_t i = 0; i < rounds[0].size(); ++i) {
    for (double TransferPoint::*figure :
         {&TransferPoint::one, &TransferPoint::both, &TransferPoint::one_combined,
          &TransferPoint::both_combined, &TransferPoint::combine, &TransferPoint::copy}) {
      double &a = rounds[0][i].*figure, b = rounds[1][i].*figure, c = rounds[2][i].*figure;
      a = std::max(std::min(a, b), std::min(std::max(a, b), c));
    }
  }
  return std::move(rounds[0]);
}

}  // namespace parallelarium

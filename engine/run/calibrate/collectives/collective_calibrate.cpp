// SPDX-License-Identifier: Apache-2.0
#include "engine/run/calibrate/collectives/collective_calibrate.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "engine/run/calibrate/bench.h"
#include "engine/run/collective/collective_run.h"
#include "engine/train/device.h"

namespace parallelarium {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kLeastBytes = 64, kLongBytes = 1 << 20, kMostBytes = 16 << 20;
constexpr int kMostRanks = 16;
constexpr std::int64_t kMostRingBytes = 256 << 20;  // of all ranks' arrays

// Runs collectives for their time until one fails.
class TimedCollectives {
 public:
  explicit TimedCollectives(const std::atomic<bool>* cancel) : cancel_(cancel) {}
  double seconds(CollectiveKind kind, const char* algorithm, std::int64_t bytes, int ranks = 2) {
    if (error_) return 0;
    CollectiveSpec spec;
    spec.kind = kind;
    spec.algorithm = algorithm;
    spec.ranks = ranks;
    spec.bytes = bytes;
    const Result<Collective> collective = make_collective(spec);
    const Result<double> found = !collective ? collective.error()
                                 : bytes > kLongBytes
                                     ? collective_seconds(*collective, 1, 9, cancel_)
                                     : collective_seconds(*collective, 3, 21, cancel_);
    if (found) return *found;
    error_ = found.error();
    return 0;
  }
  const std::optional<Message>& error() const { return error_; }

 private:
  const std::atomic<bool>* cancel_;
  std::optional<Message> error_;
};

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

double ratio(double fresh, double stale) { return stale > 0 ? std::max(1.0, fresh / stale) : 1; }

Result<std::vector<TransferPoint>> measure_once(int ring_ranks, std::int64_t most_bytes,
                                                const std::atomic<bool>* cancel) {
  using K = CollectiveKind;
  std::vector<TransferPoint> points;
  const std::unique_ptr<Device> device = make_cpu_device();
  TimedCollectives of(cancel);
  for (std::int64_t bytes = kLeastBytes; bytes <= most_bytes; bytes *= 4) {
    TransferPoint point;
    point.bytes = bytes;
    point.one = of.seconds(K::kBroadcast, "direct", bytes);
    point.both = of.seconds(K::kAllGather, "ring", 2 * bytes);
    point.one_combined = of.seconds(K::kReduce, "tree", bytes);
    point.both_combined = of.seconds(K::kReduceScatter, "ring", 2 * bytes);
    // Sums that are sent on, then overwrite what the next repeat reads: no message finds its bytes
    // where it read them before, as those above do.
    point.fresh_one =
        ratio(of.seconds(K::kAllReduce, "tree", bytes), point.one + point.one_combined);
    point.fresh_both =
        ratio(of.seconds(K::kAllReduce, "ring", 2 * bytes), point.both + point.both_combined);
    // Combining as ranks do it: an op of its own, of what has just come from another core.
    const double afterwards = of.seconds(K::kAllReduce, "direct", bytes);
    // The same of copying what stays.
    const double beside = of.seconds(K::kAllToAll, "pairwise", 2 * bytes);
    point.ring_ranks = ring_ranks;
    if (ring_ranks == 2) {
      point.ring = point.both;
      point.ring_combined = point.both_combined;
    } else if (bytes * ring_ranks * ring_ranks <= kMostRingBytes) {
      const std::int64_t whole = bytes * ring_ranks;
      point.ring = of.seconds(K::kAllGather, "ring", whole, ring_ranks) / (ring_ranks - 1);
      point.ring_combined =
          of.seconds(K::kReduceScatter, "ring", whole, ring_ranks) / (ring_ranks - 1);
    } else {  // too much memory: at the rate of the size before
      const TransferPoint& last = points.back();
      const auto times = static_cast<double>(bytes / last.bytes);
      point.ring = last.ring * times;
      point.ring_combined = last.ring_combined * times;
    }
    if (of.error()) return *of.error();
    const double combining = seconds_alone(bytes, [&](std::byte* target, const std::byte* source) {
      const std::byte* parts[] = {target, source};
      device->combine(DataType::kF32, Reduction::kMax, target, parts, 1, bytes / 4);
    });
    const double copying = seconds_alone(bytes, [&](std::byte* target, const std::byte* source) {
      device->copy(target, source, bytes);
    });
    point.combine = std::max(afterwards - point.fresh_both * point.both, combining);
    point.copy = std::max(beside - point.both, copying);
    points.push_back(point);
  }
  return points;
}

}  // namespace

// In three rounds, of which each figure's middle one stands: what else the computer does for a
// moment is no property of its messages. Long messages last longer than such a moment: one round
// has them.
Result<std::vector<TransferPoint>> measure_transfers(int cores, const std::atomic<bool>* cancel) {
  std::array<std::vector<TransferPoint>, 3> rounds;
  for (std::vector<TransferPoint>& round : rounds) {
    Result<std::vector<TransferPoint>> points = measure_once(
        std::min(cores, kMostRanks), &round == &rounds[0] ? kMostBytes : kLongBytes, cancel);
    if (!points) return points;
    round = std::move(*points);
  }
  for (std::size_t i = 0; i < rounds[1].size(); ++i) {
    for (double TransferPoint::*figure :
         {&TransferPoint::one, &TransferPoint::both, &TransferPoint::one_combined,
          &TransferPoint::both_combined, &TransferPoint::combine, &TransferPoint::copy,
          &TransferPoint::ring, &TransferPoint::ring_combined, &TransferPoint::fresh_one,
          &TransferPoint::fresh_both}) {
      double &a = rounds[0][i].*figure, b = rounds[1][i].*figure, c = rounds[2][i].*figure;
      a = std::max(std::min(a, b), std::min(std::max(a, b), c));
    }
  }
  const Origin origin = measured_here(today());
  for (TransferPoint& point : rounds[0]) point.origin = origin;
  return std::move(rounds[0]);
}

}  // namespace parallelarium

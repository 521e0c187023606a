// SPDX-License-Identifier: Apache-2.0
#include "engine/run/calibrate/collectives/collective_times.h"

#include <algorithm>
#include <map>

namespace parallelarium {

std::vector<CollectiveTime> measure_collectives(int ranks, std::int64_t small_bytes,
                                                std::int64_t large_bytes, Stop& stop,
                                                const LaunchOptions& options, const ProbeLead& lead,
                                                double limit_seconds) {
  constexpr int kCalls = 10, kRepeats = 7;
  const std::int64_t unit = std::int64_t{4} * ranks;  // equal chunks of whole numbers
  const auto whole = [&](std::int64_t bytes) { return (bytes + unit - 1) / unit * unit; };
  ProbeProgram probe(ranks, std::max(whole(large_bytes), lead.bytes));
  std::vector<CollectiveTime> times;
  std::vector<int> firsts;  // op of each
  for (const CollectiveKind kind :
       {CollectiveKind::kAllReduce, CollectiveKind::kAllGather, CollectiveKind::kReduceScatter,
        CollectiveKind::kBroadcast, CollectiveKind::kAllToAll}) {
    for (const std::int64_t bytes : {whole(small_bytes), whole(large_bytes)}) {
      times.push_back({kind, ranks, bytes, 0});
      for (int rank = 0; rank < ranks; ++rank) probe.lead(rank, lead);
      firsts.push_back(probe.ops_of(0));
      for (int call = 0; call < kCalls; ++call) probe.collective(kind, bytes);
    }
  }
  const ProbeSpans spans = run_probe(probe.program(), kRepeats, stop, options, limit_seconds);
  if (spans.empty()) return {};
  for (std::size_t i = 0; i < times.size(); ++i)
    times[i].seconds = probe_seconds(spans, 0, firsts[i], firsts[i] + kCalls - 1) / kCalls;
  return times;
}

std::vector<CollectiveRate> rates_of(const std::vector<CollectiveTime>& times,
                                     const Origin& origin) {
  std::map<std::pair<CollectiveKind, int>, std::vector<TimedBytes>> by_kind;
  for (const CollectiveTime& time : times) {
    const Volume volume = collective_volume(time.kind, DataType::kF32, time.bytes, time.ranks, 0);
    by_kind[{time.kind, time.ranks}].push_back(
        {static_cast<double>(std::max(volume.sent, volume.received)), time.seconds});
  }
  std::vector<CollectiveRate> rates;
  for (const auto& [kind, points] : by_kind)
    rates.push_back({std::string(name_of(kind.first)), kind.second, link_through(points, origin)});
  return rates;
}

Link link_through(const std::vector<TimedBytes>& points, const Origin& origin) {
  const auto [least, most] = std::minmax_element(
      points.begin(), points.end(),
      [](const TimedBytes& a, const TimedBytes& b) { return a.bytes < b.bytes; });
  const double more_bytes = most->bytes - least->bytes;
  // Noise could make the larger one faster; its time alone is then the most that it can be.
  const double more_seconds =
      most->seconds > least->seconds ? most->seconds - least->seconds : most->seconds;
  const double rate = more_bytes > 0 ? more_bytes / more_seconds : most->bytes / most->seconds;
  const double latency = rate > 0 ? least->seconds - least->bytes / rate : least->seconds;
  return {{std::max(latency, 0.0), origin}, {rate, origin}};
}

}  // namespace parallelarium

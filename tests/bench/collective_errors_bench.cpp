// SPDX-License-Identifier: Apache-2.0
// How far predictions of collectives between two CPU ranks are from what they are of: messages are
// measured by size, as `calibrate` does, then every algorithm is predicted from them and run.
// Usage: collective_errors_bench [most KiB]
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "engine/predict/network/network.h"
#include "engine/run/calibrate/collectives/collective_calibrate.h"
#include "engine/run/collective/collective_run.h"
#include "engine/run/cores.h"

namespace {

using namespace parallelarium;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[(values.size() - 1) / 2];
}

int repeats_of(std::int64_t bytes) { return bytes > (1 << 20) ? 9 : 41; }

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t most = (argc > 1 ? std::atoll(argv[1]) : 65536) * 1024;
  Result<std::vector<TransferPoint>> points =
      measure_transfers(static_cast<int>(available_cores().size()));
  if (!points) {
    fmt::print(stderr, "{}\n", points.error().text);
    return 1;
  }
  fmt::print("{:>10} {:>10} {:>10} {:>10} {:>10} {:>10}\n", "message", "one us", "both us",
             "one + us", "both + us", "+ us");
  for (const TransferPoint& point : *points)
    fmt::print("{:>10} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f} {:>10.2f}\n", point.bytes,
               point.one * 1e6, point.both * 1e6, point.one_combined * 1e6,
               point.both_combined * 1e6, point.combine * 1e6);
  Network network;
  use_transfers(network, *points);
  std::vector<double> all;
  std::map<std::int64_t, std::vector<double>> by_size;
  fmt::print("\n{:<15} {:<20} {:>10} {:>13} {:>12} {:>8}\n", "", "algorithm", "bytes",
             "predicted us", "measured us", "error");
  for (const AlgorithmInfo& info : collective_algorithms()) {
    for (std::int64_t bytes = 4096; bytes <= most; bytes *= 4) {
      CollectiveSpec spec;
      spec.kind = info.kind;
      spec.algorithm = info.name;
      spec.ranks = 2;
      spec.bytes = bytes;
      const Result<Collective> collective = make_collective(spec);
      if (!collective) continue;
      CollectiveRunOptions options;
      options.repeats = repeats_of(bytes);
      const Result<CollectiveObservation> seen = run_collective(*collective, options);
      if (!seen || !seen->correct) {
        fmt::print("{} {}: wrong\n", name_of(info.kind), info.name);
        return 1;
      }
      const double predicted = cost_of(*collective, network).seconds;
      const double error = predicted / seen->seconds - 1;
      all.push_back(std::abs(error));
      by_size[bytes].push_back(std::abs(error));
      fmt::print("{:<15} {:<20} {:>10} {:>13.2f} {:>12.2f} {:>+7.0f} %\n", name_of(info.kind),
                 info.name, bytes, predicted * 1e6, seen->seconds * 1e6, 100 * error);
      std::fflush(stdout);
    }
  }
  fmt::print("\nMedian |error|: {:.1f} % of {} rows; by size:\n", 100 * median(all), all.size());
  for (const auto& [bytes, errors] : by_size)
    fmt::print("{:>10} {:>6.1f} %\n", bytes, 100 * median(errors));
  return 0;
}

// SPDX-License-Identifier: GPL-3.0-or-later
// What the plot of bandwidths compares and predicts; nothing is painted here.
#include <QCoreApplication>

#include "app/look/figures.h"
#include "app/views/collectives/picture/collective_plot.h"

namespace parallelarium {
namespace {

struct CollectiveLinesWords {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

constexpr std::int64_t kMostSweptMemory = std::int64_t{512} << 20;

}  // namespace

bool BandwidthLines::of(const CollectiveChoice& other) const {
  CollectiveChoice same = other;
  same.spec.bytes = choice.spec.bytes;
  return same == choice;
}

std::vector<std::string> compared_algorithms(const CollectiveSpec& spec) {
  // The textbook's first, so that the plot tells its story: few steps against few bytes.
  static const char* const kTelling[] = {"ring",
                                         "tree",
                                         "direct",
                                         "halving-doubling",
                                         "recursive-halving",
                                         "recursive-doubling",
                                         "bruck",
                                         "pairwise",
                                         "scatter-all-gather"};
  std::vector<std::string> names{spec.algorithm};
  for (const char* name : kTelling) {
    CollectiveSpec other = spec;
    other.algorithm = name;
    other.segments = other.node_size = 0;
    if (name == spec.algorithm || names.size() >= kMostLines) continue;
    if (find_algorithm(spec.kind, name) && make_collective(other)) names.emplace_back(name);
  }
  return names;
}

BandwidthLines bandwidth_lines(const CollectiveChoice& choice) {
  BandwidthLines lines;
  lines.choice = choice;
  const Machine machine = this_computer(choice.gpus);
  const std::int64_t factor = choice.spec.ranks > 8 ? 4 : 2;
  for (const std::string& name : compared_algorithms(choice.spec)) {
    BandwidthLine& line = lines.lines.emplace_back();
    line.algorithm = name;
    for (std::int64_t bytes = kLeastSweepBytes; bytes <= kMostSweepBytes; bytes *= factor) {
      CollectiveChoice at = choice;
      at.spec.algorithm = name;
      at.spec.bytes = bytes;
      at.spec.counts.clear();
      if (name != choice.spec.algorithm) at.spec.segments = at.spec.node_size = 0;
      const Result<Collective> made = make_collective(at.spec);
      if (!made) continue;
      const Network network = network_for(at, made->spec.node_size, machine);
      if (check_network(network, at.spec.ranks))
        line.points.emplace_back(bytes, cost_of(*made, network).bus_bandwidth);
    }
  }
  const BandwidthLine *small = nullptr, *large = nullptr;
  for (const BandwidthLine& line : lines.lines) {
    if (line.points.empty()) continue;
    if (!small || line.points.front().second > small->points.front().second) small = &line;
    if (!large || line.points.back().second > large->points.back().second) large = &line;
  }
  if (!small) return lines;
  lines.quickest_small = small->algorithm;
  lines.quickest_large = large->algorithm;
  if (small == large) return lines;
  CollectiveChoice first = choice, second = choice;
  first.spec.algorithm = small->algorithm;
  second.spec.algorithm = large->algorithm;
  first.spec.segments = second.spec.segments = 0;
  const Result<Collective> made = make_collective(first.spec);
  if (made)
    lines.crossover =
        crossover_bytes(first.spec, second.spec, network_for(first, made->spec.node_size, machine));
  return lines;
}

std::vector<CollectiveSpec> sweep_specs(const CollectiveSpec& spec) {
  std::vector<CollectiveSpec> specs;
  for (std::int64_t bytes = kLeastSweepBytes; bytes <= kMostSweepBytes; bytes *= 4)
    for (const std::string& name : compared_algorithms(spec)) {
      if (bytes * spec.ranks > kMostSweptMemory) continue;
      CollectiveSpec at = spec;
      at.algorithm = name;
      at.bytes = bytes;
      at.counts.clear();
      if (name != spec.algorithm) at.segments = at.node_size = 0;
      if (make_collective(at)) specs.push_back(std::move(at));
    }
  return specs;
}

QString crossover_text(const BandwidthLines& lines) {
  if (lines.quickest_small.empty() || lines.lines.size() < 2 || lines.choice.spec.ranks < 2)
    return {};
  const QString small = algorithm_in_sentence(lines.choice.spec.kind, lines.quickest_small);
  if (lines.quickest_small == lines.quickest_large)
    return CollectiveLinesWords::tr("predicted: %1 is quickest at every size").arg(small);
  const QString large = algorithm_in_sentence(lines.choice.spec.kind, lines.quickest_large);
  return lines.crossover
             ? CollectiveLinesWords::tr("predicted: %1 for small messages, %2 from %3")
                   .arg(small, large, bytes_text(*lines.crossover))
             : CollectiveLinesWords::tr("predicted: %1 for small messages, %2 for large")
                   .arg(small, large);
}

}  // namespace parallelarium

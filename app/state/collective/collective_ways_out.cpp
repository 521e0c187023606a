// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/collective/collective_ways_out.h"

#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"

namespace parallelarium {
namespace {

constexpr std::size_t kMostWays = 4;  // beside a sentence

struct WaysOutWords {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

// The choice with a field set to a value of Message::alternatives.
WayOut with_field(CollectiveChoice choice, const std::string& field, const std::string& value) {
  CollectiveSpec& spec = choice.spec;
  spec.counts.clear();
  QString text;
  if (field == "collective.algorithm") {
    spec.algorithm = value;
    spec.segments = spec.node_size = 0;
    text = algorithm_title(spec);
  } else if (field == "collective.ranks") {
    spec.ranks = std::stoi(value);
    spec.root = std::clamp(spec.root, 0, spec.ranks - 1);
    spec.node_size = 0;
    text =
        spec.ranks == 1 ? WaysOutWords::tr("1 rank") : WaysOutWords::tr("%1 ranks").arg(spec.ranks);
  } else if (field == "collective.root") {
    spec.root = std::stoi(value);
    text = WaysOutWords::tr("root %1").arg(spec.root);
  } else if (field == "collective.bytes") {
    spec.bytes = std::stoll(value);
    text = exact_bytes_text(spec.bytes);
  }
  return {text, QString::fromStdString(field), value, choice};
}

}  // namespace

std::vector<WayOut> ways_out(const CollectiveChoice& choice, const Message& problem) {
  std::vector<WayOut> ways;
  const auto offer = [&](const std::string& field, const std::string& value) {
    WayOut way = with_field(choice, field, value);
    if (!way.text.isEmpty() && ways.size() < kMostWays &&
        plan_collective(way.choice, this_computer(choice.gpus)))
      ways.push_back(std::move(way));
  };
  for (const std::string& value : problem.alternatives) offer(problem.field, value);
  if (problem.field == "collective.ranks" && choice.spec.algorithm != "ring" &&
      find_algorithm(choice.spec.kind, "ring"))
    offer("collective.algorithm", "ring");
  return ways;
}

}  // namespace parallelarium

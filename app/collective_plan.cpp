// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/collective_plan.h"

#include <QCoreApplication>
#include <cmath>

#include "app/figures.h"
#include "engine/plan/machine.h"
#include "engine/wire/collective_messages.h"

namespace parallelarium {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

}  // namespace

nlohmann::json to_json(const CollectiveChoice& choice) {
  nlohmann::json json = to_json(choice.spec);
  json["topology"] = name_of(choice.topology);
  return json;
}

Result<CollectiveChoice> collective_choice_from_json(const nlohmann::json& json) {
  Result<CollectiveSpec> spec = collective_spec_from_json(json);
  if (!spec) return spec.error();
  CollectiveChoice choice{std::move(*spec), Topology::kMemory};
  const auto topology = json.find("topology");
  if (topology == json.end()) return choice;
  const auto known = topology->is_string() ? topology_by_name(topology->get<std::string>())
                                           : std::optional<Topology>();
  if (!known)
    return message("collective-topology",
                   "The topology of a collective is switch, ring, torus, two-level or memory.");
  choice.topology = *known;
  return choice;
}

Machine this_computer() {
  Result<Machine> machine = find_machine("local");
  return machine ? std::move(*machine) : uncalibrated_local_machine();
}

Network network_for(const CollectiveChoice& choice, const Collective& collective,
                    const Machine& local) {
  Network network;
  if (choice.topology == Topology::kMemory) network = network_of(local, choice.spec.ranks);
  network.topology = choice.topology;
  network.node_size = collective.spec.node_size;
  // Where the algorithm has no nodes or rows of its own.
  if (network.node_size < 1)
    network.node_size = choice.topology == Topology::kTorus ? default_row_size(choice.spec.ranks)
                                                            : default_node_size(choice.spec.ranks);
  return network;
}

Result<CollectivePlan> plan_collective(const CollectiveChoice& choice, const Machine& local) {
  if (choice.spec.ranks < 1 || choice.spec.ranks > kMostShownRanks)
    return message("collective-shown", "The view shows 1 to {} ranks, not {}.", kMostShownRanks,
                   choice.spec.ranks);
  Result<Collective> made = make_collective(choice.spec);
  if (!made) return made.error();
  CollectivePlan plan;
  plan.choice = choice;
  plan.collective = std::move(*made);
  plan.word = "assumed";
  plan.network = network_for(choice, plan.collective, local);
  if (choice.topology == Topology::kMemory) plan.word = prediction_word(local);
  if (Result<void> fits = check_network(plan.network, choice.spec.ranks); !fits)
    return fits.error();
  plan.cost = cost_of(plan.collective, plan.network);
  plan.holdings = holdings(plan.collective);
  plan.formulas = formulas_of(plan.collective, plan.network);
  return plan;
}

QString title_of(CollectiveKind kind) {
  switch (kind) {
    case CollectiveKind::kAllReduce:
      return Words::tr("All-reduce");
    case CollectiveKind::kAllGather:
      return Words::tr("All-gather");
    case CollectiveKind::kReduceScatter:
      return Words::tr("Reduce-scatter");
    case CollectiveKind::kAllToAll:
      return Words::tr("All-to-all");
    case CollectiveKind::kBroadcast:
      return Words::tr("Broadcast");
    case CollectiveKind::kScatter:
      return Words::tr("Scatter");
    case CollectiveKind::kGather:
      return Words::tr("Gather");
    case CollectiveKind::kReduce:
      return Words::tr("Reduce");
  }
  return {};
}

QString title_of(Topology topology) {
  switch (topology) {
    case Topology::kSwitch:
      return Words::tr("Switch");
    case Topology::kRing:
      return Words::tr("Ring of links");
    case Topology::kTorus:
      return Words::tr("2-D torus");
    case Topology::kTwoLevel:
      return Words::tr("Two levels");
    case Topology::kMemory:
      return Words::tr("This computer");
  }
  return {};
}

QString algorithm_title(const CollectiveSpec& spec) {
  const AlgorithmInfo* info = find_algorithm(spec.kind, spec.algorithm);
  return QString::fromStdString(info ? info->title : spec.algorithm);
}

QString collective_title(const CollectiveSpec& spec) {
  const auto text = [](std::string_view name) {
    return QString::fromUtf8(name.data(), qsizetype(name.size()));
  };
  QStringList parts{title_of(spec.kind), algorithm_title(spec).toLower(),
                    spec.ranks == 1 ? Words::tr("1 rank") : Words::tr("%1 ranks").arg(spec.ranks),
                    Words::tr("%1 of %2").arg(bytes_text(spec.bytes), text(name_of(spec.type)))};
  if (reduces(spec.kind) && spec.reduction != Reduction::kSum)
    parts << text(name_of(spec.reduction));
  if (has_root(spec.kind)) parts << Words::tr("root %1").arg(spec.root);
  return parts.join(QStringLiteral(" \u00b7 "));
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/collective/collective_plan.h"

#include <QCoreApplication>
#include <QLocale>

#include "app/look/figures.h"
#include "app/look/sentence.h"

namespace parallelarium {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

}  // namespace

Result<CollectiveRun> make_collective_run(const CollectiveSpec& spec, CollectiveObservation seen) {
  const int gpus = !seen.on_gpus ? 0 : seen.source == Source::kSharedGpu ? 1 : spec.ranks;
  Result<CollectivePlan> plan =
      plan_collective({spec, Topology::kMemory, {}, gpus}, this_computer(gpus));
  if (!plan) return plan.error();
  const auto& built = plan->collective.program.ranks;
  bool same = built.size() == seen.timeline.ranks.size() && seen.sent_bytes.size() == built.size();
  for (std::size_t rank = 0; same && rank < built.size(); ++rank)
    same = seen.timeline.ranks[rank].spans.size() == built[rank].ops.size();
  if (!same)
    return message("collective-program",
                   "The collective was run by an engine of another version, whose steps differ "
                   "from the predicted ones; run it again with this version.");
  return CollectiveRun{std::make_shared<const CollectivePlan>(std::move(*plan)), std::move(seen)};
}

QString algorithm_in_sentence(CollectiveKind kind, const std::string& algorithm) {
  const bool is_name = algorithm == "bruck" || algorithm == "torus";  // Bruck, 2-D
  return in_sentence(algorithm_title(kind, algorithm), is_name);
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

QString algorithm_title(CollectiveKind kind, const std::string& algorithm) {
  const AlgorithmInfo* info = find_algorithm(kind, algorithm);
  return info ? sentence(title_of(*info)) : QString::fromStdString(algorithm);
}

QString algorithm_title(const CollectiveSpec& spec) {
  return algorithm_title(spec.kind, spec.algorithm);
}

QString collective_title(const CollectiveSpec& spec) {
  const auto text = [](std::string_view name) {
    return QString::fromUtf8(name.data(), qsizetype(name.size()));
  };
  QStringList parts{title_of(spec.kind), algorithm_in_sentence(spec.kind, spec.algorithm),
                    spec.ranks == 1 ? Words::tr("1 rank") : Words::tr("%1 ranks").arg(spec.ranks),
                    Words::tr("%1 of %2").arg(bytes_text(spec.bytes), text(name_of(spec.type)))};
  if (reduces(spec.kind) && spec.reduction != Reduction::kSum)
    parts << text(name_of(spec.reduction));
  if (has_root(spec.kind)) parts << Words::tr("root %1").arg(spec.root);
  return parts.join(QStringLiteral(" \u00b7 "));
}

}  // namespace parallelarium

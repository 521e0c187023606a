// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/collective_plan.h"

#include <QCoreApplication>
#include <QLocale>

#include "app/look/figures.h"

namespace parallelarium {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

// The titles of collective_algorithms(), for the translators' tools.
[[maybe_unused]] const char* const kAlgorithmTitles[] = {
    QT_TRANSLATE_NOOP("collectives", "All pairs"),
    QT_TRANSLATE_NOOP("collectives", "Through a root"),
    QT_TRANSLATE_NOOP("collectives", "Ring"),
    QT_TRANSLATE_NOOP("collectives", "Two-directional ring"),
    QT_TRANSLATE_NOOP("collectives", "Pipelined ring"),
    QT_TRANSLATE_NOOP("collectives", "Binomial tree"),
    QT_TRANSLATE_NOOP("collectives", "Double binary tree"),
    QT_TRANSLATE_NOOP("collectives", "Recursive doubling"),
    QT_TRANSLATE_NOOP("collectives", "Recursive halving"),
    QT_TRANSLATE_NOOP("collectives", "Halving-doubling"),
    QT_TRANSLATE_NOOP("collectives", "Hierarchical, two levels"),
    QT_TRANSLATE_NOOP("collectives", "2-D torus"),
    QT_TRANSLATE_NOOP("collectives", "Direct"),
    QT_TRANSLATE_NOOP("collectives", "Bruck"),
    QT_TRANSLATE_NOOP("collectives", "Pairwise"),
    QT_TRANSLATE_NOOP("collectives", "Scatter and all-gather")};

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

QString in_sentence(const QString& title) {
  // Names keep their capitals: Bruck, 2-D.
  const bool named = title == QStringLiteral("Bruck") || title.at(0).isDigit();
  return named || QLocale().language() == QLocale::German ? title
                                                          : title.at(0).toLower() + title.mid(1);
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
  return info ? Words::tr(info->title.c_str()) : QString::fromStdString(algorithm);
}

QString algorithm_title(const CollectiveSpec& spec) {
  return algorithm_title(spec.kind, spec.algorithm);
}

QString collective_title(const CollectiveSpec& spec) {
  const auto text = [](std::string_view name) {
    return QString::fromUtf8(name.data(), qsizetype(name.size()));
  };
  QStringList parts{title_of(spec.kind), in_sentence(algorithm_title(spec)),
                    spec.ranks == 1 ? Words::tr("1 rank") : Words::tr("%1 ranks").arg(spec.ranks),
                    Words::tr("%1 of %2").arg(bytes_text(spec.bytes), text(name_of(spec.type)))};
  if (reduces(spec.kind) && spec.reduction != Reduction::kSum)
    parts << text(name_of(spec.reduction));
  if (has_root(spec.kind)) parts << Words::tr("root %1").arg(spec.root);
  return parts.join(QStringLiteral(" \u00b7 "));
}

}  // namespace parallelarium

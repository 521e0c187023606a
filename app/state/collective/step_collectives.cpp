// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/collective/step_collectives.h"

#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/collective/collective_plan.h"

namespace parallelarium {

namespace {

struct StepWords {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

constexpr std::int64_t kMostShownBytes = std::int64_t{1} << 30;

StepCollective entry_of(const Op& op, const Group& group) {
  StepCollective entry;
  entry.axis = group.axis;
  entry.purpose = op.purpose;
  entry.spec.kind = op.collective;
  entry.spec.algorithm.clear();
  entry.spec.ranks = int(group.ranks.size());
  entry.spec.bytes = op.bytes;
  entry.spec.type = op.type;
  if (op.reduction != Reduction::kNone) entry.spec.reduction = op.reduction;
  return entry;
}

std::int64_t bytes_of(const StepCollective& collective) {
  return collective.spec.bytes * collective.calls;
}

}  // namespace

std::vector<StepCollective> collectives_of_step(const Prediction& prediction) {
  const Program& program = prediction.program;
  std::vector<StepCollective> all;
  for (const RankProgram& rank : program.ranks) {
    std::vector<StepCollective> own;
    for (const Op& op : rank.ops) {
      if (op.kind != OpKind::kCollective || op.group < 0 || op.bytes <= 0) continue;
      StepCollective entry = entry_of(op, program.groups[std::size_t(op.group)]);
      if (entry.spec.ranks < 2) continue;
      const auto same = [&](const StepCollective& other) {
        return other.axis == entry.axis && other.purpose == entry.purpose &&
               other.spec == entry.spec;
      };
      auto found = std::find_if(own.begin(), own.end(), same);
      if (found == own.end()) found = own.insert(own.end(), entry);
      found->calls += op.repeat;
    }
    for (const StepCollective& entry : own) {
      const auto same = [&](const StepCollective& other) {
        return other.axis == entry.axis && other.purpose == entry.purpose &&
               other.spec == entry.spec;
      };
      const auto found = std::find_if(all.begin(), all.end(), same);
      if (found == all.end())
        all.push_back(entry);
      else
        found->calls = std::max(found->calls, entry.calls);
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const StepCollective& a, const StepCollective& b) {
    return bytes_of(a) > bytes_of(b);
  });
  return all;
}

QString title_of(const StepCollective& collective) {
  return collective.purpose == Purpose::kNone
             ? title_of(collective.spec.kind)
             : StepWords::tr("%1 of %2", "a collective and what it carries")
                   .arg(title_of(collective.spec.kind), name_text(collective.purpose));
}

QString facts_of(const StepCollective& collective) {
  const std::string_view axis = name_of(collective.axis);
  const QString group = QString::fromUtf8(axis.data(), qsizetype(axis.size())).toUpper();
  const QString times = collective.calls == 1
                            ? StepWords::tr("once a step")
                            : StepWords::tr("%1 times a step").arg(collective.calls);
  return StepWords::tr("%1, %2 ranks \u00b7 %3, %4")
      .arg(group)
      .arg(collective.spec.ranks)
      .arg(bytes_text(collective.spec.bytes), times);
}

Result<CollectiveChoice> choice_of(const StepCollective& collective, const CollectiveChoice& now) {
  CollectiveChoice choice = now;
  const CollectiveSpec before = now.spec;
  choice.spec = collective.spec;
  if (choice.spec.ranks > kMostShownRanks)
    return message("collective-ranks.shown",
                   "The view shows at most {} ranks, and this one has {}.", kMostShownRanks,
                   choice.spec.ranks);
  if (choice.spec.bytes > kMostShownBytes)
    return message("collective-bytes.shown", "The view shows arrays of at most 1 GiB.");
  std::vector<std::string> names{before.algorithm, "ring"};
  for (const AlgorithmInfo& info : collective_algorithms())
    if (info.kind == choice.spec.kind) names.push_back(info.name);
  for (const std::string& name : names) {
    choice.spec.algorithm = name;
    if (find_algorithm(choice.spec.kind, name) && make_collective(choice.spec)) return choice;
  }
  return message("collective-none", "No algorithm here works with these ranks and bytes.");
}

}  // namespace parallelarium

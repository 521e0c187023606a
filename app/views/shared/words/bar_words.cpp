// SPDX-License-Identifier: GPL-3.0-or-later
// What one bar of the timeline is called.
#include "app/look/sentence.h"
#include "app/state/collective/collective_plan.h"
#include "app/views/shared/words/shared_texts.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {
namespace {

QString place_of(const Program& program, int global_rank) {
  for (const RankProgram& rank : program.ranks)
    if (rank.rank == global_rank) return SharedTexts::tr("stage %1").arg(rank.stage);
  return SharedTexts::tr("rank %1").arg(global_rank);
}

QString purpose_words(Purpose purpose) {
  if (purpose == Purpose::kNone) return SharedTexts::tr("data");
  return name_text(purpose);
}

QString action_word(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return SharedTexts::tr("forward");
    case ActionKind::kBackward:
      return SharedTexts::tr("backward");
    case ActionKind::kInputGrad:
      return SharedTexts::tr("input gradient");
    case ActionKind::kWeightGrad:
      return SharedTexts::tr("weight gradient");
  }
  return {};
}

QString microbatch_text(const Bar& bar) {
  return bar.chunk > 0 ? QStringLiteral("%1.%2").arg(bar.microbatch).arg(bar.chunk)
                       : QString::number(bar.microbatch);
}

QString collective_word(CollectiveKind kind) { return in_sentence(title_of(kind)); }

QString axis_word(Axis axis) {
  const std::string_view name = name_of(axis);
  return QString::fromUtf8(name.data(), static_cast<int>(name.size())).toUpper();
}

// What part of its action a bar is: "layer 2", "weight gradient of MLP in, layer 2"; empty for all
// of it.
QString part_words(const Bar& bar) {
  if (bar.piece == Piece::kStage)
    return bar.layer < 0 ? QString() : SharedTexts::tr("layer %1").arg(bar.layer);
  QString part = name_text(bar.piece);
  const bool moves = bar.piece == Piece::kZeroGrad || bar.piece == Piece::kOffload;
  if (bar.first_op == bar.last_op && !moves) {
    if (bar.phase == Phase::kInputGrad) part = SharedTexts::tr("input gradient of %1").arg(part);
    if (bar.phase == Phase::kWeightGrad) part = SharedTexts::tr("weight gradient of %1").arg(part);
    if (bar.phase == Phase::kRecompute) part = SharedTexts::tr("%1 computed again").arg(part);
  }
  return bar.layer < 0 ? part : SharedTexts::tr("%1, layer %2,").arg(part).arg(bar.layer);
}

bool is_update(const Bar& bar) { return bar.kind == OpKind::kCompute && bar.microbatch < 0; }

}  // namespace

QStringList bar_labels(const Bar& bar) {
  if (bar.kind == OpKind::kCollective) {
    const QString name = collective_word(bar.collective);
    return {name + QLatin1Char(' ') + axis_word(bar.axis), name};
  }
  if (bar.kind != OpKind::kCompute) return {purpose_words(bar.purpose)};
  if (is_update(bar)) {
    if (bar.piece == Piece::kZeroGrad)
      return {SharedTexts::tr("clear gradients"), SharedTexts::tr("clear")};
    if (bar.piece == Piece::kCombine || bar.piece == Piece::kOffload) return {name_text(bar.piece)};
    return {SharedTexts::tr("update")};
  }
  const QString action = action_word(bar.action) + QLatin1Char(' ') + microbatch_text(bar);
  if (bar.piece != Piece::kStage) return {name_text(bar.piece)};
  if (bar.layer < 0) return {action, microbatch_text(bar)};
  const QString layer = SharedTexts::tr("layer %1").arg(bar.layer);
  return {action + kDotBetween + layer, layer,
          SharedTexts::tr("L%1", "a layer, as short as can be").arg(bar.layer)};
}

QStringList sent_labels(const Bar& bar) {
  if (bar.kind != OpKind::kCollective) return bar_labels(bar);
  QStringList forms = bar_labels(bar);
  forms.prepend(
      SharedTexts::tr("%1 of %2, %3")
          .arg(collective_word(bar.collective), purpose_words(bar.purpose), axis_word(bar.axis)));
  switch (bar.collective) {
    case CollectiveKind::kAllReduce:
      forms << QStringLiteral("AR");
      break;
    case CollectiveKind::kAllGather:
      forms << QStringLiteral("AG");
      break;
    case CollectiveKind::kReduceScatter:
      forms << QStringLiteral("RS");
      break;
    case CollectiveKind::kAllToAll:
      forms << QStringLiteral("A2A");
      break;
    default:
      break;
  }
  return forms;
}

QString bar_sentence(const Program& program, int rank_index, const Bar& bar) {
  const RankProgram& rank = program.ranks[static_cast<std::size_t>(rank_index)];
  const Op& op = rank.ops[static_cast<std::size_t>(bar.first_op)];
  const QString here = SharedTexts::tr("stage %1").arg(rank.stage);
  if (bar.kind == OpKind::kCompute) {
    if (bar.microbatch >= 0) {
      const QString action = SharedTexts::tr("%1 of micro-batch %2 on %3")
                                 .arg(action_word(bar.action), microbatch_text(bar), here);
      const QString part = part_words(bar);
      return part.isEmpty() ? capitalised(action)
                            : SharedTexts::tr("%1 in the %2").arg(capitalised(part), action);
    }
    if (op.piece == Piece::kZeroGrad)
      return SharedTexts::tr("Clearing the gradients on %1").arg(here);
    if (op.piece == Piece::kGradNorm)
      return SharedTexts::tr("Norm of the gradients on %1").arg(here);
    if (op.piece == Piece::kOffload)
      return SharedTexts::tr("Optimizer states to the host's memory and back on %1").arg(here);
    if (op.piece == Piece::kCombine)
      return SharedTexts::tr("Gradients into another type on %1").arg(here);
    return SharedTexts::tr("Optimizer on %1").arg(here);
  }
  QString what = purpose_words(bar.purpose);
  if (bar.microbatch >= 0)
    what = SharedTexts::tr("%1 of micro-batch %2").arg(what, microbatch_text(bar));
  if (bar.kind == OpKind::kSend)
    return SharedTexts::tr("%1 from %2 to %3")
        .arg(capitalised(what), here, place_of(program, op.peer));
  if (bar.kind == OpKind::kRecv)
    return SharedTexts::tr("%1 from %2 to %3")
        .arg(capitalised(what), place_of(program, op.peer), here);
  const int ranks =
      op.group >= 0
          ? static_cast<int>(program.groups[static_cast<std::size_t>(op.group)].ranks.size())
          : 0;
  const QString where =
      op.layer >= 0 ? SharedTexts::tr("layer %1, %2").arg(op.layer).arg(here) : here;
  if (bar.axis == Axis::kWorld)
    return SharedTexts::tr("%1 of %2 over %3 ranks, %4")
        .arg(capitalised(collective_word(op.collective)), what)
        .arg(ranks)
        .arg(where);
  return SharedTexts::tr("%1 of %2 over the %3 ranks of the %4 group, %5")
      .arg(capitalised(collective_word(op.collective)), what)
      .arg(ranks)
      .arg(axis_word(bar.axis), where);
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// A frame of the Layer view as text, for screen readers: step by step what is cut how, who has
// which part, what is added up and what is sent.
#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/layer/context/context_picture.h"
#include "app/views/layer/layer_inside.h"
#include "app/views/layer/picture/experts/layer_experts.h"
#include "app/views/layer/picture/layer_values.h"
#include "app/views/layer/vocabulary/vocabulary_picture.h"

namespace parallelarium {
namespace {

struct SentenceTexts {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

QString state_text(const LayerPicture& picture, int step) {
  const QString title = layer_step_title(picture, step);
  const double done = layer_share_done(picture, step, picture.look.rank);
  return done <= 0   ? SentenceTexts::tr("%1, still to come").arg(title)
         : done >= 1 ? SentenceTexts::tr("%1, done").arg(title)
                     : SentenceTexts::tr("%1, %2 done").arg(title, share_text(done));
}

// Of many the first two and the last.
QStringList shortened(QStringList list) {
  constexpr qsizetype kMostListed = 4;
  if (list.size() > kMostListed) list = {list[0], list[1], QStringLiteral("\u2026"), list.back()};
  return list;
}

// Whose part of a matrix that is cut it is: of weights rows or columns, of attention heads.
QString part_text(const LayerTensor& tensor) {
  if (tensor.written && !tensor.heads.empty() && tensor.name == "context")
    return SentenceTexts::tr("heads %1").arg(layer_places_text(tensor.heads));
  if (tensor.role != TensorRole::kWeight || tensor.all_experts > 0 || !tensor.is_matrix() ||
      !tensor.is_shard())
    return {};
  return tensor.held_columns < tensor.columns
             ? SentenceTexts::tr("columns %1").arg(layer_places_text(tensor.column_ranges))
             : SentenceTexts::tr("rows %1").arg(layer_places_text(tensor.row_ranges));
}

// Of the ranks that cut a matrix by TP: "w rank 0 columns 0 to 127, rank 1 columns 128 to 255";
// empty: no rank has a part of it.
QString shares_text(const LayerPicture& picture, const LayerStep& step) {
  const LayerSteps& layer = *picture.layer;
  const std::vector<LayerTensor>& all = step.ranks.front().tensors;
  const auto cut = std::find_if(all.begin(), all.end(), [](const LayerTensor& tensor) {
    return !part_text(tensor).isEmpty();
  });
  if (step.kind != LayerStepKind::kCompute || cut == all.end()) return {};
  const Coordinates& chosen = layer.ranks[std::size_t(picture.look.rank)].at;
  QStringList shares;
  for (std::size_t rank = 0; rank < step.ranks.size(); ++rank)
    for (const LayerTensor& tensor : step.ranks[rank].tensors)
      if (layer.ranks[rank].at.dp == chosen.dp && layer.ranks[rank].at.cp == chosen.cp &&
          tensor.name == cut->name && tensor.written == cut->written)
        shares
            << SentenceTexts::tr("rank %1 %2").arg(layer.ranks[rank].rank).arg(part_text(tensor));
  if (shares.size() < 2) return {};
  return QString::fromStdString(cut->name) + QLatin1Char(' ') +
         shortened(shares).join(QStringLiteral(", "));
}

// What a collective of TP or CP makes of what the ranks of the chosen one have; empty of others.
QString made_text(const LayerPicture& picture, const LayerStep& step) {
  if (step.kind != LayerStepKind::kCollective || !step.number.empty()) return {};
  const LayerSteps& layer = *picture.layer;
  const Coordinates& chosen = layer.ranks[std::size_t(picture.look.rank)].at;
  QStringList ranks;
  for (const LayerRank& rank : layer.ranks) {
    const bool together = step.axis == Axis::kTp   ? rank.at.cp == chosen.cp
                          : step.axis == Axis::kCp ? rank.at.tp == chosen.tp
                                                   : false;
    if (together && rank.at.dp == chosen.dp) ranks << QString::number(rank.rank);
  }
  if (ranks.isEmpty()) return {};
  const QString list = shortened(ranks).join(QStringLiteral(", "));
  switch (step.collective) {
    case CollectiveKind::kAllReduce:
      return SentenceTexts::tr("the partial sums of ranks %1 become a copy on each").arg(list);
    case CollectiveKind::kReduceScatter:
      return SentenceTexts::tr("the partial sums of ranks %1 become a shard on each").arg(list);
    case CollectiveKind::kAllGather:
      return SentenceTexts::tr("the shards of ranks %1 become a copy on each").arg(list);
    default:
      return SentenceTexts::tr("ranks %1 exchange parts of their shards").arg(list);
  }
}

// "g all-reduce, 42 % done: the partial sums of ranks 0, 1 become a copy on each, 8.00 KiB sent by
// each rank."
QString step_sentence(const LayerPicture& picture, int step) {
  const LayerSteps& layer = *picture.layer;
  const LayerStep& of = layer.steps[std::size_t(step)];
  QStringList parts;
  if (const QStringList cuts = layer_cut_texts(of); !cuts.isEmpty()) parts << cuts.front();
  parts << shares_text(picture, of) << made_text(picture, of);
  const LayerRankStep& part = of.ranks[std::size_t(picture.look.rank)];
  for (const LayerTensor& tensor : part.tensors) {
    const QString holding = layer_holding_text(tensor);
    if (!is_told_tensor(of, part, tensor) || holding.isEmpty() || tensor.scores) continue;
    parts << QString::fromStdString(tensor.name) + QLatin1Char(' ') + layer_shape_text(tensor) +
                 QLatin1Char(' ') + holding;
  }
  if (of.kind == LayerStepKind::kCollective || of.kind == LayerStepKind::kExchange)
    parts << SentenceTexts::tr("%1 sent by rank %2")
                 .arg(layer_sent_text(picture, step, picture.look.rank))
                 .arg(layer.ranks[std::size_t(picture.look.rank)].rank);
  if (of.kind == LayerStepKind::kNothingSent) parts << SentenceTexts::tr("nothing sent");
  parts.removeAll(QString());
  const QString state = state_text(picture, step);
  return (parts.isEmpty() ? state
                          : state + QStringLiteral(": ") + parts.join(QStringLiteral(", "))) +
         QLatin1Char('.');
}

// The numbers of the selected step.
QString values_sentence(const LayerPicture& picture) {
  if (picture.look.step < 0 || !picture.look.inside) return {};
  QStringList lines;
  for (const FactLine& fact : value_facts(picture, picture.look.step, picture.look.rank))
    lines << fact.word + QStringLiteral(": ") + fact.value + QLatin1Char('.');
  return lines.join(QLatin1Char(' '));
}

}  // namespace

QString layer_places_text(const std::vector<ChunkRange>& ranges) {
  constexpr qsizetype kMostRuns = 8;
  std::vector<ChunkRange> joined;
  for (const ChunkRange& range : ranges) {
    if (!joined.empty() && joined.back().end == range.begin)
      joined.back().end = range.end;
    else
      joined.push_back(range);
  }
  QStringList runs;
  for (const ChunkRange& range : joined)
    runs << (range.end - range.begin == 1
                 ? count_text(range.begin)
                 : SentenceTexts::tr("%1 to %2")
                       .arg(count_text(range.begin), count_text(range.end - 1)));
  if (runs.size() > kMostRuns)
    runs = runs.mid(0, kMostRuns - 2) << QStringLiteral("\u2026") << runs.last();
  return runs.join(QStringLiteral(", "));
}

QString layer_moment(const LayerPicture& picture) {
  if (!picture.drawn()) return picture.empty;
  QStringList lines{picture.title + QLatin1Char('.')};
  const int steps = int(picture.layer->steps.size());
  int next = -1;
  for (int step = 0; step < steps; ++step) {
    const double done = layer_share_done(picture, step, picture.look.rank);
    if (done > 0 && done < 1) lines << step_sentence(picture, step);
    if (done <= 0 && next < 0) next = step;
  }
  if (next >= 0) lines << step_sentence(picture, next);
  return lines.join(QLatin1Char(' '));
}

QString layer_sentence(const LayerPicture& picture) {
  if (!picture.drawn()) return picture.empty;
  QStringList lines{picture.title + QLatin1Char('.')};
  if (!picture.notice.isEmpty()) lines << picture.notice;
  const LayerSteps& layer = *picture.layer;
  const LayerContext& context = layer.context;
  if (layer.ranks.size() > 1)
    lines << SentenceTexts::tr("Shapes are those of rank %1.")
                 .arg(layer.ranks[std::size_t(picture.look.rank)].rank);
  if (picture.shows_context()) lines << context_sentence(picture);
  for (int step = 0; step < int(layer.steps.size()); ++step)
    if (!picture.shows_context() || (step >= context.first_step && step <= context.last_step))
      lines << step_sentence(picture, step);
  for (const LayerLetter& letter : layer_letters(layer)) lines << letter.text;
  const QString experts = experts_sentence(picture);
  if (!experts.isEmpty()) lines << experts;
  if (picture.look.inside)
    for (const InsideIdentity& identity : picture.look.inside->identities)
      lines << identity.sentence;
  if (const QString values = values_sentence(picture); !values.isEmpty()) lines << values;
  if (picture.shows_kept()) lines << layer_kept_sentence(picture);
  if (picture.shows_vocabulary()) lines << vocabulary_sentence(picture);
  return lines.join(QLatin1Char(' '));
}

}  // namespace parallelarium

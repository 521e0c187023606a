// SPDX-License-Identifier: GPL-3.0-or-later
// What the parts of a layer are called, and the text of a frame.
#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/collective/collective_plan.h"
#include "app/views/layer/context/context_picture.h"
#include "app/views/layer/layer_inside.h"
#include "app/views/layer/picture/experts/layer_experts.h"
#include "app/views/layer/picture/layer_marks.h"
#include "app/views/layer/picture/layer_values.h"
#include "app/views/layer/vocabulary/vocabulary_picture.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {
namespace {

struct LayerTexts {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

const QString kDotBetween = QStringLiteral(" \u00b7 ");

const LayerRankStep& part_of(const LayerPicture& picture, int step, int rank) {
  return picture.layer->steps[std::size_t(step)].ranks[std::size_t(rank)];
}

QString side_text(std::int64_t held, std::int64_t whole) {
  return held == whole ? count_text(whole)
                       : LayerTexts::tr("%1 of %2").arg(count_text(held), count_text(whole));
}

// Of a shard: " with rank 1", the others that have the same.
QString sharers_text(const LayerPicture& picture, const LayerStep& step, int tensor, int rank) {
  if (!step.ranks[std::size_t(rank)].tensors[std::size_t(tensor)].is_shard()) return {};
  QStringList ranks;
  for (const int other : ranks_with_same(step, tensor, rank))
    ranks << QString::number(picture.layer->ranks[std::size_t(other)].rank);
  if (ranks.empty()) return {};
  const QString text = ranks.size() == 1 ? LayerTexts::tr("the same as on rank %1")
                                         : LayerTexts::tr("the same as on ranks %1");
  return QStringLiteral(", ") + text.arg(ranks.join(QStringLiteral(", ")));
}

// What a rank of a ring sends and what comes: "sum, tokens 96–127, partial sum · to rank 1".
std::vector<FactLine> block_facts(const LayerPicture& picture, const LayerStep& step,
                                  const LayerRankStep& part) {
  std::vector<FactLine> facts;
  if (step.blocks == 1) return facts;
  for (const LayerTensor& tensor : part.tensors) {
    QStringList tokens;
    for (const ChunkRange& range : tensor.row_ranges)
      tokens << QStringLiteral("%1\u2013%2").arg(range.begin).arg(range.end - 1);
    QString text = QString::fromStdString(tensor.name) + QStringLiteral(", ") +
                   LayerTexts::tr("tokens %1").arg(tokens.join(QStringLiteral(", "))) +
                   QStringLiteral(", ") + layer_holding_text(tensor);
    if (!tensor.written && part.sends_to >= 0)
      text +=
          kDotBetween +
          LayerTexts::tr("to rank %1").arg(picture.layer->ranks[std::size_t(part.sends_to)].rank);
    facts.push_back({tensor.written ? LayerTexts::tr("comes") : LayerTexts::tr("goes"), text});
  }
  return facts;
}

// What that letter of tensor or sequence parallelism stands for here; empty: the layer has none.
QString letter_text(const LayerSteps& layer, std::string_view letter) {
  const auto has = [&](std::initializer_list<CollectiveKind> kinds) {
    return std::any_of(layer.steps.begin(), layer.steps.end(), [&](const LayerStep& step) {
      return step.symbol == letter &&
             (step.kind == LayerStepKind::kNothingSent ||
              std::find(kinds.begin(), kinds.end(), step.collective) != kinds.end());
    });
  };
  using enum CollectiveKind;
  if (letter == "f" && has({kAllReduce}))
    return LayerTexts::tr("f: nothing forward, an all-reduce backward.");
  if (letter == "g" && has({kAllReduce}))
    return LayerTexts::tr(
        "g (f\u0304 in Korthikanti et al.): an all-reduce forward, nothing backward.");
  if (letter == "g" && has({kAllGather, kReduceScatter}))
    return LayerTexts::tr(
        "g (of Korthikanti et al.; in Shoeybi et al. an all-reduce): an all-gather forward, a "
        "reduce-scatter backward.");
  if (letter == "\u1e21" && has({kAllGather, kReduceScatter}))
    return LayerTexts::tr("\u1e21: a reduce-scatter forward, an all-gather backward.");
  return {};
}

// Whether both sides of what a step sends were compared, and how far they differ; empty: it sends
// nothing.
QString checked_text(const LayerPicture& picture, int step) {
  const LayerStep& of = picture.layer->steps[std::size_t(step)];
  const LayerInside* inside = picture.look.inside.get();
  if (const InsideIdentity* identity = inside ? inside->identity_of(step) : nullptr)
    return identity->sentence;
  if (of.kind == LayerStepKind::kCompute || of.kind == LayerStepKind::kNothingSent) return {};
  if (picture.shows_vocabulary())
    return LayerTexts::tr("not here: a run compares what the layers send, not the loss and tables");
  if (!layer_way_text(of).isEmpty())
    return LayerTexts::tr(
        "not here: rows of tokens travel, and both sides have them in another order");
  if (of.blocks > 1 && of.block > 0) return LayerTexts::tr("with the first exchange of this ring");
  if (!inside)
    return picture.can_look_inside ? LayerTexts::tr("not yet: press Look inside")
                                   : LayerTexts::tr("needs a run on this computer");
  return LayerTexts::tr("not here: no probe sees what stands on both sides of it");
}

// What ranks have to add up afterwards.
bool leaves_partial_sums(const std::vector<LayerTensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(),
                     [](const LayerTensor& of) { return of.written && of.partial; });
}

}  // namespace

bool is_told_tensor(const LayerStep& step, const LayerRankStep& part, const LayerTensor& tensor) {
  if (tensor.is_matrix() || is_number_of_tokens(step, tensor)) return true;
  return tensor.written &&
         std::none_of(part.tensors.begin(), part.tensors.end(), [&](const LayerTensor& other) {
           return other.written && (other.is_matrix() || is_number_of_tokens(step, other));
         });
}

QString layer_collective_name(const LayerStep& step) {
  return in_sentence(title_of(step.collective));
}

QString layer_step_name(const LayerStep& step) {
  const QString symbol = QString::fromStdString(step.symbol);
  switch (step.kind) {
    case LayerStepKind::kNothingSent:
      return symbol;
    case LayerStepKind::kExchange:
      return LayerTexts::tr("exchange");
    case LayerStepKind::kCollective:
      if (const QString way = layer_way_text(step); !way.isEmpty())
        return way + QLatin1Char(' ') + layer_collective_name(step);
      if (!step.number.empty())
        return loss_number_text(step.number) + QLatin1Char(' ') + layer_collective_name(step);
      return symbol.isEmpty() ? layer_collective_name(step)
                              : symbol + QLatin1Char(' ') + layer_collective_name(step);
    case LayerStepKind::kCompute:
      break;
  }
  // A ring's blocks of a product are counted.
  const QString name = step.blocks == 1 ? name_text(step.piece)
                                        : QStringLiteral("%1 %2/%3")
                                              .arg(name_text(step.piece))
                                              .arg(step.block + 1)
                                              .arg(step.blocks);
  if (step.phase == Phase::kInputGrad) return name + QStringLiteral(" dX");
  if (step.phase == Phase::kWeightGrad) return name + QStringLiteral(" dW");
  if (step.phase == Phase::kRecompute) return LayerTexts::tr("%1 again").arg(name);
  return name;
}

QString layer_step_title(const LayerPicture& picture, int step) {
  const QString moved = context_move_text(picture, step);
  if (!moved.isEmpty()) return moved;
  const QString name = layer_step_name(picture.layer->steps[std::size_t(step)]);
  const int round = round_of_ring(*picture.layer, step);
  return round < 0 ? name : LayerTexts::tr("%1, ring step %2").arg(name).arg(round + 1);
}

QString layer_head_name(const LayerStep& step) {
  if (step.kind != LayerStepKind::kCompute || step.blocks == 1 || step.block == 0)
    return layer_step_name(step);
  return step.piece == Piece::kCombine
             ? QStringLiteral("+")
             : QStringLiteral("%1/%2").arg(step.block + 1).arg(step.blocks);
}

QStringList layer_step_names(const LayerStep& step) {
  QStringList names{layer_step_name(step)};
  if (step.kind == LayerStepKind::kCollective)
    names << (step.number.empty() ? QString::fromStdString(step.symbol)
                                  : loss_number_text(step.number))
          << layer_way_text(step);
  if (step.kind == LayerStepKind::kCompute && step.phase == Phase::kInputGrad)
    names << QStringLiteral("dX");
  if (step.kind == LayerStepKind::kCompute && step.phase == Phase::kWeightGrad)
    names << QStringLiteral("dW");
  if (step.kind == LayerStepKind::kCompute && step.blocks > 1)
    names << QString::number(step.block + 1);
  names.removeAll(QString());
  return names;
}

std::vector<LayerLetter> layer_letters(const LayerSteps& layer) {
  std::vector<LayerLetter> letters;
  for (const char* letter : {"f", "g", "\u1e21"}) {
    const QString text = letter_text(layer, letter);
    if (text.isEmpty()) continue;
    const bool sends =
        std::any_of(layer.steps.begin(), layer.steps.end(), [&](const LayerStep& step) {
          return step.symbol == letter && step.kind != LayerStepKind::kNothingSent;
        });
    letters.push_back({text, sends});
  }
  return letters;
}

QString layer_shape_text(const LayerTensor& tensor) {
  const QString matrix = side_text(tensor.held_rows, tensor.rows) + QStringLiteral(" \u00d7 ") +
                         side_text(tensor.held_columns, tensor.columns);
  return tensor.all_experts > 0 ? held_experts_text(tensor) + QStringLiteral(": ") + matrix
                                : matrix;
}

QString layer_holding_text(const LayerTensor& tensor) {
  if (tensor.partial) return LayerTexts::tr("partial sum");
  if (tensor.is_shard() && tensor.copy) return LayerTexts::tr("shard and copy");
  if (tensor.is_shard()) return LayerTexts::tr("shard");
  return tensor.copy ? LayerTexts::tr("copy") : QString();
}

QStringList layer_cut_texts(const LayerStep& step) {
  if (step.kind != LayerStepKind::kCompute || (step.block > 0 && step.blocks > 1))
    return {};  // the same weights as of the first block
  const std::vector<LayerTensor>& tensors = step.ranks.front().tensors;
  for (const LayerTensor& tensor : tensors) {
    if (tensor.role != TensorRole::kWeight || !tensor.is_matrix()) continue;
    if (tensor.held_experts() < tensor.all_experts)
      return {tensor.held_columns < tensor.columns || tensor.held_rows < tensor.rows
                  ? LayerTexts::tr("cut by experts, columns and rows")
                  : LayerTexts::tr("cut by experts")};
    if (tensor.all_experts > 0 && tensor.is_shard())
      return {LayerTexts::tr("cut by columns, then by rows")};
    if (step.piece == Piece::kEmbedding && tensor.is_shard())
      return {LayerTexts::tr("cut by words: rows")};
    if (step.piece == Piece::kHead && tensor.is_shard())
      return {LayerTexts::tr("cut by words: columns")};
    const bool columns = tensor.held_columns < tensor.columns;
    if (!columns && tensor.held_rows == tensor.rows) continue;
    QStringList texts{columns ? LayerTexts::tr("cut by columns") : LayerTexts::tr("cut by rows")};
    if (step.phase == Phase::kForward || step.phase == Phase::kInputGrad)
      texts.prepend(
          leaves_partial_sums(tensors)
              ? LayerTexts::tr("%1: partial sums", "cut by rows").arg(texts.front())
              : LayerTexts::tr("%1: nothing to add", "cut by columns").arg(texts.front()));
    return texts;
  }
  for (const LayerTensor& tensor : tensors) {
    if (!tensor.written || tensor.role != TensorRole::kActivation || !tensor.is_shard()) continue;
    if (tensor.held_rows < tensor.rows && tensor.held_columns < tensor.columns) {
      if (!tensor.heads.empty())
        return {LayerTexts::tr("cut by tokens and heads"), LayerTexts::tr("by tokens, heads"),
                LayerTexts::tr("cut twice")};
      return {LayerTexts::tr("cut by tokens and columns"), LayerTexts::tr("by tokens, columns"),
              LayerTexts::tr("cut twice")};
    }
    if (tensor.held_rows < tensor.rows)
      return {LayerTexts::tr("cut by tokens"), LayerTexts::tr("by tokens")};
    if (!tensor.heads.empty()) return {LayerTexts::tr("cut by heads"), LayerTexts::tr("by heads")};
    return {LayerTexts::tr("cut by columns"), LayerTexts::tr("by columns")};
  }
  return {};
}

QString layer_sent_text(const LayerPicture& picture, int step, int rank) {
  if (picture.hides_traffic) return kHidden;
  const std::int64_t bytes = part_of(picture, step, rank).sent_bytes;
  return bytes == 0 ? QStringLiteral("0") : bytes_text(bytes);
}

QString layer_kept_text(const LayerPicture& picture, int step, int rank) {
  if (picture.hides_memory) return kHidden;
  const std::int64_t bytes = part_of(picture, step, rank).kept_bytes;
  return bytes == 0 ? QStringLiteral("0") : bytes_text(bytes);
}

SelectionText describe_layer_step(const LayerPicture& picture, int step, int rank) {
  SelectionText text;
  if (!picture.drawn() || step < 0) return text;
  const LayerStep& of = picture.layer->steps[std::size_t(step)];
  const LayerRankStep& part = part_of(picture, step, rank);
  const LayerRank& at = picture.layer->ranks[std::size_t(rank)];
  const QString title = layer_step_title(picture, step);
  QStringList names{of.symbol.empty() ? capitalised(title) : title};  // letters keep their size
  if (!picture.shows_vocabulary()) {
    if (!of.symbol.empty())  // both halves have such a step
      names << (of.attention ? LayerTexts::tr("attention") : LayerTexts::tr("MLP"));
    names << LayerTexts::tr("layer %1").arg(picture.layer->choice.layer);
  }
  names << LayerTexts::tr("rank %1").arg(at.rank);
  text.headline = names.join(kDotBetween);
  if (of.kind == LayerStepKind::kNothingSent) {
    text.facts.push_back({LayerTexts::tr("nothing sent:"),
                          LayerTexts::tr("in the other direction an all-reduce stands here")});
    text.facts.push_back({{}, letter_text(*picture.layer, of.symbol)});
    return text;
  }
  for (FactLine& fact : context_facts(picture, step, rank)) text.facts.push_back(std::move(fact));
  for (FactLine& fact : expert_facts(picture, step, rank)) text.facts.push_back(std::move(fact));
  for (FactLine& fact : vocabulary_facts(picture, step)) text.facts.push_back(std::move(fact));
  if (of.kind == LayerStepKind::kCompute) {
    if (const QStringList cuts = layer_cut_texts(of); !cuts.isEmpty())
      text.facts.push_back({LayerTexts::tr("is"), cuts.front()});
    text.facts.push_back({LayerTexts::tr("shapes"), layer_algebra_text(of, part)});
    for (const LayerTensor& tensor : part.tensors) {
      const QString holding = layer_holding_text(tensor);
      if (!is_told_tensor(of, part, tensor) || holding.isEmpty()) continue;
      const int at_tensor = int(&tensor - part.tensors.data());
      text.facts.push_back({QString::fromStdString(tensor.name),
                            holding + sharers_text(picture, of, at_tensor, rank) + kDotBetween +
                                bytes_text(tensor.bytes)});
    }
    const QString flops = value_text(part.flops, "flops");
    const QString formula = layer_flops_formula(picture, step, rank);
    text.facts.push_back({LayerTexts::tr("computes"), picture.hides_flops ? kHidden
                                                      : formula.isEmpty() ? flops
                                                                          : formula});
    text.facts.push_back({LayerTexts::tr("bytes read and written"), bytes_text(part.moved_bytes)});
    if (part.moved_bytes > 0 && !picture.hides_flops)
      text.facts.push_back(
          {LayerTexts::tr("FLOP per byte"), number_text(part.flops / double(part.moved_bytes))});
  } else {
    for (FactLine& fact : block_facts(picture, of, part)) text.facts.push_back(std::move(fact));
    if (!of.symbol.empty()) text.facts.push_back({{}, letter_text(*picture.layer, of.symbol)});
    const QString formula =
        picture.hides_traffic ? QString() : layer_sent_formula(picture, step, rank);
    text.facts.push_back({LayerTexts::tr("sent by this rank"),
                          formula.isEmpty() ? layer_sent_text(picture, step, rank) : formula});
  }
  if (const QString checked = checked_text(picture, step); !checked.isEmpty())
    text.facts.push_back({LayerTexts::tr("checked"), checked});
  for (FactLine& fact : value_facts(picture, step, rank)) text.facts.push_back(std::move(fact));
  if (!picture.layer->choice.backward)
    text.facts.push_back(
        {LayerTexts::tr("kept for the backward"), layer_kept_text(picture, step, rank)});
  return text;
}

}  // namespace parallelarium

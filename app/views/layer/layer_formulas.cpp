// SPDX-License-Identifier: GPL-3.0-or-later
// What a step of a layer computes as algebra of its matrices, and where its FLOPs and bytes come
// from: products of the sizes that the step has. Letters are those of the papers: b sequences of s
// tokens, h wide, t ranks of TP, c of CP.
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/layer/picture/layer_marks.h"
#include "app/views/layer/picture/layer_picture.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {
namespace {

const QString kTimesSign = QStringLiteral(" \u00d7 "), kTurned = QStringLiteral("\u1d40"),
              kTimesDot = QStringLiteral(" \u00b7 "), kEqualsSign = QStringLiteral(" = ");

using Tensors = std::vector<const LayerTensor*>;

QString named(const LayerTensor& tensor, bool turned = false) {
  QString name = QString::fromStdString(tensor.name);
  LayerTensor of = tensor;
  if (turned) {
    name += kTurned;
    std::swap(of.rows, of.columns);
    std::swap(of.held_rows, of.held_columns);
  }
  return name + QStringLiteral(" [") + layer_shape_text(of) + QLatin1Char(']');
}

QString named_all(const Tensors& tensors, bool turned = false) {
  QStringList texts;
  for (const LayerTensor* tensor : tensors) texts << named(*tensor, turned);
  return texts.join(QStringLiteral(", "));
}

bool is_matrix_of(const LayerTensor& tensor, TensorRole role) {
  return tensor.role == role && tensor.is_matrix();
}

// Pieces that multiply tokens by a weight, or gradients by tokens.
bool is_product(const LayerStep& step) {
  return step.piece == Piece::kQkv || step.piece == Piece::kProjection ||
         step.piece == Piece::kMlpIn || step.piece == Piece::kMlpOut || step.piece == Piece::kHead;
}

// What the step finds and leaves, as far as words name it.
struct Sides {
  Tensors tokens, gradients, weights, before, left;
};
Sides sides_of(const LayerStep& step, const LayerRankStep& part) {
  Sides sides;
  for (const LayerTensor& tensor : part.tensors) {
    if (!is_told_tensor(step, part, tensor) || tensor.scores) continue;
    const bool earlier = tensor.name.ends_with("-before");
    Tensors& side = tensor.written                       ? sides.left
                    : earlier                            ? sides.before
                    : tensor.role == TensorRole::kWeight ? sides.weights
                    : tensor.name.starts_with("d")       ? sides.gradients
                                                         : sides.tokens;
    side.push_back(&tensor);
  }
  return sides;
}

// The step's algebra; empty: it is none of matrices alone.
QString product_text(const LayerStep& step, const Sides& of) {
  const bool backward = step.phase == Phase::kInputGrad || step.phase == Phase::kWeightGrad;
  const Tensors& found = backward ? of.gradients : of.tokens;
  if (found.empty() || of.left.empty()) return {};
  if (step.phase == Phase::kWeightGrad) {
    if (of.tokens.empty() || !of.weights.empty()) return {};
    const QString sum =
        of.before.empty() ? QString() : named_all(of.before) + QStringLiteral(" + ");
    return sum + named_all(of.tokens, true) + kTimesSign + named_all(found);
  }
  if (of.weights.empty()) return {};
  return named_all(found) + kTimesSign + named_all(of.weights, backward);
}

// One head of attention after the other.
QString attention_text(const LayerStep& step, const Sides& of) {
  const bool forward = step.phase == Phase::kForward || step.phase == Phase::kRecompute;
  if (!forward || of.tokens.size() != 3 || of.tokens[0]->name != "q" ||
      !is_keys_or_values(*of.tokens[1]) || !is_keys_or_values(*of.tokens[2]))
    return {};
  return QStringLiteral("softmax(") + named(*of.tokens[0]) + kTimesSign +
         named(*of.tokens[1], true) + QLatin1Char(')') + kTimesSign + named(*of.tokens[2]);
}

QString numbers_text(const std::vector<std::int64_t>& numbers) {
  QStringList texts;
  for (const std::int64_t number : numbers) texts << count_text(number);
  return numbers.size() == 1
             ? texts.front()
             : QLatin1Char('(') + texts.join(QStringLiteral(" + ")) + QLatin1Char(')');
}

// "b s", "b s / c"; of tokens that TP cuts too, or only some of, there is no such letter.
QString tokens_letters(const LayerPicture& picture, const LayerTensor& tensor) {
  if (tensor.held_rows == tensor.rows) return QStringLiteral("b s");
  const std::vector<LayerRank>& ranks = picture.layer->ranks;
  int cp = 0;
  for (const LayerRank& rank : ranks) cp = std::max(cp, rank.at.cp + 1);
  return tensor.held_rows * cp == tensor.rows ? QStringLiteral("b s / c") : QString();
}

QString side_letter(const LayerPicture& picture, const char* letter, std::int64_t held,
                    std::int64_t whole) {
  int tp = 0;
  for (const LayerRank& rank : picture.layer->ranks) tp = std::max(tp, rank.at.tp + 1);
  if (held == whole) return QLatin1String(letter);
  return held * tp == whole ? QLatin1String(letter) + QStringLiteral(" / t") : QString();
}

// "2 · b s · h · f / t" of a product of tokens and one weight; empty: there are no letters for it.
QString product_letters(const LayerPicture& picture, const LayerStep& step,
                        const LayerTensor& tokens, const Tensors& weights) {
  const char *in = "h", *out = nullptr;
  if (step.piece == Piece::kProjection) out = "h";
  if (step.piece == Piece::kMlpIn) out = "f";
  if (step.piece == Piece::kMlpOut) in = "f", out = "h";
  if (step.piece == Piece::kHead) out = "V";
  if (!out || step.blocks > 1) return {};
  const LayerTensor& weight = *weights.front();
  // Heads may be wider than their share of h.
  if (step.piece == Piece::kProjection && weight.rows != weight.columns) return {};
  QStringList letters{tokens_letters(picture, tokens),
                      side_letter(picture, in, weight.held_rows, weight.rows),
                      side_letter(picture, out, weight.held_columns, weight.columns)};
  if (letters.contains(QString())) return {};
  letters.prepend(weights.size() > 1 ? QStringLiteral("2 \u00b7 %1").arg(weights.size())
                                     : QStringLiteral("2"));
  return letters.join(kTimesDot);
}

// Of the residual stream: of the first matrix of tokens; 0: there is none.
std::int64_t residual_width(const LayerSteps& layer) {
  for (const LayerStep& step : layer.steps)
    for (const LayerTensor& tensor : step.ranks.front().tensors)
      if (is_matrix_of(tensor, TensorRole::kActivation) && !tensor.scores) return tensor.columns;
  return 0;
}

QString with_value(const QString& letters, const QString& numbers, const QString& value) {
  return (letters.isEmpty() ? QString() : letters + kEqualsSign) + numbers + kEqualsSign + value;
}

}  // namespace

QString layer_algebra_text(const LayerStep& step, const LayerRankStep& part) {
  const Sides of = sides_of(step, part);
  QString computed;
  if (is_product(step)) computed = product_text(step, of);
  if (step.piece == Piece::kAttention) computed = attention_text(step, of);
  const bool adds = step.piece == Piece::kResidual1 || step.piece == Piece::kResidual2;
  if (adds && of.tokens.size() == 2 && step.phase == Phase::kForward)
    computed = named(*of.tokens[0]) + QStringLiteral(" + ") + named(*of.tokens[1]);
  if (!computed.isEmpty()) return computed + kEqualsSign + named_all(of.left);
  QStringList found;
  for (const LayerTensor& tensor : part.tensors)
    if (is_told_tensor(step, part, tensor) && !tensor.scores && !tensor.written)
      found << named(tensor);
  return found.join(QStringLiteral(", ")) + QStringLiteral(" \u2192 ") + named_all(of.left);
}

QString layer_flops_formula(const LayerPicture& picture, int step, int rank) {
  const LayerStep& of = picture.layer->steps[std::size_t(step)];
  const LayerRankStep& part = of.ranks[std::size_t(rank)];
  if (!is_product(of) || part.flops <= 0) return {};
  const LayerTensor* tokens = nullptr;
  Tensors weights;
  for (const LayerTensor& tensor : part.tensors) {
    if (is_matrix_of(tensor, TensorRole::kActivation) && !tokens) tokens = &tensor;
    const bool gradient = is_matrix_of(tensor, TensorRole::kWeightGradient) && tensor.written;
    if (is_matrix_of(tensor, TensorRole::kWeight) || gradient) weights.push_back(&tensor);
  }
  if (!tokens || weights.empty()) return {};
  // Weights that stand side by side have one of their sides in common.
  std::vector<std::int64_t> columns;
  double flops = 0;
  for (const LayerTensor* weight : weights) {
    if (weight->held_rows != weights.front()->held_rows) return {};
    columns.push_back(weight->held_columns);
    flops +=
        2.0 * double(tokens->held_rows) * double(weight->held_rows) * double(weight->held_columns);
  }
  if (flops != part.flops) return {};
  const QString numbers = QStringList{QStringLiteral("2"), count_text(tokens->held_rows),
                                      count_text(weights.front()->held_rows), numbers_text(columns)}
                              .join(kTimesDot);
  return with_value(product_letters(picture, of, *tokens, weights), numbers,
                    value_text(part.flops, "flops"));
}

QString layer_sent_formula(const LayerPicture& picture, int step, int rank) {
  const LayerSteps& layer = *picture.layer;
  const LayerStep& of = layer.steps[std::size_t(step)];
  const std::int64_t sent = of.ranks[std::size_t(rank)].sent_bytes;
  const bool all_reduce = of.collective == CollectiveKind::kAllReduce;
  const bool half = of.collective == CollectiveKind::kAllGather ||
                    of.collective == CollectiveKind::kReduceScatter;
  if (of.kind != LayerStepKind::kCollective || sent <= 0 || !(all_reduce || half)) return {};
  if (of.axis != Axis::kTp && of.axis != Axis::kCp) return {};
  int ranks = 0;
  for (const LayerRank& each : layer.ranks)
    ranks = std::max(ranks, (of.axis == Axis::kTp ? each.at.tp : each.at.cp) + 1);
  if (ranks < 2) return {};
  // What is sent is what a piece before leaves, or what the piece behind finds.
  for (const int beside : {step - 1, step + 1}) {
    if (beside < 0 || beside >= int(layer.steps.size())) continue;
    for (const LayerTensor& tensor :
         layer.steps[std::size_t(beside)].ranks[std::size_t(rank)].tensors) {
      const std::int64_t elements = tensor.held_rows * tensor.held_columns;
      if (tensor.role != TensorRole::kActivation || tensor.scores || elements == 0) continue;
      const std::int64_t each = tensor.bytes / elements;
      if ((all_reduce ? 2 : 1) * (ranks - 1) * elements * each != sent * ranks) continue;
      const QString t = of.axis == Axis::kTp ? QStringLiteral("t") : QStringLiteral("c");
      const QString twice = all_reduce ? QStringLiteral("2 ") : QString();
      const QString bytes = QStringLiteral("%1\u00a0B").arg(each);
      QString tokens = tokens_letters(picture, tensor);  // "b s h / c" with the width
      if (tensor.held_columns > 1) tokens.replace(QLatin1String("b s"), QLatin1String("b s h"));
      // Outside of the residual stream the width has no letter.
      const bool residual = tensor.held_columns == 1 || tensor.columns == residual_width(layer);
      const QString letters = tokens.isEmpty() || !residual || tensor.held_columns != tensor.columns
                                  ? QString()
                                  : QStringLiteral("%1(%2 \u2212 1)/%2 \u00b7 %3 \u00b7 %4")
                                        .arg(twice, t, tokens, bytes);
      QStringList numbers{QStringLiteral("%1/%2").arg(ranks - 1).arg(ranks),
                          count_text(tensor.held_rows)};
      if (all_reduce) numbers.prepend(QStringLiteral("2"));
      if (tensor.held_columns > 1) numbers << count_text(tensor.held_columns);
      return with_value(letters, (numbers << bytes).join(kTimesDot), bytes_text(sent));
    }
  }
  return {};
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/layer/picture/layer_legend.h"

#include <QCoreApplication>

#include "app/views/layer/picture/layer_brush.h"

namespace parallelarium {
namespace {

struct LayerLegend {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

QColor edge_of_activation(const Theme& theme) {
  const QColor activation = fill_of(theme, TensorRole::kActivation);
  return mixed(activation, theme.ink_on(activation), 0.5);
}

void filled(QPainter& painter, const QRectF& at, const QBrush& fill, const QPen& pen) {
  painter.setBrush(fill);
  painter.setPen(pen);
  painter.drawRect(at);
}

void paint_bar_mark(QPainter& painter, double middle, const QRectF& at, const QBrush& fill,
                    const QPen& pen) {
  painter.setBrush(fill);
  painter.setPen(pen);
  painter.drawRoundedRect(QRectF(middle - 3, at.top() - 2, 7, 14), 3, 3);
}

void paint_weight_mark(QPainter& painter, const QRectF& at, const Theme& theme) {
  filled(painter, at, fill_of(theme, TensorRole::kWeight), Qt::NoPen);
}

void paint_activation_mark(QPainter& painter, const QRectF& at, const Theme& theme) {
  filled(painter, at, fill_of(theme, TensorRole::kActivation), QPen(edge_of_activation(theme), 1));
}

void paint_gradient_mark(QPainter& painter, const QRectF& at, const Theme& theme) {
  filled(painter, at, fill_of(theme, TensorRole::kWeightGradient), Qt::NoPen);
}

void paint_shard_mark(QPainter& painter, const QRectF& at, const Theme& theme) {
  paint_dotted(painter, at, theme);
  QPen own = theme.rank_line(0);
  own.setWidthF(2);
  filled(painter, QRectF(at.left(), at.top(), 7, at.height()),
         fill_of(theme, TensorRole::kActivation), own);
}

void paint_copy_sign(QPainter& painter, const QRectF& at, const Theme& theme) {
  paint_activation_mark(painter, at, theme);
  painter.drawRect(at.adjusted(2.5, 2.5, -2.5, -2.5));
}

void paint_sum_mark(QPainter& painter, const QRectF& at, const Theme& theme) {
  paint_activation_mark(painter, at, theme);
  paint_crosses(painter, at, theme.ink_on(fill_of(theme, TensorRole::kActivation)));
}

void paint_collective_mark(QPainter& painter, const QRectF& at, const Theme& theme) {
  paint_bar_mark(painter, at.center().x(), at, theme.solid(OpColor::kCommunication), Qt::NoPen);
}

void paint_nothing_mark(QPainter& painter, const QRectF& at, const Theme& theme) {
  paint_bar_mark(painter, at.center().x(), at, Qt::NoBrush,
                 QPen(theme.solid(OpColor::kCommunication), 1, Qt::DotLine));
}

// A tensor and a collective, each half done: they fill from above.
void paint_progress_mark(QPainter& painter, const QRectF& at, const Theme& theme) {
  const QRectF tensor = at.adjusted(-1, 0, -8, 0);
  const QRectF upper(at.left() - 1, at.top(), at.width() + 2, at.height() / 2);
  const QColor sent = theme.solid(OpColor::kCommunication);
  painter.save();
  painter.setClipRect(upper, Qt::IntersectClip);
  filled(painter, tensor, fill_of(theme, TensorRole::kActivation), Qt::NoPen);
  paint_bar_mark(painter, at.right() - 5, at, sent, Qt::NoPen);
  painter.restore();
  filled(painter, tensor, Qt::NoBrush, QPen(edge_of_activation(theme), 1));
  paint_bar_mark(painter, at.right() - 5, at, Qt::NoBrush, QPen(sent, 1));
  painter.setPen(QPen(theme.mark, 1.5));
  painter.drawLine(QPointF(tensor.left(), upper.bottom()), QPointF(tensor.right(), upper.bottom()));
}

// Rows for two ranks, in their colours.
void paint_rows_mark(QPainter& painter, const QRectF& at, const Theme& theme) {
  paint_activation_mark(painter, at, theme);
  const double half = at.height() / 2;
  painter.fillRect(QRectF(at.left(), at.top(), 4, half), theme.rank_line(0).color());
  painter.fillRect(QRectF(at.left(), at.top() + half, 4, half), theme.rank_line(1).color());
}

void paint_below_mark(QPainter& painter, const QRectF& at, const Theme& theme) {
  filled(painter, at, theme.solid(OpColor::kCommunication), Qt::NoPen);
}

void paint_above_mark(QPainter& painter, const QRectF& at, const Theme& theme) {
  filled(painter, at, theme.accent_line, Qt::NoPen);
}

}  // namespace

std::vector<LegendWord> layer_legend(const LayerPicture& picture) {
  std::vector<LegendWord> words{{LayerLegend::tr("weight"), paint_weight_mark},
                                {LayerLegend::tr("activation"), paint_activation_mark}};
  if (picture.layer->choice.backward)
    words.push_back({LayerLegend::tr("gradient"), paint_gradient_mark});
  words.push_back({LayerLegend::tr("shard, edge of its rank"), paint_shard_mark});
  words.push_back({LayerLegend::tr("copy"), paint_copy_sign});
  words.push_back({LayerLegend::tr("partial sum"), paint_sum_mark});
  words.push_back({LayerLegend::tr("collective"), paint_collective_mark});
  words.push_back({LayerLegend::tr("nothing sent"), paint_nothing_mark});
  words.push_back({LayerLegend::tr("filled as far as done"), paint_progress_mark});
  if (picture.layer->experts && picture.shows_sent_rows())
    words.push_back(
        {LayerLegend::tr("tokens to or from the ranks of these colours"), paint_rows_mark});
  if (picture.look.inside) {
    words.push_back({LayerLegend::tr("below 0"), paint_below_mark});
    words.push_back({LayerLegend::tr("above 0, one scale for all ranks"), paint_above_mark});
  }
  words.push_back({LayerLegend::tr("absent"), paint_dotted});
  for (const LayerLetter& letter : layer_letters(*picture.layer))
    words.push_back({letter.text, letter.sends ? paint_collective_mark : paint_nothing_mark});
  return words;
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The picture of context parallelism as a whole, and its legend.
#include <QCoreApplication>
#include <QPolygonF>
#include <algorithm>

#include "app/views/layer/context/context_picture.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct ContextPaintWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

}  // namespace

void put_context_head(const LayerBrush& brush, const QRectF& line, const QString& caps,
                      const QString& more) {
  const QFont font = brush.theme.caps();
  const double width = label_width(font, caps) + 16;
  put_elided(brush.painter, line, Qt::AlignVCenter, caps, font, brush.theme.muted, brush.texts);
  if (!more.isEmpty() && fits_context_head(brush.theme, line.width(), caps, more))
    put_elided(brush.painter, line.adjusted(width, 0, 0, 0), Qt::AlignVCenter, more,
               brush.theme.font(11), brush.theme.muted, brush.texts);
}

bool fits_context_head(const Theme& theme, double width, const QString& caps, const QString& more) {
  return label_width(theme.caps(), caps) + 18 + label_width(theme.font(11), more) < width;
}

int context_rank(const LayerPicture& picture, int cp) {
  const std::vector<LayerRank>& ranks = picture.layer->ranks;
  const int replica = ranks[std::size_t(picture.look.rank)].at.dp;
  const auto found = std::find_if(ranks.begin(), ranks.end(), [&](const LayerRank& rank) {
    return rank.at.cp == cp && rank.at.tp == 0 && rank.at.dp == replica;
  });
  return found == ranks.end() ? 0 : int(found - ranks.begin());
}

int context_round_now(const LayerPicture& picture, int rank) {
  const auto& rounds = picture.layer->context.rounds;
  int now = 0;
  for (std::size_t round = 0; round < rounds.size(); ++round)
    if (layer_share_done(picture, rounds[round].step, rank) > 0) now = int(round);
  return now;
}

std::vector<LegendWord> context_legend(const LayerPicture& picture, const Theme& theme) {
  const LayerContext& context = picture.layer->context;
  const int first = context_rank(picture, 0);
  const QColor color = theme.rank(layer_color_number(picture, first));
  QPen edge = theme.rank_line(layer_color_number(picture, first));
  std::vector<LegendWord> words;
  const auto box = [&](const QString& word, const QBrush& fill, const QPen& line) {
    words.push_back({word, [fill, line](QPainter& painter, const QRectF& at, const Theme&) {
                       painter.setBrush(fill);
                       painter.setPen(line);
                       painter.drawRect(at);
                     }});
  };
  const auto sign = [&](const QString& word, const QString& text) {
    words.push_back({word, [text](QPainter& painter, const QRectF& at, const Theme& of) {
                       put_text(painter, at.adjusted(-2, -3, 2, 3), Qt::AlignCenter, text,
                                of.font(10), of.text, nullptr);
                     }});
  };
  if (context.by_heads) {
    edge.setWidthF(2);
    box(ContextPaintWords::tr("shard, edge of its rank"), theme.memory(Category::kActivations),
        edge);
    box(ContextPaintWords::tr("still to come"), Qt::NoBrush, edge);
    box(ContextPaintWords::tr("absent"), Qt::NoBrush, QPen(theme.muted, 1, Qt::DotLine));
    box(ContextPaintWords::tr("scores, computed"), color, Qt::NoPen);
    sign(ContextPaintWords::tr("tokens b, head 2"), QStringLiteral("b2"));
  } else {
    box(ContextPaintWords::tr("computed, in its rank's color"), color, Qt::NoPen);
    box(ContextPaintWords::tr("now, filled as far as done"), Qt::NoBrush, QPen(theme.mark, 2));
    box(ContextPaintWords::tr("still to come"), Qt::NoBrush, edge);
    words.push_back(
        {ContextPaintWords::tr("on the diagonal: half a block"),
         [edge](QPainter& painter, const QRectF& at, const Theme&) {
           painter.setPen(edge);
           painter.setBrush(Qt::NoBrush);
           painter.drawPolygon(QPolygonF({at.topLeft(), at.bottomRight(), at.bottomLeft()}));
         }});
  }
  if (context.rounds.size() > 1) {
    sign(ContextPaintWords::tr("ring step"), QStringLiteral("1"));
    words.push_back({ContextPaintWords::tr("K, V that have arrived"),
                     [&picture](QPainter& painter, const QRectF& at, const Theme& of) {
                       paint_layer_chip(painter, picture, at.center() - QPointF(5.5, 5.5), 11,
                                        context_rank(picture, 1), of, nullptr);
                     }});
    sign(ContextPaintWords::tr("K, V on their way, for step 2"), QStringLiteral("\u2192 2"));
  }
  if (!context.moves.empty())
    box(context.by_heads               ? ContextPaintWords::tr("on their way")
        : picture.look.choice.backward ? ContextPaintWords::tr("K, V or gradients on their way")
                                       : ContextPaintWords::tr("K, V on their way"),
        theme.solid(OpColor::kCommunication), Qt::NoPen);
  if (!picture.hides_time) words.push_back({ContextPaintWords::tr("waiting"), paint_hatching});
  return words;
}

void paint_context(const LayerBrush& brush) {
  paint_legend_words(brush.painter, context_legend(brush.picture, brush.theme), QPointF(16, 28),
                     brush.layout.size.width() - 32, brush.theme, brush.texts);
  if (brush.picture.layer->context.by_heads)
    paint_turn_of_heads(brush);
  else
    paint_blocks_of_scores(brush);
  paint_layer_lanes(brush.painter, brush.picture, brush.layout, brush.theme, brush.texts);
}

}  // namespace parallelarium

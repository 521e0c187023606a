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

class Legend {
 public:
  Legend(const LayerBrush& brush, const QRectF& line)
      : brush_(brush), line_(line), x_(line.left()), y_(line.top()) {}

  template <class Paint>
  void entry(const QString& word, const Paint& paint) {
    const QFont font = brush_.theme.font(11);
    const double width = label_width(font, word);
    if (x_ + 22 + width > line_.right()) x_ = line_.left(), y_ += 17;
    paint(QRectF(x_ + 0.5, y_ + line_.height() / 2 - 5, 14, 10));
    put_text(brush_.painter, QRectF(x_ + 20, y_, width + 2, line_.height()), Qt::AlignVCenter, word,
             font, brush_.theme.muted, brush_.texts);
    x_ += 20 + width + 13;
  }
  void box(const QString& word, const QBrush& fill, const QPen& edge) {
    entry(word, [&](const QRectF& at) {
      brush_.painter.setBrush(fill);
      brush_.painter.setPen(edge);
      brush_.painter.drawRect(at);
    });
  }

 private:
  const LayerBrush& brush_;
  const QRectF line_;
  double x_, y_;
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

void paint_context_legend(const LayerBrush& brush, const QRectF& line) {
  const Theme& theme = brush.theme;
  const bool by_heads = brush.picture.layer->context.by_heads;
  const int first = context_rank(brush.picture, 0);
  const QColor color = theme.rank(layer_color_number(brush.picture, first));
  const QColor held = theme.memory(Category::kActivations);
  QPen edge = theme.rank_line(layer_color_number(brush.picture, first));
  Legend legend(brush, line);
  if (by_heads) {
    edge.setWidthF(2);
    legend.box(ContextPaintWords::tr("shard, edge of its rank"), held, edge);
    legend.box(ContextPaintWords::tr("still to come"), Qt::NoBrush, edge);
    legend.box(ContextPaintWords::tr("absent"), Qt::NoBrush, QPen(theme.muted, 1, Qt::DotLine));
    legend.box(ContextPaintWords::tr("scores, computed"), color, Qt::NoPen);
    legend.entry(ContextPaintWords::tr("tokens b, head 2"), [&](const QRectF& at) {
      put_text(brush.painter, at.adjusted(-2, -3, 2, 3), Qt::AlignCenter, QStringLiteral("b2"),
               theme.font(10), theme.text, brush.texts);
    });
  } else {
    legend.box(ContextPaintWords::tr("computed, in its rank's color"), color, Qt::NoPen);
    legend.box(ContextPaintWords::tr("now"), Qt::NoBrush, QPen(theme.mark, 2));
    legend.box(ContextPaintWords::tr("still to come"), Qt::NoBrush, edge);
    legend.entry(ContextPaintWords::tr("on the diagonal: half a block"), [&](const QRectF& at) {
      brush.painter.setPen(edge);
      brush.painter.setBrush(Qt::NoBrush);
      brush.painter.drawPolygon(QPolygonF({at.topLeft(), at.bottomRight(), at.bottomLeft()}));
    });
    if (brush.picture.layer->context.rounds.size() > 1) {
      legend.entry(ContextPaintWords::tr("ring step"), [&](const QRectF& at) {
        put_text(brush.painter, at.adjusted(-2, -3, 2, 3), Qt::AlignCenter, QStringLiteral("1"),
                 theme.font(11), theme.text, brush.texts);
      });
      legend.entry(ContextPaintWords::tr("K, V that have arrived"), [&](const QRectF& at) {
        paint_layer_chip(brush.painter, brush.picture, at.center() - QPointF(5.5, 5.5), 11,
                         context_rank(brush.picture, 1), theme, brush.texts);
      });
    }
  }
  if (brush.picture.layer->context.rounds.size() > 1)
    legend.entry(ContextPaintWords::tr("K, V on their way, for step 2"), [&](const QRectF& at) {
      put_text(brush.painter, at.adjusted(-4, -3, 4, 3), Qt::AlignCenter,
               QStringLiteral("\u2192 2"), theme.font(10), theme.text, brush.texts);
    });
  if (!brush.picture.layer->context.moves.empty())
    legend.box(by_heads ? ContextPaintWords::tr("on their way")
               : brush.picture.look.choice.backward
                   ? ContextPaintWords::tr("K, V or gradients on their way")
                   : ContextPaintWords::tr("K, V on their way"),
               theme.solid(OpColor::kCommunication), Qt::NoPen);
  if (!brush.picture.hides_time)
    legend.entry(ContextPaintWords::tr("waiting"),
                 [&](const QRectF& at) { paint_hatching(brush.painter, at, theme); });
}

void paint_context(const LayerBrush& brush) {
  paint_context_legend(brush, QRectF(16, 28, brush.layout.size.width() - 32, 18));
  if (brush.picture.layer->context.by_heads)
    paint_turn_of_heads(brush);
  else
    paint_blocks_of_scores(brush);
  paint_layer_lanes(brush.painter, brush.picture, brush.layout, brush.theme, brush.texts);
}

}  // namespace parallelarium

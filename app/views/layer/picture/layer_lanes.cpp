// SPDX-License-Identifier: GPL-3.0-or-later
// The steps of a layer in time, below its picture.
#include <QCoreApplication>
#include <QFontMetricsF>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/layer/picture/layer_picture.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct LanesWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

constexpr double kLanesMargin = 16, kBar = 13;

OpColor color_of_step(const LayerStep& step) {
  if (step.kind != LayerStepKind::kCompute) return OpColor::kCommunication;
  if (step.phase == Phase::kWeightGrad) return OpColor::kWeight;
  return step.phase == Phase::kForward || step.phase == Phase::kRecompute ? OpColor::kForward
                                                                          : OpColor::kBackward;
}

Nanoseconds length_of(const Span& span) { return span.end - span.begin; }

// The picture of context parallelism is about attention and what it exchanges.
bool in_picture(const LayerPicture& picture, int step) {
  const LayerContext& context = picture.layer->context;
  return !picture.shows_context() || (step >= context.first_step && step <= context.last_step);
}

// A ring's steps have numbers.
QString name_in_lane(const LayerPicture& picture, const LayerStep& step) {
  const bool counted = picture.shows_context() && picture.layer->context.rounds.size() > 1 &&
                       step.piece == Piece::kAttention && step.kind == LayerStepKind::kCompute;
  return counted ? QString::number(step.block + 1) : layer_step_name(step);
}

}  // namespace

void paint_layer_lanes(QPainter& painter, const LayerPicture& picture, const LayerLayout& layout,
                       const Theme& theme, TextLog* texts) {
  const double head = layout.lanes_top - 20;
  QString title = LanesWords::tr("THE SAME IN TIME");
  const QFont small = theme.font(11);
  if (picture.hides_time) {
    put_elided(painter, QRectF(kLanesMargin, head, layout.size.width() - 2 * kLanesMargin, 16),
               Qt::AlignVCenter, title + QStringLiteral(" \u00b7 ?"), small, theme.muted, texts);
    return;
  }
  if (picture.predicted)
    title += QStringLiteral(" \u00b7 ") +
             LanesWords::tr("tint: %1, %2")
                 .arg(picture.predicted_word,
                      time_text(length_of(picture.window_of(*picture.predicted))));
  if (picture.observed)
    title += QStringLiteral(" \u00b7 ") +
             LanesWords::tr("solid: %1, %2")
                 .arg(source_text(picture.observed->source),
                      time_text(length_of(picture.window_of(*picture.observed))));
  put_elided(painter, QRectF(kLanesMargin, head, layout.size.width() - 2 * kLanesMargin, 16),
             Qt::AlignVCenter, title, small, theme.muted, texts);
  Nanoseconds longest{1};
  for (const LayerSpans* times : {picture.predicted.get(), picture.observed.get()})
    if (times) longest = std::max(longest, length_of(picture.window_of(*times)));
  const auto x_of = [&](const LayerSpans& times, Nanoseconds time) {
    return layout.lane_left + layout.lane_width *
                                  double((time - picture.window_of(times).begin).count()) /
                                  double(longest.count());
  };
  for (std::size_t row = 0; row < layout.ranks.size(); ++row) {
    const int rank = layout.ranks[row];
    double y = layout.lanes_top + double(row) * layout.lane_pitch;
    paint_layer_chip(painter, picture, QPointF(kLanesMargin + 66, y), kBar, rank, theme, texts);
    for (const LayerSpans* times : {picture.predicted.get(), picture.observed.get()}) {
      if (!times) continue;
      const bool tinted = times == picture.predicted.get();
      if (picture.shows_context()) {
        const Span window = picture.window_of(*times);
        const double left = x_of(*times, window.begin);
        paint_hatching(painter, QRectF(left, y, x_of(*times, window.end) - left, kBar), theme);
      }
      for (std::size_t step = 0; step < times->spans.size(); ++step) {
        if (!in_picture(picture, int(step))) continue;
        const std::optional<Span>& span = times->spans[step][std::size_t(rank)];
        if (!span) continue;
        const LayerStep& of = picture.layer->steps[step];
        const OpColor color = color_of_step(of);
        const double left = x_of(*times, span->begin);
        // Exchanges go on beside pieces: they take the lower half.
        const double down = of.kind == LayerStepKind::kExchange ? kBar / 2 : 0;
        const QRectF bar(left, y + down, std::max(1.0, x_of(*times, span->end) - left),
                         kBar - down);
        painter.setPen(QPen(tinted ? theme.solid(color) : theme.surface, 1));
        painter.setBrush(tinted ? theme.tint(color) : theme.solid(color));
        painter.drawRect(bar);
        const QString name = name_in_lane(picture, of);
        const QFont font = theme.font(10);
        if (tinted && down == 0 && QFontMetricsF(font).horizontalAdvance(name) + 6 < bar.width())
          put_text(painter, bar, Qt::AlignCenter, name, font, theme.ink_on(theme.tint(color)),
                   texts);
      }
      y += kBar + 2;
    }
  }
  const LayerSpans* shown = picture.shown();
  if (!shown) return;
  const Span window = picture.window_of(*shown);
  if (picture.playhead < window.begin || picture.playhead > window.end) return;
  const double x = x_of(*shown, picture.playhead);
  painter.setPen(QPen(theme.mark, 2));
  painter.drawLine(QPointF(x, layout.lanes_top - 4),
                   QPointF(x, layout.lanes_top + double(layout.ranks.size()) * layout.lane_pitch));
}

}  // namespace parallelarium

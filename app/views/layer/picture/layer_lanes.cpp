// SPDX-License-Identifier: GPL-3.0-or-later
// The steps of a layer in time, below its picture.
#include <QCoreApplication>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/layer/picture/layer_marks.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct LanesWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

constexpr double kLanesMargin = 16, kLaneChip = 13, kNameMargin = 4,
                 kNamedHalf = 11;  // of a lane, high enough for a name

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

// A ring's steps have numbers, and what an exchange carries is for one of them.
QStringList names_in_lane(const LayerPicture& picture, int step) {
  const LayerStep& of = picture.layer->steps[std::size_t(step)];
  if (of.kind == LayerStepKind::kExchange) {
    for (const ContextMove& move : picture.layer->context.moves)
      if (move.step == step && !move.gradient)
        return {QStringLiteral("\u2192 %1").arg(move.round + 2), QString::number(move.round + 2)};
    return {};
  }
  const int round = picture.shows_context() ? round_of_ring(*picture.layer, step) : -1;
  return round >= 0 ? QStringList(QString::number(round + 1)) : layer_step_names(of);
}

// The times that have lanes, one below the other.
std::vector<const LayerSpans*> lanes_of(const LayerPicture& picture) {
  std::vector<const LayerSpans*> lanes;
  for (const LayerSpans* times : {picture.predicted.get(), picture.observed.get()})
    if (times) lanes.push_back(times);
  return lanes;
}

double x_of(const LayerPicture& picture, const LayerLayout& layout, const LayerSpans& times,
            Nanoseconds time) {
  Nanoseconds longest{1};
  for (const LayerSpans* of : lanes_of(picture))
    longest = std::max(longest, length_of(picture.window_of(*of)));
  return layout.lane_left + layout.lane_width *
                                double((time - picture.window_of(times).begin).count()) /
                                double(longest.count());
}

double lane_top(const LayerLayout& layout, std::size_t row, std::size_t lane) {
  return layout.lanes_top + double(row) * layout.lane_pitch + double(lane) * (layout.lane_bar + 2);
}

QString name_that_fits(const QRectF& bar, const QStringList& names, const QFont& font) {
  for (const QString& name : names)
    if (label_width(font, name) + kNameMargin <= bar.width()) return name;
  return {};
}

struct LaneBar {
  const LayerSpans* times;
  int step, rank;
  QRectF place;
};

std::vector<LaneBar> lane_bars(const LayerPicture& picture, const LayerLayout& layout) {
  std::vector<LaneBar> bars;
  const std::vector<const LayerSpans*> lanes = lanes_of(picture);
  for (std::size_t row = 0; row < layout.lane_ranks.size(); ++row)
    for (std::size_t lane = 0; lane < lanes.size(); ++lane)
      for (int step = 0; step < int(lanes[lane]->spans.size()); ++step) {
        if (!in_picture(picture, step)) continue;
        const int rank = layout.lane_ranks[row];
        const std::optional<Span>& span = lanes[lane]->spans[std::size_t(step)][std::size_t(rank)];
        if (!span) continue;
        // Exchanges go on beside pieces: they take the lower half.
        const bool beside =
            picture.layer->steps[std::size_t(step)].kind == LayerStepKind::kExchange;
        const double down = beside ? layout.lane_bar / 2 : 0;
        const double left = x_of(picture, layout, *lanes[lane], span->begin);
        const double right = x_of(picture, layout, *lanes[lane], span->end);
        bars.push_back({lanes[lane], step, rank,
                        QRectF(left, lane_top(layout, row, lane) + down,
                               std::max(1.0, right - left), layout.lane_bar - down)});
      }
  // They lie over pieces.
  std::stable_partition(bars.begin(), bars.end(), [&](const LaneBar& bar) {
    return picture.layer->steps[std::size_t(bar.step)].kind != LayerStepKind::kExchange;
  });
  return bars;
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
  const int all = int(layout.ranks.size()) + layout.alike, drawn = int(layout.lane_ranks.size());
  if (drawn < all)
    title += QStringLiteral(" \u00b7 ") + LanesWords::tr("%1 of %2 ranks").arg(drawn).arg(all);
  put_elided(painter, QRectF(kLanesMargin, head, layout.size.width() - 2 * kLanesMargin, 16),
             Qt::AlignVCenter, title, small, theme.muted, texts);
  const std::vector<const LayerSpans*> lanes = lanes_of(picture);
  for (std::size_t row = 0; row < layout.lane_ranks.size(); ++row) {
    const int rank = layout.lane_ranks[row];
    paint_layer_chip(painter, picture, QPointF(kLanesMargin + 66, lane_top(layout, row, 0)),
                     kLaneChip, rank, theme, texts);
    if (!picture.shows_context()) continue;
    for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
      const Span window = picture.window_of(*lanes[lane]);
      const double left = x_of(picture, layout, *lanes[lane], window.begin);
      const double right = x_of(picture, layout, *lanes[lane], window.end);
      paint_hatching(
          painter, QRectF(left, lane_top(layout, row, lane), right - left, layout.lane_bar), theme);
    }
  }
  const std::vector<LaneBar> bars = lane_bars(picture, layout);
  for (const LaneBar& bar : bars) {
    const bool tinted = bar.times == picture.predicted.get();
    const LayerStep& of = picture.layer->steps[std::size_t(bar.step)];
    const OpColor color = color_of_step(of);
    painter.setPen(QPen(tinted ? theme.solid(color) : theme.surface, 1));
    painter.setBrush(tinted ? theme.tint(color) : theme.solid(color));
    painter.drawRect(bar.place);
  }
  // The name stands over the exchanges, whose half of a lane may be too low for theirs; no edge of
  // theirs strikes it through.
  for (const LaneBar& bar : bars) {
    const LayerStep& of = picture.layer->steps[std::size_t(bar.step)];
    const bool exchange = of.kind == LayerStepKind::kExchange;
    if (bar.times != picture.predicted.get() || (exchange && bar.place.height() < kNamedHalf))
      continue;
    QRectF place = bar.place;
    if (!exchange && layout.lane_bar >= 2 * kNamedHalf) place.setBottom(place.center().y());
    const QFont font = theme.font(exchange ? 9 : 10);
    const QString name = name_that_fits(place, names_in_lane(picture, bar.step), font);
    if (name.isEmpty()) continue;
    const QColor tint = theme.tint(color_of_step(of));
    QRectF behind(0, 0, label_width(font, name) + kNameMargin, place.height() - 2);
    behind.moveCenter(place.center());
    const bool crossed = std::any_of(bars.begin(), bars.end(), [&](const LaneBar& other) {
      return other.step != bar.step && other.place.intersects(behind);
    });
    if (!exchange && crossed) painter.fillRect(behind, tint);
    put_text(painter, place, Qt::AlignCenter, name, font, theme.ink_on(tint), texts);
  }
  painter.setPen(QPen(theme.accent_line, 2));
  painter.setBrush(Qt::NoBrush);
  for (const LaneBar& bar : bars)
    if (bar.step == picture.look.step) painter.drawRect(bar.place.adjusted(0, -1, 0, 1));
  const LayerSpans* shown = picture.shown();
  if (!shown) return;
  const Span window = picture.window_of(*shown);
  if (picture.playhead < window.begin || picture.playhead > window.end) return;
  const double x = x_of(picture, layout, *shown, picture.playhead);
  painter.setPen(QPen(theme.mark, 2));
  painter.drawLine(
      QPointF(x, layout.lanes_top - 4),
      QPointF(x, layout.lanes_top + double(layout.lane_ranks.size()) * layout.lane_pitch));
}

LayerHit layer_lane_hit(const LayerPicture& picture, const LayerLayout& layout, QPointF point) {
  if (!picture.drawn() || picture.hides_time || !layout.in_lanes(point.y())) return {};
  const std::vector<LaneBar> bars = lane_bars(picture, layout);
  // What is painted last lies on top.
  const auto under = std::find_if(bars.rbegin(), bars.rend(),
                                  [&](const LaneBar& bar) { return bar.place.contains(point); });
  return under == bars.rend() ? LayerHit{} : LayerHit{under->step, under->rank};
}

void put_name_that_fits(QPainter& painter, const QRectF& bar, const QStringList& names,
                        const QFont& font, const QColor& color, TextLog* texts) {
  const QString name = name_that_fits(bar, names, font);
  if (!name.isEmpty()) put_text(painter, bar, Qt::AlignCenter, name, font, color, texts);
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/holders/holders_marks.h"

#include <algorithm>

#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {

namespace {

constexpr double kLeastSlot = 4;  // wide enough for a block and a line
constexpr Category kKinds[kHeldKinds] = {Category::kParameters, Category::kGradients,
                                         Category::kOptimizer};

// Of an edge inside a bar that leaves room for its hue.
double edge_of(const QRectF& rect, double most) { return std::min(most, rect.height() / 4); }

}  // namespace

void paint_absent(QPainter& painter, const QRectF& rect, const Theme& theme) {
  painter.setPen(QPen(mixed(theme.muted, theme.surface, 0.4), 1, Qt::DotLine));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
}

QRectF share_of(const QRectF& rect, double begin, double end) {
  return {rect.left() + begin * rect.width(), rect.top(),
          std::max(3.0, (end - begin) * rect.width()), rect.height()};
}

void paint_reserved(QPainter& painter, const QRectF& rect, const QColor& color,
                    const Theme& theme) {
  painter.fillRect(rect.adjusted(1, 1, -1, -1), mixed(color, theme.surface, 0.75));
}

void paint_copy(QPainter& painter, const QRectF& rect, const QColor& color, const Theme& theme) {
  const double edge = edge_of(rect, 1);
  painter.fillRect(rect, color);
  painter.setPen(QPen(theme.surface, edge));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(rect.adjusted(1.5 * edge, 1.5 * edge, -1.5 * edge, -1.5 * edge));
}

void paint_partial(QPainter& painter, const QRectF& rect, const HeldState& state,
                   const QColor& color, const Theme& theme) {
  if (state.end - state.begin < 1) paint_absent(painter, rect, theme);
  const QRectF part = share_of(rect, state.begin, state.end);
  painter.fillRect(part, mixed(color, theme.surface, 0.45));
  const double arm = std::min(2.0, rect.height() / 3), middle = part.center().y();
  painter.setPen(QPen(theme.text, edge_of(rect, 1)));
  for (double x = part.left() + arm + 1; x < part.right() - arm + 0.5; x += 9) {
    painter.drawLine(QPointF(x - arm, middle), QPointF(x + arm, middle));
    painter.drawLine(QPointF(x, middle - arm), QPointF(x, middle + arm));
  }
}

void paint_shard(QPainter& painter, const QRectF& rect, const HeldState& state, double from,
                 double to, const QColor& color, int hue, const Theme& theme) {
  if (state.whole) paint_reserved(painter, share_of(rect, from, to), color, theme);
  paint_absent(painter, rect, theme);
  const QRectF part = share_of(rect, state.begin, state.end);
  const double edge = edge_of(rect, 2);
  painter.fillRect(part, color);
  QPen line = theme.rank_line(hue);
  line.setWidthF(edge);
  painter.setPen(line);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(part.adjusted(edge / 2, edge / 2, -edge / 2, -edge / 2));
}

void paint_state(QPainter& painter, const QRectF& rect, const HeldBucket& bucket, int kind, int hue,
                 const Theme& theme) {
  const HeldState& state = state_of_kind(bucket, kind);
  const QColor color = theme.memory(kKinds[kind]);
  switch (state.as) {
    case HeldAs::kCopy:
      return paint_copy(painter, rect, color, theme);
    case HeldAs::kPartialSum:
      return paint_partial(painter, rect, state, color, theme);
    case HeldAs::kShard:
      return paint_shard(painter, rect, state, bucket.from, bucket.to, color, hue, theme);
    case HeldAs::kAbsent:
      if (state.bytes > 0)
        paint_reserved(painter,
                       state.whole ? share_of(rect, bucket.from, bucket.to)
                                   : share_of(rect, state.begin, state.end),
                       color, theme);
      return paint_absent(painter, rect, theme);
  }
}

void paint_activations(QPainter& painter, const QRectF& rect, std::size_t count, int most,
                       const Theme& theme) {
  paint_absent(painter, rect, theme);
  if (count == 0 || most == 0) return;
  const QColor color = theme.memory(Category::kActivations);
  const double slot = rect.width() / most;
  if (slot < kLeastSlot) {
    painter.fillRect(share_of(rect, 0, double(count) / most), color);
    return;
  }
  for (std::size_t at = 0; at < count; ++at)
    painter.fillRect(QRectF(rect.left() + double(at) * slot + 0.5, rect.top() + 0.5, slot - 1.5,
                            rect.height() - 1),
                     color);
}

void paint_chunk(QPainter& painter, const QPointF& middle, double wide, const Theme& theme) {
  const QRectF chunk(middle.x() - wide / 2, middle.y() - 3, wide, 6);
  painter.setPen(QPen(theme.surface, 1));
  painter.setBrush(theme.solid(OpColor::kCommunication));
  painter.drawRect(chunk);
}

}  // namespace parallelarium

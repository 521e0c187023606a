// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/timeline/timeline_overlay.h"

#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/timeline/picture/range_readout.h"

namespace parallelarium {
namespace {

struct Canvas {
  QPainter& painter;
  const Picture& picture;
  const PictureLayout& layout;
  const Theme& theme;
  QSizeF size;
  double scroll;
  TextLog* texts;
  TimeAxis axis() const { return layout.axis(picture.range); }
  QRectF content() const {
    return QRectF(layout.axis_left, layout.tick_band, layout.axis_width,
                  size.height() - layout.tick_band);
  }
};

QRectF rect_of(const Canvas& canvas, int lane, OpRef op, Zoom zoom) {
  if (lane < 0 || op.rank < 0) return {};
  const PictureLane& source = canvas.picture.lanes[static_cast<std::size_t>(lane)];
  if (!source.rows || source.hidden) return {};
  const Bar* bar = source.rows->bar_of(op, zoom);
  return bar ? rect_of_bar(canvas.picture, canvas.layout, lane, *bar, op.rank, canvas.scroll, zoom)
             : QRectF();
}

void outline(const Canvas& canvas, const QRectF& rect, const QColor& color, double width) {
  if (rect.isEmpty()) return;
  canvas.painter.setPen(QPen(color, width));
  canvas.painter.setBrush(Qt::NoBrush);
  canvas.painter.drawRoundedRect(rect.adjusted(-1, -1, 0, 1), 3, 3);
}

void paint_selection(const Canvas& canvas, const Overlay& overlay) {
  for (int lane = 0; lane < static_cast<int>(canvas.picture.lanes.size()); ++lane) {
    if (canvas.picture.lanes[static_cast<std::size_t>(lane)].style == LaneStyle::kPinned) continue;
    if (lane != overlay.selected_lane && !overlay.joined) continue;
    outline(canvas, rect_of(canvas, lane, overlay.selected, overlay.selected_zoom),
            canvas.theme.accent_line, lane == overlay.selected_lane ? 2.5 : 1.5);
  }
}

void paint_hover(const Canvas& canvas, const Overlay& overlay) {
  if (!overlay.hover || overlay.hover->bar < 0 || overlay.hover->merged > 1) return;
  const Hit& hit = *overlay.hover;
  const Row& row = canvas.picture.lanes[static_cast<std::size_t>(hit.lane)]
                       .rows->rows[static_cast<std::size_t>(hit.row)];
  const Bar& bar = row.lane(hit.which, hit.zoom).bars[static_cast<std::size_t>(hit.bar)];
  outline(canvas,
          rect_of_bar(canvas.picture, canvas.layout, hit.lane, bar, row.rank_index, canvas.scroll,
                      hit.zoom),
          canvas.theme.text, 1.2);
}

// From the end of what was waited for to the begin of what waited.
void paint_arrow(const Canvas& canvas, const Overlay& overlay) {
  const Zoom zoom = overlay.selected_zoom;
  const QRectF from = rect_of(canvas, overlay.selected_lane, overlay.arrow_from, zoom);
  const QRectF to = rect_of(canvas, overlay.selected_lane, overlay.arrow_to, zoom);
  if (from.isEmpty() || to.isEmpty()) return;
  const QPointF begin(from.right() - 1, from.center().y()), end(to.left() + 1, to.center().y());
  const double bend = std::clamp((end.x() - begin.x()) / 2, 18.0, 60.0);
  QPainterPath path(begin);
  path.cubicTo(begin + QPointF(bend, 0), end - QPointF(bend, 0), end);
  canvas.painter.setBrush(Qt::NoBrush);
  canvas.painter.setPen(QPen(canvas.theme.surface, 4.5));
  canvas.painter.drawPath(path);
  canvas.painter.setPen(QPen(canvas.theme.text, 1.8));
  canvas.painter.drawPath(path);
  canvas.painter.setPen(Qt::NoPen);
  canvas.painter.setBrush(canvas.theme.text);
  canvas.painter.drawPolygon(QPolygonF{end, end + QPointF(-8, -4.5), end + QPointF(-8, 4.5)});
}

void paint_marks(const Canvas& canvas, const Overlay& overlay) {
  if (!tells_time(canvas.picture)) return;
  const TimeAxis axis = canvas.axis();
  for (const Nanoseconds mark : overlay.marks) {
    const double x = axis.x_of(mark);
    if (x < axis.left || x > axis.left + axis.width) continue;
    canvas.painter.setPen(QPen(canvas.theme.accent_line, 1, Qt::DashLine));
    draw_upright(canvas.painter, canvas.layout, canvas.picture, canvas.theme, x,
                 canvas.layout.tick_band - 4, canvas.size, canvas.scroll);
    canvas.painter.setPen(Qt::NoPen);
    canvas.painter.setBrush(canvas.theme.accent_line);
    const double y = canvas.layout.tick_band - 5;
    canvas.painter.drawPolygon(
        QPolygonF{QPointF(x, y - 5), QPointF(x + 4, y), QPointF(x, y + 5), QPointF(x - 4, y)});
  }
}

void paint_card(const Canvas& canvas, const std::vector<ReadoutLine>& lines, double x0, double x1) {
  const QFont plain = canvas.theme.font(12), bold = canvas.theme.font(12, true);
  const QFontMetricsF metrics(plain), bold_metrics(bold);
  constexpr double kLine = 18, kPad = 10, kGap = 14;
  double names = 0, values = 0;
  std::size_t columns = 0;
  for (const ReadoutLine& line : lines) {
    names = std::max(names, bold_metrics.horizontalAdvance(line.name));
    columns = std::max(columns, static_cast<std::size_t>(line.values.size()));
    for (const QString& value : line.values)
      values = std::max(values, bold_metrics.horizontalAdvance(value));
  }
  const double width = 2 * kPad + names + static_cast<double>(columns) * (kGap + values);
  const double height = 2 * kPad + kLine * static_cast<double>(lines.size()) - 4;
  // Beside the range where there is room, else inside.
  double x = x1 + 8;
  if (x + width > canvas.size.width() - 4) x = x0 - 8 - width;
  if (x < 4) x = std::max(4.0, std::min(x0 + 8, canvas.size.width() - width - 4));
  const QRectF card(x, canvas.layout.tick_band + 6, width, height);
  canvas.painter.setPen(QPen(canvas.theme.control_line, 1));
  canvas.painter.setBrush(canvas.theme.surface);
  canvas.painter.drawRoundedRect(card.adjusted(0.5, 0.5, -0.5, -0.5), 6, 6);
  double y = card.top() + kPad - 2;
  bool first = true;
  for (const ReadoutLine& line : lines) {
    put_text(canvas.painter, QRectF(x + kPad, y, names, kLine), Qt::AlignVCenter, line.name,
             first ? bold : plain, first ? canvas.theme.text : canvas.theme.muted, canvas.texts);
    double right = x + kPad + names;
    for (const QString& value : line.values) {
      right += kGap + values;
      put_text(canvas.painter, QRectF(right - values, y, values, kLine),
               Qt::AlignVCenter | Qt::AlignRight, value, plain,
               first ? canvas.theme.muted : canvas.theme.text, canvas.texts);
    }
    y += kLine;
    first = false;
  }
}

void paint_range(const Canvas& canvas, const Overlay& overlay) {
  if (!overlay.range || overlay.range->length().count() <= 0 || !tells_time(canvas.picture)) return;
  const TimeAxis axis = canvas.axis();
  const double x0 = std::clamp(axis.x_of(overlay.range->begin), axis.left, axis.left + axis.width);
  const double x1 = std::clamp(axis.x_of(overlay.range->end), axis.left, axis.left + axis.width);
  if (x1 <= x0) return;
  QColor veil = canvas.theme.accent_line;
  veil.setAlphaF(0.12F);
  const QRectF area(x0, canvas.layout.tick_band - 8, x1 - x0,
                    canvas.size.height() - canvas.layout.tick_band + 8);
  canvas.painter.fillRect(area, veil);
  canvas.painter.setPen(QPen(canvas.theme.accent_line, 1));
  canvas.painter.drawLine(area.topLeft(), area.bottomLeft());
  canvas.painter.drawLine(area.topRight(), area.bottomRight());
  paint_card(canvas, readout_lines(canvas.picture, *overlay.range), x0, x1);
}

void paint_cursor(const Canvas& canvas, const Overlay& overlay) {
  if (!overlay.cursor || !tells_time(canvas.picture)) return;
  const TimeAxis axis = canvas.axis();
  const double x = axis.x_of(*overlay.cursor);
  if (x < axis.left || x > axis.left + axis.width) return;
  canvas.painter.setPen(QPen(canvas.theme.muted, 1, Qt::DotLine));
  draw_upright(canvas.painter, canvas.layout, canvas.picture, canvas.theme, x,
               canvas.layout.tick_band - 8, canvas.size, canvas.scroll);
  const QFont font = canvas.theme.font(11);
  const QString text = shown_time(*overlay.cursor, canvas.picture.hides.times);
  const double width = QFontMetricsF(font).horizontalAdvance(text) + 10;
  const QRectF plate(std::clamp(x - width / 2, 2.0, std::max(2.0, canvas.size.width() - width - 2)),
                     canvas.layout.tick_band - 24, width, 15);
  canvas.painter.setPen(Qt::NoPen);
  canvas.painter.setBrush(canvas.theme.muted);
  canvas.painter.drawRoundedRect(plate, 3, 3);
  put_text(canvas.painter, plate, Qt::AlignCenter, text, font,
           canvas.theme.ink_on(canvas.theme.muted), nullptr);
}

}  // namespace

void paint_overlay(QPainter& painter, const Overlay& overlay, const Picture& picture,
                   const PictureLayout& layout, const Theme& theme, QSizeF size, double scroll,
                   TextLog* texts) {
  const Canvas canvas{painter, picture, layout, theme, size, scroll, texts};
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  paint_marks(canvas, overlay);
  painter.save();
  painter.setClipRect(canvas.content().adjusted(-2, 0, 2, 0));
  paint_hover(canvas, overlay);
  paint_selection(canvas, overlay);
  paint_arrow(canvas, overlay);
  painter.restore();
  paint_range(canvas, overlay);
  paint_playhead(painter, layout, picture, theme, size, scroll);
  paint_cursor(canvas, overlay);
  if (overlay.focused) {
    painter.setPen(QPen(theme.accent_line, 2));
    painter.setBrush(Qt::NoBrush);
    painter.drawRoundedRect(QRectF(QPointF(0, 0), size).adjusted(1, 1, -1, -1), 4, 4);
  }
  painter.restore();
}

}  // namespace parallelarium

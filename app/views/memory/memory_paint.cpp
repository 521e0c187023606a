// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/memory_paint.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct Paint {
  Q_DECLARE_TR_FUNCTIONS(memory)
};

constexpr double kAxis = 58, kTop = 18, kBottom = 24, kMostBar = 38;
// In the order in which they are stacked, from below.
constexpr std::array<Category, kCategories> kPaintStack = {
    Category::kParameters, Category::kGradients, Category::kOptimizer, Category::kActivations,
    Category::kBuffers};

double most_of(const BarChart& chart) {
  double most = 1;
  for (const BarGroup& group : chart.groups) {
    if (group.planned) most = std::max(most, double(group.planned->total));
    if (group.counted) most = std::max(most, double(group.counted->total));
    if (group.pinned) most = std::max(most, double(group.pinned->total));
  }
  return most;
}

enum class Look { kTinted, kSolid, kOutlined };  // predicted, counted, pinned

void paint_stack(QPainter& painter, const QRectF& bar, const CategoryBytes& parts,
                 std::int64_t unexplained, Look look, const BarLayout& layout, const Theme& theme) {
  double below = 0;
  for (const Category category : kPaintStack) {
    const auto bytes = double(parts[std::size_t(category)]);
    if (bytes <= 0) continue;
    const double bottom = snapped_to_pixel(painter, layout.y_of(below));
    const double top = snapped_to_pixel(painter, layout.y_of(below + bytes));
    below += bytes;
    const QRectF part(bar.left(), top, bar.width(), bottom - top);
    if (part.height() <= 0) continue;
    const QColor color = theme.memory(category);
    if (look == Look::kSolid || part.height() < 2 || part.width() < 4) {
      painter.fillRect(part, color);
      continue;
    }
    if (look == Look::kTinted) painter.fillRect(part, memory_tint(theme, category));
    painter.setPen(QPen(color, 1));
    painter.setBrush(Qt::NoBrush);
    painter.drawRect(part.adjusted(0.5, 0.5, -0.5, -0.5));
  }
  if (unexplained <= 0) return;
  const double bottom = layout.y_of(below), top = layout.y_of(below + double(unexplained));
  paint_unexplained(painter, QRectF(bar.left(), top, bar.width(), std::max(2.0, bottom - top)),
                    theme);
}

}  // namespace

bool limit_in_sight(std::int64_t limit, double most) {
  return limit > 0 && double(limit) <= 1.6 * most;
}

bool limit_in_sight(const BarChart& chart) { return limit_in_sight(chart.limit, most_of(chart)); }

QColor memory_tint(const Theme& theme, Category category) {
  return mixed(theme.surface, theme.memory(category), 0.24);
}

QString ByteScale::label(double bytes, const QLocale& locale) const {
  const double value = bytes / unit;
  const int decimals = step / unit >= 1 ? 0 : step / unit >= 0.1 ? 1 : 2;
  return locale.toString(value, 'f', decimals) + QChar(0x00a0) + name;
}

ByteScale byte_scale(double bytes, int lines) {
  ByteScale scale{1, 1, QStringLiteral("B")};
  for (const char* name : {"KiB", "MiB", "GiB", "TiB"}) {
    if (bytes < scale.unit * 1024) break;
    scale.unit *= 1024;
    scale.name = QLatin1String(name);
  }
  scale.step = scale.unit / 100;
  double finer = scale.step;
  for (double power = 0.01; power < 1e6; power *= 10)
    for (const double factor : {1.0, 2.0, 5.0}) {
      scale.step = power * factor * scale.unit;
      if (bytes / scale.step <= std::max(1, lines)) {
        // One line above zero is no scale.
        if (bytes < 2 * scale.step) scale.step = finer;
        return scale;
      }
      finer = scale.step;
    }
  return scale;
}

void paint_unexplained(QPainter& painter, const QRectF& rect, const Theme& theme) {
  painter.setPen(Qt::NoPen);
  painter.setBrush(theme.muted);
  for (double y = rect.top() + 3; y < rect.bottom() - 1; y += 4)
    for (double x = rect.left() + 3; x < rect.right() - 1; x += 4)
      painter.drawEllipse(QPointF(x, y), 0.8, 0.8);
  painter.setPen(QPen(theme.muted, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(rect.adjusted(0.5, 0.5, -0.5, -0.5));
}

void paint_memory_legend(QPainter& painter, const QRectF& rect, bool with_unexplained,
                         const QString& pinned, std::int64_t limit, const Theme& theme,
                         TextLog* texts) {
  const QFont font = theme.font(11);
  const QFontMetricsF metrics(font);
  double x = rect.left();
  for (int at = 0; at <= kCategories; ++at) {
    if (at == kCategories && !with_unexplained) break;
    const QString text =
        at == kCategories ? Paint::tr("Unexplained") : category_text(kPaintStack[std::size_t(at)]);
    const double width = 20 + metrics.horizontalAdvance(text);
    if (x + width > rect.right()) break;
    const QRectF swatch(x, rect.center().y() - 6, 14, 12);
    if (at == kCategories) {
      paint_unexplained(painter, swatch, theme);
    } else {
      painter.setPen(Qt::NoPen);
      painter.setBrush(theme.memory(kPaintStack[std::size_t(at)]));
      painter.drawRoundedRect(swatch, 2, 2);
    }
    put_text(painter, QRectF(x + 20, rect.top(), width - 20, rect.height()), Qt::AlignVCenter, text,
             font, theme.muted, texts);
    x += width + 24;
  }
  if (limit > 0) {
    const QString text = Paint::tr("limit %1").arg(bytes_text(limit));
    const double width = 28 + metrics.horizontalAdvance(text);
    if (x + width > rect.right()) return;
    painter.setPen(QPen(theme.mark, 1, Qt::DashLine));
    painter.drawLine(QPointF(x, rect.center().y()), QPointF(x + 22, rect.center().y()));
    put_text(painter, QRectF(x + 28, rect.top(), width - 28, rect.height()), Qt::AlignVCenter, text,
             font, theme.muted, texts);
    x += width + 24;
  }
  if (pinned.isEmpty() || x + 60 > rect.right()) return;
  painter.setPen(QPen(theme.text, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(QRectF(x + 0.5, rect.center().y() - 5.5, 13, 11));
  put_elided(painter, QRectF(x + 20, rect.top(), rect.right() - x - 20, rect.height()),
             Qt::AlignVCenter, pinned, font, theme.muted, texts);
}

void paint_caption(QPainter& painter, const QRectF& rect, const QString& text, const Theme& theme,
                   TextLog* texts) {
  QFont font = theme.caps();
  font.setCapitalization(QFont::MixedCase);
  put_elided(painter, rect, Qt::AlignVCenter, text, font, theme.muted, texts);
}

BarLayout bar_layout(const BarChart& chart, const QRectF& rect, const Theme& theme) {
  BarLayout layout;
  layout.axes = QRectF(rect.left() + kAxis, rect.top() + kTop, rect.width() - kAxis,
                       std::max(10.0, rect.height() - kTop - kBottom));
  double most = most_of(chart);
  layout.limit_in_sight = limit_in_sight(chart);
  if (layout.limit_in_sight) most = std::max(most, double(chart.limit) * 1.04);
  const ByteScale scale = byte_scale(most, std::max(2, int(layout.axes.height() / 34)));
  layout.step = scale.step;
  layout.unit = scale.unit;
  layout.unit_name = scale.name;
  layout.most = most * 1.02;
  const auto count = double(std::max<std::size_t>(1, chart.groups.size()));
  const double pitch = layout.axes.width() / count;
  const auto any = [&](auto part) {
    return std::any_of(chart.groups.begin(), chart.groups.end(),
                       [&](const BarGroup& group) { return (group.*part).has_value(); });
  };
  const int bars = 1 + any(&BarGroup::counted) + any(&BarGroup::pinned);
  const double gap = pitch >= 40 ? 6 : pitch >= 12 ? 1 : 0;
  const double air = pitch >= 60 ? 16 : pitch >= 20 ? 4 : 1;
  const double bar = std::min(kMostBar, std::max(1.0, (pitch - air - gap * (bars - 1)) / bars));
  double widest = 0;
  const QFontMetricsF metrics(theme.font(11, true));
  for (const BarGroup& group : chart.groups)
    widest = std::max(widest, metrics.horizontalAdvance(group.label) + 8);
  layout.label_every = std::max(1, int(std::ceil(widest / pitch)));
  for (std::size_t at = 0; at < chart.groups.size(); ++at) {
    const BarGroup& group = chart.groups[at];
    const double left = layout.axes.left() + double(at) * pitch;
    // Of the width that the group with most bars has; but each group stands over its own label.
    const int own = 1 + group.counted.has_value() + group.pinned.has_value();
    const double wide = own * bar + (own - 1) * gap;
    double x = left + (pitch - wide) / 2;
    BarBox box;
    box.group = QRectF(left, rect.top(), pitch, rect.height());
    const auto stand = [&](const auto& parts) {
      const double top = layout.y_of(parts ? double(parts->total) : 0), at_x = x;
      x += bar + gap;
      return parts ? QRectF(at_x, top, bar, layout.axes.bottom() - top) : QRectF();
    };
    box.planned = stand(group.planned);
    if (group.counted) box.counted = stand(group.counted);
    if (group.pinned) box.pinned = stand(group.pinned);
    layout.boxes.push_back(box);
  }
  return layout;
}

void paint_bars(QPainter& painter, const BarChart& chart, const BarLayout& layout,
                const Theme& theme, int cursor, TextLog* texts) {
  const QFont small = theme.font(11), bold = theme.font(11, true);
  const QFontMetricsF metrics(small);
  const ByteScale scale{layout.step, layout.unit, layout.unit_name};
  painter.setRenderHint(QPainter::Antialiasing);
  for (double bytes = 0; bytes <= layout.most; bytes += layout.step) {
    const double y = snapped_to_pixel(painter, layout.y_of(bytes));
    painter.fillRect(QRectF(layout.axes.left(), y - 0.5, layout.axes.width(), 1),
                     bytes == 0 ? theme.hairline : theme.grid);
    put_text(painter, QRectF(layout.axes.left() - kAxis, y - 8, kAxis - 8, 16),
             Qt::AlignVCenter | Qt::AlignRight, scale.label(bytes), small, theme.muted, texts);
  }
  for (std::size_t at = 0; at < chart.groups.size(); ++at) {
    const BarGroup& group = chart.groups[at];
    const BarBox& box = layout.boxes[at];
    if (group.framed || int(at) == cursor) {
      const double wide = std::min(box.group.width() - 2, 3 * kMostBar + 12);
      const QRectF frame(box.group.center().x() - wide / 2, box.group.top() + 0.5, wide,
                         box.group.height() - 1);
      painter.setPen(
          QPen(group.framed ? theme.accent_line : theme.control_line, int(at) == cursor ? 2 : 1.4));
      painter.setBrush(Qt::NoBrush);
      painter.drawRoundedRect(frame, 6, 6);
    }
    painter.save();
    if (group.stale) painter.setOpacity(kDimmed);
    if (group.planned)
      paint_stack(painter, box.planned, group.planned->parts, 0, Look::kTinted, layout, theme);
    if (group.counted)
      paint_stack(painter, box.counted, group.counted->parts, group.counted->unexplained,
                  Look::kSolid, layout, theme);
    painter.restore();
    if (group.pinned) {
      paint_stack(painter, box.pinned, group.pinned->parts, group.pinned->unexplained,
                  Look::kOutlined, layout, theme);
      painter.setPen(QPen(theme.text, 1));  // as in the legend: some categories are pale
      painter.setBrush(Qt::NoBrush);
      painter.drawRect(box.pinned.adjusted(-0.5, -0.5, 0.5, 0.5));
    }
    const QRectF below(box.group.left(), layout.axes.bottom() + 4, box.group.width(), 18);
    if (int(at) % layout.label_every == 0)
      put_text(painter, below, Qt::AlignCenter, group.label, group.framed ? bold : small,
               group.framed ? theme.text : theme.muted, texts);
    if (!group.planned) {
      put_elided(painter, below.translated(0, -24).adjusted(2, 0, -2, 0), Qt::AlignCenter,
                 group.instead, small, theme.muted, texts);
      continue;
    }
    const QString total = bytes_text(group.planned->total);
    if (metrics.horizontalAdvance(total) + 6 > box.group.width()) continue;
    double top = box.planned.top();
    if (group.counted) top = std::min(top, box.counted.top());
    if (group.pinned) top = std::min(top, box.pinned.top());
    double label = top - 17;
    const double limit = layout.limit_in_sight ? layout.y_of(double(chart.limit)) : label - 1;
    if (limit > label - 1 && limit < label + 17) label = limit - 17;  // not through the figure
    put_text(painter, QRectF(box.group.left(), label, box.group.width(), 16), Qt::AlignCenter,
             total, small, theme.muted, texts);
  }
  if (!layout.limit_in_sight) return;
  const double y = layout.y_of(double(chart.limit));
  painter.setPen(QPen(theme.mark, 1, Qt::DashLine));
  painter.drawLine(QPointF(layout.axes.left(), y), QPointF(layout.axes.right(), y));
}

QStringList bar_lines(const BarGroup& group) {
  QStringList lines{group.label};
  const auto add_pin = [&] {
    if (group.pinned)
      lines << Paint::tr("pinned %1 (%2)")
                   .arg(bytes_text(group.pinned->total), exact_bytes_text(group.pinned->total));
    return lines;
  };
  if (!group.planned) {
    lines << group.instead;
    return add_pin();
  }
  lines << Paint::tr("predicted %1 (%2)")
               .arg(bytes_text(group.planned->total), exact_bytes_text(group.planned->total));
  for (const Category category : kPaintStack)
    if (const std::int64_t bytes = group.planned->parts[std::size_t(category)]; bytes > 0)
      lines << QStringLiteral("%1: %2").arg(category_text(category), bytes_text(bytes));
  if (!group.counted) return add_pin();
  lines << Paint::tr("counted %1 (%2)")
               .arg(bytes_text(group.counted->total), exact_bytes_text(group.counted->total));
  lines << (group.counted->equals_plan
                ? Paint::tr("equal to the byte, in every category")
                : Paint::tr("difference %1")
                      .arg(bytes_difference_text(group.planned->total, group.counted->total)));
  return add_pin();
}

std::optional<Category> category_at(const BarGroup& group, const BarLayout& layout,
                                    const BarBox& box, QPointF point) {
  const bool counted = group.counted && box.counted.contains(point);
  if (!counted && !(group.planned && box.planned.contains(point))) return std::nullopt;
  const CategoryBytes& parts = counted ? group.counted->parts : group.planned->parts;
  double below = 0;
  for (const Category category : kPaintStack) {
    below += double(parts[std::size_t(category)]);
    if (point.y() >= layout.y_of(below)) return category;
  }
  return std::nullopt;
}

}  // namespace parallelarium

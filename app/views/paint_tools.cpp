// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/paint_tools.h"

#include <QPaintEngine>
#include <QPixmapCache>
#include <cmath>

namespace parallelarium {
namespace {

constexpr double kHatchPeriod = 8, kHatchWidth = 1.9;

void hatch_lines(QPainter& painter, const QRectF& rect, const QColor& color) {
  painter.save();
  painter.setClipRect(rect, Qt::IntersectClip);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(color, kHatchWidth));
  QList<QLineF> lines;
  const double start = std::floor((rect.left() - rect.height()) / kHatchPeriod) * kHatchPeriod;
  for (double x = start; x < rect.right() + kHatchPeriod; x += kHatchPeriod)
    lines.append(QLineF(x, rect.bottom(), x + rect.height(), rect.top()));
  painter.drawLines(lines);
  painter.restore();
}

QPixmap hatch_tile(const Theme& theme, double ratio) {
  const QString key = QStringLiteral("hatch %1 %2").arg(theme.dark).arg(ratio);
  QPixmap tile;
  if (QPixmapCache::find(key, &tile)) return tile;
  tile = QPixmap(QSize(1, 1) * static_cast<int>(std::lround(kHatchPeriod * ratio)));
  tile.fill(theme.bubble_fill);
  QPainter painter(&tile);
  painter.scale(tile.width() / kHatchPeriod, tile.height() / kHatchPeriod);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(QPen(theme.bubble_line, kHatchWidth));
  for (const double x : {-kHatchPeriod, 0.0, kHatchPeriod})
    painter.drawLine(QLineF(x - 2, kHatchPeriod + 2, x + kHatchPeriod + 2, -2));
  painter.end();
  tile.setDevicePixelRatio(tile.width() / kHatchPeriod);
  QPixmapCache::insert(key, tile);
  return tile;
}

}  // namespace

void put_text(QPainter& painter, const QRectF& rect, int flags, const QString& text,
              const QFont& font, const QColor& color, TextLog* texts) {
  if (text.isEmpty()) return;
  painter.setFont(font);
  painter.setPen(color);
  const QFontMetricsF metrics(font);
  const double width = metrics.horizontalAdvance(text);
  double x = rect.left();
  if (flags & Qt::AlignHCenter) x = rect.center().x() - width / 2;
  if (flags & Qt::AlignRight) x = rect.right() - width;
  double y = rect.top();  // of the line's top
  const double height = metrics.ascent() + metrics.descent();
  if (flags & Qt::AlignVCenter) y = rect.center().y() - height / 2;
  if (flags & Qt::AlignBottom) y = rect.bottom() - height;
  painter.drawText(QPointF(x, y + metrics.ascent()), text);
  if (texts) {
    // The ink of a line stands between cap height and baseline; descenders go a little below.
    const double top = y + metrics.ascent() - metrics.capHeight();
    const QRectF ink(x, top, width, metrics.capHeight() + 1);
    texts->push_back({painter.transform().mapRect(ink), text});
  }
}

void put_elided(QPainter& painter, const QRectF& rect, int flags, const QString& text,
                const QFont& font, const QColor& color, TextLog* texts) {
  const QFontMetricsF metrics(font);
  put_text(painter, rect, flags, metrics.elidedText(text, Qt::ElideRight, rect.width()), font,
           color, texts);
}

void paint_hatching(QPainter& painter, const QRectF& rect, const Theme& theme) {
  if (rect.width() <= 0 || rect.height() <= 0) return;
  if (!has_pixels(painter)) {
    painter.fillRect(rect, theme.bubble_fill);
    hatch_lines(painter, rect, theme.bubble_line);
    return;
  }
  const double ratio = painter.device()->devicePixelRatioF() * painter.transform().m11();
  const QPixmap tile = hatch_tile(theme, ratio);
  const auto phase = [](double at) { return at - std::floor(at / kHatchPeriod) * kHatchPeriod; };
  painter.drawTiledPixmap(rect, tile, QPointF(phase(rect.left()), phase(rect.top())));
}

void paint_chip(QPainter& painter, const QPointF& top_left, double size, int number,
                const Theme& theme, TextLog* texts) {
  const QRectF rect(top_left, QSizeF(size, size));
  const QColor fill = theme.rank(number);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(fill);
  painter.drawEllipse(rect);
  put_text(painter, rect, Qt::AlignCenter, QString::number(number),
           theme.font(static_cast<int>(size * 0.72)), theme.ink_on(fill), texts);
}

bool has_pixels(const QPainter& painter) {
  return painter.paintEngine() && painter.paintEngine()->type() == QPaintEngine::Raster;
}

double snapped_to_pixel(const QPainter& painter, double value) {
  if (!has_pixels(painter)) return value;
  const double ratio = painter.device()->devicePixelRatioF() * painter.transform().m11();
  return std::round(value * ratio) / ratio;
}

QColor mixed(const QColor& a, const QColor& b, double share_of_b) {
  const auto mix = [&](int x, int y) {
    return static_cast<int>(std::lround(x + (y - x) * share_of_b));
  };
  return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

}  // namespace parallelarium

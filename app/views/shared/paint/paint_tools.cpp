// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/paint/paint_tools.h"

#include <QPaintEngine>
#include <QPixmapCache>
#include <QStaticText>
#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <utility>

#include "app/views/shared/paint/rank_chip.h"

namespace parallelarium {
namespace {

constexpr double kHatchPeriod = 8, kHatchWidth = 1.9;
constexpr qsizetype kMostLabels = 4096;  // of one font that are kept

struct Label {
  QStaticText text;
  double width = 0;
  double room = -1;  // for which `cut` is the text with an ellipsis
  QString cut;
};
struct FontLabels {
  QFont font;
  double ascent = 0, descent = 0;
  QHash<QString, Label> labels;
};

// Only the window's thread paints.
FontLabels& labels_of(const QFont& font) {
  static std::deque<FontLabels> kept;  // few, and compared by pointer
  const auto own =
      std::find_if(kept.begin(), kept.end(), [&](const auto& one) { return one.font == font; });
  if (own != kept.end()) return *own;
  const QFontMetricsF metrics(font);
  return kept.emplace_back(FontLabels{font, metrics.ascent(), metrics.descent(), {}});
}

Label& label_of(FontLabels& of_font, const QString& text) {
  if (of_font.labels.size() > kMostLabels) of_font.labels.clear();
  const auto found = of_font.labels.find(text);
  if (found != of_font.labels.end()) return *found;
  Label label{QStaticText(text), QFontMetricsF(of_font.font).horizontalAdvance(text), -1, {}};
  label.text.setTextFormat(Qt::PlainText);
  label.text.setPerformanceHint(QStaticText::AggressiveCaching);
  return *of_font.labels.insert(text, label);
}

// Notes where a line of text stands: its ink between cap height and a little below the baseline.
void note_text(const QPainter& painter, const QPointF& baseline, double width, const QFont& font,
               const QString& text, TextLog* texts) {
  if (!texts) return;
  const double cap = QFontMetricsF(font).capHeight();
  const QRectF ink(baseline.x(), baseline.y() - cap, width, cap + 1);
  texts->push_back({painter.transform().mapRect(ink), text});
}

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
  // Asked for each time that a rank waits: a key of words would take longer than the tile.
  static std::map<std::pair<bool, double>, QPixmapCache::Key> kept;
  QPixmapCache::Key& key = kept[{theme.dark, ratio}];
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
  key = QPixmapCache::insert(tile);
  return tile;
}

}  // namespace

void put_text(QPainter& painter, const QRectF& rect, int flags, const QString& text,
              const QFont& font, const QColor& color, TextLog* texts) {
  if (text.isEmpty()) return;
  painter.setFont(font);
  painter.setPen(color);
  FontLabels& of_font = labels_of(font);
  const Label& label = label_of(of_font, text);
  const double width = label.width;
  double x = rect.left();
  if (flags & Qt::AlignHCenter) x = rect.center().x() - width / 2;
  if (flags & Qt::AlignRight) x = rect.right() - width;
  double y = rect.top();  // of the line's top
  const double height = of_font.ascent + of_font.descent;
  if (flags & Qt::AlignVCenter) y = rect.center().y() - height / 2;
  if (flags & Qt::AlignBottom) y = rect.bottom() - height;
  // Vectors keep the text as one. Qt 6.4 puts the line through a static text elsewhere.
  if (has_pixels(painter) && !font.strikeOut())
    painter.drawStaticText(QPointF(x, y), label.text);
  else
    painter.drawText(QPointF(x, y + of_font.ascent), text);
  note_text(painter, QPointF(x, y + of_font.ascent), width, font, text, texts);
}

double label_width(const QFont& font, const QString& text) {
  return label_of(labels_of(font), text).width;
}

void put_label(QPainter& painter, const QRectF& rect, const QString& text, const QFont& font,
               const QColor& color, TextLog* texts) {
  put_text(painter, rect, Qt::AlignCenter, text, font, color, texts);
}

void put_elided(QPainter& painter, const QRectF& rect, int flags, const QString& text,
                const QFont& font, const QColor& color, TextLog* texts) {
  Label& label = label_of(labels_of(font), text);
  if (label.width <= rect.width()) return put_text(painter, rect, flags, text, font, color, texts);
  if (label.room != rect.width()) {
    label.room = rect.width();
    label.cut = QFontMetricsF(font).elidedText(text, Qt::ElideRight, rect.width());
  }
  const QString cut = label.cut;  // put_text() may forget labels
  put_text(painter, rect, flags, cut, font, color, texts);
}

QString longest_that_fits(const QStringList& texts, const QFont& font, double width) {
  for (const QString& text : texts)
    if (label_width(font, text) <= width) return text;
  return texts.isEmpty() ? QString() : texts.back();
}

void paint_hatching(QPainter& painter, const QRectF& rect, const Theme& theme) {
  if (rect.width() <= 0 || rect.height() <= 0) return;
  if (!has_pixels(painter)) {
    painter.fillRect(rect, theme.bubble_fill);
    hatch_lines(painter, rect, theme.bubble_line);
    return;
  }
  const QPixmap tile = hatch_tile(theme, painter.deviceTransform().m11());
  const auto phase = [](double at) { return at - std::floor(at / kHatchPeriod) * kHatchPeriod; };
  painter.drawTiledPixmap(rect, tile, QPointF(phase(rect.left()), phase(rect.top())));
}

void paint_chip(QPainter& painter, const QPointF& top_left, double size, int number,
                const Theme& theme, TextLog* texts, std::optional<int> hue) {
  const QRectF rect(top_left, QSizeF(size, size));
  const QColor fill = theme.rank(hue.value_or(number));
  painter.setRenderHint(QPainter::Antialiasing);
  paint_chip_shape(painter, rect, hue.value_or(number), theme);
  put_text(painter, rect, Qt::AlignCenter, QString::number(number),
           theme.font(static_cast<int>(size * 0.72)), theme.ink_on(fill), texts);
}

bool has_pixels(const QPainter& painter) {
  return painter.paintEngine() && painter.paintEngine()->type() == QPaintEngine::Raster;
}

double snapped_to_pixel(const QPainter& painter, double value) {
  if (!has_pixels(painter)) return value;
  const double ratio = painter.deviceTransform().m11();
  return std::round(value * ratio) / ratio;
}

QColor mixed(const QColor& a, const QColor& b, double share_of_b) {
  const auto mix = [&](int x, int y) {
    return static_cast<int>(std::lround(x + (y - x) * share_of_b));
  };
  return QColor(mix(a.red(), b.red()), mix(a.green(), b.green()), mix(a.blue(), b.blue()));
}

}  // namespace parallelarium

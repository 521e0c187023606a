// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/paint/text_lines.h"

namespace parallelarium {
namespace {

constexpr double kTextLine = 18;

}  // namespace

void put_caps(QPainter& painter, const QRectF& rect, const QString& text, const Theme& theme,
              TextLog* texts) {
  put_elided(painter, rect, Qt::AlignVCenter, text.toUpper(), theme.caps(), theme.muted, texts);
}

QStringList broken_lines(const QString& text, const QFont& font, double width, qsizetype most) {
  if (label_width(font, text) <= width) return {text};
  QStringList lines;
  QString line;
  for (const QString& word : text.split(QLatin1Char(' '))) {
    const QString longer = line.isEmpty() ? word : line + QLatin1Char(' ') + word;
    if (!line.isEmpty() && label_width(font, longer) > width) {
      lines << line;
      line = word;
    } else {
      line = longer;
    }
  }
  lines << line;
  if (lines.size() <= most) return lines;
  return lines.mid(0, most - 1) << lines.mid(most - 1).join(QLatin1Char(' '));
}

double put_lines(QPainter& painter, const QRectF& rect, const QString& text, const QFont& font,
                 const QColor& color, TextLog* texts) {
  double y = rect.top();
  for (const QString& line : broken_lines(text, font, rect.width())) {
    put_elided(painter, QRectF(rect.left(), y, rect.width(), kTextLine), Qt::AlignVCenter, line,
               font, color, texts);
    y += kTextLine;
  }
  return y - rect.top();
}

}  // namespace parallelarium

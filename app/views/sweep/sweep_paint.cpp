// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/sweep/sweep_paint.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/text_lines.h"
#include "app/views/sweep/sweep_words.h"

namespace parallelarium {
namespace {

constexpr double kSweepMargin = 16, kSweepLine = 20, kCurveHeight = 360;

struct SweepPaintTexts {
  Q_DECLARE_TR_FUNCTIONS(SweepView)
};

// What a mark will say, before there is one.
double paint_outcomes(QPainter& painter, const QRectF& rect, const Theme& theme, TextLog* texts) {
  put_caps(painter, QRectF(rect.left(), rect.top(), rect.width(), kSweepLine),
           SweepPaintTexts::tr("How each point ends"), theme, texts);
  const std::pair<QString, QString> ends[] = {
      {SweepPaintTexts::tr("predicted"),
       SweepPaintTexts::tr("A dot: the figure that Explore has once the point is used.")},
      {SweepPaintTexts::tr("does not fit"),
       SweepPaintTexts::tr("A ring: a rank needs more memory than its device has.")},
      {SweepPaintTexts::tr("cannot be"),
       SweepPaintTexts::tr("A cross: a rule of the settings forbids it; its sentence stands below "
                           "the plot.")},
      {SweepPaintTexts::tr("run here"),
       SweepPaintTexts::tr("A diamond: what a run of the point was seen to do; hollow where it was "
                           "rehearsed.")}};
  constexpr double kName = 120;
  double y = rect.top() + kSweepLine;
  for (const auto& [name, meaning] : ends) {
    put_text(painter, QRectF(rect.left(), y, kName, kSweepLine), Qt::AlignVCenter, name,
             theme.font(12, true), theme.text, texts);
    y += put_lines(painter, QRectF(rect.left() + kName, y + 1, rect.width() - kName, kSweepLine),
                   meaning, theme.font(12), theme.muted, texts) +
         4;
  }
  return y - rect.top();
}

}  // namespace

double paint_sweep(QPainter& painter, double width, const SweepPicture& picture, const Theme& theme,
                   SweepHits* hits, TextLog* texts) {
  const double inner = width - 2 * kSweepMargin;
  double y = picture.top;
  const auto say = [&](const QString& text, const QFont& font, const QColor& color) {
    if (!text.isEmpty())
      y += put_lines(painter, QRectF(kSweepMargin, y, inner, kSweepLine), text, font, color, texts);
  };
  say(sweep_title(picture.wish), theme.font(14, true), theme.text);
  y += 4;
  say(picture.status, theme.font(12), picture.failed ? theme.warning : theme.muted);
  if (picture.hidden) {
    say(SweepPaintTexts::tr("Hidden until you answer."), theme.font(12), theme.muted);
    return y + kSweepMargin;
  }
  if (!picture.answer) {
    if (!picture.sweeping)
      say(SweepPaintTexts::tr(
              "Not swept yet. Sweep predicts what is set once for every value, and says why a "
              "value cannot be. Type values as 1,2,4 or as a range: 1..4 counts, and 1..64*2 "
              "doubles from 1 to 64."),
          theme.font(12), theme.muted);
    y += 12;
    y += paint_outcomes(painter, QRectF(kSweepMargin, y, inner, 0), theme, texts);
    return y + kSweepMargin;
  }
  const SweepAnswer& answer = *picture.answer;
  say(sizes_note(answer), theme.font(12), theme.text);
  say(limits_note(answer), theme.font(12), theme.text);
  y += 6;
  paint_curves(painter, QRectF(kSweepMargin, y, inner, kCurveHeight), picture, theme, hits, texts);
  y += kCurveHeight + 8;
  if (picture.selected >= 0) {
    const SweptPoint& point = answer.points[std::size_t(picture.selected)];
    say(QStringLiteral("%1: %2").arg(
            point_name(answer, point),
            point_outcome(answer, point) + ran_outcome(answer, picture.runs, picture.selected)),
        theme.font(12, true), theme.text);
  } else {
    say(SweepPaintTexts::tr("Click a point to see it; “Use it” makes it the setup."),
        theme.font(12), theme.muted);
  }
  const QStringList refused = refusals_of(answer);
  if (refused.isEmpty()) return y + kSweepMargin;
  y += 8;
  put_caps(painter, QRectF(kSweepMargin, y, inner, kSweepLine),
           SweepPaintTexts::tr("What cannot be"), theme, texts);
  y += kSweepLine;
  for (const QString& line : refused) say(line, theme.font(12), theme.muted);
  return y + kSweepMargin;
}

double sweep_height(double width, const SweepPicture& picture, const Theme& theme) {
  QImage nowhere(1, 1, QImage::Format_RGB32);
  QPainter painter(&nowhere);
  return std::ceil(paint_sweep(painter, width, picture, theme, nullptr, nullptr));
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/compare/compare_paint.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/compare/compare_words.h"
#include "app/views/shared/paint/legend.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/text_lines.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {
namespace {

constexpr double kCompareMargin = 16, kCompareGap = 18, kCompareLine = 20;
constexpr double kMostLanes = 360;    // height of the lanes, unless their rows need more
constexpr double kLeastCauses = 300;  // width beside the table

struct ComparePaint {
  Q_DECLARE_TR_FUNCTIONS(CompareView)
};

// The bars of one action in all lanes, joined from each to the next.
void paint_followed(QPainter& painter, const ComparePicture& picture, const PictureLayout& layout,
                    const Theme& theme) {
  if (!picture.followed) return;
  const Picture& lanes = picture.comparison->lanes;
  std::optional<QPointF> last;
  painter.setRenderHint(QPainter::Antialiasing);
  for (std::size_t at = 0; at < lanes.lanes.size(); ++at) {
    int rank = 0;
    const Bar* bar = bar_of(lanes.lanes[at], *picture.followed, &rank);
    if (!bar) continue;
    const QRectF box = rect_of_bar(lanes, layout, int(at), *bar, rank, 0);
    if (box.isEmpty()) continue;
    painter.setBrush(Qt::NoBrush);
    painter.setPen(QPen(theme.mark, 2));
    painter.drawRoundedRect(box.adjusted(-1, -1, 1, 1), 2, 2);
    painter.setPen(QPen(theme.mark, 1, Qt::DotLine));
    if (last) painter.drawLine(*last, QPointF(box.center().x(), box.top() - 1));
    last = QPointF(box.center().x(), box.bottom() + 1);
  }
}

double paint_compared_lanes(QPainter& painter, const QRectF& rect, const ComparePicture& picture,
                            const Theme& theme, CompareHits* hits, TextLog* texts) {
  const Picture& lanes = picture.comparison->lanes;
  const double wanted = std::min(comfortable_height(lanes), kMostLanes);
  PictureLayout layout = layout_of(lanes, QSizeF(rect.width(), wanted), theme);
  const double tall = layout.height + layout.tick_band;
  const QFont bold = theme.font(12, true);
  const auto step_of = [&](const TitleBox& title) {
    const auto at = std::size_t(title.lane);
    if (lanes.hides.times || lanes.lanes[at].hidden) return kHidden;
    return seconds_text(picture.comparison->beside.columns[at].step.seconds);
  };
  for (TitleBox& title : layout.titles)  // between its letter and its step
    title.rect.adjust(kLetterChip + 8, 0,
                      -QFontMetricsF(bold).horizontalAdvance(step_of(title)) - 12, 0);
  painter.save();
  painter.translate(rect.topLeft());
  paint_timeline(painter, lanes, layout, theme, QSizeF(rect.width(), tall), 0, texts);
  for (const TitleBox& title : layout.titles) {
    const auto at = std::size_t(title.lane);
    const QRectF box = title.rect.translated(0, layout.tick_band).adjusted(0, 0, 0, -5);
    const QPointF corner(box.left() - kLetterChip - 8, box.bottom() - kLetterChip + 1);
    paint_letter(painter, corner, at, at > 0 && at == picture.comparison->chosen, theme, texts);
    if (hits && at > 0)
      hits->columns.emplace_back(QRectF(corner + rect.topLeft(), QSizeF(kLetterChip, kLetterChip)),
                                 at);
    put_text(
        painter,
        QRectF(box.right(), box.top(), rect.width() - box.right() - kCompareMargin, box.height()),
        Qt::AlignBottom | Qt::AlignRight, step_of(title), bold, theme.text, texts);
  }
  paint_followed(painter, picture, layout, theme);
  painter.restore();
  if (hits) {
    hits->lanes = QRectF(rect.topLeft(), QSizeF(rect.width(), tall));
    hits->layout = layout;
  }
  return tall;
}

// Lanes, table and causes, from `y` on; returns where they end.
double paint_columns(QPainter& painter, double width, double y, const ComparePicture& picture,
                     const Theme& theme, CompareHits* hits, TextLog* texts) {
  const ComparedEntries& comparison = *picture.comparison;
  const double inner = width - 2 * kCompareMargin;
  const QRectF line(kCompareMargin, y, inner, kCompareLine);
  const int lines =
      paint_legend(&painter, {line, line}, comparison.lanes, Zoom::kActions, theme, texts);
  y += std::max(kCompareLine, lines * kLegendLine);
  y += paint_compared_lanes(painter, QRectF(0, y, width, 0), picture, theme, hits, texts) +
       kCompareGap;
  const double table = figures_width(comparison);
  const bool several = comparison.entries.size() > 1;
  const bool beside = several && inner - table - 32 >= kLeastCauses;
  const double left = beside ? std::min(table * 1.1, inner - 32 - kLeastCauses) : inner;
  const double figures = paint_compared_figures(painter, QRectF(kCompareMargin, y, left, 0),
                                                comparison, theme, hits, texts);
  if (!several) return y + figures + kCompareMargin;
  if (beside)
    return y +
           std::max(
               figures,
               paint_causes(painter, QRectF(kCompareMargin + left + 32, y, inner - left - 32, 0),
                            comparison, theme, texts)) +
           kCompareMargin;
  y += figures + kCompareGap;
  y += paint_causes(painter, QRectF(kCompareMargin, y, std::min(inner, 720.0), 0), comparison,
                    theme, texts);
  return y + kCompareMargin;
}

}  // namespace

double paint_compare(QPainter& painter, double width, const ComparePicture& picture,
                     const Theme& theme, CompareHits* hits, TextLog* texts) {
  const ComparedEntries& comparison = *picture.comparison;
  const double inner = width - 2 * kCompareMargin;
  double y = 10;
  y += std::max(
      picture.beside_head > 0 ? 34.0 : 0.0,
      put_lines(painter, QRectF(kCompareMargin, y + 4, inner - picture.beside_head, kCompareLine),
                compare_title(comparison), theme.font(14, true), theme.text, texts));
  const auto say = [&](const QString& text, const QColor& color) {
    if (!text.isEmpty())
      y += put_lines(painter, QRectF(kCompareMargin, y, inner, kCompareLine), text, theme.font(12),
                     color, texts);
  };
  say(comparison.whose, comparison.outdated ? theme.warning : theme.muted);
  say(picture.status, theme.warning);
  for (const QString& remark : compare_remarks(comparison)) say(remark, theme.text);
  if (comparison.entries.size() == 1)
    say(ComparePaint::tr("“Add a column …” has published cases, earlier runs and the plan of the "
                         "search. What is set becomes a column, too: pin it there, then change it "
                         "or run it in Explore."),
        theme.muted);
  if (comparison.entries.empty()) return y + kCompareMargin;
  painter.setOpacity(comparison.outdated ? kDimmed : 1);
  const double bottom = paint_columns(painter, width, y, picture, theme, hits, texts);
  painter.setOpacity(1);
  return bottom;
}

double compare_height(double width, const ComparePicture& picture, const Theme& theme) {
  QImage nowhere(1, 1, QImage::Format_RGB32);
  QPainter painter(&nowhere);
  return std::ceil(paint_compare(painter, width, picture, theme, nullptr, nullptr));
}

}  // namespace parallelarium

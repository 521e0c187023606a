// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/roofline/roofline_paint.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/text_lines.h"

namespace parallelarium {
namespace {

constexpr double kRoofMargin = 16, kRoofGap = 20, kRoofHead = 22, kRoofRow = 20;
constexpr double kPlotBeside = 800, kListWidth = 416;
constexpr double kSizesFrom = 700;  // width of the ladder that has room for them

struct RoofWords {
  Q_DECLARE_TR_FUNCTIONS(RooflineView)
};

struct ListColumn {
  double share;  // of the width, where the column ends
  QString title;
};

// A bar whose length is the logarithm of its value, from `least` on.
void paint_log_bar(QPainter& painter, const QRectF& cell, double value, double least, double most,
                   const QString& text, bool of_link, const Theme& theme, TextLog* texts) {
  const double wide = QFontMetricsF(theme.font(12)).horizontalAdvance(text);
  const double room = std::max(8.0, std::min(cell.width() * 0.55, cell.width() - wide - 10));
  const double share = most > least ? std::log(value / least) / std::log(most / least) : 1;
  const double length = 6 + std::max(0.0, share) * (room - 6);
  painter.fillRect(QRectF(cell.left(), cell.center().y() - 4, length, 8),
                   of_link ? theme.solid(OpColor::kCommunication) : theme.muted);
  put_text(painter,
           QRectF(cell.left() + length + 8, cell.top(), cell.width() - length - 8, cell.height()),
           Qt::AlignVCenter, text, theme.font(12), theme.text, texts);
}

}  // namespace

double paint_pieces(QPainter& painter, const QRectF& rect, const RooflineData& data,
                    const Theme& theme, RooflineHits* hits, TextLog* texts) {
  double y = rect.top();
  const ListColumn columns[] = {{0.51, RoofWords::tr("Piece")},
                                {0.64, RoofWords::tr("FLOP/B")},
                                {0.785, RoofWords::tr("time")},
                                {1.0, RoofWords::tr("bound by")}};
  const auto cell = [&](std::size_t at) {
    const double from = at == 0 ? 24 : columns[at - 1].share * rect.width();
    return QRectF(rect.left() + from, y, columns[at].share * rect.width() - from, kRoofRow);
  };
  const auto flags = [](std::size_t at) {
    return int(Qt::AlignVCenter) | int(at == 0 ? Qt::AlignLeft : Qt::AlignRight);
  };
  put_caps(painter, QRectF(rect.left(), y, columns[0].share * rect.width(), kRoofHead),
           columns[0].title, theme, texts);
  for (std::size_t at = 1; at < std::size(columns); ++at)
    put_elided(painter, cell(at).adjusted(4, 1, 0, 1), flags(at), columns[at].title, theme.font(11),
               theme.muted, texts);
  y += kRoofHead;
  const std::vector<RooflinePoint>& points = data.roofline->points;
  for (std::size_t at = 0; at < points.size(); ++at) {
    const RooflinePoint& point = points[at];
    const QRectF row(rect.left(), y, rect.width(), kRoofRow);
    const bool selected = int(at) == data.selected && !data.hidden;
    if (selected) painter.fillRect(row, theme.accent_soft);
    const QColor ink = selected ? theme.ink_on(theme.accent_soft) : theme.text;
    paint_piece_mark(painter, QPointF(row.left() + 10, row.center().y()), point, data.numbers[at],
                     false, theme);
    const QString unknown = QStringLiteral("?");
    const QString cells[] = {point_text(point),
                             data.hidden ? unknown : number_text(point.intensity()),
                             data.hidden ? unknown : seconds_text(point.seconds),
                             data.hidden ? unknown : bound_text(point.bound)};
    for (std::size_t column = 0; column < std::size(cells); ++column)
      put_elided(painter, cell(column).adjusted(column > 0 ? 4 : 0, 0, 0, 0), flags(column),
                 cells[column], theme.font(12, selected), ink, texts);
    if (hits) hits->points.emplace_back(row, int(at));
    y += kRoofRow;
    painter.fillRect(QRectF(rect.left(), y - 1, rect.width(), 1), theme.hairline);
  }
  return y - rect.top();
}

namespace {

// The least and the most of what is drawn as a bar.
struct BarRange {
  double least = 1e300, most = 0;
  void add(double value) {
    if (value <= 0) return;
    least = std::min(least, value);
    most = std::max(most, value);
  }
};

}  // namespace

double paint_ladder(QPainter& painter, const QRectF& rect, const RooflineData& data,
                    const Theme& theme, TextLog* texts) {
  double y = rect.top();
  const double width = rect.width();
  const bool sizes = width >= kSizesFrom;
  const double rate_at = width * (sizes ? 0.32 : 0.24), size_at = width * 0.22;
  const double latency_at = width * (sizes ? 0.57 : 0.54), origin_at = width * 0.76;
  const auto head = [&](double from, double to, const QString& text) {
    put_caps(painter, QRectF(rect.left() + from, y, to - from - 6, kRoofHead), text, theme, texts);
  };
  head(0, sizes ? size_at : rate_at, RoofWords::tr("Ladder"));
  if (sizes) head(size_at, rate_at, RoofWords::tr("Size"));
  head(rate_at, latency_at, RoofWords::tr("Rate"));
  head(latency_at, origin_at, RoofWords::tr("Latency or ridge"));
  head(origin_at, width, RoofWords::tr("Origin"));
  y += kRoofHead;
  const auto cell = [&](double from, double to) {
    return QRectF(rect.left() + from, y, to - from - 8, kRoofRow);
  };
  const auto row = [&](const Message& name, const QString& origin) {
    put_elided(painter, cell(0, sizes ? size_at : rate_at), Qt::AlignVCenter,
               capitalised(sentence(name)), theme.font(12), theme.text, texts);
    put_elided(painter, cell(origin_at, width + 8), Qt::AlignVCenter, origin, theme.font(12),
               theme.muted, texts);
    y += kRoofRow;
    painter.fillRect(QRectF(rect.left(), y - 1, width, 1), theme.hairline);
  };
  for (const RooflineCeiling& ceiling : data.roofline->ceilings) {
    if (ceiling.flops_per_second <= 0) continue;  // bytes stand in the ladder
    put_text(painter, cell(rate_at, latency_at), Qt::AlignVCenter,
             flops_rate_text(ceiling.flops_per_second), theme.font(12), theme.text, texts);
    if (ceiling.ridge > 0)
      put_text(painter, cell(latency_at, origin_at), Qt::AlignVCenter,
               RoofWords::tr("%1 FLOP/B").arg(number_text(ceiling.ridge)), theme.font(12),
               theme.text, texts);
    row(ceiling.name, origin_text(ceiling.origin));
  }
  BarRange rates, latencies;
  for (const LadderRow& step : data.roofline->ladder) {
    rates.add(step.bytes_per_second.value);
    latencies.add(step.latency_seconds.value);
  }
  for (const LadderRow& step : data.roofline->ladder) {
    const double rate = step.bytes_per_second.value, latency = step.latency_seconds.value;
    if (sizes && step.bytes > 0)
      put_elided(painter, cell(size_at, rate_at), Qt::AlignVCenter, bytes_text(step.bytes),
                 theme.font(12), theme.muted, texts);
    if (rate > 0)
      paint_log_bar(painter, cell(rate_at, latency_at), rate, rates.least, rates.most,
                    rate_text(rate), step.is_link(), theme, texts);
    if (latency > 0)
      paint_log_bar(painter, cell(latency_at, origin_at), latency, latencies.least, latencies.most,
                    seconds_text(latency), step.is_link(), theme, texts);
    row(step.name, ladder_origin(step));
  }
  y += 4;
  y += put_lines(painter, QRectF(rect.left(), y, width, 18),
                 RoofWords::tr("Bars are logarithmic. Left of the ridge a piece waits for memory: "
                               "fuse it. Right of it more bandwidth is no help. Below a roof, "
                               "efficiency is lost."),
                 theme.font(11), theme.muted, texts);
  return y - rect.top();
}

double paint_roofline(QPainter& painter, double width, const RooflineData& data, double beside_head,
                      const Theme& theme, RooflineHits* hits, TextLog* texts) {
  const double inner = width - 2 * kRoofMargin;
  double y = 10;
  y += std::max(beside_head > 0 ? 34.0 : 0.0,
                put_lines(painter, QRectF(kRoofMargin, y + 4, inner - beside_head, 20),
                          roofline_title(data), theme.font(14, true), theme.text, texts));
  y += put_lines(painter, QRectF(kRoofMargin, y, inner, 20), data.whose, theme.font(12),
                 theme.muted, texts);
  if (!data.roofline) return y + kRoofMargin;
  painter.setOpacity(data.dimmed ? kDimmed : 1);
  if (data.hidden)
    y += put_lines(painter, QRectF(kRoofMargin, y, inner, 20),
                   RoofWords::tr("Hidden until you answer."), theme.font(12), theme.muted, texts);
  y += 6;
  const bool beside = inner >= kPlotBeside;
  const double left = beside ? inner - kListWidth - 24 : inner;
  const double plot =
      paint_roofs(painter, QRectF(kRoofMargin, y, left, 0), data, theme, hits, texts);
  if (beside) {
    const double list = paint_pieces(painter, QRectF(kRoofMargin + left + 24, y, kListWidth, 0),
                                     data, theme, hits, texts);
    y += std::max(plot, list) + kRoofGap;
  } else {
    y += plot + kRoofGap;
    y += paint_pieces(painter, QRectF(kRoofMargin, y, inner, 0), data, theme, hits, texts) +
         kRoofGap;
  }
  y += paint_ladder(painter, QRectF(kRoofMargin, y, inner, 0), data, theme, texts);
  painter.setOpacity(1);
  return y + kRoofMargin;
}

double roofline_height(double width, const RooflineData& data, double beside_head,
                       const Theme& theme) {
  QImage nowhere(1, 1, QImage::Format_RGB32);
  QPainter painter(&nowhere);
  return std::ceil(paint_roofline(painter, width, data, beside_head, theme, nullptr, nullptr));
}

}  // namespace parallelarium

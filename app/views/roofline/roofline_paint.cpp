// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/roofline/roofline_paint.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/text_lines.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {
namespace {

constexpr double kRoofMargin = 16, kRoofGap = 20, kRoofHead = 22, kRoofRow = 20;
constexpr double kPlotBeside = 800, kListWidth = 416, kPieceRow = 22;
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
  const ListColumn columns[] = {
      {0.27, RoofWords::tr("Piece")},   {0.395, RoofWords::tr("FLOP/B")},
      {0.54, RoofWords::tr("forward")}, {0.695, RoofWords::tr("backward")},
      {0.835, RoofWords::tr("share")},  {1.0, RoofWords::tr("limit")}};
  const auto cell = [&](std::size_t at) {
    const double from = at == 0 ? 24 : columns[at - 1].share * rect.width() + 4;
    return QRectF(rect.left() + from, y, columns[at].share * rect.width() - from, kPieceRow);
  };
  const auto flags = [](std::size_t at) {
    return int(Qt::AlignVCenter) | int(at == 0 ? Qt::AlignLeft : Qt::AlignRight);
  };
  put_caps(painter, QRectF(rect.left(), y, columns[0].share * rect.width(), kRoofHead),
           columns[0].title, theme, texts);
  for (std::size_t at = 1; at < std::size(columns); ++at)
    put_elided(painter, cell(at).adjusted(0, 1, 0, 1), flags(at), columns[at].title, theme.font(11),
               theme.muted, texts);
  y += kRoofHead;
  for (const RooflinePiece& piece : data.roofline->pieces) {
    const int first = piece.points.front();
    const RooflinePoint& point = data.roofline->points[std::size_t(first)];
    const QRectF row(rect.left(), y, rect.width(), kPieceRow);
    const bool selected = data.selects(piece);
    if (selected) painter.fillRect(row, theme.accent_soft);
    const QColor ink = selected ? theme.ink_on(theme.accent_soft) : theme.text;
    paint_piece_mark(painter, QPointF(row.left() + 10, row.center().y()), point,
                     data.numbers[std::size_t(first)], false, theme);
    const auto shown = [&](const QString& text) { return data.hidden ? kHidden : text; };
    const QString cells[] = {name_text(piece.piece),
                             shown(number_text(point.intensity())),
                             shown(seconds_or_dash(piece.forward_seconds)),
                             shown(seconds_or_dash(piece.backward_seconds)),
                             shown(share_text(piece.share)),
                             shown(bound_text(point.bound))};
    for (std::size_t column = 0; column < std::size(cells); ++column)
      put_elided(painter, cell(column), flags(column), cells[column], theme.font(12, selected), ink,
                 texts);
    if (hits && piece.points.size() > 1) hits->points.emplace_back(cell(3), piece.points[1]);
    if (hits) hits->points.emplace_back(row, first);
    y += kPieceRow;
    painter.fillRect(QRectF(rect.left(), y - 1, rect.width(), 1), theme.hairline);
  }
  return y - rect.top();
}

namespace {

// How to read the plot.
double paint_notes(QPainter& painter, const QRectF& rect, const RooflineData& data,
                   const Theme& theme, TextLog* texts) {
  QStringList notes;
  if (data.roofline->ridge > 0)
    notes << RoofWords::tr("Left of %1 FLOP per byte a piece waits for memory: fuse it.")
                 .arg(number_text(data.roofline->ridge))
          << RoofWords::tr("Right of it more bandwidth is no help.");
  notes << RoofWords::tr(
      "A piece below its roof loses efficiency: no limit of the machine holds it there.");
  const auto& ceilings = data.roofline->ceilings;
  const auto memory =
      std::find_if(ceilings.begin(), ceilings.end(),
                   [](const RooflineCeiling& ceiling) { return ceiling.bytes_per_second > 0; });
  const auto& points = data.roofline->points;
  if (!data.hidden && memory != ceilings.end() &&
      std::any_of(points.begin(), points.end(), [&](const RooflinePoint& point) {
        constexpr double kAbove = 1.01;
        return point.rate() > kAbove * point.intensity() * memory->bytes_per_second;
      }))
    notes << RoofWords::tr("A piece above the slope of memory finds in caches what it reads.");
  double y = rect.top();
  for (const QString& note : notes)
    y += put_lines(painter, QRectF(rect.left(), y, rect.width(), 16), note, theme.font(11),
                   theme.muted, texts) +
         4;
  return y - rect.top();
}

}  // namespace

// The flat roofs, and from how many FLOPs a byte on each can be reached.
double paint_ceilings(QPainter& painter, const QRectF& rect, const RooflineData& data,
                      const Theme& theme, RooflineHits* hits, TextLog* texts) {
  double y = rect.top();
  const double ends[] = {0.34, 0.56, 0.76, 1.0};  // of the columns, in widths
  const auto cell = [&](std::size_t at) {
    const double from = at == 0 ? 0 : ends[at - 1] * rect.width() + 8;
    return QRectF(rect.left() + from, y, ends[at] * rect.width() - from, kRoofRow);
  };
  const QString heads[] = {RoofWords::tr("Roof"), RoofWords::tr("Rate"), RoofWords::tr("Ridge"),
                           RoofWords::tr("Origin")};
  for (std::size_t at = 0; at < std::size(heads); ++at)
    put_caps(painter, cell(at), heads[at], theme, texts);
  y += kRoofHead;
  for (const RooflineCeiling& ceiling : data.roofline->ceilings) {
    if (ceiling.flops_per_second <= 0) continue;  // bytes stand in the ladder
    const QString cells[] = {
        capitalised(sentence(ceiling.name)), flops_rate_text(ceiling.flops_per_second),
        ceiling.ridge > 0 ? RoofWords::tr("%1 FLOP/B").arg(number_text(ceiling.ridge)) : QString(),
        origin_word(ceiling.origin)};
    for (std::size_t at = 0; at < std::size(cells); ++at)
      put_elided(painter, cell(at), Qt::AlignVCenter, cells[at], theme.font(12),
                 at + 1 < std::size(cells) ? theme.text : theme.muted, texts);
    if (hits) hits->origins.emplace_back(cell(3), origin_text(ceiling.origin));
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
                    const Theme& theme, RooflineHits* hits, TextLog* texts) {
  double y = rect.top();
  const double width = rect.width();
  const bool sizes = width >= kSizesFrom;
  const double rate_at = width * (sizes ? 0.32 : 0.24), size_at = width * 0.22;
  const double latency_at = width * (sizes ? 0.58 : 0.54), origin_at = width * 0.77;
  const double slower_at = width * 0.52;  // ÷
  const auto head = [&](double from, double to, const QString& text) {
    put_caps(painter, QRectF(rect.left() + from, y, to - from - 6, kRoofHead), text, theme, texts);
  };
  head(0, sizes ? size_at : rate_at, RoofWords::tr("Ladder"));
  if (sizes) head(size_at, rate_at, RoofWords::tr("Size"));
  head(rate_at, latency_at, RoofWords::tr("Rate"));
  head(latency_at, origin_at, RoofWords::tr("Latency"));
  head(origin_at, width, RoofWords::tr("Origin"));
  y += kRoofHead;
  const auto cell = [&](double from, double to) {
    return QRectF(rect.left() + from, y, to - from - 8, kRoofRow);
  };
  const auto put = [&](double from, double to, const QString& text, const QColor& color) {
    put_elided(painter, cell(from, to), Qt::AlignVCenter, text, theme.font(12), color, texts);
  };
  const QString none = QStringLiteral("–");
  BarRange rates, latencies;
  for (const LadderRow& step : data.roofline->ladder) {
    rates.add(step.bytes_per_second.value);
    latencies.add(step.latency_seconds.value);
  }
  for (const LadderRow& step : data.roofline->ladder) {
    const double rate = step.bytes_per_second.value, latency = step.latency_seconds.value;
    if (sizes && step.times_slower > 0)
      put_text(painter, cell(slower_at, latency_at), Qt::AlignVCenter,
               QStringLiteral("÷ %1").arg(number_text(step.times_slower)), theme.font(11),
               theme.muted, texts);
    if (sizes) put(size_at, rate_at, step.bytes > 0 ? bytes_text(step.bytes) : none, theme.muted);
    if (rate > 0)
      paint_log_bar(painter, cell(rate_at, sizes ? slower_at : latency_at), rate, rates.least,
                    rates.most, rate_text(rate), step.is_link(), theme, texts);
    else
      put(rate_at, latency_at, none, theme.muted);
    if (latency > 0)
      paint_log_bar(painter, cell(latency_at, origin_at), latency, latencies.least, latencies.most,
                    seconds_text(latency), step.is_link(), theme, texts);
    else
      put(latency_at, origin_at, none, theme.muted);
    put(0, sizes ? size_at : rate_at, capitalised(sentence(step.name)), theme.text);
    put(origin_at, width + 8, ladder_origin_word(step), theme.muted);
    if (hits) hits->origins.emplace_back(cell(origin_at, width + 8), ladder_origin(step));
    y += kRoofRow;
    painter.fillRect(QRectF(rect.left(), y - 1, width, 1), theme.hairline);
  }
  y += 4;
  QString note = data.limit;
  if (!note.isEmpty()) note += QLatin1Char(' ');
  note += RoofWords::tr("Bars are logarithmic.");
  if (sizes)
    note += QLatin1Char(' ') +
            RoofWords::tr("÷: a rate so many times as slow as the one before it on the way out.");
  y += put_lines(painter, QRectF(rect.left(), y, width, 18), note, theme.font(11), theme.muted,
                 texts);
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
  if (!beside) y += plot + kRoofGap;
  const QRectF side(beside ? kRoofMargin + left + 24 : kRoofMargin, y, beside ? kListWidth : inner,
                    0);
  double list = paint_pieces(painter, side, data, theme, hits, texts) + 10;
  list += paint_notes(painter, side.translated(0, list), data, theme, texts) + 8;
  list += paint_ceilings(painter, side.translated(0, list), data, theme, hits, texts);
  y += (beside ? std::max(plot, list) : list) + kRoofGap;
  y += paint_ladder(painter, QRectF(kRoofMargin, y, inner, 0), data, theme, hits, texts);
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

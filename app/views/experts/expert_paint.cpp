// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/experts/expert_paint.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/experts/expert_brush.h"

namespace parallelarium {
namespace {

struct PaintWords {
  Q_DECLARE_TR_FUNCTIONS(experts)
};

// Below the shown homes, how many more there are.
void paint_more_homes(const ExpertBrush& b, double top) {
  const int more = b.layer().ep - b.layout.homes;
  if (more <= 0) return;
  b.text(
      QRectF(b.layout.tokens.left(), top, b.layout.tokens.width(), 13), Qt::AlignLeft,
      more == 1 ? PaintWords::tr("and 1 more rank") : PaintWords::tr("and %1 more ranks").arg(more),
      11, false, b.theme.muted);
}

void paint_tokens(const ExpertBrush& b) {
  if (b.picture.shows_run()) {
    paint_home_bars(b);
    return paint_more_homes(b, b.layout.home_bar(b.layout.homes - 1).bottom() + 2);
  }
  const RoutedLayer& layer = b.layer();
  const int shown = int(std::min<std::int64_t>(b.layout.shown_tokens(), layer.tokens));
  QString title = PaintWords::tr("Tokens at home");
  if (shown < layer.tokens)
    title += QStringLiteral(" \u00b7 ") +
             PaintWords::tr("first %1 of %2").arg(count_text(shown), count_text(layer.tokens));
  b.head(b.layout.tokens_head, title);
  for (int home = 0; home < b.layout.homes; ++home) {
    const QRectF first = b.layout.token_cell(home, 0, 0);
    b.text(QRectF(b.layout.tokens.left(), first.top(), 52, 13), Qt::AlignLeft,
           PaintWords::tr("Rank %1").arg(home), 11, true);
    const TokenRoutes& routes = layer.homes[std::size_t(home)];
    for (int token = 0; token < shown; ++token)
      for (int choice = 0; choice < layer.top_k; ++choice) {
        const auto at = std::size_t(token * layer.top_k + choice);
        const int expert = routes.expert[at];
        const QRectF cell = b.layout.token_cell(home, token, choice);
        const QColor color = expert_color(layer, expert, b.theme);
        const bool dropped = routes.kept[at] == 0;
        const bool away = !dropped && way_of(b.picture, token, shown) > 0;
        const bool other = b.picture.selected.expert >= 0 && b.picture.selected.expert != expert;
        b.painter.setOpacity(other ? 0.25 : 1);
        b.painter.setRenderHint(QPainter::Antialiasing, false);
        if (dropped || away) {
          b.painter.setBrush(away ? mixed(color, b.theme.surface, 0.75) : b.theme.surface);
          b.painter.setPen(QPen(color, 1, dropped ? Qt::DotLine : Qt::SolidLine));
          b.painter.drawRect(cell.adjusted(0.5, 0.5, -1.5, -0.5));
        } else {
          b.painter.fillRect(cell.adjusted(0, 0, -1, 0), color);
        }
        const QString number = QString::number(expert);
        const QColor fill = dropped || away ? b.theme.surface : color;
        if (label_width(b.theme.font(9), number) <= cell.width() - 2)
          put_label(b.painter, cell.adjusted(0, 0, -1, 0), number, b.theme.font(9),
                    dropped || away ? b.theme.text : b.theme.ink_on(fill), b.texts);
        b.painter.setOpacity(1);
      }
  }
  const QRectF last = b.layout.token_cell(b.layout.homes - 1, 0, 0);
  paint_more_homes(b, last.top() + b.layout.rows * b.layout.line);
}

// "8.2k" for 8,192: what a small cell has room for.
QString thousands_text(std::int64_t count) {
  if (count < 1000) return count_text(count);
  const double thousands = double(count) / 1000;
  return QStringLiteral("%1k").arg(QLocale().toString(thousands, 'f', thousands < 9.95 ? 1 : 0));
}

// Whether there is room for the bytes below the tokens, in every cell.
bool has_room_for_bytes(const ExpertBrush& b) {
  const RoutedLayer& layer = b.layer();
  const double width = b.layout.matrix_at(0, 0).width() - 4;
  for (const auto& row : layer.rows)
    for (const std::int64_t count : row)
      if (text_width(b.theme, 11, count_text(count)) > width ||
          text_width(b.theme, 10, bytes_text(count * layer.row_bytes)) > width)
        return false;
  return b.layout.matrix_cell >= 34;
}

// The tokens that rank `home` sends rank `rank`. `most`: of all pairs.
void paint_cell(const ExpertBrush& b, int home, int rank, std::int64_t most, bool with_bytes) {
  const RoutedLayer& layer = b.layer();
  const double side = b.layout.matrix_cell;
  const std::int64_t count = layer.rows[std::size_t(home)][std::size_t(rank)];
  const QRectF cell = b.layout.matrix_at(home, rank);
  const double share = double(count) / double(most);
  const QColor fill = mixed(b.theme.surface, b.theme.solid(OpColor::kCommunication),
                            count == 0 ? 0.04 : 0.2 + 0.75 * share);
  b.painter.setRenderHint(QPainter::Antialiasing);
  b.painter.setBrush(fill);
  const bool chosen = b.picture.selected.home == home && b.picture.selected.rank == rank;
  b.painter.setPen(chosen         ? QPen(b.theme.accent_line, 2)
                   : home == rank ? QPen(b.theme.muted, 1, Qt::DashLine)
                                  : QPen(Qt::NoPen));
  if (side >= 12)
    b.painter.drawRoundedRect(cell.adjusted(0.5, 0.5, -0.5, -0.5), 3, 3);
  else
    b.painter.drawRect(cell);
  if (side < 20) return;
  const QColor ink = b.theme.ink_on(fill);
  const QString exact = count_text(count), bytes = bytes_text(count * layer.row_bytes);
  const bool tells = text_width(b.theme, 11, exact) <= cell.width() - 4;
  if (with_bytes) {
    b.text(cell.adjusted(0, 3, 0, -side / 2), Qt::AlignHCenter, exact, 11, false, ink);
    b.text(cell.adjusted(0, side / 2, 0, -3), Qt::AlignHCenter, bytes, 10, false, ink);
  } else if (tells) {
    b.text(cell, Qt::AlignHCenter, exact, 11, false, ink);
  } else if (const QString few = thousands_text(count);
             text_width(b.theme, 10, few) <= cell.width() - 2) {
    b.text(cell, Qt::AlignHCenter, few, 10, false, ink);
  }
}

// What the matrix means, in as many lines as the column has room for.
void paint_matrix_note(const ExpertBrush& b) {
  const RoutedLayer& layer = b.layer();
  QStringList lines;
  const auto wrap = [&](const QString& sentence) {
    QString line;
    for (const QString& word : sentence.split(QLatin1Char(' '))) {
      const QString longer = line.isEmpty() ? word : line + QLatin1Char(' ') + word;
      if (!line.isEmpty() && text_width(b.theme, 11, longer) > b.layout.matrix_note.width()) {
        lines << line;
        line = word;
      } else {
        line = longer;
      }
    }
    lines << line;
  };
  wrap(pace_sentence(layer));
  const int marked = int(lines.size());
  if (layer.ep > 1)
    wrap(PaintWords::tr("Dashed: stays home. %1 travel, and come back.")
             .arg(bytes_text(dispatched_bytes(layer))));
  const auto room =
      qsizetype(std::max(0., b.layout.tokens.bottom() - b.layout.matrix_note.top()) / 15);
  if (lines.size() > room) {
    lines.resize(room);
    if (!lines.isEmpty()) lines.last() += QStringLiteral(" \u2026");
  }
  double y = b.layout.matrix_note.top();
  for (int line = 0; line < int(lines.size()); ++line, y += 15)
    b.text(QRectF(b.layout.matrix_note.left(), y, b.layout.matrix_note.width() + 4, 15),
           Qt::AlignLeft, lines[line], 11, false, line < marked ? b.theme.mark : b.theme.muted);
}

void paint_matrix(const ExpertBrush& b) {
  const RoutedLayer& layer = b.layer();
  const QString whole = PaintWords::tr("All-to-all, tokens sent");
  const bool fits = QFontMetricsF(b.theme.caps()).horizontalAdvance(whole.toUpper()) <=
                    b.layout.matrix_head.width();
  b.head(b.layout.matrix_head, b.picture.shows_run() ? PaintWords::tr("Tokens sent, run")
                               : fits                ? whole
                                                     : PaintWords::tr("Tokens sent"));
  std::int64_t most = 1;
  for (const auto& row : layer.rows)
    for (const std::int64_t count : row) most = std::max(most, count);
  const double side = b.layout.matrix_cell;
  const int every = side >= 18 ? 1 : int(std::ceil(18 / side));
  for (int rank = 0; rank < layer.ep; rank += every) {
    b.text(
        QRectF(b.layout.matrix.left() + rank * side, b.layout.matrix.top() - 16, side * every, 14),
        Qt::AlignHCenter,
        side >= 30 ? QStringLiteral("\u2192 %1").arg(rank) : QString::number(rank), 10, false,
        b.theme.muted);
    b.text(QRectF(b.layout.matrix_head.left(), b.layout.matrix.top() + rank * side,
                  b.layout.matrix.left() - b.layout.matrix_head.left() - 4, side),
           Qt::AlignRight,
           side >= 30 ? QStringLiteral("%1 \u2192").arg(rank) : QString::number(rank), 10, false,
           b.theme.muted);
  }
  const bool with_bytes = has_room_for_bytes(b);
  for (int home = 0; home < layer.ep; ++home)
    for (int rank = 0; rank < layer.ep; ++rank) paint_cell(b, home, rank, most, with_bytes);
  paint_matrix_note(b);
}

void paint_capacity_line(const ExpertBrush& b, double limit) {
  b.painter.setPen(QPen(b.theme.mark, 1, Qt::DashLine));
  for (int column = 0; column < b.layout.expert_columns; ++column) {
    const QRectF top = b.layout.expert_row(column * b.layout.expert_rows);
    b.painter.drawLine(
        QPointF(top.left() + limit, top.top() - 2),
        QPointF(top.left() + limit, top.top() + b.layout.expert_rows * top.height()));
  }
  const QString label =
      PaintWords::tr("capacity %1").arg(count_text(b.layer().capacity * b.layer().ep));
  const QRectF first = b.layout.expert_row(0);
  const double width = text_width(b.theme, 10, label) + 2;
  const double left = std::clamp(first.left() + limit - width / 2, first.left(),
                                 std::max(first.left(), first.right() - width));
  b.text(QRectF(left, first.top() + b.layout.expert_rows * first.height() + 1, width, 14),
         Qt::AlignHCenter, label, 10, false, b.theme.mark);
}

void paint_experts_load(const ExpertBrush& b) {
  const RoutedLayer& layer = b.layer();
  const QString whose =
      layer.ep > 1 ? PaintWords::tr("Experts, by their rank") : PaintWords::tr("Experts");
  b.head(b.layout.experts_head,
         b.picture.shows_run() ? PaintWords::tr("%1, run").arg(whose) : whose);
  std::int64_t most = std::max<std::int64_t>(1, layer.capacity * layer.ep);
  for (int expert = 0; expert < layer.experts; ++expert)
    most = std::max(most, layer.load[std::size_t(expert)] + layer.dropped[std::size_t(expert)]);
  const double scale = b.layout.bar_width / double(most);
  const double arrived = b.picture.arrived();
  const double height =
      std::min(22.0, b.layout.expert_pitch - (b.layout.expert_pitch > 16 ? 5 : 2));
  const int size = height >= 14 ? 11 : 9;
  // Of what all homes together may send to one expert; 0: there is no limit.
  const double limit =
      layer.capacity > 0 ? b.layout.bar_left + double(layer.capacity * layer.ep) * scale : 0;
  int rank = -1;
  for (std::size_t place = 0; place < b.layout.order.size(); ++place) {
    const int expert = b.layout.order[place];
    const QRectF row = b.layout.expert_row(int(place));
    const std::int64_t load = layer.load[std::size_t(expert)];
    const std::int64_t dropped = layer.dropped[std::size_t(expert)];
    const QColor color = expert_color(layer, expert, b.theme);
    const bool other = b.picture.selected.expert >= 0 && b.picture.selected.expert != expert;
    const int holder = layer.rank_of_expert[std::size_t(expert)];
    if (holder != rank && place > 0 && layer.ep > 1 && row.top() > b.layout.experts.top())
      b.painter.fillRect(QRectF(row.left(), row.top() - 1, row.width() - 8, 1), b.theme.grid);
    rank = holder;
    b.painter.setOpacity(other ? 0.35 : 1);
    const double top = row.top() + (b.layout.expert_pitch - height) / 2;
    b.text(QRectF(row.left(), top, b.layout.bar_left - 4, height), Qt::AlignLeft,
           QStringLiteral("E%1").arg(expert), size, b.picture.selected.expert == expert);
    const QRectF bar(row.left() + b.layout.bar_left, top, std::max(1.0, double(load) * scale),
                     height);
    b.painter.setRenderHint(QPainter::Antialiasing);
    if (arrived < 1) {  // what is still to come is an outline
      b.painter.setPen(QPen(color, 1));
      b.painter.setBrush(b.theme.surface);
      b.painter.drawRect(bar.adjusted(0.5, 0.5, -0.5, -0.5));
    }
    QRectF full = bar;
    full.setWidth(bar.width() * arrived);
    b.painter.fillRect(full, color);
    double right = bar.right();
    if (dropped > 0) {
      const QRectF lost(bar.right(), top, std::max(2.0, double(dropped) * scale), height);
      b.painter.setPen(QPen(b.theme.mark, 1, Qt::DashLine));
      b.painter.setBrush(Qt::NoBrush);
      b.painter.drawRect(lost.adjusted(0.5, 0.5, -0.5, -0.5));
      right = lost.right();
    }
    const QString number = count_text(load);
    const bool inside = text_width(b.theme, size, number) + 8 < full.width();
    const double end = row.left() + row.width() - 4;
    if (inside)
      b.text(full.adjusted(5, 0, -2, 0), Qt::AlignLeft, number, size, false, b.theme.ink_on(color));
    const QString lost = dropped > 0 ? dropped_words(dropped) : QString();
    QString behind = inside        ? lost
                     : dropped > 0 ? number + QStringLiteral(" \u00b7 ") + lost
                                   : number;
    // Words stand behind the limit where its line would run through them.
    const double line = row.left() + limit;
    if (line >= right && line < right + 5 + text_width(b.theme, size, behind)) right = line;
    if (text_width(b.theme, size, behind) > end - right - 6)
      behind = inside
                   ? dropped > 0 ? QStringLiteral("\u2212%1").arg(count_text(dropped)) : QString()
                   : number;
    if (!behind.isEmpty() && text_width(b.theme, size, behind) <= end - right - 5)
      b.text(QRectF(right + 5, top, end - right - 4, height), Qt::AlignLeft, behind, size, false,
             dropped > 0 ? b.theme.mark : b.theme.muted);
    b.painter.setOpacity(1);
  }
  if (layer.capacity > 0) paint_capacity_line(b, limit);
}

}  // namespace

double ExpertPicture::arrived() const {
  if (!playhead || !shown()) return 1;
  const LayerTimes& times = *shown();
  if (*playhead < times.window.begin || *playhead >= times.window.end) return 1;
  // Without an exchange tokens are where their experts are as soon as the router is done.
  const bool travels = times.whole(LayerPart::kDispatch).end > Nanoseconds(0);
  return times.done(travels ? LayerPart::kDispatch : LayerPart::kRouter, *playhead);
}

double ExpertPicture::returned() const {
  if (!playhead || !shown()) return 1;
  const LayerTimes& times = *shown();
  if (*playhead < times.window.begin || *playhead >= times.window.end) return 1;
  const bool travels = times.whole(LayerPart::kCombine).end > Nanoseconds(0);
  return times.done(travels ? LayerPart::kCombine : LayerPart::kExperts, *playhead);
}

QColor expert_color(const RoutedLayer& layer, int expert, const Theme& theme) {
  if (layer.ep == 1) return theme.rank(expert);
  const int rank = layer.rank_of_expert[std::size_t(expert)];
  int place = 0, count = 0;
  for (int other = 0; other < layer.experts; ++other) {
    if (layer.rank_of_expert[std::size_t(other)] != rank) continue;
    ++count;
    place += other < expert;
  }
  return count < 2 ? theme.rank(rank)
                   : mixed(theme.rank(rank), theme.surface, 0.5 * place / (count - 1));
}

void paint_experts(QPainter& painter, const ExpertPicture& picture, const ExpertLayout& layout,
                   const Theme& theme, TextLog* texts) {
  painter.save();
  const ExpertBrush b{painter, picture, layout, theme, texts};
  if (!picture.drawn()) {
    b.text(QRectF(16, 40, layout.size.width() - 32, 20), Qt::AlignHCenter, picture.empty, 13, false,
           theme.muted);
    painter.restore();
    return;
  }
  const QFont font = theme.font(13, true);
  put_elided(painter, layout.title, Qt::AlignVCenter,
             expert_title_in(picture, font, layout.title.width()), font, theme.text, texts);
  if (picture.hidden) {
    b.text(QRectF(16, 60, layout.size.width() - 32, 20), Qt::AlignHCenter,
           PaintWords::tr("? hidden for now"), 13, false, theme.muted);
    painter.restore();
    return;
  }
  if (picture.dimmed) painter.setOpacity(kDimmed);
  paint_flights(b);
  paint_tokens(b);
  if (picture.shows_run()) paint_balance_plot(painter, picture, layout, theme, texts);
  paint_matrix(b);
  paint_experts_load(b);
  paint_expert_lanes(b);
  paint_expert_figures(b);
  painter.restore();
}

}  // namespace parallelarium

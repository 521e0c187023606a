// SPDX-License-Identifier: GPL-3.0-or-later
// Buffers of the ranks, chunk by chunk, and what is on its way between them.
#include "app/views/collectives/picture/collective_paint.h"

#include <QCoreApplication>
#include <algorithm>
#include <bit>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/collectives/picture/collective_parts.h"
#include "app/views/collectives/picture/collective_plot.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct CollectivePaintWords {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

constexpr std::size_t kFewMoves = 40;  // with a label on every message
constexpr double kDot = 7;

// The chips of a set in `rect`: numbered where there is room, else thin bars and a count.
void paint_set(QPainter& painter, const QRectF& rect, RankSet set, int slots, const Theme& theme,
               TextLog* texts) {
  const int count = std::popcount(set);
  if (slots == 1) {
    const double height = std::min(20.0, rect.height() - 4), width = std::min(24.0, rect.width());
    const QRectF chip(rect.left(), rect.center().y() - height / 2, width, height);
    const int rank = set ? std::countr_zero(set) : -1;
    painter.setPen(set ? QPen(Qt::NoPen) : QPen(theme.hairline, 1));
    painter.setBrush(set ? theme.rank(rank) : theme.surface);
    painter.drawRoundedRect(chip, height / 2, height / 2);
    if (set && width >= kNumbered && height >= 9)
      put_text(painter, chip, Qt::AlignCenter, QString::number(rank),
               theme.font(height >= 15 ? 11 : 9), theme.ink_on(theme.rank(rank)), texts);
    return;
  }
  const double step = std::min(28.0, rect.width() / slots);
  if (step >= kNumbered && rect.height() >= 15) {
    const double width = std::min(24.0, step - 2), height = std::min(20.0, rect.height() - 4);
    const QFont font = theme.font(width >= 18 ? 11 : 9);
    for (int rank = 0; rank < slots; ++rank) {
      const QRectF chip(rect.left() + rank * step, rect.center().y() - height / 2, width, height);
      const bool there = set >> rank & 1;
      painter.setPen(there ? QPen(Qt::NoPen) : QPen(theme.hairline, 1));
      painter.setBrush(there ? theme.rank(rank) : theme.surface);
      painter.drawRoundedRect(chip, height / 2, height / 2);
      if (there)
        put_text(painter, chip, Qt::AlignCenter, QString::number(rank), font,
                 theme.ink_on(theme.rank(rank)), texts);
    }
    return;
  }
  const bool counted = rect.width() >= 34 && rect.height() >= 10;
  const double room = rect.width() - (counted ? 17 : 0), bar = room / slots;
  painter.setRenderHint(QPainter::Antialiasing, false);
  for (int rank = 0; rank < slots; ++rank)
    if (set >> rank & 1)
      painter.fillRect(QRectF(rect.left() + rank * bar, rect.top() + 2,
                              std::max(1.0, bar - (bar > 3 ? 1 : 0)), rect.height() - 4),
                       theme.rank(rank));
  painter.setRenderHint(QPainter::Antialiasing, true);
  if (counted)
    put_text(painter, rect, Qt::AlignRight | Qt::AlignVCenter, QString::number(count),
             theme.font(9), theme.muted, texts);
}

void paint_arrow_head(QPainter& painter, const QPointF& tip, bool to_right, const QColor& color) {
  const double way = to_right ? 1 : -1;
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawPolygon(QPolygonF{tip, tip + QPointF(-8 * way, -4), tip + QPointF(-8 * way, 4)});
}

// Where the chunks under way are, each with its name where few are and there is room for one.
struct Token {
  QRectF rect;
  QString name;
};
std::vector<Token> tokens_of(const CollectivePicture& picture, const CollectiveLayout& layout) {
  const CollectiveMotion& motion = picture.shown();
  const std::vector<Flight> flights = motion.flights(picture.playhead);
  const bool few = flights.size() <= kFewMoves;
  // Many at once are dots, which leave the buffers to be seen.
  const double width = few ? layout.token.width() : kDot;
  const double height = few ? layout.token.height() : kDot;
  std::vector<Token> tokens;
  for (const Flight& flight : flights) {
    if (flight.share <= 0 || flight.share >= 1) continue;
    const double share = picture.tweened ? flight.share : 0.5;
    const QPointF at = way_of(picture, layout, flight.ref, width / 2).pointAtPercent(share);
    // A bent way passes above the first cells: below the heads of the ranks.
    const double top = std::max(at.y() - height / 2, layout.rank_head(0).bottom() + 1);
    const bool named = few && width >= 20 && height >= 11;
    tokens.push_back(
        {QRectF(at.x() - width / 2, top, width, height),
         named ? chunk_name(*picture.plan, motion.move(flight.ref).chunk) : QString()});
  }
  return tokens;
}

// It passes behind what stands `above` it.
void paint_token(QPainter& painter, const Token& token, const std::vector<QRectF>& above,
                 const Theme& theme) {
  const QColor color = theme.solid(OpColor::kCommunication);
  QPainterPath shape;
  shape.addRoundedRect(token.rect, 4, 4);
  for (const QRectF& rect : above)
    if (rect.intersects(token.rect)) {
      QPainterPath hole;
      hole.addRect(rect);
      shape = shape.subtracted(hole);
    }
  if (shape.isEmpty()) return;
  painter.setPen(QPen(theme.surface, 1));
  painter.setBrush(color);
  painter.drawPath(shape);
  if (token.name.isEmpty()) return;
  painter.save();
  painter.setClipPath(shape, Qt::IntersectClip);
  put_text(painter, token.rect, Qt::AlignCenter, token.name,
           theme.font(token.rect.height() >= 15 ? 11 : 9), theme.ink_on(color), nullptr);
  painter.restore();
}

// The ways of the step's messages.
void paint_arrows(QPainter& painter, const CollectivePicture& picture,
                  const CollectiveLayout& layout, const Theme& theme) {
  const CollectiveMotion& motion = picture.shown();
  const std::vector<Flight> flights = motion.flights(picture.playhead);
  const QColor color = theme.solid(OpColor::kCommunication);
  QColor arrived = color;
  arrived.setAlphaF(0.35f);
  const bool few = flights.size() <= kFewMoves;
  painter.setBrush(Qt::NoBrush);
  for (const Flight& flight : flights) {
    const bool chosen = flight.ref == picture.selected;
    const QColor line = chosen ? theme.accent_line : flight.share >= 1 ? arrived : color;
    painter.setPen(QPen(line, few || chosen ? 1.8 : 0.8));
    painter.setBrush(Qt::NoBrush);
    const QPainterPath way = way_of(picture, layout, flight.ref, 0);
    painter.drawPath(way);
    const int count = way.elementCount();
    const double dx = way.elementAt(count - 1).x - way.elementAt(std::max(0, count - 2)).x;
    const Move& move = motion.move(flight.ref);
    const bool right = std::abs(dx) > 0.5 ? dx > 0 : move.to > move.from;
    if (few || chosen) paint_arrow_head(painter, way.currentPosition(), right, line);
  }
}

// The reduce-scatter and the all-gather in the right half; what the two halves have in common.
QString paint_parts(QPainter& painter, const CollectivePicture& picture,
                    const CollectiveLayout& layout, const Theme& theme, TextLog* texts) {
  CollectivePicture parts = picture;
  parts.plan = std::make_shared<const CollectivePlan>(picture.parts->plan());
  parts.predicted = picture.parts;
  parts.observed = nullptr;
  parts.run = nullptr;
  parts.wanted = ChunkContent::kContributions;
  parts.playhead = picture.parts_time();
  parts.selected = {};
  painter.fillRect(QRectF(layout.second_half - 2, layout.buffers.top(), 1, layout.buffers.height()),
                   theme.hairline);
  painter.translate(layout.second_half, 0);
  paint_buffers(painter, parts, layout, theme, texts);
  painter.translate(-layout.second_half, 0);
  const Agreement now =
      agreement(picture.shown(), picture.playhead, *picture.parts, parts.playhead);
  const QString title = CollectivePaintWords::tr(
      "Left: the all-reduce. Right: a reduce-scatter, then an all-gather.");
  if (now.all == 0) return title;
  return title + QLatin1Char(' ') +
         (now.same == now.all
              ? CollectivePaintWords::tr("All %1 chunks hold the same.").arg(now.all)
              : CollectivePaintWords::tr("%1 of %2 chunks hold the same now.")
                    .arg(now.same)
                    .arg(now.all));
}

void paint_rank_head(QPainter& painter, const QRectF& at, int rank, const Theme& theme,
                     TextLog* texts) {
  paint_chip(painter, at.topLeft(), 16, rank, theme, texts);
  if (at.width() >= 74)
    put_text(painter, at.adjusted(22, 0, 0, 0), Qt::AlignVCenter,
             CollectivePaintWords::tr("Rank %1").arg(rank), theme.font(12, true), theme.text,
             texts);
}

}  // namespace

QString value_text(const CollectivePicture& picture, int rank, int chunk) {
  const auto& values = picture.run->seen.values.first;
  const CollectivePlan& plan = *picture.plan;
  const int after = picture.shown().settled_step(rank, chunk, picture.playhead);
  const auto at = std::size_t((after * plan.ranks() + rank) * plan.collective.chunks + chunk);
  if (at >= values.size() || std::isnan(values[at])) return QStringLiteral("\u2013");
  return number_text(values[at]);
}

void paint_buffers(QPainter& painter, const CollectivePicture& picture,
                   const CollectiveLayout& layout, const Theme& theme, TextLog* texts) {
  const CollectiveMotion& motion = picture.shown();
  const ChunkContent content = picture.content();
  // A result has nothing under way.
  const bool moves = content != ChunkContent::kRounding;
  const QColor communication = theme.solid(OpColor::kCommunication);
  std::vector<char> sends(std::size_t(layout.ranks * layout.chunks), 0);
  for (const Flight& flight : motion.flights(picture.playhead)) {
    const Move& move = motion.move(flight.ref);
    if (moves && flight.share < 1) sends[std::size_t(move.from * layout.chunks + move.chunk)] = 1;
  }
  const QFont label = theme.font(layout.cell_size.height() >= 18 ? 11 : 9);
  const QFontMetricsF metrics(label);
  std::vector<QRectF> cells, names;
  const std::vector<Token> tokens = moves ? tokens_of(picture, layout) : std::vector<Token>();
  const bool labels = layout.cell_size.height() >= 9;
  for (int rank = 0; rank < layout.ranks; ++rank) {
    paint_rank_head(painter, layout.rank_head(rank), rank, theme, texts);
    for (int chunk = 0; chunk < layout.chunks; ++chunk) {
      const QRectF cell = layout.cell(rank, chunk);
      cells.push_back(cell);
      const bool goes = sends[std::size_t(rank * layout.chunks + chunk)] != 0;
      painter.setPen(QPen(goes ? communication : theme.control_line, goes ? 1.8 : 1));
      painter.setBrush(theme.window);
      const double radius = std::min(4.0, cell.height() / 4);
      painter.drawRoundedRect(cell, radius, radius);
      if (labels && (layout.labels_in_cells || rank == 0)) {
        const int side = layout.labels_in_cells ? 0 : int(Qt::AlignRight);
        const QString name = chunk_name(*picture.plan, chunk);
        const QRectF at = layout.label(rank, chunk);
        put_text(painter, at, Qt::AlignVCenter | side, name, label, theme.muted, texts);
        names.push_back(metrics.boundingRect(at, Qt::AlignVCenter | side, name));
      }
      const QRectF inside =
          layout.labels_in_cells ? cell.adjusted(34, 1, -6, -1) : cell.adjusted(3, 0, -3, 0);
      if (content == ChunkContent::kRounding)
        paint_rounding(painter, picture, cell, inside, rank, chunk, theme, texts);
      else if (content == ChunkContent::kValues)
        put_elided(painter, inside,
                   Qt::AlignVCenter | (layout.labels_in_cells ? 0 : int(Qt::AlignHCenter)),
                   value_text(picture, rank, chunk), theme.font(cell.height() >= 18 ? 12 : 9),
                   theme.text, texts);
      else
        paint_set(painter, inside, motion.held(rank, chunk, picture.playhead), layout.slots, theme,
                  texts);
    }
  }
  if (moves) paint_arrows(painter, picture, layout, theme);
  // A chunk with a name passes behind the cells and covers no figure; dots, which are small and
  // many, pass behind the names alone.
  for (const Token& token : tokens)
    paint_token(painter, token, token.name.isEmpty() ? names : cells, theme);
}

void paint_collective(QPainter& painter, const CollectivePicture& picture,
                      const CollectiveLayout& layout, const Theme& theme, TextLog* texts) {
  painter.save();
  painter.setRenderHint(QPainter::Antialiasing);
  if (picture.dimmed) painter.setOpacity(kDimmed);
  const CollectiveMotion& motion = picture.shown();
  const CollectivePlan& plan = *picture.plan;
  const int step = motion.step_at(picture.playhead);
  const bool bits = picture.content() == ChunkContent::kRounding;
  QString caption = bits                ? CollectivePaintWords::tr("The result, bit by bit")
                    : plan.steps() == 0 ? CollectivePaintWords::tr("Nothing to send: one rank")
                    : picture.hidden.steps
                        ? CollectivePaintWords::tr("Step %1").arg(step + 1)
                        : CollectivePaintWords::tr("Step %1 of %2").arg(step + 1).arg(plan.steps());
  const QString phase = phase_of(plan, step);
  if (!bits && !phase.isEmpty()) caption += QStringLiteral(" \u00b7 ") + phase;
  QFont caps = theme.caps();
  caps.setCapitalization(QFont::MixedCase);
  caption = caption.toUpper();
  put_text(painter, layout.caption, Qt::AlignVCenter, caption, caps, theme.muted, texts);
  const double taken = QFontMetricsF(caps).horizontalAdvance(caption);
  const double from = std::max(taken + 24, std::min(284.0, layout.caption.width() * 0.34));
  put_elided(painter, layout.caption.adjusted(from, 0, 0, 0), Qt::AlignVCenter,
             bits ? CollectivePaintWords::tr(
                        "marked: chunks with elements that another order of adding gives "
                        "other bits")
                  : step_sentence(plan, step),
             theme.font(11), theme.muted, texts);
  if (layout.matrix)
    paint_matrix(painter, picture, layout, theme, texts);
  else
    paint_buffers(painter, picture, layout, theme, texts);
  QString line = bytes_line(motion, picture.playhead, !picture.hidden.sent_bytes);
  if (const QString of_bits = rounding_line(picture); !of_bits.isEmpty()) line = of_bits;
  if (layout.second_half > 0) line = paint_parts(painter, picture, layout, theme, texts);
  put_elided(painter, layout.bytes, Qt::AlignCenter, line, theme.font(12),
             mixed(theme.text, theme.solid(OpColor::kCommunication), 0.55), texts);
  paint_steps(painter, picture, layout, theme, texts);
  paint_plot(painter, picture, layout, theme, texts);
  paint_costs(painter, picture, layout, theme, texts);
  painter.restore();
}

}  // namespace parallelarium

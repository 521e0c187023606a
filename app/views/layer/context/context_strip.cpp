// SPDX-License-Identifier: GPL-3.0-or-later
// What ranks hold of a sequence, and keys and values on their way.
#include <QCoreApplication>
#include <QLineF>
#include <QPainterPath>
#include <QPolygonF>
#include <algorithm>

#include "app/look/sentence.h"
#include "app/views/layer/context/context_picture.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/text_lines.h"

namespace parallelarium {
namespace {

struct StripWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

constexpr double kStripChip = 15, kStripLine = 15, kCardHeight = 60, kCardGap = 30, kMostCard = 190;

bool is_exchange(const LayerBrush& brush, const ContextMove& move) {
  return brush.picture.layer->steps[std::size_t(move.step)].kind == LayerStepKind::kExchange;
}

// "K V" and whose they are: of a ring one rank's, and the next ones that are there already; of an
// all-gather everyone's, as far as they have come.
void paint_keys(const LayerBrush& brush, const QRectF& place, int index) {
  const LayerContext& context = brush.picture.layer->context;
  const int cp = brush.picture.layer->ranks[std::size_t(index)].at.cp,
            now = context_round_now(brush.picture, index);
  const QFont font = brush.theme.font(11);
  const double words = label_width(font, QStringLiteral("K V")) + 5;
  put_text(brush.painter, place, Qt::AlignVCenter, QStringLiteral("K V"), font, brush.theme.text,
           brush.texts);
  double x = place.left() + words;
  const double y = place.center().y();
  const int from = context.rounds[std::size_t(now)].keys_from[std::size_t(cp)];
  if (from >= 0) {
    paint_layer_chip(brush.painter, brush.picture, QPointF(x, y - kStripChip / 2), kStripChip,
                     context_rank(brush.picture, from), brush.theme, brush.texts);
    x += kStripChip + 4;
    // Those of later steps may be here already.
    for (const ContextMove& move : context.moves) {
      if (move.gradient || move.round < now || !is_exchange(brush, move)) continue;
      if (layer_share_done(brush.picture, move.step, index) < 1 || x + 11 > place.right()) continue;
      const int next = context.rounds[std::size_t(move.round) + 1].keys_from[std::size_t(cp)];
      paint_layer_chip(brush.painter, brush.picture, QPointF(x, y - 5.5), 11,
                       context_rank(brush.picture, next), brush.theme, brush.texts);
      x += 13;
    }
    return;
  }
  const double done =
      context.moves.empty() ? 1 : layer_share_done(brush.picture, context.moves[0].step, index);
  const int all = int(context.blocks_of.size());
  const double wide = std::min(10.0, (place.right() - x) / all);
  for (int other = 0; other < all; ++other, x += wide) {
    const QColor color =
        brush.theme.rank(layer_color_number(brush.picture, context_rank(brush.picture, other)));
    brush.painter.setPen(QPen(color, 1));
    brush.painter.setBrush(other == cp || done >= 1 ? QBrush(color) : QBrush(Qt::NoBrush));
    brush.painter.drawRect(QRectF(x, y - 5, std::max(1.0, wide - 2), 10));
  }
}

// Without words and tokens where many stand in a row.
bool is_compact(const QRectF& card) { return card.width() < 110; }

void paint_card(const LayerBrush& brush, const QRectF& card, int index) {
  const LayerRank& rank = brush.picture.layer->ranks[std::size_t(index)];
  brush.painter.setPen(QPen(brush.theme.control_line, 1));
  brush.painter.setBrush(brush.theme.surface);
  brush.painter.drawRoundedRect(card, 5, 5);
  paint_layer_chip(brush.painter, brush.picture, card.topLeft() + QPointF(7, 5), kStripChip, index,
                   brush.theme, brush.texts);
  if (is_compact(card))
    return paint_keys(brush, QRectF(card.left() + 5, card.top() + 27, card.width() - 6, 18), index);
  put_elided(brush.painter, QRectF(card.left() + 27, card.top() + 4, card.width() - 32, 17),
             Qt::AlignVCenter, StripWords::tr("Rank %1").arg(rank.rank), brush.theme.font(12, true),
             brush.theme.text, brush.texts);
  const double line = card.top() + 22;
  const QFont font = brush.theme.font(11);
  put_text(brush.painter, QRectF(card.left() + 7, line, 12, 18), Qt::AlignVCenter,
           QStringLiteral("Q"), font, brush.theme.text, brush.texts);
  paint_layer_chip(brush.painter, brush.picture,
                   QPointF(card.left() + 19, line + 9 - kStripChip / 2), kStripChip, index,
                   brush.theme, brush.texts);
  paint_keys(brush, QRectF(card.left() + 42, line, card.width() - 46, 18), index);
  put_elided(brush.painter, QRectF(card.left() + 7, line + 19, card.width() - 10, 15),
             Qt::AlignVCenter, context_tokens_text(brush.picture.layer->context, rank.at.cp),
             brush.theme.font(10), brush.theme.muted, brush.texts);
}

void paint_link(const LayerBrush& brush, const QPolygonF& way) {
  const QColor color = brush.theme.solid(OpColor::kCommunication);
  brush.painter.setPen(QPen(color, 1.5));
  brush.painter.setBrush(Qt::NoBrush);
  brush.painter.drawPolyline(way);
  const QPointF to = way.back();
  QPainterPath head(to);
  head.lineTo(to.x() - 6, to.y() - 4);
  head.lineTo(to.x() - 6, to.y() + 4);
  head.closeSubpath();
  brush.painter.fillPath(head, color);
}

QPointF point_along(const QPolygonF& way, double share) {
  double length = 0;
  for (int at = 1; at < way.size(); ++at) length += QLineF(way[at - 1], way[at]).length();
  double left = share * length;
  for (int at = 1; at < way.size(); ++at) {
    const QLineF line(way[at - 1], way[at]);
    if (left <= line.length() || at + 1 == way.size())
      return line.pointAt(line.length() > 0 ? std::min(1.0, left / line.length()) : 0);
    left -= line.length();
  }
  return way.back();
}

// Keys and values on the link to the right neighbour, as far as they have come, and below them the
// ring step that they are for.
void paint_travelling(const LayerBrush& brush, const QPolygonF& way, int index) {
  const LayerContext& context = brush.picture.layer->context;
  const int cp = brush.picture.layer->ranks[std::size_t(index)].at.cp;
  for (const ContextMove& move : context.moves) {
    if (!is_exchange(brush, move)) continue;
    const double done = layer_share_done(brush.picture, move.step, index);
    if (done <= 0 || done >= 1) continue;
    const int of = context.rounds[std::size_t(move.round)].keys_from[std::size_t(cp)];
    // Between neighbours it stays in the gap.
    const QPointF at = point_along(way, way.size() == 2 ? 0.37 + 0.26 * done : done);
    const QRectF place(at.x() - 10, at.y() - 10, 20, 20);
    brush.painter.setPen(Qt::NoPen);
    brush.painter.setBrush(brush.theme.solid(OpColor::kCommunication));
    brush.painter.drawRoundedRect(place, 4, 4);
    if (of >= 0)
      paint_layer_chip(brush.painter, brush.picture, place.topLeft() + QPointF(3, 3), 14,
                       context_rank(brush.picture, of), brush.theme, nullptr);
    if (move.gradient) continue;
    // Between neighbours below it; on the way back beside it, over the line.
    const bool between = way.size() == 2;
    const QRectF label = between ? QRectF(place.left() - 5, place.bottom(), 30, 13)
                                 : QRectF(place.right() + 1, place.center().y() - 7, 26, 14);
    if (!between) brush.painter.fillRect(label, brush.theme.surface);
    put_label(brush.painter, label, QStringLiteral("\u2192 %1").arg(move.round + 2),
              brush.theme.font(10), brush.theme.text, brush.texts);
  }
}

QString between_words(int step, int of) {
  return StripWords::tr("BETWEEN RING STEPS %1 AND %2 OF %3").arg(step).arg(step + 1).arg(of);
}

// "RING STEP 2 OF 4", or between which steps the ranks wait.
QString ring_words(const LayerPicture& picture, const LayerLayout& layout) {
  const auto& rounds = picture.layer->context.rounds;
  int now = 0;
  for (const int rank : layout.ranks) now = std::max(now, context_round_now(picture, rank));
  const bool done = std::all_of(layout.ranks.begin(), layout.ranks.end(), [&](int rank) {
    return layer_share_done(picture, rounds[std::size_t(now)].step, rank) >= 1;
  });
  return done && now + 1 < int(rounds.size())
             ? between_words(now + 1, int(rounds.size()))
             : StripWords::tr("RING STEP %1 OF %2").arg(now + 1).arg(rounds.size());
}

bool is_ring(const LayerPicture& picture) { return picture.layer->context.rounds.size() > 1; }

// No rank sees keys of another: an attention that is another function of the same text.
bool is_local(const LayerPicture& picture) { return picture.layer->context.moves.empty(); }

QString strip_head(const LayerPicture& picture, const LayerLayout& layout) {
  return is_ring(picture) ? ring_words(picture, layout) : StripWords::tr("WHO HOLDS WHAT");
}

QString what_travels(const LayerPicture& picture) {
  const std::vector<LayerRank>& ranks = picture.layer->ranks;
  if (std::any_of(ranks.begin(), ranks.end(), [](const LayerRank& rank) { return rank.at.tp > 0; }))
    return StripWords::tr("the first of each TP group; the others do the same for their heads");
  if (is_ring(picture))
    return StripWords::tr(
        "queries stay; keys and values visit every rank, one neighbour at a "
        "time");
  return is_local(picture)
             ? StripWords::tr("queries, keys and values stay on the rank of their tokens")
             : StripWords::tr("queries stay; keys and values of all ranks come to each");
}

// Whether that has room beside the head in all of a ring's steps; else it stands below.
bool stands_beside_head(const LayerPicture& picture, const LayerLayout& layout,
                        const Theme& theme) {
  const int rounds = int(picture.layer->context.rounds.size());
  const QString head =
      is_ring(picture) ? between_words(rounds - 1, rounds) : strip_head(picture, layout);
  return fits_context_head(theme, layout.size.width() - 32, head, what_travels(picture));
}

QString strip_words(const LayerPicture& picture) {
  const LayerContext& context = picture.layer->context;
  if (is_local(picture))
    return StripWords::tr(
        "Nothing is exchanged: queries meet the keys of their own rank alone. That is another "
        "function than attention over all tokens, so \u201cProve it\u201d refuses it.");
  const LayerStep& step = picture.layer->steps[std::size_t(context.moves[0].step)];
  const QString sent = layer_sent_text(picture, context.moves[0].step, picture.look.rank);
  if (!is_ring(picture))
    return StripWords::tr(
               "%1: %2 sent by each rank; then each computes the rows of its "
               "queries, without waiting.")
        .arg(capitalised(layer_collective_name(step)), sent);
  const QString sums =
      picture.look.choice.backward
          ? StripWords::tr("Gradients of keys and values go round as partial sums.")
          : StripWords::tr("Each rank adds up the partial sums of its own queries.");
  return StripWords::tr(
             "%1 on every link for each further step: keys and values of one rank, which "
             "may run ahead of it. Ranks wait (hatched below) where their blocks take less "
             "time than that.")
             .arg(sent) +
         QLatin1Char(' ') + sums;
}

}  // namespace

QStringList context_strip_lines(const LayerPicture& picture, const LayerLayout& layout,
                                const Theme& theme) {
  const double width = layout.size.width() - 32;
  const QString words = strip_words(picture);
  return broken_lines(stands_beside_head(picture, layout, theme)
                          ? words
                          : capitalised(what_travels(picture)) + QStringLiteral(". ") + words,
                      theme.font(11), width);
}

void paint_context_strip(const LayerBrush& brush) {
  const QRectF& strip = brush.layout.context.strip;
  const bool ring = is_ring(brush.picture);
  put_context_head(brush, QRectF(strip.left(), strip.top(), strip.width(), 18),
                   strip_head(brush.picture, brush.layout),
                   stands_beside_head(brush.picture, brush.layout, brush.theme)
                       ? what_travels(brush.picture)
                       : QString());
  const int cards = int(brush.layout.ranks.size());
  const double inset = ring ? 22 : 0;
  const double wide =
      std::min(kMostCard, (strip.width() - 2 * inset - (cards - 1) * kCardGap) / cards);
  const double top = strip.top() + 21, middle = top + kCardHeight / 2;
  std::vector<QRectF> places;
  for (int at = 0; at < cards; ++at)
    places.emplace_back(strip.left() + inset + at * (wide + kCardGap), top, wide, kCardHeight);
  for (int at = 0; at < cards; ++at) {
    const int index = brush.layout.ranks[std::size_t(at)];
    if (ring && brush.layout.alike == 0) {
      QPolygonF way;
      if (at + 1 < cards) {
        way << QPointF(places[std::size_t(at)].right() + 1, middle)
            << QPointF(places[std::size_t(at) + 1].left() - 1, middle);
      } else {
        const double right = places.back().right(), low = top + kCardHeight + 12;
        const double left = places.front().left();
        way << QPointF(right + 1, middle) << QPointF(right + 12, middle) << QPointF(right + 12, low)
            << QPointF(left - 12, low) << QPointF(left - 12, middle) << QPointF(left - 1, middle);
      }
      paint_link(brush, way);
      paint_travelling(brush, way, index);
    }
    paint_card(brush, places[std::size_t(at)], index);
  }
  if (brush.layout.alike > 0)
    put_text(brush.painter,
             QRectF(places.back().right() + 12, top, strip.right() - places.back().right() - 12,
                    kCardHeight),
             Qt::AlignVCenter, StripWords::tr("%n more, alike", nullptr, brush.layout.alike),
             brush.theme.font(11), brush.theme.muted, brush.texts);
  double y = top + kCardHeight + (ring ? 23 : 5);
  for (const QString& line : context_strip_lines(brush.picture, brush.layout, brush.theme)) {
    put_text(brush.painter, QRectF(strip.left(), y, strip.width(), 16), Qt::AlignVCenter, line,
             brush.theme.font(11),
             mixed(brush.theme.solid(OpColor::kCommunication), brush.theme.text, 0.35),
             brush.texts);
    y += kStripLine;
  }
}

}  // namespace parallelarium

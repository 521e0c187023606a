// SPDX-License-Identifier: GPL-3.0-or-later
// Ulysses: the all-to-all turns parts of the text with all heads into all of the text with own
// heads, and back. A matrix is tokens by heads; its blocks are named by part of the text and head.
#include <QCoreApplication>
#include <QPainterPath>
#include <QPolygonF>
#include <algorithm>

#include "app/look/figures.h"
#include "app/views/layer/context/context_picture.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

struct HeadsWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

constexpr double kHeadsMargin = 16, kKeysLine = 50;

const LayerContext& of_heads(const LayerBrush& brush) { return brush.picture.layer->context; }

QString heads_text(const std::vector<ChunkRange>& heads) {
  if (heads.empty()) return {};
  const auto first = heads.front().begin, last = heads.back().end - 1;
  return first == last ? HeadsWords::tr("head %1").arg(first)
                       : HeadsWords::tr("heads %1–%2").arg(first).arg(last);
}

// "gets K/V head 0", or "K/V head 0 · copy" where it is repeated because ranks are more than heads;
// then shorter ones.
QStringList keys_texts(const LayerContext& context, int cp) {
  QStringList texts = key_heads_texts(context.key_heads[std::size_t(cp)], context.repeats_keys());
  if (!texts.isEmpty() && !context.repeats_keys())
    texts.prepend(HeadsWords::tr("gets %1", "K/V head 0").arg(texts.front()));
  return texts;
}

// "c0": part c of the text, head 0; with several heads for each rank, the first of them.
QString block_name(const LayerContext& context, int run, int cp) {
  const auto& heads = context.heads[std::size_t(cp)];
  const QString letter =
      run < 26 ? QString(QChar(char16_t('a' + run))) : QString::number(run) + '.';
  return letter + (heads.empty() ? QString() : QString::number(heads.front().begin));
}

// One block: part `run` of the tokens, heads of rank `cp`.
QRectF place_of_block(const LayerBrush& brush, const QRectF& box, int run, int cp) {
  const double runs = double(of_heads(brush).runs.size());
  const double wide = box.width() / runs, high = box.height() / runs;
  return {box.left() + cp * wide, box.top() + run * high, wide, high};
}

// A rank's blocks in the whole of all tokens and heads: a row or a column.
void paint_matrix(const LayerBrush& brush, const QRectF& box, int index, bool own_tokens,
                  bool there) {
  const LayerContext& context = of_heads(brush);
  const Theme& theme = brush.theme;
  const LayerRank& rank = brush.picture.layer->ranks[std::size_t(index)];
  const QColor fill = theme.memory(Category::kActivations);
  QPainter& painter = brush.painter;
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(theme.muted, 1, Qt::DotLine));
  painter.drawRect(box);
  const int runs = int(context.runs.size());
  QRectF whole;
  for (int at = 0; at < runs; ++at) {
    const int run = own_tokens ? rank.at.cp : at, cp = own_tokens ? at : rank.at.cp;
    const QRectF block = place_of_block(brush, box, run, cp);
    whole = whole.united(block);
    painter.setPen(QPen(mixed(fill, theme.ink_on(fill), 0.5), 1));
    painter.setBrush(there ? QBrush(fill) : QBrush(Qt::NoBrush));
    painter.drawRect(block);
    const QFont font = theme.font(10);
    const QString name = block_name(context, run, cp);
    if (block.height() >= 12 && label_width(font, name) + 2 <= block.width())
      put_label(painter, block, name, font, there ? theme.ink_on(fill) : theme.text, brush.texts);
  }
  QPen edge = theme.rank_line(layer_color_number(brush.picture, index));
  edge.setWidthF(2);
  painter.setPen(edge);
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(whole);
}

void paint_scores(const LayerBrush& brush, const QRectF& box, int index, double done) {
  const Theme& theme = brush.theme;
  const LayerRank& rank = brush.picture.layer->ranks[std::size_t(index)];
  const int number = layer_color_number(brush.picture, index);
  const QColor color = theme.rank(number);
  const auto triangle = [&](double share) {
    return QPolygonF({box.topLeft(),
                      box.topLeft() + QPointF(box.width() * share, box.height() * share),
                      box.topLeft() + QPointF(0, box.height() * share)});
  };
  brush.painter.setPen(Qt::NoPen);
  brush.painter.setBrush(color);
  if (done > 0) brush.painter.drawPolygon(triangle(done));
  const bool now = done > 0 && done < 1;
  brush.painter.setPen(now ? QPen(theme.mark, 2) : theme.rank_line(number));
  brush.painter.setBrush(Qt::NoBrush);
  brush.painter.drawPolygon(triangle(1));
  put_elided(brush.painter,
             QRectF(box.left() + box.width() * 0.42, box.top(), box.width() * 0.58, 15),
             Qt::AlignRight, heads_text(of_heads(brush).heads[std::size_t(rank.at.cp)]),
             theme.font(10), theme.text, brush.texts);
}

// Everyone sends to everyone; a rank's own block stays.
void paint_exchange(const LayerBrush& brush, std::size_t column, double done) {
  const ContextPlaces& places = brush.layout.context;
  const double from = places.lefts[column] + places.box + 6, to = places.lefts[column + 1] - 6;
  const double bend = (to - from) * 0.45;
  const bool now = done > 0 && done < 1;
  const QColor color = brush.theme.solid(OpColor::kCommunication);
  QPainterPath kept, sent;
  QList<QRectF> blocks;  // on their way
  for (std::size_t sender = 0; sender < places.rows.size(); ++sender)
    for (std::size_t receiver = 0; receiver < places.rows.size(); ++receiver) {
      const QPointF a(from, places.rows[sender] + places.height / 2);
      const QPointF b(to, places.rows[receiver] + places.height / 2);
      QPainterPath way(a);
      way.cubicTo(a + QPointF(bend, 0), b - QPointF(bend, 0), b);
      (sender == receiver ? kept : sent).addPath(way);
      if (sender == receiver || !now) continue;
      const QPointF at = way.pointAtPercent(done);
      blocks << QRectF(at.x() - 3, at.y() - 3, 6, 6);
    }
  QPainter& painter = brush.painter;
  painter.setBrush(Qt::NoBrush);
  const auto draw = [&](const QPainterPath& ways, QColor line, float seen, double width,
                        Qt::PenStyle style) {
    if (!now) line.setAlphaF(seen);
    painter.setPen(QPen(line, width, style));
    painter.drawPath(ways);
  };
  draw(kept, brush.theme.muted, 0.7F, 1, Qt::DashLine);
  draw(sent, color, done >= 1 ? 0.75F : 0.35F, now ? 2 : 1, Qt::SolidLine);
  painter.setPen(Qt::NoPen);
  painter.setBrush(color);
  painter.drawRects(blocks);
}

void paint_columns(const LayerBrush& brush) {
  const ContextPlaces& places = brush.layout.context;
  const bool backward = brush.picture.look.choice.backward;
  const QString titles[5][2] = {
      {backward ? HeadsWords::tr("gradient of the result:")
                : HeadsWords::tr("Q, K, V: own tokens,"),
       backward ? HeadsWords::tr("own tokens, all heads") : HeadsWords::tr("all heads")},
      {HeadsWords::tr("all tokens,"), HeadsWords::tr("own heads")},
      {HeadsWords::tr("attention"), HeadsWords::tr("of own heads")},
      {backward ? HeadsWords::tr("gradients of Q, K, V:") : HeadsWords::tr("its result:"),
       HeadsWords::tr("all tokens, own heads")},
      {HeadsWords::tr("own tokens,"), HeadsWords::tr("all heads")}};
  for (std::size_t at = 0; at < places.lefts.size(); ++at)
    for (int line = 0; line < 2; ++line)
      put_elided(brush.painter,
                 QRectF(places.lefts[at] - 2, brush.layout.top + 15 * line,
                        at + 1 < places.lefts.size() ? places.lefts[at + 1] - places.lefts[at] - 6
                                                     : places.box + 6,
                        15),
                 Qt::AlignVCenter, titles[at][line], brush.theme.font(11), brush.theme.text,
                 brush.texts);
}

void paint_heads_row(const LayerBrush& brush, std::size_t row, double before, double in,
                     double scores, double out) {
  const ContextPlaces& places = brush.layout.context;
  const int index = brush.layout.ranks[row];
  const LayerRank& rank = brush.picture.layer->ranks[std::size_t(index)];
  const double top = places.rows[row];
  paint_layer_chip(brush.painter, brush.picture, QPointF(kHeadsMargin, top + 2), 16, index,
                   brush.theme, brush.texts);
  put_elided(brush.painter, QRectF(kHeadsMargin + 20, top, 70, 18), Qt::AlignVCenter,
             HeadsWords::tr("Rank %1").arg(rank.rank), brush.theme.font(12, true), brush.theme.text,
             brush.texts);
  put_elided(brush.painter, QRectF(kHeadsMargin, top + 20, 88, 15), Qt::AlignVCenter,
             context_tokens_text(of_heads(brush), rank.at.cp), brush.theme.font(10),
             brush.theme.muted, brush.texts);
  if (places.height >= kKeysLine)
    put_elided(brush.painter, QRectF(kHeadsMargin, top + 35, 92, 15), Qt::AlignVCenter,
               longest_that_fits(keys_texts(of_heads(brush), rank.at.cp), brush.theme.font(10), 92),
               brush.theme.font(10), brush.theme.muted, brush.texts);
  const auto box = [&](int column) {
    return QRectF(places.lefts[std::size_t(column)], top, places.box, places.height);
  };
  paint_matrix(brush, box(0), index, true, before >= 1);
  paint_matrix(brush, box(1), index, false, in >= 1);
  paint_scores(brush, box(2), index, scores);
  paint_matrix(brush, box(3), index, false, scores >= 1);
  paint_matrix(brush, box(4), index, true, out >= 1);
  const double middle = top + places.height / 2;
  brush.painter.setPen(QPen(brush.theme.muted, 1));
  for (const int column : {1, 2}) {
    const double from = box(column).right() + 4, to = box(column + 1).left() - 4;
    brush.painter.drawLine(QPointF(from, middle), QPointF(to, middle));
    QPainterPath head(QPointF(to, middle));
    head.lineTo(to - 5, middle - 3);
    head.lineTo(to - 5, middle + 3);
    head.closeSubpath();
    brush.painter.fillPath(head, brush.theme.muted);
  }
}

void paint_exchange_words(const LayerBrush& brush, std::size_t column, const ContextMove& move,
                          const QString& what) {
  const ContextPlaces& places = brush.layout.context;
  const double left = places.lefts[column] + places.box / 2;
  const QRectF line(left, places.words, places.lefts[column + 1] + places.box / 2 - left, 15);
  const QColor color = mixed(brush.theme.solid(OpColor::kCommunication), brush.theme.text, 0.35);
  put_elided(brush.painter, line, Qt::AlignCenter, what, brush.theme.font(11, true), color,
             brush.texts);
  put_elided(brush.painter, line.translated(0, 15), Qt::AlignCenter,
             HeadsWords::tr("%1 sent by each rank")
                 .arg(layer_sent_text(brush.picture, move.step, brush.picture.look.rank)),
             brush.theme.font(11), color, brush.texts);
}

// Ranks are more than heads of keys and values.
void paint_repeated_keys(const LayerBrush& brush) {
  if (!of_heads(brush).repeats_keys()) return;
  const ContextPlaces& places = brush.layout.context;
  const double left = places.lefts[1] + places.box / 2 + 8;
  const QRectF line(left, places.words, places.lefts[3] + places.box / 2 - 8 - left, 15);
  const QString lines[] = {HeadsWords::tr("fewer K/V heads than ranks:"),
                           brush.picture.look.choice.backward
                               ? HeadsWords::tr("gradients of copies are added up")
                               : HeadsWords::tr("neighbours get copies of one")};
  for (int at = 0; at < 2; ++at)
    put_elided(brush.painter, line.translated(0, 15 * at), Qt::AlignCenter, lines[at],
               brush.theme.font(11), brush.theme.text, brush.texts);
}

}  // namespace

QStringList key_heads_texts(const std::vector<ChunkRange>& heads, bool copy) {
  if (heads.empty()) return {};
  const auto first = heads.front().begin, last = heads.back().end - 1;
  QStringList texts{first == last ? HeadsWords::tr("K/V head %1").arg(first)
                                  : HeadsWords::tr("K/V heads %1 to %2").arg(first).arg(last)};
  if (copy) texts.prepend(texts.front() + QStringLiteral(" \u00b7 ") + HeadsWords::tr("copy"));
  return texts;
}

void paint_turn_of_heads(const LayerBrush& brush) {
  const LayerContext& context = of_heads(brush);
  const int attention = context.rounds.front().step;
  const ContextMove *in = nullptr, *out = nullptr;
  for (const ContextMove& move : context.moves) (move.step < attention ? in : out) = &move;
  const auto share = [&](int step, int index) {
    return layer_share_done(brush.picture, step, index);
  };
  paint_columns(brush);
  paint_repeated_keys(brush);
  const int first = brush.layout.ranks.front();
  if (in) paint_exchange(brush, 0, share(in->step, first));
  if (out) paint_exchange(brush, 3, share(out->step, first));
  for (std::size_t row = 0; row < brush.layout.ranks.size(); ++row) {
    const int index = brush.layout.ranks[row];
    paint_heads_row(brush, row, context.first_step > 0 ? share(context.first_step - 1, index) : 1,
                    in ? share(in->step, index) : 1, share(attention, index),
                    out ? share(out->step, index) : 1);
    if (row == 0 && brush.layout.alike > 0)
      put_text(brush.painter, QRectF(kHeadsMargin, brush.layout.context.rows[1] - 20, 400, 16),
               Qt::AlignVCenter, HeadsWords::tr("%n more, alike", nullptr, brush.layout.alike),
               brush.theme.font(11), brush.theme.muted, brush.texts);
  }
  const bool backward = brush.picture.look.choice.backward;
  if (in)
    paint_exchange_words(brush, 0, *in,
                         backward ? HeadsWords::tr("all-to-all of the gradient")
                                  : HeadsWords::tr("all-to-all of Q, K, V"));
  if (out)
    paint_exchange_words(brush, 3, *out,
                         backward ? HeadsWords::tr("all-to-all of the gradients")
                                  : HeadsWords::tr("all-to-all of the result"));
}

}  // namespace parallelarium

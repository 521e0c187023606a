// SPDX-License-Identifier: GPL-3.0-or-later
// Context parallelism by tokens: the causal square of scores, and blocks by step.
#include <QCoreApplication>
#include <QPolygonF>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/layer/context/context_picture.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/quantities/quantities.h"

namespace parallelarium {
namespace {

struct BlockWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

constexpr double kChip = 15, kLeastLabelCell = 13;

const LayerContext& context_of(const LayerBrush& brush) { return brush.picture.layer->context; }

const LayerRank& shown_rank(const LayerBrush& brush, int index) {
  return brush.picture.layer->ranks[std::size_t(index)];
}

QPolygonF shape_of(const QRectF& cell, bool diagonal, double share) {
  if (!diagonal) {
    const QRectF part(cell.left(), cell.top(), cell.width(), cell.height() * share);
    return QPolygonF({part.topLeft(), part.topRight(), part.bottomRight(), part.bottomLeft()});
  }
  return QPolygonF({cell.topLeft(), cell.topLeft() + QPointF(cell.width(), cell.height()) * share,
                    cell.topLeft() + QPointF(0, cell.height() * share)});
}

void paint_block(const LayerBrush& brush, const ScoreBlock& block, const LayerTarget& target) {
  const Theme& theme = brush.theme;
  QPainter& painter = brush.painter;
  const int number = layer_color_number(brush.picture, target.rank);
  const double done = layer_share_done(brush.picture, target.step, target.rank);
  const QRectF cell = target.place.adjusted(0.5, 0.5, -0.5, -0.5);
  const bool diagonal = block.queries == block.keys;
  const QColor color = theme.rank(number);
  const bool now = done > 0 && done < 1;
  // Paler while it is under way, so that its number can be read over both parts.
  const QColor fill = now ? mixed(color, theme.surface, 0.55) : color;
  painter.setPen(Qt::NoPen);
  if (done > 0) {
    painter.setBrush(fill);
    painter.drawPolygon(shape_of(cell, diagonal, done));
  }
  const double size = brush.layout.context.cell;
  if (size >= 8) {
    QPen edge = now ? QPen(theme.mark, 2) : theme.rank_line(number);
    edge.setJoinStyle(Qt::MiterJoin);
    painter.setPen(edge);
    painter.setBrush(Qt::NoBrush);
    painter.drawPolygon(shape_of(cell, diagonal, 1));
  }
  const bool selected = brush.picture.look.step == target.step &&
                        shown_rank(brush, brush.picture.look.rank).at.cp == block.cp;
  if (selected && size >= 8) {
    painter.setPen(QPen(theme.text, 1.5, Qt::DotLine));
    painter.drawPolygon(shape_of(cell.adjusted(3, 3, -3, -3), diagonal, 1));
  }
  if (size < kLeastLabelCell || context_of(brush).rounds.size() < 2) return;
  const QRectF words = diagonal ? QRectF(cell.left() + 1, cell.center().y() - 2,
                                         cell.width() * 0.55, cell.height() / 2)
                                : cell;
  const QString text = brush.picture.hides_blocks ? kHidden : QString::number(block.round + 1);
  put_label(painter, words, text, theme.font(size > 22 ? 11 : 9),
            done >= 1 ? theme.ink_on(color) : theme.text, brush.texts);
}

void paint_run_marks(const LayerBrush& brush, const QPointF& top_left, int rank, double cell) {
  if (cell >= kNumberedCell)
    return paint_layer_chip(brush.painter, brush.picture, top_left, kChip, rank, brush.theme,
                            brush.texts);
  brush.painter.fillRect(QRectF(top_left, QSizeF(std::max(1.0, std::min(kChip, cell - 1)),
                                                 std::max(1.0, std::min(kChip, cell - 1)))),
                         brush.theme.rank(layer_color_number(brush.picture, rank)));
}

void paint_grid(const LayerBrush& brush) {
  const LayerContext& context = context_of(brush);
  const ContextPlaces& places = brush.layout.context;
  const Theme& theme = brush.theme;
  const QRectF& grid = places.grid;
  QPainter& painter = brush.painter;
  const double cell = places.cell;
  const int runs = int(context.runs.size());
  painter.setPen(QPen(theme.grid, 1));
  painter.setBrush(Qt::NoBrush);
  painter.drawRect(grid);
  if (cell >= 8)
    for (int run = 0; run < runs; ++run) {
      const double x = grid.left() + run * cell, y = grid.top() + run * cell;
      painter.drawLine(QPointF(x, grid.top()), QPointF(x, y));
      painter.drawLine(QPointF(x, y), QPointF(grid.right(), y));
    }
  put_context_head(brush,
                   QRectF(places.strip.left(), places.strip.bottom() + 4,
                          places.table.left() - places.strip.left() - 12, 18),
                   BlockWords::tr("WHO COMPUTES WHICH SCORES"));
  put_text(painter, QRectF(places.strip.left(), grid.top() - kChip - 5, grid.left() - 22, 17),
           Qt::AlignVCenter, BlockWords::tr("K, V →"), theme.font(11), theme.muted, brush.texts);
  const double inset = cell >= kNumberedCell ? (cell - kChip) / 2 : 0;
  for (int run = 0; run < runs; ++run) {
    const int rank = context_rank(brush.picture, context.runs[std::size_t(run)].cp);
    paint_run_marks(brush, QPointF(grid.left() + run * cell + inset, grid.top() - kChip - 4), rank,
                    cell);
    paint_run_marks(brush, QPointF(grid.left() - kChip - 5, grid.top() + run * cell + inset), rank,
                    cell);
  }
  painter.save();
  painter.translate(grid.left() - 26, grid.center().y());
  painter.rotate(-90);
  put_elided(painter, QRectF(-grid.height() / 2, -15, grid.height(), 15), Qt::AlignCenter,
             BlockWords::tr("queries of rank"), theme.font(11), theme.muted, brush.texts);
  painter.restore();
  for (std::size_t at = 0; at < context.blocks.size(); ++at)
    paint_block(brush, context.blocks[at], brush.layout.targets[at]);
  const double side = std::min(grid.width() * 0.42, 110.0);
  const QRectF future(grid.right() - side - 4, grid.top() + grid.height() * 0.16, side, 30);
  painter.fillRect(future, theme.surface);
  put_elided(painter, QRectF(future.topLeft(), QSizeF(side, 15)), Qt::AlignCenter,
             BlockWords::tr("the future:"), theme.font(11), theme.muted, brush.texts);
  put_elided(painter, QRectF(future.left(), future.top() + 15, side, 15), Qt::AlignCenter,
             BlockWords::tr("no work"), theme.font(11), theme.muted, brush.texts);
}

// Rank by step: how many blocks, and how long a ring waits for its fullest rank.
class BlockTable {
 public:
  explicit BlockTable(const LayerBrush& brush)
      : brush_(brush),
        context_(context_of(brush)),
        place_(brush.layout.context.table),
        row_(brush.layout.context.table_row) {
    const double room = place_.width() - kNames - kTogether;
    const int rounds = int(context_.rounds.size());
    shown_ = rounds > 1 ? std::min(rounds, int(room / 34)) : 0;
    if (shown_ < rounds) shown_ = 0;
    step_ = shown_ > 0 ? std::min(64.0, room / shown_) : 0;
    right_ = place_.left() + (shown_ > 0 ? kNames + shown_ * step_ : kNamesAlone) + kTogether;
  }

  void paint() {
    const Theme& theme = brush_.theme;
    const ChunkRange& run = context_.runs.front().tokens;
    put_context_head(
        brush_, QRectF(place_.left(), place_.top() - 2, place_.width(), 18),
        shown_ > 0 ? BlockWords::tr("BLOCKS BY STEP") : BlockWords::tr("BLOCKS"),
        BlockWords::tr("one block: %1 queries × %1 keys").arg(count_text(run.end - run.begin)));
    y_ = place_.top() + 20;
    for (int round = 0; round < shown_; ++round)
      put(column(round), BlockWords::tr("step %1").arg(round + 1), false,
          round == context_round_now(brush_.picture, brush_.layout.ranks.front()) ? theme.mark
                                                                                  : theme.muted);
    put(last(), BlockWords::tr("together"), false, theme.muted);
    y_ += row_ - 4;
    for (const int index : brush_.layout.ranks) row_of(index);
    y_ += 4;
    row(
        BlockWords::tr("fullest rank"), true,
        [&](int round) { return context_.rounds[std::size_t(round)].most; }, context_.waited);
    name(BlockWords::tr("time over even share"), false);
    const QString ratio = brush_.picture.hides_blocks
                              ? kHidden
                              : number_text(context_.over_even()) + QStringLiteral(" ×");
    put(last(), ratio, true, theme.text);
    for (const QString& line : context_ratio_lines(brush_.picture)) {
      y_ += row_ - 4;
      put_elided(brush_.painter, QRectF(place_.left(), y_, place_.width(), row_ - 4),
                 Qt::AlignVCenter, line, theme.font(11), theme.text, brush_.texts);
    }
  }

 private:
  static constexpr double kNames = 132, kNamesAlone = 172, kTogether = 74;
  QRectF column(int round) const {
    return {place_.left() + kNames + round * step_, y_, step_, row_ - 4};
  }
  QRectF last() const { return {right_ - kTogether, y_, kTogether, row_ - 4}; }
  void put(const QRectF& at, const QString& text, bool bold, const QColor& color) {
    put_elided(brush_.painter, at, Qt::AlignVCenter | Qt::AlignRight, text,
               brush_.theme.font(11, bold), color, brush_.texts);
  }
  void name(const QString& text, bool bold, double indent = 0) {
    const double wide = indent == 0 && !bold ? right_ - kTogether - place_.left() : kNames - 4;
    put_elided(brush_.painter, QRectF(place_.left() + indent, y_, wide - indent, row_ - 4),
               Qt::AlignVCenter, text, brush_.theme.font(11, bold), brush_.theme.text,
               brush_.texts);
  }
  template <class Blocks>
  void row(const QString& title, bool bold, const Blocks& blocks, double together,
           double indent = 0) {
    name(title, bold, indent);
    for (int round = 0; round < shown_; ++round)
      put(column(round), context_blocks_text(brush_.picture, blocks(round)), bold,
          brush_.theme.text);
    put(last(), context_blocks_text(brush_.picture, together), true, brush_.theme.text);
    y_ += row_;
  }
  void row_of(int index) {
    const LayerRank& rank = brush_.picture.layer->ranks[std::size_t(index)];
    paint_layer_chip(brush_.painter, brush_.picture,
                     QPointF(place_.left(), y_ + std::floor((row_ - 4 - kChip) / 2)), kChip, index,
                     brush_.theme, brush_.texts);
    row(
        BlockWords::tr("Rank %1").arg(rank.rank), true,
        [&](int round) {
          return context_.rounds[std::size_t(round)].blocks[std::size_t(rank.at.cp)];
        },
        context_.blocks_of[std::size_t(rank.at.cp)], 21);
    brush_.painter.fillRect(QRectF(place_.left(), y_ - 3, right_ - place_.left(), 1),
                            brush_.theme.hairline);
  }

  const LayerBrush& brush_;
  const LayerContext& context_;
  const QRectF place_;
  const double row_;
  int shown_ = 0;
  double step_ = 0, right_ = 0, y_ = 0;
};

}  // namespace

void paint_blocks_of_scores(const LayerBrush& brush) {
  paint_context_strip(brush);
  paint_grid(brush);
  BlockTable(brush).paint();
}

}  // namespace parallelarium

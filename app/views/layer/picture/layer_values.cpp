// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/layer/picture/layer_values.h"

#include <QCoreApplication>
#include <QLocale>
#include <algorithm>
#include <utility>

#include "app/views/layer/context/context_picture.h"
#include "app/views/layer/layer_inside.h"
#include "app/views/layer/picture/experts/layer_experts.h"
#include "app/views/layer/picture/layer_marks.h"

namespace parallelarium {
namespace {

struct ValueWords {
  Q_DECLARE_TR_FUNCTIONS(layer)
};

// A later step of a ring of CP adds to it: a probe tells what the last one leaves.
bool goes_on(const LayerSteps& layer, int step, const LayerTensor& tensor) {
  const int round = round_of_ring(layer, step);
  return tensor.written && round >= 0 && round + 1 < int(layer.context.rounds.size());
}

const LayerRankStep& part_with(const LayerPicture& picture, int step, int rank) {
  return picture.layer->steps[std::size_t(step)].ranks[std::size_t(rank)];
}

// Where cells stand: all of the rank's are an image, of which `from` (in cells) is drawn at `on`.
struct CellPlace {
  QRectF on, from;
};

std::vector<CellPlace> cell_places(const LayerStep& step, const LayerTensor& of,
                                   const QSizeF& cells, const QRectF& place) {
  if (of.all_experts > 0) {
    std::vector<CellPlace> places;
    for (const auto& [on, from] : expert_cells(of, place, cells)) places.push_back({on, from});
    return places;
  }
  // The numbers are of all tokens of a ring, a block has some of the rows; a step's sums are of it.
  const bool one_of_all = of.block >= 0 && step.piece != Piece::kCombine;
  const std::int64_t blocks = one_of_all ? step.blocks : 1;
  const double high = cells.height() / double(of.held_rows * blocks);
  const double wide = cells.width() / double(of.held_columns);
  const std::vector<QRectF> parts = parts_of(of, place);
  std::int64_t row = one_of_all ? of.block * of.held_rows : 0;
  std::vector<CellPlace> places;
  for (const ChunkRange& rows : of.row_ranges) {
    std::int64_t column = 0;
    for (const ChunkRange& columns : of.column_ranges) {
      if (places.size() >= parts.size()) return places;
      const QRectF& own = parts[places.size()];
      const double inset = std::min(2.0, std::min(own.width(), own.height()) / 6);
      places.push_back({own.adjusted(inset, inset, -inset, -inset),
                        QRectF(double(column) * wide, double(row) * high,
                               double(columns.end - columns.begin) * wide,
                               double(rows.end - rows.begin) * high)});
      column += columns.end - columns.begin;
    }
    row += rows.end - rows.begin;
  }
  return places;
}

QString digits(double value) { return QLocale().toString(value, 'g', 4); }

}  // namespace

const InsideTensor* layer_values(const LayerPicture& picture, int step, int tensor, int rank) {
  const LayerInside* inside = picture.look.inside.get();
  const LayerSteps& layer = *picture.layer;
  const LayerStep& of_step = layer.steps[std::size_t(step)];
  const LayerRankStep& part = of_step.ranks[std::size_t(rank)];
  if (!inside || of_step.kind != LayerStepKind::kCompute || part.first_op < 0 ||
      tensor >= int(part.tensors.size()))
    return nullptr;
  const LayerTensor& of = part.tensors[std::size_t(tensor)];
  if (goes_on(layer, step, of)) return nullptr;
  return inside->find(of_step, of, layer.ranks[std::size_t(rank)].rank);
}

void paint_layer_values(const LayerBrush& brush, int step, int tensor, const QRectF& place,
                        int rank) {
  const InsideTensor* values = layer_values(brush.picture, step, tensor, rank);
  if (!values || values->rows == 0) return;
  const LayerTensor& of = part_with(brush.picture, step, rank).tensors[std::size_t(tensor)];
  const QImage image = image_of(*values, brush.picture.look.inside->most_of(*values), brush.theme);
  const LayerStep& of_step = brush.picture.layer->steps[std::size_t(step)];
  for (const CellPlace& cells : cell_places(of_step, of, image.size(), place))
    brush.painter.drawImage(cells.on, image, cells.from);
}

QString layer_cell_text(const LayerPicture& picture, const LayerLayout& layout, QPointF point) {
  const LayerTensorHit hit = layer_tensor_hit(layout, point);
  if (hit.step < 0) return {};
  const InsideTensor* values = layer_values(picture, hit.step, hit.tensor, hit.rank);
  if (!values || values->rows == 0) return {};
  const LayerTensor& of = part_with(picture, hit.step, hit.rank).tensors[std::size_t(hit.tensor)];
  const LayerStep& step = picture.layer->steps[std::size_t(hit.step)];
  for (const CellPlace& cells :
       cell_places(step, of, QSizeF(values->columns, values->rows), hit.place)) {
    if (!cells.on.contains(point)) continue;
    const double x =
        cells.from.left() + cells.from.width() * (point.x() - cells.on.left()) / cells.on.width();
    const double y =
        cells.from.top() + cells.from.height() * (point.y() - cells.on.top()) / cells.on.height();
    const int column = std::clamp(int(x), 0, values->columns - 1);
    const int row = std::clamp(int(y), 0, values->rows - 1);
    return ValueWords::tr("%1 here: %2, the mean of a cell")
        .arg(QString::fromStdString(of.name),
             digits(values->means[std::size_t(row * values->columns + column)]));
  }
  return {};
}

std::vector<FactLine> value_facts(const LayerPicture& picture, int step, int rank) {
  const LayerStep& of = picture.layer->steps[std::size_t(step)];
  if (of.kind != LayerStepKind::kCompute || !of.probed) return {};
  if (!picture.look.inside)
    return {{ValueWords::tr("numbers"),
             picture.can_look_inside
                 ? ValueWords::tr("not seen yet: Run copies none. Double-click, or press Look "
                                  "inside: one training step runs and brings those of every piece")
                 : ValueWords::tr("need a run on this computer")}};
  std::vector<FactLine> facts;
  const LayerRankStep& part = part_with(picture, step, rank);
  for (int tensor = 0; tensor < int(part.tensors.size()); ++tensor) {
    const InsideTensor* values = layer_values(picture, step, tensor, rank);
    if (!values) continue;
    const QString name = QString::fromStdString(values->name);
    QString text = ValueWords::tr("norm %1, mean %2, from %3 to %4")
                       .arg(digits(values->norm), digits(values->mean), digits(values->min),
                            digits(values->max));
    if (of.blocks > 1 && part.tensors[std::size_t(tensor)].block >= 0 &&
        of.piece != Piece::kCombine)
      text = ValueWords::tr("%1, of all blocks", "norm 3, mean 0.1, from -2 to 2").arg(text);
    facts.push_back({values->written ? ValueWords::tr("%1 out", "tensor u").arg(name)
                                     : ValueWords::tr("%1 in", "tensor x").arg(name),
                     text});
  }
  return facts;
}

}  // namespace parallelarium

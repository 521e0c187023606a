// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/mesh/picture/mesh_layout.h"

#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

namespace parallelarium {
namespace {

constexpr double kHead = 22, kLeft = 30, kMostGapX = 26, kLeastGapX = 12, kPad = 5;
constexpr double kMostGapY = 18, kLeastGapY = 8;
constexpr double kMostCell = 280, kMostHeight = 260, kLeastHeight = 16;
constexpr double kCardGap = 10, kMostCard = 240;
constexpr double kNodeHead = 20, kNodePad = 6, kNodeGap = 16, kNodeBand = 22, kLeastBox = 92;
constexpr int kMostNodes = 64;  // that are shown one by one

double number_width(const Mesh& mesh, const Theme& theme) {
  return QFontMetricsF(theme.font(11, true)).horizontalAdvance(QString::number(mesh.ranks() - 1));
}

// Boxes of `devices` cells each, `columns` of them in a row.
struct NodeGrid {
  int columns = 1, across = 1;
  double cell_width = 0, cell_height = 0;
  QSizeF box;
  // The larger and the less flat or tall a cell is, the better.
  double value() const {
    return std::sqrt(std::max(0.0, std::min(cell_width, 3 * cell_height)) *
                     std::max(0.0, std::min(cell_height, 1.2 * cell_width)));
  }
};

NodeGrid node_grid(int boxes, int columns, int across, int devices, bool several,
                   const QSizeF& size) {
  NodeGrid grid;
  grid.columns = columns;
  grid.across = across;
  const int rows = (boxes + columns - 1) / columns, down = (devices + across - 1) / across;
  const double below = several ? kNodeBand : 0.0;
  const double width = (size.width() + kNodeGap) / columns - kNodeGap - 2 * kNodePad;
  const double height = size.height() / rows - below - kNodeHead - kNodePad;
  grid.cell_width = std::min(kMostCell, std::floor(width / across));
  grid.cell_height = std::min(kMostHeight, std::floor(height / down));
  grid.box = QSizeF(grid.cell_width * across + 2 * kNodePad,
                    grid.cell_height * down + kNodeHead + kNodePad);
  return grid;
}

// The grid with the largest cells; whole TP groups in a row and no holes where that costs little.
NodeGrid best_grid(int boxes, const Mesh& mesh, int devices, bool several, const QSizeF& size) {
  NodeGrid best;
  double most = -1e9;
  for (int columns = 1; columns <= boxes; ++columns)
    for (int across = 1; across <= devices; ++across) {
      if (devices > 64 && across * across < devices / 4) continue;
      const NodeGrid grid = node_grid(boxes, columns, across, devices, several, size);
      const double value = grid.value() * (across % mesh.tp == 0 ? 1.25 : 1.0) *
                           (devices % across == 0 ? 1.2 : 1.0) *
                           (boxes % columns == 0 ? 1.1 : 1.0) *
                           (grid.box.width() < kLeastBox ? 0.01 : 1.0);
      if (value < most) continue;
      most = value;
      best = grid;
    }
  return best;
}

QRectF between(const QRectF& a, const QRectF& b, double share) {
  const auto mix = [&](double from, double to) { return from + (to - from) * share; };
  return QRectF(mix(a.x(), b.x()), mix(a.y(), b.y()), mix(a.width(), b.width()),
                mix(a.height(), b.height()));
}

}  // namespace

QRectF MeshLayout::block_of(int dp, int pp) const {
  const QPointF at = mesh.pp == 1 ? QPointF(dp % columns, dp / columns) : QPointF(pp, dp);
  return QRectF(origin + QPointF(at.x() * pitch.x(), at.y() * pitch.y()), block);
}

QRectF MeshLayout::cell_of(int rank) const {
  if (form == MeshForm::kNodes) {
    const int box = box_of[std::size_t(rank / devices)], slot = rank % devices;
    if (box < 0) return {};
    const QRectF& own = boxes[std::size_t(box)].rect;
    return QRectF(own.left() + kNodePad + (slot % across) * cell_width,
                  own.top() + kNodeHead + (slot / across) * cell_height, cell_width, cell_height);
  }
  const Coordinates at = coordinates_of(mesh, rank);
  if (by_class) return card_of(at.pp);
  const QRectF own = block_of(at.dp, at.pp);
  return QRectF(own.left() + kPad + at.tp * cell_width, own.top() + kPad + at.cp * cell_height,
                cell_width, cell_height);
}

QRectF MeshLayout::card_of(int stage) const {
  return QRectF(origin + QPointF((stage % columns) * pitch.x(), (stage / columns) * pitch.y()),
                block);
}

int MeshLayout::rank_at(QPointF point) const {
  if (form == MeshForm::kNodes) {
    for (const NodeBox& box : boxes) {
      if (!box.rect.contains(point)) continue;
      const int first = box.node * devices, end = std::min(first + devices, mesh.ranks());
      for (int rank = first; rank < end; ++rank)
        if (cell_of(rank).contains(point)) return rank;
      return first;
    }
    return -1;
  }
  if (by_class) {
    for (int stage = 0; stage < mesh.pp; ++stage)
      if (card_of(stage).contains(point)) return rank_of(mesh, {0, 0, stage, 0});
    return -1;
  }
  for (int rank = 0; rank < mesh.ranks(); ++rank)
    if (cell_of(rank).contains(point)) return rank;
  return -1;
}

MeshLayout mesh_layout(const Mesh& mesh, const QRectF& rect, const Theme& theme) {
  MeshLayout layout;
  layout.rect = rect;
  layout.mesh = mesh;
  const double left = mesh.dp > 1 && mesh.pp > 1 ? kLeft : 0;
  const double gap = std::clamp(rect.width() / 22, kLeastGapX, kMostGapX);
  const double number = number_width(mesh, theme);
  // One stage: replicas go on in rows, as many to a row as make the cells largest.
  int across = mesh.pp, down = mesh.dp;
  const auto gap_below = [&](int rows) {
    return std::clamp(rect.height() / (4.0 * rows), kLeastGapY, kMostGapY);
  };
  const auto fit = [&](int columns, int rows) {
    const double wide = (rect.width() - left - (columns - 1) * gap) / columns - 2 * kPad;
    const double high = (rect.height() - kHead - (rows - 1) * gap_below(rows)) / rows - 2 * kPad;
    layout.cell_width = std::min(kMostCell, std::floor(wide / mesh.tp));
    layout.cell_height = std::min(kMostHeight, std::floor(high / mesh.cp));
    return std::min(layout.cell_width, 2 * layout.cell_height);
  };
  if (mesh.pp == 1) {
    double most = -1e9;
    for (int columns = 1; columns <= mesh.dp; ++columns) {
      const int rows = (mesh.dp + columns - 1) / columns;
      const double value = fit(columns, rows) * (mesh.dp % columns == 0 ? 1.2 : 1.0);
      if (value > most) {
        most = value;
        across = columns;
        down = rows;
      }
    }
    layout.columns = across;
  }
  fit(across, down);
  layout.by_class = layout.cell_width < number + 6 || layout.cell_height < kLeastHeight;
  if (!layout.by_class) {
    layout.block =
        QSizeF(layout.cell_width * mesh.tp + 2 * kPad, layout.cell_height * mesh.cp + 2 * kPad);
    layout.origin = rect.topLeft() + QPointF(left, kHead);
    layout.pitch = QPointF(layout.block.width() + gap, layout.block.height() + gap_below(down));
    return layout;
  }
  // As many columns as make the cards widest while all rows still fit.
  for (layout.columns = 1; layout.columns < mesh.pp; ++layout.columns) {
    const int rows = (mesh.pp + layout.columns - 1) / layout.columns;
    const double height = (rect.height() + kCardGap) / rows - kCardGap;
    const double width = (rect.width() + kCardGap) / (layout.columns + 1) - kCardGap;
    if (height >= 96 || width < 118) break;
  }
  const int rows = (mesh.pp + layout.columns - 1) / layout.columns;
  layout.block = QSizeF((rect.width() + kCardGap) / layout.columns - kCardGap,
                        std::min(kMostCard, (rect.height() + kCardGap) / rows - kCardGap));
  layout.origin = rect.topLeft();
  layout.pitch = QPointF(layout.block.width() + kCardGap, layout.block.height() + kCardGap);
  return layout;
}

MeshLayout node_layout(const Mesh& mesh, const MeshWires& wires, int selected, const QRectF& rect,
                       const Theme& theme) {
  MeshLayout layout;
  layout.form = MeshForm::kNodes;
  layout.rect = rect;
  layout.mesh = mesh;
  const Nodes& nodes = wires.nodes;
  const std::vector<NodeKind>& kinds = wires.fold.kinds;
  layout.devices = nodes.devices;
  const int devices = std::min(nodes.devices, nodes.ranks);
  const bool several = nodes.count() > 1;
  const double number = number_width(mesh, theme) + 6;
  const auto readable = [&](const NodeGrid& grid) {
    return grid.cell_width >= number && grid.cell_height >= kLeastHeight;
  };
  NodeGrid grid;
  std::vector<NodeBox> boxes;
  bool one_by_one = nodes.count() <= kMostNodes;
  if (one_by_one) {
    grid = best_grid(nodes.count(), mesh, devices, several, rect.size());
    one_by_one = readable(grid) || int(kinds.size()) == nodes.count();
  }
  if (one_by_one) {
    for (int node = 0; node < nodes.count(); ++node) boxes.push_back({{}, node, 1});
  } else {
    // Kinds of nodes: all of them, or as many as have room for what they hold.
    const int own = wires.fold.kind_of[std::size_t(nodes.node_of(selected))];
    int room = std::min(int(kinds.size()), kMostNodes);
    for (;; room -= std::max(1, room / 8)) {
      grid = best_grid(room, mesh, devices, several, rect.size());
      if (room <= 1 ||
          (grid.cell_width >= 4 && grid.cell_height >= 4 && grid.box.width() >= kLeastBox))
        break;
    }
    for (int kind = 0; kind < room; ++kind) {
      const int shown = kind == room - 1 && own >= room ? own : kind;
      const NodeKind& one = kinds[std::size_t(shown)];
      boxes.push_back({{}, shown == own ? nodes.node_of(selected) : one.first, one.count});
    }
    layout.left_out = int(kinds.size()) - room;
  }
  layout.numbered = readable(grid);
  layout.across = grid.across;
  layout.cell_width = grid.cell_width;
  layout.cell_height = grid.cell_height;
  std::vector<int> box_of_kind(kinds.size(), -1);
  for (int at = 0; at < int(boxes.size()); ++at) {
    NodeBox& box = boxes[std::size_t(at)];
    box.rect =
        QRectF(rect.topLeft() + QPointF((at % grid.columns) * (grid.box.width() + kNodeGap),
                                        (at / grid.columns) * (grid.box.height() + kNodeBand)),
               grid.box);
    if (!one_by_one) box_of_kind[std::size_t(wires.fold.kind_of[std::size_t(box.node)])] = at;
  }
  for (int node = 0; node < nodes.count(); ++node)
    layout.box_of.push_back(
        one_by_one ? node : box_of_kind[std::size_t(wires.fold.kind_of[std::size_t(node)])]);
  layout.boxes = std::move(boxes);
  return layout;
}

QRectF MeshMove::cell_of(const MeshLayout& to, int rank) const {
  const QRectF end = to.cell_of(rank);
  if (!from) return end;
  // Numbers stay on their node when the order changes there, so places move.
  const bool places = from->form == MeshForm::kNodes && to.form == MeshForm::kNodes;
  const int before = places ? rank_of(from->mesh, coordinates_of(to.mesh, rank)) : rank;
  const QRectF begin = from->cell_of(before);
  return begin.isNull() || end.isNull() ? end : between(begin, end, share);
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The borders of nodes around the cells of a grid. Where the axes tear a node apart, its parts say
// which node they are.
#include <QCoreApplication>
#include <algorithm>

#include "app/views/mesh/picture/mesh_brush.h"

namespace parallelarium {
namespace {

struct NodeBorders {
  Q_DECLARE_TR_FUNCTIONS(mesh)
};

constexpr double kAround = 3.5, kNamePixels = 9, kNameHeight = 11;

// The rank's cell, without the air around it.
QRectF inner_cell(const MeshBrush& brush, int rank) {
  return brush.cell_of(rank).adjusted(3, 3, -3, -3);
}

// The next rank on an axis, or -1 where it is on another node.
int next_on_node(const MeshBrush& brush, int node, int rank, int Coordinates::*axis, int size) {
  if (rank < 0) return -1;
  Coordinates at = coordinates_of(brush.layout.mesh, rank);
  if (++(at.*axis) >= size) return -1;
  const int there = rank_of(brush.layout.mesh, at);
  return brush.node_of(there) == node ? there : -1;
}

// Whether one stands beside or below the other: not round a corner, where replicas go on in the
// next row.
bool side_by_side(const QRectF& a, const QRectF& b) {
  return a.left() == b.left() || a.top() == b.top();
}

// Calls join(own, other) for the ranks of the node that are next on an axis and side by side, and
// corner(own, end) for what lies between next ones on two axes.
template <typename Join, typename Corner>
void for_each_neighbour(const MeshBrush& brush, int node, int rank, const Join& join,
                        const Corner& corner) {
  const Mesh& mesh = brush.layout.mesh;
  constexpr int Coordinates::*kAxes[] = {&Coordinates::tp, &Coordinates::cp, &Coordinates::dp,
                                         &Coordinates::pp};
  const int sizes[] = {mesh.tp, mesh.cp, mesh.dp, mesh.pp};
  const auto next = [&](int from, int axis) {
    return next_on_node(brush, node, from, kAxes[axis], sizes[axis]);
  };
  const QRectF own = inner_cell(brush, rank);
  for (int axis = 0; axis < 4; ++axis) {
    const int other = next(rank, axis);
    if (other < 0 || !side_by_side(inner_cell(brush, other), own)) continue;
    join(rank, other);
    for (int across = axis + 1; across < 4; ++across) {
      const int end = next(other, across), beside = next(rank, across);
      if (end < 0 || beside < 0) continue;
      if (!side_by_side(inner_cell(brush, end), own) &&
          side_by_side(inner_cell(brush, beside), own))
        corner(rank, end);
    }
  }
}

// The ranks of a node, by the connected parts in which they stand.
std::vector<std::vector<int>> parts_of_node(const MeshBrush& brush, int node) {
  const Nodes& nodes = brush.picture.wires->nodes;
  const int first = node * nodes.devices, end = std::min(first + nodes.devices, nodes.ranks);
  std::vector<int> part(std::size_t(end - first));
  for (int rank = first; rank < end; ++rank) part[std::size_t(rank - first)] = rank;
  for (int rank = first; rank < end; ++rank)
    for_each_neighbour(
        brush, node, rank,
        [&](int own, int other) {
          const int from = part[std::size_t(other - first)], to = part[std::size_t(own - first)];
          std::replace(part.begin(), part.end(), std::max(from, to), std::min(from, to));
        },
        [](int, int) {});
  std::vector<std::vector<int>> parts;
  for (int rank = first; rank < end; ++rank) {
    const auto known = std::find_if(parts.begin(), parts.end(), [&](const std::vector<int>& one) {
      return part[std::size_t(one.front() - first)] == part[std::size_t(rank - first)];
    });
    if (known == parts.end())
      parts.push_back({rank});
    else
      known->push_back(rank);
  }
  return parts;
}

// The cells of a node and what lies between neighbours of it, grown by `by`.
void fill_node(const MeshBrush& brush, int node, double by, const QColor& color) {
  const Nodes& nodes = brush.picture.wires->nodes;
  const int first = node * nodes.devices, end = std::min(first + nodes.devices, nodes.ranks);
  brush.painter.setPen(Qt::NoPen);
  brush.painter.setBrush(color);
  const auto fill = [&](const QRectF& rect) {
    brush.painter.drawRoundedRect(rect.adjusted(-by, -by, by, by), 5, 5);
  };
  const auto fill_both = [&](int a, int b) {
    fill(inner_cell(brush, a).united(inner_cell(brush, b)));
  };
  for (int rank = first; rank < end; ++rank) {
    fill(inner_cell(brush, rank));
    if (!brush.moving()) for_each_neighbour(brush, node, rank, fill_both, fill_both);
  }
}

}  // namespace

void paint_node_borders(const MeshBrush& brush) {
  const Nodes& nodes = brush.picture.wires->nodes;
  if (nodes.count() == 1) return;
  for (int node = 0; node < nodes.count(); ++node) {
    fill_node(brush, node, kAround - 1, brush.theme.accent_line);
    fill_node(brush, node, kAround - 2, mixed(brush.theme.surface, brush.theme.accent, 0.06));
  }
}

void paint_torn_nodes(const MeshBrush& brush) {
  const Nodes& nodes = brush.picture.wires->nodes;
  if (nodes.count() == 1 || brush.moving()) return;
  const QFont font = brush.theme.font(kNamePixels);
  for (int node = 0; node < nodes.count(); ++node) {
    const std::vector<std::vector<int>> parts = parts_of_node(brush, node);
    if (parts.size() == 1) continue;
    for (const std::vector<int>& part : parts) {
      const QRectF cell = inner_cell(brush, part.front());
      double right = cell.right();  // of the part's first row
      for (const int rank : part)
        if (const QRectF other = inner_cell(brush, rank); other.top() == cell.top())
          right = std::max(right, other.right());
      const double room = right - cell.left() - 8;
      QString name = NodeBorders::tr("Node %1").arg(node);
      if (label_width(font, name) + 4 > room) name = NodeBorders::tr("N%1").arg(node);
      // On the border, as the title of a box.
      const QRectF place(cell.left() + 6, cell.top() - kAround - kNameHeight / 2 - 1,
                         label_width(font, name) + 4, kNameHeight);
      brush.painter.fillRect(place, brush.theme.surface);
      put_label(brush.painter, place, name, font, brush.theme.accent_line, brush.texts);
    }
  }
}

}  // namespace parallelarium

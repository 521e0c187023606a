// SPDX-License-Identifier: GPL-3.0-or-later
// What the painters of the mesh share: picture, layout, and what goes on at the moment.
#pragma once

#include <set>

#include "app/views/mesh/picture/mesh_paint.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {

struct MeshBrush {
  QPainter& painter;
  const MeshPicture& picture;
  const MeshLayout& layout;
  const Theme& theme;
  TextLog* texts;
  Nanoseconds now{0};
  std::set<int> in_collective;  // built ranks that are in one now
  std::vector<MeshMotion::Message> messages;

  bool moving() const { return picture.move.from && picture.move.share < 1; }
  bool lit(int rank) const { return in_collective.count(built_of(rank)) > 0; }
  QRectF cell_of(int rank) const { return picture.move.cell_of(layout, rank); }
  int node_of(int rank) const { return picture.wires->nodes.node_of(rank); }
  bool leaves(int a, int b) const { return node_of(a) != node_of(b); }
  int built_of(int rank) const { return representative_of(*picture.program, layout.mesh, rank); }
  std::int64_t sent(int rank, Axis axis, int stage = -1) const;
  QColor hot(std::int64_t bytes) const;
};

// The cell, and what stands in it: ways go between.
void paint_rank_cell(const MeshBrush& brush, int rank);
void paint_rank_text(const MeshBrush& brush, int rank);
// The borders of nodes around the cells of a grid.
void paint_node_borders(const MeshBrush& brush);
// Over the cells: which node it is, at each part of one that stands in several places.
void paint_torn_nodes(const MeshBrush& brush);
void paint_node_boxes(const MeshBrush& brush);
// The ways of the chosen group of the selected rank.
void paint_ways(const MeshBrush& brush);

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// Where ranks lie in the picture: on the axes of the mesh (a block of TP x CP for each replica and
// stage), as a card for each stage where there is no room for numbers, or on the nodes of the
// Machine, of which equal ones are folded where there are many.
#pragma once

#include "app/look/theme/theme.h"
#include "app/views/mesh/picture/mesh_wires.h"

namespace parallelarium {

// What is arranged.
enum class MeshForm { kAxes, kNodes };

struct NodeBox {
  QRectF rect;
  int node = 0;   // that is shown
  int alike = 1;  // nodes that it stands for, itself among them
};

struct MeshLayout {
  MeshForm form = MeshForm::kAxes;
  bool by_class = false;  // cards
  QRectF rect;
  double cell_width = 0, cell_height = 0;
  Mesh mesh;
  // On axes.
  QSizeF block;           // of TP x CP cells
  QPointF origin, pitch;  // of the first block; from block to block
  int columns = 1;        // of cards, or of replicas where there is one stage
  // On nodes.
  std::vector<NodeBox> boxes;
  std::vector<int> box_of;  // of each node, or -1
  int devices = 1, across = 1;
  int left_out = 0;  // kinds of nodes without room
  bool numbered = true;

  QRectF block_of(int dp, int pp) const;
  // Null where the rank has no place.
  QRectF cell_of(int rank) const;
  QRectF card_of(int stage) const;
  // Global rank under a point (of a card: the lowest of its class), or -1.
  int rank_at(QPointF point) const;
};
MeshLayout mesh_layout(const Mesh& mesh, const QRectF& rect, const Theme& theme);
// The node of `selected` stands for its kind.
MeshLayout node_layout(const Mesh& mesh, const MeshWires& wires, int selected, const QRectF& rect,
                       const Theme& theme);

// From one layout to another. Ranks move as numbers, or, where the order of the ranks changes on
// nodes that stay, as places on the axes.
struct MeshMove {
  const MeshLayout* from = nullptr;
  double share = 1;  // of the way
  QRectF cell_of(const MeshLayout& to, int rank) const;
};

}  // namespace parallelarium

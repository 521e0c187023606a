// SPDX-License-Identifier: GPL-3.0-or-later
// What joins the ranks, and which groups cross what: the nodes of the Machine as the engine tells
// of them, the words for them, and the table under the mesh.
#pragma once

#include "app/look/theme/theme.h"
#include "app/views/mesh/mesh_data.h"
#include "app/views/timeline/picture/timeline_paint.h"
#include "engine/plan/machine/nodes.h"

namespace parallelarium {

struct RankLine;

struct MeshWires {
  Nodes nodes;
  NodeFold fold;
  std::vector<AxisReach> reaches;
  std::vector<std::int64_t> sent;  // of each reach: the most that one rank sends there in a step
  const AxisReach* along(Axis axis) const;
};
MeshWires mesh_wires(const Prediction& prediction);

// "DP", or "DP \u00d7 CP", whose ranks sum gradients together.
QString reach_name(const AxisReach& reach, const Mesh& mesh);
// "in one node", "on 4 nodes", "12 of 21 in one node, the others on 2"
QString reach_place(const AxisReach& reach);
// "NVLink", "the network", "NVLink and InfiniBand"
QString wire_text(const Nodes& nodes, bool between);
QString reach_wires(const AxisReach& reach, const Nodes& nodes);
// "32 of 64"
QString reach_hops(const AxisReach& reach);
// "NVLink: 235 GB/s (published), 3.40 \u00b5s (published)"
QString link_sentence(const Nodes& nodes, bool between);
// The same with whole origins, for tooltips.
QString link_origins(const Nodes& nodes);
// "8 ranks on a node, 8 nodes. In a node NVLink: \u2026 TP, 16 groups of 4 ranks: in one node
// \u2026", for screen readers.
QString wires_sentence(const MeshWires& wires, const Mesh& mesh, bool hides_traffic);

// The table as lines, where it has no room below the ranks.
std::vector<RankLine> wires_lines(const MeshWires& wires, const Mesh& mesh);

// The table: one row for each axis, below them the links. Rows that a click may choose.
struct WiresTable {
  QRectF rect;
  double first_row = 0, row = 0;  // y of the first axis' row, height of each
  int axis_at(QPointF point, const MeshWires& wires) const;  // index in reaches, or -1
};
double wires_height(const MeshWires& wires);
// Whether no cell below its head is cut.
bool wires_fit(const MeshWires& wires, const Mesh& mesh, double width, const Theme& theme);
WiresTable paint_wires(QPainter& painter, const QRectF& rect, const MeshWires& wires,
                       const Mesh& mesh, Axis chosen, bool hides_traffic, const Theme& theme,
                       TextLog* texts);

// A way between two ranks: solid within a node, dashed where it leaves it.
QPen way_pen(const QColor& color, double width, bool leaves);

}  // namespace parallelarium

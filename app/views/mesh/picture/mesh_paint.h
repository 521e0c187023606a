// SPDX-License-Identifier: GPL-3.0-or-later
// How the mesh is painted: a cell for each rank where there is room, else a card for each stage or
// a box for each kind of node. Screen, PNG, SVG and PDF alike.
#pragma once

#include "app/look/theme/theme.h"
#include "app/views/mesh/mesh_data.h"
#include "app/views/mesh/picture/mesh_layout.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

// The ways of the chosen group of a rank.
struct MeshWays {
  Axis axis = Axis::kWorld;  // none
  std::vector<std::pair<int, int>> hops;
  std::vector<int> members;  // ascending
};
MeshWays mesh_ways(const Mesh& mesh, Axis axis, int rank);

struct MeshPicture {
  const Prediction* prediction = nullptr;
  const Program* program = nullptr;  // of the run if there is one
  const MeshMotion* motion = nullptr;
  std::vector<RankClass> classes;
  const MeshWires* wires = nullptr;
  int selected = 0;  // global rank
  MeshWays ways;
  MeshMove move;                        // while ranks change their places
  std::optional<Nanoseconds> playhead;  // none: bytes of the whole step, nothing on its way
  bool tweened = true, dimmed = false;
  bool hides_traffic = false;
};
void paint_mesh(QPainter& painter, const MeshPicture& picture, const MeshLayout& layout,
                const Theme& theme, TextLog* texts);
// "64 ranks \u00b7 DP 4 \u00d7 PP 4 \u00d7 TP 4"
QString mesh_title(const Setup& setup);
QString mesh_order_text(RankOrder order);
// The run of the present Setup, where a lesson does not hide it; or null.
const RunRecord* mesh_run(const Session& session);
bool mesh_hides_traffic(const Session& session);
// What lies along the links, and where the figures come from.
QString mesh_legend(const Session& session, const MeshLayout& layout, bool whole_step);
// Paints the legend with its last line in `rect`. Beside cards it may have a second line, above.
void paint_mesh_legend(QPainter& painter, const QRectF& rect, const QString& legend,
                       const MeshLayout& layout, const Theme& theme);
// Squares and lines with their words, as far as they have room.
void paint_mesh_key(QPainter& painter, const QRectF& rect, const MeshPicture& picture,
                    const MeshLayout& layout, const Theme& theme, TextLog* texts);

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// How the mesh is painted: a cell for each rank where there is room for its number, else a card for
// each class of equal ranks. Screen, PNG, SVG and PDF alike.
#pragma once

#include "app/look/theme.h"
#include "app/views/mesh/mesh_data.h"
#include "app/views/timeline/picture/timeline_paint.h"

namespace parallelarium {

struct MeshPicture {
  const Prediction* prediction = nullptr;
  const Program* program = nullptr;  // of the run if there is one
  const MeshMotion* motion = nullptr;
  std::vector<RankClass> classes;
  int selected = 0;                     // global rank
  std::optional<Nanoseconds> playhead;  // none: bytes of the whole step, nothing on its way
  bool tweened = true, dimmed = false;
  bool hides_traffic = false;
};
struct MeshLayout {
  bool by_class = false;
  QRectF rect;
  double cell_width = 0, cell_height = 0;
  QSizeF block;           // of TP x CP cells
  QPointF origin, pitch;  // of the first block; from block to block
  int columns = 1;        // of cards
  Mesh mesh;
  QRectF block_of(int dp, int pp) const;
  QRectF cell_of(int rank) const;
  QRectF card_of(int stage) const;
  // Global rank under a point (of a card: the lowest of its class), or -1.
  int rank_at(QPointF point) const;
};
MeshLayout mesh_layout(const Mesh& mesh, const QRectF& rect, const Theme& theme);
void paint_mesh(QPainter& painter, const MeshPicture& picture, const MeshLayout& layout,
                const Theme& theme, TextLog* texts);
// "64 ranks \u00b7 DP 4 \u00d7 PP 4 \u00d7 TP 4"
QString mesh_title(const Setup& setup);
QString mesh_order_text(RankOrder order);
// The run of the present Setup, where a lesson does not hide it; or null.
const RunRecord* mesh_run(const Session& session);
bool mesh_hides_traffic(const Session& session);
// What lies along the links, and where the figures come from.
QString mesh_legend(const Session& session, bool by_class, bool whole_step);

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// How the matrices of a layer's experts and the rows of tokens that travel to them are drawn, and
// what is said of them.
#pragma once

#include <utility>

#include "app/views/layer/picture/layer_brush.h"

namespace parallelarium {

// The matrices of all experts stand in a grid, one to the scale of the picture, as near to a square
// as whole lines of experts make it.
struct ExpertGrid {
  int across = 1, down = 1;
  std::int64_t rows = 1, columns = 1;  // of one expert's matrix
  // `scale`: pixels of an element.
  QSizeF size(double scale) const;
  // Where an expert's matrix stands in `place`, which has the size of the grid.
  QRectF place_of(std::int64_t expert, const QRectF& place) const;
};
ExpertGrid expert_grid(const LayerTensor& weights);
inline constexpr double kExpertNumberHeight = 11;  // where a number of an expert has room
// Whether the inner width of an expert counts the rows of the matrix: of its last product.
bool experts_in_rows(const LayerTensor& weights);

void paint_expert_weights(const LayerBrush& brush, const LayerTensor& of, const QRectF& place,
                          int rank, const QColor& fill, double done);
// Where numbers of the rank's experts stand, and which of `cells` (one expert beside the other).
std::vector<std::pair<QRectF, QRectF>> expert_cells(const LayerTensor& of, const QRectF& place,
                                                    const QSizeF& cells);
// Beside rows of tokens: to or from whom they go, or whose experts take them.
void paint_row_runs(const LayerBrush& brush, const LayerBox& box, const QRectF& place, int rank);
bool rows_are_drawn(const LayerPicture& picture, const LayerLayout& layout);
QString row_runs_legend(const LayerPicture& picture);

// "4 of 8 experts"
QString held_experts_text(const LayerTensor& weights);
// "experts 0 to 3"; empty: the layer has none.
QString experts_of_rank_text(const LayerSteps& layer, int rank);
// What an all-to-all of experts carries: "counts", "dispatch", "combine"; else empty.
QString layer_way_text(const LayerStep& step);
// Tokens or gradients by rank or by expert, capacity, and what is dropped.
std::vector<FactLine> expert_facts(const LayerPicture& picture, int step, int rank);
QString experts_sentence(const LayerPicture& picture);

}  // namespace parallelarium

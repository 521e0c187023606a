// SPDX-License-Identifier: GPL-3.0-or-later
// Where the parts of a layer's picture stand: marks in a row, the same for every rank.
#include <algorithm>
#include <cmath>

#include "app/views/layer/context/context_picture.h"
#include "app/views/layer/picture/experts/layer_experts.h"
#include "app/views/layer/picture/layer_legend.h"
#include "app/views/layer/picture/layer_lines.h"
#include "app/views/layer/picture/layer_marks.h"
#include "app/views/layer/vocabulary/vocabulary_picture.h"

namespace parallelarium {
namespace {

constexpr double kLayoutMargin = 16, kTop = 52, kNotice = 44, kLabels = 92, kHead = 18, kNames = 24,
                 kCuts = 15;
constexpr double kClosed = 34, kFigureRow = 16, kHalfGap = 12;
constexpr double kTightGap = 22;  // between rows, for a tensor's words and the way past a half
constexpr double kLanesHead = 24, kLane = 15, kLeastBlock = 34, kReadableBlock = 100,
                 kNearlyReadable = 0.8, kReadableRows = 320, kReadableOutside = 200,
                 kReadableExperts = 560, kFold = 18;
constexpr double kScaleRoom = 18;                  // of the words about the scale, below all
constexpr double kScrollHint = 26;                 // it lies over the last of what is in sight
constexpr int kMostRanks = 4, kMostOfExperts = 2;  // more are folded
constexpr int kBlocksOfLine = 4;                   // of a product that a ring cuts
constexpr double kMostScale = 0.56;

double group_width(const StepMarks& group, const LayerScale& scale) {
  double width = 0;
  for (const LayerCell& cell : group.cells) width += width_of(cell, scale);
  return std::max(width, group.least);
}

double total_width(const std::vector<StepMarks>& groups, const LayerScale& scale) {
  double width = 0;
  for (const StepMarks& group : groups) width += group_width(group, scale);
  return width;
}

double block_height(const std::vector<StepMarks>& groups, const LayerScale& scale) {
  double height = kLeastBlock;
  for (const StepMarks& group : groups)
    for (const LayerCell& cell : group.cells) height = std::max(height, height_of(cell, scale));
  return height;
}

// The largest scale at which both halves are as wide and as high as may be.
LayerScale fitting_scale(const std::vector<std::vector<StepMarks>>& halves, double width,
                         double height) {
  LayerScale scale{kMostScale, kMostScale};
  std::int64_t tokens = 1, inner = 1;
  for (const auto& groups : halves)
    for (const StepMarks& group : groups)
      for (const LayerCell& cell : group.cells) {
        if (!cell.of) continue;
        const bool activation = cell.of->role == TensorRole::kActivation;
        const std::int64_t high =
            cell.of->all_experts > 0 ? cell.of->rows * expert_grid(*cell.of).down : cell.of->rows;
        (activation ? tokens : inner) = std::max(activation ? tokens : inner, high);
      }
  const auto fits = [&](double pixels) {
    const LayerScale tried{pixels, std::min(pixels, height / double(tokens))};
    return std::all_of(halves.begin(), halves.end(), [&](const std::vector<StepMarks>& groups) {
      return total_width(groups, tried) <= width;
    });
  };
  double least = 0, most = std::min(kMostScale, height / double(inner));
  if (!fits(most)) {
    for (int step = 0; step < 30; ++step) {
      const double middle = (least + most) / 2;
      (fits(middle) ? least : most) = middle;
    }
    most = least;
  }
  scale.width = most;
  scale.tokens = std::min(most, height / double(tokens));
  return scale;
}

void place_half(LayerHalf& half, const std::vector<StepMarks>& groups, const LayerScale& scale,
                double width, bool backward) {
  const double left = kLayoutMargin + kLabels;
  const double spare = std::max(0.0, width - total_width(groups, scale));
  const double between = groups.size() > 1 ? std::min(26.0, spare / double(groups.size() - 1)) : 0;
  double x = 0;
  for (const StepMarks& group : groups) {
    double own = 0;
    for (const LayerCell& cell : group.cells) own += width_of(cell, scale);
    const double column = group_width(group, scale);
    half.columns.push_back({group.step, x, column});
    double at = x + (column - own) / 2;
    for (const LayerCell& cell : group.cells) {
      const double cell_width = width_of(cell, scale);
      const double pad = pad_of(cell);
      half.boxes.push_back({cell.mark, cell.step < 0 ? group.step : cell.step, cell.tensor,
                            at + pad, cell_width - 2 * pad, height_of(cell, scale)});
      at += cell_width;
    }
    x += column + between;
  }
  half.between = between;
  const double whole = x - between;
  // The backward runs from right to left.
  for (LayerBox& box : half.boxes) box.x = left + (backward ? whole - box.x - box.width : box.x);
  for (LayerColumn& column : half.columns)
    column.left = left + (backward ? whole - column.left - column.width : column.left);
}

// All of `first` to `last`, or of more than `most` the first ones, the last and the chosen one.
// Says how many are left out.
int choose_ranks(const LayerPicture& picture, int first, int last, int most,
                 std::vector<int>& shown) {
  const bool all = picture.look.all_ranks || last - first < most;
  for (int rank = first; rank <= last; ++rank)
    if (all || rank - first < most / 2 || rank == last || rank == picture.look.rank)
      shown.push_back(rank);
  return last - first + 1 - int(shown.size());
}

// Experts take two lines. Where TP cuts what EP shares out, both need two ranks to be seen.
int most_ranks(const LayerPicture& picture, bool attention) {
  const bool experts = picture.layer->experts && !attention;
  const Coordinates& last = picture.layer->ranks.back().at;
  return experts && (last.tp == 0 || last.dp == 0) ? kMostOfExperts : kMostRanks;
}

void choose_ranks(const LayerPicture& picture, LayerHalf& half) {
  const int ranks = int(picture.layer->ranks.size());
  const Coordinates& chosen = picture.layer->ranks[std::size_t(picture.look.rank)].at;
  const auto of_replica = [&](const LayerRank& rank) { return rank.at.dp == chosen.dp; };
  const int own =
      int(std::count_if(picture.layer->ranks.begin(), picture.layer->ranks.end(), of_replica));
  const int first = half.attention ? own * chosen.dp : 0;
  const int last = half.attention ? first + own - 1 : ranks - 1;
  const int most = most_ranks(picture, half.attention);
  half.alike = choose_ranks(picture, first, last, most, half.ranks);
  half.folds = last - first >= most;
}

// Experts take two lines: in the forward the second begins with their products, in the backward it
// begins behind the gradients' way back. Where that is among `steps`.
std::size_t split_of_experts(const LayerSteps& layer, const std::vector<int>& steps) {
  const auto step_at = [&](std::size_t at) -> const LayerStep& {
    return layer.steps[std::size_t(steps[at])];
  };
  std::size_t split = steps.size();
  for (std::size_t at = 0; at < steps.size(); ++at) {
    const LayerStep& step = step_at(at);
    const bool products = step.kind == LayerStepKind::kCompute && step.piece == Piece::kExpert;
    if (!layer.choice.backward && products) return at;
    if (layer.choice.backward &&
        (step.purpose == Purpose::kTokens || (products && step.phase == Phase::kInputGrad)))
      split = at + 1;
  }
  return split;
}

// Where the lines of a half with rings begin among `steps`: the sums have lines of their own, and
// of many blocks as many stand in a line as have room.
std::vector<std::size_t> lines_of_rings(const LayerSteps& layer, const std::vector<int>& steps) {
  std::vector<std::size_t> begins{0};
  bool sums = false, behind = false;
  for (std::size_t at = 0; at < steps.size(); ++at) {
    const LayerStep& step = layer.steps[std::size_t(steps[at])];
    const std::vector<LayerTensor>& all = step.ranks.front().tensors;
    // In the backward gradients of weights and norms come behind the sums.
    if (layer.choice.backward && sums && !behind && step.blocks == 1) {
      begins.push_back(at);
      behind = true;
    }
    if (step.kind != LayerStepKind::kCompute || step.blocks == 1 || all.empty() ||
        step.piece == Piece::kCombine)
      continue;
    const bool first = !sums && all.back().partial;
    sums = sums || first;
    if (at > 0 && (first || (step.block > 0 && step.block % kBlocksOfLine == 0)))
      begins.push_back(at);
  }
  return begins;
}

int figure_rows(const LayerPicture& picture) {
  return 1 + (picture.layer->choice.backward ? 0 : 1) + (picture.look.figures ? 2 : 0) +
         (picture.shows_differences() ? 2 : 0);
}

// One half in its lines: each becomes a LayerHalf of its own.
void add_lines(const LayerPicture& picture, const LayerHalf& half, LayerLayout& layout) {
  const LayerSteps& layer = *picture.layer;
  std::vector<std::size_t> begins{0};
  if (half.open && !half.attention && layer.experts)
    begins.push_back(split_of_experts(layer, half.steps));
  else if (half.open)
    begins = lines_of_rings(layer, half.steps);
  begins.push_back(half.steps.size());
  for (std::size_t line = 0; line + 1 < begins.size(); ++line) {
    LayerHalf part = half;
    part.steps.assign(half.steps.begin() + std::ptrdiff_t(begins[line]),
                      half.steps.begin() + std::ptrdiff_t(begins[line + 1]));
    part.folds = half.folds && line == 0;  // said once for all lines
    part.says_cuts = std::any_of(part.steps.begin(), part.steps.end(), [&](int step) {
      return !layer_cut_texts(layer.steps[std::size_t(step)]).isEmpty();
    });
    if (!part.steps.empty()) layout.halves.push_back(std::move(part));
  }
}

// Attention and MLP in the order of the direction; which are open, their ranks and steps.
void add_halves(const LayerPicture& picture, LayerLayout& layout) {
  const LayerSteps& layer = *picture.layer;
  const bool backward = layer.choice.backward, whole = layer.choice.place != LayerPlace::kLayer;
  for (const bool attention : {!backward, backward}) {
    LayerHalf half;
    half.attention = attention;
    half.open = whole || (attention ? picture.look.attention_open : picture.look.mlp_open);
    choose_ranks(picture, half);
    for (std::size_t step = 0; step < layer.steps.size(); ++step)
      if (layer.steps[step].attention == attention) half.steps.push_back(int(step));
    add_lines(picture, half, layout);
  }
}

double top_of_halves(const LayerPicture& picture, const LayerLayout& layout) {
  return layout.top + (picture.notice.isEmpty() ? 0 : kNotice);
}

// How high the blocks of a rank may be. `below`: the same in time. What is kept may stand below the
// fold where matrices would become small, but not for a little; what is in time not where the
// picture `scrolls`: then rows come closer, and blocks are smaller.
double most_block_height(const LayerPicture& picture, LayerLayout& layout, double below,
                         double kept, bool scrolls) {
  double fixed = top_of_halves(picture, layout) + below;
  int open = 0;  // rows of open halves
  for (const LayerHalf& half : layout.halves) {
    const int own = int(half.ranks.size());
    open += half.open ? own : 0;
    fixed += half.open ? kHead + kNames + (half.says_cuts ? kCuts : 0) +
                             figure_rows(picture) * kFigureRow + own * layout.row_gap +
                             (half.folds ? kFold : 0) + kHalfGap
                       : kClosed;
  }
  const double shared = std::max(1, open);
  const double readable = picture.layer->choice.place != LayerPlace::kLayer ? kReadableOutside
                          : picture.layer->experts                          ? kReadableExperts
                                                                            : kReadableRows;
  const double wanted = std::min(kReadableBlock, readable / shared);
  const double fits = (layout.size.height() - fixed - kept) / shared;
  if (fits > kNearlyReadable * wanted) return std::max(kLeastBlock, fits);
  const double with_lanes = (layout.size.height() - kScrollHint - fixed) / shared;
  if (!scrolls || with_lanes >= wanted) return std::max(kLeastBlock, wanted);
  const double saved = layout.row_gap - kTightGap;
  layout.row_gap = kTightGap;
  return std::clamp(with_lanes + saved, kLeastBlock, wanted);
}

// The height that rows may have over what they take at that scale, 1 at most.
double share_within(const LayerLayout& layout, const std::vector<std::vector<StepMarks>>& groups,
                    const LayerScale& scale, double most) {
  double taken = 0, open = 0;
  for (std::size_t at = 0; at < layout.halves.size(); ++at) {
    if (!layout.halves[at].open) continue;
    const auto rows = double(layout.halves[at].ranks.size());
    taken += rows * block_height(groups[at], scale);
    open += rows;
  }
  return std::min(1.0, open * most / std::max(1.0, taken));
}

// All halves, one below the other. Returns where what follows them begins.
double place_halves(const LayerPicture& picture, const std::vector<std::vector<StepMarks>>& groups,
                    const LayerScale& scale, double inner, LayerLayout& layout) {
  double y = top_of_halves(picture, layout);
  for (std::size_t at = 0; at < layout.halves.size(); ++at) {
    LayerHalf& half = layout.halves[at];
    half.top = y;
    if (!half.open) {
      half.head = QRectF(kLayoutMargin, y, inner, kClosed - 8);
      half.bottom = y += kClosed;
      continue;
    }
    place_half(half, groups[at], scale, inner - kLabels, picture.layer->choice.backward);
    half.head = QRectF(kLayoutMargin, y, kLabels - 4, kHead);
    half.row_height = block_height(groups[at], scale);
    y += kHead + kNames + (half.says_cuts ? kCuts : 0);
    const auto folded = std::size_t(most_ranks(picture, half.attention) / 2);
    for (std::size_t row = 0; row < half.ranks.size(); ++row) {
      if (row == folded && half.folds) {
        half.fold = QRectF(kLayoutMargin, y - layout.row_gap / 4, inner, kFold);
        y += kFold;
      }
      half.rows.push_back(y + half.row_height / 2 + 2);
      y += half.row_height + layout.row_gap;
    }
    half.figures_top = y;
    half.bottom = y + figure_rows(picture) * kFigureRow;
    y = half.bottom + kHalfGap;
  }
  return y;
}

}  // namespace

LayerLayout layer_layout(const LayerPicture& picture, QSizeF size, const Theme& theme,
                         bool scrolls) {
  if (picture.shows_context()) return context_layout(picture, size, theme);
  LayerLayout layout;
  layout.size = size;
  layout.top = kTop;
  layout.bottom = size.height();
  if (!picture.drawn()) return layout;
  const int lines = legend_lines(layer_legend(picture), size.width() - 2 * kLayoutMargin);
  layout.top += (lines - 1) * kLegendLine;
  layout.alike = choose_ranks(picture, 0, int(picture.layer->ranks.size()) - 1,
                              most_ranks(picture, false), layout.ranks);
  layout.lane_ranks = layout.ranks;
  add_halves(picture, layout);
  std::vector<std::vector<StepMarks>> groups;
  for (const LayerHalf& half : layout.halves)
    groups.push_back(half.open ? groups_of(*picture.layer, half, half.ranks, theme)
                               : std::vector<StepMarks>{});

  const double inner = size.width() - 2 * kLayoutMargin;
  const int rows = int(layout.lane_ranks.size());
  layout.lane_pitch = kLane * (picture.observed ? 2 : 1) + 4;
  const double lanes = kLanesHead + rows * layout.lane_pitch + 6;
  const double kept = layer_kept_height(picture, size.width(), theme) +
                      vocabulary_height(picture, size.width(), theme);
  const double most = most_block_height(picture, layout, lanes, kept + kScaleRoom, scrolls);
  LayerScale scale = fitting_scale(groups, inner - kLabels, most);
  if (layout.row_gap == kTightGap)  // experts stand with gaps between them
    scale =
        fitting_scale(groups, inner - kLabels, most * share_within(layout, groups, scale, most));
  layout.one_scale = scale.tokens == scale.width;
  layout.lanes_top = place_halves(picture, groups, scale, inner, layout) + kLanesHead;
  layout.lane_left = kLayoutMargin + kLabels;
  layout.lane_width = inner - kLabels;
  layout.kept_top = layout.lanes_top + rows * layout.lane_pitch + 6;
  for (const LayerHalf& half : layout.halves)
    for (const LayerColumn& column : half.columns)
      layout.right = std::max(layout.right, column.left + column.width + kLayoutMargin);
  const auto scale_rows = scale_lines(picture, layout).size();
  layout.bottom = layout.kept_top + kept + kScaleRoom +
                  double(std::max<qsizetype>(0, scale_rows - 1)) * kScaleLine;
  return layout;
}

LayerHit layer_hit(const LayerLayout& layout, QPointF point) {
  for (const LayerTarget& target : layout.targets)
    if (target.place.contains(point)) return {target.step, target.rank};
  for (const LayerHalf& half : layout.halves) {
    if (!half.open || point.y() < half.top || point.y() > half.bottom) continue;
    for (const LayerColumn& column : half.columns) {
      if (point.x() < column.left || point.x() > column.left + column.width) continue;
      LayerHit hit{column.step, half.ranks.front()};
      for (std::size_t row = 0; row < half.rows.size(); ++row)
        if (point.y() > half.rows[row] - half.row_height / 2 - layout.row_gap / 2)
          hit.rank = half.ranks[row];
      return hit;
    }
  }
  return {};
}

LayerTensorHit layer_tensor_hit(const LayerLayout& layout, QPointF point) {
  for (const LayerHalf& half : layout.halves) {
    if (!half.open) continue;
    for (std::size_t row = 0; row < half.rows.size(); ++row)
      for (const LayerBox& box : half.boxes) {
        const QRectF place(box.x, half.rows[row] - box.height / 2, box.width, box.height);
        if (box.mark == LayerMark::kTensor && place.contains(point))
          return {box.step, box.tensor, half.ranks[row], place};
      }
  }
  return {};
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// Where the parts of a layer's picture stand: marks in a row, the same for every rank.
#include <QFontMetricsF>
#include <algorithm>
#include <cmath>

#include "app/views/layer/context/context_picture.h"
#include "app/views/layer/picture/layer_links.h"
#include "app/views/layer/vocabulary/vocabulary_picture.h"

namespace parallelarium {
namespace {

constexpr double kLayoutMargin = 16, kTop = 52, kNotice = 44, kLabels = 92, kHead = 18, kNames = 24,
                 kCuts = 15;
constexpr double kClosed = 34, kFigureRow = 16, kRowGap = 26, kHalfGap = 12;
constexpr double kLanesHead = 24, kLane = 15, kLeastBlock = 40, kReadableBlock = 100,
                 kReadableRows = 320, kReadableOutside = 200, kLeastColumn = 52, kMostColumn = 110,
                 kTableArrow = 64, kResultArrow = 48, kLeastBar = 44, kFold = 18, kOneLine = 940,
                 kLegendLine = 17;
constexpr int kMostRanks = 8;
constexpr double kMostScale = 0.56, kLeastSize = 7, kLeastHeight = 14, kNamedNumber = 37;

// Pixels for an element: along widths, and along tokens.
struct LayerScale {
  double width = kMostScale, tokens = kMostScale;
};

struct Cell {
  LayerMark mark = LayerMark::kTensor;
  int tensor = -1;
  const LayerTensor* of = nullptr;
  int step = -1;    // whose tensor it is, if not the one that it stands with
  double wide = 0;  // of an arrow or a bar that is wider than others
};
struct StepMarks {
  int step = 0;
  std::vector<Cell> cells;
  double least = kLeastColumn;  // for its name
};

// What a piece of the loss leaves of each token has its name below.
bool is_named_number(const Cell& cell) {
  return cell.mark == LayerMark::kTensor && cell.of->columns == 1 && cell.of->written;
}

double width_of(const Cell& cell, const LayerScale& scale) {
  switch (cell.mark) {
    case LayerMark::kTensor:
      if (is_named_number(cell)) return kNamedNumber;
      if (cell.of->scores) return std::max(kLeastSize, double(cell.of->columns) * scale.tokens) + 6;
      return std::max(kLeastSize, double(cell.of->columns) * scale.width) + 6;
    case LayerMark::kArrow:
      return std::max(18.0, cell.wide);
    case LayerMark::kBar:
      return std::max(16.0, cell.wide);
    default:
      return 14;
  }
}

double height_of(const Cell& cell, const LayerScale& scale) {
  if (cell.mark != LayerMark::kTensor) return 0;
  const bool tokens = cell.of->role == TensorRole::kActivation;
  return std::max(tokens ? kLeastHeight : kLeastSize,
                  double(cell.of->rows) * (tokens ? scale.tokens : scale.width));
}

bool is_drawn_tensor(const LayerStep& step, const LayerTensor& tensor) {
  if (is_number_of_tokens(step, tensor)) return true;
  return tensor.is_matrix() && tensor.name.find("mask") == std::string::npos &&
         tensor.name.find("before") == std::string::npos && tensor.name != "dropped";
}

void add_tensors(const LayerStep& step, StepMarks& group, bool written, bool weights,
                 int most = 9) {
  const std::vector<LayerTensor>& all = step.ranks.front().tensors;
  for (std::size_t at = 0; at < all.size() && most > 0; ++at) {
    const bool weight = all[at].role == TensorRole::kWeight;
    if (all[at].written != written || weight != weights || !is_drawn_tensor(step, all[at]))
      continue;
    group.cells.push_back({LayerMark::kTensor, int(at), &all[at]});
    --most;
  }
}

// Rows of tables become activations; numbers of tokens become the loss, or logits their gradients.
void add_outside_of_layers(const LayerStep& step, StepMarks& group) {
  add_tensors(step, group, false, step.piece == Piece::kEmbedding);
  const std::size_t found = group.cells.size();
  group.cells.push_back({LayerMark::kArrow});
  // The shape of the table has room below.
  if (step.piece == Piece::kEmbedding) group.cells.back().wide = kTableArrow;
  add_tensors(step, group, true, false);
  if (group.cells.size() == found + 1) group.cells.pop_back();
}

// What a collective leaves where no piece stands behind it.
void add_result(const LayerStep& step, StepMarks& group) {
  if (step.ranks.front().tensors.empty()) return;
  group.cells.push_back({LayerMark::kArrow});
  group.cells.back().wide = kResultArrow;
  add_tensors(step, group, true, false);
}

// The marks of one step, after `before` (null: it is the first of its half).
StepMarks group_of_step(const LayerSteps& layer, int index, const LayerStep* before,
                        const std::vector<int>& shown) {
  const LayerStep& step = layer.steps[std::size_t(index)];
  StepMarks group{index, {}};
  if (step.kind != LayerStepKind::kCompute) {
    if (before) group.cells.push_back({LayerMark::kArrow});
    group.cells.push_back({LayerMark::kBar});
    group.cells.back().wide = layer_links_width(layer_links(layer, step, shown));
    group.least = kLeastBar;
    add_result(step, group);
    return group;
  }
  if (step.piece == Piece::kLoss ||
      (step.piece == Piece::kEmbedding && step.phase == Phase::kForward)) {
    if (before) group.cells.push_back({LayerMark::kArrow});
    add_outside_of_layers(step, group);
    return group;
  }
  // What comes out of communication is a tensor of its own where ranks find other tokens in it, or,
  // since a product needs a left side, where nothing was sent.
  const bool adds = step.piece == Piece::kResidual1 || step.piece == Piece::kResidual2;
  const bool moved = !before || (!adds && (before->kind == LayerStepKind::kNothingSent ||
                                           (before->kind == LayerStepKind::kCollective &&
                                            before->collective != CollectiveKind::kAllReduce)));
  if (before) group.cells.push_back({LayerMark::kArrow});
  if (moved) {
    add_tensors(step, group, false, false, 1);
    group.cells.push_back({LayerMark::kArrow});
  }
  if (adds) group.cells.push_back({LayerMark::kPlus});
  const std::size_t marks = group.cells.size();
  add_tensors(step, group, false, true);
  if (group.cells.size() > marks) {
    // A product: the arrow becomes its sign.
    if (marks > 0) group.cells[marks - 1].mark = LayerMark::kTimes;
    group.cells.push_back({LayerMark::kEquals});
  }
  add_tensors(step, group, true, false);
  // Gains and biases alone are not drawn.
  if (group.cells.size() == 1) group.cells.clear();
  return group;
}

// Where a half begins with what sends nothing, the tensor behind it stands before it too.
void begin_with_tensor(const LayerSteps& layer, const LayerHalf& half, StepMarks& first) {
  if (half.steps.size() < 2) return;
  if (layer.steps[std::size_t(half.steps[0])].kind != LayerStepKind::kNothingSent) return;
  StepMarks found;
  add_tensors(layer.steps[std::size_t(half.steps[1])], found, false, false, 1);
  for (Cell& cell : found.cells) cell.step = half.steps[1];
  found.cells.push_back({LayerMark::kArrow});
  first.cells.insert(first.cells.begin(), found.cells.begin(), found.cells.end());
}

std::vector<StepMarks> groups_of(const LayerSteps& layer, const LayerHalf& half,
                                 const std::vector<int>& shown, const Theme& theme) {
  const QFontMetricsF names(theme.font(11, true));
  std::vector<StepMarks> groups;
  const LayerStep* before = nullptr;
  for (const int step : half.steps) {
    const LayerStep& of = layer.steps[std::size_t(step)];
    StepMarks& group = groups.emplace_back(group_of_step(layer, step, before, shown));
    if (of.kind == LayerStepKind::kCompute)
      group.least =
          std::clamp(names.horizontalAdvance(layer_step_name(of)) + 6, kLeastColumn, kMostColumn);
    before = &of;
  }
  if (!groups.empty()) begin_with_tensor(layer, half, groups.front());
  return groups;
}

double group_width(const StepMarks& group, const LayerScale& scale) {
  double width = 0;
  for (const Cell& cell : group.cells) width += width_of(cell, scale);
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
    for (const Cell& cell : group.cells) height = std::max(height, height_of(cell, scale));
  return height;
}

// The largest scale at which both halves are as wide and as high as may be.
LayerScale fitting_scale(const std::vector<std::vector<StepMarks>>& halves, double width,
                         double height) {
  LayerScale scale;
  std::int64_t tokens = 1, inner = 1;
  for (const auto& groups : halves)
    for (const StepMarks& group : groups)
      for (const Cell& cell : group.cells) {
        if (!cell.of) continue;
        const bool activation = cell.of->role == TensorRole::kActivation;
        (activation ? tokens : inner) = std::max(activation ? tokens : inner, cell.of->rows);
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
    for (const Cell& cell : group.cells) own += width_of(cell, scale);
    const double column = group_width(group, scale);
    half.columns.push_back({group.step, x, column});
    double at = x + (column - own) / 2;
    for (const Cell& cell : group.cells) {
      const double cell_width = width_of(cell, scale);
      const double pad = is_named_number(cell)             ? (kNamedNumber - kLeastSize) / 2
                         : cell.mark == LayerMark::kTensor ? 3
                                                           : 0;
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

void choose_ranks(const LayerPicture& picture, LayerLayout& layout) {
  const int ranks = int(picture.layer->ranks.size());
  for (int rank = 0; rank < ranks; ++rank)
    if (ranks <= kMostRanks || rank == 0 || rank == ranks - 1 || rank == picture.look.rank)
      layout.ranks.push_back(rank);
  layout.alike = ranks - int(layout.ranks.size());
}

int figure_rows(const LayerPicture& picture) {
  return 1 + (picture.layer->choice.backward ? 0 : 1) + (picture.look.figures ? 2 : 0) +
         (picture.shows_differences() ? 2 : 0);
}

}  // namespace

LayerLayout layer_layout(const LayerPicture& picture, QSizeF size, const Theme& theme) {
  if (picture.shows_context()) return context_layout(picture, size, theme);
  LayerLayout layout;
  layout.size = size;
  // The legend may take more than one line.
  layout.top = kTop + (size.width() < kOneLine ? 17 : 0) + (picture.look.inside ? 17 : 0);
  layout.bottom = size.height();
  if (!picture.drawn()) return layout;
  if (!layer_letters_text(*picture.layer).isEmpty()) layout.top += kLegendLine;
  const LayerSteps& layer = *picture.layer;
  choose_ranks(picture, layout);
  const bool backward = layer.choice.backward, whole = layer.choice.place != LayerPlace::kLayer;
  for (const bool attention : {!backward, backward}) {
    LayerHalf half;
    half.attention = attention;
    half.open = whole ||
                (attention ? picture.look.attention_open : picture.look.mlp_open && !layer.experts);
    for (std::size_t step = 0; step < layer.steps.size(); ++step)
      if (layer.steps[step].attention == attention) half.steps.push_back(int(step));
    half.says_cuts = std::any_of(half.steps.begin(), half.steps.end(), [&](int step) {
      return !layer_cut_text(layer.steps[std::size_t(step)]).isEmpty();
    });
    if (!half.steps.empty()) layout.halves.push_back(std::move(half));
  }
  const double inner = size.width() - 2 * kLayoutMargin;
  const int rows = int(layout.ranks.size());
  layout.lane_pitch = kLane * (picture.observed ? 2 : 1) + 4;
  const double lanes = kLanesHead + rows * layout.lane_pitch + 24;
  const double kept = layer_kept_height(picture, size.width(), theme) +
                      vocabulary_height(picture, size.width(), theme);
  double fixed = layout.top + (picture.notice.isEmpty() ? 0 : kNotice) + lanes;
  int open = 0;
  std::vector<std::vector<StepMarks>> groups;
  for (const LayerHalf& half : layout.halves) {
    groups.push_back(half.open ? groups_of(layer, half, layout.ranks, theme)
                               : std::vector<StepMarks>{});
    open += half.open;
    fixed += half.open ? kHead + kNames + (half.says_cuts ? kCuts : 0) +
                             figure_rows(picture) * kFigureRow + rows * kRowGap +
                             (layout.alike > 0 ? kFold : 0) + kHalfGap
                       : kClosed;
  }
  // What is kept may stand below the fold where matrices would become small.
  const double shared = std::max(1, open * rows);
  const double least = std::max(
      {kLeastBlock, std::min(kReadableBlock, (whole ? kReadableOutside : kReadableRows) / shared),
       (size.height() - fixed - kept) / shared});
  const LayerScale scale = fitting_scale(groups, inner - kLabels, least);
  layout.one_scale = scale.tokens == scale.width;
  double y = layout.top + (picture.notice.isEmpty() ? 0 : kNotice);
  for (std::size_t at = 0; at < layout.halves.size(); ++at) {
    LayerHalf& half = layout.halves[at];
    half.top = y;
    if (!half.open) {
      half.head = QRectF(kLayoutMargin, y, inner, kClosed - 8);
      half.bottom = y += kClosed;
      continue;
    }
    place_half(half, groups[at], scale, inner - kLabels, backward);
    half.head = QRectF(kLayoutMargin, y, kLabels - 4, kHead);
    half.row_height = block_height(groups[at], scale);
    y += kHead + kNames + (half.says_cuts ? kCuts : 0);
    for (int row = 0; row < rows; ++row) {
      if (row == 1 && layout.alike > 0) y += kFold;
      half.rows.push_back(y + half.row_height / 2 + 2);
      y += half.row_height + kRowGap;
    }
    half.figures_top = y;
    half.bottom = y + figure_rows(picture) * kFigureRow;
    y = half.bottom + kHalfGap;
  }
  layout.lanes_top = y + kLanesHead;
  layout.lane_left = kLayoutMargin + kLabels;
  layout.lane_width = inner - kLabels;
  layout.kept_top = layout.lanes_top + rows * layout.lane_pitch + 6;
  layout.bottom = layout.kept_top + kept + 18;
  return layout;
}

LayerHit layer_hit(const LayerLayout& layout, QPointF point) {
  for (const LayerTarget& target : layout.targets)
    if (target.place.contains(point)) return {target.step, target.rank};
  for (const LayerHalf& half : layout.halves) {
    if (!half.open || point.y() < half.top || point.y() > half.bottom) continue;
    for (const LayerColumn& column : half.columns) {
      if (point.x() < column.left || point.x() > column.left + column.width) continue;
      LayerHit hit{column.step, layout.ranks.front()};
      for (std::size_t row = 0; row < half.rows.size(); ++row)
        if (point.y() > half.rows[row] - half.row_height / 2 - kRowGap / 2)
          hit.rank = layout.ranks[row];
      return hit;
    }
  }
  return {};
}

}  // namespace parallelarium

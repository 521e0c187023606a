// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/layer/picture/layer_marks.h"

#include <QFontMetricsF>
#include <algorithm>

#include "app/views/layer/picture/experts/layer_experts.h"
#include "app/views/layer/picture/layer_links.h"
#include "app/views/layer/vocabulary/vocabulary_picture.h"

namespace parallelarium {
namespace {

constexpr double kLeastColumn = 52, kMostColumn = 110, kTableArrow = 64, kResultArrow = 48,
                 kLeastBar = 44, kLeastCounts = 30, kArrowWidth = 18, kRingArrow = 12;
constexpr double kLeastSize = 7, kLeastHeight = 14, kNamedNumber = 37;

// What a piece of the loss leaves of each token has its name below.
bool is_named_number(const LayerCell& cell) {
  return cell.mark == LayerMark::kTensor && cell.of->columns == 1 && cell.of->written;
}

// The gradients of a norm's gain and bias, which are no matrices.
bool is_all_that_is_left(const LayerStep& step, const LayerTensor& tensor) {
  const std::vector<LayerTensor>& all = step.ranks.front().tensors;
  return step.kind == LayerStepKind::kCompute && step.phase == Phase::kWeightGrad &&
         tensor.written && tensor.columns > 1 &&
         std::none_of(all.begin(), all.end(),
                      [](const LayerTensor& of) { return of.written && of.is_matrix(); });
}

bool is_drawn_tensor(const LayerStep& step, const LayerTensor& tensor) {
  if (is_number_of_tokens(step, tensor) || is_all_that_is_left(step, tensor)) return true;
  return tensor.is_matrix() && tensor.name.find("mask") == std::string::npos &&
         tensor.name.find("before") == std::string::npos && tensor.name != "dropped" &&
         !(step.piece == Piece::kRouter && (tensor.name == "gates" || tensor.name == "experts"));
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

// Of experts' products the last has the result of the others on its left.
bool is_last_of_experts(const LayerTensor& tensor) {
  return tensor.all_experts > 0 && experts_in_rows(tensor);
}

// rows × w = u → act × w-out = results
void add_experts(const LayerStep& step, StepMarks& group) {
  const std::vector<LayerTensor>& all = step.ranks.front().tensors;
  const auto add = [&](auto&& takes) {
    for (std::size_t at = 0; at < all.size(); ++at)
      if (is_drawn_tensor(step, all[at]) && takes(all[at]))
        group.cells.push_back({LayerMark::kTensor, int(at), &all[at]});
  };
  const auto is_weight = [](const LayerTensor& of) { return of.role == TensorRole::kWeight; };
  const auto is_result = [](const LayerTensor& of) { return of.written && of.name == "results"; };
  group.cells.back().mark = LayerMark::kTimes;
  add([&](const LayerTensor& of) { return is_weight(of) && !is_last_of_experts(of); });
  group.cells.push_back({LayerMark::kEquals});
  add([&](const LayerTensor& of) { return of.written && !is_result(of) && of.name != "act"; });
  group.cells.push_back({LayerMark::kArrow});
  add([&](const LayerTensor& of) { return of.written && of.name == "act"; });
  group.cells.push_back({LayerMark::kTimes});
  add([&](const LayerTensor& of) { return is_weight(of) && is_last_of_experts(of); });
  group.cells.push_back({LayerMark::kEquals});
  add(is_result);
}

// A part of a product that a ring cuts: its block of tokens where these travel, the weights, which
// all parts read, once, and what comes of it; gradients of weights once all parts have added to
// them. There are many: their arrows are short.
void add_block(const LayerStep& step, StepMarks& group) {
  const std::vector<LayerTensor>& all = step.ranks.front().tensors;
  const bool sums = std::any_of(all.begin(), all.end(),
                                [](const LayerTensor& of) { return of.partial && of.written; });
  const bool combines = step.piece == Piece::kCombine, gradient = step.phase == Phase::kWeightGrad;
  const auto add_arrow = [&] {
    group.cells.push_back({LayerMark::kArrow});
    group.cells.back().wide = kRingArrow;
  };
  if (!combines && !sums) {
    for (std::size_t at = 0; at < all.size(); ++at)
      if (all[at].name == "y") group.cells.push_back({LayerMark::kTensor, int(at), &all[at]});
    if (gradient && step.block + 1 < step.blocks) return;
    add_arrow();
  } else if (group.cells.empty()) {
    add_tensors(step, group, false, false, 1);
    add_arrow();
  }
  if (step.block == 0 && !gradient) {
    group.cells.back() = {LayerMark::kTimes};
    add_tensors(step, group, false, true);
    group.cells.push_back({LayerMark::kEquals});
  }
  add_tensors(step, group, true, false);
}

// Of a step of a ring of CP, the keys and values that it works with.
void add_keys(const LayerStep& step, StepMarks& group) {
  const std::vector<LayerTensor>& all = step.ranks.front().tensors;
  for (std::size_t at = 0; at < all.size(); ++at)
    if (is_keys_or_values(all[at])) group.cells.push_back({LayerMark::kTensor, int(at), &all[at]});
  group.cells.push_back({LayerMark::kArrow});
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
    // What an all-to-all of tokens needs to know goes right before it.
    if (before && before->purpose != Purpose::kCounts) {
      group.cells.push_back({LayerMark::kArrow});
      if (step.blocks > 1) group.cells.back().wide = kRingArrow;
    }
    group.cells.push_back({LayerMark::kBar});
    group.cells.back().wide = layer_links_width(layer_links(layer, step, shown));
    group.least = step.purpose == Purpose::kCounts || step.blocks > 1 ? kLeastCounts : kLeastBar;
    if (step.blocks == 1) add_result(step, group);
    return group;
  }
  if (step.piece == Piece::kLoss ||
      (step.piece == Piece::kEmbedding && step.phase == Phase::kForward)) {
    if (before) group.cells.push_back({LayerMark::kArrow});
    add_outside_of_layers(step, group);
    return group;
  }
  if (step.blocks > 1) {
    if (before) group.cells.push_back({LayerMark::kArrow});
    if (before) group.cells.back().wide = kRingArrow;
    add_block(step, group);
    return group;
  }
  // What comes out of communication is a tensor of its own where ranks find other tokens in it, or,
  // since a product needs a left side, where nothing was sent.
  const bool adds = step.piece == Piece::kResidual1 || step.piece == Piece::kResidual2;
  const bool experts = step.piece == Piece::kExpert && step.phase == Phase::kForward &&
                       !step.ranks.front().tensors.empty();
  const bool moved = !before || (!adds && (before->kind == LayerStepKind::kNothingSent ||
                                           (before->kind == LayerStepKind::kCollective &&
                                            before->collective != CollectiveKind::kAllReduce)));
  if (before) group.cells.push_back({LayerMark::kArrow});
  if (moved) {
    add_tensors(step, group, false, false, 1);
    group.cells.push_back({LayerMark::kArrow});
  }
  if (experts) {
    add_experts(step, group);
    return group;
  }
  if (round_of_ring(layer, index) >= 0) add_keys(step, group);
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
  for (LayerCell& cell : found.cells) cell.step = half.steps[1];
  found.cells.push_back({LayerMark::kArrow});
  first.cells.insert(first.cells.begin(), found.cells.begin(), found.cells.end());
}

}  // namespace

bool is_keys_or_values(const LayerTensor& tensor) {
  return !tensor.written && tensor.role == TensorRole::kActivation &&
         (tensor.name == "k" || tensor.name == "v" || tensor.name.starts_with("k-step") ||
          tensor.name.starts_with("v-step"));
}

int round_of_ring(const LayerSteps& layer, int step) {
  const std::vector<ContextRound>& rounds = layer.context.rounds;
  for (std::size_t round = 0; rounds.size() > 1 && round < rounds.size(); ++round)
    if (rounds[round].step == step) return int(round);
  return -1;
}

double width_of(const LayerCell& cell, const LayerScale& scale) {
  switch (cell.mark) {
    case LayerMark::kTensor:
      if (is_named_number(cell)) return kNamedNumber;
      if (cell.of->all_experts > 0) return expert_grid(*cell.of).size(scale.width).width() + 6;
      if (cell.of->scores) return std::max(kLeastSize, double(cell.of->columns) * scale.tokens) + 6;
      return std::max(kLeastSize, double(cell.of->columns) * scale.width) + 6;
    case LayerMark::kArrow:
      return cell.wide > 0 ? cell.wide : kArrowWidth;
    case LayerMark::kBar:
      return std::max(16.0, cell.wide);
    default:
      return 14;
  }
}

double height_of(const LayerCell& cell, const LayerScale& scale) {
  if (cell.mark != LayerMark::kTensor) return 0;
  const bool tokens = cell.of->role == TensorRole::kActivation;
  if (cell.of->all_experts > 0) return expert_grid(*cell.of).size(scale.width).height();
  return std::max(tokens ? kLeastHeight : kLeastSize,
                  double(cell.of->rows) * (tokens ? scale.tokens : scale.width));
}

double pad_of(const LayerCell& cell) {
  return is_named_number(cell)             ? (kNamedNumber - kLeastSize) / 2
         : cell.mark == LayerMark::kTensor ? 3
                                           : 0;
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
      group.least = std::clamp(names.horizontalAdvance(layer_head_name(of)) + 6,
                               of.blocks > 1 ? kLeastCounts : kLeastColumn, kMostColumn);
    before = &of;
  }
  if (!groups.empty()) begin_with_tensor(layer, half, groups.front());
  return groups;
}

}  // namespace parallelarium

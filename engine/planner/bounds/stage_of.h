// SPDX-License-Identifier: Apache-2.0
// The least time and bytes of a stage under one schedule.
#pragma once

#include <algorithm>

#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/bounds/bound.h"

namespace parallelarium {

class StageOf {
 public:
  StageOf(const Setup& setup, const StageTable& table) : table_(table), stages_(stages_of(setup)) {
    const ScheduleRule* rule = find_schedule_rule(setup.schedule);
    splits_ = rule == nullptr || rule->splits_backward;
    pairs_ = has_pairs(setup);
    differ_ = setup.offload_activations || recomputes_some_layers(setup);
  }
  int stages() const { return stages_; }
  bool splits() const { return splits_; }

  ActionBound action(int stage, ActionKind kind) const {
    const auto at = static_cast<std::size_t>(kind);
    const bool split = kind == ActionKind::kInputGrad || kind == ActionKind::kWeightGrad;
    const StageBound& whole = table_.stage(stage, false);
    if (kind == ActionKind::kBackward || !splits_) return whole.actions[at];
    const StageBound& parted = table_.stage(stage, true);
    ActionBound bound = parted.actions[at];
    if (split) return bound;
    // Some orders have whole backwards, too.
    bound.busy = std::min(bound.busy, whole.actions[at].busy);
    bound.duration = std::min(bound.duration, whole.actions[at].duration);
    bound.peak_bytes = std::min(bound.peak_bytes, whole.actions[at].peak_bytes);
    bound.layer_bytes = std::min(bound.layer_bytes, whole.actions[at].layer_bytes);
    bound.buckets_bytes = std::min(bound.buckets_bytes, whole.actions[at].buckets_bytes);
    bound.table_bytes = std::min(bound.table_bytes, whole.actions[at].table_bytes);
    bound.head_bytes = std::min(bound.head_bytes, whole.actions[at].head_bytes);
    return bound;
  }
  std::int64_t kept(int stage) const {
    const std::int64_t whole = table_.stage(stage, false).kept_bytes;
    if (!splits_) return whole;
    return std::min(whole, table_.stage(stage, true).kept_bytes);
  }
  // The most that one layer keeps. It is not known which of both kinds of backward an order has.
  std::int64_t kept_of_layer(int stage, int layers) const {
    std::int64_t most = table_.stage(stage, false).kept_bytes;
    if (splits_) most = std::max(most, table_.stage(stage, true).kept_bytes);
    return layers > 0 ? most / layers : 0;
  }
  std::int64_t waiting(int stage) const {
    return splits_ ? table_.stage(stage, true).waiting_bytes : 0;
  }
  // The peak of a forward, or of the backward that holds less, since an order may have only one
  // kind of backward.
  std::int64_t peak(int stage, const RankEnd& end) const {
    std::int64_t backward = peak(stage, ActionKind::kBackward, end);
    if (splits_) backward = std::min(backward, peak(stage, ActionKind::kInputGrad, end));
    return std::max(peak(stage, ActionKind::kForward, end), backward);
  }
  // The peak with the buckets that ZeRO 2 and 3 have open.
  std::int64_t peak(int stage, ActionKind kind, const RankEnd& end) const {
    const ActionBound bound = action(stage, kind);
    if (kind != ActionKind::kForward && kind != ActionKind::kBackward) return bound.peak_bytes;
    const bool backward = kind == ActionKind::kBackward;
    std::int64_t bytes = bound.peak_bytes;
    if (backward) bytes += end.least.gradients;
    if (bound.layer_bytes > 0) bytes = std::max(bytes, layer_peak(stage, bound, backward, end));
    if (bound.table_bytes > 0) {
      // A backward gathers the table too, but reads nothing there.
      bytes = std::max(bytes,
                       bound.table_bytes +
                           (backward ? end.table.gradients : end.table.gathered + ahead(end, 0)) +
                           (backward && end.layers > 0 ? end.layer.gradients : 0));
    }
    if (bound.head_bytes > 0) {
      bytes = std::max(bytes, bound.head_bytes + end.head.gathered +
                                  (backward ? end.head.gradients + ahead(end, 0) : 0));
    }
    return bytes;
  }
  // A forward holds more with every layer. So its last layer is the fullest, or one before it where
  // others are gathered ahead. A backward holds less with every layer, but from the second layer on
  // the gradients of the layer before are still on their way.
  std::int64_t layer_peak(int stage, const ActionBound& bound, bool backward,
                          const RankEnd& end) const {
    const std::int64_t own =
        std::max(bound.buckets_bytes + end.layer.gathered,
                 bound.layer_bytes + std::min(end.experts.gathered, end.others.gathered));
    if (differ_) return own + (backward ? end.layer.gradients : 0);
    const std::int64_t kept = kept_of_layer(stage, end.layers);
    const bool last = stage + 1 == stages_;
    if (!backward) {
      const std::int64_t next = last && end.prefetch > 0 ? end.head.gathered : next_gathered(end);
      const std::int64_t others = std::clamp(end.layers - 1, 0, end.prefetch);
      return own + std::max(next, others * (end.layer.gathered - kept));
    }
    // Behind the head, whose gradients are on their way.
    const std::int64_t before = last ? end.head.gradients : 0;
    std::int64_t bytes = own + ahead(end, 1) + end.layer.gradients + before;
    if (end.layers > 1)
      bytes = std::max(bytes, own + ahead(end, 2) + 2 * end.layer.gradients - kept);
    return bytes;
  }
  // Bytes of the next action's first bucket, which is gathered ahead. The weight part of a split
  // backward gathers none.
  std::int64_t next_gathered(const RankEnd& end) const {
    return splits_ ? 0 : std::min(end.prefetch, 1) * end.least.gathered;
  }
  // The peak in the action's first stretch, if that is a layer, beside what is on its way from the
  // action before.
  std::int64_t first_peak(int stage, ActionKind kind, const RankEnd& end, int layers) const {
    const ActionBound bound = action(stage, kind);
    const bool forward = kind == ActionKind::kForward;
    const bool table = forward && stage == 0, head = !forward && stage + 1 == stages_;
    if (table || head || layers == 0 || differ_) return 0;
    const std::int64_t grown = forward ? kept_of_layer(stage, layers) * (layers - 1) : 0;
    return bound.buckets_bytes - grown + end.layer.gathered + (forward ? 0 : end.layer.gradients) +
           next_gathered(end);
  }
  // Bytes of gradients of a backward's last stretch that are on their way while the next action
  // begins.
  static std::int64_t last_gradients(int stage, const RankEnd& end, int layers) {
    if (stage == 0) return end.table.gradients;
    return layers > 0 ? end.layer.gradients : 0;
  }
  // Bytes that are gathered ahead in a stretch which all layers of the action follow except
  // `layers` of them.
  static std::int64_t ahead(const RankEnd& end, int layers) {
    return std::clamp(end.layers - layers, 0, end.prefetch) * end.layer.gathered;
  }
  // The least work of one micro-batch: its forward, and its backward, whole or in two parts.
  std::int64_t busy(int stage) const {
    // While one half of a pair waits, the other computes.
    const auto time = [&](ActionKind kind) {
      const ActionBound bound = action(stage, kind);
      return pairs_ ? bound.busy : bound.duration;
    };
    std::int64_t backward = time(ActionKind::kBackward);
    if (splits_)
      backward = std::min(backward, time(ActionKind::kInputGrad) + time(ActionKind::kWeightGrad));
    return time(ActionKind::kForward) + backward;
  }
  // The least time of a micro-batch from its arrival at the stage to its arrival at the next one.
  // Nothing comes to the first stage's forward, and nothing leaves its backward.
  std::int64_t passage(int stage, ActionKind kind) const {
    const ActionBound bound = action(stage, kind);
    if (stage > 0)
      return std::max<std::int64_t>(0, bound.until_have - bound.until_need) + table_.transfer;
    return kind == ActionKind::kForward ? bound.until_have + table_.transfer
                                        : bound.duration - bound.until_need;
  }

 private:
  const StageTable& table_;
  int stages_ = 1;
  bool splits_ = false, pairs_ = false;
  bool differ_ = false;  // layers hold different amounts
};

}  // namespace parallelarium

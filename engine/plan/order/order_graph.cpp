// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/order/order_graph.h"

namespace parallelarium {

namespace {

const Action& action_of(const Order& order, ActionRef ref) {
  return order.ranks[static_cast<std::size_t>(ref.rank)][static_cast<std::size_t>(ref.index)];
}

int stage_of(const Order& order, ActionRef ref) {
  const auto chunk = static_cast<std::size_t>(action_of(order, ref).chunk);
  return order.stage_of[static_cast<std::size_t>(ref.rank)][chunk];
}

}  // namespace

OrderGraph::OrderGraph(const Order& order) : order_(&order) {
  places_.resize(std::size_t{4} * static_cast<std::size_t>(order.stages) *
                 static_cast<std::size_t>(order.microbatches));
  for (std::size_t rank = 0; rank < order.ranks.size(); ++rank) {
    for (std::size_t index = 0; index < order.ranks[rank].size(); ++index) {
      const ActionRef ref{static_cast<int>(rank), static_cast<int>(index)};
      const Action& action = action_of(order, ref);
      const auto stage = static_cast<std::size_t>(stage_of(order, ref));
      const std::size_t place =
          (static_cast<std::size_t>(action.kind) * static_cast<std::size_t>(order.stages) + stage) *
              static_cast<std::size_t>(order.microbatches) +
          static_cast<std::size_t>(action.microbatch);
      places_[place] = ref;
    }
  }
}

ActionRef OrderGraph::at(ActionKind kind, int stage, int microbatch) const {
  return places_[(static_cast<std::size_t>(kind) * static_cast<std::size_t>(order_->stages) +
                  static_cast<std::size_t>(stage)) *
                     static_cast<std::size_t>(order_->microbatches) +
                 static_cast<std::size_t>(microbatch)];
}

std::vector<ActionRef> OrderGraph::needs_of(ActionRef ref) const {
  const Action& action = action_of(*order_, ref);
  const int stage = stage_of(*order_, ref), microbatch = action.microbatch;
  switch (action.kind) {
    case ActionKind::kForward:
      if (stage == 0) return {};
      return {at(ActionKind::kForward, stage - 1, microbatch)};
    case ActionKind::kBackward:
    case ActionKind::kInputGrad: {
      const ActionRef forward = at(ActionKind::kForward, stage, microbatch);
      if (stage + 1 == order_->stages) return {forward};
      const ActionRef whole = at(ActionKind::kBackward, stage + 1, microbatch);
      return {forward, whole.rank >= 0 ? whole : at(ActionKind::kInputGrad, stage + 1, microbatch)};
    }
    case ActionKind::kWeightGrad:
      return {at(ActionKind::kInputGrad, stage, microbatch)};
  }
  return {};
}

int OrderGraph::unit_size(ActionRef ref) const {
  return action_of(*order_, ref).overlapped_with_next ? 2 : 1;
}

ActionRef OrderGraph::missing(ActionRef ref, const std::vector<int>& walked) const {
  const int end = ref.index + unit_size(ref);
  for (ActionRef action = ref; action.index < end; ++action.index) {
    for (const ActionRef need : needs_of(action)) {
      // What is not there, or stands later in the own line, is told apart (check_lines).
      if (need.rank < 0 || need.rank == ref.rank) continue;
      if (walked[static_cast<std::size_t>(need.rank)] <= need.index) return need;
    }
  }
  return {};
}

}  // namespace parallelarium

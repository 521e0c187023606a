// SPDX-License-Identifier: Apache-2.0
// Activations wait in the host's memory: behind a layer's forward what its backward needs leaves,
// and it comes back while the backward of the layer before it computes. Both go in the data lane,
// one after the other. What no layer holds (logits, the loss) stays. Source: Rhu et al. 2016, vDNN
// (arXiv 1602.08124), section III; Ren et al. 2021, ZeRO-Offload, is of the optimizer.
#include <algorithm>
#include <map>

#include "engine/passes/pieces.h"

namespace parallelarium {

namespace {

using Key = std::pair<Tensor, std::int16_t>;  // of one layer
using Kept = std::map<int, std::map<Key, DraftOperand>>;

bool waits(const DraftOperand& operand) {
  return operand.layer >= 0 && category_of(operand) == Category::kActivations;
}
Key key_of_activation(const DraftOperand& operand) { return {operand.tensor, operand.part}; }

// By layer: whole tensors that a forward leaves and a backward reads before it makes them anew.
Kept kept_by_layer(const ActionDrafts& actions, const std::vector<Draft>& backward) {
  Kept left, kept;
  for (const Draft& draft : actions.forward)
    for (const DraftOperand& operand : draft.operands) {
      if (!waits(operand)) continue;
      DraftOperand& whole =
          left[operand.layer].try_emplace(key_of_activation(operand), operand).first->second;
      if (operand.opens > 0) whole = operand;
    }
  const auto take = [&](const std::vector<Draft>& drafts) {
    for (const Draft& draft : drafts)
      for (const DraftOperand& operand : draft.operands) {
        if (!waits(operand)) continue;
        auto& of_layer = left[operand.layer];
        const auto found = of_layer.find(key_of_activation(operand));
        if (found == of_layer.end()) continue;
        if (operand.opens == 0) kept[operand.layer].insert(*found);
        of_layer.erase(found);
      }
  };
  take(backward);
  take(actions.weight);
  return kept;
}

Draft offload_draft(const std::map<Key, DraftOperand>& tensors, Phase phase, std::int16_t layer) {
  Draft draft;
  draft.op.piece = Piece::kOffload;
  draft.op.phase = phase;
  draft.op.layer = layer;
  draft.op.lane = Lane::kData;
  Work work;
  work.piece = Piece::kOffload;
  work.phase = phase;
  for (const auto& [key, tensor] : tensors) {
    DraftOperand operand = tensor;
    const std::int64_t bytes =
        tensor.opens > 0 ? tensor.opens : tensor.count * size_of(tensor.type);
    operand.access = phase == Phase::kForward ? Access::kRead : Access::kWrite;
    operand.offset = 0;
    operand.count = bytes / size_of(tensor.type);
    operand.opens = phase == Phase::kForward ? 0 : bytes;
    draft.operands.push_back(operand);
    work.bytes += bytes;
  }
  draft.work.push_back(work);
  return draft;
}

// Where each layer's drafts begin, in order; equal layers that follow each other are one.
std::vector<std::size_t> beginnings(const std::vector<Draft>& drafts) {
  std::vector<std::size_t> begins;
  for (std::size_t at = 0; at < drafts.size(); ++at)
    if (at == 0 || drafts[at].op.layer != drafts[at - 1].op.layer) begins.push_back(at);
  return begins;
}

}  // namespace

void offload_activations(ActionDrafts& actions) {
  std::vector<Draft>& backward = actions.input.empty() ? actions.backward : actions.input;
  const Kept kept = kept_by_layer(actions, backward);
  const auto tensors_of = [&](int layer) {
    const auto found = kept.find(layer);
    return found == kept.end() ? nullptr : &found->second;
  };
  std::vector<Draft> forward;
  for (std::size_t at = 0; at < actions.forward.size(); ++at) {
    const std::int16_t layer = actions.forward[at].op.layer;
    const bool last = at + 1 == actions.forward.size() || actions.forward[at + 1].op.layer != layer;
    forward.push_back(std::move(actions.forward[at]));
    if (const auto* tensors = tensors_of(layer); last && tensors != nullptr)
      forward.push_back(offload_draft(*tensors, Phase::kForward, layer));
  }
  actions.forward = std::move(forward);

  const std::vector<std::size_t> begins = beginnings(backward);
  std::vector<Draft> fetched;
  std::size_t next = 0;
  const auto fetch = [&](std::size_t group, std::int16_t beside) {
    if (group >= begins.size()) return;
    if (const auto* tensors = tensors_of(backward[begins[group]].op.layer); tensors != nullptr)
      fetched.push_back(offload_draft(*tensors, Phase::kInputGrad, beside));
  };
  std::vector<std::int16_t> layers;
  for (const Draft& draft : backward) layers.push_back(draft.op.layer);
  for (std::size_t at = 0; at < layers.size(); ++at) {
    if (next < begins.size() && begins[next] == at) {
      if (next == 0) fetch(0, layers[at]);
      fetch(++next, layers[at]);
    }
    fetched.push_back(backward[at]);
  }
  backward = std::move(fetched);
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// A whole action as one op, for Programs that would be too large piece by piece.
#include <algorithm>
#include <map>

#include "engine/passes/pieces.h"

namespace parallelarium {

namespace {

// Appends work, adding up entries of equal shape.
void add_work(std::vector<Work>& list, const Work& work) {
  for (Work& known : list) {
    if (known.piece == work.piece && known.phase == work.phase && known.m == work.m &&
        known.n == work.n && known.k == work.k) {
      known.repeat += work.repeat;
      known.flops += work.flops;
      known.bytes += work.bytes;
      known.elements += work.elements;
      return;
    }
  }
  list.push_back(work);
}

void add_collective(std::vector<Draft>& drafts, const Draft& collective) {
  for (Draft& known : drafts) {
    const Op& a = known.op;
    const Op& b = collective.op;
    if (a.kind == b.kind && known.axis == collective.axis && a.collective == b.collective &&
        a.purpose == b.purpose && a.bytes == b.bytes && a.type == b.type) {
      known.op.repeat += b.repeat;
      return;
    }
  }
  drafts.push_back(collective);
  drafts.back().op.layer = -1;
  drafts.back().operands.clear();
}

using TensorKey = std::pair<Tensor, int>;

}  // namespace

StageDrafts stage_drafts(const Chunk& chunk, const std::vector<Draft>& forward,
                         const std::vector<Draft>& backward, std::int64_t boundary_bytes) {
  // Kept: opened by the forward and touched by the backward before it opens it anew.
  std::map<TensorKey, std::int64_t> opened;
  std::int64_t kept = 0, forward_temporary = 0, backward_temporary = 0;
  for (const Draft& draft : forward) {
    for (const DraftOperand& operand : draft.operands) {
      if (operand.opens > 0) opened[{operand.tensor, operand.layer}] = operand.opens;
    }
  }
  std::map<TensorKey, std::int64_t> left = opened;
  for (const Draft& draft : backward) {
    std::int64_t temporary = 0;
    for (const DraftOperand& operand : draft.operands) {
      const TensorKey key{operand.tensor, operand.layer};
      if (operand.opens > 0) {
        left.erase(key);
        temporary += operand.opens;
      } else if (const auto found = left.find(key); found != left.end()) {
        kept += found->second;
        opened.erase(key);
        left.erase(found);
      }
    }
    backward_temporary = std::max(backward_temporary, temporary);
  }
  if (!chunk.last) opened.erase({Tensor::kInput, chunk.layers.back() + 1});
  for (const auto& [key, bytes] : opened) forward_temporary = std::max(forward_temporary, bytes);

  const auto fold = [](const std::vector<Draft>& drafts, Phase phase) {
    std::vector<Draft> folded(1);
    folded[0].op.piece = Piece::kStage;
    folded[0].op.phase = phase;
    for (const Draft& draft : drafts) {
      if (draft.op.kind == OpKind::kCompute) {
        for (const Work& work : draft.work) add_work(folded[0].work, work);
      } else {
        add_collective(folded, draft);
      }
    }
    return folded;
  };
  const auto operand = [](Tensor tensor, Access access, std::int64_t bytes, bool opens) {
    DraftOperand result;
    result.tensor = tensor;
    result.access = access;
    result.count = bytes / 4;
    result.opens = opens ? bytes : 0;
    return result;
  };
  StageDrafts result{fold(forward, Phase::kForward), fold(backward, Phase::kInputGrad)};
  if (kept > 0) {
    result.forward[0].operands.push_back(
        operand(Tensor::kStageActivations, Access::kWrite, kept, true));
    result.backward[0].operands.push_back(
        operand(Tensor::kStageActivations, Access::kRead, kept, false));
  }
  if (forward_temporary > 0) {
    result.forward[0].operands.push_back(
        operand(Tensor::kScratch, Access::kWrite, forward_temporary, true));
  }
  if (backward_temporary > 0) {
    result.backward[0].operands.push_back(
        operand(Tensor::kScratch, Access::kWrite, backward_temporary, true));
  }
  // What travels between stages, so that transfers and actions wait for each other.
  const auto boundary = [&](Tensor tensor, int layer, Access access, bool opens) {
    DraftOperand at = operand(tensor, access, boundary_bytes, opens);
    at.layer = static_cast<std::int16_t>(layer);
    return at;
  };
  auto& f = result.forward[0].operands;
  auto& b = result.backward[0].operands;
  if (!chunk.first)
    f.push_back(boundary(Tensor::kInput, chunk.layers.front(), Access::kRead, false));
  if (!chunk.first)
    b.push_back(boundary(Tensor::kInput, chunk.layers.front(), Access::kRead, false));
  if (!chunk.last)
    f.push_back(boundary(Tensor::kInput, chunk.layers.back() + 1, Access::kWrite, true));
  b.push_back(boundary(Tensor::kGradResidual, -1, chunk.last ? Access::kWrite : Access::kAccumulate,
                       chunk.last));
  return result;
}

}  // namespace parallelarium

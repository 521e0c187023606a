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
TensorKey key_of(const DraftOperand& operand) {
  return {operand.tensor, operand.layer + operand.part * (1 << 16)};
}

bool is_gradient(Tensor tensor) {
  return tensor >= Tensor::kGradResidual && tensor <= Tensor::kGradMlpInOut;
}

// Bytes that live from one action to a later one, and within one.
struct Lifetimes {
  std::int64_t until_input = 0;   // from the forward to the (input part of the) backward
  std::int64_t until_weight = 0;  // from the forward to the weight part
  std::int64_t between = 0;       // from the input part to the weight part
  std::int64_t forward_temporary = 0, backward_temporary = 0;
};

Lifetimes lifetimes_of(const Chunk& chunk, const ActionDrafts& pieces) {
  Lifetimes result;
  const bool splits = !pieces.weight.empty();
  const std::vector<Draft>& backward = splits ? pieces.input : pieces.backward;
  std::map<TensorKey, std::int64_t> opened, reopened;
  for (const Draft& draft : pieces.forward) {
    for (const DraftOperand& operand : draft.operands) {
      if (operand.opens > 0) opened[key_of(operand)] = operand.opens;
    }
  }
  // Kept: opened by the forward and touched by the backward before it opens it anew.
  std::map<TensorKey, std::int64_t> left = opened, kept;
  for (const Draft& draft : backward) {
    std::int64_t temporary = 0;
    for (const DraftOperand& operand : draft.operands) {
      const TensorKey key = key_of(operand);
      if (operand.opens > 0) {
        left.erase(key);
        reopened[key] = operand.opens;
        temporary += operand.opens;
      } else if (const auto found = left.find(key); found != left.end()) {
        kept.insert(*found);
        left.erase(found);
      }
    }
    result.backward_temporary = std::max(result.backward_temporary, temporary);
  }
  for (const Draft& draft : pieces.weight) {
    for (const DraftOperand& operand : draft.operands) {
      const TensorKey key = key_of(operand);
      if (is_gradient(operand.tensor)) {
        // Each product needs the gradient as it was at its place in the backward.
        result.between += operand.count * size_of(operand.type);
      } else if (const auto again = reopened.find(key); again != reopened.end()) {
        result.between += again->second;
        reopened.erase(again);
      } else if (const auto found = opened.find(key); found != opened.end()) {
        result.until_weight += found->second;
        opened.erase(found);
        kept.erase(key);
      }
    }
  }
  for (const auto& [key, bytes] : kept) {
    result.until_input += bytes;
    opened.erase(key);
  }
  if (!chunk.last) opened.erase({Tensor::kInput, chunk.end()});
  for (const auto& [key, bytes] : opened) {
    result.forward_temporary = std::max(result.forward_temporary, bytes);
  }
  return result;
}

std::vector<Draft> folded(const std::vector<Draft>& drafts, Phase phase) {
  std::vector<Draft> result;
  if (drafts.empty()) return result;
  result.resize(1);
  result[0].op.piece = Piece::kStage;
  result[0].op.phase = phase;
  for (const Draft& draft : drafts) {
    if (draft.op.kind == OpKind::kCompute) {
      for (const Work& work : draft.work) add_work(result[0].work, work);
    } else {
      add_collective(result, draft);
    }
  }
  return result;
}

DraftOperand whole(Tensor tensor, int layer, Access access, std::int64_t bytes, bool opens) {
  DraftOperand result;
  result.tensor = tensor;
  result.layer = static_cast<std::int16_t>(layer);
  result.access = access;
  result.count = bytes / 4;
  result.opens = opens ? bytes : 0;
  return result;
}

// Buffers of one tensor are told apart by their layer, which a whole stage does not have.
constexpr int kUntilInput = -1, kUntilWeight = -2;

}  // namespace

ActionDrafts stage_drafts(const Chunk& chunk, const ActionDrafts& pieces,
                          std::int64_t boundary_bytes) {
  const Lifetimes lives = lifetimes_of(chunk, pieces);
  ActionDrafts result{
      folded(pieces.forward, Phase::kForward), folded(pieces.backward, Phase::kInputGrad),
      folded(pieces.input, Phase::kInputGrad), folded(pieces.weight, Phase::kWeightGrad)};
  const auto touch = [](std::vector<Draft>& drafts, const DraftOperand& operand) {
    if (!drafts.empty() && (operand.count > 0 || operand.opens > 0)) {
      drafts[0].operands.push_back(operand);
    }
  };
  const auto keep = [&](Tensor tensor, int layer, std::int64_t bytes, std::vector<Draft>& from,
                        std::initializer_list<std::vector<Draft>*> readers) {
    touch(from, whole(tensor, layer, Access::kWrite, bytes, true));
    for (std::vector<Draft>* reader : readers) {
      touch(*reader, whole(tensor, layer, Access::kRead, bytes, false));
    }
  };
  keep(Tensor::kStageActivations, kUntilInput, lives.until_input, result.forward,
       {&result.backward, &result.input});
  keep(Tensor::kStageActivations, kUntilWeight, lives.until_weight, result.forward,
       {&result.backward, &result.input, &result.weight});
  keep(Tensor::kGradBranch, kUntilWeight, lives.between, result.input, {&result.weight});
  const auto scratch = [&](std::vector<Draft>& drafts, std::int64_t bytes) {
    touch(drafts, whole(Tensor::kScratch, -1, Access::kWrite, bytes, true));
  };
  scratch(result.forward, lives.forward_temporary);
  scratch(result.backward, lives.backward_temporary);
  scratch(result.input, lives.backward_temporary);
  // What travels between stages, so that transfers and actions wait for each other.
  const DraftOperand in = whole(Tensor::kInput, chunk.begin, Access::kRead, boundary_bytes, false);
  if (!chunk.first) {
    for (auto* drafts : {&result.forward, &result.backward, &result.input}) touch(*drafts, in);
  }
  if (!chunk.last) {
    touch(result.forward, whole(Tensor::kInput, chunk.end(), Access::kWrite, boundary_bytes, true));
  }
  const DraftOperand gradient =
      whole(Tensor::kGradResidual, -1, chunk.last ? Access::kWrite : Access::kAccumulate,
            boundary_bytes, chunk.last);
  touch(result.backward, gradient);
  touch(result.input, gradient);
  return result;
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/tensors/ring_block.h"

namespace parallelarium {

namespace {

// The operand of a piece of a ring whose rows are C wide and, in a ring, those of one block.
struct WideOperand {
  std::size_t operand = 0;
  bool sums = false;
};

std::optional<WideOperand> wide_operand(const RankProgram& rank, const Op& op) {
  const bool forward = op.phase == Phase::kForward || op.phase == Phase::kRecompute;
  const bool input = op.phase == Phase::kInputGrad;
  const auto operands = rank.operands_of(op);
  const auto tensor = [&] {
    return rank.buffers[static_cast<std::size_t>(operands[0].buffer)].tensor;
  };
  switch (op.piece) {
    case Piece::kQkv:
    case Piece::kMlpIn:
      return WideOperand{forward ? std::size_t{0} : input ? std::size_t{2} : std::size_t{1}, input};
    case Piece::kProjection:
    case Piece::kMlpOut:
      if (!forward) return std::nullopt;
      return WideOperand{operands.size() - 1, true};
    case Piece::kCombine:
      // A step of a collective has its purpose.
      if (op.layer < 0 || op.purpose != Purpose::kNone) return std::nullopt;
      return WideOperand{0, true};
    case Piece::kTransfer:
      // A ring leaves the compute lane to the products.
      if (op.layer < 0 || op.lane == Lane::kCompute || operands.size() != 1) return std::nullopt;
      if (tensor() == Tensor::kPartialSum) return WideOperand{0, true};
      if (tensor() == Tensor::kSequenceInput || tensor() == Tensor::kNorm1Out ||
          tensor() == Tensor::kNorm2Out)
        return WideOperand{0, false};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<RingBlock> ring_block_of(const Setup& setup, const Shape& shape,
                                       const RankProgram& rank, const Op& op) {
  const int tp = setup.mesh.tp;
  if (!setup.ring_tensor || tp == 1) return std::nullopt;
  const std::optional<WideOperand> wide = wide_operand(rank, op);
  if (!wide) return std::nullopt;
  const std::int64_t tokens = rank.operands_of(op)[wide->operand].count / shape.C;
  if (tokens >= shape.B * shape.T) return std::nullopt;
  // A sum ends at its own rank, tokens begin there. What comes is for the step behind.
  const int behind = op.block + (wide->sums ? 1 : 0) + (op.kind == OpKind::kRecv ? 1 : 0);
  return RingBlock{(rank.at.tp - behind % tp + tp) % tp, wide->sums};
}

}  // namespace parallelarium

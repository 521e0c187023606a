// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/program/kernels_of_pieces.h"

namespace parallelarium {

namespace {

// Rotary positions: an angle for every position and pair of a head's elements. Cosines and sines
// take nearly all of the time; on cores the sequences of a micro-batch share them unless CP cuts
// these, on a GPU each computes its own.
double angles(double tokens, const Shape& shape, bool on_cores) {
  const bool shared = on_cores && shape.T == shape.sequence;
  const double sharing = shared ? static_cast<double>(shape.B) : 1.0;
  return tokens / sharing * static_cast<double>(shape.D) / 2;
}

}  // namespace

KernelBeside kernel_beside(const Work& work, const Shape& shape, bool on_cores) {
  const bool forward = work.phase == Phase::kForward || work.phase == Phase::kRecompute;
  const auto elements = static_cast<double>(work.elements);
  switch (work.piece) {
    case Piece::kQkv: {
      if (!forward || shape.learned_positions) return {};
      const auto width = static_cast<double>((shape.H + 2 * shape.K) * shape.D);
      return {kRotaryKernel, angles(elements / width, shape, on_cores)};
    }
    case Piece::kAttention: {
      // Where CP ranks exchange keys or heads, a copy between layouts turns back.
      const bool turns = work.phase == Phase::kInputGrad && !shape.learned_positions &&
                         (shape.T == shape.sequence || shape.local);
      if (!turns) return {};
      return {kRotaryKernel,
              angles(elements / static_cast<double>(shape.H * shape.T), shape, on_cores)};
    }
    case Piece::kRouter:
      return forward ? KernelBeside{"router", elements} : KernelBeside{};
    case Piece::kDispatch:
      return work.phase == Phase::kInputGrad ? KernelBeside{"dispatch_grad", elements}
                                             : KernelBeside{};
    case Piece::kExpert: {
      if (work.phase == Phase::kWeightGrad) return {};
      const double rows = elements / static_cast<double>(shape.C);
      return {kernel_of(Piece::kActivation, work.phase),
              rows * static_cast<double>(shape.experts.ffn)};
    }
    default:
      return {};
  }
}

}  // namespace parallelarium

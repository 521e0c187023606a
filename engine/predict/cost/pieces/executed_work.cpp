// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cost/pieces/executed_work.h"

namespace parallelarium {
namespace {

// A sigmoid is an exponential, a sum and a division.
constexpr double kSigmoid = 3;

double of_norm(Phase phase, Norm norm) {
  const bool layer = norm == Norm::kLayer;
  switch (phase) {
    case Phase::kInputGrad:  // of RMS: d gain x summed; then added: rstd (d gain - x factor)
      return layer ? 13 : 8;
    case Phase::kWeightGrad:  // of RMS: d x rstd, summed
      return layer ? 5 : 3;
    default:  // of RMS: x^2 summed, x rstd gain
      return layer ? 8 : 4;
  }
}

double of_activation(Phase phase, Mlp mlp) {
  const bool gelu = mlp == Mlp::kGelu;
  if (phase == Phase::kInputGrad) return kSigmoid + (gelu ? 15 : 8);
  return kSigmoid + (gelu ? 6 : 2);
}

}  // namespace

double element_flops(const Work& work, const Shape& shape) {
  const bool input_gradient = work.phase == Phase::kInputGrad;
  const auto of_each = [&]() -> double {
    switch (work.piece) {
      case Piece::kNorm1:
      case Piece::kNorm2:
      case Piece::kFinalNorm:
        return of_norm(work.phase, shape.norm);
      case Piece::kActivation:
        return of_activation(work.phase, shape.mlp);
      case Piece::kResidual1:
      case Piece::kResidual2:  // dropout scales what stays
        return input_gradient ? 1 : (shape.dropout > 0 ? 2 : 1);
      case Piece::kDispatch:  // gradients of a token's copies are summed
        return input_gradient ? 1 : 0;
      case Piece::kUnpermute:  // results are weighed and summed; so are the gradients of weights
        return input_gradient ? 3 : 2;
      default:
        return 0;
    }
  };
  return work.flops > 0 ? 0 : of_each() * static_cast<double>(work.elements);
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Which calibrated kernel rate stands for a piece: calibration measures a KernelRate under this
// name, prediction looks it up under the same. Elements are Work::elements: B*H*T*T for attention,
// else the elements of the piece's main tensor.
#pragma once

#include <string_view>

#include "engine/plan/pieces.h"

namespace parallelarium {

// The addition of a received array into a local one, inside reductions.
inline constexpr std::string_view kReduceKernel = "reduce";

// The name in Machine::kernels; empty for pieces that are matrix products (QKV, projection, MLP in
// and out, head, experts), for whole stages and for transfers.
constexpr std::string_view kernel_of(Piece piece, Phase phase) {
  const bool forward = phase == Phase::kForward || phase == Phase::kRecompute;
  switch (piece) {
    case Piece::kZeroGrad:
      return "zero";
    case Piece::kEmbedding:
      return forward ? "embedding" : "embedding_grad";
    case Piece::kNorm1:
    case Piece::kNorm2:
    case Piece::kFinalNorm:
      return forward ? "norm" : "norm_grad";
    case Piece::kAttention:
      return forward ? "attention" : "attention_grad";
    case Piece::kActivation:
      return forward ? "gelu" : "gelu_grad";
    case Piece::kResidual1:
    case Piece::kResidual2:
      return "residual";
    case Piece::kLossMax:
    case Piece::kLossSum:
    case Piece::kLoss:
      return forward ? "loss" : "loss_grad";
    case Piece::kGradNorm:
      return "grad_norm";
    case Piece::kOptimizer:
      return "adamw";
    case Piece::kCombine:
      return kReduceKernel;
    default:
      return {};
  }
}

}  // namespace parallelarium

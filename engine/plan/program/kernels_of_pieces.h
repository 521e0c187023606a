// SPDX-License-Identifier: Apache-2.0
// Names the calibrated kernel rate that stands for a piece. Calibration measures a KernelRate under
// this name, and prediction looks it up under the same name. Elements are Work::elements: B*H*T*T
// for attention, N*E for routers, else the elements of the piece's main tensor.
#pragma once

#include <string_view>

#include "engine/plan/program/pieces.h"
#include "engine/plan/program/program.h"

namespace parallelarium {

// The addition of a received array into a local one, inside reductions.
inline constexpr std::string_view kReduceKernel = "reduce";
// Turns queries and keys by their positions; its elements are angles.
inline constexpr std::string_view kRotaryKernel = "rotary";
// Copies between the layouts of queries, keys and values.
inline constexpr std::string_view kPermuteKernel = "permute";
// Passes that are no piece: two between the products of unfused attention, and one from 16 bit to
// FP8.
inline constexpr std::string_view kSoftmaxKernel = "softmax";
inline constexpr std::string_view kSoftmaxGradKernel = "softmax_grad";
inline constexpr std::string_view kCastKernel = "cast";

// Pieces whose products may be in FP8. Source: DeepSeek-V3 (arXiv 2412.19437), section 3.3.1: all
// linear layers, but not embedding, head, router, norm and attention.
constexpr bool multiplies_fp8(Piece piece) {
  return piece == Piece::kQkv || piece == Piece::kProjection || piece == Piece::kMlpIn ||
         piece == Piece::kMlpOut || piece == Piece::kExpert;
}

// MatmulPoint::type of a product in FP8, which includes the copies that it makes of 16-bit tensors.
// It also stands before the phase in the names of Machine::host_calls.
inline constexpr std::string_view kFp8Product = "fp8";

// The name in Machine::kernels and Machine::passes; empty for pieces that are matrix products (QKV,
// projection, MLP in and out, head, experts, routers forward), for whole stages and for transfers.
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
      if (forward) return "norm";
      return phase == Phase::kInputGrad ? "norm_input_grad" : "norm_weight_grad";
    case Piece::kAttention:
      return forward ? "attention" : "attention_grad";
    case Piece::kActivation:
      return forward ? "gelu" : "gelu_grad";
    case Piece::kResidual1:
    case Piece::kResidual2:
      return forward ? "residual" : "residual_grad";  // the latter with dropout alone
    case Piece::kLossMax:
      return "loss_max";
    case Piece::kLossSum:
      return "loss_sum";
    case Piece::kPermute:
      return kPermuteKernel;
    case Piece::kLoss:
      return forward ? "loss" : "loss_grad";
    case Piece::kGradNorm:
      return "grad_norm";
    case Piece::kOptimizer:
      return "adamw";
    case Piece::kCombine:
      return kReduceKernel;
    case Piece::kRouter:
      return phase == Phase::kInputGrad ? "router_grad" : "";
    case Piece::kDispatch:
      return forward ? "dispatch" : "";  // its gradient begins with a product
    case Piece::kUnpermute:
      return forward ? "unpermute" : "unpermute_grad";
    default:
      return {};
  }
}

// The kernel that models of this shape have instead of `kernel`. If it has no rate of its own, the
// rate of `kernel` counts.
constexpr std::string_view variant_of(std::string_view kernel, const Shape& shape) {
  if (shape.mlp == Mlp::kSwiglu && kernel == "gelu") return "swiglu";
  if (shape.mlp == Mlp::kSwiglu && kernel == "gelu_grad") return "swiglu_grad";
  if (shape.norm == Norm::kRms && kernel == "norm") return "rms_norm";
  if (shape.norm == Norm::kRms && kernel == "norm_input_grad") return "rms_norm_input_grad";
  // Whole sequences may have a kernel of their own, which drops nothing.
  const bool drops = shape.dropout > 0;
  if (shape.fused && kernel == "attention")
    return drops                  ? "block_attention_dropping"
           : shape.key_blocks > 1 ? "block_attention"
                                  : "fused_attention";
  if (shape.fused && kernel == "attention_grad")
    return drops                  ? "block_attention_dropping_grad"
           : shape.key_blocks > 1 ? "block_attention_grad"
                                  : "fused_attention_grad";
  if (drops && kernel == "attention") return "attention_dropping";
  if (drops && kernel == "attention_grad") return "attention_dropping_grad";
  if (drops && kernel == "residual") return "residual_dropping";
  if (kernel == "loss_sum" && !shape.cuts_vocabulary()) return "loss_max_sum";
  const bool sigmoid = shape.experts.model.router == Router::kSigmoid;
  if (sigmoid && kernel == "router") return "sigmoid_router";
  if (sigmoid && kernel == "router_grad") return "sigmoid_router_grad";
  return kernel;
}

// Whether a kernel works on fp32 in every precision: the routers, and sums of the loss's
// statistics.
constexpr bool is_always_fp32(std::string_view kernel) {
  return kernel == "loss" || kernel == "router" || kernel == "router_grad" ||
         kernel == "sigmoid_router" || kernel == "sigmoid_router_grad";
}

// A kernel that a piece runs beside its own kernel or product, and its number of elements.
struct KernelBeside {
  std::string_view kernel;  // empty: nothing
  double elements = 0;
};
KernelBeside kernel_beside(const Work& work, const Shape& shape, bool on_cores);

// How often a GPU's host launches. The cost model adds these up. The executor bounds by them what a
// GPU may have waiting.

// The launches of one expert: its two products, and what is between them, which weight gradients do
// not have.
constexpr std::int64_t launches_of_expert(Phase phase) {
  return phase == Phase::kWeightGrad ? 2 : 3;
}
// The turns of an unfused attention of one sequence. Query heads that share a key/value head go one
// after another; all key/value heads go together.
constexpr std::int64_t turns_of_attention(const Shape& shape) {
  return shape.K > 0 ? shape.H / shape.K : 1;
}
// The dropout masks that a turn of its backward makes. If query heads share, there is one for each
// key/value head.
constexpr std::int64_t masks_of_turn(const Shape& shape) {
  if (shape.dropout <= 0) return 0;
  return shape.H > shape.K ? shape.K : 1;
}

}  // namespace parallelarium

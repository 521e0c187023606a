// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/check/kernels/kernel_families.h"

#include <array>

namespace parallelarium {

// Cheap and fundamental ones first: where time runs out, these are done.
std::span<const KernelFamily> kernel_families() {
  static constexpr std::array kFamilies = {
      KernelFamily{Sentence{"kernel-copies", "copies"}, check_copies, false},
      KernelFamily{Sentence{"kernel-swap", "swap"}, check_swap, false},
      KernelFamily{Sentence{"kernel-matrix-products", "matrix products"}, check_products},
      KernelFamily{Sentence{"kernel-fp8-products", "products of FP8"}, check_fp8_products},
      KernelFamily{Sentence{"kernel-accumulate", "accumulate"}, check_accumulate},
      KernelFamily{Sentence{"kernel-combine", "combine"}, check_combine, false},
      KernelFamily{Sentence{"kernel-rows", "rows"}, check_rows},
      KernelFamily{Sentence{"kernel-residual", "residual"}, check_residual},
      KernelFamily{Sentence{"kernel-layer-norm", "layer norm"}, check_layer_norm},
      KernelFamily{Sentence{"kernel-rms-norm", "RMS norm"}, check_rms_norm},
      KernelFamily{Sentence{"kernel-gelu", "GELU"}, check_gelu},
      KernelFamily{Sentence{"kernel-swiglu", "SwiGLU"}, check_swiglu},
      KernelFamily{Sentence{"kernel-embedding", "embedding"}, check_embedding},
      KernelFamily{Sentence{"kernel-loss", "loss"}, check_loss},
      KernelFamily{Sentence{"kernel-update", "update"}, check_update},
      KernelFamily{Sentence{"kernel-fused-attention", "fused attention"}, check_fused_attention},
      KernelFamily{Sentence{"kernel-unfused-attention", "unfused attention"},
                   check_unfused_attention},
      KernelFamily{Sentence{"kernel-block-attention", "block attention"}, check_block_attention},
      KernelFamily{Sentence{"kernel-rotary-positions", "rotary positions"}, check_rotary},
      KernelFamily{Sentence{"kernel-dropout", "dropout"}, check_dropout},
      KernelFamily{Sentence{"kernel-router", "router"}, check_router, false},
      KernelFamily{Sentence{"kernel-expert-rows", "expert rows"}, check_expert_rows}};
  return kFamilies;
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/check/kernel_families.h"

#include <array>

namespace parallelarium {

// Cheap and fundamental ones first: where time runs out, these are done.
std::span<const KernelFamily> kernel_families() {
  static constexpr std::array kFamilies = {
      KernelFamily{"copies", check_copies, false},
      KernelFamily{"swap", check_swap, false},
      KernelFamily{"matrix products", check_products},
      KernelFamily{"accumulate", check_accumulate},
      KernelFamily{"combine", check_combine, false},
      KernelFamily{"rows", check_rows},
      KernelFamily{"residual", check_residual},
      KernelFamily{"layer norm", check_layer_norm},
      KernelFamily{"RMS norm", check_rms_norm},
      KernelFamily{"GELU", check_gelu},
      KernelFamily{"SwiGLU", check_swiglu},
      KernelFamily{"embedding", check_embedding},
      KernelFamily{"loss", check_loss},
      KernelFamily{"update", check_update},
      KernelFamily{"fused attention", check_fused_attention},
      KernelFamily{"unfused attention", check_unfused_attention},
      KernelFamily{"block attention", check_block_attention},
      KernelFamily{"rotary positions", check_rotary},
      KernelFamily{"dropout", check_dropout},
      KernelFamily{"router", check_router, false},
      KernelFamily{"expert rows", check_expert_rows}};
  return kFamilies;
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The two bodies of fused attention on the GPU (gpu.h chooses): here the one for tensor cores.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/attention.h"
#include "kernels/bf16.h"

namespace parallelarium {

// Whether the code that this build has for the current GPU uses tensor cores: compute
// capability 8.0 or above, of both. Asks once per thread and GPU.
[[nodiscard]] bool has_fused_attention_tiles();

// Requires: has_fused_attention_tiles(), D a multiple of 8 up to 128, operands at multiples of
// 16 bytes. delta [B,H,T] is given to the backward: sum over d of dcontext * context.
[[nodiscard]] cudaError_t fused_attention_forward_tiles(Bf16* context, float* lse, const Bf16* qkv,
                                                        const AttentionShape& shape,
                                                        cudaStream_t stream);
[[nodiscard]] cudaError_t fused_attention_backward_tiles(Bf16* dqkv, const float* delta,
                                                         const Bf16* dcontext, const Bf16* qkv,
                                                         const float* lse,
                                                         const AttentionShape& shape,
                                                         cudaStream_t stream);

}  // namespace parallelarium

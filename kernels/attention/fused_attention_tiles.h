// SPDX-License-Identifier: Apache-2.0
// The body of fused attention for tensor cores. Another body does without them; gpu.h chooses.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/attention/attention.h"
#include "kernels/base/bf16.h"

namespace parallelarium {

// Whether this build's code for the current GPU uses tensor cores: the GPU and the code need
// compute capability 8.0 or above. Asks CUDA once per thread and GPU.
[[nodiscard]] bool has_fused_attention_tiles();

// has_fused_attention_tiles() must be true, D a multiple of 8 up to 128, and operands at multiples
// of 16 bytes. The backward takes delta [B,H,T]: the sum over d of dcontext * context.
[[nodiscard]] cudaError_t fused_attention_forward_tiles(Bf16* context, float* lse, const Bf16* qkv,
                                                        const AttentionShape& shape,
                                                        cudaStream_t stream);
[[nodiscard]] cudaError_t fused_attention_backward_tiles(Bf16* dqkv, const float* delta,
                                                         const Bf16* dcontext, const Bf16* qkv,
                                                         const float* lse,
                                                         const AttentionShape& shape,
                                                         cudaStream_t stream);

}  // namespace parallelarium

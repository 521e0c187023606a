// SPDX-License-Identifier: Apache-2.0
// The body of block attention (block_attention.h) for bf16 tensor cores; gpu.h chooses.
#pragma once

#include <cuda_runtime_api.h>

#include "kernels/base/bf16.h"
#include "kernels/block_attention/block_attention.h"

namespace parallelarium {

// Both require: has_fused_attention_tiles(); D is a multiple of 8 up to 128; the block's stride is
// a multiple of 8; operands stand at multiples of 16 bytes.
[[nodiscard]] cudaError_t block_attention_forward_tiles(Bf16* context, float* row_max,
                                                        float* row_sum, const Bf16* qkv,
                                                        const Bf16* keys_values,
                                                        const AttentionBlock& block,
                                                        cudaStream_t stream);
[[nodiscard]] cudaError_t block_attention_backward_tiles(
    Bf16* dqkv, Bf16* dkeys_values, const Bf16* dcontext, const Bf16* qkv, const Bf16* keys_values,
    const Bf16* context, const float* lse, const AttentionBlock& block, cudaStream_t stream);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The families of kernel_check.h. They try what each file of kernels/ does, through Device.
#pragma once

#include "engine/run/gpu/check/kernels/kernel_check.h"

namespace parallelarium {

inline constexpr DataType kF32 = DataType::kF32;

// kernel_moves.cpp: copying, adding and filling.
void check_copies(KernelBench& on);
void check_swap(KernelBench& on);
void check_combine(KernelBench& on);
void check_accumulate(KernelBench& on);
void check_rows(KernelBench& on);
void check_residual(KernelBench& on);
void check_dropout(KernelBench& on);
void check_embedding(KernelBench& on);

// kernel_layers.cpp: the computing within a layer, the loss and the update.
void check_products(KernelBench& on);
void check_fp8_products(KernelBench& on);
void check_layer_norm(KernelBench& on);
void check_rms_norm(KernelBench& on);
void check_gelu(KernelBench& on);
void check_swiglu(KernelBench& on);
void check_loss(KernelBench& on);
void check_update(KernelBench& on);

// kernel_attention.cpp
void check_unfused_attention(KernelBench& on);
void check_fused_attention(KernelBench& on);
void check_block_attention(KernelBench& on);
void check_rotary(KernelBench& on);

// kernel_experts.cpp: routers and the moves of rows that follow.
void check_router(KernelBench& on);
void check_expert_rows(KernelBench& on);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// A linear layer on bf16 whose products are made of FP8 (fp8.h). Legend: linear.h.
//
// Activations and weights are multiplied as E4M3, gradients of outputs as E5M2, each with the scale
// of what one product takes of it; sums are kept in fp32 (on Hopper tensor cores add up with
// fewer bits in between), and are scaled, given their bias and rounded once. The gradient of the
// bias adds up what is not in FP8. Tensor cores take rows of FP8 at 16 bytes and two operands that
// are both contiguous along the sum (cuBLAS manual, cublasLtMatmul, FP8): a backward turns its
// operands as it casts them, and pads the sum over the tokens with zeros. M and K must be multiples
// of 16, N may be any number.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/base/bf16.h"

namespace parallelarium {

inline constexpr std::int64_t kFp8Multiple = 16;

void fp8_linear_forward_cpu(Bf16* y, const Bf16* x, const Bf16* w, const Bf16* bias, std::int64_t N,
                            std::int64_t M, std::int64_t K);
void fp8_linear_input_grad_cpu(Bf16* dx, const Bf16* dy, const Bf16* w, std::int64_t N,
                               std::int64_t M, std::int64_t K);
// G: float or Bf16.
template <class G>
void fp8_linear_weight_grad_cpu(G* dw, G* db, const Bf16* dy, const Bf16* x, std::int64_t N,
                                std::int64_t M, std::int64_t K);

// How many tokens a turned copy has room for.
constexpr std::int64_t fp8_padded(std::int64_t N) {
  return (N + kFp8Multiple - 1) / kFp8Multiple * kFp8Multiple;
}

// Device memory of one product: two copies, their scales, and the largest numbers of parts of one
// operand.
inline constexpr std::int64_t kFp8Parts = 512;
struct Fp8Workspace {
  std::int64_t inverses = 0, parts = 256, first = 0, second = 0, bytes = 0;  // where each begins
};
constexpr Fp8Workspace fp8_workspace_of(std::int64_t first, std::int64_t second) {
  const auto aligned = [](std::int64_t count) { return (count + 255) / 256 * 256; };
  Fp8Workspace space;
  space.first = space.parts + kFp8Parts * 4;
  space.second = space.first + aligned(first);
  space.bytes = space.second + aligned(second);
  return space;
}
// Bytes that are enough for each of the three products of these sizes.
constexpr std::int64_t fp8_workspace(std::int64_t N, std::int64_t M, std::int64_t K) {
  const std::int64_t tokens = fp8_padded(N);
  return std::max({fp8_workspace_of(N * K, M * K).bytes, fp8_workspace_of(N * M, M * K).bytes,
                   fp8_workspace_of(M * tokens, K * tokens).bytes});
}

}  // namespace parallelarium

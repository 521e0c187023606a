// SPDX-License-Identifier: Apache-2.0
// The CUDA twins of the CPU kernels. A build with CUDA compiles them. Matrix products:
// gpu_matmul.h.
//
// Each does what the function of the same name with _cpu does, on addresses of the stream's device.
// The header of that function (named at each group) holds formulas, shapes and requirements. The
// storage T is float or Bf16; the storage G of weight gradients and M of moments may be either.
// Arithmetic and statistics are fp32; long sums are fp64 where the CPU's are. Results are rounded
// once.
//
// A launcher returns the launch status at once; faults inside the kernel surface at the next
// synchronisation. The caller owns the operands and keeps them until the stream gets there. They
// may overlap only where an elementwise kernel gets the same pointer twice. Any alignment of the
// element type works; multiples of 16 bytes are fast. Sums have a fixed order, which depends on
// sizes and on addresses modulo 16 alone, and use no floating-point atomics: the bits are the same
// each time. A workspace is device memory whose contents the launch overwrites; launch.h gives its
// size.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/attention/rotary.h"
#include "kernels/base/bf16.h"
#include "kernels/base/fp8.h"
#include "kernels/block_attention/block_attention.h"
#include "kernels/elementwise/dropout.h"
#include "kernels/exchange/combine.h"
#include "kernels/experts/router.h"
#include "kernels/optimizer/adamw.h"
#include "kernels/optimizer/runs.h"

namespace parallelarium {

// accumulate.h: sum[i] += part[i]. T: float, Bf16, double or std::int32_t.
template <class T>
[[nodiscard]] cudaError_t accumulate(T* sum, const T* part, std::size_t count, cudaStream_t stream);
// sum += part for rows of `width` elements; each stride is the distance between rows in elements.
template <class T>
[[nodiscard]] cudaError_t accumulate_rows(T* sum, std::int64_t sum_stride, const T* part,
                                          std::int64_t part_stride, std::int64_t rows,
                                          std::int64_t width, cudaStream_t stream);
// combine.h. target may be one of the parts. T: float, double, Bf16 or std::int32_t. parts_count
// must be in [1, kMostCombined].
inline constexpr int kMostCombined = 64;
template <class T>
[[nodiscard]] cudaError_t combine(T* target, const T* const* parts, int parts_count, Combine how,
                                  int divisor, std::size_t count, cudaStream_t stream);
// Swaps two stretches that do not overlap.
[[nodiscard]] cudaError_t swap_bytes(void* a, void* b, std::size_t bytes, cudaStream_t stream);
// fill.h
template <class T>
[[nodiscard]] cudaError_t fill(T* values, float value, std::size_t count, cudaStream_t stream);
// to = value for rows of `width` elements, `stride` apart.
template <class T>
[[nodiscard]] cudaError_t fill_rows(T* to, std::int64_t stride, float value, std::int64_t rows,
                                    std::int64_t width, cudaStream_t stream);
// bf16.h: from float to Bf16 or back.
template <class To, class From>
[[nodiscard]] cudaError_t cast(To* to, const From* from, std::size_t count, cudaStream_t stream);
// fp8.h: to = from [rows, columns] times the scale of its largest number, and that scale's inverse.
// With a pitch, a multiple of 16 and at least the rows, `to` is [columns, pitch], turned, with
// zeros behind each of its rows; it then starts at a multiple of 16 bytes, and columns are a
// multiple of 4. parts: kFp8Parts words.
template <class F>
[[nodiscard]] cudaError_t cast_fp8(F* to, float* inverse, void* parts, const Bf16* from,
                                   std::int64_t rows, std::int64_t columns,
                                   std::int64_t turned_pitch, cudaStream_t stream);

// residual.h
template <class T>
[[nodiscard]] cudaError_t residual_add(T* out, const T* stream_in, const T* branch,
                                       std::size_t count, cudaStream_t stream);
// branch may be null: then only the bias is added.
template <class T>
[[nodiscard]] cudaError_t residual_bias_add(T* out, const T* stream_in, const T* branch,
                                            const T* bias, std::int64_t N, std::int64_t C,
                                            cudaStream_t stream);

// dropout.h
template <class T>
[[nodiscard]] cudaError_t dropout_residual(T* out, std::uint8_t* mask, const T* stream_in,
                                           const T* branch, const Dropout& dropout,
                                           std::int64_t first, std::size_t count,
                                           cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t dropout_grad(T* dbranch, const T* dx, const std::uint8_t* mask,
                                       float scale, std::size_t count, cudaStream_t stream);
// attention.h: makes the mask and the dropped probabilities [B,H,T,T].
template <class T>
[[nodiscard]] cudaError_t dropout_probabilities(T* dropped, std::uint8_t* mask,
                                                const T* probabilities,
                                                const AttentionDropout& dropout,
                                                const AttentionShape& shape, cudaStream_t stream);

// activation.h
template <class T>
[[nodiscard]] cudaError_t gelu_forward(T* g, const T* u, std::size_t count, cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t gelu_backward(T* du, const T* dg, const T* u, std::size_t count,
                                        cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t swiglu_forward(T* g, const T* gate, const T* up, std::int64_t N,
                                         std::int64_t F, std::int64_t pitch, cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t swiglu_backward(T* du, const T* dg, const T* gate, const T* up,
                                          std::int64_t N, std::int64_t F, std::int64_t pitch,
                                          cudaStream_t stream);

// norm.h
template <class T>
[[nodiscard]] cudaError_t layer_norm_forward(T* y, float* stats, const T* x, const T* gain,
                                             const T* bias, std::int64_t N, std::int64_t C,
                                             cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t rms_norm_forward(T* y, float* stats, const T* x, const T* gain,
                                           std::int64_t N, std::int64_t C, cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t layer_norm_input_grad(T* dx, const T* dy, const T* x, const T* gain,
                                                const float* stats, bool accumulate, std::int64_t N,
                                                std::int64_t C, cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t rms_norm_input_grad(T* dx, const T* dy, const T* x, const T* gain,
                                              const float* stats, bool accumulate, std::int64_t N,
                                              std::int64_t C, cudaStream_t stream);
// workspace: column_sums_workspace(N, C).
template <class G, class T>
[[nodiscard]] cudaError_t norm_weight_grad(G* dgain, G* dbias, const T* dy, const T* x,
                                           const float* stats, void* workspace, std::int64_t N,
                                           std::int64_t C, cudaStream_t stream);
// linear.h: sums[c] += sum over rows of rows[n,c], the bias gradient of a linear layer.
// workspace: column_sums_workspace(N, C).
template <class G, class T>
[[nodiscard]] cudaError_t column_sums(G* sums, const T* rows, void* workspace, std::int64_t N,
                                      std::int64_t C, cudaStream_t stream);

// rotary.h
template <class T>
[[nodiscard]] cudaError_t rotary(T* qkv, Turn turn, const AttentionShape& shape,
                                 cudaStream_t stream, std::int64_t first = 0);

// embedding.h. A row that gathers several tokens gathers them in the order of n, in fp32.
template <class T>
[[nodiscard]] cudaError_t embedding_forward(T* x, const std::int32_t* tokens, const T* table,
                                            const T* positions, std::int64_t N, std::int64_t T_,
                                            std::int64_t C, cudaStream_t stream);
// workspace: embedding_grad_workspace(N), 8-byte aligned.
template <class G, class T>
[[nodiscard]] cudaError_t embedding_grad(G* dtable, G* dpositions, const T* dx,
                                         const std::int32_t* tokens, void* workspace,
                                         std::int64_t N, std::int64_t T_, std::int64_t C,
                                         cudaStream_t stream);

// cross_entropy.h
template <class T>
[[nodiscard]] cudaError_t loss_max(float* row_max, const T* logits, std::int64_t N, std::int64_t V,
                                   cudaStream_t stream, std::int64_t pitch = 0);
template <class T>
[[nodiscard]] cudaError_t loss_sum(float* sum_exp, float* target_logit, const T* logits,
                                   const float* row_max, const std::int32_t* targets,
                                   std::int64_t N, std::int64_t V, std::int64_t first,
                                   cudaStream_t stream, std::int64_t pitch = 0);
template <class T>
[[nodiscard]] cudaError_t loss_max_sum(float* row_max, float* sum_exp, float* target_logit,
                                       const T* logits, const std::int32_t* targets, std::int64_t N,
                                       std::int64_t V, cudaStream_t stream, std::int64_t pitch = 0);
[[nodiscard]] cudaError_t loss(double* sum, const float* row_max, const float* sum_exp,
                               const float* target_logit, std::int64_t N, cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t loss_grad(T* logits, const float* row_max, const float* sum_exp,
                                    const std::int32_t* targets, float scale, std::int64_t N,
                                    std::int64_t V, std::int64_t first, cudaStream_t stream,
                                    std::int64_t pitch = 0);

// router.h. N must be 1 or more. workspace: route_workspace(N, E), 4-byte aligned. Error:
// cudaErrorInvalidValue if the affinities of 4 tokens do not fit the GPU's shared memory (E above
// some 1500 on Turing).
template <class T>
[[nodiscard]] cudaError_t route(float* gates, std::int32_t* routes, float* record, const T* logits,
                                const float* bias, const RouterShape& shape, void* workspace,
                                cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t route_grad(T* dlogits, const float* dgates, const T* logits,
                                     const float* gates, const std::int32_t* routes, float scale,
                                     const RouterShape& shape, cudaStream_t stream);
[[nodiscard]] cudaError_t update_bias(float* bias, const float* loads, float rate,
                                      std::int64_t layers, std::int64_t E, cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t dispatch_rows(T* rows, const T* y, const std::int32_t* routes,
                                        std::int64_t N, std::int64_t k, std::int64_t C,
                                        cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t dispatch_rows_grad(T* dy, const T* drows, const std::int32_t* routes,
                                             bool adds, std::int64_t N, std::int64_t k,
                                             std::int64_t C, cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t combine_rows(T* out, const T* rows, const float* gates, const T* shared,
                                       const std::int32_t* routes, std::int64_t N, std::int64_t k,
                                       std::int64_t C, cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t combine_rows_grad(T* drows, float* dgates, const T* dout, const T* rows,
                                            const float* gates, const std::int32_t* routes,
                                            std::int64_t N, std::int64_t k, std::int64_t C,
                                            cudaStream_t stream);

// sum_of_squares.h, of the marked runs. workspace: sum_of_squares_workspace(), 8-byte aligned.
template <class T>
[[nodiscard]] cudaError_t sum_of_squares(double* sum, const T* values, void* workspace,
                                         const Runs& counted, cudaStream_t stream);
// adamw.h, bf16_kernels.h, with a weight decay of 0 for unmarked runs. master is null exactly if
// the parameters are fp32. If clip > 0, the kernel reads sum_of_squares.
template <class P, class G, class M>
[[nodiscard]] cudaError_t adamw(P* parameters, float* master, const G* gradients, M* first_moment,
                                M* second_moment, const double* sum_of_squares, float clip,
                                const AdamW& settings, const Runs& decayed, cudaStream_t stream);

// attention.h: the parts between its matrix products. gpu_matmul.h puts all together.
// In place on [heads, T, T]: rows of scores become probabilities, zero right of the diagonal.
template <class T>
[[nodiscard]] cudaError_t causal_softmax(T* scores, std::int64_t heads, std::int64_t length,
                                         cudaStream_t stream);
// In place: rows of dP become dS = P (dP - sum P dP) scale, zero right of the diagonal. The
// probabilities of consecutive heads are `step` elements apart.
template <class T>
[[nodiscard]] cudaError_t causal_softmax_grad(T* grad, const T* probabilities, std::int64_t step,
                                              float scale, std::int64_t heads, std::int64_t length,
                                              cudaStream_t stream);

// block_attention.h, without its scratch. bf16 uses tensor cores under the conditions of
// fused_attention if the block's stride is a multiple of 8 too. Error: cudaErrorInvalidValue if D
// is above 256.
template <class T>
[[nodiscard]] cudaError_t block_attention_forward(T* context, float* row_max, float* row_sum,
                                                  const T* qkv, const T* keys_values,
                                                  const AttentionBlock& block, cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t block_attention_finish(T* context, float* row_max, const float* row_sum,
                                                 const AttentionShape& shape, cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t block_attention_backward(T* dqkv, T* dkeys_values, const T* dcontext,
                                                   const T* qkv, const T* keys_values,
                                                   const T* context, const float* lse,
                                                   const AttentionBlock& block,
                                                   cudaStream_t stream);

// fused_attention.h. scratch: fused_attention_scratch(shape) floats (the forward needs none).
// bf16 uses tensor cores if has_fused_attention_tiles(), D is a multiple of 8 up to 128, and
// operands stand at multiples of 16 bytes. All else uses fp32 arithmetic, with D at most 256.
// Error: cudaErrorInvalidValue if D is larger, if a block's tiles do not fit the GPU's shared
// memory (fp32 backward: D above 110 on Turing, above 180 on 8.6 and 8.9), or if H is above 65535.
// fused_attention_shared: the most bytes that a block of fp32 arithmetic needs for heads of D, or
// the largest number of its type if D is too large.
template <class T>
[[nodiscard]] std::size_t fused_attention_shared(std::int64_t D);
template <class T>
[[nodiscard]] cudaError_t fused_attention_forward(T* context, float* lse, const T* qkv,
                                                  const AttentionShape& shape, cudaStream_t stream);
template <class T>
[[nodiscard]] cudaError_t fused_attention_backward(T* dqkv, float* scratch, const T* dcontext,
                                                   const T* qkv, const T* context, const float* lse,
                                                   const AttentionShape& shape,
                                                   cudaStream_t stream);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The CPU kernels on bf16 storage. They have the names, operands and requirements of the fp32
// kernels, which do the arithmetic. They widen inputs block by block (exact) and round results
// once, to the nearest. Statistics (stats, lse, row_max, sum_exp, target_logit, loss) stay fp32 or
// fp64. Gradients of weights (G) and AdamW's moments (M) are float or Bf16.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/attention/attention.h"
#include "kernels/attention/rotary.h"
#include "kernels/base/bf16.h"
#include "kernels/block_attention/block_attention.h"
#include "kernels/elementwise/dropout.h"
#include "kernels/optimizer/adamw.h"

namespace parallelarium {

void cast_cpu(float* to, const Bf16* from, std::size_t count);
void cast_cpu(Bf16* to, const float* from, std::size_t count);
void fill_cpu(Bf16* values, float value, std::size_t count);

void accumulate_cpu(Bf16* sum, const Bf16* part, std::size_t count);
void residual_add_cpu(Bf16* out, const Bf16* stream, const Bf16* branch, std::size_t count);
void residual_bias_add_cpu(Bf16* out, const Bf16* stream, const Bf16* branch, const Bf16* bias,
                           std::int64_t N, std::int64_t C);

void dropout_residual_cpu(Bf16* out, std::uint8_t* mask, const Bf16* stream, const Bf16* branch,
                          const Dropout& dropout, std::int64_t first, std::size_t count);
void dropout_grad_cpu(Bf16* dbranch, const Bf16* dx, const std::uint8_t* mask, float scale,
                      std::size_t count);

void gelu_forward_cpu(Bf16* g, const Bf16* u, std::size_t count);
void gelu_backward_cpu(Bf16* du, const Bf16* dg, const Bf16* u, std::size_t count);
void swiglu_forward_cpu(Bf16* g, const Bf16* gate, const Bf16* up, std::int64_t N, std::int64_t F,
                        std::int64_t pitch = 0);
void swiglu_backward_cpu(Bf16* du, const Bf16* dg, const Bf16* gate, const Bf16* up, std::int64_t N,
                         std::int64_t F, std::int64_t pitch = 0);

void layer_norm_forward_cpu(Bf16* y, float* stats, const Bf16* x, const Bf16* gain,
                            const Bf16* bias, std::int64_t N, std::int64_t C);
void rms_norm_forward_cpu(Bf16* y, float* stats, const Bf16* x, const Bf16* gain, std::int64_t N,
                          std::int64_t C);
void layer_norm_input_grad_cpu(Bf16* dx, const Bf16* dy, const Bf16* x, const Bf16* gain,
                               const float* stats, bool accumulate, std::int64_t N, std::int64_t C);
void rms_norm_input_grad_cpu(Bf16* dx, const Bf16* dy, const Bf16* x, const Bf16* gain,
                             const float* stats, bool accumulate, std::int64_t N, std::int64_t C);
template <class G>
void norm_weight_grad_cpu(G* dgain, G* dbias, const Bf16* dy, const Bf16* x, const float* stats,
                          std::int64_t N, std::int64_t C);

// Y: Bf16, or float for outputs that must not be rounded, such as a router's logits.
template <class Y>
void linear_forward_cpu(Y* y, const Bf16* x, const Bf16* w, const Bf16* bias, std::int64_t N,
                        std::int64_t M, std::int64_t K, std::int64_t y_pitch = 0);
template <class Y>
void linear_input_grad_cpu(Bf16* dx, const Y* dy, const Bf16* w, std::int64_t N, std::int64_t M,
                           std::int64_t K, std::int64_t y_pitch = 0);
template <class G, class Y>
void linear_weight_grad_cpu(G* dw, G* db, const Y* dy, const Bf16* x, std::int64_t N,
                            std::int64_t M, std::int64_t K, std::int64_t y_pitch = 0);

void attention_forward_cpu(Bf16* context, Bf16* probabilities, const Bf16* qkv,
                           const AttentionShape& shape,
                           const DroppedProbabilities<Bf16>& dropout = {});
// scratch: float[T*T].
void attention_backward_cpu(Bf16* dqkv, float* scratch, const Bf16* dcontext, const Bf16* qkv,
                            const Bf16* probabilities, const AttentionShape& shape,
                            const DroppedProbabilities<Bf16>& dropout = {});
void fused_attention_forward_cpu(Bf16* context, float* lse, float* scratch, const Bf16* qkv,
                                 const AttentionShape& shape);
void fused_attention_backward_cpu(Bf16* dqkv, float* scratch, const Bf16* dcontext, const Bf16* qkv,
                                  const Bf16* context, const float* lse,
                                  const AttentionShape& shape);
// block_attention.h. Every block rounds the undivided context and the gradients that several blocks
// add to.
void block_attention_forward_cpu(Bf16* context, float* row_max, float* row_sum, float* scratch,
                                 const Bf16* qkv, const Bf16* keys_values,
                                 const AttentionBlock& block);
void block_attention_finish_cpu(Bf16* context, float* row_max, const float* row_sum,
                                const AttentionShape& shape);
void block_attention_backward_cpu(Bf16* dqkv, Bf16* dkeys_values, float* scratch,
                                  const Bf16* dcontext, const Bf16* qkv, const Bf16* keys_values,
                                  const Bf16* context, const float* lse,
                                  const AttentionBlock& block);
void rotary_cpu(Bf16* qkv, Turn turn, const AttentionShape& shape, std::int64_t first = 0);

void embedding_forward_cpu(Bf16* x, const std::int32_t* tokens, const Bf16* table,
                           const Bf16* positions, std::int64_t N, std::int64_t T, std::int64_t C);
// A row that several tokens add to sums them in fp32, in the order of n, and is rounded once.
template <class G>
void embedding_grad_cpu(G* dtable, G* dpositions, const Bf16* dx, const std::int32_t* tokens,
                        std::int64_t N, std::int64_t T, std::int64_t C);

// router.h
void dispatch_rows_cpu(Bf16* rows, const Bf16* y, const std::int32_t* routes, std::int64_t N,
                       std::int64_t k, std::int64_t C);
void dispatch_rows_grad_cpu(Bf16* dy, const Bf16* drows, const std::int32_t* routes, bool adds,
                            std::int64_t N, std::int64_t k, std::int64_t C);
void combine_rows_cpu(Bf16* out, const Bf16* rows, const float* gates, const Bf16* shared,
                      const std::int32_t* routes, std::int64_t N, std::int64_t k, std::int64_t C);
void combine_rows_grad_cpu(Bf16* drows, float* dgates, const Bf16* dout, const Bf16* rows,
                           const float* gates, const std::int32_t* routes, std::int64_t N,
                           std::int64_t k, std::int64_t C);

void loss_max_cpu(float* row_max, const Bf16* logits, std::int64_t N, std::int64_t V,
                  std::int64_t pitch = 0);
void loss_sum_cpu(float* sum_exp, float* target_logit, const Bf16* logits, const float* row_max,
                  const std::int32_t* targets, std::int64_t N, std::int64_t V,
                  std::int64_t first = 0, std::int64_t pitch = 0);
void loss_max_sum_cpu(float* row_max, float* sum_exp, float* target_logit, const Bf16* logits,
                      const std::int32_t* targets, std::int64_t N, std::int64_t V,
                      std::int64_t pitch = 0);
void loss_grad_cpu(Bf16* logits, const float* row_max, const float* sum_exp,
                   const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V,
                   std::int64_t first = 0, std::int64_t pitch = 0);

void sum_of_squares_cpu(double* sum, const Bf16* values, std::size_t count);

// Updates the fp32 master and rounds it into the parameters.
template <class G, class M>
void adamw_cpu(Bf16* parameters, float* master, const G* gradients, M* first_moment,
               M* second_moment, const double* sum_of_squares, float clip, const AdamW& settings,
               std::size_t count);

}  // namespace parallelarium

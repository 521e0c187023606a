// SPDX-License-Identifier: Apache-2.0
// The kernels of a lane of a rank, on its memory and in its order (device_stream.h).
//
// Legend: see engine/plan/program/pieces.h. A launch computes what the CPU function of the same
// name in kernels/ computes; its header has shapes and requirements. All Values of a launch are
// fp32, or all are bf16, except that gradients of weights and moments may be fp32 beside bf16.
#pragma once

#include <cstdint>
#include <memory>

#include "engine/train/device_stream.h"
#include "engine/train/values.h"
#include "kernels/attention/attention.h"
#include "kernels/attention/rotary.h"
#include "kernels/block_attention/block_attention.h"
#include "kernels/elementwise/dropout.h"
#include "kernels/experts/router.h"
#include "kernels/optimizer/adamw.h"
#include "kernels/optimizer/runs.h"

namespace parallelarium {

// Dropout of stored probabilities, see DroppedProbabilities.
struct DroppedValues {
  std::uint8_t* mask = nullptr;  // null: none
  Values dropped;
  AttentionDropout of;
  template <class T>
  DroppedProbabilities<T> as() const {
    return {mask, dropped.as<T>(), of};
  }
};

class Device : public DeviceStream {
 public:
  // The output and its gradient may be fp32 beside bf16, but then have no bias. Their rows may be
  // `y_pitch` apart (kernels/base/pitch.h).
  virtual void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias,
                              std::int64_t N, std::int64_t M, std::int64_t K,
                              std::int64_t y_pitch = 0) = 0;
  virtual void linear_input_grad(Values dx, ConstValues dy, ConstValues w, std::int64_t N,
                                 std::int64_t M, std::int64_t K, std::int64_t y_pitch = 0) = 0;
  virtual void linear_weight_grad(Values dw, Values db, ConstValues dy, ConstValues x,
                                  std::int64_t N, std::int64_t M, std::int64_t K,
                                  std::int64_t y_pitch = 0) = 0;

  // The same with products of FP8 (kernels/products/fp8_linear.h), which the device must have. All
  // are bf16, but weights' gradients may be fp32, and rows have no gaps.
  virtual bool has_fp8() const { return true; }
  virtual void fp8_linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias,
                                  std::int64_t N, std::int64_t M, std::int64_t K) = 0;
  virtual void fp8_linear_input_grad(Values dx, ConstValues dy, ConstValues w, std::int64_t N,
                                     std::int64_t M, std::int64_t K) = 0;
  virtual void fp8_linear_weight_grad(Values dw, Values db, ConstValues dy, ConstValues x,
                                      std::int64_t N, std::int64_t M, std::int64_t K) = 0;

  virtual void layer_norm_forward(Values y, float* stats, ConstValues x, ConstValues gain,
                                  ConstValues bias, std::int64_t N, std::int64_t C) = 0;
  virtual void rms_norm_forward(Values y, float* stats, ConstValues x, ConstValues gain,
                                std::int64_t N, std::int64_t C) = 0;
  virtual void layer_norm_input_grad(Values dx, ConstValues dy, ConstValues x, ConstValues gain,
                                     const float* stats, bool accumulate, std::int64_t N,
                                     std::int64_t C) = 0;
  virtual void rms_norm_input_grad(Values dx, ConstValues dy, ConstValues x, ConstValues gain,
                                   const float* stats, bool accumulate, std::int64_t N,
                                   std::int64_t C) = 0;
  virtual void norm_weight_grad(Values dgain, Values dbias, ConstValues dy, ConstValues x,
                                const float* stats, std::int64_t N, std::int64_t C) = 0;

  virtual void attention_forward(Values context, Values probabilities, ConstValues qkv,
                                 const AttentionShape& shape, const DroppedValues& dropout) = 0;
  virtual void attention_backward(Values dqkv, float* scratch, ConstValues dcontext,
                                  ConstValues qkv, ConstValues probabilities,
                                  const AttentionShape& shape, const DroppedValues& dropout) = 0;
  // Whether fused_attention_forward and _backward take heads of D such numbers; callers do others
  // by blocks.
  virtual bool fuses(DataType type, std::int64_t D) const {
    return static_cast<void>(D), type == DataType::kBf16;
  }
  virtual void fused_attention_forward(Values context, float* lse, float* scratch, ConstValues qkv,
                                       const AttentionShape& shape) = 0;
  virtual void fused_attention_backward(Values dqkv, float* scratch, ConstValues dcontext,
                                        ConstValues qkv, ConstValues context, const float* lse,
                                        const AttentionShape& shape) = 0;
  virtual void block_attention_forward(Values context, float* row_max, float* row_sum,
                                       float* scratch, ConstValues qkv, ConstValues keys_values,
                                       const AttentionBlock& block) = 0;
  virtual void block_attention_finish(Values context, float* row_max, const float* row_sum,
                                      const AttentionShape& shape) = 0;
  virtual void block_attention_backward(Values dqkv, Values dkeys_values, float* scratch,
                                        ConstValues dcontext, ConstValues qkv,
                                        ConstValues keys_values, ConstValues context,
                                        const float* lse, const AttentionBlock& block) = 0;
  virtual void rotary(Values qkv, Turn turn, std::int64_t first, const AttentionShape& shape) = 0;
  // to = from for rows of `width` elements; each stride is the distance between rows in elements.
  virtual void copy_rows(Values to, std::int64_t to_stride, ConstValues from,
                         std::int64_t from_stride, std::int64_t rows, std::int64_t width) = 0;
  // sum += part for such rows.
  virtual void accumulate_rows(Values sum, std::int64_t sum_stride, ConstValues part,
                               std::int64_t part_stride, std::int64_t rows, std::int64_t width) = 0;

  // to = value for rows of `width` elements, `stride` apart.
  virtual void fill_rows(Values to, std::int64_t stride, float value, std::int64_t rows,
                         std::int64_t width) = 0;

  virtual void residual_add(Values out, ConstValues stream, ConstValues branch,
                            std::int64_t count) = 0;
  virtual void dropout_residual(Values out, std::uint8_t* mask, ConstValues stream,
                                ConstValues branch, const Dropout& dropout, std::int64_t first,
                                std::int64_t count) = 0;
  virtual void dropout_grad(Values dbranch, ConstValues dx, const std::uint8_t* mask, float scale,
                            std::int64_t count) = 0;
  virtual void gelu_forward(Values g, ConstValues u, std::int64_t count) = 0;
  virtual void gelu_backward(Values du, ConstValues dg, ConstValues u, std::int64_t count) = 0;
  virtual void swiglu_forward(Values g, ConstValues gate, ConstValues up, std::int64_t N,
                              std::int64_t F, std::int64_t pitch) = 0;
  virtual void swiglu_backward(Values du, ConstValues dg, ConstValues gate, ConstValues up,
                               std::int64_t N, std::int64_t F, std::int64_t pitch) = 0;

  virtual void embedding_forward(Values x, const std::int32_t* tokens, ConstValues table,
                                 ConstValues positions, std::int64_t N, std::int64_t T,
                                 std::int64_t C) = 0;
  virtual void embedding_grad(Values dtable, Values dpositions, ConstValues dx,
                              const std::int32_t* tokens, std::int64_t N, std::int64_t T,
                              std::int64_t C) = 0;

  // Rows of logits are `pitch` apart.
  virtual void loss_max(float* row_max, ConstValues logits, std::int64_t N, std::int64_t V,
                        std::int64_t pitch = 0) = 0;
  virtual void loss_sum(float* sum_exp, float* target_logit, ConstValues logits,
                        const float* row_max, const std::int32_t* targets, std::int64_t N,
                        std::int64_t V, std::int64_t pitch = 0) = 0;
  // loss_max and loss_sum at once.
  virtual void loss_max_sum(float* row_max, float* sum_exp, float* target_logit, ConstValues logits,
                            const std::int32_t* targets, std::int64_t N, std::int64_t V,
                            std::int64_t pitch = 0) = 0;
  virtual void loss(double* sum, const float* row_max, const float* sum_exp,
                    const float* target_logit, std::int64_t N) = 0;
  virtual void loss_grad(Values logits, const float* row_max, const float* sum_exp,
                         const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V,
                         std::int64_t pitch = 0) = 0;

  virtual void route(float* gates, std::int32_t* routes, float* record, const float* logits,
                     const float* bias, const RouterShape& shape) = 0;
  virtual void route_grad(float* dlogits, const float* dgates, const float* logits,
                          const float* gates, const std::int32_t* routes, float scale,
                          const RouterShape& shape) = 0;
  virtual void update_bias(float* bias, const float* loads, float rate, std::int64_t layers,
                           std::int64_t E) = 0;
  virtual void dispatch_rows(Values rows, ConstValues y, const std::int32_t* routes, std::int64_t N,
                             std::int64_t k, std::int64_t C) = 0;
  virtual void dispatch_rows_grad(Values dy, ConstValues drows, const std::int32_t* routes,
                                  bool adds, std::int64_t N, std::int64_t k, std::int64_t C) = 0;
  virtual void combine_rows(Values out, ConstValues rows, const float* gates, ConstValues shared,
                            const std::int32_t* routes, std::int64_t N, std::int64_t k,
                            std::int64_t C) = 0;
  virtual void combine_rows_grad(Values drows, float* dgates, ConstValues dout, ConstValues rows,
                                 const float* gates, const std::int32_t* routes, std::int64_t N,
                                 std::int64_t k, std::int64_t C) = 0;

  // Adds up the marked runs alone.
  virtual void sum_of_squares(double* sum, ConstValues values, const Runs& counted) = 0;
  // Unmarked runs do not decay. master is null exactly if the parameters are fp32.
  virtual void adamw(Values parameters, float* master, ConstValues gradients, Values first_moment,
                     Values second_moment, const double* square_sum, float clip,
                     const AdamW& settings, const Runs& decayed) = 0;
};

// A device of host memory that runs kernels/ on the calling thread.
std::unique_ptr<Device> make_cpu_device();

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// A CPU Device that calls a test's function before every forward product of a linear layer, to fail
// or hang there.
#pragma once

#include <functional>
#include <utility>

#include "engine/train/device.h"

namespace parallelarium {

class WrappedDevice : public Device {
 public:
  // `before_linear` is given the count of calls so far, from 1.
  explicit WrappedDevice(std::function<void(int)> before_linear)
      : before_linear_(std::move(before_linear)) {}

  Result<std::byte*> allocate(std::int64_t bytes) override { return inner_->allocate(bytes); }
  void release(std::byte* address) override { return inner_->release(address); }
  void zero(std::byte* address, std::int64_t bytes) override {
    return inner_->zero(address, bytes);
  }
  void copy(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    return inner_->copy(to, from, bytes);
  }
  void copy_to_device(std::byte* to, const void* from_host, std::int64_t bytes) override {
    return inner_->copy_to_device(to, from_host, bytes);
  }
  void copy_to_host(void* to_host, const std::byte* from, std::int64_t bytes) override {
    return inner_->copy_to_host(to_host, from, bytes);
  }
  Result<void> finish() override { return inner_->finish(); }
  void combine(DataType type, Reduction reduction, std::byte* target,
               std::span<const std::byte* const> parts, int divisor, std::int64_t count) override {
    inner_->combine(type, reduction, target, parts, divisor, count);
  }
  void swap(std::byte* a, std::byte* b, std::int64_t bytes) override { inner_->swap(a, b, bytes); }
  void accumulate(Values sum, ConstValues part, std::int64_t count) override {
    return inner_->accumulate(sum, part, count);
  }
  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                      std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    before_linear_(++calls_);
    return inner_->linear_forward(y, x, w, bias, N, M, K, y_pitch);
  }
  void linear_input_grad(Values dx, ConstValues dy, ConstValues w, std::int64_t N, std::int64_t M,
                         std::int64_t K, std::int64_t y_pitch) override {
    return inner_->linear_input_grad(dx, dy, w, N, M, K, y_pitch);
  }
  void linear_weight_grad(Values dw, Values db, ConstValues dy, ConstValues x, std::int64_t N,
                          std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    return inner_->linear_weight_grad(dw, db, dy, x, N, M, K, y_pitch);
  }
  void layer_norm_forward(Values y, float* stats, ConstValues x, ConstValues gain, ConstValues bias,
                          std::int64_t N, std::int64_t C) override {
    return inner_->layer_norm_forward(y, stats, x, gain, bias, N, C);
  }
  void rms_norm_forward(Values y, float* stats, ConstValues x, ConstValues gain, std::int64_t N,
                        std::int64_t C) override {
    return inner_->rms_norm_forward(y, stats, x, gain, N, C);
  }
  void layer_norm_input_grad(Values dx, ConstValues dy, ConstValues x, ConstValues gain,
                             const float* stats, bool accumulate, std::int64_t N,
                             std::int64_t C) override {
    return inner_->layer_norm_input_grad(dx, dy, x, gain, stats, accumulate, N, C);
  }
  void rms_norm_input_grad(Values dx, ConstValues dy, ConstValues x, ConstValues gain,
                           const float* stats, bool accumulate, std::int64_t N,
                           std::int64_t C) override {
    return inner_->rms_norm_input_grad(dx, dy, x, gain, stats, accumulate, N, C);
  }
  void norm_weight_grad(Values dgain, Values dbias, ConstValues dy, ConstValues x,
                        const float* stats, std::int64_t N, std::int64_t C) override {
    return inner_->norm_weight_grad(dgain, dbias, dy, x, stats, N, C);
  }
  void attention_forward(Values context, Values probabilities, ConstValues qkv,
                         const AttentionShape& shape, const DroppedValues& dropout) override {
    return inner_->attention_forward(context, probabilities, qkv, shape, dropout);
  }
  void attention_backward(Values dqkv, float* scratch, ConstValues dcontext, ConstValues qkv,
                          ConstValues probabilities, const AttentionShape& shape,
                          const DroppedValues& dropout) override {
    return inner_->attention_backward(dqkv, scratch, dcontext, qkv, probabilities, shape, dropout);
  }
  bool fuses(DataType type, std::int64_t D) const override { return inner_->fuses(type, D); }
  void fused_attention_forward(Values context, float* lse, float* scratch, ConstValues qkv,
                               const AttentionShape& shape) override {
    inner_->fused_attention_forward(context, lse, scratch, qkv, shape);
  }
  void fused_attention_backward(Values dqkv, float* scratch, ConstValues dcontext, ConstValues qkv,
                                ConstValues context, const float* lse,
                                const AttentionShape& shape) override {
    inner_->fused_attention_backward(dqkv, scratch, dcontext, qkv, context, lse, shape);
  }
  void block_attention_forward(Values context, float* row_max, float* row_sum, float* scratch,
                               ConstValues qkv, ConstValues keys_values,
                               const AttentionBlock& block) override {
    inner_->block_attention_forward(context, row_max, row_sum, scratch, qkv, keys_values, block);
  }
  void block_attention_finish(Values context, float* row_max, const float* row_sum,
                              const AttentionShape& shape) override {
    inner_->block_attention_finish(context, row_max, row_sum, shape);
  }
  void block_attention_backward(Values dqkv, Values dkeys_values, float* scratch,
                                ConstValues dcontext, ConstValues qkv, ConstValues keys_values,
                                ConstValues context, const float* lse,
                                const AttentionBlock& block) override {
    inner_->block_attention_backward(dqkv, dkeys_values, scratch, dcontext, qkv, keys_values,
                                     context, lse, block);
  }
  void copy_rows(Values to, std::int64_t to_stride, ConstValues from, std::int64_t from_stride,
                 std::int64_t rows, std::int64_t width) override {
    inner_->copy_rows(to, to_stride, from, from_stride, rows, width);
  }
  void rotary(Values qkv, Turn turn, std::int64_t first, const AttentionShape& shape) override {
    return inner_->rotary(qkv, turn, first, shape);
  }
  void accumulate_rows(Values sum, std::int64_t sum_stride, ConstValues part,
                       std::int64_t part_stride, std::int64_t rows, std::int64_t width) override {
    inner_->accumulate_rows(sum, sum_stride, part, part_stride, rows, width);
  }
  void fill_rows(Values to, std::int64_t stride, float value, std::int64_t rows,
                 std::int64_t width) override {
    inner_->fill_rows(to, stride, value, rows, width);
  }
  void residual_add(Values out, ConstValues stream, ConstValues branch,
                    std::int64_t count) override {
    return inner_->residual_add(out, stream, branch, count);
  }
  void dropout_residual(Values out, std::uint8_t* mask, ConstValues stream, ConstValues branch,
                        const Dropout& dropout, std::int64_t first, std::int64_t count) override {
    inner_->dropout_residual(out, mask, stream, branch, dropout, first, count);
  }
  void dropout_grad(Values dbranch, ConstValues dx, const std::uint8_t* mask, float scale,
                    std::int64_t count) override {
    inner_->dropout_grad(dbranch, dx, mask, scale, count);
  }
  void gelu_forward(Values g, ConstValues u, std::int64_t count) override {
    return inner_->gelu_forward(g, u, count);
  }
  void gelu_backward(Values du, ConstValues dg, ConstValues u, std::int64_t count) override {
    return inner_->gelu_backward(du, dg, u, count);
  }
  void swiglu_forward(Values g, ConstValues u, std::int64_t N, std::int64_t F) override {
    return inner_->swiglu_forward(g, u, N, F);
  }
  void swiglu_backward(Values du, ConstValues dg, ConstValues u, std::int64_t N,
                       std::int64_t F) override {
    return inner_->swiglu_backward(du, dg, u, N, F);
  }
  void embedding_forward(Values x, const std::int32_t* tokens, ConstValues table,
                         ConstValues positions, std::int64_t N, std::int64_t T,
                         std::int64_t C) override {
    return inner_->embedding_forward(x, tokens, table, positions, N, T, C);
  }
  void embedding_grad(Values dtable, Values dpositions, ConstValues dx, const std::int32_t* tokens,
                      std::int64_t N, std::int64_t T, std::int64_t C) override {
    return inner_->embedding_grad(dtable, dpositions, dx, tokens, N, T, C);
  }
  void loss_max(float* row_max, ConstValues logits, std::int64_t N, std::int64_t V,
                std::int64_t pitch) override {
    return inner_->loss_max(row_max, logits, N, V, pitch);
  }
  void loss_sum(float* sum_exp, float* target_logit, ConstValues logits, const float* row_max,
                const std::int32_t* targets, std::int64_t N, std::int64_t V,
                std::int64_t pitch) override {
    return inner_->loss_sum(sum_exp, target_logit, logits, row_max, targets, N, V, pitch);
  }
  void loss_max_sum(float* row_max, float* sum_exp, float* target_logit, ConstValues logits,
                    const std::int32_t* targets, std::int64_t N, std::int64_t V,
                    std::int64_t pitch) override {
    return inner_->loss_max_sum(row_max, sum_exp, target_logit, logits, targets, N, V, pitch);
  }
  void loss(double* sum, const float* row_max, const float* sum_exp, const float* target_logit,
            std::int64_t N) override {
    return inner_->loss(sum, row_max, sum_exp, target_logit, N);
  }
  void loss_grad(Values logits, const float* row_max, const float* sum_exp,
                 const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V,
                 std::int64_t pitch) override {
    return inner_->loss_grad(logits, row_max, sum_exp, targets, scale, N, V, pitch);
  }
  void route(float* gates, std::int32_t* routes, float* record, const float* logits,
             const float* bias, const RouterShape& shape) override {
    return inner_->route(gates, routes, record, logits, bias, shape);
  }
  void route_grad(float* dlogits, const float* dgates, const float* logits, const float* gates,
                  const std::int32_t* routes, float scale, const RouterShape& shape) override {
    return inner_->route_grad(dlogits, dgates, logits, gates, routes, scale, shape);
  }
  void update_bias(float* bias, const float* loads, float rate, std::int64_t layers,
                   std::int64_t E) override {
    return inner_->update_bias(bias, loads, rate, layers, E);
  }
  void dispatch_rows(Values rows, ConstValues y, const std::int32_t* routes, std::int64_t N,
                     std::int64_t k, std::int64_t C) override {
    return inner_->dispatch_rows(rows, y, routes, N, k, C);
  }
  void dispatch_rows_grad(Values dy, ConstValues drows, const std::int32_t* routes, bool adds,
                          std::int64_t N, std::int64_t k, std::int64_t C) override {
    return inner_->dispatch_rows_grad(dy, drows, routes, adds, N, k, C);
  }
  void combine_rows(Values out, ConstValues rows, const float* gates, ConstValues shared,
                    const std::int32_t* routes, std::int64_t N, std::int64_t k,
                    std::int64_t C) override {
    return inner_->combine_rows(out, rows, gates, shared, routes, N, k, C);
  }
  void combine_rows_grad(Values drows, float* dgates, ConstValues dout, ConstValues rows,
                         const float* gates, const std::int32_t* routes, std::int64_t N,
                         std::int64_t k, std::int64_t C) override {
    return inner_->combine_rows_grad(drows, dgates, dout, rows, gates, routes, N, k, C);
  }
  void sum_of_squares(double* sum, ConstValues values, const Runs& counted) override {
    return inner_->sum_of_squares(sum, values, counted);
  }
  void adamw(Values parameters, float* master, ConstValues gradients, Values first_moment,
             Values second_moment, const double* square_sum, float clip, const AdamW& settings,
             const Runs& decayed) override {
    inner_->adamw(parameters, master, gradients, first_moment, second_moment, square_sum, clip,
                  settings, decayed);
  }

 private:
  std::function<void(int)> before_linear_;
  int calls_ = 0;
  std::unique_ptr<Device> inner_ = make_cpu_device();
};

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// A Device that computes what a CPU does and then tells of every launch and what it has written, so
// that a test can count launches and spoil results.
#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "engine/train/device.h"

namespace parallelarium {

class FaultyDevice : public Device {
 public:
  // `output`: which of the launch's results, from 0.
  using After = std::function<void(const std::string& launch, int output, Values written)>;
  explicit FaultyDevice(After after) : after_(std::move(after)) {}

  Result<std::byte*> allocate(std::int64_t bytes) override { return inner_->allocate(bytes); }
  void release(std::byte* address) override { inner_->release(address); }
  Result<void> finish() override { return inner_->finish(); }
  void copy_to_host(void* to, const std::byte* from, std::int64_t bytes) override {
    inner_->copy_to_host(to, from, bytes);
    tell("copy_to_host", {});
  }
  void copy_to_device(std::byte* to, const void* from, std::int64_t bytes) override {
    inner_->copy_to_device(to, from, bytes);
    tell("copy_to_device", {});
  }

#define LAUNCH(name, parameters, arguments, ...) \
  void name parameters override {                \
    inner_->name arguments;                      \
    tell(#name, {__VA_ARGS__});                  \
  }
  using I = std::int64_t;
  using V = Values;
  using C = ConstValues;
  using Tokens = const std::int32_t*;
  LAUNCH(zero, (std::byte * at, I bytes), (at, bytes), u8(at))
  LAUNCH(copy, (std::byte * to, const std::byte* from, I bytes), (to, from, bytes), u8(to))
  LAUNCH(combine,
         (DataType type, Reduction reduction, std::byte* target,
          std::span<const std::byte* const> parts, int divisor, I count),
         (type, reduction, target, parts, divisor, count), V(type, target))
  LAUNCH(swap, (std::byte * a, std::byte* b, I bytes), (a, b, bytes), u8(a), u8(b))
  LAUNCH(accumulate, (V sum, C part, I count), (sum, part, count), sum)
  LAUNCH(linear_forward, (V y, C x, C w, C bias, I N, I M, I K, I pitch),
         (y, x, w, bias, N, M, K, pitch), y)
  LAUNCH(linear_input_grad, (V dx, C dy, C w, I N, I M, I K, I pitch), (dx, dy, w, N, M, K, pitch),
         dx)
  LAUNCH(linear_weight_grad, (V dw, V db, C dy, C x, I N, I M, I K, I pitch),
         (dw, db, dy, x, N, M, K, pitch), dw, db)
  LAUNCH(layer_norm_forward, (V y, float* stats, C x, C gain, C bias, I N, I channels),
         (y, stats, x, gain, bias, N, channels), y, V(stats))
  LAUNCH(rms_norm_forward, (V y, float* stats, C x, C gain, I N, I channels),
         (y, stats, x, gain, N, channels), y, V(stats))
  LAUNCH(layer_norm_input_grad,
         (V dx, C dy, C x, C gain, const float* stats, bool adds, I N, I channels),
         (dx, dy, x, gain, stats, adds, N, channels), dx)
  LAUNCH(rms_norm_input_grad,
         (V dx, C dy, C x, C gain, const float* stats, bool adds, I N, I channels),
         (dx, dy, x, gain, stats, adds, N, channels), dx)
  LAUNCH(norm_weight_grad, (V dgain, V dbias, C dy, C x, const float* stats, I N, I channels),
         (dgain, dbias, dy, x, stats, N, channels), dgain, dbias)
  LAUNCH(attention_forward,
         (V context, V probabilities, C qkv, const AttentionShape& shape,
          const DroppedValues& drop),
         (context, probabilities, qkv, shape, drop), context, probabilities, u8(drop.mask),
         drop.mask != nullptr ? drop.dropped : V())
  LAUNCH(attention_backward,
         (V dqkv, float* scratch, C dcontext, C qkv, C probabilities, const AttentionShape& shape,
          const DroppedValues& drop),
         (dqkv, scratch, dcontext, qkv, probabilities, shape, drop), dqkv)
  bool fuses(DataType, I) const override { return true; }
  LAUNCH(fused_attention_forward,
         (V context, float* lse, float* scratch, C qkv, const AttentionShape& shape),
         (context, lse, scratch, qkv, shape), context, V(lse))
  LAUNCH(fused_attention_backward,
         (V dqkv, float* scratch, C dcontext, C qkv, C context, const float* lse,
          const AttentionShape& shape),
         (dqkv, scratch, dcontext, qkv, context, lse, shape), dqkv)
  LAUNCH(block_attention_forward,
         (V context, float* row_max, float* row_sum, float* scratch, C qkv, C keys_values,
          const AttentionBlock& block),
         (context, row_max, row_sum, scratch, qkv, keys_values, block), context, V(row_max),
         V(row_sum))
  LAUNCH(block_attention_finish,
         (V context, float* row_max, const float* row_sum, const AttentionShape& shape),
         (context, row_max, row_sum, shape), context, V(row_max))
  LAUNCH(block_attention_backward,
         (V dqkv, V dkeys_values, float* scratch, C dcontext, C qkv, C keys_values, C context,
          const float* lse, const AttentionBlock& block),
         (dqkv, dkeys_values, scratch, dcontext, qkv, keys_values, context, lse, block), dqkv,
         dkeys_values)
  LAUNCH(rotary, (V qkv, Turn turn, I first, const AttentionShape& shape),
         (qkv, turn, first, shape), qkv)
  LAUNCH(copy_rows, (V to, I to_stride, C from, I from_stride, I rows, I width),
         (to, to_stride, from, from_stride, rows, width), to)
  LAUNCH(accumulate_rows, (V sum, I sum_stride, C part, I part_stride, I rows, I width),
         (sum, sum_stride, part, part_stride, rows, width), sum)
  LAUNCH(fill_rows, (V to, I stride, float value, I rows, I width),
         (to, stride, value, rows, width), to)
  LAUNCH(residual_add, (V out, C stream, C branch, I count), (out, stream, branch, count), out)
  LAUNCH(dropout_residual,
         (V out, std::uint8_t* mask, C stream, C branch, const Dropout& dropout, I first, I count),
         (out, mask, stream, branch, dropout, first, count), out, u8(mask))
  LAUNCH(dropout_grad, (V dbranch, C dx, const std::uint8_t* mask, float scale, I count),
         (dbranch, dx, mask, scale, count), dbranch)
  LAUNCH(gelu_forward, (V g, C u, I count), (g, u, count), g)
  LAUNCH(gelu_backward, (V du, C dg, C u, I count), (du, dg, u, count), du)
  LAUNCH(swiglu_forward, (V g, C u, I N, I F), (g, u, N, F), g)
  LAUNCH(swiglu_backward, (V du, C dg, C u, I N, I F), (du, dg, u, N, F), du)
  LAUNCH(embedding_forward, (V x, Tokens tokens, C table, C positions, I N, I T, I channels),
         (x, tokens, table, positions, N, T, channels), x)
  LAUNCH(embedding_grad, (V dtable, V dpositions, C dx, Tokens tokens, I N, I T, I channels),
         (dtable, dpositions, dx, tokens, N, T, channels), dtable, dpositions)
  LAUNCH(loss_max, (float* row_max, C logits, I N, I entries, I pitch),
         (row_max, logits, N, entries, pitch), V(row_max))
  LAUNCH(loss_sum,
         (float* sum_exp, float* target_logit, C logits, const float* row_max, Tokens targets, I N,
          I entries, I pitch),
         (sum_exp, target_logit, logits, row_max, targets, N, entries, pitch), V(sum_exp),
         V(target_logit))
  LAUNCH(loss_max_sum,
         (float* row_max, float* sum_exp, float* target_logit, C logits, Tokens targets, I N,
          I entries, I pitch),
         (row_max, sum_exp, target_logit, logits, targets, N, entries, pitch), V(row_max),
         V(sum_exp), V(target_logit))
  LAUNCH(loss,
         (double* sum, const float* row_max, const float* sum_exp, const float* target_logit, I N),
         (sum, row_max, sum_exp, target_logit, N), V(sum))
  LAUNCH(loss_grad,
         (V logits, const float* row_max, const float* sum_exp, Tokens targets, float scale, I N,
          I entries, I pitch),
         (logits, row_max, sum_exp, targets, scale, N, entries, pitch), logits)
  LAUNCH(route,
         (float* gates, std::int32_t* routes, float* record, const float* logits, const float* bias,
          const RouterShape& shape),
         (gates, routes, record, logits, bias, shape), V(gates),
         V(DataType::kI32, reinterpret_cast<std::byte*>(routes)), V(record))
  LAUNCH(route_grad,
         (float* dlogits, const float* dgates, const float* logits, const float* gates,
          Tokens routes, float scale, const RouterShape& shape),
         (dlogits, dgates, logits, gates, routes, scale, shape), V(dlogits))
  LAUNCH(update_bias, (float* bias, const float* loads, float rate, I layers, I E),
         (bias, loads, rate, layers, E), V(bias))
  LAUNCH(dispatch_rows, (V rows, C y, Tokens routes, I N, I k, I channels),
         (rows, y, routes, N, k, channels), rows)
  LAUNCH(dispatch_rows_grad, (V dy, C drows, Tokens routes, bool adds, I N, I k, I channels),
         (dy, drows, routes, adds, N, k, channels), dy)
  LAUNCH(combine_rows,
         (V out, C rows, const float* gates, C shared, Tokens routes, I N, I k, I channels),
         (out, rows, gates, shared, routes, N, k, channels), out)
  LAUNCH(combine_rows_grad,
         (V drows, float* dgates, C dout, C rows, const float* gates, Tokens routes, I N, I k,
          I channels),
         (drows, dgates, dout, rows, gates, routes, N, k, channels), drows, V(dgates))
  LAUNCH(sum_of_squares, (double* sum, C values, const Runs& counted), (sum, values, counted),
         V(sum))
  LAUNCH(adamw,
         (V parameters, float* master, C gradients, V first, V second, const double* squares,
          float clip, const AdamW& settings, const Runs& decayed),
         (parameters, master, gradients, first, second, squares, clip, settings, decayed),
         parameters, V(master), first, second)
#undef LAUNCH

 protected:
  Device& inner() { return *inner_; }

 private:
  static Values u8(std::byte* at) { return {DataType::kU8, at}; }
  static Values u8(std::uint8_t* at) { return u8(reinterpret_cast<std::byte*>(at)); }
  void tell(const char* launch, std::initializer_list<Values> written) {
    int output = 0;
    if (written.size() == 0) after_(launch, 0, {});
    for (const Values& one : written) after_(launch, output++, one);
  }

  const std::unique_ptr<Device> inner_ = make_cpu_device();
  const After after_;
};

}  // namespace parallelarium

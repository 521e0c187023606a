// SPDX-License-Identifier: Apache-2.0
// A Device that hands every launch on to a function of its subclass: what a test's Device needs to
// count, delay, hook or spoil launches. The computing is that of the CPU.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>

#include "engine/train/device.h"

namespace parallelarium {

// Forwards has a member
//   template <class Launch> void forward(const char* name, std::initializer_list<Values> written,
//                                        Launch launch);
// where launch(inner()) computes, now or later, and `written` is what it writes. The arrays whose
// addresses combine() and copy_to_device() are given may be gone later.
template <class Forwards>
class ForwardedDevice : public Device {
 public:
  Result<std::byte*> allocate(std::int64_t bytes) override { return inner_->allocate(bytes); }
  void release(std::byte* address) override { inner_->release(address); }
  Result<void> finish() override { return inner_->finish(); }

#define LAUNCH(name, parameters, arguments, ...)                                           \
  void name parameters override {                                                          \
    static_cast<Forwards*>(this)->forward(#name, {__VA_ARGS__},                            \
                                          [=](Device& device) { device.name arguments; }); \
  }
  using Count = std::int64_t;
  using Out = Values;
  using In = ConstValues;
  using Tokens = const std::int32_t*;
  LAUNCH(copy_to_device, (std::byte * to, const void* from, Count bytes), (to, from, bytes))
  LAUNCH(copy_to_host, (void* to, const std::byte* from, Count bytes), (to, from, bytes))
  LAUNCH(zero, (std::byte * at, Count bytes), (at, bytes), u8(at))
  LAUNCH(copy, (std::byte * to, const std::byte* from, Count bytes), (to, from, bytes), u8(to))
  LAUNCH(combine,
         (DataType type, Reduction reduction, std::byte* target,
          std::span<const std::byte* const> parts, int divisor, Count count),
         (type, reduction, target, parts, divisor, count), Out(type, target))
  LAUNCH(swap, (std::byte * a, std::byte* b, Count bytes), (a, b, bytes), u8(a), u8(b))
  LAUNCH(cast, (Out to, In from, Count count), (to, from, count), to)
  LAUNCH(accumulate, (Out sum, In part, Count count), (sum, part, count), sum)
  LAUNCH(linear_forward, (Out y, In x, In w, In bias, Count N, Count M, Count K, Count pitch),
         (y, x, w, bias, N, M, K, pitch), y)
  LAUNCH(linear_input_grad, (Out dx, In dy, In w, Count N, Count M, Count K, Count pitch),
         (dx, dy, w, N, M, K, pitch), dx)
  LAUNCH(linear_weight_grad, (Out dw, Out db, In dy, In x, Count N, Count M, Count K, Count pitch),
         (dw, db, dy, x, N, M, K, pitch), dw, db)
  LAUNCH(fp8_linear_forward, (Out y, In x, In w, In bias, Count N, Count M, Count K),
         (y, x, w, bias, N, M, K), y)
  LAUNCH(fp8_linear_input_grad, (Out dx, In dy, In w, Count N, Count M, Count K),
         (dx, dy, w, N, M, K), dx)
  LAUNCH(fp8_linear_weight_grad, (Out dw, Out db, In dy, In x, Count N, Count M, Count K),
         (dw, db, dy, x, N, M, K), dw, db)
  LAUNCH(layer_norm_forward, (Out y, float* stats, In x, In gain, In bias, Count N, Count channels),
         (y, stats, x, gain, bias, N, channels), y, Out(stats))
  LAUNCH(rms_norm_forward, (Out y, float* stats, In x, In gain, Count N, Count channels),
         (y, stats, x, gain, N, channels), y, Out(stats))
  LAUNCH(layer_norm_input_grad,
         (Out dx, In dy, In x, In gain, const float* stats, bool adds, Count N, Count channels),
         (dx, dy, x, gain, stats, adds, N, channels), dx)
  LAUNCH(rms_norm_input_grad,
         (Out dx, In dy, In x, In gain, const float* stats, bool adds, Count N, Count channels),
         (dx, dy, x, gain, stats, adds, N, channels), dx)
  LAUNCH(norm_weight_grad,
         (Out dgain, Out dbias, In dy, In x, const float* stats, Count N, Count channels),
         (dgain, dbias, dy, x, stats, N, channels), dgain, dbias)
  LAUNCH(attention_forward,
         (Out context, Out probabilities, In qkv, const AttentionShape& shape,
          const DroppedValues& drop),
         (context, probabilities, qkv, shape, drop), context, probabilities, u8(drop.mask),
         drop.mask != nullptr ? drop.dropped : Out())
  LAUNCH(attention_backward,
         (Out dqkv, float* scratch, In dcontext, In qkv, In probabilities,
          const AttentionShape& shape, const DroppedValues& drop),
         (dqkv, scratch, dcontext, qkv, probabilities, shape, drop), dqkv)
  LAUNCH(fused_attention_forward,
         (Out context, float* lse, float* scratch, In qkv, const AttentionShape& shape),
         (context, lse, scratch, qkv, shape), context, Out(lse))
  LAUNCH(fused_attention_backward,
         (Out dqkv, float* scratch, In dcontext, In qkv, In context, const float* lse,
          const AttentionShape& shape),
         (dqkv, scratch, dcontext, qkv, context, lse, shape), dqkv)
  LAUNCH(block_attention_forward,
         (Out context, float* row_max, float* row_sum, float* scratch, In qkv, In keys_values,
          const AttentionBlock& block),
         (context, row_max, row_sum, scratch, qkv, keys_values, block), context, Out(row_max),
         Out(row_sum))
  LAUNCH(block_attention_finish,
         (Out context, float* row_max, const float* row_sum, const AttentionShape& shape),
         (context, row_max, row_sum, shape), context, Out(row_max))
  LAUNCH(block_attention_backward,
         (Out dqkv, Out dkeys_values, float* scratch, In dcontext, In qkv, In keys_values,
          In context, const float* lse, const AttentionBlock& block),
         (dqkv, dkeys_values, scratch, dcontext, qkv, keys_values, context, lse, block), dqkv,
         dkeys_values)
  LAUNCH(rotary, (Out qkv, Turn turn, Count first, const AttentionShape& shape),
         (qkv, turn, first, shape), qkv)
  LAUNCH(copy_rows, (Out to, Count to_stride, In from, Count from_stride, Count rows, Count width),
         (to, to_stride, from, from_stride, rows, width), to)
  LAUNCH(accumulate_rows,
         (Out sum, Count sum_stride, In part, Count part_stride, Count rows, Count width),
         (sum, sum_stride, part, part_stride, rows, width), sum)
  LAUNCH(fill_rows, (Out to, Count stride, float value, Count rows, Count width),
         (to, stride, value, rows, width), to)
  LAUNCH(residual_add, (Out out, In stream, In branch, Count count), (out, stream, branch, count),
         out)
  LAUNCH(dropout_residual,
         (Out out, std::uint8_t* mask, In stream, In branch, const Dropout& dropout, Count first,
          Count count),
         (out, mask, stream, branch, dropout, first, count), out, u8(mask))
  LAUNCH(dropout_grad, (Out dbranch, In dx, const std::uint8_t* mask, float scale, Count count),
         (dbranch, dx, mask, scale, count), dbranch)
  LAUNCH(gelu_forward, (Out g, In u, Count count), (g, u, count), g)
  LAUNCH(gelu_backward, (Out du, In dg, In u, Count count), (du, dg, u, count), du)
  LAUNCH(swiglu_forward, (Out g, In gate, In up, Count N, Count F, Count pitch),
         (g, gate, up, N, F, pitch), g)
  LAUNCH(swiglu_backward, (Out du, In dg, In gate, In up, Count N, Count F, Count pitch),
         (du, dg, gate, up, N, F, pitch), du)
  LAUNCH(embedding_forward,
         (Out x, Tokens tokens, In table, In positions, Count N, Count T, Count channels),
         (x, tokens, table, positions, N, T, channels), x)
  LAUNCH(embedding_grad,
         (Out dtable, Out dpositions, In dx, Tokens tokens, Count N, Count T, Count channels),
         (dtable, dpositions, dx, tokens, N, T, channels), dtable, dpositions)
  LAUNCH(loss_max, (float* row_max, In logits, Count N, Count entries, Count pitch),
         (row_max, logits, N, entries, pitch), Out(row_max))
  LAUNCH(loss_sum,
         (float* sum_exp, float* target_logit, In logits, const float* row_max, Tokens targets,
          Count N, Count entries, Count pitch),
         (sum_exp, target_logit, logits, row_max, targets, N, entries, pitch), Out(sum_exp),
         Out(target_logit))
  LAUNCH(loss_max_sum,
         (float* row_max, float* sum_exp, float* target_logit, In logits, Tokens targets, Count N,
          Count entries, Count pitch),
         (row_max, sum_exp, target_logit, logits, targets, N, entries, pitch), Out(row_max),
         Out(sum_exp), Out(target_logit))
  LAUNCH(loss,
         (double* sum, const float* row_max, const float* sum_exp, const float* target_logit,
          Count N),
         (sum, row_max, sum_exp, target_logit, N), Out(sum))
  LAUNCH(loss_grad,
         (Out logits, const float* row_max, const float* sum_exp, Tokens targets, float scale,
          Count N, Count entries, Count pitch),
         (logits, row_max, sum_exp, targets, scale, N, entries, pitch), logits)
  LAUNCH(route,
         (float* gates, std::int32_t* routes, float* record, const float* logits, const float* bias,
          const RouterShape& shape),
         (gates, routes, record, logits, bias, shape), Out(gates),
         Out(DataType::kI32, reinterpret_cast<std::byte*>(routes)), Out(record))
  LAUNCH(route_grad,
         (float* dlogits, const float* dgates, const float* logits, const float* gates,
          Tokens routes, float scale, const RouterShape& shape),
         (dlogits, dgates, logits, gates, routes, scale, shape), Out(dlogits))
  LAUNCH(update_bias, (float* bias, const float* loads, float rate, Count layers, Count E),
         (bias, loads, rate, layers, E), Out(bias))
  LAUNCH(dispatch_rows, (Out rows, In y, Tokens routes, Count N, Count k, Count channels),
         (rows, y, routes, N, k, channels), rows)
  LAUNCH(dispatch_rows_grad,
         (Out dy, In drows, Tokens routes, bool adds, Count N, Count k, Count channels),
         (dy, drows, routes, adds, N, k, channels), dy)
  LAUNCH(combine_rows,
         (Out out, In rows, const float* gates, In shared, Tokens routes, Count N, Count k,
          Count channels),
         (out, rows, gates, shared, routes, N, k, channels), out)
  LAUNCH(combine_rows_grad,
         (Out drows, float* dgates, In dout, In rows, const float* gates, Tokens routes, Count N,
          Count k, Count channels),
         (drows, dgates, dout, rows, gates, routes, N, k, channels), drows, Out(dgates))
  LAUNCH(sum_of_squares, (double* sum, In values, const Runs& counted), (sum, values, counted),
         Out(sum))
  LAUNCH(adamw,
         (Out parameters, float* master, In gradients, Out first, Out second, const double* squares,
          float clip, const AdamW& settings, const Runs& decayed),
         (parameters, master, gradients, first, second, squares, clip, settings, decayed),
         parameters, Out(master), first, second)
#undef LAUNCH

 protected:
  Device& inner() { return *inner_; }

 private:
  static Values u8(std::byte* at) { return {DataType::kU8, at}; }
  static Values u8(std::uint8_t* at) { return u8(reinterpret_cast<std::byte*>(at)); }

  const std::unique_ptr<Device> inner_ = make_cpu_device();
};

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <string>
#include <type_traits>

#include "engine/plan/text/units.h"
#include "engine/train/cpu_combine.h"
#include "engine/train/device.h"
#include "kernels/attention/fused_attention.h"
#include "kernels/base/size.h"
#include "kernels/bf16_kernels.h"
#include "kernels/elementwise/accumulate.h"
#include "kernels/elementwise/activation.h"
#include "kernels/elementwise/fill.h"
#include "kernels/elementwise/residual.h"
#include "kernels/norms/norm.h"
#include "kernels/optimizer/sum_of_squares.h"
#include "kernels/products/fp8_linear.h"
#include "kernels/products/linear.h"
#include "kernels/vocabulary/cross_entropy.h"
#include "kernels/vocabulary/embedding.h"

namespace parallelarium {
namespace {

constexpr std::size_t kAlignment = 256;

// Every launch has finished when it returns, so nothing can fail later.
class CpuDevice final : public Device {
 public:
  Result<std::byte*> allocate(std::int64_t bytes) override {
    const std::size_t rounded = (size(bytes) + kAlignment - 1) / kAlignment * kAlignment;
    void* address = std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded);
    if (address == nullptr)
      return message("memory-short.rank",
                     "A rank needs {} of memory and this computer did not give it; a smaller "
                     "model, micro-batch or sequence needs less.",
                     figure(bytes_text(static_cast<double>(bytes))));
    return static_cast<std::byte*>(address);
  }
  void release(std::byte* address) override { std::free(address); }
  void zero(std::byte* address, std::int64_t bytes) override {
    std::memset(address, 0, size(bytes));
  }
  void copy(std::byte* to, const std::byte* from, std::int64_t bytes) override {
    std::memcpy(to, from, size(bytes));
  }
  void copy_to_device(std::byte* to, const void* from_host, std::int64_t bytes) override {
    std::memcpy(to, from_host, size(bytes));
  }
  void copy_to_host(void* to_host, const std::byte* from, std::int64_t bytes) override {
    std::memcpy(to_host, from, size(bytes));
  }
  Result<void> finish() override { return {}; }

  void combine(DataType type, Reduction reduction, std::byte* target,
               std::span<const std::byte* const> parts, int divisor, std::int64_t count) override {
    combine_on_cpu(type, reduction, target, parts, divisor, count);
  }
  void swap(std::byte* a, std::byte* b, std::int64_t bytes) override {
    std::swap_ranges(a, a + bytes, b);
  }

  void cast(Values to, ConstValues from, std::int64_t count) override {
    if (to.type() == DataType::kF32)
      cast_cpu(to.as<float>(), from.as<Bf16>(), size(count));
    else
      cast_cpu(to.as<Bf16>(), from.as<float>(), size(count));
  }
  void accumulate(Values sum, ConstValues part, std::int64_t count) override {
    if (sum.type() == DataType::kF64)
      return accumulate_cpu(sum.as<double>(), part.as<double>(), size(count));
    with_type(sum, [&]<class T>(T*) { accumulate_cpu(sum.as<T>(), part.as<T>(), size(count)); });
  }
  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                      std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    with_types(x, y, [&]<class T, class Y>(const T*, Y* to) {
      linear_forward_cpu(to, x.as<T>(), w.as<T>(), bias.as<T>(), N, M, K, y_pitch);
    });
  }
  void linear_input_grad(Values dx, ConstValues dy, ConstValues w, std::int64_t N, std::int64_t M,
                         std::int64_t K, std::int64_t y_pitch) override {
    with_types(w, dy, [&]<class T, class Y>(const T*, const Y* from) {
      linear_input_grad_cpu(dx.as<T>(), from, w.as<T>(), N, M, K, y_pitch);
    });
  }
  void linear_weight_grad(Values dw, Values db, ConstValues dy, ConstValues x, std::int64_t N,
                          std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    with_types(x, dw, [&]<class T, class G>(const T*, G* to) {
      if (dy.type() == DataType::kF32)
        linear_weight_grad_cpu(to, db.as<G>(), dy.as<float>(), x.as<T>(), N, M, K, y_pitch);
      else if constexpr (std::is_same_v<T, Bf16>)
        linear_weight_grad_cpu(to, db.as<G>(), dy.as<T>(), x.as<T>(), N, M, K, y_pitch);
    });
  }
  void fp8_linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                          std::int64_t M, std::int64_t K) override {
    fp8_linear_forward_cpu(y.as<Bf16>(), x.as<Bf16>(), w.as<Bf16>(), bias.as<Bf16>(), N, M, K);
  }
  void fp8_linear_input_grad(Values dx, ConstValues dy, ConstValues w, std::int64_t N,
                             std::int64_t M, std::int64_t K) override {
    fp8_linear_input_grad_cpu(dx.as<Bf16>(), dy.as<Bf16>(), w.as<Bf16>(), N, M, K);
  }
  void fp8_linear_weight_grad(Values dw, Values db, ConstValues dy, ConstValues x, std::int64_t N,
                              std::int64_t M, std::int64_t K) override {
    with_type(dw, [&]<class G>(G* to) {
      fp8_linear_weight_grad_cpu(to, db.as<G>(), dy.as<Bf16>(), x.as<Bf16>(), N, M, K);
    });
  }
  void layer_norm_forward(Values y, float* stats, ConstValues x, ConstValues gain, ConstValues bias,
                          std::int64_t N, std::int64_t C) override {
    with_type(y, [&]<class T>(T*) {
      layer_norm_forward_cpu(y.as<T>(), stats, x.as<T>(), gain.as<T>(), bias.as<T>(), N, C);
    });
  }
  void rms_norm_forward(Values y, float* stats, ConstValues x, ConstValues gain, std::int64_t N,
                        std::int64_t C) override {
    with_type(y, [&]<class T>(T*) {
      rms_norm_forward_cpu(y.as<T>(), stats, x.as<T>(), gain.as<T>(), N, C);
    });
  }
  void layer_norm_input_grad(Values dx, ConstValues dy, ConstValues x, ConstValues gain,
                             const float* stats, bool accumulate_dx, std::int64_t N,
                             std::int64_t C) override {
    with_type(dx, [&]<class T>(T*) {
      layer_norm_input_grad_cpu(dx.as<T>(), dy.as<T>(), x.as<T>(), gain.as<T>(), stats,
                                accumulate_dx, N, C);
    });
  }
  void rms_norm_input_grad(Values dx, ConstValues dy, ConstValues x, ConstValues gain,
                           const float* stats, bool accumulate_dx, std::int64_t N,
                           std::int64_t C) override {
    with_type(dx, [&]<class T>(T*) {
      rms_norm_input_grad_cpu(dx.as<T>(), dy.as<T>(), x.as<T>(), gain.as<T>(), stats, accumulate_dx,
                              N, C);
    });
  }
  void norm_weight_grad(Values dgain, Values dbias, ConstValues dy, ConstValues x,
                        const float* stats, std::int64_t N, std::int64_t C) override {
    with_types(dy, dgain, [&]<class T, class G>(const T*, G*) {
      norm_weight_grad_cpu(dgain.as<G>(), dbias.as<G>(), dy.as<T>(), x.as<T>(), stats, N, C);
    });
  }
  void attention_forward(Values context, Values probabilities, ConstValues qkv,
                         const AttentionShape& shape, const DroppedValues& dropout) override {
    with_type(context, [&]<class T>(T*) {
      attention_forward_cpu(context.as<T>(), probabilities.as<T>(), qkv.as<T>(), shape,
                            dropout.as<T>());
    });
  }
  void attention_backward(Values dqkv, float* scratch, ConstValues dcontext, ConstValues qkv,
                          ConstValues probabilities, const AttentionShape& shape,
                          const DroppedValues& dropout) override {
    with_type(dqkv, [&]<class T>(T*) {
      attention_backward_cpu(dqkv.as<T>(), scratch, dcontext.as<T>(), qkv.as<T>(),
                             probabilities.as<T>(), shape, dropout.as<T>());
    });
  }
  void fused_attention_forward(Values context, float* lse, float* scratch, ConstValues qkv,
                               const AttentionShape& shape) override {
    with_type(context, [&]<class T>(T*) {
      fused_attention_forward_cpu(context.as<T>(), lse, scratch, qkv.as<T>(), shape);
    });
  }
  void fused_attention_backward(Values dqkv, float* scratch, ConstValues dcontext, ConstValues qkv,
                                ConstValues context, const float* lse,
                                const AttentionShape& shape) override {
    with_type(dqkv, [&]<class T>(T*) {
      fused_attention_backward_cpu(dqkv.as<T>(), scratch, dcontext.as<T>(), qkv.as<T>(),
                                   context.as<T>(), lse, shape);
    });
  }
  void block_attention_forward(Values context, float* row_max, float* row_sum, float* scratch,
                               ConstValues qkv, ConstValues keys_values,
                               const AttentionBlock& block) override {
    with_type(context, [&]<class T>(T*) {
      block_attention_forward_cpu(context.as<T>(), row_max, row_sum, scratch, qkv.as<T>(),
                                  keys_values.as<T>(), block);
    });
  }
  void block_attention_finish(Values context, float* row_max, const float* row_sum,
                              const AttentionShape& shape) override {
    with_type(context,
              [&]<class T>(T* out) { block_attention_finish_cpu(out, row_max, row_sum, shape); });
  }
  void block_attention_backward(Values dqkv, Values dkeys_values, float* scratch,
                                ConstValues dcontext, ConstValues qkv, ConstValues keys_values,
                                ConstValues context, const float* lse,
                                const AttentionBlock& block) override {
    with_type(dqkv, [&]<class T>(T*) {
      block_attention_backward_cpu(dqkv.as<T>(), dkeys_values.as<T>(), scratch, dcontext.as<T>(),
                                   qkv.as<T>(), keys_values.as<T>(), context.as<T>(), lse, block);
    });
  }
  void rotary(Values qkv, Turn turn, std::int64_t first, const AttentionShape& shape) override {
    with_type(qkv, [&]<class T>(T*) { rotary_cpu(qkv.as<T>(), turn, shape, first); });
  }
  void copy_rows(Values to, std::int64_t to_stride, ConstValues from, std::int64_t from_stride,
                 std::int64_t rows, std::int64_t width) override {
    for (std::int64_t row = 0; row < rows; ++row)
      std::memcpy((to + row * to_stride).address(), (from + row * from_stride).address(),
                  size(width * size_of(to.type())));
  }
  void accumulate_rows(Values sum, std::int64_t sum_stride, ConstValues part,
                       std::int64_t part_stride, std::int64_t rows, std::int64_t width) override {
    for (std::int64_t row = 0; row < rows; ++row)
      accumulate(sum + row * sum_stride, part + row * part_stride, width);
  }
  void fill_rows(Values to, std::int64_t stride, float value, std::int64_t rows,
                 std::int64_t width) override {
    with_type(to, [&]<class T>(T*) {
      for (std::int64_t row = 0; row < rows; ++row)
        fill_cpu(to.as<T>() + row * stride, value, size(width));
    });
  }
  void residual_add(Values out, ConstValues stream, ConstValues branch,
                    std::int64_t count) override {
    with_type(out, [&]<class T>(T*) {
      residual_add_cpu(out.as<T>(), stream.as<T>(), branch.as<T>(), size(count));
    });
  }
  void dropout_residual(Values out, std::uint8_t* mask, ConstValues stream, ConstValues branch,
                        const Dropout& dropout, std::int64_t first, std::int64_t count) override {
    with_type(out, [&]<class T>(T*) {
      dropout_residual_cpu(out.as<T>(), mask, stream.as<T>(), branch.as<T>(), dropout, first,
                           size(count));
    });
  }
  void dropout_grad(Values dbranch, ConstValues dx, const std::uint8_t* mask, float scale,
                    std::int64_t count) override {
    with_type(dbranch, [&]<class T>(T*) {
      dropout_grad_cpu(dbranch.as<T>(), dx.as<T>(), mask, scale, size(count));
    });
  }
  void gelu_forward(Values g, ConstValues u, std::int64_t count) override {
    with_type(g, [&]<class T>(T*) { gelu_forward_cpu(g.as<T>(), u.as<T>(), size(count)); });
  }
  void gelu_backward(Values du, ConstValues dg, ConstValues u, std::int64_t count) override {
    with_type(du, [&]<class T>(T*) {
      gelu_backward_cpu(du.as<T>(), dg.as<T>(), u.as<T>(), size(count));
    });
  }
  void swiglu_forward(Values g, ConstValues gate, ConstValues up, std::int64_t N, std::int64_t F,
                      std::int64_t pitch) override {
    with_type(g, [&]<class T>(T*) {
      swiglu_forward_cpu(g.as<T>(), gate.as<T>(), up.as<T>(), N, F, pitch);
    });
  }
  void swiglu_backward(Values du, ConstValues dg, ConstValues gate, ConstValues up, std::int64_t N,
                       std::int64_t F, std::int64_t pitch) override {
    with_type(du, [&]<class T>(T*) {
      swiglu_backward_cpu(du.as<T>(), dg.as<T>(), gate.as<T>(), up.as<T>(), N, F, pitch);
    });
  }
  void embedding_forward(Values x, const std::int32_t* tokens, ConstValues table,
                         ConstValues positions, std::int64_t N, std::int64_t T,
                         std::int64_t C) override {
    with_type(x, [&]<class P>(P*) {
      embedding_forward_cpu(x.as<P>(), tokens, table.as<P>(), positions.as<P>(), N, T, C);
    });
  }
  void embedding_grad(Values dtable, Values dpositions, ConstValues dx, const std::int32_t* tokens,
                      std::int64_t N, std::int64_t T, std::int64_t C) override {
    with_types(dx, dtable, [&]<class P, class G>(const P*, G*) {
      embedding_grad_cpu(dtable.as<G>(), dpositions.as<G>(), dx.as<P>(), tokens, N, T, C);
    });
  }
  void loss_max(float* row_max, ConstValues logits, std::int64_t N, std::int64_t V,
                std::int64_t pitch) override {
    with_type(logits,
              [&]<class T>(const T*) { loss_max_cpu(row_max, logits.as<T>(), N, V, pitch); });
  }
  void loss_sum(float* sum_exp, float* target_logit, ConstValues logits, const float* row_max,
                const std::int32_t* targets, std::int64_t N, std::int64_t V,
                std::int64_t pitch) override {
    with_type(logits, [&]<class T>(const T*) {
      loss_sum_cpu(sum_exp, target_logit, logits.as<T>(), row_max, targets, N, V, 0, pitch);
    });
  }
  void loss_max_sum(float* row_max, float* sum_exp, float* target_logit, ConstValues logits,
                    const std::int32_t* targets, std::int64_t N, std::int64_t V,
                    std::int64_t pitch) override {
    with_type(logits, [&]<class T>(const T*) {
      loss_max_sum_cpu(row_max, sum_exp, target_logit, logits.as<T>(), targets, N, V, pitch);
    });
  }
  void loss(double* sum, const float* row_max, const float* sum_exp, const float* target_logit,
            std::int64_t N) override {
    loss_cpu(sum, row_max, sum_exp, target_logit, N);
  }
  void loss_grad(Values logits, const float* row_max, const float* sum_exp,
                 const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V,
                 std::int64_t pitch) override {
    with_type(logits, [&]<class T>(T*) {
      loss_grad_cpu(logits.as<T>(), row_max, sum_exp, targets, scale, N, V, 0, pitch);
    });
  }
  void route(float* gates, std::int32_t* routes, float* record, const float* logits,
             const float* bias, const RouterShape& shape) override {
    route_cpu(gates, routes, record, logits, bias, shape);
  }
  void route_grad(float* dlogits, const float* dgates, const float* logits, const float* gates,
                  const std::int32_t* routes, float scale, const RouterShape& shape) override {
    route_grad_cpu(dlogits, dgates, logits, gates, routes, scale, shape);
  }
  void update_bias(float* bias, const float* loads, float rate, std::int64_t layers,
                   std::int64_t E) override {
    update_bias_cpu(bias, loads, rate, layers, E);
  }
  void dispatch_rows(Values rows, ConstValues y, const std::int32_t* routes, std::int64_t N,
                     std::int64_t k, std::int64_t C) override {
    with_type(rows, [&]<class T>(T* to) { dispatch_rows_cpu(to, y.as<T>(), routes, N, k, C); });
  }
  void dispatch_rows_grad(Values dy, ConstValues drows, const std::int32_t* routes, bool adds,
                          std::int64_t N, std::int64_t k, std::int64_t C) override {
    with_type(dy, [&]<class T>(T* to) {
      dispatch_rows_grad_cpu(to, drows.as<T>(), routes, adds, N, k, C);
    });
  }
  void combine_rows(Values out, ConstValues rows, const float* gates, ConstValues shared,
                    const std::int32_t* routes, std::int64_t N, std::int64_t k,
                    std::int64_t C) override {
    with_type(out, [&]<class T>(T* to) {
      combine_rows_cpu(to, rows.as<T>(), gates, shared.as<T>(), routes, N, k, C);
    });
  }
  void combine_rows_grad(Values drows, float* dgates, ConstValues dout, ConstValues rows,
                         const float* gates, const std::int32_t* routes, std::int64_t N,
                         std::int64_t k, std::int64_t C) override {
    with_type(drows, [&]<class T>(T* to) {
      combine_rows_grad_cpu(to, dgates, dout.as<T>(), rows.as<T>(), gates, routes, N, k, C);
    });
  }
  void sum_of_squares(double* sum, ConstValues values, const Runs& counted) override {
    counted.for_each([&](std::int64_t begin, std::int64_t length, bool counts) {
      if (!counts) return;
      with_type(values, [&]<class T>(const T*) {
        sum_of_squares_cpu(sum, values.as<T>() + begin, size(length));
      });
    });
  }
  void adamw(Values parameters, float* master, ConstValues gradients, Values first_moment,
             Values second_moment, const double* square_sum, float clip, const AdamW& settings,
             const Runs& decayed) override {
    decayed.for_each([&](std::int64_t begin, std::int64_t length, bool decays) {
      AdamW own = settings;
      if (!decays) own.weight_decay = 0;
      update(parameters + begin, master == nullptr ? nullptr : master + begin, gradients + begin,
             first_moment + begin, second_moment + begin, square_sum, clip, own, length);
    });
  }

 private:
  static void update(Values parameters, float* master, ConstValues gradients, Values first_moment,
                     Values second_moment, const double* square_sum, float clip,
                     const AdamW& settings, std::int64_t count) {
    if (master == nullptr)
      return adamw_cpu(parameters.as<float>(), gradients.as<float>(), first_moment.as<float>(),
                       second_moment.as<float>(), square_sum, clip, settings, size(count));
    with_type(gradients, [&]<class G>(const G*) {
      with_type(first_moment, [&]<class M>(M*) {
        adamw_cpu(parameters.as<Bf16>(), master, gradients.as<G>(), first_moment.as<M>(),
                  second_moment.as<M>(), square_sum, clip, settings, size(count));
      });
    });
  }
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace parallelarium

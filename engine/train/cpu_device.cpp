// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <cstring>
#include <string>

#include "engine/train/device.h"
#include "kernels/accumulate.h"
#include "kernels/activation.h"
#include "kernels/combine.h"
#include "kernels/cross_entropy.h"
#include "kernels/embedding.h"
#include "kernels/linear.h"
#include "kernels/norm.h"
#include "kernels/residual.h"
#include "kernels/sum_of_squares.h"

namespace parallelarium {
namespace {

constexpr std::size_t kAlignment = 256;

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

// Block by block, so that the block stays in cache.
template <class Number>
void reduce_parts(Number* target, std::span<const Number* const> parts, bool largest, bool adds,
                  std::int64_t count) {
  constexpr std::int64_t kBlock = 512;
  std::array<Number, kBlock> sum;
  for (std::int64_t first = 0; first < count; first += kBlock) {
    const std::int64_t length = std::min(kBlock, count - first);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const Number* part = parts[i] + first;
      if (i == 0) {
        std::copy_n(part, length, sum.data());
      } else if (largest) {
        for (std::int64_t j = 0; j < length; ++j) {
          Number& most = sum[size(j)];
          most = std::max(most, part[j]);
        }
      } else {
        for (std::int64_t j = 0; j < length; ++j) sum[size(j)] += part[j];
      }
    }
    if (adds) {
      for (std::int64_t j = 0; j < length; ++j) target[first + j] += sum[size(j)];
    } else {
      std::copy_n(sum.data(), length, target + first);
    }
  }
}

template <class Number>
void combine_parts(Reduction reduction, std::byte* target, std::span<const std::byte* const> parts,
                   int divisor, std::int64_t count) {
  static_assert(static_cast<int>(Combine::kAverage) == static_cast<int>(Reduction::kAvg));
  // Of a collective of 64 ranks at most.
  std::array<const Number*, 64> typed;
  assert(!parts.empty() && parts.size() <= typed.size());
  for (std::size_t i = 0; i < parts.size(); ++i)
    typed[i] = reinterpret_cast<const Number*>(parts[i]);
  combine_cpu(reinterpret_cast<Number*>(target), typed.data(), parts.size(),
              static_cast<Combine>(reduction), divisor, size(count));
}

// Every launch has finished when it returns, so nothing can fail later.
class CpuDevice final : public Device {
 public:
  Result<std::byte*> allocate(std::int64_t bytes) override {
    const std::size_t rounded = (size(bytes) + kAlignment - 1) / kAlignment * kAlignment;
    void* address = std::aligned_alloc(kAlignment, rounded == 0 ? kAlignment : rounded);
    if (address == nullptr)
      return message("memory-short",
                     "A rank needs {} MB of memory and this computer did not give it; a smaller "
                     "model, micro-batch or sequence needs less.",
                     (bytes + 999'999) / 1'000'000);
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

  void reduce(float* target, std::span<const float* const> parts, bool largest, bool adds,
              std::int64_t count) override {
    reduce_parts(target, parts, largest, adds, count);
  }
  void reduce(double* target, std::span<const double* const> parts, bool largest, bool adds,
              std::int64_t count) override {
    reduce_parts(target, parts, largest, adds, count);
  }
  void combine(DataType type, Reduction reduction, std::byte* target,
               std::span<const std::byte* const> parts, int divisor, std::int64_t count) override {
    switch (type) {
      case DataType::kF32:
        return combine_parts<float>(reduction, target, parts, divisor, count);
      case DataType::kBf16:
        return combine_parts<Bf16>(reduction, target, parts, divisor, count);
      case DataType::kF64:
        return combine_parts<double>(reduction, target, parts, divisor, count);
      case DataType::kI32:
        return combine_parts<std::int32_t>(reduction, target, parts, divisor, count);
      case DataType::kU8:  // bytes are moved, not reckoned with
        assert(reduction == Reduction::kNone);
        return copy(target, parts[0], count);
    }
  }
  void swap(std::byte* a, std::byte* b, std::int64_t bytes) override {
    std::swap_ranges(a, a + bytes, b);
  }

  void accumulate(float* sum, const float* part, std::int64_t count) override {
    accumulate_cpu(sum, part, size(count));
  }
  void accumulate(double* sum, const double* part, std::int64_t count) override {
    accumulate_cpu(sum, part, size(count));
  }
  void linear_forward(float* y, const float* x, const float* w, const float* bias, std::int64_t N,
                      std::int64_t M, std::int64_t K) override {
    linear_forward_cpu(y, x, w, bias, N, M, K);
  }
  void linear_input_grad(float* dx, const float* dy, const float* w, std::int64_t N, std::int64_t M,
                         std::int64_t K) override {
    linear_input_grad_cpu(dx, dy, w, N, M, K);
  }
  void linear_weight_grad(float* dw, float* db, const float* dy, const float* x, std::int64_t N,
                          std::int64_t M, std::int64_t K) override {
    linear_weight_grad_cpu(dw, db, dy, x, N, M, K);
  }
  void layer_norm_forward(float* y, float* stats, const float* x, const float* gain,
                          const float* bias, std::int64_t N, std::int64_t C) override {
    layer_norm_forward_cpu(y, stats, x, gain, bias, N, C);
  }
  void rms_norm_forward(float* y, float* stats, const float* x, const float* gain, std::int64_t N,
                        std::int64_t C) override {
    rms_norm_forward_cpu(y, stats, x, gain, N, C);
  }
  void layer_norm_input_grad(float* dx, const float* dy, const float* x, const float* gain,
                             const float* stats, bool accumulate_dx, std::int64_t N,
                             std::int64_t C) override {
    layer_norm_input_grad_cpu(dx, dy, x, gain, stats, accumulate_dx, N, C);
  }
  void rms_norm_input_grad(float* dx, const float* dy, const float* x, const float* gain,
                           const float* stats, bool accumulate_dx, std::int64_t N,
                           std::int64_t C) override {
    rms_norm_input_grad_cpu(dx, dy, x, gain, stats, accumulate_dx, N, C);
  }
  void norm_weight_grad(float* dgain, float* dbias, const float* dy, const float* x,
                        const float* stats, std::int64_t N, std::int64_t C) override {
    norm_weight_grad_cpu(dgain, dbias, dy, x, stats, N, C);
  }
  void attention_forward(float* context, float* probabilities, const float* qkv,
                         const AttentionShape& shape,
                         const DroppedProbabilities<float>& dropout) override {
    attention_forward_cpu(context, probabilities, qkv, shape, dropout);
  }
  void attention_backward(float* dqkv, float* scratch, const float* dcontext, const float* qkv,
                          const float* probabilities, const AttentionShape& shape,
                          const DroppedProbabilities<float>& dropout) override {
    attention_backward_cpu(dqkv, scratch, dcontext, qkv, probabilities, shape, dropout);
  }
  void block_attention_forward(float* context, float* row_max, float* row_sum, float* scratch,
                               const float* qkv, const float* keys_values,
                               const AttentionBlock& block) override {
    block_attention_forward_cpu(context, row_max, row_sum, scratch, qkv, keys_values, block);
  }
  void block_attention_finish(float* context, float* row_max, const float* row_sum,
                              const AttentionShape& shape) override {
    block_attention_finish_cpu(context, row_max, row_sum, shape);
  }
  void block_attention_backward(float* dqkv, float* dkeys_values, float* scratch,
                                const float* dcontext, const float* qkv, const float* keys_values,
                                const float* context, const float* lse,
                                const AttentionBlock& block) override {
    block_attention_backward_cpu(dqkv, dkeys_values, scratch, dcontext, qkv, keys_values, context,
                                 lse, block);
  }
  void rotary(float* qkv, Turn turn, std::int64_t first, const AttentionShape& shape) override {
    rotary_cpu(qkv, turn, shape, first);
  }
  void copy_rows(float* to, std::int64_t to_stride, const float* from, std::int64_t from_stride,
                 std::int64_t rows, std::int64_t width) override {
    for (std::int64_t row = 0; row < rows; ++row)
      std::copy_n(from + row * from_stride, width, to + row * to_stride);
  }
  void fill_rows(float* to, std::int64_t stride, float value, std::int64_t rows,
                 std::int64_t width) override {
    for (std::int64_t row = 0; row < rows; ++row)
      std::fill_n(to + row * stride, size(width), value);
  }
  void residual_add(float* out, const float* stream, const float* branch,
                    std::int64_t count) override {
    residual_add_cpu(out, stream, branch, size(count));
  }
  void dropout_residual(float* out, std::uint8_t* mask, const float* stream, const float* branch,
                        const Dropout& dropout, std::int64_t first, std::int64_t count) override {
    dropout_residual_cpu(out, mask, stream, branch, dropout, first, size(count));
  }
  void dropout_grad(float* dbranch, const float* dx, const std::uint8_t* mask, float scale,
                    std::int64_t count) override {
    dropout_grad_cpu(dbranch, dx, mask, scale, size(count));
  }
  void gelu_forward(float* g, const float* u, std::int64_t count) override {
    gelu_forward_cpu(g, u, size(count));
  }
  void gelu_backward(float* du, const float* dg, const float* u, std::int64_t count) override {
    gelu_backward_cpu(du, dg, u, size(count));
  }
  void swiglu_forward(float* g, const float* u, std::int64_t N, std::int64_t F) override {
    swiglu_forward_cpu(g, u, N, F);
  }
  void swiglu_backward(float* du, const float* dg, const float* u, std::int64_t N,
                       std::int64_t F) override {
    swiglu_backward_cpu(du, dg, u, N, F);
  }
  void embedding_forward(float* x, const std::int32_t* tokens, const float* table,
                         const float* positions, std::int64_t N, std::int64_t T,
                         std::int64_t C) override {
    embedding_forward_cpu(x, tokens, table, positions, N, T, C);
  }
  void embedding_grad(float* dtable, float* dpositions, const float* dx, const std::int32_t* tokens,
                      std::int64_t N, std::int64_t T, std::int64_t C) override {
    embedding_grad_cpu(dtable, dpositions, dx, tokens, N, T, C);
  }
  void loss_max(float* row_max, const float* logits, std::int64_t N, std::int64_t V) override {
    loss_max_cpu(row_max, logits, N, V);
  }
  void loss_sum(float* sum_exp, float* target_logit, const float* logits, const float* row_max,
                const std::int32_t* targets, std::int64_t N, std::int64_t V) override {
    loss_sum_cpu(sum_exp, target_logit, logits, row_max, targets, N, V);
  }
  void loss(double* sum, const float* row_max, const float* sum_exp, const float* target_logit,
            std::int64_t N) override {
    loss_cpu(sum, row_max, sum_exp, target_logit, N);
  }
  void loss_grad(float* logits, const float* row_max, const float* sum_exp,
                 const std::int32_t* targets, float scale, std::int64_t N,
                 std::int64_t V) override {
    loss_grad_cpu(logits, row_max, sum_exp, targets, scale, N, V);
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
  void dispatch_rows(float* rows, const float* y, const std::int32_t* routes, std::int64_t N,
                     std::int64_t k, std::int64_t C) override {
    dispatch_rows_cpu(rows, y, routes, N, k, C);
  }
  void dispatch_rows_grad(float* dy, const float* drows, const std::int32_t* routes, bool adds,
                          std::int64_t N, std::int64_t k, std::int64_t C) override {
    dispatch_rows_grad_cpu(dy, drows, routes, adds, N, k, C);
  }
  void combine_rows(float* out, const float* rows, const float* gates, const float* shared,
                    const std::int32_t* routes, std::int64_t N, std::int64_t k,
                    std::int64_t C) override {
    combine_rows_cpu(out, rows, gates, shared, routes, N, k, C);
  }
  void combine_rows_grad(float* drows, float* dgates, const float* dout, const float* rows,
                         const float* gates, const std::int32_t* routes, std::int64_t N,
                         std::int64_t k, std::int64_t C) override {
    combine_rows_grad_cpu(drows, dgates, dout, rows, gates, routes, N, k, C);
  }
  void sum_of_squares(double* sum, const float* values, std::int64_t count) override {
    sum_of_squares_cpu(sum, values, size(count));
  }
  void adamw(float* parameters, const float* gradients, float* first_moment, float* second_moment,
             const double* square_sum, float clip, const AdamW& settings,
             std::int64_t count) override {
    adamw_cpu(parameters, gradients, first_moment, second_moment, square_sum, clip, settings,
              size(count));
  }
};

}  // namespace

std::unique_ptr<Device> make_cpu_device() { return std::make_unique<CpuDevice>(); }

}  // namespace parallelarium

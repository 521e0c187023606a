// SPDX-License-Identifier: Apache-2.0
#include "kernels/bf16_kernels.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "kernels/accumulate.h"
#include "kernels/activation.h"
#include "kernels/cross_entropy.h"
#include "kernels/embedding.h"
#include "kernels/fused_attention.h"
#include "kernels/linear.h"
#include "kernels/norm.h"
#include "kernels/residual.h"
#include "kernels/sum_of_squares.h"
#include "kernels/vector.h"

namespace parallelarium {
namespace {

constexpr std::size_t kBlock = 1 << 14;  // elements widened at a time; they stay in the cache

std::size_t size(std::int64_t value) { return static_cast<std::size_t>(value); }

// An fp32 copy of an array, for as long as a kernel works on it.
class Widened {
 public:
  Widened() = default;
  explicit Widened(std::size_t count) : values_(count) {}
  template <class T>
  Widened(const T* from, std::size_t count) : values_(from == nullptr ? 0 : count) {
    if (from != nullptr) cast_or_copy(values_.data(), from, count);
  }
  // Null for an array that is absent.
  float* data() { return values_.empty() ? nullptr : values_.data(); }
  const float* data() const { return values_.empty() ? nullptr : values_.data(); }
  template <class T>
  void round_into(T* to) const {
    if (to != nullptr) cast_or_copy(to, values_.data(), values_.size());
  }

 private:
  template <class To, class From>
  static void cast_or_copy(To* to, const From* from, std::size_t count) {
    if constexpr (std::is_same_v<To, From>)
      std::copy_n(from, count, to);
    else
      cast_cpu(to, from, count);
  }
  std::vector<float> values_;
};

// Calls kernel(first element, count) for blocks of an array.
template <class Kernel>
void by_blocks(std::size_t count, const Kernel& kernel) {
  for (std::size_t at = 0; at < count; at += kBlock) kernel(at, std::min(kBlock, count - at));
}
// Calls kernel(first row, rows) for blocks of whole rows.
template <class Kernel>
void by_rows(std::int64_t rows, std::int64_t columns, const Kernel& kernel) {
  const std::int64_t block = std::max<std::int64_t>(1, static_cast<std::int64_t>(kBlock) / columns);
  for (std::int64_t row = 0; row < rows; row += block) kernel(row, std::min(block, rows - row));
}

// The statistics [2,N] of a block of rows are not contiguous: the kernel writes [2,rows] of its
// own.
template <class Kernel>
void norm_forward(Bf16* y, float* stats, const Bf16* x, std::int64_t N, std::int64_t C,
                  const Kernel& kernel) {
  by_rows(N, C, [&](std::int64_t n, std::int64_t rows) {
    const Widened in(x + n * C, size(rows * C));
    Widened out(size(rows * C));
    std::vector<float> block(size(2 * rows));
    kernel(out.data(), block.data(), in.data(), rows);
    out.round_into(y + n * C);
    std::copy_n(block.data(), rows, stats + n);
    std::copy_n(block.data() + rows, rows, stats + N + n);
  });
}
std::vector<float> stats_of(const float* stats, std::int64_t N, std::int64_t n, std::int64_t rows) {
  std::vector<float> block(size(2 * rows));
  std::copy_n(stats + n, rows, block.data());
  std::copy_n(stats + N + n, rows, block.data() + rows);
  return block;
}
template <class Kernel>
void norm_input_grad(Bf16* dx, const Bf16* dy, const Bf16* x, const Bf16* gain, const float* stats,
                     bool accumulate, std::int64_t N, std::int64_t C, const Kernel& kernel) {
  const Widened gains(gain, size(C));
  by_rows(N, C, [&](std::int64_t n, std::int64_t rows) {
    const std::size_t count = size(rows * C);
    Widened out(dx + n * C, count);
    kernel(out.data(), Widened(dy + n * C, count).data(), Widened(x + n * C, count).data(),
           gains.data(), stats_of(stats, N, n, rows).data(), accumulate, rows, C);
    out.round_into(dx + n * C);
  });
}

std::size_t qkv_count(const AttentionShape& s) { return size(s.B * s.T * (s.H + 2 * s.K) * s.D); }
std::size_t context_count(const AttentionShape& s) { return size(s.B * s.T * s.H * s.D); }

// Sequence b of a batch alone, so that only one sequence is widened at a time.
AttentionShape one_sequence(AttentionShape shape) {
  shape.B = 1;
  return shape;
}

}  // namespace

PARALLELARIUM_VECTOR
void cast_cpu(float* to, const Bf16* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = widen(from[i]);
}
PARALLELARIUM_VECTOR
void cast_cpu(Bf16* to, const float* from, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = round_to_bf16(from[i]);
}
void fill_cpu(Bf16* values, float value, std::size_t count) {
  std::fill_n(values, count, round_to_bf16(value));
}

void accumulate_cpu(Bf16* sum, const Bf16* part, std::size_t count) {
  residual_add_cpu(sum, sum, part, count);
}
void residual_add_cpu(Bf16* out, const Bf16* stream, const Bf16* branch, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    out[i] = round_to_bf16(widen(stream[i]) + widen(branch[i]));
}
void residual_bias_add_cpu(Bf16* out, const Bf16* stream, const Bf16* branch, const Bf16* bias,
                           std::int64_t N, std::int64_t C) {
  const Widened biases(bias, size(C));
  by_rows(N, C, [&](std::int64_t n, std::int64_t rows) {
    const std::size_t count = size(rows * C);
    Widened result(count);
    residual_bias_add_cpu(result.data(), Widened(stream + n * C, count).data(),
                          Widened(branch + n * C, count).data(), biases.data(), rows, C);
    result.round_into(out + n * C);
  });
}

void gelu_forward_cpu(Bf16* g, const Bf16* u, std::size_t count) {
  by_blocks(count, [&](std::size_t at, std::size_t block) {
    Widened out(block);
    gelu_forward_cpu(out.data(), Widened(u + at, block).data(), block);
    out.round_into(g + at);
  });
}
void gelu_backward_cpu(Bf16* du, const Bf16* dg, const Bf16* u, std::size_t count) {
  by_blocks(count, [&](std::size_t at, std::size_t block) {
    Widened out(block);
    gelu_backward_cpu(out.data(), Widened(dg + at, block).data(), Widened(u + at, block).data(),
                      block);
    out.round_into(du + at);
  });
}
void swiglu_forward_cpu(Bf16* g, const Bf16* u, std::int64_t N, std::int64_t F) {
  by_rows(N, 2 * F, [&](std::int64_t n, std::int64_t rows) {
    Widened out(size(rows * F));
    swiglu_forward_cpu(out.data(), Widened(u + n * 2 * F, size(rows * 2 * F)).data(), rows, F);
    out.round_into(g + n * F);
  });
}
void swiglu_backward_cpu(Bf16* du, const Bf16* dg, const Bf16* u, std::int64_t N, std::int64_t F) {
  by_rows(N, 2 * F, [&](std::int64_t n, std::int64_t rows) {
    Widened out(size(rows * 2 * F));
    swiglu_backward_cpu(out.data(), Widened(dg + n * F, size(rows * F)).data(),
                        Widened(u + n * 2 * F, size(rows * 2 * F)).data(), rows, F);
    out.round_into(du + n * 2 * F);
  });
}

void layer_norm_forward_cpu(Bf16* y, float* stats, const Bf16* x, const Bf16* gain,
                            const Bf16* bias, std::int64_t N, std::int64_t C) {
  const Widened gains(gain, size(C));
  const Widened biases(bias, size(C));
  norm_forward(y, stats, x, N, C,
               [&](float* out, float* block, const float* in, std::int64_t rows) {
                 layer_norm_forward_cpu(out, block, in, gains.data(), biases.data(), rows, C);
               });
}
void rms_norm_forward_cpu(Bf16* y, float* stats, const Bf16* x, const Bf16* gain, std::int64_t N,
                          std::int64_t C) {
  const Widened gains(gain, size(C));
  norm_forward(y, stats, x, N, C,
               [&](float* out, float* block, const float* in, std::int64_t rows) {
                 rms_norm_forward_cpu(out, block, in, gains.data(), rows, C);
               });
}
void layer_norm_input_grad_cpu(Bf16* dx, const Bf16* dy, const Bf16* x, const Bf16* gain,
                               const float* stats, bool accumulate, std::int64_t N,
                               std::int64_t C) {
  norm_input_grad(dx, dy, x, gain, stats, accumulate, N, C,
                  [](auto... operands) { layer_norm_input_grad_cpu(operands...); });
}
void rms_norm_input_grad_cpu(Bf16* dx, const Bf16* dy, const Bf16* x, const Bf16* gain,
                             const float* stats, bool accumulate, std::int64_t N, std::int64_t C) {
  norm_input_grad(dx, dy, x, gain, stats, accumulate, N, C,
                  [](auto... operands) { rms_norm_input_grad_cpu(operands...); });
}
template <class G>
void norm_weight_grad_cpu(G* dgain, G* dbias, const Bf16* dy, const Bf16* x, const float* stats,
                          std::int64_t N, std::int64_t C) {
  Widened gains(dgain, size(C));
  Widened biases(dbias, size(C));
  by_rows(N, C, [&](std::int64_t n, std::int64_t rows) {
    const std::size_t count = size(rows * C);
    norm_weight_grad_cpu(gains.data(), biases.data(), Widened(dy + n * C, count).data(),
                         Widened(x + n * C, count).data(), stats_of(stats, N, n, rows).data(), rows,
                         C);
  });
  gains.round_into(dgain);
  biases.round_into(dbias);
}

void linear_forward_cpu(Bf16* y, const Bf16* x, const Bf16* w, const Bf16* bias, std::int64_t N,
                        std::int64_t M, std::int64_t K) {
  Widened out(size(N * M));
  linear_forward_cpu(out.data(), Widened(x, size(N * K)).data(), Widened(w, size(M * K)).data(),
                     Widened(bias, size(M)).data(), N, M, K);
  out.round_into(y);
}
void linear_input_grad_cpu(Bf16* dx, const Bf16* dy, const Bf16* w, std::int64_t N, std::int64_t M,
                           std::int64_t K) {
  Widened out(size(N * K));
  linear_input_grad_cpu(out.data(), Widened(dy, size(N * M)).data(), Widened(w, size(M * K)).data(),
                        N, M, K);
  out.round_into(dx);
}
template <class G>
void linear_weight_grad_cpu(G* dw, G* db, const Bf16* dy, const Bf16* x, std::int64_t N,
                            std::int64_t M, std::int64_t K) {
  Widened weights(dw, size(M * K));
  Widened biases(db, size(M));
  linear_weight_grad_cpu(weights.data(), biases.data(), Widened(dy, size(N * M)).data(),
                         Widened(x, size(N * K)).data(), N, M, K);
  weights.round_into(dw);
  biases.round_into(db);
}

void attention_forward_cpu(Bf16* context, Bf16* probabilities, const Bf16* qkv,
                           const AttentionShape& shape) {
  const AttentionShape one = one_sequence(shape);
  const std::size_t scores = size(shape.H * shape.T * shape.T);
  for (std::size_t b = 0; b < size(shape.B); ++b) {
    Widened out(context_count(one));
    Widened p(scores);
    attention_forward_cpu(out.data(), p.data(),
                          Widened(qkv + b * qkv_count(one), qkv_count(one)).data(), one);
    out.round_into(context + b * context_count(one));
    p.round_into(probabilities + b * scores);
  }
}
void attention_backward_cpu(Bf16* dqkv, float* scratch, const Bf16* dcontext, const Bf16* qkv,
                            const Bf16* probabilities, const AttentionShape& shape) {
  const AttentionShape one = one_sequence(shape);
  const std::size_t scores = size(shape.H * shape.T * shape.T);
  for (std::size_t b = 0; b < size(shape.B); ++b) {
    Widened out(qkv_count(one));
    attention_backward_cpu(out.data(), scratch,
                           Widened(dcontext + b * context_count(one), context_count(one)).data(),
                           Widened(qkv + b * qkv_count(one), qkv_count(one)).data(),
                           Widened(probabilities + b * scores, scores).data(), one);
    out.round_into(dqkv + b * qkv_count(one));
  }
}
void fused_attention_forward_cpu(Bf16* context, float* lse, float* scratch, const Bf16* qkv,
                                 const AttentionShape& shape) {
  const AttentionShape one = one_sequence(shape);
  for (std::size_t b = 0; b < size(shape.B); ++b) {
    Widened out(context_count(one));
    fused_attention_forward_cpu(out.data(), lse + b * size(shape.H * shape.T), scratch,
                                Widened(qkv + b * qkv_count(one), qkv_count(one)).data(), one);
    out.round_into(context + b * context_count(one));
  }
}
void fused_attention_backward_cpu(Bf16* dqkv, float* scratch, const Bf16* dcontext, const Bf16* qkv,
                                  const Bf16* context, const float* lse,
                                  const AttentionShape& shape) {
  const AttentionShape one = one_sequence(shape);
  for (std::size_t b = 0; b < size(shape.B); ++b) {
    Widened out(qkv_count(one));
    fused_attention_backward_cpu(
        out.data(), scratch, Widened(dcontext + b * context_count(one), context_count(one)).data(),
        Widened(qkv + b * qkv_count(one), qkv_count(one)).data(),
        Widened(context + b * context_count(one), context_count(one)).data(),
        lse + b * size(shape.H * shape.T), one);
    out.round_into(dqkv + b * qkv_count(one));
  }
}
void rotary_cpu(Bf16* qkv, Turn turn, const AttentionShape& shape) {
  Widened values(qkv, qkv_count(shape));
  rotary_cpu(values.data(), turn, shape);
  values.round_into(qkv);
}

void embedding_forward_cpu(Bf16* x, const std::int32_t* tokens, const Bf16* table,
                           const Bf16* positions, std::int64_t N, std::int64_t T, std::int64_t C) {
  for (std::int64_t n = 0; n < N; ++n) {
    const Bf16* row = table + tokens[n] * C;
    if (positions != nullptr)
      residual_add_cpu(x + n * C, row, positions + n % T * C, size(C));
    else
      std::copy_n(row, C, x + n * C);
  }
}
template <class G>
void embedding_grad_cpu(G* dtable, G* dpositions, const Bf16* dx, const std::int32_t* tokens,
                        std::int64_t N, std::int64_t T, std::int64_t C, std::int64_t V) {
  Widened table(dtable, size(V * C));
  Widened positions(dpositions, size(T * C));
  embedding_grad_cpu(table.data(), positions.data(), Widened(dx, size(N * C)).data(), tokens, N, T,
                     C);
  table.round_into(dtable);
  positions.round_into(dpositions);
}

void loss_max_cpu(float* row_max, const Bf16* logits, std::int64_t N, std::int64_t V) {
  by_rows(N, V, [&](std::int64_t n, std::int64_t rows) {
    loss_max_cpu(row_max + n, Widened(logits + n * V, size(rows * V)).data(), rows, V);
  });
}
void loss_sum_cpu(float* sum_exp, float* target_logit, const Bf16* logits, const float* row_max,
                  const std::int32_t* targets, std::int64_t N, std::int64_t V, std::int64_t first) {
  by_rows(N, V, [&](std::int64_t n, std::int64_t rows) {
    loss_sum_cpu(sum_exp + n, target_logit + n, Widened(logits + n * V, size(rows * V)).data(),
                 row_max + n, targets + n, rows, V, first);
  });
}
void loss_grad_cpu(Bf16* logits, const float* row_max, const float* sum_exp,
                   const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V,
                   std::int64_t first) {
  by_rows(N, V, [&](std::int64_t n, std::int64_t rows) {
    Widened block(logits + n * V, size(rows * V));
    loss_grad_cpu(block.data(), row_max + n, sum_exp + n, targets + n, scale, rows, V, first);
    block.round_into(logits + n * V);
  });
}

void sum_of_squares_cpu(double* sum, const Bf16* values, std::size_t count) {
  by_blocks(count, [&](std::size_t at, std::size_t block) {
    sum_of_squares_cpu(sum, Widened(values + at, block).data(), block);
  });
}

template <class G, class M>
void adamw_cpu(Bf16* parameters, float* master, const G* gradients, M* first_moment,
               M* second_moment, const double* sum_of_squares, float clip, const AdamW& settings,
               std::size_t count) {
  by_blocks(count, [&](std::size_t at, std::size_t block) {
    Widened m(first_moment + at, block);
    Widened v(second_moment + at, block);
    adamw_cpu(master + at, Widened(gradients + at, block).data(), m.data(), v.data(),
              sum_of_squares, clip, settings, block);
    m.round_into(first_moment + at);
    v.round_into(second_moment + at);
    cast_cpu(parameters + at, master + at, block);
  });
}

template void norm_weight_grad_cpu(float*, float*, const Bf16*, const Bf16*, const float*,
                                   std::int64_t, std::int64_t);
template void norm_weight_grad_cpu(Bf16*, Bf16*, const Bf16*, const Bf16*, const float*,
                                   std::int64_t, std::int64_t);
template void linear_weight_grad_cpu(float*, float*, const Bf16*, const Bf16*, std::int64_t,
                                     std::int64_t, std::int64_t);
template void linear_weight_grad_cpu(Bf16*, Bf16*, const Bf16*, const Bf16*, std::int64_t,
                                     std::int64_t, std::int64_t);
template void embedding_grad_cpu(float*, float*, const Bf16*, const std::int32_t*, std::int64_t,
                                 std::int64_t, std::int64_t, std::int64_t);
template void embedding_grad_cpu(Bf16*, Bf16*, const Bf16*, const std::int32_t*, std::int64_t,
                                 std::int64_t, std::int64_t, std::int64_t);
template void adamw_cpu(Bf16*, float*, const float*, float*, float*, const double*, float,
                        const AdamW&, std::size_t);
template void adamw_cpu(Bf16*, float*, const Bf16*, float*, float*, const double*, float,
                        const AdamW&, std::size_t);
template void adamw_cpu(Bf16*, float*, const float*, Bf16*, Bf16*, const double*, float,
                        const AdamW&, std::size_t);
template void adamw_cpu(Bf16*, float*, const Bf16*, Bf16*, Bf16*, const double*, float,
                        const AdamW&, std::size_t);

}  // namespace parallelarium

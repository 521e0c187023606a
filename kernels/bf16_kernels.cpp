// SPDX-License-Identifier: Apache-2.0
#include "kernels/bf16_kernels.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/base/pitch.h"
#include "kernels/base/size.h"
#include "kernels/base/vector.h"
#include "kernels/base/widened.h"
#include "kernels/elementwise/accumulate.h"
#include "kernels/elementwise/activation.h"
#include "kernels/elementwise/residual.h"
#include "kernels/norms/norm.h"
#include "kernels/optimizer/sum_of_squares.h"
#include "kernels/vocabulary/cross_entropy.h"
#include "kernels/vocabulary/embedding.h"

namespace parallelarium {
namespace {

constexpr std::size_t kWidenedBlock = 1
                                      << 14;  // elements widened at a time; they stay in the cache

// Calls kernel(first element, count) for blocks of an array.
template <class Kernel>
void by_blocks(std::size_t count, const Kernel& kernel) {
  for (std::size_t at = 0; at < count; at += kWidenedBlock)
    kernel(at, std::min(kWidenedBlock, count - at));
}
// Calls kernel(first row, rows) for blocks of whole rows.
template <class Kernel>
void by_rows(std::int64_t rows, std::int64_t columns, const Kernel& kernel) {
  const std::int64_t block =
      std::max<std::int64_t>(1, static_cast<std::int64_t>(kWidenedBlock) / columns);
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
    Widened block(size(2 * rows));
    kernel(out.data(), block.data(), in.data(), rows);
    out.round_into(y + n * C);
    std::copy_n(block.data(), rows, stats + n);
    std::copy_n(block.data() + rows, rows, stats + N + n);
  });
}
// Those of a block of rows, contiguous.
struct BlockStats {
  BlockStats(const float* stats, std::int64_t N, std::int64_t n, std::int64_t rows)
      : values(size(2 * rows)) {
    std::copy_n(stats + n, rows, values.data());
    std::copy_n(stats + N + n, rows, values.data() + rows);
  }
  const float* data() const { return values.data(); }
  Widened values;
};
template <class Kernel>
void norm_input_grad(Bf16* dx, const Bf16* dy, const Bf16* x, const Bf16* gain, const float* stats,
                     bool accumulate, std::int64_t N, std::int64_t C, const Kernel& kernel) {
  const Widened gains(gain, size(C));
  by_rows(N, C, [&](std::int64_t n, std::int64_t rows) {
    const std::size_t count = size(rows * C);
    Widened out(dx + n * C, count);
    kernel(out.data(), Widened(dy + n * C, count).data(), Widened(x + n * C, count).data(),
           gains.data(), BlockStats(stats, N, n, rows).data(), accumulate, rows, C);
    out.round_into(dx + n * C);
  });
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

void dropout_residual_cpu(Bf16* out, std::uint8_t* mask, const Bf16* stream, const Bf16* branch,
                          const Dropout& dropout, std::int64_t first, std::size_t count) {
  by_blocks(count, [&](std::size_t at, std::size_t block) {
    Widened result(block);
    dropout_residual_cpu(result.data(), mask + at, Widened(stream + at, block).data(),
                         Widened(branch + at, block).data(), dropout,
                         first + static_cast<std::int64_t>(at), block);
    result.round_into(out + at);
  });
}
void dropout_grad_cpu(Bf16* dbranch, const Bf16* dx, const std::uint8_t* mask, float scale,
                      std::size_t count) {
  by_blocks(count, [&](std::size_t at, std::size_t block) {
    Widened result(dx + at, block);
    dropout_grad_cpu(result.data(), result.data(), mask + at, scale, block);
    result.round_into(dbranch + at);
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
namespace {
// Both halves of so many rows, side by side.
void widen_halves(Widened& u, const Bf16* gate, const Bf16* up, std::int64_t rows, std::int64_t F,
                  std::int64_t apart) {
  for (std::int64_t n = 0; n < rows; ++n) {
    cast_cpu(u.data() + n * 2 * F, gate + n * apart, size(F));
    cast_cpu(u.data() + n * 2 * F + F, up + n * apart, size(F));
  }
}
}  // namespace
void swiglu_forward_cpu(Bf16* g, const Bf16* gate, const Bf16* up, std::int64_t N, std::int64_t F,
                        std::int64_t pitch) {
  const std::int64_t apart = pitch_of(F, pitch);
  by_rows(N, 2 * F, [&](std::int64_t n, std::int64_t rows) {
    Widened out(size(rows * F)), u(size(rows * 2 * F));
    widen_halves(u, gate + n * apart, up + n * apart, rows, F, apart);
    swiglu_forward_cpu(out.data(), u.data(), u.data() + F, rows, F, 2 * F);
    out.round_into(g + n * F);
  });
}
void swiglu_backward_cpu(Bf16* du, const Bf16* dg, const Bf16* gate, const Bf16* up, std::int64_t N,
                         std::int64_t F, std::int64_t pitch) {
  const std::int64_t apart = pitch_of(F, pitch);
  by_rows(N, 2 * F, [&](std::int64_t n, std::int64_t rows) {
    Widened out(size(rows * 2 * F)), u(size(rows * 2 * F));
    widen_halves(u, gate + n * apart, up + n * apart, rows, F, apart);
    swiglu_backward_cpu(out.data(), Widened(dg + n * F, size(rows * F)).data(), u.data(),
                        u.data() + F, rows, F, 2 * F);
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
                         Widened(x + n * C, count).data(), BlockStats(stats, N, n, rows).data(),
                         rows, C);
  });
  gains.round_into(dgain);
  biases.round_into(dbias);
}

void embedding_forward_cpu(Bf16* x, const std::int32_t* tokens, const Bf16* table,
                           const Bf16* positions, std::int64_t N, std::int64_t T, std::int64_t C) {
  for (std::int64_t n = 0; n < N; ++n) {
    const Bf16* row = tokens[n] < 0 ? nullptr : table + tokens[n] * C;
    const Bf16* position = positions == nullptr ? nullptr : positions + n % T * C;
    if (row != nullptr && position != nullptr)
      residual_add_cpu(x + n * C, row, position, size(C));
    else if (row != nullptr || position != nullptr)
      std::copy_n(row != nullptr ? row : position, C, x + n * C);
    else
      std::fill_n(x + n * C, C, Bf16{});
  }
}
// Tokens are sorted by the row that gathers them.
template <class G>
void embedding_grad_cpu(G* dtable, G* dpositions, const Bf16* dx, const std::int32_t* tokens,
                        std::int64_t N, std::int64_t T, std::int64_t C) {
  const auto gather = [&](G* to, const auto& row_of) {
    thread_local std::vector<std::int32_t> order;
    order.resize(size(N));
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
      return row_of(a) != row_of(b) ? row_of(a) < row_of(b) : a < b;
    });
    for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
      const std::int64_t row = row_of(order[first]);
      while (end < order.size() && row_of(order[end]) == row) ++end;
      if (row < 0) continue;
      Widened sum(to + row * C, size(C));
      for (std::size_t i = first; i < end; ++i)
        accumulate_cpu(sum.data(), Widened(dx + order[i] * C, size(C)).data(), size(C));
      sum.round_into(to + row * C);
    }
  };
  gather(dtable, [&](std::int32_t n) { return std::int64_t{tokens[n]}; });
  if (dpositions != nullptr) gather(dpositions, [&](std::int32_t n) { return n % T; });
}

void loss_max_cpu(float* row_max, const Bf16* logits, std::int64_t N, std::int64_t V,
                  std::int64_t pitch) {
  pitch = pitch_of(V, pitch);
  by_rows(N, pitch, [&](std::int64_t n, std::int64_t rows) {
    loss_max_cpu(row_max + n, Widened(logits + n * pitch, size(rows * pitch)).data(), rows, V,
                 pitch);
  });
}
void loss_sum_cpu(float* sum_exp, float* target_logit, const Bf16* logits, const float* row_max,
                  const std::int32_t* targets, std::int64_t N, std::int64_t V, std::int64_t first,
                  std::int64_t pitch) {
  pitch = pitch_of(V, pitch);
  by_rows(N, pitch, [&](std::int64_t n, std::int64_t rows) {
    loss_sum_cpu(sum_exp + n, target_logit + n,
                 Widened(logits + n * pitch, size(rows * pitch)).data(), row_max + n, targets + n,
                 rows, V, first, pitch);
  });
}
void loss_max_sum_cpu(float* row_max, float* sum_exp, float* target_logit, const Bf16* logits,
                      const std::int32_t* targets, std::int64_t N, std::int64_t V,
                      std::int64_t pitch) {
  pitch = pitch_of(V, pitch);
  by_rows(N, pitch, [&](std::int64_t n, std::int64_t rows) {
    loss_max_sum_cpu(row_max + n, sum_exp + n, target_logit + n,
                     Widened(logits + n * pitch, size(rows * pitch)).data(), targets + n, rows, V,
                     pitch);
  });
}
void loss_grad_cpu(Bf16* logits, const float* row_max, const float* sum_exp,
                   const std::int32_t* targets, float scale, std::int64_t N, std::int64_t V,
                   std::int64_t first, std::int64_t pitch) {
  pitch = pitch_of(V, pitch);
  by_rows(N, pitch, [&](std::int64_t n, std::int64_t rows) {
    Widened block(logits + n * pitch, size(rows * pitch));
    loss_grad_cpu(block.data(), row_max + n, sum_exp + n,
                  targets == nullptr ? nullptr : targets + n, scale, rows, V, first, pitch);
    block.round_into(logits + n * pitch);
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
template void embedding_grad_cpu(float*, float*, const Bf16*, const std::int32_t*, std::int64_t,
                                 std::int64_t, std::int64_t);
template void embedding_grad_cpu(Bf16*, Bf16*, const Bf16*, const std::int32_t*, std::int64_t,
                                 std::int64_t, std::int64_t);
template void adamw_cpu(Bf16*, float*, const float*, float*, float*, const double*, float,
                        const AdamW&, std::size_t);
template void adamw_cpu(Bf16*, float*, const Bf16*, float*, float*, const double*, float,
                        const AdamW&, std::size_t);
template void adamw_cpu(Bf16*, float*, const float*, Bf16*, Bf16*, const double*, float,
                        const AdamW&, std::size_t);
template void adamw_cpu(Bf16*, float*, const Bf16*, Bf16*, Bf16*, const double*, float,
                        const AdamW&, std::size_t);

}  // namespace parallelarium

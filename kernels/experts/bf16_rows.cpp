// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "kernels/base/widened.h"
#include "kernels/bf16_kernels.h"
#include "kernels/experts/router.h"

namespace parallelarium {
namespace {

void add_row(Widened& sum, const Bf16* row, float scale, std::int64_t C) {
  float* to = sum.data();
  for (std::int64_t c = 0; c < C; ++c) to[c] += scale * widen(row[c]);
}

}  // namespace

void dispatch_rows_cpu(Bf16* rows, const Bf16* y, const std::int32_t* routes, std::int64_t N,
                       std::int64_t k, std::int64_t C) {
  const std::int32_t* row = routes + rows_at(N, k);
  for (std::int64_t i = 0; i < N * k; ++i) {
    if (row[i] >= 0) std::copy_n(y + i / k * C, C, rows + row[i] * C);
  }
}

void dispatch_rows_grad_cpu(Bf16* dy, const Bf16* drows, const std::int32_t* routes, bool adds,
                            std::int64_t N, std::int64_t k, std::int64_t C) {
  const std::int32_t* row = routes + rows_at(N, k);
  Widened sum(static_cast<std::size_t>(C));
  for (std::int64_t n = 0; n < N; ++n) {
    if (adds)
      cast_cpu(sum.data(), dy + n * C, static_cast<std::size_t>(C));
    else
      std::fill_n(sum.data(), C, 0.0F);
    for (std::int64_t i = n * k; i < (n + 1) * k; ++i)
      if (row[i] >= 0) add_row(sum, drows + row[i] * C, 1, C);
    sum.round_into(dy + n * C);
  }
}

void combine_rows_cpu(Bf16* out, const Bf16* rows, const float* gates, const Bf16* shared,
                      const std::int32_t* routes, std::int64_t N, std::int64_t k, std::int64_t C) {
  const std::int32_t* row = routes + rows_at(N, k);
  Widened sum(static_cast<std::size_t>(C));
  for (std::int64_t n = 0; n < N; ++n) {
    if (shared != nullptr)
      cast_cpu(sum.data(), shared + n * C, static_cast<std::size_t>(C));
    else
      std::fill_n(sum.data(), C, 0.0F);
    for (std::int64_t i = n * k; i < (n + 1) * k; ++i)
      if (row[i] >= 0) add_row(sum, rows + row[i] * C, gates[i], C);
    sum.round_into(out + n * C);
  }
}

void combine_rows_grad_cpu(Bf16* drows, float* dgates, const Bf16* dout, const Bf16* rows,
                           const float* gates, const std::int32_t* routes, std::int64_t N,
                           std::int64_t k, std::int64_t C) {
  const std::int32_t* row = routes + rows_at(N, k);
  for (std::int64_t i = 0; i < N * k; ++i) {
    dgates[i] = 0;
    if (row[i] < 0) continue;
    const Bf16* from = dout + i / k * C;
    const Bf16* value = rows + row[i] * C;
    Bf16* to = drows + row[i] * C;
    float dot = 0;
    for (std::int64_t c = 0; c < C; ++c) {
      const float grad = widen(from[c]);
      to[c] = round_to_bf16(gates[i] * grad);
      dot += grad * widen(value[c]);
    }
    dgates[i] = dot;
  }
}

}  // namespace parallelarium

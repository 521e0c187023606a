// SPDX-License-Identifier: Apache-2.0
// FP8 numbers as fp32, in which their products are exact.
#include "kernels/products/fp8_linear.h"

#include <type_traits>

#include "kernels/base/fp8.h"
#include "kernels/base/size.h"
#include "kernels/base/vector.h"
#include "kernels/base/widened.h"
#include "kernels/products/linear.h"

namespace parallelarium {
namespace {

PARALLELARIUM_VECTOR
std::uint32_t largest_of(const Bf16* __restrict__ values, std::size_t count) {
  std::uint32_t largest = 0;
#pragma omp simd reduction(max : largest)
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t size = values[i].bits & 0x7FFFU;
    largest = size > largest ? size : largest;
  }
  return largest << 16;
}

template <class F>
[[gnu::always_inline]] inline void quantise(float* __restrict__ to, const Bf16* __restrict__ from,
                                            float scale, std::size_t count) {
#pragma omp simd
  for (std::size_t i = 0; i < count; ++i) to[i] = widen(round_to_fp8<F>(widen(from[i]) * scale));
}
PARALLELARIUM_VECTOR
void to_e4m3(float* __restrict__ to, const Bf16* __restrict__ from, float scale,
             std::size_t count) {
  quantise<E4m3>(to, from, scale, count);
}
PARALLELARIUM_VECTOR
void to_e5m2(float* __restrict__ to, const Bf16* __restrict__ from, float scale,
             std::size_t count) {
  quantise<E5m2>(to, from, scale, count);
}

// A tensor in FP8, and what its products are multiplied by.
template <class F>
class Quantised {
 public:
  Quantised(const Bf16* from, std::int64_t count) : values_(size(count)) {
    const Fp8Scale scale = fp8_scale<F>(largest_of(from, size(count)));
    inverse_ = scale.inverse;
    if constexpr (std::is_same_v<F, E4m3>)
      to_e4m3(values_.data(), from, scale.scale, size(count));
    else
      to_e5m2(values_.data(), from, scale.scale, size(count));
  }
  const float* data() const { return values_.data(); }
  float inverse() const { return inverse_; }

 private:
  Widened values_;
  float inverse_ = 1;
};

PARALLELARIUM_VECTOR
void scale_all(float* __restrict__ values, float by, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] *= by;
}
PARALLELARIUM_VECTOR
void add_scaled(float* __restrict__ sum, const float* __restrict__ part, float by,
                std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) sum[i] += by * part[i];
}
PARALLELARIUM_VECTOR
void add_rows(float* __restrict__ rows, const float* __restrict__ row, std::int64_t N,
              std::int64_t M) {
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t m = 0; m < M; ++m) rows[n * M + m] += row[m];
}
PARALLELARIUM_VECTOR
void add_columns(float* __restrict__ sums, const Bf16* __restrict__ rows, std::int64_t N,
                 std::int64_t M) {
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t m = 0; m < M; ++m) sums[m] += widen(rows[n * M + m]);
}

}  // namespace

void fp8_linear_forward_cpu(Bf16* y, const Bf16* x, const Bf16* w, const Bf16* bias, std::int64_t N,
                            std::int64_t M, std::int64_t K) {
  Widened out(size(N * M));
  const Quantised<E4m3> inputs(x, N * K), weights(w, M * K);
  linear_forward_cpu(out.data(), inputs.data(), weights.data(), nullptr, N, M, K);
  scale_all(out.data(), inputs.inverse() * weights.inverse(), size(N * M));
  if (bias != nullptr) add_rows(out.data(), Widened(bias, size(M)).data(), N, M);
  out.round_into(y);
}

void fp8_linear_input_grad_cpu(Bf16* dx, const Bf16* dy, const Bf16* w, std::int64_t N,
                               std::int64_t M, std::int64_t K) {
  Widened out(size(N * K));
  const Quantised<E5m2> grads(dy, N * M);
  const Quantised<E4m3> weights(w, M * K);
  linear_input_grad_cpu(out.data(), grads.data(), weights.data(), N, M, K);
  scale_all(out.data(), grads.inverse() * weights.inverse(), size(N * K));
  out.round_into(dx);
}

template <class G>
void fp8_linear_weight_grad_cpu(G* dw, G* db, const Bf16* dy, const Bf16* x, std::int64_t N,
                                std::int64_t M, std::int64_t K) {
  Widened weights(dw, size(M * K));
  Widened biases(db, size(M));
  Widened part(size(M * K));
  const Quantised<E5m2> grads(dy, N * M);
  const Quantised<E4m3> inputs(x, N * K);
  std::fill_n(part.data(), M * K, 0.0F);
  linear_weight_grad_cpu(part.data(), nullptr, grads.data(), inputs.data(), N, M, K);
  add_scaled(weights.data(), part.data(), grads.inverse() * inputs.inverse(), size(M * K));
  if (db != nullptr) add_columns(biases.data(), dy, N, M);
  weights.round_into(dw);
  biases.round_into(db);
}
template void fp8_linear_weight_grad_cpu(float*, float*, const Bf16*, const Bf16*, std::int64_t,
                                         std::int64_t, std::int64_t);
template void fp8_linear_weight_grad_cpu(Bf16*, Bf16*, const Bf16*, const Bf16*, std::int64_t,
                                         std::int64_t, std::int64_t);

}  // namespace parallelarium

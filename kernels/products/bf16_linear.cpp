// SPDX-License-Identifier: Apache-2.0
// Linear layers on bf16: by the processor's own products of bf16 where it has them, else widened.
#include <algorithm>
#include <type_traits>

#include "kernels/base/pitch.h"
#include "kernels/base/size.h"
#include "kernels/base/vector.h"
#include "kernels/base/widened.h"
#include "kernels/products/linear.h"
#include "kernels/products/matmul.h"

namespace parallelarium {
namespace {

PARALLELARIUM_VECTOR
void add_column_sums(float* __restrict__ sums, const Bf16* __restrict__ rows, std::int64_t N,
                     std::int64_t M, std::int64_t pitch) {
  for (std::int64_t n = 0; n < N; ++n)
    for (std::int64_t m = 0; m < M; ++m) sums[m] += widen(rows[n * pitch + m]);
}

}  // namespace

template <class Y>
void linear_forward_cpu(Y* y, const Bf16* x, const Bf16* w, const Bf16* bias, std::int64_t N,
                        std::int64_t M, std::int64_t K, std::int64_t y_pitch) {
  const std::int64_t pitch = pitch_of(M, y_pitch);
  Widened out(size(extent_of(N, M, pitch)));
  const Widened biases(bias, size(M));
  if (matmul_takes_bf16()) {
    if (bias != nullptr)
      for (std::int64_t n = 0; n < N; ++n) std::copy_n(biases.data(), M, out.data() + n * pitch);
    matmul_cpu(Transpose::kNo, Transpose::kYes, N, M, K, x, K, w, K, bias != nullptr, out.data(),
               pitch);
  } else {
    linear_forward_cpu(out.data(), Widened(x, size(N * K)).data(), Widened(w, size(M * K)).data(),
                       biases.data(), N, M, K, pitch);
  }
  out.round_into(y);
}

// A dy in fp32, as that of a router's logits, is not rounded for its product.
template <class Y>
void linear_input_grad_cpu(Bf16* dx, const Y* dy, const Bf16* w, std::int64_t N, std::int64_t M,
                           std::int64_t K, std::int64_t y_pitch) {
  const std::int64_t pitch = pitch_of(M, y_pitch);
  Widened out(size(N * K));
  const auto widened = [&] {
    linear_input_grad_cpu(out.data(), Widened(dy, size(extent_of(N, M, pitch))).data(),
                          Widened(w, size(M * K)).data(), N, M, K, pitch);
  };
  if constexpr (std::is_same_v<Y, Bf16>) {
    if (matmul_takes_bf16())
      matmul_cpu(Transpose::kNo, Transpose::kNo, N, K, M, dy, pitch, w, K, false, out.data(), K);
    else
      widened();
  } else {
    widened();
  }
  out.round_into(dx);
}

template <class G, class Y>
void linear_weight_grad_cpu(G* dw, G* db, const Y* dy, const Bf16* x, std::int64_t N,
                            std::int64_t M, std::int64_t K, std::int64_t y_pitch) {
  const std::int64_t pitch = pitch_of(M, y_pitch);
  Widened weights(dw, size(M * K));
  Widened biases(db, size(M));
  const auto widened = [&] {
    linear_weight_grad_cpu(weights.data(), biases.data(),
                           Widened(dy, size(extent_of(N, M, pitch))).data(),
                           Widened(x, size(N * K)).data(), N, M, K, pitch);
  };
  if constexpr (std::is_same_v<Y, Bf16>) {
    if (matmul_takes_bf16()) {
      matmul_cpu(Transpose::kYes, Transpose::kNo, M, K, N, dy, pitch, x, K, true, weights.data(),
                 K);
      if (db != nullptr) add_column_sums(biases.data(), dy, N, M, pitch);
    } else {
      widened();
    }
  } else {
    widened();
  }
  weights.round_into(dw);
  biases.round_into(db);
}

#define PARALLELARIUM_FOR(Y)                                                                    \
  template void linear_forward_cpu(Y*, const Bf16*, const Bf16*, const Bf16*, std::int64_t,     \
                                   std::int64_t, std::int64_t, std::int64_t);                   \
  template void linear_input_grad_cpu(Bf16*, const Y*, const Bf16*, std::int64_t, std::int64_t, \
                                      std::int64_t, std::int64_t);                              \
  template void linear_weight_grad_cpu(float*, float*, const Y*, const Bf16*, std::int64_t,     \
                                       std::int64_t, std::int64_t, std::int64_t);               \
  template void linear_weight_grad_cpu(Bf16*, Bf16*, const Y*, const Bf16*, std::int64_t,       \
                                       std::int64_t, std::int64_t, std::int64_t);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium

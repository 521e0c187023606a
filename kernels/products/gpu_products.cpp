// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "kernels/base/pitch.h"
#include "kernels/gpu.h"
#include "kernels/products/gpu_matmul.h"

namespace parallelarium {
namespace {

// A product of one matrix with one matrix.
MatmulShape single(Transpose a, Transpose b, std::int64_t m, std::int64_t n, std::int64_t k,
                   std::int64_t lda, std::int64_t ldb, std::int64_t ldc) {
  return {a, b, m, n, k, lda, ldb, ldc};
}
// The same for several heads at once, the stored matrices so many elements apart.
MatmulShape batched(MatmulShape shape, std::int64_t batches, std::int64_t step_a,
                    std::int64_t step_b, std::int64_t step_c) {
  shape.batches = batches;
  shape.step_a = step_a;
  shape.step_b = step_b;
  shape.step_c = step_c;
  return shape;
}

cublasStatus_t status_of(cudaError_t launched) {
  return launched == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

}  // namespace

template <class In, class Out>
cublasStatus_t GpuMatmul::multiply(const MatmulShape& shape, float alpha, const In* a, const In* b,
                                   float beta, Out* c, const Out* bias, cudaStream_t stream) {
  const bool tensor_cores = tf32_ || !std::is_same_v<In, float>;
  if (!tensor_cores || bias != nullptr || shape.m * shape.n * shape.k < cut_from_)
    return multiply_whole(shape, alpha, a, b, beta, c, bias, stream);
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  for (const MatmulPart& part : aligned_parts(shape, 16 / sizeof(In))) {
    status = multiply_whole(part.shape, alpha, a + part.a, b + part.b, part.adds ? 1.0F : beta,
                            c + part.c, bias, stream);
    if (status != CUBLAS_STATUS_SUCCESS) break;
  }
  return status;
}

template <class Y, class T>
cublasStatus_t linear_forward(GpuMatmul& matmul, Y* y, const T* x, const T* w, const Y* bias,
                              std::int64_t N, std::int64_t M, std::int64_t K, cudaStream_t stream,
                              std::int64_t y_pitch) {
  return matmul.multiply(
      single(Transpose::kNo, Transpose::kYes, N, M, K, K, K, pitch_of(M, y_pitch)), 1.0F, x, w,
      0.0F, y, bias, stream);
}
template <class T>
cublasStatus_t linear_input_grad(GpuMatmul& matmul, T* dx, const T* dy, const T* w, std::int64_t N,
                                 std::int64_t M, std::int64_t K, cudaStream_t stream,
                                 std::int64_t y_pitch) {
  return matmul.multiply(
      single(Transpose::kNo, Transpose::kNo, N, K, M, pitch_of(M, y_pitch), K, K), 1.0F, dy, w,
      0.0F, dx, static_cast<const T*>(nullptr), stream);
}
template <class G, class T>
cublasStatus_t linear_weight_grad(GpuMatmul& matmul, G* dw, const T* dy, const T* x, std::int64_t N,
                                  std::int64_t M, std::int64_t K, cudaStream_t stream,
                                  std::int64_t y_pitch) {
  return matmul.multiply(
      single(Transpose::kYes, Transpose::kNo, M, K, N, pitch_of(M, y_pitch), K, K), 1.0F, dy, x,
      1.0F, dw, static_cast<const G*>(nullptr), stream);
}

// A batch goes over key/value heads; heads that share one take turns, since they would otherwise
// need a stride of zero for it and a sum over the batch for its gradient.
template <class T>
cublasStatus_t attention_forward(GpuMatmul& matmul, T* context, T* probabilities, const T* qkv,
                                 const AttentionShape& shape, cudaStream_t stream,
                                 const DroppedProbabilities<T>& dropout) {
  const std::int64_t B = shape.B, L = shape.T, H = shape.H, K = shape.K, D = shape.D;
  const std::int64_t A = (H + 2 * K) * D;
  const std::int64_t sharers = H / K;
  const T* const no_bias = nullptr;
  const MatmulShape scores = batched(single(Transpose::kNo, Transpose::kYes, L, L, D, A, A, L), K,
                                     sharers * D, D, sharers * L * L);
  const MatmulShape sums = batched(single(Transpose::kNo, Transpose::kNo, L, D, L, L, A, H * D), K,
                                   sharers * L * L, D, sharers * D);
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const auto each = [&](const auto& product) {
    for (std::int64_t b = 0; b < B; ++b)
      for (std::int64_t h = 0; h < sharers && status == CUBLAS_STATUS_SUCCESS; ++h)
        status = product(qkv + b * L * A, probabilities + (b * H + h) * L * L, b, h);
  };
  each([&](const T* sequence, T* p, std::int64_t, std::int64_t h) {
    return matmul.multiply(scores, 1.0F / std::sqrt(static_cast<float>(D)), sequence + h * D,
                           sequence + H * D, 0.0F, p, no_bias, stream);
  });
  if (status == CUBLAS_STATUS_SUCCESS)
    status = status_of(causal_softmax(probabilities, B * H, L, stream));
  const bool drops = dropout.mask != nullptr;
  if (status == CUBLAS_STATUS_SUCCESS && drops)
    status = status_of(dropout_probabilities(dropout.dropped, dropout.mask, probabilities,
                                             dropout.of, shape, stream));
  each([&](const T* sequence, T* p, std::int64_t b, std::int64_t h) {
    const T* const weights = drops ? dropout.dropped + (p - probabilities) : p;
    return matmul.multiply(sums, 1.0F, weights, sequence + (H + K) * D, 0.0F,
                           context + (b * L * H + h) * D, no_bias, stream);
  });
  return status;
}

template <class T>
cublasStatus_t attention_backward(GpuMatmul& matmul, T* dqkv, T* scratch,
                                  std::int64_t scratch_heads, const T* dcontext, const T* qkv,
                                  const T* probabilities, const AttentionShape& shape,
                                  cudaStream_t stream, const DroppedProbabilities<T>& dropout) {
  const std::int64_t B = shape.B, L = shape.T, H = shape.H, K = shape.K, D = shape.D;
  const std::int64_t A = (H + 2 * K) * D;
  const std::int64_t sharers = H / K;
  const std::int64_t square = L * L;
  const float scale = 1.0F / std::sqrt(static_cast<float>(D));
  const T* const none = nullptr;
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const auto multiply = [&](const MatmulShape& product, const T* a, const T* b, float beta, T* c) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = matmul.multiply(product, 1.0F, a, b, beta, c, none, stream);
  };
  for (std::int64_t b = 0; b < B; ++b)
    for (std::int64_t k = 0; k < K; k += scratch_heads)
      for (std::int64_t h = 0; h < sharers; ++h) {
        const std::int64_t heads = std::min(scratch_heads, K - k);  // of this turn
        const std::int64_t q_at = b * L * A + (k * sharers + h) * D;
        const std::int64_t k_at = b * L * A + (H + k) * D;
        const std::int64_t v_at = k_at + K * D;
        const T* const dout = dcontext + b * L * H * D + (k * sharers + h) * D;
        const T* const q = qkv + q_at;
        const float kept = h == 0 ? 0.0F : 1.0F;
        const T* const p = probabilities + (b * H + k * sharers + h) * square;
        multiply(batched(single(Transpose::kNo, Transpose::kYes, L, L, D, H * D, A, L), heads,
                         sharers * D, D, square),
                 dout, qkv + v_at, 0.0F, scratch);
        const std::int64_t p_at = p - probabilities;
        const T* const weights = dropout.mask != nullptr ? dropout.dropped + p_at : p;
        // The masks of a turn's heads lie side by side where none share their keys.
        const std::int64_t masks = dropout.mask == nullptr ? 0 : sharers == 1 ? 1 : heads;
        for (std::int64_t i = 0; i < masks && status == CUBLAS_STATUS_SUCCESS; ++i)
          status = status_of(
              dropout_grad(scratch + i * square, scratch + i * square,
                           dropout.mask + p_at + i * sharers * square, dropout.of.dropout.scale,
                           static_cast<std::size_t>(heads / masks * square), stream));
        if (status == CUBLAS_STATUS_SUCCESS)
          status =
              status_of(causal_softmax_grad(scratch, p, sharers * square, scale, heads, L, stream));
        multiply(batched(single(Transpose::kNo, Transpose::kNo, L, D, L, L, A, A), heads, square, D,
                         sharers * D),
                 scratch, qkv + k_at, 0.0F, dqkv + q_at);
        multiply(batched(single(Transpose::kYes, Transpose::kNo, L, D, L, L, A, A), heads, square,
                         sharers * D, D),
                 scratch, q, kept, dqkv + k_at);
        multiply(batched(single(Transpose::kYes, Transpose::kNo, L, D, L, L, H * D, A), heads,
                         sharers * square, sharers * D, D),
                 weights, dout, kept, dqkv + v_at);
      }
  return status;
}

#define PARALLELARIUM_FOR(T)                                                                       \
  template cublasStatus_t linear_forward(GpuMatmul&, T*, const T*, const T*, const T*,             \
                                         std::int64_t, std::int64_t, std::int64_t, cudaStream_t,   \
                                         std::int64_t);                                            \
  template cublasStatus_t linear_input_grad(GpuMatmul&, T*, const T*, const T*, std::int64_t,      \
                                            std::int64_t, std::int64_t, cudaStream_t,              \
                                            std::int64_t);                                         \
  template cublasStatus_t linear_weight_grad(GpuMatmul&, T*, const T*, const T*, std::int64_t,     \
                                             std::int64_t, std::int64_t, cudaStream_t,             \
                                             std::int64_t);                                        \
  template cublasStatus_t attention_forward(GpuMatmul&, T*, T*, const T*, const AttentionShape&,   \
                                            cudaStream_t, const DroppedProbabilities<T>&);         \
  template cublasStatus_t attention_backward(GpuMatmul&, T*, T*, std::int64_t, const T*, const T*, \
                                             const T*, const AttentionShape&, cudaStream_t,        \
                                             const DroppedProbabilities<T>&);
PARALLELARIUM_FOR(float)
PARALLELARIUM_FOR(Bf16)
#undef PARALLELARIUM_FOR
template cublasStatus_t GpuMatmul::multiply(const MatmulShape&, float, const float*, const float*,
                                            float, float*, const float*, cudaStream_t);
template cublasStatus_t GpuMatmul::multiply(const MatmulShape&, float, const Bf16*, const Bf16*,
                                            float, Bf16*, const Bf16*, cudaStream_t);
template cublasStatus_t GpuMatmul::multiply(const MatmulShape&, float, const Bf16*, const Bf16*,
                                            float, float*, const float*, cudaStream_t);
template cublasStatus_t linear_forward(GpuMatmul&, float*, const Bf16*, const Bf16*, const float*,
                                       std::int64_t, std::int64_t, std::int64_t, cudaStream_t,
                                       std::int64_t);
template cublasStatus_t linear_weight_grad(GpuMatmul&, float*, const Bf16*, const Bf16*,
                                           std::int64_t, std::int64_t, std::int64_t, cudaStream_t,
                                           std::int64_t);

}  // namespace parallelarium

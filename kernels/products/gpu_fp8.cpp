// SPDX-License-Identifier: Apache-2.0
// A backward multiplies turned copies, so that both operands are contiguous along the sum.
#include <type_traits>

#include "kernels/gpu.h"
#include "kernels/products/fp8_linear.h"
#include "kernels/products/gpu_matmul.h"

namespace parallelarium {
namespace {

// The copies of one product, made in its workspace.
class Fp8Copies {
 public:
  Fp8Copies(void* workspace, std::int64_t first, std::int64_t second, cudaStream_t stream)
      : base_(static_cast<std::byte*>(workspace)),
        places_(fp8_workspace_of(first, second)),
        stream_(stream) {}

  // `turned`: the tokens that a turned copy has room for, or 0 for a copy as it lies.
  template <class F>
  ScaledFp8<F> first(const Bf16* from, std::int64_t rows, std::int64_t columns,
                     std::int64_t turned = 0) {
    return copy<F>(0, places_.first, from, rows, columns, turned);
  }
  template <class F>
  ScaledFp8<F> second(const Bf16* from, std::int64_t rows, std::int64_t columns,
                      std::int64_t turned = 0) {
    return copy<F>(1, places_.second, from, rows, columns, turned);
  }
  bool good() const { return status_ == cudaSuccess; }

 private:
  template <class F>
  ScaledFp8<F> copy(int which, std::int64_t place, const Bf16* from, std::int64_t rows,
                    std::int64_t columns, std::int64_t turned) {
    auto* const to = reinterpret_cast<F*>(base_ + place);
    // cuBLASLt refuses the product of a scale that does not begin at 16 bytes, though it offered
    // ways to multiply.
    auto* const inverse = reinterpret_cast<float*>(base_ + places_.inverses + 16 * which);
    if (good())
      status_ = cast_fp8(to, inverse, base_ + places_.parts, from, rows, columns, turned, stream_);
    return {to, inverse};
  }
  std::byte* base_;
  Fp8Workspace places_;
  cudaStream_t stream_;
  cudaError_t status_ = cudaSuccess;
};

}  // namespace

cublasStatus_t fp8_linear_forward(GpuMatmul& matmul, Bf16* y, const Bf16* x, const Bf16* w,
                                  const Bf16* bias, void* workspace, std::int64_t N, std::int64_t M,
                                  std::int64_t K, cudaStream_t stream) {
  Fp8Copies copies(workspace, N * K, M * K, stream);
  const auto inputs = copies.first<E4m3>(x, N, K);
  const auto weights = copies.second<E4m3>(w, M, K);
  if (!copies.good()) return CUBLAS_STATUS_EXECUTION_FAILED;
  return matmul.multiply_fp8(N, M, K, inputs, weights, 0.0F, y, bias, stream);
}

cublasStatus_t fp8_linear_input_grad(GpuMatmul& matmul, Bf16* dx, const Bf16* dy, const Bf16* w,
                                     void* workspace, std::int64_t N, std::int64_t M,
                                     std::int64_t K, cudaStream_t stream) {
  Fp8Copies copies(workspace, N * M, M * K, stream);
  const auto grads = copies.first<E5m2>(dy, N, M);
  const auto weights = copies.second<E4m3>(w, M, K, M);
  if (!copies.good()) return CUBLAS_STATUS_EXECUTION_FAILED;
  return matmul.multiply_fp8(N, K, M, grads, weights, 0.0F, dx, static_cast<const Bf16*>(nullptr),
                             stream);
}

template <class G>
cublasStatus_t fp8_linear_weight_grad(GpuMatmul& matmul, G* dw, const Bf16* dy, const Bf16* x,
                                      void* workspace, std::int64_t N, std::int64_t M,
                                      std::int64_t K, cudaStream_t stream) {
  const std::int64_t tokens = fp8_padded(N);
  Fp8Copies copies(workspace, M * tokens, K * tokens, stream);
  const auto grads = copies.first<E5m2>(dy, N, M, tokens);
  const auto inputs = copies.second<E4m3>(x, N, K, tokens);
  if (!copies.good()) return CUBLAS_STATUS_EXECUTION_FAILED;
  return matmul.multiply_fp8(M, K, tokens, grads, inputs, 1.0F, dw, static_cast<const G*>(nullptr),
                             stream);
}
template cublasStatus_t fp8_linear_weight_grad(GpuMatmul&, float*, const Bf16*, const Bf16*, void*,
                                               std::int64_t, std::int64_t, std::int64_t,
                                               cudaStream_t);
template cublasStatus_t fp8_linear_weight_grad(GpuMatmul&, Bf16*, const Bf16*, const Bf16*, void*,
                                               std::int64_t, std::int64_t, std::int64_t,
                                               cudaStream_t);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Matrix products on the GPU through cuBLASLt, and linear layers (linear.h) and unfused attention
// (attention.h) made of them.
//
// Operands are stored as float or Bf16 and summed in fp32. fp32 operands are multiplied as fp32, or
// as TF32 (10 bits of significand, tensor cores) on request. The object keeps the library's choice
// for each shape, so a shape costs one search. The same shape, alignment and GPU give the same bits
// each time.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "kernels/attention/attention.h"
#include "kernels/base/bf16.h"
#include "kernels/base/fp8.h"
#include "kernels/products/matmul_layout.h"

namespace parallelarium {

// Numbers of FP8, and where on the device the inverse of their scale stands.
template <class F>
struct ScaledFp8 {
  const F* values = nullptr;
  const float* inverse = nullptr;
};

// Not thread-safe. All products share the workspace, so they use one stream at a time.
class GpuMatmul {
 public:
  // workspace: device memory at a multiple of 256 bytes; the caller owns it and keeps it as long as
  // this object. A larger one lets the library choose faster ways; NVIDIA advises 32 MiB on Hopper
  // and 4 MiB elsewhere. Products of tensor cores with at least `cut_from` multiplications are cut
  // where an edge is odd (aligned_parts); a smaller one takes less time than a second launch.
  GpuMatmul(void* workspace, std::size_t workspace_bytes, bool tf32,
            std::int64_t cut_from = std::int64_t{1} << 30);
  ~GpuMatmul();
  GpuMatmul(const GpuMatmul&) = delete;
  GpuMatmul& operator=(const GpuMatmul&) = delete;

  // Loads the library's own kernels; without this call the first product does so, and a driver may
  // then wait until its GPUs are idle. Waits for the stream. The first product of a type reports
  // whether this GPU can multiply it.
  [[nodiscard]] cudaError_t load(cudaStream_t stream);

  // c = alpha op(a) op(b) + beta c; adds bias [n] to each row unless it is null. In and Out: float
  // and float, Bf16 and Bf16, or Bf16 and float. Error: CUBLAS_STATUS_NOT_SUPPORTED if the library
  // cannot do it on this GPU. A bias requires: no batches, and rows without gaps (ldc = n).
  template <class In, class Out>
  [[nodiscard]] cublasStatus_t multiply(const MatmulShape& shape, float alpha, const In* a,
                                        const In* b, float beta, Out* c, const Out* bias,
                                        cudaStream_t stream);

  // c [m,n] = a [m,k] b [n,k]^T + beta c, both times the inverses of their scales; rows without
  // gaps, bias as above. A and B: E4m3 and E4m3, or E5m2 and E4m3; Out: Bf16 or float. n and k must
  // be multiples of 16, and a, b, c and both inverses start at multiples of 16 bytes. Error: as
  // above, on GPUs of a compute capability below 8.9 in any case.
  template <class A, class B, class Out>
  [[nodiscard]] cublasStatus_t multiply_fp8(std::int64_t m, std::int64_t n, std::int64_t k,
                                            const ScaledFp8<A>& a, const ScaledFp8<B>& b,
                                            float beta, Out* c, const Out* bias,
                                            cudaStream_t stream);

 private:
  struct Key;
  struct Plan;
  struct Call;
  template <class In, class Out>
  cublasStatus_t multiply_whole(const MatmulShape& shape, float alpha, const In* a, const In* b,
                                float beta, Out* c, const Out* bias, cudaStream_t stream);
  cublasStatus_t planned(const Key& key, const Call& call, bool& added_bias);
  cublasStatus_t make(const Key& key, const Call& call, bool adds_bias, Plan& plan) const;
  cublasStatus_t run(Plan& plan, const Call& call) const;
  void forget_old_plans();

  void* workspace_;
  std::size_t workspace_bytes_;
  bool tf32_;
  std::int64_t cut_from_;
  cublasLtHandle_t handle_ = nullptr;  // made by the first product
  std::map<Key, Plan> plans_;
  std::uint64_t products_ = 0;  // so far
};

// linear.h. column_sums of gpu.h makes the gradient of the bias. Y is float or T. A bias requires
// rows of y without gaps.
template <class Y, class T>
[[nodiscard]] cublasStatus_t linear_forward(GpuMatmul& matmul, Y* y, const T* x, const T* w,
                                            const Y* bias, std::int64_t N, std::int64_t M,
                                            std::int64_t K, cudaStream_t stream,
                                            std::int64_t y_pitch = 0);
template <class T>
[[nodiscard]] cublasStatus_t linear_input_grad(GpuMatmul& matmul, T* dx, const T* dy, const T* w,
                                               std::int64_t N, std::int64_t M, std::int64_t K,
                                               cudaStream_t stream, std::int64_t y_pitch = 0);
// dw += dy^T x; G is float or T.
template <class G, class T>
[[nodiscard]] cublasStatus_t linear_weight_grad(GpuMatmul& matmul, G* dw, const T* dy, const T* x,
                                                std::int64_t N, std::int64_t M, std::int64_t K,
                                                cudaStream_t stream, std::int64_t y_pitch = 0);

// fp8_linear.h. workspace: fp8_workspace(N, M, K) bytes at a multiple of 256. Error: as
// multiply_fp8, and CUBLAS_STATUS_EXECUTION_FAILED if a copy cannot be launched.
[[nodiscard]] cublasStatus_t fp8_linear_forward(GpuMatmul& matmul, Bf16* y, const Bf16* x,
                                                const Bf16* w, const Bf16* bias, void* workspace,
                                                std::int64_t N, std::int64_t M, std::int64_t K,
                                                cudaStream_t stream);
[[nodiscard]] cublasStatus_t fp8_linear_input_grad(GpuMatmul& matmul, Bf16* dx, const Bf16* dy,
                                                   const Bf16* w, void* workspace, std::int64_t N,
                                                   std::int64_t M, std::int64_t K,
                                                   cudaStream_t stream);
template <class G>
[[nodiscard]] cublasStatus_t fp8_linear_weight_grad(GpuMatmul& matmul, G* dw, const Bf16* dy,
                                                    const Bf16* x, void* workspace, std::int64_t N,
                                                    std::int64_t M, std::int64_t K,
                                                    cudaStream_t stream);

// attention.h. In bf16, scores and dP are rounded to bf16 before the softmax and its gradient.
// Error: CUBLAS_STATUS_EXECUTION_FAILED if the softmax cannot be launched.
template <class T>
[[nodiscard]] cublasStatus_t attention_forward(GpuMatmul& matmul, T* context, T* probabilities,
                                               const T* qkv, const AttentionShape& shape,
                                               cudaStream_t stream,
                                               const DroppedProbabilities<T>& dropout = {});
// scratch: T[scratch_heads * T * T], scratch_heads >= 1. Works on up to K heads at once.
template <class T>
[[nodiscard]] cublasStatus_t attention_backward(GpuMatmul& matmul, T* dqkv, T* scratch,
                                                std::int64_t scratch_heads, const T* dcontext,
                                                const T* qkv, const T* probabilities,
                                                const AttentionShape& shape, cudaStream_t stream,
                                                const DroppedProbabilities<T>& dropout = {});

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Matrix products on the GPU through cuBLASLt, and what is made of them: linear layers (linear.h)
// and unfused attention (attention.h).
//
// Storage float or Bf16, sums in fp32; fp32 operands are multiplied as fp32, or as TF32 where asked
// (10 bits of significand, tensor cores). The library's choice for a shape is kept, so that a shape
// in use costs a search once. The same shape, alignment and GPU give the same bits each time.
#pragma once

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <map>

#include "kernels/attention.h"
#include "kernels/bf16.h"
#include "kernels/matmul_layout.h"

namespace parallelarium {

// Not thread-safe; its products go to one stream at a time, since they share the workspace.
class GpuMatmul {
 public:
  // workspace: device memory at a multiple of 256 bytes, the caller's, kept as long as this object.
  // More lets the library choose faster ways: 32 MiB on Hopper, 4 MiB elsewhere are NVIDIA's
  // advice.
  GpuMatmul(void* workspace, std::size_t workspace_bytes, bool tf32);
  ~GpuMatmul();
  GpuMatmul(const GpuMatmul&) = delete;
  GpuMatmul& operator=(const GpuMatmul&) = delete;

  // Loads the library's own kernels, for which a driver may wait until its GPUs have nothing to do,
  // as the first product of a process else does. Waits for the stream. Types that this GPU does not
  // multiply are told by the first product of them.
  [[nodiscard]] cudaError_t load(cudaStream_t stream);

  // c = alpha op(a) op(b) + beta c (+ bias [n] in each row, where not null). In and Out: float and
  // float, Bf16 and Bf16, or Bf16 and float. CUBLAS_STATUS_NOT_SUPPORTED where the library has no
  // way to do it on this GPU. Requires, with a bias: no batches, and rows without gaps (ldc = n).
  template <class In, class Out>
  [[nodiscard]] cublasStatus_t multiply(const MatmulShape& shape, float alpha, const In* a,
                                        const In* b, float beta, Out* c, const Out* bias,
                                        cudaStream_t stream);

 private:
  struct Key;
  struct Plan;
  struct Call;
  cublasStatus_t make(const Key& key, const void* bias, Plan& plan) const;
  cublasStatus_t run(Plan& plan, const Call& call) const;
  void forget_old_plans();

  void* workspace_;
  std::size_t workspace_bytes_;
  bool tf32_;
  cublasLtHandle_t handle_ = nullptr;  // made by the first product
  std::map<Key, Plan> plans_;
  std::uint64_t products_ = 0;  // so far
};

// linear.h. The weight gradient's bias part is column_sums of gpu.h. Y is float or T. Requires,
// with a bias: rows of y without gaps.
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

// attention.h. In bf16, scores and dP are rounded to bf16 before the softmax and its gradient.
// A failed launch of the softmax is told as CUBLAS_STATUS_EXECUTION_FAILED.
template <class T>
[[nodiscard]] cublasStatus_t attention_forward(GpuMatmul& matmul, T* context, T* probabilities,
                                               const T* qkv, const AttentionShape& shape,
                                               cudaStream_t stream,
                                               const DroppedProbabilities<T>& dropout = {});
// scratch: T[scratch_heads * T * T], scratch_heads >= 1; up to K heads are worked on at once.
template <class T>
[[nodiscard]] cublasStatus_t attention_backward(GpuMatmul& matmul, T* dqkv, T* scratch,
                                                std::int64_t scratch_heads, const T* dcontext,
                                                const T* qkv, const T* probabilities,
                                                const AttentionShape& shape, cudaStream_t stream,
                                                const DroppedProbabilities<T>& dropout = {});

}  // namespace parallelarium

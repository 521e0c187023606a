// SPDX-License-Identifier: Apache-2.0
#include <compare>
#include <type_traits>

#include "kernels/gpu_matmul.h"

namespace parallelarium {

// Everything that the library's choice depends on.
struct GpuMatmul::Key {
  MatmulShape shape;
  cudaDataType_t in = CUDA_R_32F;
  cudaDataType_t out = CUDA_R_32F;
  std::uint32_t align_a = 256, align_b = 256, align_c = 256;
  std::uint32_t align_bias = 0;  // 0: no bias
  auto operator<=>(const Key&) const = default;
};

struct GpuMatmul::Plan {
  cublasLtMatmulDescOpaque_t product;
  cublasLtMatrixLayoutOpaque_t first, second, result;
  cublasLtMatmulAlgo_t algorithm;
};

namespace {

template <class T>
constexpr cudaDataType_t type_of() {
  return std::is_same_v<T, float> ? CUDA_R_32F : CUDA_R_16BF;
}

cublasStatus_t set_layout(cublasLtMatrixLayoutOpaque_t& layout, cudaDataType_t type,
                          const ColumnMajor& matrix, std::int64_t batches) {
  cublasStatus_t status =
      cublasLtMatrixLayoutInit(&layout, type, static_cast<std::uint64_t>(matrix.rows),
                               static_cast<std::uint64_t>(matrix.columns), matrix.leading);
  const auto count = static_cast<std::int32_t>(batches);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, &count,
                                              sizeof count);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = cublasLtMatrixLayoutSetAttribute(&layout, CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                              &matrix.step, sizeof matrix.step);
  return status;
}

}  // namespace

GpuMatmul::GpuMatmul(void* workspace, std::size_t workspace_bytes, bool tf32)
    : workspace_(workspace), workspace_bytes_(workspace_bytes), tf32_(tf32) {}

GpuMatmul::~GpuMatmul() {
  if (handle_ != nullptr) cublasLtDestroy(handle_);
}

cublasStatus_t GpuMatmul::make(const Key& key, const void* bias, Plan& plan) const {
  const MatmulLayout layout = layout_of(key.shape);
  const bool tf32 = tf32_ && key.in == CUDA_R_32F;
  cublasStatus_t status = cublasLtMatmulDescInit(
      &plan.product, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = cublasLtMatmulDescSetAttribute(&plan.product, attribute, &value, sizeof value);
  };
  const std::int32_t first_op = layout.first.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const std::int32_t second_op = layout.second.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  set(CUBLASLT_MATMUL_DESC_TRANSA, first_op);
  set(CUBLASLT_MATMUL_DESC_TRANSB, second_op);
  if (bias != nullptr) {
    // One number for each row of the column-major result, which is each column of ours.
    const std::uint32_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    const std::int32_t type = key.out;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  }
  const std::int64_t batches = key.shape.batches;
  if (status == CUBLAS_STATUS_SUCCESS)
    status = set_layout(plan.first, key.in, layout.first, batches);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = set_layout(plan.second, key.in, layout.second, batches);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = set_layout(plan.result, key.out, layout.result, batches);
  if (status != CUBLAS_STATUS_SUCCESS) return status;

  cublasLtMatmulPreferenceOpaque_t preference;
  status = cublasLtMatmulPreferenceInit(&preference);
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = cublasLtMatmulPreferenceSetAttribute(&preference, attribute, &value, sizeof value);
  };
  const std::uint64_t bytes = workspace_bytes_;
  // Partial sums in fp32, or none: never rounded to bf16 on the way.
  const std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, bytes);
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.align_b);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.align_a);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key.align_c);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.align_c);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  status =
      cublasLtMatmulAlgoGetHeuristic(handle_, &plan.product, &plan.first, &plan.second,
                                     &plan.result, &plan.result, &preference, 1, &best, &found);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  if (found == 0) return CUBLAS_STATUS_NOT_SUPPORTED;
  plan.algorithm = best.algo;
  return best.state;
}

template <class In, class Out>
cublasStatus_t GpuMatmul::multiply(const MatmulShape& shape, float alpha, const In* a, const In* b,
                                   float beta, Out* c, const Out* bias, cudaStream_t stream) {
  if (handle_ == nullptr) {
    const cublasStatus_t status = cublasLtCreate(&handle_);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  const auto alignment = [](const void* address) {
    return alignment_of(reinterpret_cast<std::uintptr_t>(address));
  };
  const Key key{shape,
                type_of<In>(),
                type_of<Out>(),
                alignment(a),
                alignment(b),
                alignment(c),
                bias == nullptr ? 0 : alignment(bias)};
  const auto [at, fresh] = plans_.try_emplace(key);
  if (fresh) {
    const cublasStatus_t status = make(key, bias, at->second);
    if (status != CUBLAS_STATUS_SUCCESS) {
      plans_.erase(at);
      return status;
    }
  }
  Plan& plan = at->second;
  if (bias != nullptr) {
    const cublasStatus_t status = cublasLtMatmulDescSetAttribute(
        &plan.product, CUBLASLT_MATMUL_DESC_BIAS_POINTER, &bias, sizeof bias);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  return cublasLtMatmul(handle_, &plan.product, &alpha, b, &plan.first, a, &plan.second, &beta, c,
                        &plan.result, c, &plan.result, &plan.algorithm, workspace_,
                        workspace_bytes_, stream);
}

template cublasStatus_t GpuMatmul::multiply(const MatmulShape&, float, const float*, const float*,
                                            float, float*, const float*, cudaStream_t);
template cublasStatus_t GpuMatmul::multiply(const MatmulShape&, float, const Bf16*, const Bf16*,
                                            float, Bf16*, const Bf16*, cudaStream_t);
template cublasStatus_t GpuMatmul::multiply(const MatmulShape&, float, const Bf16*, const Bf16*,
                                            float, float*, const float*, cudaStream_t);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cassert>
#include <compare>
#include <memory>
#include <type_traits>

#include "kernels/gpu.h"
#include "kernels/products/gpu_matmul.h"

namespace parallelarium {

// Everything that the library's choice depends on.
struct GpuMatmul::Key {
  MatmulShape shape;
  cudaDataType_t in_a = CUDA_R_32F, in_b = CUDA_R_32F, out = CUDA_R_32F;
  std::uint32_t align_a = 256, align_b = 256, align_c = 256;
  std::uint32_t align_bias = 0;  // 0: no bias
  auto operator<=>(const Key&) const = default;
};

constexpr int kMostWays = 8;

namespace {

// Made and ended by the library, which alone knows how large they are: another version than the one
// that was built with may be loaded.
template <class Handle, cublasStatus_t (*kDestroy)(Handle)>
struct Destroyed {
  using pointer = Handle;
  void operator()(Handle handle) const { static_cast<void>(kDestroy(handle)); }
};
template <class Handle, cublasStatus_t (*kDestroy)(Handle)>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroyed<Handle, kDestroy>>;
using Product = Owned<cublasLtMatmulDesc_t, cublasLtMatmulDescDestroy>;
using Layout = Owned<cublasLtMatrixLayout_t, cublasLtMatrixLayoutDestroy>;
using Preference = Owned<cublasLtMatmulPreference_t, cublasLtMatmulPreferenceDestroy>;

}  // namespace

struct GpuMatmul::Plan {
  Product product;
  Layout first, second, result;
  std::array<cublasLtMatmulHeuristicResult_t, kMostWays> ways;  // the fastest, it thinks, first
  int ways_count = 0;
  int way = 0;             // those before it were refused
  bool adds_bias = false;  // in the product itself
  std::uint64_t used = 0;  // the number of its last product
};

struct GpuMatmul::Call {
  float alpha, beta;
  const void *a, *b;
  void* c;
  const void* bias;
  cudaStream_t stream;
  const float *inverse_a = nullptr, *inverse_b = nullptr;  // of FP8
};

namespace {

// Shapes change from step to step where experts get other numbers of rows.
constexpr std::size_t kMostPlans = 4096;

// What the library answers before it does anything.
bool refused(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_INVALID_VALUE ||
         status == CUBLAS_STATUS_ARCH_MISMATCH;
}

template <class T>
constexpr cudaDataType_t type_of() {
  return std::is_same_v<T, float>  ? CUDA_R_32F
         : std::is_same_v<T, E4m3> ? CUDA_R_8F_E4M3
         : std::is_same_v<T, E5m2> ? CUDA_R_8F_E5M2
                                   : CUDA_R_16BF;
}

std::uint32_t aligned_at(const void* address) {
  return alignment_of(reinterpret_cast<std::uintptr_t>(address));
}

template <class T>
cublasStatus_t add_bias(T* c, const T* bias, std::int64_t m, std::int64_t n, cudaStream_t stream) {
  return residual_bias_add(c, static_cast<const T*>(c), static_cast<const T*>(nullptr), bias, m, n,
                           stream) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

cublasStatus_t make_layout(Layout& layout, cudaDataType_t type, const ColumnMajor& matrix,
                           std::int64_t batches) {
  cublasLtMatrixLayout_t made = nullptr;
  cublasStatus_t status =
      cublasLtMatrixLayoutCreate(&made, type, static_cast<std::uint64_t>(matrix.rows),
                                 static_cast<std::uint64_t>(matrix.columns), matrix.leading);
  if (status == CUBLAS_STATUS_SUCCESS) layout.reset(made);
  const auto count = static_cast<std::int32_t>(batches);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = cublasLtMatrixLayoutSetAttribute(layout.get(), CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT,
                                              &count, sizeof count);
  if (status == CUBLAS_STATUS_SUCCESS)
    status =
        cublasLtMatrixLayoutSetAttribute(layout.get(), CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET,
                                         &matrix.step, sizeof matrix.step);
  return status;
}

}  // namespace

GpuMatmul::GpuMatmul(void* workspace, std::size_t workspace_bytes, bool tf32, std::int64_t cut_from)
    : workspace_(workspace), workspace_bytes_(workspace_bytes), tf32_(tf32), cut_from_(cut_from) {}

GpuMatmul::~GpuMatmul() {
  if (handle_ != nullptr) cublasLtDestroy(handle_);
}

cudaError_t GpuMatmul::load(cudaStream_t stream) {
  constexpr std::int64_t kEdge = 64;
  constexpr std::size_t kBytes = kEdge * kEdge * sizeof(float);
  void* operands = nullptr;
  cudaError_t status = cudaMalloc(&operands, 2 * kBytes);
  if (status == cudaSuccess) status = cudaMemsetAsync(operands, 0, 2 * kBytes, stream);
  const auto product = [&]<class T>(T* from) {
    T* const to = from + kBytes / sizeof(T);
    static_cast<void>(linear_forward(*this, to, from, from, static_cast<const T*>(nullptr), kEdge,
                                     kEdge, kEdge, stream));
  };
  if (status == cudaSuccess) {
    product(static_cast<float*>(operands));
    product(static_cast<Bf16*>(operands));
    status = cudaStreamSynchronize(stream);
  }
  static_cast<void>(cudaFree(operands));
  return status;
}

cublasStatus_t GpuMatmul::make(const Key& key, const Call& call, bool adds_bias, Plan& plan) const {
  plan = {};
  plan.adds_bias = adds_bias;
  const MatmulLayout layout = layout_of(key.shape);
  const bool tf32 = tf32_ && key.in_a == CUDA_R_32F;
  cublasLtMatmulDesc_t product = nullptr;
  cublasStatus_t status = cublasLtMatmulDescCreate(
      &product, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F);
  if (status == CUBLAS_STATUS_SUCCESS) plan.product.reset(product);
  const auto set = [&](cublasLtMatmulDescAttributes_t attribute, const auto& value) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status = cublasLtMatmulDescSetAttribute(plan.product.get(), attribute, &value, sizeof value);
  };
  const std::int32_t first_op = layout.first.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  const std::int32_t second_op = layout.second.transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
  set(CUBLASLT_MATMUL_DESC_TRANSA, first_op);
  set(CUBLASLT_MATMUL_DESC_TRANSB, second_op);
  if (adds_bias) {
    // One number for each row of the column-major result, which is each column of ours.
    const std::uint32_t epilogue = CUBLASLT_EPILOGUE_BIAS;
    const std::int32_t type = key.out;
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, type);
    set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, call.bias);
  }
  if (call.inverse_a != nullptr) {
    set(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, call.inverse_b);
    set(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, call.inverse_a);
  }
  const std::int64_t batches = key.shape.batches;
  if (status == CUBLAS_STATUS_SUCCESS)
    status = make_layout(plan.first, key.in_b, layout.first, batches);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = make_layout(plan.second, key.in_a, layout.second, batches);
  if (status == CUBLAS_STATUS_SUCCESS)
    status = make_layout(plan.result, key.out, layout.result, batches);
  if (status != CUBLAS_STATUS_SUCCESS) return status;

  cublasLtMatmulPreference_t wanted = nullptr;
  status = cublasLtMatmulPreferenceCreate(&wanted);
  const Preference preference(status == CUBLAS_STATUS_SUCCESS ? wanted : nullptr);
  const auto prefer = [&](cublasLtMatmulPreferenceAttributes_t attribute, const auto& value) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status =
          cublasLtMatmulPreferenceSetAttribute(preference.get(), attribute, &value, sizeof value);
  };
  const std::uint64_t bytes = workspace_bytes_;
  // Partial sums in fp32, or none: never rounded to bf16 on the way.
  const std::uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
  prefer(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, bytes);
  prefer(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, reductions);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.align_b);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.align_a);
  // The bias is read as wide as the result is written, and has no attribute of its own.
  const std::uint32_t align_c =
      plan.adds_bias ? std::min(key.align_c, key.align_bias) : key.align_c;
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, align_c);
  prefer(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, align_c);
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  return cublasLtMatmulAlgoGetHeuristic(
      handle_, plan.product.get(), plan.first.get(), plan.second.get(), plan.result.get(),
      plan.result.get(), preference.get(), kMostWays, plan.ways.data(), &plan.ways_count);
}

// By the first way that the library takes.
cublasStatus_t GpuMatmul::run(Plan& plan, const Call& call) const {
  cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
  const auto point = [&](cublasLtMatmulDescAttributes_t attribute, const void* address) {
    if (status == CUBLAS_STATUS_SUCCESS)
      status =
          cublasLtMatmulDescSetAttribute(plan.product.get(), attribute, &address, sizeof address);
  };
  if (plan.adds_bias) point(CUBLASLT_MATMUL_DESC_BIAS_POINTER, call.bias);
  if (call.inverse_a != nullptr) {
    point(CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, call.inverse_b);
    point(CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, call.inverse_a);
  }
  if (status != CUBLAS_STATUS_SUCCESS) return status;
  status = CUBLAS_STATUS_NOT_SUPPORTED;
  for (; plan.way < plan.ways_count; ++plan.way) {
    const cublasLtMatmulHeuristicResult_t& way = plan.ways[static_cast<std::size_t>(plan.way)];
    if (way.state != CUBLAS_STATUS_SUCCESS) continue;
    status =
        cublasLtMatmul(handle_, plan.product.get(), &call.alpha, call.b, plan.first.get(), call.a,
                       plan.second.get(), &call.beta, call.c, plan.result.get(), call.c,
                       plan.result.get(), &way.algo, workspace_, workspace_bytes_, call.stream);
    if (!refused(status)) break;
  }
  return status;
}

void GpuMatmul::forget_old_plans() {
  if (plans_.size() < kMostPlans) return;
  std::erase_if(plans_,
                [&](const auto& plan) { return plan.second.used + kMostPlans / 2 < products_; });
}

cublasStatus_t GpuMatmul::planned(const Key& key, const Call& call, bool& added_bias) {
  if (handle_ == nullptr) {
    const cublasStatus_t status = cublasLtCreate(&handle_);
    if (status != CUBLAS_STATUS_SUCCESS) return status;
  }
  const bool biased = call.bias != nullptr;
  assert(!biased || (key.shape.batches == 1 && key.shape.ldc == key.shape.n));
  forget_old_plans();
  const auto [at, fresh] = plans_.try_emplace(key);
  Plan& plan = at->second;
  cublasStatus_t status = fresh ? make(key, call, biased, plan) : CUBLAS_STATUS_SUCCESS;
  if (status == CUBLAS_STATUS_SUCCESS) status = run(plan, call);
  if (refused(status) && plan.adds_bias) {
    status = make(key, call, false, plan);
    if (status == CUBLAS_STATUS_SUCCESS) status = run(plan, call);
  }
  if (status != CUBLAS_STATUS_SUCCESS) {
    plans_.erase(at);
    return status;
  }
  plan.used = ++products_;
  added_bias = plan.adds_bias;
  return status;
}

template <class In, class Out>
cublasStatus_t GpuMatmul::multiply_whole(const MatmulShape& shape, float alpha, const In* a,
                                         const In* b, float beta, Out* c, const Out* bias,
                                         cudaStream_t stream) {
  const Key key{
      shape,         type_of<In>(), type_of<In>(), type_of<Out>(),
      aligned_at(a), aligned_at(b), aligned_at(c), bias == nullptr ? 0 : aligned_at(bias)};
  bool added = false;
  const cublasStatus_t status = planned(key, {alpha, beta, a, b, c, bias, stream}, added);
  if (status != CUBLAS_STATUS_SUCCESS || bias == nullptr || added) return status;
  return add_bias(c, bias, shape.m, shape.n, stream);
}

template <class A, class B, class Out>
cublasStatus_t GpuMatmul::multiply_fp8(std::int64_t m, std::int64_t n, std::int64_t k,
                                       const ScaledFp8<A>& a, const ScaledFp8<B>& b, float beta,
                                       Out* c, const Out* bias, cudaStream_t stream) {
  const MatmulShape shape{Transpose::kNo, Transpose::kYes, m, n, k, k, k, n};
  const Key key{shape,
                type_of<A>(),
                type_of<B>(),
                type_of<Out>(),
                aligned_at(a.values),
                aligned_at(b.values),
                aligned_at(c),
                bias == nullptr ? 0 : aligned_at(bias)};
  bool added = false;
  const cublasStatus_t status =
      planned(key, {1.0F, beta, a.values, b.values, c, bias, stream, a.inverse, b.inverse}, added);
  if (status != CUBLAS_STATUS_SUCCESS || bias == nullptr || added) return status;
  return add_bias(c, bias, m, n, stream);
}

template cublasStatus_t GpuMatmul::multiply_whole(const MatmulShape&, float, const float*,
                                                  const float*, float, float*, const float*,
                                                  cudaStream_t);
template cublasStatus_t GpuMatmul::multiply_whole(const MatmulShape&, float, const Bf16*,
                                                  const Bf16*, float, Bf16*, const Bf16*,
                                                  cudaStream_t);
template cublasStatus_t GpuMatmul::multiply_whole(const MatmulShape&, float, const Bf16*,
                                                  const Bf16*, float, float*, const float*,
                                                  cudaStream_t);

#define PARALLELARIUM_FOR(A, Out)                                                              \
  template cublasStatus_t GpuMatmul::multiply_fp8(std::int64_t, std::int64_t, std::int64_t,    \
                                                  const ScaledFp8<A>&, const ScaledFp8<E4m3>&, \
                                                  float, Out*, const Out*, cudaStream_t);
PARALLELARIUM_FOR(E4m3, Bf16)
PARALLELARIUM_FOR(E5m2, Bf16)
PARALLELARIUM_FOR(E5m2, float)
#undef PARALLELARIUM_FOR

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Stands for cuBLASLt in the emulation: products by the column-major layout that cuBLASLt would be
// given, in double precision.
#include <algorithm>
#include <vector>

#include "kernels/products/gpu_matmul.h"

namespace parallelarium {

struct GpuMatmul::Key {
  auto operator<=>(const Key&) const = default;
};
struct GpuMatmul::Plan {};

GpuMatmul::GpuMatmul(void* workspace, std::size_t workspace_bytes, bool tf32, std::int64_t cut_from)
    : workspace_(workspace), workspace_bytes_(workspace_bytes), tf32_(tf32), cut_from_(cut_from) {}
GpuMatmul::~GpuMatmul() = default;

namespace {

double number(float value) { return value; }
double number(Bf16 value) { return widen(value); }
double number(E4m3 value) { return widen(value); }
double number(E5m2 value) { return widen(value); }
void put(float& to, double value) { to = static_cast<float>(value); }
void put(Bf16& to, double value) { to = round_to_bf16(static_cast<float>(value)); }

}  // namespace

template <class In, class Out>
cublasStatus_t GpuMatmul::multiply_whole(const MatmulShape& shape, float alpha, const In* a,
                                         const In* b, float beta, Out* c, const Out* bias,
                                         cudaStream_t) {
  const MatmulLayout layout = layout_of(shape);
  const auto element = [](const In* from, const ColumnMajor& m, std::int64_t row,
                          std::int64_t column) {
    return number(m.transposed ? from[row * m.leading + column] : from[column * m.leading + row]);
  };
  // A column of the result at a time: the compiler adds up several of its rows at once, each in the
  // order of k.
  const std::int64_t rows = layout.result.rows;
  std::vector<double> first(static_cast<std::size_t>(rows * shape.k));
  std::vector<double> sums(static_cast<std::size_t>(rows));
  for (std::int64_t batch = 0; batch < shape.batches; ++batch) {
    for (std::int64_t k = 0; k < shape.k; ++k)
      for (std::int64_t row = 0; row < rows; ++row)
        first[k * rows + row] = element(b + batch * layout.first.step, layout.first, row, k);
    for (std::int64_t column = 0; column < layout.result.columns; ++column) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (std::int64_t k = 0; k < shape.k; ++k) {
        const double factor = element(a + batch * layout.second.step, layout.second, k, column);
        const double* const values = first.data() + k * rows;
        for (std::int64_t row = 0; row < rows; ++row) sums[row] += values[row] * factor;
      }
      for (std::int64_t row = 0; row < rows; ++row) {
        Out& out = c[batch * layout.result.step + column * layout.result.leading + row];
        double sum = double{alpha} * sums[row] + (beta == 0 ? 0.0 : double{beta} * number(out));
        if (bias != nullptr) sum += number(bias[row]);
        put(out, sum);
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}

// As cuBLASLt 13.1 does on an H200: rows, operands, scales and results that begin at 16 bytes, and
// no others.
template <class A, class B, class Out>
cublasStatus_t GpuMatmul::multiply_fp8(std::int64_t m, std::int64_t n, std::int64_t k,
                                       const ScaledFp8<A>& a, const ScaledFp8<B>& b, float beta,
                                       Out* c, const Out* bias, cudaStream_t) {
  const auto aligned = [](const void* address) {
    return reinterpret_cast<std::uintptr_t>(address) % 16 == 0;
  };
  if (n % 16 != 0 || k % 16 != 0 || !aligned(a.values) || !aligned(b.values) ||
      !aligned(a.inverse) || !aligned(b.inverse) || !aligned(c))
    return CUBLAS_STATUS_NOT_SUPPORTED;
  for (std::int64_t row = 0; row < m; ++row)
    for (std::int64_t column = 0; column < n; ++column) {
      double sum = 0;
      for (std::int64_t at = 0; at < k; ++at)
        sum += number(a.values[row * k + at]) * number(b.values[column * k + at]);
      Out& out = c[row * n + column];
      sum *= double{*a.inverse} * double{*b.inverse};
      if (beta != 0) sum += double{beta} * number(out);
      if (bias != nullptr) sum += number(bias[column]);
      put(out, sum);
    }
  return CUBLAS_STATUS_SUCCESS;
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

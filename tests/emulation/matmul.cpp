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

template cublasStatus_t GpuMatmul::multiply_whole(const MatmulShape&, float, const float*,
                                                  const float*, float, float*, const float*,
                                                  cudaStream_t);
template cublasStatus_t GpuMatmul::multiply_whole(const MatmulShape&, float, const Bf16*,
                                                  const Bf16*, float, Bf16*, const Bf16*,
                                                  cudaStream_t);
template cublasStatus_t GpuMatmul::multiply_whole(const MatmulShape&, float, const Bf16*,
                                                  const Bf16*, float, float*, const float*,
                                                  cudaStream_t);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include <cblas.h>

#include <cstdlib>
#include <string>

#include "kernels/products/matmul.h"

namespace parallelarium {

void matmul_cpu(Transpose transpose_a, Transpose transpose_b, std::int64_t m, std::int64_t n,
                std::int64_t k, float alpha, const float* a, std::int64_t lda, const float* b,
                std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  // The serial library ignores this; one built with threads must not start them.
  static const bool single = (openblas_set_num_threads(1), true);
  static_cast<void>(single);
  const auto size = [](std::int64_t value) { return static_cast<blasint>(value); };
  cblas_sgemm(CblasRowMajor, transpose_a == Transpose::kYes ? CblasTrans : CblasNoTrans,
              transpose_b == Transpose::kYes ? CblasTrans : CblasNoTrans, size(m), size(n), size(k),
              alpha, a, size(lda), b, size(ldb), beta, c, size(ldc));
}

bool matmul_takes_bf16() { return false; }

void matmul_cpu(Transpose, Transpose, std::int64_t, std::int64_t, std::int64_t, const Bf16*,
                std::int64_t, const Bf16*, std::int64_t, bool, float*, std::int64_t) {
  std::abort();  // nobody may call it
}

const char* matmul_library() {
  static const std::string name = [] {
    const std::string config = openblas_get_config();  // "OpenBLAS 0.3.21 NO_AFFINITY ..."
    return config.substr(0, config.find(' ', config.find(' ') + 1));
  }();
  return name.c_str();
}

}  // namespace parallelarium

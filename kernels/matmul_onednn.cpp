// SPDX-License-Identifier: Apache-2.0
#include <oneapi/dnnl/dnnl.h>

#include <cassert>
#include <string>

#include "kernels/matmul.h"

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
// Declared here because omp.h belongs to the compiler and this symbol to the runtime that the
// library is linked with.
extern "C" void omp_set_num_threads(int);
#endif

namespace parallelarium {
namespace {

// OpenMP keeps its number of threads per thread of the program, so every caller says it once.
void stay_on_this_thread() {
#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
  thread_local const bool done = [] {
    omp_set_num_threads(1);
    return true;
  }();
  static_cast<void>(done);
#endif
}

}  // namespace

void matmul_cpu(Transpose transpose_a, Transpose transpose_b, std::int64_t m, std::int64_t n,
                std::int64_t k, float alpha, const float* a, std::int64_t lda, const float* b,
                std::int64_t ldb, float beta, float* c, std::int64_t ldc) {
  stay_on_this_thread();
  [[maybe_unused]] const dnnl_status_t status = dnnl_sgemm(
      transpose_a == Transpose::kYes ? 'T' : 'N', transpose_b == Transpose::kYes ? 'T' : 'N', m, n,
      k, alpha, a, lda, b, ldb, beta, c, ldc);
  assert(status == dnnl_success);  // it refuses nothing but sizes that the caller got wrong
}

const char* matmul_library() {
  static const std::string name = [] {
    const dnnl_version_t* version = dnnl_version();
    return "oneDNN " + std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
  }();
  return name.c_str();
}

}  // namespace parallelarium

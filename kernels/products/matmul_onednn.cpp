// SPDX-License-Identifier: Apache-2.0
#include <cassert>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>

#include "kernels/products/matmul.h"

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

using dnnl::memory;

// [rows, columns] of which nothing but the turn is known: a primitive for one shape would have to
// be compiled anew for each that comes, and experts get another number of rows in every step.
memory::desc matrix_of_any_shape(memory::data_type type, Transpose transpose) {
  constexpr memory::dim kAny = DNNL_RUNTIME_DIM_VAL;
  return {{kAny, kAny},
          type,
          transpose == Transpose::kYes ? memory::dims{1, kAny} : memory::dims{kAny, 1}};
}

// A product of bf16 and the handles that each call points at its operands.
class Bf16Product {
 public:
  Bf16Product(Transpose transpose_a, Transpose transpose_b, bool adds)
      : engine_(dnnl::engine::kind::cpu, 0),
        stream_(engine_),
        product_(described(engine_, transpose_a, transpose_b, adds)) {}

  void multiply(const memory::desc& a_is, const Bf16* a, const memory::desc& b_is, const Bf16* b,
                const memory::desc& c_is, float* c) {
    // The library takes no pointers to const, and writes to the last operand alone.
    const memory first(a_is, engine_, const_cast<Bf16*>(a));
    const memory second(b_is, engine_, const_cast<Bf16*>(b));
    const memory result(c_is, engine_, c);
    product_.execute(stream_,
                     {{DNNL_ARG_SRC, first}, {DNNL_ARG_WEIGHTS, second}, {DNNL_ARG_DST, result}});
  }

 private:
  static dnnl::matmul::primitive_desc described(const dnnl::engine& engine, Transpose transpose_a,
                                                Transpose transpose_b, bool adds) {
    const memory::desc a = matrix_of_any_shape(memory::data_type::bf16, transpose_a);
    const memory::desc b = matrix_of_any_shape(memory::data_type::bf16, transpose_b);
    const memory::desc c = matrix_of_any_shape(memory::data_type::f32, Transpose::kNo);
    dnnl::post_ops after;
    if (adds) after.append_sum(1.0F);
    dnnl::primitive_attr settings;
    settings.set_post_ops(after);
#if DNNL_VERSION_MAJOR >= 3
    return {engine, a, b, c, settings};
#else
    return {dnnl::matmul::desc(a, b, c), settings, engine};
#endif
  }

  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul product_;
};

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

bool matmul_takes_bf16() {
  // The values are sets of bits: later processors have those of earlier ones.
  static const bool takes = [] {
    constexpr int kNeeded = dnnl_cpu_isa_avx512_core_bf16;
    return (static_cast<int>(dnnl_get_effective_cpu_isa()) & kNeeded) == kNeeded;
  }();
  return takes;
}

void matmul_cpu(Transpose transpose_a, Transpose transpose_b, std::int64_t m, std::int64_t n,
                std::int64_t k, const Bf16* a, std::int64_t lda, const Bf16* b, std::int64_t ldb,
                bool adds, float* c, std::int64_t ldc) {
  stay_on_this_thread();
  // A thread's own: the library keeps the working space of a primitive with the thread that made
  // it.
  thread_local std::optional<Bf16Product> products[2][2][2];
  const bool a_turned = transpose_a == Transpose::kYes;
  const bool b_turned = transpose_b == Transpose::kYes;
  std::optional<Bf16Product>& product = products[a_turned][b_turned][adds];
  if (!product) product.emplace(transpose_a, transpose_b, adds);
  const auto stored = [](bool turned, std::int64_t leading) {
    return turned ? memory::dims{1, leading} : memory::dims{leading, 1};
  };
  product->multiply({{m, k}, memory::data_type::bf16, stored(a_turned, lda)}, a,
                    {{k, n}, memory::data_type::bf16, stored(b_turned, ldb)}, b,
                    {{m, n}, memory::data_type::f32, stored(false, ldc)}, c);
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

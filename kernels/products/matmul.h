// SPDX-License-Identifier: Apache-2.0
// Matrix products on one thread. CMake chooses the library: oneDNN (matmul_onednn.cpp), else
// OpenBLAS without threads (matmul_openblas.cpp).
#pragma once

#include <cstdint>

#include "kernels/base/bf16.h"

namespace parallelarium {

enum class Transpose : bool { kNo, kYes };

// c = alpha op(a) op(b) + beta c, all row-major.
//
// op(a) is [m, k] (a itself is [k, m] when transposed), op(b) is [k, n], c is [m, n]. lda, ldb and
// ldc are the distances between stored rows, in elements. With beta 0, c is only written. Runs on
// the calling thread alone whatever OMP_NUM_THREADS says, and gives the same bits for the same
// inputs on the same computer.
// m, n and k must be 1 or more, and c must overlap neither a nor b.
void matmul_cpu(Transpose transpose_a, Transpose transpose_b, std::int64_t m, std::int64_t n,
                std::int64_t k, float alpha, const float* a, std::int64_t lda, const float* b,
                std::int64_t ldb, float beta, float* c, std::int64_t ldc);

// Whether the library multiplies bf16 by instructions of this processor (AVX512_BF16 or AMX).
// OpenBLAS as Debian builds it does not.
bool matmul_takes_bf16();

// c = op(a) op(b), or c += op(a) op(b) if `adds`, with sums in fp32. All else is as above.
// matmul_takes_bf16() must be true.
void matmul_cpu(Transpose transpose_a, Transpose transpose_b, std::int64_t m, std::int64_t n,
                std::int64_t k, const Bf16* a, std::int64_t lda, const Bf16* b, std::int64_t ldb,
                bool adds, float* c, std::int64_t ldc);

// "oneDNN 2.6.3" or "OpenBLAS 0.3.21".
const char* matmul_library();

}  // namespace parallelarium

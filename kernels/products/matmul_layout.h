// SPDX-License-Identifier: Apache-2.0
// Translates row-major matrix products for a library that knows column-major ones (cuBLASLt). It is
// plain C++, so tests need no GPU.
//
// A row-major matrix [r, c] is, byte for byte, the column-major matrix [c, r]. So we ask the
// library for c^T = op(b)^T op(a)^T instead of c = op(a) op(b): b is its first operand, a its
// second, and both keep their op.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/products/matmul.h"

namespace parallelarium {

// c [m,n] = alpha op(a) op(b) + beta c as in matmul.h, `batches` times. The stored matrices of two
// batches are `step` elements apart.
struct MatmulShape {
  Transpose transpose_a = Transpose::kNo;
  Transpose transpose_b = Transpose::kNo;
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t lda = 0, ldb = 0, ldc = 0;
  std::int64_t batches = 1;
  std::int64_t step_a = 0, step_b = 0, step_c = 0;
  auto operator<=>(const MatmulShape&) const = default;
};

// A matrix as stored, column by column, `leading` elements from one to the next.
struct ColumnMajor {
  std::int64_t rows = 0, columns = 0, leading = 0, step = 0;
  bool transposed = false;  // before it is multiplied
};

// result = op(first) op(second); first is b, second is a, result is c.
struct MatmulLayout {
  ColumnMajor first, second, result;
};

constexpr MatmulLayout layout_of(const MatmulShape& s) {
  const bool a_turned = s.transpose_a == Transpose::kYes;
  const bool b_turned = s.transpose_b == Transpose::kYes;
  return {{b_turned ? s.k : s.n, b_turned ? s.n : s.k, s.ldb, s.step_b, b_turned},
          {a_turned ? s.m : s.k, a_turned ? s.k : s.m, s.lda, s.step_a, a_turned},
          {s.n, s.m, s.ldc, s.step_c, false}};
}

// A product that is a part of another: of which stored elements, and whether it adds to what
// another part has put into c.
struct MatmulPart {
  MatmulShape shape;
  std::int64_t a = 0, b = 0, c = 0;  // where its operands begin in those of the whole
  bool adds = false;
};

// Cuts a product into one whose contiguous edges are multiples of `width` elements and the narrow
// rest. Tensor cores want 16 bytes at once: where an edge is odd, cuBLASLt takes kernels that are
// up to seven times slower, though rows begin at 16 bytes (98 TFLOP/s instead of 690 for a
// vocabulary of 50257 in bf16 on an H100). Where an edge is cut along k, the rest comes first and
// the large part adds to it, so that the rounding between them is that of the small one. A product
// whose rows do not begin at multiples of `width`, or of several matrices, stays whole.
inline std::vector<MatmulPart> aligned_parts(const MatmulShape& whole, std::int64_t width) {
  MatmulPart most{whole};
  std::vector<MatmulPart> rests;
  MatmulShape& s = most.shape;
  const bool a_turned = s.transpose_a == Transpose::kYes;
  const bool b_turned = s.transpose_b == Transpose::kYes;
  if (s.batches != 1 || s.lda % width != 0 || s.ldb % width != 0 || s.ldc % width != 0)
    return {most};
  const auto odd = [&](std::int64_t edge) { return edge > width && edge % width != 0; };
  if (odd(s.k) && (!a_turned || b_turned)) {
    MatmulPart rest = most;
    const std::int64_t kept = s.k / width * width;
    rest.shape.k = s.k - kept;
    rest.a = a_turned ? kept * s.lda : kept;
    rest.b = b_turned ? kept : kept * s.ldb;
    s.k = kept;
    rests.push_back(rest);
    most.adds = true;
  }
  if (odd(s.n)) {
    MatmulPart rest = most;
    const std::int64_t kept = s.n / width * width;
    rest.shape.n = s.n - kept;
    rest.b = b_turned ? kept * s.ldb : kept;
    rest.c = kept;
    s.n = kept;
    rests.push_back(rest);
  }
  if (odd(s.m) && a_turned) {
    MatmulPart rest = most;
    const std::int64_t kept = s.m / width * width;
    rest.shape.m = s.m - kept;
    rest.a = kept;
    rest.c = kept * s.ldc;
    s.m = kept;
    rests.push_back(rest);
  }
  rests.push_back(most);
  return rests;
}

// What the library may assume of an address: the largest power of two that divides it, at most 256.
constexpr std::uint32_t alignment_of(std::uintptr_t address) {
  const std::uintptr_t lowest = address & (~address + 1);
  return lowest == 0 || lowest > 256 ? 256 : static_cast<std::uint32_t>(lowest);
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "kernels/memory/memory.h"

#include <algorithm>
#include <cmath>

#include "kernels/base/vector.h"

namespace parallelarium {

void chain_lines_cpu(ChaseLine* lines, int bits) {
  for (std::uint64_t step = 0; step < std::uint64_t{1} << bits; ++step)
    lines[place_of(step, bits)].next = &lines[place_of(step + 1, bits)];
}

ChainEnd chase_cpu(const ChaseLine* lines, int bits, std::uint64_t first, std::int64_t loads) {
  const ChaseLine* line = &lines[place_of(first, bits)];
  for (std::int64_t load = 0; load < loads; ++load) line = line->next;
  return {static_cast<std::uint64_t>(line - lines), 0, 0};
}

PARALLELARIUM_VECTOR
ChainEnd multiply_add_chain_cpu(float value, float factor, float summand, std::int64_t steps) {
  for (std::int64_t step = 0; step < steps; ++step) value = std::fma(value, factor, summand);
  return {0, value, 0};
}

void copy_strided_cpu(float* to, const float* from, std::size_t count, std::size_t stride) {
  for (std::size_t at = 0; at < count; at += stride) to[at] = from[at];
}

void plain_product_cpu(float* c, const float* a, const float* b, std::size_t n) {
  std::fill_n(c, n * n, 0.0F);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) c[i * n + j] += a[i * n + k] * b[k * n + j];
}

}  // namespace parallelarium

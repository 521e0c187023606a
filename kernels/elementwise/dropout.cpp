// SPDX-License-Identifier: Apache-2.0
#include "kernels/elementwise/dropout.h"

#include <cmath>

#include "kernels/base/vector.h"

namespace parallelarium {

Dropout make_dropout(double probability, std::uint64_t key) {
  Dropout dropout;
  dropout.key = key;
  dropout.threshold = static_cast<std::uint32_t>(std::lround(probability * 65536.0));
  dropout.scale = static_cast<float>(65536.0 / (65536.0 - dropout.threshold));
  return dropout;
}

namespace {

// One draw for each four elements whose numbers share it.
void draw_mask(std::uint8_t* __restrict__ mask, const Dropout& dropout, std::int64_t first,
               std::size_t count) {
  const auto number_of = [&](std::size_t i) { return first + static_cast<std::int64_t>(i); };
  std::size_t i = 0;
  for (; i < count && number_of(i) % 4 != 0; ++i) mask[i] = dropout.keeps(number_of(i)) ? 1 : 0;
  for (; i + 4 <= count; i += 4) {
    const std::uint64_t bits =
        random_bits(dropout.key, static_cast<std::uint64_t>(number_of(i)) >> 2);
    for (int j = 0; j < 4; ++j)
      mask[i + static_cast<std::size_t>(j)] =
          (bits >> (16 * j) & 0xffff) >= dropout.threshold ? 1 : 0;
  }
  for (; i < count; ++i) mask[i] = dropout.keeps(number_of(i)) ? 1 : 0;
}

}  // namespace

void dropout_residual_cpu(float* __restrict__ out, std::uint8_t* __restrict__ mask,
                          const float* __restrict__ stream, const float* __restrict__ branch,
                          const Dropout& dropout, std::int64_t first, std::size_t count) {
  draw_mask(mask, dropout, first, count);
  // Not compiled for newer processors: where those fuse the product and the sum, the rest of the
  // loop would round otherwise than its vectors, and a share otherwise than the whole.
  const float factors[2] = {0.0F, dropout.scale};  // no branch, which would be guessed wrongly
  for (std::size_t i = 0; i < count; ++i) out[i] = stream[i] + branch[i] * factors[mask[i]];
}

PARALLELARIUM_VECTOR
void dropout_grad_cpu(float* dbranch, const float* dx, const std::uint8_t* __restrict__ mask,
                      float scale, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) dbranch[i] = mask[i] != 0 ? dx[i] * scale : 0.0F;
}

}  // namespace parallelarium

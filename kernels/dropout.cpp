// SPDX-License-Identifier: Apache-2.0
#include "kernels/dropout.h"

#include <cmath>

#include "kernels/vector.h"

namespace parallelarium {

Dropout make_dropout(double probability, std::uint64_t key) {
  Dropout dropout;
  dropout.key = key;
  dropout.threshold = static_cast<std::uint32_t>(std::lround(probability * 65536.0));
  dropout.scale = static_cast<float>(65536.0 / (65536.0 - dropout.threshold));
  return dropout;
}

void dropout_residual_cpu(float* __restrict__ out, std::uint8_t* __restrict__ mask,
                          const float* __restrict__ stream, const float* __restrict__ branch,
                          const Dropout& dropout, std::int64_t first, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i)
    mask[i] = dropout.keeps(first + static_cast<std::int64_t>(i)) ? 1 : 0;
  for (std::size_t i = 0; i < count; ++i)
    out[i] = stream[i] + (mask[i] != 0 ? branch[i] * dropout.scale : 0.0F);
}

PARALLELARIUM_VECTOR
void dropout_grad_cpu(float* dbranch, const float* dx, const std::uint8_t* __restrict__ mask,
                      float scale, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) dbranch[i] = mask[i] != 0 ? dx[i] * scale : 0.0F;
}

}  // namespace parallelarium

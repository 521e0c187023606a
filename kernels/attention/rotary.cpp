// SPDX-License-Identifier: Apache-2.0
#include "kernels/attention/rotary.h"

#include <cmath>

namespace parallelarium {

void rotary_cpu(float* qkv, Turn turn, const AttentionShape& shape, std::int64_t first_position) {
  const auto [B, T, H, K, D] = shape;
  const std::int64_t A = (H + 2 * K) * D;
  const std::int64_t half = D / 2;
  for (std::int64_t d = 0; d < half; ++d) {
    const double frequency =
        std::pow(10000.0, -2.0 * static_cast<double>(d) / static_cast<double>(D));
    for (std::int64_t t = 0; t < T; ++t) {
      const double angle = static_cast<double>(first_position + t) * frequency;
      const auto cosine = static_cast<float>(std::cos(angle));
      const auto sine =
          static_cast<float>(turn == Turn::kForward ? std::sin(angle) : -std::sin(angle));
      for (std::int64_t b = 0; b < B; ++b) {
        float* row = qkv + (b * T + t) * A + d;
        for (std::int64_t head = 0; head < H + K; ++head) {
          const float first = row[head * D];
          const float second = row[head * D + half];
          row[head * D] = first * cosine - second * sine;
          row[head * D + half] = second * cosine + first * sine;
        }
      }
    }
  }
}

}  // namespace parallelarium

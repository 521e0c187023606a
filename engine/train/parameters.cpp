// SPDX-License-Identifier: Apache-2.0
#include "engine/train/parameters.h"

#include <cmath>

#include "engine/train/random.h"

namespace parallelarium {
namespace {

// Twelve 16-bit uniforms have mean 12 * 65535 / 2 and, to one part in 2^32, deviation 65536, and
// their sum is as good as normal within the three deviations where weights lie. Unlike Box-Muller
// it needs no logarithm, whose last bit differs between computers.
float normal(std::uint64_t key, std::uint64_t index) {
  std::int64_t sum = 0;
  for (std::uint64_t draw = 0; draw < 3; ++draw) {
    std::uint64_t bits = random_bits(key, 3 * index + draw);
    for (int lane = 0; lane < 4; ++lane, bits >>= 16)
      sum += static_cast<std::int64_t>(bits & 0xffff);
  }
  return static_cast<float>(sum - 12 * 65535 / 2) / 65536.0F;
}

enum class Start { kWeight, kOutput, kOne, kZero };

Start start_of(Parameter parameter) {
  switch (parameter) {
    case Parameter::kNorm1Gain:
    case Parameter::kNorm2Gain:
    case Parameter::kFinalNormGain:
      return Start::kOne;
    case Parameter::kNorm1Bias:
    case Parameter::kNorm2Bias:
    case Parameter::kFinalNormBias:
    case Parameter::kQkvBias:
    case Parameter::kProjectionBias:
    case Parameter::kMlpInBias:
    case Parameter::kMlpOutBias:
      return Start::kZero;
    case Parameter::kProjectionWeight:
    case Parameter::kMlpOutWeight:
      return Start::kOutput;
    default:
      return Start::kWeight;
  }
}

}  // namespace

std::vector<float> initial_values(std::uint64_t seed, Parameter parameter, int layer,
                                  std::int64_t count, int layers) {
  std::vector<float> values(static_cast<std::size_t>(count));
  const Start start = start_of(parameter);
  if (start == Start::kOne) values.assign(values.size(), 1.0F);
  if (start == Start::kOne || start == Start::kZero) return values;
  const float deviation =
      start == Start::kOutput ? 0.02F / std::sqrt(2.0F * static_cast<float>(layers)) : 0.02F;
  const std::uint64_t key = random_key(
      {seed, static_cast<std::uint64_t>(parameter), static_cast<std::uint64_t>(layer + 1)});
  for (std::size_t index = 0; index < values.size(); ++index)
    values[index] = deviation * normal(key, index);
  return values;
}

bool decays(Parameter parameter) {
  const Start start = start_of(parameter);
  return start == Start::kWeight || start == Start::kOutput;
}

std::string describe(Parameter parameter, int layer) {
  std::string text;
  if (layer >= 0) text = fmt::format("layer {} ", layer);
  return text + std::string(name_of(parameter));
}

}  // namespace parallelarium

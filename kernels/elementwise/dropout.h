// SPDX-License-Identifier: Apache-2.0
// Dropout without state. Every element of the whole batch has a number, and a function of a key and
// that number says whether the element is kept. So ranks that share out samples, positions, heads
// or layers drop what one rank would drop, and a recompute drops the same again. Kept elements are
// divided by the probability of keeping.
// Source: Srivastava et al. 2014; counters instead of states: Salmon et al. 2011.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/base/random.h"

namespace parallelarium {

// Four elements share one draw of 64 bits, so probabilities are multiples of 2^-16.
struct Dropout {
  std::uint64_t key = 0;
  std::uint32_t threshold = 0;  // an element is dropped if its 16 bits are below; 0: none
  float scale = 1;              // of kept elements: 1 / (1 - threshold / 2^16)
  constexpr bool drops() const { return threshold > 0; }
  constexpr bool keeps(std::int64_t element) const {
    const auto number = static_cast<std::uint64_t>(element);
    return (random_bits(key, number >> 2) >> (16 * (number & 3)) & 0xffff) >= threshold;
  }
  // The factor that the element is multiplied by.
  constexpr float factor(std::int64_t element) const { return keeps(element) ? scale : 0.0F; }
};
// The probability must be in [0, 1). Probabilities below 2^-17 drop nothing.
Dropout make_dropout(double probability, std::uint64_t key);

// Numbers the probabilities [sample, head, query, key] of the whole batch.
struct AttentionDropout {
  Dropout dropout;
  std::int64_t sample = 0, head = 0;     // the first that this rank has
  std::int64_t heads = 0, sequence = 0;  // of all ranks
  constexpr std::int64_t row(std::int64_t b, std::int64_t h, std::int64_t query) const {
    return (((sample + b) * heads + head + h) * sequence + query) * sequence;
  }
};

// out = stream + branch * factor for the elements [first, first + count); mask is 1 for kept ones.
void dropout_residual_cpu(float* out, std::uint8_t* mask, const float* stream, const float* branch,
                          const Dropout& dropout, std::int64_t first, std::size_t count);
// dbranch = dx * scale where the mask is set, else 0. May work in place.
void dropout_grad_cpu(float* dbranch, const float* dx, const std::uint8_t* mask, float scale,
                      std::size_t count);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// A counter-based random generator. Number k of a stream follows from (key, k) alone, so it does
// not matter who draws it or in which order, and every computer gets the same.
// Source: SplitMix64 (Steele, Lea & Flood 2014), its finaliser over an arithmetic sequence.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace parallelarium {

constexpr std::uint64_t mix_bits(std::uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

// Number `counter` of the stream `key`.
constexpr std::uint64_t random_bits(std::uint64_t key, std::uint64_t counter) {
  return mix_bits(key + (counter + 1) * 0x9e3779b97f4a7c15ULL);
}

// A key from several parts, such as (seed, step, index).
constexpr std::uint64_t random_key(std::initializer_list<std::uint64_t> parts) {
  std::uint64_t key = 0;
  for (const std::uint64_t part : parts) key = random_bits(key ^ part, part);
  return key;
}

// Uniform in [0, bound); the bias is below bound / 2^64. The bound must be 1 or more.
constexpr std::uint64_t random_below(std::uint64_t bits, std::uint64_t bound) {
  return bits % bound;
}

}  // namespace parallelarium

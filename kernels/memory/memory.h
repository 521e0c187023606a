// SPDX-License-Identifier: Apache-2.0
// What measures a device's memories: chains in which nothing begins before the last has ended, and
// copies and products whose way through the memories is known. Their results are checked, too.
//
// Source: Saavedra & Smith 1995, "Measuring cache and TLB performance and their effect on benchmark
// run times", IEEE Trans. Computers 44(10); for GPUs Mei & Chu 2017, "Dissecting GPU memory
// hierarchy through microbenchmarking", IEEE TPDS 28(1).
#pragma once

#include <cstddef>
#include <cstdint>

namespace parallelarium {

// A line of a GPU's caches; it says which one is loaded next.
struct alignas(128) ChaseLine {
  const ChaseLine* next = nullptr;
};

// Where a chain stands at `step` of one that goes once through 2^bits places, in an order that
// looks random: multiplying by an odd number and folding the upper half onto the lower are one to
// one.
constexpr std::uint64_t place_of(std::uint64_t step, int bits) {
  const std::uint64_t mask = (std::uint64_t{1} << bits) - 1;
  const int half = (bits + 1) / 2;
  std::uint64_t place = step & mask;
  place = place * 0x9E3779B97F4A7C15U & mask;
  if (half > 0) place ^= place >> half;
  place = place * 0xBF58476D1CE4E5B9U & mask;
  if (half > 0) place ^= place >> half;
  return place;
}

// Where a chain ended, and for how many clock cycles it went; 0 on the CPU, which does not count.
struct ChainEnd {
  std::uint64_t place = 0;
  float value = 0;  // of arithmetic
  std::int64_t cycles = 0;
};

// The lines of one chain through all of them, begun at place_of(0).
void chain_lines_cpu(ChaseLine* lines, int bits);
// So many loads, begun at place_of(first): ends at place_of(first + loads).
ChainEnd chase_cpu(const ChaseLine* lines, int bits, std::uint64_t first, std::int64_t loads);

// value = value * factor + summand, rounded once, so many times. `steps` must not be negative.
ChainEnd multiply_add_chain_cpu(float value, float factor, float summand, std::int64_t steps);

// to[i] = from[i] for every i below `count` that is a multiple of the stride.
void copy_strided_cpu(float* to, const float* from, std::size_t count, std::size_t stride);

// c [n,n] = a [n,n] b [n,n], row by row.
void plain_product_cpu(float* c, const float* a, const float* b, std::size_t n);

}  // namespace parallelarium

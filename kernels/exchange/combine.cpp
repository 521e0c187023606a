// SPDX-License-Identifier: Apache-2.0
#include "kernels/exchange/combine.h"

#include <algorithm>
#include <cstring>

#include "kernels/base/vector.h"

namespace parallelarium {

namespace {

// Wide enough to keep loads long, small enough for the first cache.
constexpr std::size_t kBlock = 512;

// What a number is widened to while it is worked on. int32 is unsigned there, so that it wraps.
template <class Number>
struct Wide {
  using Type = Number;
};
template <>
struct Wide<Bf16> {
  using Type = float;
};

[[gnu::always_inline]] inline float load(Bf16 value) { return widen(value); }
template <class Number>
[[gnu::always_inline]] inline Number load(Number value) {
  return value;
}
template <class Number>
[[gnu::always_inline]] inline void store(Number& to, Number value) {
  to = value;
}
[[gnu::always_inline]] inline void store(Bf16& to, float value) { to = round_to_bf16(value); }

template <class Number>
[[gnu::always_inline]] inline Number add(Number a, Number b) {
  return a + b;
}
[[gnu::always_inline]] inline std::int32_t add(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
template <class Number>
[[gnu::always_inline]] inline Number multiply(Number a, Number b) {
  return a * b;
}
[[gnu::always_inline]] inline std::int32_t multiply(std::int32_t a, std::int32_t b) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}

template <class Number, class Op>
[[gnu::always_inline]] inline void blocks(Number* target, const Number* const* parts,
                                          std::size_t parts_count, std::size_t count,
                                          std::int32_t divisor, Op op) {
  using Type = typename Wide<Number>::Type;
  Type sum[kBlock];
  for (std::size_t first = 0; first < count; first += kBlock) {
    const std::size_t length = std::min(kBlock, count - first);
    const Number* part = parts[0] + first;
    for (std::size_t i = 0; i < length; ++i) sum[i] = load(part[i]);
    for (std::size_t index = 1; index < parts_count; ++index) {
      part = parts[index] + first;
      for (std::size_t i = 0; i < length; ++i) sum[i] = op(sum[i], load(part[i]));
    }
    if (divisor != 1) {
      for (std::size_t i = 0; i < length; ++i) sum[i] = sum[i] / static_cast<Type>(divisor);
    }
    for (std::size_t i = 0; i < length; ++i) store(target[first + i], sum[i]);
  }
}

template <class Number>
[[gnu::always_inline]] inline void combine(Number* target, const Number* const* parts,
                                           std::size_t parts_count, Combine how, int divisor,
                                           std::size_t count) {
  using Type = typename Wide<Number>::Type;
  switch (how) {
    case Combine::kCopy:
      if (target != parts[0]) std::memcpy(target, parts[0], count * sizeof(Number));
      return;
    case Combine::kSum:
      return blocks(target, parts, parts_count, count, 1, [](Type a, Type b) { return add(a, b); });
    case Combine::kAverage:
      return blocks(target, parts, parts_count, count, divisor,
                    [](Type a, Type b) { return add(a, b); });
    case Combine::kLargest:
      return blocks(target, parts, parts_count, count, 1,
                    [](Type a, Type b) { return a < b ? b : a; });
    case Combine::kSmallest:
      return blocks(target, parts, parts_count, count, 1,
                    [](Type a, Type b) { return b < a ? b : a; });
    case Combine::kProduct:
      return blocks(target, parts, parts_count, count, 1,
                    [](Type a, Type b) { return multiply(a, b); });
  }
}

}  // namespace

PARALLELARIUM_VECTOR
void combine_cpu(float* target, const float* const* parts, std::size_t parts_count, Combine how,
                 int divisor, std::size_t count) {
  combine(target, parts, parts_count, how, divisor, count);
}

PARALLELARIUM_VECTOR
void combine_cpu(double* target, const double* const* parts, std::size_t parts_count, Combine how,
                 int divisor, std::size_t count) {
  combine(target, parts, parts_count, how, divisor, count);
}

PARALLELARIUM_VECTOR
void combine_cpu(Bf16* target, const Bf16* const* parts, std::size_t parts_count, Combine how,
                 int divisor, std::size_t count) {
  combine(target, parts, parts_count, how, divisor, count);
}

PARALLELARIUM_VECTOR
void combine_cpu(std::int32_t* target, const std::int32_t* const* parts, std::size_t parts_count,
                 Combine how, int divisor, std::size_t count) {
  combine(target, parts, parts_count, how, divisor, count);
}

}  // namespace parallelarium

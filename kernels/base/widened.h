// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <type_traits>
#include <vector>

#include "kernels/bf16_kernels.h"

namespace parallelarium {

// An fp32 copy of an array for the time of a kernel. Copies end in reverse order, so the n-th copy
// of a thread uses the same memory each time, and a step allocates nothing once each has had its
// largest size.
class Widened {
 public:
  explicit Widened(std::size_t count) : values_(take(count)), count_(count) {}
  // Absent where `from` is null.
  template <class T>
  Widened(const T* from, std::size_t count) : Widened(from == nullptr ? 0 : count) {
    if (from != nullptr) cast_or_copy(values_, from, count);
  }
  ~Widened() { --depth; }
  Widened(const Widened&) = delete;
  Widened& operator=(const Widened&) = delete;

  // Null for an array that is absent.
  float* data() { return count_ == 0 ? nullptr : values_; }
  const float* data() const { return count_ == 0 ? nullptr : values_; }
  template <class T>
  void round_into(T* to) const {
    if (to != nullptr) cast_or_copy(to, values_, count_);
  }

 private:
  template <class To, class From>
  static void cast_or_copy(To* to, const From* from, std::size_t count) {
    if constexpr (std::is_same_v<To, From>)
      std::copy_n(from, count, to);
    else
      cast_cpu(to, from, count);
  }
  static float* take(std::size_t count) {
    thread_local std::vector<std::vector<float>> arrays;
    if (arrays.size() == depth) arrays.emplace_back();
    std::vector<float>& array = arrays[depth++];
    if (array.size() < count) array.resize(count);
    return array.data();
  }

  static inline thread_local std::size_t depth = 0;
  float* values_;
  std::size_t count_;
};

}  // namespace parallelarium

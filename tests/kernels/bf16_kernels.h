// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "kernels/bf16_kernels.h"
#include "tests/kernels/reference.h"

namespace parallelarium {

using reference::Floats;
using reference::random_floats;

// The kernels on bf16 storage are those on fp32 with the same inputs, rounded once. Rows are
// longer than a block in which they are widened.
class Bf16Kernels : public testing::Test {
 protected:
  std::vector<Bf16> stored(const Floats& values) {
    std::vector<Bf16> result(values.size());
    cast_cpu(result.data(), values.data(), values.size());
    return result;
  }
  Floats widened(const std::vector<Bf16>& values) {
    Floats result(values.size());
    cast_cpu(result.data(), values.data(), values.size());
    return result;
  }
  std::vector<Bf16> random(std::int64_t count) { return stored(random_floats(count, ++seed_)); }
  Floats rounded(const Floats& values) { return widened(stored(values)); }

 private:
  unsigned seed_ = 0;
};

inline constexpr std::int64_t kN = 9;
inline constexpr std::int64_t kC = 4097;

}  // namespace parallelarium

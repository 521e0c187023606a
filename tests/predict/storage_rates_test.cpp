// SPDX-License-Identifier: Apache-2.0
// Rates that were measured in bf16 predict bf16, and nothing else.
#include <gtest/gtest.h>

#include "engine/predict/simulate.h"

namespace parallelarium {
namespace {

Work norm() {
  Work work;
  work.piece = Piece::kNorm2;
  work.elements = 1000;
  return work;
}
Work product() {
  Work work;
  work.piece = Piece::kQkv;
  work.m = work.n = work.k = 64;
  work.flops = 2.0 * 64 * 64 * 64;
  return work;
}

TEST(StorageRates, AreThoseOfTheType) {
  const std::string half(name_of(DataType::kBf16));
  Machine machine;
  machine.matmuls = {{64, 64, 64, {1e9, "test"}},  // of an older file: fp32
                     {64, 64, 64, {4e9, "test"}, "", half}};
  machine.kernels = {{"norm", {1e8, "test"}, 0, std::string(name_of(DataType::kF32))},
                     {"norm", {5e7, "test"}, 0, half},
                     {"reduce", {2e8, "test"}},
                     {"reduce", {3e8, "test"}, 0, half}};
  EXPECT_DOUBLE_EQ(work_seconds(norm(), {}, machine, DataType::kF32), 1e-5);
  EXPECT_DOUBLE_EQ(work_seconds(norm(), {}, machine, DataType::kBf16), 2e-5);
  EXPECT_NEAR(work_seconds(product(), {}, machine, DataType::kF32), product().flops / 1e9, 1e-12);
  EXPECT_NEAR(work_seconds(product(), {}, machine, DataType::kBf16), product().flops / 4e9, 1e-12);
  EXPECT_EQ(combine_rate(machine, DataType::kF32), 2e8);
  EXPECT_EQ(combine_rate(machine, DataType::kBf16), 3e8);

  // Where nothing was measured in bf16, the rates of fp32 stand for it.
  std::erase_if(machine.matmuls, [&](const MatmulPoint& point) { return point.type == half; });
  std::erase_if(machine.kernels, [&](const KernelRate& rate) { return rate.type == half; });
  EXPECT_DOUBLE_EQ(work_seconds(norm(), {}, machine, DataType::kBf16), 1e-5);
  EXPECT_NEAR(work_seconds(product(), {}, machine, DataType::kBf16), product().flops / 1e9, 1e-12);
  EXPECT_EQ(combine_rate(machine, DataType::kBf16), 2e8);
}

}  // namespace
}  // namespace parallelarium

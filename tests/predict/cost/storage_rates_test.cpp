// SPDX-License-Identifier: Apache-2.0
// Rates that were measured in bf16 predict bf16, and nothing else.
#include <gtest/gtest.h>

#include "engine/predict/cost/pieces/work_seconds.h"

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
  const auto add_point = [&](double rate, const std::string& type) {
    MatmulPoint& point = machine.matmuls.emplace_back();
    point.m = point.n = point.k = 64;
    point.flops_per_second.value = rate;
    point.type = type;
  };
  const auto add_kernel = [&](const char* kernel, double rate, const std::string& type) {
    KernelRate& entry = machine.kernels.emplace_back();
    entry.kernel = kernel;
    entry.elements_per_second.value = rate;
    entry.type = type;
  };
  add_point(1e9, "");  // of an older file: fp32
  add_point(4e9, half);
  add_kernel("norm", 1e8, std::string(name_of(DataType::kF32)));
  add_kernel("norm", 5e7, half);
  add_kernel("reduce", 2e8, "");
  add_kernel("reduce", 3e8, half);
  EXPECT_DOUBLE_EQ(work_seconds(norm(), {}, machine, DataType::kF32), 1e-5);
  EXPECT_DOUBLE_EQ(work_seconds(norm(), {}, machine, DataType::kBf16), 2e-5);
  EXPECT_NEAR(work_seconds(product(), {}, machine, DataType::kF32), product().flops / 1e9, 1e-12);
  EXPECT_NEAR(work_seconds(product(), {}, machine, DataType::kBf16), product().flops / 4e9, 1e-12);
  EXPECT_EQ(combine_rate(machine, DataType::kF32), 2e8);
  EXPECT_EQ(combine_rate(machine, DataType::kBf16), 3e8);

  // What works on fp32 in every precision has one rate.
  add_kernel("loss", 1e8, "");
  Work loss = norm();
  loss.piece = Piece::kLoss;
  EXPECT_DOUBLE_EQ(work_seconds(loss, {}, machine, DataType::kBf16), 1e-5);
  // Fused attention that drops goes by blocks in bf16.
  add_kernel("fused_attention", 2e8, half);
  add_kernel("block_attention_dropping", 1e8, half);
  Work attention = norm();
  attention.piece = Piece::kAttention;
  Shape shape;
  shape.fused = true;
  EXPECT_DOUBLE_EQ(work_seconds(attention, shape, machine, DataType::kBf16), 5e-6);
  shape.dropout = 0.1;
  EXPECT_DOUBLE_EQ(work_seconds(attention, shape, machine, DataType::kBf16), 1e-5);

  // Where nothing was measured in bf16, the rates of fp32 stand for it.
  std::erase_if(machine.matmuls, [&](const MatmulPoint& point) { return point.type == half; });
  std::erase_if(machine.kernels, [&](const KernelRate& rate) { return rate.type == half; });
  EXPECT_DOUBLE_EQ(work_seconds(norm(), {}, machine, DataType::kBf16), 1e-5);
  EXPECT_NEAR(work_seconds(product(), {}, machine, DataType::kBf16), product().flops / 1e9, 1e-12);
  EXPECT_EQ(combine_rate(machine, DataType::kBf16), 2e8);
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "engine/predict/cost/simulate.h"
#include "tests/predict/cost/plain_machine.h"
#include "tests/predict/program/tiny_program.h"

namespace parallelarium {
namespace {

TEST(CostModel, ChoosesTheLinkByNode) {
  TinyProgram tiny(32);
  tiny.program.groups = {{Axis::kTp, {0, 1, 2, 3}}, {Axis::kDp, {0, 8, 16, 24}}};
  Op& send = tiny.op(0, tiny.send(0, 7, 0));
  send.bytes = 1'000'000;
  const parallelarium::Setup setup;
  const CostModel cost(tiny.program, machine(), setup);
  EXPECT_NEAR(cost.seconds(send, 0), 2e-6 + 1e-4, 1e-12);
  send.peer = 8;
  EXPECT_NEAR(cost.seconds(send, 0), 5e-6 + 1e-3, 1e-12);

  Op& reduce = tiny.op(0, tiny.collective(0, 0));
  reduce.bytes = 4'000'000;
  // Ring: 2 (n - 1) messages, 2 (n - 1) / n of the array (Patarasuk and Yuan 2009).
  reduce.group = 0;
  EXPECT_NEAR(cost.seconds(reduce, 0), 6 * 2e-6 + 6e6 / 1e10, 1e-12);
  reduce.group = 1;
  EXPECT_NEAR(cost.seconds(reduce, 0), 6 * 5e-6 + 6e6 / 1e9, 1e-12);
  reduce.collective = CollectiveKind::kAllGather;
  EXPECT_NEAR(cost.seconds(reduce, 0), 3 * 5e-6 + 3e6 / 1e9, 1e-12);
  const double once = cost.seconds(reduce, 0);
  reduce.repeat = 12;
  EXPECT_NEAR(cost.seconds(reduce, 0), 12 * once, 1e-12);
}

TEST(CostModel, TakesAllRanksOfThisComputerAsNeighbours) {
  TinyProgram tiny(4);
  tiny.op(0, tiny.send(0, 3, 0)).bytes = 1'000'000;
  Machine local = machine();
  local.local = true;
  local.devices_per_node = 1;
  parallelarium::Setup setup;
  setup.mesh.pp = 4;
  const CostModel cost(tiny.program, local, setup);
  EXPECT_NEAR(cost.seconds(tiny.op(0, 0), 0), 2e-6 + 1e-4, 1e-12);
}

Machine two_pairs() {
  Machine gpus = machine();
  gpus.local = true;
  gpus.pairs = {{0, 1, {{2e-6}, {2e11}}}, {0, 2, {{3e-6}, {1e10}}}, {1, 2, {{4e-6}, {1e11}}}};
  return gpus;
}

TEST(CostModel, TakesTheMeasuredPairOfGpusThatTheRanksAreOn) {
  TinyProgram tiny(3);
  Op& send = tiny.op(0, tiny.send(0, 1, 0));
  send.bytes = 1'000'000;
  parallelarium::Setup setup;
  EXPECT_NEAR(CostModel(tiny.program, two_pairs(), setup).seconds(send, 0), 2e-6 + 5e-6, 1e-12);
  setup.run.devices = "1,2,0";
  EXPECT_NEAR(CostModel(tiny.program, two_pairs(), setup).seconds(send, 0), 4e-6 + 1e-5, 1e-12);
  // A collective of an unmeasured kind is as slow as the slowest pair of its ranks.
  Op& gather = tiny.op(0, tiny.collective(0, 0));
  gather.collective = CollectiveKind::kAllGather;
  gather.bytes = 3'000'000;
  setup.run.devices = "all";
  EXPECT_NEAR(CostModel(tiny.program, two_pairs(), setup).seconds(gather, 0), 2 * 3e-6 + 2e6 / 1e10,
              1e-12);
}

TEST(CostModel, TakesMeasuredCollectivesOfAsManyGpusOrTheNextNumber) {
  Machine gpus = two_pairs();
  gpus.collectives = {{"all_reduce", 2, {{1e-5}, {1e11}}},
                      {"all_reduce", 8, {{4e-5}, {5e10}}},
                      {"all_gather", 4, {{2e-5}, {2e10}}}};
  const auto seconds = [&](CollectiveKind kind, int ranks, std::int64_t bytes) {
    TinyProgram tiny(ranks);
    Op& op = tiny.op(0, tiny.collective(0, 0));
    op.collective = kind;
    op.reduction = kind == CollectiveKind::kAllReduce ? Reduction::kSum : Reduction::kNone;
    op.bytes = bytes;
    const parallelarium::Setup setup;
    return CostModel(tiny.program, gpus, setup).seconds(op, 0);
  };
  // A rank sends 2 (n - 1) / n of the array.
  EXPECT_NEAR(seconds(CollectiveKind::kAllReduce, 2, 4'000'000), 1e-5 + 4e6 / 1e11, 1e-12);
  EXPECT_NEAR(seconds(CollectiveKind::kAllReduce, 4, 4'000'000), 4e-5 + 6e6 / 5e10, 1e-12);
  EXPECT_NEAR(seconds(CollectiveKind::kAllReduce, 16, 16'000'000), 4e-5 + 30e6 / 5e10, 1e-12);
  EXPECT_NEAR(seconds(CollectiveKind::kAllGather, 2, 4'000'000), 2e-5 + 2e6 / 2e10, 1e-12);
}

TEST(CostModel, CountsMessagesWhereThereAreMoreRanksThanMeasuredCores) {
  Machine cores = machine();
  cores.local = true;
  cores.cores = 2;
  cores.collectives = {{"all_gather", 2, {{1e-5}, {1e11}}}};
  const auto seconds = [&](int ranks) {
    TinyProgram tiny(ranks);
    Op& op = tiny.op(0, tiny.collective(0, 0));
    op.collective = CollectiveKind::kAllGather;
    op.bytes = 4'000'000;
    parallelarium::Setup setup;
    setup.mesh.dp = ranks;
    return CostModel(tiny.program, cores, setup).seconds(op, 0);
  };
  EXPECT_NEAR(seconds(2), 1e-5 + 2e6 / 1e11, 1e-12);
  EXPECT_NEAR(seconds(4), 3 * 2e-6 + 3e6 / 1e10, 1e-12);
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Predictions of ranks that share a GPU, where ops take turns: a GPU is never idle while any rank
// has something to do, so a step lasts as long as all work on it, whatever the order.
#include <gtest/gtest.h>

#include <algorithm>

#include "engine/plan/placement/resolve.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

Machine one_gpu() {
  Machine gpu = *find_machine("dgx-h100");
  gpu.name = kLocalGpus;
  gpu.local = true;
  gpu.devices_per_node = gpu.nodes = 1;
  return gpu;
}

parallelarium::Setup with(Mesh mesh, std::string schedule = "1f1b", int zero = 0) {
  parallelarium::Setup setup = default_setup();
  setup.mesh = mesh;
  setup.schedule = schedule;
  setup.microbatches = 4;
  setup.zero = zero;
  setup.run.backend = Backend::kCuda;
  return setup;
}

struct OnOneGpu {
  Mesh mesh;
  std::string schedule = "1f1b";
  int zero = 0;
  bool all_ranks = true;
};

class SharedGpuSteps : public testing::TestWithParam<OnOneGpu> {};

TEST_P(SharedGpuSteps, LastAsLongAsAllWorkTogether) {
  const OnOneGpu& given = GetParam();
  const parallelarium::Setup setup = with(given.mesh, given.schedule, given.zero);
  const Machine gpu = one_gpu();
  const Result<Prediction> prediction = predict(setup, gpu, given.all_ranks);
  ASSERT_TRUE(prediction.ok()) << prediction.error().text;
  const Program& program = prediction->program;
  const CostModel cost(program, gpu, setup, &prediction->rows);
  ASSERT_EQ(cost.sharing(), Sharing::kGpu);
  double work = 0;
  std::size_t ops = 0;
  for (const RankProgram& rank : program.ranks) {
    for (const Op& op : rank.ops)
      if (op.kind != OpKind::kSend) work += cost.seconds(op, rank.rank);
    ops += rank.ops.size();
  }
  const auto copies =
      static_cast<double>(program.world) / static_cast<double>(program.ranks.size());
  // Every time is rounded to a nanosecond, and each event may be one late.
  EXPECT_NEAR(prediction->step.seconds, copies * work,
              copies * 1e-9 * 2 * static_cast<double>(ops) + 1e-4 * copies * work);
  EXPECT_EQ(prediction->step.mfu, 0);
}

INSTANTIATE_TEST_SUITE_P(Meshes, SharedGpuSteps,
                         testing::Values(OnOneGpu{{.dp = 4}}, OnOneGpu{{.dp = 4}, "1f1b", 3},
                                         OnOneGpu{{.tp = 2}}, OnOneGpu{{.pp = 4}},
                                         OnOneGpu{{.pp = 4}, "gpipe"}, OnOneGpu{{.pp = 2}, "zb-h1"},
                                         OnOneGpu{{.cp = 2}}, OnOneGpu{{.dp = 2, .tp = 2, .pp = 2}},
                                         OnOneGpu{{.dp = 2, .tp = 2, .pp = 2}, "1f1b", 2, false}));

// Against predictions of one rank alone: replicas take its time each, and nothing else but the
// gradients' way, and stages of a pipeline have no bubble that another rank would not fill.
TEST(SharedGpuPrediction, ReplicasTakeTheTimeOfOneRankEach) {
  const Result<Prediction> one = predict(with({}), one_gpu());
  const Result<Prediction> four = predict(with({.dp = 4}), one_gpu());
  ASSERT_TRUE(one.ok() && four.ok());
  EXPECT_GE(four->step.seconds, 4 * one->step.seconds);
  EXPECT_LE(four->step.seconds, 4.4 * one->step.seconds);
  const Result<Prediction> stages = predict(with({.pp = 4}), one_gpu(), true);
  ASSERT_TRUE(stages.ok());
  EXPECT_GE(stages->step.seconds, 0.95 * one->step.seconds);
  EXPECT_LE(stages->step.seconds, 1.3 * one->step.seconds) << "launches of messages";
}

TEST(SharedGpuPrediction, MemoryIsThatOfAllRanksTogether) {
  const Result<Prediction> one = predict(with({}), one_gpu());
  const Result<Prediction> four = predict(with({.dp = 4}), one_gpu());
  ASSERT_TRUE(one.ok() && four.ok());
  EXPECT_EQ(four->needed_bytes, 4 * one->needed_bytes);
  EXPECT_EQ(four->capacity_bytes, one->capacity_bytes);
  Machine small = one_gpu();
  small.memory_bytes.value = 2.5 * static_cast<double>(one->needed_bytes);
  EXPECT_TRUE(predict(with({.dp = 2}), small)->fits());
  EXPECT_FALSE(predict(with({.dp = 3}), small)->fits());
}

TEST(SharedGpuPrediction, IsToldAndOnlyWhereRanksShare) {
  const auto tells = [](const parallelarium::Setup& setup, const Machine& machine) {
    const std::vector<Message> remarks = remarks_of(*predict(setup, machine));
    return std::any_of(remarks.begin(), remarks.end(), [](const Message& remark) {
      return remark.text.find("ranks are on one GPU") != std::string::npos;
    });
  };
  Machine two = one_gpu();
  two.devices_per_node = 2;
  parallelarium::Setup setup = with({.dp = 2});
  EXPECT_TRUE(tells(setup, one_gpu()));
  EXPECT_FALSE(tells(setup, two));
  EXPECT_FALSE(tells(setup, *find_machine("dgx-h100")));
  EXPECT_EQ(expected_source(setup, two), Source::kMeasured);
  Machine processes = one_gpu();
  processes.nodes = 2;  // each with a GPU of its own
  EXPECT_FALSE(tells(setup, processes));
  setup.run.devices = "1";  // both on one of the two
  EXPECT_TRUE(tells(setup, two));
  EXPECT_EQ(expected_source(setup, two), Source::kSharedGpu);
}

TEST(SharedGpuPrediction, StandsOnCoresOnlyWhileRanksWouldTakeGpus) {
  Machine cores = uncalibrated_local_machine();
  cores.cores = 1;
  parallelarium::Setup setup = with({.dp = 2});
  setup.run.backend = Backend::kCuda;
  const Result<Prediction> taken = predict(setup, cores);
  ASSERT_TRUE(taken.ok());
  EXPECT_TRUE(taken->cores_for_gpus);
  setup.run.backend = Backend::kPaced;
  EXPECT_FALSE(predict(setup, cores)->cores_for_gpus);
}

TEST(SharedGpuPrediction, CoresInPlaceOfGpusAreTold) {
  const auto tells = [](const parallelarium::Setup& setup, const Machine& machine) {
    const std::vector<Message> remarks = remarks_of(*predict(setup, machine));
    return !remarks.empty() && remarks.front().text.find("are of the cores") != std::string::npos;
  };
  parallelarium::Setup setup = with({.dp = 2});
  setup.run.backend = Backend::kCuda;
  const Machine cores = *find_machine("local");
  EXPECT_TRUE(tells(setup, cores));
  EXPECT_FALSE(tells(setup, one_gpu()));
  EXPECT_FALSE(tells(setup, *find_machine("dgx-h100")));
  setup.run.backend = Backend::kAuto;
  EXPECT_FALSE(tells(setup, cores));
}

// Chunks that each rank reads and writes over the rate of copies, by hand: of n = 4 ranks each
// reads its chunk of all 4 arrays and writes it once; a copy reads and writes each of 3 others.
TEST(SharedGpuPrediction, CollectivesMoveWhatTheirRanksReadAndWrite) {
  Machine gpu = one_gpu();
  gpu.launch_seconds.value = 1e-6;
  gpu.memory_bytes_per_second.value = 1e12;
  Program program;
  program.world = 4;
  program.groups.push_back({Axis::kDp, {0, 1, 2, 3}});
  program.ranks.resize(4);
  const CostModel cost(program, gpu, with({.dp = 4}));
  const auto seconds = [&](CollectiveKind kind) {
    Op op;
    op.kind = OpKind::kCollective;
    op.collective = kind;
    op.group = 0;
    op.bytes = 4'000'000;  // a chunk of 1 MB takes 1 µs to read or write
    return cost.seconds(op, 0);
  };
  EXPECT_NEAR(seconds(CollectiveKind::kReduceScatter), 1e-6 + 5e-6, 1e-12);
  EXPECT_NEAR(seconds(CollectiveKind::kAllGather), 3e-6 + 6e-6, 1e-12);
  EXPECT_NEAR(seconds(CollectiveKind::kAllReduce), 4e-6 + 11e-6, 1e-12);
  EXPECT_NEAR(seconds(CollectiveKind::kBroadcast), 1e-6 + 8e-6, 1e-12);
  Op received;
  received.kind = OpKind::kRecv;
  received.peer = 1;
  received.bytes = 1'000'000;
  EXPECT_NEAR(cost.seconds(received, 0), 1e-6 + 2e-6, 1e-12);
}

}  // namespace
}  // namespace parallelarium

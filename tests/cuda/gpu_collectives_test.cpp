// SPDX-License-Identifier: Apache-2.0
// Real collectives on GPUs, by steps: every algorithm on a GPU for each rank through NCCL, and with
// all ranks on one. Skips with the reason where there are too few GPUs or no NCCL.
#include <gtest/gtest.h>

#include "engine/run/collective/collective_run.h"
#include "engine/run/gpu/module/module.h"

namespace parallelarium {
namespace {

// Every algorithm that works with so many ranks; types and reductions take turns.
void expect_exact(const CollectiveRanks& on, int ranks, Source source) {
  constexpr DataType kTypes[] = {DataType::kF32, DataType::kBf16, DataType::kF64, DataType::kI32};
  constexpr Reduction kReductions[] = {Reduction::kSum, Reduction::kProd, Reduction::kMin,
                                       Reduction::kMax, Reduction::kAvg};
  std::size_t turn = 0;
  for (const AlgorithmInfo& info : collective_algorithms()) {
    for (const std::int64_t count : {7, 100'000}) {
      CollectiveSpec spec;
      spec.kind = info.kind;
      spec.algorithm = info.name;
      spec.ranks = ranks;
      spec.type = kTypes[turn % 4];
      spec.reduction = kReductions[turn % 5];
      ++turn;
      spec.bytes = count * size_of(spec.type);
      const Result<Collective> collective = make_collective(spec);
      if (!collective) continue;
      CollectiveRunOptions wishes;
      wishes.warmup = 1;
      wishes.repeats = 2;
      wishes.on = on;
      const Result<CollectiveObservation> seen = run_collective(*collective, wishes);
      ASSERT_TRUE(seen.ok()) << info.name << ": " << seen.error().text;
      EXPECT_TRUE(seen->correct) << name_of(info.kind) << " by " << info.name << ", "
                                 << name_of(spec.type) << ", " << name_of(spec.reduction);
      EXPECT_EQ(seen->source, source);
      for (const RankTimeline& rank : seen->timeline.ranks)
        for (const Span& span : rank.spans) EXPECT_LE(span.begin, span.end);
    }
  }
}

class GpuCollectives : public testing::TestWithParam<int> {};

TEST_P(GpuCollectives, GiveTheSerialResult) {
  const Result<std::vector<GpuFacts>> gpus = usable_gpus();
  if (!gpus) GTEST_SKIP() << gpus.error().text;
  RunSettings settings;
  settings.backend = Backend::kCuda;
  // More ranks than GPUs are put on the first.
  const bool each = GetParam() <= static_cast<int>(gpus->size());
  if (!each) settings.devices = "0";
  const Result<BackendChoice> choice = choose_collective_backend(settings, GetParam());
  if (!choice && choice.error().kind == "nccl-missing") GTEST_SKIP() << choice.error().text;
  ASSERT_TRUE(choice.ok()) << choice.error().text;
  CollectiveRanks on;
  on.choice = *choice;
  expect_exact(on, GetParam(), each ? Source::kMeasured : Source::kSharedGpu);
}

INSTANTIATE_TEST_SUITE_P(Ranks, GpuCollectives, testing::Values(1, 2, 3, 4, 8));

}  // namespace
}  // namespace parallelarium

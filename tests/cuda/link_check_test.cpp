// SPDX-License-Identifier: Apache-2.0
// The check of what GPUs send each other, on queues of threads with one thing wrong between them;
// and what follows from it for each GPU.
#include "engine/run/gpu/check/link_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/run/gpu/check/check.h"
#include "tests/cuda/faulty_nccl.h"

namespace parallelarium {
namespace {

using testing::HasSubstr;
using Pair = FaultyNccl::Pair;

constexpr std::int64_t kLarge = 1 << 20;

LinkRig rig_of(Nccl& nccl, int gpus) {
  LinkRig rig;
  rig.gpus = gpus;
  rig.nccl = &nccl;
  rig.large_bytes = kLarge;
  rig.make_device = [](int, int, Lane) {
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{0});
  };
  return rig;
}

LinkFindings findings(Nccl& nccl, int gpus, LinkLimits limits = {}) {
  limits.connect = std::chrono::seconds{2};
  limits.step = std::chrono::seconds{1};
  return check_links(
      rig_of(nccl, gpus), limits, [](int place) { return place; }, [](double, const auto&) {});
}

TEST(LinkCheck, GoesOverEveryPairBothWaysAndEveryCollectiveInEverySize) {
  ThreadNccl nccl;
  const std::vector<LinkStep> steps = link_steps(rig_of(nccl, 4));
  std::set<std::pair<int, int>> pairs, timed;
  std::set<std::tuple<int, CollectiveKind, DataType>> collectives;
  for (const LinkStep& step : steps) {
    if (!step.is_message())
      collectives.insert({step.ranks, step.kind, step.type});
    else
      (step.timed ? timed : pairs).insert({step.from, step.to});
  }
  EXPECT_EQ(pairs.size(), 12u);
  EXPECT_EQ(timed, pairs);
  EXPECT_EQ(collectives.size(), 3u * 5 * 2) << "2, 3 and 4 ranks, five kinds, two types";
}

TEST(LinkCheck, FindsNothingWhereNothingIsWrong) {
  for (const int version : {22809, 22304}) {  // the older one has no two communicators at once
    for (const int gpus : {2, 3}) {
      ThreadNccl nccl(version);
      const LinkFindings found = findings(nccl, gpus);
      for (const LinkFault& fault : found.faults) ADD_FAILURE() << fault.found;
      EXPECT_TRUE(found.unreached.empty());
      EXPECT_FALSE(found.stuck);
      EXPECT_GE(found.speeds.size(), static_cast<std::size_t>(gpus * (gpus - 1)));
      for (const LinkSpeed& speed : found.speeds) EXPECT_GT(speed.bytes_per_second, 0);
      EXPECT_EQ(nccl.violations(), std::vector<std::string>{});
      EXPECT_EQ(nccl.open(), 0);
    }
  }
}

TEST(LinkCheck, NamesThePairThatChangesWhatItCarries) {
  FaultyNccl nccl;
  nccl.pair(2, 0, Pair::kCorrupts, 100);
  const LinkFindings found = findings(nccl, 3);
  ASSERT_GE(found.faults.size(), 2u) << "of both longer messages";
  EXPECT_EQ(found.faults[0].gpus, (std::vector<int>{2, 0}));
  EXPECT_EQ(found.faults[0].step.bytes, 4099);
  EXPECT_THAT(found.faults[0].found, HasSubstr("byte 2049 is"));
  EXPECT_THAT(found.faults[0].found, HasSubstr("on GPU 0"));
  for (std::size_t i = 2; i < found.faults.size(); ++i)  // it goes through messages
    EXPECT_EQ(found.faults[i].step.kind, CollectiveKind::kAllToAll);
  EXPECT_TRUE(found.unreached.empty());
}

TEST(LinkCheck, NamesThePairThatHangsAndGoesOnWithTheOthers) {
  FaultyNccl nccl;
  nccl.pair(1, 2, Pair::kLoses);
  const LinkFindings found = findings(nccl, 3);
  ASSERT_EQ(found.faults.size(), 1u);
  EXPECT_TRUE(found.faults[0].hangs);
  EXPECT_EQ(found.faults[0].gpus, (std::vector<int>{1, 2}));
  EXPECT_FALSE(found.stuck);
  for (const LinkStep& step : found.unreached) EXPECT_TRUE(step.takes(1) && step.takes(2));
  std::set<std::pair<int, int>> timed;
  for (const LinkSpeed& speed : found.speeds) timed.insert({speed.from, speed.to});
  EXPECT_EQ(timed, (std::set<std::pair<int, int>>{{0, 1}, {1, 0}, {0, 2}, {2, 0}}));
  EXPECT_EQ(nccl.inner().open(), 0);
}

TEST(LinkCheck, FindsACollectiveThatLosesOneRanksPart) {
  FaultyNccl nccl;
  nccl.leave_out(1, 3);
  const LinkFindings found = findings(nccl, 3);
  ASSERT_FALSE(found.faults.empty());
  for (const LinkFault& fault : found.faults) {
    EXPECT_EQ(fault.step.kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(fault.step.ranks, 3);
    EXPECT_THAT(fault.found, HasSubstr("and should be"));
  }
  EXPECT_EQ(text_of(found.faults[0].step, [](int place) { return place; }),
            "all_reduce of 4 float32 among GPUs 0, 1 and 2");
}

TEST(LinkCheck, WhereAllDoNotConnectAsksEachPair) {
  FaultyNccl nccl;
  nccl.never_connect(3);
  LinkLimits limits;
  const LinkFindings found = findings(nccl, 3, limits);
  ASSERT_EQ(found.faults.size(), 1u);
  EXPECT_EQ(found.faults[0].gpus.size(), 3u);
  EXPECT_THAT(found.faults[0].found, HasSubstr("does not connect"));
  std::set<std::pair<int, int>> timed;
  for (const LinkSpeed& speed : found.speeds) timed.insert({speed.from, speed.to});
  EXPECT_EQ(timed.size(), 6u) << "pairs work";
  for (const LinkStep& step : found.unreached) EXPECT_FALSE(step.is_message());
}

TEST(LinkCheck, OutOfTimeListsWhatWasNotReached) {
  ThreadNccl nccl;
  LinkLimits limits;
  limits.deadline = Clock::now();
  const LinkFindings found = findings(nccl, 2, limits);
  EXPECT_TRUE(found.faults.empty());
  EXPECT_EQ(found.unreached.size(), link_steps(rig_of(nccl, 2)).size());
}

GpuCheckRig whole_rig(Nccl& nccl, int gpus) {
  GpuCheckRig rig;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    GpuFacts facts;
    facts.name = "stand-in";
    facts.uuid = "GPU-" + std::to_string(gpu);
    rig.gpus.push_back(facts);
    rig.numbers.push_back(4 + gpu);
  }
  rig.nccl = &nccl;
  rig.make_device = [](int, int, Lane) {
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{0});
  };
  rig.large_bytes = kLarge;
  rig.connect_seconds = 2;
  rig.step_seconds = 1;
  rig.limit_seconds = 60;  // the tests' computer may be busy
  return rig;
}

TEST(GpuCheck, OfSeveralGpusThatAreRightPasses) {
  ThreadNccl nccl;
  const Result<GpuCheck> check = check_gpus(whole_rig(nccl, 2), {});
  ASSERT_TRUE(check.ok());
  EXPECT_TRUE(check->passed());
  ASSERT_EQ(check->links.size(), 1u);
  EXPECT_EQ(check->links[0].promise.from, 4);
  EXPECT_EQ(check->links[0].promise.to, 5);
  EXPECT_GT(check->links[0].bytes_per_second, 0);
  ASSERT_EQ(check->groups.size(), 1u);
  EXPECT_EQ(check->groups[0].devices, (std::vector<int>{4, 5}));
}

// Two of the three pairs are broken, and both have GPU 5 in them: without it the others work.
TEST(GpuCheck, BlamesTheGpuThatBrokenPairsHaveInCommon) {
  FaultyNccl nccl;
  nccl.pair(1, 0, Pair::kCorrupts);
  const Result<GpuCheck> one = check_gpus(whole_rig(nccl, 3), {});
  ASSERT_TRUE(one.ok());
  EXPECT_FALSE(one->gpus[0].failed());
  EXPECT_TRUE(one->gpus[1].failed()) << "of equal ones the last";
  EXPECT_FALSE(one->gpus[2].failed());
  EXPECT_THAT(one->gpus[1].failures[0].sentence, HasSubstr("GPU 5 to GPU 4"));
  EXPECT_FALSE(one->links[0].passed());
  EXPECT_TRUE(one->links[1].passed() && one->links[2].passed());
}

TEST(GpuCheck, TellsOfASlowLinkAndKeepsItsGpus) {
  FaultyNccl nccl;
  nccl.pair(0, 2, Pair::kIsSlow, kLarge);
  GpuCheckRig rig = whole_rig(nccl, 3);
  for (const auto& [from, to] : {std::pair{4, 5}, {4, 6}, {5, 6}})
    rig.promises.push_back({from, to, "PIX", true, 6e7});
  const Result<GpuCheck> check = check_gpus(rig, {});
  ASSERT_TRUE(check.ok());
  for (const CheckedGpu& gpu : check->gpus) EXPECT_FALSE(gpu.failed());
  EXPECT_FALSE(check->passed());
  ASSERT_EQ(check->links[1].failures.size(), 1u);
  EXPECT_EQ(check->links[1].failures[0].kind, FailureKind::kSlow);
  EXPECT_THAT(check->links[1].failures[0].sentence, HasSubstr("where PIX promises"));
  EXPECT_TRUE(check->links[0].passed());
  EXPECT_TRUE(check->links[2].passed());
}

TEST(GpuCheck, ACollectiveThatBreaksWithTheThirdGpuBlamesIt) {
  FaultyNccl nccl;
  nccl.leave_out(0, 3);
  const Result<GpuCheck> check = check_gpus(whole_rig(nccl, 3), {});
  ASSERT_TRUE(check.ok());
  EXPECT_TRUE(check->groups[0].passed());
  EXPECT_FALSE(check->groups[1].passed());
  EXPECT_FALSE(check->gpus[0].failed());
  EXPECT_TRUE(check->gpus[2].failed());
}

}  // namespace
}  // namespace parallelarium

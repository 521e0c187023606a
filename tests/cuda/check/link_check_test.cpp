// SPDX-License-Identifier: Apache-2.0
// The check of what GPUs send each other, on queues of threads with one thing wrong between them;
// and what follows from it for each GPU.
#include "engine/run/gpu/check/link_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "engine/run/gpu/check/check_memory.h"
#include "tests/cuda/nccl/faulty_nccl.h"

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
  rig.make_device = [](int gpu, int, Lane) { return std::make_unique<NumberedDevice>(gpu); };
  return rig;
}

LinkFindings findings(Nccl& nccl, int gpus, LinkLimits limits = {}) {
  limits.connect = std::chrono::seconds{2};
  limits.step = std::chrono::seconds{1};
  const LinkRig rig = rig_of(nccl, gpus);
  return check_links(
      rig, link_steps(rig), limits, [](int place) { return place; }, [](double, const auto&) {});
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
      for (const LinkFault& fault : found.faults) ADD_FAILURE() << fault.found.text;
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
  EXPECT_THAT(found.faults[0].found.text, HasSubstr("byte 2049 is"));
  EXPECT_THAT(found.faults[0].found.text, HasSubstr("on GPU 0"));
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

// Looks at its queue so rarely that an abort has emptied it in between.
struct SlowToLook final : QueuedDevice {
  SlowToLook() : QueuedDevice(std::chrono::microseconds{0}) {}
  bool passed(std::int32_t mark) const override {
    if (QueuedDevice::passed(mark)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds{100});
    return QueuedDevice::passed(mark);
  }
};

TEST(LinkCheck, DoesNotTakeWhatAnAbortLeavesForAMessage) {
  FaultyNccl nccl;
  nccl.stop_after(1);  // the first message connects the two
  LinkRig rig = rig_of(nccl, 2);
  rig.make_device = [](int, int, Lane) { return std::make_unique<SlowToLook>(); };
  LinkLimits limits;
  limits.deadline = Clock::now() + std::chrono::seconds{2};
  limits.connect = limits.step = limits.end = std::chrono::seconds{30};
  const LinkFindings found = check_links(
      rig, link_steps(rig), limits, [](int place) { return place; }, [](double, const auto&) {});
  for (const LinkFault& fault : found.faults) ADD_FAILURE() << fault.found.text;
  EXPECT_EQ(found.unreached.size(), link_steps(rig).size() - 1);
}

TEST(LinkCheck, FindsACollectiveThatLosesOneRanksPart) {
  FaultyNccl nccl;
  nccl.leave_out(1, 3);
  const LinkFindings found = findings(nccl, 3);
  ASSERT_FALSE(found.faults.empty());
  for (const LinkFault& fault : found.faults) {
    EXPECT_EQ(fault.step.kind, CollectiveKind::kAllReduce);
    EXPECT_EQ(fault.step.ranks, 3);
    EXPECT_THAT(fault.found.text, HasSubstr("and should be"));
  }
  EXPECT_EQ(text_of(found.faults[0].step, [](int place) { return place; }).text,
            "all_reduce of 4 float32 among GPUs 0, 1 and 2");
}

TEST(LinkCheck, FindsAReductionThatIsAnotherOneInEverySize) {
  FaultyNccl nccl;
  nccl.take_max_for_sum();
  const LinkFindings found = findings(nccl, 3);
  ASSERT_EQ(found.faults.size(), 2u);
  for (int ranks : {2, 3}) {
    const LinkStep& step = found.faults[static_cast<std::size_t>(ranks - 2)].step;
    EXPECT_EQ(step.ranks, ranks);
    EXPECT_EQ(step.reduction, Reduction::kMax);
  }
  EXPECT_EQ(text_of(found.faults[0].step, [](int place) { return place; }).text,
            "all_reduce by max of 1001 float32 among GPUs 0 and 1");
}

TEST(LinkCheck, WhereAllDoNotConnectSaysSoAndReachesNothing) {
  FaultyNccl nccl;
  nccl.never_connect(3);
  const LinkFindings found = findings(nccl, 3);
  ASSERT_EQ(found.faults.size(), 1u);
  EXPECT_EQ(found.faults[0].gpus.size(), 3u);
  EXPECT_THAT(found.faults[0].found.text, HasSubstr("does not connect"));
  EXPECT_EQ(found.unreached.size(), link_steps(rig_of(nccl, 3)).size());
}

TEST(LinkCheck, OutOfTimeListsWhatWasNotReached) {
  ThreadNccl nccl;
  LinkLimits limits;
  limits.deadline = Clock::now();
  const LinkFindings found = findings(nccl, 2, limits);
  EXPECT_TRUE(found.faults.empty());
  EXPECT_EQ(found.unreached.size(), link_steps(rig_of(nccl, 2)).size());
}

const CheckKey kLinkKey{"550.54", "1a2b", "2.28.9"};

struct ForgetsGelu final : QueuedDevice {
  ForgetsGelu() : QueuedDevice(std::chrono::microseconds{0}) {}
  void gelu_forward(Values g, ConstValues u, std::int64_t count) override {
    QueuedDevice::gelu_forward(g, u, count - 1);
  }
};

GpuCheckRig whole_rig(Nccl& nccl, int gpus) {
  GpuCheckRig rig;
  for (int gpu = 0; gpu < gpus; ++gpu) {
    GpuFacts facts;
    facts.name = "stand-in";
    facts.uuid = "GPU-" + std::to_string(gpu);
    for (int other = 0; other < gpus; ++other)
      if (other != gpu) facts.peers.push_back(4 + other);
    rig.gpus.push_back(facts);
    rig.numbers.push_back(4 + gpu);
  }
  rig.nccl = &nccl;
  rig.make_device = [](int gpu, int, Lane) { return std::make_unique<NumberedDevice>(gpu - 4); };
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

// Alone each works, and so do the others with each of them.
TEST(GpuCheck, NamesABrokenPairAndBlamesNeitherOfIt) {
  FaultyNccl nccl;
  nccl.pair(1, 0, Pair::kCorrupts);
  const Result<GpuCheck> one = check_gpus(whole_rig(nccl, 3), {});
  ASSERT_TRUE(one.ok());
  for (const CheckedGpu& gpu : one->gpus) EXPECT_FALSE(gpu.failed());
  EXPECT_FALSE(one->passed());
  EXPECT_TRUE(one->complete());
  ASSERT_FALSE(one->links[0].failures.empty());
  EXPECT_THAT(one->links[0].failures[0].sentence.text, HasSubstr("GPU 5 to GPU 4"));
  EXPECT_TRUE(one->links[1].passed() && one->links[2].passed());
}

TEST(GpuCheck, WhereAllDoNotConnectAsksEachPair) {
  FaultyNccl nccl;
  nccl.never_connect(3);
  const Result<GpuCheck> check = check_gpus(whole_rig(nccl, 3), {});
  ASSERT_TRUE(check.ok());
  for (const CheckedGpu& gpu : check->gpus) EXPECT_FALSE(gpu.failed());
  ASSERT_EQ(check->links.size(), 3u);
  for (const CheckedLink& link : check->links) {
    EXPECT_TRUE(link.passed());
    EXPECT_GT(link.bytes_per_second, 0) << "pairs work";
  }
  ASSERT_FALSE(check->groups.empty());
  EXPECT_EQ(check->groups[0].devices, (std::vector<int>{4, 5, 6}));
  ASSERT_FALSE(check->groups[0].failures.empty());
  EXPECT_THAT(check->groups[0].failures[0].sentence.text,
              HasSubstr("GPUs 4, 5 and 6 (connecting): NCCL does not connect"));
  EXPECT_TRUE(check->complete());
}

// GPU 5 sends nothing to 4: all with 5 in it is broken off, and what is left is tried on its own.
TEST(GpuCheck, TriesTheCollectivesOfThoseThatAreLeft) {
  FaultyNccl nccl;
  nccl.pair(1, 0, Pair::kLoses);
  const Result<GpuCheck> check = check_gpus(whole_rig(nccl, 3), {});
  ASSERT_TRUE(check.ok());
  ASSERT_EQ(check->groups.size(), 1u);
  EXPECT_EQ(check->groups[0].devices, (std::vector<int>{4, 6}));
  EXPECT_TRUE(check->groups[0].passed());
  EXPECT_TRUE(check->complete());
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
  EXPECT_TRUE(check->passed()) << "its numbers are right";
  ASSERT_EQ(check->links[1].warnings.size(), 1u);
  EXPECT_EQ(check->links[1].warnings[0].kind, FailureKind::kSlow);
  EXPECT_THAT(check->links[1].warnings[0].sentence.text, HasSubstr("where PIX promises"));
  EXPECT_TRUE(check->links[0].warnings.empty());
  EXPECT_TRUE(check->links[2].warnings.empty());
}

TEST(GpuCheck, NamesAPairWhosePeerAccessCudaDoesNotHave) {
  ThreadNccl nccl;
  GpuCheckRig rig = whole_rig(nccl, 3);
  for (const auto& [from, to] : {std::pair{4, 5}, {4, 6}, {5, 6}})
    rig.promises.push_back({from, to, "NVLink", from == 4, 0});
  rig.gpus[2].peers.clear();  // of 6; between 5 and 6 nobody promised any
  const Result<GpuCheck> check = check_gpus(rig, {});
  ASSERT_TRUE(check.ok());
  EXPECT_TRUE(check->passed()) << "NCCL goes another way";
  EXPECT_TRUE(check->links[0].warnings.empty());
  ASSERT_EQ(check->links[1].warnings.size(), 1u);
  EXPECT_EQ(check->links[1].warnings[0].kind, FailureKind::kPeer);
  EXPECT_EQ(check->links[1].warnings[0].sentence.text,
            "GPU 4 to GPU 6: the driver promises peer access (NVLink) and CUDA has none.");
  EXPECT_TRUE(check->links[2].warnings.empty());
}

// Through host memory a fourth of what the bus promises is what there is to get.
TEST(GpuCheck, AsksLessOfALinkWithoutPeerAccess) {
  for (const bool peer : {true, false}) {
    FaultyNccl nccl;
    nccl.pair(0, 1, Pair::kIsSlow, kLarge);  // at most 10.5 MB/s
    GpuCheckRig rig = whole_rig(nccl, 2);
    rig.promises.push_back({4, 5, "PHB", peer, 4e7});
    const Result<GpuCheck> check = check_gpus(rig, {});
    ASSERT_TRUE(check.ok());
    ASSERT_GT(check->links[0].bytes_per_second, 4e6);
    EXPECT_EQ(check->links[0].warnings.size(), peer ? 1u : 0u);
  }
}

TEST(GpuCheck, ACollectiveThatBreaksWithTheThirdGpuIsOfAllThree) {
  FaultyNccl nccl;
  nccl.leave_out(0, 3);
  const Result<GpuCheck> check = check_gpus(whole_rig(nccl, 3), {});
  ASSERT_TRUE(check.ok());
  std::map<std::vector<int>, bool> passed;
  for (const CheckedGroup& group : check->groups) passed[group.devices] = group.passed();
  EXPECT_EQ(passed, (std::map<std::vector<int>, bool>{{{4, 5}, true}, {{4, 5, 6}, false}}));
  for (const CheckedGpu& gpu : check->gpus) EXPECT_FALSE(gpu.failed());
}

// What a check found, as the memory of checks tells the next.
GpuCheckRig rest_of(GpuCheckRig rig, const RememberedChecks& checks) {
  for (const GpuFacts& gpu : rig.gpus) rig.right.push_back(checks.is_right(gpu, kLinkKey));
  rig.tried = checks.tried(rig.gpus, rig.numbers, kLinkKey);
  return rig;
}
std::vector<GpuFacts> some(const GpuCheckRig& rig, const std::vector<std::size_t>& places) {
  std::vector<GpuFacts> gpus;
  for (const std::size_t place : places) gpus.push_back(rig.gpus[place]);
  return gpus;
}

TEST(GpuCheck, IsRememberedWhereOneOfThreeFails) {
  ThreadNccl nccl;
  GpuCheckRig rig = whole_rig(nccl, 3);
  rig.make_device = [](int gpu, int, Lane) -> std::unique_ptr<Device> {
    if (gpu == 5) return std::make_unique<ForgetsGelu>();
    return std::make_unique<QueuedDevice>(std::chrono::microseconds{0});
  };
  const Result<GpuCheck> check = check_gpus(rig, {});
  ASSERT_TRUE(check.ok());
  EXPECT_TRUE(check->gpus[1].failed());
  RememberedChecks checks;
  checks.note(*check, kLinkKey, "2026-11-25");
  EXPECT_TRUE(checks.covers(rig.gpus, kLinkKey));
  EXPECT_TRUE(checks.covers(some(rig, {0, 2}), kLinkKey));
}

TEST(GpuCheck, IsRememberedWhereAPairHangsAndLeavesEachOfItAlone) {
  FaultyNccl nccl;
  nccl.pair(0, 1, Pair::kLoses);
  const GpuCheckRig rig = whole_rig(nccl, 3);
  const Result<GpuCheck> check = check_gpus(rig, {});
  ASSERT_TRUE(check.ok());
  RememberedChecks checks;
  checks.note(*check, kLinkKey, "2026-11-25");
  EXPECT_TRUE(checks.covers(rig.gpus, kLinkKey));
  for (const GpuFacts& gpu : rig.gpus) {
    EXPECT_EQ(checks.failure_of(gpu, kLinkKey).text, "");
    EXPECT_TRUE(checks.is_right(gpu, kLinkKey));
  }
  const std::vector<std::vector<int>> broken =
      broken_sets(checks.tried(rig.gpus, rig.numbers, kLinkKey));
  EXPECT_EQ(broken, (std::vector<std::vector<int>>{{4, 5}}));
  // A new NCCL lifts it.
  const CheckKey newer{kLinkKey.driver, kLinkKey.module, "2.30.1"};
  EXPECT_TRUE(checks.tried(rig.gpus, rig.numbers, newer).empty());
  EXPECT_FALSE(checks.covers(rig.gpus, newer));
  EXPECT_TRUE(checks.covers(some(rig, {1}), newer));
}

struct Counts final : QueuedDevice {
  explicit Counts(std::atomic<int>& launches)
      : QueuedDevice(std::chrono::microseconds{0}), launches_(launches) {}
  void gelu_forward(Values g, ConstValues u, std::int64_t count) override {
    ++launches_;
    QueuedDevice::gelu_forward(g, u, count);
  }
  std::atomic<int>& launches_;
};

// Each goes on where the one before ran out of time; what is known is not asked again.
TEST(GpuCheck, ThatRunsOutOfTimeIsFinishedByTheNext) {
  std::atomic<int> launches{0};
  FaultyNccl nccl;
  GpuCheckRig rig = whole_rig(nccl, 4);
  rig.make_device = [&](int, int, Lane) { return std::make_unique<Counts>(launches); };
  RememberedChecks checks;
  const auto messages_of_next = [&](double limit) {
    const int before = nccl.messages();
    GpuCheckRig rest = rest_of(rig, checks);
    rest.limit_seconds = limit;
    const Result<GpuCheck> check = check_gpus(rest, {});
    EXPECT_TRUE(check.ok());
    for (const CheckedGpu& gpu : check->gpus) EXPECT_FALSE(gpu.failed());
    for (const CheckedLink& link : check->links) EXPECT_TRUE(link.failures.empty());
    checks.note(*check, kLinkKey, "2026-11-25");
    return nccl.messages() - before;
  };
  rig.nccl = nullptr;  // kernels alone
  messages_of_next(60);
  EXPECT_GT(launches, 0);
  EXPECT_TRUE(checks.covers(some(rig, {3}), kLinkKey));
  EXPECT_FALSE(checks.covers(some(rig, {0, 1}), kLinkKey));
  launches = 0;
  rig.nccl = &nccl;
  rig.step_seconds = 60;  // what does not come is late, not lost
  nccl.stop_after(13);    // both ways between the first two are through
  messages_of_next(3);
  const std::vector<TriedSet> tried = checks.tried(rig.gpus, rig.numbers, kLinkKey);
  ASSERT_EQ(tried.size(), 1u);
  EXPECT_EQ(tried[0].gpus, (std::vector<int>{4, 5}));
  nccl.stop_after(-1);
  const int second = messages_of_next(60);
  EXPECT_TRUE(checks.covers(rig.gpus, kLinkKey));
  EXPECT_EQ(launches, 0) << "kernels are known";
  EXPECT_EQ(messages_of_next(60), 0) << "nothing is left";
  GpuCheck known;
  for (const GpuFacts& gpu : rig.gpus) known.gpus.push_back({0, gpu, {}, {}, {}});
  checks = {};
  checks.note(known, kLinkKey, "2026-11-25");
  EXPECT_EQ(messages_of_next(60), second + 10) << "of one pair: three sizes and two timed ones";
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// What is remembered of a check, and what follows for a GPU that failed.
#include "engine/run/gpu/check/check_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace parallelarium {
namespace {

using testing::HasSubstr;

GpuFacts gpu(const char* uuid) {
  GpuFacts facts;
  facts.name = "H100";
  facts.uuid = uuid;
  return facts;
}

const CheckKey kKey{"550.54", "1a2b", "2.28.9"};

CheckedLink link(int from, int to) {
  CheckedLink link;
  link.promise.from = from;
  link.promise.to = to;
  return link;
}

// GPUs A and B passed together, C failed.
GpuCheck one_of_three_failed() {
  GpuCheck check;
  int device = 0;
  for (const char* uuid : {"A", "B", "C"}) check.gpus.push_back({device++, gpu(uuid), {}, {}, {}});
  check.links = {link(0, 1)};
  check.groups = {{{0, 1}, {}, true}};
  check.gpus[2].failures.push_back(
      {FailureKind::kKernel, "GELU", "3 float32", "wrong", plain("GELU (3 float32): wrong.")});
  return check;
}

TEST(RememberedChecks, HoldForTheSameDriverAndModule) {
  RememberedChecks checks;
  checks.note(one_of_three_failed(), kKey, "2026-11-24");
  EXPECT_EQ(checks.failure_of(gpu("A"), kKey).text, "");
  EXPECT_EQ(checks.failure_of(gpu("C"), kKey).text, "GELU (3 float32): wrong.");
  EXPECT_TRUE(checks.covers({gpu("A"), gpu("B"), gpu("C")}, kKey));
  EXPECT_TRUE(checks.covers({gpu("B")}, kKey));
  EXPECT_FALSE(checks.covers({gpu("D")}, kKey));
  for (const CheckKey& other :
       {CheckKey{"560.0", "1a2b", "2.28.9"}, {"550.54", "3c4d", "2.28.9"}}) {
    EXPECT_EQ(checks.failure_of(gpu("C"), other).text, "");
    EXPECT_FALSE(checks.covers({gpu("A")}, other));
  }
  const CheckKey other_nccl{"550.54", "1a2b", "2.30.1"};
  EXPECT_FALSE(checks.covers({gpu("A"), gpu("B")}, other_nccl));
  EXPECT_TRUE(checks.covers({gpu("A")}, other_nccl)) << "alone it needs no NCCL";
}

TEST(RememberedChecks, DoNotHoldForWhatWasNotReached) {
  GpuCheck check;
  check.gpus = {{0, gpu("A"), {}, {}, {}}, {1, gpu("B"), {}, {"loss in bfloat16"}, {}}};
  RememberedChecks checks;
  checks.note(check, kKey, "2026-11-24");
  EXPECT_TRUE(checks.covers({gpu("A")}, kKey));
  EXPECT_FALSE(checks.covers({gpu("B")}, kKey));
  EXPECT_FALSE(checks.covers({gpu("A"), gpu("B")}, kKey));
}

// What was not reached between GPUs stays open; what another check reaches is added.
TEST(RememberedChecks, AddUp) {
  GpuCheck check;
  check.gpus = {{0, gpu("A"), {}, {}, {}}, {1, gpu("B"), {}, {}, {}}};
  check.links = {link(0, 1)};
  check.groups = {{{0, 1}, {}, false}};
  RememberedChecks checks;
  checks.note(check, kKey, "2026-11-24");
  EXPECT_FALSE(checks.covers({gpu("A"), gpu("B")}, kKey));
  GpuCheck rest;
  rest.gpus = check.gpus;
  rest.groups = {{{0, 1}, {}, true}};
  checks.note(rest, kKey, "2026-11-25");
  EXPECT_TRUE(checks.covers({gpu("A"), gpu("B")}, kKey));
  EXPECT_TRUE(checks.covers({gpu("B"), gpu("A")}, kKey)) << "whatever their numbers are";
}

TEST(TriedSets, LeaveOpenWhatNobodyTried) {
  using Sets = std::vector<std::vector<int>>;
  EXPECT_EQ(open_pairs({0, 1, 2}, {}), (Sets{{0, 1}, {0, 2}, {1, 2}}));
  EXPECT_EQ(open_groups({0, 1, 2}, {}), (Sets{{0, 1}, {0, 1, 2}}));
  EXPECT_TRUE(open_groups({0}, {}).empty());
  const TriedSet pair{{0, 2}, false, {}}, group{{0, 1, 2}, true, {}},
      broken{{0, 2}, true, plain("It does not end.")};
  EXPECT_EQ(open_pairs({0, 1, 2}, {pair, group}), (Sets{{0, 1}, {1, 2}}));
  EXPECT_TRUE(open_groups({0, 2}, {group}).empty()) << "it worked among more";
  EXPECT_EQ(open_groups({0, 1, 2, 3}, {group}), (Sets{{0, 1, 2, 3}}));
  EXPECT_EQ(open_groups({0, 1, 2}, {broken}), (Sets{{0, 1}})) << "all cannot work";
  EXPECT_FALSE(are_tried({0, 1}, {group}));
  EXPECT_TRUE(are_tried({0, 1}, {group, {{0, 1}, false, {}}}));
  EXPECT_TRUE(are_tried({0, 2}, {broken}));
  EXPECT_EQ(gpus_named({0, 2}).text, "GPUs 0 and 2");
  EXPECT_EQ(gpus_named({0, 1, 4}).text, "GPUs 0, 1 and 4");
}

TEST(RememberedChecks, AreReadAsTheyWereWritten) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "parallelarium-checks";
  const std::string path = (folder / "gpu_checks.json").string();
  std::filesystem::remove_all(folder);
  RememberedChecks checks;
  checks.note(one_of_three_failed(), kKey, "2026-11-24");
  ASSERT_TRUE(checks.save(path).ok());
  const RememberedChecks read = RememberedChecks::load(path);
  EXPECT_EQ(read.failure_of(gpu("C"), kKey).text, "GELU (3 float32): wrong.");
  EXPECT_TRUE(read.covers({gpu("A"), gpu("B"), gpu("C")}, kKey));
  for (const char* broken :
       {"", "[]", "{\"format\": 3}",
        "{\"format\": \"parallelarium-gpu-checks/2\", \"gpus\": [1, {}], \"together\": 4}"}) {
    std::ofstream(path) << broken;
    EXPECT_FALSE(RememberedChecks::load(path).covers({gpu("A")}, kKey)) << broken;
  }
  std::filesystem::remove_all(folder);
}

// As the processes that a launcher started do.
TEST(RememberedChecks, OfSeveralWritersAddUp) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "parallelarium-writers";
  std::filesystem::remove_all(folder);
  const std::string path = (folder / "gpu_checks.json").string();
  constexpr int kWriters = 2, kGpus = 40;
  const auto name_of = [](int writer, int number) {
    return fmt::format("GPU-{}-{}", writer, number);
  };
  for (int writer = 0; writer < kWriters; ++writer) {
    if (fork() != 0) continue;
    bool good = true;
    for (int number = 0; number < kGpus; ++number) {
      GpuCheck check;
      check.gpus = {{0, gpu(name_of(writer, number).c_str()), {}, {}, {}}};
      good &= RememberedChecks::update(path, [&](RememberedChecks& checks) {
                checks.note(check, kKey, "2026-11-25");
              }).ok();
    }
    _exit(good ? 0 : 1);
  }
  for (int writer = 0; writer < kWriters; ++writer) {
    int status = -1;
    ASSERT_GT(wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  const RememberedChecks all = RememberedChecks::load(path);
  for (int writer = 0; writer < kWriters; ++writer)
    for (int number = 0; number < kGpus; ++number)
      EXPECT_TRUE(all.is_right(gpu(name_of(writer, number).c_str()), kKey))
          << name_of(writer, number);
  std::filesystem::remove_all(folder);
}

TEST(RememberedChecks, RefuseTheGpuWithItsSentence) {
  GpuFacts failed = gpu("C");
  failed.check_failure = plain("GELU (3 float32): wrong.");
  const Result<void> can = check_gpu(failed);
  ASSERT_FALSE(can.ok());
  EXPECT_EQ(can.error().kind, "gpu-check-failed");
  EXPECT_THAT(can.error().text, HasSubstr("H100 failed its check, GELU (3 float32): wrong;"));
  EXPECT_THAT(can.error().text, HasSubstr("devices --check"));
  EXPECT_TRUE(check_gpu(gpu("A")).ok());
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// What is remembered of a check, and what follows for a GPU that failed.
#include "engine/run/gpu/check/check_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// GPUs A and B passed together, C failed.
GpuCheck one_of_three_failed() {
  GpuCheck check;
  int device = 0;
  for (const char* uuid : {"A", "B", "C"}) check.gpus.push_back({device++, gpu(uuid), {}, {}, {}});
  check.gpus[2].failures.push_back(
      {FailureKind::kKernel, "GELU", "3 float32", "wrong", "GELU (3 float32): wrong."});
  return check;
}

TEST(RememberedChecks, HoldForTheSameDriverAndModule) {
  RememberedChecks checks;
  checks.note(one_of_three_failed(), kKey, "2026-11-24");
  EXPECT_EQ(checks.failure_of(gpu("A"), kKey), "");
  EXPECT_EQ(checks.failure_of(gpu("C"), kKey), "GELU (3 float32): wrong.");
  EXPECT_TRUE(checks.covers({gpu("A"), gpu("B"), gpu("C")}, kKey));
  EXPECT_TRUE(checks.covers({gpu("B")}, kKey));
  EXPECT_FALSE(checks.covers({gpu("D")}, kKey));
  for (const CheckKey& other :
       {CheckKey{"560.0", "1a2b", "2.28.9"}, {"550.54", "3c4d", "2.28.9"}}) {
    EXPECT_EQ(checks.failure_of(gpu("C"), other), "");
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

TEST(RememberedChecks, AreReadAsTheyWereWritten) {
  const std::filesystem::path folder =
      std::filesystem::path(testing::TempDir()) / "parallelarium-checks";
  const std::string path = (folder / "gpu_checks.json").string();
  std::filesystem::remove_all(folder);
  RememberedChecks checks;
  checks.note(one_of_three_failed(), kKey, "2026-11-24");
  ASSERT_TRUE(checks.save(path).ok());
  const RememberedChecks read = RememberedChecks::load(path);
  EXPECT_EQ(read.failure_of(gpu("C"), kKey), "GELU (3 float32): wrong.");
  EXPECT_TRUE(read.covers({gpu("A"), gpu("B"), gpu("C")}, kKey));
  for (const char* broken :
       {"", "[]", "{\"format\": 3}",
        "{\"format\": \"parallelarium-gpu-checks/1\", \"gpus\": [1, {}], \"together\": 4}"}) {
    std::ofstream(path) << broken;
    EXPECT_FALSE(RememberedChecks::load(path).covers({gpu("A")}, kKey)) << broken;
  }
  std::filesystem::remove_all(folder);
}

TEST(RememberedChecks, RefuseTheGpuWithItsSentence) {
  GpuFacts failed = gpu("C");
  failed.check_failure = "GELU (3 float32): wrong.";
  const Result<void> can = check_gpu(failed);
  ASSERT_FALSE(can.ok());
  EXPECT_EQ(can.error().kind, "gpu-check-failed");
  EXPECT_THAT(can.error().text, HasSubstr("H100 failed its check, GELU (3 float32): wrong;"));
  EXPECT_THAT(can.error().text, HasSubstr("devices --check"));
  EXPECT_TRUE(check_gpu(gpu("A")).ok());
}

}  // namespace
}  // namespace parallelarium

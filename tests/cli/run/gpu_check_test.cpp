// SPDX-License-Identifier: Apache-2.0
// What a check says, of one made up.
#include "engine/cli/computer/gpu_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

CheckedComputer made_up() {
  CheckedComputer checked;
  checked.key = {"550.54.14", "1a2b3c", "2.28.9"};
  checked.versions = {12040, 12080};
  for (int device = 0; device < 2; ++device) {
    GpuFacts facts;
    facts.name = "NVIDIA L40S";
    facts.uuid = "GPU-0" + std::to_string(device);
    facts.memory_bytes = 48'000'000'000;
    facts.major = 8;
    facts.minor = 9;
    checked.check.gpus.push_back({device, facts, {}, {}, {}});
    checked.pcie.emplace_back("PCIe 4 x16");
  }
  checked.check.gpus[1].failures.push_back({FailureKind::kKernel, "GELU", "3 float32",
                                            "element 2 of g is 7 and should be 0.5",
                                            plain("GELU (3 float32): element 2 of g is 7.")});
  checked.check.gpus[0].unreached = {"loss in bfloat16"};
  CheckedLink link;
  link.promise = {0, 1, "PIX", true, 31.5e9};
  link.bytes_per_second = 9e9;
  link.warnings.push_back({FailureKind::kSlow, "GPU 0 to GPU 1", "", "9 GB/s",
                           plain("GPU 0 to GPU 1: 9 GB/s where PIX promises 31.5 GB/s.")});
  checked.check.links.push_back(link);
  checked.check.groups.push_back({{0, 1}, {}, true});
  checked.check.seconds = 3.25;
  return checked;
}

TEST(GpuCheckReport, IsOneBlockWithEverythingThatABugReportNeeds) {
  const std::string text = report_text(made_up());
  EXPECT_THAT(
      text, AllOf(HasSubstr("driver 550.54.14 (CUDA 12.4), built with CUDA 12.8, NCCL 2.28.9, "
                            "module 1a2b3c"),
                  HasSubstr("GPU 1: NVIDIA L40S, compute capability 8.9"),
                  HasSubstr("PCIe 4 x16, GPU-01"), HasSubstr("kernels: FAILED"),
                  HasSubstr("    GELU (3 float32): element 2 of g is 7.\n"),
                  HasSubstr("kernels: not reached"), HasSubstr("not reached: loss in bfloat16"),
                  HasSubstr("GPU 0 and GPU 1 (PIX, peer to peer): passed, 9.00 GB/s of 31.5 GB/s"),
                  HasSubstr("    GPU 0 to GPU 1: 9 GB/s where PIX promises 31.5 GB/s."),
                  HasSubstr("collectives of GPUs 0, 1: passed")));
}

TEST(GpuCheckReport, AsJsonHasTheWordsOfTheContract) {
  const json answer = to_json(made_up());
  EXPECT_EQ(answer["gpus"][0]["device"], 0);
  EXPECT_EQ(answer["gpus"][0]["passed"], false) << "something was not reached";
  EXPECT_EQ(answer["gpus"][0]["failures"], json::array());
  EXPECT_EQ(answer["gpus"][0]["unreached"], json::array({"loss in bfloat16"}));
  EXPECT_EQ(answer["gpus"][1]["failures"][0]["what"], "GELU");
  EXPECT_EQ(answer["gpus"][1]["failures"][0]["kind"], "kernel");
  EXPECT_EQ(answer["links"][0]["bytes_per_second"], 9e9);
  EXPECT_EQ(answer["links"][0]["promised_bytes_per_second"], 31.5e9);
  EXPECT_EQ(answer["links"][0]["warnings"][0]["kind"], "slow");
  EXPECT_EQ(answer["links"][0]["failures"], json::array());
  EXPECT_EQ(answer["links"][0]["passed"], true) << "it is used";
  EXPECT_EQ(answer["passed"], false);
}

// Where there are GPUs, gpu_check_program_test.cpp says more.
TEST(DevicesCommand, ChecksNothingWhereThereIsNoGpuAndSaysWhy) {
  const Folder folder;
  if (usable_gpus()) GTEST_SKIP() << "this computer has GPUs";
  const Reply reply = command({"devices", "--check", "--json"});
  EXPECT_EQ(reply.status, 0);
  EXPECT_EQ(reply.json().at("gpus"), json::array());
  EXPECT_EQ(reply.json().at("links"), json::array());
  EXPECT_NE(reply.json().at("why"), "");
  EXPECT_THAT(command({"devices", "--check"}).out, HasSubstr("No GPU was checked. "));
}

}  // namespace
}  // namespace parallelarium

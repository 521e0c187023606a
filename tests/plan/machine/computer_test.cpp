// SPDX-License-Identifier: Apache-2.0
// What a computer tells of itself, and ranks on GPUs that do not all meet.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/plan/placement/cores.h"
#include "tests/plan/machine/computers.h"

namespace parallelarium {
namespace {

TEST(ThatMeet, LeavesOutWhoIsInMostBrokenSets) {
  EXPECT_EQ(that_meet({0, 1, 2}, {}), (Gpus{0, 1, 2}));
  EXPECT_EQ(that_meet({0, 1, 2}, {{0, 1}}), (Gpus{0, 2})) << "of equal ones the last";
  EXPECT_EQ(that_meet({2, 1, 0}, {{0, 1}}), (Gpus{2, 1})) << "in the order given";
  EXPECT_EQ(that_meet({0, 1, 2, 3}, {{0, 1}, {0, 2}}), (Gpus{1, 2, 3}));
  EXPECT_EQ(that_meet({0, 1, 2}, {{0, 1, 2}}), (Gpus{0, 1}));
  EXPECT_EQ(that_meet({0, 2}, {{0, 1}, {0, 1, 2}}), (Gpus{0, 2})) << "not all of a set are there";
  EXPECT_EQ(that_meet({0, 1}, {{0, 1}}), (Gpus{0}));
}

TEST(Placement, KeepsRanksOffGpusThatDoNotMeetAndUsesEachAlone) {
  Computer computer;
  computer.cores = 4;
  computer.gpus = {h100(), h100(), h100()};
  computer.apart = {apart({0, 1})};
  EXPECT_EQ(place({}, 1, computer)->gpus, (Gpus{0}));
  EXPECT_EQ(place({}, 2, computer)->gpus, (Gpus{0, 2}));
  RunSettings named;
  named.devices = "1";
  EXPECT_EQ(place(named, 1, computer)->gpus, (Gpus{1}));
  named.devices = "1,0,2";
  EXPECT_EQ(place(named, 2, computer)->gpus, (Gpus{1, 2}));
  EXPECT_EQ(place({}, 3, computer)->backend, Backend::kCpu);
  EXPECT_EQ(place({}, 3, computer)->why.text,
            "3 ranks on 4 cores: measured (not on GPUs: GPUs 0 do not meet)");
  EXPECT_EQ(place({Backend::kCuda}, 3, computer).error().text, "GPUs 0 do not meet.");
  EXPECT_EQ(most_gpu_ranks(computer), 2);
  // Another kind that has enough is taken rather than none.
  computer.gpus = {h100(), h100(), v100(), v100()};
  EXPECT_EQ(place({}, 2, computer)->gpus, (Gpus{2, 3}));
  // Two that do not meet are not shared silently, nor taken by processes.
  computer.gpus = {h100(), h100()};
  EXPECT_EQ(place({Backend::kCuda}, 2, computer).error().kind, "gpu-check-failed");
  computer.launched = Launched{"torchrun", 2, 1, 2};
  EXPECT_EQ(place({Backend::kCuda}, 2, computer).error().kind, "gpu-check-failed");
}

TEST(Computer, GoesToTheWindowAndBack) {
  Computer computer;
  computer.cores = 6;
  computer.gpus = {h100(), display(), broken(), v100()};
  computer.gpus[0].memory_bytes = 80'000'000'000;
  computer.gpus[0].uuid = "GPU-1";
  computer.gpus_apart = message("nccl-missing", "There is no NCCL.");
  computer.apart = {apart({0, 3})};
  computer.groups_take_turns = true;
  nlohmann::json devices = {{"gpus", nlohmann::json::array()}};
  for (const ComputerGpu& one : computer.gpus)
    devices["gpus"].push_back({{"name", one.name}, {"memory_bytes", one.memory_bytes}});
  add_to_json(computer, devices);
  const Computer told = computer_from_json(devices);
  EXPECT_EQ(told.cores, 6);
  EXPECT_EQ(told.gpus, computer.gpus);
  ASSERT_TRUE(told.gpus_apart);
  EXPECT_EQ(told.gpus_apart->text, "There is no NCCL.");
  EXPECT_FALSE(told.no_gpus);
  EXPECT_EQ(told.groups_take_turns, true);
  ASSERT_EQ(told.apart.size(), 1u);
  EXPECT_EQ(told.apart[0].gpus, (Gpus{0, 3}));
  EXPECT_EQ(told.apart[0].why.text, "GPUs 0 do not meet.");
  EXPECT_EQ(most_gpu_ranks(told), 1);
  EXPECT_EQ(devices["gpus"][2]["usable"], false);
  EXPECT_EQ(devices["gpus"][2]["why"], "GPU 0 failed its check: one product is wrong.");
}

// The driver lists GPUs, and this build has no module for them.
TEST(Computer, SaysOfEveryGpuWhyItIsNoneForRanks) {
  Computer computer;
  computer.no_gpus = message("cuda-missing", "This build has no CUDA module.");
  nlohmann::json devices = {{"gpus", {{{"name", "H100"}}}}};
  add_to_json(computer, devices);
  EXPECT_EQ(devices["gpus"][0]["usable"], false);
  EXPECT_EQ(devices["gpus"][0]["why"], "This build has no CUDA module.");
  const Computer told = computer_from_json(devices);
  EXPECT_TRUE(told.gpus.empty());
  EXPECT_EQ(place({Backend::kCuda}, 1, told).error().text, "This build has no CUDA module.");
}

TEST(Computer, ThatIsToldBadlyHasCoresAlone) {
  for (const char* text : {"null", "[]", "{}", R"({"gpus": 3, "cores": "x"})", R"({"gpus": [1]})"})
    EXPECT_TRUE(computer_from_json(nlohmann::json::parse(text)).gpus.empty()) << text;
}

// A package of two cores with two threads each, and no topology at all.
TEST(Cores, AreThoseOfUnitsThatAreSiblings) {
  const std::vector<Core> here = available_cores();
  ASSERT_FALSE(here.empty());
  const std::string folder = testing::TempDir() + "/no-topology";
  std::size_t units = 0;
  for (const Core& core : here) units += core.size();
  EXPECT_EQ(available_cores(folder).size(), std::max<std::size_t>(1, units))
      << "each unit is a core where nothing says otherwise";
  EXPECT_EQ(available_core_count(), static_cast<int>(here.size()));
}

}  // namespace
}  // namespace parallelarium

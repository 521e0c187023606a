// SPDX-License-Identifier: Apache-2.0
// What is read from NVIDIA's management library, from one of the test's own: four GPUs, of which 0
// and 1 have NVLink, 2 is behind another bridge and 3 on another processor.
#include "engine/cli/computer/topology.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

#include "engine/cli/computer/probe.h"

namespace parallelarium {
namespace {

NvmlDevice* device(std::size_t index) { return reinterpret_cast<NvmlDevice*>(index + 1); }
std::size_t index_of(NvmlDevice* device) { return reinterpret_cast<std::size_t>(device) - 1; }
int g_open = 0;

Nvml four_gpus() {
  Nvml nvml;
  nvml.init = [] { return ++g_open, 0; };
  nvml.shutdown = [] { return --g_open, 0; };
  nvml.handle = [](const char* bus, NvmlDevice** found) {
    // CUDA counts the GPUs in another order than the buses.
    const char* const buses[] = {"0000:41:00.0", "0000:01:00.0", "0000:81:00.0", "0000:C1:00.0"};
    for (std::size_t i = 0; i < 4; ++i) {
      if (std::strcmp(bus, buses[i]) != 0) continue;
      *found = device(i);
      return 0;
    }
    return 6;  // not found
  };
  nvml.ancestor = [](NvmlDevice* a, NvmlDevice* b, unsigned* level) {
    *level = std::max(index_of(a), index_of(b)) == 3 ? 50 : 30;
    return 0;
  };
  nvml.p2p = [](NvmlDevice* a, NvmlDevice* b, unsigned capability, unsigned* status) {
    const std::size_t last = std::max(index_of(a), index_of(b));
    *status = capability == 2 ? (last == 1 ? 0 : 5) : (last <= 2 ? 0 : 3);
    return 0;
  };
  nvml.pcie_generation = [](NvmlDevice*, unsigned* generation) { return *generation = 5, 0; };
  nvml.pcie_width = [](NvmlDevice* one, unsigned* lanes) {
    *lanes = index_of(one) == 3 ? 8 : 16;
    return 0;
  };
  nvml.processes = [](NvmlDevice* one, unsigned* count, NvmlProcess* list) {
    *count = index_of(one) == 2 ? 2 : 0;
    list[0] = {static_cast<unsigned>(getpid()), 1'000'000, 0, 0};  // this process is no other
    list[1] = {4'000'000'000U, 12'000'000'000ULL, 0, 0};
    return 0;
  };
  return nvml;
}

TEST(Topology, NamesLinksAndWhoUsesTheGpus) {
  const GpuTopology found =
      read_topology(four_gpus(), {"0000:41:00.0", "0000:01:00.0", "0000:81:00.0", "0000:C1:00.0"});
  EXPECT_EQ(g_open, 0) << "shut down again";
  ASSERT_EQ(found.links.size(), 6u);
  const auto between = [&](int from, int to) {
    return *std::find_if(found.links.begin(), found.links.end(),
                         [&](const GpuLink& link) { return link.from == from && link.to == to; });
  };
  EXPECT_EQ(between(0, 1).kind, "NVLink");
  EXPECT_TRUE(between(0, 1).p2p);
  EXPECT_EQ(between(1, 2).kind, "PHB");
  EXPECT_TRUE(between(1, 2).p2p);
  EXPECT_EQ(between(0, 3).kind, "SYS");
  EXPECT_FALSE(between(0, 3).p2p);
  EXPECT_EQ(found.pcie[0], "PCIe 5 x16");
  EXPECT_EQ(found.pcie[3], "PCIe 5 x8");
  EXPECT_TRUE(found.use[0].empty());
  ASSERT_EQ(found.use[2].size(), 1u);
  EXPECT_EQ(use_text(found, 2), "GPU 2: PID 4000000000 11.2 GiB");
  EXPECT_EQ(use_text(found, 0), "");
  EXPECT_EQ(use_text(found, {0, 1, 2, 2}), use_text(found, 2));
  EXPECT_EQ(use_text(found, {}), "");
}

// One GPU on which these processes compute.
std::vector<unsigned> g_pids;
Nvml one_gpu() {
  Nvml nvml = four_gpus();
  nvml.processes = [](NvmlDevice*, unsigned* count, NvmlProcess* list) {
    const unsigned room = *count;
    *count = static_cast<unsigned>(g_pids.size());
    if (room < *count) return 7;  // NVML_ERROR_INSUFFICIENT_SIZE
    for (std::size_t i = 0; i < g_pids.size(); ++i) list[i] = {g_pids[i], 0, 0, 0};
    return 0;
  };
  return nvml;
}
std::vector<unsigned> users(bool computes_here) {
  const GpuTopology found =
      read_topology(one_gpu(), {"0000:41:00.0"}, [=](const std::string&) { return computes_here; });
  std::vector<unsigned> pids;
  for (const GpuUse& use : found.use[0]) pids.push_back(use.pid);
  return pids;
}
// Numbers that no process here has.
constexpr unsigned kUnseen = 4'000'000'000U;

TEST(Topology, NamesTheFirstOfVeryManyProcesses) {
  g_pids.resize(200);
  std::iota(g_pids.begin(), g_pids.end(), kUnseen);
  EXPECT_EQ(users(false), g_pids);
  const GpuTopology found = read_topology(one_gpu(), {"0000:41:00.0"});
  const std::string text = use_text(found, 0);
  EXPECT_NE(text.find("PID 4000000003, +196"), std::string::npos) << text;
}

// In a container the driver may number this process as the host does.
TEST(Topology, DoesNotTakeThisProcessUnderAnotherNumberForAnotherOne) {
  const auto here = static_cast<unsigned>(getpid()), seen = static_cast<unsigned>(getppid());
  g_pids = {kUnseen};
  EXPECT_EQ(users(true), std::vector<unsigned>{});
  EXPECT_EQ(users(false), g_pids) << "this process is not on the GPU";
  g_pids = {kUnseen, kUnseen + 1};
  EXPECT_EQ(users(true).size(), 1u);
  g_pids = {kUnseen, here};
  EXPECT_EQ(users(true), std::vector<unsigned>{kUnseen}) << "listed by its own number";
  if (seen > 1) {
    g_pids = {seen};
    EXPECT_EQ(users(true), g_pids) << "a process that is seen here is itself";
  }
}

TEST(Topology, LeavesOutTheRanksThatALauncherStartedBesideThisOne) {
  const pid_t rank = fork();
  ASSERT_GE(rank, 0);
  if (rank == 0) {
    while (true) pause();
  }
  g_pids = {static_cast<unsigned>(getpid()), static_cast<unsigned>(rank)};
  EXPECT_EQ(users(true), std::vector<unsigned>{g_pids[1]}) << "nothing says that it is one";
  const std::pair<const char*, const char*> launched[] = {{"RANK", "0"},
                                                          {"WORLD_SIZE", "2"},
                                                          {"LOCAL_RANK", "0"},
                                                          {"LOCAL_WORLD_SIZE", "2"},
                                                          {"MASTER_ADDR", "127.0.0.1"},
                                                          {"MASTER_PORT", "29500"}};
  for (const auto& [name, value] : launched) setenv(name, value, 1);
  EXPECT_EQ(users(true), std::vector<unsigned>{});
  g_pids = {kUnseen, kUnseen + 1, kUnseen + 2};
  EXPECT_EQ(users(true).size(), 1u) << "two may be its ranks";
  for (const auto& [name, value] : launched) unsetenv(name);
  kill(rank, SIGKILL);
  waitpid(rank, nullptr, 0);
}

TEST(Topology, LeavesOutWhatCannotBeLearned) {
  Nvml broken = four_gpus();
  const GpuTopology one = read_topology(broken, {"0000:41:00.0", "nowhere"});
  EXPECT_TRUE(one.links.empty());
  EXPECT_EQ(one.pcie[1], "");
  broken.init = [] { return 9; };  // the driver is not loaded
  EXPECT_TRUE(read_topology(broken, {"0000:41:00.0"}).links.empty());
  EXPECT_EQ(g_open, 0);
}

TEST(Doctor, SaysWhatToDoInOneSentenceEach) {
  Devices devices;
  devices.gpus.resize(4);
  devices.topology =
      read_topology(four_gpus(), {"0000:41:00.0", "0000:01:00.0", "0000:81:00.0", "0000:C1:00.0"});
  const std::vector<Fact> facts = facts_of_topology(devices);
  ASSERT_EQ(facts.size(), 2u);
  EXPECT_EQ(facts[0].id, "peer-access");
  EXPECT_EQ(facts[0].state, FactState::kLimited);
  EXPECT_NE(facts[0].found.text.find("3 of 6 pairs"), std::string::npos) << facts[0].found.text;
  EXPECT_EQ(facts[1].id, "gpu-use");
  EXPECT_EQ(facts[1].state, FactState::kLimited);
  for (const Fact& fact : facts) {
    EXPECT_EQ(fact.advice.text.back(), '.');
    EXPECT_EQ(fact.advice.text.find('\n'), std::string::npos);
  }
  devices.topology = {};
  EXPECT_TRUE(facts_of_topology(devices).empty());
}

TEST(Topology, PromisesWhatTheNarrowerSlotOrAllLinksBetweenTwoCarry) {
  EXPECT_NEAR(pcie_bytes_per_second(4, 16), 31.5e9, 1e8);
  EXPECT_NEAR(pcie_bytes_per_second(5, 8), 31.5e9, 1e8);
  EXPECT_EQ(pcie_bytes_per_second(0, 16), 0) << "not known";
  EXPECT_EQ(nvlink_bytes_per_second(4), 25e9);
  Nvml nvml = four_gpus();
  // Of GPU 0's six links two end at GPU 1, one is down, the others end elsewhere.
  nvml.nvlink_state = [](NvmlDevice*, unsigned link, unsigned* active) {
    *active = link != 5;
    return link < 6 ? 0 : 2;
  };
  nvml.nvlink_version = [](NvmlDevice*, unsigned, unsigned* version) { return *version = 2, 0; };
  const std::vector<std::string> buses = {"0000:41:00.0", "0000:01:00.0", "0000:81:00.0",
                                          "0000:C1:00.0"};
  const auto promise = [&](int from, int to) {
    for (const GpuLink& link : read_topology(nvml, buses).links)
      if (link.from == from && link.to == to) return link.bytes_per_second;
    return -1.0;
  };
  EXPECT_EQ(promise(0, 1), 5 * 25e9) << "where all end at a switch, all";
  nvml.nvlink_remote = [](NvmlDevice*, unsigned link, NvmlPci* pci) {
    pci->bus = link < 2 ? 0x01 : 0x99;
    return 0;
  };
  EXPECT_EQ(promise(0, 1), 2 * 25e9);
  EXPECT_NEAR(promise(0, 2), 63e9, 2e8) << "PCIe 5 x16";
  EXPECT_NEAR(promise(0, 3), 31.5e9, 1e8) << "GPU 3 has 8 lanes";
}

}  // namespace
}  // namespace parallelarium

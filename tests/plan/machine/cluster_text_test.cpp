// SPDX-License-Identifier: Apache-2.0
// What nvidia-smi topo -m and nccl-tests print becomes a Machine.
#include "engine/plan/machine/cluster_text.h"

#include <gmock/gmock.h>

#include "engine/plan/placement/machine_choice.h"
#include "engine/plan/program/program.h"

namespace parallelarium {
namespace {

using testing::HasSubstr;

std::string matrix(int gpus, const std::string& kind, int nics) {
  std::string text = "\t\x1b[4mGPU0";
  for (int gpu = 1; gpu < gpus; ++gpu) text += fmt::format("\tGPU{}", gpu);
  for (int nic = 0; nic < nics; ++nic) text += fmt::format("\tNIC{}", nic);
  text += "\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\x1b[0m\r\n";
  for (int row = 0; row < gpus; ++row) {
    text += fmt::format("GPU{}", row);
    for (int gpu = 0; gpu < gpus; ++gpu) text += gpu == row ? "\t X " : "\t" + kind;
    for (int nic = 0; nic < nics; ++nic) text += nic == row ? "\tPIX" : "\tSYS";
    text += "\t0-51\t0\t\tN/A\r\n";
  }
  for (int nic = 0; nic < nics; ++nic) text += fmt::format("NIC{}\tPIX\tSYS\n", nic);
  return text +
         "\nLegend:\n\n  X    = Self\n  NV#  = Connection traversing a bonded set of # NVLinks\n";
}

// As the program prints it: `rate` is of the bus, `factor` what its documentation says it counts of
// each byte.
std::string nccl_test(const std::string& program, const std::vector<std::string>& hosts,
                      const char* redop, double factor, double rate) {
  std::string text = program.empty() ? "" : "# Collective test starting: " + program + "\n";
  text +=
      "# nThread 1 nGpus 1 minBytes 8 maxBytes 8589934592 step: 2(factor)\n#\n# Using devices\n";
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    text += fmt::format(
        "#  Rank {:2} Group  0 Pid {:6} on {:>10} device {:2} [0x1b] NVIDIA H100 80GB HBM3\n", rank,
        4000 + rank, hosts[rank], rank % 8);
  text +=
      "#\n#       size         count      type   redop    root     time   algbw   busbw #wrong\n";
  for (double bytes = 1024; bytes <= 8e9; bytes *= 8) {
    const double seconds = 2e-5 + bytes * factor / rate;
    const double algorithm = bytes / seconds / 1e9;
    text +=
        fmt::format("{:12.0f} {:13.0f}     float {:>7}      -1 {:8.2f} {:7.2f} {:7.2f}      0\n",
                    bytes, bytes / 4, redop, seconds * 1e6, algorithm, algorithm * factor);
  }
  return text + "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 123.4\n#\n";
}

std::vector<std::string> hosts(int nodes, int each) {
  std::vector<std::string> all;
  for (int node = 0; node < nodes; ++node)
    all.insert(all.end(), std::size_t(each), fmt::format("node{}", node));
  return all;
}

Machine base() { return *find_machine("dgx-h100"); }
Machine with(const ClusterText& read) {
  const Result<MachineChoice> choice = MachineChoice::changed("dgx-h100", read.changes);
  EXPECT_TRUE(choice.ok()) << choice.error().text;
  return *machine_of(*choice);
}

TEST(ClusterText, AMatrixTellsTheNode) {
  for (const int gpus : {1, 2, 4, 8, 16}) {
    const Result<ClusterText> read = read_cluster(base(), matrix(gpus, "NV18", gpus));
    ASSERT_TRUE(read.ok()) << gpus;
    const Machine machine = with(*read);
    EXPECT_EQ(machine.devices_per_node, gpus);
    EXPECT_TRUE(read->assumed.empty());
    EXPECT_EQ(machine.inter_node, base().inter_node);
    if (gpus > 1) {
      EXPECT_THAT(read->found.front().text, HasSubstr("NVLink (NV18)"));
    }
  }
  const Result<ClusterText> slow = read_cluster(base(), matrix(4, "SYS", 2));
  ASSERT_TRUE(slow.ok());
  EXPECT_EQ(with(*slow).intra_node.wire, "PCIe");
  // Two network cards that four GPUs share.
  EXPECT_EQ(with(*slow).inter_node, base().inter_node);
  EXPECT_EQ(with(*slow).nics(), 2);
  ASSERT_EQ(slow->assumed.size(), 1U);
  EXPECT_THAT(slow->assumed[0].text, HasSubstr("linked by NVLink"));
}

// The times of the table are those that the Machine gives back, by the bytes of the busiest rank.
TEST(ClusterText, ATableOfTimesStandsForThatCollective) {
  for (const auto& [program, kind] :
       {std::pair("all_reduce_perf", CollectiveKind::kAllReduce),
        {"/opt/nccl-tests/build/all_gather_perf", CollectiveKind::kAllGather},
        {"reduce_scatter_perf", CollectiveKind::kReduceScatter},
        {"alltoall_perf", CollectiveKind::kAllToAll}})
    for (const int ranks : {2, 3, 8}) {
      const double factor = (kind == CollectiveKind::kAllReduce ? 2.0 : 1.0) * (ranks - 1) / ranks;
      const char* redop =
          kind == CollectiveKind::kAllReduce || kind == CollectiveKind::kReduceScatter ? "sum"
                                                                                       : "none";
      const Result<ClusterText> read =
          read_cluster(base(), nccl_test(program, hosts(1, ranks), redop, factor, 3e11));
      ASSERT_TRUE(read.ok()) << read.error().text;
      const Machine machine = with(*read);
      EXPECT_NEAR(machine.intra_node.bytes_per_second.value / 3e11, 1, 0.01);
      const auto times = std::find_if(
          machine.collective_times.begin(), machine.collective_times.end(), [&](const auto& each) {
            return each.collective == name_of(kind) && each.ranks == ranks;
          });
      ASSERT_NE(times, machine.collective_times.end());
      EXPECT_THAT(text_of(times->origin), HasSubstr("NVIDIA H100 80GB HBM3"));
      const double size = 1024 * 8.0 * 8 * 8 * 8 * 8;
      const Volume volume =
          collective_volume(kind, DataType::kF32, std::int64_t(size), ranks, ranks - 1);
      EXPECT_NEAR(
          times->at(double(std::max(volume.sent, volume.received))) / (2e-5 + size * factor / 3e11),
          1, 0.02)
          << program << ranks;
    }
}

TEST(ClusterText, WhatSpansNodesTellsTheNetworkForEachGpu) {
  const std::string text = matrix(8, "NV18", 8) +
                           nccl_test("all_reduce_perf", hosts(1, 8), "sum", 1.75, 4.8e11) +
                           nccl_test("all_gather_perf", hosts(1, 8), "none", 0.875, 3.6e11) +
                           nccl_test("all_reduce_perf", hosts(4, 8), "sum", 1.9375, 3.2e11);
  const Result<ClusterText> read = read_cluster(base(), text);
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_EQ(read->found.size(), 4U);
  const Machine machine = with(*read);
  EXPECT_NEAR(machine.inter_node.bytes_per_second.value / 4e10, 1, 0.01);
  // A switch that adds up makes an all-reduce faster than the link.
  EXPECT_NEAR(machine.intra_node.bytes_per_second.value / 3.6e11, 1, 0.01);
}

// What a GPU reaches between nodes is its part of a card.
TEST(ClusterText, SharedCardsReachWhatTheirGpusDoTogether) {
  const Result<ClusterText> read =
      read_cluster(base(), matrix(8, "NV18", 2) +
                               nccl_test("all_gather_perf", hosts(4, 8), "none", 31.0 / 32, 4e10));
  ASSERT_TRUE(read.ok()) << read.error().text;
  const Machine machine = with(*read);
  EXPECT_EQ(machine.nics(), 2);
  EXPECT_NEAR(machine.inter_node.bytes_per_second.value / 2e10, 1, 0.01);
  // Another base shares its cards, which this cluster does not.
  const Result<ClusterText> own = read_cluster(*find_machine("hgx-v100"), matrix(8, "NV6", 10));
  ASSERT_TRUE(own.ok());
  EXPECT_EQ(own->changes.at("nics_per_node").at("value"), 8);
}

TEST(ClusterText, AnOlderTableTellsItsKindByTheBus) {
  const Result<ClusterText> read =
      read_cluster(base(), nccl_test("", hosts(1, 8), "sum", 1.75, 3e11));
  ASSERT_TRUE(read.ok());
  EXPECT_THAT(read->found.front().text, HasSubstr("all_reduce of 8 GPUs"));
  const Result<ClusterText> either =
      read_cluster(base(), matrix(8, "NV18", 0) + nccl_test("", hosts(1, 8), "none", 0.875, 3e11));
  ASSERT_TRUE(either.ok());
  EXPECT_THAT(either->assumed.front().text, HasSubstr("which collective it is of is not known"));
}

TEST(ClusterText, WhatIsNoOutputIsRefused) {
  for (const char* text : {"", "Dear reader", "GPU", "# Rank 0", "\x1b[", "1 2 3 4 5 6 7 8 9"})
    EXPECT_FALSE(read_cluster(base(), text).ok()) << text;
  std::string headless = nccl_test("all_reduce_perf", {}, "sum", 1.75, 3e11);
  const Result<ClusterText> read = read_cluster(base(), headless);
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().id, "cluster-ranks");
}

}  // namespace
}  // namespace parallelarium

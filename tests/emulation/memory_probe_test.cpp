// SPDX-License-Identifier: Apache-2.0
// The memories of a GPU as its kernels find them in the emulation, whose memories take as long as
// is set here: a cycle is a nanosecond, and no time passes but in what is measured.
#include "engine/run/cuda/memory_probe.h"

#include <gtest/gtest.h>

#include <map>

#include "engine/run/calibrate/memory_ladder.h"
#include "kernels/memory/memory.h"
#include "tests/emulation/slow_memory.h"

namespace parallelarium {
namespace {

constexpr std::size_t kFirstLines = 128, kSecondLines = 1024;

TEST(GpuMemories, AreFoundAsTheyWereSet) {
  emulation::SlowMemory& memory = emulation::slow_memory();
  memory = {};
  memory.levels = {{kFirstLines, 30}, {kSecondLines, 260}};
  memory.memory_cycles = 700;
  memory.shared_cycles = 23;
  memory.register_cycles = 4;
  memory.copied_cycles = 2;
  const auto probe = make_cuda_memory_probe(0, "Emulated", {1 << 13, 0, 1e-6});
  LadderSizes sizes = gpu_ladder_sizes();
  sizes.most_bytes = 1 << 19;  // four times the second cache
  sizes.least_copied = sizes.most_bytes / 2;
  sizes.matrix = 64;
  const auto ladder =
      measure_memory(*probe, sizes, [](double, const std::string&) { return true; });
  ASSERT_TRUE(ladder.ok()) << ladder.error().text;
  std::map<std::string, MemoryRung> rungs;
  for (const MemoryRung& rung : rungs_of(*ladder)) rungs[rung.level] = rung;
  ASSERT_EQ(rungs.size(), 5u);
  EXPECT_NEAR(rungs["registers"].latency_seconds.value, 4e-9, 1e-12);
  EXPECT_NEAR(rungs["shared"].latency_seconds.value, 23e-9, 1e-12);
  EXPECT_NEAR(rungs["L1"].latency_seconds.value, 30e-9, 1e-12);
  EXPECT_NEAR(rungs["L2"].latency_seconds.value, 260e-9, 1e-12);
  EXPECT_NEAR(rungs["memory"].latency_seconds.value, 700e-9, 1e-12);
  for (const ChaseTime& time : ladder->chases) {
    const auto lines = static_cast<std::size_t>(time.bytes) / sizeof(ChaseLine);
    const double cycles = lines <= kFirstLines ? 30 : lines <= kSecondLines ? 260 : 700;
    EXPECT_NEAR(time.load.cycles, cycles, 0.01) << time.bytes;
  }
  // In a row 16 bytes are loaded at once, else 4, and as many stored.
  for (const CopyRate& rate : ladder->copies)
    EXPECT_NEAR(rate.bytes_per_second / (rate.stride_bytes == 4 ? 32 / 2e-9 : 8 / 2e-9), 1, 0.01)
        << rate.stride_bytes;
  EXPECT_EQ(ladder->tiles.size(), 5u);
}

}  // namespace
}  // namespace parallelarium

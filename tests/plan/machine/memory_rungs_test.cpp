// SPDX-License-Identifier: Apache-2.0
// Which ladder a Machine has: its preset's, or what was measured of its device.
#include "engine/plan/machine/rates/memory_rungs.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace parallelarium {
namespace {

nlohmann::json measured_on(const char* device, const std::vector<MemoryRung>& rungs) {
  nlohmann::json json = {{"device", device}, {"latencies", nlohmann::json::array()}};
  for (const MemoryRung& rung : rungs) json["ladder"].push_back(to_json(rung));
  return json;
}

const std::vector<MemoryRung> kTwo = {
    {"registers", 0, {2e-9, measured_here("2026-11-21")}, {}},
    {"L2", 1 << 20, {2e-7, measured_here("2026-11-21")}, {5e12, measured_here("2026-11-21")}}};

TEST(MemoryRungs, OfThisComputerAreThoseThatWereMeasured) {
  EXPECT_TRUE(rungs_of(*find_machine("local"))->empty());
  ASSERT_TRUE(save_local_ladder(measured_on("EPYC", kTwo), false).ok());
  const auto rungs = rungs_of(*find_machine("local"));
  ASSERT_TRUE(rungs.ok()) << rungs.error().text;
  EXPECT_EQ(*rungs, kTwo);
}

TEST(MemoryRungs, OfGpusAreThoseOfTheirDevice) {
  Machine gpus = *find_machine("2x-rtx-4090");
  gpus.local = true;
  ASSERT_TRUE(save_local_ladder(measured_on("H100", kTwo), true).ok());
  for (const char* name : {"A100", "H100"}) {
    set_gpus(gpus, {name});
    const auto rungs = rungs_of(gpus);
    ASSERT_TRUE(rungs.ok()) << rungs.error().text;
    EXPECT_EQ(rungs->size(), name == std::string("H100") ? 2u : 0u);
  }
}

TEST(MemoryRungs, ThatAreNoneAreRefused) {
  nlohmann::json machine = to_json(*find_machine("dgx-h100"));
  machine["ladder"] = {{{"level", "attic"}}};
  EXPECT_EQ(machine_from_json(machine).error().id, "rung-level");
  machine["ladder"] = {{{"level", "L2"}}, {{"level", "L1"}}};
  EXPECT_EQ(machine_from_json(machine).error().id, "ladder-order");
  machine["ladder"] = {{{"level", "L1"}}, {{"level", "L2"}}};
  EXPECT_TRUE(machine_from_json(machine).ok());
  ASSERT_TRUE(save_local_ladder({{"ladder", {{{"level", "attic"}}}}}, false).ok());
  const Message broken = rungs_of(*find_machine("local")).error();
  EXPECT_EQ(broken.id, "ladder-broken");
  EXPECT_TRUE(broken.text.ends_with("measure it again with calibrate --memory.")) << broken.text;
}

TEST(MemoryRungs, OfAPresetHaveSources) {
  const auto rungs = rungs_of(*find_machine("dgx-a100-80g"));
  ASSERT_TRUE(rungs.ok());
  ASSERT_EQ(rungs->size(), 4u);
  for (const MemoryRung& rung : *rungs) {
    EXPECT_EQ(rung.latency_seconds.origin.kind, OriginKind::kPublished) << rung.level;
    if (rung.bytes_per_second.value > 0) {
      EXPECT_EQ(rung.bytes_per_second.origin.kind, OriginKind::kPublished) << rung.level;
    }
  }
}

}  // namespace
}  // namespace parallelarium

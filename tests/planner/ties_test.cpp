// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/plan/placement/machine_choice.h"
#include "engine/planner/search.h"
#include "engine/predict/cases/cases.h"

namespace parallelarium {
namespace {

Machine changed_machine(const std::string& base, const nlohmann::json& changes) {
  const Result<MachineChoice> choice = MachineChoice::changed(base, changes);
  EXPECT_TRUE(choice.ok());
  const Result<Machine> machine = machine_of(*choice);
  EXPECT_TRUE(machine.ok());
  return *machine;
}

void expect_same_rows(const TieThreshold& one, const TieThreshold& other) {
  ASSERT_TRUE(one.share && other.share && one.error && other.error);
  EXPECT_DOUBLE_EQ(*one.share, *other.share);
  EXPECT_DOUBLE_EQ(*one.error, *other.error);
  EXPECT_EQ(one.held_out, other.held_out);
  EXPECT_EQ(one.pairs, other.pairs);
}

// Each changed cluster is called "custom", and so is that of some published rows.
TEST(PublishedRows, OfAChangedClusterAreThoseOfItsBase) {
  const std::string base = "dgx-a100-80g";
  const Machine preset = *find_machine(base);
  const TieThreshold of_preset = known_ties_of(preset);
  nlohmann::json all = to_json(preset);  // as `machines new --from` writes it
  for (const char* key : {"format", "name", "title", "local"}) all.erase(key);
  all["nics_per_node"] = {{"value", preset.nics()}, {"origin", "assumed"}};
  const TieThreshold unchanged = known_ties_of(changed_machine(base, all));
  expect_same_rows(unchanged, of_preset);
  EXPECT_EQ(unchanged.said.text, of_preset.said.text);
  EXPECT_EQ(unchanged.trust.text, of_preset.trust.text);

  const TieThreshold slower =
      known_ties_of(changed_machine(base, {{"inter_node", {{"bytes_per_second", 12.5e9}}}}));
  expect_same_rows(slower, of_preset);
  EXPECT_THAT(slower.trust.text, testing::HasSubstr("A100 80 GB (before its links were changed)"));
  const TieThreshold half = known_ties_of(changed_machine(base, {{"devices_per_node", 4}}));
  EXPECT_EQ(half.trust.text, of_preset.trust.text) << "smaller nodes alone";
  const TieThreshold larger = known_ties_of(changed_machine(base, {{"memory_bytes", 160e9}}));
  expect_same_rows(larger, of_preset);
  EXPECT_THAT(larger.said.text, testing::HasSubstr("A100 80 GB (before it was changed)"));
  // Another base has other rows.
  const TieThreshold other =
      known_ties_of(changed_machine("dgx-h100", {{"inter_node", {{"bytes_per_second", 12.5e9}}}}));
  EXPECT_NE(other.held_out, of_preset.held_out);
}

// `cases` predicts what PyTorch reserves; a search does not, so it may not boast of that.
TEST(PublishedRows, SayHowFarTheMemoryOfASearchIsOff) {
  const Case of = *find_case("trainy-2025-h200");
  double missed = 0;
  for (const CaseRow& row : of.rows) {
    const Result<Tried> tried = try_setup(row.setup, row.machine, false);
    ASSERT_TRUE(tried.ok()) << row.name;
    const auto figure =
        std::find_if(row.figures.begin(), row.figures.end(),
                     [](const CaseFigure& each) { return each.metric == "framework_peak_gib"; });
    ASSERT_NE(figure, row.figures.end());
    const double gib = static_cast<double>(tried->plan.held_bytes) / (1 << 30);
    missed += std::abs(gib / figure->published - 1) / static_cast<double>(of.rows.size());
  }
  const TieThreshold ties = tie_threshold_of(of.rows.front().machine);
  ASSERT_TRUE(ties.memory_error);
  EXPECT_NEAR(*ties.memory_error, missed, 1e-6);
  EXPECT_GT(missed, 0.05);
}

TEST(PublishedRows, OfNodesOfAnotherSizeCount) {
  const TieThreshold rack = known_ties_of(*find_machine("gb200-nvl72"));
  EXPECT_GT(rack.held_out, 10);  // published with 64 of its 72 GPUs in use
  EXPECT_TRUE(rack.share);
  EXPECT_THAT(rack.trust.text, testing::HasSubstr("on GB200 NVL72 "));
}

}  // namespace
}  // namespace parallelarium

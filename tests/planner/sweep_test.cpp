// SPDX-License-Identifier: Apache-2.0
// Which points a sweep has, and what it refuses.
#include "engine/planner/sweep.h"

#include <gmock/gmock.h>

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::ElementsAre;

Result<json> answer(const Turned& turned) {
  const int tp = std::stoi(turned[0].second);
  if (tp == 3) return message("odd", "TP 3 cannot be.");
  return json{{"step", {{"seconds", 1.0 / tp}}}, {"memory", {{"fits", tp > 1}}}};
}

TEST(Variations, ReadListsAndRanges) {
  EXPECT_THAT(variation_from("tp=1,2,4")->values, ElementsAre("1", "2", "4"));
  EXPECT_THAT(variation_from("tp=1..4")->values, ElementsAre("1", "2", "3", "4"));
  EXPECT_THAT(variation_from("mesh.tp=1..9*2,16")->values, ElementsAre("1", "2", "4", "8", "16"));
  EXPECT_THAT(variation_from("stage-layers=1,3;2,2")->values, ElementsAre("1,3", "2,2"));
  for (const char* wrong : {"", "tp", "tp=", "tq=1", "=1", "tp=,"})
    EXPECT_FALSE(variation_from(wrong).ok()) << wrong;
}

TEST(Sweep, HasAPointForEveryCombination) {
  const std::vector<Variation> vary = {*variation_from("tp=1,2,3"), *variation_from("pp=1,2")};
  const auto points = sweep(vary, {metric_from("step")}, answer);
  ASSERT_TRUE(points.ok());
  ASSERT_EQ(points->size(), 6u);
  EXPECT_THAT((*points)[3].values, ElementsAre("2", "2"));
  EXPECT_EQ((*points)[3].figures[0], 0.5);
  EXPECT_EQ((*points)[3].fits, true);
  EXPECT_EQ((*points)[4].refused->id, "odd");
  const json list = to_json(*points, vary, {metric_from("step")}).at("points");
  EXPECT_EQ(list[0].at("values"), json({{"tp", 1}, {"pp", 1}}));
  EXPECT_EQ(list[0].at("metrics").at("step"), 1.0);
  EXPECT_TRUE(list[5].at("metrics").at("step").is_null());
  EXPECT_EQ(list[5].at("refused"), "TP 3 cannot be.");
}

TEST(Sweep, SaysWhatItCannotShow) {
  const std::vector<Variation> vary = {*variation_from("tp=1,2")};
  const auto id_of = [](const auto& result) {
    return result.ok() ? std::string() : result.error().id;
  };
  EXPECT_EQ(id_of(sweep(vary, {metric_from("speed")}, answer)), "metric-unknown");
  EXPECT_EQ(id_of(sweep({}, {metric_from("step")}, answer)), "sweep-nothing");
  EXPECT_EQ(id_of(sweep(vary, {}, answer)), "sweep-shows");
  for (const char* again : {"tp=4", "mesh.tp=4"})
    EXPECT_EQ(id_of(sweep({vary[0], *variation_from(again)}, {metric_from("step")}, answer)),
              "sweep-twice");
  const std::vector<Variation> many = {*variation_from("tp=1..1000"),
                                       *variation_from("pp=1..1000")};
  EXPECT_EQ(id_of(sweep(many, {metric_from("step")}, answer)), "sweep-many");
  const std::atomic<bool> cancel{true};
  EXPECT_EQ(id_of(sweep(vary, {metric_from("step")}, answer, &cancel)), "sweep-cancelled");
}

}  // namespace
}  // namespace parallelarium

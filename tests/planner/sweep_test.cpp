// SPDX-License-Identifier: Apache-2.0
// Which points a sweep has, and what it refuses.
#include "engine/planner/sweep.h"

#include <gmock/gmock.h>

#include <cmath>

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
  EXPECT_THAT(variation_from("tp= 1, 2")->values, ElementsAre("1", "2"));
  EXPECT_THAT(variation_from("tp=-2..0,7..7")->values, ElementsAre("-2", "-1", "0", "7"));
  EXPECT_THAT(variation_from("text=../a.txt,../b.txt")->values,
              ElementsAre("../a.txt", "../b.txt"));
  for (const char* wrong : {"", "tp", "tp=", "tq=1", "=1", "tp=,"})
    EXPECT_FALSE(variation_from(wrong).ok()) << wrong;
}

TEST(Variations, SayWhichTypedValueIsWrongAndWhatToWrite) {
  const auto said = [](const char* typed) {
    const Result<Variation> read = variation_from(typed);
    return read ? "nothing" : read.error().text;
  };
  EXPECT_EQ(said("tp=4..1"), "In “tp=4..1” the range 4..1 goes down; write 1..4.");
  EXPECT_EQ(said("tp=16,8..2*2"), "In “tp=16,8..2*2” the range 8..2*2 goes down; write 2..8*2.");
  EXPECT_EQ(said("learning-rate=0.1..0.3"),
            "In “learning-rate=0.1..0.3” the range 0.1..0.3 is not of whole numbers; list the "
            "values one by one.");
  EXPECT_EQ(said("tp=1,,2"), "“tp=1,,2” has a “,” too many; write tp=1,2.");
  EXPECT_EQ(said("tp=1,"), "“tp=1,” has a “,” too many; write tp=1.");
  EXPECT_EQ(said("stage-layers=;1,3;2,2"),
            "“stage-layers=;1,3;2,2” has a “;” too many; write stage-layers=1,3;2,2.");
  for (const std::string typed : {"tp", "tp=", "tp= ,"})
    EXPECT_EQ(said(typed.c_str()),
              "“" + typed + "” names no value; say which tp takes, such as tp=1,2,4.");
  EXPECT_EQ(said("tp=1,1"), "“tp=1,1” names the value 1 twice; name it once.");
  EXPECT_EQ(said("tp=1..4,02"), "“tp=1..4,02” names the value 02 twice; name it once.");
  for (const std::string range : {"0..8*2", "-4..8*2", "1..8*1", "1..8*0"})
    EXPECT_EQ(said(("tp=" + range).c_str()),
              "In “tp=" + range + "” the range " + range +
                  " must begin at 1 or more and have a factor of 2 or more: each value is the one "
                  "before times the factor.");
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
  const std::atomic<bool> cancel{true};
  EXPECT_EQ(id_of(sweep(vary, {metric_from("step")}, answer, &cancel)), "sweep-cancelled");
}

TEST(Sweep, ComparesTokensOfARankWithThoseAtTheFewestRanks) {
  // Twice the ranks make 1.5 times the tokens, at ZeRO 1 from half of them on.
  const auto scaled = [](const Turned& turned) -> Result<json> {
    const double ranks = std::stod(turned[0].second);
    if (ranks == 2) return message("odd", "2 cannot be.");
    const double half = turned[1].second == "1" ? 0.5 : 1;
    return json{{"ranks", ranks},
                {"step", {{"tokens_per_second", half * 8 * std::pow(1.5, std::log2(ranks))}}}};
  };
  const auto points = sweep({*variation_from("dp=8,1,2,4"), *variation_from("zero=0,1")},
                            {metric_from("tokens"), metric_from("efficiency")}, scaled);
  ASSERT_TRUE(points.ok());
  for (const SweepPoint& point : *points) {
    if (point.refused) {
      EXPECT_FALSE(point.figures[1]) << point.values[0];
      continue;
    }
    EXPECT_NEAR(*point.figures[1], std::pow(0.75, std::log2(std::stod(point.values[0]))), 1e-12)
        << point.values[0] << " ZeRO " << point.values[1];
  }
}

TEST(Sweep, ComparesWithTheFewestRanksThatFit) {
  const auto said = [](double most) {
    return [most](const Turned& turned) -> Result<json> {
      const double ranks = std::stod(turned[0].second);
      return json{{"ranks", ranks},
                  {"memory", {{"fits", ranks > most}}},
                  {"step", {{"tokens_per_second", 8 * std::pow(1.5, std::log2(ranks))}}}};
    };
  };
  const std::vector<Variation> vary = {*variation_from("dp=1,2,4")};
  const std::vector<Metric> show = {metric_from("tokens"), metric_from("efficiency")};
  const auto points = sweep(vary, show, said(1));
  ASSERT_TRUE(points.ok());
  EXPECT_NEAR(*(*points)[0].figures[1], 1 / 0.75, 1e-12);
  EXPECT_EQ((*points)[1].figures[1], 1.0);
  EXPECT_NEAR(*(*points)[2].figures[1], 0.75, 1e-12);
  const json list = to_json(*points, vary, show).at("points");
  for (const json& point : list) EXPECT_EQ(point.at("efficiency_of"), json({{"dp", 2}}));
  const auto none = sweep(vary, show, said(4));
  ASSERT_TRUE(none.ok());
  for (const SweepPoint& point : *none) EXPECT_FALSE(point.figures[1]);
  EXPECT_FALSE(to_json(*none, vary, show).at("points")[0].contains("efficiency_of"));
}

TEST(Sweep, NamesHowManyCombinationsThereAreHoweverMany) {
  const auto said = [](std::initializer_list<const char*> typed) {
    std::vector<Variation> vary;
    for (const char* text : typed) vary.push_back(*variation_from(text));
    int asked = 0;
    const auto points = sweep(vary, {metric_from("step")}, [&](const Turned& turned) {
      ++asked;
      return answer({{"tp", std::to_string(1 + turned[0].second.size() % 2)}});
    });
    return points ? std::to_string(asked) : points.error().text;
  };
  const auto refused = [](const std::string& count) {
    return "These settings have " + count +
           " combinations, and a sweep has 10000 at most; vary fewer values.";
  };
  EXPECT_EQ(said({"seed=1..10000"}), "10000");
  EXPECT_EQ(said({"seed=1..10001"}), refused("10001"));
  EXPECT_EQ(said({"seed=0..10000"}), refused("10001"));
  EXPECT_EQ(said({"seed=1..123456789"}), refused("123456789"));
  EXPECT_EQ(said({"tp=1..1000", "pp=1..1000"}), refused("1000000"));
  EXPECT_EQ(said({"tp=1..20000", "pp=1,2,4", "cp=1..40000"}), refused("2400000000"));
  EXPECT_EQ(said({"tp=1..5000,9000..20000"}), refused("16001"));
  EXPECT_EQ(said({"seed=-9223372036854775808..9223372036854775807"}), refused("1.844674407e+19"));
}

}  // namespace
}  // namespace parallelarium

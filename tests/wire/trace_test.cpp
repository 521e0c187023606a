// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/export/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "engine/predict/predict.h"
#include "engine/wire/export/csv.h"

namespace parallelarium {
namespace {

using nlohmann::json;

struct Size {
  int pp, dp, microbatches;
  const char* schedule;
};
std::ostream& operator<<(std::ostream& out, const Size& size) {
  return out << size.schedule << " pp " << size.pp << " dp " << size.dp << " m "
             << size.microbatches;
}

Prediction predicted(const Size& size) {
  Setup setup = default_setup();
  setup.mesh.pp = size.pp;
  setup.mesh.dp = size.dp;
  setup.microbatches = size.microbatches;
  setup.schedule = size.schedule;
  if (setup.model.layers % size.pp != 0) setup.model.layers = 2 * size.pp;
  Result<Prediction> prediction = predict(setup, uncalibrated_local_machine(), true);
  EXPECT_TRUE(prediction.ok()) << prediction.error().text;
  return *prediction;
}

class Exported : public testing::TestWithParam<Size> {};

// Microseconds with three decimals, exactly as nanoseconds.
std::int64_t nanoseconds(const json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

TEST_P(Exported, SlicesOfATrackNeverOverlap) {
  const Prediction prediction = predicted(GetParam());
  const json trace = json::parse(to_chrome_trace(prediction.program, prediction.timeline));
  std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>> tracks;
  for (const json& event : trace["traceEvents"])
    if (event["ph"] == "X")
      tracks[{event["pid"], event["tid"]}].push_back(
          {nanoseconds(event["ts"]), nanoseconds(event["ts"]) + nanoseconds(event["dur"])});
  EXPECT_GE(tracks.size(), prediction.program.ranks.size());
  for (auto& [track, slices] : tracks) {
    std::sort(slices.begin(), slices.end());
    for (std::size_t at = 1; at < slices.size(); ++at)
      EXPECT_GE(slices[at].first, slices[at - 1].second)
          << "rank " << track.first << " lane " << track.second;
  }
}

TEST_P(Exported, EveryMessageIsOneArrowFromItsSliceToAnother) {
  const Prediction prediction = predicted(GetParam());
  const json trace = json::parse(to_chrome_trace(prediction.program, prediction.timeline));
  std::size_t sends = 0;
  for (const RankProgram& rank : prediction.program.ranks)
    for (const Op& op : rank.ops) sends += op.kind == OpKind::kSend;
  struct Ends {
    std::vector<json> from, to;
  };
  std::map<int, Ends> flows;
  std::vector<json> slices;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] == "s") flows[event["id"]].from.push_back(event);
    if (event["ph"] == "f") flows[event["id"]].to.push_back(event);
    if (event["ph"] == "X") slices.push_back(event);
  }
  EXPECT_EQ(flows.size(), sends);
  const auto inside = [&slices](const json& end) {
    for (const json& slice : slices) {
      const std::int64_t begin = nanoseconds(slice["ts"]);
      if (slice["pid"] == end["pid"] && slice["tid"] == end["tid"] &&
          nanoseconds(end["ts"]) >= begin &&
          nanoseconds(end["ts"]) <= begin + nanoseconds(slice["dur"]))
        return true;
    }
    return false;
  };
  for (const auto& [id, ends] : flows) {
    ASSERT_EQ(ends.from.size(), 1u);
    ASSERT_EQ(ends.to.size(), 1u);
    EXPECT_NE(ends.from[0]["pid"], ends.to[0]["pid"]);
    EXPECT_EQ(ends.to[0]["bp"], "e");
    EXPECT_GE(nanoseconds(ends.to[0]["ts"]), nanoseconds(ends.from[0]["ts"]));
    EXPECT_TRUE(inside(ends.from[0])) << ends.from[0];
    EXPECT_TRUE(inside(ends.to[0])) << ends.to[0];
  }
}

TEST_P(Exported, ProcessesSayRankAndSourceAndOnlyKnownPhasesAppear) {
  Prediction prediction = predicted(GetParam());
  prediction.timeline.source = Source::kPaced;
  const json trace = json::parse(to_chrome_trace(prediction.program, prediction.timeline));
  std::set<std::string> names, phases;
  for (const json& event : trace["traceEvents"]) {
    phases.insert(event["ph"]);
    if (event["name"] == "process_name") names.insert(event["args"]["name"]);
  }
  EXPECT_THAT(phases, testing::IsSubsetOf({"X", "s", "f", "C", "M"}));
  EXPECT_EQ(names.size(), prediction.program.ranks.size());
  EXPECT_EQ(names.count("rank 0 (rehearsed)"), 1u);
  EXPECT_EQ(trace["distributedInfo"]["rank"], 0);
  EXPECT_EQ(trace["distributedInfo"]["world_size"], prediction.program.world);
}

TEST_P(Exported, CountersEndWithWhatIsHeldForTheWholeStep) {
  const Prediction prediction = predicted(GetParam());
  const json trace = json::parse(to_chrome_trace(prediction.program, prediction.timeline));
  std::map<int, std::int64_t> highest;
  for (const json& event : trace["traceEvents"]) {
    if (event["ph"] != "C") continue;
    std::int64_t sum = 0;
    for (const auto& [category, bytes] : event["args"].items()) sum += bytes.get<std::int64_t>();
    highest[event["pid"]] = std::max(highest[event["pid"]], sum);
  }
  for (const RankProgram& rank : prediction.program.ranks) {
    // In a timeline lanes overlap, so more may be held at once than in the order of the ops; never
    // more than all buffers.
    std::int64_t all = 0;
    for (const Buffer& buffer : rank.buffers) all += buffer.bytes;
    EXPECT_GT(highest[rank.rank], 0);
    EXPECT_LE(highest[rank.rank], all);
  }
}

TEST_P(Exported, ATableHasOneRowPerOpWithItsExactTimes) {
  const Prediction prediction = predicted(GetParam());
  std::istringstream lines(to_csv(prediction.program, prediction.timeline));
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  const auto cells_of = [](const std::string& text) {
    std::vector<std::string> cells;
    for (std::size_t begin = 0; begin <= text.size();) {
      const std::size_t end = std::min(text.find(',', begin), text.size());
      cells.push_back(text.substr(begin, end - begin));
      begin = end + 1;
    }
    return cells;
  };
  const std::vector<std::string> titles = cells_of(line);
  std::int64_t rows = 0;
  while (std::getline(lines, line)) {
    const std::vector<std::string> cells = cells_of(line);
    ASSERT_EQ(cells.size(), titles.size()) << line;
    std::map<std::string, std::string> row;
    for (std::size_t at = 0; at < cells.size(); ++at) row[titles[at]] = cells[at];
    const int rank = std::stoi(row["rank"]), op = std::stoi(row["op"]);
    const Span& span = prediction.timeline.ranks[rank].spans[op];
    EXPECT_EQ(std::llround(std::stod(row["begin_seconds"]) * 1e9), span.begin.count());
    EXPECT_EQ(std::llround(std::stod(row["end_seconds"]) * 1e9), span.end.count());
    EXPECT_EQ(row["source"], "predicted");
    EXPECT_EQ(row["kind"] == "send" || row["kind"] == "recv", row["peer"] != "");
    EXPECT_EQ(row["kind"] == "compute", row["bytes"].empty());
    ++rows;
  }
  EXPECT_EQ(rows, prediction.program.op_count());
}

INSTANTIATE_TEST_SUITE_P(Sizes, Exported,
                         testing::Values(Size{1, 1, 1, "1f1b"}, Size{2, 1, 3, "gpipe"},
                                         Size{3, 2, 4, "1f1b"}, Size{4, 1, 7, "1f1b"},
                                         Size{2, 3, 1, "naive"}));

TEST(Trace, OneRankAloneHasNoArrowsAndNamesItself) {
  const Prediction prediction = predicted({4, 1, 3, "1f1b"});
  const json trace = json::parse(to_chrome_trace(prediction.program, prediction.timeline, 2));
  EXPECT_EQ(trace["distributedInfo"]["rank"], 2);
  EXPECT_EQ(trace["distributedInfo"]["ranks"], json::array({2}));
  for (const json& event : trace["traceEvents"]) {
    EXPECT_EQ(event["pid"], 2);
    EXPECT_NE(event["ph"], "s");
  }
}

}  // namespace
}  // namespace parallelarium

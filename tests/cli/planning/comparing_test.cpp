// SPDX-License-Identifier: Apache-2.0
// `sweep` and `compare`.
#include <gmock/gmock.h>

#include <cmath>
#include <set>

#include "engine/planner/sweep.h"
#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(Sweep, SaysFiguresOfPredictionsAndWhyThereAreNone) {
  const Folder folder;
  const json points = command({"sweep", "--vary", "pp=1,2,3", "--show", "step,bubble.of_total",
                               "--layers", "4", "--backend", "paced", "--json"})
                          .json()
                          .at("points");
  ASSERT_EQ(points.size(), 3u);
  const json alone =
      command({"predict", "--pp", "2", "--layers", "4", "--backend", "paced", "--json"}).json();
  EXPECT_EQ(points[1].at("metrics").at("step"), alone.at("step").at("seconds"));
  EXPECT_EQ(points[1].at("metrics").at("bubble.of_total"), alone.at("bubble").at("of_total"));
  EXPECT_EQ(points[1].at("values").at("pp"), 2);
  EXPECT_THAT(points[2].at("refused").get<std::string>(),
              HasSubstr("4 layers cannot be cut evenly for PP 3"));
  // DP fills the GPUs at every point.
  const json filled =
      command({"sweep", "--model", "llama3-8b", "--machine", "dgx-h100", "--gpus", "8",
               "--global-batch", "8", "--vary", "tp=1,8", "--show", "resolved.mesh.dp", "--json"})
          .json()
          .at("points");
  EXPECT_EQ(filled[0].at("metrics").at("resolved.mesh.dp"), 8);
  EXPECT_EQ(filled[1].at("metrics").at("resolved.mesh.dp"), 1);
  // A point's Setup is what was predicted.
  EXPECT_TRUE(points[2].at("setup").is_null());
  const std::string file = folder.file("point.json", points[1].at("setup").dump());
  EXPECT_EQ(command({"predict", "--setup", file, "--json"}).json().at("step"), alone.at("step"));
  EXPECT_EQ(command({"sweep"}).status, 2);
  EXPECT_EQ(command({"sweep", "--vary", "nothing=1"}).status, 2);
  for (const char* typed : {"tp=4..1", "tp=1,,2", "tp=", "tp=1,", "tp=1,1", "tp=1..1000000"}) {
    const Reply wrong = command({"sweep", "--vary", typed});
    EXPECT_EQ(wrong.status, 2) << typed;
    EXPECT_TRUE(wrong.out.empty()) << typed;
    EXPECT_THAT(wrong.err, HasSubstr(std::string_view(typed).ends_with("1000000")
                                         ? "1000000 combinations"
                                         : "“" + std::string(typed) + "” "));
  }
}

// As for `plan`: what may be used of a device, and what a framework can say.
TEST(Sweep, KeepsToTheLimitsOfAPlan) {
  const Folder folder;
  std::vector<std::string> words = {"sweep",    "--model", "llama3-8b", "--machine",
                                    "dgx-h100", "--gpus",  "8",         "--global-batch",
                                    "16",       "--vary",  "zero=1,3",  "--json"};
  const auto fits = [&] {
    std::vector<bool> all;
    const json answer = command(words).json();
    for (const json& point : answer.at("points")) all.push_back(point.at("fits").get<bool>());
    return all;
  };
  words.insert(words.end(), {"--memory", "74"});
  const std::vector<bool> with_all = fits();
  words.back() = "10";
  EXPECT_NE(fits(), with_all);
  for (const json& point : command(words).json().at("points")) {
    EXPECT_EQ(point.at("fits"), point.at("metrics").at("memory") <= 10.0 * 1024 * 1024 * 1024);
    EXPECT_EQ(point.at("needed_bytes"), point.at("metrics").at("memory"));
  }
  words[10] = "schedule=1f1b,dualpipe";
  words.insert(words.end(), {"--pp", "2", "--for", "megatron"});
  const json points = command(words).json().at("points");
  EXPECT_TRUE(points[0].at("refused").is_null());
  EXPECT_THAT(points[1].at("refused").get<std::string>(), HasSubstr("Megatron"));
  words.back() = "nobody";
  EXPECT_EQ(command(words).status, 2);
  EXPECT_EQ(command({"sweep", "--vary", "dp=1,2", "--memory", "0"}).status, 2);
}

TEST(Sweep, SaysWhatAnEfficiencyIsAShareOf) {
  const Folder folder;
  const std::vector<std::string> words = {"sweep",  "--machine", "dgx-h100",  "--vary",
                                          "dp=1,2", "--show",    "efficiency"};
  EXPECT_THAT(command(words).out, HasSubstr("efficiency: tokens/s of a rank, as a share of those"));
  EXPECT_THAT(command(words).out, ContainsRegex("[(]dp[[:space:]]+1[)]"));
  EXPECT_THAT(command({"sweep", "--vary", "dp=1,2"}).out, Not(HasSubstr("as a share of")));
  const std::string help = command({"sweep", "--help"}).out;
  for (const std::string& name : short_metric_names()) EXPECT_THAT(help, HasSubstr(name));
}

TEST(Compare, HasEachTechniqueAlone) {
  const Folder folder;
  const std::vector<std::string> of = {
      "compare",  "--techniques", "--model", "moe-tiny",       "--machine",
      "dgx-h100", "--dp",         "4",       "--microbatches", "2"};
  std::vector<std::string> as_json = of;
  as_json.push_back("--json");
  const json told = command(as_json).json();
  EXPECT_EQ(told.at("ranks"), 4);
  EXPECT_EQ(told.at("global_batch"), 8);
  EXPECT_EQ(told.at("techniques").size(), 7u);
  const json alone = command({"predict", "--model", "moe-tiny", "--machine", "dgx-h100", "--dp",
                              "4", "--ep", "4", "--microbatches", "2", "--json"})
                         .json();
  const json& experts = told.at("techniques")[6];
  EXPECT_EQ(experts.at("id"), "ep");
  EXPECT_NEAR(experts.at("seconds").get<double>(), alone.at("step").at("seconds"), 1e-9);
  EXPECT_EQ(experts.at("memory_bytes"), alone.at("memory").at("needed_bytes"));
  const Reply text = command(of);
  EXPECT_THAT(text.out, HasSubstr("on 4 devices, 8 sequences a step (predicted)"));
  EXPECT_THAT(text.out, HasSubstr("EP (with DP): Cuts the batch, and deals out the experts."));
  EXPECT_EQ(command({"compare", "--techniques", "--pp", "1"}).status, 2);  // one rank
  EXPECT_EQ(command({"compare", "--dp", "4"}).status, 2);
  EXPECT_EQ(command({"compare", "--techniques", "plan.json"}).status, 2);
}

TEST(Compare, TellsTheDifferenceByCauses) {
  const Folder folder;
  const std::string a =
      folder.file("a.json", R"({"model": "llama3-8b", "machine": "dgx-h100", "mesh": {"tp": 8}})");
  const std::string b =
      folder.file("b.json", R"({"model": "llama3-8b", "machine": "dgx-h100", "mesh": {"pp": 8}})");
  const json beside = command({"compare", a, b, "--json"}).json();
  ASSERT_EQ(beside.at("columns").size(), 2u);
  const auto row = [&](const std::string& metric) {
    for (const json& each : beside.at("rows"))
      if (each.at("metric") == metric) return each.at("values");
    return json();
  };
  double sum = 0;
  for (const json& cause : beside.at("causes")) sum += cause.at("seconds").get<double>();
  const json step = row("step.seconds");
  EXPECT_NEAR(sum, step[1].get<double>() - step[0].get<double>(), 1e-9);
  // A run's times do not stand beside those of another machine.
  json run = command({"predict", "--setup", a, "--json"}).json();
  run["source"] = "paced";
  run["machine"] = "Another machine";
  const std::string file = folder.file("run.json", run.dump());
  const json honest = command({"compare", a, file, "--json"}).json();
  for (const json& each : honest.at("rows"))
    if (each.at("metric") == "step.seconds") {
      EXPECT_TRUE(each.at("values")[1].is_null());
      EXPECT_THAT(each.at("why")[1].get<std::string>(), HasSubstr("rehearsal"));
    }
  EXPECT_TRUE(honest.at("causes").empty());
  EXPECT_THAT(command({"compare", a, file}).out,
              HasSubstr(honest.at("without_causes").get<std::string>()));
  // Beside ranks that share cores, a rehearsal of them says what it knows of the difference.
  const std::string cores = folder.file("cores.json", R"({"run": {"backend": "cpu"}})");
  json rehearsal = command({"predict", "--setup", cores, "--json"}).json();
  rehearsal["source"] = "paced";
  const std::string rehearsed = folder.file("rehearsed.json", rehearsal.dump());
  rehearsal["source"] = "measured";
  const std::string measured = folder.file("measured.json", rehearsal.dump());
  for (const auto& [first, second] : {std::pair(rehearsed, measured), {measured, rehearsed}})
    EXPECT_THAT(command({"compare", first, second, "--json"}).json().at("without_causes"),
                HasSubstr("every lane of a rank a core of its own"));
  EXPECT_THAT(command({"compare", rehearsed, rehearsed, "--json"}).json().at("without_causes"),
              Not(HasSubstr("a core of its own")));
  // A prediction of paced ranks gives lanes cores of their own, too.
  const std::string paced = folder.file("paced.json", R"({"run": {"backend": "paced"}})");
  json of_paced = command({"predict", "--setup", paced, "--json"}).json();
  of_paced["source"] = "paced";
  const std::string same = folder.file("same.json", of_paced.dump());
  EXPECT_THAT(command({"compare", same, paced, "--json"}).json().at("without_causes"),
              Not(HasSubstr("a core of its own")));
  EXPECT_THAT(command({"compare", "korthikanti-2022-table-5/1", "korthikanti-2022-table-5/2"}).out,
              HasSubstr("recompute"));
  EXPECT_TRUE(beside.at("remarks").empty());
  const std::string larger = folder.file(
      "c.json",
      R"({"model": "llama3-8b", "machine": "dgx-h100", "mesh": {"tp": 8}, "microbatches": 2})");
  const json batches = command({"compare", a, larger, "--json"}).json().at("remarks");
  ASSERT_EQ(batches.size(), 1u);
  EXPECT_THAT(batches[0].get<std::string>(), HasSubstr("makes a global batch of 2, not 8 as"));
  EXPECT_THAT(command({"compare", a, larger}).out, HasSubstr("makes a global batch of 2, not 8"));
  EXPECT_EQ(command({"compare", a}).status, 2);
  EXPECT_EQ(command({"compare", a, "nothing"}).status, 2);
  EXPECT_THAT(command({"compare", a, "nothing"}).err,
              HasSubstr("Neither a file nor a case has the name “nothing”"));
}

TEST(Compare, TellsTheCausesOfEveryColumnAgainstTheFirst) {
  const Folder folder;
  const auto file = [&folder](const std::string& name, const std::string& mesh) {
    return folder.file(name,
                       R"({"model": "llama3-8b", "machine": "dgx-h100", "mesh": )" + mesh + "}");
  };
  const std::string a = file("a.json", R"({"tp": 8})"), b = file("b.json", R"({"pp": 8})"),
                    c = file("c.json", R"({"tp": 2, "pp": 4})");
  const json beside = command({"compare", a, b, c, "--json"}).json();
  ASSERT_EQ(beside.at("columns").size(), 3u);
  EXPECT_FALSE(beside.at("columns")[0].contains("causes"));
  EXPECT_EQ(beside.at("columns")[1].at("causes"), beside.at("causes"));
  EXPECT_EQ(beside.at("columns")[1].at("causes"),
            command({"compare", a, b, "--json"}).json().at("causes"));
  EXPECT_EQ(beside.at("columns")[2].at("causes"),
            command({"compare", a, c, "--json"}).json().at("causes"));
  EXPECT_THAT(command({"compare", a, b, c}).out,
              HasSubstr("Step of B, C less that of A, by cause"));
}

// Two runs of one machine differ by the same causes as two predictions, with nothing unexplained.
TEST(Compare, TellsTheDifferenceOfRunsByCauses) {
  const Folder folder;
  folder.pretend_calibrated();
  const auto run = [&](const char* name, const char* schedule) {
    const Reply ran =
        command(small_run({"--pp", "2", "--backend", "cpu", "--schedule", schedule, "--json"}));
    EXPECT_EQ(ran.status, kDone) << ran.err;
    json told = ran.json();
    // What the parts add up to is the step that was seen.
    double sum = 0;
    for (const char* of : {"parts_seconds", "exposed_seconds"})
      for (const json& seconds : told.at(of)) sum += seconds.get<double>();
    EXPECT_NEAR(sum, told.at("step").at("seconds").get<double>(), 1e-6);
    told["source"] = "measured";  // where cores are few, they were shared
    return folder.file(name, told.dump());
  };
  const std::string a = run("a.json", "naive"), b = run("b.json", "gpipe");
  const json causes = command({"compare", a, b, "--json"}).json().at("causes");
  std::set<std::string> names;
  for (const json& cause : causes) {
    names.insert(cause.at("cause"));
    if (cause.at("cause") == "unexplained") {
      EXPECT_NEAR(cause.at("seconds").get<double>(), 0, 2e-6);
    }
  }
  EXPECT_TRUE(names.count("bubble: wait")) << causes;
  EXPECT_THAT(command({"compare", a, b}).out, HasSubstr("by cause (mean over ranks)"));
  // An older run says figures of its busiest rank alone.
  json old = json::parse(folder.read("b.json"));
  old.erase("parts_seconds");
  EXPECT_THAT(command({"compare", a, folder.file("old.json", old.dump())}).out,
              HasSubstr("by cause (of each one's busiest rank)"));
}

// A document that keeps a run of its Setup is that run, and what it predicts once its Setup is
// another one.
TEST(Compare, TakesTheRunThatADocumentKeeps) {
  const Folder folder;
  folder.pretend_calibrated();
  const std::string document = folder.file("run.json", "");
  const Reply ran = command(
      small_run({"--pp", "2", "--backend", "cpu", "--document", document.c_str(), "--json"}));
  ASSERT_EQ(ran.status, kDone) << ran.err;
  const json beside = command({"compare", document, document, "--json"}).json();
  EXPECT_EQ(beside.at("columns")[0].at("source"), ran.json().at("source"));
  for (const json& row : beside.at("rows"))
    if (row.at("metric") == "step.seconds" && !row.at("values")[0].is_null()) {
      EXPECT_EQ(row.at("values")[0], ran.json().at("step").at("seconds"));
    }
  json changed = json::parse(folder.read("run.json"));
  changed["setup"]["microbatches"] = 3;
  const std::string other = folder.file("changed.json", changed.dump());
  const json predicted = command({"compare", other, other, "--json"}).json();
  EXPECT_EQ(predicted.at("columns")[0].at("source"), "predicted");
  changed["runs"] = json::array({{{"machine", 1}, {"observation", json::object()}}});
  EXPECT_EQ(command({"compare", folder.file("bad.json", changed.dump()), other}).status, kInvalid);
}

// A published run as a column has its figures as `cases` has them.
TEST(Compare, SetsWhatWasPublishedBesideWhatIsPredicted) {
  const char* name = "korthikanti-2022-table-5";
  const json cases = command({"cases", name, "--json"}).json();
  const std::string first = std::string(name) + "/1", second = std::string(name) + "/2";
  const json told = command({"compare", first, second, "--json"}).json();
  const json& published = told.at("columns")[1].at("published");
  const json& expected = cases.at(1).at("published");
  ASSERT_FALSE(published.empty());
  ASSERT_EQ(published.size(), expected.size());
  for (std::size_t at = 0; at < published.size(); ++at)
    for (const char* key : {"metric", "unit", "value", "predicted", "error", "rates"})
      EXPECT_EQ(published[at].at(key), expected[at].at(key)) << key;
  EXPECT_THAT(command({"compare", first, second}).out, HasSubstr("Published"));
}

}  // namespace
}  // namespace parallelarium

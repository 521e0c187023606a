// SPDX-License-Identifier: Apache-2.0
// `cases`, and machines of one's own: `machines show`, `new` and `fit`.
#include <gmock/gmock.h>

#include <cmath>
#include <map>
#include <stdexcept>

#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

// Fitted rows and held out ones, two figures of each; all are predicted in milliseconds.
constexpr const char* kPublished = "simumax-2026-b200";

const json& figure_of(const json& row, const std::string& metric) {
  for (const json& figure : row.at("published"))
    if (figure.at("metric") == metric) return figure;
  throw std::runtime_error("no " + metric + " in " + row.dump());
}

TEST(Cases, SetPredictionsBesideWhatWasPublished) {
  const Folder folder;
  const json rows = command({"cases", kPublished, "--json"}).json();
  ASSERT_EQ(rows.size(), 43u);
  std::map<std::string, int> rows_of;  // by rates
  for (const json& row : rows) {
    const json& figure = figure_of(row, "step_seconds");
    EXPECT_NEAR(figure.at("error").get<double>(),
                figure.at("predicted").get<double>() / figure.at("value").get<double>() - 1, 1e-9);
    EXPECT_THAT(figure.at("source").get<std::string>(), HasSubstr("SimuMax v1.2 B200"));
    if (++rows_of[figure.at("rates")] > 8) continue;
    // The row is a Setup that anybody can predict.
    const std::string file = folder.file("row.json", row.at("setup").dump());
    const json again = command({"predict", "--setup", file, "--json"}).json();
    EXPECT_EQ(again.at("step").at("seconds"), figure.at("predicted"));
  }
  EXPECT_THAT(rows_of,
              testing::ElementsAre(testing::Pair("fitted", 8), testing::Pair("held_out", 35)));
  EXPECT_THAT(command({"cases", kPublished}).out, HasSubstr("llama3_70b_l12_tp1_pp2_dp4_mbc4"));
  EXPECT_EQ(command({"cases", "korthikanti"}).status, 2);
}

TEST(Cases, SumUpTheErrorsOfEachSource) {
  const Folder folder;
  const json rows = command({"cases", kPublished, "--json"}).json();
  const json summary = command({"cases", kPublished, "--summary", "--json"}).json();
  ASSERT_EQ(summary.size(), 4u) << "two metrics, each fitted and held out";
  for (const json& told : summary) {
    double sum = 0, worst = 0;
    int count = 0;
    for (const json& row : rows) {
      const json& figure = figure_of(row, told.at("metric"));
      if (figure.at("rates") != told.at("rates")) continue;
      const double error = std::abs(figure.at("error").get<double>());
      sum += error;
      worst = std::max(worst, error);
      ++count;
    }
    EXPECT_EQ(told.at("rows"), count);
    EXPECT_NEAR(told.at("mean_error").get<double>(), sum / count, 1e-9);
    EXPECT_NEAR(told.at("worst_error").get<double>(), worst, 1e-9);
  }
}

TEST(Machines, AreMadeFromOthersAndPredictedFor) {
  const Folder folder;
  const std::string file = folder.path("mine.json");
  EXPECT_EQ(command({"machines", "new", file, "--from", "dgx-h100"}).status, 0);
  const std::vector<std::string> words = {"predict", "--model", "llama3-8b",
                                          "--dp",    "16",      "--json"};
  const auto predicted = [&](const std::string& machine) {
    std::vector<std::string> all = words;
    all.insert(all.end(), {"--machine", machine});
    return command(all).json();
  };
  EXPECT_EQ(predicted(file), predicted("dgx-h100")) << "nothing was changed yet";
  const std::string slow =
      folder.file("slow.json", R"({"based_on": "dgx-h100", "sustained": 0.5})");
  EXPECT_GT(predicted(slow).at("step").at("seconds"),
            predicted("dgx-h100").at("step").at("seconds"));
  EXPECT_EQ(command({"machines", "show", "dgx-h100", "--json"}).json(),
            command({"machines", "dgx-h100", "--json"}).json());
  const std::string other = folder.path("other.json");
  EXPECT_EQ(command({"machines", "new", other, "--from", "nothing"}).status, 2);
  EXPECT_EQ(command({"machines", "new", other}).status, 2);
  EXPECT_EQ(command({"machines", "tell", "dgx-h100"}).status, 2);
  const std::string again = folder.path("again.json");
  const json told = command({"machines", "new", again, "--from", "dgx-h100", "--json"}).json();
  EXPECT_EQ(told.at("file"), again);
  EXPECT_EQ(told.at("machine"), json::parse(folder.read("again.json")));
}

TEST(Machines, OfAFileAreShownWithTheOriginOfWhatItChanges) {
  const Folder folder;
  const std::string file = folder.file(
      "mine.json",
      R"({"based_on": "dgx-h100", "sustained": {"value": 0.5, "origin": "told by a colleague"}})");
  const Reply shown = command({"machines", "show", file});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("told by a colleague"));
  EXPECT_EQ(command({"machines", "show", file, "--json"}).json().at("sustained").at("value"), 0.5);
  EXPECT_EQ(command({"machines", file}).out, shown.out);
  const Reply none = command({"machines", "show"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("Say the machine to show"));
}

TEST(Machines, NewLeavesAFileThatIsThere) {
  const Folder folder;
  const std::string file = folder.file("mine.json", "edited");
  const Reply made = command({"machines", "new", file, "--from", "dgx-h100"});
  EXPECT_EQ(made.status, 2);
  EXPECT_THAT(made.err, HasSubstr("is there already; nothing was changed."));
  EXPECT_EQ(folder.read("mine.json"), "edited");
}

TEST(Machines, AreFittedOnAMeasuredStep) {
  const Folder folder;
  const std::string plan = folder.file(
      "plan.json",
      R"({"model": "llama3-8b", "machine": "dgx-h100", "mesh": {"dp": 8}, "microbatches": 4})");
  const double step =
      command({"predict", "--setup", plan, "--json"}).json().at("step").at("seconds");
  const std::string to = folder.path("fitted.json");
  const Reply fit = command({"machines", "fit", "--measured", fmt::format("{}s", 1.4 * step),
                             "--setup", plan, "--to", to});
  ASSERT_EQ(fit.status, 0) << fit.err;
  const double again = command({"predict", "--setup", plan, "--machine", to, "--json"})
                           .json()
                           .at("step")
                           .at("seconds");
  EXPECT_NEAR(again / (1.4 * step), 1, 0.01);
  EXPECT_THAT(command({"predict", "--setup", plan, "--machine", to}).out,
              testing::AllOf(HasSubstr("predicted with published rates"),
                             HasSubstr("fitted (1 measured step)")));
  EXPECT_THAT(command({"predict", "--setup", plan}).out, Not(HasSubstr("measured step")));
  EXPECT_EQ(command({"machines", "fit"}).status, 2);
  const json in_hours = command({"machines", "fit", "--measured",
                                 fmt::format("{}h", 1.4 * step / 3600), "--setup", plan, "--json"})
                            .json();
  EXPECT_NEAR(in_hours.at("machine").at("sustained").at("value").get<double>(),
              json::parse(folder.read("fitted.json")).at("sustained").at("value").get<double>(),
              1e-6);
  EXPECT_EQ(command({"machines", "fit", "--measured", "soon", "--setup", plan}).status, 2);
  EXPECT_EQ(command({"machines", "fit", "--measured", "2s"}).status, 2);
  const std::string nowhere = folder.path("nowhere.json");
  const Reply wrong =
      command({"machines", "fit", "--measured", "10000s", "--setup", plan, "--to", nowhere});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr(" at most: more than a factor of 1.25 off"));
  EXPECT_FALSE(std::filesystem::exists(nowhere));
}

// A run of this computer is a measured step as any other, and gives a changed machine of it. A
// rehearsal's durations are set, so that they tell nothing of rates.
TEST(Machines, AreFittedOnARunOfThisComputer) {
  const Folder folder;
  folder.pretend_calibrated();
  const auto run_on = [](const char* backend) {
    return command({"run",      "--layers", "1",          "--hidden", "256",
                    "--heads",  "4",        "--sequence", "64",       "--microbatches",
                    "1",        "--pp",     "1",          "--steps",  "2",
                    "--warmup", "1",        "--backend",  backend,    "--json"})
        .json();
  };
  json run = run_on("cpu");
  ASSERT_EQ(run.at("source"), "measured");
  const double predicted = run.at("predicted").at("step").at("seconds");
  run["step"]["seconds"] = 1.3 * predicted;
  const std::string record = folder.file("run.json", run.dump());
  const std::string plan = folder.file("plan.json", run.at("setup").dump());
  const std::string to = folder.path("fitted.json");
  const Reply fit = command({"machines", "fit", "--run", record, "--to", to});
  ASSERT_EQ(fit.status, 0) << fit.err;
  const Reply again = command({"predict", "--setup", plan, "--machine", to, "--json"});
  ASSERT_EQ(again.status, 0) << again.err;
  EXPECT_NEAR(again.json().at("step").at("seconds").get<double>() / (1.3 * predicted), 1, 0.01);
  EXPECT_THAT(
      command({"predict", "--setup", plan, "--machine", to}).out,
      testing::AllOf(HasSubstr("This computer, changed"), HasSubstr("fitted (1 measured step)")));
  EXPECT_EQ(command({"machines", "fit", "--setup", plan, "--measured",
                     fmt::format("{}s", 1.3 * predicted)})
                .status,
            0);
  EXPECT_EQ(command({"run", "--setup", plan, "--machine", to, "--backend", "cpu"}).status, 2);

  const std::string rehearsed = folder.file("rehearsed.json", run_on("paced").dump());
  const Reply refused = command({"machines", "fit", "--run", rehearsed});
  EXPECT_EQ(refused.status, 2);
  EXPECT_THAT(refused.err, HasSubstr("holds no measured step, but a rehearsed one"));
  for (const auto& [key, value] : {std::pair("/source", json(5)),
                                   {"/step/seconds", json("x")},
                                   {"/step", json(1)},
                                   {"/machine/name", json(1)}}) {
    json wrong = run;
    wrong[json::json_pointer(key)] = value;
    const Reply answer =
        command({"machines", "fit", "--run", folder.file("wrong.json", wrong.dump())});
    EXPECT_EQ(answer.status, 2) << key;
    EXPECT_THAT(answer.err, HasSubstr("wrong.json")) << key;
  }
}

// Steps that a shipped machine's rates were fitted on are fitted again to no worse errors.
TEST(Machines, AreFittedAgainOnPublishedRows) {
  const Folder folder;
  const std::string to = folder.path("fitted.json");
  const Reply fit =
      command({"machines", "fit", "--case", "llama-3-2024-table-4", "--to", to, "--json"});
  ASSERT_EQ(fit.status, 0) << fit.err;
  EXPECT_EQ(fit.json().at("errors").size(), 3u);
  double shipped = 0;
  for (const json& row : command({"cases", "llama-3-2024-table-4", "--json"}).json())
    shipped += std::abs(figure_of(row, "mfu_causal_percent").at("error").get<double>()) / 3;
  EXPECT_LT(fit.json().at("mean_error"), shipped + 0.002);
  EXPECT_EQ(command({"machines", "fit", "--case", "nothing"}).status, 2);
  const Reply none = command({"machines", "fit", "--case", "qi-2023-table-4"});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("No rates are fitted on"));
}

}  // namespace
}  // namespace parallelarium

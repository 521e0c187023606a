// SPDX-License-Identifier: Apache-2.0
// `cases`, and machines of one's own: `machines show`, `new` and `fit`.
#include <gmock/gmock.h>

#include <cmath>

#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

TEST(Cases, SetPredictionsBesideWhatWasPublished) {
  const Folder folder;
  const json rows = command({"cases", "korthikanti-2022-table-5", "--json"}).json();
  ASSERT_EQ(rows.size(), 8u);
  for (const json& row : rows) {
    const json& figure = row.at("published").at(0);
    EXPECT_NEAR(figure.at("error").get<double>(),
                figure.at("predicted").get<double>() / figure.at("value").get<double>() - 1, 1e-9);
    EXPECT_EQ(figure.at("source"), "Korthikanti et al. 2022, Table 5");
    EXPECT_EQ(figure.at("rates"), "fitted");
    // The row is a Setup that anybody can predict.
    const std::string file = folder.file("row.json", row.at("setup").dump());
    const json again = command({"predict", "--setup", file, "--json"}).json();
    EXPECT_EQ(again.at("step").at("seconds"), figure.at("predicted"));
  }
  EXPECT_THAT(command({"cases", "korthikanti-2022-table-5"}).out,
              HasSubstr("175B, full recompute"));
  EXPECT_EQ(command({"cases", "korthikanti"}).status, 2);
}

TEST(Cases, SumUpTheErrorsOfEachSource) {
  const Folder folder;
  const json rows = command({"cases", "korthikanti-2022-table-5", "--json"}).json();
  const json summary =
      command({"cases", "korthikanti-2022-table-5", "--summary", "--json"}).json().at(0);
  double sum = 0, worst = 0;
  for (const json& row : rows) {
    const double error = std::abs(row.at("published").at(0).at("error").get<double>());
    sum += error;
    worst = std::max(worst, error);
  }
  EXPECT_NEAR(summary.at("mean_error").get<double>(), sum / 8, 1e-9);
  EXPECT_NEAR(summary.at("worst_error").get<double>(), worst, 1e-9);
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
  EXPECT_EQ(predicted(file).at("step"), predicted("dgx-h100").at("step"));
  const std::string slow =
      folder.file("slow.json", R"({"based_on": "dgx-h100", "sustained": 0.5})");
  EXPECT_GT(predicted(slow).at("step").at("seconds"),
            predicted("dgx-h100").at("step").at("seconds"));
  EXPECT_EQ(command({"machines", "show", "dgx-h100", "--json"}).json(),
            command({"machines", "dgx-h100", "--json"}).json());
  EXPECT_EQ(command({"machines", "new", file, "--from", "nothing"}).status, 2);
  EXPECT_EQ(command({"machines", "new", file}).status, 2);
  EXPECT_EQ(command({"machines", "tell", "dgx-h100"}).status, 2);
  const std::string again = folder.path("again.json");
  const json told = command({"machines", "new", again, "--from", "dgx-h100", "--json"}).json();
  EXPECT_EQ(told.at("file"), again);
  EXPECT_EQ(told.at("machine"), json::parse(folder.read("again.json")));
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
  EXPECT_EQ(command({"machines", "fit"}).status, 2);
  EXPECT_EQ(command({"machines", "fit", "--measured", "soon", "--setup", plan}).status, 2);
  EXPECT_EQ(command({"machines", "fit", "--measured", "2s"}).status, 2);
  const std::string nowhere = folder.path("nowhere.json");
  const Reply wrong =
      command({"machines", "fit", "--measured", "10000s", "--setup", plan, "--to", nowhere});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("more than a factor of 1.25 off"));
  EXPECT_FALSE(std::filesystem::exists(nowhere));
}

}  // namespace
}  // namespace parallelarium

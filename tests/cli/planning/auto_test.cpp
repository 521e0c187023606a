// SPDX-License-Identifier: Apache-2.0
// What `auto` means stands beside what was asked for, in every answer.
#include <gmock/gmock.h>

#include "engine/plan/placement/cores.h"
#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

using Words = std::vector<std::string>;

json answer_of(Words words) {
  words.push_back("--json");
  const Reply reply = command(std::move(words));
  EXPECT_EQ(reply.status, kDone) << reply.err;
  return reply.json();
}

const Words kLlama = {"predict", "--model", "llama3-8b", "--machine", "dgx-h100", "--tp",
                      "8",       "--pp",    "2",         "--dp",      "4"};

Words with(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

TEST(Auto, IsResolvedForTheDevicesAndShownBesideWhatWasAsked) {
  const Folder folder;
  // `auto` of the backend may find GPUs where there are some.
  const json here = answer_of({"predict", "--backend", "cpu"});
  EXPECT_EQ(here.at("setup").at("precision"), "auto");
  EXPECT_EQ(here.at("setup").at("attention"), "auto");
  EXPECT_EQ(here.at("resolved").at("precision"), "fp32");
  EXPECT_EQ(here.at("resolved").at("attention"), "unfused");
  const json there = answer_of(kLlama);
  EXPECT_EQ(there.at("setup").at("precision"), "auto");
  EXPECT_EQ(there.at("resolved").at("precision"), "mixed-16-main-grads");
  EXPECT_EQ(there.at("resolved").at("attention"), "fused");
  for (const json& answer : {here, there}) {
    EXPECT_EQ(answer.at("resolved").dump().find("\"auto\""), std::string::npos);
    // A whole Setup, which means the same when it is asked for.
    json whole = answer.at("resolved");
    const std::string file = folder.file("resolved.json", whole.dump());
    const json again = answer_of({"predict", "--setup", file});
    EXPECT_EQ(again.at("setup"), whole);
    EXPECT_EQ(again.at("resolved"), whole);
    EXPECT_EQ(again.at("step"), answer.at("step"));
  }
  const json old = answer_of({"predict", "--machine", "hgx-v100"});
  EXPECT_EQ(old.at("resolved").at("precision"), "fp32") << "its tensor cores know no bf16";
}

TEST(Auto, GivesAPlausibleAnswerInBf16) {
  const Folder folder;
  const json mixed = answer_of(kLlama);
  const json exact = answer_of(with(kLlama, {"--precision", "fp32", "--attention", "unfused"}));
  EXPECT_EQ(exact.at("resolved").at("precision"), "fp32");
  EXPECT_EQ(exact.at("setup").at("precision"), "fp32") << "what was said stays";
  const double seconds = mixed.at("step").at("seconds");
  EXPECT_LT(5 * seconds, exact.at("step").at("seconds").get<double>());
  const double mfu = mixed.at("step").at("mfu");
  EXPECT_GT(mfu, 0.15);
  EXPECT_LT(mfu, 0.7);
  EXPECT_EQ(mixed.at("memory").at("fits"), true);
}

// A V100 has no tensor cores for bf16: not even asked for does it go at the rate of fp16.
TEST(Auto, OfAGpuWithoutBf16NeverGoesAtTheRateOfFp16) {
  const Folder folder;
  const Words v100 = {"predict", "--machine", "hgx-v100", "--model", "gpt2-124m", "--pp", "1"};
  const auto peak_bound = [](const json& answer) {
    for (const json& formula : answer.at("formulas"))
      if (formula.at("name") == "step time at peak, a lower bound")
        return formula.at("value").get<double>();
    return 0.0;
  };
  const json said = answer_of(with(v100, {"--precision", "mixed-16"}));
  EXPECT_EQ(said.at("resolved").at("precision"), "mixed-16");
  EXPECT_GT(peak_bound(said), 0);
  EXPECT_EQ(peak_bound(said), peak_bound(answer_of(v100)));
}

TEST(Auto, IsSaidInText) {
  const Folder folder;
  EXPECT_THAT(command(kLlama).out,
              HasSubstr("precision auto (mixed-16-main-grads), 2 + 4 + 4 + 8 bytes a parameter; "
                        "attention auto (fused)"));
  EXPECT_THAT(command({"predict", "--backend", "cpu", "--precision", "fp32"}).out,
              HasSubstr("precision fp32, 4 + 4 + 0 + 8 bytes a parameter; attention auto"));
}

TEST(Auto, IsKeptByARunBesideWhatItRan) {
  const Folder folder;
  Machine cores = uncalibrated_local_machine();
  cores.calibrated = "2026-11-24 for a test";
  cores.bf16_products = kWidenedBf16;
  ASSERT_TRUE(save_local_machine(cores).ok());
  const json run = answer_of({"run", "--pp", "1", "--layers", "2", "--microbatches", "2", "--steps",
                              "1", "--warmup", "0", "--backend", "cpu"});
  for (const json& answer : {run, run.at("predicted")}) {
    EXPECT_EQ(answer.at("setup").at("precision"), "auto");
    EXPECT_EQ(answer.at("resolved").at("precision"), "fp32");
    EXPECT_EQ(answer.at("resolved").at("run").at("backend"), "cpu");
  }
}

// Saved where `auto` meant something else, and where it meant the same.
TEST(Auto, OfADocumentMeansWhatItMeantWhereItWasSaved) {
  const Folder folder;
  const json asked = to_json(new_setup());
  json there = to_json(default_setup());
  there["run"]["backend"] = 4 <= available_core_count() ? "cpu" : "paced";
  const auto opened = [&](const json& resolved) {
    const json document = {
        {"format", "parallelarium-document/1"}, {"setup", asked}, {"resolved", resolved}};
    return answer_of({"predict", "--setup", folder.file("document.json", document.dump())});
  };
  if (!has_nvidia_driver()) {
    EXPECT_EQ(opened(there).at("setup"), asked);
  }
  there["precision"] = "mixed-16-main-grads";
  there["attention"] = "fused";
  const json answer = opened(there);
  EXPECT_EQ(answer.at("resolved").at("precision"), "mixed-16-main-grads");
  EXPECT_EQ(answer.at("resolved").at("attention"), "fused");
}

TEST(Presets, ThatWereRenamedAreFoundByTheirFormerNames) {
  const Folder folder;
  const json answer = answer_of({"predict", "--machine", "workstation-4090"});
  EXPECT_EQ(answer.at("machine").at("name"), "4x-rtx-4090");
  EXPECT_EQ(answer.at("setup").at("machine"), "4x-rtx-4090");
}

}  // namespace
}  // namespace parallelarium

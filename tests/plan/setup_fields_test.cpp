// SPDX-License-Identifier: Apache-2.0
// Settings by their names and texts, and what they bring along.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/plan/placement/resolve.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/plan/changed.h"

namespace parallelarium {
namespace {

TEST(SetupFields, AFileOfOrdersIsReadWhereItIsTypedAndNowhereElse) {
  const std::string path = testing::TempDir() + "/typed order.txt";
  std::ofstream(path) << "F0 F1 B0 B1\n\nF0 B0 F1 B1\n";
  parallelarium::Setup typed = default_setup(), named = default_setup();
  ASSERT_TRUE(set_typed(typed, "schedule", path).ok());
  ASSERT_NE(typed.schedule.order(), nullptr);
  EXPECT_EQ(typed.schedule.name(), "typed order");
  std::ofstream(path) << "X0\n";
  EXPECT_FALSE(set_typed(named, "schedule", path).ok());
  EXPECT_EQ(named, default_setup());
  std::filesystem::remove(path);
  EXPECT_EQ(setup_from_json(to_json(typed))->schedule, typed.schedule) << "without the file";
  ASSERT_TRUE(set_field(named, "schedule", path).ok());
  EXPECT_EQ(validate(named).front().id, "schedule-unknown");
}

TEST(SetupFields, BringAlongWhatDependsOnThem) {
  const parallelarium::Setup one_rank =
      changed({{"tp", "2"}, {"sequence-parallel", "true"}, {"tp", "1"}});
  EXPECT_FALSE(one_rank.sequence_parallel);
  EXPECT_TRUE(changed({{"stage-layers", "3,2,2,1"}, {"model", "gpt-small"}}).stage_layers.empty());
  EXPECT_TRUE(changed({{"stage-layers", "3,2,2,1"}, {"layers", "4"}}).stage_layers.empty());
  // Layers of stages are of so many stages: ZB-V has two on each rank, as two chunks have.
  const char* const of_eight = "1,1,1,1,1,1,1,1";
  EXPECT_TRUE(changed({{"schedule", "zb-v"}, {"stage-layers", of_eight}, {"schedule", "1f1b"}})
                  .stage_layers.empty());
  EXPECT_EQ(changed({{"schedule", "zb-v"}, {"stage-layers", of_eight}, {"schedule", "v-half"}})
                .stage_layers.size(),
            8u);
  EXPECT_TRUE(changed({{"stage-layers", "3,2,2,1"}, {"pp", "2"}}).stage_layers.empty());
  EXPECT_TRUE(changed({{"stage-layers", "3,2,2,1"}, {"chunks", "2"}}).stage_layers.empty());
  EXPECT_EQ(changed({{"stage-layers", "3,2,2,1"}, {"schedule", "zb-h1"}}).stage_layers.size(), 4u);
  // Files say all of it themselves.
  const Result<parallelarium::Setup> file =
      setup_from_text(R"({"mesh": {"tp": 1}, "sequence_parallel": true})");
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->sequence_parallel);
  // Several at once are set in the order of the table.
  parallelarium::Setup several = default_setup();
  ASSERT_TRUE(set_fields(several, {{"model.ffn", "320"}, {"model.hidden", "128"}}).ok());
  EXPECT_EQ(several.model.ffn, 320);
  EXPECT_EQ(several.model.hidden, 128);
}

TEST(SetupFields, AreSetByOptionAndByKey) {
  for (const SetupSetting& info : setup_settings()) {
    EXPECT_FALSE(info.help.empty()) << info.option;
    parallelarium::Setup by_option = default_setup(), by_key = default_setup();
    bool changed = false;
    for (const char* value :
         {"2",        "8",          "true",        "false",          "full",
          "ulysses",  "fused",      "paced",       "swiglu",         "rms",
          "mixed-16", "gpt-small",  "dgx-h100",    "tp-cp-ep-pp-dp", "2,2,2,2",
          "0.5",      "sigmoid",    "round-robin", "fp32",           "once-per-node",
          "fp8",      "contiguous", "activations"}) {
      const bool set = set_field(by_option, info.option, value).ok();
      EXPECT_EQ(set_field(by_key, info.key, value).ok(), set) << info.option << " " << value;
      changed = changed || by_option != default_setup();
    }
    EXPECT_EQ(by_option, by_key) << info.option;
    EXPECT_TRUE(changed) << info.option;
  }
}

TEST(SetupFields, PrecisionIsANameOrItsFourNumbers) {
  parallelarium::Setup setup = default_setup();
  ASSERT_TRUE(set_field(setup, "precision", R"({"parameter_bytes": 2, "gradient_bytes": 4,
                                               "master_bytes": 4, "moments_bytes": 8})")
                  .ok());
  EXPECT_EQ(setup.precision.parameter_bytes, 2);
  EXPECT_EQ(setup.precision.gradient_bytes, 4);
  EXPECT_FALSE(set_field(setup, "precision", R"({"parameter_bytes": 5})").ok());
  EXPECT_EQ(setup.precision.parameter_bytes, 2);
}

TEST(SetupFields, CoverTheCommandLineOfTheContract) {
  for (const char* option : {"model",
                             "machine",
                             "dp",
                             "tp",
                             "pp",
                             "cp",
                             "ep",
                             "order",
                             "sequence-parallel",
                             "zero",
                             "zero-group",
                             "precision",
                             "schedule",
                             "chunks",
                             "micro-batch",
                             "microbatches",
                             "recompute",
                             "context-parallel",
                             "attention",
                             "dropout",
                             "learning-rate",
                             "clip",
                             "backend",
                             "stretch",
                             "steps",
                             "warmup",
                             "seed",
                             "text",
                             "layers",
                             "hidden",
                             "heads",
                             "kv-heads",
                             "ffn",
                             "vocab",
                             "sequence",
                             "mlp",
                             "norm",
                             "zero-prefetch",
                             "slow-rank",
                             "slow-factor"})
    EXPECT_TRUE(std::any_of(setup_settings().begin(), setup_settings().end(),
                            [&](const SetupSetting& info) { return info.option == option; }))
        << option;
}

TEST(SetupFields, TheHelpOfScheduleNamesAllOfThem) {
  const std::string& help = find_setting(setup_settings(), "schedule")->help;
  for (const ScheduleRule& rule : kScheduleRules)
    EXPECT_NE((", " + help).find(", " + std::string(rule.name) + ","), std::string::npos)
        << rule.name;
}

TEST(Devices, AreAllOrAListInItsOrder) {
  EXPECT_EQ(*device_list("all"), std::vector<int>{});
  EXPECT_EQ(*device_list("2,0,11"), (std::vector<int>{2, 0, 11}));
  for (const char* wrong : {"", ",", "1,", "0,0", "-1", "a", "0 1", "99999999999"}) {
    parallelarium::Setup setup = default_setup();
    setup.run.devices = wrong;
    const std::vector<Message> problems = validate(setup);
    ASSERT_EQ(problems.size(), 1u) << wrong;
    EXPECT_EQ(problems.front().field, "run.devices");
  }
}

TEST(SetupFields, RefuseNonsenseAndChangeNothing) {
  for (const SetupSetting& info : setup_settings()) {
    for (const char* value : {"", "\xff\xfe", "nan", "-1e999", "1e999", "{", "2x"}) {
      parallelarium::Setup setup = default_setup();
      const Result<void> set = set_field(setup, info.option, value);
      if (set.ok()) continue;  // a path may be called "2x"
      EXPECT_EQ(setup, default_setup()) << info.option << " " << value;
      EXPECT_FALSE(set.error().text.empty());
    }
  }
  parallelarium::Setup setup = default_setup();
  EXPECT_FALSE(set_field(setup, "colour", "red").ok());
  EXPECT_TRUE(set_field(setup, "microbatches", "1e+02").ok()) << "as number fields write it";
  EXPECT_EQ(setup.microbatches, 100);
}

TEST(ModelOverride, RecomputesWhatThePresetDerived) {
  const parallelarium::Setup wide = changed({{"hidden", "128"}});
  EXPECT_EQ(wide.model.name, "custom");
  EXPECT_EQ(wide.model.ffn, 512) << "it was 4 hidden";
  EXPECT_EQ(wide.model.kv_heads, 4);
  const parallelarium::Setup heads = changed({{"heads", "8"}});
  EXPECT_EQ(heads.model.kv_heads, 8) << "all heads had their own";
  const parallelarium::Setup swiglu = changed({{"mlp", "swiglu"}});
  EXPECT_EQ(swiglu.model.ffn, 192);
  const parallelarium::Setup asked =
      changed({{"hidden", "128"}, {"mlp", "swiglu"}, {"ffn", "320"}});
  EXPECT_EQ(asked.model.ffn, 320);
}

TEST(ModelOverride, KeepsWhatThePresetChose) {
  const parallelarium::Setup grouped = changed({{"model", "llama3-8b"}, {"hidden", "2048"}});
  EXPECT_EQ(grouped.model.kv_heads, 8);
  EXPECT_EQ(grouped.model.ffn, 14336) << "3.5 hidden was a choice, not the default";
  const parallelarium::Setup split = changed({{"model", "llama3-405b"}, {"layers", "128"}});
  EXPECT_TRUE(split.model.stage_layers.empty()) << "the published split was for 126 layers";
}

TEST(ModelOverride, ThatChangesNothingKeepsTheName) {
  EXPECT_EQ(changed({{"layers", "8"}}).model.name, "gpt-tiny");
  EXPECT_EQ(changed({{"hidden", "128"}, {"hidden", "64"}}), default_setup());
  EXPECT_EQ(changed({{"hidden", "256"}, {"heads", "8"}, {"sequence", "256"}}).model.name,
            "gpt-small");
}

}  // namespace
}  // namespace parallelarium

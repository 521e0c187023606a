// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/plan/placement/resolve.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/plan/changed.h"

namespace parallelarium {
namespace {

TEST(Stretch, AutoIsTheNameOfItsDefault) {
  const auto read = setup_from_text(R"({"run": {"stretch": "auto"}})");
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_EQ(read->run.stretch, kAutoStretch);
  EXPECT_EQ(changed({{"stretch", "12.5"}, {"stretch", "auto"}}).run.stretch, kAutoStretch);
}

TEST(DefaultSetup, IsTheFirstLessonOfTheContract) {
  const parallelarium::Setup setup = default_setup();
  EXPECT_TRUE(validate(setup).empty());
  EXPECT_TRUE(can_execute(setup).ok());
  EXPECT_EQ(to_json(setup), nlohmann::json::parse(R"({
    "format": "parallelarium-setup/1", "model": "gpt-tiny", "machine": "local",
    "mesh": { "dp": 1, "tp": 1, "pp": 4, "cp": 1, "ep": 1, "order": "tp-cp-ep-dp-pp" },
    "sequence_parallel": false, "zero": 0, "zero_group": 0, "precision": "fp32",
    "schedule": "1f1b", "chunks": 1, "micro_batch": 1, "microbatches": 8, "recompute": "none",
    "context_parallel": "ring", "attention": "unfused", "dropout": 0.0, "learning_rate": 1e-3,
    "clip": 0.0,
    "run": { "backend": "auto", "stretch": 1.0, "steps": 5, "warmup": 1, "seed": 1,
             "text": "default" } })"));
}

TEST(SetupFile, EveryKeyIsOptional) {
  const Result<parallelarium::Setup> setup = setup_from_text("{}");
  ASSERT_TRUE(setup.ok());
  EXPECT_EQ(*setup, new_setup());
}

TEST(SetupFile, ReadsWhatItWrites) {
  const parallelarium::Setup setups[] = {
      default_setup(),
      changed({{"model", "llama3-405b"},
               {"machine", "dgx-h100"},
               {"nodes", "128"},
               {"tp", "8"},
               {"pp", "16"},
               {"dp", "8"},
               {"sequence-parallel", "true"},
               {"zero", "1"},
               {"precision", "mixed-16-main-grads"},
               {"recompute", "selective"}}),
      changed({{"hidden", "96"},
               {"heads", "6"},
               {"stage-layers", "3,2,2,1"},
               {"dropout", "0.1"},
               {"seed", "18446744073709551615"},
               {"text", "/tmp/größe.txt"},
               {"devices", "2,0"},
               {"stretch", "12.5"},
               {"slow-rank", "2"},
               {"slow-factor", "1.5"},
               {"backend", "paced"},
               {"order", "tp-cp-ep-pp-dp"},
               {"schedule", R"({"name": "mine", "order": ["F0 B0", "F0 B0"]})"}}),
      changed({{"model", "mixtral-8x7b"},
               {"ep", "4"},
               {"dp", "4"},
               {"cp", "2"},
               {"context-parallel", "ulysses"},
               {"attention", "fused"},
               {"zero", "3"},
               {"zero-group", "2"},
               {"zero-prefetch", "3"},
               {"clip", "1"},
               {"learning-rate", "3e-4"}}),
  };
  for (const parallelarium::Setup& setup : setups) {
    const std::string text = to_json(setup).dump();
    const Result<parallelarium::Setup> again = setup_from_text(text);
    ASSERT_TRUE(again.ok()) << again.error().text;
    EXPECT_EQ(*again, setup) << text;
    const nlohmann::json document = {{"format", "parallelarium-document/1"},
                                     {"setup", to_json(setup)},
                                     {"note", "kept by the app"}};
    ASSERT_TRUE(setup_from_json(document).ok());
    EXPECT_EQ(*setup_from_json(document), setup);
  }
}

TEST(SetupFile, KeepsACustomPrecision) {
  const Result<parallelarium::Setup> setup = setup_from_text(
      R"({"precision":{"parameter_bytes":2,"gradient_bytes":4,"master_bytes":4,"moments_bytes":4}})");
  ASSERT_TRUE(setup.ok()) << setup.error().text;
  EXPECT_EQ(setup->precision.state_bytes(), 14);
  EXPECT_EQ(*setup_from_json(to_json(*setup)), *setup);
}

TEST(SetupFile, HoldsAnOrderOfOnesOwn) {
  const char* text = R"({"schedule": {"name": "mine", "order": ["F0 F1 B0 B1", "F0 B0 F1 B1"]}})";
  const Result<parallelarium::Setup> setup = setup_from_text(text);
  ASSERT_TRUE(setup.ok()) << setup.error().text;
  ASSERT_NE(setup->schedule.order(), nullptr);
  EXPECT_EQ(setup->schedule.order()->ranks.size(), 2u);
  EXPECT_EQ(setup->schedule.order()->microbatches, 2);
  EXPECT_EQ(setup->schedule.order()->name, "mine");
  EXPECT_EQ(to_json(*setup)["schedule"], nlohmann::json::parse(text)["schedule"]);
  EXPECT_NE(setup->schedule, parallelarium::Schedule("mine")) << "one of the list by that name";
  EXPECT_EQ(setup_from_json(to_json(*setup))->schedule, setup->schedule);
}

TEST(SetupFile, HoldsAMachineOfOnesOwn) {
  const char* text = R"({"machine": {"based_on": "dgx-h100", "devices_per_node": 4,
                                     "intra_node": {"bytes_per_second": 2e11}}})";
  const Result<parallelarium::Setup> setup = setup_from_text(text);
  ASSERT_TRUE(setup.ok()) << setup.error().text;
  const Result<Machine> preset = find_machine("dgx-h100"), changed = machine_of(setup->machine);
  ASSERT_TRUE(changed.ok()) << changed.error().text;
  EXPECT_EQ(changed->devices_per_node, 4);
  EXPECT_EQ(changed->intra_node.bytes_per_second, (Sourced{2e11, "assumed"}));
  EXPECT_EQ(changed->intra_node.latency_seconds, preset->intra_node.latency_seconds);
  EXPECT_EQ(changed->memory_bytes, preset->memory_bytes);
  EXPECT_NE(changed->title, preset->title);
  EXPECT_EQ(to_json(*setup)["machine"], nlohmann::json::parse(text)["machine"]);
  EXPECT_EQ(setup_from_json(to_json(*setup))->machine, setup->machine);
  EXPECT_NE(setup->machine, MachineChoice("dgx-h100"));
  EXPECT_TRUE(validate(resolve(*setup, *changed)).empty());
  parallelarium::Setup typed = default_setup();
  const std::string path = testing::TempDir() + "/slow.json";
  std::ofstream(path) << to_json(*setup)["machine"];
  EXPECT_TRUE(set_typed(typed, "machine", path).ok());
  EXPECT_EQ(typed.machine, setup->machine);
  std::filesystem::remove(path);
}

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

struct Refused {
  const char* text;
  const char* field;
  const char* words;
};
void PrintTo(const Refused& refused, std::ostream* out) { *out << refused.text; }

class RefusedFile : public testing::TestWithParam<Refused> {};
TEST_P(RefusedFile, NamesTheDottedKey) {
  const Result<parallelarium::Setup> setup = setup_from_text(GetParam().text);
  ASSERT_FALSE(setup.ok());
  EXPECT_EQ(setup.error().field, GetParam().field) << setup.error().text;
  EXPECT_NE(setup.error().text.find(GetParam().words), std::string::npos) << setup.error().text;
  EXPECT_EQ(setup.error().text.back(), '.');
}
INSTANTIATE_TEST_SUITE_P(
    Sentences, RefusedFile,
    testing::Values(
        Refused{" \n", "", "The text is empty."},
        Refused{R"({"points": []})", "", "`sweep` prints"},
        Refused{R"({"best": [], "candidates": 4})", "", "found no Setup"},
        Refused{R"({"based_on": "dgx-h100"})", "", "This is a machine"},
        Refused{"{\n \"mesh\": {\n }", "", "line 3"}, Refused{"[]", "", "must be an object"},
        Refused{R"({"mesh":4})", "", "mesh must be"},
        Refused{R"({"colour":1})", "colour", "Unknown key"},
        Refused{R"({"mesh":{"dpp":1}})", "mesh.dpp", "known here: dp, tp, pp, cp, ep, order"},
        Refused{R"({"mesh":{"dp":0}})", "mesh.dp", "between 1 and 65536"},
        Refused{R"({"mesh":{"dp":1e300}})", "mesh.dp", "between 1 and 65536"},
        Refused{R"({"mesh":{"dp":"2"}})", "mesh.dp", "whole number"},
        Refused{R"({"mesh":{"dp":1.5}})", "mesh.dp", "whole number"},
        Refused{R"({"mesh":{"order":"dp-tp"}})", "mesh.order", "tp-cp-ep-dp-pp"},
        Refused{R"({"model":"gpt-9"})", "model", "There is no model"},
        Refused{R"({"model":{"layers":1}})", "model.hidden", "needs model.hidden"},
        Refused{R"({"precision":"fp8"})", "precision", "mixed-16"},
        Refused{R"({"precision":{"master":4}})", "precision.master", "Unknown key"},
        Refused{R"({"sequence_parallel":1})", "sequence_parallel", "true or false"},
        Refused{R"({"schedule":{"name":"mine"}})", "schedule", "a line for each rank"},
        Refused{R"({"schedule":{"name":"mine","order":["X0"]}})", "schedule", "X0"},
        Refused{R"({"schedule":{"name":"mine","order":["F0 B0"],"x":1}})", "schedule.x",
                "known here: name, order"},
        Refused{R"({"machine":{"devices_per_node":4}})", "machine", "based_on"},
        Refused{R"({"machine":{"based_on":"local"}})", "machine.based_on", "dgx-h100"},
        Refused{R"({"machine":{"based_on":"dgx-h100","colour":1}})", "machine.colour",
                "Unknown key"},
        Refused{R"({"zero":4})", "zero", "between 0 and 3"},
        Refused{R"({"recompute":"some"})", "recompute", "experts or full"},
        Refused{R"({"run":{"seed":-1}})", "run.seed", "not negative"},
        Refused{R"({"run":{"stepz":1}})", "run.stepz", "Unknown key"},
        Refused{R"({"run":{"stretch":null}})", "run.stretch", "a number"},
        Refused{R"({"run":{"stretch":"slow"}})", "run.stretch", "a number"},
        Refused{R"({"run":{"stretch":0.5}})", "run.stretch", "between 1 and"},
        // Of older versions.
        Refused{R"({"run":{"pace_seconds":0.04}})", "run.pace_seconds", "Unknown key"},
        Refused{R"({"stage_layers":[1,-1]})", "stage_layers", "between 0 and"},
        Refused{R"({"format":"parallelarium-setup/9"})", "format", "reads parallelarium-setup/1"},
        Refused{R"({"format":"parallelarium-document/1"})", "", "holds no setup"},
        Refused{R"({"dropout":1})", "dropout", "0.99"}, Refused{"// why\n{}", "", "line 1"},
        Refused{R"({"zero":1e999})", "", "too large"}));

TEST(SetupFile, IsFoundInsideAnAnswer) {
  const auto answer = setup_from_text(R"({"setup": {"mesh": {"pp": 2}}, "model": {}, "ranks": 2})");
  ASSERT_TRUE(answer.ok()) << answer.error().text;
  EXPECT_EQ(answer->mesh.pp, 2);
  EXPECT_EQ(setup_from_text(R"({"setup": 2})").error().field, "setup");
}

TEST(SetupFile, RefusesDeepNestingInsteadOfRunningOutOfStack) {
  const std::string deep = std::string(200'000, '[');
  const Result<parallelarium::Setup> setup = setup_from_text(deep);
  ASSERT_FALSE(setup.ok());
  EXPECT_EQ(setup.error().id, "json-depth");
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

TEST(LayersOfStages, AreEvenOrPublishedOrAsked) {
  EXPECT_EQ(layers_of_stages(default_setup()), (std::vector<int>{2, 2, 2, 2}));
  EXPECT_EQ(layers_of_stages(changed({{"stage-layers", "3,2,2,1"}})),
            (std::vector<int>{3, 2, 2, 1}));
  const parallelarium::Setup llama = changed({{"model", "llama3-405b"}, {"pp", "16"}});
  EXPECT_TRUE(validate(llama).empty());
  EXPECT_EQ(layers_of_stages(llama).front(), 7);
  EXPECT_EQ(layers_of_stages(llama)[1], 8);
  EXPECT_EQ(layers_of_stages(changed({{"model", "llama3-405b"}, {"pp", "7"}})),
            std::vector<int>(7, 18));
}

}  // namespace
}  // namespace parallelarium

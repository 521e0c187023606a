// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/plan/placement/resolve.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/plan/changed.h"

namespace parallelarium {
namespace {

TEST(Stretch, AutoIsTheNameOfItsDefault) {
  const auto read = setup_from_text(R"({"run": {"stretch": "auto"}})");
  ASSERT_TRUE(read.ok()) << read.error().text;
  EXPECT_EQ(read->run.stretch, kAutoStretch);
  EXPECT_EQ(read->run, changed({{"stretch", "12.5"}, {"stretch", "auto"}}).run);
  EXPECT_EQ(to_json(*read).at("run").at("stretch"), "auto");
  EXPECT_EQ(to_json(changed({{"stretch", "12.5"}})).at("run").at("stretch"), 12.5);
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
    "run": { "backend": "auto", "stretch": "auto", "steps": 5, "warmup": 1, "seed": 1,
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
               {"overlap-parameters", "true"},
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
  EXPECT_EQ(changed->intra_node.bytes_per_second, (Sourced{2e11}));
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

// `machines new` writes values with their origins, and people change the values.
TEST(SetupFile, TakesNoOriginForAnotherNumber) {
  const Result<Machine> preset = find_machine("dgx-h100");
  const Sourced own = preset->half_flops_per_second;
  const auto changed = [&](double value, const std::string& origin) {
    nlohmann::json number = {{"value", value}};
    if (!origin.empty()) number["origin"] = origin;
    const Result<MachineChoice> choice =
        MachineChoice::changed("dgx-h100", {{"half_flops_per_second", number}});
    return machine_of(*choice)->half_flops_per_second;
  };
  EXPECT_EQ(changed(4e14, ""), (Sourced{4e14}));
  EXPECT_EQ(changed(4e14, text_of(own.origin)), (Sourced{4e14}));
  EXPECT_EQ(text_of(changed(4e14, "published in a paper").origin), "published in a paper");
  EXPECT_EQ(changed(own.value, ""), own);
  for (const nlohmann::json& origin : {nlohmann::json(5), nlohmann::json(nullptr)})
    EXPECT_FALSE(MachineChoice::changed(
                     "dgx-h100", {{"half_flops_per_second", {{"value", 4e14}, {"origin", origin}}}})
                     .ok())
        << origin;
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
        Refused{R"({"mesh":{"dpp":1}})", "mesh.dpp",
                "known here: dp, tp, pp, cp, ep, expert_tensor, order"},
        Refused{R"({"mesh":{"dp":0}})", "mesh.dp", "between 1 and 65536"},
        Refused{R"({"mesh":{"dp":1e300}})", "mesh.dp", "between 1 and 65536"},
        Refused{R"({"mesh":{"dp":"2"}})", "mesh.dp", "whole number"},
        Refused{R"({"mesh":{"dp":1.5}})", "mesh.dp", "whole number"},
        Refused{R"({"mesh":{"order":"dp-tp"}})", "mesh.order", "tp-cp-ep-dp-pp"},
        Refused{R"({"model":"gpt-9"})", "model", "There is no model"},
        Refused{R"({"model":{"layers":1}})", "model.hidden", "needs model.hidden"},
        Refused{R"({"precision":"fp8"})", "precision", "mixed-16"},
        Refused{R"({"precision":{"master":4}})", "precision.master", "Unknown key"},
        Refused{R"({"precision":{"parameter_bytes":2}})", "precision", "all four numbers"},
        Refused{R"({"sequence_parallel":1})", "sequence_parallel", "true or false"},
        Refused{R"({"schedule":{"name":"mine"}})", "schedule", "a line for each rank"},
        Refused{R"({"schedule":{"name":"mine","order":["X0"]}})", "schedule", "X0"},
        Refused{R"({"schedule":{"name":"mine","order":["F0 B0"],"x":1}})", "schedule.x",
                "known here: name, order"},
        Refused{R"({"machine":{"devices_per_node":4}})", "machine", "based_on"},
        Refused{R"({"machine":{"based_on":"dgx"}})", "machine.based_on", "dgx-h100"},
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
        Refused{R"({"format":"parallelarium-document/99","setup":{}})", "format",
                "reads parallelarium-document/1"},
        Refused{R"({"dropout":1})", "dropout", "0.99"}, Refused{"// why\n{}", "", "line 1"},
        Refused{R"({"gpus":8,"mesh":{"dp":4,"pp":4}})", "gpus", "gpus 8 makes mesh.dp 2, not 4"},
        Refused{R"({"global_batch":64,"microbatches":4})", "global_batch",
                "makes microbatches 64, not 4"},
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

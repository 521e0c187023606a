// SPDX-License-Identifier: Apache-2.0
// Every command as text for people and as JSON.
#include <gmock/gmock.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "engine/lesson/planner_lock.h"
#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;

TEST(Help, IsThereForEveryCommandWithExamples) {
  const Reply all = command({"--help"});
  EXPECT_EQ(all.status, kDone);
  EXPECT_EQ(all.err, "");
  for (const char* name : {"devices", "calibrate", "models", "machines", "predict", "run",
                           "schedule", "route", "export", "lesson", "serve", "manual"}) {
    EXPECT_THAT(all.out, HasSubstr(name));
    const Reply one = command({name, "--help"});
    EXPECT_EQ(one.status, kDone) << name;
    EXPECT_EQ(one.out.find("Examples:") == std::string::npos, std::string(name) == "serve") << name;
  }
  EXPECT_EQ(command({"--version"}).status, kDone);
}

TEST(Help, IsNotGivenForACommandThatIsNotThere) {
  const Reply reply = command({"check", "--help"});
  EXPECT_EQ(reply.status, 2);
  EXPECT_NE(reply.err.find("There is no command \"check\""), std::string::npos) << reply.err;
  EXPECT_EQ(command({"", "--help"}).status, 2);
}

TEST(Help, HasAnOptionForEverySetupField) {
  const Reply help = command({"predict", "--help"});
  for (const char* option : {"--model",
                             "--machine",
                             "--dp",
                             "--tp",
                             "--pp",
                             "--cp",
                             "--ep",
                             "--sequence-parallel",
                             "--zero",
                             "--zero-group",
                             "--zero-prefetch",
                             "--precision",
                             "--schedule",
                             "--chunks",
                             "--micro-batch",
                             "--microbatches",
                             "--recompute",
                             "--context-parallel",
                             "--backend",
                             "--stretch",
                             "--steps",
                             "--warmup",
                             "--seed",
                             "--text",
                             "--layers",
                             "--hidden",
                             "--heads",
                             "--kv-heads",
                             "--ffn",
                             "--vocab",
                             "--sequence",
                             "--mlp",
                             "--norm"})
    EXPECT_THAT(help.out, HasSubstr(std::string(option) + " ")) << option;
}

TEST(Models, ListAndShowTheSameCounts) {
  const json models = command({"models", "--json"}).json().at("models");
  EXPECT_GE(models.size(), 15u);
  const Reply list = command({"models"});
  for (const json& entry : models) {
    const std::string name = entry.at("model").at("name");
    EXPECT_THAT(list.out, HasSubstr(name));
    EXPECT_EQ(command({"models", name, "--json"}).json(), entry);
    EXPECT_THAT(command({"models", name}).out,
                HasSubstr(std::to_string(entry.at("parameters").get<std::int64_t>())));
  }
}

TEST(Models, AnImportedConfigurationWorksInASetup) {
  const Folder folder;
  const std::string config = folder.file("config.json", R"({
    "model_type": "llama", "num_hidden_layers": 8, "hidden_size": 256, "num_attention_heads": 8,
    "num_key_value_heads": 4, "intermediate_size": 512, "vocab_size": 1000,
    "max_position_embeddings": 256, "tie_word_embeddings": false, "hidden_act": "silu"})");
  const Reply text = command({"models", "--import", config});
  EXPECT_EQ(text.status, kDone) << text.err;
  EXPECT_THAT(text.out, HasSubstr("256"));
  const Reply answer = command({"models", "--import", config, "--json"});
  ASSERT_EQ(answer.status, kDone);
  const json model = answer.json().at("model");
  const std::string setup = folder.file("setup.json", json{{"model", model}}.dump());
  const Reply predicted = command({"predict", "--setup", setup, "--json"});
  ASSERT_EQ(predicted.status, kDone) << predicted.err;
  EXPECT_EQ(predicted.json().at("model").at("parameters"), answer.json().at("parameters"));
}

TEST(Machines, EveryNumberHasAnOrigin) {
  const Folder folder;
  const json machines = command({"machines", "--json"}).json().at("machines");
  std::set<std::string> names;
  for (const json& machine : machines) names.insert(machine.at("name"));
  for (const char* name : {"local", "dgx-a100-80g", "dgx-h100", "dgx-h200"}) {
    EXPECT_TRUE(names.count(name)) << name;
    EXPECT_EQ(command({"machines", name}).status, kDone);
    EXPECT_EQ(command({"machines", name, "--json"}).json().at("name"), name);
  }
  EXPECT_THAT(command({"machines"}).out, HasSubstr("dgx-h100"));
  // What is assumed is not called published.
  for (const json& machine : machines) {
    std::vector<json> left = {machine};
    int numbers = 0;
    while (!left.empty()) {
      const json value = left.back();
      left.pop_back();
      if (!value.is_object()) continue;
      if (value.contains("value")) {
        ++numbers;
        EXPECT_FALSE(value.value("origin", "").empty()) << value;
      } else {
        for (const json& child : value) left.push_back(child);
      }
    }
    EXPECT_GE(numbers, 10) << machine.at("name");
  }
  EXPECT_THAT(command({"predict", "--machine", "dgx-a100-80g"}).out,
              HasSubstr("published rates and an assumed cost of starting an op"));
}

TEST(Schedule, IsThePictureOfThePapers) {
  const Reply answer =
      command({"schedule", "1f1b", "--stages", "4", "--microbatches", "6", "--backward", "1"});
  EXPECT_EQ(answer.status, kDone);
  EXPECT_THAT(answer.out,
              HasSubstr("  rank 0  F0 F1 F2 F3 .. .. .. B0 F4 B1 F5 B2 .. B3 .. B4 .. B5\n"
                        "  rank 1  .. F0 F1 F2 .. .. B0 F3 B1 F4 B2 F5 B3 .. B4 .. B5 ..\n"
                        "  rank 2  .. .. F0 F1 .. B0 F2 B1 F3 B2 F4 B3 F5 B4 .. B5 .. ..\n"
                        "  rank 3  .. .. .. F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 .. .. ..\n"));
  EXPECT_THAT(answer.out, HasSubstr("Makespan 18"));
  EXPECT_THAT(answer.out, HasSubstr("by rank: 4 3 2 1\n"));
}

TEST(Schedule, ALongBackwardTakesItsCells) {
  const Reply answer = command({"schedule", "gpipe", "--stages", "2", "--microbatches", "2"});
  EXPECT_THAT(answer.out, HasSubstr("  rank 0  F0 F1 .. .. .. B1 -- B0 --\n"
                                    "  rank 1  .. F0 F1 B1 -- B0 -- .. ..\n"));
}

TEST(Schedule, JsonHasWhatTheContractSays) {
  const json answer = command({"schedule", "1f1b", "--stages", "4", "--microbatches", "8",
                               "--backward-input", "1", "--backward-weight", "1", "--json"})
                          .json();
  EXPECT_EQ(answer.at("stages"), 4);
  EXPECT_EQ(answer.at("makespan"), 33);
  EXPECT_NEAR(answer.at("bubble").at("of_total"), 3.0 / 11, 1e-12);
  EXPECT_NEAR(answer.at("bubble").at("over_ideal"), 3.0 / 8, 1e-12);
  EXPECT_EQ(answer.at("peak_in_flight"), (json{4, 3, 2, 1}));
  EXPECT_EQ(answer.at("spans").size(), 4u);
  EXPECT_EQ(answer.at("order").at(3), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4 F5 B5 F6 B6 F7 B7");
}

TEST(Schedule, ItsOrderAsAFileIsJudgedRightAndTimedTheSame) {
  const Folder folder;
  for (const char* notation : {"paper", "pytorch"}) {
    const json named = command({"schedule", "1f1b", "--stages", "3", "--microbatches", "5",
                                "--notation", notation, "--json"})
                           .json();
    std::string lines;
    for (const json& line : named.at("order")) lines += line.get<std::string>() + "\n";
    const std::string file = folder.file("order.txt", lines);
    const Reply read = command({"schedule", file, "--notation", notation, "--json"});
    ASSERT_EQ(read.status, kDone) << read.err;
    EXPECT_EQ(read.json().at("spans"), named.at("spans"));
    EXPECT_THAT(command({"schedule", file, "--notation", notation}).out,
                HasSubstr("The order is right"));
    const std::string alone = folder.file("alone.txt", "");
    ASSERT_EQ(command({"schedule", file, "--notation", notation, "--out", alone}).status, kDone);
    std::ostringstream written;
    written << std::ifstream(alone).rdbuf();
    EXPECT_EQ(written.str(), lines);
  }
}

TEST(Schedule, SaysWhatAnOrderIsWithoutAName) {
  const Folder folder;
  for (const auto& [lines, told] :
       {std::pair{"F0 F1 F2 B0 F3 B1 B2 B3\nF0 F1 B0 F2 B1 F3 B2 B3\n",
                  "This is 1F1B with 1 more warm-up forward."},
        {"F0 F1 B0 B1\nF0 F1 B0 B1\n",
         "This is GPipe with the backwards in the order of the forwards."}}) {
    const std::string file = folder.file("order.txt", lines);
    EXPECT_THAT(command({"schedule", file}).out, HasSubstr(told));
    EXPECT_TRUE(command({"schedule", file, "--json"}).json().at("recognised").is_null());
  }
}

TEST(Schedule, SaysWhatIsBrokenInAFileAndHowFarItIsFromTheFloor) {
  const Folder folder;
  const std::string early = folder.file("early.txt", "F0 F1 B0 B1\nB0 F0 F1 B1\n");
  const Reply told = command({"schedule", early});
  EXPECT_EQ(told.status, kDone) << told.err;
  EXPECT_THAT(told.out, HasSubstr("B0 of stage 1 stands before F0 of stage 1, which it needs."));
  json answer = command({"schedule", early, "--json"}).json();
  EXPECT_FALSE(answer.at("legal"));
  ASSERT_EQ(answer.at("broken").size(), 1u);
  EXPECT_EQ(answer.at("broken")[0].at("rank"), 1);
  EXPECT_EQ(answer.at("broken")[0].at("op"), "B0");
  EXPECT_EQ(answer.at("broken")[0].at("needs"), "F0");
  EXPECT_EQ(answer.at("floor").at("at_least"), 9)
      << "2 micro-batches and a bubble of one, of 3 each";
  EXPECT_TRUE(answer.at("recognised").is_null());

  const std::string gpipe = folder.file("mine.csv", "0F0,0F1,0B0,0B1\n1F0,1F1,1B0,1B1\n");
  answer = command({"schedule", gpipe, "--held-limit", "1", "--json"}).json();
  EXPECT_TRUE(answer.at("legal"));
  EXPECT_FALSE(answer.at("within_limit"));
  EXPECT_EQ(answer.at("floor").at("best_known"), 12) << "one after another";
  EXPECT_TRUE(answer.at("floor").at("exact"));
  const std::string other = folder.file("other.txt", "F0 F1 B0 B1\nF0 B0 F1 B1\n");
  EXPECT_EQ(command({"schedule", other, "--json"}).json().at("recognised"), "1f1b");
  // What is not known is null, not 0.
  answer = command({"schedule", folder.file("part.txt", "F0 B0 F1\nF0 B0\n"), "--held-limit", "1",
                    "--json"})
               .json();
  EXPECT_EQ(answer.at("legal"), false);
  for (const char* key : {"within_limit", "makespan", "floor"})
    EXPECT_TRUE(answer.at(key).is_null()) << key;
  for (const json& share : answer.at("bubble")) EXPECT_TRUE(share.is_null());
  for (const json& fault : answer.at("broken")) EXPECT_TRUE(fault.at("op").is_null()) << fault;
  EXPECT_THAT(command({"schedule", other}).out, HasSubstr("This is 1F1B."));
  EXPECT_EQ(
      command({"schedule", folder.file("less.txt", "F0\nF0 B0\n"), "--json"}).json().at("floor"),
      nullptr);
}

TEST(Export, WritesTraceAndTableAtomically) {
  const Folder folder;
  const Reply trace = command({"export", folder.path("step.json"), "--pp", "2"});
  EXPECT_EQ(trace.status, kDone) << trace.err;
  EXPECT_EQ(trace.out, "");
  const json written = json::parse(folder.read("step.json"), nullptr, false);
  ASSERT_FALSE(written.is_discarded());
  EXPECT_FALSE(written.at("traceEvents").empty());
  EXPECT_EQ(command({"export", folder.path("step.csv"), "--pp", "2"}).status, kDone);
  EXPECT_THAT(folder.read("step.csv"), testing::StartsWith("rank,stage,lane,op,kind"));
  EXPECT_EQ(folder.files(), 2);
}

// A copy of the engine program beside a program that stands in for the window: it writes the name
// of its picture into it, or fails.
TEST(Export, PicturesFollowTheFormatWhateverTheEnding) {
  const Folder folder;
  const std::string window = folder.file(
      "parallelarium",
      "#!/bin/sh\ncase \"$2\" in *.pdf) echo 'No.' >&2; exit 1;; esac\necho \"$2\" > \"$2\"\n");
  std::filesystem::permissions(window, std::filesystem::perms::owner_all);
  const std::string engine = folder.path("parallelarium-engine");
  std::filesystem::copy_file(PARALLELARIUM_BINARY_DIR "/parallelarium-engine", engine);
  const auto run = [&](const std::string& words) {
    const int ended = std::system(
        (engine + " export " + folder.path("") + words + " 2> " + folder.path("err.txt")).c_str());
    return WEXITSTATUS(ended);
  };
  ASSERT_EQ(run("z.json --format png"), kDone) << folder.read("err.txt");
  EXPECT_THAT(folder.read("z.json"), testing::EndsWith(".png\n"));
  EXPECT_EQ(run("none --format pdf"), kFailed);
  EXPECT_EQ(folder.read("err.txt"), "No.\n");  // the window has said it, and nothing follows
  EXPECT_EQ(folder.files(), 4);
}

TEST(Export, JsonSaysWhatWasWritten) {
  const Folder folder;
  const Reply answer = command({"export", folder.path("step.csv"), "--json"});
  ASSERT_EQ(answer.status, kDone) << answer.err;
  EXPECT_EQ(answer.json().at("format"), "csv");
  EXPECT_EQ(answer.json().at("of"), "prediction");
}

TEST(Export, PrintsWhatTheFileWouldHoldAndRefusesPictures) {
  const Folder folder;
  for (const std::string format : {"trace", "csv"}) {
    const std::string file = folder.path("step." + format);
    ASSERT_EQ(command({"export", file, "--format", format}).status, kDone);
    const Reply printed = command({"export", "-", "--format", format});
    EXPECT_EQ(printed.status, kDone) << printed.err;
    EXPECT_EQ(printed.out, folder.read("step." + format));
  }
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--format", "png"}, {"--format", "csv", "--json"}}) {
    std::vector<std::string> words = {"export", "-"};
    words.insert(words.end(), more.begin(), more.end());
    EXPECT_EQ(command(words).status, kInvalid);
  }
  EXPECT_EQ(command(small_run({"--pp", "1", "--csv", "-"})).status, kFailed);
  EXPECT_FALSE(std::filesystem::exists("-"));
}

TEST(Export, AFileThatCannotBeWrittenIsAFailureInOneSentence) {
  const Reply answer = command({"export", "/proc/none/step.csv"});
  EXPECT_EQ(answer.status, kFailed);
  EXPECT_THAT(answer.err, HasSubstr("/proc/none/step.csv"));
}

// The lessons' library tests all draws of all lessons; here those of the first unit stand for them.
TEST(Lessons, OfACourseAreProved) {
  namespace fs = std::filesystem;
  const Folder folder;
  const fs::path all = PARALLELARIUM_SOURCE_DIR "/lessons";
  json course = json::parse(std::ifstream(all / "course.json"));
  course["units"] = json::array({course.at("units").at(0)});
  course["basics"] = json::array();
  const fs::path here = fs::path(folder.file("course.json", course.dump())).parent_path();
  for (const json& lesson : course.at("units").at(0).at("lessons")) {
    const std::string id = lesson.at("id");
    fs::copy(all / id, here / id, fs::copy_options::recursive);
  }
  const std::vector<std::string> words = {"lesson", "check", here.string(), "--samples", "1"};
  const Reply answer = command(words);
  EXPECT_EQ(answer.status, kDone) << answer.out << answer.err;
  EXPECT_THAT(answer.out, HasSubstr("proved, without runs"));
  // One that is not listed is told.
  fs::copy(all / "the-job-that-hangs", here / "the-job-that-hangs", fs::copy_options::recursive);
  const Reply wrong = command(words);
  EXPECT_EQ(wrong.status, kFailed);
  EXPECT_THAT(wrong.out, HasSubstr("not listed in course.json"));
}

TEST(Lessons, CoverageTellsEachRowOnceWithTheStepsThatTeachIt) {
  setenv("PARALLELARIUM_LESSONS", PARALLELARIUM_SOURCE_DIR "/lessons", 1);
  const nlohmann::json answer = command({"lesson", "coverage", "--json"}).json();
  EXPECT_EQ(answer.at("rows").at("S3-20").at(0), "why-the-ring-wins/round-the-ring");
  EXPECT_EQ(answer.at("rows").size() + answer.at("missing").size(), 151u);
  for (const nlohmann::json& row : answer.at("missing"))
    EXPECT_FALSE(answer.at("rows").contains(row.get<std::string>()));
  EXPECT_THAT(command({"lesson", "coverage"}).out, HasSubstr("of 151 rows are taught"));
}

// A capstone is open in the window: what it asks for is not told here.
TEST(Lessons, KeepPredictionsFromTheCommandLineUntilTheyAreAnswered) {
  PlannerLock lock;
  ASSERT_TRUE(lock.close("Defend your plan"));
  for (const char* name :
       {"predict", "run", "sweep", "roofline", "plan", "compare", "layer", "export"}) {
    const Reply refused =
        name == std::string("export") ? command({name, "timeline.csv"}) : command({name, "--json"});
    EXPECT_EQ(refused.status, kInvalid) << name;
    EXPECT_EQ(refused.out, "") << name;
    EXPECT_THAT(refused.err, AllOf(HasSubstr("“Defend your plan”"), HasSubstr(name)));
    EXPECT_EQ(command({name, "--help"}).status, kDone) << name;
  }
  // It tells the bubble of a schedule.
  const std::vector<std::string> bubble = {"schedule", "1f1b",           "--stages",
                                           "3",        "--microbatches", "12"};
  EXPECT_EQ(command(bubble).status, kInvalid);
  EXPECT_EQ(command(bubble).out, "");
  EXPECT_EQ(command({"models"}).status, kDone);
  // A launch line has no prediction.
  const Reply line = command(
      {"export", "--as", "megatron", "--model", "llama3-8b", "--machine", "dgx-h100", "--tp", "8"});
  EXPECT_THAT(line.err, testing::Not(HasSubstr("Defend your plan")));
  EXPECT_NE(line.out, "");
  lock.open();
  EXPECT_EQ(command({"predict", "--json"}).status, kDone);
  EXPECT_EQ(command(bubble).status, kDone);
}

TEST(Machines, ShowSaysWhatNodesShareOfTheNetwork) {
  const auto line_of = [](const std::string& text, const std::string& name) {
    const auto at = text.find("  " + name + " ");
    return at == std::string::npos ? std::string() : text.substr(at, text.find('\n', at) - at);
  };
  const std::string shared = command({"machines", "show", "hgx-v100"}).out;
  EXPECT_THAT(line_of(shared, "network cards of a node"),
              testing::AllOf(HasSubstr(" 4 "), HasSubstr("specification: DGX-1")));
  const std::string own = command({"machines", "show", "dgx-h100"}).out;
  EXPECT_THAT(line_of(own, "network cards of a node"),
              testing::AllOf(HasSubstr(" 8 "), HasSubstr("assumed: one for each device")));
  for (const char* name :
       {"nodes of a leaf group", "oversubscription above it", "reduction in the network"})
    EXPECT_THAT(line_of(own, name), HasSubstr("assumed")) << name;
  EXPECT_EQ(line_of(command({"machines", "show", "local"}).out, "network cards of a node"), "");
  // They are keys of a file, with the sentence that says what cannot be.
  const Folder folder;
  const auto step = [&](const char* changes) {
    const std::string file = folder.file("mine.json", changes);
    return command({"predict", "--model", "llama3-8b", "--dp", "32", "--zero", "1", "--machine",
                    file, "--json"});
  };
  const double before =
      step(R"({"based_on": "dgx-h100"})").json().at("step").at("seconds").get<double>();
  EXPECT_GT(step(R"({"based_on": "dgx-h100", "nics_per_node": 1})").json().at("step").at("seconds"),
            before);
  EXPECT_GT(step(R"({"based_on": "dgx-h100", "nodes_per_leaf": 2, "oversubscription": 20})")
                .json()
                .at("step")
                .at("seconds"),
            before);
  const Reply half = step(R"({"based_on": "dgx-h100", "nics_per_node": 0.5})");
  EXPECT_EQ(half.status, 2);
  EXPECT_THAT(half.err,
              HasSubstr("machine.nics_per_node must be a whole number from 1 to 65,536."));
}

TEST(Machines, NewReadsWhatAClusterPrints) {
  const Folder folder;
  const std::string topology =
      folder.file("topo.txt", "\tGPU0\tGPU1\tNIC0\nGPU0\tX\tNV18\tPIX\nGPU1\tNV18\tX\tSYS\n");
  const std::string file = folder.path("mine.json");
  const Reply made = command({"machines", "new", file, "--from", "dgx-h100", "--links", topology});
  ASSERT_EQ(made.status, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("A node has 2 GPUs, linked by NVLink (NV18)."));
  EXPECT_THAT(made.out, HasSubstr("Network cards of a node: 1 for 2 GPUs"));
  const json predicted =
      command({"predict", "--model", "llama3-8b", "--machine", file, "--tp", "4", "--json"}).json();
  EXPECT_EQ(predicted.at("setup").at("machine").at("devices_per_node"), 2);
  const Reply none = command({"machines", "new", folder.path("none.json"), "--from", "dgx-h100",
                              "--links", folder.file("letter.txt", "Dear reader\n")});
  EXPECT_EQ(none.status, 2);
  EXPECT_THAT(none.err, HasSubstr("neither the matrix of nvidia-smi topo -m nor"));
}

}  // namespace
}  // namespace parallelarium

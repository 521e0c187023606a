// SPDX-License-Identifier: Apache-2.0
// A request that is not valid: status 2, one sentence on stderr, nothing on stdout, no file.
#include <gmock/gmock.h>
#include <sys/stat.h>

#include <array>

#include "engine/cli/options/setup_options.h"
#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using Words = std::vector<std::string>;

class Invalid : public testing::TestWithParam<Words> {};

TEST_P(Invalid, IsOneSentenceAndWritesNothing) {
  const Folder folder;
  Words words = GetParam();
  for (std::string& word : words)
    if (word.rfind("{}", 0) == 0) word = folder.path(word.substr(2));
  folder.file("broken.json", "{\"mesh\": ");
  folder.file("unknown.json", "{\"mash\": {\"pp\": 2}}");
  folder.file("wrong.json", "{\"mesh\": {\"pp\": \"two\"}}");
  folder.file("text.json", "words");
  folder.file("doubled.json", R"({"zero": 1, "zero": 2})");
  folder.file("circle.txt", "F0 B0\nB0 F0\n");
  folder.file("missing.txt", "F0 F1 B0\nF0 B0 F1 B1\n");
  folder.file("noise.txt", std::string("\x00\xff\xfe noise", 9));
  std::filesystem::create_directories(folder.path("course/one"));
  folder.file("course/course.json", R"({"format": "parallelarium-course/1", "lessons": []})");
  folder.file("course/one/lesson.json", "not JSON");
  const int files = folder.files();
  const Reply answer = command(words);
  EXPECT_EQ(answer.status, kInvalid) << answer.err;
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(folder.files(), files);
  ASSERT_FALSE(answer.err.empty());
  EXPECT_EQ(answer.err.back(), '\n');
  EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
  EXPECT_THAT(answer.err, testing::AnyOf(testing::EndsWith(".\n"), testing::EndsWith(".)\n")));
  EXPECT_GT(answer.err.size(), 12u);
}

INSTANTIATE_TEST_SUITE_P(
    CommandLines, Invalid,
    testing::Values(
        Words{}, Words{"predikt"}, Words{"collective"}, Words{"collective", "all_reduced"},
        Words{"collective", "all_reduce", "--algorithm", "rings"},
        Words{"collective", "all_reduce", "--ranks", "65"},
        Words{"collective", "all_reduce", "--bytes", "many"},
        Words{"collective", "all_reduce", "--bytes", "7"},
        Words{"collective", "all_reduce", "--bytes", "1000000GiB"},
        Words{"collective", "all_reduce", "--dtype", "float8"},
        Words{"collective", "all_reduce", "--op", "xor"},
        Words{"collective", "all_reduce", "--algorithm", "torus", "--ranks", "5"},
        Words{"collective", "all_reduce", "--topology", "mesh"},
        Words{"collective", "all_reduce", "--topology", "torus", "--node-size", "3"},
        Words{"collective", "all_reduce", "--bandwidth", "0"},
        Words{"collective", "all_reduce", "--latency", "-1"},
        Words{"collective", "all_reduce", "--csv"},
        Words{"collective", "all_reduce", "--counts", "1,2"},
        Words{"collective", "all_reduce", "--repeats", "0", "--run"},
        Words{"collective", "broadcast", "--root", "4"}, Words{"--pp", "2"}, Words{"--nonsense"},
        Words{"predict", "--nonsense"}, Words{"predict", "--pq", "2"}, Words{"predict", "word"},
        Words{"predict", "--pp"}, Words{"predict", "--pp", "two"}, Words{"predict", "--pp", "0"},
        Words{"predict", "--pp", "-3"}, Words{"predict", "--pp", "99999999999999999999"},
        Words{"predict", "--pp", "3"}, Words{"predict", "--pp", "2.5"},
        Words{"predict", "--microbatches", "0"}, Words{"predict", "--zero", "4"},
        Words{"predict", "--model", "gpt-huge"}, Words{"predict", "--machine", "abacus"},
        Words{"predict", "--schedule", "2f2b"}, Words{"predict", "--precision", "fp3"},
        Words{"predict", "--sequence-parallel", "perhaps"}, Words{"predict", "--tp", "3"},
        Words{"predict", "--rank", "4"}, Words{"predict", "--rank", "-1"},
        Words{"predict", "--setup", "{}none.json"}, Words{"predict", "--setup", "{}broken.json"},
        Words{"predict", "--setup", "{}unknown.json"}, Words{"predict", "--setup", "{}wrong.json"},
        Words{"predict", "--setup", "{}text.json"}, Words{"predict", "--setup", "{}doubled.json"},
        Words{"predict", "--precision", R"({"parameter_bytes": 3})"},
        Words{"schedule", "1f1b", "--stages", "2", "--microbatches", "2", "--backward", "0"},
        Words{"schedule", "interleaved", "--stages", "2", "--microbatches", "2", "--chunks", "0"},
        Words{"schedule", "1f1b", "--stages", "2", "--microbatches", "2", "--backward", "2",
              "--backward-input", "1"},
        Words{"predict", "--setup", "{}"}, Words{"predict", "--setup", ""},
        Words{"predict", "--gpus", "8", "--tp", "2", "--dp", "2"},
        Words{"predict", "--global-batch", "8", "--microbatches", "3", "--dp", "2"},
        Words{"predict", "--gpus", "1000000", "--pp", "1"}, Words{"predict", "--recompute", ""},
        Words{"predict", "--rank", "x"}, Words{"predict", "--stretch", "0.5"},
        Words{"predict", "--seed", "x"}, Words{"predict", "--hidden", "65"}));

INSTANTIATE_TEST_SUITE_P(
    Runs, Invalid,
    testing::Values(Words{"run", "--cp", "2", "--attention", "unfused"},
                    Words{"run", "--text", "{}none.txt"}, Words{"run", "--backend", "abacus"},
                    Words{"run", "--steps", "-1"}, Words{"run", "--backend", "cuda"},
                    Words{"run", "--precision",
                          R"({"parameter_bytes": 2, "gradient_bytes": 2, "master_bytes": 0,
                              "moments_bytes": 8})"},
                    Words{"run", "--machine", "dgx-h100", "--backend", "cpu"},
                    Words{"run", "--rank", "9"}, Words{"run", "--csv", ""},
                    Words{"run", "--backend", "cpu", "--devices", "0"},
                    Words{"run", "--probe-out", "{}tensors"}));

TEST(NotUtf8, TextThatIsNotUtf8IsAboutTheRequest) {
  const Folder folder;
  folder.pretend_calibrated();
  const Reply answer =
      command({"run", "--pp", "1", "--text", folder.file("latin.txt", std::string(9000, '\xe4'))});
  EXPECT_EQ(answer.status, kInvalid);
  EXPECT_EQ(answer.out, "");
  EXPECT_THAT(answer.err, testing::HasSubstr("UTF-8"));
}

TEST(TextOfARun, IsJudgedBeforeAnythingIsMeasuredOrWritten) {
  const Folder folder;
  const Reply answer = command({"run", "--pp", "1", "--text", "/bin/sh"});
  EXPECT_EQ(answer.status, kInvalid) << answer.err;
  EXPECT_THAT(answer.err, testing::HasSubstr("/bin/sh"));
  EXPECT_FALSE(std::filesystem::exists(local_machine_path()));
}

// A lesson of the program with one text replaced by another.
class MalformedLesson : public testing::TestWithParam<std::array<const char*, 3>> {};

TEST_P(MalformedLesson, IsOneSentenceThatNamesIt) {
  namespace fs = std::filesystem;
  const auto [file, right, wrong] = GetParam();
  const Folder folder;
  const fs::path lesson = folder.path("naive-and-gpipe");
  fs::copy(PARALLELARIUM_SOURCE_DIR "/lessons/naive-and-gpipe", lesson);
  if (*right == '\0') {
    fs::remove(lesson / file);
  } else {
    std::ifstream in(lesson / file);
    std::string text((std::istreambuf_iterator<char>(in)), {});
    const std::size_t at = text.find(right);
    ASSERT_NE(at, std::string::npos) << right;
    std::ofstream(lesson / file) << text.replace(at, std::string(right).size(), wrong);
  }
  const Reply answer = command({"lesson", "check", lesson.string()});
  EXPECT_EQ(answer.status, kInvalid) << answer.out << answer.err;
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(std::count(answer.err.begin(), answer.err.end(), '\n'), 1) << answer.err;
  EXPECT_THAT(answer.err, testing::HasSubstr("naive-and-gpipe"));
}

INSTANTIATE_TEST_SUITE_P(
    Lessons, MalformedLesson,
    testing::Values(std::array{"lesson.json", "\"minutes\": ", "\"minutes\": \"ten\", \"m\": "},
                    std::array{"lesson.json", "\"unit\": \"", "\"unit\": \"furlong"},
                    std::array{"text.en.md", "hint 1", "hint 7"},
                    std::array{"text.en.md", "", ""}));

INSTANTIATE_TEST_SUITE_P(
    Schedules, Invalid,
    testing::Values(
        Words{"schedule"}, Words{"schedule", "2f2b"}, Words{"schedule", "1f1b"},
        Words{"schedule", "1f1b", "--stages", "4"},
        Words{"schedule", "1f1b", "--stages", "0", "--microbatches", "4"},
        Words{"schedule", "1f1b", "--stages", "-1", "--microbatches", "4"},
        Words{"schedule", "1f1b", "--stages", "4", "--microbatches", "999999999"},
        Words{"schedule", "1f1b", "--stages", "4", "--microbatches", "4", "--forward", "0"},
        Words{"schedule", "1f1b", "--stages", "4", "--microbatches", "4", "--forward", "nan"},
        Words{"schedule", "1f1b", "--stages", "4", "--microbatches", "4", "--transfer", "-1"},
        Words{"schedule", "1f1b", "--stages", "4", "--microbatches", "4", "--forward", "1e300"},
        Words{"schedule", "1f1b", "--stages", "4", "--microbatches", "4", "--notation", "morse"},
        Words{"schedule", "{}noise.txt"}, Words{"schedule", "{}"},
        Words{"schedule", "zb-h1", "--stages", "4", "--microbatches", "8", "--held-limit", "4,3"},
        Words{"schedule", "zb-h1", "--stages", "4", "--microbatches", "8", "--held-limit", "0"}));

INSTANTIATE_TEST_SUITE_P(
    Others, Invalid,
    testing::Values(
        Words{"models", "gpt-huge"}, Words{"models", "--import", "{}none.json"},
        Words{"models", "--import", "{}broken.json"}, Words{"models", "--import", "{}text.json"},
        Words{"models", "gpt-tiny", "--import", "{}unknown.json"}, Words{"machines", "abacus"},
        Words{"export"}, Words{"export", "{}a.gif"},
        Words{"export", "{}a.svg", "--view", "sideways"}, Words{"export", "{}a"},
        Words{"export", "{}a.csv", "--pp", "3"}, Words{"export", "{}a.csv", "--rank", "1"},
        Words{"export", "{}a.json", "--rank", "77"}, Words{"export", "{}a.csv", "--format", "x"},
        Words{"export", "--as", "pytorch"}, Words{"export", "--as", "megatron", "--run"},
        Words{"export", "--as", "megatron", "--pp", "3"}, Words{"import", "{}text.json"},
        Words{"import", "--as", "megatron"}, Words{"import", "--as", "megatron", "{}none.sh"},
        Words{"import", "--as", "pytorch", "{}text.json"},
        Words{"import", "--as", "deepspeed", "{}broken.json"},
        Words{"import", "--as", "nanotron", "{}broken.json"}, Words{"roofline", "--layer", "8"},
        Words{"roofline", "--layer", "-1"}, Words{"roofline", "--layer", "x"},
        Words{"layer", "--layer", "-1"}, Words{"layer", "--of-microbatch", "1e3"},
        Words{"machines", "--from", "dgx-h100"},
        Words{"machines", "show", "dgx-h100", "--to", "{}m.json"},
        Words{"machines", "new", "{}m.json", "--from", "dgx-h100", "--measured", "1s"},
        Words{"machines", "fit", "--from", "dgx-h100"}, Words{"machines", "a", "b", "c"},
        Words{"manual", "bogus"}, Words{"lesson"}, Words{"lesson", "check"},
        Words{"lesson", "play", "x"}, Words{"lesson", "check", "{}none"},
        Words{"lesson", "check", "{}"}, Words{"lesson", "check", "{}course"},
        Words{"lesson", "check", "{}course/one"}, Words{"devices", "extra"},
        Words{"serve", "--port", "80"}));

TEST(Unknown, CommandsAreAnsweredWithThoseThatExist) {
  const Reply answer = command({"predikt"});
  EXPECT_THAT(answer.err, testing::HasSubstr("predict?"));
  for (const char* name : {"devices", "calibrate", "models", "machines", "predict", "run",
                           "schedule", "export", "lesson", "serve"})
    EXPECT_THAT(answer.err, testing::HasSubstr(name));
  EXPECT_THAT(command({"predict", "--microbatch", "4"}).err, testing::HasSubstr("--micro"));
}

TEST(Unknown, FrameworksAndTimesAreSaidBeforeAnythingIsRead) {
  EXPECT_THAT(command({"import", "--as", "pytorch", "none.sh"}).err,
              testing::HasSubstr("no framework"));
  EXPECT_THAT(command({"collective", "all_reduce", "--latency=-1"}).err,
              testing::HasSubstr("--latency must be a time of 0 or more, such as 2us, not “-1”"));
}

// In a file the same is told by its key.
TEST(Overrides, OutOfRangeAreNamedAsTheyWereTyped) {
  const Folder folder;
  const auto said = [](std::vector<std::string> words) {
    words.insert(words.begin(), "predict");
    return command(words).err;
  };
  EXPECT_THAT(said({"--dp", "1000000"}), testing::StartsWith("--dp is 1000000; "));
  EXPECT_THAT(said({"--stretch", "0.5"}), testing::StartsWith("--stretch is 0.5; "));
  EXPECT_THAT(said({"--zero-group", "-1"}), testing::StartsWith("--zero-group is -1; "));
  const std::string file = folder.file("a.json", R"({"mesh": {"dp": 1000000}})");
  EXPECT_THAT(said({"--setup", file, "--pp", "2"}), testing::HasSubstr("mesh.dp is 1000000"));
  EXPECT_THAT(
      said({"--pp", "16", "--layers", "16", "--microbatches", "100000"}),
      testing::HasSubstr(
          "16 stages times 100000 micro-batches are too many; at most 31250 micro-batches fit"));
}

// The name is an argument of the sentence, not what its text happens to begin with.
TEST(Overrides, AreNamedInSentencesAboutTheirSettingAlone) {
  const Message about =
      message("bad-value", "{} cannot be “{}”; it must be {}.", "mesh.dp", "x", "a number");
  EXPECT_EQ(as_option(about, "mesh.dp", "dp").text, "--dp cannot be “x”; it must be a number.");
  EXPECT_EQ(as_option(about, "mesh.d", "d"), about);
  const Message other = message("told", "mesh.dp {}.", "x");
  EXPECT_EQ(as_option(other, "mesh.dp", "dp"), other);
}

TEST(Overrides, ThatContradictAreNamedWithWhatTheyMake) {
  const Folder folder;
  EXPECT_THAT(command({"predict", "--gpus", "8", "--tp", "2", "--pp", "1", "--dp", "2"}).err,
              testing::StartsWith("--gpus 8 makes DP 4 with TP 2, PP 1 and CP 1, not 2"));
  EXPECT_EQ(command({"predict", "--gpus", "8", "--tp", "2", "--pp", "1", "--dp", "4"}).status,
            kDone);
  EXPECT_THAT(command({"predict", "--global-batch", "8", "--microbatches", "3", "--dp", "2"}).err,
              testing::StartsWith("--global-batch 8 makes 4 micro-batches with DP 2"));
  // Of a file there is nothing to contradict: what is typed stands above it.
  const std::string file = folder.file("a.json", R"({"mesh": {"dp": 2, "pp": 1}})");
  EXPECT_EQ(command({"predict", "--setup", file, "--gpus", "8", "--json"}).json().at("ranks"), 8);
}

TEST(Overrides, AreNamedAsTheyWereTypedInSentencesOfOtherCommands) {
  const Folder folder;
  const auto refused = command({"sweep", "--vary", "tp=0", "--json"}).json().at("points")[0];
  EXPECT_THAT(refused.at("refused").get<std::string>(), testing::StartsWith("--tp is 0; "));
  EXPECT_THAT(command({"predict", "--recompute", ""}).err,
              testing::StartsWith("--recompute is empty"));
  EXPECT_THAT(command({"predict", "--gpus", "1000000", "--pp", "1"}).err,
              testing::HasSubstr("make DP 1000000"));
  EXPECT_THAT(command({"layer", "--layer", "-1"}).err,
              testing::StartsWith("layer: --layer must be a whole number, 0 or more, not “-1”"));
  EXPECT_THAT(command({"predict", "--rank", "x"}).err,
              testing::StartsWith("predict: --rank cannot be “x”"));
  EXPECT_THAT(command({"predict", "--model", "{"}).err,
              testing::StartsWith("--model: The text is not JSON"));
  EXPECT_THAT(command({"manual", "bogus"}).err, testing::HasSubstr("settings"));
}

// What other commands print is known by its keys.
TEST(SetupFile, SaysWhatItIsInstead) {
  const Folder folder;
  const auto said = [&](std::vector<std::string> words) {
    words.push_back("--json");
    const Reply printed = command(words);
    EXPECT_EQ(printed.status, kDone) << printed.err;
    const Reply answer = command({"predict", "--setup", folder.file("a.json", printed.out)});
    EXPECT_EQ(answer.status, kInvalid);
    return answer.err;
  };
  const std::string setup = folder.file("setup.json", R"({"mesh": {"pp": 2}})");
  EXPECT_THAT(said({"sweep", "--vary", "pp=1,2"}), testing::HasSubstr("what `sweep` prints"));
  EXPECT_THAT(said({"compare", setup, setup}), testing::HasSubstr("what `compare` prints"));
  EXPECT_THAT(said({"cases", "korthikanti-2022-table-5"}), testing::HasSubstr("many Setups"));
  EXPECT_THAT(said({"schedule", "gpipe", "--stages", "2", "--microbatches", "2"}),
              testing::HasSubstr("what `schedule` prints"));
  EXPECT_THAT(said({"machines", "show", "dgx-h100"}), testing::HasSubstr("This is a machine"));
}

TEST(Help, OfAVerbIsNamedWithItsCommand) {
  EXPECT_THAT(command({"lesson", "check"}).err, testing::HasSubstr("; lesson check --help shows"));
  EXPECT_THAT(command({"predict", "--layers"}).err, testing::HasSubstr("predict: "));
}

// Opening a pipe that nothing reads would wait for ever.
TEST(Writing, APipeWithoutAReaderIsRefused) {
  const Folder folder;
  const std::string pipe = folder.path("pipe.csv");
  const std::string plan = folder.file(
      "plan.json", R"({"model": "llama3-8b", "machine": "dgx-h100", "mesh": {"dp": 8}})");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  for (const std::vector<std::string>& words :
       {Words{"export", pipe}, Words{"export", "--as", "megatron", pipe},
        Words{"machines", "fit", "--measured", "6s", "--setup", plan, "--to", pipe},
        Words{"machines", "new", pipe, "--from", "dgx-h100"}, small_run({"--csv", pipe.c_str()})}) {
    const Reply answer = command(words);
    EXPECT_NE(answer.status, kDone) << words[0];
    EXPECT_THAT(answer.err, testing::HasSubstr("it is a pipe, and nothing reads from it"));
  }
  // A picture would take its place.
  const std::string picture = folder.path("pipe.png");
  ASSERT_EQ(mkfifo(picture.c_str(), 0600), 0);
  EXPECT_EQ(command({"export", picture}).status, kFailed);
  EXPECT_TRUE(std::filesystem::is_fifo(picture));
}

TEST(Overrides, AFileInPlaceOfAModelIsToldWhatReadsIt) {
  const Folder folder;
  const std::string file = folder.file("config.json", "{}");
  for (const std::vector<std::string>& words :
       {Words{"predict", "--model", file}, Words{"models", file}}) {
    const Reply answer = command(words);
    EXPECT_EQ(answer.status, kInvalid);
    EXPECT_EQ(answer.err,
              file + " is a file, and a model is named by its preset: `models --import " + file +
                  "` writes the shape of a Hugging Face config.json, and --setup " + file +
                  " reads a Setup.\n");
  }
  EXPECT_THAT(command({"predict", "--model", folder.path("none.json")}).err,
              testing::HasSubstr("There is no model"));
}

TEST(Overrides, DivisionProblemsNameWhatWouldWork) {
  const Reply answer = command({"predict", "--model", "gpt-tiny", "--tp", "3"});
  EXPECT_EQ(answer.status, kInvalid);
  EXPECT_THAT(answer.err, testing::AllOf(testing::HasSubstr("3"), testing::HasSubstr("2"),
                                         testing::HasSubstr("4")));
}

}  // namespace
}  // namespace parallelarium

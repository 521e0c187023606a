// SPDX-License-Identifier: Apache-2.0
// `lesson report`: hand-ins are judged, and some are run again.
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <thread>

#include "engine/cli/training.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/play.h"
#include "engine/lesson/teaching/grading/rerun.h"
#include "tests/cli/cli.h"

namespace parallelarium {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const char* const kLesson = "naive-and-gpipe";

// A hand-in of one who only made the lesson's first run, on this computer.
json hand_in_after_a_run(const std::string& lessons, std::uint64_t seed) {
  const Result<Lesson> lesson = read_lesson(lessons + "/" + kLesson);
  EXPECT_TRUE(lesson.ok());
  std::size_t at = 0;
  while (lesson->steps[at].kind != StepKind::kRun) ++at;
  const Result<Settings> set = settings_at(*lesson, at, draw(*lesson, seed));
  EXPECT_TRUE(set.ok());
  const Result<Preparation> ready = prepare(set->setup);
  EXPECT_TRUE(ready.ok()) << ready.error().text;
  const Result<Training> training = train(*ready, false, {});
  EXPECT_TRUE(training.ok()) << training.error().text;
  const json step = {{"step", lesson->steps[at].id},
                     {"attempts", 1},
                     {"run", hand_in_run(training->result.observation)}};
  return {{"format", "parallelarium-answers/1"}, {"name", "N. N."}, {"lesson", kLesson},
          {"version", lesson->version},          {"seed", seed},    {"steps", {step}}};
}

// Opening a pipe that nothing writes to would wait for ever.
TEST(LessonReport, DoesNotWaitForAPipe) {
  const Folder folder;
  const std::string pipe = folder.path("pipe.json");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Reply answer = command({"lesson", "report", pipe});
  EXPECT_EQ(answer.status, kFailed);
  EXPECT_THAT(answer.out, HasSubstr("it is a pipe, and nothing writes to it."));
}

// The second is what a shell makes of <(command).
TEST(LessonReport, ReadsHandInsFromPipesAsOtherCommandsRead) {
  const Folder folder;
  setenv("PARALLELARIUM_LESSONS", PARALLELARIUM_SOURCE_DIR "/lessons", 1);
  const Result<Lesson> lesson =
      read_lesson(std::string(PARALLELARIUM_SOURCE_DIR) + "/lessons/" + kLesson);
  ASSERT_TRUE(lesson.ok());
  const auto hand_in = [&](const char* name, int seed) {
    return json{{"format", "parallelarium-answers/1"}, {"name", name}, {"lesson", kLesson},
                {"version", lesson->version},          {"seed", seed}, {"steps", json::array()}}
        .dump();
  };
  const std::string named = folder.path("pipe.json");
  ASSERT_EQ(mkfifo(named.c_str(), 0600), 0);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  std::thread first([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    std::ofstream(named) << hand_in("Ada", 1);
  });
  std::thread second([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
    const std::string text = hand_in("Bob", 2);
    EXPECT_EQ(write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    close(ends[1]);
  });
  const Reply answer =
      command({"lesson", "report", named, "/dev/fd/" + std::to_string(ends[0]), "--json"});
  first.join();
  second.join();
  close(ends[0]);
  EXPECT_EQ(answer.status, kDone) << answer.out;
  EXPECT_EQ(answer.json()["files"][0]["name"], "Ada");
  EXPECT_EQ(answer.json()["files"][1]["name"], "Bob");
}

TEST(LessonReport, RunsAHandInAgainAndComparesItsLossesToTheLastBit) {
  const Folder folder;
  folder.pretend_calibrated();
  const std::string lessons = std::string(PARALLELARIUM_SOURCE_DIR) + "/lessons";
  setenv("PARALLELARIUM_LESSONS", lessons.c_str(), 1);
  const json honest = hand_in_after_a_run(lessons, 5);
  json forged = honest;
  json& loss = forged["steps"][0]["run"]["losses"].back();
  loss = loss.get<double>() * 0.98;
  const std::string good = folder.file("good.json", honest.dump());
  const std::string bad = folder.file("bad.json", forged.dump());

  const Reply same = command({"lesson", "report", good, "--rerun", "2", "--seed", "1"});
  EXPECT_EQ(same.status, kDone) << same.out << same.err;
  EXPECT_THAT(same.out, HasSubstr("equal to the last bit"));
  EXPECT_THAT(same.out, HasSubstr("1 drawn, 1 run again; --seed 1 draws the same."));
  const json object =
      command({"lesson", "report", good, "--rerun", "1", "--seed", "1", "--json"}).json();
  EXPECT_EQ(object["files"][0]["rerun"], "equal");
  EXPECT_EQ(object["rerun"]["drawn"], 1);
  EXPECT_EQ(object["rerun"]["run"], 1);

  const Reply other = command({"lesson", "report", bad, "--rerun", "1", "--csv"});
  EXPECT_EQ(other.status, kFailed);
  EXPECT_THAT(other.out, HasSubstr(",different,"));
  EXPECT_THAT(other.err, HasSubstr("1 drawn, 1 run again; --seed "));
  EXPECT_EQ(command({"lesson", "report", bad}).status, kDone) << "nothing runs unless asked for";
  EXPECT_THAT(command({"lesson", "report", good, "--rerun", "101"}).err,
              HasSubstr("--rerun must be a number from 0 to 100."));

  json foreign = honest, damaged = honest, none = honest;
  foreign["steps"][0]["run"]["setup"]["microbatches"] = 64;
  damaged["steps"][0]["run"]["losses"] = nullptr;
  none["steps"] = json::array();
  for (const json& excuse : {foreign, damaged}) {
    const std::string file = folder.file("excuse.json", excuse.dump());
    const Reply not_run = command({"lesson", "report", file, "--rerun", "1", "--seed", "1"});
    EXPECT_EQ(not_run.status, kFailed);
    EXPECT_THAT(not_run.out, HasSubstr("1 drawn, 0 run again; --seed 1"));
  }
  // Setup and bytes are checked of every file, and nothing has to run for it.
  json fewer = honest;
  fewer["steps"][0]["run"]["sent_bytes"] = 1;
  for (const auto& [made_up, says] :
       {std::pair(&foreign, "It was run with another Setup than the step sets."),
        std::pair(&fewer, "says that 1 sent bytes were counted")}) {
    const Reply marked = command({"lesson", "report", folder.file("made.json", made_up->dump())});
    EXPECT_EQ(marked.status, kFailed);
    EXPECT_THAT(marked.out, HasSubstr(says));
  }
  const Reply nothing =
      command({"lesson", "report", folder.file("none.json", none.dump()), "--rerun", "1"});
  EXPECT_EQ(nothing.status, kDone);
  EXPECT_THAT(nothing.out, HasSubstr("No hand-in has a run.\n"));
}

// What the planner and a prediction say of the drawn task is found again from the seed alone.
TEST(LessonReport, GivesPointsForADefendedPlanWhateverTheFileClaims) {
  const Folder folder;
  const std::string lessons = std::string(PARALLELARIUM_SOURCE_DIR) + "/lessons";
  setenv("PARALLELARIUM_LESSONS", lessons.c_str(), 1);
  const Result<Lesson> lesson = read_lesson(lessons + "/defend-your-plan");
  ASSERT_TRUE(lesson) << lesson.error().text;
  const Symbols drawn = draw(*lesson, 4);
  json play = {
      {"format", "parallelarium-answers/1"}, {"name", "N. N."}, {"lesson", "defend-your-plan"},
      {"version", lesson->version},          {"seed", 4},       {"steps", json::array()}};
  json rejections = {{"step", "three-rejections"}, {"attempts", 1}, {"right", true}};
  rejections["parts"] = {{"refused-number", drawn.at("refused_number")},
                         {"large-number", drawn.at("large_number") / 1073741824 * 1.04},
                         {"slow-number", drawn.at("slow_number") + 0.05},
                         {"slow-cause", "heads"}};
  play["steps"].push_back(rejections);
  const json object =
      command({"lesson", "report", folder.file("plan.json", play.dump()), "--json"}).json();
  std::map<std::string, json> points;
  for (const json& row : object["files"][0]["points"]) points[row["row"]] = row["points"];
  EXPECT_EQ(points["numbers"], 2) << "two of three; the third is off by five points";
  EXPECT_EQ(points["causes"], 0);
  EXPECT_EQ(points["fits"], 0) << "nothing was committed";
  EXPECT_TRUE(points["reasons"].is_null()) << "the teacher's";
  EXPECT_THAT(object["files"][0]["faults"].dump(), HasSubstr("and it is not"));
  const Reply reply = command({"lesson", "report", folder.file("plan.json", play.dump())});
  EXPECT_THAT(reply.out, HasSubstr("2 of 15, 5 to give"));
}

TEST(LessonReport, SaysFaultsBesideCsv) {
  const Folder folder;
  setenv("PARALLELARIUM_LESSONS", PARALLELARIUM_SOURCE_DIR "/lessons", 1);
  const std::string file = folder.file("empty.json", "[]");
  const Reply reply = command({"lesson", "report", file, "--csv"});
  EXPECT_EQ(reply.status, kFailed);
  const std::string sentence = "holds no answers that were exported from a lesson.";
  EXPECT_THAT(reply.out, HasSubstr(sentence));
  EXPECT_THAT(reply.err, HasSubstr(sentence));
}

TEST(LessonCheck, AlsoReadsAPlaylist) {
  const Folder folder;
  setenv("PARALLELARIUM_LESSONS", PARALLELARIUM_SOURCE_DIR "/lessons", 1);
  const std::string good =
      folder.file("good.txt", "title: Monday\nfirst-look 4\nnaive-and-gpipe 9\n");
  EXPECT_EQ(command({"lesson", "check", good}).out, "Monday: 2 lessons, 13 minutes.\n");
  const json object = command({"lesson", "check", good, "--json"}).json();
  EXPECT_EQ(object["lessons"][1]["lesson"], "naive-and-gpipe");
  EXPECT_THAT(command({"lesson", "check", "/missing.txt"}).err,
              HasSubstr("/missing.txt is neither a folder nor a playlist."));
  const Reply bad = command({"lesson", "check", folder.file("bad.txt", "first-look four\n")});
  EXPECT_EQ(bad.status, kInvalid);
  EXPECT_THAT(bad.err, HasSubstr("bad.txt, line 1: behind \"first-look\" stands \"four\""));
}

}  // namespace
}  // namespace parallelarium

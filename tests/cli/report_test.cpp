// SPDX-License-Identifier: Apache-2.0
// `lesson report`: hand-ins are judged, and some are run again.
#include <gmock/gmock.h>

#include "engine/cli/training.h"
#include "engine/lesson/lesson.h"
#include "engine/lesson/teaching/rerun.h"
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
  EXPECT_THAT(same.out, HasSubstr("1 of the hand-ins with runs was run again; --seed 1"));
  const json object =
      command({"lesson", "report", good, "--rerun", "1", "--seed", "1", "--json"}).json();
  EXPECT_EQ(object["files"][0]["rerun"], "equal");
  EXPECT_EQ(object["rerun"]["drawn"], 1);

  const Reply other = command({"lesson", "report", bad, "--rerun", "1", "--csv"});
  EXPECT_EQ(other.status, kFailed);
  EXPECT_THAT(other.out, HasSubstr(",different,"));
  EXPECT_EQ(command({"lesson", "report", bad}).status, kDone) << "nothing runs unless asked for";
  EXPECT_THAT(command({"lesson", "report", good, "--rerun", "101"}).err,
              HasSubstr("--rerun must be a number from 0 to 100."));
}

TEST(LessonCheck, AlsoReadsAPlaylist) {
  const Folder folder;
  setenv("PARALLELARIUM_LESSONS", PARALLELARIUM_SOURCE_DIR "/lessons", 1);
  const std::string good =
      folder.file("good.txt", "title: Monday\nfirst-look 4\nnaive-and-gpipe 9\n");
  EXPECT_EQ(command({"lesson", "check", good}).out, "Monday: 2 lessons, 13 minutes.\n");
  const json object = command({"lesson", "check", good, "--json"}).json();
  EXPECT_EQ(object["lessons"][1]["lesson"], "naive-and-gpipe");
  const Reply bad = command({"lesson", "check", folder.file("bad.txt", "first-look four\n")});
  EXPECT_EQ(bad.status, kInvalid);
  EXPECT_THAT(bad.err, HasSubstr("bad.txt, line 1: behind \"first-look\" stands \"four\""));
}

}  // namespace
}  // namespace parallelarium

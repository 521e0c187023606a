// SPDX-License-Identifier: Apache-2.0
// Recording what is set into the file of a lesson, and the places in JSON that this changes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/lesson/play.h"
#include "engine/lesson/teaching/json_place.h"
#include "engine/lesson/teaching/record_setup.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

using nlohmann::ordered_json;

// What a library that parses the whole text makes of the same change.
TEST(JsonPlaces, AMemberIsSetAndAllElseStays) {
  const std::string texts[] = {
      R"({})", R"({ "a": 1 })",
      "{\n  \"a\": [1, {\"b\": \"}]\"}, 2],\n  \"c\": { \"d\": true }\n}\n",
      R"({"a":"\"x\\","c":{"e":null},"steps":[[],{"id":"b"}]})"};
  for (const std::string& text : texts)
    for (const char* key : {"a", "c", "new", "steps"}) {
      SCOPED_TRACE(text + key);
      std::string changed = text;
      set_json_member(changed, json_root(changed), key, R"({ "x": [7, "y"] })");
      ordered_json wanted = ordered_json::parse(text);
      const bool had = wanted.contains(key);
      wanted[key] = ordered_json::parse(R"({ "x": [7, "y"] })");
      EXPECT_EQ(ordered_json::parse(changed, nullptr, false), wanted) << changed;
      if (had) {
        EXPECT_EQ(changed.substr(0, changed.find("{ \"x\"")),
                  text.substr(0, changed.find("{ \"x\"")));
      }
    }
  const std::string nested = texts[3];
  const auto steps = json_member(nested, json_root(nested), "steps");
  ASSERT_TRUE(steps);
  const auto second = json_element(nested, *steps, 1);
  ASSERT_TRUE(second);
  EXPECT_EQ(nested.substr(second->begin, second->end - second->begin), R"({"id":"b"})");
  EXPECT_FALSE(json_element(nested, *steps, 2));
  EXPECT_FALSE(json_member(nested, *second, "a"));
}

class Recording : public testing::Test {
 protected:
  Lesson read(const LessonCopy& copy) {
    Result<Lesson> lesson = read_lesson(copy.folder().string());
    EXPECT_TRUE(lesson.ok()) << lesson.error().text;
    return std::move(*lesson);
  }
  static std::size_t index_of(const Lesson& lesson, const std::string& step) {
    return static_cast<std::size_t>(lesson.find(step) - lesson.steps.data());
  }
  static void change(Settings& settings, const char* key, const char* value) {
    ASSERT_TRUE(set_field(settings.setup, key, value).ok()) << key;
  }
  static std::string file(const LessonCopy& copy) {
    return content_of(copy.folder() / "lesson.json");
  }
};

TEST_F(Recording, TheStartOfAStepIsWhatIsSetAndNothingElseOfTheFileChanges) {
  const LessonCopy copy;
  const std::string before = file(copy);
  const Lesson lesson = read(copy);
  const std::size_t step = index_of(lesson, "fill-it");
  const Symbols drawn = draw(lesson, 7);
  Settings now = *settings_at(lesson, step, drawn);
  EXPECT_THAT(*record_setup(lesson, step, RecordAs::kStart, drawn, now), testing::IsEmpty());
  EXPECT_EQ(file(copy), before) << "it says so already";
  change(now, "microbatches", "6");
  change(now, "recompute", "full");
  change(now, "steps", "3");  // how ranks run is the student's
  const auto keys = record_setup(lesson, step, RecordAs::kStart, drawn, now);
  ASSERT_TRUE(keys.ok()) << keys.error().text;
  EXPECT_THAT(*keys, testing::UnorderedElementsAre("setup.microbatches", "setup.recompute"));
  const Lesson again = read(copy);
  const Settings start = *settings_at(again, step, drawn);
  EXPECT_EQ(start.setup.microbatches, 6);
  EXPECT_EQ(start.setup.recompute, now.setup.recompute);
  ordered_json was = ordered_json::parse(before), is = ordered_json::parse(file(copy));
  was["steps"][step].erase("setup");
  is["steps"][step].erase("setup");
  EXPECT_EQ(was, is);
  // The bytes before and behind the changed value are those of before.
  const std::string after = file(copy);
  std::size_t same = 0;
  while (before[same] == after[same]) ++same;
  std::size_t same_end = 0;
  while (before[before.size() - 1 - same_end] == after[after.size() - 1 - same_end]) ++same_end;
  EXPECT_LT(before.size() - same - same_end, 120U) << "one value, not the whole file";
}

TEST_F(Recording, TheFirstStepBeginsWithTheLesson) {
  LessonCopy copy;
  copy.object["steps"][0].erase("setup");
  copy.write();
  const Lesson lesson = read(copy);
  const Symbols drawn = draw(lesson, 7);
  Settings now = *settings_at(lesson, 0, drawn);
  change(now, "layers", "16");
  const auto keys = record_setup(lesson, 0, RecordAs::kStart, drawn, now);
  ASSERT_TRUE(keys.ok()) << keys.error().text;
  EXPECT_THAT(*keys, testing::ElementsAre(testing::StartsWith("start.")));
  EXPECT_EQ(settings_at(read(copy), 0, drawn)->setup.model.layers, 16);
}

TEST_F(Recording, ASolutionKeepsToWhatTheGoalLetsBeChanged) {
  const LessonCopy copy;
  const std::string before = file(copy);
  const Lesson lesson = read(copy);
  const std::size_t step = index_of(lesson, "fill-it");
  const Symbols drawn = draw(lesson, 7);
  Settings now = *settings_at(lesson, step, drawn);
  change(now, "microbatches", "40");
  const auto keys = record_setup(lesson, step, RecordAs::kSolution, drawn, now);
  ASSERT_TRUE(keys.ok()) << keys.error().text;
  EXPECT_THAT(*keys, testing::ElementsAre("solution.microbatches"));
  const Lesson again = read(copy);
  EXPECT_EQ(with_fields(*settings_at(again, step, drawn), again.steps[step].solution, drawn)
                ->setup.microbatches,
            40);
  const std::string written = file(copy);
  change(now, "dp", "2");
  const auto refused = record_setup(again, step, RecordAs::kSolution, drawn, now);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().id, "record-allow");
  EXPECT_THAT(refused.error().text, testing::HasSubstr("dp"));
  EXPECT_EQ(file(copy), written);
  const auto none = record_setup(again, index_of(again, "run-it"), RecordAs::kSolution, drawn, now);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().id, "record-no-solution");
}

// "microbatches": "=more" stays where the drawn number is what is set.
TEST_F(Recording, ExpressionsStayWhereTheyGiveWhatIsSet) {
  LessonCopy copy;
  copy.step("fill-it")["setup"] = {{"microbatches", "=more"}};
  copy.write();
  const Lesson lesson = read(copy);
  const std::size_t step = index_of(lesson, "fill-it");
  const Symbols drawn = draw(lesson, 7);
  Settings now = *settings_at(lesson, step, drawn);
  change(now, "recompute", "full");
  const auto keys = record_setup(lesson, step, RecordAs::kStart, drawn, now);
  ASSERT_TRUE(keys.ok()) << keys.error().text;
  EXPECT_THAT(*keys, testing::ElementsAre("setup.recompute"));
  EXPECT_THAT(file(copy), testing::HasSubstr(R"("=more")"));
}

TEST_F(Recording, OfABuildStepTheOrderIsWritten) {
  LessonCopy copy("same-bubble-less-memory");
  const Lesson lesson = read(copy);
  std::size_t step = 0;
  while (!lesson.steps[step].builds_order()) ++step;
  const Symbols drawn = draw(lesson, 7);
  Settings now = *settings_at(lesson, step, drawn);
  std::vector<std::string> lines = lesson.steps[step].order.solution;
  now.setup.schedule = *Schedule::own("your order", lines);
  EXPECT_THAT(*record_setup(lesson, step, RecordAs::kSolution, drawn, now), testing::IsEmpty());
  lines.front() = "F0";
  now.setup.schedule = *Schedule::own("your order", lines);
  EXPECT_FALSE(record_setup(lesson, step, RecordAs::kSolution, drawn, now).ok())
      << "an unfinished order solves nothing";
  const auto keys = record_setup(lesson, step, RecordAs::kStart, drawn, now);
  ASSERT_TRUE(keys.ok()) << keys.error().text;
  EXPECT_THAT(*keys, testing::ElementsAre("order.start"));
  EXPECT_EQ(read(copy).steps[step].order.start, lines);
}

TEST_F(Recording, LessonsOfTheProgramAreRefusedAndThoseOfAnAuthorAreNot) {
  const Result<Lesson> lesson = read_lesson(shipped_lessons() + "/filling-the-bubble");
  ASSERT_TRUE(lesson.ok());
  const Symbols drawn = draw(*lesson, 7);
  Settings now = *settings_at(*lesson, 0, drawn);
  const auto refused = record_setup(*lesson, 0, RecordAs::kStart, drawn, now);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().id, "record-shipped");
  setenv("PARALLELARIUM_LESSONS", shipped_lessons().c_str(), 1);
  EXPECT_FALSE(came_with_program(*lesson));
}

}  // namespace
}  // namespace parallelarium

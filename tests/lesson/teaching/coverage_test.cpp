// SPDX-License-Identifier: Apache-2.0
// No statement of a delivered lesson is lost: the table below is the plan of the course, written
// down apart from the lessons.
#include "engine/lesson/teaching/coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "engine/lesson/lesson.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

struct Planned {
  const char* lesson;
  std::vector<std::string> rows;
};
const std::vector<Planned>& planned_rows() {
  static const std::vector<Planned> all = {
      {"first-look", {"S3-42"}},
      {"naive-and-gpipe", {"S0-07", "S0-08", "S0-09", "S1-04", "S2-09", "S3-43", "S3-44", "S3-48"}},
      {"same-bubble-less-memory", {"S0-10", "S1-05", "S3-49", "S4-13"}},
      {"filling-the-bubble", {"S1-06", "S1-07", "S1-08", "S1-09", "S3-45"}},
      {"chunks-in-turn", {"S0-10", "S3-50", "S4-13"}},
      {"backward-in-two", {"S3-51", "S4-14"}},
      {"small-messages-far-away",
       {"S0-11", "S1-11", "S1-13", "S1-14", "S2-10", "S3-42", "S3-46", "S4-12"}},
      {"orders-by-hand", {}},
      {"orders-for-experts", {}},
      {"eight-collectives",
       {"S3-11", "S3-12", "S3-13", "S3-14", "S3-15", "S3-16", "S3-17", "S3-18"}},
      {"why-the-ring-wins", {"S3-19", "S3-20"}},
      {"latency-against-bandwidth", {"S3-21"}},
      {"two-bandwidths", {"S3-21"}},
      {"does-it-fit", {"S1-01", "S2-01", "S2-02", "S2-03", "S3-07", "S4-01", "S4-05"}},
      {"sixteen-bits", {"S3-28"}},
      {"copies-that-agree", {"S0-02", "S0-03", "S2-04", "S3-26", "S3-27", "S4-04"}},
      {"zero-one-and-two",
       {"S0-18", "S0-19", "S2-05", "S2-06", "S3-28", "S3-29", "S3-30", "S3-31", "S3-32", "S3-33"}},
      {"gather-compute-free",
       {"S0-20", "S0-21", "S0-22", "S2-07", "S3-34", "S3-35", "S3-36", "S3-37", "S3-38", "S3-39",
        "S3-41"}},
      {"memory-moves", {"S1-12", "S3-57", "S3-58"}},
      {"compute-it-again", {"S1-12", "S3-06", "S3-59", "S3-71"}},
      {"columns-then-rows", {"S0-04", "S1-02", "S2-11", "S3-52", "S3-53", "S4-06", "S4-09"}},
      {"heads-and-vocabulary", {"S0-05", "S4-07", "S4-08", "S4-10"}},
      {"four-all-reduces", {"S0-06", "S1-03", "S2-12", "S3-54", "S3-55", "S3-56", "S4-11"}},
      {"the-ten-that-stay", {"S2-13", "S3-60", "S3-61", "S3-62", "S4-03", "S4-15"}},
      {"long-sequences", {"S0-12", "S0-13", "S0-14", "S3-64"}},
      {"everyone-to-everyone", {"S0-16", "S0-17", "S4-16"}},
      {"the-slowest-expert", {"S0-15", "S3-64", "S4-03", "S4-16"}},
      {"capacity-and-drops", {"S0-17"}},
      {"balancing", {"S0-17", "S4-16"}},
      {"the-job-that-hangs", {}},
      {"who-made-it-late", {}},
      {"sixty-four-ranks", {"S0-23", "S1-10", "S2-08", "S3-67", "S3-70", "S4-03"}},
      {"rules-of-thumb", {"S0-01", "S0-24", "S2-15", "S3-63", "S3-65", "S3-66", "S3-79", "S4-02"}},
      {"rebuild-the-row", {"S2-14", "S3-68", "S3-69", "S3-70", "S3-73", "S3-74"}},
      {"experts-at-scale", {"S3-75", "S3-76", "S3-77", "S3-78"}},
      {"write-the-launch-line", {}},
      {"defend-your-plan", {}},
      {"the-batch-must-grow", {"S3-27", "S3-40"}},
      {"wires-and-switches", {"S3-08", "S3-09", "S3-22", "S3-23", "S3-24"}},
      {"inside-one-device", {"S3-01", "S3-02", "S3-03", "S3-04", "S3-05", "S3-10", "S3-47"}},
  };
  return all;
}

TEST(Coverage, NoRowOfADeliveredLessonIsLost) {
  const Result<Course> course = read_course(shipped_lessons());
  ASSERT_TRUE(course);
  EXPECT_EQ(course->lessons.size(), planned_rows().size());
  for (const Planned& planned : planned_rows()) {
    const Result<Lesson> lesson = read_lesson(shipped_lessons() + "/" + planned.lesson);
    ASSERT_TRUE(lesson) << lesson.error().text;
    std::vector<std::string> rows;
    for (const auto& [row, step] : lesson->covers) rows.push_back(row);
    EXPECT_THAT(rows, testing::UnorderedElementsAreArray(planned.rows)) << planned.lesson;
  }
}

TEST(Coverage, NamesAllRowsOfTheNotesOnceAndTheStepsThatTeachThem) {
  const auto rows = coverage_of(shipped_lessons());
  ASSERT_TRUE(rows) << rows.error().text;
  std::map<std::string, int> in_source;
  for (const CoverageRow& row : *rows) {
    ++in_source[row.id.substr(0, 2)];
    EXPECT_FALSE(row.words.empty()) << row.id;
    EXPECT_FALSE(row.steps.empty()) << row.id << " is missing";
    for (const std::string& step : row.steps) {
      const std::string lesson = step.substr(0, step.find('/'));
      if (lesson == "course") {
        EXPECT_THAT(course_places(), testing::Contains(step.substr(lesson.size() + 1)));
        continue;
      }
      const Result<Lesson> read = read_lesson(shipped_lessons() + "/" + lesson);
      ASSERT_TRUE(read);
      EXPECT_NE(read->find(step.substr(lesson.size() + 1)), nullptr) << step;
    }
  }
  EXPECT_EQ(in_source, (std::map<std::string, int>{
                           {"S0", 24}, {"S1", 15}, {"S2", 15}, {"S3", 80}, {"S4", 17}}));
}

// Maps, summaries and lists of sources: the map, the sheet to take away and the bibliography.
TEST(Coverage, WhatIsNoLessonsIsAnsweredByTheRoom) {
  const auto rows = coverage_of(shipped_lessons());
  ASSERT_TRUE(rows);
  std::map<std::string, std::string> answered;
  for (const CoverageRow& row : *rows)
    for (const std::string& step : row.steps)
      if (step.rfind("course/", 0) == 0) answered[row.id] = step;
  EXPECT_EQ(answered, (std::map<std::string, std::string>{{"S1-15", "course/take-away"},
                                                          {"S3-25", "course/map"},
                                                          {"S3-72", "course/take-away"},
                                                          {"S3-80", "course/bibliography"},
                                                          {"S4-17", "course/bibliography"}}));
}

// Read without read_rows(): a statement that a translation forgot, or that it only copied, stands
// out by its words.
TEST(Coverage, EveryStatementHasGermanOfItsOwn) {
  const nlohmann::json rows =
      nlohmann::json::parse(content_of(shipped_lessons() + "/rows.json")).at("rows");
  ASSERT_EQ(rows.size(), 151u);
  const std::set<std::string> names{"All-reduce", "Broadcast",  "Scatter",       "Gather",
                                    "Reduce",     "All-gather", "Reduce-scatter"};
  std::set<std::string> german;
  for (const auto& [id, texts] : rows.items()) {
    ASSERT_TRUE(texts.contains("en") && texts.contains("de")) << id;
    const std::string en = texts["en"], de = texts["de"];
    EXPECT_FALSE(de.empty()) << id;
    if (names.count(en) == 0) {
      EXPECT_NE(de, en) << id;
    }
    EXPECT_TRUE(german.insert(de).second) << id << " has the words of another: " << de;
    // Numbers stay what they are.
    const auto digits = [](const std::string& text) {
      std::multiset<char> found;
      for (const char letter : text)
        if (letter >= '0' && letter <= '9') found.insert(letter);
      return found;
    };
    EXPECT_EQ(digits(de), digits(en)) << id;
  }
}

TEST(Coverage, AStatementWithoutEnglishIsRefused) {
  LessonCopy copy;
  copy.write();
  std::ofstream(copy.root() / "rows.json")
      << R"({"format":"parallelarium-rows/2","rows":{"S0-01":{"de":"Nur deutsch"}}})";
  EXPECT_THAT(read_rows(copy.root().string()).error().text, testing::HasSubstr("\"en\""));
}

TEST(Coverage, AnUnknownPartOfTheRoomOrRowIsRefused) {
  LessonCopy copy;
  copy.write();
  std::filesystem::copy(shipped_lessons() + "/rows.json", copy.root());
  const auto refused = [&](const char* row, const char* place) {
    nlohmann::json course = nlohmann::json::parse(content_of(shipped_lessons() + "/course.json"));
    course["covers"] = {{row, place}};
    course["basics"] = nlohmann::json::array();
    course["units"] = {
        {{"id", "one"},
         {"title", {{"en", "One"}}},
         {"lessons", {{{"id", "filling-the-bubble"}, {"title", {{"en", "Filling the bubble"}}}}}}}};
    std::ofstream(copy.root() / "course.json") << course.dump();
    const auto rows = coverage_of(copy.root().string());
    return rows ? std::string("read") : rows.error().text;
  };
  EXPECT_EQ(refused("S3-25", "map"), "read");
  EXPECT_THAT(refused("S3-25", "cellar"), testing::HasSubstr("\"cellar\""));
  EXPECT_THAT(refused("S9-99", "map"), testing::HasSubstr("S9-99"));
}

TEST(Coverage, ARowThatIsNotListedIsRefused) {
  LessonCopy copy;
  copy.object["covers"]["S4-99"] = "fill-it";
  copy.write();
  std::ofstream(copy.root() / "course.json")
      << R"({"format":"parallelarium-course/1","title":{"en":"T"},)"
      << R"("units":[{"id":"one","title":{"en":"One"},"lessons":[)"
      << R"({"id":"filling-the-bubble","title":{"en":"Filling the bubble"}}]}]})";
  EXPECT_THAT(coverage_of(copy.root().string()).error().text, testing::HasSubstr("rows.json"));
  std::filesystem::copy(shipped_lessons() + "/rows.json", copy.root());
  EXPECT_THAT(coverage_of(copy.root().string()).error().text, testing::HasSubstr("S4-99"));
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// A lesson may use what it or a lesson that it builds on has introduced, and nothing else.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/lesson/check/check_parts.h"
#include "engine/lesson/text/glossary.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::Field;
using testing::HasSubstr;

// The shipped course in memory, to plant faults in.
class Introduced : public testing::Test {
 protected:
  void SetUp() override {
    Result<Course> read = read_course(shipped_lessons());
    ASSERT_TRUE(read);
    course_ = *read;
    for (const CourseEntry& entry : course_.lessons) {
      Result<Lesson> lesson = read_lesson(shipped_lessons() + "/" + entry.id);
      ASSERT_TRUE(lesson) << lesson.error().text;
      lessons_.emplace(entry.id, std::move(*lesson));
    }
  }
  std::vector<Message> check() {
    std::map<std::string, std::vector<LessonFault>> faults;
    check_introduced(course_, lessons_, [&](const std::string& id) -> std::vector<LessonFault>& {
      return faults[id];
    });
    std::vector<Message> all;
    for (const auto& [id, found] : faults) all.insert(all.end(), found.begin(), found.end());
    return all;
  }
  Step& step(const std::string& lesson, const std::string& id) {
    for (Step& one : lessons_.at(lesson).steps)
      if (one.id == id) return one;
    throw std::runtime_error("no step " + id);
  }
  static auto fault(const char* rule, const char* where, const char* key) {
    return AllOf(Field(&Message::id, rule), Field(&Message::field, where),
                 Field(&Message::text, HasSubstr(key)));
  }
  Course course_;
  std::map<std::string, Lesson> lessons_;
};

TEST_F(Introduced, TheShippedCourseUsesNothingBeforeItIsIntroduced) {
  for (const Message& fault : check()) ADD_FAILURE() << fault.text;
}

TEST_F(Introduced, ASettingMustBeNamedBeforeItIsUnlocked) {
  step("naive-and-gpipe", lessons_.at("naive-and-gpipe").steps.back().id)
      .allow.push_back("zero_prefetch");
  EXPECT_THAT(check(), Contains(AllOf(Field(&Message::id, "lesson-setting-unknown"),
                                      Field(&Message::text, HasSubstr("naive-and-gpipe")),
                                      Field(&Message::text, HasSubstr("\"zero_prefetch\"")))));
}

TEST_F(Introduced, AViewMustBeNamedBeforeItIsOpened) {
  step("naive-and-gpipe", lessons_.at("naive-and-gpipe").steps.front().id).tab = "experts";
  EXPECT_THAT(check(), Contains(AllOf(Field(&Message::id, "lesson-view-unknown"),
                                      Field(&Message::text, HasSubstr("naive-and-gpipe")),
                                      Field(&Message::text, HasSubstr("\"experts\"")))));
}

TEST_F(Introduced, AWordMustBeExplainedBeforeItIsUsed) {
  for (const char* language : {"en", "de"}) {
    LessonText& text = lessons_.at("why-the-ring-wins").texts.at(language);
    text.steps.at(text.order.front()).body += " Ulysses";
  }
  for (const std::string language : {"en", "de"}) {
    const std::string place =
        "text." + language + ".md: " + lessons_.at("why-the-ring-wins").steps.front().id;
    EXPECT_THAT(check(), Contains(fault("lesson-word-unknown", place.c_str(), "\"ulysses\"")));
  }
}

TEST_F(Introduced, ABoldWordIntroducesFromItsStepOn) {
  LessonText& text = lessons_.at("why-the-ring-wins").texts.at("en");
  StepText& first = text.steps.at(text.order.front());
  StepText& second = text.steps.at(text.order[1]);
  const std::string before = second.body;
  first.body += " **Ulysses**";
  second.body += " Ulysses";
  EXPECT_TRUE(check().empty());
  first.body.replace(first.body.find("**Ulysses**"), 11, "Ulysses");
  second.body = before + " **Ulysses**";
  EXPECT_FALSE(check().empty());
}

TEST_F(Introduced, AncestorsAreThoseBeforeInTheUnitAndAllOfTheUnitsThatItNeeds) {
  const auto at = [&](const std::string& id) {
    return static_cast<std::size_t>(
        std::find_if(course_.lessons.begin(), course_.lessons.end(),
                     [&](const CourseEntry& entry) { return entry.id == id; }) -
        course_.lessons.begin());
  };
  const auto names = [&](const std::string& id) {
    std::vector<std::string> all;
    for (const std::size_t ancestor : ancestors_of(course_, at(id)))
      all.push_back(course_.lessons[ancestor].id);
    return all;
  };
  EXPECT_TRUE(names("first-look").empty());
  EXPECT_THAT(names("filling-the-bubble"),
              AllOf(Contains("naive-and-gpipe"), Contains("same-bubble-less-memory"),
                    testing::Not(Contains("chunks-in-turn"))));
  EXPECT_THAT(names("zero-one-and-two"),
              AllOf(Contains("why-the-ring-wins"), Contains("does-it-fit"), Contains("first-look"),
                    testing::Not(Contains("gather-compute-free"))));
}

TEST(WordPlaces, AreWholeWordsOutsideCodeLinksAndNumbers) {
  const auto text = lesson_text_from(
      "# T\n\nS\n\n## one: One\n\n`bubble` {{bubble}} [bubble](https://a.b/bubble) re-bubble "
      "bubbled\n\n## two: Two\n\nA Bubble. **bubbles** wait.\n");
  ASSERT_TRUE(text) << text.error().text;
  const auto places = word_places(*text, "en");
  ASSERT_EQ(places.count("bubble"), 1u);
  EXPECT_EQ(places.at("bubble").first, "two");
  EXPECT_EQ(places.at("bubble").bold, "two");
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The launch line that a lesson shows is what it asks to set up: read from the lesson's own text,
// in every language, by the reader of that framework.
#include <gtest/gtest.h>

#include "engine/lesson/lesson.h"
#include "engine/wire/frameworks/differences.h"
#include "engine/wire/frameworks/framework.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

// The first code of a text that is a command.
std::string command_in(const std::string& markdown) {
  const std::size_t begin = markdown.find("`torchrun");
  if (begin == std::string::npos) return {};
  return markdown.substr(begin + 1, markdown.find('`', begin + 1) - begin - 1);
}

class LaunchLine : public testing::Test {
 protected:
  void SetUp() override {
    Result<Lesson> read = read_lesson(shipped_lessons() + "/write-the-launch-line");
    ASSERT_TRUE(read) << read.error().text;
    lesson_ = std::move(*read);
    while (at_ < lesson_.steps.size() && lesson_.steps[at_].id != "read-it-back") ++at_;
    ASSERT_LT(at_, lesson_.steps.size());
    const Symbols drawn = draw(lesson_, 1);
    const Result<Settings> start = settings_at(lesson_, at_, drawn);
    ASSERT_TRUE(start) << start.error().text;
    start_ = start->setup;
    const Result<Settings> solved = with_fields(*start, lesson_.steps[at_].solution, drawn);
    ASSERT_TRUE(solved) << solved.error().text;
    solved_ = solved->setup;
  }

  Lesson lesson_;
  std::size_t at_ = 0;
  Setup start_, solved_;
};

TEST_F(LaunchLine, SaysWhatItsGoalAsksFor) {
  ASSERT_EQ(lesson_.texts.size(), 2u);
  for (const auto& [language, text] : lesson_.texts) {
    const std::string line = command_in(text.steps.at("read-it-back").body);
    const Result<FrameworkSetup> read = read_from_framework("megatron", line, start_);
    ASSERT_TRUE(read) << language << ": " << read.error().text;
    const Setup& said = read->setup;
    EXPECT_EQ(to_json(said).at("mesh"), to_json(solved_).at("mesh")) << language;
    EXPECT_EQ(said.model.layers, solved_.model.layers) << language;
    for (const char* key : {"zero", "sequence_parallel", "schedule", "chunks", "micro_batch",
                            "microbatches", "precision"})
      EXPECT_EQ(to_json(said).at(key), to_json(solved_).at(key)) << language << ", " << key;
  }
}

TEST_F(LaunchLine, ComesBackAsItWasWritten) {
  const Result<FrameworkText> written = write_for_framework("megatron", solved_);
  ASSERT_TRUE(written) << written.error().text;
  const Result<FrameworkSetup> read = read_from_framework("megatron", written->text, start_);
  ASSERT_TRUE(read) << read.error().text;
  for (const auto& difference :
       frameworks::differences(solved_, read->setup, frameworks::CompareModels::kByKey))
    ADD_FAILURE() << difference.key << ": " << difference.before << ", then " << difference.after;
}

}  // namespace
}  // namespace parallelarium

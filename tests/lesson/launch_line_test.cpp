// SPDX-License-Identifier: Apache-2.0
// The launch line that a lesson shows is what it asks to set up: read from the lesson's own text,
// in every language, by the reader of that framework.
#include <gtest/gtest.h>

#include "engine/lesson/lesson.h"
#include "engine/lesson/play.h"
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

// The step that asks for a launch line's Setup, as a student meets it and solves it.
struct Asked {
  Lesson lesson;
  Setup before, solved;
};
Asked asked() {
  Asked asked;
  Result<Lesson> lesson = read_lesson(fmt::format("{}/write-the-launch-line", shipped_lessons()));
  EXPECT_TRUE(lesson) << (lesson ? "" : lesson.error().text);
  asked.lesson = std::move(*lesson);
  const std::vector<Step>& steps = asked.lesson.steps;
  std::size_t at = 0;
  while (at + 1 < steps.size() && steps[at].id != "read-it-back") ++at;
  const Symbols drawn = draw(asked.lesson, 1);
  const Result<Settings> before = settings_at(asked.lesson, at, drawn);
  const Result<Settings> solved = with_fields(*before, steps[at].solution, drawn);
  EXPECT_TRUE(solved) << (solved ? "" : solved.error().text);
  asked.before = before->setup;
  asked.solved = solved->setup;
  return asked;
}

TEST(LaunchLine, SaysWhatItsGoalAsksFor) {
  const auto [lesson, before, solved] = asked();
  ASSERT_EQ(lesson.texts.size(), 2u);
  for (const auto& [language, text] : lesson.texts) {
    const std::string line = command_in(text.steps.at("read-it-back").body);
    const Result<FrameworkSetup> read = read_from_framework("megatron", line, before);
    ASSERT_TRUE(read) << language << ": " << read.error().text;
    const auto& said = read->setup;
    EXPECT_EQ(to_json(said).at("mesh"), to_json(solved).at("mesh")) << language;
    EXPECT_EQ(said.model.layers, solved.model.layers) << language;
    for (const char* key : {"zero", "sequence_parallel", "schedule", "chunks", "micro_batch",
                            "microbatches", "precision"})
      EXPECT_EQ(to_json(said).at(key), to_json(solved).at(key)) << language << ", " << key;
  }
}

TEST(LaunchLine, ComesBackAsItWasWritten) {
  const auto [lesson, before, solved] = asked();
  const Result<FrameworkText> written = write_for_framework("megatron", solved);
  ASSERT_TRUE(written) << written.error().text;
  const Result<FrameworkSetup> read = read_from_framework("megatron", written->text, before);
  ASSERT_TRUE(read) << read.error().text;
  for (const auto& difference :
       frameworks::differences(solved, read->setup, frameworks::CompareModels::kByKey))
    ADD_FAILURE() << difference.key << ": " << difference.before << ", then " << difference.after;
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// A teacher writes a lesson beside the window: saved files are read again, and what is set is
// written into them.
#include <gmock/gmock.h>

#include "tests/app/lesson/teacher/teacher_fixture.h"
#include "tests/app/wait.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

class Writing : public Teacher {
 protected:
  void SetUp() override {
    Teacher::SetUp();
    ASSERT_TRUE(window->open_lesson_folder(QString::fromStdString(copy_.folder().string())));
    QApplication::processEvents();
  }
  void set(const char* field, const char* value) {
    parallelarium::Setup setup = session().setup();
    ASSERT_TRUE(set_field(setup, field, value).ok());
    session().history().change(setup, QStringLiteral("set"));
    session().wait_for_prediction();
  }
  // As a document does that was saved there.
  void go_to(const char* step) {
    const Lesson& lesson = player().lesson();
    while (player().step().id != step) {
      ASSERT_LT(player().step_index() + 1, lesson.steps.size());
      player().show_step(1);
    }
  }
  QString shown_title() {
    for (const QLabel* label : window->lesson().findChildren<QLabel*>())
      if (label->property("role").toString() == QLatin1String("title")) return label->text();
    return {};
  }
  LessonCopy copy_;
};

TEST_F(Writing, SavedFilesAreReadAgainAtTheSameStep) {
  EXPECT_EQ(window->room(), Room::kLearn);
  player().next();
  ASSERT_EQ(player().step().id, "more-micro-batches");
  const Symbols drawn = player().drawn();
  player().commit({0.2, {}, {}, {}});
  copy_.replace("## more-micro-batches: ", "## more-micro-batches: Written anew, ");
  copy_.write();
  ASSERT_TRUE(wait_until([&] { return shown_title().startsWith(QStringLiteral("Written anew, ")); },
                         10'000));
  EXPECT_EQ(player().step().id, "more-micro-batches");
  EXPECT_EQ(player().drawn(), drawn);
  EXPECT_EQ(player().lesson().folder, std::filesystem::canonical(copy_.folder()).string());
}

TEST_F(Writing, AnswersStayWhereOnlyTextsChangeAndTheStepBeginsAnewWhereItChanges) {
  player().next();
  player().commit({0.2, {}, {}, {}});
  ASSERT_EQ(player().state().attempts, 1);
  std::ofstream(copy_.folder() / "text.en.md", std::ios::app) << "\nOne more sentence.\n";
  const auto body_ends = [&] {
    const StepText& last = player().lesson().text("en").steps.at("take-away");
    return last.parts.at("notes").find("One more sentence") != std::string::npos;
  };
  ASSERT_TRUE(wait_until(body_ends, 10'000));
  EXPECT_EQ(player().state().attempts, 1) << "only texts have changed";
  copy_.step("more-micro-batches")["setup"] = {{"microbatches", 5}};
  copy_.text += "\nOne more sentence.\n";
  copy_.write();
  ASSERT_TRUE(wait_until([&] { return player().state().attempts == 0; }, 10'000));
  EXPECT_EQ(player().step().id, "more-micro-batches");
  EXPECT_EQ(session().setup().microbatches, 5) << "what the step begins with is set again";
}

TEST_F(Writing, AFaultIsOneSentenceAndTheLastGoodLessonStays) {
  player().next();
  copy_.raw = "{ \"format\": ";
  copy_.write();
  ASSERT_TRUE(wait_until([&] { return banner_says(QStringLiteral("lesson.json")); }, 10'000));
  EXPECT_TRUE(player().is_open());
  EXPECT_EQ(player().step().id, "more-micro-batches");
  copy_.raw.clear();
  copy_.object["minutes"] = 44;
  copy_.write();
  ASSERT_TRUE(wait_until([&] { return player().lesson().minutes == 44; }, 10'000));
  EXPECT_FALSE(banner_says(QStringLiteral("lesson.json")));
}

TEST_F(Writing, WhatIsSetIsRecordedAndTheKeysAreNamed) {
  go_to("fill-it");
  ASSERT_EQ(player().step().id, "fill-it");
  set("microbatches", "40");
  action(QStringLiteral("Record this setup as the step's solution"))->trigger();
  EXPECT_TRUE(banner_says(QStringLiteral("solution.microbatches")));
  const auto written = nlohmann::json::parse(content_of(copy_.folder() / "lesson.json"));
  EXPECT_EQ(written["steps"][5]["solution"]["microbatches"], 40);
  ASSERT_TRUE(wait_until(
      [&] {
        return player().lesson().find("fill-it")->solution == Fields{{"microbatches", "40"}};
      },
      10'000));
  EXPECT_EQ(player().step().id, "fill-it");
}

TEST_F(Writing, ALessonOfTheProgramIsNotWritten) {
  open("filling-the-bubble");
  action(QStringLiteral("Record this setup as the step's start"))->trigger();
  EXPECT_TRUE(banner_says(QStringLiteral("came with the program")));
  EXPECT_FALSE(window->open_lesson_folder(folder_.path()));
  EXPECT_TRUE(banner_says(QStringLiteral("lesson")));
  EXPECT_TRUE(player().is_open()) << "what was open stays";
}

}  // namespace
}  // namespace parallelarium

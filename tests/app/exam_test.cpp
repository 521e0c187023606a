// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson that is taken as an exam.
#include <QCheckBox>
#include <QToolButton>
#include <fstream>

#include "app/lesson/map/map_data.h"
#include "app/lesson/teaching/class_dialog.h"
#include "engine/lesson/teaching/class_seed.h"
#include "engine/lesson/teaching/report.h"
#include "tests/app/lesson_fixture.h"
#include "tests/app/window_fixture.h"

namespace parallelarium {
namespace {

class Exam : public LessonPlay {
 protected:
  void SetUp() override {
    LessonPlay::SetUp();
    ASSERT_TRUE(player().progress().join(ClassPlace{"spring-26", "Ada", true}));
  }
  void TearDown() override { ASSERT_TRUE(player().progress().join(std::nullopt)); }
  void take(const QString& id) {
    const Result<void> opened = player().open(kLessons + id);
    ASSERT_TRUE(opened) << opened.error().text;
  }
  // The step's own answer, found from what is set when it is revealed.
  double right_answer() {
    Context context;
    context.drawn = player().drawn();
    context.settings =
        *settings_at(player().lesson(), player().step_index(), player().drawn(), true);
    return *evaluate(player().step().ask->answer, context.symbols());
  }
};

TEST_F(Exam, AQuestionIsAnsweredOnceAndNothingSaysHow) {
  take(QStringLiteral("filling-the-bubble"));
  EXPECT_TRUE(player().exam());
  EXPECT_TRUE(panel_->findChild<QLabel*>("LessonExam")->isVisible());
  press_primary();
  ASSERT_EQ(player().step().kind, StepKind::kPredict);
  ASSERT_FALSE(player().step().reveal.empty());
  ASSERT_FALSE(player().step().hide.empty());
  const auto before = session_.setup();
  const QString bubble = QStringLiteral("bubble");
  EXPECT_TRUE(session_.locks().hidden(bubble));
  player().show_hint();
  EXPECT_EQ(player().state().hints, 0);
  player().commit({0.987, {}, {}, {}});
  EXPECT_EQ(panel_->findChild<QLabel*>("LessonVerdict")->text(),
            QStringLiteral("Your answer is kept"));
  EXPECT_TRUE(player().feedback().isEmpty());
  EXPECT_EQ(session_.setup(), before) << "what would be revealed is not shown";
  EXPECT_TRUE(session_.locks().hidden(bubble));
  player().commit({right_answer(), {}, {}, {}});
  EXPECT_EQ(player().state().attempts, 1);
  EXPECT_EQ(player().state().answer.number, 0.987);
  const nlohmann::json answers = player().answers();
  EXPECT_EQ(answers["exam"], true);
  EXPECT_EQ(answers.dump().find("\"right\""), std::string::npos);
  player().next();
  EXPECT_EQ(session_.setup(), settings_at(player().lesson(), 1, player().drawn(), true)->setup)
      << "the next step builds on it";
}

TEST_F(Exam, ItsNumbersAreNotThoseOfPracticeAndStayWhateverTheStudentDoes) {
  take(QStringLiteral("filling-the-bubble"));
  const std::uint64_t seed = class_seed("spring-26-exam", "Ada", "filling-the-bubble");
  EXPECT_EQ(player().answers()["seed"], seed);
  EXPECT_NE(seed, class_seed("spring-26", "Ada", "filling-the-bubble"));
  press_primary();
  player().commit({0.5, {}, {}, {}});
  player().reset();
  player().close();
  take(QStringLiteral("filling-the-bubble"));
  EXPECT_EQ(player().step_index(), 1u) << "it goes on where it was left";
  EXPECT_EQ(player().state().attempts, 1);
  EXPECT_TRUE(player().state().solved);
  player().commit({0.25, {}, {}, {}});
  EXPECT_EQ(player().state().answer.number, 0.5);
  EXPECT_TRUE(player().model_answer().isEmpty());
}

TEST_F(Exam, TheMapCountsOnlyWhatWasTakenAsOne) {
  LessonProgress& progress = player().progress();
  const Result<Lesson> lesson = read_lesson((kLessons + "first-look").toStdString());
  ASSERT_TRUE(progress.keep("first-look", lesson->version, true, {{"seed", 1}}));
  const auto first = [&] { return read_map(player()).lessons.front(); };
  ASSERT_EQ(first().id, QStringLiteral("first-look"));
  EXPECT_FALSE(first().done);
  take(QStringLiteral("first-look"));
  EXPECT_EQ(player().step_index(), 0u);
  player().close();
  EXPECT_EQ(first().reached, 1u);
  EXPECT_FALSE(first().done) << "as an exam it is under way";
  ASSERT_TRUE(progress.join(std::nullopt));
  EXPECT_TRUE(first().done);
}

TEST_F(Exam, WhatIsHandedInIsJudgedByTheReport) {
  take(QStringLiteral("filling-the-bubble"));
  press_primary();
  player().commit({right_answer(), {}, {}, {}});
  nlohmann::json answers = player().answers();
  answers["format"] = "parallelarium-answers/1";
  answers["name"] = "Ada";
  const std::string path = testing::TempDir() + "exam-answers.json";
  std::ofstream(path) << answers.dump();
  const ClassReport report =
      report_on({path}, kLessons.toStdString(), player().computer(), "spring-26");
  ASSERT_EQ(report.hand_ins.size(), 1u);
  for (const Message& fault : report.hand_ins[0].faults) ADD_FAILURE() << fault.text;
  EXPECT_TRUE(report.hand_ins[0].exam);
  EXPECT_GT(report.hand_ins[0].asked(), 1) << "all that the lesson asks";
  EXPECT_EQ(report.hand_ins[0].right(), 1);
}

TEST_F(Exam, AGoalMayBeLeftUnreached) {
  take(QStringLiteral("filling-the-bubble"));
  std::size_t goal = 0;
  while (player().lesson().steps[goal].kind != StepKind::kGoal) ++goal;
  go_to(goal);
  ASSERT_EQ(player().step().kind, StepKind::kGoal);
  EXPECT_TRUE(player().exam()) << "also after a document with it was opened";
  EXPECT_FALSE(player().may_continue());
  player().commit({});
  ASSERT_FALSE(player().state().solved);
  ASSERT_TRUE(player().may_continue());
  player().continue_unmet();
  EXPECT_TRUE(player().state().solved);
}

TEST_F(Exam, OutsideOfItEverythingIsAsEver) {
  ASSERT_TRUE(player().progress().join(ClassPlace{"spring-26", "Ada", false}));
  take(QStringLiteral("filling-the-bubble"));
  EXPECT_FALSE(player().exam());
  EXPECT_FALSE(panel_->findChild<QLabel*>("LessonExam")->isVisible());
  press_primary();
  player().commit({0.987, {}, {}, {}});
  EXPECT_FALSE(player().feedback().isEmpty());
  EXPECT_FALSE(session_.locks().hidden(QStringLiteral("bubble")));
}

class ExamWindow : public WindowFixture {};

TEST_F(ExamWindow, ACodeThatSaysExamTurnsThePlannerOff) {
  LessonProgress& progress = window->lesson().player().progress();
  ClassDialog dialog(progress);
  const auto fields = dialog.findChildren<QLineEdit*>();
  auto* exam = dialog.findChild<QCheckBox*>();
  ASSERT_EQ(fields.size(), 2);
  fields[1]->setText(QStringLiteral("Ada"));
  fields[0]->setText(QStringLiteral("example-7"));
  EXPECT_FALSE(exam->isChecked());
  fields[0]->setText(QStringLiteral("exam-7"));
  EXPECT_TRUE(exam->isChecked());
  EXPECT_FALSE(exam->isEnabled());
  for (auto* button : dialog.findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("Join")) button->click();
  ASSERT_TRUE(progress.place() && progress.place()->is_exam());
  EXPECT_TRUE(LessonProgress().place()->is_exam()) << "it is kept";

  Window other;  // as the program starts the next time
  other.set_asks(false);
  other.show();
  other.show_room(Room::kPlan);
  EXPECT_NE(other.room(), Room::kPlan);
  other.show_view(QStringLiteral("search"));
  EXPECT_NE(other.room(), Room::kPlan);
  bool offered = false;
  for (auto* button : other.findChildren<QToolButton*>())
    if (button->text() == QStringLiteral("Plan")) offered = button->isEnabled();
  EXPECT_FALSE(offered);
  other.present();
  EXPECT_FALSE(other.presents());
  ASSERT_TRUE(other.lesson().player().progress().join(std::nullopt));
}

}  // namespace
}  // namespace parallelarium

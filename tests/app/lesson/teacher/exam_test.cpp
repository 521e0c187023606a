// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson that is taken as an exam.
#include <QCheckBox>
#include <QTemporaryDir>
#include <QToolButton>
#include <fstream>

#include "app/lesson/map/map_data.h"
#include "app/lesson/teaching/class_dialog.h"
#include "engine/lesson/play.h"
#include "engine/lesson/teaching/grading/class_seed.h"
#include "engine/lesson/teaching/grading/report.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class Exam : public LessonPlay {
 protected:
  void SetUp() override {
    LessonPlay::SetUp();
    ASSERT_TRUE(player().progress().use_folder(folder_.path()));  // nobody's exam is in it
    ASSERT_TRUE(player().progress().join(ClassPlace{"spring-26", "Ada", true}));
  }
  void TearDown() override { ASSERT_TRUE(player().progress().join(std::nullopt)); }
  QTemporaryDir folder_;
  void take(const QString& id) {
    const Result<void> opened = player().open(kLessons + id);
    ASSERT_TRUE(opened) << opened.error().text;
  }
  // Answers whatever comes before a step of that kind.
  void answer_until(StepKind kind) {
    const Lesson lesson = player().lesson();
    nlohmann::json steps = nlohmann::json::array();
    for (const Step& step : lesson.steps) {
      steps.push_back({{"step", step.id}, {"solved", step.kind != kind}});
      if (step.kind == kind) break;
    }
    const std::uint64_t seed = player().progress().place()->seed(lesson.id);
    player().close();
    ASSERT_TRUE(player().progress().keep_exam(lesson.id, lesson.version, seed, false,
                                              {{"seed", seed}, {"steps", steps}}));
    take(QString::fromStdString(lesson.id));
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
  EXPECT_FALSE(player().may_show_answer());
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
  answer_until(StepKind::kGoal);
  ASSERT_EQ(player().step().kind, StepKind::kGoal);
  EXPECT_TRUE(player().exam());
  EXPECT_FALSE(player().may_continue());
  set("microbatches", "30");
  player().commit({});
  if (!player().state().solved) {
    ASSERT_TRUE(player().may_continue());
    player().continue_unmet();
  }
  EXPECT_TRUE(player().state().solved);
  player().close();
  session_.restore(default_setup(), {}, std::nullopt);
  take(QStringLiteral("filling-the-bubble"));
  EXPECT_EQ(session_.setup().microbatches, 30) << "what was set for it is its answer";
  EXPECT_EQ(player().answers()["steps"].back()["settings"]["microbatches"], "30");
}

TEST_F(Exam, AnUnreachedGoalMayBeLeft) {
  take(QStringLiteral("filling-the-bubble"));
  answer_until(StepKind::kGoal);
  set("microbatches", "1");
  player().commit({});
  ASSERT_FALSE(player().state().solved);
  EXPECT_FALSE(player().may_leave());
  ASSERT_TRUE(player().may_continue());
  player().continue_unmet();
  EXPECT_TRUE(player().state().solved);
}

TEST_F(Exam, PracticeOfALaterDayLeavesWhatWasAnswered) {
  const QString id = QStringLiteral("filling-the-bubble");
  LessonProgress& progress = player().progress();
  const ClassPlace place = *progress.place();
  const int version = read_lesson((kLessons + id).toStdString())->version;
  const auto kept = [&] {
    return LessonProgress(folder_.filePath(QStringLiteral("progress.json")))
        .exam_record(id.toStdString(), version, place.seed(id.toStdString()));
  };
  take(id);
  press_primary();
  player().commit({0.5, {}, {}, {}});
  player().close();
  const nlohmann::json before = kept();
  ASSERT_EQ(before["steps"].size(), 2u);
  ASSERT_TRUE(progress.join(std::nullopt));
  take(id);
  EXPECT_FALSE(player().exam());
  press_primary();
  player().commit({0.25, {}, {}, {}});
  player().reset();
  player().close();
  EXPECT_EQ(kept(), before);
  // Also what was taken to its end.
  ASSERT_TRUE(progress.join(place));
  const std::uint64_t seed = place.seed(id.toStdString());
  ASSERT_TRUE(progress.keep_exam(id.toStdString(), version, seed, true, before));
  ASSERT_TRUE(progress.keep_exam(id.toStdString(), version, seed, false, {{"steps", {}}}));
  EXPECT_EQ(kept(), before);
  ASSERT_TRUE(progress.join(std::nullopt));
  take(id);
  player().close();
  EXPECT_EQ(kept(), before);
  ASSERT_TRUE(progress.join(ClassPlace{"spring-26", "Grace", true}));
  take(id);
  EXPECT_EQ(player().step_index(), 0u) << "another student's exam is another one";
  EXPECT_EQ(kept(), before);
}

TEST_F(Exam, ADocumentOpenedAgainOpensNoQuestionAgain) {
  take(QStringLiteral("first-look"));
  press_primary();
  ASSERT_EQ(player().step().kind, StepKind::kPredict);
  const nlohmann::json document = session_.locks().lesson_state();
  player().commit({0.5, {}, {}, {}});
  ASSERT_TRUE(player().state().solved);
  session_.locks().set_lesson_state(document);
  Q_EMIT session_.restored();
  EXPECT_TRUE(player().exam());
  EXPECT_TRUE(player().state().solved);
  EXPECT_EQ(player().state().attempts, 1);
  EXPECT_EQ(player().state().answer.number, 0.5);
  player().commit({0.25, {}, {}, {}});
  EXPECT_EQ(player().answers()["steps"][1]["number"], 0.5);
  // A document cannot lead past a question either.
  go_to(5);
  EXPECT_EQ(player().step_index(), 1u);
}

TEST_F(Exam, ALessonIsNotLeftWhileAQuestionIsOpen) {
  take(QStringLiteral("filling-the-bubble"));
  EXPECT_TRUE(player().may_leave()) << "there is only something to read";
  press_primary();
  panel_->leave_lesson();
  ASSERT_TRUE(player().is_open());
  EXPECT_TRUE(session_.locks().hidden(QStringLiteral("bubble")));
  player().commit({0.5, {}, {}, {}});
  panel_->leave_lesson();
  EXPECT_FALSE(player().is_open());
}

TEST_F(Exam, OutsideOfItEverythingIsAsEver) {
  ASSERT_TRUE(player().progress().join(ClassPlace{"spring-26", "Ada", false}));
  take(QStringLiteral("filling-the-bubble"));
  EXPECT_FALSE(player().exam());
  EXPECT_FALSE(panel_->findChild<QLabel*>("LessonExam")->isVisible());
  press_primary();
  player().commit({0.987, {}, {}, {}});
  player().show_answer();
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
  for (const char* view : {"search", "roofline"}) {
    other.show_view(QLatin1String(view));
    EXPECT_STRNE(other.view_info().id, view) << "nor beside the views of Explore";
  }
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

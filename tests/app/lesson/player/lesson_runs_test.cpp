// SPDX-License-Identifier: GPL-3.0-or-later
// What a lesson says of its runs reaches them: how many steps there are, and which rank is slow.
// How they are run stays the student's.
#include <gmock/gmock.h>

#include <QLabel>
#include <QPushButton>

#include "app/state/run/run_advice.h"
#include "tests/app/lesson/lesson_fixture.h"

namespace parallelarium {
namespace {

TEST_F(LessonPlay, TheSlowRankIsTheLessonsAndTheBackendTheStudents) {
  auto setup = session_.setup();
  setup.run.backend = Backend::kCpu;
  setup.run.text = "default";
  setup.run.steps = 3;
  session_.history().change(setup, QString());
  open(QStringLiteral("who-made-it-late"));
  const auto& drawn = player().drawn();
  const double slow = drawn.at("slow"), late = drawn.at("late");
  const auto slow_rank = [this] { return session_.setup().run.slow_rank; };
  EXPECT_EQ(slow_rank().factor, 1);
  player().set_presents(true);  // goes to any step
  const auto show = [this](const char* wanted) {
    while (step() != wanted && !player().at_end()) player().show_step(1);
    EXPECT_EQ(step(), wanted);
  };
  show("how-late");
  EXPECT_EQ(slow_rank().factor, 1);
  show("run-it");
  EXPECT_EQ(slow_rank(), (SlowRank{static_cast<int>(late), slow}));
  // The others wait for it, and the prediction says so.
  EXPECT_GT(session_.subject().prediction()->bubble.of_total, 0.5 * 7 / 8 * (1 - 1 / slow));
  show("a-lighter-stage");
  EXPECT_EQ(slow_rank(), (SlowRank{1, 2}));
  EXPECT_EQ(session_.setup().run.backend, Backend::kCpu);
  player().set_presents(false);
  player().close();
  open(QStringLiteral("the-batch-must-grow"));
  EXPECT_EQ(session_.setup().run.steps, 40);
  EXPECT_EQ(slow_rank().factor, 1);
  EXPECT_EQ(session_.setup().run.backend, Backend::kCpu);
}

// A computer that is busy with something else may never pass a check on time.
TEST_F(LessonPlay, AfterTwoMissedRunsTheLessonGoesOnAndSaysThatTheCheckIsNotMet) {
  open(QStringLiteral("filling-the-bubble"));
  press_primary();
  player().commit({0.4, {}, {}, {}});
  player().show_answer();
  player().next();
  ASSERT_EQ(step(), "run-it");
  bring_run(0.9, "2026-11-21T08:00:00Z");
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("must lie between"));
  EXPECT_FALSE(player().may_continue());
  bring_run(0.9, "2026-11-21T08:01:00Z");
  EXPECT_EQ(primary()->text(), QStringLiteral("▶ ") + run_verb(session_)) << "as the text calls it";
  ASSERT_TRUE(player().may_continue());
  for (QPushButton* button : panel_->findChildren<QPushButton*>())
    if (button->text() == QLatin1String("Continue with this run")) button->click();
  EXPECT_TRUE(player().state().solved);
  EXPECT_EQ(panel_->findChild<QLabel*>("LessonVerdict")->text(), QStringLiteral("Check not met"));
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("not met"));
  const auto answers = player().answers();
  EXPECT_EQ(answers["steps"].back()["check_met"], false);
  EXPECT_EQ(answers["steps"].back()["right"], false);
}

// Of a run that other work disturbed the first says so and may be left as it is; and of two limits
// on one figure the narrower is said.
TEST_F(LessonPlay, ADisturbedRunSaysSoOnceAndTheLessonMayGoOn) {
  open(QStringLiteral("who-made-it-late"));
  bring_run(0.01, "2026-11-21T08:00:00Z");
  ASSERT_TRUE(player().state().solved);
  press_primary();
  player().commit({0.01, {}, {}, {}});
  player().show_answer();
  player().next();
  ASSERT_EQ(step(), "run-it");
  bring_run(0.01, "2026-11-21T08:01:00Z");
  EXPECT_EQ(feedback().count(QStringLiteral("To pass")), 1) << feedback().toStdString();
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("must lie between"));
  EXPECT_FALSE(player().may_continue()) << "nothing disturbed it";
  player().close();

  open(QStringLiteral("filling-the-bubble"));
  press_primary();
  player().commit({0.4, {}, {}, {}});
  player().show_answer();
  player().next();
  ASSERT_EQ(step(), "run-it");
  bring_run(0.9, "2026-11-21T08:02:00Z", 3.16);
  EXPECT_EQ(panel_->findChild<QLabel*>("LessonVerdict")->text(), QStringLiteral("Disturbed run"));
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("Other work kept the cores"));
  EXPECT_TRUE(player().may_continue());
}

// A run is refused while a question is open, but only where it would show the answer is that said.
TEST_F(LessonPlay, OnlyOfASetupThatIsAskedAboutARunWouldShowTheAnswer) {
  open(QStringLiteral("memory-moves"));
  const auto refusal_at = [this](const char* wanted) {
    for (std::size_t at = 0; at < player().lesson().steps.size(); ++at)
      if (player().lesson().steps[at].id == wanted) go_to(at);
    EXPECT_EQ(step(), wanted);
    EXPECT_TRUE(session_.locks().question_open());
    return run_refusal(session_).toStdString();
  };
  const auto claims = testing::HasSubstr("would show the answer");
  EXPECT_THAT(refusal_at("one-batch"), claims);
  EXPECT_THAT(refusal_at("first-stage"), testing::Not(claims)) << "it is about four stages";
  EXPECT_THAT(refusal_at("a-large-layer"), testing::Not(claims)) << "it names no figure of this";
  player().close();
  open(QStringLiteral("the-job-that-hangs"));
  const std::string of_thirteen = refusal_at("thirteen-ranks");
  EXPECT_FALSE(of_thirteen.empty());
  EXPECT_THAT(of_thirteen, testing::Not(claims));
}

}  // namespace
}  // namespace parallelarium

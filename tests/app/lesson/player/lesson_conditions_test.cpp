// SPDX-License-Identifier: GPL-3.0-or-later
// What a lesson asks for is said in words, and what a part frees can be found on the left.
#include "app/settings/setup_panel.h"
#include "tests/app/lesson/lesson_fixture.h"

namespace parallelarium {
namespace {

TEST(LessonConditions, NoneIsSaidByItsKey) {
  const Result<Course> course = read_course(kLessons.toStdString());
  ASSERT_TRUE(course) << course.error().text;
  for (const CourseEntry& entry : course->lessons) {
    const Result<Lesson> lesson = read_lesson(kLessons.toStdString() + "/" + entry.id);
    ASSERT_TRUE(lesson) << entry.id;
    for (const Step& step : lesson->steps) {
      if (step.kind != StepKind::kGoal && step.kind != StepKind::kRun) continue;
      for (const Check& check : step.checks) {
        if (check.of == "setup") continue;
        const QString words = condition_words({check, false, 1.0, 1.0});
        EXPECT_FALSE(words.startsWith(QString::fromStdString(check.metric()), Qt::CaseInsensitive))
            << entry.id << ", " << step.id << ": " << words.toStdString();
      }
    }
  }
}

TEST_F(LessonPlay, AConditionIsHeardAsASentence) {
  open(QStringLiteral("does-it-fit"));
  std::size_t goal = 0;
  while (player().lesson().steps[goal].kind != StepKind::kGoal) ++goal;
  go_to(goal);
  session_.wait_for_prediction();
  ASSERT_FALSE(player().conditions().empty());
  for (const LessonPlayer::Condition& condition : player().conditions()) {
    EXPECT_TRUE(condition.heard.contains(QStringLiteral(" must ")));
    EXPECT_TRUE(condition.heard.contains(QStringLiteral(", is ")));
    EXPECT_TRUE(condition.heard.endsWith(condition.holds ? QStringLiteral(": reached.")
                                                         : QStringLiteral(": not yet.")));
    for (const char* sign : {"✓", "✗", "≤", "≥", " = "})
      EXPECT_FALSE(condition.heard.contains(QString::fromUtf8(sign)))
          << condition.heard.toStdString();
  }
}

// A part of this lesson frees the number of layers alone, which Explore has among all settings.
TEST_F(LessonPlay, AFreedSettingThatThePanelLacksStandsOnTheLeft) {
  SetupPanel panel(session_);
  panel.resize(268, 700);
  panel.show();
  EXPECT_EQ(panel.control("layers"), nullptr);
  open(QStringLiteral("does-it-fit"));
  std::size_t goal = 0;
  while (player().lesson().steps[goal].kind != StepKind::kGoal) ++goal;
  go_to(goal);
  QWidget* layers = panel.control("layers");
  ASSERT_TRUE(layers);
  QApplication::processEvents();  // a layout places it
  EXPECT_TRUE(layers->isVisible() && layers->isEnabled());
  EXPECT_LT(layers->mapTo(&panel, QPoint(0, 0)).y(), 100);
  auto* box = qobject_cast<StepBox*>(layers);
  ASSERT_TRUE(box);
  Q_EMIT box->committed(QStringLiteral("20"));
  EXPECT_EQ(session_.setup().model.layers, 20);
  player().close();
  EXPECT_EQ(panel.control("layers"), nullptr);
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// Lessons by ear: what a screen reader is told where the keys are. A part says what it asks, and an
// answer says what came of it.
#include <QAbstractButton>
#include <QComboBox>
#include <QTabWidget>

#include "app/look/spoken.h"
#include "app/selection/selection_panel.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/app/lesson/teacher/teacher_fixture.h"

namespace parallelarium {
namespace {

QString told(const QWidget* widget) { return widget->accessibleDescription(); }

class LessonHeard : public LessonPlay {
 protected:
  QString text() {
    for (MarkdownView* view : panel_->findChildren<MarkdownView*>())
      if (view->accessibleName() == QStringLiteral("Lesson text")) return heard_text(*view);
    return {};
  }
  QString question() { return text().section(QLatin1Char('\n'), -1); }
};

TEST_F(LessonHeard, APartsFirstControlSaysWhatIsAskedElseItsText) {
  open(QStringLiteral("copies-that-agree"));
  EXPECT_TRUE(told(primary()).contains(text())) << told(primary()).toStdString();
  go_to(1);
  auto* number = panel_->findChild<QLineEdit*>("LessonNumber");
  EXPECT_TRUE(question().contains(QLatin1Char('?')));
  EXPECT_TRUE(told(number).startsWith(question())) << told(number).toStdString();
  go_to(3);
  const auto* first = panel_->findChild<QComboBox*>();
  ASSERT_NE(first, nullptr);
  EXPECT_TRUE(told(first).startsWith(QStringLiteral("Put these four in order.")))
      << told(first).toStdString();
  go_to(4);
  EXPECT_TRUE(told(primary()).contains(text()));
  go_to(5);
  set("dp", "1");
  EXPECT_TRUE(told(primary()).contains(QStringLiteral("must be 4, is 1: not yet")))
      << told(primary()).toStdString();
  EXPECT_TRUE(told(primary()).contains(text()));
}

TEST_F(LessonHeard, TheButtonThatLeadsOnSaysWhatCameOfTheAnswer) {
  open(QStringLiteral("copies-that-agree"));
  go_to(1);
  type_number(QStringLiteral("1"));
  press_primary();
  EXPECT_TRUE(told(primary()).startsWith(QStringLiteral("Not right yet")))
      << told(primary()).toStdString();
  player().show_answer();
  ASSERT_TRUE(player().state().solved);
  ASSERT_FALSE(feedback().isEmpty());
  EXPECT_TRUE(told(primary()).startsWith(QStringLiteral("Not quite: ") + feedback().left(20)))
      << told(primary()).toStdString();
  EXPECT_EQ(primary()->text(), QStringLiteral("Next"));
  player().close();
  open(QStringLiteral("backward-in-two"));
  go_to(0);
  choose(QStringLiteral("input"));
  press_primary();
  ASSERT_TRUE(player().state().solved);
  EXPECT_TRUE(told(primary()).startsWith(QStringLiteral("Right: Yes.")))
      << told(primary()).toStdString();
}

TEST_F(LessonHeard, AGoalThatIsReachedSaysSoAtTheButtonThatChecksIt) {
  open(QStringLiteral("copies-that-agree"));
  go_to(5);
  set("dp", "1");
  press_primary();
  EXPECT_TRUE(told(primary()).startsWith(QStringLiteral("Not quite: ")));
  EXPECT_TRUE(told(primary()).contains(QStringLiteral("must be 4, is 1: not yet")))
      << "what is missing: " << told(primary()).toStdString();
  set("dp", "4");
  set("microbatches", "1");
  EXPECT_TRUE(told(primary()).startsWith(QStringLiteral("Reached: ")))
      << told(primary()).toStdString();
  press_primary();
  EXPECT_TRUE(told(primary()).startsWith(QStringLiteral("Right: Done")));
}

TEST_F(LessonHeard, TheWayToTheListSaysThePartOnceAndIsNeverOutOfDate) {
  open(QStringLiteral("copies-that-agree"));
  go_to(1);
  const QAbstractButton* crumb = nullptr;
  for (const auto* button : panel_->findChildren<QAbstractButton*>())
    if (button->accessibleName().contains(QStringLiteral("part 2 of"))) crumb = button;
  ASSERT_NE(crumb, nullptr);
  EXPECT_EQ(told(crumb), QStringLiteral("All lessons"));
}

TEST_F(LessonHeard, EnterCommitsFromAnOrdersListToo) {
  open(QStringLiteral("copies-that-agree"));
  go_to(3);
  const QList<QComboBox*> lists = panel_->findChildren<QComboBox*>();
  ASSERT_EQ(lists.size(), 4);
  for (int at = 0; at < 4; ++at) lists[at]->setCurrentIndex(at);
  QTest::keyClick(lists[1], Qt::Key_Return);
  EXPECT_TRUE(player().state().judgement.has_value());
}

TEST_F(Teacher, APartThatIsEnteredComesBeforeWhatIsSelected) {
  open("copies-that-agree");
  QTabWidget* tabs = nullptr;
  for (auto* each : window->findChildren<QTabWidget*>())
    if (each->indexOf(&window->lesson()) >= 0) tabs = each;
  ASSERT_NE(tabs, nullptr);
  tabs->setCurrentWidget(window->findChild<SelectionPanel*>());
  ASSERT_FALSE(window->lesson().isVisible());
  open("filling-the-bubble");
  EXPECT_TRUE(window->lesson().isVisible());
  tabs->setCurrentWidget(window->findChild<SelectionPanel*>());
  player().next();
  EXPECT_TRUE(window->lesson().isVisible());
}

}  // namespace
}  // namespace parallelarium

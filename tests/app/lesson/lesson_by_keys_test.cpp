// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson and a puzzle from the map to their end with keys alone. Nothing is known of the window
// but what a screen reader is told of the widget that has the focus.
#include <gmock/gmock.h>

#include <QAccessible>
#include <QRegularExpression>

#include "app/state/run/run_advice.h"
#include "tests/app/wait.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class ByKeys : public WindowFixture {
 protected:
  // As at the first start, in the smallest window.
  void SetUp() override {
    window = std::make_unique<Window>();
    window->set_asks(false);
    window->lesson().set_pauses(0, 0);
    window->resize(window->minimumSizeHint());
    window->show();
    window->greet();
    window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(window.get()));
    QApplication::processEvents();
  }
  static std::string told(QAccessible::Text what) {
    QWidget* focus = QApplication::focusWidget();
    QAccessibleInterface* heard = focus ? QAccessible::queryAccessibleInterface(focus) : nullptr;
    return heard ? heard->text(what).toStdString() : std::string();
  }
  static std::string name() { return told(QAccessible::Name); }
  static std::string description() { return told(QAccessible::Description); }
  void press(Qt::Key key, Qt::KeyboardModifiers with = Qt::NoModifier) {
    QWidget* focus = QApplication::focusWidget();
    QTest::keyClick(focus ? focus : window.get(), key, with);
    QApplication::processEvents();
  }
  void type(const QString& text) {
    QTest::keyClicks(QApplication::focusWidget(), text);
    QApplication::processEvents();
  }
  // With Tab, to a control that is called so.
  void tab_to(const std::string& called) {
    for (int at = 0; at < 60; ++at, press(Qt::Key_Tab))
      if (name().find(called) != std::string::npos) return;
    FAIL() << "Tab does not lead to " << called;
  }
  static bool on_card() {
    QAccessibleInterface* heard =
        QAccessible::queryAccessibleInterface(QApplication::focusWidget());
    return heard && heard->role() == QAccessible::RadioButton;
  }
  // Tab leads to the cards, arrows from card to card, Enter commits.
  void choose(const std::string& words) {
    for (int at = 0; at < 60 && !on_card(); ++at) press(Qt::Key_Tab);
    press(Qt::Key_Space);
    for (int at = 0; at < 5; ++at) press(Qt::Key_Up);
    for (int at = 0; at < 5 && name().find(words) == std::string::npos; ++at) press(Qt::Key_Down);
    ASSERT_THAT(name(), testing::HasSubstr(words));
    press(Qt::Key_Return);
  }
  void open_lesson(const QString& called) {
    press(Qt::Key_F, Qt::ControlModifier);
    type(called);
    press(Qt::Key_Down);
    press(Qt::Key_Return);
  }
  void go_on() {
    ASSERT_EQ(name(), "Next") << description();
    press(Qt::Key_Space);
  }
};

TEST_F(ByKeys, ALessonIsPlayedToItsEnd) {
  using testing::HasSubstr;
  using testing::StartsWith;
  open_lesson(QStringLiteral("same bubble"));
  go_on();
  // A number, first a wrong one.
  ASSERT_THAT(name(), StartsWith("Your answer"));
  const auto asked = QRegularExpression(QStringLiteral("With (\\d+) stages and 16 micro-batches"))
                         .match(QString::fromStdString(description()));
  ASSERT_TRUE(asked.hasMatch()) << description();
  const int stages = asked.captured(1).toInt();
  type(QStringLiteral("16"));
  press(Qt::Key_Return);
  EXPECT_THAT(description(), StartsWith("Not right yet: 16 is what GPipe holds."));
  type(QString::number(std::min(stages, 16)));
  press(Qt::Key_Return);
  EXPECT_THAT(description(), StartsWith("Right: Yes"));
  go_on();
  // Cards.
  choose("It shrinks it");
  EXPECT_THAT(description(), StartsWith("Not right yet: What must happen before"));
  choose("Nothing: it is as large as GPipe's");
  EXPECT_THAT(description(), StartsWith("Right: "));
  go_on();
  // Cells of a drawing.
  const auto mark = [&](std::initializer_list<int> steps) {
    for (const int right : steps) {
      for (int at = 0; at < right; ++at) press(Qt::Key_Right);
      press(Qt::Key_Space);
    }
  };
  mark({4, 2, 2, 1, 1});
  tab_to("Check");
  press(Qt::Key_Space);
  EXPECT_THAT(description(), HasSubstr("You found 5 of 6"));
  tab_to("Drawing to check");
  mark({1});
  tab_to("Check");
  press(Qt::Key_Space);
  EXPECT_THAT(description(), StartsWith("Right: All 6"));
  go_on();
  // Rows of an order, as text.
  const auto write = [&](const char* row) {
    press(Qt::Key_F2);
    press(Qt::Key_A, Qt::ControlModifier);
    type(QLatin1String(row));
    press(Qt::Key_Return);
  };
  write("F0 F1 B0 F2 B1 F3 B2 B3");
  press(Qt::Key_Down);
  write("F0 B0 F1 B1 F2 B2 F3 B3");
  tab_to("Check");
  press(Qt::Key_Space);
  EXPECT_THAT(description(), StartsWith("Right: It runs, in 15 slots"));
  go_on();
  // A goal, by settings and a run.
  tab_to("Setup: GPipe");
  press(Qt::Key_Space);
  // On a busy computer the popup takes the keys a moment later.
  ASSERT_TRUE(QTest::qWaitFor([&] {
    const QWidget* focus = QApplication::focusWidget();
    return focus && focus->window() != window.get();
  }));
  tab_to("Schedule");
  for (int at = 0; at < 12 && told(QAccessible::Value) != "1F1B"; ++at) press(Qt::Key_Down);
  tab_to("Micro-batches");
  press(Qt::Key_A, Qt::ControlModifier);
  type(QStringLiteral("12"));
  press(Qt::Key_Return);
  press(Qt::Key_Escape);
  tab_to("Check");
  EXPECT_THAT(description(), HasSubstr("held at most must be at most 4, is 4: reached"));
  EXPECT_THAT(description(),
              HasSubstr("held by stage 0, in a run must be the predicted 4: not yet"));
  press(Qt::Key_Space);
  EXPECT_THAT(description(), StartsWith("Try again: This setup has not been run yet"));
  tab_to(run_verb(session()).toStdString());
  press(Qt::Key_Space);
  ASSERT_EQ(name(), "Cancel");
  ASSERT_TRUE(wait_until([] { return name() != "Cancel"; }, kRunMs));
  tab_to("Check");
  press(Qt::Key_Space);
  EXPECT_THAT(description(), StartsWith("Right: Done"));
  go_on();
  // What is asked stands on a setup that the text tells of.
  tab_to("Lesson text");
  const auto last = QRegularExpression(QStringLiteral("on (\\d+) stages under 1F1B"))
                        .match(QString::fromStdString(told(QAccessible::Value)));
  ASSERT_TRUE(last.hasMatch()) << told(QAccessible::Value);
  tab_to("Your answer");
  type(QString::number(1.5 * (last.captured(1).toInt() - 2)));
  press(Qt::Key_Return);
  EXPECT_THAT(description(), StartsWith("Right: Yes"));
  go_on();
  EXPECT_EQ(name(), "Finish");
  press(Qt::Key_Space);
  EXPECT_THAT(description(), HasSubstr("Done: 1F1B: same bubble, less memory"));
  tab_to("1F1B: same bubble, less memory");
  EXPECT_THAT(name(), testing::EndsWith(", done"));
}

TEST_F(ByKeys, APuzzleIsSolved) {
  using testing::HasSubstr;
  using testing::StartsWith;
  open_lesson(QStringLiteral("Build the order"));
  go_on();
  EXPECT_THAT(description(), HasSubstr("0 of 12 actions are placed"));
  type(QStringLiteral("F0F1F2B0B1B2"));
  EXPECT_THAT(told(QAccessible::Value), HasSubstr("Stage 0 waits for B0 of stage 1"));
  press(Qt::Key_Down);
  type(QStringLiteral("B0F0F1F2B1B2"));
  EXPECT_THAT(told(QAccessible::Value), HasSubstr("Stage 1: B0 F0 F1 F2 B1 B2"));
  tab_to("Check");
  EXPECT_THAT(description(), HasSubstr("not yet"));
  press(Qt::Key_Space);
  EXPECT_THAT(description(), StartsWith("Not quite: "));
  // One action to the right mends it.
  tab_to("Your order");
  press(Qt::Key_Home);
  press(Qt::Key_Right);
  press(Qt::Key_Right, Qt::AltModifier);
  EXPECT_THAT(description(), HasSubstr("The order is legal"));
  tab_to("Check");
  press(Qt::Key_Space);
  EXPECT_THAT(description(), StartsWith("Right: The order runs"));
  EXPECT_EQ(name(), "Next");
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// A question of several rows in the window: filled in by keyboard, marked row by row, kept.
#include <QComboBox>
#include <QStyleOptionComboBox>

#include "app/lesson/answer/parts_form.h"
#include "app/state/step/order_edit.h"
#include "tests/app/lesson/lesson_fixture.h"

namespace parallelarium {
namespace {

const char* const kLesson = "copies-that-agree";

class LessonParts : public LessonPlay {
 protected:
  void open_question() {
    open(QLatin1String(kLesson));
    go_to(3);
    ASSERT_EQ(step(), "in-which-order");
  }
  PartsForm& form() { return *panel_->findChild<PartsForm*>(); }
  std::vector<QComboBox*> boxes() {
    QApplication::processEvents();  // new fields are shown by an event
    std::vector<QComboBox*> boxes;
    for (QComboBox* box : form().findChildren<QComboBox*>())
      if (box->isVisible()) boxes.push_back(box);
    return boxes;
  }
  QString marks() {
    QString marks;
    for (const QLabel* label : form().findChildren<QLabel*>())
      if (label->isVisible() && (label->text() == "✓" || label->text() == "✗"))
        marks += label->text();
    return marks;
  }
  // By typing how its words begin, as a list is chosen from by keyboard.
  void choose_in(QComboBox* box, const QString& id) {
    box->setFocus();
    const int wanted = box->findData(id);
    ASSERT_GE(wanted, 0);
    QTest::keyClick(box, Qt::Key_Home);
    for (int at = 0; at < wanted; ++at) QTest::keyClick(box, Qt::Key_Down);
    ASSERT_EQ(box->currentData().toString(), id);
  }
};

// What was chosen can be read in its box, in each language of each lesson.
TEST_F(LessonParts, EveryChoiceHasRoomForItsWords) {
  open_question();
  int measured = 0;
  const auto course = read_course(kLessons.toStdString());
  ASSERT_TRUE(course);
  for (const CourseEntry& entry : course->lessons) {
    const auto lesson = read_lesson(kLessons.toStdString() + entry.id);
    ASSERT_TRUE(lesson) << entry.id;
    for (const Step& step : lesson->steps) {
      const bool chooses =
          std::any_of(step.parts.begin(), step.parts.end(),
                      [](const QuestionPart& part) { return !part.option.empty(); });
      if (!chooses) continue;
      for (const auto& [language, text] : lesson->texts) {
        QStringList labels;
        for (const QuestionPart& part : step.parts)
          labels << QString::fromStdString(text.steps.at(step.id).part("part " + part.id));
        std::vector<PartsForm::Words> options;
        for (const Option& option : step.options)
          options.push_back(
              {option.id, QString::fromStdString(text.steps.at(step.id).part("option " + option.id))
                              .trimmed()});
        form().set_parts(step.parts, labels, {}, options, {});
        for (QComboBox* box : boxes()) {
          QStyleOptionComboBox shown;
          shown.initFrom(box);
          const int room =
              box->style()
                  ->subControlRect(QStyle::CC_ComboBox, &shown, QStyle::SC_ComboBoxEditField, box)
                  .width();
          for (const PartsForm::Words& option : options) {
            if (option.text.contains(QStringLiteral("{{"))) continue;  // numbers come into it
            EXPECT_LE(box->fontMetrics().horizontalAdvance(option.text), room - 2)
                << entry.id << " " << language << ": " << option.text.toStdString();
          }
          ++measured;
        }
      }
    }
  }
  EXPECT_GT(measured, 20);
}

TEST_F(LessonParts, RowsAreFilledMarkedAndMendedByKeyboard) {
  open_question();
  ASSERT_EQ(boxes().size(), 4u);
  EXPECT_FALSE(primary()->isEnabled());
  for (QComboBox* box : boxes()) {
    EXPECT_EQ(box->currentIndex(), -1);  // nothing is preselected
    EXPECT_FALSE(box->accessibleName().isEmpty());
  }
  for (QComboBox* box : boxes()) choose_in(box, "update");
  EXPECT_FALSE(primary()->isEnabled()) << "an order has each once";
  const char* const mistaken[] = {"last-gradients", "first-gradients", "last-reduce", "update"};
  for (int row = 0; row < 4; ++row) choose_in(boxes()[row], mistaken[row]);
  press_primary();
  EXPECT_EQ(marks(), "✓✗✗✓");
  EXPECT_FALSE(player().state().solved);
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("2 of 4"));
  choose_in(boxes()[1], "last-reduce");
  EXPECT_EQ(marks(), "");  // marks are of what was committed
  choose_in(boxes()[2], "first-gradients");
  press_primary();
  EXPECT_TRUE(player().state().solved);
  EXPECT_EQ(marks(), "✓✓✓✓");
  EXPECT_FALSE(boxes()[0]->isEnabled());
  player().next();
  player().back();
  ASSERT_EQ(step(), "in-which-order");
  EXPECT_EQ(boxes()[1]->currentData().toString(), "last-reduce");
  const nlohmann::json kept = player().answers()["steps"].at(3);
  EXPECT_EQ(kept["parts"]["second"], "last-reduce");
}

// Any choice that does it is right; a refused one says what it costs, and marks no row.
TEST_F(LessonParts, AnAssignmentIsChosenByKeyboardRefusedWithItsReasonAndMended) {
  open(QStringLiteral("columns-then-rows"));
  ASSERT_EQ(step(), "four-matrices");
  EXPECT_FALSE(session_.order_edit().open()) << "no order is built here";
  ASSERT_EQ(boxes().size(), 4u);
  EXPECT_FALSE(primary()->isEnabled());
  for (QComboBox* box : boxes()) EXPECT_FALSE(box->accessibleName().isEmpty());
  const char* const chosen[] = {"columns", "rows", "columns", "columns"};
  for (int row = 0; row < 4; ++row) choose_in(boxes()[row], chosen[row]);
  press_primary();
  EXPECT_FALSE(player().state().solved);
  EXPECT_EQ(marks(), "");
  EXPECT_THAT(feedback().toStdString(),
              testing::HasSubstr("MLP out is cut by columns and needs its whole input"));
  choose_in(boxes()[3], "rows");
  press_primary();
  EXPECT_TRUE(player().state().solved);
  EXPECT_EQ(marks(), "✓✓✓✓");
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("one all-reduce in each half"));
  EXPECT_FALSE(boxes()[0]->isEnabled());
  EXPECT_EQ(player().answers()["steps"].at(0)["parts"]["mlp-out"], "rows");
}

TEST_F(LessonParts, WhatAnAssignmentRevealsIsSetWhenItIsRightAndNotBefore) {
  open(QStringLiteral("long-sequences"));
  go_to(2);
  ASSERT_EQ(step(), "two-pieces-each");
  ASSERT_EQ(boxes().size(), 8u);
  const int neighbours[] = {0, 0, 1, 1, 2, 2, 3, 3}, fair[] = {2, 0, 3, 1, 1, 3, 0, 2};
  const auto fill = [&](const int(&ranks)[8]) {
    for (int row = 0; row < 8; ++row)
      choose_in(boxes()[row], QStringLiteral("rank-%1").arg(ranks[row]));
    press_primary();
  };
  fill(neighbours);
  EXPECT_FALSE(player().state().solved);
  EXPECT_EQ(session_.setup().mesh.cp, 1);
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("all wait for rank 3"));
  fill(fair);
  EXPECT_TRUE(player().state().solved) << "ranks may be in any order";
  EXPECT_EQ(session_.setup().mesh.cp, 4);
}

TEST_F(LessonParts, NumbersHaveUnitsAndSayWhatIsNoNumber) {
  PartsForm numbers;
  std::vector<QuestionPart> parts(2);
  parts[0] = {"share", "", {"", "share", "0.5", {}}};
  parts[1] = {"count", "", {"", "1", "4", {}}};
  numbers.set_parts(parts, {"a share", "a count"}, {QString(), "layers"}, {}, {});
  numbers.show();
  const auto fields = numbers.findChildren<QLineEdit*>();
  ASSERT_EQ(fields.size(), 2);
  QTest::keyClicks(fields[0], "50");
  EXPECT_EQ(numbers.problem(), "Fill in every row.");
  QTest::keyClicks(fields[1], "four");
  EXPECT_EQ(numbers.problem(), "“four” is not a number.");
  EXPECT_EQ(fields[1]->accessibleName(), "a count layers");
  fields[1]->setText("4 layers");
  EXPECT_EQ(numbers.problem(), "");
  EXPECT_EQ(numbers.answers().at("share").number, 0.5);
  EXPECT_EQ(numbers.answers().at("count").number, 4);
  fields[0]->setText("150");
  EXPECT_NE(numbers.problem(), "");
}

TEST_F(LessonParts, WhereNotesAreWrongStandsFoldedAtTheEnd) {
  open(QLatin1String(kLesson));
  go_to(player().lesson().steps.size() - 1);
  ASSERT_EQ(step(), "take-away");
  QPushButton* notes = nullptr;
  for (QPushButton* button : panel_->findChildren<QPushButton*>())
    if (button->text().startsWith("If your notes say")) notes = button;
  ASSERT_TRUE(notes && notes->isVisible());
  const auto shows = [&] {
    for (const MarkdownView* view : panel_->findChildren<MarkdownView*>())
      if (view->isVisible() && view->toPlainText().contains("2 Ψ numbers")) return true;
    return false;
  };
  EXPECT_FALSE(shows());
  QTest::mouseClick(notes, Qt::LeftButton);
  EXPECT_TRUE(shows());
}

}  // namespace
}  // namespace parallelarium

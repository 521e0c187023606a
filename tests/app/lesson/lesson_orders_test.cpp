// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of a lesson that build an order, and those that find what a drawing has wrong.
#include <gtest/gtest.h>

#include <QTest>
#include <stdexcept>

#include "app/lesson/answer/drawing_grid.h"
#include "app/state/step/order_edit.h"
#include "app/views/pipeline/editor/order_editor.h"
#include "tests/app/lesson/lesson_fixture.h"

namespace parallelarium {
namespace {

// The order editor as the Pipeline view shows it.
class ShownEditor {
 public:
  explicit ShownEditor(Session& session) : editor_(session) {
    editor_.resize(700, 500);
    editor_.show();
    Q_EMIT session.order_edit().changed();
  }
  QWidget& times() const { return const_cast<OrderEditor&>(editor_).times(); }
  QPushButton& button(const char* text) const {
    for (QPushButton* button : editor_.findChildren<QPushButton*>())
      if (button->text() == QLatin1String(text)) return *button;
    throw std::runtime_error(text);
  }

 private:
  OrderEditor editor_;
};

TEST_F(LessonPlay, WrittenOrderIsJudgedAndShown) {
  open(QStringLiteral("same-bubble-less-memory"));
  nlohmann::json document = session_.locks().lesson_state();
  document["step"] = 5;
  session_.locks().set_lesson_state(document);
  const Result<Settings> settings = settings_at(player().lesson(), 5, player().drawn());
  ASSERT_TRUE(settings);
  session_.restore(settings->setup, {}, std::nullopt);
  Q_EMIT session_.restored();
  ASSERT_EQ(step(), "write-it");
  OrderEdit& order = session_.order_edit();
  ASSERT_TRUE(order.open());
  EXPECT_EQ(to_lines(order.draft())[0], "F0 F1 F2 F3 B3 B2 B1 B0");
  EXPECT_EQ(order.limits(), (HeldLimits{2, 2}));
  EXPECT_EQ(order.par(), 15);
  auto* conditions = panel_->findChild<QLabel*>("LessonConditions");
  EXPECT_TRUE(conditions->isVisibleTo(panel_.get()));
  EXPECT_TRUE(conditions->accessibleName().contains(QStringLiteral("Everything is placed: ✓")));
  EXPECT_FALSE(session_.history().stack().canUndo()) << "what stood before may solve it";
  // The goal's shape is shown on demand, for eyes and for screen readers; Reset begins anew.
  const ShownEditor editor(session_);
  const QImage before = editor.times().grab().toImage();
  editor.button("Show the goal's shape").click();
  EXPECT_NE(editor.times().grab().toImage(), before);
  EXPECT_EQ(editor.times().accessibleDescription().section(QLatin1Char('\n'), 0, 0),
            QStringLiteral("Stage 0 works from 0 to 2, 4 to 12, 13 to 15."));
  EXPECT_EQ(order.set_line(0, QStringLiteral("F0 F1 F2")), QString());
  editor.button("Reset").click();
  EXPECT_EQ(to_lines(order.draft())[0], "F0 F1 F2 F3 B3 B2 B1 B0");
  EXPECT_EQ(order.set_line(0, QStringLiteral("F0 F1 B0")), QString());
  EXPECT_TRUE(
      conditions->accessibleName().contains(QStringLiteral("Everything is placed: ✗ 11 of 16")));
  press_primary();
  EXPECT_FALSE(player().state().solved);
  EXPECT_FALSE(feedback().isEmpty());
  EXPECT_EQ(order.set_line(0, QStringLiteral("F0 F1 B0 F2 B1 F3 B2 B3")), QString());
  EXPECT_EQ(order.set_line(1, QStringLiteral("F0 B0 F1 B1 F2 B2 F3 B3")), QString());
  EXPECT_FALSE(conditions->accessibleName().contains(QStringLiteral("✗")));
  press_primary();
  EXPECT_TRUE(player().state().solved) << feedback().toStdString();
  EXPECT_FALSE(order.editable());
  EXPECT_TRUE(session_.problems().empty());
  EXPECT_EQ(to_lines(session_.subject().prediction()->order)[1], "F0 B0 F1 B1 F2 B2 F3 B3");
}

TEST_F(LessonPlay, FaultsOfADrawingAreMarkedByMouseAndKeys) {
  open(QStringLiteral("naive-and-gpipe"));
  player().commit({});
  nlohmann::json document = session_.locks().lesson_state();
  document["step"] = 3;
  session_.locks().set_lesson_state(document);
  Q_EMIT session_.restored();
  ASSERT_EQ(step(), "a-picture-to-distrust");
  panel_->resize(360, 800);
  QCoreApplication::processEvents();
  auto* grid = panel_->findChild<DrawingGrid*>();
  ASSERT_TRUE(grid && grid->isVisibleTo(panel_.get()));
  EXPECT_FALSE(primary()->isEnabled()) << "nothing is marked";
  const auto click = [&](int stage, int slot) {
    QTest::mouseClick(grid, Qt::LeftButton, {}, grid->cell_rect(stage, slot).center());
  };
  click(2, 6);
  click(0, 0);
  EXPECT_TRUE(primary()->isEnabled());
  press_primary();
  EXPECT_FALSE(player().state().solved);
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("You found 1 of 4"));
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("F0 of stage 0 in slot 0 has all"));
  click(0, 0);
  EXPECT_EQ(grid->marks(), (DrawingGrid::Marks{{2, 6}}));
  click(2, 7);
  click(2, 8);
  QTest::keyClick(grid, Qt::Key_Right);
  EXPECT_TRUE(grid->accessibleDescription().startsWith(QStringLiteral("Stage 2, slot 9: B0")));
  QTest::keyClick(grid, Qt::Key_Space);
  press_primary();
  EXPECT_TRUE(player().state().solved) << feedback().toStdString();
  EXPECT_EQ(player().answers()["steps"].back()["marks"].size(), 4u);
  click(0, 0);
  EXPECT_EQ(grid->marks().size(), 4u) << "it is done";
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The Memory view as a person uses it: what it says, its keys, panes and table.
#include <gtest/gtest.h>

#include <QComboBox>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>

#include "app/settings/controls.h"
#include "app/views/memory/memory_view.h"
#include "tests/app/views/memory_fixture.h"

namespace parallelarium {
namespace {

class MemoryWidget : public testing::Test {
 protected:
  void show(const PlanSetup& setup, QSize size = QSize(872, 690)) {
    session.restore(setup, {}, std::nullopt);
    session.wait_for_prediction();
    view.resize(size);
    view.show();
    view.wait();
  }
  Session session;
  MemoryView view{session};
};

TEST_F(MemoryWidget, SaysInWordsWhatItShows) {
  show(data_parallel(2));
  const QString text = view.description();
  for (const char* part : {"ZeRO 0", "ZeRO 3", "predicted", "optimizer", "Peak"})
    EXPECT_TRUE(text.contains(QLatin1String(part))) << text.toStdString();
  EXPECT_EQ(view.accessibleDescription(), text);
}

TEST_F(MemoryWidget, EnterOnAStageSetsItAsOneUndoStep) {
  show(data_parallel(0));
  QSignalSpy described(&view, &MemoryView::described);
  QTest::keyClick(&view, Qt::Key_Right);
  QTest::keyClick(&view, Qt::Key_Right);
  EXPECT_EQ(described.count(), 2);
  QTest::keyClick(&view, Qt::Key_Return);
  EXPECT_EQ(session.setup().zero, 1);
  session.history().stack().undo();
  EXPECT_EQ(session.setup().zero, 0);
}

// The recipe, and each of its four numbers, are changed in the table; each is one undo step.
TEST_F(MemoryWidget, TheRecipeIsEditedInItsTable) {
  show(data_parallel(0));
  view.show_pane(MemoryView::Pane(1));
  StepBox* gradient = nullptr;
  for (StepBox* box : view.findChildren<StepBox*>())
    if (box->accessibleName() == QStringLiteral("Bytes of a gradient")) gradient = box;
  ASSERT_TRUE(gradient);
  const double before = double(session.subject().prediction()->memory[0].peak_bytes);
  Q_EMIT gradient->committed(QStringLiteral("2"));
  EXPECT_EQ(session.setup().precision.gradient_bytes, 2);
  EXPECT_EQ(session.setup().precision.name, "custom");
  session.wait_for_prediction();
  EXPECT_LT(double(session.subject().prediction()->memory[0].peak_bytes), before);
  session.history().stack().undo();
  EXPECT_EQ(session.setup().precision.name, "fp32");
  QComboBox* recipe = nullptr;
  for (QComboBox* box : view.findChildren<QComboBox*>())
    if (box->accessibleName() == QStringLiteral("Recipe of bytes per parameter")) recipe = box;
  ASSERT_TRUE(recipe);
  const int mixed = recipe->findText(QStringLiteral("mixed-16"));
  ASSERT_GE(mixed, 0);
  recipe->setCurrentIndex(mixed);
  Q_EMIT recipe->activated(mixed);
  EXPECT_EQ(session.setup().precision, precision_recipes()[std::size_t(mixed)]);
  // Numbers that make up a recipe are called by its name.
  Q_EMIT gradient->committed(QStringLiteral("4"));
  EXPECT_EQ(session.setup().precision.name, "mixed-16-main-grads");
  session.history().stack().undo();
  session.history().stack().undo();
  EXPECT_EQ(session.setup().precision.name, "fp32");
}

TEST_F(MemoryWidget, EveryPaneStandsInEverySize) {
  for (const QSize size : {QSize(872, 690), QSize(724, 470), QSize(700, 300)})
    for (int pane = 0; pane < 5; ++pane) {
      show(pipeline_setup(4, 8), size);
      view.show_pane(MemoryView::Pane(pane));
      EXPECT_FALSE(view.grab().isNull());
      for (const QWidget* child : view.findChildren<QWidget*>()) {
        if (child->parentWidget() != &view || !child->isVisible()) continue;
        EXPECT_TRUE(view.rect().contains(child->geometry()))
            << child->metaObject()->className() << " " << size.height() << " pane " << pane;
      }
    }
}

// The first and the last pane that can be chosen have round corners, and keys pass over the others.
TEST_F(MemoryWidget, WhatIsChosenFromHasTwoEnds) {
  for (const QSize& size : {QSize(872, 690), QSize(500, 400)}) {
    show(data_parallel(0), size);
    view.show_pane(MemoryView::Pane::kStep);
    auto* segments = view.findChild<Segments*>();
    ASSERT_NE(segments, nullptr);
    QList<QToolButton*> there;
    for (auto* button : segments->findChildren<QToolButton*>())
      if (button->isVisible()) there << button;
    ASSERT_GE(there.size(), 3);
    for (const QToolButton* button : there)
      EXPECT_EQ(button->property("segment").toString(),
                button == there.first()  ? QStringLiteral("first")
                : button == there.last() ? QStringLiteral("last")
                                         : QStringLiteral("middle"));
    there.first()->click();
    QSignalSpy chosen(segments, &Segments::chosen);
    QTest::keyClick(there.first(), Qt::Key_Left);
    EXPECT_EQ(chosen.count(), 0) << "before the first there is nothing";
  }
}

}  // namespace
}  // namespace parallelarium

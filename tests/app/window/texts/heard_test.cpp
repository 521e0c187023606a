// SPDX-License-Identifier: GPL-3.0-or-later
// What a screen reader hears of the window: asked of Qt's accessible objects, as one does.
#include <gtest/gtest.h>

#include <QAbstractItemView>
#include <QAccessible>
#include <QComboBox>
#include <QDir>
#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QScrollArea>
#include <QSignalSpy>
#include <QSlider>
#include <QTableView>
#include <QTextDocument>
#include <QToolButton>
#include <algorithm>

#include "app/lesson/markdown_view.h"
#include "app/look/spoken.h"
#include "app/selection/selection_panel.h"
#include "app/views/memory/holders/holders_pane.h"
#include "app/views/pipeline/pipeline_view.h"
#include "app/views/views.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

QAccessibleInterface& heard(QWidget& widget) {
  return *QAccessible::queryAccessibleInterface(&widget);
}

QString description_of(QWidget& widget) { return heard(widget).text(QAccessible::Description); }

class HeardInWindow : public WindowFixture {
 protected:
  void SetUp() override {
    WindowFixture::SetUp();
    session().playback().set_playing(false);
    parallelarium::Setup setup = session().setup();
    setup.mesh.dp = setup.mesh.tp = setup.mesh.pp = 2;
    setup.zero = 1;
    session().restore(setup, {}, std::nullopt);
    session().wait_for_prediction();
  }
  // The widget that takes the keys of the view in front.
  QWidget& picture() {
    QWidget* shown = &window->view();
    while (shown->focusProxy()) shown = shown->focusProxy();
    return *shown;
  }
};

TEST_F(HeardInWindow, EveryControlHasARoleAndAName) {
  int seen = 0;
  for (const ViewInfo& info : views()) {
    window->show_view(QLatin1String(info.id));
    QApplication::processEvents();
    for (QWidget* widget : window->findChildren<QWidget*>()) {
      if (!(widget->focusPolicy() & Qt::TabFocus) || !widget->isVisible()) continue;
      if (widget->focusProxy()) continue;
      QAccessibleInterface& said = heard(*widget);
      EXPECT_FALSE(said.text(QAccessible::Name).isEmpty() && said.childCount() == 0)
          << info.id << ": " << widget->metaObject()->className();
      const bool scrolls = qobject_cast<QScrollArea*>(widget);  // a pane, which has no role
      EXPECT_TRUE(scrolls || said.role() != QAccessible::Client)
          << info.id << ": " << said.text(QAccessible::Name).toStdString();
      ++seen;
    }
  }
  EXPECT_GT(seen, 100);
}

TEST_F(HeardInWindow, EveryViewsPictureIsReadAndSaysWhatIsChosen) {
  for (const ViewInfo& info : views()) {
    window->show_view(QLatin1String(info.id));
    View& view = window->view();
    view.wait();
    QApplication::processEvents();
    EXPECT_EQ(heard(picture()).role(), QAccessible::Canvas) << info.id;
    EXPECT_FALSE(heard(picture()).text(QAccessible::Name).isEmpty()) << info.id;
    EXPECT_EQ(heard_text(picture()), view.description()) << info.id;
    EXPECT_FALSE(description_of(picture()).isEmpty()) << info.id;
    Q_EMIT view.described(
        {QStringLiteral("F3"), {{QStringLiteral("takes"), QStringLiteral("5 ms")}}});
    EXPECT_EQ(description_of(picture()), QStringLiteral("F3: takes 5 ms")) << info.id;
  }
}

// The slider of time has parts of a step for its value, and says the time beside it.
TEST_F(HeardInWindow, TheSliderOfTimeSaysTheTime) {
  window->show_view(QStringLiteral("pipeline"));
  session().playback().set_playing(false);
  auto* slider = window->findChild<QSlider*>();
  ASSERT_NE(slider, nullptr);
  slider->setValue(0);
  const QString before = description_of(*slider);
  EXPECT_TRUE(before.startsWith(QStringLiteral("0"))) << before.toStdString();
  slider->setValue(slider->maximum() / 2);
  EXPECT_NE(description_of(*slider), before);
  EXPECT_TRUE(description_of(*slider).contains(QStringLiteral("ms")));
}

// Qt tells of every new description of a widget, so a key is heard that makes one.
TEST_F(HeardInWindow, KeysInAPictureAreHeard) {
  for (const char* id : {"pipeline", "layer", "mesh", "collectives", "memory"}) {
    window->show_view(QLatin1String(id));
    QApplication::processEvents();
    QSignalSpy described(&window->view(), &View::described);
    for (int press = 0; press < 2; ++press) {
      const QString before = description_of(picture());
      QTest::keyClick(&picture(), Qt::Key_Right);
      EXPECT_NE(description_of(picture()), before) << id << ", press " << press;
      if (described.isEmpty()) continue;
      const auto last = described.last().at(0).value<SelectionText>();
      EXPECT_TRUE(description_of(picture()).startsWith(last.headline)) << id;
    }
  }
}

TEST_F(HeardInWindow, WhoHoldsWhatTellsTheMomentAndTheChosenCell) {
  window->show_view(QStringLiteral("memory"));
  window->view().show_part(QStringLiteral("holders"));
  QApplication::processEvents();
  auto* pane = window->findChild<HoldersPane*>();
  ASSERT_EQ(&picture(), pane);
  QTest::keyClick(pane, Qt::Key_Right);
  const QString cell = description_of(*pane);
  EXPECT_TRUE(cell.contains(QStringLiteral("parameters"))) << cell.toStdString();
  QTest::keyClick(pane, Qt::Key_M);
  const QString moment = description_of(*pane);
  EXPECT_TRUE(moment.contains(QStringLiteral("After the forward"))) << moment.toStdString();
  EXPECT_TRUE(moment.contains(cell.section(QLatin1Char(':'), 0, 0))) << moment.toStdString();
}

TEST_F(HeardInWindow, AControlOfThePictureThatGoesLeavesTheKeysToThePicture) {
  window->activateWindow();
  window->show_view(QStringLiteral("layer"));
  type("tp", QStringLiteral("1"));
  QApplication::processEvents();
  QToolButton* offer = nullptr;
  for (auto* button : window->view().findChildren<QToolButton*>())
    if (button->text().endsWith(QStringLiteral("TP 2"))) offer = button;
  ASSERT_TRUE(offer && offer->isVisible());
  offer->setFocus();
  ASSERT_EQ(QApplication::focusWidget(), offer);
  QTest::keyClick(offer, Qt::Key_Space);
  session().wait_for_prediction();
  EXPECT_EQ(session().setup().mesh.tp, 2);
  EXPECT_FALSE(offer->isVisible());
  EXPECT_EQ(QApplication::focusWidget(), &picture());
}

TEST_F(HeardInWindow, KeysOfAViewCommandGoToItsPicture) {
  window->activateWindow();
  window->setup_panel().control("tp")->setFocus();
  action(QStringLiteral("Memory view"))->trigger();
  EXPECT_EQ(QApplication::focusWidget(), &picture());
  auto* pane = window->findChild<HoldersPane*>();
  window->view().show_part(QStringLiteral("holders"));
  QApplication::processEvents();
  for (QToolButton* button : window->view().findChildren<QToolButton*>())
    if (button->isVisible() && button->isChecked()) button->setFocus();
  ASSERT_NE(QApplication::focusWidget(), pane);
  session().playback().set_playhead(Nanoseconds(0));
  QTest::keyClick(window->windowHandle(), Qt::Key_N);
  EXPECT_GT(session().playback().playhead(), Nanoseconds(0));
  EXPECT_EQ(QApplication::focusWidget(), pane) << "where the change is told";
  EXPECT_TRUE(heard_text(window->view()).isEmpty()) << "the pane is the picture";
  session().playback().set_playhead(session().subject().horizon());
  QTest::keyClick(pane, Qt::Key_N);
  EXPECT_TRUE(description_of(*pane).contains(QStringLiteral("Nothing changes any more")))
      << description_of(*pane).toStdString();
}

TEST_F(HeardInWindow, KeysDoNotLeaveAnOrderOfOnesOwn) {
  parallelarium::Setup setup = session().setup();
  Result<Schedule> order =
      Schedule::own(std::string(kOwnOrderName), {"F0 F1 B0 B1", "F0 B0 F1 B1"});
  ASSERT_TRUE(order);
  setup.microbatches = 2;
  setup.schedule = *order;
  session().history().change(setup, QStringLiteral("test"));
  session().wait_for_prediction();
  auto* schedule = qobject_cast<QComboBox*>(window->setup_panel().control("schedule"));
  ASSERT_EQ(heard_text(*schedule), QStringLiteral("your order"));
  for (const Qt::Key key : {Qt::Key_Up, Qt::Key_Home, Qt::Key_G}) {
    QTest::keyClick(schedule, key);
    EXPECT_TRUE(session().setup() == setup) << int(key);
    EXPECT_TRUE(schedule->view()->isVisible()) << "a choice is made in the list";
    schedule->hidePopup();
  }
  EXPECT_FALSE(description_of(*schedule).isEmpty());
}

// An op of the same place in other settings may be another one.
TEST_F(HeardInWindow, WhatIsSelectedIsReadFromItsTitleOnAndNeverAnotherOp) {
  window->show_view(QStringLiteral("pipeline"));
  const std::vector<Op>& ops = session().subject().prediction()->program.ranks[0].ops;
  const auto first = std::find_if(ops.begin(), ops.end(),
                                  [](const Op& op) { return op.kind == OpKind::kCollective; });
  ASSERT_NE(first, ops.end());
  const int at = int(first - ops.begin());
  session().subject().select({0, at}, false);
  auto* panel = window->findChild<SelectionPanel*>();
  const QString title = describe_selection(session()).headline;
  ASSERT_FALSE(title.isEmpty());
  EXPECT_TRUE(heard_text(*panel).startsWith(QStringLiteral("Selected\n") + title))
      << heard_text(*panel).toStdString();
  EXPECT_EQ(heard(*panel).childCount(), 0) << "labels are not read one by one";
  type("tp", QStringLiteral("1"));
  EXPECT_NE(session().subject().prediction()->program.ranks[0].ops[std::size_t(at)].kind,
            OpKind::kCollective)
      << "another op stands at its place now";
  EXPECT_EQ(session().subject().selected().rank, -1);
}

TEST_F(HeardInWindow, AChangeOfSettingsIsHeard) {
  window->show_view(QStringLiteral("layer"));
  const QString before = description_of(picture());
  type("tp", QStringLiteral("1"));
  EXPECT_NE(description_of(picture()), before);
}

TEST_F(HeardInWindow, AListIsNamedByItsLabelAndSaysItsChoice) {
  auto* schedule = qobject_cast<QComboBox*>(window->setup_panel().control("schedule"));
  ASSERT_NE(schedule, nullptr);
  ASSERT_FALSE(schedule->currentText().isEmpty());
  EXPECT_EQ(heard(*schedule).role(), QAccessible::ComboBox);
  EXPECT_EQ(heard(*schedule).text(QAccessible::Name), schedule->accessibleName());
  EXPECT_EQ(heard_text(*schedule), schedule->currentText());
  auto* tp = window->setup_panel().control("tp");
  EXPECT_EQ(heard(*tp).role(), QAccessible::SpinBox);
  EXPECT_EQ(heard_text(*tp), QStringLiteral("2"));
  EXPECT_EQ(heard(*tp).valueInterface(), nullptr) << "it knows no least and no most";
  heard(*schedule).actionInterface()->doAction(QAccessibleActionInterface::showMenuAction());
  EXPECT_TRUE(schedule->view()->isVisible());
  heard(*schedule).actionInterface()->doAction(QAccessibleActionInterface::pressAction());
  EXPECT_FALSE(schedule->view()->isVisible());
  tp->findChild<QLineEdit*>()->selectAll();
  EXPECT_EQ(heard(*tp).textInterface()->selectionCount(), 1);
  EXPECT_EQ(heard(*tp).textInterface()->cursorPosition(), 1);
}

TEST_F(HeardInWindow, SegmentsAreRadioButtonsOfANamedGroup) {
  auto* zero = window->setup_panel().control("zero");
  ASSERT_NE(zero, nullptr);
  EXPECT_EQ(heard(*zero).role(), QAccessible::Grouping);
  EXPECT_FALSE(heard(*zero).text(QAccessible::Name).isEmpty());
  int checked = 0;
  for (QToolButton* button : zero->findChildren<QToolButton*>()) {
    QAccessibleInterface& said = heard(*button);
    EXPECT_EQ(said.role(), QAccessible::RadioButton);
    EXPECT_EQ(said.text(QAccessible::Name), button->text());
    EXPECT_EQ(said.state().checked, button->isChecked());
    checked += said.state().checked;
    if (button->text() == QStringLiteral("3"))
      said.actionInterface()->doAction(QAccessibleActionInterface::pressAction());
  }
  EXPECT_EQ(checked, 1);
  EXPECT_EQ(session().setup().zero, 3);
}

TEST_F(HeardInWindow, ATableClosesToWhereTheKeysWere) {
  window->activateWindow();
  window->show_view(QStringLiteral("pipeline"));
  picture().setFocus();
  ASSERT_EQ(QApplication::focusWidget(), &picture());
  QWidget* before = &picture();
  action(QStringLiteral("Table of ops"))->trigger();
  auto* table = qobject_cast<QTableView*>(QApplication::focusWidget());
  ASSERT_NE(table, nullptr);
  const QModelIndex cell = table->model()->index(0, 0);
  EXPECT_EQ(cell.data(Qt::AccessibleTextRole).toString(),
            QStringLiteral("Rank: ") + cell.data().toString());
  action(QStringLiteral("Table of ops"))->trigger();
  EXPECT_EQ(QApplication::focusWidget(), before);
}

TEST(HeardTexts, MarkdownIsReadWithoutItsMarksAndTablesRowByRow) {
  QTextDocument document;
  document.setMarkdown(
      QStringLiteral("**What** does `A` send?\n\n"
                     "| Ranks | computing | sending |\n|---|---|---|\n"
                     "| one | B | 0 |\n| with N | B ÷ N | 2 Ψ |\n\nEnd.\n"));
  EXPECT_EQ(spoken_text(document),
            QStringLiteral("What does A send?\none: computing B, sending 0;\n"
                           "with N: computing B ÷ N, sending 2 Ψ.\nEnd."));
}

// No lesson, and no label of one, is heard with marks.
TEST(HeardTexts, NoLessonIsReadWithMarks) {
  const QString folder = QStringLiteral(PARALLELARIUM_SOURCE_DIR "/lessons/");
  MarkdownView view;
  int lessons = 0;
  for (const QString& name : QDir(folder).entryList(QDir::Dirs | QDir::NoDotAndDotDot)) {
    QFile file(folder + name + QStringLiteral("/text.en.md"));
    if (!file.open(QIODevice::ReadOnly)) continue;
    view.set_markdown(QString::fromUtf8(file.readAll()), folder + name);
    const QString said = heard_text(view);
    for (const QChar mark : {QChar(0xfdd0), QChar(0xfdd1), QChar(0xfffc)})
      EXPECT_FALSE(said.contains(mark)) << name.toStdString();
    EXPECT_FALSE(said.contains(QStringLiteral("**"))) << name.toStdString();
    ++lessons;
  }
  EXPECT_GT(lessons, 30);
}

TEST(HeardTexts, ALabelIsHeardWithoutItsMarks) {
  QLabel label(QStringLiteral("**What does a rank send?**"));
  label.setTextFormat(Qt::MarkdownText);
  EXPECT_EQ(heard(label).text(QAccessible::Name), QStringLiteral("What does a rank send?"));
  label.setTextFormat(Qt::RichText);
  label.setText(QStringLiteral("<table><tr><td>1F1B</td><td>26</td></tr></table>"));
  EXPECT_EQ(heard(label).text(QAccessible::Name), QStringLiteral("1F1B: 26."));
}

}  // namespace
}  // namespace parallelarium

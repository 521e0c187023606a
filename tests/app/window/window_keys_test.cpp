// SPDX-License-Identifier: GPL-3.0-or-later
// Keys of the window: shortcuts, the sheet that names and changes them, the way with Tab.
#include <gtest/gtest.h>

#include <QAction>
#include <QCheckBox>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QMenu>
#include <QMenuBar>
#include <QPushButton>
#include <QTabBar>
#include <QTest>

#include "app/sheets/shortcut_sheet.h"
#include "app/shell/window.h"
#include "app/state/step/order_edit.h"
#include "app/views/memory/memory_view.h"
#include "app/views/mesh/mesh_view.h"
#include "app/views/pipeline/pipeline_view.h"
#include "app/views/shared/view_keys.h"
#include "app/views/shared/words/words.h"
#include "app/views/timeline/timeline_view.h"
#include "tests/app/lesson/restore_step.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

constexpr int kKeyEditMs = 1300;  // Qt waits a second for more keys

class WindowKeys : public WindowFixture {
 protected:
  // As if `focus` had the keyboard.
  void press(QWidget* focus, Qt::Key key) {
    focus->setFocus();
    EXPECT_EQ(QApplication::focusWidget(), focus);
    QTest::keyClick(window->windowHandle(), key);
  }
  void activate() {
    session().playback().set_playing(false);
    window->activateWindow();
    ASSERT_TRUE(QTest::qWaitForWindowActive(window.get()));
  }
};

// A field ignores Enter once it has acted on it; the selected op would become a range of time.
TEST_F(WindowKeys, EnterInAFieldIsNoKeyOfTheView) {
  activate();
  LessonPlayer& player = window->lesson().player();
  ASSERT_TRUE(
      player.open(QStringLiteral(PARALLELARIUM_SOURCE_DIR "/lessons/filling-the-bubble"), 7));
  restore_step(session(), player.lesson().steps.at(1).id);
  ASSERT_EQ(player.lesson().steps.at(1).kind, StepKind::kPredict);
  session().locks().set_hidden({});
  window->show_view(QStringLiteral("pipeline"));
  session().wait_for_prediction();
  QApplication::processEvents();
  TimelineView& timeline = window->view_of<PipelineView>().timeline();
  press(&timeline, Qt::Key_Return);
  ASSERT_GE(session().subject().selected().rank, 0);
  QLineEdit* number = nullptr;
  for (auto* field : window->lesson().findChildren<QLineEdit*>())
    if (field->isVisible() && field->isEnabled()) number = field;
  ASSERT_NE(number, nullptr);
  for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Enter}) press(number, key);
  EXPECT_FALSE(session().subject().range().has_value()) << "in the number of a lesson";
  session().locks().set_hidden({});
  press(&timeline, Qt::Key_Return);
  EXPECT_TRUE(session().subject().range().has_value()) << "in the timeline itself";
}

TEST_F(WindowKeys, EnterInAStepBoxIsNoKeyOfTheView) {
  activate();
  TimelineView& timeline = window->view_of<PipelineView>().timeline();
  press(&timeline, Qt::Key_Return);
  ASSERT_GE(session().subject().selected().rank, 0);
  auto* box = qobject_cast<StepBox*>(window->setup_panel().control("microbatches"));
  ASSERT_NE(box, nullptr);
  for (const Qt::Key key : {Qt::Key_Return, Qt::Key_Enter}) press(box, key);
  EXPECT_FALSE(session().subject().range().has_value());
  press(&timeline, Qt::Key_Return);
  EXPECT_TRUE(session().subject().range().has_value()) << "in the timeline itself";
}

TEST_F(WindowKeys, NoKeyPressedElsewhereChangesTheOrderThatIsBuilt) {
  activate();
  session().order_edit().set_open(true);
  session().order_edit().wait();
  QApplication::processEvents();
  ASSERT_TRUE(session().order_edit().problem().isEmpty());
  const Order before = session().order_edit().draft();
  ASSERT_FALSE(before.ranks.at(0).empty());
  QPushButton* button = nullptr;
  for (auto* one : window->findChildren<QPushButton*>())
    if (one->isVisible() && one->isEnabled() && !window->view().isAncestorOf(one)) button = one;
  ASSERT_NE(button, nullptr);
  QWidget* rows = &window->view();
  while (rows->focusProxy()) rows = rows->focusProxy();
  press(rows, Qt::Key_Home);
  for (const Qt::Key key : {Qt::Key_Delete, Qt::Key_F, Qt::Key_Backspace, Qt::Key_B}) {
    press(button, key);
    EXPECT_TRUE(session().order_edit().draft() == before) << int(key);
  }
  press(rows, Qt::Key_Delete);
  EXPECT_FALSE(session().order_edit().draft() == before) << "in its rows";
}

TEST_F(WindowKeys, AnOrderThatIsBuiltKeepsNoKeysOfAnotherView) {
  reset_view_keys();
  activate();
  type("dp", QStringLiteral("2"));
  session().wait_for_prediction();
  session().order_edit().set_open(true);
  session().order_edit().wait();
  window->show_view(QStringLiteral("memory"));
  window->view().show_part(QStringLiteral("holders"));
  QApplication::processEvents();
  ASSERT_TRUE(session().order_edit().open());
  QTabBar* bar = nullptr;
  for (auto* one : window->findChildren<QTabBar*>())
    if (one->isVisible() && one->currentIndex() >= 0 && !window->lesson().isAncestorOf(one) &&
        one->tabText(one->currentIndex()) == MemoryView::info().title())
      bar = one;
  ASSERT_NE(bar, nullptr);
  session().playback().set_playhead(Nanoseconds(0));
  press(bar, Qt::Key_M);  // the next moment that shows who holds what
  EXPECT_GT(session().playback().playhead().count(), 0);
}

TEST_F(WindowKeys, WhereSingleKeysAreOffNoneIsPassedToTheView) {
  reset_view_keys();
  activate();
  type("dp", QStringLiteral("2"));
  window->show_view(QStringLiteral("mesh"));
  session().wait_for_prediction();
  QApplication::processEvents();
  auto* mesh = qobject_cast<MeshView*>(&window->view());
  ASSERT_NE(mesh, nullptr);
  QTabBar* bar = nullptr;
  for (auto* one : window->findChildren<QTabBar*>())
    if (one->isVisible() && one->currentIndex() >= 0 && !window->lesson().isAncestorOf(one) &&
        one->tabText(one->currentIndex()) == MeshView::info().title())
      bar = one;
  ASSERT_NE(bar, nullptr);
  const int first = mesh->rank();
  set_single_keys_act(false);
  press(bar, Qt::Key_Down);
  EXPECT_EQ(mesh->rank(), first);
  set_single_keys_act(true);
  press(bar, Qt::Key_Down);
  EXPECT_NE(mesh->rank(), first);
}

TEST_F(WindowKeys, TheSheetNamesTheKeysOfTimelineAndTable) {
  const QList<QAction*> all = window->all_actions();
  for (const QAction* action : window->view_of<PipelineView>().timeline().key_actions())
    EXPECT_TRUE(all.contains(const_cast<QAction*>(action))) << action->text().toStdString();
  action(QStringLiteral("Shortcuts"))->trigger();
  const auto* sheet = window->findChild<ShortcutSheet*>();
  ASSERT_NE(sheet, nullptr);
  QStringList leads;
  for (const QPushButton* button : sheet->findChildren<QPushButton*>()) leads << button->text();
  for (const char* lead : {"All lessons …", "Words", "Doctor"})
    EXPECT_TRUE(leads.contains(QString::fromUtf8(lead))) << leads.join(' ').toStdString();
  QStringList said;
  for (const QLabel* label : sheet->findChildren<QLabel*>()) said << label->text();
  for (const auto* edit : sheet->findChildren<QKeySequenceEdit*>())
    said << edit->keySequence().toString(QKeySequence::NativeText);
  for (const QAction* action : all)
    if (!action->shortcut().isEmpty()) {
      EXPECT_TRUE(said.contains(action->shortcut().toString(QKeySequence::NativeText)))
          << action->text().toStdString();
      EXPECT_TRUE(said.contains(QString(action->text()).remove(QLatin1Char('&'))))
          << action->text().toStdString();
    }
}

TEST_F(WindowKeys, AViewsKeysCanBeChangedSwitchedOffAndReset) {
  reset_view_keys();
  action(QStringLiteral("Shortcuts"))->trigger();
  auto* sheet = window->findChild<ShortcutSheet*>();
  ASSERT_NE(sheet, nullptr);
  const auto edit = [&](const char* name) -> QKeySequenceEdit* {
    for (auto* one : sheet->findChildren<QKeySequenceEdit*>())
      if (one->accessibleName().endsWith(QLatin1String(name))) return one;
    return nullptr;
  };
  const auto press = [&](Qt::Key key) {
    QTest::keyClick(&window->view_of<PipelineView>().timeline(), key);
    return session().subject().visible();
  };
  session().playback().set_playing(false);
  session().subject().fit_all();
  const TimeRange whole = session().subject().visible();
  ASSERT_NE(edit("Zoom in"), nullptr);
  const auto give_key = [&](const char* name, Qt::Key key) {
    QTest::keyClick(edit(name), key);
    QTest::qWait(kKeyEditMs);
  };
  give_key("Zoom in", Qt::Key_P);
  EXPECT_EQ(press(Qt::Key_W), whole) << "W does nothing now";
  EXPECT_LT(press(Qt::Key_P).length(), whole.length());
  session().subject().fit_all();
  // A key that another has is refused in a sentence, and nothing changes.
  give_key("Zoom out", Qt::Key_P);
  EXPECT_EQ(edit("Zoom out")->keySequence(), QKeySequence(Qt::Key_S));
  QString said;
  for (const QLabel* label : sheet->findChildren<QLabel*>())
    if (label->isVisible() && label->text().contains(QStringLiteral("already")))
      said = label->text();
  EXPECT_TRUE(said.contains(QStringLiteral("Zoom in"))) << said.toStdString();
  sheet->findChild<QCheckBox*>()->click();
  EXPECT_EQ(press(Qt::Key_P), whole) << "single keys are off";
  for (QPushButton* button : sheet->findChildren<QPushButton*>())
    if (button->text().contains(QStringLiteral("Reset"))) button->click();
  EXPECT_EQ(edit("Zoom in")->keySequence(), QKeySequence(Qt::Key_W));
  EXPECT_LT(press(Qt::Key_W).length(), whole.length());
}

TEST_F(WindowKeys, NoTwoActionsShareAShortcutAndEveryActionIsInAMenu) {
  // Keys of a widget act while it has the focus: another widget may have the same.
  const QList<QAction*> all = window->all_actions();
  const auto meet = [](const QAction* a, const QAction* b) {
    return a->shortcutContext() != Qt::WidgetShortcut ||
           b->shortcutContext() != Qt::WidgetShortcut || a->parent() == b->parent();
  };
  for (int one = 0; one < all.size(); ++one)
    for (int other = 0; other < one; ++other)
      for (const QKeySequence& keys : all[one]->shortcuts())
        EXPECT_FALSE(all[other]->shortcuts().contains(keys) && meet(all[one], all[other]))
            << keys.toString().toStdString() << ": " << all[one]->text().toStdString() << " and "
            << all[other]->text().toStdString();
  QList<QAction*> reached;
  const std::function<void(const QList<QAction*>&)> walk = [&](const QList<QAction*>& actions) {
    for (QAction* action : actions) {
      reached << action;
      if (action->menu()) walk(action->menu()->actions());
    }
  };
  walk(window->menuBar()->actions());
  for (const QAction* action : window->all_actions()) {
    EXPECT_TRUE(reached.contains(const_cast<QAction*>(action))) << action->text().toStdString();
    EXPECT_FALSE(action->text().isEmpty());
  }
  for (const QAction* menu : window->menuBar()->actions())
    EXPECT_TRUE(menu->text().contains(QLatin1Char('&'))) << menu->text().toStdString();
}

TEST_F(WindowKeys, EveryControlIsReachedWithTheTabKey) {
  session().playback().set_playing(false);
  std::set<QWidget*> reached;
  window->setup_panel().control("model")->setFocus();
  for (int at = 0; at < 400; ++at) {
    QWidget* focus = QApplication::focusWidget();
    ASSERT_NE(focus, nullptr);
    if (!reached.insert(focus).second && at > 0 && focus == window->setup_panel().control("model"))
      break;
    QTest::keyClick(focus, Qt::Key_Tab);
  }
  for (const char* option :
       {"model", "machine", "dp", "tp", "pp", "cp", "schedule", "microbatches"}) {
    QWidget* control = window->setup_panel().control(option);
    EXPECT_TRUE(reached.count(control)) << option;
  }
  EXPECT_TRUE(reached.count(&window->top_bar().run_button()));
  for (const StripCell* cell : window->strip().findChildren<StripCell*>())
    EXPECT_TRUE(reached.count(const_cast<StripCell*>(cell))) << cell->key().toStdString();
}

TEST_F(WindowKeys, EveryControlSaysItsNameToAScreenReader) {
  for (const QWidget* widget : window->findChildren<QWidget*>()) {
    if (!(widget->focusPolicy() & Qt::TabFocus) || !widget->isVisibleTo(window.get())) continue;
    const auto* button = qobject_cast<const QAbstractButton*>(widget);
    const bool named = !widget->accessibleName().isEmpty() || (button && !button->text().isEmpty());
    const bool inner =
        qobject_cast<const QTabBar*>(widget) || qobject_cast<const QMenuBar*>(widget);
    EXPECT_TRUE(named || inner) << widget->metaObject()->className() << " "
                                << widget->objectName().toStdString();
  }
}

}  // namespace
}  // namespace parallelarium

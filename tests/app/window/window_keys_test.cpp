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
#include <QTest>

#include "app/sheets/shortcut_sheet.h"
#include "app/shell/window.h"
#include "app/views/pipeline/pipeline_view.h"
#include "app/views/shared/view_keys.h"
#include "app/views/shared/words.h"
#include "app/views/timeline/timeline_view.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

constexpr int kKeyEditMs = 1300;  // Qt waits a second for more keys

class WindowKeys : public WindowFixture {};

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

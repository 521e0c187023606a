// SPDX-License-Identifier: GPL-3.0-or-later
// A real window for tests, with the default setup and no lesson.
#pragma once

#include <gtest/gtest.h>

#include <QAction>
#include <QApplication>
#include <QLineEdit>
#include <QTest>
#include <memory>

#include "app/lesson/lesson_panel.h"
#include "app/settings/controls.h"
#include "app/shell/window.h"

namespace parallelarium {

class WindowFixture : public testing::Test {
 protected:
  void SetUp() override {
    window = std::make_unique<Window>();
    window->set_asks(false);
    window->resize(1440, 900);
    window->show();
    // What the first lesson locks and hides is its own tests' matter.
    window->lesson().player().close();
    session().restore(default_setup(), {}, std::nullopt);
    QApplication::processEvents();
  }
  Session& session() { return window->session(); }
  QAction* action(const QString& text) {
    const auto named = [&](const QAction* action) {
      return QString(action->text()).remove(QLatin1Char('&')).startsWith(text);
    };
    for (QAction* action : window->actions())  // those of views are asked for last: it makes all
      if (named(action)) return action;
    for (QAction* action : window->all_actions())
      if (named(action)) return action;
    ADD_FAILURE() << "no action " << text.toStdString();
    return nullptr;
  }
  // Types into a box of the setup panel, as a user would.
  void type(const std::string& option, const QString& text) {
    auto* box = qobject_cast<StepBox*>(window->setup_panel().control(option));
    ASSERT_NE(box, nullptr) << option;
    box->setFocus();
    auto* line = box->findChild<QLineEdit*>();
    line->selectAll();
    QTest::keyClicks(line, text);
    QTest::keyClick(line, Qt::Key_Return);
    session().wait_for_prediction();
  }
  std::unique_ptr<Window> window;
};

}  // namespace parallelarium

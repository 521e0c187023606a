// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson panel on a Session of its own, driven by keys and clicks.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QFile>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QTest>

#include "app/lesson/answer/option_card.h"
#include "app/lesson/lesson_panel.h"
#include "app/lesson/markdown_view.h"
#include "tests/app/lesson/restore_step.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/wait.h"

namespace parallelarium {

inline const QString kLessons = QStringLiteral(PARALLELARIUM_SOURCE_DIR "/lessons/");

class LessonPlay : public testing::Test {
 protected:
  void SetUp() override {
    panel_ = std::make_unique<LessonPanel>(session_);
    panel_->resize(300, 620);
    panel_->set_pauses(0, 0);
    panel_->show();
  }

  LessonPlayer& player() { return panel_->player(); }
  QPushButton* primary() { return panel_->findChild<QPushButton*>("LessonPrimary"); }
  QString feedback() { return panel_->findChild<MarkdownView*>("LessonFeedback")->toPlainText(); }
  void press_primary() {
    ASSERT_TRUE(primary()->isEnabled()) << primary()->text().toStdString();
    primary()->setFocus();
    QTest::keyClick(primary(), Qt::Key_Space);
  }
  // Commits what is typed or chosen, and has the answer shown if it is wrong.
  void press_and_see() {
    press_primary();
    player().show_answer();
  }
  void type_number(const QString& text) {
    auto* number = panel_->findChild<QLineEdit*>("LessonNumber");
    number->setFocus();
    QTest::keyClicks(number, text);
  }
  void choose(const QString& option) {
    QApplication::processEvents();  // a new card is shown by an event
    for (OptionCard* card : panel_->findChildren<OptionCard*>())
      if (card->id() == option && card->isVisible()) QTest::mouseClick(card, Qt::LeftButton);
  }
  std::string step() { return player().step().id; }
  void open(const QString& id, std::uint64_t seed = 7) {
    const Result<void> opened = player().open(kLessons + id, seed);
    ASSERT_TRUE(opened) << opened.error().text;
  }
  void go_to(std::size_t at) {
    restore_step(session_, player().lesson().steps.at(at).id);
    QApplication::processEvents();
  }
  // A finished run of what is set, with its bubble of the whole step.
  void bring_run(double bubble, const std::string& date = "2026-11-21T08:00:00Z",
                 double delay_factor = 0) {
    RunRecord run = made_up_run(session_.setup(), 1.1);
    run.observation.bubble.of_total = bubble;
    run.observation.date = date;
    run.observation.delay_factor = delay_factor;
    session_.restore(session_.setup(), {std::move(run)}, std::nullopt);
    session_.wait_for_prediction();
  }
  void set(const std::string& field, const std::string& value) {
    parallelarium::Setup setup = session_.setup();
    ASSERT_TRUE(set_field(setup, field, value));
    session_.history().change(setup, QStringLiteral("test"));
    session_.wait_for_prediction();
  }

  Session session_;
  std::unique_ptr<LessonPanel> panel_;
};

}  // namespace parallelarium

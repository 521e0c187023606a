// SPDX-License-Identifier: GPL-3.0-or-later
// Building an order by mouse, keyboard and text, in the window.
#include "app/views/pipeline/editor/order_editor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QAccessible>
#include <QImage>
#include <QLabel>
#include <QPainter>
#include <QPushButton>
#include <QScrollArea>
#include <QScrollBar>
#include <set>

#include "app/state/run/run_advice.h"
#include "app/state/step/order_edit.h"
#include "app/views/pipeline/held_plot.h"
#include "app/views/shared/paint/qcustomplot_header.h"
#include "engine/plan/order/order_faults.h"
#include "tests/app/wait.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class OrderEditing : public WindowFixture {
 protected:
  void SetUp() override {
    WindowFixture::SetUp();
    set("pp", "2");
    set("microbatches", "3");
    action(QStringLiteral("Edit the order"))->trigger();
    editor_ = window->findChild<OrderEditor*>();
    QApplication::processEvents();
  }
  void set(const char* field, const char* value) {
    parallelarium::Setup setup = session().setup();
    ASSERT_TRUE(set_field(setup, field, value).ok());
    session().history().change(setup, QLatin1String(field));
    session().wait_for_prediction();
  }
  OrderEdit& edit() { return session().order_edit(); }
  void keys(const char* text) { QTest::keyClicks(&editor_->rows(), QLatin1String(text)); }
  void key(Qt::Key key, Qt::KeyboardModifiers with = Qt::NoModifier) {
    QTest::keyClick(&editor_->rows(), key, with);
  }
  std::string line(std::size_t rank) { return to_lines(edit().draft())[rank]; }
  // Clicks the ghost of that name.
  void click(int rank, const QString& name) {
    const EditorPicture picture = editor_->picture();
    const EditorTimes at = editor_times(picture, editor_->times().width());
    const auto rects = ghost_rects(picture, at, rank);
    const auto& next = edit().times().ranks[static_cast<std::size_t>(rank)].next;
    for (std::size_t index = 0; index < rects.size(); ++index) {
      if (action_text(next[index].action, 1) != name) continue;
      QTest::mouseClick(&editor_->times(), Qt::LeftButton, {}, rects[index].center().toPoint());
      return;
    }
    ADD_FAILURE() << name.toStdString() << " may not come next on rank " << rank;
  }
  OrderEditor* editor_ = nullptr;
};

TEST_F(OrderEditing, BeginsWithTheScheduleThatIsSet) {
  ASSERT_TRUE(editor_->isVisible());
  EXPECT_EQ(line(0), "F0 F1 B0 F2 B1 B2");
  EXPECT_TRUE(edit().times().whole());
  EXPECT_EQ(verdict_of(edit()).tone, EditorVerdict::Tone::kGood);
  EXPECT_EQ(session().setup().schedule.name(), "1f1b") << "nothing was changed yet";
  edit().wait();
  EXPECT_EQ(edit().recognised(), QStringLiteral("1F1B"));
}

// In a low window four rows of each picture are in sight; what stands below is whole, too.
TEST_F(OrderEditing, FourStagesAreInSightInALowWindow) {
  set("pp", "4");
  set("microbatches", "6");
  window->resize(1024, 700);
  QApplication::processEvents();
  ASSERT_EQ(window->size(), QSize(1024, 700));
  auto* scroll = editor_->findChild<QScrollArea*>();
  const auto place_of = [&](const QWidget& part) {
    return QRect(part.mapTo(scroll->viewport(), QPoint(0, 0)), part.size());
  };
  const QRect sight = scroll->viewport()->rect();
  for (const QWidget* picture : {&editor_->times(), &editor_->rows()})
    EXPECT_TRUE(sight.contains(place_of(*picture)))
        << picture->accessibleName().toStdString() << " ends at " << place_of(*picture).bottom()
        << " of " << sight.bottom();
  const EditorPicture picture = editor_->picture();
  EXPECT_GE(editor_times(picture, editor_->times().width()).row, 20) << "still to be hit";
  scroll->verticalScrollBar()->setValue(scroll->verticalScrollBar()->maximum());
  for (const QPushButton* button : editor_->findChildren<QPushButton*>()) {
    if (!button->isVisible()) continue;
    const QRect place = place_of(*button);
    EXPECT_TRUE(place.left() >= 0 && place.right() <= sight.right() &&
                place.bottom() <= sight.bottom())
        << button->text().toStdString();
    EXPECT_GE(button->width(), button->sizeHint().width()) << button->text().toStdString();
  }
  for (const QLabel* label : editor_->findChildren<QLabel*>()) {
    if (!label->isVisible() || !label->wordWrap()) continue;
    EXPECT_GE(label->height(), label->heightForWidth(label->width()))
        << label->text().toStdString();
  }
}

TEST_F(OrderEditing, GhostsBuildALegalOrderThatIsTheSetups) {
  edit().clear_all();
  EXPECT_TRUE(session().problems().size() > 0) << "an unfinished order cannot be predicted";
  EXPECT_FALSE(run_refusal(session()).isEmpty());
  for (const auto& [rank, name] : {std::pair(0, "F0"),
                                   {0, "F1"},
                                   {1, "F0"},
                                   {1, "B0"},
                                   {0, "B0"},
                                   {0, "F2"},
                                   {1, "F1"},
                                   {1, "B1"},
                                   {1, "F2"},
                                   {1, "B2"},
                                   {0, "B1"},
                                   {0, "B2"}})
    click(rank, QLatin1String(name));
  EXPECT_EQ(line(0), "F0 F1 B0 F2 B1 B2");
  EXPECT_EQ(line(1), "F0 B0 F1 B1 F2 B2");
  session().wait_for_prediction();
  EXPECT_TRUE(session().problems().empty());
  EXPECT_EQ(session().setup().schedule.name(), kOwnOrderName);
  EXPECT_EQ(session().subject().prediction()->order.ranks, edit().draft().ranks);
  session().history().stack().undo();
  EXPECT_EQ(line(0), "F0 F1 B0 F2 B1") << "each action is a step of undo";
}

TEST_F(OrderEditing, KeysPlaceMoveSelectCopyAndRemove) {
  edit().clear_all();
  editor_->rows().setFocus();
  key(Qt::Key_Home);
  keys("fff");
  EXPECT_EQ(line(0), "F0 F1 F2");
  keys("b1");
  EXPECT_EQ(line(0), "F0 F1 F2 B1");
  key(Qt::Key_Left, Qt::AltModifier);
  EXPECT_EQ(line(0), "F0 F1 B1 F2");
  key(Qt::Key_Backspace);
  EXPECT_EQ(line(0), "F0 F1 F2");
  key(Qt::Key_Home);
  key(Qt::Key_Delete);
  EXPECT_EQ(line(0), "F1 F2");
  session().history().stack().undo();
  EXPECT_EQ(line(0), "F0 F1 F2");
  key(Qt::Key_Down);
  keys("fb");
  EXPECT_EQ(line(1), "F0 B0");
  key(Qt::Key_Left, Qt::ShiftModifier);
  key(Qt::Key_End);
  key(Qt::Key_Home);
  key(Qt::Key_Right, Qt::ShiftModifier);
  key(Qt::Key_Right, Qt::ShiftModifier);
  QTest::keySequence(&editor_->rows(), QKeySequence::Copy);
  QTest::keySequence(&editor_->rows(), QKeySequence::Paste);
  QTest::keySequence(&editor_->rows(), QKeySequence::Paste);
  EXPECT_EQ(line(1), "F0 B0 F1 B1 F2 B2");
}

TEST_F(OrderEditing, DeleteRemovesWhatIsOutlined) {
  edit().set_line(0, QStringLiteral("f0 f1 b0"));
  editor_->rows().setFocus();
  const QRectF cell = editor_rows(editor_->picture(), editor_->rows().width(), 0).cell_rect(0, 0);
  QTest::mouseClick(&editor_->rows(), Qt::LeftButton, {}, cell.center().toPoint());
  key(Qt::Key_Delete);
  EXPECT_EQ(line(0), "F1 B0");
  key(Qt::Key_Delete);
  EXPECT_EQ(line(0), "B0") << "nothing is outlined: what stands behind the cursor";
}

TEST_F(OrderEditing, WhatTheOrderComesToIsHeardAfterEachKey) {
  edit().clear_all();
  editor_->rows().setFocus();
  const auto told = [this] { return editor_->rows().accessibleDescription().toStdString(); };
  key(Qt::Key_Home);
  keys("f0f1f2b0b1b2");
  key(Qt::Key_Down);
  keys("f0f1f2b0b1");
  EXPECT_THAT(told(), ::testing::HasSubstr("B1 on stage 1"));
  EXPECT_THAT(told(), ::testing::HasSubstr("11 of 12 actions are placed"));
  keys("b1");
  EXPECT_THAT(told(), ::testing::HasSubstr("stands in the order twice"));
  key(Qt::Key_Backspace);
  keys("b2");
  EXPECT_THAT(told(), ::testing::HasSubstr("The order is legal and "));
}

TEST_F(OrderEditing, TheCursorIsHeardWithTheActionsOnBothSides) {
  edit().set_line(0, QStringLiteral("f0 f1 b0"));
  editor_->rows().setFocus();
  const auto told = [this] { return editor_->rows().accessibleDescription().toStdString(); };
  key(Qt::Key_Home);
  EXPECT_THAT(told(), ::testing::HasSubstr("before position 1 of 3, F0"));
  key(Qt::Key_Right);
  EXPECT_THAT(told(), ::testing::HasSubstr("behind position 1 of 3, F0"));
  EXPECT_THAT(told(), ::testing::HasSubstr("before F1"));
  key(Qt::Key_End);
  EXPECT_THAT(told(), ::testing::HasSubstr("behind position 3 of 3, B0"));
}

TEST_F(OrderEditing, EveryStopOfTheEditorHasAName) {
  int seen = 0;
  for (QWidget* widget : editor_->findChildren<QWidget*>()) {
    if (!(widget->focusPolicy() & Qt::TabFocus) || !widget->isVisible()) continue;
    const QAccessibleInterface* said = QAccessible::queryAccessibleInterface(widget);
    ASSERT_NE(said, nullptr);
    EXPECT_FALSE(said->text(QAccessible::Name).isEmpty()) << widget->metaObject()->className();
    ++seen;
  }
  EXPECT_GT(seen, 5);
}

TEST_F(OrderEditing, SelectsBackwardsToo) {
  edit().set_line(0, QStringLiteral("f0 f1 b0"));
  EXPECT_EQ(line(0), "F0 F1 B0");
  editor_->rows().setFocus();
  key(Qt::Key_Up);
  key(Qt::Key_End);
  key(Qt::Key_Left, Qt::ShiftModifier);
  key(Qt::Key_Left, Qt::ShiftModifier);
  key(Qt::Key_Delete);
  EXPECT_EQ(line(0), "F0");
  QTest::keySequence(&editor_->rows(), QKeySequence::SelectAll);
  key(Qt::Key_Delete);
  EXPECT_EQ(line(0), "");
}

TEST_F(OrderEditing, EnterCommitsTheRowsTextOnceAndKeepsWhatCannotBeRead) {
  editor_->rows().setFocus();
  key(Qt::Key_F2);
  auto* text = editor_->rows().findChild<QLineEdit*>();
  ASSERT_TRUE(text->isVisible());
  text->setText(QStringLiteral("F0 nonsense"));
  QTest::keyClick(text, Qt::Key_Return);
  EXPECT_TRUE(text->isVisible());
  EXPECT_EQ(text->text(), QStringLiteral("F0 nonsense"));
  text->setText(QStringLiteral("F0 B0"));
  QTest::keyClick(text, Qt::Key_Return);
  EXPECT_FALSE(text->isVisible());
  EXPECT_EQ(line(0), "F0 B0");
}

TEST_F(OrderEditing, WhatIsThereAtFirstIsNoAttempt) {
  EXPECT_EQ(edit().tries().count, 0);
  EXPECT_FALSE(edit().tries().best);
  edit().set_line(0, QStringLiteral("F0 F1 F2 B0 B1 B2"));
  EXPECT_EQ(edit().tries().count, 1);
  EXPECT_TRUE(edit().tries().best);
}

TEST_F(OrderEditing, AllForwardsFirstAreCalledGPipe) {
  for (const std::size_t rank : {0U, 1U})
    edit().set_line(rank, QStringLiteral("F0 F1 F2 B0 B1 B2"));
  edit().wait();
  EXPECT_EQ(edit().recognised(),
            QStringLiteral("GPipe with the backwards in the order of the forwards"));
  edit().set_line(1, QStringLiteral("F0 F1 B0 F2 B1 B2"));
  edit().wait();
  EXPECT_EQ(edit().recognised(), QStringLiteral("1F1B with one more warm-up forward"));
}

TEST_F(OrderEditing, TheFloorsBubbleIsKnownBeforeTheOrderIsWhole) {
  edit().wait();
  const auto bubble = [&] { return editor_quantities(edit(), session())[1].observed.text; };
  const QString whole = bubble();
  ASSERT_NE(whole, QStringLiteral("–"));
  edit().clear_all();
  edit().wait();
  EXPECT_EQ(bubble(), whole) << "it is of the work, not of what is placed";
}

TEST_F(OrderEditing, TheCriticalPathIsToldToItsEnd) {
  set("pp", "4");
  set("microbatches", "8");
  ASSERT_GT(edit().path().size(), 6U);
  const QString text = path_text(edit());
  EXPECT_FALSE(text.contains(QStringLiteral("….")) || text.endsWith(QStringLiteral("…")));
  const DraftPlace& last = edit().path().back();
  const Action& action = edit()
                             .times()
                             .ranks[static_cast<std::size_t>(last.rank)]
                             .ran[static_cast<std::size_t>(last.index)]
                             .action;
  EXPECT_TRUE(text.contains(action_text(action, 1) + QStringLiteral("."))) << text.toStdString();
}

// Sixteen rows: the names of all of them have room.
TEST_F(OrderEditing, RowsOfSixteenStagesAreNamedInFull) {
  set("layers", "16");
  set("pp", "16");
  set("microbatches", "16");
  ASSERT_TRUE(edit().problem().isEmpty()) << edit().problem().toStdString();
  QImage image(1100, 1500, QImage::Format_RGB32);
  QPainter painter(&image);
  TextLog texts;
  const EditorPicture picture = editor_->picture();
  paint_editor_times(painter, picture, editor_times(picture, 1100), light_theme(), &texts);
  std::set<QString> names;
  for (const auto& text : texts) names.insert(text.text);
  for (int rank = 0; rank < 16; ++rank)
    EXPECT_TRUE(names.count(QStringLiteral("Stage %1").arg(rank))) << rank;
}

TEST_F(OrderEditing, OtherWorkBeginsTheCountAnew) {
  edit().set_line(0, QStringLiteral("F0 F1 F2 B0 B1 B2"));
  set("schedule", "gpipe");
  const int before = edit().tries().count;
  EXPECT_GT(before, 0);
  set("microbatches", "4");
  ASSERT_TRUE(edit().times().whole());
  EXPECT_EQ(edit().tries().count, 0) << "four micro-batches have another floor";
  EXPECT_FALSE(edit().tries().best);
}

// The timeline and its plot are under the editor: nothing of them is drawn, and nothing plays.
TEST_F(OrderEditing, NothingPlaysUnderTheEditorAndWhatIsUnderItIsHidden) {
  edit().set_open(false);
  auto* plot = window->findChild<HeldPlot*>();
  ASSERT_TRUE(plot->isVisible());
  session().playback().set_playing(true);
  edit().set_open(true);
  EXPECT_FALSE(session().playback().playing());
  EXPECT_FALSE(plot->isVisible());
  QApplication::processEvents();  // what was to be drawn when it was seen
  int replots = 0;
  auto* figure = plot->findChild<QCustomPlot*>();
  QObject::connect(figure, &QCustomPlot::afterReplot, [&] { ++replots; });
  set("microbatches", "5");
  QApplication::processEvents();
  EXPECT_EQ(replots, 0) << "nobody sees it";
  edit().set_open(false);
  QApplication::processEvents();
  EXPECT_TRUE(plot->isVisible());
  EXPECT_GT(replots, 0);
  EXPECT_THAT(plot->accessibleDescription().toStdString(), testing::HasSubstr("stage 0"));
}

TEST_F(OrderEditing, ARowIsTypedAsText) {
  EXPECT_EQ(edit().set_line(0, QStringLiteral("F0 B0")), QString());
  EXPECT_EQ(line(0), "F0 B0");
  EXPECT_TRUE(edit().set_line(0, QStringLiteral("F0 G1")).contains(QStringLiteral("G1")));
  EXPECT_EQ(line(0), "F0 B0") << "what cannot be read changes nothing";
  EXPECT_EQ(edit().set_line(0, QString()), QString());
  EXPECT_EQ(line(0), "");
  EXPECT_EQ(edit().draft().ranks.size(), 2U);
}

TEST_F(OrderEditing, AnIllegalOrderSaysWhyAndHasNoGhostsThere) {
  EXPECT_EQ(edit().set_line(0, QStringLiteral("F0 B1 F1")), QString());
  const EditorVerdict verdict = verdict_of(edit());
  EXPECT_EQ(verdict.tone, EditorVerdict::Tone::kWarning);
  EXPECT_TRUE(verdict.hangs);
  EXPECT_THAT(verdict.headline.toStdString(), testing::HasSubstr("B1"));
  EXPECT_THAT(verdict.headline.toStdString(), testing::HasSubstr("F1"));
  EXPECT_TRUE(ghost_rects(editor_->picture(), editor_times(editor_->picture(), 600), 0).empty());
  EXPECT_EQ(editor_quantities(edit(), session())[0].predicted.text, QStringLiteral("never ends"));
  EXPECT_THAT(editor_description(edit()).toStdString(), testing::HasSubstr("F0 B1 F1"));
}

TEST_F(OrderEditing, RealRanksHangAndTheEngineSaysWhatEachWaitsFor) {
  EXPECT_FALSE(edit().can_hang());
  edit().set_line(0, QStringLiteral("F0 B0 F1 F2 B1"));
  EXPECT_FALSE(edit().can_hang()) << "nothing is missing that would let it go on";
  edit().set_line(0, QStringLiteral("F0 F1 F1"));
  EXPECT_FALSE(edit().can_hang()) << "ranks run no action twice";
  edit().set_line(0, QStringLiteral("F0 B1"));
  ASSERT_TRUE(edit().can_hang()) << "whatever is placed behind it";
  EXPECT_EQ(editor_quantities(edit(), session())[4].predicted.text, QStringLiteral("none"));
  bool calibrated = false;
  QObject::connect(&session().jobs(), &EngineJobs::state_changed, &edit(), [&] {
    calibrated = calibrated || session().jobs().state() == RunState::kCalibrating;
  });
  edit().let_it_hang(0.3);
  ASSERT_TRUE(wait_until([&] { return session().jobs().state() == RunState::kIdle; }, 60'000));
  ASSERT_EQ(edit().hang_report().size(), 2) << session().jobs().last_error().toStdString();
  EXPECT_FALSE(calibrated) << "no rate matters to ranks that wait for ever";
  EXPECT_EQ(editor_quantities(edit(), session())[4].predicted.text, QStringLiteral("hung"));
  EXPECT_THAT(edit().hang_report()[0].toStdString(), testing::HasSubstr("0"));
  edit().set_line(0, QStringLiteral("F0 F1 B0 B1 F2 B2"));
  EXPECT_TRUE(edit().hang_report().isEmpty()) << "it was of another order";
}

TEST_F(OrderEditing, BackwardsAreSplitAndJoined) {
  edit().set_split(true);
  EXPECT_EQ(line(1), "F0 I0 W0 F1 I1 W1 F2 I2 W2");
  EXPECT_TRUE(edit().times().whole());
  edit().set_split(false);
  EXPECT_EQ(line(1), "F0 B0 F1 B1 F2 B2");
}

TEST_F(OrderEditing, MoreMicrobatchesLeaveTheOrderUnfinishedAndRepeatFinishesIt) {
  edit().set_line(0, QStringLiteral("F0 F1 B0 F2 B1 B2"));
  set("microbatches", "6");
  EXPECT_EQ(edit().times().placed, 12);
  EXPECT_EQ(edit().times().wanted, 24);
  edit().set_line(0, QStringLiteral("F0 F1 B0 F2 B1"));
  edit().repeat_to_the_end();
  EXPECT_EQ(line(0), "F0 F1 B0 F2 B1 F3 B2 F4 B3 F5 B4 B5");
  EXPECT_TRUE(edit().times().whole());
}

TEST_F(OrderEditing, TheFloorIsFoundAndNoOrderIsBelowIt) {
  edit().wait();
  ASSERT_TRUE(edit().floor());
  EXPECT_LE(edit().floor()->at_least, edit().times().makespan * (1 + 1e-9));
  EXPECT_THAT(score_text(edit()).toStdString(), testing::HasSubstr("floor"));
}

TEST_F(OrderEditing, ChoosingAScheduleOrLeavingEndsIt) {
  edit().clear_all();
  set("schedule", "gpipe");
  EXPECT_EQ(line(0), "F0 F1 F2 B2 B1 B0");
  edit().set_open(false);
  EXPECT_FALSE(editor_->isVisible());
  EXPECT_EQ(session().setup().schedule.name(), "gpipe");
}

TEST_F(OrderEditing, AnotherPpIsNamedAsTheProblem) {
  edit().set_line(0, QStringLiteral("F0 B0"));
  set("pp", "4");
  EXPECT_THAT(edit().problem().toStdString(), testing::HasSubstr("PP"));
  EXPECT_EQ(verdict_of(edit()).headline, edit().problem());
  session().history().stack().undo();
  EXPECT_TRUE(edit().problem().isEmpty());
}

}  // namespace
}  // namespace parallelarium

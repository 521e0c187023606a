// SPDX-License-Identifier: GPL-3.0-or-later
// Steps of a lesson that build an order, and those that find what a drawing has wrong.
#include <gtest/gtest.h>

#include <QTest>
#include <map>
#include <stdexcept>

#include "app/lesson/answer/drawing_grid.h"
#include "app/state/step/order_edit.h"
#include "app/views/pipeline/editor/editor_words.h"
#include "app/views/pipeline/editor/known_schedules.h"
#include "app/views/pipeline/editor/order_editor.h"
#include "engine/lesson/play.h"
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
  const QLabel& label(const char* name) const {
    return *editor_.findChild<QLabel*>(QLatin1String(name));
  }

 private:
  OrderEditor editor_;
};

// An order that was being built freely gives way to what the lesson shows.
TEST_F(LessonPlay, ALessonClosesTheEditorUnlessItAsksForAnOrder) {
  session_.order_edit().set_open(true);
  ASSERT_TRUE(session_.order_edit().open());
  open(QStringLiteral("first-look"));
  ASSERT_FALSE(player().step().builds_order());
  EXPECT_FALSE(session_.order_edit().open());
  session_.order_edit().set_open(true);
  press_primary();
  EXPECT_FALSE(session_.order_edit().open()) << "the next step closes it, too";
}

TEST_F(LessonPlay, WrittenOrderIsJudgedAndShown) {
  open(QStringLiteral("same-bubble-less-memory"));
  nlohmann::json document = session_.locks().lesson_state();
  document["step"] = "write-it";
  session_.locks().set_lesson_state(document);
  const Result<Settings> settings = settings_at(player().lesson(), 4, player().drawn());
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
  EXPECT_TRUE(conditions->accessibleName().contains(
      QStringLiteral("Everything is placed, 16 of 16: reached.")));
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
  EXPECT_TRUE(conditions->accessibleName().contains(
      QStringLiteral("Everything is placed, 11 of 16: not yet.")));
  press_primary();
  EXPECT_FALSE(player().state().solved);
  EXPECT_FALSE(feedback().isEmpty());
  EXPECT_EQ(order.set_line(0, QStringLiteral("F0 F1 B0 F2 B1 F3 B2 B3")), QString());
  EXPECT_EQ(order.set_line(1, QStringLiteral("F0 B0 F1 B1 F2 B2 F3 B3")), QString());
  EXPECT_FALSE(conditions->accessibleName().contains(QStringLiteral("not yet")));
  press_primary();
  EXPECT_TRUE(player().state().solved) << feedback().toStdString();
  EXPECT_FALSE(order.editable());
  EXPECT_TRUE(session_.problems().empty());
  EXPECT_EQ(to_lines(session_.subject().prediction()->order)[1], "F0 B0 F1 B1 F2 B2 F3 B3");
}

// GPipe's order, with which the memory wall begins, breaks its limit: it is no best, and below the
// floor of those that keep it.
TEST_F(LessonPlay, OnlyOwnOrdersWithinTheLimitsCountAndNothingIsCarriedOver) {
  open(QStringLiteral("orders-by-hand"));
  OrderEdit& order = session_.order_edit();
  const auto enter_part = [&](std::size_t at) {
    const Result<Settings> settings = settings_at(player().lesson(), at, player().drawn());
    ASSERT_TRUE(settings);
    session_.history().change(settings->setup, QStringLiteral("test"));
    go_to(at);
  };
  const auto set_lines = [&](const std::vector<std::string>& lines) {
    for (std::size_t rank = 0; rank < lines.size(); ++rank)
      EXPECT_EQ(order.set_line(rank, QString::fromStdString(lines[rank])), QString());
  };
  enter_part(3);
  ASSERT_EQ(step(), "gpipe");
  EXPECT_EQ(order.tries().count, 0);
  set_lines(player().step().order.solution);
  ASSERT_TRUE(order.tries().best);
  EXPECT_EQ(*order.tries().best, 24);
  const ShownEditor editor(session_);
  const QLabel& known = editor.label("KnownSchedules");
  EXPECT_FALSE(known.isVisible()) << "the goal is not checked yet";
  EXPECT_EQ(known.text(), QString());
  press_primary();
  ASSERT_TRUE(player().state().solved) << feedback().toStdString();
  EXPECT_EQ(*order.tries().best, 24) << "it is the same task";
  // 4 stages, 4 micro-batches, B = 2 F, messages of 0.5: each stage works for 12. GPipe takes
  // (4 + 3) * 3 + 6 * 0.5; 1F1B waits for messages more often.
  EXPECT_TRUE(known.isVisible());
  std::map<QString, KnownSchedule> by_title;
  for (const KnownSchedule& each : known_schedules(order)) {
    by_title[each.title] = each;
    EXPECT_TRUE(known.text().contains(each.title));
  }
  for (const auto& [title, makespan] : {std::pair("GPipe", 24.0), {"1F1B", 26.0}}) {
    ASSERT_TRUE(by_title.count(QLatin1String(title))) << title;
    EXPECT_EQ(by_title[QLatin1String(title)].makespan, makespan);
    EXPECT_NEAR(by_title[QLatin1String(title)].bubble, 1 - 12 / makespan, 1e-12);
    EXPECT_EQ(by_title[QLatin1String(title)].held, 4);
  }
  ASSERT_TRUE(by_title.count(QStringLiteral("Naive")));
  EXPECT_EQ(by_title[QStringLiteral("Naive")].makespan, 60)
      << "4 micro-batches of 4 * 3 + 6 * 0.5, in turn";
  EXPECT_EQ(by_title[QStringLiteral("Naive")].held, 1);
  EXPECT_FALSE(by_title.count(QStringLiteral("ZB-H1"))) << "it does other work";
  player().next();
  player().back();
  EXPECT_GT(order.tries().count, 0);
  ASSERT_TRUE(order.tries().best) << "the order that solved it stands there";
  EXPECT_EQ(*order.tries().best, 24);
  player().next();
  ASSERT_EQ(step(), "the-memory-wall");
  ASSERT_TRUE(order.times().whole());
  EXPECT_EQ(order.tries().count, 0) << "nothing was touched";
  EXPECT_FALSE(known.isVisible()) << "it is another goal";
  EXPECT_FALSE(order.tries().best) << *order.tries().best;
  auto* conditions = panel_->findChild<QLabel*>("LessonConditions");
  EXPECT_TRUE(conditions->accessibleName().contains(
      QStringLiteral("Every rank comes to its end: reached.")));
  EXPECT_FALSE(conditions->accessibleName().contains(QStringLiteral(", no: reached")));
  set_lines({"F0 F1 F2 F3 B0 B1 B2 B3", "F0 F1 F2 F3 B0 B1 B2 B3", "F0 F1 F2 F3 B0 B1 B2 B3",
             "F0 F1 F2 F3 B0 B1 B2 B3"});
  ASSERT_TRUE(order.times().whole());
  EXPECT_EQ(order.tries().count, 0) << "it holds four, and may hold two";
  order.wait();
  ASSERT_TRUE(order.floor());
  EXPECT_LT(order.times().makespan, order.floor()->at_least);
  EXPECT_TRUE(score_text(order).contains(QStringLiteral("this order, over the limit")));
  set_lines(player().step().order.solution);
  EXPECT_EQ(order.tries().count, 1);
  order.wait();
  ASSERT_TRUE(order.tries().best && order.floor());
  EXPECT_GE(*order.tries().best, order.floor()->at_least);
  // GPipe's order of the same work is shorter, so the sentence names the limit.
  ASSERT_EQ(*order.tries().best, order.floor()->at_least);
  EXPECT_TRUE(verdict_of(order).detail.contains(QStringLiteral("holds at most 2 in any row")))
      << verdict_of(order).detail.toStdString();
  order.reset();
  EXPECT_EQ(order.tries().count, 1) << "the order of the beginning is nobody's";
  const std::optional<double> best = order.tries().best;
  player().back();
  player().next();
  ASSERT_EQ(step(), "the-memory-wall");
  EXPECT_EQ(order.tries().count, 1) << "the student looked back, and lost nothing";
  EXPECT_EQ(order.tries().best, best);
  set_lines({"F0 B0 F1 F2 F3 B1 B2 B3", "F1 F0 F2 F3 B0 B1 B2 B3"});  // each waits for the other
  ASSERT_FALSE(player().conditions().empty());
  EXPECT_EQ(player().conditions().front().heard,
            QStringLiteral("Every rank comes to its end: not yet."));
}

TEST_F(LessonPlay, WhereLimitsAreByStageItIsSaidOfWhich) {
  open(QStringLiteral("the-job-that-hangs"));
  set("mesh.pp", "4");  // as a document has it that was saved at that part
  set("microbatches", "4");
  for (std::size_t at = 0; at < player().lesson().steps.size(); ++at)
    if (player().lesson().steps[at].id == "repair-it") go_to(at);
  ASSERT_EQ(step(), "repair-it");
  OrderEdit& order = session_.order_edit();
  const std::vector<std::string>& solution = player().step().order.solution;
  for (std::size_t rank = 0; rank < solution.size(); ++rank)
    EXPECT_EQ(order.set_line(rank, QString::fromStdString(solution[rank])), QString());
  order.wait();
  ASSERT_EQ(order.limits(), (HeldLimits{4, 3, 2, 4}));
  const auto held = [&] { return editor_quantities(order, session_)[2]; };
  EXPECT_TRUE(held().observed.source.startsWith(QStringLiteral("limit of stage ")))
      << held().observed.source.toStdString();
  press_primary();
  ASSERT_TRUE(player().state().solved) << feedback().toStdString();
  const QString known = known_schedules_table(order);
  int over = 0;
  for (const KnownSchedule& each : known_schedules(order)) {
    if (each.keeps_limits()) continue;
    ++over;
    EXPECT_GT(each.held_there, order.limits()[std::size_t(each.over)]);
    EXPECT_TRUE(known.contains(QStringLiteral("%1 on stage %2, limit %3")
                                   .arg(each.held_there)
                                   .arg(each.over)
                                   .arg(order.limits()[std::size_t(each.over)])))
        << known.toStdString();
  }
  EXPECT_GT(over, 0);
}

TEST_F(LessonPlay, PartsBeginPausedAtTheirBeginning) {
  open(QStringLiteral("naive-and-gpipe"));
  session_.playback().set_playing(true);
  session_.playback().set_playhead(Nanoseconds(1000));
  session_.collectives().set_playhead(Nanoseconds(1000));
  ASSERT_GT(session_.playback().playhead().count(), 0);
  ASSERT_GT(session_.collectives().playhead().count(), 0);
  player().next();
  ASSERT_EQ(player().step_index(), 1U);
  EXPECT_FALSE(session_.playback().playing());
  EXPECT_EQ(session_.playback().playhead().count(), 0);
  EXPECT_EQ(session_.collectives().playhead().count(), 0);
}

TEST_F(LessonPlay, FaultsOfADrawingAreMarkedByMouseAndKeys) {
  open(QStringLiteral("naive-and-gpipe"));
  player().commit({});
  nlohmann::json document = session_.locks().lesson_state();
  document["step"] = "a-picture-to-distrust";
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

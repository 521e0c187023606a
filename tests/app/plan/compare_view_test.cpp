// SPDX-License-Identifier: GPL-3.0-or-later
// The Compare view: its figures are those of `compare`, its causes add up, and what may not be
// compared says why.
#include "app/views/compare/compare_view.h"

#include <QMenu>

#include "app/look/figures.h"
#include "app/selection/selection_panel.h"
#include "app/state/plan/plan_search.h"
#include "app/views/compare/compare_paint.h"
#include "app/views/compare/compare_words.h"
#include "app/views/search/column/search_column.h"
#include "app/views/search/search_view.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "app/views/shared/words/case_words.h"
#include "engine/predict/cases/cases.h"
#include "tests/app/plan/compare_fixture.h"

namespace parallelarium {
namespace {

TEST_F(CompareFixture, SaysWhatTheCommandLineSaysOfPinAndSetup) {
  EXPECT_EQ(comparison().entries.size(), 1u);
  EXPECT_TRUE(comparison().explained.causes.empty());
  const QString before = file_of(session().setup(), "before.json");
  session().pin();
  set("microbatches", "16");
  const auto json = command({QStringLiteral("compare"), before,
                             file_of(session().setup(), "after.json"), QStringLiteral("--json")});
  ASSERT_EQ(comparison().entries.size(), 2u);
  const SideBySide& shown = comparison().beside;
  ASSERT_EQ(json.at("rows").size(), shown.rows.size());
  for (std::size_t row = 0; row < shown.rows.size(); ++row) {
    EXPECT_EQ(json.at("rows")[row].at("metric"), shown.rows[row].metric);
    for (std::size_t at = 0; at < 2; ++at) {
      const auto& value = json.at("rows")[row].at("values")[at];
      ASSERT_EQ(value.is_null(), !shown.rows[row].values[at]) << shown.rows[row].metric;
      if (!value.is_null()) {
        EXPECT_DOUBLE_EQ(value, *shown.rows[row].values[at]);
      }
    }
  }
  ASSERT_EQ(json.at("remarks").size(), 1u);  // their batches differ
  const QStringList remarks = compare_remarks(comparison());
  ASSERT_EQ(remarks.size(), 1);
  EXPECT_TRUE(
      remarks.front().startsWith(QStringLiteral("B makes a global batch of 16, not 8 as A:")));
  TextLog texts;
  QImage image(1200, 900, QImage::Format_RGB32);
  QPainter painter(&image);
  paint_compare(painter, 1200, {&comparison(), {}, {}, 0}, light_theme(), nullptr, &texts);
  painter.end();
  EXPECT_TRUE(std::any_of(texts.begin(), texts.end(), [&](const PaintedText& text) {
    return !text.text.isEmpty() && remarks.front().startsWith(text.text);
  }));
  EXPECT_TRUE(view().description().contains(remarks.front()));
  double sum = 0;
  ASSERT_EQ(json.at("causes").size(), comparison().explained.causes.size());
  for (const Cause& cause : comparison().explained.causes) sum += cause.seconds;
  EXPECT_NEAR(sum, shown.columns[1].step.seconds - shown.columns[0].step.seconds, 1e-9);
}

TEST_F(CompareFixture, AddsPublishedCasesAndRefusesAFifthColumn) {
  const Result<Case> found = find_case("korthikanti-2022-table-5");
  ASSERT_TRUE(found.ok());
  for (std::size_t row = 0; row < 3; ++row) {
    const CaseRow& of = found->rows[row];
    view().add(QStringLiteral("CASE"), of.setup, of.machine);
    ASSERT_TRUE(wait_until([&] { return comparison().entries.size() == row + 2; }, kAnswerMs));
  }
  EXPECT_EQ(comparison().chosen, 3u) << "what was added last is explained";
  EXPECT_EQ(letter_of(3), QStringLiteral("D"));
  view().add(QStringLiteral("CASE"), found->rows[0].setup, found->rows[0].machine);
  view().wait();
  QApplication::processEvents();
  EXPECT_EQ(comparison().entries.size(), kMostCompared);
  // Full recompute against none of the same model: the time of recomputing is the first's alone.
  view().canvas().setFocus();
  QTest::keyClick(&view().canvas(), Qt::Key_Left);
  EXPECT_EQ(comparison().chosen, 2u);
  QTest::keyClick(&view().canvas(), Qt::Key_Left);
  QTest::keyClick(&view().canvas(), Qt::Key_Left);
  EXPECT_EQ(comparison().chosen, 1u) << "never the first itself";
}

TEST_F(CompareFixture, HidesWhatALessonAsksFor) {
  session().pin();
  set("microbatches", "16");
  const QString step = seconds_text(comparison().beside.columns[1].step.seconds);
  EXPECT_TRUE(view().description().contains(step));
  session().locks().set_hidden({QStringLiteral("step.seconds")});
  EXPECT_FALSE(view().description().contains(step));
  EXPECT_TRUE(comparison().hidden_causes);
  for (std::size_t row = 0; row < comparison().beside.rows.size(); ++row)
    if (difference_cell(comparison(), row, 1) == QStringLiteral("?")) {
      EXPECT_FALSE(difference_stands(comparison(), row, 1));
      EXPECT_EQ(why_no_difference(comparison(), row, 1), QString());
    }
}

TEST_F(CompareFixture, FollowsOneActionThroughAllColumns) {
  session().pin();
  set("microbatches", "16");
  const FollowedAction action{1, 2, 0, ActionKind::kBackward};
  for (const PictureLane& lane : comparison().lanes.lanes) {
    int rank = -1;
    const Bar* bar = bar_of(lane, action, &rank);
    ASSERT_NE(bar, nullptr);
    EXPECT_EQ(bar->microbatch, 2);
    EXPECT_EQ(lane.rows->row_of(rank)->stage, 1);
  }
  const QString later = later_text(comparison(), 1, Nanoseconds(1'500'000));
  const QString earlier = later_text(comparison(), 1, Nanoseconds(-1'500'000));
  EXPECT_TRUE(later.startsWith(QStringLiteral("+1.50"))) << later.toStdString();
  EXPECT_TRUE(earlier.startsWith(QStringLiteral("−1.50"))) << earlier.toStdString();
  session().locks().set_hidden({QStringLiteral("step.seconds")});
  EXPECT_EQ(later_text(comparison(), 1, Nanoseconds(1'500'000)), QStringLiteral("?"));
}

// Its letter stands before the title of each lane, its step behind it, and the letter chooses it.
TEST_F(CompareFixture, ALaneHasItsLetterAndItsStep) {
  session().pin();
  set("microbatches", "16");
  view().add(QStringLiteral("once more"), *session().runs().pinned());
  for (const double width : {700.0, 904.0}) {
    QImage image(int(width), 1400, QImage::Format_RGB32);
    QPainter painter(&image);
    TextLog texts;
    CompareHits hits;
    paint_compare(painter, width, {&comparison(), {}, {}, 0}, light_theme(), &hits, &texts);
    painter.end();
    EXPECT_EQ(overlapping(texts), "") << width;
    const auto beside = [&](const QRectF& of, const QString& text) {
      return std::any_of(texts.begin(), texts.end(), [&](const PaintedText& painted) {
        return painted.text == text && painted.rect.center().y() > of.top() &&
               painted.rect.center().y() < of.bottom();
      });
    };
    for (const TitleBox& title : hits.layout.titles) {
      const auto at = std::size_t(title.lane);
      const QRectF line =
          title.rect.translated(hits.lanes.topLeft() + QPointF(0, hits.layout.tick_band));
      EXPECT_TRUE(beside(line, letter_of(at))) << at << " at " << width;
      EXPECT_TRUE(beside(line, seconds_text(comparison().beside.columns[at].step.seconds))) << at;
      const QPointF chip(line.left() - 16, line.bottom() - 10);
      EXPECT_EQ(std::any_of(hits.columns.begin(), hits.columns.end(),
                            [&](const std::pair<QRectF, std::size_t>& column) {
                              return column.second == at && column.first.contains(chip);
                            }),
                at > 0);
    }
  }
}

// In the room Plan what is searched stands at the left of each view that is about a plan of the
// search; what is about the setup keeps the setup there.
TEST_F(CompareFixture, WhatIsSearchedStandsBesideThePlan) {
  PlanSearch& search = PlanSearch::of(session());
  auto* column = window->view_of<SearchView>().findChild<SearchColumn*>();
  ASSERT_NE(column, nullptr);
  for (const char* view : {"compare", "roofline"}) {
    show(view);
    EXPECT_TRUE(window->setup_panel().isVisible()) << view;
    EXPECT_FALSE(column->isVisible()) << view;
  }
  ASSERT_NE(searched(plan_wish("gpt2-124m", "2")), nullptr);
  for (const char* view : {"search", "roofline", "compare", "sweep"}) {
    show(view);
    EXPECT_FALSE(window->setup_panel().isVisible()) << view;
    EXPECT_TRUE(column->isVisible()) << view;
    EXPECT_LT(column->mapTo(window.get(), QPoint(0, 0)).x(),
              window->view().mapTo(window.get(), QPoint(0, 0)).x());
  }
  search.show_plan(false);
  QApplication::processEvents();
  EXPECT_TRUE(window->setup_panel().isVisible());
  EXPECT_FALSE(column->isVisible());
  search.show_plan(true);
  window->resize(1024, 700);
  QApplication::processEvents();
  EXPECT_FALSE(column->isVisible()) << "there is no room for it";
  window->resize(1440, 900);
  window->show_room(Room::kExplore);
  QApplication::processEvents();
  EXPECT_TRUE(window->setup_panel().isVisible());
  EXPECT_FALSE(column->isVisible());
}

// After a search it is about the selected plan, beside the best and what is trained today, until
// something else is set.
TEST_F(CompareFixture, IsAboutTheSelectedPlanAfterASearch) {
  PlanSearch& search = PlanSearch::of(session());
  ASSERT_NE(searched(wish_with_today()), nullptr);
  const FoundPlan other = search.answer()->front.back(), best = *search.best();
  ASSERT_FALSE(other.setup == best.setup);
  search.select(other.setup);
  view().wait();
  QApplication::processEvents();
  ASSERT_EQ(comparison().entries.size(), 3u);
  const auto seconds = [&](std::size_t at) { return comparison().beside.columns[at].step.seconds; };
  EXPECT_NEAR(seconds(0), other.seconds, 1e-9);
  EXPECT_NEAR(seconds(1), best.seconds, 1e-9);
  EXPECT_NEAR(seconds(2), *search.answer()->explained->seconds, 1e-9);
  EXPECT_TRUE(comparison().whose.contains(QStringLiteral("selected in Search")));
  EXPECT_EQ(view().quantities().front().predicted_value, other.seconds);
  // Formulas of what is set in Explore do not stand beside figures of the plan.
  const auto right = [&] {
    QString text;
    for (const QLabel* label : window->findChild<SelectionPanel*>()->findChildren<QLabel*>())
      if (!label->isHidden()) text += label->text();
    return text;
  };
  show("roofline");
  show("compare");
  EXPECT_FALSE(right().contains(QStringLiteral("1,024")) || right().contains(QStringLiteral(" / ")))
      << right().toStdString();
  EXPECT_TRUE(right().contains(QStringLiteral("selected in Search"))) << right().toStdString();
  search.show_plan(false);
  QApplication::processEvents();
  ASSERT_EQ(comparison().entries.size(), 1u);
  EXPECT_TRUE(comparison().whose.contains(QStringLiteral("set in Explore")));
  search.show_plan(true);
  EXPECT_EQ(comparison().entries.size(), 3u);
  set("microbatches", "16");
  EXPECT_EQ(comparison().entries.size(), 1u);
}

TEST_F(CompareFixture, PicturesHaveNoTextOverAnother) {
  session().pin();
  set("microbatches", "16");
  for (const double width : {600.0, 872.0, 1200.0}) {
    ComparePicture picture;
    picture.comparison = &comparison();
    expect_legible(
        width, compare_height(width, picture, light_theme()),
        [&](QPainter& painter, TextLog& texts) {
          paint_compare(painter, width, picture, light_theme(), nullptr, &texts);
        },
        60);
  }
}

// A published run has its figures and the error beside what is predicted.
TEST_F(CompareFixture, ACaseShowsWhatWasPublishedAndTheError) {
  const Result<Case> found = find_case("korthikanti-2022-table-5");
  ASSERT_TRUE(found.ok());
  const CaseRow& row = found->rows[1];
  view().add(QStringLiteral("CASE"), row);
  ASSERT_TRUE(wait_until([&] { return comparison().entries.size() == 2u; }, kAnswerMs));
  const Result<CasePrediction> predicted = predict_case(row);
  ASSERT_TRUE(predicted.ok());
  ASSERT_FALSE(row.figures.empty());
  const std::vector<QStringList> rows = published_rows(comparison());
  ASSERT_EQ(rows.size(), 3 * row.figures.size());
  for (std::size_t at = 0; at < row.figures.size(); ++at) {
    const CaseFigure& figure = row.figures[at];
    const double error = predicted->values[at] / figure.published - 1;
    for (const QString& wanted :
         {metric_value_text(figure.metric, figure.published),
          metric_value_text(figure.metric, predicted->values[at]), error_text(error)}) {
      EXPECT_TRUE(std::any_of(rows.begin(), rows.end(), [&](const QStringList& cells) {
        return cells[2] == wanted;
      })) << wanted.toStdString();
      EXPECT_TRUE(view().description().contains(wanted)) << wanted.toStdString();
    }
  }
  for (const QStringList& cells : rows) EXPECT_EQ(cells[1], QStringLiteral("–")) << "no case";
  ComparePicture picture;
  picture.comparison = &comparison();
  expect_legible(
      900, compare_height(900, picture, light_theme()),
      [&](QPainter& painter, TextLog& texts) {
        paint_compare(painter, 900, picture, light_theme(), nullptr, &texts);
      },
      60);
}

TEST_F(CompareFixture, EarlierRunsAreThoseOfTheRunMenu) {
  std::vector<RunRecord> runs;
  for (const int microbatches : {2, 4, 8}) {
    auto setup = session().setup();
    setup.microbatches = microbatches;
    runs.push_back(made_up_run(setup, 1.1));
  }
  auto now = session().setup();
  now.microbatches = 4;  // that run is a column already
  session().restore(now, runs, std::nullopt);
  session().wait_for_prediction();
  QMenu *add = nullptr, *run = nullptr;
  for (auto* button : view().findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("Add a column …")) add = button->menu();
  for (auto* menu : window->findChildren<QMenu*>())
    if (menu->title() == QStringLiteral("&Run")) run = menu;
  ASSERT_NE(add, nullptr);
  ASSERT_NE(run, nullptr);
  const auto listed_in = [](QMenu* menu, const char* title) {
    Q_EMIT menu->aboutToShow();
    QStringList texts;
    for (const QAction* entry : menu->actions()) {
      if (!entry->menu() || entry->text() != QLatin1String(title)) continue;
      for (const QAction* one : entry->menu()->actions()) texts << one->text();
    }
    return texts;
  };
  const QStringList listed = listed_in(add, "An earlier &run");
  ASSERT_EQ(listed.size(), 2);
  EXPECT_TRUE(listed[0].contains(QStringLiteral("8 micro-batches"))) << "the latest first";
  EXPECT_TRUE(listed[1].contains(QStringLiteral("2 micro-batches")));
  EXPECT_EQ(listed, listed_in(run, "&Earlier runs"));
}

// What cannot become a column says why, to the mouse and to screen readers.
TEST_F(CompareFixture, CasesThatCannotBeSaidSayWhyInTheMenu) {
  QMenu* menu = nullptr;
  for (auto* button : view().findChildren<QPushButton*>())
    if (button->text() == QStringLiteral("Add a column …")) menu = button->menu();
  ASSERT_NE(menu, nullptr);
  Q_EMIT menu->aboutToShow();
  const Result<std::vector<Case>> cases = all_cases();
  ASSERT_TRUE(cases.ok());
  std::size_t impossible = 0, grey = 0;
  for (const Case& one : *cases)
    for (const CaseRow& row : one.rows) impossible += row.impossible.empty() ? 0 : 1;
  for (const QMenu* each : menu->findChildren<QMenu*>())
    for (const QAction* action : each->actions()) {
      if (action->isEnabled() || action->menu()) continue;
      ++grey;
      EXPECT_TRUE(each->toolTipsVisible());
      EXPECT_GT(action->toolTip().size(), 20);
      EXPECT_TRUE(action->text().contains(action->toolTip().left(20)))
          << action->text().toStdString();
    }
  EXPECT_EQ(grey, impossible);
  EXPECT_GT(grey, 5u);
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The plans that the Search view puts first, what limits each, how far a step can be trusted, and
// the one change that serves today's setup best.
#include <QProcess>
#include <QTableView>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/sheets/cases/cases_sheet.h"
#include "app/state/plan/setting_sweep.h"
#include "app/state/run/engine_process.h"
#include "app/views/compare/compare_view.h"
#include "app/views/compare/compare_words.h"
#include "app/views/search/picture/search_picture.h"
#include "app/views/search/search_words.h"
#include "app/views/shared/words/plan_words.h"
#include "app/views/sweep/sweep_view.h"
#include "tests/app/plan/search_fixture.h"

namespace parallelarium {
namespace {

class SearchRecommended : public SearchFixture {
 protected:
  // A click on what the picture has of that plan above the plot.
  void click_on(const parallelarium::Setup& setup) {
    QWidget& canvas = view().canvas();
    canvas.grab();
    for (const SearchHits::Plan& hit : view().hits().plans)
      if (hit.plan->setup == setup && hit.rect.width() > 100) {
        QTest::mouseClick(&canvas, Qt::LeftButton, {}, hit.rect.center().toPoint());
        return;
      }
    ADD_FAILURE() << "no line of it";
  }
};

// They are the command line's, the simplest of them is selected, and a click selects another.
TEST_F(SearchRecommended, PlansStandFirstAndTheSimplestIsSelected) {
  search_for(plan_wish("llama3-8b", "4"));
  ASSERT_TRUE(search().answer());
  const PlanAnswer& answer = *search().answer();
  QProcess plan;
  plan.start(EngineProcess::find_program(),
             QStringLiteral("plan --model llama3-8b --machine dgx-h200 --gpus 4 --global-batch 8 "
                            "--json")
                 .split(QLatin1Char(' ')));
  ASSERT_TRUE(plan.waitForFinished(kSearchMs));
  const auto json = nlohmann::json::parse(plan.readAllStandardOutput().toStdString());
  const auto& told = json.at("recommended");
  ASSERT_EQ(told.size(), answer.recommended.size());
  ASSERT_GT(told.size(), 1u) << "else nothing else can be clicked";
  for (std::size_t at = 0; at < told.size(); ++at) {
    const PlanAdvice& advice = answer.recommended[at];
    EXPECT_EQ(to_json(advice.plan.setup), told[at].at("setup"));
    EXPECT_EQ(advice.merits, told[at].at("merits").get<std::vector<std::string>>());
    EXPECT_EQ(limits_text(advice.plan, answer.capacity_bytes).toStdString(),
              told[at].at("limits").get<std::string>());
    EXPECT_TRUE(view().description().contains(limits_text(advice.plan, answer.capacity_bytes)));
  }
  ASSERT_TRUE(answer.step_error);
  EXPECT_EQ(*answer.step_error, json.at("tie_source").at("error").get<double>());
  EXPECT_TRUE(step_text(answer, answer.recommended[0].plan).contains(QStringLiteral("±")));
  ASSERT_NE(search().selected(), nullptr);
  EXPECT_EQ(search().selected()->setup, search().first_choice()->setup);
  for (const PlanAdvice& advice : answer.recommended) {
    const auto& merits = advice.merits;
    EXPECT_EQ(std::count(merits.begin(), merits.end(), "simplest") > 0,
              advice.plan.setup == search().selected()->setup);
  }
  for (const PlanAdvice& advice : std::vector(answer.recommended)) {
    click_on(advice.plan.setup);
    EXPECT_EQ(search().selected()->setup, advice.plan.setup);
  }
}

// The best change of what is trained today is the first of those that are tried, and a click
// selects it, from where it is used or written as a launch line.
TEST_F(SearchRecommended, TheBestChangeOfTodayCanBeOpened) {
  search_for(wish_with_today());
  ASSERT_TRUE(search().answer() && search().answer()->explained);
  const ExplainedPlan told = *search().answer()->explained;
  ASSERT_TRUE(told.change && told.plan);
  search().select(told.plan->setup);
  search().try_neighbours();
  ASSERT_TRUE(wait_until([&] { return search().neighbours() != nullptr; }, kSearchMs))
      << search().error().toStdString();
  EXPECT_TRUE(
      sentence(told.change->sentence).contains(sentence(search().neighbours()->front().change)))
      << "both name what follows";
  EXPECT_NEAR(*search().neighbours()->front().seconds,
              told.change->plan.seconds - told.plan->seconds, 1e-9);
  click_on(told.change->plan.setup);
  ASSERT_NE(search().selected(), nullptr);
  EXPECT_EQ(search().selected()->setup, told.change->plan.setup);
  QTest::mouseClick(button(QStringLiteral("Use it")), Qt::LeftButton);
  session().wait_for_prediction();
  EXPECT_EQ(session().setup(), told.change->plan.setup);
  EXPECT_NEAR(session().subject().prediction()->step.seconds, told.change->plan.seconds, 1e-9);
}

// The plan that is marked is what the objective asked for, and changes are told in memory.
TEST_F(SearchRecommended, MarksThePlanThatTheObjectiveAskedFor) {
  PlanWish wish = small_wish();
  wish.objective = QStringLiteral("memory");
  search_for(wish);
  ASSERT_TRUE(search().answer()) << search().error().toStdString();
  const PlanAnswer& answer = *search().answer();
  ASSERT_FALSE(answer.recommended.empty());
  const PlanAdvice& first = answer.recommended.front();
  ASSERT_TRUE(search().selected());
  EXPECT_EQ(search().selected()->setup, first.plan.setup);
  EXPECT_TRUE(merits_text(answer, first.merits).startsWith(QStringLiteral("Least memory")));
  for (const FoundPlan& plan : answer.front) EXPECT_GE(plan.bytes, first.plan.bytes);
  const SearchPicture picture = picture_of(search(), -1);
  int possible = 0;
  for (const PlanWhy& why : picture.why)
    if (why.seconds) {
      EXPECT_TRUE(change_value(answer, why).contains(bytes_text(std::abs(why.more_bytes))));
      ++possible;
    }
  search().select(answer.front.front().setup);
  if (!picture_of(search(), -1).why.empty()) {
    ++possible;
    const PlanWhy why = picture_of(search(), -1).why.front();
    EXPECT_EQ(why.more_bytes, answer.front.front().bytes - search().best()->bytes);
  }
  EXPECT_GT(possible, 0);
}

// A plan without a pipeline has no bubble, in the room Plan as in Explore.
TEST_F(SearchRecommended, OneStageHasNoBubble) {
  PlanWish wish = plan_wish("llama3-8b", "4");
  wish.fixed[QStringLiteral("pp")] = QStringLiteral("1");
  search_for(wish);
  ASSERT_NE(search().selected(), nullptr);
  for (const Quantity& quantity : plan_quantities(search()))
    if (quantity.key == QLatin1String("plan.bubble")) {
      EXPECT_EQ(quantity.predicted.text, QStringLiteral("–"));
    }
  for (const FoundPlan& plan : search().answer()->plans)
    EXPECT_EQ(bubble_text(plan), QStringLiteral("–"));
  window->show_view(QStringLiteral("compare"));
  const auto& compare = window->view_of<CompareView>();
  ASSERT_TRUE(wait_until([&] { return !compare.comparison().entries.empty(); }, kSearchMs));
  int found = 0;
  for (const QStringList& row : compare_table(compare.comparison())) {
    if (row[0] != compared_text("bubble.of_total")) continue;
    ++found;
    EXPECT_EQ(row[1], QStringLiteral("–"));
  }
  EXPECT_EQ(found, 1);
}

// In the room Plan a sweep is of the plan that is selected, until something else is set.
TEST_F(SearchRecommended, ASweepBeginsWithTheSelectedPlan) {
  search_for(small_wish());
  ASSERT_NE(search().selected(), nullptr);
  const auto plan = search().selected()->setup;
  ASSERT_FALSE(plan == session().setup());
  window->show_view(QStringLiteral("sweep"));
  SettingSweep& sweep = window->view_of<SweepView>().sweep();
  EXPECT_EQ(sweep.base(), plan);
  SweepWish wish;
  wish.first = QStringLiteral("zero");
  wish.first_values = QString::number(plan.zero);
  sweep.set_wish(wish);
  sweep.start();
  ASSERT_TRUE(wait_until([&] { return !sweep.sweeping(); }, kSearchMs));
  ASSERT_TRUE(sweep.answer()) << sweep.error().toStdString();
  ASSERT_EQ(sweep.answer()->points.size(), 1u);
  EXPECT_NEAR(*sweep.answer()->points[0].figure, search().selected()->seconds, 1e-9);
  EXPECT_FALSE(sweep.is_stale());
  search().show_plan(false);
  EXPECT_EQ(sweep.base(), session().setup());
  EXPECT_TRUE(sweep.is_stale());
}

// Beside the step stands to which side runs of this model were missed, and they are a click away.
TEST_F(SearchRecommended, PublishedRunsOfTheModelStandBesideTheStep) {
  search_for(plan_wish("llama3-8b", "4"));
  ASSERT_TRUE(search().answer() && search().answer()->near_rows);
  const QString near = sentence(*search().answer()->near_rows);
  EXPECT_TRUE(near.contains(QStringLiteral("too fast")) ||
              near.contains(QStringLiteral("too slow")))
      << near.toStdString();
  EXPECT_TRUE(view().description().contains(near));
  const std::vector<FactLine> facts = describe_plan(search()).facts;
  EXPECT_EQ(facts[1].value, near);
  QWidget& canvas = view().canvas();
  canvas.grab();
  QTest::mouseClick(&canvas, Qt::LeftButton, {}, view().hits().published.center().toPoint());
  QApplication::processEvents();
  auto* sheet = window->findChild<CasesSheet*>();
  ASSERT_NE(sheet, nullptr);
  const auto* shown = sheet->findChild<QTableView*>()->model();
  ASSERT_GT(shown->rowCount(), 0);
  for (int row = 0; row < shown->rowCount(); ++row)
    EXPECT_EQ(shown->index(row, 0).data(CaseTable::kModelRole), QStringLiteral("Llama 3 8B"));
  sheet->close();
}

// As `plan --tokens --price` has them; they are no question to the search.
TEST_F(SearchRecommended, ThePlanSaysWhatAWholeTrainingTakes) {
  search_for(plan_wish("gpt2-124m", "2"));
  ASSERT_TRUE(search().selected());
  PlanWish wish = search().wish();
  wish.tokens = QStringLiteral("300B");
  wish.price = 2.5;
  search().set_wish(wish);
  EXPECT_FALSE(search().is_stale());
  const FoundPlan& best = *search().best();
  search().select(parallelarium::Setup(best.setup));
  QProcess plan;
  plan.start(EngineProcess::find_program(),
             QStringLiteral("plan --model gpt2-124m --machine dgx-h200 --gpus 2 --global-batch 8 "
                            "--tokens 300B --price 2.5 --json")
                 .split(QLatin1Char(' ')));
  ASSERT_TRUE(plan.waitForFinished(kSearchMs));
  const auto told =
      nlohmann::json::parse(plan.readAllStandardOutput().toStdString()).at("best").at(0);
  const auto number = [&](const char* key) { return number_text(told.at(key).get<double>()); };
  const QString expected = QStringLiteral("%1 days, %2 GPU hours; cost: %3 at 2.50 an hour")
                               .arg(number("days"), number("gpu_hours"), number("cost"));
  bool said = false;
  for (const FactLine& fact : describe_plan(search()).facts)
    said = said || (fact.word == QStringLiteral("300B tokens take") && fact.value == expected);
  EXPECT_TRUE(said) << expected.toStdString();
}

// No head or cell of the table is cut off in the window of 1440, with the column of rank orders
// too, which is there where two plans differ in nothing else.
TEST_F(SearchRecommended, TheTableIsWhole) {
  PlanWish wish = plan_wish("llama3-8b", "64");
  wish.global_batch = 256;
  search_for(wish);
  ASSERT_TRUE(search().answer());
  PlanAnswer answer = *search().answer();
  FoundPlan twin = answer.plans.front();
  RankOrder& order = twin.setup.mesh.order;
  order = order == RankOrder::kTpCpEpDpPp ? RankOrder::kTpCpEpPpDp : RankOrder::kTpCpEpDpPp;
  answer.plans.push_back(twin);
  SearchPicture picture = picture_of(search(), -1);
  picture.answer = &answer;
  constexpr double kWidth = 830;  // beside the left column
  QImage image(int(kWidth), 2000, QImage::Format_RGB32);
  QPainter painter(&image);
  TextLog texts;
  paint_best(painter, QRectF(0, 0, kWidth, 0), picture, light_theme(), nullptr, &texts);
  painter.end();
  const auto head = [&](const QString& text) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const PaintedText& painted) { return painted.text == text; });
  };
  EXPECT_TRUE(head(QStringLiteral("order")));
  for (const PaintedText& text : texts)
    EXPECT_FALSE(text.text.endsWith(QChar(0x2026))) << text.text.toStdString();
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The Search view: what it finds is what `plan` says, and what is used becomes the setup.
#include "app/views/search/search_view.h"

#include <QProcess>
#include <QPushButton>
#include <nlohmann/json.hpp>
#include <numeric>

#include "app/look/figures.h"
#include "app/state/run/engine_process.h"
#include "app/views/search/picture/search_paint.h"
#include "app/views/search/picture/search_picture.h"
#include "app/views/search/search_words.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/plan/search_fixture.h"

namespace parallelarium {
namespace {

TEST_F(SearchFixture, TheBestIsWhatTheCommandLineSaysAndBecomesTheSetup) {
  search_for(small_wish());
  ASSERT_TRUE(search().answer()) << search().error().toStdString();
  ASSERT_FALSE(search().answer()->plans.empty());
  QProcess plan;
  plan.start(EngineProcess::find_program(),
             QStringLiteral("plan --model gpt2-124m --machine dgx-h200 --gpus 2 --global-batch 8 "
                            "--json")
                 .split(QLatin1Char(' ')));
  ASSERT_TRUE(plan.waitForFinished(kSearchMs));
  const auto json = nlohmann::json::parse(plan.readAllStandardOutput().toStdString());
  EXPECT_EQ(json.at("candidates"), search().answer()->candidates);
  EXPECT_EQ(to_json(search().best()->setup), json.at("best").at(0).at("setup"));
  EXPECT_EQ(search().best()->seconds, json.at("best").at(0).at("step").at("seconds"));
  search().select(parallelarium::Setup(search().best()->setup));
  const FoundPlan* selected = search().selected();
  ASSERT_NE(selected, nullptr);
  const auto before = session().setup(), found = selected->setup;
  QTest::mouseClick(button(QStringLiteral("Use it")), Qt::LeftButton);
  session().wait_for_prediction();
  EXPECT_EQ(window->room(), Room::kExplore);
  EXPECT_EQ(session().setup(), found);
  EXPECT_TRUE(session().problems().empty());
  session().history().stack().undo();
  EXPECT_EQ(session().setup(), before);
}

TEST_F(SearchFixture, SaysWhatIsLeastWhereNothingFits) {
  PlanWish wish = small_wish();
  wish.model = QStringLiteral("llama3-70b");
  search_for(wish);
  ASSERT_TRUE(search().answer()) << search().error().toStdString();
  EXPECT_TRUE(search().answer()->plans.empty());
  EXPECT_TRUE(search().answer()->least);
  EXPECT_FALSE(button(QStringLiteral("Use it"))->isEnabled());
  EXPECT_TRUE(view().description().contains(QStringLiteral("None fits")));
}

TEST_F(SearchFixture, SaysWhyASearchCannotBe) {
  PlanWish wish = small_wish();
  wish.gpus = QStringLiteral("0");
  search_for(wish);
  EXPECT_FALSE(search().answer());
  EXPECT_TRUE(search().error().contains(QStringLiteral("131072")))
      << search().error().toStdString();
}

TEST_F(SearchFixture, KeysMoveAmongTheBestAndACancelledSearchSaysSo) {
  search_for(small_wish());
  ASSERT_TRUE(search().answer());
  ASSERT_GT(search().answer()->plans.size(), 2U);
  search().select(search().answer()->plans[0].setup);
  view().canvas().setFocus();
  QTest::keyClick(&view().canvas(), Qt::Key_Down);
  EXPECT_EQ(search().selected()->setup, search().answer()->plans[1].setup);
  QTest::keyClick(&view().canvas(), Qt::Key_Up);
  EXPECT_EQ(search().selected()->setup, search().answer()->plans[0].setup);
  PlanWish large;
  large.gpus = QStringLiteral("64");
  large.global_batch = 1024;
  search().set_wish(large);
  EXPECT_TRUE(search().is_stale());
  QTest::mouseClick(button(QStringLiteral("Search")), Qt::LeftButton);
  wait_until([] { return false; }, 200);
  if (search().searching()) QTest::mouseClick(button(QStringLiteral("Cancel")), Qt::LeftButton);
  EXPECT_TRUE(wait_until([&] { return !search().searching(); }, kSearchMs));
  EXPECT_TRUE(search().answer()) << "the answer before stays";
}

// An answer of other settings looks so, cannot be used, and keeps its question, also while a new
// search is under way; it says no more of today, whose plan is outdated as all others are.
TEST_F(SearchFixture, AnAnswerOfOtherSettingsLooksSo) {
  search_for(wish_with_today());
  ASSERT_TRUE(search().answer());
  ASSERT_NE(search().today(), nullptr);
  const auto today = search().today()->plan->setup;
  const auto selects_today = [&] {
    const auto all = search().selectable();
    return std::any_of(all.begin(), all.end(), [&](const auto* of) { return of->setup == today; });
  };
  ASSERT_TRUE(selects_today());
  EXPECT_TRUE(button(QStringLiteral("Use it"))->isEnabled());
  const QString question = picture_of(search(), -1).title;
  const PlanWish before = search().wish();
  PlanWish other = before;
  other.today.reset();
  search().set_wish(other);
  EXPECT_FALSE(search().is_stale()) << "what is trained today changes no plan";
  EXPECT_EQ(search().today(), nullptr);
  EXPECT_EQ(picture_of(search(), -1).today_told, nullptr);
  other = before;
  other.global_batch *= 2;
  search().set_wish(other);
  const auto check_outdated = [&] {
    const SearchPicture picture = picture_of(search(), -1);
    EXPECT_TRUE(picture.outdated);
    EXPECT_EQ(picture.title, question);
    EXPECT_TRUE(picture.remark.contains(QStringLiteral("of other settings")));
    EXPECT_TRUE(view().description().contains(picture.remark));
    EXPECT_EQ(picture.today_told, nullptr);
    EXPECT_TRUE(selects_today()) << "outdated as all others are";
    EXPECT_FALSE(button(QStringLiteral("Use it"))->isEnabled());
    EXPECT_FALSE(button(QStringLiteral("Launch line …"))->isEnabled());
    EXPECT_FALSE(search().can_ask_value() || search().can_try_neighbours());
    for (const Quantity& quantity : plan_quantities(search())) {
      EXPECT_TRUE(quantity.predicted.outdated);
      EXPECT_EQ(quantity.predicted.source, QStringLiteral("of other settings"));
    }
    EXPECT_TRUE(describe_plan(search()).headline.startsWith(QStringLiteral("Of other settings")));
    EXPECT_TRUE(search().shows_outdated());
    EXPECT_TRUE(whose_text(session()).endsWith(outdated_plan_text()));
  };
  check_outdated();
  const auto setup = session().setup();
  search().use();
  EXPECT_EQ(session().setup(), setup);
  // Dimmed: the same without the mark is another picture.
  const auto painted = [&](bool outdated) {
    SearchPicture picture = picture_of(search(), -1);
    picture.outdated = outdated;
    QImage image(900, int(search_height(900, picture, light_theme())), QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    paint_search(painter, 900, picture, light_theme(), nullptr, nullptr);
    painter.end();
    std::int64_t light = 0;
    for (int y = 0; y < image.height(); ++y)
      for (int x = 0; x < image.width(); ++x) light += qGray(image.pixel(x, y));
    return light;
  };
  EXPECT_GT(painted(true), painted(false));
  other.gpus = QStringLiteral("64");
  other.global_batch = 1024;
  search().set_wish(other);
  search().start();
  ASSERT_TRUE(search().searching());
  check_outdated();
  EXPECT_FALSE(search().searches_other());
  other.global_batch = 512;
  search().set_wish(other);
  EXPECT_TRUE(search().searches_other());
  check_outdated();
  search().cancel();
  ASSERT_TRUE(wait_until([&] { return !search().searching(); }, kSearchMs));
}

// What was found until then stays, and says that it is not all.
TEST_F(SearchFixture, ACancelledSearchKeepsTheBestSoFar) {
  PlanWish wish;
  wish.gpus = QStringLiteral("64");
  wish.global_batch = 1024;
  search().set_wish(wish);
  QTest::mouseClick(button(QStringLiteral("Search")), Qt::LeftButton);
  // The best are simulated from a fifth of the progress on.
  ASSERT_TRUE(wait_until([&] { return search().progress() > 0.3; }, kSearchMs));
  QTest::mouseClick(button(QStringLiteral("Cancel")), Qt::LeftButton);
  ASSERT_TRUE(wait_until([&] { return !search().searching(); }, kSearchMs));
  ASSERT_TRUE(search().answer()) << search().error().toStdString();
  const PlanAnswer& answer = *search().answer();
  EXPECT_TRUE(answer.cancelled);
  EXPECT_FALSE(answer.plans.empty());
  EXPECT_GT(answer.undecided, 0);
  EXPECT_EQ(std::accumulate(std::begin(answer.counts), std::end(answer.counts), answer.undecided),
            answer.candidates);
  EXPECT_NE(search().selected(), nullptr);
  EXPECT_TRUE(view().description().contains(QStringLiteral("best found so far")));
}

// What is trained today has its figures beside the best plan's, in the picture and in words.
TEST_F(SearchFixture, TodayStandsBesideTheBest) {
  search_for(wish_with_today());
  ASSERT_TRUE(search().answer());
  const std::vector<TodayFigure> figures = today_figures(search());
  ASSERT_EQ(figures.size(), 6U);
  PlanWish less = search().wish();
  less.memory_bytes = search().answer()->explained->bytes / 2;
  search().set_wish(less);
  ASSERT_TRUE(search().is_limited());
  EXPECT_EQ(today_figures(search())[0].today, QStringLiteral("–")) << "it needs more";
  less.memory_bytes = 0;
  search().set_wish(less);
  ASSERT_FALSE(search().is_limited());
  const FoundPlan& told = *search().answer()->explained->plan;
  EXPECT_EQ(figures[0].today, seconds_text(told.seconds));
  EXPECT_EQ(figures[0].best, seconds_text(search().best()->seconds));
  EXPECT_LT(search().best()->seconds, told.seconds);
  EXPECT_TRUE(figures[3].today.contains(bytes_text(told.bytes)));
  for (const TodayFigure& figure : figures) {
    EXPECT_TRUE(view().description().contains(figure.today)) << figure.title.toStdString();
    EXPECT_TRUE(view().description().contains(figure.best)) << figure.title.toStdString();
  }
  for (const double width : {600.0, 872.0, 1200.0}) {
    SearchPicture picture;
    picture.title = QStringLiteral("How?");
    picture.answer = &*search().answer();
    picture.today = QStringLiteral("TP 4, PP 1, DP 1");
    picture.today_figures = figures;
    picture.today_said = today_sentences(*search().answer(), *search().answer()->explained);
    picture.limit_bytes = picture.device_bytes = search().answer()->capacity_bytes;
    QImage image(int(width), int(search_height(width, picture, light_theme())),
                 QImage::Format_RGB32);
    QPainter painter(&image);
    TextLog texts;
    paint_search(painter, width, picture, light_theme(), nullptr, &texts);
    painter.end();
    EXPECT_EQ(overlapping(texts), "") << width;
  }
}

// The limit is dragged in the picture: what it leaves is what a search with it finds.
TEST_F(SearchFixture, TheLimitIsDraggedAndTheTableFollows) {
  PlanWish wish;
  wish.model = QStringLiteral("llama3-8b");
  wish.gpus = QStringLiteral("4");
  wish.global_batch = 8;
  search_for(wish);
  ASSERT_TRUE(search().answer());
  const PlanAnswer whole = *search().answer();
  ASSERT_GT(whole.front.size(), 3U);
  search().select(whole.front[0].setup);
  // Too little for the fastest plan.
  const std::int64_t between = whole.front[0].bytes - kGib * 3 / 2;
  QWidget& canvas = view().canvas();
  canvas.grab();
  const SearchHits& hits = view().hits();
  const QPointF from = hits.limit.center();
  const double share = (double(between) - hits.least_bytes) / (hits.most_bytes - hits.least_bytes);
  const QPointF to(hits.plot.left() + share * hits.plot.width(), from.y());
  QTest::mousePress(&canvas, Qt::LeftButton, {}, from.toPoint());
  QTest::mouseMove(&canvas, to.toPoint());
  QTest::mouseRelease(&canvas, Qt::LeftButton, {}, to.toPoint());
  ASSERT_TRUE(search().is_limited());
  EXPECT_FALSE(search().is_stale());
  const std::int64_t limit = search().answer()->capacity_bytes;
  EXPECT_LT(limit, whole.front[0].bytes);
  const PlanAnswer limited = *search().answer();
  for (const auto* plans : {&limited.plans, &limited.front})
    for (const FoundPlan& plan : *plans) EXPECT_LE(plan.bytes, limit);
  for (const FoundPlan* plan : search().selectable()) EXPECT_LE(plan->bytes, limit);
  EXPECT_TRUE(
      std::equal(std::begin(limited.counts), std::end(limited.counts), std::begin(whole.counts)))
      << "they are those of the search, and the title says so";
  EXPECT_TRUE(view().description().contains(
      QStringLiteral("How few remain with %1:").arg(bytes_text(whole.capacity_bytes))));
  // The fastest that fits stands for the plan that was selected, and this is said.
  ASSERT_NE(search().displaced(), nullptr);
  EXPECT_EQ(search().displaced()->setup, whole.front[0].setup);
  EXPECT_EQ(search().selected()->setup, search().best()->setup);
  EXPECT_TRUE(view().description().contains(
      QStringLiteral("needs %1 and does not fit").arg(bytes_text(whole.front[0].bytes))));
  // A limit set back, as the field shows it, is the old question, and its answer stands again.
  StepBox* field = nullptr;
  for (auto* box : window->findChildren<StepBox*>())
    if (box->accessibleName().startsWith(QStringLiteral("Memory of a GPU"))) field = box;
  ASSERT_NE(field, nullptr);
  const auto gib = [](std::int64_t bytes) {
    return QLocale().toString(double(bytes) / double(kGib), 'f', 1);
  };
  Q_EMIT field->committed(gib(whole.capacity_bytes));
  EXPECT_FALSE(search().is_limited() || search().is_stale());
  EXPECT_EQ(search().wish(), search().answered());
  EXPECT_EQ(search().selected()->setup, whole.front[0].setup);
  EXPECT_EQ(search().answer()->recommended.size(), whole.recommended.size());
  EXPECT_EQ(search().displaced(), nullptr);
  Q_EMIT field->committed(gib(2 * whole.capacity_bytes));
  EXPECT_EQ(search().wish(), search().answered()) << "more than a device has is no limit";
  Q_EMIT field->committed(gib(limit));
  ASSERT_TRUE(search().is_limited());
  EXPECT_EQ(search().answer()->capacity_bytes, limit);
  canvas.setFocus();
  QTest::keyClick(&canvas, Qt::Key_Right);
  EXPECT_EQ(search().wish().memory_bytes, limit + kGib);
  QTest::keyClick(&canvas, Qt::Key_Left);
  EXPECT_EQ(search().answer()->capacity_bytes, limit);
  // What a search with this limit finds.
  const FoundPlan expected = limited.plans[limited.best_at];
  search_for(search().wish());
  EXPECT_FALSE(search().is_limited());
  EXPECT_EQ(search().best()->setup, expected.setup);
  EXPECT_EQ(search().best()->seconds, expected.seconds);
  // More than was searched needs a search.
  PlanWish more = search().wish();
  more.memory_bytes = 0;
  search().set_wish(more);
  EXPECT_TRUE(search().is_stale());
}

// In both languages' widths and in every state, texts stand beside each other.
TEST_F(SearchFixture, PicturesHaveNoTextOverAnother) {
  search_for(small_wish());
  ASSERT_TRUE(search().answer());
  for (const double width : {600.0, 700.0, 872.0, 1200.0})
    for (const int opened : {-1, int(PlanAnswer::kDoesNotFit), int(PlanAnswer::kBounded)}) {
      SearchPicture picture;
      picture.title = QStringLiteral("How?");
      picture.answer = &*search().answer();
      picture.selected = search().selected();
      picture.selectable = search().selectable();
      picture.why = search().best()->why;
      picture.why_head = QStringLiteral("Why");
      picture.opened = opened;
      picture.limit_bytes = picture.device_bytes = search().answer()->capacity_bytes;
      const double height = search_height(width, picture, light_theme());
      QImage image(int(width), int(height), QImage::Format_RGB32);
      QPainter painter(&image);
      TextLog texts;
      paint_search(painter, width, picture, light_theme(), nullptr, &texts);
      painter.end();
      EXPECT_GT(texts.size(), 40U);
      EXPECT_EQ(overlapping(texts), "") << width;
      for (const PaintedText& text : texts) {
        EXPECT_GE(text.rect.left(), 0) << text.text.toStdString();
        EXPECT_LE(text.rect.right(), width) << text.text.toStdString();
      }
    }
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// What the Search view answers of each plan and value, and what its figures say that they count.
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QProcess>
#include <nlohmann/json.hpp>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/run/engine_process.h"
#include "app/views/search/picture/search_paint.h"
#include "app/views/search/picture/search_picture.h"
#include "app/views/search/search_words.h"
#include "tests/app/plan/search_fixture.h"
#include "tests/app/window/texts/german.h"

namespace parallelarium {
namespace {

class SearchAnswers : public SearchFixture {};

// Of every plan that can be selected the view says why it is not the fastest, by how much and why,
// also for a limit that was set after the search.
TEST_F(SearchAnswers, EveryPlanThatCanBeSelectedSaysWhyItIsNotTheFastest) {
  search_for(wish_with_today());
  ASSERT_TRUE(search().answer());
  const auto each_says = [&] {
    std::size_t others = 0;
    const double best = search().best()->seconds;
    const auto fastest = search().best()->setup;
    std::vector<parallelarium::Setup> setups;
    for (const FoundPlan* plan : search().selectable()) setups.push_back(plan->setup);
    for (const auto& setup : setups) {
      search().select(setup);
      ASSERT_NE(search().selected(), nullptr);
      const QString said = view().description().section(QStringLiteral("Selected: "), -1);
      if (setup == fastest) continue;
      const std::vector<PlanWhy> why = search().why_selected();
      ASSERT_EQ(why.size(), 1U);
      EXPECT_NEAR(*why.front().seconds, search().selected()->seconds - best, 1e-12);
      EXPECT_TRUE(said.contains(sentence(why.front().sentence))) << said.toStdString();
      const bool equal = search().selected()->seconds == best;
      EXPECT_NE(why.front().sentence.text.find(equal ? "exactly as long" : "longer"),
                std::string::npos)
          << why.front().sentence.text;
      ++others;
    }
    EXPECT_GE(others, search().answer()->plans.size());
  };
  each_says();
  // Two of them are in no row of the table: of the front, and of today.
  EXPECT_GT(search().selectable().size(), search().answer()->plans.size() + 1);
  PlanWish less = search().wish();
  less.memory_bytes = search().best()->bytes - (std::int64_t{1} << 30);
  search().set_wish(less);
  ASSERT_TRUE(search().is_limited());
  search().select(search().best()->setup);
  ASSERT_EQ(search().why_selected().size(), 1U);
  EXPECT_TRUE(search().why_selected().front().change.text.empty()) << "it is the fastest that fits";
}

// A change of the planner stands in the words that the window has for axes and their values, in
// each language; its sentences, too.
TEST(PlannerChanges, StandInTheWindowsWords) {
  FoundPlan best, plan;
  best.setup = plan.setup = new_setup();
  auto &from = best.setup, &to = plan.setup;
  from.mesh.pp = to.mesh.pp = 4;
  to.mesh.tp = 2;
  to.sequence_parallel = true;
  to.zero = 3;
  to.zero_group = 8;
  to.mesh.order = RankOrder::kTpCpEpPpDp;
  to.schedule = "zb-h1";
  to.chunks = 2;
  to.stage_layers = {3, 2, 2, 1};
  to.micro_batch = 2;
  to.recompute = Recompute::kFull;
  const Message change = why_behind(PlanAnswer(), best, plan).change;
  const Message said = message("plan-why-equal", "{} takes exactly as long.", change);
  EXPECT_TRUE(sentence(change).contains(QStringLiteral("schedule 1F1B → ZB-H1")));
  EXPECT_EQ(firm_text(QStringLiteral("TP 8 → 4")).count(QLatin1Char(' ')), 0);
  const German german;
  const QString words = sentence(change);
  for (const char* english : {"order", "schedule", "chunks", "layers", "micro-batch", "recompute",
                              "none", "full", " on", " off", "even", "group", "1f1b"})
    EXPECT_FALSE(words.contains(QLatin1String(english))) << english << ": " << words.toStdString();
  for (const char* kept : {"TP 1 → 2", "SP aus → an", "ZeRO 0 → 3", "1F1B → ZB-H1", "3+2×2+1"})
    EXPECT_TRUE(words.contains(QString::fromUtf8(kept))) << kept << ": " << words.toStdString();
  EXPECT_EQ(words.count(QStringLiteral(" → ")),
            QString::fromStdString(change.text).count(QStringLiteral(" → ")));
  EXPECT_EQ(sentence(said), words + QStringLiteral(" dauert genau gleich lange."));
}

// What follows from a change of one axis stands behind it, as the engine tells it.
TEST_F(SearchAnswers, AChangeOfOneAxisSaysWhatFollowsFromIt) {
  search_for(small_wish());
  ASSERT_TRUE(search().answer());
  search().select(parallelarium::Setup(search().best()->setup));
  ASSERT_TRUE(search().neighbours());
  int following = 0;
  const German german;
  for (const PlanWhy& why : *search().neighbours())
    following += sentence(why.change).contains(QStringLiteral("(es folgt: DP ")) ? 1 : 0;
  EXPECT_GT(following, 0);
}

// Each dot of the scatter answers the mouse: what the search kept can be selected, the others say
// what they are and how to come to them.
TEST_F(SearchAnswers, EveryDotOfTheScatterSaysWhatItIs) {
  search_for(small_wish());
  ASSERT_TRUE(search().answer());
  const PlanAnswer& answer = *search().answer();
  view().grab();
  const SearchHits& hits = view().hits();
  ASSERT_EQ(hits.others.size(), answer.points.size());
  for (const auto& [rect, index] : hits.others) {
    EXPECT_TRUE(hits.plot.adjusted(-9, -9, 9, 9).contains(rect));
    const auto& [seconds, bytes] = answer.points[index];
    const QString tip = point_tip(search(), seconds, bytes);
    EXPECT_TRUE(tip.contains(seconds_text(seconds)) && tip.contains(bytes_text(bytes)));
    EXPECT_FALSE(tip.contains(QLatin1String("does not fit")));
  }
}

// A hollow dot has no Setup that could be selected: a click says its figures, how far it is from
// the best and why it cannot be opened, and rings it.
TEST_F(SearchAnswers, AClickOnADotThatWasNotKeptSaysItsFigures) {
  search_for(plan_wish("gpt2-124m", "4"));
  ASSERT_TRUE(search().answer());
  SelectionText told;
  QObject::connect(&view(), &View::described, [&](const SelectionText& text) { told = text; });
  const auto selected = search().selected()->setup;
  QWidget& canvas = view().canvas();
  QImage before = canvas.grab().toImage();
  const SearchHits hits = view().hits();
  int clicked = 0;
  for (const auto& [rect, index] : hits.others) {
    const QPointF at = rect.center();
    if (hits.limit.contains(at) ||
        std::any_of(hits.plans.begin(), hits.plans.end(),
                    [&](const SearchHits::Plan& plan) { return plan.rect.contains(at); }))
      continue;
    QTest::mouseClick(&canvas, Qt::LeftButton, {}, at.toPoint());
    if (search().selected()->setup != selected) {  // the dot of a plan lies over it
      search().select(selected);
      continue;
    }
    QStringList facts;
    for (const FactLine& fact : told.facts) facts << fact.value;
    EXPECT_EQ(told.headline, QStringLiteral("Simulated, and not kept by the search"));
    // Dots may lie over each other: the click is for one of them.
    const bool found = std::any_of(
        hits.others.begin(), hits.others.end(), [&, where = at.toPoint()](const auto& other) {
          const auto& [seconds, bytes] = search().answer()->points[other.second];
          return other.first.contains(where) && facts.contains(seconds_text(seconds)) &&
                 facts.contains(bytes_text(bytes));
        });
    EXPECT_TRUE(found) << facts.join(QLatin1Char('|')).toStdString();
    ++clicked;
  }
  ASSERT_GT(clicked, 0);
  EXPECT_NE(canvas.grab().toImage(), before) << "the dot has a ring";
  // With less memory those that need more say so.
  PlanWish less = search().wish();
  less.memory_bytes = std::int64_t{1} << 30;
  search().set_wish(less);
  ASSERT_TRUE(search().answer());
  for (const auto& [seconds, bytes] : search().answer()->points)
    EXPECT_EQ(point_tip(search(), seconds, bytes).contains(QLatin1String("does not fit")),
              bytes > search().answer()->capacity_bytes);
}

// Up and Down walk all dots, and a click on the diamond selects what is trained today.
TEST_F(SearchAnswers, TodayIsSelectedWithMouseAndKeyboard) {
  search_for(wish_with_today());
  ASSERT_TRUE(search().answer());
  ASSERT_TRUE(search().answer()->explained && search().answer()->explained->plan);
  const auto today = search().answer()->explained->plan->setup;
  QWidget& canvas = view().canvas();
  canvas.grab();
  const auto& plans = view().hits().plans;
  const auto hit = std::find_if(plans.begin(), plans.end(), [&](const SearchHits::Plan& each) {
    return each.plan->setup == today;
  });
  ASSERT_NE(hit, plans.end());
  QTest::mouseClick(&canvas, Qt::LeftButton, {}, hit->rect.center().toPoint());
  ASSERT_NE(search().selected(), nullptr);
  EXPECT_EQ(search().selected()->setup, today);
  EXPECT_EQ(view().quantities()[0].predicted_value, *search().answer()->explained->seconds);
  EXPECT_TRUE(plan_tip(search(), *search().selected()).startsWith(QStringLiteral("Today: TP 4")));
  canvas.setFocus();
  search().select(search().answer()->plans.front().setup);
  std::vector<parallelarium::Setup> walked{search().selected()->setup};
  for (std::size_t at = 0; at < search().selectable().size() + 2; ++at) {
    QTest::keyClick(&canvas, Qt::Key_Down);
    if (!(walked.back() == search().selected()->setup))
      walked.push_back(search().selected()->setup);
  }
  EXPECT_EQ(walked.size(), search().selectable().size());
  EXPECT_NE(std::find(walked.begin(), walked.end(), today), walked.end());
  // It stays selected while another thing is asked for, and looks outdated.
  search().select(today);
  PlanWish other = search().wish();
  other.fixed[QStringLiteral("zero")] = QStringLiteral("0");
  search().set_wish(other);
  EXPECT_TRUE(search().is_outdated());
  ASSERT_NE(search().selected(), nullptr);
  EXPECT_EQ(search().selected()->setup, today);
  EXPECT_TRUE(search().shows_outdated());
}

// What is asked of a value is what the command line says with that value fixed.
TEST_F(SearchAnswers, AValueOfAnAxisSaysWhyNot) {
  PlanWish wish = plan_wish("llama3-8b", "4");
  search_for(wish);
  ASSERT_TRUE(search().answer());
  auto* ask = button(QStringLiteral("Why not …"));
  ASSERT_NE(ask, nullptr);
  Q_EMIT ask->menu()->aboutToShow();
  QAction* four = nullptr;
  QStringList axes;
  for (QAction* axis : ask->menu()->actions()) {
    axes << axis->text();
    if (axis->text() == QStringLiteral("Tensor, TP"))
      for (QAction* value : axis->menu()->actions())
        if (value->text() == QStringLiteral("4")) four = value;
  }
  EXPECT_FALSE(axes.contains(QStringLiteral("Experts, EP"))) << "the model has none";
  ASSERT_NE(four, nullptr);
  const double best = search().best()->seconds;
  const auto before = search().selected()->setup;
  four->trigger();
  EXPECT_EQ(value_head(search()), QStringLiteral("Why not Tensor, TP: 4")) << "while it is sought";
  EXPECT_TRUE(picture_of(search(), -1).status.isEmpty()) << "nothing is moved";
  ASSERT_TRUE(wait_until([&] { return !search().searching(); }, kSearchMs));
  ASSERT_NE(search().value_answer(), nullptr) << search().error().toStdString();
  QProcess plan;
  plan.start(EngineProcess::find_program(),
             QStringLiteral("plan --model llama3-8b --machine dgx-h200 --gpus 4 --global-batch 8 "
                            "--fix tp=4 --top 1 --json")
                 .split(QLatin1Char(' ')));
  ASSERT_TRUE(plan.waitForFinished(kSearchMs));
  const auto json = nlohmann::json::parse(plan.readAllStandardOutput().toStdString());
  // The same question has its answer already.
  const Message said = search().value_answer()->sentence;
  search().ask_value(QStringLiteral("tp"), QStringLiteral("4"));
  EXPECT_FALSE(search().searching());
  ASSERT_NE(search().value_answer(), nullptr);
  EXPECT_EQ(search().value_answer()->sentence.text, said.text);
  // A question chooses nothing: what is exported is still what was selected.
  ASSERT_NE(search().selected(), nullptr);
  EXPECT_EQ(search().selected()->setup, before);
  ASSERT_TRUE(search().value_answer()->plan);
  const auto told = search().value_answer()->plan->setup;
  EXPECT_EQ(to_json(told), json.at("best").at(0).at("setup"));
  EXPECT_EQ(told.mesh.tp, 4);
  QWidget& canvas = view().canvas();
  canvas.grab();
  for (const SearchHits::Plan& hit : std::vector(view().hits().plans))
    if (hit.plan->setup == told && hit.rect.width() > 100) {
      QTest::mouseClick(&canvas, Qt::LeftButton, {}, hit.rect.center().toPoint());
      break;
    }
  ASSERT_NE(search().selected(), nullptr);
  EXPECT_EQ(search().selected()->setup, told) << "a click on the answer selects its plan";
  EXPECT_TRUE(
      whose_text(session(), told).contains(seconds_text(search().selected()->seconds - best)))
      << whose_text(session(), told).toStdString();
  EXPECT_EQ(view().quantities()[0].predicted_value,
            json.at("best").at(0).at("step").at("seconds").get<double>());
  EXPECT_TRUE(view().description().contains(QStringLiteral("Why not Tensor, TP: 4")));
  const QString longer = seconds_text(search().selected()->seconds - best);
  EXPECT_TRUE(with_firm_units(value_said(search())).contains(longer))
      << value_said(search()).toStdString();
  // Another question leaves the plan of this one selected. No combination has TP 32 on four GPUs.
  ASSERT_TRUE(std::none_of(search().answer()->plans.begin(), search().answer()->plans.end(),
                           [&](const FoundPlan& plan) { return plan.setup == told; }));
  search().ask_value(QStringLiteral("tp"), QStringLiteral("32"));
  ASSERT_TRUE(wait_until([&] { return !search().searching(); }, kSearchMs));
  EXPECT_FALSE(search().value_answer()->plan);
  ASSERT_NE(search().selected(), nullptr);
  EXPECT_EQ(search().selected()->setup, told);
  EXPECT_TRUE(value_said(search()).contains(QStringLiteral("No candidate has TP 32")));
}

// EP is an axis of models with experts alone.
TEST_F(SearchAnswers, ADenseModelHasNoEpToChoose) {
  const auto choice = [&]() -> QComboBox* {
    for (auto* each : window->findChildren<QComboBox*>())
      if (each->accessibleName() == QStringLiteral("Experts, EP")) return each;
    return nullptr;
  };
  const auto says_not = [&] {
    for (auto* each : window->findChildren<QLabel*>())
      if (each->text() == QStringLiteral("not for this model")) return each->isVisible();
    return false;
  };
  ASSERT_NE(choice(), nullptr);
  PlanWish wish = small_wish();
  wish.model = QStringLiteral("mixtral-8x7b");
  wish.fixed[QStringLiteral("ep")] = QStringLiteral("2");
  search().set_wish(wish);
  EXPECT_TRUE(choice()->isVisible());
  EXPECT_FALSE(says_not());
  wish.model = QStringLiteral("gpt2-124m");
  search().set_wish(wish);
  EXPECT_FALSE(choice()->isVisible());
  EXPECT_TRUE(says_not());
  EXPECT_TRUE(search().wish().fixed.empty());
}

// MFU says what of attention it counts, the limit what of the memory, and a tie how many it has.
TEST_F(SearchAnswers, FiguresSayWhatTheyCount) {
  search_for(plan_wish("llama3-8b", "4"));
  ASSERT_TRUE(search().answer());
  const FoundPlan& plan = *search().selected();
  const Quantity mfu = view().quantities()[1];
  EXPECT_TRUE(mfu.title.contains(QStringLiteral("in full")));
  EXPECT_TRUE(mfu.note.contains(share_text(plan.mfu_causal))) << mfu.note.toStdString();
  EXPECT_TRUE(mfu.note.contains(share_text(plan.mfu_6n)));
  EXPECT_GT(plan.mfu, plan.mfu_causal);
  EXPECT_GT(plan.mfu_causal, plan.mfu_6n);
  const PlanAnswer& answer = *search().answer();
  std::int64_t tied = 0, shown = 0;
  for (const auto& point : answer.points)
    tied += point.first <= search().best()->seconds * (1 + *answer.tie_threshold);
  for (const FoundPlan& each : answer.plans) shown += each.tied;
  ASSERT_GT(tied, 1);
  EXPECT_TRUE(view().description().contains(QStringLiteral("%1 plans are less than").arg(shown)));
  const QString more =
      tied - shown == 1
          ? QStringLiteral("One more that was simulated is as close")
          : QStringLiteral("%1 more that were simulated are as close").arg(tied - shown);
  EXPECT_EQ(view().description().contains(more), tied > shown);
  EXPECT_TRUE(
      with_firm_units(search().memory_text()).contains(bytes_text(search().device_bytes())));
  PlanWish less = search().wish();
  less.memory_bytes = std::int64_t{40} << 30;
  search().set_wish(less);
  EXPECT_TRUE(search().memory_text().contains(QStringLiteral("40.0 GiB")))
      << search().memory_text().toStdString();
}

// Where the buttons would leave no room to the question, they stand below it.
TEST_F(SearchAnswers, ButtonsLeaveTheQuestionItsLine) {
  search_for(small_wish());
  ASSERT_TRUE(search().answer());
  search().select(search().answer()->plans.back().setup);
  for (const QSize size : {QSize(1440, 900), QSize(1024, 700), QSize(960, 540)}) {
    window->resize(size);
    QApplication::processEvents();
    SearchPicture picture;
    picture.title = question_text(search());
    int left = view().canvas().width(), top = 10'000, shown = 0;
    std::vector<QRect> places;
    for (const auto* each : view().canvas().findChildren<QPushButton*>()) {
      if (!each->isVisible()) continue;
      ++shown;
      EXPECT_GE(each->x(), 0) << each->text().toStdString();
      EXPECT_LE(each->geometry().right(), view().canvas().width());
      for (const QRect& other : places) EXPECT_FALSE(other.intersects(each->geometry()));
      places.push_back(each->geometry());
      left = std::min(left, each->x());
      top = std::min(top, each->y());
    }
    EXPECT_GE(shown, 4);
    const double bottom = search_title_bottom(view().canvas().width(), picture, light_theme());
    EXPECT_TRUE(top >= bottom || left > view().canvas().width() * 0.35) << size.width();
  }
}

}  // namespace
}  // namespace parallelarium

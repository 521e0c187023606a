// SPDX-License-Identifier: GPL-3.0-or-later
// The column of the Search view: what is set in it is what is searched.
#include <QInputDialog>
#include <QLineEdit>
#include <QProcess>
#include <nlohmann/json.hpp>

#include "app/settings/controls.h"
#include "app/state/run/engine_process.h"
#include "app/views/search/search_words.h"
#include "tests/app/plan/search_fixture.h"

namespace parallelarium {
namespace {

// The framework is a choice of the column, and what it cannot say is refused.
TEST_F(SearchFixture, KeepsToWhatAFrameworkCanSay) {
  PlanWish wish = small_wish();
  wish.gpus = QStringLiteral("4");
  wish.fixed[QStringLiteral("pp")] = QStringLiteral("4");
  search_for(wish);
  ASSERT_TRUE(search().answer());
  const auto others = [&] {
    const auto& plans = search().answer()->plans;
    return std::count_if(plans.begin(), plans.end(), [](const FoundPlan& plan) {
      return plan.setup.schedule != Schedule("1f1b") &&
             plan.setup.schedule != Schedule("interleaved");
    });
  };
  ASSERT_GT(others(), 0);
  const std::int64_t refused = search().answer()->counts[PlanAnswer::kRefused];
  auto* box = choice(QStringLiteral("Framework"));
  ASSERT_NE(box, nullptr);
  box->setCurrentIndex(box->findData(QStringLiteral("megatron")));
  Q_EMIT box->activated(box->currentIndex());
  EXPECT_TRUE(search().is_stale());
  search_for(search().wish());
  ASSERT_TRUE(search().answer());
  EXPECT_EQ(others(), 0);
  EXPECT_GT(search().answer()->counts[PlanAnswer::kRefused], refused);
  EXPECT_TRUE(view().description().contains(QStringLiteral("no flag for zero bubble")));
  EXPECT_TRUE(view().description().contains(QStringLiteral("with Megatron-LM")));
}

// The objective is a choice of the column. The best then stands first, and steps make no ties.
TEST_F(SearchFixture, SearchesForAnObjective) {
  search_for(small_wish());
  ASSERT_NE(search().best(), nullptr);
  const std::int64_t of_fastest = search().best()->bytes;
  auto* box = choice(QStringLiteral("Objective"));
  ASSERT_NE(box, nullptr);
  box->setCurrentIndex(box->findData(QStringLiteral("memory")));
  Q_EMIT box->activated(box->currentIndex());
  EXPECT_EQ(search().wish().objective, QStringLiteral("memory"));
  EXPECT_TRUE(search().is_stale());
  search_for(search().wish());
  ASSERT_TRUE(search().answer());
  const std::vector<FoundPlan>& plans = search().answer()->plans;
  ASSERT_GT(plans.size(), 1u);
  EXPECT_EQ(search().best(), &plans.front());
  EXPECT_LT(plans.front().bytes, of_fastest);
  for (std::size_t at = 0; at < plans.size(); ++at) {
    EXPECT_FALSE(plans[at].tied);
    EXPECT_GE(plans[at].bytes, plans.front().bytes);
  }
  EXPECT_EQ(search().selected()->setup, plans.front().setup);
  // Less memory is another search.
  PlanWish less = search().wish();
  less.memory_bytes = of_fastest;
  search().set_wish(less);
  EXPECT_TRUE(search().is_outdated());
  // It is remembered, and what was remembered without it was for time.
  nlohmann::json json = to_json(less);
  EXPECT_EQ(wish_from_json(json), less);
  json.erase("objective");
  ASSERT_TRUE(wish_from_json(json));
  EXPECT_EQ(wish_from_json(json)->objective, QStringLiteral("time"));
}

// What an axis may take is a set of values, as `--allow` of the command line has it.
TEST_F(SearchFixture, AnAxisMayTakeSeveralValues) {
  PlanWish wish = small_wish();
  search_for(wish);
  ASSERT_TRUE(search().answer());
  const std::int64_t free = search().answer()->candidates;
  wish.fixed[QStringLiteral("zero")] = QStringLiteral("0,1");
  search_for(wish);
  ASSERT_TRUE(search().answer()) << search().error().toStdString();
  QProcess plan;
  plan.start(EngineProcess::find_program(),
             QStringLiteral("plan --model gpt2-124m --machine dgx-h200 --gpus 2 --global-batch 8 "
                            "--allow zero=0,1 --json")
                 .split(QLatin1Char(' ')));
  ASSERT_TRUE(plan.waitForFinished(kSearchMs));
  const auto json = nlohmann::json::parse(plan.readAllStandardOutput().toStdString());
  EXPECT_EQ(json.at("candidates"), search().answer()->candidates);
  EXPECT_LT(search().answer()->candidates, free);
  for (const FoundPlan* each : search().selectable()) EXPECT_LE(each->setup.zero, 1);
  auto* box = choice(QStringLiteral("ZeRO"));
  ASSERT_NE(box, nullptr);
  EXPECT_EQ(box->currentText(), QStringLiteral("0, 1"));
  box->setCurrentIndex(0);
  Q_EMIT box->activated(0);
  EXPECT_TRUE(search().wish().fixed.empty());
  EXPECT_EQ(box->findText(QStringLiteral("0, 1")), -1);
  // They are called what single ones are, and another single value has an entry only while it is
  // wished for.
  wish.fixed = {{QStringLiteral("zero"), QStringLiteral("5")},
                {QStringLiteral("sequence-parallel"), QStringLiteral("true,false")}};
  search().set_wish(wish);
  EXPECT_EQ(choice(QStringLiteral("SP"))->currentText(), QStringLiteral("on, off"));
  EXPECT_EQ(box->currentText(), QStringLiteral("5"));
  wish.fixed.clear();
  search().set_wish(wish);
  EXPECT_EQ(box->findText(QStringLiteral("5")), -1);
  // A free axis stays free where the dialog's values are left as they are.
  box->setCurrentIndex(box->findText(QStringLiteral("Several …")));
  Q_EMIT box->activated(box->currentIndex());
  auto* dialog = window->findChild<QInputDialog*>();
  ASSERT_NE(dialog, nullptr);
  EXPECT_EQ(dialog->textValue(), QStringLiteral("0,1,2,3"));
  dialog->accept();
  EXPECT_TRUE(search().wish().fixed.empty());
  EXPECT_EQ(box->currentIndex(), 0);
}

TEST_F(SearchFixture, AnOrderOfRanksHasOneName) {
  auto setup = new_setup();
  setup.mesh.order = RankOrder::kTpCpEpPpDp;
  auto* box = choice(QStringLiteral("Rank order"));
  ASSERT_NE(box, nullptr);
  const int at = box->findData(QStringLiteral("tp-cp-ep-pp-dp"));
  ASSERT_GT(at, 0);
  EXPECT_TRUE(axes_text(setup).contains(box->itemText(at)));
}

TEST_F(SearchFixture, ATypedLengthOfSequencesStaysWithAnotherModelAndItsName) {
  PlanWish wish = small_wish();
  wish.sequence = 2048;
  search().set_wish(wish);
  QApplication::processEvents();
  auto* box = choice(QStringLiteral("Model"));
  ASSERT_NE(box, nullptr);
  box->setCurrentIndex(box->findData(QStringLiteral("qwen3-32b")));
  Q_EMIT box->activated(box->currentIndex());
  EXPECT_EQ(search().wish().sequence, 2048);
  EXPECT_EQ(box->currentText(), QStringLiteral("Qwen3 32B"));
  EXPECT_TRUE(question_text(search()).contains(QStringLiteral("Qwen3 32B")))
      << question_text(search()).toStdString();
  // And of a Setup with such sequences.
  const auto base = base_of(search().wish());
  ASSERT_TRUE(base);
  EXPECT_EQ(sized_like({}, *base).model, QStringLiteral("qwen3-32b"));
  EXPECT_EQ(sized_like({}, *base).sequence, 2048);
}

TEST_F(SearchFixture, WhatWasRefusedIsForgottenOnceItIsMended) {
  PlanWish wish = small_wish();
  const QString good = wish.gpus;
  wish.gpus = QStringLiteral("0");
  search().set_wish(wish);
  search().start();
  ASSERT_TRUE(wait_until([&] { return !search().searching(); }, kSearchMs));
  EXPECT_FALSE(search().error().isEmpty());
  EXPECT_FALSE(session().jobs().last_error().isEmpty());
  wish.gpus = good;
  search().set_wish(wish);
  EXPECT_TRUE(search().error().isEmpty());
  EXPECT_TRUE(session().jobs().last_error().isEmpty()) << "the banner says it no more";
}

// Enter after the last number begins the search, so that plans need no click.
TEST_F(SearchFixture, EnterInANumberSearches) {
  search().set_wish(small_wish());
  QApplication::processEvents();
  StepBox* gpus = nullptr;
  for (auto* box : window->findChildren<StepBox*>())
    if (box->accessibleName() == QLatin1String("GPUs") && box->isVisible()) gpus = box;
  ASSERT_NE(gpus, nullptr);
  auto* line = gpus->findChild<QLineEdit*>();
  gpus->setFocus();
  line->selectAll();
  QTest::keyClicks(line, QStringLiteral("1"));
  QTest::keyClick(gpus, Qt::Key_Return);
  EXPECT_EQ(search().wish().gpus, QStringLiteral("1"));
  EXPECT_TRUE(search().searching());
  ASSERT_TRUE(wait_until([&] { return !search().searching(); }, kSearchMs));
  ASSERT_TRUE(search().answer()) << search().error().toStdString();
  EXPECT_EQ(search().answered().gpus, QStringLiteral("1"));
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The room Plan as a whole: its selected plan is pinned and run where it is, and answers that come
// late are of what was asked.
#include <QLabel>
#include <QSettings>

#include "app/export/export_dialog.h"
#include "app/look/figures.h"
#include "app/selection/proof_text.h"
#include "app/shell/bars/banner.h"
#include "app/shell/bars/top_bar.h"
#include "app/views/compare/compare_data.h"
#include "app/views/search/search_words.h"
#include "app/views/shared/words/plan_words.h"
#include "tests/app/plan/search_fixture.h"

namespace parallelarium {
namespace {

class PlanRoom : public SearchFixture {
 protected:
  QPushButton& run() { return window->top_bar().run_button(); }
  QAction* copy() { return action(QStringLiteral("Run a small copy here")); }
  bool idle() { return session().jobs().state() == RunState::kIdle; }
};

TEST_F(PlanRoom, ThePlanIsPinnedWithoutBecomingTheSetup) {
  ASSERT_FALSE(search().selected());
  EXPECT_FALSE(run().isEnabled() || action(QStringLiteral("Pin"))->isEnabled());
  EXPECT_EQ(run().toolTip(), QStringLiteral("There is no plan yet: search first."));
  search_for(small_wish());
  ASSERT_TRUE(search().selected());
  const auto setup = session().setup();
  const auto plan = search().selected()->setup;
  ASSERT_NE(plan, setup);
  EXPECT_TRUE(run().isVisible());
  ASSERT_TRUE(action(QStringLiteral("Pin"))->isEnabled());
  action(QStringLiteral("Pin"))->trigger();
  ASSERT_TRUE(wait_until([&] { return session().runs().pinned() != nullptr; }, kSearchMs));
  const Prediction& pinned = *session().runs().pinned()->prediction;
  EXPECT_EQ(pinned.setup, session().resolved(plan));
  EXPECT_NEAR(pinned.step.seconds, search().selected()->seconds, 1e-9) << "as the search found it";
  EXPECT_EQ(session().setup(), setup);
  EXPECT_EQ(window->room(), Room::kPlan);
  // Compare has it beside another plan, and once where it is one of those that stand there anyway.
  const auto entries = [&] { return entries_of(session()).size(); };
  search().predictions().wait();
  const std::size_t alone = search().best()->setup == plan ? 1 : 2;
  EXPECT_EQ(entries(), alone);
  for (const FoundPlan* other : search().selectable())
    if (other->setup != plan && other->setup != search().best()->setup) {
      search().select(parallelarium::Setup(other->setup));
      break;
    }
  ASSERT_NE(search().selected()->setup, plan);
  entries_of(session());
  search().predictions().wait();
  EXPECT_EQ(entries(), alone + 1);
  search().select(plan);
  // What is of other settings is neither pinned nor run.
  PlanWish other = search().wish();
  other.global_batch *= 2;
  search().set_wish(other);
  ASSERT_TRUE(search().is_outdated());
  EXPECT_FALSE(action(QStringLiteral("Pin"))->isEnabled());
  EXPECT_FALSE(copy()->isEnabled() || run().isEnabled());
  EXPECT_EQ(run().toolTip(), outdated_plan_text());
  // In Explore all of them are of what is set.
  window->show_room(Room::kExplore);
  EXPECT_TRUE(action(QStringLiteral("Pin"))->isEnabled());
  EXPECT_FALSE(run().text().contains(QStringLiteral("small copy")));
}

TEST_F(PlanRoom, ASmallCopyOfThePlanRunsAndIsProvedThere) {
  search_for(small_wish());
  ASSERT_TRUE(search().selected());
  const auto plan = search().selected()->setup;
  const auto before = session().setup();
  EXPECT_EQ(run().text(), QStringLiteral("▶ Run a small copy here"));
  EXPECT_TRUE(run().toolTip().contains(QStringLiteral("DGX H200 is not this computer")));
  ASSERT_TRUE(action(QStringLiteral("Prove it"))->isEnabled());
  action(QStringLiteral("Prove it"))->trigger();
  EXPECT_FALSE(idle());
  EXPECT_TRUE(run().text().startsWith(QStringLiteral("Cancel")));
  ASSERT_TRUE(wait_until([&] { return idle(); }, 2 * kSearchMs));
  const RunRecord* ran = session().runs().current();
  ASSERT_TRUE(ran) << session().jobs().last_error().toStdString();
  EXPECT_TRUE(ran->proof.has_value());
  EXPECT_EQ(session().setup().machine.name(), "local");
  EXPECT_EQ(session().setup().mesh, plan.mesh);
  EXPECT_EQ(session().setup().schedule, plan.schedule);
  EXPECT_EQ(window->room(), Room::kPlan);
  EXPECT_EQ(search().selected()->setup, plan) << "it stays selected";
  EXPECT_TRUE(search().shows_plan()) << "and is what Roofline, Compare and Sweep are about";
  // Plan says what the copy did; its lanes are in Explore.
  const auto banner = [&] { return window->findChild<Banner*>()->sentence(); };
  EXPECT_TRUE(banner().startsWith(QStringLiteral("The small copy is "))) << banner().toStdString();
  EXPECT_TRUE(banner().contains(seconds_text(ran->observation.step.seconds)));
  EXPECT_TRUE(banner().contains(proof_text(*ran->proof)));
  QTest::mouseClick(button(QStringLiteral("See it in Explore")), Qt::LeftButton);
  EXPECT_EQ(window->room(), Room::kExplore);
  EXPECT_FALSE(banner().startsWith(QStringLiteral("The small copy is ")));
  window->show_room(Room::kPlan);
  EXPECT_FALSE(banner().startsWith(QStringLiteral("The small copy is "))) << "it was read";
  EXPECT_TRUE(search().shows_plan());
  session().history().stack().undo();
  EXPECT_EQ(session().setup(), before) << "one step of undo";
}

TEST_F(PlanRoom, AnAnswerThatComesLateIsOfWhatWasAsked) {
  const PlanWish asked = small_wish();
  search().set_wish(asked);
  search().start();
  ASSERT_TRUE(search().searching());
  PlanWish wanted = asked;
  wanted.global_batch *= 2;
  search().set_wish(wanted);
  EXPECT_TRUE(search().searches_other());
  EXPECT_EQ(remark_text(search()),
            QStringLiteral("The search under way is of other settings: cancel it, and search "
                           "again."));
  ASSERT_TRUE(wait_until([&] { return !search().searching(); }, kSearchMs));
  ASSERT_TRUE(search().answer());
  EXPECT_EQ(search().answered(), asked);
  EXPECT_TRUE(search().is_outdated());
  EXPECT_EQ(search().selected()->setup.global_batch(), asked.global_batch);
  EXPECT_FALSE(remark_text(search()).isEmpty());
  // The plans of the one that replaces it are of its settings, whatever was under way before.
  search().prediction_of(search().selected()->setup);
  search_for(wanted);
  EXPECT_EQ(search().answered(), wanted);
  EXPECT_FALSE(search().is_outdated());
  EXPECT_TRUE(remark_text(search()).isEmpty());
  for (const FoundPlan* plan : search().selectable()) {
    EXPECT_EQ(plan->setup.global_batch(), wanted.global_batch);
  }
  search().predictions().wait();
  const auto selected = search().selected()->setup;
  ASSERT_TRUE(wait_until([&] { return search().prediction_of(selected) != nullptr; }, kSearchMs));
  EXPECT_EQ(search().prediction_of(selected)->setup, session().resolved(selected));
}

// A model with as many layers leaves what is trained today its cut; one with others does not.
TEST(PlanWishes, ALikeModelKeepsTheLayersOfStages) {
  auto today = new_setup();
  today.model = *find_model("llama3-8b");
  today.mesh.pp = 2;
  today.stage_layers = {17, 15};
  const Model like = *find_model("mixtral-8x7b"), other = *find_model("llama3-70b");
  ASSERT_EQ(like.layers, today.model.layers);
  ASSERT_NE(other.layers, today.model.layers);
  EXPECT_EQ(on_model(today, like).stage_layers, today.stage_layers);
  EXPECT_TRUE(on_model(today, other).stage_layers.empty());
  today.model = like;
  today.mesh.ep = 2;
  EXPECT_EQ(on_model(today, like).mesh.ep, 2);
  EXPECT_EQ(on_model(today, other).mesh.ep, 1) << "it has no experts";
}

// What was asked for last stands there when the program starts again, today's layout included.
TEST(PlanWishes, AreRemembered) {
  PlanWish wish;
  wish.model = QStringLiteral("llama3-70b");
  wish.machine = QStringLiteral("dgx-a100-80g");
  wish.gpus = QStringLiteral("16..64");
  wish.global_batch = 96;
  wish.memory_bytes = 60;
  wish.fixed[QStringLiteral("tp")] = QStringLiteral("2,4");
  wish.tokens = QStringLiteral("3T");
  wish.price = 2.5;
  wish.framework = QStringLiteral("megatron");
  wish.today = new_setup();
  wish.today->model = *find_model("llama3-70b");
  wish.today_text = QStringLiteral("--tensor-model-parallel-size 2 # größer");
  wish.today_framework = QStringLiteral("megatron");
  EXPECT_EQ(wish_from_json(to_json(wish)), wish);
  EXPECT_EQ(wish_from_json(to_json(PlanWish())), PlanWish());
  const auto wrong = [&](const char* key, const nlohmann::json& value) {
    nlohmann::json json = to_json(wish);
    json[key] = value;
    return wish_from_json(json);
  };
  EXPECT_FALSE(wrong("model", "no-such-model"));
  EXPECT_FALSE(wrong("gpus", 8));
  EXPECT_FALSE(wrong("today", 1));
  EXPECT_FALSE(wish_from_json(nlohmann::json::parse("", nullptr, false)));
  {
    Window before;
    PlanSearch::of(before.session()).set_wish(wish);
    before.close();
  }
  {
    Window other;  // opened for something else
    other.close();
  }
  Window next;
  next.greet();
  EXPECT_EQ(PlanSearch::of(next.session()).wish(), wish);
  QSettings().remove(QStringLiteral("plan/wish"));
}

// The table of a search is of all plans, its picture of the selected one.
TEST_F(PlanRoom, AnExportOfAllPlansIsOfNoneOfThem) {
  search_for(small_wish());
  ASSERT_TRUE(search().selected());
  for (const ExportKind kind : {ExportKind::kCsv, ExportKind::kPng}) {
    ExportDialog dialog(false, false, kind, view(), whose_text(session()), nullptr);
    const auto* whose = dialog.findChild<QLabel*>(QStringLiteral("Whose"));
    ASSERT_NE(whose, nullptr);
    EXPECT_EQ(whose->isHidden(), kind == ExportKind::kCsv);
  }
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says while ranks run, and that a click on a figure is always answered.
#include <gtest/gtest.h>

#include <QLabel>
#include <QTest>

#include "app/look/figures.h"
#include "app/selection/selection_panel.h"
#include "app/state/run/engine_process.h"
#include "app/views/memory/memory_view.h"
#include "app/views/mesh/mesh_view.h"
#include "app/views/pipeline/pipeline_view.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "app/views/timeline/timeline_view.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/wait.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class LiveRun : public WindowFixture {
 protected:
  // What the panel says below "Formula", "Where the figure comes from" or "Loss".
  QStringList formulas() {
    QApplication::processEvents();  // what is replaced goes by an event
    QStringList texts;
    bool begun = false;
    auto* panel = window->findChild<SelectionPanel*>();
    for (int at = 0; at < panel->widget()->layout()->count(); ++at) {
      const auto* label = qobject_cast<QLabel*>(panel->widget()->layout()->itemAt(at)->widget());
      if (!label) continue;
      if (begun) texts << label->text();
      begun = begun || label->text().startsWith(QStringLiteral("FORMULA")) ||
              label->text().startsWith(QStringLiteral("WHERE THE FIGURE")) ||
              label->text() == QStringLiteral("LOSS");
    }
    return texts;
  }
  void click_every_figure(const char* when) {
    for (const ViewInfo& view : views()) {
      window->show_view(QLatin1String(view.id));
      for (auto* cell : window->strip().findChildren<StripCell*>()) {
        QTest::mouseClick(cell, Qt::LeftButton);
        EXPECT_FALSE(formulas().isEmpty())
            << when << ": " << view.id << ", " << cell->key().toStdString();
      }
    }
    window->show_view(QStringLiteral("pipeline"));
  }
};

TEST_F(LiveRun, TellsItsStepsAndItsLoss) {
  ASSERT_FALSE(EngineProcess::find_program().isEmpty()) << "the engine is not built";
  parallelarium::Setup setup = session().setup();
  setup.run.steps = 8;
  session().history().change(setup, QStringLiteral("eight steps"));
  session().start_run(false);
  ASSERT_TRUE(session().jobs().live_losses().empty());
  ASSERT_TRUE(wait_until([&] { return session().jobs().live_losses().size() >= 3; }, kRunMs))
      << session().jobs().last_error().toStdString();
  const Quantity loss = step_quantities(session())[4];
  EXPECT_EQ(loss.observed.text, QLocale().toString(session().jobs().live_losses().back(), 'f', 3));
  EXPECT_TRUE(loss.observed.source.startsWith(QStringLiteral("step ")))
      << loss.observed.source.toStdString();
  EXPECT_TRUE(loss.observed.source.endsWith(QStringLiteral(" of 8")));
  const Picture& picture = window->view_of<PipelineView>().timeline().picture();
  const PictureLane& lane = picture.lanes[1];
  EXPECT_TRUE(lane.empty_text.contains(loss.observed.text)) << lane.empty_text.toStdString();
  EXPECT_EQ(lane.live_losses, session().jobs().live_losses());
  for (auto* cell : window->strip().findChildren<StripCell*>())
    if (cell->key() == QLatin1String("losses")) QTest::mouseClick(cell, Qt::LeftButton);
  EXPECT_TRUE(formulas().join(QLatin1Char(' ')).contains(loss.observed.text));
  const std::vector<double> live = session().jobs().live_losses();
  ASSERT_TRUE(wait_until([&] { return session().jobs().state() == RunState::kIdle; }, kRunMs));
  ASSERT_NE(session().runs().current(), nullptr) << session().jobs().last_error().toStdString();
  const std::vector<double>& losses = session().runs().current()->observation.losses;
  ASSERT_EQ(losses.size(), 9u) << "a step to warm up and eight more";
  for (std::size_t step = 0; step < live.size(); ++step) EXPECT_EQ(live[step], losses[step]);
  EXPECT_TRUE(session().jobs().live_losses().empty());
  EXPECT_TRUE(
      formulas().join(QLatin1Char(' ')).contains(QLocale().toString(losses.back(), 'f', 3)));
}

TEST_F(LiveRun, EveryFigureOfTheStripIsExplained) {
  session().playback().set_playing(false);
  click_every_figure("before a run");
  session().restore(default_setup(), {made_up_run(default_setup(), 1.1)}, std::nullopt);
  session().wait_for_prediction();
  click_every_figure("after a run");
  parallelarium::Setup setup = session().setup();
  ASSERT_TRUE(set_field(setup, "model", "moe-tiny"));
  session().history().change(setup, QStringLiteral("experts"));
  session().wait_for_prediction();
  click_every_figure("with experts");
  ASSERT_TRUE(set_field(setup, "tp", "3"));
  session().history().change(setup, QStringLiteral("wrong"));
  ASSERT_FALSE(session().problems().empty());
  click_every_figure("with settings that are not valid");
}

TEST(StepTime, SaysHowManyTokensASecond) {
  Session session;
  const auto step = [&] { return step_quantities(session)[0]; };
  const double alone = session.subject().prediction()->step.tokens_per_second;
  EXPECT_EQ(step().note, tokens_rate_text(alone));
  EXPECT_TRUE(step().note.endsWith(QStringLiteral("tokens/s")));
  EXPECT_TRUE(step().predicted.exact.contains(step().note));
  EXPECT_EQ(mesh_quantities(session, 0)[0].note, step().note);
  EXPECT_EQ(memory_quantities(session, 0)[2].note, step().note);

  PlanSetup setup = pipeline_setup(2, 4);
  RunRecord run = made_up_run(setup, 1.1, Source::kMeasured);
  run.observation.step.tokens_per_second = 4321;
  session.restore(setup, {run}, std::nullopt);
  session.wait_for_prediction();
  EXPECT_TRUE(step().note.contains(QStringLiteral("measured ") + tokens_rate_text(4321)))
      << step().note.toStdString();
  session.locks().set_hidden({QStringLiteral("lane.run")});
  EXPECT_FALSE(step().note.contains(QStringLiteral("measured")));
  session.locks().set_hidden({QStringLiteral("step.seconds")});
  EXPECT_TRUE(step().note.isEmpty());
  session.locks().set_hidden({});
  session.restore(setup, {made_up_run(setup, 1.1, Source::kPaced)}, std::nullopt);
  session.wait_for_prediction();
  EXPECT_TRUE(step().note.endsWith(QStringLiteral(", set"))) << step().note.toStdString();
}

// Twice the batch in hardly more time: what data parallelism is for.
TEST(StepTime, DataParallelismRaisesTheTokensASecond) {
  Machine here = uncalibrated_local_machine();
  here.cores = 8;
  PlanSetup setup = pipeline_setup(2, 8);
  const Result<Prediction> one = predict(setup, here);
  setup.mesh.dp = 2;
  const Result<Prediction> two = predict(setup, here);
  ASSERT_TRUE(one && two);
  EXPECT_GT(two->step.tokens_per_second, 1.5 * one->step.tokens_per_second);
  EXPECT_NE(tokens_rate_text(two->step.tokens_per_second),
            tokens_rate_text(one->step.tokens_per_second));
}

}  // namespace
}  // namespace parallelarium

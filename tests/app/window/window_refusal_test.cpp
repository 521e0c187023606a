// SPDX-License-Identifier: GPL-3.0-or-later
// Why Run is off, and the small copy that runs here instead.
#include <gtest/gtest.h>

#include <QPushButton>
#include <QTest>

#include "app/look/sentence.h"
#include "app/shell/window.h"
#include "app/state/run/run_advice.h"
#include "app/state/run/small_copy.h"
#include "app/views/shared/words/words.h"
#include "tests/app/state/stand_in_engine.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class WindowRefusal : public WindowFixture {};

TEST_F(WindowRefusal, AnotherMachineIsPredictedAndOffersASmallCopy) {
  parallelarium::Setup setup = session().setup();
  ASSERT_TRUE(set_field(setup, "machine", "dgx-h100").ok());
  session().history().change(setup, QStringLiteral("machine"));
  session().wait_for_prediction();
  EXPECT_TRUE(machine_is_elsewhere(session()));
  EXPECT_TRUE(window->top_bar().run_button().text().contains(QStringLiteral("small copy")));
  EXPECT_FALSE(run_refusal(session()).isEmpty());
  const Result<parallelarium::Setup> copy =
      small_copy(session().setup(), session().placer().computer());
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(copy->mesh, setup.mesh);
  EXPECT_EQ(copy->schedule, setup.schedule);
  EXPECT_EQ(copy->microbatches, setup.microbatches);
  EXPECT_EQ(copy->machine, "local");
}

// Whatever is planned for another machine: the copy validates, can run here, and is not called by
// the name of a preset that it is not.
TEST(SmallCopy, RunsHereAndIsNamedForWhatItIs) {
  const auto changed = [](std::vector<std::pair<const char*, const char*>> fields) {
    parallelarium::Setup setup = default_setup();
    EXPECT_TRUE(set_field(setup, "machine", "dgx-a100-80g").ok());
    for (const auto& [field, value] : fields)
      EXPECT_TRUE(set_field(setup, field, value).ok()) << field << " " << value;
    return setup;
  };
  const parallelarium::Setup cases[] = {
      changed(
          {{"model", "gpt3-175b"}, {"tp", "8"}, {"pp", "16"}, {"dp", "6"}, {"microbatches", "64"}}),
      changed({{"model", "gpt3-175b"}, {"pp", "12"}}),
      changed({{"model", "gpt3-175b"}, {"pp", "1"}, {"tp", "16"}, {"sequence-parallel", "true"}}),
      changed({{"model", "gpt3-175b"},
               {"pp", "1"},
               {"tp", "3"},
               {"dp", "5"},
               {"zero", "1"},
               {"zero-group", "5"}}),
      changed({{"model", "llama3-70b"}, {"pp", "2"}, {"tp", "8"}, {"cp", "4"}, {"dp", "4"}}),
      changed({{"model", "llama2-70b"},
               {"pp", "1"},
               {"tp", "2"},
               {"cp", "4"},
               {"context-parallel", "ulysses"}}),
      changed({{"model", "mixtral-8x7b"}, {"pp", "4"}, {"dp", "8"}, {"ep", "8"}}),
      changed(
          {{"model", "gpt3-175b"}, {"pp", "24"}, {"schedule", "dualpipe"}, {"microbatches", "96"}}),
      changed({{"model", "gpt3-175b"},
               {"pp", "6"},
               {"schedule", "interleaved"},
               {"chunks", "4"},
               {"microbatches", "12"},
               {"precision", "mixed-16"}}),
  };
  for (const parallelarium::Setup& big : cases) {
    SCOPED_TRACE(picture_title(big).toStdString());
    ASSERT_TRUE(validate(big).empty()) << validate(big).front().text;
    const Result<parallelarium::Setup> copy = small_copy(big, Computer());
    ASSERT_TRUE(copy.ok()) << copy.error().text;
    EXPECT_TRUE(validate(*copy).empty());
    EXPECT_TRUE(can_execute(*copy).ok());
    EXPECT_TRUE(predict(*copy, uncalibrated_local_machine()).ok());
    EXPECT_EQ(copy->schedule, big.schedule);
    EXPECT_EQ(copy->microbatches, big.microbatches);
    if (can_execute(*copy).ok() && big.mesh.ranks() <= 16) {
      EXPECT_EQ(copy->mesh, big.mesh);
      EXPECT_TRUE(reduced_degrees(big, *copy).isEmpty());
    } else {
      EXPECT_FALSE(reduced_degrees(big, *copy).isEmpty());
      EXPECT_GE(copy->mesh.pp, std::min(big.mesh.pp, 2)) << "an axis that is used stays";
      EXPECT_GE(copy->mesh.tp, std::min(big.mesh.tp, 2));
      EXPECT_GE(copy->mesh.dp, std::min(big.mesh.dp, 2));
    }
    if (const Result<Model> preset = find_model(copy->model.name); preset.ok())
      EXPECT_EQ(copy->model, *preset);
    else
      EXPECT_EQ(copy->model.name, "custom");
  }
}

// Cores train the tiny preset; GPUs one that is worth their while.
TEST(SmallCopy, OnGpusIsGpt2) {
  Computer gpus;
  ComputerGpu h100;
  h100.name = "H100";
  gpus.gpus.assign(8, h100);
  parallelarium::Setup big = new_setup();
  for (const auto& [field, value] : {std::pair("model", "gpt3-175b"),
                                     {"machine", "dgx-h100"},
                                     {"tp", "8"},
                                     {"pp", "16"},
                                     {"dp", "6"}})
    ASSERT_TRUE(set_field(big, field, value).ok());
  big.run.steps = 500'000;  // as the launch line of a whole training says
  Result<parallelarium::Setup> copy = small_copy(big, gpus);
  ASSERT_TRUE(copy.ok()) << copy.error().text;
  EXPECT_EQ(copy->model.hidden, find_model("gpt-tiny")->hidden) << "16 ranks are more than 8 GPUs";
  EXPECT_EQ(copy->run.steps, new_setup().run.steps);
  big.run.steps = 3;
  ASSERT_TRUE(set_field(big, "dp", "1").ok());
  ASSERT_TRUE(set_field(big, "tp", "4").ok());
  ASSERT_TRUE(set_field(big, "pp", "2").ok());
  copy = small_copy(big, gpus);
  ASSERT_TRUE(copy.ok()) << copy.error().text;
  EXPECT_EQ(copy->model, *find_model("gpt2-124m"));
  EXPECT_EQ(copy->run.steps, 3) << "fewer steps stay";
  EXPECT_TRUE(is_auto(copy->precision)) << "what the GPUs do best";
  copy = small_copy(big, Computer());
  ASSERT_TRUE(copy.ok());
  EXPECT_EQ(copy->model.hidden, find_model("gpt-tiny")->hidden);
}

// Why Run is off, most lasting first, and only ways out that lead out.
TEST_F(WindowRefusal, RunIsOffForTheReasonThatLasts) {
  const auto change = [&](std::vector<std::pair<const char*, const char*>> fields) {
    parallelarium::Setup setup = default_setup();
    for (const auto& [field, value] : fields)
      ASSERT_TRUE(set_field(setup, field, value).ok()) << field;
    session().history().change(setup, QStringLiteral("case"));
    session().wait_for_prediction();
    ASSERT_TRUE(session().problems().empty()) << session().problems().front().text;
  };
  const auto choices = [&] {
    QStringList texts;
    for (const QPushButton* button : window->banner().findChildren<QPushButton*>())
      if (!button->isHidden()) texts << button->text();
    return texts;
  };
  change({{"layers", "16"}, {"pp", "8"}, {"dp", "16"}});
  EXPECT_TRUE(run_refusal(session()).contains(QStringLiteral("128 ranks")));
  EXPECT_TRUE(window->banner().sentence().contains(run_refusal(session())));
  EXPECT_EQ(choices(), QStringList{QStringLiteral("DP: 2")});
  QTest::mouseClick(window->banner().findChildren<QPushButton*>().back(), Qt::LeftButton);
  session().wait_for_prediction();
  EXPECT_EQ(session().setup().mesh.ranks(), 16);

  change({{"model", "gpt3-175b"}});
  EXPECT_TRUE(run_refusal(session()).contains(QStringLiteral("does not fit in memory")));
  EXPECT_EQ(window->banner().sentence(), run_refusal(session()));
  EXPECT_TRUE(choices().isEmpty());
  const auto advice = [&] {
    const QString said = sentence(*memory_problem(session()));
    return said.mid(said.indexOf(QStringLiteral("What would"))).toStdString();
  };
  EXPECT_EQ(advice(), "What would shrink it: fewer ranks, a smaller model, a smaller micro-batch.");
  // A lesson may ask for that.
  session().locks().set_lesson_state({{"id", "first-look"}});
  EXPECT_TRUE(run_refusal(session()).endsWith(QStringLiteral("GiB.")))
      << run_refusal(session()).toStdString();
  session().locks().set_lesson_state(nullptr);
  change({{"machine", "dgx-h100"}, {"model", "gpt3-175b"}});  // each rank has a GPU of its own
  ASSERT_EQ(session().setup().mesh.dp, 1);
  EXPECT_EQ(advice(), "What would shrink it: more stages, more TP, fused attention, recompute.");
  change({{"machine", "dgx-h100"}, {"model", "gpt3-175b"}, {"dp", "2"}});
  EXPECT_EQ(advice(),
            "What would shrink it: more stages, more TP, fused attention, ZeRO, recompute.");
  change({{"machine", "dgx-h100"}, {"model", "gpt3-175b"}, {"recompute", "full"}});
  EXPECT_EQ(advice(), "What would shrink it: more stages, more TP, fused attention.");

  change(
      {{"model", "gpt-small"}, {"layers", "64"}, {"hidden", "8192"}, {"heads", "32"}, {"pp", "1"}});
  EXPECT_TRUE(run_refusal(session()).contains(QStringLiteral("does not fit in memory")));
  EXPECT_FALSE(window->top_bar().run_button().isEnabled());
}

// Cores that were calibrated as so slow that no lesson's default pace fits them.
class SlowCores : public StandInEngine {
 protected:
  SlowCores() {
    Machine slow = uncalibrated_local_machine();
    slow.calibrated = "2026-11-21 for a test";
    slow.cores = 2;
    slow.fp32_flops_per_second.value = 2e9;
    slow.half_flops_per_second.value = 2e9;
    EXPECT_TRUE(save_local_machine(slow).ok());
    serve(computer(0, 0));
  }
};

TEST_F(SlowCores, TakeLongerForARehearsalAndRefuseNone) {
  Session session;
  session.wait_for_prediction();
  ASSERT_EQ(expected_source(session), Source::kPaced);
  EXPECT_FALSE(run_problem(session)) << run_problem(session)->text;
  EXPECT_TRUE(run_refusal(session).isEmpty()) << run_refusal(session).toStdString();
  const double usual = session.rehearsal_seconds();
  EXPECT_GT(usual, 0);
  parallelarium::Setup setup = session.setup();
  setup.run.steps = 100 * (setup.run.steps + setup.run.warmup) - setup.run.warmup;
  setup.run.stretch = 1e5;
  session.history().change(setup, QStringLiteral("slow"));
  session.wait_for_prediction();
  EXPECT_GT(session.rehearsal_seconds(), 100 * usual);
  EXPECT_FALSE(run_label(session).contains(QStringLiteral(" min")));
  EXPECT_TRUE(run_details(session).contains(QStringLiteral(" days. Fewer timed steps, or")))
      << run_details(session).toStdString();
  EXPECT_TRUE(run_refusal(session).isEmpty());
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// What the Experts view draws of a run: its counts in place of the prediction's, step over
// training, the plot of balance with a pinned run, and why ranks wait.
#include <gtest/gtest.h>

#include <QRegularExpression>
#include <QTest>

#include "app/look/figures.h"
#include "app/settings/controls.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "tests/app/views/experts_fixture.h"

namespace parallelarium {
namespace {

class ExpertsRun : public testing::Test {
 protected:
  void open(const PlanSetup& setup, std::vector<RunRecord> runs,
            std::optional<RunRecord> pinned = std::nullopt) {
    session.restore(setup, std::move(runs), std::move(pinned));
    session.wait_for_prediction();
    view.resize(900, 760);
    view.show();
    view.wait();
    QApplication::processEvents();
  }
  template <class Control>
  Control* control(const QString& accessible_name) const {
    for (auto* found : view.findChildren<Control*>())
      if (found->accessibleName() == accessible_name) return found;
    ADD_FAILURE() << accessible_name.toStdString();
    return nullptr;
  }
  StepBox* step_box() const { return control<StepBox>(QStringLiteral("Training step of the run")); }
  Session session;
  ExpertsView view{session};
};

TEST_F(ExpertsRun, IsComparedWithThePredictionByItsOwnRouting) {
  const PlanSetup setup = moe_setup(4, 8, 2, 0, 0);
  const RunRecord made = made_up_expert_run(setup, {0.1, 0.9, 0.1});
  const Result<RunRecord> run = make_run_record(made.observation, made.prediction->machine);
  ASSERT_TRUE(run.ok()) << run.error().text;
  ASSERT_NE(run->routed, nullptr);
  open(setup, {*run});
  const ExpertPicture picture = view.picture();
  const auto by_run = layer_times(*run->routed, run->routed->timeline, *picture.routed);
  const auto by_skew = layer_times(*run->prediction, run->prediction->timeline, *picture.routed);
  ASSERT_TRUE(by_run && by_skew && picture.predicted);
  EXPECT_GT(by_run->length(), by_skew->length());  // one rank has most of the tokens
  EXPECT_EQ(picture.predicted->length(), by_run->length());
  EXPECT_TRUE(picture.by_its_routing);
  auto* counts = control<Segments>(QStringLiteral("Whose counts are drawn"));
  Q_EMIT counts->chosen(QStringLiteral("predicted"));
  const auto of_settings = layer_times(*session.subject().prediction(),
                                       session.subject().prediction()->timeline, *picture.routed);
  ASSERT_TRUE(of_settings);
  EXPECT_EQ(view.picture().predicted->length(), of_settings->length());
}

TEST_F(ExpertsRun, ItsCountsAreDrawnAndThePredictionIsOneClickAway) {
  const PlanSetup setup = moe_setup(4, 8, 2, 0, 0);
  open(setup, {made_up_expert_run(setup, {0.5, 0.5, 0.5})});
  const ExpertPicture run = view.picture();
  ASSERT_TRUE(run.shows_run());
  // 256 choices a home: 128 of them for expert 0 and 2 more that do not divide, 18 for each other.
  ASSERT_EQ(run.drawn()->rows.size(), 4u);
  for (const auto& row : run.drawn()->rows)
    EXPECT_EQ(row, (std::vector<std::int64_t>{148, 36, 36, 36}));
  EXPECT_TRUE(view.description().contains(QStringLiteral("run, training step 2")))
      << view.description().toStdString();
  auto* counts = control<Segments>(QStringLiteral("Whose counts are drawn"));
  ASSERT_TRUE(counts && counts->isVisible());
  Q_EMIT counts->chosen(QStringLiteral("predicted"));
  EXPECT_FALSE(view.picture().shows_run());
  EXPECT_EQ(view.picture().drawn()->rows, layer_of(setup).rows);
  EXPECT_FALSE(step_box()->isVisible());
  EXPECT_FALSE(view.description().contains(QStringLiteral("training step")));
  Q_EMIT counts->chosen(QStringLiteral("run"));
  EXPECT_TRUE(view.picture().shows_run());
}

TEST_F(ExpertsRun, BarsHoldAllChoicesOfAHome) {
  const PlanSetup setup = moe_setup(4, 8, 2, 1.25, 0);
  open(setup, {made_up_expert_run(setup, {0.5, 0.5})});
  const ExpertPicture picture = view.picture();
  const ExpertLayout layout = view.layout_now();
  const RoutedLayer& layer = *picture.drawn();
  for (int home = 0; home < 4; ++home) {
    const QRectF bar = layout.home_bar(home);
    const double each = bar.width() / 256;
    double right = bar.left();
    for (const HomePart& part : home_parts(layer, layout, home)) {
      const auto at = std::size_t(part.expert);
      const RouterLoad& load = layer.homes[std::size_t(home)].load;
      EXPECT_NEAR(part.kept.width(), double(load.kept[at]) * each, 1e-6);
      EXPECT_NEAR(part.dropped.width(), double(load.chosen[at] - load.kept[at]) * each, 1e-6);
      for (const QRectF& rect : {part.kept, part.dropped}) {
        if (rect.isEmpty()) continue;
        EXPECT_NEAR(rect.left(), right, 1e-6);
        right = rect.right();
        EXPECT_EQ(expert_at_point(picture, layout, rect.center()).expert, part.expert);
      }
    }
    EXPECT_NEAR(right, bar.right(), 1e-6);
  }
  EXPECT_GT(dropped_of(layer), 0);
}

TEST_F(ExpertsRun, StepsOverTraining) {
  const PlanSetup setup = moe_setup(4, 8, 2, 0, 0);
  open(setup, {made_up_expert_run(setup, {0.25, 0.5, 0.75, 0.125})});
  // Warm-up counts: the step whose times are drawn is the second.
  EXPECT_EQ(view.picture().step, 1);
  EXPECT_EQ(view.picture().timed_step, 1);
  EXPECT_EQ(view.picture().steps, 4);
  EXPECT_TRUE(step_box()->isVisible());
  const auto on_expert_0 = [&] { return view.picture().drawn()->homes[0].load.kept[0]; };
  EXPECT_EQ(on_expert_0(), 130);
  QTest::keyClick(&view.canvas(), Qt::Key_Down);
  const ExpertRef selected = view.picture().selected;
  QTest::keyClick(&view.canvas(), Qt::Key_BracketRight);
  EXPECT_EQ(view.picture().step, 2);
  EXPECT_EQ(on_expert_0(), 193);
  EXPECT_EQ(view.picture().selected, selected) << "what is selected stays so";
  const std::vector<Quantity> strip = expert_quantities(session, view.picture());
  EXPECT_EQ(strip[1].observed.text, number_text(fullest_over_mean(*view.picture().counted)));
  EXPECT_TRUE(strip[1].observed.source.contains(QStringLiteral("run, step 3")))
      << strip[1].observed.source.toStdString();
  QTest::keyClick(&view.canvas(), Qt::Key_BracketLeft);
  QTest::keyClick(&view.canvas(), Qt::Key_BracketLeft);
  EXPECT_EQ(view.picture().step, 0);
  QTest::keyClick(&view.canvas(), Qt::Key_BracketLeft);
  EXPECT_EQ(view.picture().step, 0) << "there is none before the first";
  step_box()->stepBy(1);
  EXPECT_EQ(view.picture().step, 1);
  Q_EMIT step_box()->committed(QStringLiteral("99"));
  EXPECT_EQ(view.picture().step, 3);
  EXPECT_EQ(on_expert_0(), 32);
  // A click in the plot goes to the step that stands there.
  const QRectF plot = view.layout_now().plot;
  ASSERT_GT(plot.height(), 60);
  for (double x = plot.left() + 1; x < plot.right(); x += 3) {
    const QPointF at(x, plot.bottom() - 40);
    const int there = step_at_point(view.picture(), view.layout_now(), at);
    if (there < 0) continue;
    QTest::mouseClick(&view.canvas(), Qt::LeftButton, {}, at.toPoint());
    EXPECT_EQ(view.picture().step, step_at_point(view.picture(), view.layout_now(), at.toPoint()));
  }
  EXPECT_EQ(view.picture().step, 3);
}

TEST_F(ExpertsRun, ThePlotComparesWithAPinnedRunAndNamesWhatDiffers) {
  PlanSetup with = moe_setup(4, 8, 2, 0, 0);
  PlanSetup without = with;
  without.balance_loss = 0;
  open(with, {made_up_expert_run(with, {0.5, 0.25})},
       made_up_expert_run(without, {0.5, 0.75, 0.75}));
  ASSERT_TRUE(view.picture().curves);
  const std::vector<BalanceCurve>& curves = *view.picture().curves;
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_FALSE(curves[0].pinned);
  EXPECT_EQ(curves[0].name, QStringLiteral("run, balance loss 0.01"));
  EXPECT_TRUE(curves[1].pinned);
  EXPECT_EQ(curves[1].name, QStringLiteral("pinned run, balance loss 0"));
  ASSERT_EQ(curves[0].steps.size(), 2u);
  ASSERT_EQ(curves[1].steps.size(), 3u);
  EXPECT_NEAR(curves[0].steps[0].fullest, 130.0 * 8 / 256, 1e-12);
  EXPECT_NEAR(curves[0].steps[1].fullest, 67.0 * 8 / 256, 1e-12);
  EXPECT_NEAR(curves[1].steps[2].fullest, 193.0 * 8 / 256, 1e-12);
  EXPECT_NEAR(curves[1].steps[2].balance, 1.75, 1e-12);
  EXPECT_EQ(curves[1].steps[2].choices, 256 * 4 * 2);
  EXPECT_TRUE(view.description().contains(QStringLiteral("pinned run, balance loss 0: 4.06 to")))
      << view.description().toStdString();
}

TEST_F(ExpertsRun, OfOtherSettingsIsNotDrawn) {
  const PlanSetup setup = moe_setup(4, 8, 2, 0, 0);
  PlanSetup other = setup;
  other.balance_loss = 0.5;
  open(setup, {made_up_expert_run(other, {0.5, 0.5})});
  EXPECT_FALSE(view.picture().shows_run());
  EXPECT_FALSE(view.picture().curves);
  EXPECT_FALSE(step_box()->isVisible());
  EXPECT_FALSE(control<Segments>(QStringLiteral("Whose counts are drawn"))->isVisible());
}

// A skew moves choices and not affinities, so what is predicted would read 1, whatever is set.
TEST_F(ExpertsRun, OfASkewThatIsSetARunAloneTellsTheBalanceLoss) {
  const auto painted = [&] {
    TextLog texts;
    QImage image(900, 700, QImage::Format_RGB32);
    QPainter painter(&image);
    paint_experts(painter, view.picture(), view.layout_now(), light_theme(), &texts);
    return std::any_of(texts.begin(), texts.end(), [](const PaintedText& text) {
      return text.text.startsWith(QStringLiteral("\u2013 (a run tells"));
    });
  };
  const PlanSetup setup = moe_setup(4, 8, 2, 1.25, 0.5);
  open(setup, {});
  EXPECT_TRUE(painted());
  EXPECT_TRUE(view.description().contains(QStringLiteral("The balance loss needs a run")));
  open(setup, {made_up_expert_run(setup, {0.5, 0.5})});
  EXPECT_FALSE(painted());
  EXPECT_TRUE(view.description().contains(QStringLiteral("Balance loss over alpha 1.5")))
      << view.description().toStdString();
  open(moe_setup(4, 8, 2, 1.25, 0), {});
  EXPECT_FALSE(painted());
}

TEST_F(ExpertsRun, AFigureThatALessonAsksForIsNowhereInThePicture) {
  const PlanSetup setup = moe_setup(4, 8, 2, 1.25, 0.5);
  open(setup, {made_up_expert_run(setup, {0.5, 0.5})});
  session.locks().set_hidden({QStringLiteral("experts.capacity")});
  QApplication::processEvents();
  EXPECT_TRUE(view.picture().hidden);
  EXPECT_FALSE(view.description().contains(QStringLiteral("capacity")))
      << view.description().toStdString();
  TextLog texts;
  QImage image(900, 700, QImage::Format_RGB32);
  QPainter painter(&image);
  paint_experts(painter, view.picture(), view.layout_now(), light_theme(), &texts);
  for (const PaintedText& text : texts)
    EXPECT_FALSE(text.text.contains(QStringLiteral("40"))) << text.text.toStdString();
  for (const Quantity& quantity : expert_quantities(session, view.picture()))
    if (quantity.key.startsWith(QLatin1String("experts"))) {
      EXPECT_EQ(quantity.predicted.text, QStringLiteral("?"));
      EXPECT_TRUE(quantity.observed.text.isEmpty());
    }
  // Where a lesson asks for times alone, the picture stays and shows no time.
  session.locks().set_hidden({QStringLiteral("step.seconds")});
  QApplication::processEvents();
  EXPECT_FALSE(view.picture().hidden);
  EXPECT_EQ(expert_quantities(session, view.picture())[0].predicted.text, QStringLiteral("?"));
  const QRegularExpression a_time(QStringLiteral("\\d[ \u00a0](ns|µs|ms|s)\\b"));
  TextLog others;
  paint_experts(painter, view.picture(), view.layout_now(), light_theme(), &others);
  for (const PaintedText& text : others)
    EXPECT_FALSE(text.text.contains(a_time)) << text.text.toStdString();
}

TEST(ExpertRunPictures, NoTwoTextsOverlapFrom2To64Experts) {
  for (const auto& [experts, ranks, top_k] :
       {std::tuple(2, 1, 1), std::tuple(2, 2, 1), std::tuple(8, 4, 2), std::tuple(16, 8, 4),
        std::tuple(64, 8, 8), std::tuple(64, 16, 2)})
    for (const int width : {600, 860, 1200})
      for (const bool pinned : {false, true}) {
        const PlanSetup setup = moe_setup(ranks, experts, top_k, 1.25, 0);
        PlanSetup other = setup;
        other.balance_loss = 0;
        Session session;
        session.restore(
            setup, {made_up_expert_run(setup, {0.5, 0.3, 0.2})},
            pinned ? std::optional(made_up_expert_run(other, {0.5, 0.6})) : std::nullopt);
        session.wait_for_prediction();
        const ExpertPicture picture = expert_picture(session, {});
        ASSERT_TRUE(picture.shows_run());
        const int height = int(std::ceil(expert_height(picture, width)));
        QImage image(width, height, QImage::Format_RGB32);
        QPainter painter(&image);
        TextLog texts;
        paint_experts(painter, picture, expert_layout(picture, image.size()), light_theme(),
                      &texts);
        EXPECT_EQ(overlapping(texts), "") << experts << " on " << ranks << " at " << width;
        for (const PaintedText& text : texts) {
          EXPECT_GE(text.rect.left(), 0) << text.text.toStdString();
          EXPECT_LE(text.rect.right(), width) << text.text.toStdString();
          EXPECT_LE(text.rect.bottom(), height) << text.text.toStdString();
        }
      }
}

// The fuller the fullest rank, the longer the layer and the waiting, and the sentence says who.
TEST(ExpertWaiting, IsExplainedAndRisesWithTheFullestRank) {
  Nanoseconds length{0}, waits{0};
  std::int64_t fullest = 0;
  for (const double skew : {0.0, 0.4, 0.8}) {
    PlanSetup setup = moe_setup(4, 8, 1, 0, skew);
    const ExpertPicture picture = picture_of(setup, 1.2);
    const auto tokens = tokens_of_ranks(*picture.routed);
    // Of the rank that waits longest between its experts and the combine.
    Nanoseconds waited{0};
    for (const auto& home : picture.observed->homes) {
      bool computed = false;
      for (const LayerSpan& span : home) {
        computed = computed || span.part == LayerPart::kExperts;
        if (computed && span.part == LayerPart::kWait)
          waited = std::max(waited, span.span.end - span.span.begin);
      }
    }
    if (skew > 0) {
      EXPECT_GT(tokens[0], fullest);
      EXPECT_GT(picture.observed->length(), length) << skew;
      EXPECT_GT(waited, waits) << skew;
      const QString said = waiting_sentence(picture);
      EXPECT_TRUE(said.startsWith(QStringLiteral("By time, rank 0's experts end last")))
          << said.toStdString();
      EXPECT_TRUE(said.contains(time_text(waited))) << said.toStdString();
      EXPECT_TRUE(said.endsWith(QStringLiteral("(rehearsed)."))) << said.toStdString();
    }
    fullest = tokens[0];
    length = picture.observed->length();
    waits = waited;
  }
}

// A rank that is not the fullest may end last, since its tokens came late or it shares its core:
// who is waited for is told by time alone.
TEST(ExpertWaiting, NamesTheRankThatEndsLastAndTheFullestByTokensOnly) {
  ExpertPicture picture = picture_of(moe_setup(4, 8, 1, 0, 0.4), 1.2);
  auto late = std::make_shared<LayerTimes>(*picture.observed);
  Nanoseconds longest{0};
  for (const auto& home : late->homes)
    for (const LayerSpan& span : home)
      if (span.part == LayerPart::kExperts) longest = std::max(longest, span.span.end);
  for (LayerSpan& span : late->homes[2])
    if (span.part == LayerPart::kExperts) span.span = {longest, longest + Nanoseconds(4'000)};
  picture.observed = late;
  const QString fullest = pace_sentence(*picture.routed);
  EXPECT_TRUE(fullest.startsWith(QStringLiteral("By tokens, rank 0"))) << fullest.toStdString();
  EXPECT_FALSE(fullest.contains(QStringLiteral("wait"))) << fullest.toStdString();
  const QString waits = waiting_sentence(picture);
  EXPECT_TRUE(waits.startsWith(QStringLiteral("By time, rank 2's experts end last")))
      << waits.toStdString();
}

}  // namespace
}  // namespace parallelarium

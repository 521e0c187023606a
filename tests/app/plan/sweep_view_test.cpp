// SPDX-License-Identifier: GPL-3.0-or-later
// The Sweep view: its points are those of `sweep`, what cannot be says why, and a point becomes the
// setup.
#include "app/views/sweep/sweep_view.h"

#include <QCheckBox>

#include "app/state/plan/setting_sweep.h"
#include "app/views/sweep/sweep_paint.h"
#include "app/views/sweep/sweep_words.h"
#include "tests/app/plan/plan_views_fixture.h"
#include "tests/app/window/texts/german.h"

namespace parallelarium {
namespace {

class SweepFixture : public PlanViewFixture {
 protected:
  void SetUp() override {
    PlanViewFixture::SetUp();
    show("sweep");
  }
  SweepView& view() { return window->view_of<SweepView>(); }
  SettingSweep& sweep() { return view().sweep(); }
  void sweep_for(const SweepWish& wish) {
    sweep().set_wish(wish);
    sweep().start();
    EXPECT_TRUE(sweep().sweeping());
    ASSERT_TRUE(wait_until([&] { return !sweep().sweeping(); }, kAnswerMs));
    QApplication::processEvents();
  }
};

SweepWish wish_of(const char* first, const char* values, const char* figure) {
  SweepWish wish;
  wish.first = QLatin1String(first);
  wish.first_values = QLatin1String(values);
  wish.figure = QLatin1String(figure);
  wish.keeps_sizes = false;
  return wish;
}

TEST_F(SweepFixture, HasThePointsOfTheCommandLineAndSaysWhatCannotBe) {
  sweep_for(wish_of("pp", "1,2,3,4", "bubble"));
  ASSERT_TRUE(sweep().answer()) << sweep().error().toStdString();
  const SweepAnswer& answer = *sweep().answer();
  const auto json = command({QStringLiteral("sweep"), QStringLiteral("--setup"),
                             file_of(session().setup(), "setup.json"), QStringLiteral("--vary"),
                             QStringLiteral("pp=1,2,3,4"), QStringLiteral("--show"),
                             QStringLiteral("bubble"), QStringLiteral("--json")});
  ASSERT_EQ(json.at("points").size(), answer.points.size());
  for (std::size_t at = 0; at < answer.points.size(); ++at) {
    const auto& figure = json.at("points")[at].at("metrics").at("bubble");
    EXPECT_EQ(figure.is_null(), !answer.points[at].figure);
    if (!figure.is_null()) {
      EXPECT_DOUBLE_EQ(figure, *answer.points[at].figure);
    }
    EXPECT_EQ(json.at("points")[at].at("refused").is_null(), !answer.points[at].refused);
  }
  EXPECT_EQ(answer.points[0].figure, 0.0) << "one stage has no bubble";
}

// DP and micro-batches fill what the base has, as on the command line; the base is marked.
TEST_F(SweepFixture, KeepsGpusAndBatchAndItsPointsAreSavedAndLaunched) {
  set("dp", "2");
  SweepWish wish = wish_of("pp", "1,2,4,8", "step");
  wish.keeps_sizes = SweepWish().keeps_sizes;
  sweep_for(wish);
  ASSERT_TRUE(sweep().answer()) << sweep().error().toStdString();
  const SweepAnswer& answer = *sweep().answer();
  const int gpus = session().setup().mesh.ranks();
  const std::int64_t batch = session().setup().global_batch();
  const auto json = command(
      {QStringLiteral("sweep"), QStringLiteral("--setup"), file_of(session().setup(), "setup.json"),
       QStringLiteral("--gpus"), QString::number(gpus), QStringLiteral("--global-batch"),
       QString::number(batch), QStringLiteral("--vary"), QStringLiteral("pp=1,2,4,8"),
       QStringLiteral("--show"), QStringLiteral("step"), QStringLiteral("--json")});
  for (std::size_t at = 0; at < answer.points.size(); ++at) {
    const auto& figure = json.at("points")[at].at("metrics").at("step");
    ASSERT_EQ(figure.is_null(), !answer.points[at].figure) << at;
    if (!answer.points[at].figure) continue;
    EXPECT_DOUBLE_EQ(figure, *answer.points[at].figure);
    EXPECT_EQ(answer.points[at].ranks(), gpus);
    EXPECT_EQ(answer.points[at].batch(), batch);
  }
  EXPECT_FALSE(ranks_differ(answer));
  EXPECT_EQ(answer.firsts[answer.first_of_base().value()],
            QString::number(session().setup().mesh.pp));
  // Launch lines are of the point that is selected, the table is that of the points.
  EXPECT_FALSE(view().chosen());
  sweep().select(1);
  ASSERT_TRUE(view().chosen());
  EXPECT_EQ(view().chosen()->setup.mesh.pp, 2);
  EXPECT_EQ(view().chosen()->setup.mesh.dp, gpus / 2);
  EXPECT_TRUE(view().chosen()->whose.contains(QStringLiteral("PP 2")));
  const std::optional<ViewTable> table = view().table();
  ASSERT_TRUE(table);
  const Result<std::string> text = table->text();
  ASSERT_TRUE(text.ok());
  const QStringList lines = QString::fromStdString(*text).split(QLatin1Char('\n'));
  ASSERT_EQ(std::size_t(lines.size()), answer.points.size() + 2) << "a title, and a last end";
  EXPECT_EQ(lines[0], QStringLiteral("pp,step,unit,fits,ranks,global_batch,refused"));
  EXPECT_EQ(lines[2].section(QLatin1Char(','), 0, 0), QStringLiteral("2"));
  EXPECT_EQ(lines[2].section(QLatin1Char(','), 1, 1).toDouble(), *answer.points[1].figure);
  session().locks().set_hidden({QStringLiteral("step.seconds")});
  EXPECT_FALSE(view().table()->text().ok());
}

TEST_F(SweepFixture, SaysWhereItsPointsAreOfDifferentNumbersOfRanks) {
  sweep_for(wish_of("dp", "1,2,8", "step"));
  ASSERT_TRUE(sweep().answer()) << sweep().error().toStdString();
  const SweepAnswer& answer = *sweep().answer();
  const int stages = answer.base.mesh.pp;
  EXPECT_EQ(answer.points[0].ranks(), stages);
  EXPECT_EQ(answer.points[2].ranks(), 8 * stages);
  EXPECT_TRUE(sizes_note(answer).contains(QString::number(8 * stages)));
  EXPECT_TRUE(point_outcome(answer, answer.points[2])
                  .contains(QStringLiteral("on %1 ranks").arg(8 * stages)));
  sweep_for(wish_of("microbatches", "8,16", "step"));
  EXPECT_FALSE(ranks_differ(*sweep().answer()));
  EXPECT_TRUE(sizes_note(*sweep().answer())
                  .contains(QString::number(16 * session().setup().global_batch() /
                                            session().setup().microbatches)))
      << "the batch grows with the micro-batches";
  sweep_for(wish_of("zero", "0,1", "step"));
  ASSERT_TRUE(sweep().answer()) << sweep().error().toStdString();
  EXPECT_TRUE(
      sizes_note(*sweep().answer())
          .startsWith(
              QStringLiteral("Ranks at all points: %1; ").arg(session().setup().mesh.ranks())));
}

// As (p - 1) / (m + p - 1) does.
TEST_F(SweepFixture, VariesGpusAndTheBatchThoughOtherSettingsMakeThem) {
  const std::vector<Sweepable> all = sweepable_settings(session().setup(), session().resolved());
  for (const char* option : {"gpus", "global-batch"}) {
    const auto found = std::find_if(all.begin(), all.end(), [&](const Sweepable& one) {
      return one.option == QLatin1String(option);
    });
    ASSERT_NE(found, all.end()) << option;
    EXPECT_FALSE(found->label.isEmpty()) << option;
    SweepWish wish;
    wish.first = found->option;
    wish.first_values = found->values;
    wish.figure = QStringLiteral("efficiency");
    sweep_for(wish);
    ASSERT_TRUE(sweep().answer()) << sweep().error().toStdString();
    const SweptPoint& least = sweep().answer()->points.front();
    EXPECT_FALSE(least.refused) << option << ": " << least.refused->text;
    EXPECT_EQ(least.figure, 1.0) << option << ": the fewest are what others are compared with";
  }
}

// EP is taken out of DP, and what is left of a group of micro-batches has to keep both stages busy.
TEST_F(SweepFixture, BeginsWithTheFewestGpusAndTheLeastBatchThatAreValid) {
  using Fields = std::vector<std::pair<const char*, const char*>>;
  struct {
    Fields fields;
    const char *option, *least;
  } cases[] = {{{{"pp", "1"}, {"model", "moe-tiny"}, {"dp", "4"}, {"ep", "2"}}, "gpus", "2"},
               {{{"pp", "2"},
                 {"schedule", "interleaved"},
                 {"chunks", "2"},
                 {"microbatches", "8"},
                 {"microbatch-group", "4"}},
                "global-batch",
                "2"}};
  for (const auto& of : cases) {
    auto setup = default_setup();
    for (const auto& [field, value] : of.fields)
      ASSERT_TRUE(set_field(setup, field, value).ok()) << field;
    const auto meant = session().resolved(setup);
    ASSERT_TRUE(validate(meant).empty()) << validate(meant).front().text;
    const std::vector<Sweepable> all = sweepable_settings(setup, meant);
    const auto found = std::find_if(all.begin(), all.end(), [&](const Sweepable& one) {
      return one.option == QLatin1String(of.option);
    });
    ASSERT_NE(found, all.end()) << of.option;
    EXPECT_EQ(found->values.section(QLatin1Char(','), 0, 0).toStdString(), of.least) << of.option;
  }
}

// Whatever the base is: what a setting begins with is none of the values that it cannot have.
TEST_F(SweepFixture, BeginsWithValuesThatTheSettingMayHave) {
  using Fields = std::vector<std::pair<const char*, const char*>>;
  const Fields bases[] = {
      {},
      {{"machine", "dgx-h100"}, {"model", "llama3-8b"}, {"pp", "1"}, {"dp", "64"}, {"zero", "3"}},
      {{"machine", "dgx-h100"}, {"model", "llama3-70b"}, {"pp", "4"}, {"tp", "8"}, {"dp", "2"}},
      {{"model", "mixtral-8x7b"}, {"pp", "4"}, {"dp", "8"}, {"ep", "8"}}};
  for (const Fields& fields : bases) {
    auto setup = default_setup();
    for (const auto& [field, value] : fields)
      ASSERT_TRUE(set_field(setup, field, value).ok()) << field;
    ASSERT_TRUE(validate(setup).empty());
    for (const Sweepable& one : sweepable_settings(setup, setup)) {
      ASSERT_FALSE(one.values.isEmpty()) << one.option.toStdString();
      for (const QString& value : one.values.split(QLatin1Char(','))) {
        SCOPED_TRACE((one.option + QLatin1Char('=') + value).toStdString());
        auto point = setup;
        const Result<void> set = set_field(point, one.option.toStdString(), value.toStdString());
        ASSERT_TRUE(set.ok()) << set.error().text;
        EXPECT_TRUE(validate(point).empty()) << validate(point).front().text;
      }
    }
    if (setup.mesh.dp < 64) continue;
    const auto values_of = [all = sweepable_settings(setup, setup)](const char* option) {
      for (const Sweepable& one : all)
        if (one.option == QLatin1String(option)) return one.values;
      return QString();
    };
    EXPECT_EQ(values_of("zero"), QStringLiteral("0,1,2,3"));
    EXPECT_TRUE(values_of("zero-group").startsWith(QStringLiteral("0,")));
    EXPECT_TRUE(values_of("tp").startsWith(QStringLiteral("1,2,4,8")));
  }
}

TEST_F(SweepFixture, KeepsInItsWordsWhatDoesNotVary) {
  const auto* keeps = view().findChild<QCheckBox*>();
  for (const auto& [first, text] : {std::pair("gpus", "Keep the batch"),
                                    {"dp", "Keep the batch"},
                                    {"global-batch", "Keep the GPUs"},
                                    {"tp", "Keep GPUs and batch"}}) {
    sweep().set_wish(wish_of(first, "4", "step"));
    EXPECT_EQ(keeps->text(), QLatin1String(text)) << first;
  }
}

// The panel beside says what is selected, and of another sweep nothing until a point is chosen.
TEST_F(SweepFixture, SaysNothingOfAPointOfTheSweepBefore) {
  SelectionText said;
  QObject::connect(&view(), &View::described, window.get(),
                   [&](const SelectionText& text) { said = text; });
  sweep_for(wish_of("microbatches", "4,16", "step"));
  ASSERT_TRUE(sweep().answer()) << sweep().error().toStdString();
  sweep().select(1);
  ASSERT_EQ(said.headline, QStringLiteral("micro-batches 16"));
  ASSERT_FALSE(said.facts.empty());
  const QString step = said.facts.front().value;
  sweep().set_wish(wish_of("microbatches", "4,16", "memory"));
  EXPECT_NE(said.facts.front().value, step) << "of the figure that is shown";
  sweep_for(wish_of("microbatches", "4,8", "step"));
  EXPECT_TRUE(said.headline.isEmpty()) << said.headline.toStdString();
}

TEST_F(SweepFixture, MoreMicrobatchesLeaveLessBubble) {
  sweep_for(wish_of("microbatches", "4..32*2", "bubble"));
  ASSERT_TRUE(sweep().answer()) << sweep().error().toStdString();
  double before = 1;
  for (const SweptPoint& point : sweep().answer()->points) {
    ASSERT_TRUE(point.figure);
    EXPECT_LT(*point.figure, before);
    before = *point.figure;
  }
}

TEST_F(SweepFixture, APointBecomesTheSetupInOneStepOfUndo) {
  SweepWish wish = wish_of("microbatches", "4,16", "step");
  wish.second = QStringLiteral("zero");
  wish.second_values = QStringLiteral("0,1");
  sweep_for(wish);
  ASSERT_TRUE(sweep().answer()) << sweep().error().toStdString();
  ASSERT_EQ(sweep().answer()->points.size(), 4u);
  const auto before = session().setup();
  view().canvas().setFocus();
  QTest::keyClick(&view().canvas(), Qt::Key_Right);
  EXPECT_EQ(sweep().selected(), 0);
  QTest::keyClick(&view().canvas(), Qt::Key_Right);
  EXPECT_EQ(sweep().selected(), 2) << "the next value, same line";
  QTest::keyClick(&view().canvas(), Qt::Key_Return);
  session().wait_for_prediction();
  EXPECT_EQ(session().setup().microbatches, 16);
  EXPECT_DOUBLE_EQ(session().subject().prediction()->step.seconds,
                   *sweep().answer()->points[2].figure);
  EXPECT_FALSE(sweep().is_stale()) << "it is a point of the curve";
  session().history().stack().undo();
  EXPECT_EQ(session().setup(), before);
  EXPECT_FALSE(sweep().is_stale());
  set("seed", "7");
  EXPECT_TRUE(sweep().is_stale());
}

TEST_F(SweepFixture, AnotherFigureIsShownWithoutAnotherSweep) {
  sweep_for(wish_of("microbatches", "4,16", "step"));
  ASSERT_TRUE(sweep().answer()) << sweep().error().toStdString();
  const double seconds = *sweep().answer()->points[1].figure;
  for (const char* figure : {"memory", "bubble", "mfu", "step"}) {
    sweep().set_wish(wish_of("microbatches", "4,16", figure));
    EXPECT_FALSE(sweep().is_stale()) << figure;
    EXPECT_FALSE(sweep().sweeping());
    ASSERT_TRUE(sweep().answer()->points[1].figure) << figure;
    if (std::string(figure) == "step") {
      EXPECT_EQ(*sweep().answer()->points[1].figure, seconds);
    } else {
      EXPECT_NE(*sweep().answer()->points[1].figure, seconds) << figure;
    }
  }
  sweep().set_wish(wish_of("microbatches", "4,8", "step"));
  EXPECT_TRUE(sweep().is_stale());
}

TEST_F(SweepFixture, ARunStandsBesideThePredictionOfItsPoint) {
  set("microbatches", "4");
  sweep_for(wish_of("microbatches", "2,4", "step"));
  ASSERT_TRUE(sweep().answer()) << sweep().error().toStdString();
  EXPECT_TRUE(sweep().runs().empty());
  session().start_run(false);
  ASSERT_TRUE(wait_until([&] { return session().jobs().state() == RunState::kIdle; }, kAnswerMs));
  const RunRecord* run = session().runs().current();
  ASSERT_TRUE(run) << session().jobs().last_error().toStdString();
  ASSERT_EQ(sweep().runs().size(), 1u);
  EXPECT_EQ(sweep().runs()[0].point, 1);
  EXPECT_DOUBLE_EQ(sweep().runs()[0].figure, run->observation.step.seconds);
  EXPECT_EQ(sweep().runs()[0].rehearsed, run->observation.source == Source::kPaced);
  const QString said =
      sweep().runs()[0].rehearsed ? QStringLiteral(", rehearsed ") : QStringLiteral(", measured ");
  EXPECT_EQ(view().description().count(said), 1);
  sweep_for(wish_of("microbatches", "4", "memory"));
  ASSERT_EQ(sweep().runs().size(), 1u);
  // What a run counts is what was predicted, to the byte.
  EXPECT_DOUBLE_EQ(sweep().runs()[0].figure, *sweep().answer()->points[0].figure);
}

// Points of a plan stand within the limits of its search, as the left column has them, and what is
// set in Explore has none. A plan that the search found fits whatever limit it was found under.
TEST_F(SweepFixture, PointsOfAPlanKeepToTheLimitsOfItsSearch) {
  PlanWish searching = plan_wish("gpt2-124m", "2");
  const FoundPlan* plan = searched(searching);
  ASSERT_TRUE(plan);
  std::int64_t limit = plan->bytes;
  for (const FoundPlan& other : PlanSearch::of(session()).answer()->front)
    limit = std::min(limit, other.bytes);
  searching.memory_bytes = limit;
  searching.framework = QStringLiteral("torchtitan");
  plan = searched(searching);
  ASSERT_TRUE(plan);
  sweep_for(wish_of("schedule", "1f1b,zb-v", "memory"));
  ASSERT_TRUE(sweep().answer()) << sweep().error().toStdString();
  EXPECT_EQ(sweep().answer()->capacity_bytes, limit);
  EXPECT_TRUE(limits_note(*sweep().answer()).contains(QStringLiteral("torchtitan")));
  SweepWish batches = wish_of("micro-batch", "1,2,4", "memory");
  batches.keeps_sizes = true;
  sweep_for(batches);
  int too_large = 0;
  for (const SweptPoint& point : sweep().answer()->points) {
    if (!point.figure) continue;
    EXPECT_EQ(*point.fits, *point.figure <= double(limit));
    too_large += !*point.fits;
  }
  EXPECT_GT(too_large, 0) << "the limit is that of the smallest plan";
  EXPECT_FALSE(sweep().is_stale());
  searching.memory_bytes = limit / 2;
  PlanSearch::of(session()).set_wish(searching);
  EXPECT_TRUE(sweep().is_stale()) << "the curve is of the limit before";
  PlanSearch::of(session()).show_plan(false);
  sweep_for(wish_of("microbatches", "4", "memory"));
  EXPECT_GT(sweep().answer()->capacity_bytes, limit);
  EXPECT_TRUE(limits_note(*sweep().answer()).isEmpty());
}

// A label inside a title begins small, except where nouns have capitals and where it is a symbol.
TEST_F(SweepFixture, TitlesKeepTheCapitalsOfNouns) {
  EXPECT_EQ(swept_label(QStringLiteral("microbatches")), QStringLiteral("micro-batches"));
  EXPECT_EQ(swept_label(QStringLiteral("zero")), QStringLiteral("ZeRO"));
  EXPECT_EQ(swept_label(QStringLiteral("tp")), QStringLiteral("TP")) << "not “over tensor”";
  const German german;
  EXPECT_EQ(swept_label(QStringLiteral("microbatches")), QStringLiteral("Mikro-Batches"));
  EXPECT_EQ(swept_label(QStringLiteral("schedule")), QStringLiteral("Ablaufplan"));
}

TEST_F(SweepFixture, SaysWhyThereIsNoCurve) {
  sweep_for(wish_of("pp", "", "step"));
  EXPECT_FALSE(sweep().answer());
  EXPECT_FALSE(sweep().error().isEmpty());
  session().locks().set_hidden({QStringLiteral("bubble.of_total")});
  EXPECT_EQ(view().description(), QStringLiteral("Hidden until you answer."));
}

TEST_F(SweepFixture, PicturesHaveNoTextOverAnother) {
  SweepWish wish = wish_of("pp", "1,2,3,4,8", "memory");
  wish.second = QStringLiteral("zero");
  wish.second_values = QStringLiteral("0,1");
  sweep_for(wish);
  ASSERT_TRUE(sweep().answer()) << sweep().error().toStdString();
  SweepPicture picture;
  picture.answer = &*sweep().answer();
  picture.wish = picture.answer->wish;
  for (const int point : {0, 3})
    picture.runs.push_back({point, *picture.answer->points[std::size_t(point)].figure, point == 0});
  for (const double width : {600.0, 872.0, 1200.0})
    expect_legible(
        width, sweep_height(width, picture, light_theme()),
        [&](QPainter& painter, TextLog& texts) {
          paint_sweep(painter, width, picture, light_theme(), nullptr, &texts);
        },
        12);
}

}  // namespace
}  // namespace parallelarium

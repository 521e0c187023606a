// SPDX-License-Identifier: GPL-3.0-or-later
// A lesson on a collective: it sets, hides, locks and runs what stands in the Collectives tab.
#include <QComboBox>
#include <QSignalSpy>

#include "app/look/figures.h"
#include "app/shell/window.h"
#include "app/state/collective/collective_session.h"
#include "app/state/run/run_advice.h"
#include "app/views/collectives/collectives_view.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "tests/app/collectives/collectives_fixture.h"
#include "tests/app/lesson/lesson_fixture.h"

namespace parallelarium {
namespace {

class LessonOnCollectives : public LessonPlay {
 protected:
  CollectiveSession& collectives() { return session_.collectives(); }
  const CollectiveSpec& spec() { return collectives().choice().spec; }
  // A run of what is set, as the engine would tell it.
  void bring_collective_run() {
    const auto plan = planned({spec(), Topology::kMemory});
    ASSERT_TRUE(collectives().keep_run(spec(), made_up(*plan, 1.2)));
  }
};

TEST_F(LessonOnCollectives, IsSetHiddenLockedAndRevealed) {
  QSignalSpy tabs(panel_.get(), &LessonPanel::tab_wanted);
  open(QStringLiteral("why-the-ring-wins"));
  ASSERT_FALSE(tabs.isEmpty());
  EXPECT_EQ(tabs[0][0].toString(), QStringLiteral("collectives"));
  EXPECT_EQ(spec().algorithm, "direct");
  EXPECT_EQ(spec().ranks, 8);
  EXPECT_EQ(collectives().choice().topology, Topology::kSwitch);
  EXPECT_EQ(session_.setup(), default_setup());
  ASSERT_EQ(step(), "all-pairs");
  session_.set_topic(session_.collectives());
  EXPECT_FALSE(run_refusal(session_).isEmpty()) << "a run would show the answer";
  EXPECT_FALSE(session_.locks().allowed(QStringLiteral("collective.algorithm")));
  const auto sent = [&] { return collective_quantities(session_)[2].predicted.text; };
  EXPECT_EQ(sent(), QStringLiteral("?"));
  const std::int64_t array = spec().bytes;  // a drawn number of MiB
  type_number(QString::number(array >> 20));
  QTest::keyClick(panel_->findChild<QLineEdit*>("LessonNumber"), Qt::Key_Return);
  player().show_answer();
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("one copy"));
  EXPECT_EQ(sent(), bytes_text(7 * array));
  EXPECT_EQ(collective_quantities(session_)[2].guess, bytes_text(array))
      << "the guess stands in the strip";
  press_primary();
  ASSERT_EQ(step(), "round-the-ring");
  EXPECT_EQ(spec().algorithm, "direct");
  type_number(QString::number(14.0 / 8 * static_cast<double>(array >> 20)));
  press_primary();
  EXPECT_TRUE(player().state().judgement->verdict == Verdict::kRight);
  EXPECT_EQ(spec().algorithm, "ring");
  EXPECT_TRUE(run_refusal(session_).isEmpty());
}

TEST_F(LessonOnCollectives, RunRunsTheCollectiveWhateverIsInFront) {
  open(QStringLiteral("why-the-ring-wins"));
  go_to(2);
  ASSERT_EQ(step(), "run-the-ring");
  CollectiveChoice small = collectives().choice();
  small.spec.algorithm = "ring";
  small.spec.bytes = 1 << 16;
  collectives().change(small, QStringLiteral("test"));
  ASSERT_TRUE(session_.topic().is_step());
  press_primary();
  ASSERT_TRUE(wait_until([&] { return player().state().judgement.has_value(); }, kRunMs))
      << session_.jobs().last_error().toStdString();
  EXPECT_TRUE(session_.runs().all().empty()) << "no training step ran";
  EXPECT_TRUE(player().state().solved) << feedback().toStdString();
  EXPECT_EQ(player().state().attempts, 1) << "a run is judged once";
  EXPECT_EQ(player().answers()["steps"].back()["run"]["source"],
            std::string(name_of(collectives().fresh_run()->seen.source)));
}

TEST_F(LessonOnCollectives, EarlierRunsStayOutOfTheLessonAndComeBack) {
  CollectiveChoice ring;
  ring.spec.ranks = 8;
  ring.spec.bytes = 8 << 20;
  ring.topology = Topology::kSwitch;
  collectives().change(ring, QStringLiteral("test"));
  bring_collective_run();
  collectives().keep_sweep({ring.spec, Source::kMeasured, 1, 1});
  ASSERT_NE(collectives().fresh_run(), nullptr);
  open(QStringLiteral("why-the-ring-wins"));
  EXPECT_EQ(collectives().run(), nullptr);
  EXPECT_TRUE(collectives().sweep().empty());
  go_to(2);
  EXPECT_FALSE(player().state().judgement) << "a run from before is not this step's";
  player().close();
  collectives().change(ring, QStringLiteral("test"));
  EXPECT_NE(collectives().fresh_run(), nullptr);
  EXPECT_EQ(collectives().sweep().size(), 1u);
}

TEST_F(LessonOnCollectives, AMissedRunIsTriedAgainAndAGoalJudgesWhatIsSet) {
  open(QStringLiteral("why-the-ring-wins"));
  go_to(2);
  CollectiveChoice ring = collectives().choice();
  ring.spec.algorithm = "ring";
  collectives().change(ring, QStringLiteral("test"));
  auto seen = made_up(*planned({spec(), Topology::kMemory}), 1);
  seen.sent_bytes[0] += 4;
  ASSERT_TRUE(collectives().keep_run(spec(), seen));
  EXPECT_EQ(player().state().judgement->verdict, Verdict::kAgain);
  EXPECT_THAT(feedback().toStdString(), testing::HasSubstr("what a rank sends at most"));
  bring_collective_run();
  EXPECT_TRUE(player().state().solved);
  go_to(5);
  ASSERT_EQ(step(), "as-few-bytes");
  EXPECT_TRUE(session_.locks().allowed(QStringLiteral("collective.algorithm")));
  EXPECT_FALSE(session_.locks().allowed(QStringLiteral("collective.bytes")));
  const auto judged = [&](const char* algorithm) {
    CollectiveChoice choice = collectives().choice();
    choice.spec.ranks = 8, choice.spec.bytes = 8 << 20;
    choice.spec.algorithm = algorithm;
    choice.topology = Topology::kSwitch;
    collectives().change(choice, QStringLiteral("test"));
    player().commit({});
    return player().state().judgement->verdict;
  };
  EXPECT_EQ(judged("direct"), Verdict::kWrong);
  EXPECT_EQ(judged("ring"), Verdict::kWrong) << "the limit binds";
  EXPECT_EQ(judged("halving-doubling"), Verdict::kRight);
}

// What is asked for stands nowhere in the picture, its table, or its description.
TEST(HiddenCollective, LeavesNoTraceOfWhatIsAsked) {
  Window window;
  window.resize(1440, 900);
  window.show();
  window.show_view(QStringLiteral("collectives"));
  Session& session = window.session();
  session.collectives().set_playhead(session.collectives().horizon() / 2);
  const CollectivesView& view = window.view_of<CollectivesView>();
  const auto shows = [&](const QString& text) {
    TextLog log;
    QImage image(view.size(), QImage::Format_ARGB32);
    QPainter painter(&image);
    const CollectivePicture picture = view.picture();
    paint_collective(painter, picture, collective_layout(picture, image.size()),
                     theme_for(view.palette()), &log);
    for (const auto& entry : log)
      if (entry.text.contains(text)) return true;
    return view.description().contains(text);
  };
  const QString sent = bytes_text(6 << 20), of_steps = QStringLiteral("of 6");
  const QString time = seconds_text(session.collectives().plan()->cost.seconds);
  EXPECT_TRUE(shows(sent));
  EXPECT_TRUE(shows(time));
  session.locks().set_hidden({QStringLiteral("collective.sent_bytes")});
  EXPECT_FALSE(shows(sent));
  EXPECT_TRUE(shows(time));
  session.locks().set_hidden({QStringLiteral("collective.seconds")});
  EXPECT_FALSE(shows(time));
  EXPECT_TRUE(shows(sent));
  session.locks().set_hidden({QStringLiteral("collective.steps")});
  EXPECT_FALSE(shows(of_steps) || shows(of_steps.toUpper()));
  session.locks().set_hidden({});
}

}  // namespace
}  // namespace parallelarium

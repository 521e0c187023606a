// SPDX-License-Identifier: GPL-3.0-or-later
// A committed guess: where it stands beside the figures, and what the summary says of it.
#include <QRegularExpression>

#include "app/look/figures.h"
#include "app/state/collective/collective_session.h"
#include "app/views/collectives/collectives_view.h"
#include "app/views/memory/memory_view.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "tests/app/collectives/collectives_fixture.h"
#include "tests/app/lesson/lesson_fixture.h"

namespace parallelarium {
namespace {

TEST(GuessMarks, StandAtTheSettingsThatWereAskedAboutOnly) {
  Session session;
  Guess guess{QStringLiteral("bubble.of_total"), 0.16, QStringLiteral("16 %")};
  guess.setup = session.setup();
  session.locks().set_guesses({guess});
  const auto shown = [&] { return step_quantities(session)[1].guess; };
  EXPECT_EQ(shown(), QStringLiteral("16 %"));
  PlanSetup other = session.setup();
  other.run.steps += 1;  // how it is run changes nothing that was asked
  session.history().change(other, QStringLiteral("steps"));
  EXPECT_EQ(shown(), QStringLiteral("16 %"));
  other.microbatches += 1;
  session.history().change(other, QStringLiteral("more"));
  session.wait_for_prediction();
  EXPECT_TRUE(shown().isEmpty());
  session.history().stack().undo();
  session.wait_for_prediction();
  EXPECT_EQ(shown(), QStringLiteral("16 %"));
  session.locks().set_hidden({QStringLiteral("bubble")});
  EXPECT_TRUE(shown().isEmpty()) << "a new question about it is open";
}

TEST(GuessMarks, OfThePeakStandAtTheFullestRankOnly) {
  Session session;
  Guess guess{QStringLiteral("memory.peak_bytes"), 8e6, QStringLiteral("8 MiB")};
  guess.setup = session.setup();
  session.locks().set_guesses({guess});
  const int fullest = fullest_rank(*session.subject().prediction());
  EXPECT_EQ(memory_quantities(session, fullest)[0].guess, QStringLiteral("8 MiB"));
  EXPECT_TRUE(memory_quantities(session, fullest == 0 ? 1 : 0)[0].guess.isEmpty());
}

TEST(GuessMarks, OfACollectiveStandAtThatCollectiveOnly) {
  Session session;
  CollectiveSession& collectives = session.collectives();
  Guess guess{QStringLiteral("collective.steps"), 6, QStringLiteral("6")};
  guess.collective = std::make_shared<const CollectiveChoice>(collectives.choice());
  session.locks().set_guesses({guess});
  const auto shown = [&] { return collective_quantities(session)[4].guess; };
  EXPECT_EQ(shown(), QStringLiteral("6"));
  CollectiveChoice tree = collectives.choice();
  tree.spec.algorithm = "tree";
  collectives.change(tree, QStringLiteral("tree"));
  EXPECT_TRUE(shown().isEmpty());
  session.history().stack().undo();
  EXPECT_EQ(shown(), QStringLiteral("6"));
}

class LessonSummary : public LessonPlay {
 protected:
  CollectiveSession& collectives() { return session_.collectives(); }
  void bring_collective_run() {
    const CollectiveSpec spec = collectives().choice().spec;
    ASSERT_TRUE(collectives().keep_run(spec, made_up(*planned({spec, Topology::kMemory}), 1.2)));
  }
  // Plays the part in front: every figure is guessed to be 24 MiB, every word is the right one.
  void play() {
    const Step& step = player().step();
    Answer answer;
    if (step.kind == StepKind::kRead) return;
    if (step.kind == StepKind::kRun) return bring_collective_run();
    if (step.kind == StepKind::kGoal) {
      CollectiveChoice choice = collectives().choice();
      choice.spec.algorithm = "scatter-all-gather";
      collectives().change(choice, QStringLiteral("solution"));
    } else if (step.ask && !step.ask->answer.empty()) {
      answer.number = 24 << 20;
    } else {
      for (const Option& option : step.options)
        if (option.correct) answer.option = option.id;
    }
    player().commit(answer);
    player().show_answer();
  }
};

// "guess 24 MiB, predicted 24 MiB, run 1 B" was the share of right results, in bytes; a word that
// was chosen had the figure of the question before it.
TEST_F(LessonSummary, SaysEachFigureInItsUnitAndNoneOfAWord) {
  open(QStringLiteral("eight-collectives"));
  QString word, entry;
  const double array = player().drawn().at("mib");
  while (player().is_open()) {
    play();
    ASSERT_TRUE(player().state().solved) << step();
    if (step() == "what-comes-together") word = player().title();
    if (step() == "two-halves") entry = player().title();
    player().next();
  }
  const QStringList entries = player().finished_lesson()->summary.split(QStringLiteral("\n\n"));
  const QString all = entries.join(QLatin1Char('\n'));
  ASSERT_FALSE(word.isEmpty());
  for (const QString& line : entries.filter(word))
    EXPECT_FALSE(line.contains(QStringLiteral("guess"))) << line.toStdString();
  EXPECT_EQ(entries.filter(word).size(), 1) << all.toStdString();
  EXPECT_TRUE(all.contains(QStringLiteral("goal reached"))) << "no question: " << all.toStdString();
  EXPECT_FALSE(all.contains(QStringLiteral("e+"))) << all.toStdString();
  EXPECT_FALSE(all.contains(QStringLiteral("run 1"))) << all.toStdString();
  const QString halves = bytes_text(static_cast<std::int64_t>(1.5 * array) << 20);
  int said = 0;
  for (const QString& line : entries) {
    if (!line.startsWith(QStringLiteral("**") + entry)) continue;
    ++said;
    EXPECT_TRUE(
        line.contains(QStringLiteral("guess: 24\u00a0MiB, predicted %1, run %1").arg(halves)))
        << line.toStdString();
  }
  EXPECT_EQ(said, 1) << "the part has an entry";
}

// A prediction in words stands as the first card that was chosen, as it is written there.
TEST_F(LessonSummary, SaysAPredictionInWordsAsItWasChosen) {
  open(QStringLiteral("heads-and-vocabulary"));
  restore_step(session_, "one-key-head");
  ASSERT_EQ(step(), "one-key-head");
  const QString chosen = player().option_text("own-gradient").trimmed();
  for (const char* card : {"own-gradient", "summed"}) {
    Answer answer;
    answer.option = card;
    player().commit(answer);
  }
  ASSERT_TRUE(player().state().solved);
  while (player().is_open()) {
    ASSERT_TRUE(player().state().solved) << step();
    player().next();
  }
  ASSERT_NE(player().finished_lesson(), nullptr);
  const QString all = player().finished_lesson()->summary;
  EXPECT_FALSE(chosen.isEmpty());
  EXPECT_TRUE(all.contains(QStringLiteral("guess: “%1”").arg(chosen))) << all.toStdString();
  // Those before the step that was restored are not answered, and count.
  EXPECT_TRUE(all.contains(QRegularExpression(QStringLiteral("\\b0 of [2-9] questions right"))))
      << all.toStdString();
}

}  // namespace
}  // namespace parallelarium

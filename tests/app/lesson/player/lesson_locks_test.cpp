// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/lesson_locks.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

#include "engine/predict/network/collective_plan.h"

namespace parallelarium {
namespace {

struct LocksTest : testing::Test {
  LessonLocks locks;
  QSignalSpy hidden{&locks, &LessonLocks::hidden_changed};
  QSignalSpy allowed{&locks, &LessonLocks::allowed_changed};
  QSignalSpy question{&locks, &LessonLocks::question_changed};
  QSignalSpy guesses{&locks, &LessonLocks::guesses_changed};
};

TEST_F(LocksTest, AHiddenKeyHidesTheKeysBelowIt) {
  locks.set_hidden({QStringLiteral("bubble")});
  EXPECT_TRUE(locks.hidden(QStringLiteral("bubble")));
  EXPECT_TRUE(locks.hidden(QStringLiteral("bubble.of_total")));
  EXPECT_FALSE(locks.hidden(QStringLiteral("bubbles.of_total")));
  EXPECT_EQ(hidden.count(), 1);
  locks.set_hidden({QStringLiteral("bubble")});
  EXPECT_EQ(hidden.count(), 1) << "nothing changed";
}

TEST_F(LocksTest, WithoutKeysEverythingIsAllowed) {
  EXPECT_TRUE(locks.allowed(QStringLiteral("mesh.pp")));
  locks.set_allowed({QStringLiteral("microbatches")});
  EXPECT_FALSE(locks.allowed(QStringLiteral("mesh.pp")));
  EXPECT_TRUE(locks.allowed(QStringLiteral("microbatches")));
  EXPECT_EQ(allowed.count(), 1);
  EXPECT_EQ(hidden.count(), 0);
}

TEST_F(LocksTest, AGuessStandsAtTheSettingsAndTheCollectiveThatItIsAbout) {
  const QString metric = QStringLiteral("step.seconds");
  const parallelarium::Setup asked = new_setup();
  CollectiveChoice ring;
  Guess guess{metric, 2, QStringLiteral("2 s"), asked, {}};
  locks.set_guesses({guess});
  EXPECT_EQ(locks.guess_at(metric, asked, ring), QStringLiteral("2 s"));
  EXPECT_TRUE(locks.guess_at(QStringLiteral("step.tokens"), asked, ring).isEmpty());
  parallelarium::Setup elsewhere = asked;
  elsewhere.run.steps = 50;
  EXPECT_FALSE(locks.guess_at(metric, elsewhere, ring).isEmpty()) << "how to run is no matter";
  elsewhere.microbatches += 1;
  EXPECT_TRUE(locks.guess_at(metric, elsewhere, ring).isEmpty());
  guess.setup.reset();
  guess.collective = std::make_shared<const CollectiveChoice>(ring);
  locks.set_guesses({guess});
  CollectiveChoice wider = ring;
  wider.spec.ranks = 8;
  EXPECT_FALSE(locks.guess_at(metric, elsewhere, ring).isEmpty());
  EXPECT_TRUE(locks.guess_at(metric, elsewhere, wider).isEmpty());
  locks.set_hidden({metric});
  EXPECT_TRUE(locks.guess_at(metric, elsewhere, ring).isEmpty()) << "the lesson asks anew";
}

TEST_F(LocksTest, ClearingTellsWhatChangedAndKeepsTheLesson) {
  locks.set_lesson_state({{"lesson", "pipeline-bubble"}});
  locks.set_question_open(true, true);
  EXPECT_TRUE(locks.run_answers());
  locks.set_guesses({{QStringLiteral("bubble.of_total"), 0.2, QStringLiteral("20 %")}});
  EXPECT_EQ(question.count(), 1);
  EXPECT_EQ(guesses.count(), 1);
  locks.clear();
  EXPECT_FALSE(locks.question_open());
  EXPECT_FALSE(locks.run_answers());
  EXPECT_TRUE(locks.guesses().empty());
  EXPECT_EQ(question.count(), 2);
  EXPECT_EQ(guesses.count(), 2);
  EXPECT_EQ(hidden.count() + allowed.count(), 0) << "nothing was hidden or locked";
  EXPECT_EQ(locks.lesson_state()["lesson"], "pipeline-bubble");
}

}  // namespace
}  // namespace parallelarium

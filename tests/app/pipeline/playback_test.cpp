// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/step/playback.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

#include "tests/app/wait.h"

namespace parallelarium {
namespace {

constexpr Nanoseconds kHorizon{800};

struct PlaybackTest : testing::Test {
  PlaybackTest() { playback.set_horizon(kHorizon); }
  // As one frame does, where the step is in front.
  void advance(double share) {
    playback.set_playhead(playback.next(playback.playhead(), playback.played(), share));
  }
  Playback playback;
};

TEST_F(PlaybackTest, ThePlayheadStaysInsideTheHorizonAndTellsOfMovesOnly) {
  QSignalSpy moved(&playback, &Playback::playhead_changed);
  playback.set_playhead(Nanoseconds(2000));
  EXPECT_EQ(playback.playhead(), kHorizon);
  playback.set_playhead(Nanoseconds(3000));
  EXPECT_EQ(moved.count(), 1) << "it stood at the end already";
  playback.set_playhead(Nanoseconds(-5));
  EXPECT_EQ(playback.playhead(), Nanoseconds(0));
  EXPECT_EQ(moved.count(), 2);
}

TEST_F(PlaybackTest, APartPlaysOnlyWhileItIsInsideTheStep) {
  const TimeRange part{Nanoseconds(100), Nanoseconds(300)};
  playback.set_played(part);
  EXPECT_EQ(playback.played(), part);
  playback.set_horizon(Nanoseconds(250));
  EXPECT_EQ(playback.played(), (TimeRange{Nanoseconds(0), Nanoseconds(250)}));
}

TEST_F(PlaybackTest, AtTheEndItBeginsAgainWhereItLoops) {
  playback.set_played(TimeRange{Nanoseconds(100), Nanoseconds(300)});
  playback.set_playing(true);
  playback.set_playhead(Nanoseconds(20));
  advance(0.1);
  EXPECT_EQ(playback.playhead(), Nanoseconds(100)) << "it comes from before the part";
  advance(0.75);
  EXPECT_EQ(playback.playhead(), Nanoseconds(250));
  advance(0.5);
  EXPECT_EQ(playback.playhead(), Nanoseconds(100));
  EXPECT_TRUE(playback.playing());
}

TEST_F(PlaybackTest, AtTheEndItStopsWhereItDoesNotLoop) {
  playback.set_loops(false);
  playback.set_playing(true);
  playback.set_playhead(Nanoseconds(700));
  advance(0.5);
  EXPECT_EQ(playback.playhead(), kHorizon);
  EXPECT_FALSE(playback.playing());
}

TEST_F(PlaybackTest, NothingPlaysWhereAllIsHidden) {
  playback.set_horizon(Nanoseconds(0));
  playback.set_loops(false);
  playback.set_playing(true);
  advance(0.5);
  EXPECT_EQ(playback.playhead(), Nanoseconds(0));
  EXPECT_TRUE(playback.playing());
}

TEST_F(PlaybackTest, AFrameIsAShareOfTheStepAndNoneComesAfterAPause) {
  playback.set_seconds_per_step(0.5);
  double share = 0;
  QObject::connect(&playback, &Playback::frame, &playback, [&](double part) { share += part; });
  playback.set_playing(true);
  ASSERT_TRUE(wait_until([&] { return share > 0.1; }, 5000));
  playback.set_playing(false);
  const double before = share;
  wait_until([] { return false; }, 60);
  EXPECT_EQ(share, before);
}

TEST_F(PlaybackTest, EverySignalMeansOneThing) {
  QSignalSpy playing(&playback, &Playback::playing_changed);
  QSignalSpy speed(&playback, &Playback::speed_changed);
  QSignalSpy motion(&playback, &Playback::motion_changed);
  QSignalSpy played(&playback, &Playback::played_changed);
  QSignalSpy moved(&playback, &Playback::playhead_changed);
  playback.set_playing(true);
  playback.set_playing(true);
  EXPECT_EQ(playing.count(), 1);
  playback.set_seconds_per_step(6000);
  EXPECT_EQ(playback.seconds_per_step(), 600) << "slower than that looks like standing";
  EXPECT_EQ(speed.count(), 1);
  playback.set_reduced_motion(true);
  EXPECT_EQ(motion.count(), 1);
  playback.set_played(TimeRange{Nanoseconds(0), Nanoseconds(10)});
  EXPECT_EQ(played.count(), 1);
  EXPECT_EQ(playing.count() + speed.count() + moved.count(), 2);
}

}  // namespace
}  // namespace parallelarium

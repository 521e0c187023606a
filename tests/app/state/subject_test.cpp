// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/step/subject.h"

#include <gtest/gtest.h>

#include <QSignalSpy>

namespace parallelarium {
namespace {

constexpr Nanoseconds kZero{0}, kHorizon{1000};

// Of so many ops on one rank.
std::shared_ptr<const Prediction> prediction_of(std::size_t ops) {
  Prediction prediction;
  prediction.program.ranks.resize(1);
  prediction.program.ranks[0].ops.resize(ops);
  return std::make_shared<const Prediction>(std::move(prediction));
}

struct Shown {
  Shown() {
    subject.show(prediction_of(4));
    subject.set_horizon(kHorizon);
    subject.refit();
  }
  Subject subject;
};

// Spies hear what comes after the first prediction.
struct SubjectTest : testing::Test, Shown {
  QSignalSpy visible{&subject, &Subject::visible_changed};
  QSignalSpy selection{&subject, &Subject::selection_changed};
  QSignalSpy range{&subject, &Subject::range_changed};
  QSignalSpy marks{&subject, &Subject::marks_changed};
};

TEST_F(SubjectTest, FittingShowsAllAndTellsOfItOnce) {
  EXPECT_EQ(subject.visible(), (TimeRange{kZero, kHorizon}));
  subject.set_visible({Nanoseconds(100), Nanoseconds(200)});
  subject.fit_all();
  EXPECT_EQ(subject.visible(), (TimeRange{kZero, kHorizon}));
  subject.fit_all();
  EXPECT_EQ(subject.visible(), (TimeRange{kZero, kHorizon}));
  EXPECT_EQ(visible.count(), 2);
}

TEST_F(SubjectTest, WhatIsFittedFollowsTheHorizonAndWhatIsZoomedStays) {
  subject.set_horizon(Nanoseconds(400));
  subject.refit();
  EXPECT_EQ(subject.visible(), (TimeRange{kZero, Nanoseconds(400)}));
  const TimeRange zoomed{Nanoseconds(100), Nanoseconds(200)};
  subject.set_visible(zoomed);
  subject.set_horizon(kHorizon);
  subject.refit();
  EXPECT_EQ(subject.visible(), zoomed);
  subject.set_horizon(Nanoseconds(150));
  subject.refit();
  EXPECT_EQ(subject.visible(), (TimeRange{Nanoseconds(50), Nanoseconds(150)})) << "moved inside";
  subject.follow_lengths();
  subject.set_horizon(kHorizon);
  subject.refit();
  EXPECT_EQ(subject.visible(), (TimeRange{kZero, kHorizon}));
}

TEST_F(SubjectTest, ASelectionGoesWithTheOpThatItIsOf) {
  subject.select({0, 3}, true, Zoom::kLayers);
  EXPECT_EQ(selection.count(), 1);
  subject.show(prediction_of(4));
  EXPECT_EQ(subject.selected(), (OpRef{0, 3}));
  EXPECT_TRUE(subject.selected_in_run());
  EXPECT_EQ(subject.selected_zoom(), Zoom::kLayers);
  EXPECT_EQ(selection.count(), 1);
  subject.show(prediction_of(3));
  EXPECT_EQ(subject.selected(), OpRef{});
  EXPECT_EQ(selection.count(), 2);
}

TEST_F(SubjectTest, ADraggedRangeGoesWhenAnotherPredictionIsFitted) {
  subject.set_range(TimeRange{Nanoseconds(10), Nanoseconds(20)});
  EXPECT_EQ(range.count(), 1);
  subject.refit();
  EXPECT_FALSE(subject.range());
  EXPECT_EQ(range.count(), 2);
  subject.refit();
  EXPECT_EQ(range.count(), 2) << "there was none";
}

TEST_F(SubjectTest, MarksAreInOrderAndTellNothingElse) {
  subject.set_marks({Nanoseconds(30), Nanoseconds(10)});
  EXPECT_EQ(subject.marks(), (std::vector<Nanoseconds>{Nanoseconds(10), Nanoseconds(30)}));
  subject.set_marks({Nanoseconds(10), Nanoseconds(30)});
  EXPECT_EQ(marks.count(), 1);
  EXPECT_EQ(visible.count() + selection.count() + range.count(), 0);
}

}  // namespace
}  // namespace parallelarium

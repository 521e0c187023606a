// SPDX-License-Identifier: GPL-3.0-or-later
// What the Compare view says below its table, and in cells that have no figure.
#include "app/views/compare/compare_words.h"

#include <QPainter>

#include "app/views/compare/compare_paint.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "tests/app/plan/compare_fixture.h"

namespace parallelarium {
namespace {

TEST_F(CompareFixture, SaysTheRateOfEqualLinksOnce) {
  set("machine", "dgx-h100");
  set("tp", "2");
  session().pin();
  set("recompute", "full");
  ASSERT_EQ(comparison().entries.size(), 2u);
  const auto with = [&](const char* part) {
    return compare_notes(comparison()).filter(QLatin1String(part));
  };
  ASSERT_EQ(with("a rank sends").filter(QStringLiteral("TP:")).size(), 1);
  EXPECT_TRUE(with("a rank sends").front().startsWith(QStringLiteral("A, ")));
  EXPECT_TRUE(with("over the same links")
                  .contains(QStringLiteral("B, TP: over the same links at the same rate")));
  set("machine", "dgx-a100-80g");
  EXPECT_TRUE(with("over the same links").isEmpty());
  EXPECT_EQ(with("a rank sends").filter(QStringLiteral("TP:")).size(), 2);
}

// Durations of a rehearsal are set: they stand there, but nothing is made of them.
TEST_F(CompareFixture, ADifferenceOfDurationsThatAreSetSaysSo) {
  session().start_run(false);
  ASSERT_TRUE(wait_until(
      [&] { return session().jobs().state() == RunState::kIdle && session().runs().current(); },
      kAnswerMs));
  QApplication::processEvents();
  ASSERT_EQ(comparison().entries.size(), 2u);
  const Source source = session().runs().current()->observation.source;
  const auto row =
      std::find_if(comparison().beside.rows.begin(), comparison().beside.rows.end(),
                   [](const ComparedRow& one) { return one.metric == "step.seconds"; });
  const auto at = std::size_t(row - comparison().beside.rows.begin());
  ASSERT_TRUE(row->values[1]);
  if (source == Source::kPaced) {
    const bool late = lateness_of(session().runs().current()->observation).has_value();
    const QString word = late ? late_text() : QStringLiteral("set");
    EXPECT_EQ(difference_cell(comparison(), at, 1), word);
    EXPECT_FALSE(difference_stands(comparison(), at, 1)) << "no figure, but a word";
    EXPECT_TRUE(compare_notes(comparison()).contains(why_no_difference(comparison(), at, 1)));
    EXPECT_EQ(later_text(comparison(), 1, Nanoseconds(1000)), word);
    EXPECT_TRUE(comparison().explained.causes.empty());
    ASSERT_TRUE(comparison().explained.without_causes);
  } else {
    EXPECT_TRUE(row->differences[1]);
  }
  // Bytes were counted and waiting was observed: they have a difference, the strip's and that of
  // the figures beside it.
  const auto bubble =
      std::find_if(comparison().beside.rows.begin(), comparison().beside.rows.end(),
                   [](const ComparedRow& one) { return one.metric == "bubble.of_total"; });
  ASSERT_NE(bubble, comparison().beside.rows.end());
  EXPECT_EQ(
      difference_cell(comparison(), std::size_t(bubble - comparison().beside.rows.begin()), 1),
      step_quantities(session())[1].difference);
  for (std::size_t one = 0; one < comparison().beside.rows.size(); ++one)
    if (comparison().beside.rows[one].metric == "traffic.pp.sent_bytes") {
      EXPECT_EQ(comparison().beside.rows[one].differences[1], 0.0);
    }
}

// A word in the table that stands for a sentence has it under the mouse.
TEST_F(CompareFixture, AWordInTheTableHasItsSentenceUnderTheMouse) {
  session().start_run(false);
  ASSERT_TRUE(wait_until(
      [&] { return session().jobs().state() == RunState::kIdle && session().runs().current(); },
      kAnswerMs));
  QApplication::processEvents();
  if (session().runs().current()->observation.source != Source::kPaced)
    GTEST_SKIP() << "no duration is set here";
  ComparePicture picture;
  picture.comparison = &comparison();
  QImage image(900, int(compare_height(900, picture, light_theme())), QImage::Format_RGB32);
  QPainter painter(&image);
  CompareHits hits;
  paint_compare(painter, 900, picture, light_theme(), &hits, nullptr);
  painter.end();
  ASSERT_FALSE(hits.reasons.empty());
  for (const auto& [cell, why] : hits.reasons)
    EXPECT_TRUE(compare_notes(comparison()).contains(why));
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The pane "Who holds what": its cells against the plan of the memory, its keys, texts and states.
#include <gmock/gmock.h>

#include <QPushButton>
#include <QSignalSpy>
#include <QTest>

#include "app/look/figures.h"
#include "app/views/memory/holders/holders_pane.h"
#include "app/views/memory/holders/shared_messages.h"
#include "app/views/memory/memory_view.h"
#include "tests/app/views/memory_fixture.h"

namespace parallelarium {
namespace {

class Holders : public testing::Test {
 protected:
  void show(const PlanSetup& setup, QSize size = QSize(872, 690)) {
    session.restore(setup, {}, std::nullopt);
    session.wait_for_prediction();
    session.playback().set_playing(false);
    session.playback().set_playhead(Nanoseconds(0));
    view.resize(size);
    view.show_pane(MemoryView::Pane::kHolders);
    view.show();
    view.wait();
    pane = view.findChild<HoldersPane*>();
    ASSERT_TRUE(pane && pane->isVisible());
  }
  Session session;
  MemoryView view{session};
  HoldersPane* pane = nullptr;
};

TEST_F(Holders, CellsAddUpToWhatTheMemoryPlanHolds) {
  for (const int zero : {0, 1, 2, 3}) {
    show(data_parallel(zero));
    const HoldersPicture& picture = pane->picture();
    ASSERT_EQ(picture.rows.size(), 4u);
    EXPECT_EQ(picture.columns.size(), 10u) << "tables, eight layers, head";
    const RankProgram& rank = session.subject().prediction()->program.ranks[0];
    std::int64_t planned = 0;
    for (const Buffer& buffer : rank.buffers)
      if (buffer.category == Category::kOptimizer) planned += buffer.bytes;
    EXPECT_NEAR(double(picture.rows[0].bytes[2]), double(planned), 10) << "ZeRO " << zero;
  }
}

TEST_F(Holders, KeysLeadThroughEveryChangeAndTheTextFollows) {
  show(data_parallel(3));
  EXPECT_THAT(view.findChild<HoldersPane*>()->accessibleDescription().toStdString(),
              testing::HasSubstr("Rank 3: tables parameters shard, 75"));
  bool gathers = false, scatters = false, partial = false;
  Nanoseconds before(-1);
  while (session.playback().playhead() > before) {
    before = session.playback().playhead();
    QTest::keyClick(pane, Qt::Key_N);
    for (const HoldersPicture::Moving& moving : pane->picture().moving) {
      gathers = gathers || moving.name.contains(QStringLiteral("parameters"));
      scatters = scatters || moving.name.contains(QStringLiteral("gradients"));
    }
    partial = partial || pane->accessibleDescription().contains(QStringLiteral("partial sum"));
  }
  EXPECT_TRUE(gathers);
  EXPECT_TRUE(scatters);
  EXPECT_TRUE(partial);
  QTest::keyClick(pane, Qt::Key_P);
  EXPECT_LT(session.playback().playhead(), before);
}

TEST_F(Holders, ACellTellsItsBytes) {
  show(data_parallel(1));
  QSignalSpy described(&view, &MemoryView::described);
  const HoldersLayout at = holders_layout(pane->picture(), pane->size());
  QTest::mouseClick(pane, Qt::LeftButton, {}, at.cell(1, 2).center().toPoint());
  QTest::keyClick(pane, Qt::Key_Down);
  ASSERT_EQ(described.count(), 2);
  const auto text = described[1][0].value<SelectionText>();
  EXPECT_EQ(text.headline, QStringLiteral("Rank 2 \u00b7 layer 1"));
  ASSERT_EQ(text.facts.size(), 3u);
  EXPECT_EQ(text.facts[0].value, QStringLiteral("195\u00a0KiB \u00b7 copy"));
  EXPECT_THAT(text.facts[2].value.toStdString(), testing::HasSubstr("shard, 50"));
}

TEST_F(Holders, WhereNothingIsSharedAButtonSharesIt) {
  PlanSetup alone = data_parallel(0);
  alone.mesh.dp = 1;
  show(alone);
  ASSERT_TRUE(pane->picture().instead);
  auto* more = pane->findChild<QPushButton*>();
  ASSERT_TRUE(more && more->isVisible());
  more->click();
  session.wait_for_prediction();
  EXPECT_EQ(session.setup().mesh.dp, 4);
  EXPECT_FALSE(pane->picture().instead);
  session.history().stack().undo();
  EXPECT_EQ(session.setup().mesh.dp, 1);
}

TEST_F(Holders, ALessonHidesItUntilItsQuestionIsAnswered) {
  show(data_parallel(3));
  session.locks().set_hidden({QStringLiteral("memory")});
  ASSERT_TRUE(pane->picture().instead);
  EXPECT_TRUE(pane->picture().rows.empty());
  EXPECT_FALSE(pane->accessibleDescription().contains(QStringLiteral("shard")));
}

// A step of plain data parallelism sends 2 Ψ (N-1)/N once, at its end; ZeRO 3 gathers each bucket
// for the forward and the backward of each micro-batch and reduces it after the backward.
TEST_F(Holders, SayWhatIsSentNextAndInAStep) {
  const auto calls = [&](Category of) {
    const Prediction& prediction = *session.subject().prediction();
    const auto messages = shared_messages(prediction.program, prediction.timeline, 0);
    return std::count_if(messages.begin(), messages.end(),
                         [&](const SharedMessage& message) { return message.of == of; });
  };
  show(data_parallel(0));
  const auto parameters = count_parameters(session.subject().prediction()->setup.model).total;
  const QString sent = bytes_text(std::int64_t(parameters) * 4 * 2 * 3 / 4);
  EXPECT_THAT(pane->picture().messages.toStdString(),
              testing::HasSubstr("Next: the all-reduce of gradients"));
  EXPECT_TRUE(pane->picture().messages.endsWith(
      QStringLiteral("sent in a step: all-reduce of gradients ") + sent))
      << pane->picture().messages.toStdString();
  EXPECT_EQ(calls(Category::kParameters), 0);
  session.playback().set_playhead(session.subject().prediction()->timeline.duration);
  EXPECT_FALSE(pane->picture().messages.contains(QStringLiteral("Next")));

  show(data_parallel(3));
  const auto& setup = session.setup();
  const int buckets = setup.model.layers + 2, microbatches = setup.microbatches;
  EXPECT_GE(calls(Category::kParameters), buckets * microbatches);
  EXPECT_LE(calls(Category::kParameters), 2 * buckets * microbatches);
  EXPECT_GE(calls(Category::kGradients), buckets);
  session.locks().set_hidden({QStringLiteral("traffic.sent_bytes")});
  pane->refresh();
  EXPECT_FALSE(pane->picture().messages.contains(QStringLiteral("sent in a step")));
}

// Where a message is long enough for its name it has it, and nothing is painted left of the axis.
TEST_F(Holders, MessagesHaveTheirNamesWhereThereIsRoom) {
  show(data_parallel(0));
  const Prediction& prediction = *session.subject().prediction();
  const std::vector<SharedMessage> messages =
      shared_messages(prediction.program, prediction.timeline, 0);
  ASSERT_FALSE(messages.empty());
  const auto painted = [&](TimeRange range) {
    QImage image(QSize(800, 40), QImage::Format_RGB32);
    QPainter painter(&image);
    TextLog texts;
    paint_shared_messages(painter, QRectF(0, 0, 800, 40), messages, {range, 70, 730}, light_theme(),
                          &texts);
    return std::count_if(texts.begin(), texts.end(), [](const auto& text) {
      return text.text == QStringLiteral("all-reduce");
    });
  };
  EXPECT_EQ(painted(messages.front().range), 1);
  EXPECT_EQ(painted({Nanoseconds(0), messages.front().range.begin}), 0);
}

// Beside each bar stands what it is and how many bytes the rank holds of it; colours are named
// once, there, and in a legend only where the bars are too low for words.
TEST_F(Holders, EveryBarHasItsNameAndItsBytes) {
  show(data_parallel(2));
  for (const QSize& size : {QSize(840, 420), QSize(840, 180)}) {
    const HoldersPicture& picture = pane->picture();
    const HoldersLayout at = holders_layout(picture, size);
    TextLog texts;
    QImage image(size, QImage::Format_RGB32);
    QPainter painter(&image);
    paint_holders(painter, picture, at, size, {-1, -1}, light_theme(), &texts);
    const auto count = [&](const QString& word) {
      return std::count_if(texts.begin(), texts.end(),
                           [&](const auto& text) { return text.text == word; });
    };
    EXPECT_EQ(at.named, size.height() > 200);
    const auto rows = std::ptrdiff_t(picture.rows.size());
    for (const char* kind : {"parameters", "gradients", "optimizer state"})
      EXPECT_EQ(count(QLatin1String(kind)), at.named ? rows : 0) << kind;
    if (!at.named) continue;
    for (const HoldersRow& row : picture.rows)
      for (const std::int64_t bytes : row.bytes) EXPECT_GE(count(bytes_text(bytes)), 1);
  }
}

// Alike layers are one column, and of many ranks the first and the last are shown.
TEST_F(Holders, ManyLayersAndRanksFit) {
  PlanSetup setup = data_parallel(1);
  setup.model.layers = 48;
  setup.mesh.dp = 12;
  show(setup);
  const HoldersPicture& picture = pane->picture();
  EXPECT_EQ(picture.rows.size(), 8u);
  EXPECT_EQ(picture.rows.back().rank, 11);
  EXPECT_EQ(picture.more_ranks, 4);
  EXPECT_LE(picture.columns.size(), 4u);
  TextLog texts;
  QImage image(800, 500, QImage::Format_RGB32);
  QPainter painter(&image);
  paint_holders(painter, picture, holders_layout(picture, image.size()), image.size(), {-1, -1},
                light_theme(), &texts);
  EXPECT_GE(texts.size(), 20u);
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// Who holds what: activations by layer and micro-batch, chunks and messages on their way, the text.
#include <gmock/gmock.h>

#include <map>
#include <set>

#include "app/look/figures.h"
#include "app/look/spoken.h"
#include "app/views/memory/holders/shared_messages.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/app/views/holders_fixture.h"

namespace parallelarium {
namespace {

class HoldersActivations : public HoldersFixture {};

// Ranks, and layers side by side, that hold alike are said once.
TEST_F(HoldersActivations, WhatIsHeldAlikeIsSaidTogether) {
  show(data_parallel(0));
  session.playback().set_playhead(session.subject().horizon());
  const QString text = heard_text(*pane);
  EXPECT_THAT(text.toStdString(), testing::HasSubstr("Each of ranks 0, 1, 2, 3: "));
  EXPECT_THAT(text.toStdString(), testing::HasSubstr("layers 0\u20137 parameters copy"));
  EXPECT_EQ(text.count(QStringLiteral("parameters copy")), 3) << "tables, layers, head";
}

// Of every row and layer, at moments of the whole step.
TEST_F(HoldersActivations, ActivationsAreThoseOfOpenBuffersByLayer) {
  PlanSetup setup = data_parallel(1);
  setup.mesh.pp = 2;
  setup.mesh.dp = 2;
  setup.microbatches = 4;
  show(setup);
  const Prediction& prediction = *session.subject().prediction();
  int most = 0, some = 0;
  for (int moment = 1; moment < 40; ++moment) {
    const Nanoseconds now(prediction.timeline.duration.count() * moment / 40);
    session.playback().set_playhead(now);
    for (std::size_t at = 0; at < pane->picture().rows.size(); ++at) {
      const HoldersRow& row = pane->picture().rows[at];
      const RankProgram& rank = prediction.program.ranks[std::size_t(row.index)];
      const auto& spans = prediction.timeline.ranks[std::size_t(row.index)].spans;
      std::int64_t all = 0;
      std::map<int, std::int64_t> bytes;
      std::map<int, std::set<int>> microbatches;
      for (const Buffer& buffer : rank.buffers) {
        if (buffer.category != Category::kActivations || buffer.opened_by < 0 ||
            spans[std::size_t(buffer.opened_by)].begin > now ||
            spans[std::size_t(buffer.closed_by)].end <= now)
          continue;
        all += buffer.bytes;
        bytes[buffer.layer] += buffer.bytes;
        microbatches[buffer.layer].insert(buffer.microbatch);
      }
      EXPECT_EQ(row.activation_bytes, all);
      const std::vector<FactLine> facts = holders_words(pane->picture(), int(at), -1).facts;
      EXPECT_EQ(facts[kHeldKinds].value, bytes_text(all));
      std::int64_t together = 0;
      for (const HeldActivations& held : row.activations) together += held.bytes;
      EXPECT_EQ(together, row.activation_bytes);
      for (const int layer : rank.layers) {
        const HeldActivations& held = row.activations[std::size_t(layer + 1)];
        EXPECT_GE(held.bytes, bytes[layer]);
        for (const int microbatch : microbatches[layer]) {
          const auto& found = held.microbatches;
          EXPECT_TRUE(std::find(found.begin(), found.end(), microbatch) != found.end());
        }
        most = std::max(most, int(held.microbatches.size()));
        some += held.bytes > 0;
      }
    }
  }
  EXPECT_GT(some, 100);
  EXPECT_GE(most, 2) << "the first stage of two holds two micro-batches";
  EXPECT_LE(most, pane->picture().microbatches);
}

// The bars of every page are to one scale: early stages hold more micro-batches at once.
TEST_F(HoldersActivations, EveryPageCountsMicrobatchesOnOneScale) {
  PlanSetup setup = data_parallel(0);
  setup.mesh.pp = 4;
  setup.mesh.dp = 4;
  setup.microbatches = 8;
  show(setup);
  const Prediction& prediction = *session.subject().prediction();
  const auto most_of = [&](int rank) {
    return ActivationsHeld(prediction.program, prediction.timeline, rank).most_microbatches();
  };
  int most = 0;
  for (int rank = 0; rank < int(prediction.program.ranks.size()); ++rank)
    most = std::max(most, most_of(rank));
  for (const int page : {0, 1}) {
    const HoldersPicture& picture = pane->picture();
    ASSERT_EQ(picture.first_row, 8 * page);
    int here = 0;
    for (const HoldersRow& row : picture.rows) here = std::max(here, most_of(row.index));
    EXPECT_EQ(here == most, page == 0) << "page " << page << " holds " << here;
    EXPECT_EQ(picture.microbatches, most);
    QTest::keyClick(pane, Qt::Key_Return);
  }
}

// A rank's own part goes to all others, or all others' values of it come to that rank.
TEST_F(HoldersActivations, ChunksTravelBetweenTheRowsWhileTheirCollectiveRuns) {
  show(data_parallel(3));
  const Program& program = session.subject().prediction()->program;
  std::set<CollectiveKind> seen;
  Nanoseconds before(-1);
  while (session.playback().playhead() > before && seen.size() < 2) {
    before = session.playback().playhead();
    QTest::keyClick(pane, Qt::Key_N);
    // A little later it is on its way.
    const Nanoseconds change = session.playback().playhead();
    session.playback().set_playhead(change + Nanoseconds(1000));
    const HoldersPicture& picture = pane->picture();
    for (const HoldersPicture::Moving& moving : picture.moving) {
      const HoldersRow& first = picture.rows[std::size_t(moving.rows.front())];
      const auto& cell = first.cells[std::size_t(moving.column)];
      if (cell.size() != 1 || moving.column == 0) continue;
      const std::int32_t op = state_of_kind(cell[0], moving.kind).op;
      const CollectiveKind kind =
          program.ranks[std::size_t(first.index)].ops[std::size_t(op)].collective;
      seen.insert(kind);
      EXPECT_EQ(moving.chunks.size(), 4u * 3u);
      for (const HoldersPicture::Chunk& chunk : moving.chunks) {
        const bool gathers = kind == CollectiveKind::kAllGather;
        const int owner = gathers ? chunk.from : chunk.to;
        const int rank = picture.rows[std::size_t(owner)].rank;
        EXPECT_NEAR(chunk.begin, rank / 4.0, 1e-9) << "where that rank's shard lies";
        EXPECT_NEAR(chunk.end, (rank + 1) / 4.0, 1e-9);
        EXPECT_NE(chunk.from, chunk.to);
        EXPECT_EQ(chunk.share, moving.done);
      }
      const HoldersPicture::Chunk& chunk = moving.chunks.back();  // over all others
      const QSize size(1000, 600);
      const HoldersLayout at = holders_layout(picture, size);
      QImage image(size, QImage::Format_RGB32);
      QPainter painter(&image);
      painter.fillRect(image.rect(), light_theme().surface);
      paint_holders(painter, picture, at, size, {-1, -1}, light_theme(), nullptr);
      const QRectF from = at.bar_of(at.cell(chunk.from, moving.column), moving.kind);
      const QRectF to = at.bar_of(at.cell(chunk.to, moving.column), moving.kind);
      const QPointF point(from.left() + from.width() * (chunk.begin + chunk.end) / 2,
                          from.center().y() + (to.center().y() - from.center().y()) * chunk.share);
      EXPECT_EQ(image.pixelColor(point.toPoint()), light_theme().solid(OpColor::kCommunication));
    }
    session.playback().set_playhead(change);
  }
  EXPECT_EQ(seen, (std::set{CollectiveKind::kAllGather, CollectiveKind::kReduceScatter}));
}

// Where a message is long enough for its name it has it, and nothing is painted left of the axis.
TEST_F(HoldersActivations, MessagesHaveTheirNamesWhereThereIsRoom) {
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

// Gathered parameters are parameters of the row and buffers of the curve: words say both, with the
// bytes of the buffers that are open then.
TEST_F(HoldersActivations, GatheredBytesAreFoundInTheCurve) {
  show(data_parallel(3));
  const Prediction& prediction = *session.subject().prediction();
  const auto& spans = prediction.timeline.ranks[0].spans;
  int gathered = 0;
  Nanoseconds before(-1);
  while (session.playback().playhead() > before) {
    before = session.playback().playhead();
    QTest::keyClick(pane, Qt::Key_N);
    const Nanoseconds now = session.playback().playhead();
    std::int64_t open = 0, kept = 0;
    for (const Buffer& buffer : prediction.program.ranks[0].buffers) {
      if (buffer.category == Category::kParameters) kept += buffer.bytes;
      if (buffer.tensor == Tensor::kGathered && spans[std::size_t(buffer.opened_by)].begin <= now &&
          now < spans[std::size_t(buffer.closed_by)].end)
        open += buffer.bytes;
    }
    const QString words = holders_words(pane->picture(), 0, -1).facts[0].value;
    EXPECT_NEAR(double(pane->picture().rows[0].bytes[0]), double(kept + open), 10);
    if (open == 0) continue;
    ++gathered;
    EXPECT_TRUE(words.contains(bytes_text(open) + QStringLiteral(" of it gathered (a buffer")))
        << words.toStdString();
  }
  EXPECT_GT(gathered, 5);
}

// Bars, activations and buffers are together what the memory over the step has at that time, on
// every rank that has a row.
TEST_F(HoldersActivations, EveryByteOfTheCurveIsInSomeFigureOfTheRow) {
  using Fields = std::vector<std::pair<const char*, const char*>>;
  for (const Fields& fields :
       std::vector<Fields>{{{"dp", "2"}, {"tp", "2"}, {"zero", "0"}},
                           {{"dp", "2"}, {"tp", "2"}, {"zero", "1"}},
                           {{"dp", "2"}, {"tp", "2"}, {"zero", "2"}},
                           {{"dp", "2"}, {"tp", "2"}, {"zero", "3"}},
                           {{"dp", "2"}, {"tp", "2"}, {"zero", "1"}, {"sequence-parallel", "on"}},
                           {{"dp", "2"}, {"cp", "2"}, {"zero", "1"}, {"attention", "fused"}},
                           {{"dp", "4"}, {"zero", "3"}, {"zero-group", "2"}},
                           {{"dp", "2"}, {"pp", "2"}, {"zero", "1"}},
                           {{"model", "moe-tiny"}, {"dp", "4"}, {"ep", "2"}, {"zero", "1"}}}) {
    PlanSetup setup = data_parallel(0);
    std::string told;
    for (const auto& [field, value] : fields) {
      ASSERT_TRUE(set_field(setup, field, value)) << field;
      told += std::string(field) + " " + value + " ";
    }
    SCOPED_TRACE(told);
    show(setup);
    ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
    const Prediction& prediction = *session.subject().prediction();
    std::size_t some = 0;
    const std::size_t rows = pane->picture().rows.size();
    ASSERT_EQ(rows, std::size_t(setup.mesh.ranks()));
    for (std::size_t of = 0; of < rows; ++of) {
      const std::vector<MemoryPoint> curve =
          memory_over_time(prediction.program, prediction.timeline, pane->picture().rows[of].index);
      for (std::size_t at = 1; at + 1 < curve.size(); at += 7) {
        session.playback().set_playhead(curve[at].time);
        const HoldersRow& row = pane->picture().rows[of];
        std::int64_t all = 0;
        for (const std::int64_t bytes : curve[at].bytes) all += bytes;
        ASSERT_NEAR(double(row.all_bytes()), double(all), 20) << "row " << of << " at " << at;
        const std::int64_t buffers = curve[at].bytes[std::size_t(Category::kBuffers)];
        EXPECT_NEAR(double(row.buffer_bytes() + row.passing_bytes[0] + row.passing_bytes[1]),
                    double(buffers), 20);
        const std::vector<FactLine> facts = holders_words(pane->picture(), int(of), -1).facts;
        EXPECT_TRUE(facts[kHeldBars].value.startsWith(bytes_text(row.buffer_bytes())));
        EXPECT_EQ(facts.back().value, bytes_text(row.all_bytes()));
        some += row.buffer_bytes() > 0;
      }
    }
    EXPECT_GT(some, 10u);
  }
}

// A rank that is chosen here or in another view has its row, on whatever page it is.
TEST_F(HoldersActivations, ASelectedRankBringsItsPage) {
  PlanSetup setup = data_parallel(1);
  setup.mesh.dp = 24;
  setup.microbatches = 24;
  show(setup);
  const auto shows = [&](int rank) {
    const auto& rows = pane->picture().rows;
    return std::any_of(rows.begin(), rows.end(),
                       [&](const HoldersRow& row) { return row.rank == rank; });
  };
  EXPECT_EQ(pane->picture().first_row, 0);
  pane->show_rank(17);
  EXPECT_EQ(pane->picture().first_row, 16);
  EXPECT_TRUE(shows(17));
  QTest::keyClick(pane, Qt::Key_Return);
  EXPECT_FALSE(shows(17));
  pane->show_rank(17);
  const std::vector<RankProgram>& built = session.subject().prediction()->program.ranks;
  ASSERT_FALSE(shows(built.front().rank));
  session.subject().select({0, 0}, false);
  EXPECT_TRUE(shows(built.front().rank));
}

// The menu asks for other ranks even where nobody has a row.
TEST_F(HoldersActivations, WithoutRowsNoOtherRanksAreShown) {
  PlanSetup alone = data_parallel(0);
  alone.mesh.dp = 1;
  show(alone);
  ASSERT_TRUE(pane->picture().rows.empty());
  for (QAction* action : pane->key_actions()) action->trigger();
  EXPECT_TRUE(pane->picture().rows.empty());
}

// A rank that is asked for while another pane is shown comes later: the cell is chosen no more.
TEST_F(HoldersActivations, AnotherPageHasNoChosenCell) {
  PlanSetup setup = data_parallel(1);
  setup.mesh.dp = 24;
  setup.microbatches = 24;
  show(setup);
  const QString plain = pane->moment();
  QTest::keyClick(pane, Qt::Key_Right);
  EXPECT_NE(pane->moment(), plain);
  view.show_pane(MemoryView::Pane::kStep);
  pane->show_rank(17);
  view.show_pane(MemoryView::Pane::kHolders);
  ASSERT_EQ(pane->picture().first_row, 16);
  EXPECT_EQ(pane->moment(), holders_moment(pane->picture()));
}

// What the head adds to the embedding's table is said below it, not in a tooltip alone.
TEST_F(HoldersActivations, BelowTheTablesStandsThatTheHeadAddsToThem) {
  const auto note = QStringLiteral("tied: the head adds gradients");
  for (const int pp : {1, 2})
    for (const bool tied : {true, false}) {
      PlanSetup setup = data_parallel(0);
      setup.mesh.pp = pp;
      setup.model.tied = tied;
      setup.model.name = "custom";
      show(setup);
      int said = 0;
      const Nanoseconds all = session.subject().prediction()->timeline.duration;
      for (int moment = 0; moment < 20; ++moment) {
        session.playback().set_playhead(Nanoseconds(all.count() * moment / 20));
        const QSize size(1000, 600);
        const HoldersPicture& picture = pane->picture();
        QImage image(size, QImage::Format_RGB32);
        QPainter painter(&image);
        TextLog texts;
        paint_holders(painter, picture, holders_layout(picture, size), size, {-1, -1},
                      light_theme(), &texts);
        const bool here = std::any_of(texts.begin(), texts.end(),
                                      [&](const auto& text) { return text.text == note; });
        // The words are three columns wide; while a collective is under way in one of these, how
        // much of it is done stands there.
        const bool taken = std::any_of(picture.moving.begin(), picture.moving.end(),
                                       [](const auto& moving) { return moving.column < 3; });
        EXPECT_EQ(here, !taken && heard_text(*pane).contains(
                                      QStringLiteral("tables: the head adds to the gradients")));
        said += here;
        EXPECT_FALSE(here && moment == 0);
      }
      // Of two stages the head's has a table of its own.
      EXPECT_EQ(said > 0, tied && pp == 1) << "PP " << pp;
    }
}

// What the picture shows of a run a screen reader hears, too.
TEST(HoldersWords, LossAndHashOfARankAreToldInWords) {
  HoldersPicture picture;
  picture.all_rows = 2;
  for (const bool own_part : {true, false}) {
    HoldersRow row;
    row.name = own_part ? QStringLiteral("Rank 0") : QStringLiteral("Rank 1");
    row.loss = QStringLiteral("4.842");
    row.hash = QStringLiteral("7dce10");
    row.own_part = own_part;
    row.agrees = own_part;
    picture.rows.push_back(row);
  }
  const QString text = holders_description(picture);
  for (const char* words : {"loss 4.842", "fingerprint of the part that it updates alone: 7dce10",
                            "fingerprint of its parameters: 7dce10, another than"}) {
    EXPECT_TRUE(text.contains(QLatin1String(words))) << words << "\n" << text.toStdString();
    int rows = 0;
    for (const int row : {0, 1})
      rows += selection_sentence(holders_words(picture, row, -1)).contains(QLatin1String(words));
    EXPECT_GE(rows, 1) << words;
  }
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The pane "Who holds what": its cells against the plan of the memory, its keys, texts and states.
#include <gmock/gmock.h>

#include <QPushButton>
#include <QSignalSpy>
#include <QTest>
#include <algorithm>
#include <set>

#include "app/look/figures.h"
#include "app/look/spoken.h"
#include "app/views/memory/holders/shared_messages.h"
#include "tests/app/views/holders_fixture.h"

namespace parallelarium {
namespace {

class Holders : public HoldersFixture {};

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
  EXPECT_THAT(heard_text(*pane).toStdString(),
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
    partial = partial || heard_text(*pane).contains(QStringLiteral("partial sum"));
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
  ASSERT_EQ(text.facts.size(), 4u);
  EXPECT_EQ(text.facts[0].value, QStringLiteral("195\u00a0KiB \u00b7 copy"));
  EXPECT_THAT(text.facts[2].value.toStdString(), testing::HasSubstr("shard, 50"));
}

// Tied tables: the head adds to the gradient of the embedding's table from the first backward on.
TEST_F(Holders, ATiedTableSaysThatTheHeadAddsToItsGradient) {
  const auto says = [&](int column) {
    for (const FactLine& fact : holders_words(pane->picture(), 0, column).facts)
      if (fact.value.contains(QStringLiteral("The head has the same table"))) return true;
    return false;
  };
  for (const bool tied : {true, false}) {
    PlanSetup setup = data_parallel(0);
    setup.model.tied = tied;
    setup.model.name = "custom";
    show(setup);
    EXPECT_FALSE(says(0)) << "there is no gradient yet";
    const auto adds = [&] {
      const auto& cell = pane->picture().rows[0].cells[0];
      return !cell.empty() && cell[0].gradients.as == HeldAs::kPartialSum;
    };
    QTest::keyClick(pane, Qt::Key_M);
    Nanoseconds before(-1);
    while (!adds() && session.playback().playhead() > before) {
      before = session.playback().playhead();
      QTest::keyClick(pane, Qt::Key_N);
    }
    ASSERT_TRUE(adds()) << tied;
    EXPECT_EQ(says(0), tied);
    EXPECT_FALSE(says(1));
  }
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
  EXPECT_FALSE(heard_text(*pane).contains(QStringLiteral("shard")));
}

// A step of plain data parallelism sends 2 Ψ (N-1)/N once, at its end; ZeRO 3 gathers each bucket
// for the forward and the backward of each micro-batch and reduces it after the backward.
TEST_F(Holders, SayWhatIsSentNextAndInAStep) {
  const auto calls = [&](Purpose of) {
    const Prediction& prediction = *session.subject().prediction();
    const auto messages = shared_messages(prediction.program, prediction.timeline, 0);
    return std::count_if(messages.begin(), messages.end(), [&](const SharedMessage& message) {
      const auto& ops = prediction.program.ranks[0].ops;
      return ops[std::size_t(message.op)].purpose == of;
    });
  };
  show(data_parallel(0));
  const auto parameters = count_parameters(session.subject().prediction()->setup.model).total;
  const QString sent = bytes_text(std::int64_t(parameters) * 4 * 2 * 3 / 4);
  EXPECT_THAT(pane->picture().messages.join(u'\n').toStdString(),
              testing::HasSubstr("Next: the all-reduce of gradients"));
  EXPECT_EQ(pane->picture().messages.back(),
            QStringLiteral("sent by rank 0 in a step: 10 \u00d7 all-reduce of gradients ") + sent);
  EXPECT_EQ(calls(Purpose::kParameters), 0);
  session.playback().set_playhead(session.subject().prediction()->timeline.duration);
  EXPECT_FALSE(pane->picture().messages.join(u'\n').contains(QStringLiteral("Next")));

  show(data_parallel(3));
  const auto& setup = session.setup();
  const int buckets = setup.model.layers + 2, microbatches = setup.microbatches;
  EXPECT_GE(calls(Purpose::kParameters), buckets * microbatches);
  EXPECT_LE(calls(Purpose::kParameters), 2 * buckets * microbatches);
  EXPECT_GE(calls(Purpose::kGradients), buckets);
  session.locks().set_hidden({QStringLiteral("traffic.sent_bytes")});
  pane->refresh();
  EXPECT_FALSE(pane->picture().messages.join(u'\n').contains(QStringLiteral("in a step")));
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
    for (const char* kind : {"parameters", "gradients", "optimizer state", "activations"})
      EXPECT_EQ(count(QLatin1String(kind)), at.named ? rows : 0) << kind;
    if (!at.named) continue;
    for (const HoldersRow& row : picture.rows)
      for (const std::int64_t bytes : row.bytes) EXPECT_GE(count(bytes_text(bytes)), 1);
  }
}

// Texts of the picture at that size, none on another.
TextLog painted_texts(const HoldersPicture& picture, QSize size) {
  TextLog texts;
  QImage image(size, QImage::Format_RGB32);
  QPainter painter(&image);
  paint_holders(painter, picture, holders_layout(picture, size), size, {-1, -1}, light_theme(),
                &texts);
  EXPECT_EQ(overlapping(texts), "") << size.width() << " x " << size.height();
  return texts;
}

bool has_text(const TextLog& texts, const QString& part) {
  return std::any_of(texts.begin(), texts.end(),
                     [&](const PaintedText& text) { return text.text.contains(part); });
}

// Alike layers are one column, and of many ranks the next are shown by Enter or a click.
TEST_F(Holders, ManyLayersAndRanksFit) {
  PlanSetup setup = data_parallel(1);
  setup.model.layers = 48;
  setup.mesh.dp = 12;
  show(setup);
  std::set<int> ranks;
  const auto look = [&](std::size_t rows) {
    const HoldersPicture& picture = pane->picture();
    ASSERT_EQ(picture.rows.size(), rows);
    EXPECT_LE(picture.columns.size(), 4u);
    for (const HoldersRow& row : picture.rows) ranks.insert(row.rank);
    for (const QSize& size : {QSize(840, 420), QSize(700, 330), QSize(560, 300)})
      EXPECT_TRUE(has_text(painted_texts(picture, size), QStringLiteral("of 12 ranks")));
  };
  look(8);
  EXPECT_THAT(heard_text(*pane).toStdString(), testing::HasSubstr("8 of 12 ranks"));
  QTest::keyClick(pane, Qt::Key_Return);
  look(4);
  EXPECT_EQ(ranks.size(), 12u);
  const QRectF others = holders_layout(pane->picture(), pane->size()).other_rows;
  QTest::mouseClick(pane, Qt::LeftButton, {}, others.center().toPoint());
  look(8);
}

// Activations come and go layer by layer; the columns stay where they are, and words say the range.
TEST_F(Holders, ColumnsStayWhileTheForwardPlays) {
  PlanSetup setup = data_parallel(0);
  setup.model.layers = 48;
  setup.mesh.dp = 2;
  show(setup);
  QTest::keyClick(pane, Qt::Key_M);
  ASSERT_TRUE(pane->picture().moment.startsWith(QStringLiteral("After the forward")));
  const std::int64_t forward = session.playback().playhead().count();
  int ranges = 0;
  for (int moment = 1; moment <= 20; ++moment) {
    session.playback().set_playhead(Nanoseconds(forward * moment / 20));
    ASSERT_EQ(pane->picture().columns.size(), 3u) << "tables, layers, head at " << moment;
    const HoldersRow& row = pane->picture().rows[0];
    const ColumnActivations& layers = row.activations[1];
    EXPECT_EQ(row.activations[0].bytes + layers.bytes + row.activations[2].bytes,
              row.activation_bytes);
    EXPECT_LE(layers.bytes, 48 * layers.most_bytes);
    EXPECT_GE(layers.bytes, 48 * layers.least_bytes);
    const bool ranges_over = layers.least_bytes < layers.most_bytes;
    const QString words = holders_words(pane->picture(), 0, 1).facts.back().value;
    EXPECT_EQ(words.contains(bytes_text(layers.least_bytes) + QStringLiteral(" to ") +
                             bytes_text(layers.most_bytes) + QStringLiteral(" in each layer")),
              ranges_over)
        << words.toStdString();
    ranges += ranges_over;
  }
  EXPECT_GT(ranges, 10);
}

// A low pane has fewer rows, each with one line of text, and an edge leaves a bar its colour.
TEST_F(Holders, LowRowsHaveOneLine) {
  show(data_parallel(1));
  HoldersPicture picture = pane->picture();
  for (const int height : {150, 190, 240, 300, 420, 600}) {
    HoldersKept kept;
    picture = holders_picture(session, kept, 0, holders_rows(height, session.resolved()));
    const TextLog texts = painted_texts(picture, QSize(840, height));
    EXPECT_TRUE(has_text(texts, picture.rows[0].name)) << height;
  }
  const QSize size(840, 190);
  const HoldersLayout at = holders_layout(picture, size);
  QImage image(size, QImage::Format_RGB32);
  QPainter painter(&image);
  painter.fillRect(image.rect(), light_theme().surface);
  paint_holders(painter, picture, at, size, {-1, -1}, light_theme(), nullptr);
  const QRectF cell = at.cell(1, 2);
  const double bar_middle = at.bar_of(cell, 2).center().y();
  const QColor seen = image.pixelColor(int(cell.left() + cell.width() * 0.375), int(bar_middle));
  const QColor color = light_theme().memory(Category::kOptimizer);
  EXPECT_LT(std::abs(seen.red() - color.red()) + std::abs(seen.green() - color.green()) +
                std::abs(seen.blue() - color.blue()),
            60);
}

// TP, EP and PP give ranks different parts where nothing is shared: that is the picture.
TEST_F(Holders, EveryWayToCutHasItsPicture) {
  const auto one = [&](auto&& change) {
    PlanSetup setup = data_parallel(0);
    setup.mesh.dp = 1;
    change(setup);
    show(setup);
    EXPECT_FALSE(pane->picture().instead);
    painted_texts(pane->picture(), QSize(840, 420));
  };
  one([](PlanSetup& setup) { setup.mesh.tp = 2; });
  ASSERT_EQ(pane->picture().rows.size(), 2u);
  EXPECT_THAT(holders_words(pane->picture(), 1, 3).facts[0].value.toStdString(),
              testing::HasSubstr("shard, 50"));
  one([](PlanSetup& setup) { setup.mesh.pp = 4; });
  ASSERT_EQ(pane->picture().rows.size(), 4u);
  EXPECT_TRUE(pane->picture().rows[0].cells[9].empty());
  EXPECT_FALSE(pane->picture().rows[3].cells[9].empty());
  one([](PlanSetup& setup) {
    ASSERT_TRUE(set_field(setup, "model", "moe-tiny").ok());
    setup.mesh.dp = 4;
    setup.mesh.ep = 2;
    setup.zero = 1;
  });
  const SelectionText words = holders_words(pane->picture(), 3, 2);
  ASSERT_EQ(words.facts.size(), 7u);
  EXPECT_EQ(words.facts[1].word, QStringLiteral("parameters of experts"));
  EXPECT_THAT(words.facts[1].value.toStdString(), testing::HasSubstr("shard, 50"));
  EXPECT_THAT(words.facts[0].value.toStdString(), testing::HasSubstr("copy"));
}

// Hybrid sharding: rows stand by group, with the group's ranks above them, and a frame is around
// the ranks of one collective alone.
TEST_F(Holders, GroupsStandTogetherAndMoveApart) {
  PlanSetup setup = data_parallel(3);
  setup.zero_group = 2;
  show(setup);
  const HoldersPicture& picture = pane->picture();
  EXPECT_TRUE(picture.title.contains(QStringLiteral("DP 4 in groups of 2")));
  // Each bucket is added up in its group, and its shard then between the groups.
  const QString sent = picture.messages.mid(picture.messages.size() - 2).join(QLatin1Char('\n'));
  const auto times = [&](const char* what) {
    const QRegularExpression said(QStringLiteral("(\\d+) \u00d7 ") + QLatin1String(what));
    return said.match(sent).captured(1).toInt();
  };
  EXPECT_EQ(times("all-reduce of gradients"), setup.model.layers + 2) << sent.toStdString();
  EXPECT_GT(times("reduce-scatter of gradients"), 0) << sent.toStdString();
  EXPECT_EQ(picture.rows[0].group, QStringLiteral("group 0: ranks 0 to 1"));
  EXPECT_EQ(picture.rows[1].group, QString());
  EXPECT_EQ(picture.rows[2].group, QStringLiteral("group 1: ranks 2 to 3"));
  // The same shard looks the same in both groups, and no other looks so.
  for (const HoldersRow& one : picture.rows)
    for (const HoldersRow& other : picture.rows) {
      const HeldState &mine = one.cells[1].front().optimizer,
                      &its = other.cells[1].front().optimizer;
      ASSERT_EQ(mine.as, HeldAs::kShard);
      EXPECT_EQ(one.hue == other.hue, mine.begin == its.begin) << one.rank << ", " << other.rank;
    }
  const HoldersLayout at = holders_layout(picture, QSizeF(840, 420));
  EXPECT_GT(at.cell(2, 0).top() - at.cell(1, 0).top(), at.cell(1, 0).top() - at.cell(0, 0).top());
  painted_texts(picture, QSize(840, 420));
  EXPECT_TRUE(heard_text(*pane).contains(picture.rows[2].group));

  const Program& program = session.subject().prediction()->program;
  int seen = 0, across = 0;
  Nanoseconds before(-1);
  while (session.playback().playhead() > before) {
    before = session.playback().playhead();
    QTest::keyClick(pane, Qt::Key_N);
    for (const HoldersPicture::Moving& moving : pane->picture().moving) {
      std::vector<int> ranks;
      for (const int row : moving.rows)
        ranks.push_back(pane->picture().rows[std::size_t(row)].rank);
      EXPECT_EQ(ranks, moving.group);
      EXPECT_TRUE(std::any_of(program.groups.begin(), program.groups.end(),
                              [&](const Group& group) { return group.ranks == ranks; }));
      EXPECT_TRUE(moving.name.contains(QStringLiteral("B per rank"))) << moving.name.toStdString();
      ++seen;
      across += ranks[1] - ranks[0] == 2;
    }
  }
  EXPECT_GT(seen, 20);
  EXPECT_GT(across, 0) << "own parts are added up across the groups";
  setup = data_parallel(3);
  setup.mesh.dp = 2;
  setup.mesh.tp = 2;
  show(setup);
  std::vector<int> ranks;
  for (const HoldersRow& row : pane->picture().rows) ranks.push_back(row.rank);
  EXPECT_EQ(ranks, (std::vector{0, 2, 1, 3})) << "those that share stand together";
}

// Ranks that are not built have rows too: each holds its own shard, so that ranks of a group that
// shares states stand on a diagonal, and Enter brings the others.
TEST_F(Holders, RanksThatAreNotBuiltHoldTheirOwnShards) {
  PlanSetup setup = data_parallel(3);
  ASSERT_TRUE(set_field(setup, "model", "llama3-70b").ok());
  ASSERT_TRUE(set_field(setup, "machine", "dgx-h100").ok());
  setup.mesh.tp = setup.mesh.dp = 8;
  show(setup);
  ASSERT_TRUE(session.subject().prediction()->program.representatives);
  const HoldersPicture& picture = pane->picture();
  ASSERT_EQ(picture.all_rows, 64);
  ASSERT_EQ(picture.rows.size(), 8u);
  for (std::size_t row = 0; row < picture.rows.size(); ++row) {
    // TP is innermost: the first group has every eighth rank, all with the first eighth by TP.
    EXPECT_EQ(picture.rows[row].rank, 8 * int(row));
    const HeldState& state = picture.rows[row].cells[1].front().optimizer;
    EXPECT_EQ(state.as, HeldAs::kShard);
    EXPECT_NEAR(state.begin, double(row) / 64, 1e-3);
    EXPECT_NEAR(state.end, double(row + 1) / 64, 1e-3);
  }
  pane->show_other_ranks();
  EXPECT_EQ(pane->picture().rows.front().rank, 1);
  EXPECT_NEAR(pane->picture().rows.front().cells[1].front().optimizer.begin, 1.0 / 8, 1e-3);
}

TEST_F(Holders, OneKeyShowsThreeMoments) {
  show(data_parallel(3));
  const auto press = [&] {
    QTest::keyClick(pane, Qt::Key_M);
    return pane->picture().moment;
  };
  EXPECT_TRUE(press().startsWith(QStringLiteral("After the forward")));
  const Nanoseconds first = session.playback().playhead();
  EXPECT_EQ(pane->picture().rows[0].cells[1][0].gradients.as, HeldAs::kAbsent);
  EXPECT_TRUE(press().startsWith(QStringLiteral("After the backward")));
  EXPECT_NE(pane->picture().rows[0].cells[1][0].gradients.as, HeldAs::kAbsent);
  EXPECT_TRUE(press().startsWith(QStringLiteral("In the update")));
  EXPECT_TRUE(press().startsWith(QStringLiteral("After the forward")));
  EXPECT_EQ(session.playback().playhead(), first);
  EXPECT_TRUE(heard_text(*pane).contains(QStringLiteral("M: after the forward")));
  QStringList keys;
  for (const ViewActions& group : view.commands())
    for (const QAction* action : group.actions) keys << action->shortcut().toString();
  for (const char* key : {"N", "P", "M"}) EXPECT_TRUE(keys.contains(QLatin1String(key))) << key;
}

}  // namespace
}  // namespace parallelarium

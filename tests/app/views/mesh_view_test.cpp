// SPDX-License-Identifier: GPL-3.0-or-later
// The Mesh view: ranks where the mesh says they are, bytes of the Prediction, and readable numbers.
#include "app/views/mesh/mesh_view.h"

#include <gtest/gtest.h>

#include <QAction>
#include <QImage>
#include <QLineEdit>
#include <QSignalSpy>
#include <QTest>
#include <map>
#include <set>

#include "app/views/mesh/mesh_data.h"
#include "app/views/mesh/picture/mesh_paint.h"
#include "app/views/mesh/rank_list.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {
namespace {

PlanSetup meshed(int dp, int tp, int pp, RankOrder order = RankOrder::kTpCpEpPpDp) {
  PlanSetup setup = pipeline_setup(pp, 4);
  setup.mesh.dp = dp;
  setup.mesh.tp = tp;
  setup.mesh.order = order;
  return setup;
}

std::int64_t all_sent(const Program& program, int rank) {
  std::int64_t sum = 0;
  for (const TrafficRow& row : traffic_of(program, rank)) sum += row.sent_bytes;
  return sum;
}

TEST(MeshData, ARankSendsOverItsLinksWhatThePredictionSaysToTheByte) {
  for (const PlanSetup& setup : {meshed(2, 2, 2), meshed(1, 1, 4), meshed(4, 1, 1)}) {
    const auto prediction = predicted(setup);
    const MeshMotion motion(prediction->program, prediction->timeline);
    for (int rank = 0; rank < setup.mesh.ranks(); ++rank) {
      const RankFacts facts = rank_facts(*prediction, nullptr, rank);
      std::int64_t links = 0, moved = 0;
      for (const RankLink& link : facts.links) links += link.sent;
      for (const Axis axis : {Axis::kTp, Axis::kCp, Axis::kPp, Axis::kDp, Axis::kEp, Axis::kWorld})
        moved += motion.sent_until(rank, axis, -1, prediction->timeline.duration);
      EXPECT_EQ(links, all_sent(prediction->program, rank));
      EXPECT_EQ(facts.sent, links);
      EXPECT_EQ(moved, links) << "at the end of the step all bytes are on their links";
      EXPECT_EQ(motion.sent_until(rank, Axis::kPp, -1, Nanoseconds(-1)), 0);
    }
  }
}

// Where one replica is built for all, the others' groups, peers and bytes are those that they have
// where all are built.
TEST(MeshData, RanksThatAreNotBuiltSendWhatTheyWouldIfTheyWere) {
  PlanSetup hybrid = meshed(8, 4, 2);
  hybrid.mesh.cp = 2;
  hybrid.model.heads = 8;
  hybrid.model.kv_heads = 2;
  hybrid.attention = Attention::kFused;
  hybrid.zero = 2;
  hybrid.zero_group = 4;
  hybrid.sequence_parallel = true;
  PlanSetup ring = meshed(2, 2, 4);
  ring.mesh.cp = 8;
  ring.attention = Attention::kFused;
  PlanSetup mirrored = meshed(17, 1, 4);
  mirrored.schedule = "dualpipe";
  mirrored.microbatches = 8;
  using Link = std::tuple<int, int, std::vector<int>, QString, std::int64_t, std::int64_t>;
  const auto links_of = [](const Prediction& prediction, int rank) {
    std::vector<Link> links;
    for (const RankLink& link : rank_facts(prediction, nullptr, rank).links)
      links.emplace_back(int(link.axis), link.peer, link.group, link.what, link.calls, link.sent);
    std::sort(links.begin(), links.end());
    return links;
  };
  for (const PlanSetup& setup : {hybrid, ring, mirrored}) {
    const Machine machine = *find_machine("dgx-h100");
    const Result<Prediction> one = predict(setup, machine), all = predict(setup, machine, true);
    ASSERT_TRUE(one.ok()) << one.error().text;
    ASSERT_TRUE(all.ok()) << all.error().text;
    ASSERT_TRUE(one->program.representatives);
    ASSERT_FALSE(all->program.representatives);
    for (int rank = 0; rank < setup.mesh.ranks(); ++rank)
      EXPECT_EQ(links_of(*one, rank), links_of(*all, rank)) << "rank " << rank;
  }
}

TEST(MeshData, TheLectureNotesFigureAndMegatronsOrder) {
  // 64 = 4 x 4 x 4: in the notes ranks 0 to 3 are one TP group and 4 to 7 the next stage.
  const auto notes = predicted(meshed(4, 4, 4, RankOrder::kTpCpEpPpDp));
  const RankFacts first = rank_facts(*notes, nullptr, 0);
  std::map<Axis, std::vector<int>> groups(first.groups.begin(), first.groups.end());
  EXPECT_EQ(groups[Axis::kTp], (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(groups[Axis::kPp], (std::vector<int>{0, 4, 8, 12}));
  EXPECT_EQ(groups[Axis::kDp], (std::vector<int>{0, 16, 32, 48}));
  const auto megatron = predicted(meshed(4, 4, 4, RankOrder::kTpCpEpDpPp));
  const RankFacts other = rank_facts(*megatron, nullptr, 0);
  groups = {other.groups.begin(), other.groups.end()};
  EXPECT_EQ(groups[Axis::kDp], (std::vector<int>{0, 4, 8, 12}));
  EXPECT_EQ(groups[Axis::kPp], (std::vector<int>{0, 16, 32, 48}));
}

TEST(MeshData, RanksAndLayersAreWrittenShort) {
  EXPECT_EQ(layers_text({0, 1, 2, 7}), QStringLiteral("0\u20132, 7"));
  EXPECT_EQ(ranks_text({0, 4, 8}), QStringLiteral("0 4 8"));
  std::vector<int> many;
  for (int rank = 0; rank < 100; ++rank) many.push_back(rank);
  EXPECT_EQ(ranks_text(many), QStringLiteral("0 1 2 \u2026 99 (100 ranks)"));
}

TEST(MeshMotionTest, MessagesAreOnTheirWayDuringTheirSpans) {
  const auto prediction = predicted(meshed(1, 1, 4));
  const MeshMotion motion(prediction->program, prediction->timeline);
  int seen = 0;
  for (std::size_t rank = 0; rank < prediction->program.ranks.size(); ++rank)
    for (std::size_t at = 0; at < prediction->program.ranks[rank].ops.size(); ++at) {
      const Op& op = prediction->program.ranks[rank].ops[at];
      const Span& span = prediction->timeline.ranks[rank].spans[at];
      if (op.kind != OpKind::kSend || span.end <= span.begin) continue;
      const MeshMotion::Moment moment = motion.at(span.begin + (span.end - span.begin) / 2);
      bool found = false;
      for (const MeshMotion::Message& message : moment.messages)
        found = found || (message.from == prediction->program.ranks[rank].rank &&
                          message.to == op.peer && message.share > 0 && message.share < 1);
      EXPECT_TRUE(found);
      ++seen;
    }
  EXPECT_GT(seen, 8);
}

// 56 ranks, seven replicas below one another, in the room that a window of 1024 by 700 leaves, too.
TEST(MeshLayoutTest, EveryRankHasItsOwnCell) {
  const QRectF large(16, 70, 580, 520), small(16, 292, 430, 275);
  for (const auto& [setup, rect] :
       {std::pair(meshed(4, 4, 4), large), {meshed(7, 2, 4), small}, {meshed(7, 4, 2), small}}) {
    const MeshLayout layout = mesh_layout(setup.mesh, rect, light_theme());
    ASSERT_FALSE(layout.by_class);
    for (int rank = 0; rank < setup.mesh.ranks(); ++rank) {
      EXPECT_EQ(layout.rank_at(layout.cell_of(rank).center()), rank);
      EXPECT_TRUE(layout.rect.contains(layout.cell_of(rank)));
    }
  }
}

TEST(MeshPictureTest, NoTwoTextsLieOnEachOther) {
  PlanSetup context = meshed(2, 2, 4, RankOrder::kTpCpEpDpPp);
  context.mesh.cp = 4;
  context.attention = Attention::kFused;
  for (const PlanSetup& setup : {meshed(4, 4, 4), meshed(4, 4, 4, RankOrder::kTpCpEpDpPp),
                                 meshed(1, 1, 4), meshed(8, 1, 8), meshed(1, 1, 1), context})
    for (const QSize size : {QSize(1200, 760), QSize(900, 620)}) {
      Session session;
      session.restore(setup, {}, std::nullopt);
      session.wait_for_prediction();
      ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
      QImage image(size, QImage::Format_RGB32);
      QPainter painter(&image);
      TextLog texts;
      paint_mesh_picture(painter, size, session, false, {}, &texts);
      EXPECT_EQ(overlapping(texts), "");
      std::set<QString> numbers;
      for (const PaintedText& text : texts) {
        numbers.insert(text.text);
        EXPECT_TRUE(QRectF(QPointF(0, 0), QSizeF(size)).contains(text.rect))
            << text.text.toStdString();
      }
      for (int rank = 0; rank < setup.mesh.ranks(); ++rank)
        EXPECT_EQ(numbers.count(QString::number(rank)), 1u) << rank;
    }
}

TEST(MeshPictureTest, SixteenThousandRanksAreClassesWithACount) {
  Session session;
  PlanSetup setup = default_setup();
  for (const auto& [field, value] : {std::pair("machine", "dgx-h100"),
                                     {"model", "gpt3-175b"},
                                     {"dp", "128"},
                                     {"tp", "8"},
                                     {"pp", "16"},
                                     {"microbatches", "16"}})
    ASSERT_TRUE(set_field(setup, field, value).ok()) << field;
  ASSERT_EQ(setup.mesh.ranks(), 16'384);
  session.restore(setup, {}, std::nullopt);
  session.wait_for_prediction();
  ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
  const std::vector<RankClass> classes = rank_classes(*session.subject().prediction());
  std::int64_t ranks = 0;
  for (const RankClass& one : classes) ranks += one.ranks;
  EXPECT_EQ(ranks, 16'384);
  QImage image(mesh_picture_size(), QImage::Format_RGB32);
  QPainter painter(&image);
  TextLog texts;
  paint_mesh_picture(painter, image.size(), session, false, {5123}, &texts);
  EXPECT_EQ(overlapping(texts), "");
  int cards = 0, whole = 0;
  for (const PaintedText& text : texts) {
    cards += text.text.contains(QStringLiteral("ranks alike"));
    whole += text.text.startsWith(QStringLiteral("sends "));
  }
  EXPECT_EQ(cards, 16);
  EXPECT_GE(whole, 16) << "of the whole step, not so far";

  // Any rank in two actions: the search field, and its number.
  MeshView view(session);
  view.resize(872, 690);
  view.show();
  QSignalSpy changed(&view, &View::quantities_changed);
  view.open_search();
  auto* find = view.findChild<QLineEdit*>();
  QTest::keyClicks(find, QStringLiteral("5123"));
  QTest::keyClick(find, Qt::Key_Return);
  EXPECT_EQ(view.rank(), 5123);
  EXPECT_EQ(changed.count(), 1);
  EXPECT_TRUE(view.description().contains(QStringLiteral("Rank 5123")));
  find->setText(QStringLiteral("99999"));
  QTest::keyClick(find, Qt::Key_Return);
  EXPECT_EQ(view.rank(), 5123);
}

TEST(MeshWidget, ClicksAndKeysWalkOverTheRanks) {
  Session session;
  session.restore(meshed(2, 2, 2), {}, std::nullopt);
  session.wait_for_prediction();
  MeshView view(session);
  view.resize(872, 690);
  view.show();
  std::set<int> met;
  for (const Qt::Key key : {Qt::Key_Right, Qt::Key_Right, Qt::Key_Right, Qt::Key_Down,
                            Qt::Key_Right, Qt::Key_Right, Qt::Key_Right}) {
    met.insert(view.rank());
    QTest::keyClick(&view, key);
  }
  met.insert(view.rank());
  EXPECT_EQ(met.size(), 8u);
  // Wherever the ranks lie, clicks all over the picture meet each of them, and say its number.
  met.clear();
  for (int y = 6; y < view.height(); y += 12)
    for (int x = 6; x < view.width(); x += 12) {
      const int before = view.rank();
      QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(x, y));
      if (view.rank() == before) continue;
      met.insert(view.rank());
      EXPECT_TRUE(view.description().contains(QStringLiteral("Rank %1").arg(view.rank())));
    }
  EXPECT_EQ(met.size(), 8u);
  const QString now = view.description();
  EXPECT_TRUE(now.contains(QStringLiteral("8 ranks"))) << now.toStdString();
}

TEST(MeshRankList, BarsAddUpToWhatTheRankSendsAndALessonHidesFigures) {
  const auto prediction = predicted(meshed(2, 2, 2));
  const RankFacts facts = rank_facts(*prediction, nullptr, 3);
  std::int64_t bytes = 0;
  int sections = 0;
  for (const RankLine& line : rank_lines(facts, false, false)) {
    bytes += line.bytes;
    sections += !line.section.isEmpty();
    EXPECT_FALSE(line.value.contains(QLatin1Char('?')));
  }
  EXPECT_EQ(bytes, facts.sent);
  EXPECT_EQ(sections, 2) << "its groups, and what it sends";
  const auto hidden = rank_lines(facts, true, true);
  EXPECT_EQ(hidden[1].value, QStringLiteral("?"));
  for (const RankLine& line : hidden) EXPECT_EQ(line.bytes, 0);

  // The list of the widget says the same in words, for screen readers.
  RankList list;
  list.resize(240, 500);
  list.set_lines(rank_lines(facts, false, false));
  ASSERT_EQ(std::size_t(list.count()), list.lines().size());
  EXPECT_EQ(list.item(0)->text(), list.lines()[0].text());
  EXPECT_TRUE(list.item(0)->text().startsWith(QStringLiteral("layers: ")));
}

TEST(MeshQuantities, SplitWhatARankSendsByAxis) {
  Session session;
  session.restore(meshed(2, 2, 2), {}, std::nullopt);
  session.wait_for_prediction();
  const std::vector<Quantity> quantities = mesh_quantities(session, 0);
  ASSERT_EQ(quantities.size(), 5u);
  const double parts =
      quantities[2].predicted_value + quantities[3].predicted_value + quantities[4].predicted_value;
  EXPECT_LE(parts, quantities[1].predicted_value);
  for (const int at : {2, 3, 4}) EXPECT_GT(quantities[std::size_t(at)].predicted_value, 0);
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// Nodes in the Mesh view: where ranks lie on them, which groups cross what, and how ranks move when
// their order changes. Against arithmetic on the numbers of ranks.
#include <gtest/gtest.h>

#include <QAction>
#include <QImage>
#include <QSignalSpy>
#include <QTest>
#include <QToolButton>
#include <set>

#include "app/views/mesh/mesh_view.h"
#include "app/views/mesh/picture/mesh_layout.h"
#include "app/views/mesh/rank_list.h"
#include "engine/wire/view_ids.h"
#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {
namespace {

constexpr RankOrder kMegatronOrder = RankOrder::kTpCpEpDpPp, kNotesOrder = RankOrder::kTpCpEpPpDp;

struct MeshSize {
  int dp, tp, pp, cp = 1;
};

// On DGX A100, 8 ranks to a node.
PlanSetup on_dgx(const MeshSize& size, RankOrder order = kMegatronOrder) {
  PlanSetup setup = pipeline_setup(size.pp, std::max(4, size.pp));
  setup.machine = "dgx-a100-80g";
  setup.mesh.dp = size.dp;
  setup.mesh.tp = size.tp;
  setup.mesh.cp = size.cp;
  setup.mesh.order = order;
  setup.model.heads = setup.model.kv_heads = 12 * size.tp;
  setup.model.hidden = 48 * size.tp;
  setup.model.ffn = 192 * size.tp;
  setup.nodes = std::max(1, (setup.mesh.ranks() + 7) / 8);
  if (size.cp > 1) setup.attention = Attention::kFused;
  return setup;
}

void show(Session& session, const PlanSetup& setup) {
  session.restore(setup, {}, std::nullopt);
  session.wait_for_prediction();
  ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
}

MeshWires wires_of(const Session& session) { return mesh_wires(*session.subject().prediction()); }

const QRectF kPlace(16, 70, 820, 480);

class MeshOnNodes : public testing::TestWithParam<std::tuple<MeshSize, RankOrder>> {
 protected:
  PlanSetup asked() const { return on_dgx(std::get<0>(GetParam()), std::get<1>(GetParam())); }
};

TEST_P(MeshOnNodes, EveryRankLiesInTheBoxOfItsNodeAndNowhereElse) {
  Session session;
  show(session, asked());
  const Mesh mesh = session.setup().mesh;
  const MeshLayout layout = node_layout(mesh, wires_of(session), 0, kPlace, light_theme());
  int shown = 0;
  for (const NodeBox& box : layout.boxes) {
    EXPECT_TRUE(kPlace.adjusted(-1, -1, 1, 1).contains(box.rect));
    shown += box.alike;
  }
  EXPECT_EQ(shown, (mesh.ranks() + 7) / 8) << "the boxes stand for all nodes";
  EXPECT_EQ(layout.left_out, 0);
  for (int rank = 0; rank < mesh.ranks(); ++rank) {
    const QRectF cell = layout.cell_of(rank);
    int around = 0;
    for (const NodeBox& box : layout.boxes) {
      if (!box.rect.contains(cell)) continue;
      ++around;
      EXPECT_TRUE(box.alike > 1 || box.node == rank / 8);
    }
    EXPECT_EQ(around, 1) << rank;
    const int there = layout.rank_at(cell.center());
    EXPECT_EQ(there % 8, rank % 8);
    // Its cell stands for ranks of the same stage and place of TP.
    const Coordinates own = coordinates_of(mesh, rank), other = coordinates_of(mesh, there);
    EXPECT_EQ(std::tuple(own.pp, own.tp, own.cp), std::tuple(other.pp, other.tp, other.cp));
  }
}

TEST_P(MeshOnNodes, TheTableSaysWhatArithmeticSaysAndTheTextToo) {
  Session session;
  show(session, asked());
  const Mesh mesh = session.setup().mesh;
  const MeshWires wires = wires_of(session);
  const QString text = wires_sentence(wires, mesh, false);
  for (const AxisReach& reach : wires.reaches) {
    // All ranks of a TP group lie behind one another from a multiple of TP on.
    if (reach.axis == Axis::kTp && 8 % mesh.tp == 0) {
      EXPECT_EQ(reach.leaving, 0);
      EXPECT_EQ(reach_wires(reach, wires.nodes), QStringLiteral("NVLink"));
    }
    if (reach.axis == Axis::kPp && mesh.order == kMegatronOrder &&
        mesh.tp * mesh.cp * mesh.dp >= 8) {
      EXPECT_EQ(reach.leaving, reach.hops);
      EXPECT_EQ(reach_wires(reach, wires.nodes), QStringLiteral("InfiniBand"));
    }
    EXPECT_TRUE(text.contains(reach_place(reach))) << text.toStdString();
  }
  std::int64_t most = 0;
  for (int rank = 0; rank < int(session.subject().prediction()->program.ranks.size()); ++rank) {
    std::int64_t sum = 0;
    for (const TrafficRow& row : traffic_of(session.subject().prediction()->program, rank))
      sum += row.axis == Axis::kDp ? row.sent_bytes : 0;
    most = std::max(most, sum);
  }
  for (std::size_t at = 0; at < wires.reaches.size(); ++at)
    EXPECT_TRUE(wires.reaches[at].axis != Axis::kDp || wires.sent[at] == most);
}

TEST_P(MeshOnNodes, NoTwoTextsLieOnEachOther) {
  Session session;
  show(session, asked());
  for (const QSize size : {QSize(1200, 760), QSize(900, 620)})
    for (const MeshForm form : {MeshForm::kAxes, MeshForm::kNodes})
      for (const Axis axis : {Axis::kWorld, Axis::kDp}) {
        QImage image(size, QImage::Format_RGB32);
        QPainter painter(&image);
        TextLog texts;
        paint_mesh_picture(painter, size, session, false, {0, axis, form}, &texts);
        EXPECT_EQ(overlapping(texts), "") << size.width() << " " << int(form);
        for (const PaintedText& text : texts)
          EXPECT_TRUE(QRectF(QPointF(0, 0), QSizeF(size)).contains(text.rect))
              << text.text.toStdString();
      }
}

INSTANTIATE_TEST_SUITE_P(Sizes, MeshOnNodes,
                         testing::Combine(testing::Values(MeshSize{1, 1, 1}, MeshSize{2, 1, 1},
                                                          MeshSize{1, 1, 8}, MeshSize{3, 2, 5},
                                                          MeshSize{4, 4, 4}, MeshSize{3, 3, 2, 2},
                                                          MeshSize{64, 8, 8}, MeshSize{7, 4, 2}),
                                          testing::Values(kMegatronOrder, kNotesOrder)));

TEST(MeshFold, ThousandsOfRanksAreKindsOfNodesAndTheChosenOneStandsForItsKind) {
  Session session;
  show(session, on_dgx({128, 8, 4}));
  const Mesh mesh = session.setup().mesh;
  ASSERT_EQ(mesh.ranks(), 4096);
  const MeshWires wires = wires_of(session);
  ASSERT_EQ(wires.fold.kinds.size(), 4u) << "a node is a TP group of one of four stages";
  for (const NodeKind& kind : wires.fold.kinds) EXPECT_EQ(kind.count, 128);
  const MeshLayout layout = node_layout(mesh, wires, 1234, kPlace, light_theme());
  ASSERT_EQ(layout.boxes.size(), 4u);
  EXPECT_EQ(layout.rank_at(layout.cell_of(1234).center()), 1234);
  EXPECT_EQ(layout.boxes[1].node, 1234 / 8);
  EXPECT_EQ(layout.cell_of(1234), layout.cell_of(1234 + 8)) << "its twin of the next replica";
}

TEST(MeshFold, KindsWithoutRoomAreCountedAndTheChosenOneIsAmongThoseShown) {
  // 72 different nodes of 8 in a place for few.
  Session session;
  show(session, on_dgx({2, 8, 72}, kNotesOrder));
  const MeshWires wires = wires_of(session);
  const int kinds = int(wires.fold.kinds.size());
  ASSERT_EQ(kinds, 72);
  const QRectF small(0, 0, 320, 200);
  const int last = session.setup().mesh.ranks() - 1;
  const MeshLayout layout = node_layout(session.setup().mesh, wires, last, small, light_theme());
  EXPECT_GT(layout.left_out, 0);
  EXPECT_EQ(int(layout.boxes.size()) + layout.left_out, kinds);
  EXPECT_EQ(layout.rank_at(layout.cell_of(last).center()) / 8, last / 8);
}

TEST(MeshMoveTest, RanksBeginWhereTheyWereAndEndWhereTheyAre) {
  Session session;
  show(session, on_dgx({4, 4, 4}));
  const MeshWires wires = wires_of(session);
  Mesh before = session.setup().mesh, after = before;
  after.order = kNotesOrder;
  const MeshLayout from = mesh_layout(before, kPlace, light_theme());
  const MeshLayout to = mesh_layout(after, kPlace, light_theme());
  int moved = 0;
  for (int rank = 0; rank < 64; ++rank) {
    EXPECT_EQ((MeshMove{&from, 0}.cell_of(to, rank)), from.cell_of(rank));
    EXPECT_EQ((MeshMove{&from, 1}.cell_of(to, rank)), to.cell_of(rank));
    const QPointF half = MeshMove{&from, 0.5}.cell_of(to, rank).center();
    EXPECT_NEAR(half.x(), (from.cell_of(rank).center().x() + to.cell_of(rank).center().x()) / 2,
                1e-9);
    moved += from.cell_of(rank) != to.cell_of(rank);
  }
  // Rank = T + 4 (D + 4 P) stays where D and P are equal: 4 of 16 blocks.
  EXPECT_EQ(moved, 48);
  // On nodes a place moves: replica 1 of stage 0, ranks 4 to 7 before, 16 to 19 after.
  const MeshLayout old_nodes = node_layout(before, wires, 0, kPlace, light_theme());
  const MeshLayout new_nodes = node_layout(after, wires, 0, kPlace, light_theme());
  EXPECT_EQ((MeshMove{&old_nodes, 0}.cell_of(new_nodes, 16)), old_nodes.cell_of(4));
  EXPECT_EQ((MeshMove{&old_nodes, 1}.cell_of(new_nodes, 16)), new_nodes.cell_of(16));
}

QToolButton* button(const MeshView& view, const QString& text) {
  for (QToolButton* one : view.findChildren<QToolButton*>())
    if (one->text() == text) return one;
  return nullptr;
}

TEST(MeshMoveTest, TheSwitchMovesThemUndoablyAndNotWhereMotionIsReduced) {
  Session session;
  show(session, on_dgx({4, 4, 4}));
  MeshView view(session);
  view.resize(872, 690);
  view.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&view));
  ASSERT_FALSE(view.moving());
  QToolButton* notes = button(view, QStringLiteral("PP before DP"));
  ASSERT_NE(notes, nullptr);
  notes->click();
  session.wait_for_prediction();
  EXPECT_EQ(session.setup().mesh.order, kNotesOrder);
  EXPECT_TRUE(view.moving());
  EXPECT_TRUE(QTest::qWaitFor([&] { return !view.moving(); }, 5000));
  session.history().stack().undo();
  session.wait_for_prediction();
  EXPECT_EQ(session.setup().mesh.order, kMegatronOrder);
  EXPECT_TRUE(view.moving());
  EXPECT_TRUE(QTest::qWaitFor([&] { return !view.moving(); }, 5000));
  button(view, QStringLiteral("On nodes"))->click();
  EXPECT_EQ(view.form(), MeshForm::kNodes);
  EXPECT_TRUE(view.moving());
  EXPECT_TRUE(QTest::qWaitFor([&] { return !view.moving(); }, 5000));
  session.playback().set_reduced_motion(true);
  notes->click();
  session.wait_for_prediction();
  EXPECT_FALSE(view.moving());
  button(view, QStringLiteral("On axes"))->click();
  EXPECT_FALSE(view.moving());
}

// `--view mesh/nodes`, lessons and pictures without a window name the arrangement.
TEST(MeshParts, ALessonCanNameTheArrangement) {
  ASSERT_TRUE(is_view_id("mesh/nodes") && is_view_id("mesh/axes"));
  EXPECT_FALSE(is_view_id("mesh/rings"));
  Session session;
  show(session, on_dgx({4, 4, 4}));
  MeshView view(session);
  view.show_part(QStringLiteral("nodes"));
  EXPECT_EQ(view.form(), MeshForm::kNodes);
  view.show_part(QStringLiteral("axes"));
  EXPECT_EQ(view.form(), MeshForm::kAxes);
  const auto words = [&](const QString& part) {
    const ViewPicture picture = MeshView::info().picture(session, {.part = part});
    QImage image(picture.size, QImage::Format_ARGB32);
    QPainter painter(&image);
    TextLog texts;
    picture.paint(painter, image.size(), &texts);
    QStringList all;
    for (const auto& text : texts) all << text.text;
    return all.join(QLatin1Char('\n'));
  };
  EXPECT_TRUE(words(QStringLiteral("nodes")).contains(QStringLiteral("Node 0")));
  EXPECT_FALSE(words(QStringLiteral("axes")).contains(QStringLiteral("Node 0")));
  // Who opens it by name sees it at once.
  view.resize(872, 690);
  view.show();
  ASSERT_TRUE(QTest::qWaitForWindowExposed(&view));
  view.show_part(QStringLiteral("nodes"));
  EXPECT_FALSE(view.moving());
}

// 56 ranks, 7 replicas of 2 stages of TP 4: node 3 has the last four ranks of stage 0 and the first
// four of stage 1, which stand far apart. All others are one replica below another.
TEST(MeshAxes, NameBothPartsOfANodeThatTheyTearApart) {
  Session session;
  show(session, on_dgx({7, 4, 2}));
  QImage image(QSize(1200, 760), QImage::Format_RGB32);
  QPainter painter(&image);
  TextLog texts;
  paint_mesh_picture(painter, image.size(), session, false, {}, &texts);
  const auto rect_of = [&](const QString& text) {
    for (const auto& one : texts)
      if (one.text == text) return one.rect;
    return QRectF();
  };
  std::vector<QRectF> names;
  for (const auto& text : texts)
    if (text.text.startsWith(QLatin1String("Node "))) {
      EXPECT_EQ(text.text, QStringLiteral("Node 3"));
      names.push_back(text.rect);
    }
  ASSERT_EQ(names.size(), 2u);
  for (const auto& [name, rank] : {std::pair(names[0], 24), {names[1], 28}}) {
    const QRectF number = rect_of(QString::number(rank));
    EXPECT_LT(number.top() - name.bottom(), 20) << rank;
    EXPECT_GT(number.top(), name.top()) << rank;
    EXPECT_LT(std::abs(number.center().x() - name.center().x()), 40) << rank;
  }
}

TEST(MeshGroups, AClickOrAKeyShowsTheWaysOfAGroupAndTheTextNamesThem) {
  Session session;
  show(session, on_dgx({4, 4, 4}));
  MeshView view(session);
  view.resize(1100, 800);
  view.show();
  EXPECT_EQ(view.group(), Axis::kWorld);
  const QImage before = view.grab().toImage();
  for (const Axis axis : {Axis::kTp, Axis::kDp, Axis::kPp, Axis::kWorld}) {
    QTest::keyClick(&view, Qt::Key_G);
    EXPECT_EQ(view.group(), axis);
  }
  view.show_group(Axis::kDp);
  EXPECT_NE(view.grab().toImage(), before);
  EXPECT_TRUE(view.description().contains(QStringLiteral("Its DP group is shown: 0 4 8 12.")))
      << view.description().toStdString();
  // Half of a ring's ways leave the node in this order, all of them in the other.
  EXPECT_TRUE(view.description().contains(QStringLiteral("leave a node: 32 of 64")))
      << view.description().toStdString();
  view.show_group(Axis::kWorld);
  std::set<Axis> met;
  for (int y = view.height() - 220; y < view.height(); y += 6) {
    QTest::mouseClick(&view, Qt::LeftButton, {}, QPoint(40, y));
    met.insert(view.group());
  }
  for (const Axis axis : {Axis::kTp, Axis::kDp, Axis::kPp}) EXPECT_EQ(met.count(axis), 1u);
}

TEST(MeshOfOneRank, SaysWhyNothingIsSentAndOffersASecond) {
  Session session;
  show(session, on_dgx({1, 1, 1}));
  MeshView view(session);
  view.resize(872, 690);
  view.show();
  EXPECT_TRUE(view.description().contains(QStringLiteral("One rank sends nothing.")));
  QToolButton* offer = button(view, QStringLiteral("DP 2"));
  ASSERT_NE(offer, nullptr);
  ASSERT_TRUE(offer->isVisible());
  const QPoint beside(offer->x() - 6, offer->geometry().center().y());
  EXPECT_EQ(view.grab().toImage().pixelColor(beside), theme_for(view.palette()).surface)
      << "it stands beside the cell";
  offer->click();
  session.wait_for_prediction();
  EXPECT_EQ(session.setup().mesh.ranks(), 2);
  EXPECT_FALSE(offer->isVisible());
  session.history().stack().undo();
  session.wait_for_prediction();
  EXPECT_TRUE(offer->isVisible());
}

TEST(MeshGroups, ALessonThatHidesTrafficHidesTheBytesOfTheTable) {
  Session session;
  show(session, on_dgx({2, 4, 1}));
  const MeshWires wires = wires_of(session);
  const Mesh mesh = session.setup().mesh;
  EXPECT_TRUE(wires_sentence(wires, mesh, false).contains(QStringLiteral("a rank sends")));
  EXPECT_FALSE(wires_sentence(wires, mesh, true).contains(QStringLiteral("a rank sends")));
}

// A low window has no room for the table: then its rows stand in the list beside the ranks.
TEST(MeshGroups, TheTableIsALineInTheListWhereItHasNoRoom) {
  Session session;
  show(session, on_dgx({4, 4, 4}));
  MeshView view(session);
  view.show();
  const auto told = [&] {
    const auto* list = view.findChild<RankList*>();
    for (int row = 0; row < list->count(); ++row)
      if (list->item(row)->text().contains(QStringLiteral("32 of 64 ways leave"))) return true;
    return false;
  };
  view.resize(720, 395);
  EXPECT_TRUE(told());
  view.resize(872, 690);
  EXPECT_FALSE(told());
}

TEST(MeshWireWords, SayTheWireItsFiguresAndTheirOrigin) {
  Session session;
  show(session, on_dgx({2, 8, 1}));
  const Nodes nodes = wires_of(session).nodes;
  EXPECT_EQ(link_sentence(nodes, false).simplified(),
            QStringLiteral("NVLink: 235 GB/s (published), 3.40 \u00b5s (published)"));
  EXPECT_EQ(link_sentence(nodes, true).simplified(),
            QStringLiteral("InfiniBand: 25.0 GB/s (specification), 14.0 \u00b5s (published)"));
  EXPECT_TRUE(link_origins(nodes).contains(QStringLiteral("NCCL 2.30.7")));
  EXPECT_EQ(origin_word(measured_here("2026-11-21")), QStringLiteral("measured"));
  EXPECT_EQ(origin_word(with_note({}, "origin-note-copy")), QStringLiteral("assumed"));
}

}  // namespace
}  // namespace parallelarium

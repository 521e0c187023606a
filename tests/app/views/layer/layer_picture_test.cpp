// SPDX-License-Identifier: GPL-3.0-or-later
// What the Layer view draws: who communicates with whom, in which colours, and in which words.
#include <gtest/gtest.h>

#include <QImage>
#include <QTest>
#include <QToolButton>
#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>

#include "app/look/figures.h"
#include "app/settings/controls.h"
#include "app/views/layer/context/context_picture.h"
#include "app/views/layer/layer_view.h"
#include "app/views/layer/picture/layer_links.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

using SetOf = std::vector<std::pair<std::string, std::string>>;

void set_all(Session& session, const SetOf& fields) {
  Setup setup = session.setup();
  ASSERT_TRUE(set_fields(setup, fields));
  session.history().change(setup, QStringLiteral("set up"));
  session.wait_for_prediction();
  ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
}

struct Painted {
  LayerPicture picture;
  LayerLayout layout;
  QImage image;
  QString texts;  // a line each
  QColor at(QPointF point) const { return image.pixelColor(point.toPoint()); }
};

// Where all that runs is done.
Painted painted(const Session& session, const LayerLook& look, double width = 1100) {
  Painted out;
  out.picture = layer_picture(session, look);
  if (out.picture.predicted) out.picture.playhead = out.picture.predicted->window.end;
  out.layout = layer_layout(out.picture, QSizeF(width, 600), light_theme());
  out.image = QImage(int(width), int(out.layout.bottom) + 1, QImage::Format_RGB32);
  out.image.fill(light_theme().surface);
  QPainter painter(&out.image);
  TextLog texts;
  paint_layer(painter, out.picture, out.layout, light_theme(), &texts);
  for (const auto& text : texts) out.texts += text.text + QLatin1Char('\n');
  return out;
}

LayerLook all_pieces() {
  LayerLook look;
  look.context = false;
  look.attention_open = look.mlp_open = true;
  return look;
}

// The Program's own groups of a step, as far as the picture shows their ranks.
std::set<std::vector<int>> groups_of_program(const Program& program, const LayerSteps& layer,
                                             const LayerStep& step) {
  std::set<int> shown;
  for (const LayerRank& rank : layer.ranks) shown.insert(rank.rank);
  std::set<std::vector<int>> groups;
  for (std::size_t at = 0; at < step.ranks.size(); ++at) {
    const RankProgram& rank = program.ranks[std::size_t(layer.ranks[at].built)];
    const Op& op = rank.ops[std::size_t(step.ranks[at].first_op)];
    std::vector<int> group;
    for (const int member : program.groups[std::size_t(op.group)].ranks)
      if (shown.contains(member)) group.push_back(member);
    groups.insert(group);
  }
  return groups;
}

TEST(LayerPicture, EveryGroupOfACollectiveHasABarOfItsOwn) {
  for (const char* kind : {"ring", "ulysses"}) {
    Session session;
    set_all(session, {{"pp", "1"},
                      {"tp", "2"},
                      {"cp", "2"},
                      {"attention", "fused"},
                      {"context-parallel", kind},
                      {"sequence-parallel", "on"}});
    const Painted all = painted(session, all_pieces());
    const LayerSteps& layer = *all.picture.layer;
    int bars = 0;
    for (const LayerHalf& half : all.layout.halves)
      for (const LayerBox& box : half.boxes) {
        const LayerStep& step = layer.steps[std::size_t(box.step)];
        if (box.mark != LayerMark::kBar || step.kind != LayerStepKind::kCollective) continue;
        const LayerLinks links = layer_links(layer, step, all.layout.ranks);
        std::set<std::vector<int>> drawn;
        for (const LayerLink& link : links.links) {
          std::vector<int> ranks;
          for (const int row : link.rows)
            ranks.push_back(layer.ranks[std::size_t(all.layout.ranks[std::size_t(row)])].rank);
          drawn.insert(ranks);
          // The bar lies over its own rows, and beside the bars of other groups.
          const QRectF place = place_of_link(half, box, links, link);
          for (const int row : link.rows)
            EXPECT_TRUE(place.contains(QPointF(place.center().x(), half.rows[std::size_t(row)])));
          for (const LayerLink& other : links.links)
            EXPECT_EQ(place.intersects(place_of_link(half, box, links, other)), &other == &link);
        }
        EXPECT_EQ(drawn, groups_of_program(session.subject().prediction()->program, layer, step));
        ++bars;
        if (step.axis != Axis::kTp) continue;
        // Nothing is drawn between rank 1 and rank 2, which are of two groups.
        const QPointF between(box.x + box.width / 2, (half.rows[1] + half.rows[2]) / 2);
        EXPECT_EQ(all.at(between), light_theme().surface) << layer_step_name(step).toStdString();
      }
    EXPECT_GE(bars, 4);
  }
}

TEST(LayerPicture, RanksThatExchangeAreJoinedInPairsOfTheirRing) {
  Session session;
  set_all(session, {{"pp", "1"}, {"tp", "2"}, {"cp", "2"}, {"attention", "fused"}});
  const Painted all = painted(session, all_pieces());
  const LayerSteps& layer = *all.picture.layer;
  const QColor sent = light_theme().solid(OpColor::kCommunication);
  int exchanges = 0;
  for (const LayerHalf& half : all.layout.halves)
    for (const LayerBox& box : half.boxes) {
      const LayerStep& step = layer.steps[std::size_t(box.step)];
      if (box.mark != LayerMark::kBar || step.kind != LayerStepKind::kExchange) continue;
      const LayerLinks links = layer_links(layer, step, all.layout.ranks);
      ASSERT_EQ(links.links.size(), 2u);
      EXPECT_EQ(links.links[0].rows, (std::vector<int>{0, 2}));
      EXPECT_EQ(links.links[1].rows, (std::vector<int>{1, 3}));
      for (const LayerLink& link : links.links) {
        // Down on the left of its lane and up on the right.
        const QRectF place = place_of_link(half, box, links, link);
        const double y =
            (half.rows[std::size_t(link.rows[0])] + half.rows[std::size_t(link.rows[1])]) / 2;
        for (const double x : {place.left() + 2.5, place.right() - 2.5})
          EXPECT_EQ(all.at(QPointF(std::floor(x), y)), sent);
        EXPECT_NE(all.at(QPointF(std::floor(place.center().x()), y)), sent);
      }
      ++exchanges;
    }
  EXPECT_GT(exchanges, 0);
}

TEST(LayerPicture, ColoursAreByThePlaceInTheGroupThatThePictureShows) {
  Session session;
  set_all(session, {{"pp", "1"}, {"tp", "4"}, {"cp", "4"}, {"attention", "fused"}});
  const Painted context = painted(session, {});
  ASSERT_TRUE(context.picture.shows_context());
  std::vector<std::set<QRgb>> of(4);
  for (std::size_t at = 0; at < context.layout.targets.size(); ++at) {
    const ScoreBlock& block = context.picture.layer->context.blocks[at];
    if (block.queries != block.keys)
      of[std::size_t(block.cp)].insert(
          context.at(context.layout.targets[at].place.topLeft() + QPointF(3, 3)).rgb());
  }
  std::set<QRgb> all;
  for (const auto& colours : of) {
    ASSERT_EQ(colours.size(), 1u);
    all.insert(*colours.begin());
  }
  EXPECT_EQ(all.size(), 4u);
  // The same on the chips of the lanes, and there in the picture of all pieces too.
  for (std::size_t row = 0; row < 4; ++row) {
    const QPointF chip(88.5, context.layout.lanes_top + double(row) * context.layout.lane_pitch);
    EXPECT_EQ(context.at(chip + QPointF(0, 2)).rgb(), *of[row].begin()) << row;
  }
  const Painted pieces = painted(session, all_pieces());
  for (const LayerHalf& half : pieces.layout.halves)
    for (std::size_t row = 0; row < half.rows.size(); ++row) {
      const QPointF chip(88.5, pieces.layout.lanes_top + double(row) * pieces.layout.lane_pitch);
      EXPECT_EQ(pieces.at(chip + QPointF(0, 2)), pieces.at(QPointF(24, half.rows[row] - 6)));
    }
}

// A layer of experts has the ranks of a whole EP group; the others' sequences are others.
TEST(LayerPicture, ContextParallelismShowsTheReplicaOfTheSelectedRankAlone) {
  for (const char* method : {"ring", "all-gather", "ulysses"}) {
    Session session;
    set_all(session, {{"pp", "1"},
                      {"model", "moe-tiny"},
                      {"dp", "2"},
                      {"ep", "2"},
                      {"cp", "2"},
                      {"attention", "fused"},
                      {"context-parallel", method}});
    const Mesh& mesh = session.setup().mesh;
    for (const int selected : {0, 3}) {
      LayerLook look;
      look.rank = selected;
      const Painted context = painted(session, look);
      ASSERT_TRUE(context.picture.shows_context()) << method;
      const std::vector<LayerRank>& ranks = context.picture.layer->ranks;
      ASSERT_EQ(ranks.size(), 4u);
      const int dp = coordinates_of(mesh, ranks[std::size_t(selected)].rank).dp;
      std::vector<int> shown;
      for (const int rank : context.layout.ranks) shown.push_back(ranks[std::size_t(rank)].rank);
      std::vector<int> wanted;
      for (int cp = 0; cp < 2; ++cp)
        wanted.push_back(rank_of(mesh, {.dp = dp, .tp = 0, .pp = 0, .cp = cp}));
      EXPECT_EQ(shown, wanted) << method;
      EXPECT_EQ(context.layout.alike, 0) << method;
      for (const LayerTarget& target : context.layout.targets)
        EXPECT_EQ(ranks[std::size_t(target.rank)].at.dp, dp) << method;
      EXPECT_FALSE(context.texts.contains(QLatin1String("TP group"))) << method;
      EXPECT_FALSE(context.texts.contains(QLatin1String("more, alike"))) << method;
      const QString words = layer_sentence(context.picture);
      for (const int rank : wanted)
        EXPECT_TRUE(
            words.contains(QStringLiteral("rank %1: tokens").arg(rank), Qt::CaseInsensitive))
            << words.toStdString();
      if (method != std::string_view("ring")) continue;
      // The link between both cards, which are as wide as they may be.
      const QPointF link = context.layout.context.strip.topLeft() + QPointF(22 + 190 + 15, 51);
      EXPECT_NE(context.at(link), light_theme().surface);
      EXPECT_EQ(context.at(link - QPointF(0, 8)), light_theme().surface);
    }
  }
}

TEST(LayerPicture, SaysInWhichNumbersThePaperCountsWhereTheyAreOthers) {
  for (const auto& [precision, says] : {std::pair("fp32", true), {"mixed-16", false}}) {
    Session session;
    set_all(session, {{"pp", "1"}, {"tp", "2"}, {"precision", precision}});
    EXPECT_EQ(painted(session, {})
                  .texts.contains(
                      QLatin1String("terms in 2-byte numbers; here 4 bytes each, 2 times that")),
              says);
  }
}

TEST(LayerPicture, SaysWhatIsKeptByPieceWhereThePapersTermsAreOfAnotherLayer) {
  for (const auto& [model, word] : {std::pair("llama-tiny", "SwiGLU"), {"moe-tiny", "experts"}}) {
    Session session;
    set_all(session, {{"pp", "1"}, {"tp", "2"}, {"model", model}});
    const Painted now = painted(session, {});
    const std::int64_t kept = layer_total(*now.picture.layer, 0).kept_bytes;
    ASSERT_GT(kept, 0);
    const QString sentence = layer_kept_sentence(now.picture);
    EXPECT_TRUE(sentence.contains(QLatin1String("together ") + bytes_text(kept)))
        << sentence.toStdString();
    EXPECT_TRUE(sentence.contains(QLatin1String(word))) << sentence.toStdString();
    EXPECT_TRUE(now.texts.contains(QLatin1String("KEPT FOR THE BACKWARD")));
    EXPECT_TRUE(now.texts.contains(QLatin1String("heads that share keys and values")));
    EXPECT_TRUE(now.texts.contains(bytes_text(kept)));
  }
}

TEST(LayerPicture, LocalAttentionSaysThatKeysStayAndThatItIsAnotherFunction) {
  Session session;
  set_all(session,
          {{"pp", "1"}, {"cp", "4"}, {"attention", "fused"}, {"context-parallel", "local"}});
  const QString texts = painted(session, {}).texts;
  EXPECT_TRUE(texts.contains(QLatin1String("stay on the rank of their tokens")));
  EXPECT_TRUE(texts.simplified().contains(QStringLiteral("\u201cProve it\u201d refuses it")));
  EXPECT_FALSE(texts.contains(QLatin1String("come to each")));
}

TEST(LayerPicture, NamesTheRanksThatShareAHeadOfKeys) {
  Session session;
  set_all(session, {{"pp", "1"}, {"tp", "4"}, {"kv-heads", "2"}});
  const LayerPicture picture = layer_picture(session, all_pieces());
  int told = 0;
  for (std::size_t step = 0; step < picture.layer->steps.size(); ++step) {
    if (picture.layer->steps[step].piece != Piece::kQkv ||
        picture.layer->steps[step].kind != LayerStepKind::kCompute)
      continue;
    for (const FactLine& fact : describe_layer_step(picture, int(step), 2).facts) {
      if (fact.word == QLatin1String("q")) {
        EXPECT_FALSE(fact.value.contains(QLatin1String("copy")));
      }
      if (fact.word != QLatin1String("k") && fact.word != QLatin1String("v")) continue;
      EXPECT_TRUE(fact.value.startsWith(QLatin1String("shard and copy, the same as on rank 3")))
          << fact.value.toStdString();
      ++told;
    }
  }
  EXPECT_EQ(told, 2);
}

TEST(LayerPicture, TheOfferOfContextParallelismCanRunAndIsUndoneAtOnce) {
  Session session;
  set_all(session, {{"pp", "1"}, {"attention", "unfused"}});
  LayerView view(session);
  view.resize(900, 640);
  view.show();
  const auto offered = [&]() -> QToolButton* {
    for (auto* button : view.canvas().findChildren<QToolButton*>())
      if (button->isVisible() && button->text().endsWith(QLatin1String("CP 4"))) return button;
    return nullptr;
  };
  const auto before = session.setup();
  ASSERT_NE(offered(), nullptr);
  session.locks().set_allowed({QStringLiteral("mesh.cp")});
  EXPECT_FALSE(offered()->isEnabled());  // it would change the attention too
  session.locks().set_allowed({});
  offered()->click();
  session.wait_for_prediction();
  EXPECT_EQ(session.setup().mesh.cp, 4);
  EXPECT_TRUE(session.problems().empty());
  EXPECT_TRUE(can_execute(session.subject().prediction()->setup).ok());
  EXPECT_FALSE(view.picture().title.contains(QLatin1String("needs fused")));
  session.history().stack().undo();
  EXPECT_EQ(session.setup(), before);
  // Experts do not run with CP.
  set_all(session, {{"model", "moe-tiny"}});
  EXPECT_EQ(offered(), nullptr);
}

TEST(LayerPicture, TheSplitOfASequenceStandsInTheTitleAndCanBeChangedHere) {
  Session session;
  set_all(session, {{"pp", "1"}, {"cp", "4"}, {"attention", "fused"}});
  LayerView view(session);
  view.resize(900, 640);
  view.show();
  EXPECT_TRUE(view.picture().title.endsWith(QLatin1String("CP 4 ring, zigzag")));
  auto* split = view.findChild<Segments*>(QStringLiteral("ContextSplit"));
  ASSERT_TRUE(split && split->isVisible() && split->isEnabled());
  EXPECT_EQ(split->value(), QStringLiteral("zigzag"));
  for (auto* button : split->findChildren<QToolButton*>())
    if (button->text() == QLatin1String("contiguous")) button->click();
  session.wait_for_prediction();
  EXPECT_EQ(session.setup().cp_split, ContextSplit::kContiguous);
  EXPECT_TRUE(view.picture().title.endsWith(QLatin1String("CP 4 ring, contiguous")));
  session.history().stack().undo();
  EXPECT_EQ(session.setup().cp_split, ContextSplit::kZigzag);
  session.locks().set_allowed({QStringLiteral("mesh.cp")});
  EXPECT_FALSE(split->isEnabled());
  session.locks().set_allowed({QStringLiteral("cp_split")});
  EXPECT_TRUE(split->isEnabled());
  set_all(session, {{"context-parallel", "ulysses"}});
  EXPECT_FALSE(split->isVisible());
}

TEST(LayerPicture, WordsAreWholeInANarrowWindow) {
  for (const char* cp : {"2", "4"})
    for (const char* split : {"zigzag", "contiguous"}) {
      Session session;
      set_all(session, {{"pp", "1"}, {"cp", cp}, {"attention", "fused"}, {"cp-split", split}});
      const QString texts = painted(session, {}, 690).texts;
      for (const char* words : {"WHO COMPUTES WHICH SCORES\n", "the future:\n", "no work\n",
                                "K, V \u2192\n", "less time than that."})
        EXPECT_TRUE(texts.contains(QString::fromUtf8(words))) << words << cp << split;
      EXPECT_TRUE(
          texts.simplified().contains(QLatin1String("eys and values visit every rank, one "
                                                    "neighbour at a time")))
          << cp << split;
    }
}

TEST(LayerPicture, TheEmbeddingShowsWhatItsCollectiveLeavesAndTheShapeOfItsTable) {
  for (const char* sequence_parallel : {"off", "on"}) {
    Session session;
    set_all(session, {{"pp", "1"}, {"tp", "4"}, {"sequence-parallel", sequence_parallel}});
    LayerLook look;
    look.choice.place = LayerPlace::kEmbedding;
    for (const double width : {690.0, 1100.0}) {
      const Painted now = painted(session, look, width);
      const std::vector<LayerBox>& boxes = now.layout.halves.front().boxes;
      const int last = int(now.picture.layer->steps.size()) - 1;
      const bool drawn = std::any_of(boxes.begin(), boxes.end(), [&](const LayerBox& box) {
        return box.mark == LayerMark::kTensor && box.step == last;
      });
      EXPECT_TRUE(drawn);
      EXPECT_TRUE(now.texts.contains(QStringLiteral("64 of 256 \u00d7 64"))) << width;
      if (sequence_parallel == QLatin1String("on")) {
        EXPECT_TRUE(now.texts.contains(QStringLiteral("32 of 128 \u00d7 64"))) << width;
      }
    }
  }
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// A layer of experts in the Layer view: who has which expert, who sends tokens to whom, and what a
// run saw of them.
#include "app/views/layer/picture/experts/layer_experts.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QTest>
#include <QToolButton>
#include <algorithm>

#include "app/look/figures.h"
#include "app/state/run/engine_process.h"
#include "app/views/layer/layer_inside.h"
#include "app/views/layer/layer_view.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/app/wait.h"

namespace parallelarium {
namespace {

using ExpertFields = std::vector<std::pair<std::string, std::string>>;

void set_experts(Session& session, const ExpertFields& fields) {
  Setup setup = session.setup();
  ASSERT_TRUE(set_fields(setup, fields));
  session.history().change(setup, QStringLiteral("set up"));
  session.wait_for_prediction();
  ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
}

const ExpertFields kTwoByTwo = {
    {"pp", "1"}, {"model", "moe-tiny"}, {"dp", "2"}, {"tp", "2"}, {"ep", "2"}};

// Where all that runs is done.
LayerPicture picture_at_end(const Session& session, const LayerLook& look) {
  LayerPicture picture = layer_picture(session, look);
  if (picture.predicted) picture.playhead = picture.predicted->window.end;
  return picture;
}

int step_of_piece(const LayerPicture& picture, Piece piece) {
  for (std::size_t step = 0; step < picture.layer->steps.size(); ++step)
    if (picture.layer->steps[step].kind == LayerStepKind::kCompute &&
        picture.layer->steps[step].piece == piece)
      return int(step);
  return -1;
}

// The line in which a step stands.
const LayerHalf* half_with(const LayerLayout& layout, int step) {
  for (const LayerHalf& half : layout.halves)
    if (half.open && std::find(half.steps.begin(), half.steps.end(), step) != half.steps.end())
      return &half;
  return nullptr;
}

TEST(LayerExperts, TheirHalfIsOpenOnEveryRankOfTheGroupAndAttentionOnThoseOfOneReplica) {
  Session session;
  set_experts(session, kTwoByTwo);
  LayerView view(session);
  view.resize(1000, 700);
  view.show();
  LayerLook look = view.look();
  EXPECT_TRUE(look.mlp_open && !look.attention_open);
  look.attention_open = true;
  view.show_look(look);
  const auto ranks_of = [&](bool attention) {
    for (const LayerHalf& half : view.layout_now().halves)
      if (half.attention == attention) return half.ranks;
    return std::vector<int>{};
  };
  EXPECT_EQ(ranks_of(false), (std::vector<int>{0, 1, 2, 3}));
  EXPECT_EQ(ranks_of(true), (std::vector<int>{0, 1}));
  QTest::keyClick(&view.canvas(), Qt::Key_Right);
  for (int down = 0; down < 3; ++down) QTest::keyClick(&view.canvas(), Qt::Key_Down);
  EXPECT_EQ(view.look().rank, 3);
  EXPECT_EQ(ranks_of(true), (std::vector<int>{2, 3}));
}

// Every expert's matrix stands on the ranks where it lives, as far as TP gives them of it.
TEST(LayerExperts, AMatrixIsFilledWhereTheExpertLives) {
  for (const char* placement : {"blocked", "round-robin"}) {
    Session session;
    ExpertFields fields = kTwoByTwo;
    fields.push_back({"expert-placement", placement});
    set_experts(session, fields);
    LayerLook look;
    const LayerPicture picture = picture_at_end(session, look);
    const LayerLayout layout = layer_layout(picture, QSizeF(1600, 900), light_theme());
    QImage image(1600, int(layout.bottom) + 1, QImage::Format_RGB32);
    image.fill(light_theme().surface);
    QPainter painter(&image);
    paint_layer(painter, picture, layout, light_theme(), nullptr);
    const LayerHalf* half = half_with(layout, step_of_piece(picture, Piece::kExpert));
    ASSERT_NE(half, nullptr);
    const auto& setup = session.subject().prediction()->setup;
    const int step = step_of_piece(picture, Piece::kExpert);
    const QColor weight = light_theme().memory(Category::kParameters);
    int filled = 0, empty = 0;
    for (const LayerBox& box : half->boxes) {
      if (box.mark != LayerMark::kTensor || box.step != step) continue;
      for (std::size_t row = 0; row < half->rows.size(); ++row) {
        const LayerRank& rank = picture.layer->ranks[std::size_t(half->ranks[row])];
        const LayerTensor& of = picture.layer->steps[std::size_t(step)]
                                    .ranks[std::size_t(half->ranks[row])]
                                    .tensors[std::size_t(box.tensor)];
        if (of.all_experts == 0) continue;
        const QRectF place(box.x, half->rows[row] - box.height / 2, box.width, box.height);
        for (int expert = 0; expert < 8; ++expert) {
          const QRectF block = expert_grid(of).place_of(expert, place);
          // TP cuts the inner width: columns of the first products, rows of the last.
          for (int tp = 0; tp < 2; ++tp) {
            const double quarter = (tp + 0.25) / 2;
            const QPointF point =
                of.name == "w-out"
                    ? QPointF(block.left() + 3, block.top() + block.height() * quarter)
                    : QPointF(block.left() + block.width() * quarter, block.top() + 3);
            const bool here =
                home_of_expert(expert, 8, 2, setup.expert_placement).rank == rank.at.dp &&
                tp == rank.at.tp;
            EXPECT_EQ(image.pixelColor(point.toPoint()) == weight, here)
                << of.name << " expert " << expert << " rank " << rank.rank << " part " << tp;
            ++(here ? filled : empty);
          }
        }
      }
    }
    EXPECT_EQ(filled, 3 * 8 * 2) << placement;
    EXPECT_EQ(empty, 3 * 8 * 2 * 3);
  }
}

TEST(LayerExperts, SaysWhoSendsHowManyTokensToWhomAndWhatIsDropped) {
  Session session;
  ExpertFields fields = kTwoByTwo;
  fields.push_back({"skew", "0.5"});
  set_experts(session, fields);
  const LayerPicture picture = picture_at_end(session, {});
  const auto routed = route_layer(session.subject().prediction()->setup, 0, 0, 0);
  ASSERT_TRUE(routed);
  const auto fact = [&](int step, int rank, const char* word) {
    for (const FactLine& line : describe_layer_step(picture, step, rank).facts)
      if (line.word == QLatin1String(word)) return line.value;
    return QString();
  };
  const int dispatch = step_of_piece(picture, Piece::kDispatch);
  for (const int rank : {0, 3}) {
    const int home = rank / 2;
    const auto tokens = [&](int to) {
      return count_text(routed->rows[std::size_t(home)][std::size_t(to)]);
    };
    const QString first = QStringLiteral("rank %1: %2").arg(rank % 2).arg(tokens(0));
    const QString second = QStringLiteral("rank %1: %2").arg(2 + rank % 2).arg(tokens(1));
    const QString text = fact(dispatch, rank, "tokens to");
    EXPECT_TRUE(text.contains(first) && text.contains(second)) << text.toStdString();
  }
  const int experts = step_of_piece(picture, Piece::kExpert);
  std::int64_t dropped = 0;
  for (const std::int64_t each : routed->dropped) dropped += each;
  EXPECT_GT(dropped, 0);
  EXPECT_TRUE(fact(experts, 0, "capacity").contains(count_text(dropped)));
  EXPECT_TRUE(fact(experts, 0, "tokens here")
                  .contains(QStringLiteral("expert 0: ") + count_text(routed->load[0])));
  EXPECT_TRUE(fact(experts, 0, "shapes").contains(QLatin1String("4 of 8 experts: 64")));
  const QString sentence = layer_sentence(picture);
  EXPECT_TRUE(sentence.contains(QLatin1String("Rank 2 has experts 4 to 7")))
      << sentence.toStdString();
  // A lesson that asks what is sent hides it.
  session.locks().set_hidden({QStringLiteral("traffic.sent_bytes")});
  const LayerPicture asked = picture_at_end(session, {});
  EXPECT_FALSE(asked.shows_routes());
  EXPECT_FALSE(layer_sentence(asked).contains(QLatin1String("tokens to")));
}

// A replica's routes do not say what one rank sends where TP ranks share its tokens or a token goes
// once to each node; what experts take they say.
TEST(LayerExperts, GivesNoNumberOfSentTokensThatARankDoesNotSend) {
  for (const char* dispatch : {"copies", "tensor-shares", "once-per-node"}) {
    Session session;
    ExpertFields fields = kTwoByTwo;
    fields.insert(fields.end(), {{"sequence-parallel", "on"}, {"expert-dispatch", dispatch}});
    set_experts(session, fields);
    const LayerPicture picture = picture_at_end(session, {});
    const bool copies = fields.back().second == "copies";
    const LayerLayout layout = layer_layout(picture, QSizeF(1600, 900), light_theme());
    QImage image(200, 200, QImage::Format_RGB32);
    QPainter painter(&image);
    TextLog texts;
    const LayerBrush brush{painter, picture, layout, light_theme(), &texts};
    LayerBox box;
    box.step = step_of_piece(picture, Piece::kDispatch);
    const LayerStep& dispatch_step = picture.layer->steps[std::size_t(box.step)];
    for (const LayerTensor& tensor : dispatch_step.ranks[0].tensors) {
      ++box.tensor;
      if (tensor.by_row && tensor.written) paint_row_runs(brush, box, QRectF(0, 0, 200, 200), 0);
    }
    const QString sent = count_text(picture.routed->rows[0][1]);
    const QString taken = count_text(picture.routed->load[0]);
    QString facts;
    for (std::size_t step = 0; step < picture.layer->steps.size(); ++step)
      for (const FactLine& line : describe_layer_step(picture, int(step), 0).facts)
        facts += line.word + QLatin1Char(' ') + line.value + QLatin1Char('\n');
    EXPECT_EQ(facts.contains(QLatin1String("tokens to rank 0")), copies) << dispatch;
    EXPECT_EQ(facts.contains(QLatin1String("tokens back from")), copies) << dispatch;
    EXPECT_TRUE(facts.contains(QStringLiteral("tokens here expert 0: ") + taken)) << dispatch;
    EXPECT_EQ(layer_sentence(picture).contains(QLatin1String("tokens to")), copies) << dispatch;
    EXPECT_EQ(std::any_of(texts.begin(), texts.end(),
                          [&](const auto& text) { return text.text == sent; }),
              copies)
        << dispatch << ": " << sent.toStdString();
  }
}

// Every expert's rows begin a slot of equal height, a line stands where it is full, and what it
// drops is counted; without a limit there is no line.
TEST(LayerExperts, TheirCapacityIsALineAndWhatTheyDropIsCounted) {
  for (const char* capacity : {"1.25", "0"}) {
    Session session;
    set_experts(session, {{"pp", "1"},
                          {"model", "moe-tiny"},
                          {"dp", "2"},
                          {"ep", "2"},
                          {"skew", "0.5"},
                          {"capacity", capacity}});
    const LayerPicture picture = picture_at_end(session, {});
    const LayerLayout layout = layer_layout(picture, QSizeF(1600, 900), light_theme());
    QImage image(200, 400, QImage::Format_RGB32);
    image.fill(light_theme().surface);
    QPainter painter(&image);
    TextLog texts;
    const LayerBrush brush{painter, picture, layout, light_theme(), &texts};
    LayerBox box;
    box.step = step_of_piece(picture, Piece::kExpert);
    box.tensor = 0;
    ASSERT_EQ(picture.layer->steps[std::size_t(box.step)].ranks[0].tensors[0].name, "rows");
    paint_row_runs(brush, box, QRectF(20, 0, 160, 400), 0);
    const RoutedLayer& routed = *picture.routed;
    const auto lines = [&](double y) {
      int found = 0;
      for (int x = 0; x < image.width(); ++x)
        for (int near = std::max(0, int(y) - 1); near <= std::min(399, int(y) + 1); ++near)
          found += image.pixelColor(x, near) == light_theme().mark;
      return found;
    };
    if (capacity == std::string("0")) {
      EXPECT_EQ(routed.capacity, 0);
      for (int y = 1; y < 399; ++y) EXPECT_EQ(lines(y), 0) << y;
      continue;
    }
    std::int64_t most = 2 * routed.capacity;
    for (int expert = 0; expert < 4; ++expert)
      most = std::max(most, routed.load[std::size_t(expert)] + routed.dropped[std::size_t(expert)]);
    ASSERT_GT(most, 2 * routed.capacity) << "nothing is dropped";
    for (int expert = 0; expert < 4; ++expert)
      EXPECT_GT(lines(100 * (expert + 2.0 * double(routed.capacity) / double(most))), 40) << expert;
    const QString dropped = QStringLiteral("\u2212") + count_text(routed.dropped[0]);
    EXPECT_TRUE(std::any_of(texts.begin(), texts.end(),
                            [&](const auto& text) { return text.text == dropped; }));
    QString facts;
    for (const FactLine& line : describe_layer_step(picture, box.step, 0).facts)
      facts += line.word + QLatin1Char(' ') + line.value + QLatin1Char('\n');
    EXPECT_TRUE(facts.contains(
        QStringLiteral("dropped here expert 0: %1 of %2")
            .arg(count_text(routed.dropped[0]), count_text(routed.load[0] + routed.dropped[0]))))
        << facts.toStdString();
  }
}

TEST(LayerExperts, RanksLeftOutAreNotCalledAlikeWhereTheyHaveOtherExperts) {
  for (const char* ep : {"1", "8"}) {
    Session session;
    set_experts(session,
                {{"pp", "1"}, {"model", "moe-tiny"}, {"dp", "8"}, {"ep", ep}, {"tp", "2"}});
    const LayerPicture picture = picture_at_end(session, {});
    const LayerLayout layout = layer_layout(picture, QSizeF(1600, 900), light_theme());
    QImage image(1600, int(layout.bottom) + 1, QImage::Format_RGB32);
    QPainter painter(&image);
    TextLog texts;
    paint_layer(painter, picture, layout, light_theme(), &texts);
    QString all;
    for (const auto& text : texts) all += text.text + QLatin1Char('\n');
    EXPECT_EQ(all.contains(QLatin1String("13 more ranks, with other experts")), ep[0] == '8')
        << all.toStdString();
    EXPECT_FALSE(all.contains(QLatin1String("alike"))) << all.toStdString();
  }
}

// Screen readers hear of many experts the first and the last, and of many ranks how many follow.
TEST(LayerExperts, WordsOfManyExpertsAreShortAndLeaveNothingOutInSilence) {
  const auto sentence_of = [](const char* ep) {
    Session session;
    set_experts(session, {{"pp", "1"},
                          {"model", "moe-tiny"},
                          {"experts", "128"},
                          {"expert-placement", "round-robin"},
                          {"dp", ep},
                          {"ep", ep}});
    return experts_sentence(picture_at_end(session, {}));
  };
  const QString eight = sentence_of("8"), sixteen = sentence_of("16");
  EXPECT_TRUE(
      eight.contains(QStringLiteral("Rank 1 has experts 1, 9, 17, 25, 33, 41, \u2026, 121")))
      << eight.toStdString();
  EXPECT_FALSE(eight.contains(QLatin1String("more ranks"))) << eight.toStdString();
  EXPECT_TRUE(sixteen.contains(QLatin1String("Rank 1 has experts 1, 17, 33, 49, 65, 81, 97, 113")))
      << sixteen.toStdString();
  EXPECT_TRUE(sixteen.endsWith(QLatin1String(" 8 more ranks, with other experts.")))
      << sixteen.toStdString();
}

// What the first all-to-all of a direction carries goes to the experts, what the second carries
// comes back; the piece before the first and the piece behind the second do the same.
TEST(LayerExperts, GradientsTravelTheOtherWayRoundThanTokens) {
  Session session;
  set_experts(session, kTwoByTwo);
  for (const bool backward : {false, true}) {
    LayerLook look;
    look.choice.backward = backward;
    const LayerPicture picture = picture_at_end(session, look);
    QStringList words;
    std::vector<Piece> pieces;
    for (std::size_t step = 0; step < picture.layer->steps.size(); ++step)
      for (const FactLine& line : describe_layer_step(picture, int(step), 0).facts)
        if (line.word.endsWith(QLatin1String(" to")) ||
            line.word.endsWith(QLatin1String(" back from"))) {
          words << line.word;
          if (picture.layer->steps[step].kind == LayerStepKind::kCompute)
            pieces.push_back(picture.layer->steps[step].piece);
        }
    const QString what = backward ? QStringLiteral("gradients") : QStringLiteral("tokens");
    const QString to = what + QStringLiteral(" to"), back = what + QStringLiteral(" back from");
    EXPECT_EQ(words, (QStringList{to, to, back, back})) << words.join(u'|').toStdString();
    std::vector<Piece> order{Piece::kDispatch, Piece::kUnpermute};
    if (backward) std::swap(order[0], order[1]);
    EXPECT_EQ(pieces, order);
  }
}

// Dispatch, experts and combine have numbers of every rank, and the sums of TP hold.
TEST(LayerExperts, LooksInsideTheirTensors) {
  ASSERT_FALSE(EngineProcess::find_program().isEmpty()) << "the engine is not built";
  Session session;
  set_experts(session, kTwoByTwo);
  LayerView view(session);
  view.resize(1000, 700);
  view.show();
  auto* button = view.findChild<QToolButton*>(QStringLiteral("LookInside"));
  ASSERT_TRUE(button && button->isEnabled());
  button->click();
  ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kIdle; }, 60'000));
  EXPECT_EQ(session.jobs().last_error(), QString());
  const LayerPicture picture = view.picture();
  ASSERT_NE(picture.look.inside, nullptr);
  const LayerInside& inside = *picture.look.inside;
  int sums = 0;
  for (std::size_t step = 0; step < picture.layer->steps.size(); ++step) {
    const LayerStep& of = picture.layer->steps[step];
    if (of.kind == LayerStepKind::kCollective && of.axis == Axis::kTp) {
      const InsideIdentity* identity = inside.identity_of(int(step));
      ASSERT_NE(identity, nullptr) << step;
      EXPECT_LT(identity->largest_difference, 1e-5);
      ++sums;
    }
    if (of.kind != LayerStepKind::kCompute ||
        (of.piece != Piece::kRouter && of.piece != Piece::kDispatch && of.piece != Piece::kExpert &&
         of.piece != Piece::kUnpermute))
      continue;
    for (std::size_t rank = 0; rank < of.ranks.size(); ++rank)
      for (const LayerTensor& tensor : of.ranks[rank].tensors)
        EXPECT_NE(inside.find(of, tensor, picture.layer->ranks[rank].rank), nullptr)
            << tensor.name << " rank " << rank;
  }
  EXPECT_EQ(sums, 2);
}

}  // namespace
}  // namespace parallelarium

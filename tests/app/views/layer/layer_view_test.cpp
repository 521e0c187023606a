// SPDX-License-Identifier: GPL-3.0-or-later
// The Layer view: its picture in many settings, its keys, and what it says.
#include "app/views/layer/layer_view.h"

#include <gtest/gtest.h>

#include <QImage>
#include <QTest>
#include <QToolButton>

#include "app/look/figures.h"
#include "app/state/run/engine_process.h"
#include "app/views/layer/context/context_picture.h"
#include "app/views/layer/layer_inside.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/views/layer/layer_texts.h"
#include "tests/app/wait.h"

namespace parallelarium {
namespace {

struct Given {
  const char* field;
  const char* value;
};

void set_up(Session& session, const std::vector<Given>& fields) {
  Setup setup = session.setup();
  for (const Given& given : fields) ASSERT_TRUE(set_field(setup, given.field, given.value));
  session.history().change(setup, QStringLiteral("set up"));
  session.wait_for_prediction();
  ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
}

const Given kMoe = {"model", "moe-tiny"};
const std::vector<std::vector<Given>> kSetups = {
    {{"pp", "1"}},
    {{"pp", "1"}, {"tp", "2"}},
    {{"pp", "1"}, {"tp", "4"}, {"sequence-parallel", "on"}},
    {{"pp", "1"}, {"cp", "4"}, {"attention", "fused"}},
    {{"pp", "1"}, {"tp", "2"}, {"cp", "2"}, {"context-parallel", "ulysses"}},
    {{"pp", "1"}, {"cp", "4"}, {"context-parallel", "ulysses"}, {"kv-heads", "2"}},
    {{"pp", "1"}, {"tp", "2"}, {"model", "moe-tiny"}},
    {{"pp", "1"}, {"dp", "2"}, {"tp", "2"}, {"ep", "2"}, {"model", "moe-tiny"}},
    {{"pp", "1"}, {"dp", "8"}, {"ep", "8"}, {"tp", "2"}, {"model", "moe-tiny"}},
    {{"pp", "1"}, {"dp", "2"}, {"ep", "2"}, {"cp", "2"}, {"attention", "fused"}, kMoe},
    {{"pp", "1"}, {"dp", "2"}, {"ep", "2"}, {"cp", "2"}, {"context-parallel", "all-gather"}, kMoe},
    {{"pp", "1"}, {"dp", "2"}, {"ep", "2"}, {"cp", "2"}, {"context-parallel", "ulysses"}, kMoe},
    {{"pp", "2"}, {"tp", "2"}, {"model", "llama-tiny"}, {"recompute", "full"}}};

void expect_no_text_over_another(const Session& session, const LayerLook& look) {
  const TextLog texts = layer_texts(session, look);
  EXPECT_GT(texts.size(), 20u);
  for (std::size_t a = 0; a < texts.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const QRectF both = texts[a].rect.intersected(texts[b].rect);
      EXPECT_FALSE(both.width() > 1 && both.height() > 3)
          << texts[a].text.toStdString() << " over " << texts[b].text.toStdString();
    }
}

TEST(LayerView, NoTextOfItsPictureLiesOverAnother) {
  for (const auto& fields : kSetups) {
    Session session;
    set_up(session, fields);
    for (const auto& [backward, context] :
         {std::pair(false, false), {true, false}, {false, true}, {true, true}}) {
      LayerLook look;
      look.choice.backward = backward;
      look.context = context;
      look.attention_open = look.figures = true;
      expect_no_text_over_another(session, look);
    }
    for (const LayerPlace part : {LayerPlace::kEmbedding, LayerPlace::kHead})
      for (const bool backward : {false, true}) {
        LayerLook look;
        look.choice.place = part;
        look.choice.backward = backward;
        look.figures = true;
        expect_no_text_over_another(session, look);
      }
  }
}

TEST(LayerView, KeysWalkThroughPiecesRanksAndLayersAndOpenAHalf) {
  Session session;
  set_up(session, {{"pp", "1"}, {"tp", "2"}});
  LayerView view(session);
  view.resize(900, 600);
  view.show();
  SelectionText told;
  QObject::connect(&view, &View::described, [&](const SelectionText& text) { told = text; });
  QTest::keyClick(&view.canvas(), Qt::Key_Right);
  EXPECT_EQ(view.look().step, 0) << "the first of the layer, whose half is opened";
  EXPECT_TRUE(view.look().attention_open);
  EXPECT_FALSE(told.headline.isEmpty());
  QTest::keyClick(&view.canvas(), Qt::Key_Right);
  EXPECT_EQ(view.look().step, 1);
  QTest::keyClick(&view.canvas(), Qt::Key_End);
  const int last = int(view.picture().layer->steps.size()) - 1;
  EXPECT_EQ(view.look().step, last);
  EXPECT_TRUE(view.look().mlp_open && !view.look().attention_open);
  const QString said = view.canvas().accessibleDescription();
  QTest::keyClick(&view.canvas(), Qt::Key_Right);
  EXPECT_EQ(view.look().step, last);
  EXPECT_NE(view.canvas().accessibleDescription(), said) << "it says that there is none behind";
  QTest::keyClick(&view.canvas(), Qt::Key_Down);
  EXPECT_EQ(view.look().rank, 1);
  QTest::keyClick(&view.canvas(), Qt::Key_Right, Qt::ShiftModifier);
  EXPECT_EQ(view.look().choice.layer, 1);
  EXPECT_FALSE(view.look().attention_open);
  QTest::keyClick(&view.canvas(), Qt::Key_Return);
  EXPECT_TRUE(view.look().attention_open);
}

TEST(LayerView, ALessonCanNameTheHalfThatIsOpen) {
  Session session;
  set_up(session, {{"pp", "1"}, {"cp", "2"}, {"attention", "fused"}});
  LayerView view(session);
  view.resize(900, 640);
  view.show();
  EXPECT_TRUE(view.picture().shows_context());
  for (const auto& [part, attention] : {std::pair("attention", true), {"mlp", false}}) {
    view.show_part(QString::fromLatin1(part));
    EXPECT_FALSE(view.picture().shows_context());
    EXPECT_EQ(view.look().attention_open, attention);
    EXPECT_EQ(view.look().mlp_open, !attention);
  }
  view.show_part(QStringLiteral("context"));
  EXPECT_TRUE(view.picture().shows_context());
}

// A part of a lesson that speaks of the forward begins with it, whatever was looked at before.
TEST(LayerView, ALessonsPartBeginsWithTheForward) {
  Session session;
  set_up(session, {{"pp", "1"}, {"tp", "2"}});
  LayerView view(session);
  view.resize(900, 640);
  view.show();
  LayerLook look = view.look();
  look.choice.backward = true;
  look.step = 1;
  view.show_look(look);
  ASSERT_TRUE(view.picture().layer->choice.backward);
  view.show_part({});
  EXPECT_FALSE(view.picture().layer->choice.backward);
  EXPECT_EQ(view.look().step, -1) << "it was one of the backward";
  look = view.look();
  look.step = 1;
  view.show_look(look);
  view.show_part({});
  EXPECT_EQ(view.look().step, 1) << "it shows the forward already";
}

TEST(LayerView, ALessonCanNameTheEmbeddingAndTheHead) {
  Session session;
  set_up(session, {{"pp", "1"}, {"tp", "2"}});
  LayerView view(session);
  view.resize(900, 640);
  view.show();
  view.show_part(QStringLiteral("embedding"));
  EXPECT_EQ(view.picture().layer->choice.place, LayerPlace::kEmbedding);
  QTest::keyClick(&view.canvas(), Qt::Key_Right, Qt::ShiftModifier);
  EXPECT_EQ(view.look().choice, (LayerChoice{0, 0, false}));
  view.show_part(QStringLiteral("head"));
  EXPECT_EQ(view.picture().layer->choice.place, LayerPlace::kHead);
  QTest::keyClick(&view.canvas(), Qt::Key_Left, Qt::ShiftModifier);
  const int last = int(session.setup().model.layers) - 1;
  EXPECT_EQ(view.look().choice, (LayerChoice{last, 0, false}));
  view.show_part(QStringLiteral("mlp"));
  EXPECT_EQ(view.picture().layer->choice.place, LayerPlace::kLayer);
}

LayerPicture picture_of_part(const Session& session, LayerPlace part, bool backward = false) {
  LayerLook look;
  look.choice.place = part;
  look.choice.backward = backward;
  return layer_picture(session, look);
}

TEST(LayerView, SaysWhatTheLossSendsBesideAllLogitsUnlessALessonAsks) {
  Session session;
  set_up(session, {{"pp", "1"}, {"tp", "4"}});
  LayerPicture picture = picture_of_part(session, LayerPlace::kHead);
  const LayerVocabulary& of = picture.layer->vocabulary;
  EXPECT_LT(of.loss_sent_bytes, of.gathered_sent_bytes);
  const QString text = layer_sentence(picture);
  for (const QString& words :
       {bytes_text(of.loss_sent_bytes), bytes_text(of.gathered_sent_bytes),
        QStringLiteral("max all-reduce"), QStringLiteral("sum all-reduce"),
        QStringLiteral("target all-reduce"), QStringLiteral("f, "), QStringLiteral("nothing sent")})
    EXPECT_TRUE(text.contains(words)) << words.toStdString() << "\n" << text.toStdString();
  picture.hides_traffic = true;
  EXPECT_FALSE(layer_sentence(picture).contains(bytes_text(of.gathered_sent_bytes)));
  const QString embedding = layer_sentence(picture_of_part(session, LayerPlace::kEmbedding));
  for (const char* words : {"w 64 of 256 \u00d7 64 shard", "partial sum", "g all-reduce", "zeros"})
    EXPECT_TRUE(embedding.contains(QString::fromUtf8(words))) << embedding.toStdString();
}

TEST(LayerView, ThePiecesOfTheLossSayTheirNumbersAndWhatIsKept) {
  Session session;
  set_up(session, {{"pp", "1"}, {"tp", "4"}});
  const LayerPicture picture = picture_of_part(session, LayerPlace::kHead);
  const auto facts_of = [&](auto&& is_wanted) {
    QString facts;
    for (std::size_t step = 0; step < picture.layer->steps.size(); ++step)
      if (is_wanted(picture.layer->steps[step]))
        for (const FactLine& fact : describe_layer_step(picture, int(step), 0).facts)
          facts += fact.word + QLatin1Char(' ') + fact.value + QLatin1Char('\n');
    return facts;
  };
  const QString max = facts_of([](const LayerStep& step) { return step.number == "max"; });
  EXPECT_TRUE(max.contains(QLatin1String("the largest logit"))) << max.toStdString();
  EXPECT_TRUE(max.contains(bytes_text(picture.layer->vocabulary.gathered_sent_bytes)));
  const QString head = facts_of([](const LayerStep& step) {
    return step.piece == Piece::kHead && step.kind == LayerStepKind::kCompute;
  });
  EXPECT_TRUE(head.contains(QStringLiteral("w [64 \u00d7 64 of 256]"))) << head.toStdString();
  EXPECT_TRUE(head.contains(QLatin1String("kept for the backward"))) << head.toStdString();
}

TEST(LayerView, WithOneRankOfTensorParallelismItSaysThatNothingIsCutByWords) {
  Session session;
  set_up(session, {{"pp", "1"}, {"cp", "2"}, {"attention", "fused"}});
  LayerView view(session);
  view.resize(900, 640);
  view.show();
  for (const char* part : {"embedding", "head"}) {
    view.show_part(QString::fromLatin1(part));
    EXPECT_TRUE(view.description().contains(QLatin1String("Nothing is cut by words")));
    QStringList offered;
    for (const auto* button : view.canvas().findChildren<QToolButton*>())
      if (button->isVisible()) offered << button->text();
    EXPECT_EQ(offered, QStringList{QStringLiteral("Cut the vocabulary: TP 2")});
  }
}

// Sequence parallelism is spoken of where it is on.
TEST(LayerView, SaysWhatIsKeptInThePapersTerms) {
  Session session;
  set_up(session, {{"pp", "1"}, {"tp", "2"}});
  const QString without = layer_sentence(layer_picture(session, {}));
  EXPECT_TRUE(without.contains(QStringLiteral("TP 2: "))) << without.toStdString();
  EXPECT_FALSE(without.contains(QStringLiteral("+ SP"))) << without.toStdString();
  set_up(session, {{"pp", "1"}, {"tp", "2"}, {"sequence-parallel", "on"}});
  const QString text = layer_sentence(layer_picture(session, {}));
  EXPECT_TRUE(text.contains(QStringLiteral("TP 2 + SP"))) << text.toStdString();
  EXPECT_TRUE(text.contains(QStringLiteral("(no dropout)")));
  LayerPicture asked = layer_picture(session, {});
  asked.hides_memory = true;
  EXPECT_FALSE(layer_sentence(asked).contains(QStringLiteral("TP 2 + SP")));
}

TEST(LayerView, LooksInsideTheTensorsOfARun) {
  ASSERT_FALSE(EngineProcess::find_program().isEmpty()) << "the engine is not built";
  for (const auto& fields :
       {std::vector<Given>{{"pp", "1"}, {"tp", "2"}},
        {{"pp", "1"}, {"tp", "2"}, {"sequence-parallel", "on"}},
        {{"pp", "1"}, {"tp", "2"}, {"sequence-parallel", "on"}, {"ring-tensor", "on"}}}) {
    Session session;
    set_up(session, fields);
    LayerView view(session);
    view.resize(1000, 700);
    view.show();
    auto* button = view.findChild<QToolButton*>(QStringLiteral("LookInside"));
    ASSERT_NE(button, nullptr);
    EXPECT_TRUE(button->isEnabled());
    button->click();
    ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kIdle; }, 60'000));
    EXPECT_EQ(session.jobs().last_error(), QString());
    const LayerPicture picture = view.picture();
    ASSERT_NE(picture.look.inside, nullptr);
    const LayerInside& inside = *picture.look.inside;
    // The playhead stood before the layer, where nothing has a number yet.
    for (std::size_t step = 0; step < picture.layer->steps.size(); ++step)
      for (std::size_t rank = 0; rank < picture.layer->ranks.size(); ++rank)
        EXPECT_EQ(layer_share_done(picture, int(step), int(rank)), 1.0) << step;
    // Every collective of the layer is checked, and every drawn tensor has numbers of each rank.
    for (std::size_t step = 0; step < picture.layer->steps.size(); ++step) {
      const LayerStep& of = picture.layer->steps[step];
      // A ring of TP does in several exchanges what a collective does.
      if (of.kind == LayerStepKind::kCollective ||
          (of.kind == LayerStepKind::kExchange && of.block == 0)) {
        const InsideIdentity* identity = inside.identity_of(int(step));
        ASSERT_NE(identity, nullptr) << step;
        EXPECT_LT(identity->largest_difference, 1e-5);
        ASSERT_TRUE(identity->one_rank_difference.has_value());
        EXPECT_LT(*identity->one_rank_difference, 1e-5);
        EXPECT_TRUE(view.description().contains(identity->sentence));
      }
      // Weights and scores have numbers as activations do, and what a ring adds up.
      if (of.kind != LayerStepKind::kCompute ||
          (of.piece != Piece::kMlpOut && of.piece != Piece::kQkv && of.piece != Piece::kAttention &&
           of.piece != Piece::kCombine))
        continue;
      for (std::size_t rank = 0; rank < of.ranks.size(); ++rank)
        for (const LayerTensor& tensor : of.ranks[rank].tensors)
          EXPECT_NE(inside.find(of, tensor, picture.layer->ranks[rank].rank), nullptr)
              << tensor.name;
    }
    // The numbers are of this layer alone.
    LayerLook next = view.look();
    next.choice.layer = 1;
    view.show_look(next);
    EXPECT_EQ(view.picture().look.inside, nullptr);
  }
}

// Asked for the picture of context parallelism where there is none, it says why.
TEST(LayerView, ExportsNoOtherPictureForOneOfContextParallelism) {
  const auto texts_of = [](const char* cp, const QString& part) {
    Session session;
    set_up(session, {{"pp", "1"}, {"cp", cp}, {"attention", "fused"}});
    PictureStyle style;
    style.part = part;
    const ViewPicture picture = LayerView::info().picture(session, style);
    TextLog texts;
    QImage image(picture.size, QImage::Format_RGB32);
    QPainter painter(&image);
    picture.paint(painter, picture.size, &texts);
    QStringList said;
    for (const PaintedText& text : texts) said << text.text;
    return said.join(QLatin1Char('|'));
  };
  const QString why = QStringLiteral("With CP 1 every rank has all tokens of a sequence");
  const QString context = QStringLiteral("context");
  EXPECT_TRUE(texts_of("1", context).contains(why));
  EXPECT_FALSE(texts_of("1", context).contains(QStringLiteral("norm 2"))) << "the pieces";
  EXPECT_FALSE(texts_of("2", context).contains(why));
  EXPECT_TRUE(texts_of("1", QStringLiteral("mlp")).contains(QStringLiteral("norm 2")));
}

// In the causal picture too: what is sent arrives, and the outputs together are one rank's.
TEST(LayerView, LooksInsideWhatContextParallelismEstablishes) {
  for (const char* kind : {"ring", "all-gather", "ulysses"}) {
    SCOPED_TRACE(kind);
    Session session;
    set_up(session, {{"pp", "1"}, {"cp", "2"}, {"attention", "fused"}, {"context-parallel", kind}});
    LayerView view(session);
    view.resize(1000, 700);
    view.show();
    ASSERT_TRUE(view.picture().shows_context());
    auto* button = view.findChild<QToolButton*>(QStringLiteral("LookInside"));
    ASSERT_TRUE(button && button->isVisible());
    button->click();
    ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kIdle; }, 60'000));
    EXPECT_EQ(session.jobs().last_error(), QString());
    const LayerPicture picture = view.picture();
    ASSERT_NE(picture.look.inside, nullptr);
    const LayerContext& context = picture.layer->context;
    std::vector<int> steps{context.rounds.back().step};
    for (const ContextMove& move : context.moves) steps.push_back(move.step);
    for (const int step : steps) {
      const InsideIdentity* identity = picture.look.inside->identity_of(step);
      ASSERT_NE(identity, nullptr) << step;
      EXPECT_LT(identity->largest_difference, 1e-5);
      EXPECT_TRUE(view.description().contains(identity->sentence));
      bool told = false;
      for (const FactLine& fact : describe_layer_step(picture, step, 0).facts)
        told = told || fact.value == identity->sentence;
      EXPECT_TRUE(told) << identity->sentence.toStdString();
    }
  }
}

// 1 : 3 : 5 : 7 as the mask leaves it, and beside it what the run's attention took.
TEST(LayerView, SaysTheWorkOfTheRanksAndTheTimeOfTheirAttentionInARun) {
  Session session;
  set_up(session, {{"pp", "1"}, {"cp", "4"}, {"attention", "fused"}, {"cp-split", "contiguous"}});
  EXPECT_EQ(context_ratio_lines(layer_picture(session, {})),
            QStringList(QStringLiteral("Work of the ranks 1 : 3 : 5 : 7")));
  RunRecord run = made_up_run(session.setup(), 1.1);
  const Program& program = run.prediction->program;
  // Ops of attention take 10, 30, 50 and 80 µs, all others longer.
  for (std::size_t rank = 0; rank < program.ranks.size(); ++rank)
    for (std::size_t op = 0; op < program.ranks[rank].ops.size(); ++op) {
      const bool attention = program.ranks[rank].ops[op].kind == OpKind::kCompute &&
                             program.ranks[rank].ops[op].piece == Piece::kAttention;
      const int cp = program.ranks[rank].at.cp;
      Span& span = run.observation.timeline.ranks[rank].spans[op];
      span.end = span.begin + std::chrono::microseconds(!attention ? 200
                                                        : cp == 3  ? 80
                                                                   : 10 + 20 * cp);
    }
  const QString source = source_text(run.observation.source);
  session.restore(session.setup(), {std::move(run)}, std::nullopt);
  session.wait_for_prediction();
  const LayerPicture picture = layer_picture(session, {});
  ASSERT_EQ(context_ratio_lines(picture).size(), 2);
  EXPECT_EQ(context_ratio_lines(picture)[1],
            QStringLiteral("Time of their attention 1 : 3 : 5 : 8, ") + source);
  EXPECT_TRUE(layer_sentence(picture).contains(context_ratio_lines(picture)[1]));
  expect_no_text_over_another(session, {});
}

TEST(LayerView, ABlockOfScoresCanBeClickedAndSaysItsTokensAndStep) {
  Session session;
  set_up(session, {{"pp", "1"}, {"cp", "4"}, {"attention", "fused"}});
  LayerView view(session);
  view.resize(900, 640);
  view.show();
  SelectionText told;
  QObject::connect(&view, &View::described, [&](const SelectionText& text) { told = text; });
  const LayerPicture picture = view.picture();
  const LayerContext& context = picture.layer->context;
  const LayerLayout layout = view.layout_now();
  ASSERT_EQ(layout.targets.size(), context.blocks.size());
  for (std::size_t at = 0; at < context.blocks.size(); ++at) {
    const ScoreBlock& block = context.blocks[at];
    const QPointF lower_left = layout.targets[at].place.bottomLeft() + QPointF(3, -3);
    QTest::mouseClick(&view.canvas(), Qt::LeftButton, {}, lower_left.toPoint());
    EXPECT_EQ(view.look().step, context.rounds[std::size_t(block.round)].step);
    EXPECT_EQ(view.look().rank, block.cp);
    QString facts;
    for (const FactLine& fact : told.facts)
      facts += fact.word + QLatin1Char(' ') + fact.value + QLatin1Char('\n');
    const std::int64_t first = context.runs[std::size_t(block.queries)].tokens.begin;
    EXPECT_TRUE(facts.contains(QString::number(first))) << facts.toStdString();
  }
}

TEST(LayerView, SaysWhoComputesHowManyBlocksInWhichStepUnlessALessonAsks) {
  Session session;
  set_up(session, {{"pp", "1"}, {"cp", "2"}, {"attention", "fused"}});
  const QString text = layer_sentence(layer_picture(session, {}));
  EXPECT_TRUE(text.contains(QLatin1String("step 2: 2 blocks with keys and values of rank 0")))
      << text.toStdString();
  LayerPicture asked = layer_picture(session, {});
  asked.hides_blocks = true;
  EXPECT_TRUE(layer_sentence(asked).contains(QLatin1String("step 2: ? blocks")));
}

TEST(LayerView, UlyssesSaysWhichRanksGetACopyOfAHeadOfKeysAndValues) {
  for (const auto& [kv_heads, repeated] : {std::pair("2", true), {"4", false}}) {
    Session session;
    set_up(session,
           {{"pp", "1"}, {"cp", "4"}, {"context-parallel", "ulysses"}, {"kv-heads", kv_heads}});
    const QString text = layer_sentence(layer_picture(session, {}));
    EXPECT_EQ(text.contains(QLatin1String("a copy of K/V head 1, which")), repeated)
        << text.toStdString();
    EXPECT_EQ(text.contains(QLatin1String("K/V heads 3")), !repeated);
  }
}

TEST(LayerView, SaysInWordsWhatIsSharedAndSummed) {
  Session session;
  set_up(session, {{"pp", "1"}, {"tp", "2"}});
  const QString text = layer_sentence(layer_picture(session, {}));
  for (const char* word : {"partial sum", "copy", "shard", "g all-reduce", "nothing sent"})
    EXPECT_TRUE(text.contains(QLatin1String(word))) << word;
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// What Layer and Who holds what paint, in both languages and as large as the window's two usual
// sizes leave them: no text lies over another or is cut, but for lists whose whole is told
// elsewhere. Matrices and heads have their names there.
#include <gmock/gmock.h>

#include <QImage>
#include <QPainter>
#include <QRegularExpression>
#include <QToolButton>
#include <memory>
#include <optional>
#include <set>

#include "app/state/run/engine_process.h"
#include "app/views/layer/layer_inside.h"
#include "app/views/layer/layer_view.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/views/holders_fixture.h"
#include "tests/app/views/layer/layer_texts.h"
#include "tests/app/wait.h"
#include "tests/app/window/texts/german.h"

namespace parallelarium {
namespace {

constexpr QSize kViews[] = {{872, 690}, {724, 470}};  // of windows of 1440 x 900 and 1024 x 700

using GivenFields = std::vector<std::pair<const char*, const char*>>;

PlanSetup setup_with(const GivenFields& fields) {
  PlanSetup setup = default_setup();
  for (const auto& [field, value] : fields) EXPECT_TRUE(set_field(setup, field, value)) << field;
  return setup;
}

// Sentences and lists that end where the line does; a click, a tip or the panel has all of them.
bool may_be_cut(const QString& text, const QStringList& long_ones) {
  const QString begin = text.left(text.size() - 1);
  return std::any_of(long_ones.begin(), long_ones.end(),
                     [&](const QString& all) { return all.startsWith(begin); });
}

void expect_whole(const TextLog& texts, double width, const QStringList& long_ones) {
  for (const PaintedText& text : texts) {
    const bool whole = !text.text.endsWith(QChar(0x2026)) || may_be_cut(text.text, long_ones);
    EXPECT_TRUE(whole) << text.text.toStdString();
    EXPECT_GE(text.rect.left(), -0.5) << text.text.toStdString();
    EXPECT_LE(text.rect.right(), width + 0.5) << text.text.toStdString();
  }
  for (std::size_t a = 0; a < texts.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) {
      const QRectF both = texts[a].rect.intersected(texts[b].rect);
      EXPECT_FALSE(both.width() > 1 && both.height() > 3)
          << texts[a].text.toStdString() << " over " << texts[b].text.toStdString();
    }
}

// `look`: of a picture with numbers in it they come from a run of this Setup.
void expect_whole_layer(const Session& session, const LayerLook& look, double width) {
  const LayerPicture picture = layer_picture(session, look);
  // Beside the scroll bar; what is wider is scrolled.
  width = std::max(width - 12, layer_layout(picture, QSizeF(width - 12, 600), light_theme()).right);
  const LayerLayout layout = layer_layout(picture, QSizeF(width, 600), light_theme());
  QImage image(int(width), int(layout.bottom) + 1, QImage::Format_RGB32);
  QPainter painter(&image);
  TextLog texts;
  paint_layer(painter, picture, layout, light_theme(), &texts);
  EXPECT_GT(texts.size(), 10u);
  QStringList long_ones{picture.title, picture.notice};
  // A closed half names its steps; above narrow columns of an open one names are short.
  for (const LayerHalf& half : layout.halves) {
    QStringList names;
    for (const int step : half.steps)
      names << layer_step_name(picture.layer->steps[std::size_t(step)]);
    long_ones += half.open ? names : QStringList(names.join(QStringLiteral(" \u2192 ")));
  }
  expect_whole(texts, width, long_ones);
}

class PaintedEvidence : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) german_.emplace();
  }

 private:
  std::optional<German> german_;
};

TEST_P(PaintedEvidence, OfALayerIsWhole) {
  for (const GivenFields& fields : std::vector<GivenFields>{
           {{"pp", "1"}},
           {{"pp", "1"}, {"tp", "2"}},
           {{"pp", "1"}, {"heads", "8"}, {"tp", "8"}},
           {{"pp", "1"}, {"tp", "2"}, {"sequence-parallel", "on"}},
           {{"pp", "1"}, {"tp", "4"}, {"kv-heads", "2"}},
           {{"pp", "1"}, {"cp", "4"}, {"attention", "fused"}},
           {{"pp", "1"}, {"cp", "4"}, {"attention", "fused"}, {"cp-split", "contiguous"}},
           {{"pp", "1"}, {"cp", "4"}, {"context-parallel", "all-gather"}},
           {{"pp", "1"}, {"cp", "4"}, {"context-parallel", "local"}},
           {{"pp", "1"}, {"tp", "2"}, {"cp", "2"}},
           {{"pp", "1"}, {"cp", "4"}, {"context-parallel", "ulysses"}},
           {{"pp", "1"}, {"cp", "4"}, {"context-parallel", "ulysses"}, {"kv-heads", "2"}},
           {{"pp", "1"}, {"model", "moe-tiny"}, {"dp", "2"}, {"ep", "2"}, {"tp", "2"}}}) {
    Session session;
    session.restore(setup_with(fields), {}, std::nullopt);
    session.wait_for_prediction();
    std::string told;
    for (const auto& [field, value] : fields) told += std::string(field) + " " + value + " ";
    SCOPED_TRACE(told);
    ASSERT_TRUE(session.problems().empty());
    for (const QSize& size : kViews)
      for (const bool backward : {false, true}) {
        LayerLook look;
        look.choice.backward = backward;
        for (const LayerPlace place : {LayerPlace::kEmbedding, LayerPlace::kHead}) {
          SCOPED_TRACE(testing::Message() << size.width() << (backward ? " backward" : "")
                                          << (place == LayerPlace::kHead ? " head" : " embedding"));
          look.choice.place = place;
          expect_whole_layer(session, look, size.width());
        }
        look.choice.place = LayerPlace::kLayer;
        for (const bool context : {false, true})
          for (const bool attention : {false, true}) {
            SCOPED_TRACE(testing::Message()
                         << size.width() << (backward ? " backward" : "")
                         << (context ? " context" : "") << (attention ? " attention" : ""));
            look.context = context;
            look.attention_open = attention;
            expect_whole_layer(session, look, size.width());
          }
      }
  }
}

// Above W2 its partial sums are told: the residual beside it has no text.
TEST_P(PaintedEvidence, OfTheSecondProductSaysItsPartialSums) {
  for (const char* degree : {"2", "8"}) {
    Session session;
    session.restore(setup_with({{"pp", "1"}, {"heads", "8"}, {"tp", degree}}), {}, std::nullopt);
    session.wait_for_prediction();
    const LayerPicture picture = layer_picture(session, {});
    QString whole;
    for (const LayerStep& step : picture.layer->steps)
      if (step.piece == Piece::kMlpOut && step.kind == LayerStepKind::kCompute)
        whole = layer_cut_texts(step).front();
    const LayerLayout layout = layer_layout(picture, QSizeF(838, 600), light_theme());
    QImage image(838, int(layout.bottom) + 1, QImage::Format_RGB32);
    QPainter painter(&image);
    TextLog texts;
    paint_layer(painter, picture, layout, light_theme(), &texts);
    EXPECT_TRUE(std::any_of(texts.begin(), texts.end(),
                            [&](const PaintedText& text) { return text.text == whole; }))
        << degree << " " << whole.toStdString();
  }
}

TEST_P(PaintedEvidence, OfNumbersInALayerIsWhole) {
  ASSERT_FALSE(EngineProcess::find_program().isEmpty()) << "the engine is not built";
  Session session;
  session.restore(setup_with({{"pp", "1"}, {"tp", "2"}}), {}, std::nullopt);
  session.wait_for_prediction();
  LayerView view(session);
  view.resize(kViews[0]);
  view.show();
  view.findChild<QToolButton*>(QStringLiteral("LookInside"))->click();
  ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kIdle; }, kRunMs));
  ASSERT_NE(view.picture().look.inside, nullptr);
  for (const QSize& size : kViews) {
    LayerLook look = view.look();
    look.attention_open = true;
    expect_whole_layer(session, look, size.width());
  }
}

void show_in(Session& session, const GivenFields& fields) {
  session.restore(setup_with(fields), {}, std::nullopt);
  session.wait_for_prediction();
}

// Alone, before others of its shape, or before the shape: "gate", "w-gate, w-up 64 × 96 of 192".
std::set<QString> names_in(const TextLog& texts) {
  static const QRegularExpression names(
      QStringLiteral("^([a-z][a-z0-9-]*(?:, [a-z][a-z0-9-]*)*)(?: \\d.*\u00d7.*)?$"));
  std::set<QString> found;
  for (const PaintedText& text : texts)
    if (const auto match = names.match(text.text); match.hasMatch())
      for (const QString& name : match.captured(1).split(QStringLiteral(", "))) found.insert(name);
  return found;
}

TEST(LayerNames, OfMatricesStandInOrBelowTheirBlocks) {
  for (const auto& [mlp, all] :
       {std::pair("gelu", std::vector<const char*>{"y", "w", "u", "act", "out", "sum"}),
        {"swiglu", {"y", "w-gate", "w-up", "gate", "up", "act", "w", "sum"}}}) {
    Session session;
    show_in(session, {{"pp", "1"}, {"tp", "2"}, {"mlp", mlp}});
    const std::set<QString> names = names_in(layer_texts(session, {}));
    for (const char* name : all) EXPECT_TRUE(names.contains(QLatin1String(name))) << mlp << name;
  }
}

TEST(LayerNames, OfHeadsSayWhichKeysAndValuesARankHas) {
  for (const auto& [kv_heads, line] : {std::pair("2", "K/V head 1 \u00b7 copy"), {"4", nullptr}}) {
    Session session;
    show_in(session, {{"pp", "1"}, {"tp", "4"}, {"kv-heads", kv_heads}});
    LayerLook look;
    look.attention_open = true;
    int lines = 0, right = 0;
    for (const PaintedText& text : layer_texts(session, look)) {
      lines += text.text.startsWith(QLatin1String("K/V"));
      right += line && text.text == QString::fromUtf8(line);
    }
    EXPECT_EQ(lines, line ? 4 : 0);
    EXPECT_EQ(right, line ? 2 : 0) << "ranks 2 and 3";
  }
}

TEST(LayerNames, EveryPieceOfTheBackwardHasABlock) {
  Session session;
  show_in(session, {{"pp", "1"}, {"tp", "2"}});
  LayerLook look;
  look.choice.backward = look.attention_open = true;
  const LayerPicture picture = layer_picture(session, look);
  const LayerLayout layout = layer_layout(picture, QSizeF(1100, 600), light_theme());
  std::set<int> drawn;
  for (const LayerHalf& half : layout.halves)
    for (const LayerBox& box : half.boxes)
      if (box.mark == LayerMark::kTensor) drawn.insert(box.step);
  for (int step = 0; step < int(picture.layer->steps.size()); ++step)
    if (picture.layer->steps[std::size_t(step)].kind == LayerStepKind::kCompute) {
      EXPECT_TRUE(drawn.contains(step))
          << layer_step_name(picture.layer->steps[std::size_t(step)]).toStdString();
    }
}

TEST(LayerNames, OfACutByTokensAndHeadsSaysBoth) {
  Session session;
  show_in(session, {{"pp", "1"}, {"tp", "2"}, {"cp", "2"}, {"attention", "fused"}});
  const LayerPicture picture = layer_picture(session, {});
  QStringList cuts;
  for (const LayerStep& step : picture.layer->steps) cuts += layer_cut_texts(step);
  EXPECT_TRUE(cuts.contains(QStringLiteral("cut by tokens and heads")))
      << cuts.join(QStringLiteral(", ")).toStdString();
  EXPECT_TRUE(cuts.contains(QStringLiteral("cut by tokens and columns")));
}

class PaintedHolders : public HoldersFixture {};

// In both languages, since a run is made once.
TEST_F(PaintedHolders, OfARunAreWhole) {
  ASSERT_FALSE(EngineProcess::find_program().isEmpty()) << "the engine is not built";
  for (const GivenFields& fields :
       std::vector<GivenFields>{{{"pp", "1"}, {"dp", "8"}},
                                {{"pp", "1"}, {"dp", "4"}, {"zero", "3"}},
                                {{"pp", "1"}, {"dp", "2"}, {"tp", "2"}, {"zero", "1"}}}) {
    SCOPED_TRACE(testing::Message() << fields.back().first << " " << fields.back().second);
    PlanSetup setup = setup_with(fields);
    setup.run.steps = 1;  // the last one is painted
    for (const bool ran : {false, true}) {
      show(setup);
      if (ran) {
        session.start_run(false);
        ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kIdle; }, kRunMs));
        ASSERT_NE(session.runs().current(), nullptr) << session.jobs().last_error().toStdString();
      }
      for (const bool in_german : {false, true}) {
        std::optional<German> german;
        if (in_german) german.emplace();
        for (const QSize& size : kViews) {
          SCOPED_TRACE(testing::Message() << size.width() << (in_german ? " German" : " English"));
          view.resize(size);
          pane->refresh();
          for (const double share : {0.0, 0.3, 0.6, 0.9}) {
            session.playback().set_playhead(Nanoseconds(
                std::int64_t(share * double(session.playback().played().length().count()))));
            const HoldersPicture& picture = pane->picture();
            ASSERT_EQ(picture.from_run, ran);
            TextLog texts;
            QImage image(pane->size(), QImage::Format_RGB32);
            QPainter painter(&image);
            paint_holders(painter, picture, holders_layout(picture, pane->size()), pane->size(),
                          {-1, -1}, light_theme(), &texts);
            expect_whole(
                texts, pane->width(),
                QStringList{picture.moment, picture.messages.join(QStringLiteral(" \u00b7 "))} +
                    picture.messages);
            for (const HoldersRow& row : picture.rows)
              EXPECT_EQ(std::any_of(texts.begin(), texts.end(),
                                    [&](const PaintedText& text) {
                                      return !row.hash.isEmpty() && text.text.contains(row.hash);
                                    }),
                        ran)
                  << row.name.toStdString();
          }
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Languages, PaintedEvidence, testing::Bool(),
                         [](const auto& info) { return info.param ? "German" : "English"; });

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// A ring of context parallelism in the Layer view: for which step keys and values are on their way,
// and the numbers that a run had of them; how ranks of the same colour are told apart; and what the
// text for screen readers says of a layer.
#include <gtest/gtest.h>

#include <QImage>
#include <QToolButton>
#include <memory>
#include <set>

#include "app/state/run/engine_process.h"
#include "app/views/layer/context/context_picture.h"
#include "app/views/layer/layer_inside.h"
#include "app/views/layer/layer_view.h"
#include "app/views/layer/picture/layer_marks.h"
#include "app/views/shared/paint/rank_chip.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/app/wait.h"

namespace parallelarium {
namespace {

using LayerFields = std::vector<std::pair<std::string_view, std::string_view>>;

void set_fields_of(Session& session, const LayerFields& fields) {
  auto setup = session.setup();
  for (const auto& [field, value] : fields)
    ASSERT_TRUE(set_field(setup, std::string(field), std::string(value)));
  session.history().change(setup, QStringLiteral("set up"));
  session.wait_for_prediction();
  ASSERT_TRUE(session.problems().empty()) << session.problems().front().text;
}

QImage painted_layer(const LayerPicture& picture, const LayerLayout& layout,
                     TextLog* texts = nullptr) {
  QImage image(int(layout.size.width()), int(layout.bottom) + 1, QImage::Format_RGB32);
  QPainter painter(&image);
  painter.fillRect(image.rect(), light_theme().surface);
  paint_layer(painter, picture, layout, light_theme(), texts);
  return image;
}

int times_written(const TextLog& texts, const QString& text, const LayerLayout& layout,
                  bool in_lanes) {
  return int(std::count_if(texts.begin(), texts.end(), [&](const auto& each) {
    return each.text == text && layout.in_lanes(each.rect.center().y()) == in_lanes;
  }));
}

// While an exchange is under way the strip says for which step it is, and the lanes do always.
TEST(LayerRing, SaysForWhichStepKeysAndValuesAreOnTheirWay) {
  Session session;
  set_fields_of(session, {{"pp", "1"}, {"cp", "4"}, {"attention", "fused"}});
  LayerPicture picture = layer_picture(session, {});
  ASSERT_TRUE(picture.shows_context());
  // Each exchange as long as the step beside it, so that its name has room in the lanes.
  auto times = std::make_shared<LayerSpans>(*picture.predicted);
  for (const ContextMove& move : picture.layer->context.moves) {
    const int beside = picture.layer->context.rounds[std::size_t(move.round)].step;
    for (std::optional<Span>& span : times->spans[std::size_t(move.step)])
      span = *times->spans[std::size_t(beside)][0];
  }
  picture.predicted = times;
  int moves = 0;
  for (const ContextMove& move : picture.layer->context.moves) {
    const Span span = *picture.predicted->spans[std::size_t(move.step)][0];
    picture.playhead = span.begin + (span.end - span.begin) / 2;
    TextLog texts;
    const LayerLayout layout = layer_layout(picture, QSizeF(1000, 900), light_theme());
    painted_layer(picture, layout, &texts);
    const QString step = QStringLiteral("\u2192 %1").arg(move.round + 2);
    EXPECT_GE(times_written(texts, step, layout, false), 4) << step.toStdString();
    EXPECT_EQ(times_written(texts, step, layout, true), int(layout.ranks.size()))
        << step.toStdString();
    const int whose = picture.layer->context.rounds[std::size_t(move.round)].keys_from[0];
    const SelectionText told = describe_layer_step(picture, move.step, 0);
    EXPECT_TRUE(told.headline.contains(QStringLiteral("ring step %1").arg(move.round + 2)))
        << told.headline.toStdString();
    ASSERT_FALSE(told.facts.empty());
    EXPECT_TRUE(told.facts[0].value.contains(QStringLiteral("rank %1").arg(whose)));
    EXPECT_TRUE(told.facts[0].value.contains(context_tokens_text(picture.layer->context, whose)));
    ++moves;
  }
  EXPECT_EQ(moves, 3);
}

// All that has arrived and waits for its step has a chip on the card of its rank.
TEST(LayerRing, ShowsAllKeysAndValuesThatHaveArrived) {
  Session session;
  set_fields_of(session, {{"pp", "1"}, {"cp", "4"}, {"attention", "fused"}});
  LayerPicture picture = layer_picture(session, {});
  const LayerContext& context = picture.layer->context;
  // The exchanges as fast as they may be: all are done in the first step.
  auto times = std::make_shared<LayerSpans>(*picture.predicted);
  const Span first = *times->spans[std::size_t(context.rounds[0].step)][0];
  for (const ContextMove& move : context.moves)
    for (std::optional<Span>& span : times->spans[std::size_t(move.step)])
      span = {first.begin + Nanoseconds(10 * move.round + 1),
              first.begin + Nanoseconds(10 * move.round + 9)};
  picture.predicted = times;
  const auto chips = [&](Nanoseconds time) {
    picture.playhead = time;
    TextLog texts;
    const LayerLayout layout = layer_layout(picture, QSizeF(1000, 900), light_theme());
    painted_layer(picture, layout, &texts);
    const QRectF& strip = layout.context.strip;
    return std::count_if(texts.begin(), texts.end(), [&](const auto& text) {
      return text.text == QLatin1String("3") && strip.contains(text.rect.center());
    });
  };
  // Rank 3's name, its own queries, keys and values.
  EXPECT_EQ(chips(first.begin), 3);
  // With each exchange they come to one more rank, while all still work on their first step.
  for (const ContextMove& move : context.moves)
    EXPECT_EQ(chips(first.begin + Nanoseconds(10 * move.round + 9)), 4 + move.round);
}

// The blocks of a ring have their keys and values beside them, with numbers of a run, at TP 4 too.
TEST(LayerRing, HeatMapsHaveTheKeysAndValuesOfEachStep) {
  ASSERT_FALSE(EngineProcess::find_program().isEmpty()) << "the engine is not built";
  Session session;
  set_fields_of(
      session,
      {{"pp", "1"}, {"tp", "4"}, {"cp", "2"}, {"sequence-parallel", "on"}, {"attention", "fused"}});
  LayerView view(session);
  view.resize(1000, 700);
  view.show();
  LayerLook look = view.look();
  look.context = false;
  look.attention_open = true;
  view.show_look(look);
  view.findChild<QToolButton*>(QStringLiteral("LookInside"))->click();
  ASSERT_TRUE(wait_until([&] { return session.jobs().state() == RunState::kIdle; }, 60'000));
  EXPECT_EQ(session.jobs().last_error(), QString());
  LayerPicture picture = view.picture();
  ASSERT_NE(picture.look.inside, nullptr);
  picture.playhead = picture.shown()->window.end;
  const LayerLayout layout = layer_layout(picture, QSizeF(1000, 700), light_theme());
  LayerPicture plain = picture;
  plain.look.inside.reset();
  const QImage with = painted_layer(picture, layout), without = painted_layer(plain, layout);
  std::set<std::pair<int, std::string>> seen;
  for (const LayerHalf& half : layout.halves)
    for (const LayerBox& box : half.boxes) {
      if (box.mark != LayerMark::kTensor) continue;
      const LayerStep& step = picture.layer->steps[std::size_t(box.step)];
      if (step.piece != Piece::kAttention) continue;
      for (std::size_t row = 0; row < half.rows.size(); ++row) {
        const int rank = half.ranks[row];
        const LayerTensor& tensor = step.ranks[std::size_t(rank)].tensors[std::size_t(box.tensor)];
        if (!is_keys_or_values(tensor)) continue;
        seen.insert({round_of_ring(*picture.layer, box.step), tensor.name});
        EXPECT_NE(
            picture.look.inside->find(step, tensor, picture.layer->ranks[std::size_t(rank)].rank),
            nullptr);
        const QRect place =
            QRectF(box.x, half.rows[row] - box.height / 2, box.width, box.height).toAlignedRect();
        EXPECT_NE(with.copy(place), without.copy(place)) << tensor.name << " of rank " << rank;
      }
    }
  EXPECT_EQ(seen, (std::set<std::pair<int, std::string>>{
                      {0, "k"}, {0, "v"}, {1, "k-step-2"}, {1, "v-step-2"}}));
}

TEST(RankChips, DifferWhereColoursRepeat) {
  std::vector<QImage> chips;
  const Theme& theme = light_theme();
  for (const int rank : {0, 8, 16, 24}) {
    QImage& image = chips.emplace_back(QSize(13, 13), QImage::Format_RGB32);
    QPainter painter(&image);
    painter.fillRect(image.rect(), theme.surface);
    paint_chip_shape(painter, QRectF(0, 0, 13, 13), rank, theme);
    EXPECT_EQ(theme.rank(rank), theme.rank(0)) << "the test needs ranks of one colour";
  }
  for (std::size_t a = 0; a < chips.size(); ++a)
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(chips[a], chips[b]) << a << " and " << b;
}

// How weights are cut and who has which part, what is added up and what that makes.
TEST(LayerSentence, SaysCutsSharesAndWhatCollectivesMake) {
  const auto sentence_of = [](const LayerFields& fields, bool backward = false, int rank = 0) {
    Session session;
    set_fields_of(session, fields);
    LayerLook look;
    look.choice.backward = backward;
    look.rank = rank;
    look.context = rank == 0;  // else what TP sends, which the picture of CP leaves out
    return layer_sentence(layer_picture(session, look));
  };
  const auto expect_says = [](const QString& text, std::initializer_list<const char*> parts) {
    for (const char* part : parts)
      EXPECT_TRUE(text.contains(QString::fromUtf8(part))) << part << "\n" << text.toStdString();
  };
  expect_says(sentence_of({{"pp", "1"}, {"tp", "2"}}),
              {"Shapes are those of rank 0.", "cut by columns: nothing to add",
               "w rank 0 columns 0 to 127, rank 1 columns 128 to 255", "cut by rows: partial sums",
               "w rank 0 rows 0 to 127, rank 1 rows 128 to 255",
               "context rank 0 heads 0 to 1, rank 1 heads 2 to 3",
               "the partial sums of ranks 0, 1 become a copy on each", "sent by rank 0"});
  expect_says(sentence_of({{"pp", "1"}, {"tp", "2"}, {"sequence-parallel", "on"}}),
              {"the shards of ranks 0, 1 become a copy on each",
               "the partial sums of ranks 0, 1 become a shard on each"});
  expect_says(
      sentence_of({{"pp", "1"}, {"tp", "2"}, {"cp", "2"}, {"attention", "fused"}}, false, 2),
      {"Shapes are those of rank 2.", "the partial sums of ranks 2, 3 become a copy on each",
       "sent by rank 2"});
  const LayerFields ring{{"pp", "1"}, {"cp", "2"}, {"attention", "fused"}};
  expect_says(sentence_of(ring),
              {"K, V for ring step 2", "attention, ring step 1", "attention, ring step 2"});
  expect_says(sentence_of(ring, true), {"gradients of K, V after ring step 2"});
  expect_says(sentence_of({{"pp", "1"}, {"cp", "2"}, {"context-parallel", "ulysses"}}),
              {"ranks 0, 1 exchange parts of their shards"});
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The Experts view: its figures against the tokens themselves, its times against the ops, its
// pictures, controls and keys.
#include "app/views/experts/experts_view.h"

#include <gtest/gtest.h>

#include <QSlider>
#include <QTest>
#include <QToolButton>
#include <map>
#include <set>

#include "app/look/figures.h"
#include "app/settings/controls.h"
#include "app/views/shared/quantities/step_quantities.h"
#include "tests/app/views/experts_fixture.h"

namespace parallelarium {
namespace {

// Every token counted by hand.
TEST(ExpertFigures, EqualACountOverTheTokens) {
  for (const int ep : {1, 2, 4}) {
    const PlanSetup setup = moe_setup(ep);
    const RoutedLayer layer = layer_of(setup);
    std::vector<std::int64_t> on_rank(std::size_t(ep), 0);
    std::int64_t choices = 0, lost = 0, travelling = 0;
    for (int home = 0; home < ep; ++home) {
      const TokenRoutes& routes = layer.homes[std::size_t(home)];
      for (std::size_t at = 0; at < routes.expert.size(); ++at) {
        ++choices;
        if (!routes.kept[at]) {
          ++lost;
          continue;
        }
        const int rank = layer.rank_of_expert[std::size_t(routes.expert[at])];
        ++on_rank[std::size_t(rank)];
        if (rank != home) travelling += setup.model.hidden * setup.precision.activation_bytes();
      }
    }
    EXPECT_GT(lost, 0) << "a skewed routing drops";
    EXPECT_EQ(assignments(layer), choices);
    EXPECT_EQ(dropped_of(layer), lost);
    EXPECT_EQ(tokens_of_ranks(layer), on_rank);
    EXPECT_EQ(dispatched_bytes(layer), travelling);
    EXPECT_EQ(dispatched_bytes(layer) == 0, ep == 1);
    const double mean = double(choices - lost) / ep;
    EXPECT_NEAR(fullest_over_mean(layer),
                double(*std::max_element(on_rank.begin(), on_rank.end())) / mean, 1e-12);
  }
}

// Where the title has too little room it leaves parts out, and cuts none.
TEST(ExpertTitle, IsWholeInEveryWidth) {
  const ExpertPicture picture = picture_of(moe_setup(4));
  ASSERT_NE(picture.drawn(), nullptr);
  const QFont font = light_theme().font(13, true);
  const QFontMetricsF metrics(font);
  const QString whole = expert_title(picture);
  const QString first = whole.section(QStringLiteral(" \u00b7 "), 0, 0),
                last = whole.section(QStringLiteral(" \u00b7 "), -1);
  EXPECT_EQ(expert_title_in(picture, font, 2000), whole);
  int shortest = 99;
  for (double width = metrics.horizontalAdvance(whole) + 1; width > 300; width -= 20) {
    const QString title = expert_title_in(picture, font, width);
    EXPECT_LE(metrics.horizontalAdvance(title), width);
    EXPECT_TRUE(title.startsWith(first) && title.endsWith(last)) << title.toStdString();
    shortest = std::min(shortest, int(title.count(QStringLiteral(" \u00b7 "))));
  }
  EXPECT_EQ(shortest, 1);
}

// All choices of home 0 went to expert 0, which keeps 40 of its 128; those of the others are even.
TEST(ExpertQuantities, SetWhatTheRunCountedBesideTheSkew) {
  const PlanSetup setup = moe_setup(4);
  Routing counted;
  for (int layer = 0; layer < setup.model.layers; ++layer)
    for (int microbatch = 0; microbatch < 2; ++microbatch)
      for (int replica = 0; replica < 4; ++replica) {
        RoutedMicrobatch entry;
        entry.layer = layer;
        entry.microbatch = microbatch;
        entry.replica = replica;
        entry.load.chosen.assign(8, replica == 0 ? 0 : 32);
        if (replica == 0) entry.load.chosen[0] = entry.load.chosen[1] = 128;
        entry.load.kept = entry.load.chosen;
        if (replica == 0) entry.load.kept[0] = entry.load.kept[1] = 40;
        counted.entries.push_back(std::move(entry));
      }
  sort_entries(counted);
  Session session;
  RunRecord run = made_up_run(setup, 1.1);
  run.observation.routing = {counted};
  session.restore(setup, {std::move(run)}, std::nullopt);
  session.wait_for_prediction();
  std::map<QString, Quantity> by_key;
  for (const Quantity& quantity :
       expert_quantities(session, expert_picture(session, {}), QLocale::c()))
    by_key[quantity.key] = quantity;
  const Figure dropped = by_key.at(QStringLiteral("experts.dropped")).observed;
  EXPECT_EQ(dropped.text, share_text(176.0 / 1024, QLocale::c()));
  EXPECT_EQ(dropped.source, QStringLiteral("counted in the run"));
  // Rank 0 holds experts 0 and 1: 80 tokens of its own and 3 * 64; the others have 192.
  EXPECT_EQ(by_key.at(QStringLiteral("experts.fullest")).observed.text,
            number_text(272.0 * 4 / (272 + 3 * 192), QLocale::c()));
  // Homes 1 to 3 send 3 * 64 tokens of 256 bytes each; all of home 0 stays.
  EXPECT_EQ(by_key.at(QStringLiteral("experts.dispatched_bytes")).observed.text,
            bytes_text(std::int64_t{3} * 192 * 256, QLocale::c()));
}

TEST(ExpertTimes, AreThoseOfTheOpsAndWaitForTheLastRank) {
  const PlanSetup setup = moe_setup(4);
  const RoutedLayer layer = layer_of(setup);
  const auto prediction = predicted(setup);
  Timeline timeline = prediction->timeline;
  // One rank's experts take longer: the others wait for it before they combine.
  for (std::size_t rank = 0; rank < 4; ++rank) {
    const auto& ops = prediction->program.ranks[rank].ops;
    bool later = false, joined = false;  // after the experts; after the exchange behind them
    for (std::size_t op = 0; op < ops.size(); ++op) {
      Span& span = timeline.ranks[rank].spans[op];
      if (later) span.begin += Nanoseconds(rank == 2 || joined ? 50'000 : 0);
      if (later) span.end += Nanoseconds(50'000);
      joined = joined || (later && ops[op].kind == OpKind::kCollective);
      if (ops[op].piece != Piece::kExpert || ops[op].kind != OpKind::kCompute || later) continue;
      if (rank == 2) span.end += Nanoseconds(50'000);
      later = true;
    }
  }
  const auto times = layer_times(*prediction, timeline, layer);
  ASSERT_TRUE(times.has_value());
  ASSERT_EQ(times->homes.size(), 4u);
  std::set<Nanoseconds> combines;
  for (int home = 0; home < 4; ++home) {
    const auto& ops = prediction->program.ranks[std::size_t(home)].ops;
    std::int64_t experts = 0, shown = 0;
    for (std::size_t op = 0; op < ops.size(); ++op)
      if (ops[op].piece == Piece::kExpert && ops[op].kind == OpKind::kCompute &&
          ops[op].layer == 0 && ops[op].microbatch == 0 && ops[op].phase == Phase::kForward) {
        const Span& span = timeline.ranks[std::size_t(home)].spans[op];
        experts += (span.end - span.begin).count();
      }
    Nanoseconds waited{0}, end = times->homes[std::size_t(home)].front().span.begin;
    bool combines_seen = false;
    for (const LayerSpan& span : times->homes[std::size_t(home)]) {
      EXPECT_EQ(span.span.begin, end) << "parts follow each other without a gap";
      end = span.span.end;
      if (span.part == LayerPart::kExperts) shown += (span.span.end - span.span.begin).count();
      if (span.part == LayerPart::kWait) waited += span.span.end - span.span.begin;
      if (span.part == LayerPart::kCombine && !combines_seen) combines.insert(span.span.begin);
      combines_seen = combines_seen || span.part == LayerPart::kCombine;
    }
    EXPECT_GT(experts, 0);
    EXPECT_EQ(shown, experts);
    if (home != 2) {
      EXPECT_GE(waited, Nanoseconds(49'000)) << home;
    }
  }
  EXPECT_EQ(combines.size(), 1u) << "an exchange begins when all are there";
}

TEST(ExpertTimes, AreNoneOfAProgramWithoutThem) {
  const RoutedLayer layer = layer_of(moe_setup(2));
  const auto dense = predicted(pipeline_setup(1, 2, "1f1b", 2));
  EXPECT_FALSE(layer_times(*dense, dense->timeline, layer).has_value());
}

TEST(ExpertPictures, NoTwoTextsOverlapFrom2To64Experts) {
  for (const auto& [experts, ranks, top_k] :
       {std::tuple(2, 1, 1), std::tuple(2, 2, 1), std::tuple(8, 4, 2), std::tuple(16, 8, 4),
        std::tuple(64, 8, 8), std::tuple(64, 16, 2)})
    for (const int width : {600, 860, 1200})
      for (const double run : {0.0, 1.2}) {
        ExpertPicture picture = picture_of(moe_setup(ranks, experts, top_k), run);
        for (const bool dark : {false, true}) {
          const int height = int(std::ceil(expert_height(picture, width)));
          QImage image(width, height, QImage::Format_RGB32);
          QPainter painter(&image);
          TextLog texts;
          paint_experts(painter, picture, expert_layout(picture, image.size()),
                        dark ? dark_theme() : light_theme(), &texts);
          EXPECT_EQ(overlapping(texts), "") << experts << " on " << ranks << " at " << width;
          int named = 0;
          for (const PaintedText& text : texts) {
            EXPECT_GE(text.rect.left(), 0) << text.text.toStdString();
            EXPECT_LE(text.rect.right(), width) << text.text.toStdString();
            EXPECT_LE(text.rect.bottom(), height) << text.text.toStdString();
            named += text.text.startsWith(QLatin1Char('E')) && text.text.mid(1).toInt() < experts &&
                     text.text.size() <= 3;
          }
          EXPECT_GE(named, experts) << "every expert is named";
        }
      }
}

// What is said behind a bar that nearly reaches the limit stands behind the limit's line.
TEST(ExpertPictures, TheLineOfTheCapacityRunsThroughNoWords) {
  ExpertPicture picture = picture_of(moe_setup(4));
  auto layer = *picture.routed;
  ASSERT_EQ(layer.capacity * layer.ep, 160);
  layer.load = {20, 67, 160, 93, 158, 137, 144, 151};
  layer.dropped = {0, 0, 71, 0, 18, 1, 3, 1};
  picture.routed = std::make_shared<const RoutedLayer>(layer);
  for (const int width : {600, 860, 904, 1200}) {
    const int height = int(std::ceil(expert_height(picture, width)));
    QImage image(width, height, QImage::Format_RGB32);
    QPainter painter(&image);
    TextLog texts;
    const ExpertLayout layout = expert_layout(picture, image.size());
    paint_experts(painter, picture, layout, light_theme(), &texts);
    painter.end();
    int told = 0;
    for (int place = 0; place < int(layout.order.size()); ++place) {
      const QRectF row = layout.expert_row(place);
      const double line = row.left() + layout.bar_left + layout.bar_width * 160 / 231;
      for (const PaintedText& text : texts) {
        if (!row.contains(text.rect.center())) continue;
        ++told;
        EXPECT_FALSE(text.rect.left() < line && line < text.rect.right())
            << text.text.toStdString() << " at " << width;
      }
    }
    EXPECT_GT(told, 16) << "names, loads and what was dropped";
  }
}

// Before the dispatch all tokens are at home, after the combine again, and never fewer arrive.
TEST(ExpertPictures, TokensTravelThereAndBack) {
  ExpertPicture picture = picture_of(moe_setup(4));
  const LayerTimes& times = *picture.predicted;
  double arrived = -1, returned = -1;
  int away = 0;
  QImage last;
  int frames = 0;
  for (int frame = 0; frame < 40; ++frame) {
    picture.playhead = times.window.begin + times.length() / 40 * frame;
    EXPECT_GE(picture.arrived(), arrived);
    EXPECT_GE(picture.returned(), returned);
    EXPECT_LE(picture.returned(), picture.arrived());
    arrived = picture.arrived();
    returned = picture.returned();
    away += arrived > 0.99 && returned < 0.01;
    QImage image(860, 620, QImage::Format_RGB32);
    image.fill(Qt::white);
    QPainter painter(&image);
    paint_experts(painter, picture, expert_layout(picture, image.size()), light_theme(), nullptr);
    painter.end();
    frames += !last.isNull() && !(image == last);
    last = image;
  }
  EXPECT_GT(away, 0) << "while the experts work, the tokens are with them";
  EXPECT_GT(frames, 30);
  // What travels passes behind the words and figures.
  int travels = 0;
  for (int frame = 4; frame < 40; frame += 4) {
    picture.playhead = times.window.begin + times.length() / 40 * frame;
    QImage images[2];
    for (const bool moving : {false, true}) {
      picture.tweened = moving;
      images[moving] = QImage(860, 680, QImage::Format_RGB32);
      images[moving].fill(Qt::white);
      QPainter painter(&images[moving]);
      const ExpertLayout layout = expert_layout(picture, images[moving].size());
      paint_experts(painter, picture, layout, light_theme(), nullptr);
    }
    travels += !(images[0] == images[1]);
    int covered = 0;
    for (int y = 0; y < images[0].height(); ++y)
      for (int x = 0; x < images[0].width(); ++x) {
        const QColor ink = images[0].pixelColor(x, y);
        const bool written =
            ink == light_theme().text || ink == light_theme().muted || ink == light_theme().mark;
        covered += written && images[1].pixelColor(x, y) != ink;
      }
    EXPECT_EQ(covered, 0) << frame;
  }
  EXPECT_GT(travels, 2);
  picture.playhead = times.window.begin;
  EXPECT_EQ(picture.arrived(), 0);
  picture.playhead = times.window.end;
  EXPECT_EQ(picture.arrived(), 1);
  EXPECT_EQ(picture.returned(), 1);
}

class ExpertsTab : public testing::Test {
 protected:
  void open(const PlanSetup& setup) {
    session.restore(setup, {}, std::nullopt);
    session.wait_for_prediction();
    view.resize(900, 700);
    view.show();
    view.wait();
    QApplication::processEvents();
  }
  Session session;
  ExpertsView view{session};
};

TEST_F(ExpertsTab, ADenseModelSaysWhatToChooseAndOneClickChoosesIt) {
  open(pipeline_setup(1, 2));
  EXPECT_FALSE(view.picture().routed);
  EXPECT_TRUE(view.description().contains(QStringLiteral("has no experts")))
      << view.description().toStdString();
  QToolButton* tiny = nullptr;
  for (auto* button : view.findChildren<QToolButton*>())
    if (button->text().contains(QStringLiteral("moe-tiny")) && button->isVisible()) tiny = button;
  ASSERT_TRUE(tiny);
  tiny->click();
  session.wait_for_prediction();
  view.wait();
  EXPECT_EQ(session.setup().model.name, "moe-tiny");
  EXPECT_TRUE(view.picture().routed);
}

TEST_F(ExpertsTab, TheSkewIsASettingThatFillsExpertZero) {
  open(moe_setup(4, 8, 2, 0, 0));
  const std::int64_t even = view.picture().routed->load[0];
  auto* slider = view.findChild<QSlider*>();
  ASSERT_TRUE(slider);
  slider->setValue(80);
  session.wait_for_prediction();
  view.wait();
  EXPECT_NEAR(session.setup().skew, 0.8, 1e-9);
  EXPECT_GT(view.picture().routed->load[0], 2 * even);
  const std::vector<Quantity> strip = expert_quantities(session, view.picture());
  ASSERT_EQ(strip.size(), 5u);
  EXPECT_EQ(strip[1].predicted.text, number_text(fullest_over_mean(*view.picture().routed)));
  session.history().stack().undo();
  session.wait_for_prediction();
  EXPECT_EQ(session.setup().skew, 0);
}

TEST_F(ExpertsTab, PlaysItsLayerAndGivesTheStepBack) {
  open(moe_setup(2));
  const LayerTimes times = *view.picture().predicted;
  EXPECT_EQ(session.playback().played().begin, times.window.begin);
  EXPECT_EQ(session.playback().played().end, times.window.end);
  session.playback().set_playhead(times.window.begin + times.length() / 2);
  EXPECT_EQ(session.training_step().time_text(session),
            time_text(times.length() / 2) + QStringLiteral(" of ") + time_text(times.length()))
      << "as the slider shows it";
  EXPECT_TRUE(view.description().contains(QStringLiteral("rank 0 ")))
      << view.description().toStdString();
  QTest::keyClick(&view.canvas(), Qt::Key_Period);
  EXPECT_GT(session.playback().playhead(), times.window.begin + times.length() / 2);
  EXPECT_LE(session.playback().playhead(), times.window.end);
  view.hide();
  EXPECT_EQ(session.playback().played(), (TimeRange{Nanoseconds(0), session.subject().horizon()}));
}

TEST_F(ExpertsTab, KeysWalkExpertsAndLayers) {
  open(moe_setup(4));
  SelectionText said;
  QObject::connect(&view, &ExpertsView::described, &view,
                   [&](const SelectionText& text) { said = text; });
  QTest::keyClick(&view.canvas(), Qt::Key_Down);
  EXPECT_EQ(view.picture().selected.expert, view.layout_now().order[0]);
  EXPECT_TRUE(said.headline.startsWith(QStringLiteral("Expert 0 on rank 0")))
      << said.headline.toStdString();
  QTest::keyClick(&view.canvas(), Qt::Key_Down);
  EXPECT_EQ(view.picture().selected.expert, view.layout_now().order[1]);
  QTest::keyClick(&view.canvas(), Qt::Key_Escape);
  EXPECT_EQ(view.picture().selected, ExpertRef{});
  const int layer = view.choice().layer;
  QTest::keyClick(&view.canvas(), Qt::Key_Right);
  EXPECT_EQ(view.choice().layer, layer + 1);
  EXPECT_EQ(view.picture().routed->layer, layer + 1);
}

TEST_F(ExpertsTab, ACellOfTheMatrixSaysItsBytes) {
  open(moe_setup(4));
  SelectionText said;
  QObject::connect(&view, &ExpertsView::described, &view,
                   [&](const SelectionText& text) { said = text; });
  const QPoint at = view.layout_now().matrix_at(1, 2).center().toPoint();
  QTest::mouseClick(&view.canvas(), Qt::LeftButton, {}, at);
  EXPECT_EQ(said.headline, QStringLiteral("Choices sent from rank 1 to rank 2"));
  const RoutedLayer& layer = *view.picture().routed;
  const QString bytes = exact_bytes_text(layer.rows[1][2] * layer.row_bytes);
  EXPECT_TRUE(std::any_of(said.facts.begin(), said.facts.end(),
                          [&](const FactLine& fact) { return fact.value == bytes; }));
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The Roofline view: its pieces and ceilings are those of `roofline`, and no piece is above a roof.
#include "app/views/roofline/roofline_view.h"

#include <QSpinBox>
#include <set>

#include "app/look/figures.h"
#include "app/state/plan/plan_search.h"
#include "app/views/roofline/roofline_paint.h"
#include "tests/app/plan/plan_views_fixture.h"

namespace parallelarium {
namespace {

class RooflineFixture : public PlanViewFixture {
 protected:
  void SetUp() override {
    PlanViewFixture::SetUp();
    set("machine", "dgx-h100");
    set("model", "llama3-8b");
    show("roofline");
  }
  RooflineView& view() { return window->view_of<RooflineView>(); }
  const Roofline& roofline() { return *view().data().roofline; }
};

TEST_F(RooflineFixture, SaysWhatTheCommandLineSays) {
  const auto json = command({QStringLiteral("roofline"), QStringLiteral("--setup"),
                             file_of(session().setup(), "setup.json"), QStringLiteral("--json")});
  const nlohmann::json shown = to_json(roofline());
  EXPECT_EQ(json.at("points"), shown.at("points"));
  EXPECT_EQ(json.at("ceilings"), shown.at("ceilings"));
  EXPECT_EQ(json.at("ladder"), shown.at("ladder"));
  EXPECT_EQ(json.at("pieces"), shown.at("pieces"));
  const char* totals[] = {"forward_seconds", "memory_share", "intensity", "of_peak",
                          "ridge_flops_per_byte"};
  const std::vector<Quantity> strip = view().quantities();
  ASSERT_EQ(strip.size(), std::size(totals));
  for (std::size_t at = 0; at < strip.size(); ++at)
    EXPECT_EQ(json.at(totals[at]), strip[at].predicted_value) << totals[at];
  EXPECT_GT(roofline().points.size(), 10u);
}

// The prediction is not faster than the machine's peaks allow.
TEST_F(RooflineFixture, NoPieceIsAboveTheRoofs) {
  double arithmetic = 0, memory = 0;
  for (const RooflineCeiling& ceiling : roofline().ceilings) {
    arithmetic = std::max(arithmetic, ceiling.flops_per_second);
    if (ceiling.name.id == "ceiling-memory") memory = ceiling.bytes_per_second;
  }
  for (const RooflinePoint& point : roofline().points) {
    EXPECT_LE(point.rate(), arithmetic) << name_of(point.piece);
    if (point.bytes > 0) {
      EXPECT_LE(point.rate(), point.intensity() * memory * 1.0001) << name_of(point.piece);
    }
  }
}

// The rates of a memory do not depend on how much of it may be used; how much that is stands there.
TEST_F(RooflineFixture, SaysTheMemoryLimitOfTheSearch) {
  PlanWish wish = plan_wish("gpt2-124m", "2");
  ASSERT_TRUE(searched(wish));
  view().wait();
  EXPECT_TRUE(view().data().limit.isEmpty());
  wish.memory_bytes = std::int64_t(100) << 30;
  PlanSearch::of(session()).set_wish(wish);
  view().wait();
  EXPECT_TRUE(view().data().limit.contains(bytes_text(wish.memory_bytes)))
      << view().data().limit.toStdString();
  EXPECT_TRUE(view().description().contains(view().data().limit));
  EXPECT_TRUE(PlanSearch::of(session()).shows_plan());
}

TEST_F(RooflineFixture, LinksHaveALatencyWithItsOrigin) {
  int links = 0;
  for (const RooflineCeiling& ceiling : roofline().ceilings) {
    if (ceiling.latency_seconds <= 0) continue;
    ++links;
    EXPECT_FALSE(text_of(ceiling.latency_origin).empty());
    EXPECT_GT(ceiling.bytes_per_second, 0);
  }
  EXPECT_EQ(links, 2) << "in a node and between nodes";
}

// Every latency and rate stands in the picture, whole, beside the name of its level.
TEST_F(RooflineFixture, TheLadderGoesFromRegistersToAnotherNode) {
  ASSERT_EQ(roofline().ladder.front().level, "registers");
  ASSERT_EQ(roofline().ladder.back().level, "network");
  for (const double width : {420.0, 600.0, 872.0, 1200.0}) {
    const double height = roofline_height(width, view().data(), 120, light_theme());
    QImage image(int(width), int(height), QImage::Format_RGB32);
    QPainter painter(&image);
    TextLog texts;
    RooflineHits hits;
    paint_roofline(painter, width, view().data(), 120, light_theme(), &hits, &texts);
    painter.end();
    const auto row_of = [&](const QString& text) {
      for (const PaintedText& painted : texts)
        if (painted.text == text) return painted.rect;
      return QRectF();
    };
    EXPECT_EQ(overlapping(texts), "") << width;
    for (const LadderRow& step : roofline().ladder) {
      // What has no room is told whole under the mouse.
      EXPECT_TRUE(std::any_of(hits.origins.begin(), hits.origins.end(),
                              [&](const std::pair<QRectF, QString>& origin) {
                                return origin.second == ladder_origin(step);
                              }));
      if (step.latency_seconds.value > 0) {
        const QString latency = seconds_text(step.latency_seconds.value);
        EXPECT_FALSE(row_of(latency).isNull()) << width << latency.toStdString();
        EXPECT_LE(row_of(latency).right(), width) << latency.toStdString();
        EXPECT_TRUE(view().description().contains(latency)) << latency.toStdString();
      }
      if (step.bytes_per_second.value > 0) {
        const QString rate = rate_text(step.bytes_per_second.value);
        EXPECT_FALSE(row_of(rate).isNull()) << width << rate.toStdString();
      }
    }
  }
}

TEST_F(RooflineFixture, KeysWalkThePiecesAndALayerCanBeChosen) {
  view().canvas().setFocus();
  QTest::keyClick(&view().canvas(), Qt::Key_Down);
  EXPECT_EQ(view().data().selected, 1);
  EXPECT_EQ(view().data().point(), &roofline().points[1]);
  QTest::keyClick(&view().canvas(), Qt::Key_Up);
  QTest::keyClick(&view().canvas(), Qt::Key_Up);
  EXPECT_EQ(view().data().selected, 0);
  view().canvas().findChild<QSpinBox*>()->setValue(5);
  EXPECT_EQ(roofline().layer, 5);
}

TEST_F(RooflineFixture, HidesItsFiguresWhileALessonAsks) {
  const QString time = seconds_text(roofline().points[0].seconds);
  EXPECT_TRUE(view().description().contains(time));
  session().locks().set_hidden({QStringLiteral("step.seconds")});
  EXPECT_FALSE(view().description().contains(time));
  EXPECT_TRUE(view().quantities()[0].predicted.hidden);
}

// One row for each piece, whose cells are whole; a click on it, or on its backward time, selects.
TEST_F(RooflineFixture, EveryPieceHasARowWithItsShare) {
  set("model", "llama3-70b");
  set("tp", "8");
  constexpr double kWidth = 904;  // of the view in a window of 1440
  const double height = roofline_height(kWidth, view().data(), 0, light_theme());
  QImage image(int(kWidth), int(height), QImage::Format_RGB32);
  QPainter painter(&image);
  TextLog texts;
  RooflineHits hits;
  paint_roofline(painter, kWidth, view().data(), 0, light_theme(), &hits, &texts);
  painter.end();
  const auto whole = [&](const QString& text) {
    return std::any_of(texts.begin(), texts.end(),
                       [&](const PaintedText& painted) { return painted.text == text; });
  };
  for (const RooflinePiece& piece : roofline().pieces) {
    const std::string name(name_of(piece.piece));
    EXPECT_TRUE(whole(name_text(piece.piece))) << name;
    EXPECT_TRUE(whole(share_text(piece.share))) << name;
    EXPECT_TRUE(whole(seconds_text(piece.forward_seconds))) << name;
    for (const char* bound : {"arithmetic", "memory"}) EXPECT_TRUE(whole(QLatin1String(bound)));
  }
  // The first hit under a point counts.
  const auto hit = [&](QPointF at) {
    for (const auto& [rect, index] : hits.points)
      if (rect.contains(at)) return index;
    return -1;
  };
  // And in the plot, where many dots crowd, its number.
  for (int number = 1; number <= int(roofline().pieces.size()); ++number)
    EXPECT_EQ(std::count_if(
                  texts.begin(), texts.end(),
                  [&](const PaintedText& text) { return text.text == QString::number(number); }),
              1)
        << number;
  int with_backward = 0;
  for (const RooflinePiece& piece : roofline().pieces) {
    int backward_hits = 0;
    for (const PaintedText& text : texts) {
      const int index = hit(text.rect.center());
      if (text.text == name_text(piece.piece)) {
        EXPECT_EQ(index, piece.points.front()) << name_of(piece.piece);
      }
      backward_hits += piece.points.size() > 1 && index == piece.points[1] &&
                       text.text == seconds_text(piece.backward_seconds);
    }
    if (piece.points.size() < 2) continue;
    ++with_backward;
    EXPECT_NE(roofline().points[std::size_t(piece.points[1])].phase, Phase::kForward);
    EXPECT_GE(backward_hits, 1) << name_of(piece.piece);
  }
  EXPECT_GT(with_backward, 0);
}

TEST_F(RooflineFixture, PicturesHaveNoTextOverAnother) {
  for (const double width : {600.0, 872.0, 1200.0})
    expect_legible(
        width, roofline_height(width, view().data(), 120, light_theme()),
        [&](QPainter& painter, TextLog& texts) {
          paint_roofline(painter, width, view().data(), 120, light_theme(), nullptr, &texts);
        },
        60);
}

// After a search the pieces are those of the selected plan.
TEST_F(RooflineFixture, IsAboutTheSelectedPlanAfterASearch) {
  PlanSearch& search = PlanSearch::of(session());
  SelectionText said;
  QObject::connect(&view(), &View::described, window.get(),
                   [&](const SelectionText& text) { said = text; });
  view().canvas().setFocus();
  for (int down = 0; down < 3; ++down) QTest::keyClick(&view().canvas(), Qt::Key_Down);
  ASSERT_FALSE(said.facts.empty());
  const QString before = said.facts.front().value;
  ASSERT_NE(searched(plan_wish("gpt2-124m", "2")), nullptr);
  view().wait();
  QApplication::processEvents();
  EXPECT_TRUE(view().data().whose.contains(QStringLiteral("selected in Search")));
  // The panel beside has the figures of the piece that is selected, and no longer those of before.
  EXPECT_EQ(said.facts.front().value,
            number_text(roofline().points[std::size_t(view().data().selected)].intensity()));
  EXPECT_NE(said.facts.front().value, before);
  const auto json =
      command({QStringLiteral("roofline"), QStringLiteral("--setup"),
               file_of(search.selected()->setup, "plan.json"), QStringLiteral("--json")});
  EXPECT_EQ(json.at("points"), to_json(roofline()).at("points"));
  search.show_plan(false);
  EXPECT_TRUE(view().data().whose.contains(QStringLiteral("set in Explore")));
}

// Every colour and shape of a mark stands in the legend, and no name of a roof over another text or
// a mark, in all widths and machines.
TEST_F(RooflineFixture, TheLegendNamesEveryMarkAndNamesStandFree) {
  for (const char* machine : {"dgx-h100", "dgx-a100-80g", "2x-rtx-4090", "hgx-v100"}) {
    set("machine", machine);
    for (const char* recompute : {"none", "full"}) {
      set("recompute", recompute);
      for (const double width : {420.0, 600.0, 872.0, 1200.0}) {
        const double height = roofline_height(width, view().data(), 120, light_theme());
        QImage image(int(width), int(height), QImage::Format_RGB32);
        QPainter painter(&image);
        RooflineHits hits;
        TextLog texts;
        paint_roofline(painter, width, view().data(), 120, light_theme(), &hits, &texts);
        painter.end();
        std::set<OpColor> told;
        for (const auto& entry : hits.legend) told.insert(entry.second);
        for (const RooflinePoint& point : roofline().points) {
          const OpColor color = point.phase == Phase::kInputGrad    ? OpColor::kBackward
                                : point.phase == Phase::kWeightGrad ? OpColor::kWeight
                                                                    : OpColor::kForward;
          EXPECT_TRUE(told.count(color)) << name_of(point.phase);
        }
        for (const auto& entry : hits.legend)
          EXPECT_TRUE(std::any_of(texts.begin(), texts.end(), [&](const PaintedText& text) {
            return text.text == entry.first;
          })) << entry.first.toStdString();
        EXPECT_EQ(overlapping(texts), "") << width;
        // No roof runs through the name of another.
        for (const auto& [roof, name] : hits.roofs)
          for (const PaintedText& text : texts) {
            const bool is_near = roof.dy() == 0 && text.text.contains(QStringLiteral("FLOP/s, ")) &&
                                 text.rect.right() > roof.x1();
            EXPECT_FALSE(is_near && text.rect.top() + 1 < roof.y1() &&
                         roof.y1() < text.rect.bottom() - 1)
                << machine << width << text.text.toStdString();
          }
        for (std::size_t at = 0; at < hits.names.size(); ++at) {
          for (std::size_t other = 0; other < at; ++other)
            EXPECT_FALSE(hits.names[at].intersects(hits.names[other])) << machine << width;
          for (const PaintedText& text : texts)
            EXPECT_FALSE(hits.names[at].intersects(QPolygonF(text.rect)))
                << machine << width << text.text.toStdString();
        }
        // What has no place says its name under the mouse.
        EXPECT_GE(hits.roofs.size(), hits.names.size());
        EXPECT_GE(hits.roofs.size(), roofline().ceilings.size() - 2);
      }
    }
  }
}

}  // namespace
}  // namespace parallelarium

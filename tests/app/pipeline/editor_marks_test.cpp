// SPDX-License-Identifier: GPL-3.0-or-later
// What the order editor draws over and under the actions: critical path, transfers, chosen waits,
// the run of the same order, and the legend of all that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <QImage>
#include <QPixmapCache>
#include <QSignalSpy>

#include "app/state/step/order_edit.h"
#include "app/views/pipeline/editor/editor_run.h"
#include "app/views/pipeline/editor/order_editor.h"
#include "app/views/shared/paint/paint_tools.h"
#include "engine/schedules/schedule.h"
#include "tests/app/pipeline/pipeline_fixture.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

// 1F1B of three stages and four micro-batches with a transfer that costs something.
struct DrawnOrder {
  explicit DrawnOrder(double transfer = 0.5) {
    for (Durations& stage : durations) stage.transfer = transfer;
    times = time_draft(draft, durations, false);
    path = critical_path(times);
    chosen = chosen_waits(draft, times, {});
    picture.draft = &draft;
    picture.times = &times;
    picture.durations = &durations;
    picture.faults = &faults;
    picture.limits = &limits;
    picture.path = &path;
    picture.chosen = &chosen;
  }
  QImage image(double width = 1100) const {
    const EditorTimes at = editor_times(picture, width);
    QImage image(static_cast<int>(width), static_cast<int>(at.whole_height(3)) + 1,
                 QImage::Format_RGB32);
    image.fill(light_theme().surface);
    QPainter painter(&image);
    paint_editor_times(painter, picture, at, light_theme(), nullptr);
    return image;
  }
  TextLog texts(double width) const {
    TextLog texts;
    QImage image(static_cast<int>(width), 900, QImage::Format_RGB32);
    QPainter painter(&image);
    paint_editor_times(painter, picture, editor_times(picture, width), light_theme(), &texts);
    return texts;
  }
  Order draft = one_f_one_b_order(3, 4);
  std::vector<Durations> durations = std::vector<Durations>(3);
  std::vector<OrderFault> faults;
  HeldLimits limits;
  DraftTimes times;
  std::vector<DraftPlace> path;
  std::vector<ChosenWait> chosen;
  EditorPicture picture;
};

TEST(EditorMarks, TheAxisSaysWhatEachStageTakesWhereTheyDiffer) {
  DrawnOrder drawn;
  EXPECT_EQ(unit_words(drawn.picture), "one unit is a forward; a backward takes 2");
  drawn.durations[2].forward = 2;
  drawn.durations[2].backward = 4;
  EXPECT_EQ(unit_words(drawn.picture),
            QStringLiteral("one unit is the mean forward; by stage a forward takes 1 · 1 · 2, a "
                           "backward 2 · 2 · 4"));
  drawn.durations.resize(6);
  EXPECT_EQ(unit_words(drawn.picture),
            QStringLiteral(
                "one unit is the mean forward; on average a forward takes 1.17, a backward 2.33"));
}

TEST(EditorMarks, EveryActionOfTheCriticalPathIsUnderlinedAndNoOther) {
  const DrawnOrder drawn;
  const QImage image = drawn.image();
  const EditorTimes at = editor_times(drawn.picture, 1100);
  int on = 0;
  for (int rank = 0; rank < 3; ++rank) {
    const auto& ran = drawn.times.ranks[static_cast<std::size_t>(rank)].ran;
    for (std::size_t index = 0; index < ran.size(); ++index) {
      const QPoint spot(static_cast<int>(at.x_of((ran[index].begin + ran[index].end) / 2)),
                        static_cast<int>(at.row_rect(rank).bottom()) - 2);
      const bool critical =
          std::find(drawn.path.begin(), drawn.path.end(),
                    DraftPlace{rank, static_cast<int>(index)}) != drawn.path.end();
      EXPECT_EQ(image.pixelColor(spot) == light_theme().text, critical) << rank << " " << index;
      on += critical;
    }
  }
  EXPECT_EQ(static_cast<std::size_t>(on), drawn.path.size());
  EXPECT_LT(drawn.path.size(), 24U) << "not every action is critical";
}

TEST(EditorMarks, TransfersAreDrawnBetweenTheRowsOnlyWhereTheyCostSomething) {
  for (const double transfer : {0.0, 0.5}) {
    const DrawnOrder drawn(transfer);
    const QImage image = drawn.image();
    const EditorTimes at = editor_times(drawn.picture, 1100);
    const QColor line = light_theme().solid(OpColor::kCommunication);
    int found = 0;
    const int y = static_cast<int>((at.row_rect(0).bottom() + at.row_rect(1).top()) / 2);
    for (int x = static_cast<int>(at.left); x < 1100; ++x)
      found += color_difference(image.pixelColor(x, y), line) < 25;
    EXPECT_EQ(found > 0, transfer > 0) << transfer;
    const std::vector<EditorMark> marks = editor_marks(drawn.picture);
    EXPECT_EQ(std::count(marks.begin(), marks.end(), EditorMark::kTransfer), transfer > 0 ? 1 : 0);
  }
}

TEST(EditorMarks, TheLegendNamesEachMarkOnceAndNothingOverlaps) {
  DrawnOrder drawn;
  EditorRun run;
  for (const DraftRank& line : drawn.times.ranks) run.rows.push_back(line.ran);
  run.end = drawn.times.makespan;
  run.source = QStringLiteral("measured");
  drawn.picture.run = &run;
  for (const double width : {1100.0, 760.0, 480.0}) {
    const TextLog texts = drawn.texts(width);
    for (const EditorMark mark : editor_marks(drawn.picture))
      EXPECT_EQ(
          std::count_if(texts.begin(), texts.end(),
                        [&](const PaintedText& text) { return text.text == mark_words(mark); }),
          1)
          << mark_words(mark).toStdString() << " at " << width;
    for (std::size_t a = 0; a < texts.size(); ++a) {
      EXPECT_LE(texts[a].rect.right(), width) << texts[a].text.toStdString();
      for (std::size_t b = a + 1; b < texts.size(); ++b)
        EXPECT_FALSE(texts[a]
                         .rect.adjusted(0.5, 0.5, -0.5, -0.5)
                         .intersects(texts[b].rect.adjusted(0.5, 0.5, -0.5, -0.5)))
            << texts[a].text.toStdString() << " / " << texts[b].text.toStdString() << " at "
            << width;
    }
  }
}

TEST(EditorMarks, FloorAndParStrikeNoNumberOfTheAxis) {
  DrawnOrder drawn;
  const double unit = drawn.picture.unit, par = 14 * unit, floor = 12 * unit;
  const EditorTimes at = editor_times(drawn.picture, 1100);
  const QImage without = drawn.image();
  drawn.picture.par = par;
  drawn.picture.floor = floor;
  ASSERT_EQ(editor_times(drawn.picture, 1100).end, at.end) << "the axis is the same";
  const QImage with = drawn.image();
  int numbers = 0;
  for (const PaintedText& text : drawn.texts(1100)) {
    bool is_number = false;
    const int tick = text.text.toInt(&is_number);
    if (!is_number || (tick != 12 && tick != 14) || text.rect.top() > 30) continue;
    ++numbers;
    const int x = int(at.x_of(tick * unit));
    for (int y = int(text.rect.top()) + 2; y < int(text.rect.bottom()) - 2; ++y)
      for (int beside = x - 1; beside <= x + 1; ++beside)
        EXPECT_EQ(with.pixelColor(beside, y), without.pixelColor(beside, y))
            << tick << " at " << beside << ", " << y;
  }
  EXPECT_GT(numbers, 0) << "a number stands where a line is";
  // The lines themselves are there.
  const int below = int(at.row_rect(0).top()) - 2;
  EXPECT_NE(with.pixelColor(int(at.x_of(floor)), below),
            without.pixelColor(int(at.x_of(floor)), below));
}

// Narrow bars of one row, in the colours that the editor gives them; of other widths for each
// `seed`.
std::vector<std::pair<QRectF, QColor>> narrow_bars(unsigned seed) {
  std::vector<std::pair<QRectF, QColor>> bars;
  double x = 3.1;
  for (unsigned index = 0; index < 300; ++index) {
    seed = seed * 1664525U + 1013904223U;
    const double wide = 0.2 + (seed >> 16) % 100 * 0.05;
    const auto color = static_cast<OpColor>(index % 3);
    bars.emplace_back(QRectF(x, 4.3, wide, 17.6), light_theme().tint(color));
    bars.emplace_back(QRectF(x, 4.3, 1, 17.6), light_theme().solid(color));
    x += wide + (index % 7 == 0 ? 1.4 : 0);
  }
  return bars;
}

TEST(EditorMarks, ARowOfBarsHasThePixelsOfItsRectanglesFilledOneByOne) {
  for (const double ratio : {1.0, 1.25, 2.0})
    for (const QPointF& at : {QPointF(0, 0), QPointF(2.4, 7.7)}) {
      QImage row(QSize(1400, 60), QImage::Format_RGB32);
      row.setDevicePixelRatio(ratio);
      row.fill(light_theme().surface);
      QImage one_by_one = row;
      const auto bars = narrow_bars(static_cast<unsigned>(ratio * 8));
      PlainBars all;
      for (const auto& [bar, color] : bars) all.add(bar, color);
      QPainter painter(&row);
      painter.translate(at);
      all.paint(painter);
      painter.end();
      painter.begin(&one_by_one);
      painter.translate(at);
      std::vector<QRgb> colors;  // in the order in which they came
      for (const auto& [bar, color] : bars)
        if (std::find(colors.begin(), colors.end(), color.rgba()) == colors.end())
          colors.push_back(color.rgba());
      for (const QRgb color : colors)
        for (const auto& [bar, own] : bars)
          if (own.rgba() == color) painter.fillRect(bar, own);
      painter.end();
      EXPECT_EQ(row, one_by_one) << ratio << " at " << at.x();
    }
}

// The editor's widgets paint only what became visible or may be new.
TEST(EditorMarks, APartOfThePictureIsThatPartOfTheWhole) {
  DrawnOrder drawn;
  drawn.draft = zb_h1_order(16, 64);
  drawn.durations = std::vector<Durations>(16);
  for (Durations& stage : drawn.durations) stage.transfer = 0.2;
  drawn.times = time_draft(drawn.draft, drawn.durations, true);
  drawn.chosen = chosen_waits(drawn.draft, drawn.times, {});
  EditorRun run;
  for (const DraftRank& line : drawn.times.ranks) run.rows.push_back(line.ran);
  run.end = drawn.times.makespan;
  drawn.picture.run = &run;
  drawn.picture.path = nullptr;  // Qt rounds its slanted lines otherwise where they are clipped
  drawn.picture.ghost = Spot{3, 0};
  drawn.picture.action = Spot{5, 9};
  const EditorTimes times = editor_times(drawn.picture, 700);
  const EditorRows rows = editor_rows(drawn.picture, 700, 40);
  const auto image = [&](bool in_time, const QRect& part) {
    QImage image(700, 1000, QImage::Format_RGB32);
    image.fill(light_theme().surface);
    QPainter painter(&image);
    if (!part.isNull()) painter.setClipRect(part);
    if (in_time)
      paint_editor_times(painter, drawn.picture, times, light_theme(), nullptr);
    else
      paint_editor_rows(painter, drawn.picture, rows, light_theme(), nullptr);
    return image;
  };
  for (const bool in_time : {true, false}) {
    const QImage whole = image(in_time, QRect());
    for (const QRect& part : {QRect(0, 0, 700, 61), QRect(30, 57, 400, 23), QRect(0, 180, 700, 1),
                              QRect(100, 300, 600, 145), QRect(0, 700, 700, 300)})
      EXPECT_EQ(image(in_time, part).copy(part), whole.copy(part)) << in_time << " " << part.y();
  }
}

TEST(PaintTools, WhatIsKeptBelongsToItsThemeResolutionAndRoom) {
  const auto picture = [](const Theme& theme, double ratio, double room) {
    QImage image(QSize(300, 60), QImage::Format_RGB32);
    image.setDevicePixelRatio(ratio);
    image.fill(theme.surface);
    QPainter painter(&image);
    paint_hatching(painter, QRectF(3, 3, 60, 20), theme);
    put_elided(painter, QRectF(70, 3, room, 20), Qt::AlignVCenter,
               QStringLiteral("waits, though a later action could begin"), theme.font(11),
               theme.text, nullptr);
    return image;
  };
  const QImage light = picture(light_theme(), 1, 120);
  const QImage dark = picture(dark_theme(), 1, 120), fine = picture(light_theme(), 1.25, 120),
               narrow = picture(light_theme(), 1, 50);
  EXPECT_NE(light, dark);
  EXPECT_NE(light, fine);
  EXPECT_NE(light, narrow);
  QPixmapCache::clear();  // as when other tiles took the room
  EXPECT_EQ(picture(light_theme(), 1, 120), light);
  EXPECT_EQ(picture(dark_theme(), 1, 120), dark);
  EXPECT_EQ(picture(light_theme(), 1.25, 120), fine);
  EXPECT_EQ(picture(light_theme(), 1, 50), narrow);
}

class EditorRuns : public WindowFixture {
 protected:
  void SetUp() override {
    WindowFixture::SetUp();
    parallelarium::Setup setup = session().setup();
    ASSERT_TRUE(set_field(setup, "pp", "2").ok());
    ASSERT_TRUE(set_field(setup, "microbatches", "3").ok());
    session().history().change(setup, QStringLiteral("set"));
    session().wait_for_prediction();
    action(QStringLiteral("Edit the order"))->trigger();
    editor_ = window->findChild<OrderEditor*>();
    QApplication::processEvents();
  }
  OrderEdit& edit() { return session().order_edit(); }
  OrderEditor* editor_ = nullptr;
};

TEST_F(EditorRuns, AnEditIsJudgedOnceAndNotAgainWhenItsPredictionComes) {
  const QSignalSpy changes(&edit(), &OrderEdit::changed);
  ASSERT_EQ(edit().set_line(0, QStringLiteral("F0 F1 F2 B0 B1 B2")), QString());
  EXPECT_EQ(changes.size(), 1);
  session().wait_for_prediction();
  QApplication::processEvents();
  EXPECT_EQ(changes.size(), 1);
  EXPECT_EQ(edit().times().makespan,
            time_draft(edit().draft(), edit().durations(), edit().split()).makespan);
  // What else it costs is judged, though the order is the same; so is how backwards are placed.
  parallelarium::Setup setup = session().setup();
  ASSERT_TRUE(set_field(setup, "hidden", "512").ok());
  const double before = edit().times().makespan;
  session().history().change(setup, QStringLiteral("set"));
  session().wait_for_prediction();
  EXPECT_GT(edit().times().makespan, before);
  edit().clear_all();
  const qsizetype cleared = changes.size();
  edit().set_split(!edit().split());
  EXPECT_GT(changes.size(), cleared);
  EXPECT_EQ(edit().times().wanted,
            time_draft(edit().draft(), edit().durations(), edit().split()).wanted);
}

TEST_F(EditorRuns, WhatRanksDidStandsUnderTheDrawingOfTheSameOrder) {
  ASSERT_EQ(edit().set_line(0, QStringLiteral("F0 F1 F2 B0 B1 B2")), QString());
  session().wait_for_prediction();
  EXPECT_EQ(editor_->picture().run, nullptr);
  const int height = editor_->times().height();
  const parallelarium::Setup setup = session().setup();
  session().restore(setup, {made_up_run(setup, 1.3)}, std::nullopt);
  session().wait_for_prediction();
  QApplication::processEvents();
  const EditorPicture picture = editor_->picture();
  ASSERT_NE(picture.run, nullptr);
  EXPECT_GT(editor_->times().height(), height);
  // The same actions in the same order, on every rank.
  for (std::size_t rank = 0; rank < 2; ++rank) {
    std::vector<Action> ran;
    for (const TimedAction& each : picture.run->rows[rank]) ran.push_back(each.action);
    EXPECT_EQ(ran, edit().draft().ranks[rank]) << rank;
  }
  // In the picture's unit: a forward of the run is as long as one of the prediction.
  double forwards = 0, count = 0;
  for (const auto& row : picture.run->rows)
    for (const TimedAction& each : row)
      if (each.action.kind == ActionKind::kForward) forwards += each.end - each.begin, ++count;
  EXPECT_NEAR(forwards / count, edit().unit(), edit().unit() * 1e-6);
  EXPECT_THAT(run_length_words(picture).toStdString(), testing::HasSubstr("RUN"));
  const EditorTimes at = editor_times(picture, editor_->times().width());
  const QPointF first(at.x_of(picture.run->rows[1][0].begin) + 2, at.run_rect(1, 2).center().y());
  EXPECT_EQ(run_action_at(picture, at, first), (Spot{1, 0}));
  EXPECT_THAT(run_action_words(picture, {1, 0}).toStdString(), testing::HasSubstr("F0"));
  // Of another order it says nothing.
  ASSERT_EQ(edit().set_line(0, QStringLiteral("F0 F1 B0 F2 B1 B2")), QString());
  session().wait_for_prediction();
  EXPECT_EQ(editor_->picture().run, nullptr);
  session().history().stack().undo();
  session().wait_for_prediction();
  EXPECT_NE(editor_->picture().run, nullptr) << "undo brings it back";
}

TEST_F(EditorRuns, TheCriticalPathIsSaidInWords) {
  EXPECT_THAT(path_text(edit()).toStdString(), testing::HasSubstr("Critical path"));
  EXPECT_THAT(path_text(edit()).toStdString(), testing::HasSubstr("Stage 0: F0"));
  EXPECT_THAT(editor_description(edit()).toStdString(), testing::HasSubstr("Critical path"));
  const DraftPlace last = edit().path().back();
  QString said;
  for (const FactLine& fact : action_words(edit(), {last.rank, last.index}).facts)
    if (fact.word.contains(QStringLiteral("critical"))) said = fact.value;
  EXPECT_TRUE(said.startsWith(QStringLiteral("yes"))) << said.toStdString();
  edit().clear_all();
  EXPECT_EQ(path_text(edit()), QString());
  ASSERT_EQ(edit().set_line(0, QStringLiteral("F0")), QString());
  EXPECT_THAT(path_text(edit()).toStdString(),
              testing::StartsWith("Critical path (1 action): Stage 0: F0."));
}

// Of a stage that waits in a circle, since its backward stands before its own forward, an arrow
// leads from the forward to the backward; in an order that runs there is none.
TEST(EditorMarks, AnArrowLeadsToWhatStandsTooEarlyAlsoInACircle) {
  constexpr int kRank = 1, kPlace = 2;
  const auto has_arrow = [&](const DrawnOrder& drawn) {
    const EditorRows at = editor_rows(drawn.picture, 1100, 0);
    QImage image(1100, int(at.height(3)) + 1, QImage::Format_RGB32);
    image.fill(light_theme().surface);
    QPainter painter(&image);
    paint_editor_rows(painter, drawn.picture, at, light_theme(), nullptr);
    painter.end();
    const QRectF cell = at.cell_rect(kRank, kPlace);
    return image.pixelColor(int(cell.center().x()), int(cell.bottom()) + 2) ==
           light_theme().warning;
  };
  DrawnOrder drawn;
  EXPECT_FALSE(has_arrow(drawn));
  std::vector<Action>& line = drawn.draft.ranks[kRank];
  std::swap(line[kPlace], line[6]);  // F0 F1 B2 F2 ...
  drawn.times = time_draft(drawn.draft, drawn.durations, false);
  drawn.faults = faults_so_far(drawn.draft);
  ASSERT_FALSE(drawn.faults.empty());
  EXPECT_EQ(drawn.faults.front().sentence.id, "order-circle");
  EXPECT_EQ(drawn.faults.front().rank, kRank);
  EXPECT_TRUE(has_arrow(drawn));
}

}  // namespace
}  // namespace parallelarium

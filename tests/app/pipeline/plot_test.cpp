// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QAction>
#include <QBuffer>
#include <QImage>
#include <QLabel>
#include <QLineEdit>
#include <QSvgGenerator>
#include <QTableView>
#include <QTest>
#include <QToolButton>
#include <set>

#include "app/look/figures.h"
#include "app/views/pipeline/held_figure.h"
#include "app/views/pipeline/held_plot.h"
#include "app/views/pipeline/op_table.h"
#include "app/views/pipeline/pipeline_view.h"
#include "app/views/shared/paint/qcustomplot_header.h"
#include "app/views/shared/transport_bar.h"
#include "app/views/timeline/op_search.h"
#include "app/views/timeline/timeline_view.h"
#include "tests/app/pipeline/pipeline_fixture.h"

namespace parallelarium {
namespace {

TEST(HeldLines, OfOneFOneBPeakAtStagesMinusStage) {
  const auto rows = rows_of(predicted(pipeline_setup(4, 8)));
  const auto lines = held_lines(*rows);
  ASSERT_EQ(lines.size(), 4u);
  for (int stage = 0; stage < 4; ++stage) EXPECT_EQ(lines[std::size_t(stage)].most, 4 - stage);
}

// One line per stage in its own colour, and the y of a level where the axis says.
TEST(HeldFigure, DrawsOneLineForEachStage) {
  const auto rows = rows_of(predicted(pipeline_setup(3, 6)));
  QImage image(900, 220, QImage::Format_RGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  TextLog texts;
  paint_held_figure(painter, QRectF(0, 0, 900, 220), *rows, QStringLiteral("predicted"),
                    light_theme(), {{Nanoseconds(0), rows->end}, 86, 798}, &texts);
  painter.end();
  for (int stage = 0; stage < 3; ++stage) {
    int pixels = 0;
    for (int y = int(kHeldHeader); y < image.height(); ++y)
      for (int x = 86; x < 884; ++x)
        pixels += color_difference(image.pixelColor(x, y), light_theme().rank(stage)) < 8;
    EXPECT_GT(pixels, 100) << stage;
  }
  EXPECT_EQ(overlapping(texts), "");
  EXPECT_TRUE(texts.front().text.contains(QStringLiteral("predicted")));
}

// Colours repeat after eight stages; the dash and a number on each line tell them apart.
TEST(HeldFigure, EveryLineSaysItsStageAndLooksLikeNoOther) {
  for (const auto& [schedule, stages] : {std::pair("1f1b", 16), {"gpipe", 8}}) {
    const auto rows = rows_of(predicted(pipeline_setup(stages, 32, schedule)));
    const auto lines = held_lines(*rows);
    QCustomPlot plot;
    const TimeAxis axis{{Nanoseconds(0), rows->end}, 86, 998};
    for (int again = 0; again < 2; ++again)  // filling replaces
      fill_held_plot(plot, lines, rows->end, light_theme(), axis, 1100);
    ASSERT_EQ(plot.graphCount(), stages);
    std::set<std::pair<QRgb, int>> looks;
    for (int graph = 0; graph < stages; ++graph)
      looks.insert({plot.graph(graph)->pen().color().rgb(), plot.graph(graph)->pen().style()});
    EXPECT_EQ(looks.size(), std::size_t(stages));
    ASSERT_EQ(plot.itemCount(), stages);
    std::set<QString> said;
    std::set<std::pair<int, int>> places;
    for (int item = 0; item < stages; ++item) {
      const auto* label = qobject_cast<QCPItemText*>(plot.item(item));
      ASSERT_NE(label, nullptr);
      said.insert(label->text());
      const double x = axis.x_of(Nanoseconds(std::int64_t(label->position->key() * 1e9)));
      EXPECT_GE(x, axis.left);
      EXPECT_LE(x, axis.left + axis.width);
      const HeldLine& line = lines[std::size_t(label->text().toInt())];
      EXPECT_NEAR(label->position->value(), line.most, 0.5);
      places.insert({int(x / 12), int(std::lround(line.most))});
    }
    EXPECT_EQ(said.size(), std::size_t(stages));
    // All stages of GPipe hold as many, most of them only for a moment: some numbers meet there.
    if (std::string(schedule) == "1f1b") {
      EXPECT_EQ(places.size(), std::size_t(stages)) << "no two numbers at one place";
    }
  }
}

// Stages of the naive schedule hold one micro-batch each, one within the other's time.
TEST(HeldFigure, NumbersOfEqualLinesStandInOrderAndApart) {
  const auto rows = rows_of(predicted(pipeline_setup(4, 1, "naive")));
  const TimeAxis axis{{Nanoseconds(0), rows->end}, 86, 600};
  QCustomPlot plot;
  fill_held_plot(plot, held_lines(*rows), rows->end, light_theme(), axis, 700);
  ASSERT_EQ(plot.itemCount(), 4);
  double last = 0;
  for (int item = 0; item < plot.itemCount(); ++item) {
    const auto* label = qobject_cast<QCPItemText*>(plot.item(item));
    EXPECT_EQ(label->text().toInt(), item);
    const double x = axis.x_of(Nanoseconds(std::llround(label->position->key() * 1e9)));
    EXPECT_GE(x, last + 23) << item;
    last = x;
  }
}

// Between two tops a line dips; a number that has to give way to another goes on to the next top.
TEST(HeldFigure, NumbersOfEqualLinesStandWhereTheLineIsHighest) {
  const auto after = [](int seconds) { return Nanoseconds(std::int64_t(seconds) * 1'000'000'000); };
  std::vector<HeldLine> lines(3);
  for (std::size_t stage = 0; stage < lines.size(); ++stage)
    lines[stage] =
        HeldLine{int(stage), {{after(0), 1}, {after(10), 0}, {after(50), 1}, {after(60), 0}}, 1};
  QCustomPlot plot;
  fill_held_plot(plot, lines, after(60), light_theme(), {{after(0), after(60)}, 86, 360}, 460);
  ASSERT_EQ(plot.itemCount(), 3);
  for (int item = 0; item < plot.itemCount(); ++item) {
    const double key = qobject_cast<QCPItemText*>(plot.item(item))->position->key();
    EXPECT_TRUE((key >= 0 && key <= 10) || (key >= 50 && key <= 60)) << item << " at " << key;
  }
}

// Lines of equal height stand apart, but none of them holds less than nothing.
TEST(HeldFigure, NoLineLiesBelowZero) {
  const auto rows = rows_of(predicted(pipeline_setup(8, 16)));
  QCustomPlot plot;
  fill_held_plot(plot, held_lines(*rows), rows->end, light_theme(),
                 {{Nanoseconds(0), rows->end}, 86, 798}, 900);
  ASSERT_EQ(plot.graphCount(), 8);
  for (int graph = 0; graph < plot.graphCount(); ++graph) {
    double most = 0;
    for (const QCPGraphData& at : *plot.graph(graph)->data()) {
      EXPECT_GE(at.value, 0) << graph;
      most = std::max(most, at.value);
    }
    EXPECT_NEAR(most, 8 - graph, 0.31) << "still nearest to its own level";
    EXPECT_LE(most, plot.yAxis->range().upper);
  }
}

TEST(HeldPlot, DescribesItsLinesInWords) {
  Session session;
  session.restore(pipeline_setup(4, 8), {}, std::nullopt);
  HeldPlot plot(session);
  plot.show_rows(rows_of(predicted(pipeline_setup(4, 8))), false, QStringLiteral("predicted"));
  EXPECT_TRUE(plot.accessibleDescription().contains(QStringLiteral("stage 1 at most 3")));
  plot.show_rows(nullptr, true, {});
  EXPECT_FALSE(plot.accessibleDescription().contains(QStringLiteral("at most")));
}

TEST(OpTable, HasALineForEveryBarWithUnitAndSourceInTheHeaders) {
  const auto prediction = predicted(pipeline_setup(3, 4));
  const auto rows = rows_of(prediction), run = rows_of(prediction, 1.1);
  OpModel model;
  model.show(rows, run, Zoom::kPieces);
  int bars = 0;
  for (int rank = 0; rank < 3; ++rank)
    bars += int(bars_of(prediction->program, prediction->timeline, rank).size());
  EXPECT_EQ(model.rowCount(), bars);
  const int pieces = model.rowCount();
  model.show(rows, run, Zoom::kLayers);
  const int layers = model.rowCount();
  model.show(rows, run);
  EXPECT_LT(layers, pieces);
  EXPECT_LT(model.rowCount(), layers) << "the table is as near as the picture";
  for (int column = OpModel::kPredictedBegin; column <= OpModel::kSpread; ++column) {
    const QString head = model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString();
    EXPECT_TRUE(head.contains(QStringLiteral("ms"))) << head.toStdString();
    EXPECT_TRUE(head.contains(column <= OpModel::kPredictedDuration ? QStringLiteral("predicted")
                                                                    : QStringLiteral("rehearsed")))
        << head.toStdString();
  }
  for (int line = 0; line < model.rowCount(); ++line) {
    const auto number = [&](int column) {
      return model.data(model.index(line, column), OpModel::kSortRole).toDouble();
    };
    EXPECT_NEAR(number(OpModel::kObservedBegin), 1.1 * number(OpModel::kPredictedBegin), 1e-5);
    const Bar* bar = rows->bar_of(model.op_of(line));
    ASSERT_TRUE(bar);
    EXPECT_NEAR(number(OpModel::kPredictedDuration),
                double((bar->span.end - bar->span.begin).count()) / 1e6, 1e-9);
  }
}

TEST(OpTable, SortsNumbersAsNumbersAndCopiesWithHeaders) {
  Session session;
  session.restore(pipeline_setup(3, 12), {}, std::nullopt);
  OpTable table(session);
  table.show_rows(rows_of(predicted(pipeline_setup(3, 12))), nullptr, Zoom::kActions, {});
  table.table().sortByColumn(OpModel::kPredictedDuration, Qt::DescendingOrder);
  const QStringList lines = table.as_text().split(QLatin1Char('\n'), Qt::SkipEmptyParts);
  ASSERT_GT(lines.size(), 30);
  EXPECT_TRUE(lines.front().startsWith(QStringLiteral("Rank\tStage\tOp\tBegin, ms, predicted")));
  double last = 1e300;
  for (qsizetype line = 1; line < lines.size(); ++line) {
    const double value =
        QLocale().toDouble(lines[line].split(QLatin1Char('\t'))[OpModel::kPredictedDuration]);
    EXPECT_LE(value, last + 1e-9);
    last = value;
  }
}

TEST(Transport, SaysHowMuchSlowerTheScreenIs) {
  EXPECT_EQ(slowness_text(std::chrono::milliseconds(80), 12), QStringLiteral("150\u00d7 slower"));
  EXPECT_EQ(slowness_text(std::chrono::seconds(12), 12), QStringLiteral("real time"));
  EXPECT_EQ(slowness_text(std::chrono::seconds(60), 12), QStringLiteral("5\u00d7 faster"));
}

TEST(Transport, ButtonsPlayAndWalkFromEventToEvent) {
  Session session;
  session.restore(pipeline_setup(2, 3), {}, std::nullopt);
  TransportBar bar(session);
  const QList<QAction*> actions = bar.transport_actions();
  actions[1]->trigger();
  EXPECT_TRUE(session.playback().playing());
  actions[1]->trigger();
  EXPECT_FALSE(session.playback().playing());
  session.playback().set_playhead(Nanoseconds(0));
  std::vector<Nanoseconds> seen{session.playback().playhead()};
  for (int step = 0; step < 6; ++step) {
    actions[2]->trigger();
    EXPECT_GT(session.playback().playhead(), seen.back());
    seen.push_back(session.playback().playhead());
  }
  for (int step = 5; step >= 1; --step) {
    actions[0]->trigger();
    EXPECT_EQ(session.playback().playhead(), seen[std::size_t(step)]);
  }
}

class ExportedPicture : public testing::TestWithParam<std::tuple<int, int, bool>> {};

TEST_P(ExportedPicture, ExplainsItselfWithoutOverlap) {
  const auto [stages, replicas, with_run] = GetParam();
  const PlanSetup setup = pipeline_setup(stages, 8, "1f1b", replicas);
  Session session;
  std::vector<RunRecord> runs;
  if (with_run) runs.push_back(made_up_run(setup, 1.1));
  session.restore(setup, std::move(runs), std::nullopt);
  session.wait_for_prediction();
  for (const bool dark : {false, true}) {
    PictureOptions options;
    options.dark = dark;
    const QSize size = picture_size(session, options);
    QImage image(size, QImage::Format_RGB32);
    QPainter painter(&image);
    TextLog texts;
    paint_picture(painter, size, session, options, &texts);
    painter.end();
    EXPECT_EQ(overlapping(texts), "");
    QString all;
    for (const PaintedText& text : texts) {
      all += text.text + QLatin1Char('\n');
      EXPECT_GE(text.rect.left(), 0) << text.text.toStdString();
      EXPECT_LE(text.rect.right(), size.width()) << text.text.toStdString();
      EXPECT_LE(text.rect.bottom(), size.height()) << text.text.toStdString();
    }
    EXPECT_TRUE(all.contains(QStringLiteral("PREDICTED"))) << all.toStdString();
    EXPECT_EQ(all.contains(QStringLiteral("REHEARSAL")), with_run);
    EXPECT_TRUE(all.contains(QStringLiteral("PP %1").arg(stages)));
    EXPECT_TRUE(all.contains(QStringLiteral("Forward")));
    EXPECT_FALSE(all.contains(QStringLiteral("min ago")));
  }
}

INSTANTIATE_TEST_SUITE_P(Setups, ExportedPicture,
                         testing::Values(std::tuple(1, 1, false), std::tuple(2, 2, true),
                                         std::tuple(4, 1, true), std::tuple(8, 1, false)));

// On screen a stage of several ranks can be folded; paper has nothing to click.
TEST(ExportedPicture, HasNoArrowsToFoldStages) {
  Picture picture = two_lanes(pipeline_setup(2, 4, "1f1b", 2));
  const QSize size(900, 300);
  const PictureLayout layout = layout_of(picture, size, light_theme());
  const auto paint = [&] {
    QImage image(size, QImage::Format_RGB32);
    QPainter painter(&image);
    painter.fillRect(image.rect(), light_theme().surface);
    paint_timeline(painter, picture, layout, light_theme(), size, 0);
    return image;
  };
  const auto ink_left_of_labels = [&](const QImage& image) {
    int ink = 0;
    for (const RowBox& box : layout.rows)
      for (int y = int(box.label_rect.top()); y < box.label_rect.bottom(); ++y)
        for (int x = int(box.label_rect.left()) - 13; x < box.label_rect.left() - 3; ++x)
          ink += image.pixelColor(x, y + int(layout.tick_band)) != light_theme().surface;
    return ink;
  };
  EXPECT_GT(ink_left_of_labels(paint()), 0);
  picture.folds = false;
  EXPECT_EQ(ink_left_of_labels(paint()), 0);
}

TEST(ExportedPicture, IsTheSameAsVectors) {
  Session session;
  session.restore(pipeline_setup(4, 8), {made_up_run(pipeline_setup(4, 8), 1.1)}, std::nullopt);
  session.wait_for_prediction();
  QByteArray bytes;
  QBuffer buffer(&bytes);
  buffer.open(QIODevice::WriteOnly);
  QSvgGenerator generator;
  generator.setOutputDevice(&buffer);
  const QSize size = picture_size(session, {});
  generator.setSize(size);
  generator.setViewBox(QRect(QPoint(0, 0), size));
  QPainter painter(&generator);
  paint_picture(painter, size, session, {}, nullptr);
  painter.end();
  EXPECT_GT(bytes.size(), 10'000);
  EXPECT_TRUE(bytes.contains("PREDICTED"));
  EXPECT_FALSE(bytes.contains("<image"));  // no pixels inside
}

TEST(PipelineView, OneStageSaysThatThereIsNoPipeline) {
  Session session;
  session.restore(pipeline_setup(1, 4, "gpipe"), {}, std::nullopt);
  session.wait_for_prediction();
  PipelineView view(session);
  view.resize(872, 700);
  view.show();
  QApplication::processEvents();
  bool said = false;
  for (const QLabel* label : view.findChildren<QLabel*>())
    said = said || (label->isVisible() && label->text().contains(QStringLiteral("no pipeline")));
  EXPECT_TRUE(said);
}

TEST(PipelineView, PartsStandUnderEachOtherOnOneAxisAtEverySize) {
  Session session;
  session.restore(pipeline_setup(4, 8), {made_up_run(pipeline_setup(4, 8), 1.1)}, std::nullopt);
  session.wait_for_prediction();
  PipelineView view(session);
  for (const QSize size : {QSize(872, 718), QSize(600, 480), QSize(420, 330), QSize(1500, 1000)}) {
    view.resize(size);
    view.show();
    QApplication::processEvents();
    int bottom = 0;
    for (const QWidget* part : view.findChildren<QWidget*>(Qt::FindDirectChildrenOnly)) {
      // The buttons stand in the head line.
      if (!part->isVisible() || qobject_cast<const QToolButton*>(part)) continue;
      EXPECT_GE(part->geometry().top(), bottom) << part->metaObject()->className();
      EXPECT_LE(part->geometry().bottom(), size.height() + 1) << part->metaObject()->className();
      bottom = part->geometry().bottom();
    }
    EXPECT_GE(view.timeline().height(), 110);
  }
}

// What lessons point at is reached in every size.
TEST(PipelineView, WhereThereIsNoRoomForBothTimelineAndHeldTakeTurns) {
  Session session;
  session.restore(pipeline_setup(4, 8), {}, std::nullopt);
  session.wait_for_prediction();
  PipelineView view(session);
  view.resize(700, 330);
  view.show();
  QApplication::processEvents();
  auto* plot = view.findChild<HeldPlot*>();
  auto* turns = view.findChild<QToolButton*>();
  ASSERT_TRUE(turns && plot);
  ASSERT_TRUE(turns->isVisible());
  EXPECT_FALSE(plot->isVisible());
  QTest::mouseClick(turns, Qt::LeftButton);
  EXPECT_TRUE(plot->isVisible());
  EXPECT_GE(plot->height(), 84);
  EXPECT_TRUE(view.rect().contains(plot->geometry()));
  EXPECT_GE(plot->y(), view.timeline().y() + int(kTickBand)) << "the times stay in view";
  QTest::mouseClick(turns, Qt::LeftButton);
  EXPECT_FALSE(plot->isVisible());
  view.resize(872, 700);
  QApplication::processEvents();
  EXPECT_TRUE(plot->isVisible());
  EXPECT_FALSE(turns->isVisible());
}

TEST(Search, FindsOpsByEveryNameTheyHave) {
  const auto rows = rows_of(predicted(pipeline_setup(4, 8)));
  const auto compute = [&](OpRef op) {
    const Bar* bar = rows->bar_of(op);
    EXPECT_NE(bar, nullptr);
    return *bar;
  };
  EXPECT_EQ(find_ops(*rows, "F3").size(), 4u) << "one on each stage";
  EXPECT_EQ(find_ops(*rows, "f3"), find_ops(*rows, " forward  3 "));
  for (const OpRef op : find_ops(*rows, "backward 2")) {
    EXPECT_EQ(compute(op).action, ActionKind::kBackward);
    EXPECT_EQ(compute(op).microbatch, 2);
  }
  const auto one = find_ops(*rows, "B2 stage 1");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(rows->row_of(one[0].rank)->stage, 1);
  EXPECT_FALSE(find_ops(*rows, "activations").empty()) << "transfers too";
  EXPECT_TRUE(find_ops(*rows, "F8").empty());
  EXPECT_TRUE(find_ops(*rows, "orwar").empty()) << "whole words";
  EXPECT_TRUE(find_ops(*rows, "  ").empty());
  const auto all = find_ops(*rows, "stage 0");
  for (std::size_t at = 1; at < all.size(); ++at)
    EXPECT_LE(compute(all[at - 1]).span.begin, compute(all[at]).span.begin);
}

TEST(Search, EnterGoesFromOneToTheNextAndEscapeCloses) {
  Session session;
  session.restore(pipeline_setup(4, 8), {}, std::nullopt);
  session.wait_for_prediction();
  PipelineView view(session);
  view.resize(872, 700);
  view.show();
  session.subject().set_visible({Nanoseconds(0), session.subject().horizon() / 10});
  view.open_search();
  auto* find = view.findChild<QLineEdit*>();
  ASSERT_TRUE(find && find->isVisible());
  QTest::keyClicks(find, "B7");
  std::set<int> ranks;
  for (int press = 0; press < 4; ++press) {
    QTest::keyClick(find, Qt::Key_Return);
    const Bar* bar = view.timeline().picture().lanes[0].rows->bar_of(session.subject().selected());
    ASSERT_NE(bar, nullptr);
    EXPECT_EQ(bar->microbatch, 7);
    EXPECT_GT(session.subject().visible().end, bar->span.begin) << "it is shown";
    EXPECT_LT(session.subject().visible().begin, bar->span.end);
    ranks.insert(session.subject().selected().rank);
  }
  EXPECT_EQ(ranks.size(), 4u);
  QTest::keyClick(find, Qt::Key_Escape);
  EXPECT_FALSE(find->isVisible());
}

}  // namespace
}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <QAction>
#include <QBuffer>
#include <QImage>
#include <QLabel>
#include <QSvgGenerator>
#include <QTableView>

#include "app/figures.h"
#include "app/views/held_figure.h"
#include "app/views/held_plot.h"
#include "app/views/op_table.h"
#include "app/views/pipeline_view.h"
#include "app/views/qcustomplot_header.h"
#include "app/views/timeline_view.h"
#include "app/views/transport_bar.h"
#include "tests/app/pipeline_fixture.h"

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
                                                                    : QStringLiteral("paced")))
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
  table.show_rows(rows_of(predicted(pipeline_setup(3, 12))), nullptr, Zoom::kActions);
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
  EXPECT_TRUE(session.playing());
  actions[1]->trigger();
  EXPECT_FALSE(session.playing());
  session.set_playhead(Nanoseconds(0));
  std::vector<Nanoseconds> seen{session.playhead()};
  for (int step = 0; step < 6; ++step) {
    actions[2]->trigger();
    EXPECT_GT(session.playhead(), seen.back());
    seen.push_back(session.playhead());
  }
  for (int step = 5; step >= 1; --step) {
    actions[0]->trigger();
    EXPECT_EQ(session.playhead(), seen[std::size_t(step)]);
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
    EXPECT_EQ(all.contains(QStringLiteral("PACED RUN")), with_run);
    EXPECT_TRUE(all.contains(QStringLiteral("PP %1").arg(stages)));
    EXPECT_TRUE(all.contains(QStringLiteral("Forward")));
    EXPECT_FALSE(all.contains(QStringLiteral("min ago")));
  }
}

INSTANTIATE_TEST_SUITE_P(Setups, ExportedPicture,
                         testing::Values(std::tuple(1, 1, false), std::tuple(2, 2, true),
                                         std::tuple(4, 1, true), std::tuple(8, 1, false)));

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
      if (!part->isVisible()) continue;
      EXPECT_GE(part->geometry().top(), bottom) << part->metaObject()->className();
      EXPECT_LE(part->geometry().bottom(), size.height() + 1) << part->metaObject()->className();
      bottom = part->geometry().bottom();
    }
    EXPECT_GE(view.timeline().height(), 110);
  }
}

}  // namespace
}  // namespace parallelarium

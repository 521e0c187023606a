// SPDX-License-Identifier: GPL-3.0-or-later
// What the Collectives view shows besides contributions: values, last bits, the figures of links,
// moves as a table; and that an exported picture is the one on screen.
#include <gtest/gtest.h>

#include <QAction>
#include <QComboBox>
#include <QTableWidget>

#include "app/look/figures.h"
#include "app/shell/window.h"
#include "app/views/collectives/collectives_view.h"
#include "tests/app/collectives/collectives_fixture.h"
#include "tests/app/collectives/collectives_window_fixture.h"
#include "tests/app/wait.h"

namespace parallelarium {
namespace {

class CollectiveContent : public CollectivesFixture {
 protected:
  void run(const CollectiveChoice& choice) {
    collectives().change(choice, QStringLiteral("chosen"));
    window.session().start_run(false);
    ASSERT_TRUE(
        wait_until([&] { return window.session().jobs().state() == RunState::kIdle; }, kRunMs));
    ASSERT_NE(collectives().fresh_run(), nullptr)
        << window.session().jobs().last_error().toStdString();
  }
  void trigger(const char* word) {
    for (QAction* action : window.view_of<CollectivesView>().all_commands())
      if (action->text().contains(QLatin1String(word))) {
        EXPECT_TRUE(action->isEnabled());
        action->trigger();
      }
  }
  StepBox* box(const char* name) { return control<StepBox>(name); }
  TextLog painted() {
    const CollectivePicture picture = window.view_of<CollectivesView>().picture();
    const QSize size(900, int(collective_height(picture, 900)));
    QImage image(size, QImage::Format_RGB32);
    QPainter painter(&image);
    TextLog texts;
    paint_collective(painter, picture, collective_layout(picture, size), light_theme(), &texts);
    return texts;
  }
};

int holding(const TextLog& texts, const QString& part) {
  int found = 0;
  for (const PaintedText& text : texts) found += text.text.contains(part);
  return found;
}

TEST_F(CollectiveContent, LastBitsOfARunAreMarkedAndCounted) {
  CollectiveChoice choice = choice_of(CollectiveKind::kAllReduce, "ring", 4, 1 << 10);
  choice.spec.type = DataType::kBf16;
  run(choice);
  ASSERT_TRUE(collectives().fresh_run()->seen.rounding);
  const RoundingComparison rounding = *collectives().fresh_run()->seen.rounding;
  EXPECT_EQ(rounding.other, "tree");
  EXPECT_GT(rounding.differing, 0);
  trigger("last bits");
  EXPECT_EQ(window.view_of<CollectivesView>().picture().content(), ChunkContent::kRounding);
  // Every chunk of every rank tells its count and two values that differ on screen, too.
  const TextLog texts = painted();
  EXPECT_EQ(holding(texts, QChar(0x2260)), 16);
  EXPECT_EQ(overlapping(texts), "");
  for (const PaintedText& text : texts) {
    if (!text.text.contains(QChar(0x2260))) continue;
    const QStringList sides = text.text.section(QLatin1Char(' '), -3).split(QChar(0x2260));
    EXPECT_NE(sides[0].trimmed(), sides[1].trimmed()) << text.text.toStdString();
  }
  const QString sentence = rounding_sentence(choice.spec, rounding);
  EXPECT_TRUE(sentence.contains(count_text(rounding.differing))) << sentence.toStdString();
  EXPECT_EQ(holding(texts, sentence.left(40)), 1);
  EXPECT_TRUE(window.view_of<CollectivesView>().description().contains(sentence));
  trigger("values");
  EXPECT_EQ(window.view_of<CollectivesView>().picture().content(), ChunkContent::kValues);
}

TEST_F(CollectiveContent, WhereNothingIsAddedNoBitsDifferAndTheViewSaysSo) {
  run(choice_of(CollectiveKind::kAllGather, "ring", 2, 8 << 10));
  EXPECT_FALSE(collectives().fresh_run()->seen.rounding);
  trigger("last bits");
  EXPECT_EQ(window.view_of<CollectivesView>().picture().content(), ChunkContent::kContributions);
  EXPECT_EQ(holding(painted(), QStringLiteral("combines nothing")), 1);
}

TEST_F(CollectiveContent, FiguresOfLinksCanBeSetButNotThoseOfThisComputer) {
  StepBox *latency = box("Latency"), *bandwidth = box("Bandwidth");
  ASSERT_TRUE(latency && bandwidth);
  EXPECT_FALSE(latency->isVisible() || bandwidth->isVisible());
  CollectiveChoice choice = choice_of(CollectiveKind::kAllReduce, "ring", 4);
  choice.topology = Topology::kSwitch;
  collectives().change(choice, QStringLiteral("switch"));
  EXPECT_TRUE(latency->isVisible() && bandwidth->isVisible());
  const double before = collectives().plan()->cost.seconds;
  Q_EMIT latency->committed(QStringLiteral("1 ms"));
  EXPECT_EQ(collectives().plan()->network.latency_seconds, 1e-3);
  EXPECT_NEAR(collectives().plan()->cost.seconds, before + 6 * (1e-3 - 1e-6), 1e-9);
  Q_EMIT bandwidth->committed(QStringLiteral("25 GB/s"));
  EXPECT_EQ(collectives().plan()->network.bytes_per_second, 25e9);
  for (const char* wrong : {"fast", "-3 GB/s", "5 GB/h", "0"})
    Q_EMIT bandwidth->committed(QLatin1String(wrong));
  EXPECT_EQ(collectives().plan()->network.bytes_per_second, 25e9);
  bandwidth->stepBy(1);
  EXPECT_EQ(collectives().plan()->network.bytes_per_second, 50e9);
  Q_EMIT latency->committed(QString());
  EXPECT_FALSE(collectives().choice().links.latency_seconds);
  EXPECT_EQ(collectives().plan()->network.latency_seconds, Network{}.latency_seconds);
  EXPECT_FALSE(box("Latency between nodes")->isVisible());
  choice.topology = Topology::kTwoLevel;
  collectives().change(choice, QStringLiteral("two levels"));
  EXPECT_TRUE(box("Latency between nodes")->isVisible());
  Q_EMIT box("Bandwidth of a node")->committed(QStringLiteral("1 GB/s"));
  EXPECT_EQ(collectives().plan()->network.node_bytes_per_second, 1e9);
}

TEST(LinkTexts, AreReadInTheUnitsOfTheScreen) {
  for (const double seconds : {1e-9, 2.5e-6, 1.4e-3, 1.0}) {
    const auto read = seconds_from_text(seconds_text(seconds));
    ASSERT_TRUE(read) << seconds;
    EXPECT_NEAR(*read, seconds, seconds * 1e-9);
  }
  for (const double rate : {1e3, 2.5e6, 50e9, 1.2e12}) {
    const auto read = rate_from_text(rate_text(rate));
    ASSERT_TRUE(read) << rate;
    EXPECT_NEAR(*read, rate, rate * 1e-9);
  }
  EXPECT_EQ(seconds_from_text(QStringLiteral("2e-6")), 2e-6);
  EXPECT_EQ(seconds_from_text(QStringLiteral("3us")), 3e-6);
  EXPECT_EQ(rate_from_text(QStringLiteral("400e9")), 400e9);
  EXPECT_EQ(seconds_from_text(QStringLiteral("2 h")), 7200);
  EXPECT_FALSE(seconds_from_text(QStringLiteral("2 km")));
  EXPECT_FALSE(seconds_from_text(QStringLiteral("-1 s")));
}

TEST_F(CollectiveContent, EveryMoveIsALineOfTheTable) {
  trigger("table");
  const auto tables = window.view_of<CollectivesView>().findChildren<QTableWidget*>();
  ASSERT_EQ(tables.size(), 1);
  const QTableWidget& table = *tables.front();
  const CollectivePlan& plan = *collectives().plan();
  const CollectiveMotion motion(collectives().plan(), plan.cost.timeline);
  int row = 0;
  for (int step = 0; step < plan.steps(); ++step)
    for (int at = 0; at < int(plan.collective.steps[std::size_t(step)].size()); ++at, ++row) {
      const Move& move = motion.move({step, at});
      const Span span = motion.span_of({step, at});
      const QString expected[] = {QString::number(step + 1),
                                  QStringLiteral("rank %1").arg(move.from),
                                  QStringLiteral("rank %1").arg(move.to),
                                  chunk_name(plan, move.chunk),
                                  bytes_text(move.bytes),
                                  move.reduce ? QStringLiteral("combined") : QStringLiteral("kept"),
                                  time_text(span.begin),
                                  time_text(span.end - span.begin)};
      for (int column = 0; column < int(std::size(expected)); ++column)
        EXPECT_EQ(table.item(row, column)->text(), expected[column]) << row << " " << column;
    }
  EXPECT_EQ(table.rowCount(), row);
}

// Time, sent bytes and steps: the form with its source, the prediction, and what was seen.
TEST_F(CollectiveContent, CostsHaveTheirFormulasAndSources) {
  const std::vector<CostRow> rows = cost_rows(window.view_of<CollectivesView>().picture());
  for (const char* what : {"Sent per rank", "Steps", "Time", "Bus bandwidth"}) {
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const CostRow& r) { return r.what == QLatin1String(what); });
    ASSERT_NE(row, rows.end()) << what;
    EXPECT_FALSE(row->formula.isEmpty()) << what;
    EXPECT_FALSE(row->predicted.isEmpty()) << what;
    EXPECT_TRUE(row->source.contains(QStringLiteral("Patarasuk")) ||
                row->source.contains(QStringLiteral("nccl-tests")))
        << row->source.toStdString();
  }
  const TextLog texts = painted();
  for (const char* head : {"formula", "not run"})
    EXPECT_EQ(holding(texts, QLatin1String(head)), 1) << head;
}

// Of any colour of any pixel, in levels of 255.
int largest_difference(const QImage& a, const QImage& b) {
  int largest = a.size() == b.size() ? 0 : 255;
  for (int y = 0; largest < 255 && y < a.height(); ++y)
    for (int x = 0; x < a.width(); ++x) {
      const QColor one = a.pixelColor(x, y), two = b.pixelColor(x, y);
      largest = std::max({largest, std::abs(one.red() - two.red()),
                          std::abs(one.green() - two.green()), std::abs(one.blue() - two.blue())});
    }
  return largest;
}

TEST_F(CollectiveContent, AnExportedPictureIsTheOneOnScreen) {
  constexpr int kTitle = 40, kFooter = 44;
  CollectiveChoice choice = choice_of(CollectiveKind::kAllReduce, "ring", 4, 1 << 20);
  collectives().change(choice, QStringLiteral("ring"));
  CollectiveObservation seen = made_up(*collectives().plan(), 1.2);
  seen.values.steps = collectives().plan()->steps();
  seen.values.first.assign(std::size_t(7 * 4 * 4), 3.0);
  seen.rounding.emplace();
  seen.rounding->other = "tree";
  seen.rounding->elements = 16 * 100;
  seen.rounding->differing = 16 * 12;
  seen.rounding->most_steps = 1;
  seen.rounding->cells.assign(16, {100, 12, 7, 0.5, 0.25});
  ASSERT_TRUE(collectives().keep_run(choice.spec, seen).ok());
  window.view_of<CollectivesView>().wait();
  QWidget& canvas = window.view_of<CollectivesView>().canvas();
  canvas.clearFocus();
  int pictures = 0;
  for (const bool parts : {false, true})
    for (const ChunkContent content :
         {ChunkContent::kContributions, ChunkContent::kValues, ChunkContent::kRounding})
      for (const double share : {0.1, 0.45, 0.8}) {
        collectives().set_shows_parts(parts);
        collectives().set_content(content);
        collectives().set_playhead(
            Nanoseconds(std::int64_t(double(collectives().horizon().count()) * share)));
        QImage screen(canvas.size(), QImage::Format_RGB32);
        canvas.render(&screen, {}, {}, {});
        QImage file(canvas.width(), canvas.height() + kTitle + kFooter, QImage::Format_RGB32);
        QPainter painter(&file);
        paint_collective_picture(painter, file.size(), window.session(), false);
        painter.end();
        QImage same = file.copy(QRect(QPoint(0, kTitle), canvas.size()));
        // The link over the plot is a button, and no part of the picture.
        for (const auto* button : canvas.findChildren<QToolButton*>()) {
          QPainter(&screen).fillRect(button->geometry(), Qt::black);
          QPainter(&same).fillRect(button->geometry(), Qt::black);
        }
        ++pictures;
        // Edges between pixels blend a few levels otherwise where everything lies kTitle lower.
        EXPECT_LE(largest_difference(screen, same), 4)
            << parts << " " << name_of(content).toStdString() << " at " << share;
      }
  EXPECT_EQ(pictures, 18);
}

}  // namespace
}  // namespace parallelarium

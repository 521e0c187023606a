// SPDX-License-Identifier: GPL-3.0-or-later
// The Layer view's bars: each has the longest of its names that fits, and tells the rest as a tip.
#include <gtest/gtest.h>

#include <QFontMetricsF>
#include <QHelpEvent>
#include <QImage>
#include <QTextDocumentFragment>
#include <QToolTip>
#include <functional>

#include "app/views/layer/layer_view.h"
#include "engine/plan/setup/setup_settings.h"
#include "tests/app/wait.h"

namespace parallelarium {
namespace {

void cut_in_two(Session& session, const char* sequence_parallel) {
  auto setup = session.setup();
  for (const auto& [field, value] :
       {std::pair("pp", "1"), {"tp", "2"}, {"sequence-parallel", sequence_parallel}})
    ASSERT_TRUE(set_field(setup, field, value));
  session.history().change(setup, QStringLiteral("set up"));
  session.wait_for_prediction();
}

LayerLayout layout_at(const LayerPicture& picture, double width) {
  return layer_layout(picture, QSizeF(width, 700), light_theme());
}

TextLog texts_of(const std::function<void(QPainter&, TextLog&)>& paint) {
  QImage image(2000, 1200, QImage::Format_RGB32);
  QPainter painter(&image);
  TextLog texts;
  paint(painter, texts);
  return texts;
}

// Where a step's bar stands in the first lane, from its times.
std::pair<double, double> ends_of(const LayerPicture& picture, const LayerLayout& layout,
                                  std::size_t step) {
  const LayerSpans& times = *picture.predicted;
  const Span window = times.window, span = *times.spans[step][std::size_t(layout.ranks[0])];
  const double all = double((window.end - window.begin).count());
  return {layout.lane_left + layout.lane_width * double((span.begin - window.begin).count()) / all,
          layout.lane_left + layout.lane_width * double((span.end - window.begin).count()) / all};
}

// Names from long to short, as the papers and the picture above the lanes write them.
QStringList names_expected(const LayerStep& step) {
  const QString first = QString::fromStdString(step.number.empty() ? step.symbol : step.number);
  const QString kind = step.collective == CollectiveKind::kAllGather ? QStringLiteral("all-gather")
                       : step.collective == CollectiveKind::kReduceScatter
                           ? QStringLiteral("reduce-scatter")
                           : QStringLiteral("all-reduce");
  return first.isEmpty() ? QStringList(kind) : QStringList{first + QLatin1Char(' ') + kind, first};
}

QString name_expected(const LayerStep& step, double room) {
  const QFontMetricsF metrics(light_theme().font(10));
  for (const QString& name : names_expected(step))
    if (metrics.horizontalAdvance(name) + 4 <= room) return name;
  return {};
}

// How many collectives of the first rank have their full name and how many their short one, after
// each was found to have the one that fits.
std::pair<int, int> names_in_time(const LayerPicture& picture, double width) {
  const LayerLayout layout = layout_at(picture, width);
  const TextLog texts = texts_of([&](QPainter& painter, TextLog& log) {
    paint_layer_lanes(painter, picture, layout, light_theme(), &log);
  });
  std::pair<int, int> counts;
  for (std::size_t step = 0; step < picture.layer->steps.size(); ++step) {
    const LayerStep& of = picture.layer->steps[step];
    if (of.kind != LayerStepKind::kCollective) continue;
    const std::pair<double, double> ends = ends_of(picture, layout, step);
    const QString name = name_expected(of, ends.second - ends.first);
    QStringList inside;
    for (const PaintedText& text : texts)
      if (text.rect.left() >= ends.first && text.rect.right() <= ends.second &&
          text.rect.center().y() < layout.lanes_top + layout.lane_pitch &&
          text.rect.center().y() > layout.lanes_top)
        inside << text.text;
    EXPECT_EQ(inside, name.isEmpty() ? QStringList() : QStringList(name))
        << width << " " << names_expected(of).join(QLatin1Char('|')).toStdString();
    if (name == names_expected(of).front()) ++counts.first;
    if (name == names_expected(of).value(1)) ++counts.second;
  }
  return counts;
}

TEST(LayerBars, CollectivesInTimeHaveTheLongestNameThatFits) {
  int full = 0, narrow = 0;
  for (const char* sequence_parallel : {"on", "off"}) {
    Session session;
    cut_in_two(session, sequence_parallel);
    for (const LayerPlace place : {LayerPlace::kLayer, LayerPlace::kEmbedding, LayerPlace::kHead})
      for (const bool backward : {false, true})
        for (const double width : {300.0, 560.0, 840.0, 1900.0}) {
          LayerLook look;
          look.choice.place = place;
          look.choice.backward = backward;
          const std::pair<int, int> counts = names_in_time(layer_picture(session, look), width);
          full += counts.first;
          narrow += counts.second;
        }
  }
  EXPECT_GT(full, 0);
  EXPECT_GT(narrow, 0);
}

QStringList kept_texts(const LayerPicture& picture, double width) {
  QStringList all;
  for (const PaintedText& text : texts_of([&](QPainter&painter, TextLog&log) {
         paint_layer_kept(painter, picture, layout_at(picture, width), light_theme(), &log);
       }))
    all << QString(text.text).replace(QChar(QChar::Nbsp), QLatin1Char(' '));
  return all;
}

TEST(LayerBars, WhatIsKeptLosesItsSpacesBeforeItLosesItsName) {
  Session session;
  cut_in_two(session, "on");
  const LayerPicture picture = layer_picture(session, {});
  EXPECT_TRUE(kept_texts(picture, 1400).contains(QStringLiteral("8 s b h / 2")));
  EXPECT_FALSE(kept_texts(picture, 1400).contains(QStringLiteral("8sbh/2")));
  EXPECT_TRUE(kept_texts(picture, 840).contains(QStringLiteral("8sbh/2")));
  EXPECT_TRUE(kept_texts(picture, 840).contains(QStringLiteral("24 s b h / 2")));
  // Where nothing fits, nothing is cut.
  for (const QString& text : kept_texts(picture, 360))
    EXPECT_FALSE(text.contains(QLatin1String("sbh")) && text.contains(QChar(0x2026)))
        << text.toStdString();
}

QString tip_at(LayerView& view, QPointF point) {
  const QPoint at = point.toPoint();
  QHelpEvent event(QEvent::ToolTip, at, view.canvas().mapToGlobal(at));
  QApplication::sendEvent(&view.canvas(), &event);
  return QTextDocumentFragment::fromHtml(QToolTip::text()).toPlainText();
}

TEST(LayerBars, ATipHasTheFullName) {
  Session session;
  cut_in_two(session, "on");
  LayerView view(session);
  view.resize(700, 640);
  view.show();
  const LayerPicture picture = view.picture();
  const LayerLayout layout = view.layout_now();
  for (std::size_t step = 0; step < picture.layer->steps.size(); ++step) {
    const LayerStep& of = picture.layer->steps[step];
    if (of.kind != LayerStepKind::kCollective) continue;
    const std::pair<double, double> ends = ends_of(picture, layout, step);
    const QString tip =
        tip_at(view, {(ends.first + ends.second) / 2, layout.lanes_top + 5}).section('\n', 0, 0);
    EXPECT_TRUE(tip.contains(names_expected(of).front(), Qt::CaseInsensitive)) << tip.toStdString();
  }
  // The third line of bars: its first part is 8 s b h / 2.
  const QString kept = tip_at(view, {16 + 92 + 6, layout.kept_top + 20 + 2 * 19 + 7});
  EXPECT_TRUE(kept.startsWith(QStringLiteral("TP 2 + SP: 8"))) << kept.toStdString();
  EXPECT_TRUE(kept.contains(QStringLiteral("KiB"))) << kept.toStdString();
  tip_at(view, {4, layout.kept_top + 20 + 2 * 19 + 7});
  EXPECT_TRUE(wait_until([] { return !QToolTip::isVisible(); }, 5'000)) << "beside the bars";
}

}  // namespace
}  // namespace parallelarium

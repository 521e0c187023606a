// SPDX-License-Identifier: GPL-3.0-or-later
// What a run counted of its routing: the choices of every home, and how even its training steps
// were.
#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/experts/expert_brush.h"
#include "app/views/shared/paint/qcustomplot_header.h"

namespace parallelarium {
namespace {

struct RunWords {
  Q_DECLARE_TR_FUNCTIONS(experts)
};

constexpr double kLeft = 30, kRight = 6, kTop = 4, kBottom = 20, kLegendLine = 15;
constexpr double kLeastWidth = 120, kLeastHeight = 60;

// What is left of the plot below its legend.
QRectF plot_area(const ExpertPicture& picture, const ExpertLayout& layout) {
  return layout.plot.adjusted(0, kLegendLine * double(picture.curves->size()), 0, 0);
}

bool has_room(const ExpertPicture& picture, const ExpertLayout& layout) {
  if (!picture.shows_run() || !picture.curves || picture.curves->empty()) return false;
  const QRectF area = plot_area(picture, layout);
  return area.width() >= kLeastWidth && area.height() >= kLeastHeight;
}

int most_steps(const std::vector<BalanceCurve>& curves) {
  std::size_t most = 2;
  for (const BalanceCurve& curve : curves) most = std::max(most, curve.steps.size());
  return int(most);
}

// The range of training steps, from 1, that the plot shows.
QCPRange steps_range(const std::vector<BalanceCurve>& curves) {
  return {0.7, double(most_steps(curves)) + 0.3};
}

// Every `n`-th whole number, so that a few stand on the axis.
double whole_tick(double range) {
  for (double step = 1;; step *= 10)
    for (const double factor : {1.0, 2.0, 5.0})
      if (range / (factor * step) <= 6) return factor * step;
}

void fill_plot(QCustomPlot& plot, const ExpertPicture& picture, const Theme& theme) {
  const std::vector<BalanceCurve>& curves = *picture.curves;
  plot.setBackground(Qt::NoBrush);
  plot.axisRect()->setAutoMargins(QCP::msNone);
  plot.axisRect()->setMinimumSize(10, 10);
  plot.axisRect()->setMargins(QMargins(int(kLeft), int(kTop), int(kRight), int(kBottom)));
  for (QCPAxis* axis : {plot.xAxis, plot.yAxis}) {
    axis->setBasePen(Qt::NoPen);
    axis->setTickPen(Qt::NoPen);
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLabelFont(theme.font(10));
    axis->setTickLabelColor(theme.muted);
    axis->setTickLabelPadding(4);
    axis->grid()->setPen(QPen(theme.grid, 0));
    axis->grid()->setSubGridVisible(false);
    axis->grid()->setZeroLinePen(Qt::NoPen);
  }
  double most = 1.5;
  for (const BalanceCurve& curve : curves)
    for (const LayerBalance& step : curve.steps) most = std::max(most, step.fullest);
  const auto ticks = [](QCPAxis* axis, double step) {
    const auto ticker = QSharedPointer<QCPAxisTickerFixed>::create();
    ticker->setTickStep(step);
    axis->setTicker(ticker);
  };
  plot.xAxis->setRange(steps_range(curves));
  ticks(plot.xAxis, whole_tick(most_steps(curves)));
  plot.yAxis->setRange(0.9, most * 1.05);
  ticks(plot.yAxis, most <= 2.5 ? 0.5 : most <= 6 ? 1 : whole_tick(most));
  QCPGraph* here = plot.addGraph();
  here->setPen(QPen(theme.mark, 1));
  here->setData({double(picture.step + 1), double(picture.step + 1)}, {0.9, most * 1.05}, true);
  for (const BalanceCurve& curve : curves) {
    QCPGraph* graph = plot.addGraph();
    graph->setPen(QPen(curve.pinned ? theme.muted : theme.accent_line, 1,
                       curve.pinned ? Qt::DashLine : Qt::SolidLine));
    const bool few = curve.steps.size() <= 30;
    if (few && !curve.pinned) graph->setScatterStyle({QCPScatterStyle::ssDisc, 4});
    for (std::size_t step = 0; step < curve.steps.size(); ++step)
      graph->addData(double(step + 1), curve.steps[step].fullest);
  }
}

}  // namespace

void paint_home_bars(const ExpertBrush& b) {
  const RoutedLayer& layer = b.layer();
  b.head(b.layout.tokens_head,
         RunWords::tr("Choices by home, run") + QStringLiteral(" \u00b7 ") +
             RunWords::tr("%1 each").arg(count_text(layer.tokens * layer.top_k)));
  for (int home = 0; home < b.layout.homes; ++home) {
    const QRectF bar = b.layout.home_bar(home);
    b.text(QRectF(b.layout.tokens.left(), bar.top(), 52, std::max(12.0, bar.height())),
           Qt::AlignLeft, RunWords::tr("Rank %1").arg(home), bar.height() >= 11 ? 11 : 9, true);
    const std::vector<HomePart> parts = home_parts(layer, b.layout, home);
    for (std::size_t at = 0; at < parts.size(); ++at) {
      const HomePart& part = parts[at];
      const QColor color = expert_color(layer, part.expert, b.theme);
      const int chosen = b.picture.selected.expert;
      b.painter.setOpacity(chosen >= 0 && chosen != part.expert ? 0.25 : 1);
      b.painter.setRenderHint(QPainter::Antialiasing, false);
      const bool away = way_of(b.picture, int(at), int(parts.size())) > 0;
      const QColor fill = away ? mixed(color, b.theme.surface, 0.75) : color;
      if (!part.kept.isEmpty()) {
        const bool hairline = part.kept.width() > 3;
        b.painter.fillRect(part.kept.adjusted(0, 0, hairline ? -1 : 0, 0), fill);
        if (away && hairline) {
          b.painter.setBrush(Qt::NoBrush);
          b.painter.setPen(QPen(color, 1));
          b.painter.drawRect(part.kept.adjusted(0.5, 0.5, -1.5, -0.5));
        }
        const QString number = QString::number(part.expert);
        if (bar.height() >= 11 && label_width(b.theme.font(9), number) <= part.kept.width() - 4)
          put_label(b.painter, part.kept.adjusted(0, 0, -1, 0), number, b.theme.font(9),
                    b.theme.ink_on(fill), b.texts);
      }
      if (!part.dropped.isEmpty()) {
        b.painter.setBrush(b.theme.surface);
        b.painter.setPen(QPen(b.theme.mark, 1, Qt::DotLine));
        b.painter.drawRect(part.dropped.adjusted(0.5, 0.5, -1.5, -0.5));
      }
      b.painter.setOpacity(1);
    }
  }
}

void paint_balance_plot(QPainter& painter, const ExpertPicture& picture, const ExpertLayout& layout,
                        const Theme& theme, TextLog* texts) {
  if (!has_room(picture, layout)) return;
  const ExpertBrush b{painter, picture, layout, theme, texts};
  b.head(layout.plot_head, RunWords::tr("Fullest expert / mean, by step"));
  double y = layout.plot.top();
  for (const BalanceCurve& curve : *picture.curves) {
    painter.setPen(QPen(curve.pinned ? theme.muted : theme.accent_line, 1,
                        curve.pinned ? Qt::DashLine : Qt::SolidLine));
    painter.drawLine(QPointF(layout.plot.left(), std::floor(y + kLegendLine / 2) + 0.5),
                     QPointF(layout.plot.left() + 22, std::floor(y + kLegendLine / 2) + 0.5));
    b.text(QRectF(layout.plot.left() + 30, y, layout.plot.width() - 30, kLegendLine), Qt::AlignLeft,
           curve.name, 10, false, theme.muted);
    y += kLegendLine;
  }
  const QRectF area = plot_area(picture, layout);
  const QSize size(int(area.width()), int(area.height()));
  const QString key = QStringLiteral("%1 %2 %3 %4 %5")
                          .arg(size.width())
                          .arg(size.height())
                          .arg(theme.dark)
                          .arg(picture.step)
                          .arg(quintptr(picture.curves.get()));
  PlotCache own;
  PlotCache& cache = picture.plot_cache ? *picture.plot_cache : own;
  if (cache.key != key) {
    QCustomPlot plot;
    plot.setViewport(QRect(QPoint(0, 0), size));
    fill_plot(plot, picture, theme);
    cache = {key, recorded(plot, size)};
  }
  play_recording(painter, area.topLeft(), cache.picture);
}

int step_at_point(const ExpertPicture& picture, const ExpertLayout& layout, QPointF point) {
  if (!has_room(picture, layout)) return -1;
  const QRectF area = plot_area(picture, layout).adjusted(kLeft, 0, -kRight, 0);
  if (!area.contains(point)) return -1;
  const QCPRange range = steps_range(*picture.curves);
  const double share = (point.x() - area.left()) / area.width();
  const int step = int(std::lround(range.lower + share * range.size())) - 1;
  return std::clamp(step, 0, std::max(0, picture.steps - 1));
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/pipeline/held_figure.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/qcustomplot_header.h"
#include "app/views/shared/paint/recorded_plot.h"

namespace parallelarium {
namespace {

constexpr double kTickSpacing = 64, kMostChips = 16, kLabelApart = 24;

double seconds(Nanoseconds time) { return static_cast<double>(time.count()) / 1e9; }

// The grid of the timeline above: same ticks, no labels.
class TimeTicker : public QCPAxisTicker {
 public:
  explicit TimeTicker(const TimeAxis& axis) : axis_(axis) {}
  void generate(const QCPRange&, const QLocale&, QChar, int, QVector<double>& ticks,
                QVector<double>* sub_ticks, QVector<QString>* labels) override {
    ticks.clear();
    for (const Tick& tick : ticks_of(axis_, kTickSpacing)) ticks.append(seconds(tick.time));
    if (sub_ticks) sub_ticks->clear();
    if (labels) labels->fill(QString(), ticks.size());
  }

 private:
  TimeAxis axis_;
};

// When a line is at its highest.
std::vector<std::pair<double, double>> tops_of(const HeldLine& line) {
  std::vector<std::pair<double, double>> tops;
  for (std::size_t k = 0; k + 1 < line.points.size(); ++k)
    if (line.points[k].held == line.most)
      tops.emplace_back(seconds(line.points[k].time), seconds(line.points[k + 1].time));
  return tops;
}

// At one of its `tops`, as near to `share` of that part of the step as it can be.
double labelled_at(const std::vector<std::pair<double, double>>& tops, double share) {
  const double wanted = tops.front().first + share * (tops.back().second - tops.front().first);
  const auto distance = [&](const std::pair<double, double>& top) {
    return std::max({0.0, top.first - wanted, wanted - top.second});
  };
  const auto nearest =
      *std::min_element(tops.begin(), tops.end(),
                        [&](const auto& a, const auto& b) { return distance(a) < distance(b); });
  const double margin = (nearest.second - nearest.first) / 4;
  return std::clamp(wanted, nearest.first + margin, nearest.second - margin);
}

// `time`, or the next moment at which the line is at one of its `tops`; behind them the end of the
// last.
double next_on_top(const std::vector<std::pair<double, double>>& tops, double time) {
  for (const auto& [begin, end] : tops)
    if (time <= end) return std::max(time, begin);
  return tops.back().second;
}

// The latest place of each line's number that leaves room for those of equal lines after it.
std::vector<double> latest_places(const std::vector<HeldLine>& lines, double apart) {
  std::vector<double> latest(lines.size());
  std::map<double, double> next;  // at each height
  for (std::size_t k = lines.size(); k-- > 0;) {
    const auto tops = tops_of(lines[k]);
    latest[k] = tops.empty() ? 0 : tops.back().second;
    if (const auto after = next.find(lines[k].most); after != next.end())
      latest[k] = std::min(latest[k], after->second - apart);
    next[lines[k].most] = latest[k];
  }
  return latest;
}

// Each line says its stage at its height. All end at 0, so the number stands where the line is
// highest; lines of one height say it one after the other, at least `apart` seconds from each
// other where there is room.
void label_lines(QCustomPlot& plot, const std::vector<HeldLine>& lines, double apart,
                 const Theme& theme) {
  for (int item = plot.itemCount() - 1; item >= 0; --item)
    if (qobject_cast<QCPItemText*>(plot.item(item))) plot.removeItem(item);
  const auto count = static_cast<double>(lines.size());
  const std::vector<double> latest = latest_places(lines, apart);
  std::map<double, double> free_from;  // at each height
  for (std::size_t k = 0; k < lines.size() && static_cast<int>(k) < plot.graphCount(); ++k) {
    if (lines[k].points.empty()) continue;
    auto* label = new QCPItemText(&plot);
    label->setText(QString::number(lines[k].stage));
    label->setFont(theme.font(10, true));
    label->setColor(theme.text);
    label->setBrush(theme.surface);
    label->setPadding(QMargins(2, -2, 2, -2));
    const double lift = plot.graph(static_cast<int>(k))->data()->constBegin()->value;
    double& from = free_from[lines[k].most];
    if (const auto tops = tops_of(lines[k]); !tops.empty()) {
      const double wanted = labelled_at(tops, (static_cast<double>(k) + 0.5) / count);
      from = next_on_top(tops, std::max(from, std::min(wanted, latest[k])));
    }
    label->position->setCoords(from, lines[k].most + lift);
    from += apart;
  }
}

double whole_step(double most) {
  for (double step = 1;; step *= 10)
    for (const double factor : {1.0, 2.0, 5.0})
      if (most / (factor * step) <= 5.5) return factor * step;
}

}  // namespace

std::vector<HeldLine> held_lines(const LaneRows& rows) {
  std::vector<HeldLine> lines;
  for (const Row& row : rows.rows) {
    if (!lines.empty() && lines.back().stage == row.stage) continue;
    HeldLine line;
    line.stage = row.stage;
    line.points = held_microbatches(rows.program(), *rows.timeline, row.rank_index);
    for (const HeldPoint& point : line.points) line.most = std::max(line.most, point.held);
    lines.push_back(std::move(line));
  }
  return lines;
}

void fill_held_plot(QCustomPlot& plot, const std::vector<HeldLine>& lines, Nanoseconds end,
                    const Theme& theme, const TimeAxis& axis, double width) {
  plot.clearGraphs();
  plot.setBackground(QBrush(theme.surface));
  const auto count = static_cast<double>(std::max<std::size_t>(1, lines.size()));
  double most = 1;
  for (const HeldLine& line : lines) most = std::max(most, line.most);
  // Lines of equal height stand a little above each other, so that none hides another and none
  // lies below 0.
  const double apart = std::min(0.04 * most / 4, 0.3 / count);
  for (const HeldLine& line : lines) {
    QCPGraph* graph = plot.addGraph();
    graph->setPen(theme.rank_line(line.stage));
    graph->setLineStyle(QCPGraph::lsStepLeft);
    graph->setAdaptiveSampling(true);
    const double lift = apart * (count - static_cast<double>(plot.graphCount()));
    QVector<QCPGraphData> data;
    data.append(QCPGraphData(0, lift));
    double held = 0;
    for (const HeldPoint& point : line.points) {
      held = point.held;
      data.append(QCPGraphData(seconds(point.time), held + lift));
    }
    data.append(QCPGraphData(seconds(end), held + lift));
    graph->data()->set(data, true);
  }
  label_lines(plot, lines, seconds(end) * kLabelApart / axis.width, theme);
  const QFont font = theme.font(11);
  for (QCPAxis* side : {plot.xAxis, plot.yAxis}) {
    side->setBasePen(Qt::NoPen);
    side->setTickPen(Qt::NoPen);
    side->setSubTickPen(Qt::NoPen);
    side->setTickLabelFont(font);
    side->setTickLabelColor(theme.muted);
    side->grid()->setPen(QPen(theme.grid, 0));
    side->grid()->setZeroLinePen(QPen(theme.grid, 0));
    side->grid()->setSubGridVisible(false);
  }
  plot.xAxis->setTickLabels(false);
  plot.yAxis->setTickLabelPadding(6);
  const auto ticker = QSharedPointer<QCPAxisTickerFixed>::create();
  ticker->setTickStep(whole_step(most));
  plot.yAxis->setTicker(ticker);
  plot.yAxis->setRange(-0.3, most * 1.04 + 0.1 + apart * count);
  set_held_range(plot, axis, width);
}

void set_held_range(QCustomPlot& plot, const TimeAxis& axis, double width) {
  QCPAxisRect* rect = plot.axisRect();
  rect->setAutoMargins(QCP::msNone);
  rect->setMinimumSize(10, 10);
  const int left = static_cast<int>(std::lround(axis.left));
  const int right = static_cast<int>(std::lround(width - axis.left - axis.width));
  rect->setMargins(QMargins(left, 2, std::max(0, right), 4));
  plot.xAxis->setTicker(QSharedPointer<TimeTicker>::create(axis));
  plot.xAxis->setRange(seconds(axis.range.begin), seconds(axis.range.end));
}

void paint_held_header(QPainter& painter, const QRectF& rect, const std::vector<HeldLine>& lines,
                       const QString& source, const Theme& theme, TextLog* texts) {
  QFont font = theme.caps();
  font.setCapitalization(QFont::MixedCase);
  QString title = QObject::tr("MICRO-BATCHES HELD PER STAGE");
  if (!source.isEmpty()) title += QStringLiteral(" \u00b7 ") + source;
  if (lines.size() > 1)
    title += QStringLiteral(" \u00b7 ") + QObject::tr("equal lines drawn apart");
  double right = rect.right();
  const std::size_t count = std::min(lines.size(), static_cast<std::size_t>(kMostChips));
  const double chips = static_cast<double>(count) * 16;
  const bool room = rect.width() > chips + 120;
  if (room) right -= chips + 8;
  put_elided(painter, QRectF(rect.left(), rect.top(), right - rect.left(), rect.height()),
             Qt::AlignVCenter, title, font, theme.muted, texts);
  if (!room) return;
  for (std::size_t index = 0; index < count; ++index)
    paint_chip(
        painter,
        QPointF(rect.right() - chips + static_cast<double>(index) * 16, rect.center().y() - 7), 14,
        lines[index].stage, theme, texts);
}

void paint_held_figure(QPainter& painter, const QRectF& rect, const LaneRows& rows,
                       const QString& source, const Theme& theme, const TimeAxis& axis,
                       TextLog* texts) {
  const std::vector<HeldLine> lines = held_lines(rows);
  painter.save();
  painter.translate(rect.topLeft());
  paint_held_header(painter, QRectF(16, 0, axis.left + axis.width - 16, kHeldHeader), lines, source,
                    theme, texts);
  const QSize size(static_cast<int>(rect.width()), static_cast<int>(rect.height() - kHeldHeader));
  QCustomPlot plot;
  plot.setViewport(QRect(QPoint(0, 0), size));
  fill_held_plot(plot, lines, rows.end, theme, axis, rect.width());
  play_recording(painter, {0, kHeldHeader}, recorded(plot, size));
  painter.restore();
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/memory/memory_curve.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/memory/memory_paint.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/qcustomplot_header.h"
#include "app/views/shared/paint/recorded_plot.h"

namespace parallelarium {
namespace {

struct Curve {
  Q_DECLARE_TR_FUNCTIONS(memory)
};

constexpr std::size_t kMostPoints = 4000;
constexpr std::array<Category, kCategories> kStack = {Category::kParameters, Category::kGradients,
                                                      Category::kOptimizer, Category::kActivations,
                                                      Category::kBuffers};

double seconds(Nanoseconds time) { return double(time.count()) / 1e9; }

std::int64_t sum(const std::int64_t (&bytes)[kCategories]) {
  std::int64_t all = 0;
  for (const std::int64_t part : bytes) all += part;
  return all;
}

// Of each of kMostPoints stretches of equal length, the fullest moment.
std::vector<MemoryPoint> thinned(std::vector<MemoryPoint> points, Nanoseconds end) {
  if (points.size() <= kMostPoints || end.count() <= 0) return points;
  std::vector<MemoryPoint> kept{points.front()};
  std::int64_t stretch = -1;
  for (const MemoryPoint& point : points) {
    const std::int64_t now =
        std::int64_t(double(point.time.count()) / double(end.count()) * double(kMostPoints));
    if (now != stretch || sum(point.bytes) > sum(kept.back().bytes)) {
      if (now == stretch) kept.pop_back();
      kept.push_back(point);
    }
    stretch = now;
  }
  return kept;
}

std::vector<MemoryCurve::Part> parts_of(const RankProgram& rank, const RankTimeline& times) {
  Nanoseconds first_back{-1}, last_forward{0}, last_back{0}, update{-1}, end{0};
  for (std::size_t op = 0; op < rank.ops.size() && op < times.spans.size(); ++op) {
    const Op& one = rank.ops[op];
    const Span& span = times.spans[op];
    end = std::max(end, span.end);
    if (one.kind != OpKind::kCompute) continue;
    if (one.phase == Phase::kUpdate) {
      if (one.piece != Piece::kZeroGrad && (update.count() < 0 || span.begin < update))
        update = span.begin;
      continue;
    }
    // What belongs to no action, such as adding up a shard of gradients, is neither.
    if (one.action < 0 || std::size_t(one.action) >= rank.actions.size()) continue;
    if (rank.actions[std::size_t(one.action)].kind != ActionKind::kForward) {
      if (first_back.count() < 0 || span.begin < first_back) first_back = span.begin;
      last_back = std::max(last_back, span.end);
    } else {
      last_forward = std::max(last_forward, span.end);
    }
  }
  if (first_back.count() < 0) return {};
  std::vector<MemoryCurve::Part> parts;
  const auto add = [&](const QString& name, Nanoseconds from, Nanoseconds to) {
    if (to > from) parts.push_back({name, {from, to}});
  };
  add(Curve::tr("forward"), Nanoseconds(0), std::min(first_back, last_forward));
  add(Curve::tr("forward and backward in turn"), first_back, last_forward);
  add(Curve::tr("backward"), std::max(first_back, last_forward), last_back);
  if (update.count() >= 0) add(Curve::tr("update"), std::max(update, last_back), end);
  return parts;
}

// Peak, when it is, what was pinned, and the limit: as many of them as have room, never cut.
QString peak_text(const MemoryCurve& curve, const QFontMetricsF& metrics, double room) {
  const QString dot = QStringLiteral(" \u00b7 ");
  const QString peak = Curve::tr("peak %1").arg(bytes_text(curve.peak.bytes));
  const QString when = QLatin1Char(' ') + sentence(curve.peak.when);
  QString pinned, limit;
  if (!curve.pinned.empty())
    pinned = dot + Curve::tr("pinned %1").arg(bytes_text(curve.pinned_peak));
  if (curve.limit > 0) limit = dot + Curve::tr("limit %1").arg(bytes_text(curve.limit));
  for (const QString& text :
       {peak + when + pinned + limit, peak + when + pinned, peak + pinned + limit, peak + pinned})
    if (metrics.horizontalAdvance(text) + 4 <= room) return text;
  return peak;
}

class ByteTicker : public QCPAxisTicker {
 public:
  explicit ByteTicker(ByteScale scale) : scale_(std::move(scale)) {}
  void generate(const QCPRange& range, const QLocale& locale, QChar, int, QVector<double>& ticks,
                QVector<double>* sub_ticks, QVector<QString>* labels) override {
    ticks.clear();
    if (labels) labels->clear();
    for (double at = 0; at <= range.upper; at += scale_.step) {
      ticks.append(at);
      if (labels) labels->append(scale_.label(at, locale));
    }
    if (sub_ticks) sub_ticks->clear();
  }

 private:
  ByteScale scale_;
};

class NoTicks : public QCPAxisTicker {
  void generate(const QCPRange&, const QLocale&, QChar, int, QVector<double>& ticks,
                QVector<double>* sub_ticks, QVector<QString>* labels) override {
    ticks.clear();
    if (sub_ticks) sub_ticks->clear();
    if (labels) labels->clear();
  }
};

}  // namespace

MemoryCurve memory_curve(const Program& program, const Timeline& timeline, int rank_index,
                         std::int64_t limit) {
  MemoryCurve curve;
  curve.limit = limit;
  if (rank_index < 0 || rank_index >= int(program.ranks.size()) ||
      rank_index >= int(timeline.ranks.size()))
    return curve;
  curve.end = timeline.duration;
  curve.points = thinned(memory_over_time(program, timeline, rank_index), timeline.duration);
  curve.peak = memory_peak(program, timeline, rank_index);
  curve.most = double(curve.peak.bytes);
  for (const MemoryPoint& point : curve.points)
    curve.most = std::max(curve.most, double(sum(point.bytes)));
  curve.parts =
      parts_of(program.ranks[std::size_t(rank_index)], timeline.ranks[std::size_t(rank_index)]);
  return curve;
}

void MemoryCurve::pin(const MemoryCurve& earlier) {
  pinned.clear();
  for (const MemoryPoint& point : earlier.points) pinned.push_back({point.time, sum(point.bytes)});
  if (!pinned.empty()) pinned.push_back({earlier.end, pinned.back().bytes});
  pinned_peak = earlier.peak.bytes;
  most = std::max(most, earlier.most);
}

CategoryBytes held_at(const MemoryCurve& curve, Nanoseconds time) {
  CategoryBytes held{};
  auto after =
      std::upper_bound(curve.points.begin(), curve.points.end(), time,
                       [](Nanoseconds at, const MemoryPoint& point) { return at < point.time; });
  if (after == curve.points.begin()) return held;
  std::copy_n((after - 1)->bytes, kCategories, held.begin());
  return held;
}

std::optional<HeldLevel> level_at(const CategoryBytes& held, double bytes) {
  if (bytes < 0) return std::nullopt;
  auto above = std::int64_t(bytes);
  for (const Category category : kStack) {
    if (above < held[std::size_t(category)]) return HeldLevel{category, above};
    above -= held[std::size_t(category)];
  }
  return std::nullopt;
}

double curve_top(const MemoryCurve& curve) {
  return (limit_in_sight(curve.limit, curve.most) ? std::max(curve.most, double(curve.limit))
                                                  : curve.most) *
         1.06;
}

void set_memory_range(QCustomPlot& plot, const TimeAxis& axis, double width) {
  QCPAxisRect* rect = plot.axisRect();
  rect->setAutoMargins(QCP::msNone);
  rect->setMinimumSize(10, 10);
  const int right = int(std::lround(width - axis.left - axis.width));
  rect->setMargins(QMargins(int(std::lround(axis.left)), 4, std::max(0, right), 2));
  plot.xAxis->setRange(seconds(axis.range.begin), seconds(axis.range.end));
}

void fill_memory_plot(QCustomPlot& plot, const MemoryCurve& curve, bool observed,
                      const Theme& theme, const TimeAxis& axis, double width) {
  plot.clearGraphs();
  plot.setBackground(QBrush(theme.surface));
  std::vector<double> below(curve.points.size(), 0);
  QCPGraph* under = nullptr;
  for (const Category category : kStack) {
    QCPGraph* graph = plot.addGraph();
    graph->setLineStyle(QCPGraph::lsLine);
    graph->setAdaptiveSampling(false);
    const QColor color = theme.memory(category);
    graph->setPen(QPen(color, observed ? 0 : 1));
    graph->setBrush(observed ? color : memory_tint(theme, category));
    QVector<QCPGraphData> data;
    bool any = false;
    double before = 0;
    for (std::size_t at = 0; at < curve.points.size(); ++at) {
      const double part = double(curve.points[at].bytes[std::size_t(category)]);
      any = any || part > 0;
      const double time = seconds(curve.points[at].time);
      if (at > 0) data.append(QCPGraphData(time, before));  // a step, not a slope
      below[at] += part;
      before = below[at];
      data.append(QCPGraphData(time, before));
    }
    data.append(QCPGraphData(seconds(curve.end), before));
    graph->data()->set(data, true);
    if (under) graph->setChannelFillGraph(under);
    if (!any) {  // no line along the top of the category below
      plot.removeGraph(graph);
      continue;
    }
    under = graph;
  }
  if (!curve.pinned.empty()) {
    QCPGraph* outline = plot.addGraph();
    outline->setLineStyle(QCPGraph::lsStepLeft);
    outline->setAdaptiveSampling(false);
    outline->setPen(QPen(theme.text, 1));
    QVector<QCPGraphData> data;
    for (const MemoryCurve::Level& level : curve.pinned)
      data.append(QCPGraphData(seconds(level.time), double(level.bytes)));
    outline->data()->set(data, true);
  }
  if (limit_in_sight(curve.limit, curve.most)) {
    QCPGraph* limit = plot.addGraph();
    limit->setPen(QPen(theme.mark, 1, Qt::DashLine));
    limit->setData({0, seconds(curve.end)}, {double(curve.limit), double(curve.limit)}, true);
  }
  for (QCPAxis* side : {plot.xAxis, plot.yAxis}) {
    side->setBasePen(Qt::NoPen);
    side->setTickPen(Qt::NoPen);
    side->setSubTickPen(Qt::NoPen);
    side->setTickLabelFont(theme.font(11));
    side->setTickLabelColor(theme.muted);
    side->grid()->setPen(QPen(theme.grid, 0));
    side->grid()->setZeroLinePen(QPen(theme.grid, 0));
    side->grid()->setSubGridVisible(false);
  }
  plot.xAxis->setTickLabels(false);
  plot.xAxis->setTicker(QSharedPointer<NoTicks>::create());
  plot.yAxis->setTickLabelPadding(8);
  const double top = curve_top(curve);
  const double height = plot.viewport().height();
  plot.yAxis->setTicker(
      QSharedPointer<ByteTicker>::create(byte_scale(top, std::max(2, int(height / 34)))));
  plot.yAxis->setRange(0, top);
  set_memory_range(plot, axis, width);
}

void paint_curve_frame(QPainter& painter, const QRectF& rect, const MemoryCurve& curve,
                       const QString& title, const Theme& theme, const TimeAxis& axis,
                       TextLog* texts) {
  const QFont small = theme.font(11);
  const QFontMetricsF metrics(small);
  const QRectF head(rect.left(), rect.top(), rect.width(), kCurveCaption);
  QFont caps = theme.caps();
  caps.setCapitalization(QFont::MixedCase);
  const double taken = QFontMetricsF(caps).horizontalAdvance(title) + 20;
  const QString peak = peak_text(curve, metrics, head.width() - taken);
  const double left = std::min(taken, head.width() - metrics.horizontalAdvance(peak) - 8);
  paint_caption(painter, QRectF(head.left(), head.top(), left, head.height()), title, theme, texts);
  put_text(painter, head.adjusted(left, 0, 0, 0), Qt::AlignVCenter | Qt::AlignRight, peak, small,
           theme.mark, texts);
  const double y = rect.bottom() - kCurveFoot;
  double free = axis.left;
  for (const MemoryCurve::Part& part : curve.parts) {
    const double from = std::max(axis.x_of(part.range.begin), axis.left);
    const double to = std::min(axis.x_of(part.range.end), axis.left + axis.width);
    if (to - from < 4) continue;
    painter.fillRect(QRectF(from + 1, y + 1, to - from - 2, 1), theme.control_line);
    const double wide = metrics.horizontalAdvance(part.name) + 8;
    const double center = std::max((from + to) / 2, free + wide / 2);
    if (to - from < wide && part.range.end < curve.end) continue;
    const double x = std::min(center, axis.left + axis.width - wide / 2 + 4);
    if (x - wide / 2 < free) continue;
    put_text(painter, QRectF(x - wide / 2, y + 3, wide, 15), Qt::AlignCenter, part.name, small,
             theme.muted, texts);
    free = x + wide / 2;
  }
}

void paint_memory_curve(QPainter& painter, const QRectF& rect, const MemoryCurve& curve,
                        bool observed, const QString& title, const Theme& theme,
                        const TimeAxis& axis, TextLog* texts) {
  painter.save();
  painter.translate(rect.topLeft());
  const QRectF own(0, 0, rect.width(), rect.height());
  paint_curve_frame(painter, own.adjusted(16, 0, -16, 0), curve, title, theme, axis, texts);
  const QSize size(int(rect.width()), int(rect.height() - kCurveCaption - kCurveFoot));
  QCustomPlot plot;
  plot.setViewport(QRect(QPoint(0, 0), size));
  fill_memory_plot(plot, curve, observed, theme, axis, rect.width());
  play_recording(painter, {0, kCurveCaption}, recorded(plot, size));
  painter.restore();
}

}  // namespace parallelarium

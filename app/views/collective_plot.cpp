// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/collective_plot.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/figures.h"
#include "app/views/collective_paint.h"
#include "app/views/paint_tools.h"
#include "app/views/qcustomplot_header.h"

namespace parallelarium {
namespace {

struct Words {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

constexpr std::int64_t kMostSweptMemory = std::int64_t{512} << 20;
// Above: half of a tick's label, which QCustomPlot leaves out where it has no room.
constexpr double kButtonRoom = 64;
constexpr double kLeft = 46, kBottom = 38, kTop = 10, kRight = 8;

const Qt::PenStyle kDashes[] = {Qt::SolidLine, Qt::DashLine, Qt::DotLine, Qt::DashDotLine};

QCPScatterStyle marker_of(std::size_t line, const Theme& theme) {
  const QCPScatterStyle::ScatterShape shapes[] = {
      QCPScatterStyle::ssDisc, QCPScatterStyle::ssSquare, QCPScatterStyle::ssTriangle,
      QCPScatterStyle::ssCross};
  const bool open = line == 1 || line == 2;
  return {shapes[line % 4], QPen(theme.text, 1), QBrush(open ? theme.surface : theme.text), 6.5};
}

// "4 Ki", "2 Mi": as the ticks of the size axis say it.
QString size_tick(double bytes) {
  const char* units[] = {"", " Ki", " Mi", " Gi"};
  int unit = 0;
  while (bytes >= 1024 && unit < 3) bytes /= 1024, ++unit;
  return number_text(bytes) + QLatin1String(units[unit]);
}

// Ticks at every third power of two.
class SizeTicker : public QCPAxisTicker {
 public:
  void generate(const QCPRange& range, const QLocale&, QChar, int, QVector<double>& ticks,
                QVector<double>* sub_ticks, QVector<QString>* labels) override {
    ticks.clear();
    if (sub_ticks) sub_ticks->clear();
    if (labels) labels->clear();
    for (double bytes = 4096; bytes <= range.upper * 1.01; bytes *= 8) {
      if (bytes < range.lower * 0.99) continue;
      ticks.append(bytes);
      if (labels) labels->append(size_tick(bytes));
    }
  }
};

class RateTicker : public QCPAxisTicker {
 public:
  void generate(const QCPRange& range, const QLocale&, QChar, int, QVector<double>& ticks,
                QVector<double>* sub_ticks, QVector<QString>* labels) override {
    ticks.clear();
    if (sub_ticks) sub_ticks->clear();
    if (labels) labels->clear();
    // A single decade would show one or two figures: then 2 and 5 get theirs too.
    const bool fine = range.upper < range.lower * 101;
    for (double power = -6; power <= 4; ++power) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        const double rate = digit * std::pow(10, power);
        if ((digit > 1 && !fine) || rate < range.lower * 0.99 || rate > range.upper * 1.01)
          continue;
        ticks.append(rate);
        if (labels) labels->append(QLocale().toString(rate, 'g', 3));
      }
    }
  }
};

QString title_of(const CollectiveSpec& spec, const std::string& algorithm) {
  CollectiveSpec named = spec;
  named.algorithm = algorithm;
  return algorithm_title(named);
}

struct Axes {
  double lower = 1, upper = 10;  // GB/s, powers of ten
};
Axes axes_of(const CollectivePicture& picture) {
  double least = 1e9, most = 1e-9;
  const auto meet = [&](double rate) {
    if (rate <= 0) return;
    least = std::min(least, rate / 1e9);
    most = std::max(most, rate / 1e9);
  };
  if (picture.lines && !picture.hides_predicted())
    for (const BandwidthLine& line : picture.lines->lines)
      for (const auto& point : line.points) meet(point.second);
  if (!picture.hides_run())
    for (const SweepPoint& point : picture.sweep) meet(point.bus_bandwidth);
  if (most < least) return {0.1, 10};
  Axes axes{std::pow(10, std::floor(std::log10(least))),
            std::pow(10, std::ceil(std::log10(most * 1.05)))};
  if (axes.upper <= axes.lower) axes.upper = axes.lower * 10;
  return axes;
}

void fill_plot(QCustomPlot& plot, const CollectivePicture& picture, const Theme& theme) {
  plot.setBackground(Qt::NoBrush);
  plot.axisRect()->setAutoMargins(QCP::msNone);
  plot.axisRect()->setMargins(QMargins(int(kLeft), int(kTop), int(kRight), int(kBottom) - 18));
  for (QCPAxis* axis : {plot.xAxis, plot.yAxis}) {
    axis->setScaleType(QCPAxis::stLogarithmic);
    axis->setBasePen(Qt::NoPen);
    axis->setTickPen(Qt::NoPen);
    axis->setSubTickPen(Qt::NoPen);
    axis->setTickLabelFont(theme.font(11));
    axis->setTickLabelColor(theme.muted);
    axis->setTickLabelPadding(5);
    axis->grid()->setPen(QPen(theme.grid, 0));
    axis->grid()->setSubGridVisible(false);
    axis->grid()->setZeroLinePen(Qt::NoPen);
  }
  plot.xAxis->setTicker(QSharedPointer<SizeTicker>::create());
  plot.yAxis->setTicker(QSharedPointer<RateTicker>::create());
  plot.xAxis->setRange(double(kLeastSweepBytes) * 0.8, double(kMostSweepBytes) * 1.25);
  const Axes axes = axes_of(picture);
  plot.yAxis->setRange(axes.lower * 0.97, axes.upper * 1.03);
  const double chosen = double(picture.plan->collective.spec.bytes);
  if (plot.xAxis->range().contains(chosen)) {
    QCPGraph* here = plot.addGraph();
    here->setPen(QPen(theme.mark, 1));
    here->setData({chosen, chosen}, {axes.lower, axes.upper}, true);
  }
  if (!picture.lines) return;
  for (std::size_t at = 0; at < picture.lines->lines.size(); ++at) {
    const BandwidthLine& line = picture.lines->lines[at];
    if (!picture.hides_predicted()) {
      QCPGraph* graph = plot.addGraph();
      graph->setPen(QPen(theme.text, 1, kDashes[at % 4]));
      for (const auto& [bytes, rate] : line.points) graph->addData(double(bytes), rate / 1e9);
    }
    if (picture.hides_run()) continue;
    QCPGraph* marks = plot.addGraph();
    marks->setLineStyle(QCPGraph::lsNone);
    marks->setScatterStyle(marker_of(at, theme));
    for (const SweepPoint& point : picture.sweep)
      if (point.spec.algorithm == line.algorithm)
        marks->addData(double(point.spec.bytes), point.bus_bandwidth / 1e9);
  }
}

void paint_marker(QPainter& painter, const QPointF& at, std::size_t line, const Theme& theme) {
  painter.setPen(QPen(theme.text, 1));
  painter.setBrush(line == 1 || line == 2 ? theme.surface : theme.text);
  if (line == 0) painter.drawEllipse(at, 3, 3);
  if (line == 1) painter.drawRect(QRectF(at.x() - 2.8, at.y() - 2.8, 5.6, 5.6));
  if (line == 2)
    painter.drawPolygon(
        QPolygonF{at + QPointF(0, -3.4), at + QPointF(3, 2.6), at + QPointF(-3, 2.6)});
  if (line == 3) {
    painter.drawLine(at + QPointF(-3, -3), at + QPointF(3, 3));
    painter.drawLine(at + QPointF(-3, 3), at + QPointF(3, -3));
  }
}

}  // namespace

bool BandwidthLines::of(const CollectiveChoice& other) const {
  CollectiveChoice same = other;
  same.spec.bytes = choice.spec.bytes;
  return same == choice;
}

std::vector<std::string> compared_algorithms(const CollectiveSpec& spec) {
  // The textbook's first, so that the plot tells its story: few steps against few bytes.
  static const char* const kTelling[] = {"ring",
                                         "tree",
                                         "direct",
                                         "halving-doubling",
                                         "recursive-halving",
                                         "recursive-doubling",
                                         "bruck",
                                         "pairwise",
                                         "scatter-all-gather"};
  std::vector<std::string> names{spec.algorithm};
  for (const char* name : kTelling) {
    CollectiveSpec other = spec;
    other.algorithm = name;
    other.segments = other.node_size = 0;
    if (name == spec.algorithm || names.size() >= kMostLines) continue;
    if (find_algorithm(spec.kind, name) && make_collective(other)) names.emplace_back(name);
  }
  return names;
}

BandwidthLines bandwidth_lines(const CollectiveChoice& choice) {
  BandwidthLines lines;
  lines.choice = choice;
  const Machine machine = this_computer();
  const std::int64_t factor = choice.spec.ranks > 8 ? 4 : 2;
  for (const std::string& name : compared_algorithms(choice.spec)) {
    BandwidthLine& line = lines.lines.emplace_back();
    line.algorithm = name;
    for (std::int64_t bytes = kLeastSweepBytes; bytes <= kMostSweepBytes; bytes *= factor) {
      CollectiveChoice at = choice;
      at.spec.algorithm = name;
      at.spec.bytes = bytes;
      at.spec.counts.clear();
      if (name != choice.spec.algorithm) at.spec.segments = at.spec.node_size = 0;
      const Result<Collective> made = make_collective(at.spec);
      if (!made) continue;
      const Network network = network_for(at, made->spec.node_size, machine);
      if (check_network(network, at.spec.ranks))
        line.points.emplace_back(bytes, cost_of(*made, network).bus_bandwidth);
    }
  }
  const BandwidthLine *small = nullptr, *large = nullptr;
  for (const BandwidthLine& line : lines.lines) {
    if (line.points.empty()) continue;
    if (!small || line.points.front().second > small->points.front().second) small = &line;
    if (!large || line.points.back().second > large->points.back().second) large = &line;
  }
  if (!small) return lines;
  lines.quickest_small = small->algorithm;
  lines.quickest_large = large->algorithm;
  if (small == large) return lines;
  CollectiveChoice first = choice, second = choice;
  first.spec.algorithm = small->algorithm;
  second.spec.algorithm = large->algorithm;
  first.spec.segments = second.spec.segments = 0;
  const Result<Collective> made = make_collective(first.spec);
  if (made)
    lines.crossover =
        crossover_bytes(first.spec, second.spec, network_for(first, made->spec.node_size, machine));
  return lines;
}

std::vector<CollectiveSpec> sweep_specs(const CollectiveSpec& spec) {
  std::vector<CollectiveSpec> specs;
  for (std::int64_t bytes = kLeastSweepBytes; bytes <= kMostSweepBytes; bytes *= 4)
    for (const std::string& name : compared_algorithms(spec)) {
      if (bytes * spec.ranks > kMostSweptMemory) continue;
      CollectiveSpec at = spec;
      at.algorithm = name;
      at.bytes = bytes;
      at.counts.clear();
      if (name != spec.algorithm) at.segments = at.node_size = 0;
      if (make_collective(at)) specs.push_back(std::move(at));
    }
  return specs;
}

QString crossover_text(const BandwidthLines& lines) {
  if (lines.quickest_small.empty() || lines.lines.size() < 2) return {};
  const QString small = title_of(lines.choice.spec, lines.quickest_small).toLower();
  if (lines.quickest_small == lines.quickest_large)
    return Words::tr("predicted: %1 is quickest at every size").arg(small);
  const QString large = title_of(lines.choice.spec, lines.quickest_large).toLower();
  return lines.crossover
             ? Words::tr("predicted: %1 for small messages, %2 from %3")
                   .arg(small, large, bytes_text(*lines.crossover))
             : Words::tr("predicted: %1 for small messages, %2 for large").arg(small, large);
}

void paint_plot(QPainter& painter, const CollectivePicture& picture, const CollectiveLayout& layout,
                const Theme& theme, TextLog* texts) {
  const QRectF rect = layout.plot;
  if (painter.hasClipping() &&
      !painter.clipBoundingRect().intersects(rect.united(layout.plot_head)))
    return;
  QFont caps = theme.caps();
  caps.setCapitalization(QFont::MixedCase);
  const QString title = Words::tr("BUS BANDWIDTH BY MESSAGE SIZE");
  // The window has a button at its end.
  put_elided(painter, layout.plot_head.adjusted(0, 0, -kButtonRoom, 0), Qt::AlignVCenter, title,
             caps, theme.muted, texts);
  if (rect.height() < 90 || rect.width() < 160) return;
  const QSize size(int(rect.width()), int(rect.height()) - 18);
  QPicture fresh;
  QPicture* drawn = &fresh;
  const QString key =
      QStringLiteral("%1 %2 %3 %4 %5 %6")
          .arg(size.width())
          .arg(size.height())
          .arg(theme.dark)
          .arg(picture.sweep.size())
          .arg(quintptr(picture.lines.get()))
          .arg(picture.plan->collective.spec.bytes) +
      QString::number(int(picture.hides_predicted()) + 2 * int(picture.hides_run()));
  if (picture.plot_cache) drawn = &picture.plot_cache->picture;
  if (!picture.plot_cache || picture.plot_cache->key != key) {
    QCustomPlot plot;
    plot.setViewport(QRect(QPoint(0, 0), size));
    fill_plot(plot, picture, theme);
    *drawn = recorded(plot, size);
    if (picture.plot_cache) picture.plot_cache->key = key;
  }
  play_recording(painter, rect.topLeft(), *drawn);
  painter.setRenderHint(QPainter::Antialiasing);
  put_text(painter, QRectF(rect.left(), rect.top() - 12, 40, 14), Qt::AlignVCenter,
           QStringLiteral("GB/s"), theme.font(11), theme.muted, texts);
  if (!picture.lines) return;
  const auto& lines = picture.lines->lines;
  const QFont font = theme.font(11);
  double widest = 0;
  for (const BandwidthLine& line : lines)
    widest = std::max(widest, QFontMetricsF(font).horizontalAdvance(
                                  title_of(picture.plan->collective.spec, line.algorithm)));
  const QRectF key_rect(rect.right() - kRight - widest - 46,
                        rect.top() + size.height() - 24 - 15.0 * double(lines.size()), widest + 46,
                        15.0 * double(lines.size()));
  painter.fillRect(key_rect, theme.surface);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const double y = key_rect.top() + 15 * double(at) + 7.5;
    painter.setPen(QPen(theme.text, 1, kDashes[at % 4]));
    painter.drawLine(QPointF(key_rect.left(), y), QPointF(key_rect.left() + 30, y));
    paint_marker(painter, QPointF(key_rect.left() + 15, y), at, theme);
    put_text(painter, QRectF(key_rect.left() + 38, y - 7.5, widest + 8, 15), Qt::AlignVCenter,
             title_of(picture.plan->collective.spec, lines[at].algorithm), font, theme.muted,
             texts);
  }
  put_elided(painter, QRectF(rect.left(), rect.bottom() - 16, rect.width(), 16), Qt::AlignVCenter,
             picture.hides_predicted() ? QString() : crossover_text(*picture.lines), font,
             theme.muted, texts);
}

QString plot_sentence(const CollectivePicture& picture) {
  if (!picture.lines) return {};
  return Words::tr("Bus bandwidth by message size: %1.")
      .arg(picture.hides_predicted() ? Words::tr("hidden") : crossover_text(*picture.lines));
}

QStringList plot_lines_at(const CollectivePicture& picture, const CollectiveLayout& layout,
                          QPointF point) {
  if (!picture.lines || !layout.plot.contains(point)) return {};
  const double left = layout.plot.left() + kLeft, right = layout.plot.right() - kRight;
  const double share = (point.x() - left) / (right - left);
  if (share < -0.02 || share > 1.02) return {};
  const double low = std::log2(double(kLeastSweepBytes) * 0.8),
               high = std::log2(double(kMostSweepBytes) * 1.25);
  const double wanted = low + share * (high - low);
  QStringList lines;
  std::int64_t nearest = kLeastSweepBytes;
  for (const BandwidthLine& line : picture.lines->lines)
    for (const auto& [bytes, rate] : line.points)
      if (std::abs(std::log2(double(bytes)) - wanted) <
          std::abs(std::log2(double(nearest)) - wanted))
        nearest = bytes;
  lines << bytes_text(nearest);
  for (const BandwidthLine& line : picture.lines->lines) {
    QString text = title_of(picture.plan->collective.spec, line.algorithm) + QLatin1Char(':');
    for (const auto& [bytes, rate] : line.points)
      if (bytes == nearest && !picture.hides_predicted())
        text += QLatin1Char(' ') + Words::tr("predicted %1").arg(rate_text(rate));
    for (const SweepPoint& seen : picture.sweep)
      if (seen.spec.bytes == nearest && seen.spec.algorithm == line.algorithm &&
          !picture.hides_run())
        text += QStringLiteral(", ") + source_text(seen.source) + QLatin1Char(' ') +
                rate_text(seen.bus_bandwidth);
    lines << text;
  }
  return lines;
}

}  // namespace parallelarium

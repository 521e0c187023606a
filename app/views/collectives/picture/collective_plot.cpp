// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/collectives/picture/collective_plot.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/collectives/picture/collective_paint.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/qcustomplot_header.h"

namespace parallelarium {
namespace {

struct CollectivePlotWords {
  Q_DECLARE_TR_FUNCTIONS(collectives)
};

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

QCPScatterStyle mark_of_run(const Theme& theme) {
  return {QCPScatterStyle::ssDiamond, QPen(theme.mark, 1), QBrush(theme.mark), 9};
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
    for (double bytes = 1; bytes <= range.upper * 1.01; bytes *= 8) {
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

// The run that is shown, as one more measured point; it is of the first line's algorithm.
std::optional<MeasuredPoint> point_of_run(const CollectivePicture& picture) {
  if (!picture.run || picture.stale || picture.hides_run()) return std::nullopt;
  const CollectiveSpec& spec = picture.run->plan->choice.spec;
  const CollectiveObservation& seen = picture.run->seen;
  if (spec.bytes <= 0 || !(seen.bus_bandwidth > 0)) return std::nullopt;
  return MeasuredPoint{spec, seen.source, seen.seconds, seen.bus_bandwidth};
}

// Bytes: those of a sweep, and the chosen size where it lies beyond them.
struct SizeRange {
  double lower = double(kLeastSweepBytes), upper = double(kMostSweepBytes);
};
SizeRange sizes_of(const CollectivePicture& picture) {
  SizeRange range;
  const auto chosen = double(picture.plan->collective.spec.bytes);
  if (chosen > 0) range = {std::min(range.lower, chosen), std::max(range.upper, chosen)};
  return {range.lower * 0.8, range.upper * 1.25};
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
    for (const MeasuredPoint& point : picture.sweep) meet(point.bus_bandwidth);
  if (const auto run = point_of_run(picture)) meet(run->bus_bandwidth);
  if (most < least) return {0.1, 10};
  Axes axes{std::pow(10, std::floor(std::log10(least))),
            std::pow(10, std::ceil(std::log10(most * 1.05)))};
  if (axes.upper <= axes.lower) axes.upper = axes.lower * 10;
  return axes;
}

// Where a point lies in the rectangle of the axes.
QPointF place_of(const CollectivePicture& picture, const MeasuredPoint& point, const QRectF& axes) {
  const SizeRange sizes = sizes_of(picture);
  const Axes rates = axes_of(picture);
  const auto share = [](double value, double lower, double upper) {
    return std::log(value / lower) / std::log(upper / lower);
  };
  return {axes.left() + axes.width() * share(double(point.spec.bytes), sizes.lower, sizes.upper),
          axes.bottom() - axes.height() * share(point.bus_bandwidth / 1e9, rates.lower * 0.97,
                                                rates.upper * 1.03)};
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
  const SizeRange sizes = sizes_of(picture);
  plot.xAxis->setRange(sizes.lower, sizes.upper);
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
    for (const MeasuredPoint& point : picture.sweep)
      if (point.spec.algorithm == line.algorithm)
        marks->addData(double(point.spec.bytes), point.bus_bandwidth / 1e9);
  }
  if (const auto run = point_of_run(picture)) {
    QCPGraph* mark = plot.addGraph();
    mark->setLineStyle(QCPGraph::lsNone);
    mark->setScatterStyle(mark_of_run(theme));
    mark->addData(double(run->spec.bytes), run->bus_bandwidth / 1e9);
  }
}

// Whether marks of this algorithm stand in the plot: the key shows a mark only then.
bool is_measured(const CollectivePicture& picture, const std::string& algorithm) {
  return !picture.hides_run() &&
         std::any_of(picture.sweep.begin(), picture.sweep.end(),
                     [&](const MeasuredPoint& point) { return point.spec.algorithm == algorithm; });
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

// The key, which makes room for the run's mark where that lies as low.
void paint_key(QPainter& painter, const CollectivePicture& picture,
               const std::optional<MeasuredPoint>& run, const QSize& size, const QRectF& rect,
               const Theme& theme, TextLog* texts) {
  const auto& lines = picture.lines->lines;
  const QFont font = theme.font(11);
  double widest = 0;
  for (const BandwidthLine& line : lines)
    widest = std::max(widest, QFontMetricsF(font).horizontalAdvance(algorithm_title(
                                  picture.plan->collective.spec.kind, line.algorithm)));
  const QString this_run = CollectivePlotWords::tr("this run");
  if (run) widest = std::max(widest, QFontMetricsF(font).horizontalAdvance(this_run));
  const double rows = double(lines.size()) + (run ? 1 : 0);
  QRectF key_rect(rect.right() - kRight - widest - 46,
                  rect.top() + size.height() - 24 - 15.0 * rows, widest + 46, 15.0 * rows);
  const QRectF axes(rect.left() + kLeft, rect.top() + kTop, size.width() - kLeft - kRight,
                    size.height() - kTop - (kBottom - 18));
  if (run) {
    const QPointF mark = place_of(picture, *run, axes);
    if (key_rect.adjusted(-8, -8, 8, 8).contains(mark))
      key_rect.moveRight(std::max(mark.x() - 12, axes.left() + key_rect.width() + 4));
  }
  painter.fillRect(key_rect, theme.surface);
  for (std::size_t at = 0; at < lines.size(); ++at) {
    const double y = key_rect.top() + 15 * double(at) + 7.5;
    painter.setPen(QPen(theme.text, 1, kDashes[at % 4]));
    painter.drawLine(QPointF(key_rect.left(), y), QPointF(key_rect.left() + 30, y));
    if (is_measured(picture, lines[at].algorithm))
      paint_marker(painter, QPointF(key_rect.left() + 15, y), at, theme);
    put_text(painter, QRectF(key_rect.left() + 38, y - 7.5, widest + 8, 15), Qt::AlignVCenter,
             algorithm_title(picture.plan->collective.spec.kind, lines[at].algorithm), font,
             theme.muted, texts);
  }
  if (run) {
    const double y = key_rect.bottom() - 7.5;
    painter.setPen(QPen(theme.mark, 1));
    painter.setBrush(theme.mark);
    const QPointF at(key_rect.left() + 15, y);
    painter.drawPolygon(QPolygonF{at + QPointF(0, -4.5), at + QPointF(4.5, 0), at + QPointF(0, 4.5),
                                  at + QPointF(-4.5, 0)});
    put_text(painter, QRectF(key_rect.left() + 38, y - 7.5, widest + 8, 15), Qt::AlignVCenter,
             this_run, font, theme.muted, texts);
  }
}

// The plot without its words, from the cache where nothing that it shows has changed.
QPicture plot_of(const CollectivePicture& picture, const std::optional<MeasuredPoint>& run,
                 const QSize& size, const Theme& theme) {
  const QString key = QStringLiteral("%1 %2 %3 %4 %5 %6")
                          .arg(size.width())
                          .arg(size.height())
                          .arg(theme.dark)
                          .arg(picture.sweep.size())
                          .arg(quintptr(picture.lines.get()))
                          .arg(picture.plan->collective.spec.bytes) +
                      QStringLiteral(" %1 %2")
                          .arg(int(picture.hides_predicted()) + 2 * int(picture.hides_run()))
                          .arg(run ? run->bus_bandwidth : 0, 0, 'g', 17);
  if (picture.plot_cache && picture.plot_cache->key == key) return picture.plot_cache->picture;
  QCustomPlot plot;
  plot.setViewport(QRect(QPoint(0, 0), size));
  fill_plot(plot, picture, theme);
  const QPicture drawn = recorded(plot, size);
  if (picture.plot_cache) {
    picture.plot_cache->picture = drawn;
    picture.plot_cache->key = key;
  }
  return drawn;
}

}  // namespace

void paint_plot(QPainter& painter, const CollectivePicture& picture, const CollectiveLayout& layout,
                const Theme& theme, TextLog* texts) {
  const QRectF rect = layout.plot;
  if (painter.hasClipping() &&
      !painter.clipBoundingRect().intersects(rect.united(layout.plot_head)))
    return;
  QFont caps = theme.caps();
  caps.setCapitalization(QFont::MixedCase);
  const QString title = CollectivePlotWords::tr("BUS BANDWIDTH BY MESSAGE SIZE");
  // The window has a button at its end.
  put_elided(painter, layout.plot_head.adjusted(0, 0, -kButtonRoom, 0), Qt::AlignVCenter, title,
             caps, theme.muted, texts);
  if (rect.height() < 90 || rect.width() < 160) return;
  const QSize size(int(rect.width()), int(rect.height()) - 18);
  const std::optional<MeasuredPoint> run = point_of_run(picture);
  play_recording(painter, rect.topLeft(), plot_of(picture, run, size, theme));
  painter.setRenderHint(QPainter::Antialiasing);
  put_text(painter, QRectF(rect.left(), rect.top() - 12, 40, 14), Qt::AlignVCenter,
           QStringLiteral("GB/s"), theme.font(11), theme.muted, texts);
  if (!picture.lines) return;
  paint_key(painter, picture, run, size, rect, theme, texts);
  put_elided(painter, QRectF(rect.left(), rect.bottom() - 16, rect.width(), 16), Qt::AlignVCenter,
             picture.hides_predicted() ? QString() : crossover_text(*picture.lines), theme.font(11),
             theme.muted, texts);
}

QString plot_sentence(const CollectivePicture& picture) {
  if (!picture.lines || crossover_text(*picture.lines).isEmpty()) return {};
  return CollectivePlotWords::tr("Bus bandwidth by message size: %1.")
      .arg(picture.hides_predicted() ? CollectivePlotWords::tr("hidden")
                                     : crossover_text(*picture.lines));
}

QStringList plot_lines_at(const CollectivePicture& picture, const CollectiveLayout& layout,
                          QPointF point) {
  if (!picture.lines || !layout.plot.contains(point)) return {};
  const double left = layout.plot.left() + kLeft, right = layout.plot.right() - kRight;
  const double share = (point.x() - left) / (right - left);
  if (share < -0.02 || share > 1.02) return {};
  const SizeRange sizes = sizes_of(picture);
  const double low = std::log2(sizes.lower), high = std::log2(sizes.upper);
  const double wanted = low + share * (high - low);
  QStringList lines;
  std::int64_t nearest = kLeastSweepBytes;
  const auto meet = [&](std::int64_t bytes) {
    if (std::abs(std::log2(double(bytes)) - wanted) < std::abs(std::log2(double(nearest)) - wanted))
      nearest = bytes;
  };
  for (const BandwidthLine& line : picture.lines->lines)
    for (const auto& point : line.points) meet(point.first);
  const std::optional<MeasuredPoint> run = point_of_run(picture);
  if (run) meet(run->spec.bytes);
  lines << bytes_text(nearest);
  for (const BandwidthLine& line : picture.lines->lines) {
    QString text =
        algorithm_title(picture.plan->collective.spec.kind, line.algorithm) + QLatin1Char(':');
    for (const auto& [bytes, rate] : line.points)
      if (bytes == nearest && !picture.hides_predicted())
        text += QLatin1Char(' ') + CollectivePlotWords::tr("predicted %1").arg(rate_text(rate));
    for (const MeasuredPoint& seen : picture.sweep)
      if (seen.spec.bytes == nearest && seen.spec.algorithm == line.algorithm &&
          !picture.hides_run())
        text += QStringLiteral(", ") + source_text(seen.source) + QLatin1Char(' ') +
                rate_text(seen.bus_bandwidth);
    lines << text;
  }
  if (run && run->spec.bytes == nearest)
    lines << CollectivePlotWords::tr("this run") + QStringLiteral(": ") + source_text(run->source) +
                 QLatin1Char(' ') + rate_text(run->bus_bandwidth);
  return lines;
}

}  // namespace parallelarium

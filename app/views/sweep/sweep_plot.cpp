// SPDX-License-Identifier: GPL-3.0-or-later
// The curves. Values stand at equal distances in their order, since they may be words; a range such
// as 1..64*2 is a logarithmic axis so.
#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/qcustomplot_header.h"
#include "app/views/shared/paint/recorded_plot.h"
#include "app/views/sweep/sweep_paint.h"
#include "app/views/sweep/sweep_words.h"

namespace parallelarium {
namespace {

constexpr int kSweepLeft = 84, kSweepRight = 20, kSweepTop = 24, kSweepBottom = 64;
constexpr double kSweepDot = 4.5, kSweepReach = 9, kCrossSize = 4;

struct SweepPlotTexts {
  Q_DECLARE_TR_FUNCTIONS(SweepView)
};

// Steps of 1, 2 or 5, each labelled as the figure is written everywhere.
class FigureTicker : public QCPAxisTickerFixed {
 public:
  FigureTicker(double step, std::string unit) : unit_(std::move(unit)) {
    setTickStep(step);
    setScaleStrategy(ssNone);
  }

 protected:
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    return tick == 0 ? QStringLiteral("0") : swept_figure_text(tick, unit_);
  }

 private:
  std::string unit_;
};

double round_step(double most, bool bytes) {
  const double rough = most / 5;
  if (bytes) return std::exp2(std::round(std::log2(rough)));
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double share = rough / power;
  return power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
}

class Curves {
 public:
  Curves(QPainter& painter, const QRectF& rect, const SweepPicture& picture, const Theme& theme,
         TextLog* texts)
      : painter_(painter),
        rect_(rect),
        plot_(rect.adjusted(kSweepLeft, kSweepTop, -kSweepRight, -kSweepBottom)),
        answer_(*picture.answer),
        runs_(picture.runs),
        theme_(theme),
        texts_(texts) {
    for (const SweptPoint& point : answer_.points)
      if (point.figure) most_ = std::max(most_, *point.figure);
    for (const SweptRun& run : runs_) most_ = std::max(most_, run.figure);
    if (shows_limit()) most_ = std::max(most_, double(answer_.capacity_bytes));
    if (most_ <= 0) most_ = 1;
    most_ *= 1.08;
    lines_ = std::max<std::size_t>(1, answer_.seconds.size());
  }

  void paint(int selected, SweepHits* hits) {
    paint_lines();
    paint_boundary();
    paint_limit();
    paint_base();
    paint_values();
    paint_marks(selected, hits);
    paint_runs();
    paint_names();
  }

 private:
  // Of memory the limit belongs into the plot unless it would flatten the curves.
  bool shows_limit() const {
    return answer_.unit == "bytes" && answer_.capacity_bytes > 0 &&
           double(answer_.capacity_bytes) <= 4 * most_;
  }
  double x_of(double value) const {
    return plot_.left() + (value + 0.5) / double(answer_.firsts.size()) * plot_.width();
  }
  double y_of(double figure) const { return plot_.bottom() - figure / most_ * plot_.height(); }
  QColor color_of(std::size_t line) const {
    return lines_ == 1 ? theme_.accent_line : theme_.rank(int(line));
  }

  void paint_lines() {
    QCustomPlot plot;
    const QSize size(int(rect_.width()), int(rect_.height()));
    plot.setViewport(QRect(QPoint(0, 0), size));
    plot.setBackground(QBrush(theme_.surface));
    plot.axisRect()->setAutoMargins(QCP::msNone);
    plot.axisRect()->setMinimumSize(10, 10);
    plot.axisRect()->setMargins(QMargins(kSweepLeft, kSweepTop, kSweepRight, kSweepBottom));
    for (QCPAxis* side : {plot.xAxis, plot.yAxis}) {
      side->setBasePen(QPen(theme_.control_line, 0));
      side->setTickPen(Qt::NoPen);
      side->setSubTickPen(Qt::NoPen);
      side->setTickLabelFont(theme_.font(11));
      side->setTickLabelColor(theme_.muted);
      side->grid()->setPen(QPen(theme_.grid, 0));
      side->grid()->setZeroLinePen(QPen(theme_.grid, 0));
    }
    plot.xAxis->setTickLabels(false);
    plot.xAxis->grid()->setVisible(false);
    plot.xAxis->setRange(-0.5, double(answer_.firsts.size()) - 0.5);
    plot.yAxis->setRange(0, most_);
    plot.yAxis->setTicker(QSharedPointer<FigureTicker>::create(
        round_step(most_, answer_.unit == "bytes"), answer_.unit));
    for (std::size_t line = 0; line < lines_; ++line) {
      QCPGraph* graph = plot.addGraph();
      graph->setPen(QPen(color_of(line), 1.6));
      QVector<double> xs, ys;
      for (const SweptPoint& point : answer_.points) {
        if (point.second != line) continue;
        xs << double(point.first);
        ys << point.figure.value_or(std::nan(""));  // a gap
      }
      graph->setData(xs, ys);
    }
    play_recording(painter_, rect_.topLeft(), recorded(plot, size));
  }

  // Between the last point whose groups stay in a node and the first whose groups leave it.
  void paint_boundary() {
    int before = 0;
    for (const SweptPoint& point : answer_.points) {
      if (point.second != 0 || point.group_nodes == 0) continue;
      if (before == 1 && point.group_nodes > 1) {
        const double x = x_of(double(point.first) - 0.5);
        painter_.setPen(QPen(theme_.muted, 1, Qt::DashLine));
        painter_.drawLine(QPointF(x, plot_.top() - 4), QPointF(x, plot_.bottom()));
        put_text(painter_, QRectF(x - 126, rect_.top(), 120, 16), Qt::AlignRight | Qt::AlignVCenter,
                 SweepPlotTexts::tr("inside a node"), theme_.font(11), theme_.muted, texts_);
        put_text(painter_, QRectF(x + 6, rect_.top(), 120, 16), Qt::AlignVCenter,
                 SweepPlotTexts::tr("across nodes"), theme_.font(11), theme_.muted, texts_);
      }
      before = point.group_nodes;
    }
  }

  void paint_limit() {
    if (!shows_limit()) return;
    const double y = y_of(double(answer_.capacity_bytes));
    painter_.setPen(QPen(theme_.mark, 1, Qt::DashLine));
    painter_.drawLine(QPointF(plot_.left(), y), QPointF(plot_.right(), y));
    put_text(painter_, QRectF(plot_.right() - 180, y - 17, 176, 15),
             Qt::AlignRight | Qt::AlignVCenter,
             SweepPlotTexts::tr("limit %1").arg(bytes_text(answer_.capacity_bytes)),
             theme_.font(11), theme_.mark, texts_);
  }

  // Where the base of the sweep stands.
  void paint_base() {
    const std::optional<std::size_t> at = answer_.first_of_base();
    if (!at) return;
    const double x = x_of(double(*at));
    painter_.setPen(QPen(theme_.mark, 1, Qt::DashLine));
    painter_.drawLine(QPointF(x, plot_.top()), QPointF(x, plot_.bottom() + 2));
    const QString text = SweepPlotTexts::tr("as it is");
    const double wide = QFontMetricsF(theme_.font(11)).horizontalAdvance(text) + 4;
    const double left = std::min(x + 4, rect_.right() - wide);
    put_text(painter_, QRectF(left, plot_.top() + 1, wide, 14), Qt::AlignVCenter, text,
             theme_.font(11), theme_.mark, texts_);
  }

  void paint_values() {
    const double room = plot_.width() / double(answer_.firsts.size());
    const QFontMetricsF metrics(theme_.font(11));
    double free = 0;
    for (std::size_t at = 0; at < answer_.firsts.size(); ++at) {
      const double wide =
          std::min(metrics.horizontalAdvance(answer_.firsts[at]) + 4, std::max(room, 60.0));
      const double left = x_of(double(at)) - wide / 2;
      if (left < free) continue;
      free = left + wide + 6;
      put_elided(painter_, QRectF(left, plot_.bottom() + 4, wide, 15), Qt::AlignCenter,
                 answer_.firsts[at], theme_.font(11), theme_.muted, texts_);
    }
    put_text(painter_, QRectF(plot_.left(), plot_.bottom() + 21, plot_.width(), 15),
             Qt::AlignRight | Qt::AlignVCenter, swept_label(answer_.wish.first), theme_.font(11),
             theme_.muted, texts_);
  }

  void paint_marks(int selected, SweepHits* hits) {
    painter_.setRenderHint(QPainter::Antialiasing);
    for (std::size_t at = 0; at < answer_.points.size(); ++at) {
      const SweptPoint& point = answer_.points[at];
      // What is refused stands at the bottom, one line beside the other.
      const double shift = (double(point.second) - double(lines_ - 1) / 2) * 12;
      const QPointF center = point.figure
                                 ? QPointF(x_of(double(point.first)), y_of(*point.figure))
                                 : QPointF(x_of(double(point.first)) + shift, plot_.bottom() - 9);
      paint_mark(center, point);
      if (int(at) == selected) {
        painter_.setPen(QPen(theme_.mark, 2));
        painter_.setBrush(Qt::NoBrush);
        painter_.drawEllipse(center, kSweepDot + 4, kSweepDot + 4);
      }
      if (hits)
        hits->points.emplace_back(QRectF(center.x() - kSweepReach, center.y() - kSweepReach,
                                         2 * kSweepReach, 2 * kSweepReach),
                                  int(at));
    }
  }

  void paint_mark(const QPointF& center, const SweptPoint& point) {
    const QColor color = color_of(point.second);
    if (!point.figure) {
      painter_.setPen(QPen(color, 2));
      for (const double slope : {1.0, -1.0})
        painter_.drawLine(center - QPointF(kCrossSize, slope * kCrossSize),
                          center + QPointF(kCrossSize, slope * kCrossSize));
      return;
    }
    painter_.setPen(QPen(color, 1.6));
    painter_.setBrush(point.fits == false ? QBrush(theme_.surface) : QBrush(color));
    painter_.drawEllipse(center, kSweepDot, kSweepDot);
  }

  void paint_runs() {
    for (const SweptRun& run : runs_) {
      const SweptPoint& point = answer_.points[std::size_t(run.point)];
      paint_run({x_of(double(point.first)), y_of(run.figure)}, run.rehearsed);
    }
  }

  // A diamond in the colour of text, so that it is seen on every line.
  void paint_run(const QPointF& center, bool rehearsed) {
    const double reach = kSweepDot + 2;
    painter_.setPen(QPen(theme_.text, 1.6));
    painter_.setBrush(rehearsed ? QBrush(Qt::NoBrush) : QBrush(theme_.text));
    painter_.drawPolygon(QPolygonF({center - QPointF(0, reach), center + QPointF(reach, 0),
                                    center + QPointF(0, reach), center - QPointF(reach, 0)}));
  }

  void paint_names() {
    double x = plot_.left();
    const QRectF line(0, rect_.bottom() - 20, 0, 16);
    const auto entry = [&](const QString& text, const auto& draw) {
      const double wide = QFontMetricsF(theme_.font(11)).horizontalAdvance(text) + 2;
      if (x + 14 + wide > rect_.right()) return;
      draw(QPointF(x + 5, line.center().y()));
      put_text(painter_, QRectF(x + 14, line.top(), wide, line.height()), Qt::AlignVCenter, text,
               theme_.font(11), theme_.muted, texts_);
      x += wide + 30;
    };
    SweptPoint fits, large, refused;
    fits.figure = large.figure = 1;
    large.fits = false;
    for (std::size_t of = 0; of < answer_.seconds.size(); ++of) {
      fits.second = of;
      entry(QStringLiteral("%1 %2").arg(swept_label(answer_.wish.second), answer_.seconds[of]),
            [&](const QPointF& at) { paint_mark(at, fits); });
    }
    const auto any = [&](const auto& is) {
      return std::any_of(answer_.points.begin(), answer_.points.end(), is);
    };
    if (answer_.seconds.empty())
      entry(SweepPlotTexts::tr("predicted"), [&](const QPointF& at) { paint_mark(at, fits); });
    if (any([](const SweptPoint& point) { return point.figure && point.fits == false; }))
      entry(SweepPlotTexts::tr("does not fit"), [&](const QPointF& at) { paint_mark(at, large); });
    if (any([](const SweptPoint& point) { return !point.figure; }))
      entry(SweepPlotTexts::tr("cannot be"), [&](const QPointF& at) { paint_mark(at, refused); });
    for (const bool rehearsed : {false, true})
      if (std::any_of(runs_.begin(), runs_.end(),
                      [&](const SweptRun& run) { return run.rehearsed == rehearsed; }))
        entry(rehearsed ? SweepPlotTexts::tr("rehearsed") : SweepPlotTexts::tr("measured"),
              [&](const QPointF& at) { paint_run(at, rehearsed); });
  }

  QPainter& painter_;
  QRectF rect_, plot_;
  const SweepAnswer& answer_;
  const std::vector<SweptRun>& runs_;
  const Theme& theme_;
  TextLog* texts_;
  double most_ = 0;
  std::size_t lines_ = 1;
};

}  // namespace

void paint_curves(QPainter& painter, const QRectF& rect, const SweepPicture& picture,
                  const Theme& theme, SweepHits* hits, TextLog* texts) {
  Curves(painter, rect, picture, theme, texts).paint(picture.selected, hits);
}

}  // namespace parallelarium

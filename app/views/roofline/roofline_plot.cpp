// SPDX-License-Identifier: GPL-3.0-or-later
// The plot: roofs of the machine, and the pieces of the layer under them, on logarithmic axes.
#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/roofline/roofline_paint.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/qcustomplot_header.h"
#include "app/views/shared/paint/recorded_plot.h"
#include "app/views/shared/paint/text_lines.h"

namespace parallelarium {
namespace {

constexpr double kPlotHeight = 340, kPlotHead = 22, kRoofLegend = 20;
constexpr int kPlotLeft = 76, kPlotRight = 14, kPlotTop = 18, kPlotBottom = 40;
constexpr double kMark = 5, kMarkReach = 8;

struct RoofTexts {
  Q_DECLARE_TR_FUNCTIONS(RooflineView)
};

struct LogRange {
  double least = 1, most = 10;
  double share(double value) const { return std::log(value / least) / std::log(most / least); }
};

// Powers of ten, named as figures are.
class PowerTicker : public QCPAxisTickerLog {
 public:
  explicit PowerTicker(bool rate) : rate_(rate) {}

 protected:
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    return rate_ ? flops_rate_text(tick) : number_text(tick);
  }

 private:
  bool rate_;
};

double best_arithmetic(const Roofline& roofline) {
  double best = 0;
  for (const RooflineCeiling& ceiling : roofline.ceilings)
    best = std::max(best, ceiling.flops_per_second);
  return best;
}

class RoofPlot {
 public:
  RoofPlot(QPainter& painter, const QRectF& rect, const RooflineData& data, const Theme& theme,
           TextLog* texts)
      : painter_(painter),
        rect_(rect),
        plot_(rect.adjusted(kPlotLeft, kPlotTop, -kPlotRight, -kPlotBottom)),
        data_(data),
        roofline_(*data.roofline),
        theme_(theme),
        texts_(texts) {
    const double best = best_arithmetic(roofline_);
    double left = 0.3, right = 30, low = best / 30;
    for (const RooflineCeiling& ceiling : roofline_.ceilings)
      right = std::max(right, ceiling.ridge * 8);
    for (const RooflinePoint& point : roofline_.points) {
      if (point.intensity() <= 0 || point.rate() <= 0) continue;
      left = std::min(left, point.intensity() / 3);
      right = std::max(right, point.intensity() * 3);
      low = std::min(low, point.rate() / 4);
    }
    x_ = {left, right};
    y_ = {std::max(low, best * 1e-7), best * 2.2};
  }

  void paint(RooflineHits* hits) {
    paint_lines();
    paint_names();
    paint_ridge();
    if (!data_.hidden) paint_points(hits);
  }

 private:
  QPointF place(double intensity, double rate) const {
    return {plot_.left() + x_.share(intensity) * plot_.width(),
            plot_.bottom() - y_.share(rate) * plot_.height()};
  }

  QPen pen_of(const RooflineCeiling& ceiling, bool first_memory) const {
    if (ceiling.flops_per_second > 0 || first_memory) return QPen(theme_.text, 2);
    return QPen(theme_.muted, 1.2, Qt::DashLine);
  }

  void paint_lines() {
    QCustomPlot plot;
    const QSize size(int(rect_.width()), int(rect_.height()));
    plot.setViewport(QRect(QPoint(0, 0), size));
    plot.setBackground(QBrush(theme_.surface));
    plot.axisRect()->setAutoMargins(QCP::msNone);
    plot.axisRect()->setMinimumSize(10, 10);
    plot.axisRect()->setMargins(QMargins(kPlotLeft, kPlotTop, kPlotRight, kPlotBottom));
    for (QCPAxis* side : {plot.xAxis, plot.yAxis}) {
      side->setScaleType(QCPAxis::stLogarithmic);
      side->setTicker(QSharedPointer<PowerTicker>::create(side == plot.yAxis));
      side->setBasePen(QPen(theme_.control_line, 0));
      side->setTickPen(Qt::NoPen);
      side->setSubTickPen(Qt::NoPen);
      side->setTickLabelFont(theme_.font(11));
      side->setTickLabelColor(theme_.muted);
      side->grid()->setPen(QPen(theme_.grid, 0));
      side->grid()->setZeroLinePen(Qt::NoPen);
      side->grid()->setSubGridVisible(false);
    }
    plot.xAxis->setRange(x_.least, x_.most);
    plot.yAxis->setRange(y_.least, y_.most);
    const double best = best_arithmetic(roofline_);
    bool first_memory = true;
    for (const RooflineCeiling& ceiling : roofline_.ceilings) {
      QCPGraph* line = plot.addGraph();
      const bool arithmetic = ceiling.flops_per_second > 0;
      line->setPen(pen_of(ceiling, !arithmetic && first_memory));
      if (arithmetic) {
        const double from = std::clamp(ceiling.ridge, x_.least, x_.most);
        line->setData({from, x_.most}, {ceiling.flops_per_second, ceiling.flops_per_second}, true);
        continue;
      }
      first_memory = false;
      const double rate = ceiling.bytes_per_second;
      const double from = std::max(x_.least, y_.least / rate);
      const double to = std::min(x_.most, best / rate);
      if (to > from) line->setData({from, to}, {from * rate, to * rate}, true);
    }
    play_recording(painter_, rect_.topLeft(), recorded(plot, size));
  }

  // Of all ceilings that lie on one line, at the first of them; empty at the others.
  QString names_of_equal(std::size_t first) const {
    QStringList names;
    for (std::size_t at = 0; at < roofline_.ceilings.size(); ++at) {
      const RooflineCeiling &one = roofline_.ceilings[at], &wanted = roofline_.ceilings[first];
      if (one.flops_per_second != wanted.flops_per_second ||
          one.bytes_per_second != wanted.bytes_per_second)
        continue;
      if (at < first) return {};
      names << sentence(one.name);
    }
    return names.join(QStringLiteral(" · "));
  }

  void paint_names() {
    const QFont small = theme_.font(11);
    double free = 0;  // below the names of arithmetic so far
    // Of the slope named last: lines that are near it have their names further up.
    double named_rate = 0, named_until = 0;
    for (std::size_t at = 0; at < roofline_.ceilings.size(); ++at) {
      const RooflineCeiling& ceiling = roofline_.ceilings[at];
      const QString names = names_of_equal(at);
      if (names.isEmpty()) continue;
      if (ceiling.flops_per_second > 0) {
        double y = place(1, ceiling.flops_per_second).y() - 16;
        y = std::max(y, free);
        const QString text =
            QStringLiteral("%1, %2").arg(flops_rate_text(ceiling.flops_per_second), names);
        put_elided(painter_, QRectF(plot_.left() + plot_.width() * 0.4, y, plot_.width() * 0.6, 15),
                   Qt::AlignRight | Qt::AlignVCenter, text, small, theme_.text, texts_);
        free = y + 15;
        continue;
      }
      // Along its line, which rises by as much as the axes' scales say.
      const double rate = ceiling.bytes_per_second;
      const double from = std::max(x_.least, y_.least / rate);
      if (from >= x_.most) continue;
      const QPointF begin = place(from, from * rate), end = place(from * 10, from * 10 * rate);
      painter_.save();
      painter_.setClipRect(plot_);
      painter_.translate(begin);
      painter_.rotate(std::atan2(end.y() - begin.y(), end.x() - begin.x()) * 180 / M_PI);
      const QString text = QStringLiteral("%1 %2").arg(names, rate_text(rate));
      const bool near = named_rate > 0 && rate > named_rate / 2 && rate < named_rate * 2;
      const double at_line = near ? named_until + 12 : 14;
      put_text(painter_, QRectF(at_line, -16, 400, 14), Qt::AlignVCenter, text, small, theme_.muted,
               nullptr);
      named_rate = rate;
      named_until = at_line + QFontMetricsF(small).horizontalAdvance(text);
      painter_.restore();
    }
  }

  void paint_ridge() {
    const auto last = std::find_if(roofline_.ceilings.begin(), roofline_.ceilings.end(),
                                   [&](const RooflineCeiling& ceiling) {
                                     return ceiling.flops_per_second == best_arithmetic(roofline_);
                                   });
    const QRectF axis(plot_.left(), rect_.bottom() - 20, plot_.width(), 16);
    put_text(painter_, axis, Qt::AlignRight | Qt::AlignVCenter,
             RoofTexts::tr("FLOP per byte moved to or from memory"), theme_.font(11), theme_.muted,
             texts_);
    if (last == roofline_.ceilings.end() || last->ridge <= x_.least || last->ridge >= x_.most)
      return;
    const double x = place(last->ridge, y_.least).x();
    painter_.setPen(QPen(theme_.accent_line, 1, Qt::DashLine));
    painter_.drawLine(QPointF(x, plot_.bottom()), QPointF(x, place(1, last->flops_per_second).y()));
    const QString text = RoofTexts::tr("ridge %1").arg(number_text(last->ridge));
    put_text(painter_, QRectF(x + 6, plot_.bottom() - 18, 110, 15), Qt::AlignVCenter, text,
             theme_.font(11, true), theme_.accent_line, texts_);
  }

  void paint_points(RooflineHits* hits) {
    painter_.setRenderHint(QPainter::Antialiasing);
    std::vector<QRectF> labels;
    for (std::size_t at = 0; at < roofline_.points.size(); ++at) {
      const RooflinePoint& point = roofline_.points[at];
      if (point.intensity() <= 0 || point.rate() <= 0) continue;
      const QPointF center = place(point.intensity(), point.rate());
      if (int(at) == data_.selected) {
        painter_.setPen(QPen(theme_.mark, 2));
        painter_.setBrush(Qt::NoBrush);
        painter_.drawEllipse(center, kMark + 4, kMark + 4);
      }
      paint_piece_mark(painter_, center, point, 0, false, theme_);
      if (point.measured_rate() > 0) {
        const QPointF seen = place(point.intensity(), point.measured_rate());
        painter_.setPen(QPen(theme_.muted, 1, Qt::DotLine));
        painter_.drawLine(center, seen);
        paint_piece_mark(painter_, seen, point, 0, true, theme_);
      }
      if (hits)
        hits->points.emplace_back(QRectF(center.x() - kMarkReach, center.y() - kMarkReach,
                                         2 * kMarkReach, 2 * kMarkReach),
                                  int(at));
      if (point.phase == Phase::kForward) label(center, data_.numbers[at], labels);
    }
  }

  // The number of a piece, below its dot or where there is place.
  void label(const QPointF& center, int number, std::vector<QRectF>& taken) {
    const QSizeF size(number > 9 ? 16 : 10, 13);
    for (const QPointF& shift : {QPointF(0, 14), QPointF(-14, 10), QPointF(14, 10), QPointF(0, 27),
                                 QPointF(-14, 24), QPointF(14, 24), QPointF(0, 40)}) {
      QRectF box(QPointF(), size);
      box.moveCenter(center + shift);
      if (std::any_of(taken.begin(), taken.end(),
                      [&](const QRectF& other) { return other.intersects(box); }))
        continue;
      taken.push_back(box);
      put_text(painter_, box, Qt::AlignCenter, QString::number(number), theme_.font(11, true),
               theme_.text, texts_);
      return;
    }
  }

  QPainter& painter_;
  QRectF rect_, plot_;
  const RooflineData& data_;
  const Roofline& roofline_;
  const Theme& theme_;
  TextLog* texts_;
  LogRange x_, y_;
};

// What the marks mean, in one line.
void paint_roof_legend(QPainter& painter, const QRectF& rect, const RooflineData& data,
                       const Theme& theme, TextLog* texts) {
  double x = rect.left();
  RooflinePoint forward, backward;
  backward.phase = Phase::kInputGrad;
  const auto entry = [&](const QString& text, const RooflinePoint& point, bool solid) {
    const double wide = QFontMetricsF(theme.font(11)).horizontalAdvance(text) + 2;
    if (x + 16 + wide > rect.right()) return;
    paint_piece_mark(painter, QPointF(x + 6, rect.center().y()), point, 0, solid, theme);
    put_text(painter, QRectF(x + 16, rect.top(), wide, rect.height()), Qt::AlignVCenter, text,
             theme.font(11), theme.muted, texts);
    x += wide + 32;
  };
  entry(RoofTexts::tr("forward"), forward, false);
  entry(RoofTexts::tr("backward, by input and weight gradient"), backward, false);
  if (data.measured) entry(RoofTexts::tr("as measured"), forward, true);
}

}  // namespace

void paint_piece_mark(QPainter& painter, const QPointF& center, const RooflinePoint& point,
                      int number, bool solid, const Theme& theme) {
  painter.setRenderHint(QPainter::Antialiasing);
  const bool forward = point.phase == Phase::kForward || point.phase == Phase::kRecompute;
  const OpColor color = forward                             ? OpColor::kForward
                        : point.phase == Phase::kWeightGrad ? OpColor::kWeight
                                                            : OpColor::kBackward;
  painter.setPen(QPen(theme.solid(color), 1.4));
  const QColor fill = solid ? theme.solid(color) : theme.tint(color);
  painter.setBrush(fill);
  const double size = number > 0 ? 8.5 : kMark;
  if (forward)
    painter.drawEllipse(center, size, size);
  else
    painter.drawPolygon(QPolygonF({center + QPointF(0, -size - 1), center + QPointF(size + 1, 0),
                                   center + QPointF(0, size + 1), center + QPointF(-size - 1, 0)}));
  if (number > 0)
    put_text(painter, QRectF(center.x() - 9, center.y() - 8, 18, 16), Qt::AlignCenter,
             QString::number(number), theme.font(11, true), theme.ink_on(fill), nullptr);
}

double paint_roofs(QPainter& painter, const QRectF& rect, const RooflineData& data,
                   const Theme& theme, RooflineHits* hits, TextLog* texts) {
  put_caps(painter, QRectF(rect.left(), rect.top(), rect.width() / 2, kPlotHead),
           RoofTexts::tr("FLOP/s over FLOP per byte"), theme, texts);
  const QRectF plot(rect.left(), rect.top() + kPlotHead, rect.width(), kPlotHeight);
  RoofPlot(painter, plot, data, theme, texts).paint(hits);
  paint_roof_legend(
      painter,
      QRectF(rect.left() + kPlotLeft, plot.bottom(), rect.width() - kPlotLeft, kRoofLegend), data,
      theme, texts);
  return kPlotHead + kPlotHeight + kRoofLegend;
}

}  // namespace parallelarium

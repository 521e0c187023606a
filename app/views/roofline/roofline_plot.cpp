// SPDX-License-Identifier: GPL-3.0-or-later
// The plot: roofs of the machine, and the pieces of the layer under them, on logarithmic axes.
#include <QCoreApplication>
#include <QTransform>
#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/roofline/roofline_paint.h"
#include "app/views/shared/paint/paint_tools.h"
#include "app/views/shared/paint/qcustomplot_header.h"
#include "app/views/shared/paint/recorded_plot.h"
#include "app/views/shared/paint/text_lines.h"

namespace parallelarium {
namespace {

constexpr double kPlotHeight = 370, kPlotHead = 22;
constexpr int kPlotLeft = 76, kPlotRight = 14, kPlotTop = 18, kPlotBottom = 40;
constexpr double kMarkReach = 8;

struct RoofTexts {
  Q_DECLARE_TR_FUNCTIONS(RooflineView)
};

struct LogRange {
  double least = 1, most = 10;
  double share(double value) const { return std::log(value / least) / std::log(most / least); }
};

// "0.1" for "0.100", "1 PFLOP/s" for "1.00 PFLOP/s": of a power of ten.
QString without_zeros(QString text) {
  const QString point = QLocale().decimalPoint();
  const auto at = text.indexOf(point);
  if (at < 0) return text;
  auto end = at + point.size();
  while (end < text.size() && text[end].isDigit()) ++end;
  auto kept = end;
  while (text[kept - 1] == QLatin1Char('0')) --kept;
  if (kept == at + point.size()) kept = at;
  return text.remove(kept, end - kept);
}

// Powers of ten, named as figures are.
class PowerTicker : public QCPAxisTickerLog {
 public:
  explicit PowerTicker(bool rate) : rate_(rate) {}

 protected:
  QString getTickLabel(double tick, const QLocale&, QChar, int) override {
    return without_zeros(rate_ ? flops_rate_text(tick) : number_text(tick));
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
    if (!data_.hidden) take_marks();
    paint_ridge();
    paint_names(hits);
    if (!data_.hidden) paint_points(hits);
  }

 private:
  QPointF place(double intensity, double rate) const {
    return {plot_.left() + x_.share(intensity) * plot_.width(),
            plot_.bottom() - y_.share(rate) * plot_.height()};
  }

  QPen pen_of(const RooflineCeiling& ceiling, bool first_memory) const {
    // Roofs that no product of the layer meets stand back.
    if (ceiling.flops_per_second > 0 && ceiling.layer_flops <= 0) return QPen(theme_.muted, 1);
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

  // Where marks stand, over which no text comes.
  void take_marks() {
    const auto take = [&](const QPointF& center) {
      taken_.push_back(QRectF(center.x() - kRoofMark - 1, center.y() - kRoofMark - 1,
                              2 * kRoofMark + 2, 2 * kRoofMark + 2));
    };
    for (const RooflinePoint& point : roofline_.points) {
      if (point.intensity() <= 0 || point.rate() <= 0) continue;
      take(place(point.intensity(), point.rate()));
      if (point.measured_rate() > 0) take(place(point.intensity(), point.measured_rate()));
    }
  }

  bool is_free(const QPolygonF& area) const {
    return std::none_of(taken_.begin(), taken_.end(),
                        [&](const QPolygonF& other) { return other.intersects(area); });
  }

  // The name of a slope along it, above it or below it, at the first place that is free from its
  // lower end on; whether there is one.
  bool name_slope(const QLineF& slope, const QString& text, RooflineHits* hits) {
    constexpr double kStep = 12, kAbove = 16, kBelow = 2, kTall = 14, kInside = 14;
    const QFont small = theme_.font(11);
    const double wide = QFontMetricsF(small).horizontalAdvance(text) + 2;
    const double last = slope.length() - kInside - wide;
    for (int at = 0; kInside + at / 2 * kStep < last; ++at) {
      QTransform turned = QTransform::fromTranslate(slope.x1(), slope.y1());
      turned.rotate(-slope.angle());
      const QRectF flat(kInside + at / 2 * kStep, at % 2 == 0 ? -kAbove : kBelow, wide, kTall);
      const QPolygonF area = turned.map(QPolygonF(flat));
      if (!is_free(area) || !plot_.contains(area.boundingRect())) continue;
      taken_.push_back(area);
      if (hits) hits->names.push_back(area);
      painter_.save();
      painter_.setTransform(turned, true);
      put_text(painter_, flat, Qt::AlignVCenter, text, small, theme_.muted, nullptr);
      painter_.restore();
      return true;
    }
    return false;
  }

  // Above its roof, or below it where other roofs or names would come in between.
  double top_of_name(const RooflineCeiling& ceiling, double wide,
                     const std::vector<double>& tops) const {
    constexpr double kTall = 15;
    const double own = place(1, ceiling.flops_per_second).y();
    const auto is_clear = [&](double top) {
      const bool over_name = std::any_of(
          tops.begin(), tops.end(), [&](double other) { return std::abs(other - top) < kTall; });
      return !over_name && is_free(QRectF(plot_.right() - wide, top, wide, kTall)) &&
             std::none_of(roofline_.ceilings.begin(), roofline_.ceilings.end(),
                          [&](const RooflineCeiling& other) {
                            const double y = place(1, other.flops_per_second).y();
                            return other.flops_per_second > 0 && y > top && y < top + kTall;
                          });
    };
    for (const double top : {own - 16, own + 2, own + 18, own - 32, own - 48, own - 64})
      if (is_clear(top)) return top;
    return own - 16;
  }

  void paint_names(RooflineHits* hits) {
    const QFont small = theme_.font(11);
    std::vector<double> tops;  // of the names of arithmetic so far
    const double best = best_arithmetic(roofline_);
    for (std::size_t at = 0; at < roofline_.ceilings.size(); ++at) {
      const RooflineCeiling& ceiling = roofline_.ceilings[at];
      const QString names = names_of_equal(at);
      if (names.isEmpty()) continue;
      if (ceiling.flops_per_second > 0) {
        const QString text =
            QStringLiteral("%1, %2").arg(flops_rate_text(ceiling.flops_per_second), names);
        // Above the highest roof all is free; beside a lower one the slopes rise.
        const double room = plot_.width() * (tops.empty() ? 1 : 0.6);
        const double wide = std::min(room, QFontMetricsF(small).horizontalAdvance(text) + 4);
        const double y = top_of_name(ceiling, wide, tops);
        const QRectF line(plot_.right() - room, y, room, 15);
        taken_.push_back(QRectF(line.right() - wide, y, wide, 15));
        painter_.fillRect(QRectF(line.right() - wide, y + 1, wide, 13), theme_.surface);
        put_elided(painter_, line, Qt::AlignRight | Qt::AlignVCenter, text, small, theme_.text,
                   texts_);
        if (hits)
          hits->roofs.emplace_back(
              QLineF(place(std::clamp(ceiling.ridge, x_.least, x_.most), ceiling.flops_per_second),
                     place(x_.most, ceiling.flops_per_second)),
              roof_text(text, ceiling.origin));
        tops.push_back(y);
        continue;
      }
      // Along its line, which rises by as much as the axes' scales say.
      const double rate = ceiling.bytes_per_second;
      const double from = std::max(x_.least, y_.least / rate), to = std::min(x_.most, best / rate);
      if (from >= to) continue;
      const QLineF slope(place(from, from * rate), place(to, to * rate));
      const QString text = QStringLiteral("%1 %2").arg(names, rate_text(rate));
      if (hits) hits->roofs.emplace_back(slope, roof_text(text, ceiling.origin));
      // Without a place for either, the line says it under the mouse.
      if (!name_slope(slope, text, hits)) name_slope(slope, rate_text(rate), hits);
    }
  }
  static QString roof_text(const QString& text, const Origin& origin) {
    return QStringLiteral("%1\n%2").arg(capitalised(text), origin_text(origin));
  }

  void paint_ridge() {
    const QRectF axis(plot_.left(), rect_.bottom() - 20, plot_.width(), 16);
    put_text(painter_, axis, Qt::AlignRight | Qt::AlignVCenter,
             RoofTexts::tr("FLOP per byte moved to or from memory"), theme_.font(11), theme_.muted,
             texts_);
    const double ridge = roofline_.ridge;
    if (ridge <= x_.least || ridge >= x_.most) return;
    double roof = 0;
    for (const RooflineCeiling& ceiling : roofline_.ceilings)
      if (ceiling.ridge == ridge) roof = ceiling.flops_per_second;
    const double x = place(ridge, y_.least).x();
    painter_.setPen(QPen(theme_.accent_line, 1, Qt::DashLine));
    painter_.drawLine(QPointF(x, plot_.bottom()), QPointF(x, place(1, roof).y()));
    double right = x + 6;
    right += put_beside_ridge(right, RoofTexts::tr("ridge %1").arg(number_text(ridge)),
                              theme_.font(11, true), theme_.accent_line);
    const QFont small = theme_.font(11);
    const QString computes = RoofTexts::tr("arithmetic is the limit →");
    const QString waits = RoofTexts::tr("← memory is the limit");
    const double wide = QFontMetricsF(small).horizontalAdvance(waits) + 4;
    if (right + 4 + QFontMetricsF(small).horizontalAdvance(computes) + 4 <= plot_.right())
      put_beside_ridge(right + 4, computes, small, theme_.muted);
    if (x - 6 - wide >= plot_.left()) put_beside_ridge(x - 6 - wide, waits, small, theme_.muted);
  }
  // At the foot of the plot; returns how wide it is.
  double put_beside_ridge(double left, const QString& text, const QFont& font,
                          const QColor& color) {
    const QRectF box(left, plot_.bottom() - 18, QFontMetricsF(font).horizontalAdvance(text) + 4,
                     15);
    taken_.push_back(box);
    painter_.fillRect(box, theme_.surface);
    put_text(painter_, box, Qt::AlignVCenter, text, font, color, texts_);
    return box.width();
  }

  void paint_points(RooflineHits* hits) {
    painter_.setRenderHint(QPainter::Antialiasing);
    for (std::size_t at = 0; at < roofline_.points.size(); ++at) {
      const RooflinePoint& point = roofline_.points[at];
      if (point.intensity() <= 0 || point.rate() <= 0) continue;
      const QPointF center = place(point.intensity(), point.rate());
      if (int(at) == data_.selected) {
        painter_.setPen(QPen(theme_.mark, 2));
        painter_.setBrush(Qt::NoBrush);
        painter_.drawEllipse(center, kRoofMark + 4, kRoofMark + 4);
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
      if (point.phase == Phase::kForward) label(center, data_.numbers[at]);
    }
  }

  // The number of a piece at the nearest free place, below its dot first, with a line to it where
  // others stand between; without a place the list and the mouse tell.
  void label(const QPointF& center, int number) {
    constexpr double kBeside = 14, kRing = 13, kMost = 120;
    constexpr int kWays = 12;
    const QSizeF size(number > 9 ? 16 : 10, 13);
    for (double away = kBeside; away <= kMost; away += kRing)
      for (int way = 0; way < kWays; ++way) {
        // Straight down, then to both sides in turn, last straight up.
        const double turn = (way % 2 == 0 ? way : -way - 1) / 2 * 2 * std::numbers::pi / kWays;
        QRectF box(QPointF(), size);
        box.moveCenter(center + away * QPointF(std::sin(turn), std::cos(turn)));
        if (!is_free(box) || !plot_.contains(box)) continue;
        taken_.push_back(box);
        if (away > kBeside) {
          const QLineF line(center, box.center());
          painter_.setPen(QPen(theme_.muted, 0.8));
          painter_.drawLine(line.pointAt(kRoofMark / line.length()),
                            line.pointAt(1 - 8 / line.length()));
        }
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
  std::vector<QPolygonF> taken_;  // by marks and texts
};

}  // namespace

double paint_roofs(QPainter& painter, const QRectF& rect, const RooflineData& data,
                   const Theme& theme, RooflineHits* hits, TextLog* texts) {
  put_caps(painter, QRectF(rect.left(), rect.top(), rect.width() / 2, kPlotHead),
           RoofTexts::tr("FLOP/s over FLOP per byte"), theme, texts);
  const QRectF plot(rect.left(), rect.top() + kPlotHead, rect.width(), kPlotHeight);
  RoofPlot(painter, plot, data, theme, texts).paint(hits);
  const QRectF below(rect.left() + kPlotLeft, plot.bottom(), rect.width() - kPlotLeft, kRoofLegend);
  return kPlotHead + kPlotHeight + paint_roof_legend(painter, below, data, theme, hits, texts);
}

}  // namespace parallelarium

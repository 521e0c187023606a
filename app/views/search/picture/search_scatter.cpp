// SPDX-License-Identifier: GPL-3.0-or-later
// Step time over memory: every plan that was simulated, the front, the limit, and what is selected.
#include <QCoreApplication>
#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "app/look/figures.h"
#include "app/views/search/picture/search_paint.h"
#include "app/views/shared/paint/paint_tools.h"

namespace parallelarium {
namespace {

constexpr double kScatterHead = 22, kLeft = 48, kBottom = 34, kLegend = 22, kTop = 16;
constexpr double kFarApart = 4;  // the slowest over the fastest
constexpr double kDot = 3, kReach = 7, kSelected = 9;
constexpr double kScatterGib = 1024.0 * 1024 * 1024;

struct ScatterTexts {
  Q_DECLARE_TR_FUNCTIONS(SearchView)
};

struct ScatterAxis {
  double least = 0, most = 1, step = 1;
  bool logarithmic = false;
  double share(double value) const {
    return logarithmic ? std::log(std::max(value, least) / least) / std::log(most / least)
                       : (value - least) / (most - least);
  }
  std::vector<double> ticks() const;
};

// The 1, 2 or 5 times a power of ten that is no more than the value.
double round_below(double value) {
  const double power = std::pow(10, std::floor(std::log10(value)));
  const double share = value / power;
  return power * (share < 2 ? 1 : share < 5 ? 2 : 5);
}

double round_after(double round) {
  const double power = std::pow(10, std::floor(std::log10(round * 1.01)));
  const double share = round / power;
  return power * (share < 1.5 ? 2 : share < 3 ? 5 : 10);
}

std::vector<double> ScatterAxis::ticks() const {
  std::vector<double> all;
  if (logarithmic)
    for (double at = least; at <= most * 1.01; at = round_after(at)) all.push_back(at);
  else
    for (double at = least; at <= most + step / 2; at += step) all.push_back(at);
  return all;
}

// So that the best can be told apart where the slowest take several times as long.
ScatterAxis logarithmic_axis_of(double least, double most) {
  ScatterAxis axis;
  axis.logarithmic = true;
  axis.least = round_below(least);
  axis.most = round_after(round_below(most));
  return axis;
}

// A round step of 1, 2 or 5 times a power of ten, about `parts` of which span the values.
ScatterAxis axis_of(double least, double most, int parts) {
  const double span = std::max(most - least, 1e-3 * std::max(most, 1e-9));
  const double rough = span / parts, power = std::pow(10, std::floor(std::log10(rough)));
  const double share = rough / power;
  ScatterAxis axis;
  axis.step = power * (share <= 1 ? 1 : share <= 2 ? 2 : share <= 5 ? 5 : 10);
  axis.least = std::floor(least / axis.step) * axis.step;
  axis.most = std::ceil(most / axis.step) * axis.step;
  return axis;
}

class Scatter {
 public:
  Scatter(QPainter& painter, const QRectF& rect, const SearchPicture& picture, const Theme& theme,
          TextLog* texts)
      : painter_(painter),
        picture_(picture),
        theme_(theme),
        texts_(texts),
        plot_(rect.adjusted(kLeft, kScatterHead + kTop, -10, -kBottom - kLegend)),
        rect_(rect) {
    double least_x = 1e300, most_x = 0, least_y = 1e300, most_y = 0;
    const auto widen = [&](double seconds, std::int64_t bytes) {
      const double gib = double(bytes) / kScatterGib;
      least_x = std::min(least_x, gib);
      most_x = std::max(most_x, gib);
      least_y = std::min(least_y, seconds);
      most_y = std::max(most_y, seconds);
    };
    for (const auto& [seconds, bytes] : picture.answer->points) widen(seconds, bytes);
    for (const FoundPlan* plan : picture.selectable) widen(plan->seconds, plan->bytes);
    if (const ExplainedPlan* today = picture.today_told; today && today->seconds)
      widen(*today->seconds, today->bytes);
    // The limit moves, and the axis stays.
    const std::int64_t most =
        std::max({picture.answer->searched_bytes, picture.device_bytes, picture.limit_bytes});
    most_x = std::max(most_x, double(most) / kScatterGib);
    x_ = axis_of(least_x, most_x * 1.02, 6);
    y_ = least_y > 0 && most_y > kFarApart * least_y ? logarithmic_axis_of(least_y, most_y)
                                                     : axis_of(least_y, most_y, 5);
  }

  void paint(SearchHits* hits) {
    put_elided(painter_, QRectF(rect_.left(), rect_.top(), rect_.width(), kScatterHead),
               Qt::AlignVCenter, ScatterTexts::tr("Step time in seconds over memory").toUpper(),
               theme_.caps(), theme_.muted, texts_);
    paint_axes();
    painter_.setRenderHint(QPainter::Antialiasing);
    painter_.setPen(QPen(theme_.muted, 1));
    painter_.setBrush(theme_.surface);
    for (const auto& [seconds, bytes] : picture_.answer->points) {
      painter_.setPen(
          QPen(bytes > picture_.answer->capacity_bytes ? theme_.hairline : theme_.muted, 1));
      painter_.drawEllipse(place(seconds, bytes), kDot, kDot);
    }
    painter_.setPen(Qt::NoPen);
    painter_.setBrush(theme_.text);
    for (const FoundPlan* plan : picture_.selectable)
      painter_.drawEllipse(place(*plan), kDot, kDot);
    paint_front();
    paint_limit(hits);
    if (const ExplainedPlan* today = picture_.today_told; today && today->seconds)
      paint_today_mark(place(*today->seconds, today->bytes));
    paint_selected();
    paint_legend_line();
    if (hits) note_hits(hits);
  }

 private:
  QPointF place(double seconds, std::int64_t bytes) const {
    const double x = x_.share(double(bytes) / kScatterGib), y = y_.share(seconds);
    return {plot_.left() + x * plot_.width(), plot_.bottom() - y * plot_.height()};
  }
  QPointF place(const FoundPlan& plan) const { return place(plan.seconds, plan.bytes); }

  void paint_axes() {
    const QFont small = theme_.font(11);
    for (const double at : y_.ticks()) {
      const double y = place(at, 0).y();
      painter_.fillRect(QRectF(plot_.left(), y, plot_.width(), 1), theme_.grid);
      put_text(painter_, QRectF(rect_.left(), y - 7, kLeft - 8, 14),
               Qt::AlignVCenter | Qt::AlignRight, number_text(at), small, theme_.muted, texts_);
    }
    const QString unit = ScatterTexts::tr("GiB on the fullest GPU");
    const QRectF below(plot_.left(), plot_.bottom() + 4, plot_.width(), 14);
    put_text(painter_, below.translated(0, 15), Qt::AlignVCenter | Qt::AlignRight, unit, small,
             theme_.muted, texts_);
    for (const double at : x_.ticks()) {
      const double x = place(0, std::int64_t(at * kScatterGib)).x();
      painter_.fillRect(QRectF(x, plot_.top(), 1, plot_.height()), theme_.grid);
      put_text(painter_, QRectF(x - 30, below.top(), 60, 14), Qt::AlignCenter, number_text(at),
               small, theme_.muted, texts_);
    }
  }

  // The front of the selected plan's number of GPUs, or fewer; those of other numbers are dotted.
  void paint_front() {
    const PlanAnswer& answer = *picture_.answer;
    for (const int gpus : answer.gpu_counts())
      if (gpus != picture_.gpus)
        paint_stairs(answer.front_up_to(gpus), QPen(theme_.muted, 1, Qt::DotLine));
    const std::vector<const FoundPlan*> front = answer.front_up_to(picture_.gpus);
    paint_stairs(front, QPen(theme_.accent_line, 1));
    painter_.setPen(Qt::NoPen);
    painter_.setBrush(theme_.accent_line);
    for (const FoundPlan* plan : front) painter_.drawEllipse(place(*plan), kDot + 0.5, kDot + 0.5);
  }

  void paint_stairs(const std::vector<const FoundPlan*>& front, const QPen& pen) {
    if (front.empty()) return;
    QPainterPath path(place(*front.front()));
    for (const FoundPlan* plan : front) {  // by time: ever less memory
      const QPointF at = place(*plan);
      path.lineTo(path.currentPosition().x(), at.y());
      path.lineTo(at);
    }
    painter_.setBrush(Qt::NoBrush);
    painter_.setPen(pen);
    painter_.drawPath(path);
  }

  // What is drawn last is hit first, so that no dot below the mark of today takes its click.
  void note_hits(SearchHits* hits) const {
    const auto& plans = picture_.selectable;
    for (auto plan = plans.rbegin(); plan != plans.rend(); ++plan) {
      const QPointF at = place(**plan);
      hits->plans.push_back(
          {QRectF(at.x() - kReach, at.y() - kReach, 2 * kReach, 2 * kReach), *plan});
    }
    const auto& points = picture_.answer->points;
    for (std::size_t index = points.size(); index-- > 0;) {
      const QPointF at = place(points[index].first, points[index].second);
      hits->others.emplace_back(
          QRectF(at.x() - kDot - 1, at.y() - kDot - 1, 2 * kDot + 2, 2 * kDot + 2), index);
    }
  }

  void paint_limit(SearchHits* hits) {
    constexpr double kGrip = 5;
    const double x = place(0, picture_.limit_bytes).x();
    painter_.setPen(QPen(theme_.mark, picture_.limit_focus ? 2 : 1, Qt::DashLine));
    painter_.drawLine(QPointF(x, plot_.top() - 2), QPointF(x, plot_.bottom()));
    painter_.setPen(Qt::NoPen);
    painter_.setBrush(theme_.mark);
    painter_.drawPolygon(
        QPolygonF({QPointF(x, plot_.bottom() - kGrip), QPointF(x + kGrip, plot_.bottom() + kGrip),
                   QPointF(x - kGrip, plot_.bottom() + kGrip)}));
    const QString text = ScatterTexts::tr("limit %1").arg(bytes_text(picture_.limit_bytes));
    const double wide = QFontMetricsF(theme_.font(11)).horizontalAdvance(text) + 2;
    const double left = std::clamp(x - wide, plot_.left(), rect_.right() - wide);
    put_text(painter_, QRectF(left, plot_.top() - 17, wide, 14), Qt::AlignVCenter | Qt::AlignRight,
             text, theme_.font(11), theme_.mark, texts_);
    if (!hits) return;
    hits->limit = QRectF(x - kGrip, plot_.top() - 17, 2 * kGrip, plot_.height() + 17 + kGrip);
    hits->plot = plot_;
    hits->least_bytes = x_.least * kScatterGib;
    hits->most_bytes = x_.most * kScatterGib;
  }

  void paint_selected() {
    painter_.setBrush(Qt::NoBrush);
    if (picture_.pointed) {
      const auto& [seconds, bytes] = picture_.answer->points[*picture_.pointed];
      painter_.setPen(QPen(theme_.muted, 2));
      painter_.drawEllipse(place(seconds, bytes), kDot + 3, kDot + 3);
    }
    if (!picture_.selected) return;
    const QPointF at = place(*picture_.selected);
    painter_.setPen(QPen(theme_.accent_line, 2));
    painter_.drawEllipse(at, kSelected, kSelected);
  }

  void paint_today_mark(const QPointF& at) {
    QPainterPath diamond(at + QPointF(0, -6));
    for (const QPointF& corner : {QPointF(6, 0), QPointF(0, 6), QPointF(-6, 0)})
      diamond.lineTo(at + corner);
    diamond.closeSubpath();
    painter_.setPen(QPen(theme_.surface, 1));
    painter_.setBrush(theme_.text);
    painter_.drawPath(diamond);
  }

  // The longest entry stands last, and is said for short where there is no room.
  void paint_legend_line() {
    constexpr double kLeastWord = 40;
    const QFont small = theme_.font(11);
    double x = rect_.left() + 4;
    const double y = rect_.bottom() - kLegend / 2;
    const auto entry = [&](const QString& text, const auto& draw) {
      const double wide = QFontMetricsF(small).horizontalAdvance(text);
      const double room = rect_.right() - x - 14;
      if (room < kLeastWord) return;
      draw(QPointF(x + 5, y));
      put_elided(painter_, QRectF(x + 14, y - 8, std::min(wide + 2, room), 16), Qt::AlignVCenter,
                 text, small, theme_.muted, texts_);
      x += wide + 28;
    };
    entry(ScatterTexts::tr("simulated"), [&](const QPointF& at) {
      painter_.setPen(QPen(theme_.muted, 1));
      painter_.setBrush(theme_.surface);
      painter_.drawEllipse(at, kDot, kDot);
    });
    const bool several = picture_.answer->gpu_counts().size() > 1;
    entry(ScatterTexts::tr("can be selected"), [&](const QPointF& at) {
      painter_.setPen(Qt::NoPen);
      painter_.setBrush(theme_.text);
      painter_.drawEllipse(at, kDot, kDot);
    });
    if (const ExplainedPlan* today = picture_.today_told; today && today->seconds)
      entry(ScatterTexts::tr("today"), [&](const QPointF& at) { paint_today_mark(at); });
    entry(ScatterTexts::tr("selected"), [&](const QPointF& at) {
      painter_.setPen(QPen(theme_.accent_line, 2));
      painter_.setBrush(Qt::NoBrush);
      painter_.drawEllipse(at, 5, 5);
    });
    const QString whole = ScatterTexts::tr("Pareto front: none is faster and smaller");
    const bool has_room = x + 14 + QFontMetricsF(small).horizontalAdvance(whole) < rect_.right();
    entry(several    ? ScatterTexts::tr("Pareto front up to %1 GPUs").arg(picture_.gpus)
          : has_room ? whole
                     : ScatterTexts::tr("Pareto front"),
          [&](const QPointF& at) {
            painter_.setPen(Qt::NoPen);
            painter_.setBrush(theme_.accent_line);
            painter_.drawEllipse(at, kDot + 0.5, kDot + 0.5);
          });
    if (several)
      entry(ScatterTexts::tr("on others"), [&](const QPointF& at) {
        painter_.setPen(QPen(theme_.muted, 1, Qt::DotLine));
        painter_.drawLine(at - QPointF(5, 0), at + QPointF(5, 0));
      });
  }

  QPainter& painter_;
  const SearchPicture& picture_;
  const Theme& theme_;
  TextLog* texts_;
  QRectF plot_, rect_;
  ScatterAxis x_, y_;
};

}  // namespace

std::int64_t SearchHits::bytes_at(double x) const {
  const double share = plot.width() > 0 ? (x - plot.left()) / plot.width() : 0;
  return std::int64_t(least_bytes + std::clamp(share, 0.0, 1.0) * (most_bytes - least_bytes));
}

void paint_scatter(QPainter& painter, const QRectF& rect, const SearchPicture& picture,
                   const Theme& theme, SearchHits* hits, TextLog* texts) {
  Scatter(painter, rect, picture, theme, texts).paint(hits);
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/map/unit_board.h"

#include <QPainter>
#include <algorithm>

#include "app/look/theme/theme.h"

namespace parallelarium {

namespace {

constexpr int kEntry = 18;  // below a unit's upper edge
constexpr double kHead = 5;

void draw_route(QPainter& painter, const UnitBoard::Route& route) {
  painter.setBrush(Qt::NoBrush);
  painter.drawPolyline(route.line);
  const QPointF end = route.line.last(), before = route.line[route.line.size() - 2];
  const bool down = end.x() == before.x();
  const double along = end.x() < before.x() ? kHead + 1 : -kHead - 1;
  const QPointF back = down ? QPointF(0, -kHead - 1) : QPointF(along, 0);
  const QPointF side = down ? QPointF(kHead - 1, 0) : QPointF(0, kHead - 1);
  painter.setBrush(painter.pen().color());
  painter.drawPolygon(QPolygonF{end, end + back + side, end + back - side});
}

}  // namespace

void UnitBoard::add(std::size_t unit, QWidget* box, int column) {
  places_.push_back({unit, box, column});
}

void UnitBoard::choose(std::size_t unit) {
  chosen_ = unit;
  update();
}

const UnitBoard::Place* UnitBoard::find(std::size_t unit) const {
  const auto found = std::find_if(places_.begin(), places_.end(),
                                  [&](const Place& place) { return place.unit == unit; });
  return found == places_.end() ? nullptr : &*found;
}

bool UnitBoard::is_first(const Place& place) const {
  return std::none_of(places_.begin(), places_.end(), [&](const Place& other) {
    return other.column == place.column && other.box->y() < place.box->y();
  });
}

std::vector<UnitBoard::Route> UnitBoard::routes() const {
  std::vector<Route> routes;
  for (const auto& [earlier, later] : arrows_) {
    const Place *from = find(earlier), *to = find(later);
    if (!from || !to) continue;
    const QRectF a = from->box->geometry(), b = to->box->geometry();
    const double lane = kLane / 2.0 - 0.5, out = a.top() + kEntry + 0.5,
                 in = b.top() + kEntry + 0.5;
    const double left_of_b = b.left() - kGap / 2.0 + 0.5;
    const double right_of_a = a.right() + kGap / 2.0 + 0.5;
    QPolygonF line;
    if (from->column == to->column) {
      const bool next = std::none_of(places_.begin(), places_.end(), [&](const Place& other) {
        return other.column == to->column && other.box->y() > a.top() && other.box->y() < b.top();
      });
      if (next)
        line = {{a.center().x() + 0.5, a.bottom()}, {a.center().x() + 0.5, b.top() - 1}};
      else
        line = {{a.right(), out}, {right_of_a, out}, {right_of_a, in}, {b.right() + 1, in}};
    } else if (to->column == from->column + 1) {
      line = {{a.right(), out}, {right_of_a, out}, {right_of_a, in}, {b.left() - 1, in}};
    } else if (is_first(*to)) {  // over the heads of the columns between
      const double middle = b.center().x() + 0.5;
      line = {{a.right(), out},
              {right_of_a, out},
              {right_of_a, lane},
              {middle, lane},
              {middle, b.top() - 1}};
    } else {
      line = {{a.right(), out},  {right_of_a, out}, {right_of_a, lane},
              {left_of_b, lane}, {left_of_b, in},   {b.left() - 1, in}};
    }
    routes.push_back({earlier, later, line});
  }
  return routes;
}

void UnitBoard::paintEvent(QPaintEvent*) {
  const Theme& theme = theme_for(palette());
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const std::vector<Route> all = routes();
  for (const bool chosen : {false, true}) {
    painter.setPen(QPen(chosen ? theme.accent_line : theme.control_line, chosen ? 1.5 : 1));
    for (const Route& route : all)
      if ((route.earlier == chosen_ || route.later == chosen_) == chosen)
        draw_route(painter, route);
  }
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// Chips on their way from the homes to the experts and back.
#include <algorithm>

#include "app/views/experts/expert_brush.h"

namespace parallelarium {
namespace {

// A thing that is drawn on its way, from where it stands at home to its expert.
struct ExpertFlight {
  int expert = -1;
  QPointF from;
  double way = 0;
};

constexpr double kExpertChip = 10;  // side of what travels

// All that is on its way at the playhead: a token's choice from its cell, or, as a run does not
// list tokens, the choices of one home for one expert together.
std::vector<ExpertFlight> flights_of(const ExpertBrush& b) {
  const RoutedLayer& layer = b.layer();
  std::vector<ExpertFlight> flights;
  const int shown = int(std::min<std::int64_t>(b.layout.shown_tokens(), layer.tokens));
  for (int home = 0; home < b.layout.homes; ++home) {
    if (b.picture.shows_run()) {
      const std::vector<HomePart> parts = home_parts(layer, b.layout, home);
      for (std::size_t at = 0; at < parts.size(); ++at)
        if (!parts[at].kept.isEmpty())
          flights.push_back({parts[at].expert, parts[at].kept.center(),
                             way_of(b.picture, int(at), int(parts.size()))});
      continue;
    }
    const TokenRoutes& routes = layer.homes[std::size_t(home)];
    for (int token = 0; token < shown; ++token) {
      const double way = way_of(b.picture, token, shown);
      for (int choice = 0; choice < layer.top_k; ++choice) {
        const auto at = std::size_t(token * layer.top_k + choice);
        if (routes.kept[at])
          flights.push_back(
              {routes.expert[at], b.layout.token_cell(home, token, choice).center(), way});
      }
    }
  }
  return flights;
}

}  // namespace

double way_of(const ExpertPicture& picture, int index, int count) {
  const auto staged = [&](double done) {  // one after another, each a third of the time on its way
    const double start = count > 1 ? 0.66 * index / (count - 1) : 0;
    return std::clamp((done - start) / 0.34, 0.0, 1.0);
  };
  return staged(picture.arrived()) - staged(picture.returned());
}

void paint_flights(const ExpertBrush& b) {
  const RoutedLayer& layer = b.layer();
  if (!b.picture.tweened || !b.picture.shown() || !b.picture.playhead) return;
  std::vector<int> place(std::size_t(layer.experts), 0);
  for (std::size_t at = 0; at < b.layout.order.size(); ++at)
    place[std::size_t(b.layout.order[at])] = int(at);
  b.painter.setRenderHint(QPainter::Antialiasing);
  b.painter.setPen(QPen(b.theme.surface, 1));
  for (const ExpertFlight& flight : flights_of(b)) {
    if (flight.way <= 0 || flight.way >= 1) continue;
    const QRectF row = b.layout.expert_row(place[std::size_t(flight.expert)]);
    const QPointF to(row.left() - kExpertChip, row.center().y());
    const double eased = flight.way * flight.way * (3 - 2 * flight.way);
    const QPointF here = flight.from + (to - flight.from) * eased;
    b.painter.setBrush(expert_color(layer, flight.expert, b.theme));
    b.painter.drawRoundedRect(
        QRectF(here.x() - kExpertChip / 2, here.y() - kExpertChip / 2, kExpertChip, kExpertChip), 3,
        3);
  }
}

}  // namespace parallelarium

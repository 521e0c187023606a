// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lesson/map/lesson_ahead.h"

#include <algorithm>

namespace parallelarium {

namespace {

using Lessons = std::vector<AheadLesson>;

// Behind `from`, which is one of them or none, and then from the first on.
std::optional<std::size_t> open_of(const AheadUnit& unit, const Lessons& lessons,
                                   std::optional<std::size_t> from) {
  std::vector<std::size_t> order = unit.lessons;
  if (const auto at = from ? std::find(order.begin(), order.end(), *from) : order.end();
      at != order.end())
    std::rotate(order.begin(), at + 1, order.end());
  const auto found = std::find_if(order.begin(), order.end(),
                                  [&](std::size_t lesson) { return lessons[lesson].open(); });
  return found == order.end() ? std::nullopt : std::optional(*found);
}

bool needs_are_met(const std::vector<AheadUnit>& units, const AheadUnit& unit,
                   const Lessons& lessons) {
  return std::none_of(unit.needs.begin(), unit.needs.end(), [&](std::size_t needed) {
    return open_of(units[needed], lessons, std::nullopt).has_value();
  });
}

std::optional<std::size_t> unit_at_hand(const std::vector<AheadUnit>& units, const Lessons& lessons,
                                        std::optional<std::size_t> finished) {
  std::optional<std::size_t> found;
  QDateTime latest;
  for (std::size_t at = 0; at < units.size(); ++at) {
    const std::vector<std::size_t>& own = units[at].lessons;
    if (finished && std::find(own.begin(), own.end(), *finished) != own.end()) return at;
    if (finished || !open_of(units[at], lessons, std::nullopt)) continue;
    for (const std::size_t lesson : own) {
      if (!lessons[lesson].done || (found && lessons[lesson].seen < latest)) continue;
      found = at;
      latest = lessons[lesson].seen;
    }
  }
  return found;
}

}  // namespace

std::optional<std::size_t> lesson_ahead(const std::vector<AheadUnit>& units,
                                        const std::vector<AheadLesson>& lessons,
                                        std::optional<std::size_t> finished) {
  const std::optional<std::size_t> at_hand = unit_at_hand(units, lessons, finished);
  if (at_hand)
    if (const auto open = open_of(units[*at_hand], lessons, finished)) return open;
  for (const bool in_order : {true, false})
    for (std::size_t step = 0; step < units.size(); ++step) {
      const AheadUnit& unit = units[((at_hand ? *at_hand + 1 : 0) + step) % units.size()];
      if (in_order && !needs_are_met(units, unit, lessons)) continue;
      if (const auto open = open_of(unit, lessons, std::nullopt)) return open;
    }
  return std::nullopt;
}

}  // namespace parallelarium

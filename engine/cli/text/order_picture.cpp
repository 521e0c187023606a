// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/text/order_picture.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/cli/text/table.h"

namespace parallelarium {
namespace {

// The largest cell that all times are multiples of, if there is one of at least a 1000th of a unit.
std::optional<double> common_cell(const TimedOrder& timed) {
  constexpr double kGrain = 1e-3;
  std::int64_t divisor = 0;
  for (const auto& rank : timed.spans) {
    for (const TimedAction& action : rank) {
      for (const double time : {action.begin, action.end}) {
        const double grains = time / kGrain;
        if (grains > 1e12 || std::abs(grains - std::round(grains)) > 1e-6) return std::nullopt;
        divisor = std::gcd(divisor, static_cast<std::int64_t>(std::llround(grains)));
      }
    }
  }
  if (divisor == 0) return std::nullopt;
  return static_cast<double>(divisor) * kGrain;
}

std::string name_of_action(const Action& action, int chunks) {
  std::string name = fmt::format("{}{}", letter_of(action.kind), action.microbatch);
  if (chunks > 1) name += fmt::format(".{}", action.chunk);
  return name;
}

}  // namespace

std::optional<OrderPicture> picture_of(const TimedOrder& timed, int chunks, int most_cells) {
  const std::optional<double> cell = common_cell(timed);
  if (!cell || timed.makespan / *cell > most_cells) return std::nullopt;
  const auto cells = static_cast<std::size_t>(std::llround(timed.makespan / *cell));
  std::size_t width = 2;
  for (const auto& rank : timed.spans)
    for (const TimedAction& action : rank)
      width = std::max(width, name_of_action(action.action, chunks).size());
  OrderPicture picture{"", *cell};
  const std::size_t digits = fmt::format("{}", timed.spans.size() - 1).size();
  for (std::size_t rank = 0; rank < timed.spans.size(); ++rank) {
    std::vector<std::string> line(cells, std::string(width, '.'));
    for (const TimedAction& action : timed.spans[rank]) {
      auto first = static_cast<std::size_t>(std::llround(action.begin / *cell));
      const auto end = static_cast<std::size_t>(std::llround(action.end / *cell));
      // The second half of an overlapped pair has the same times; its name takes the next cell.
      if (first + 1 < end && line[first].front() != '.') ++first;
      std::string name = name_of_action(action.action, chunks);
      name.resize(width, ' ');
      for (std::size_t at = first; at < end && at < cells; ++at)
        line[at] = at == first ? name : std::string(width, '-');
    }
    std::string text = fmt::format("rank {:<{}} ", rank, digits);
    for (const std::string& entry : line) text += " " + entry;
    text.erase(text.find_last_not_of(' ') + 1);
    picture.text += "  " + text + "\n";
  }
  return picture;
}

}  // namespace parallelarium

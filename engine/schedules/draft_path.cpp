// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "engine/schedules/draft.h"

namespace parallelarium {

namespace {

constexpr double kNotAgain = std::numeric_limits<double>::infinity();

// From each place of the line on, when the first of the actions that are (or are not) forwards has
// all that it needs.
std::vector<double> first_ready(const DraftRank& line, bool forwards) {
  std::vector<double> first(line.ran.size() + 1, kNotAgain);
  for (std::size_t index = line.ran.size(); index-- > 0;) {
    const bool fits = (line.ran[index].action.kind == ActionKind::kForward) == forwards;
    first[index] = fits ? std::min(first[index + 1], line.began[index].ready) : first[index + 1];
  }
  return first;
}

int held_change(ActionKind kind) {
  if (kind == ActionKind::kForward) return 1;
  return kind == ActionKind::kBackward || kind == ActionKind::kWeightGrad ? -1 : 0;
}

}  // namespace

std::vector<DraftPlace> critical_path(const DraftTimes& times) {
  DraftPlace at;
  double end = 0;
  for (std::size_t rank = 0; rank < times.ranks.size(); ++rank) {
    const auto& ran = times.ranks[rank].ran;
    if (ran.empty() || ran.back().end <= end) continue;
    end = ran.back().end;
    at = {static_cast<int>(rank), static_cast<int>(ran.size()) - 1};
  }
  std::vector<DraftPlace> path;
  for (; at.rank >= 0; at = times.ranks[static_cast<std::size_t>(at.rank)]
                                .began[static_cast<std::size_t>(at.index)]
                                .after)
    path.push_back(at);
  std::reverse(path.begin(), path.end());
  return path;
}

std::vector<ChosenWait> chosen_waits(const Order& draft, const DraftTimes& times,
                                     const std::vector<double>& limits) {
  std::vector<ChosenWait> waits;
  const double share = draft.stages > 0 ? std::min(1.0, static_cast<double>(draft.ranks.size()) /
                                                            static_cast<double>(draft.stages))
                                        : 1.0;
  for (std::size_t rank = 0; rank < times.ranks.size(); ++rank) {
    const DraftRank& line = times.ranks[rank];
    const std::vector<double> forward = first_ready(line, true), other = first_ready(line, false);
    double clock = 0;
    int held = 0;
    for (std::size_t index = 0; index < line.ran.size(); ++index) {
      const TimedAction& next = line.ran[index];
      if (next.begin > clock) {
        const std::size_t later =
            std::min(line.ran.size(), index + (next.action.overlapped_with_next ? 2 : 1));
        const bool room = rank >= limits.size() || (held + 1) * share <= limits[rank] * (1 + 1e-9);
        const double could =
            std::max(clock, std::min(other[later], room ? forward[later] : kNotAgain));
        if (could < next.begin - 1e-9 * times.makespan)
          waits.push_back({static_cast<int>(rank), could, next.begin});
      }
      clock = next.end;
      held += held_change(next.action.kind);
    }
  }
  return waits;
}

}  // namespace parallelarium

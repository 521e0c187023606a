// SPDX-License-Identifier: Apache-2.0
// Goes through what comes again in a walk without taking every step.
#pragma once

#include <cstdint>
#include <vector>

namespace parallelarium {

// The times that a walk knows where its next stretch begins.
using WalkTimes = std::vector<std::int64_t>;

// Returns the times after `times` more stretches. `stretch` returns the times after a stretch from
// those before it. `before` and `now` are those around the stretch that was walked last.
//
// In a stretch times only add up and wait for each other, so that each time after it is a convex
// function of those before it. Let all times grow by fixed steps from one stretch to the next. A
// convex function that grows as steadily from the first stretch to the second, and from a far one
// to the one behind it, does so in all between. So these need no walk.
template <class Stretch>
WalkTimes walk_repeated(WalkTimes before, WalkTimes now, std::int64_t times,
                        const Stretch& stretch) {
  const auto moved = [](const WalkTimes& from, const WalkTimes& by, std::int64_t stretches) {
    WalkTimes to = from;
    for (std::size_t at = 0; at < to.size(); ++at) to[at] += stretches * by[at];
    return to;
  };
  const auto grown = [&](const WalkTimes& from, const WalkTimes& to) {
    return moved(to, from, -1);
  };
  WalkTimes steps = grown(before, now);
  while (times > 0) {
    WalkTimes next = stretch(now);
    --times;
    WalkTimes own = grown(now, next);
    for (std::int64_t far = own == steps ? times - 1 : 0; far > 0; far /= 2) {
      const WalkTimes there = moved(next, own, far);
      WalkTimes behind = stretch(there);
      if (grown(there, behind) != own) continue;
      next = std::move(behind);
      times -= far + 1;
      break;
    }
    now = std::move(next);
    steps = std::move(own);
  }
  return now;
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/placement/stretch.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace parallelarium {

namespace {

constexpr double kRoomForWork = 1.1;

// Rounded up: 0.0612 -> 0.062, 134 -> 140.
double two_digits_up(double value) {
  const double unit = std::pow(10.0, std::floor(std::log10(value)) - 1);
  return std::ceil(value / unit - 1e-9) * unit;
}

}  // namespace

// With less and less stretch one op after another is late, the most hurried one first. `late` is
// what the work of those takes, `in_time` the seconds of the others, which take stretch * in_time.
double stretch_without_overruns(std::vector<OpWork> ops) {
  std::sort(ops.begin(), ops.end(), [](const OpWork& a, const OpWork& b) {
    return a.work * b.seconds > b.work * a.seconds;
  });
  const auto fits_from = [&](std::size_t op) {
    return ops[op].seconds > 0 ? ops[op].work / ops[op].seconds
                               : std::numeric_limits<double>::infinity();
  };
  double late = 0, in_time = 0, stretch = 0;
  for (const OpWork& op : ops) in_time += op.seconds;
  for (std::size_t op = 0; op < ops.size() && in_time > 0; ++op) {
    const double allows = late * (1 - kMostOverrun) / kMostOverrun / in_time;
    if (op > 0 && allows >= fits_from(op - 1)) break;
    stretch = std::max(fits_from(op), allows);
    late += ops[op].work;
    in_time -= ops[op].seconds;
  }
  return stretch;
}

double least_stretch(const std::vector<RankWork>& ranks, double step, int cores) {
  assert(cores >= 1);
  double stretch = 0, work = 0;
  for (const RankWork& rank : ranks) {
    stretch = std::max(stretch, stretch_without_overruns(rank.ops));
    double seconds = 0, own = 0;
    for (const OpWork& op : rank.ops) {
      seconds += op.seconds;
      own += op.work + kSleepSeconds;
    }
    if (seconds > 0) stretch = std::max(stretch, own / (seconds * kMostRehearsedLoad));
    work += rank.work;
  }
  if (step > 0) stretch = std::max(stretch, work / (step * cores * kMostRehearsedLoad));
  return stretch;
}

double chosen_stretch(double least, double wished) {
  const double enough = least > 0 ? two_digits_up(kRoomForWork * least) : 1;
  return std::max({enough, wished, 1.0});
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/plan/program/timeline.h"

namespace parallelarium {

// A time window on the step.
struct TimeRange {
  Nanoseconds begin{0}, end{0};
  Nanoseconds length() const { return end - begin; }
  bool operator==(const TimeRange&) const = default;
};

}  // namespace parallelarium

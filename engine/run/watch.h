// SPDX-License-Identifier: Apache-2.0
// The thread that called run() watches the ranks: cancel, progress, hangs, ranks that do not end
// when they should, and whether a paced run leaves the cores room.
#pragma once

#include <functional>
#include <optional>

#include "engine/run/progress.h"
#include "engine/run/run.h"
#include "engine/run/stop.h"

namespace parallelarium {

class RunWatch {
 public:
  // References outlive the watch. `cores`: physical cores of this process. `now`: a test's clock.
  RunWatch(const Setup& setup, const Program& program, const RunControl& control,
           const Progress& progress, Stop& stop, bool paced, int cores,
           std::function<TimePoint()> now = Clock::now);

  // One look; call it every few ten milliseconds and once after the ranks have ended.
  void look();

 private:
  void look_for_hang();
  void look_for_late_end();
  void judge_load();

  const Setup& setup_;
  const Program& program_;
  const RunControl& control_;
  const Progress& progress_;
  Stop& stop_;
  bool paced_, judged_ = false;
  int cores_, warmup_, steps_, reported_ = -1;
  bool abandoned_ = false;
  double hang_seconds_;
  std::uint64_t changes_ = 0;
  const std::function<TimePoint()> now_;
  std::optional<TimePoint> stopped_;
  TimePoint changed_;
};

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The thread that called run() watches the ranks: cancel, progress, hangs, transports that fail
// without their rank noticing, ranks that do not end when they should, and rehearsals whose
// real work needs more stretch.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>
#include <vector>

#include "engine/run/stop.h"
#include "engine/run/train/progress.h"
#include "engine/run/train/run.h"
#include "engine/run/transport.h"

namespace parallelarium {

// How often a waiting thread looks whether the run was cancelled.
inline constexpr auto kLookEvery = std::chrono::milliseconds{20};

class RunWatch {
 public:
  // References outlive the watch. `transports`: by rank index, null for ranks that do not run here;
  // they outlive the last look. `cores`: physical cores of this process. `now`: a test's clock.
  RunWatch(const Setup& setup, const Program& program, const RunControl& control,
           const RunProgress& progress, Stop& stop, std::vector<Transport*> transports, bool paced,
           int cores, std::function<TimePoint()> now = Clock::now);
  ~RunWatch();
  RunWatch(const RunWatch&) = delete;
  RunWatch& operator=(const RunWatch&) = delete;

  // One look; call it every few ten milliseconds and once after the ranks have ended.
  void look();
  // Whether the run was stopped but work is still being aborted: keep looking.
  bool aborts() const { return stop_.raised() && !aborted_.load(); }

 private:
  void tell_losses(int first, int last);
  void look_at_transports();
  void begin_to_abort();
  void begin_to_follow();
  void look_for_hang();
  void look_for_late_end();
  void judge_stretch();

  const Setup& setup_;
  const Program& program_;
  const RunControl& control_;
  const RunProgress& progress_;
  Stop& stop_;
  const std::vector<Transport*> transports_;
  bool paced_, judged_ = false;
  int cores_, warmup_, steps_, reported_ = -1;  // reported_: steps that `progress` has heard of
  bool abandoned_ = false;
  double hang_seconds_;
  std::uint64_t changes_ = 0;
  const std::function<TimePoint()> now_;
  std::optional<TimePoint> stopped_, failed_;  // when first seen
  TimePoint changed_;
  std::atomic<bool> aborted_;  // all transports
  std::thread aborter_;
  std::atomic<bool> ended_{false};
  std::vector<bool> followed_;  // by rank index
  std::vector<std::thread> followers_;
};

}  // namespace parallelarium

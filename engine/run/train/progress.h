// SPDX-License-Identifier: Apache-2.0
// Where every lane of every rank stands, for the thread that watches over a run.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/plan/program/program.h"

namespace parallelarium {

enum class Doing : std::uint8_t {
  kNothing,       // between steps, or its lane is done
  kAwaitingOps,   // waits for `after` edges
  kComputing,     // inside a kernel
  kTransferring,  // waits for the other ranks of its op
  kPacing,        // sleeps until the modelled end
  kMeeting,       // waits for the other ranks between steps
  kConnecting     // waits for the other ranks before the first step; its op counts the rank's calls
};

// Written by the lane's thread, and by who follows its device.
struct LaneProgress {
  std::atomic<std::int32_t> op{-1};  // that it is at; of a batch the first
  std::atomic<Doing> doing{Doing::kNothing};
  std::atomic<std::uint64_t> changes{0};  // counts up whenever anything of the above changes

  void set(std::int32_t at, Doing what) {
    op.store(at, std::memory_order_relaxed);
    doing.store(what, std::memory_order_relaxed);
    changes.fetch_add(1, std::memory_order_relaxed);
  }
};

struct RankProgress {
  std::array<LaneProgress, kLanes> lanes;
  // Devices that run behind: writes where they are in place of how far their hosts have come. Set
  // and called under its mutex; null where there is no step to look at. It asks a driver, which may
  // keep who asks waiting until its GPU is free: never called by who has to see that ranks end.
  std::atomic<bool> behind{false};
  std::mutex following;
  std::function<void()> follow;
  std::atomic<int> steps_done{0};  // warm-up included
  // Of the last step, in nanoseconds: processor time of all lanes and of the compute lane, and when
  // the step ends in modelled time if no real work takes longer than modelled.
  std::atomic<std::int64_t> cpu_time{0}, compute_cpu_time{0}, modelled_end{0};
  // The sum of losses that this rank holds after each step done, warm-up included; under its mutex,
  // and written before steps_done says so. A rank that is another process tells none.
  std::mutex telling;
  std::vector<double> loss_sums;
};
// By rank index.
using RunProgress = std::vector<std::unique_ptr<RankProgress>>;

// What a rank is at, in words that stand inside a sentence: an exchange before anything else.
Message describe_now(const RankProgram& rank, const RankProgress& progress);

// One sentence for a run in which nothing moves any more: which rank did not arrive at which op,
// and where it is instead. Follows who waits for whom, to a rank that waits for nobody or to a
// circle. Requires: all ranks are built.
Message describe_hang(const Program& program, const RunProgress& progress, double seconds);

}  // namespace parallelarium

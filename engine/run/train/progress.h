// SPDX-License-Identifier: Apache-2.0
// What every lane of every rank is doing, for the thread that watches over a run.
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
#include "engine/plan/program/timeline.h"
#include "engine/run/train/run.h"

namespace parallelarium {

enum class Doing : std::uint8_t {
  kNothing,       // between steps, or its lane is done
  kAwaitingOps,   // waits for `after` edges
  kComputing,     // inside a kernel
  kTransferring,  // waits for the other ranks of its op
  kPacing,        // sleeps until the modelled end
  kMeeting,       // waits for the other ranks between steps
  kConnecting     // waits for the other ranks before the first step; `op` counts the rank's calls
};

// An op in a rehearsal: how long it should take by the clock, and the processor time of its real
// work. For Compute ops only; both are 0 for others.
struct OpSlot {
  Nanoseconds length{0}, work{0};
};

// The lane's thread writes it, and the thread that follows the device.
struct LaneProgress {
  std::atomic<std::int32_t> op{-1};  // the current op; the first of a batch
  std::atomic<Doing> doing{Doing::kNothing};
  std::atomic<std::uint64_t> changes{0};  // counts up with every change of the above

  void set(std::int32_t at, Doing what) {
    op.store(at, std::memory_order_relaxed);
    doing.store(what, std::memory_order_relaxed);
    changes.fetch_add(1, std::memory_order_relaxed);
  }
};

struct RankProgress {
  std::array<LaneProgress, kLanes> lanes;
  // Devices that run behind: `follow` writes where they are, in place of how far their hosts have
  // come. It is set and called under its mutex, and null outside of steps. It asks a driver, which
  // may answer only when its GPU is free; so the thread that must see ranks end never calls it.
  std::atomic<bool> behind{false};
  std::mutex following;
  std::function<void()> follow;
  std::atomic<int> steps_done{0};  // warm-up included
  // Written under this mutex, before steps_done counts the step. A rank in another process tells
  // nothing.
  std::mutex telling;
  std::vector<double> loss_sums;  // sums that this rank holds after each step, warm-up included
  // For the last step of a rehearsal: processor time of all lanes, its end by the clock if no real
  // work takes longer than its slot, and its ops.
  Nanoseconds cpu_time{0}, modelled_end{0};
  std::vector<OpSlot> slots;
};
// By rank index.
using RunProgress = std::vector<std::unique_ptr<RankProgress>>;

// The words inside a sentence for what a rank is doing; an exchange comes before anything else.
Message describe_now(const RankProgram& rank, const RankProgress& progress);

// The sentence for a run in which nothing moves any more: which rank did not arrive at which op,
// and where it is instead. It follows the waiting from rank to rank, to one that waits for nobody
// or to a circle. All ranks must be built.
Message describe_hang(const Program& program, const RunProgress& progress, double seconds);

// The same for each rank by itself. All ranks must be built.
std::vector<StuckRank> stuck_ranks(const Program& program, const RunProgress& progress);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Checks what GPUs send each other through NCCL, as a run uses it: a message from every GPU to
// every other, whole collectives among the first two, three ... of all, and how fast a pair moves
// bytes.
//
// Ranks are threads with a GPU each. They go through a list of steps together. A step that does not
// end in its time is named and given up, and the rest goes on in a new session.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/run/gpu/nccl/library/nccl.h"
#include "engine/run/stop.h"
#include "engine/train/device.h"

namespace parallelarium {

// Here a GPU is always an index in the rig's list.
struct LinkStep {
  int from = -1, to = -1;  // a message; if negative, a collective
  int ranks = 0;           // for a collective: the first `ranks` ranks
  CollectiveKind kind = CollectiveKind::kAllReduce;
  Reduction reduction = Reduction::kNone;
  DataType type = DataType::kF32;
  std::int64_t bytes = 0;
  bool timed = false;  // nothing is compared

  bool is_message() const { return from >= 0; }
  bool takes(int rank) const { return is_message() ? rank == from || rank == to : rank < ranks; }
};

struct LinkRig {
  int gpus = 0;
  std::function<std::unique_ptr<Device>(int gpu, int rank, Lane lane)> make_device;
  Nccl* nccl = nullptr;
  std::int64_t large_bytes = std::int64_t{64} << 20;  // size of a timed message
};
struct LinkLimits {
  TimePoint deadline = TimePoint::max();
  std::chrono::nanoseconds connect{8'000'000'000}, step{3'000'000'000};
  std::chrono::nanoseconds end{3'000'000'000};  // time to end after being told to
  const std::atomic<bool>* cancel = nullptr;
};

struct LinkFault {
  LinkStep step;
  std::vector<int> gpus;  // the GPUs that it is about
  Message found;          // "element 5 on GPU 1 is 3 and should be 6"
  bool hangs = false;
};
struct LinkSpeed {
  int from = 0, to = 0;
  double bytes_per_second = 0;
};
struct LinkFindings {
  std::vector<LinkFault> faults;
  std::vector<LinkSpeed> speeds;    // of messages in one direction
  std::vector<LinkStep> unreached;  // no time was left, or something that they need is broken
  bool stuck = false;               // threads still wait for a GPU, so the process should end
};

// All steps for the rig's GPUs, in their order.
std::vector<LinkStep> link_steps(const LinkRig& rig);

// Goes through these steps. If the GPUs do not connect, that is the only fault, and nothing is
// reached. `number` gives a GPU's number for its index. `tell` is called before each step, on the
// calling thread.
LinkFindings check_links(const LinkRig& rig, const std::vector<LinkStep>& steps,
                         const LinkLimits& limits, const std::function<int(int place)>& number,
                         const std::function<void(double share, const Message& what)>& tell);

// "GPU 0 to GPU 1, 4099 bytes"; "all_reduce of 1001 float32 among GPUs 0, 1 and 2".
Message text_of(const LinkStep& step, const std::function<int(int place)>& number);

}  // namespace parallelarium

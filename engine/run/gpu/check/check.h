// SPDX-License-Identifier: Apache-2.0
// A GPU is checked before it is trusted. Its kernels are compared with their CPU twins
// (kernel_check.h), and GPUs send each other messages (link_check.h). This takes at most 15 s. What
// was not reached in time is reported and counts as not checked. A later check that gets what is
// known spends its time on the rest.
//
// A GPU whose kernels are wrong or do not end is named and not used. A pair or group that does not
// work is named and not used together; each of its GPUs still works alone, and with others. A slow
// link is reported and used.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/run/gpu/check/tried_sets.h"
#include "engine/run/gpu/module/module.h"
#include "engine/run/train/run.h"

namespace parallelarium {

// What the bus promises between two GPUs; 0: not known.
struct LinkPromise {
  int from = 0, to = 0;  // GPUs by number, from < to
  std::string kind;      // "NVLink", "PIX" ...
  bool peer = false;     // one reads the other's memory directly
  double bytes_per_second = 0;
};

struct GpuCheckRig {
  std::vector<GpuFacts> gpus;
  std::vector<int> numbers;  // the GPUs, ascending; empty: 0, 1 ...
  // What is known and not checked again: which GPUs' kernels are right, and sets of GPUs.
  std::vector<bool> right;
  std::vector<TriedSet> tried;
  std::function<std::unique_ptr<Device>(int gpu, int rank, Lane lane)> make_device;  // by number
  Nccl* nccl = nullptr;      // null: nothing between GPUs is checked
  std::string without_nccl;  // why `nccl` is null
  std::vector<LinkPromise> promises;
  double limit_seconds = 15;
  double trial_seconds = 4, connect_seconds = 8, step_seconds = 3;
  std::int64_t large_bytes = std::int64_t{64} << 20;
};

enum class FailureKind : std::uint8_t { kKernel, kMessage, kCollective, kSlow, kPeer };
struct CheckFailure {
  FailureKind kind = FailureKind::kKernel;
  std::string what;   // "layer norm", "GPU 0 to GPU 1", "all_reduce"
  std::string shape;  // "5 x 51 float32"; empty: all shapes
  std::string found;  // "element 3 of y is 0.5 and should be 0.25"
  Message sentence;
};
struct CheckedGpu {
  int device = 0;
  GpuFacts facts;
  std::vector<CheckFailure> failures;
  std::vector<std::string> unreached;  // families
  std::vector<std::string> notes;      // what it cannot do and does not need to do
  bool failed() const { return !failures.empty(); }
  bool passed() const { return failures.empty() && unreached.empty(); }
};
struct CheckedLink {
  LinkPromise promise;          // from and to, too
  double bytes_per_second = 0;  // rate of the slower direction; 0: not measured
  std::vector<CheckFailure> failures;
  std::vector<CheckFailure> warnings;  // the link is used, since its data is right
  bool reached = true;
  bool passed() const { return failures.empty() && reached; }
};
struct CheckedGroup {
  std::vector<int> devices;
  std::vector<CheckFailure> failures;
  bool reached = true;
  bool passed() const { return failures.empty() && reached; }
};
struct GpuCheck {
  std::vector<CheckedGpu> gpus;
  // For GPUs whose kernels are right, without what was known before:
  std::vector<CheckedLink> links;    // every pair, from < to
  std::vector<CheckedGroup> groups;  // the first two, three ... GPUs that also work with each other
  std::string without_links;         // why none were checked; empty: they were, or there is one GPU
  double seconds = 0;
  bool stuck = false;     // something never ended, so the process should end
  bool complete() const;  // everything was reached, or has failed
  bool passed() const;    // everything was reached, and nothing failed
};

// The share of a promise below which a link counts as slow. Another user of the bus and the
// protocol may cost more than half. Without peer access, bytes cross the bus twice and pass through
// the host's memory, which the other socket may own.
inline constexpr double kSlowShare = 1.0 / 3, kSlowShareThroughHost = 1.0 / 10;

// Error: "cancelled". `control`: cancel and progress.
Result<GpuCheck> check_gpus(const GpuCheckRig& rig, const RunControl& control);

// The sentence "gpu-check-failed": for a GPU that has a check_failure, and for GPUs (by number)
// that failed together for this reason.
Message failed_check(const GpuFacts& gpu);
Message failed_together(const std::vector<int>& gpus, const Message& why);

}  // namespace parallelarium

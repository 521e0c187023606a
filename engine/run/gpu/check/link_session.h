// SPDX-License-Identifier: Apache-2.0
// Ranks that go together through steps of link_check.h, once.
#pragma once

#include <mutex>
#include <optional>
#include <thread>

#include "engine/run/cpu/fabric.h"
#include "engine/run/gpu/check/link_check.h"
#include "engine/run/transport.h"

namespace parallelarium {

// The result of one step.
struct LinkStepResult {
  bool done = false;
  Message found;       // what is wrong, or empty
  int at = -1;         // the rank that found it
  double seconds = 0;  // of its slowest rank
};

class LinkSession {
 public:
  // `gpus`: for each rank the index of its GPU in the rig.
  LinkSession(const LinkRig& rig, std::vector<int> gpus, std::vector<LinkStep> steps);
  ~LinkSession();
  LinkSession(const LinkSession&) = delete;
  LinkSession& operator=(const LinkSession&) = delete;

  struct End {
    bool whole = false, hung = false, in_time = true;
    int step = -1;  // the step at which it broke off; -1: while connecting
    Message why;    // why it failed
    bool stuck = false;
  };
  // Call it once. Threads that do not end keep `self` alive.
  static End run(const std::shared_ptr<LinkSession>& self, const LinkLimits& limits,
                 const std::function<void(int step)>& tell);
  std::vector<LinkStepResult> results() const {
    const std::lock_guard lock(mutex_);
    return results_;
  }

 private:
  struct Rank {
    std::unique_ptr<Device> device;
    std::byte* memory = nullptr;
    std::unique_ptr<Transport> transport;
    std::thread thread;
    std::vector<std::int64_t> sent, received;  // messages by peer
    std::vector<std::int64_t> collectives;     // by group
  };
  void make_program();
  void rank_thread(int rank);
  Result<void> steps_of(int rank);
  Result<void> step(int rank, std::size_t index);
  Result<void> call(int rank, const LinkStep& step);
  Result<void> wait(Device& device) const;
  void compare(int rank, std::size_t index);

  const LinkRig& rig_;
  const std::vector<int> gpus_;
  const std::vector<LinkStep> steps_;
  Program program_;
  Stop stop_;
  std::unique_ptr<CpuFabric> fabric_;
  std::vector<Rank> ranks_;
  std::int64_t most_bytes_ = 0;
  std::atomic<int> at_{-1};  // step; -1: connecting
  std::atomic<int> running_{0};
  mutable std::mutex mutex_;  // guards results_
  std::vector<LinkStepResult> results_;
};

}  // namespace parallelarium

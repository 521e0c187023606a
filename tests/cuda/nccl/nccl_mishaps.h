// SPDX-License-Identifier: Apache-2.0
// What ThreadNccl can be told to do wrong, for one rank of the world each.
#pragma once

#include <chrono>
#include <string>
#include <thread>
#include <utility>

#include "engine/run/gpu/nccl/library/nccl.h"

namespace parallelarium {

class NcclMishaps {
 public:
  // The rank's operation number `at` (from 1) returns `status`.
  void fail_at(int world_rank, int at, NcclStatus status) {
    failing_ = world_rank, failing_at_ = at, failure_ = status;
  }
  // The rank's group number `at` (from 1) is never launched.
  void stall_at(int world_rank, int at) { stalling_ = world_rank, stalling_at_ = at; }
  // The rank's group number `at` is launched, never ends, and is found to have failed.
  void break_at(int world_rank, int at, NcclStatus status) {
    breaking_ = world_rank, breaking_at_ = at, failure_ = status;
  }
  // Nobody hears of the rank's call of init, or of finalize.
  void lose(int world_rank) { lost_ = world_rank; }
  void keep_open(int world_rank) { kept_ = world_rank; }
  // The rank's thread is so long in each call of that name: "init" or "split".
  void hold(int world_rank, std::string call, std::chrono::milliseconds time) {
    held_ = world_rank, held_in_ = std::move(call), held_for_ = time;
  }
  // The rank's communicators take so long to abort.
  void delay_abort(int world_rank, std::chrono::milliseconds time) {
    slow_ = world_rank, slow_for_ = time;
  }

 protected:
  bool fails(int world_rank) { return world_rank == failing_ && ++failing_count_ == failing_at_; }
  bool stalls(int world_rank, int at) const {
    return world_rank == stalling_ && at == stalling_at_;
  }
  bool breaks(int world_rank, int at) const {
    return world_rank == breaking_ && at == breaking_at_;
  }
  bool is_lost(int world_rank) const { return world_rank == lost_; }
  bool stays_open(int world_rank) const { return world_rank == kept_; }
  void stay(int world_rank, const std::string& call) const {
    if (world_rank == held_ && call == held_in_) std::this_thread::sleep_for(held_for_);
  }
  void abort_slowly(int world_rank) const {
    if (world_rank == slow_) std::this_thread::sleep_for(slow_for_);
  }
  NcclStatus failure() const { return failure_; }

 private:
  int failing_ = -1, failing_at_ = 0, failing_count_ = 0, stalling_ = -1, stalling_at_ = 0;
  int breaking_ = -1, breaking_at_ = 0, lost_ = -1, kept_ = -1, held_ = -1, slow_ = -1;
  std::string held_in_;
  std::chrono::milliseconds held_for_{0}, slow_for_{0};
  NcclStatus failure_ = NcclStatus::kSuccess;
};

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The threads of a run wait for each other through this, and all of them end when one fails or the
// user cancels. A wait is a futex on the word that changes, so a waiting rank costs no core.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

#include "engine/plan/result.h"

namespace parallelarium {

using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;

// Shared by all threads of a run. Thread-safe.
class Stop {
 public:
  // `spin`: how long a wait looks at its word before it sleeps. Zero if ranks share cores.
  explicit Stop(std::chrono::nanoseconds spin = std::chrono::nanoseconds{0}) : spin_(spin) {}
  Stop(const Stop&) = delete;
  Stop& operator=(const Stop&) = delete;

  std::chrono::nanoseconds spin() const { return spin_; }

  // Ends the run: every wait returns. The first reason is kept.
  void raise(Message why);
  bool raised() const { return word_.load(std::memory_order_acquire) != 0; }
  // It must have been raised.
  Message why() const;

  // Blocks while `word` holds `old`; false if the run was stopped first. The thread that changes
  // the word calls wake(); a missed wake costs at most 0.1 s.
  bool wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t old) const;
  static void wake(const std::atomic<std::uint32_t>& word);

  // Sleeps until `deadline`. Returns false at once if the run is stopped first.
  bool sleep_until(TimePoint deadline) const;

 private:
  std::atomic<std::uint32_t> word_{0};
  std::chrono::nanoseconds spin_;
  mutable std::mutex mutex_;
  Message why_;
};

// A call returns this if another thread stopped the run; Stop::why() has the reason.
Message stopped();

// What a rank that failed says, and why. A failure of CUDA, of NCCL or of memory keeps its kind,
// since callers react to these.
Message passed_on(Message says, const Message& why);

// The processor time of the calling thread.
std::chrono::nanoseconds thread_cpu_time();

// Makes sleeps of the calling thread end on time instead of up to 50 microseconds late.
void ask_for_precise_sleep();

// Makes the calling thread run at once when it wakes on a busy core, instead of after the time
// slice of the thread that computes there (milliseconds). For threads that work for microseconds.
// Linux before 6.12 cannot do it and ignores it.
void ask_for_prompt_turns();

}  // namespace parallelarium

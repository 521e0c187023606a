// SPDX-License-Identifier: Apache-2.0
#include "engine/run/stop.h"

#include <linux/futex.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>
#include <utility>

namespace parallelarium {

namespace {

using std::chrono::nanoseconds;

// A waiter looks whether the run was stopped at least this often.
constexpr nanoseconds kSlice = std::chrono::milliseconds{100};

timespec to_timespec(nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
  return {seconds.count(), (time - seconds).count()};
}

const std::uint32_t* address_of(const std::atomic<std::uint32_t>& word) {
  static_assert(sizeof(word) == sizeof(std::uint32_t));
  return reinterpret_cast<const std::uint32_t*>(&word);
}

// Sleeps while the word holds `old`, until `deadline` of CLOCK_MONOTONIC (which is steady_clock).
void futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t old, TimePoint deadline) {
  const timespec time = to_timespec(deadline.time_since_epoch());
  syscall(SYS_futex, address_of(word), FUTEX_WAIT_BITSET_PRIVATE, old, &time, nullptr,
          FUTEX_BITSET_MATCH_ANY);
}

}  // namespace

void Stop::raise(Message why) {
  {
    const std::lock_guard lock(mutex_);
    if (raised()) return;
    why_ = std::move(why);
    word_.store(1, std::memory_order_release);
  }
  wake(word_);
}

Message Stop::why() const {
  const std::lock_guard lock(mutex_);
  return why_;
}

bool Stop::wait_while(const std::atomic<std::uint32_t>& word, std::uint32_t old) const {
  if (word.load(std::memory_order_acquire) != old) return true;
  if (spin_.count() > 0) {
    const TimePoint end = Clock::now() + spin_;
    while (Clock::now() < end) {
      if (word.load(std::memory_order_acquire) != old) return true;
    }
  }
  while (!raised()) {
    futex_wait(word, old, Clock::now() + kSlice);
    if (word.load(std::memory_order_acquire) != old) return true;
  }
  return false;
}

void Stop::wake(const std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, address_of(word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

bool Stop::sleep_until(TimePoint deadline) const {
  while (!raised()) {
    if (Clock::now() >= deadline) return true;
    futex_wait(word_, 0, deadline);
  }
  return false;
}

Message passed_on(Message says, const Message& why) {
  for (const char* kept : {"cuda-failed", "nccl-failed", "memory-short"})
    if (why.kind == kept) says.kind = kept;
  return says;
}

Message stopped() { return message("stopped", "The run was stopped."); }

nanoseconds thread_cpu_time() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return std::chrono::seconds{time.tv_sec} + nanoseconds{time.tv_nsec};
}

void ask_for_precise_sleep() { prctl(PR_SET_TIMERSLACK, 1000UL, 0, 0, 0); }

void ask_for_prompt_turns() {
  // The system's struct sched_attr, whose header cannot stand beside sched.h.
  struct {
    std::uint32_t size = 48, policy = 0;
    std::uint64_t flags = 0;
    std::int32_t nice = 0;
    std::uint32_t priority = 0;
    std::uint64_t runtime = 0, deadline = 0, period = 0;  // nanoseconds
  } scheduling;
  if (syscall(SYS_sched_getattr, 0, &scheduling, scheduling.size, 0) != 0) return;
  scheduling.runtime = 100'000;  // the shortest slice that there is
  syscall(SYS_sched_setattr, 0, &scheduling, 0);
}

}  // namespace parallelarium

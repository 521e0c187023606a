// SPDX-License-Identifier: Apache-2.0
// One message between two threads of a process: where its two sides meet, and how its bytes get
// across. The side that comes second delivers it; the first helps where it is awake and the message
// is large.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "engine/run/transport.h"

namespace parallelarium {

// kAsleep: set by the waiter that goes to sleep, so that nobody pays for waking where nobody
// sleeps. kCopying: pieces of the message may be taken; a waiter that is awake takes some too.
enum SlotState : std::uint32_t { kOpen, kAsleep, kCopying, kDone };

// Where one send meets its receive.
struct Slot {
  std::int64_t sequence = 0;
  std::atomic<std::uint32_t> state{kOpen};
  const TransferPart *send = nullptr, *recv = nullptr;
  int left = 0;  // sides that have taken their results
  std::int64_t bytes = 0;
  std::int64_t moved = 0;
  std::int64_t piece_bytes = 0;
  std::atomic<std::int64_t> taken{0}, delivered{0};  // bytes
  Pace pace;
  TimePoint met;
  // Where devices run behind: the first side, and the side that copied.
  Device *first = nullptr, *copier = nullptr;
  std::int32_t first_marks = 0, copier_marks = 0;
};

// Both sides are here: their bytes go across before this returns. The other side may help.
// Requires: called by the side that came second.
void deliver_all(Device& device, Slot& slot);
// Takes and delivers pieces of a message in kCopying until none is left.
void take_pieces(Device& device, Slot& slot);

// Held for some tens of nanoseconds by two ranks that meet, often at the same moment: sleeping on
// it would cost more than the message.
class SpinLock {
 public:
  void lock() {
    for (int turn = 0; flag_.test_and_set(std::memory_order_acquire); ++turn) {
      if (turn >= 100) std::this_thread::yield();
    }
  }
  void unlock() { flag_.clear(std::memory_order_release); }

 private:
  std::atomic_flag flag_ = ATOMIC_FLAG_INIT;
};

// The sends from one rank to another in one group.
struct Channel {
  SpinLock mutex;
  std::vector<std::unique_ptr<Slot>> open, spare;

  // Requires: mutex is held.
  Slot& at(std::int64_t sequence);
  // The second side to leave gives the slot back.
  void leave(Slot& slot);
};

}  // namespace parallelarium

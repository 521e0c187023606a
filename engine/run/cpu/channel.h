// SPDX-License-Identifier: Apache-2.0
// One message between two threads of a process: where its two sides meet, and how its bytes get
// across. Where both sides are awake either may deliver it, so that two crossing messages move at
// once, and both deliver pieces of a large one; else the side that comes second does.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "engine/run/transport.h"

namespace parallelarium {

// kAsleep: set by the waiter that goes to sleep, so that nobody pays for waking where nobody
// sleeps. kReady: both sides are here, and whoever comes first may take the message. kTaken: one
// side delivers it. kCopying: both deliver pieces of it.
enum SlotState : std::uint32_t { kOpen, kAsleep, kReady, kTaken, kCopying, kDone };

constexpr std::size_t kCacheLine = 64;

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

// Where one send meets its receive. What passes between the cores does so by the line: all that a
// small message without a pace needs stands in the first one.
struct alignas(kCacheLine) Slot {
  std::int64_t sequence = 0;
  std::atomic<std::uint32_t> state{kOpen};
  // Sides that have taken their results; both: free for another message. Two flags and no count,
  // since a count would have to be fetched before it is changed.
  std::atomic<bool> sender_left{true}, receiver_left{true};
  SpinLock lock;       // of the channel, in its first slot
  bool paced = false;  // `pace` is set
  const TransferPart *send = nullptr, *recv = nullptr;
  std::int64_t bytes = 0;
  TimePoint met;
  DeviceStream* first = nullptr;  // where devices run behind: the first side's
  std::int32_t first_marks = 0;

  alignas(kCacheLine) Pace pace;
  DeviceStream* copier = nullptr;  // where devices run behind: the side that copied
  std::int32_t copier_marks = 0;

  alignas(kCacheLine) std::int64_t piece_bytes = 0;
  std::atomic<std::int64_t> taken{0}, delivered{0};  // bytes
};
static_assert(offsetof(Slot, pace) == kCacheLine);

// Both sides are here: offers the message to whoever is awake. False if the other side sleeps (or
// has just begun to): then deliver_alone() is for the caller. Requires: called by the second side.
bool offer(Slot& slot);
// Delivers an offered message, or pieces of it where the other side does so, too. `marks`: of the
// side that takes. Returns at once where nothing is to be had.
void take(DeviceStream& device, std::int32_t marks, Slot& slot);
// Delivers the message and wakes the other side.
void deliver_alone(DeviceStream& device, std::int32_t marks, Slot& slot);

// The sends from one rank to another in one group.
struct Channel {
  Slot first;
  std::vector<std::unique_ptr<Slot>> more;  // where messages cross before they are taken

  // Where the first message is, so that to lock is to fetch what it needs.
  SpinLock& lock() { return first.lock; }
  // The slot of a message, a free one if this is its first side. `sends`: which side asks.
  // Requires: locked.
  Slot& at(std::int64_t sequence, bool sends);
  // Each side once; it does not touch the slot afterwards.
  static void leave(Slot& slot, bool sends) {
    (sends ? slot.sender_left : slot.receiver_left).store(true, std::memory_order_release);
  }
};

}  // namespace parallelarium

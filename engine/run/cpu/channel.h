// SPDX-License-Identifier: Apache-2.0
// One message between two threads of a process: where its two sides meet, and how its bytes get
// across. If both sides are awake, either may deliver it, so that two crossing messages move at
// once, and both deliver pieces of a large one. Otherwise the side that comes second delivers it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "engine/run/transport.h"

namespace parallelarium {

// kAsleep: the waiter sleeps; it sets this so that nobody pays for waking an awake one. kReady:
// both sides are here, and the first to come may take the message. kTaken: one side delivers it.
// kCopying: both deliver pieces of it.
enum SlotState : std::uint32_t { kOpen, kAsleep, kReady, kTaken, kCopying, kDone };

constexpr std::size_t kCacheLine = 64;

// Two ranks that meet hold it for some tens of nanoseconds, often at the same moment. To sleep on
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

// One send meets its receive here. Cores exchange whole cache lines, so the first line holds all
// that a small message without a pace needs.
struct alignas(kCacheLine) Slot {
  std::int64_t sequence = 0;
  std::atomic<std::uint32_t> state{kOpen};
  // Which sides have taken their results; if both have, the slot is free for another message. These
  // are two flags, since a core would have to fetch a count before it changes it.
  std::atomic<bool> sender_left{true}, receiver_left{true};
  SpinLock lock;       // of the channel, in its first slot
  bool paced = false;  // `pace` is set
  const TransferPart *send = nullptr, *recv = nullptr;
  std::int64_t bytes = 0;
  TimePoint met;
  DeviceStream* first = nullptr;  // the first side's, if devices run behind
  std::int32_t first_marks = 0;

  alignas(kCacheLine) Pace pace;
  DeviceStream* copier = nullptr;  // of the side that copied, if devices run behind
  std::int32_t copier_marks = 0;

  alignas(kCacheLine) std::int64_t piece_bytes = 0;
  std::atomic<std::int64_t> taken{0}, delivered{0};  // bytes
};
static_assert(offsetof(Slot, pace) == kCacheLine);

// The second side offers the message to both. Returns false if the other side sleeps or has just
// begun to: the caller then calls deliver_alone(). The caller must be the second side.
bool offer(Slot& slot);
// Delivers an offered message, or pieces of it beside the other side. `marks`: of the caller.
// Returns at once if nothing is left.
void take(DeviceStream& device, std::int32_t marks, Slot& slot);
// Delivers the message and wakes the other side.
void deliver_alone(DeviceStream& device, std::int32_t marks, Slot& slot);

// The sends from one rank to another in one group.
struct Channel {
  Slot first;
  std::vector<std::unique_ptr<Slot>> more;  // for messages that come before it is free

  // The lock is in the first slot, so that locking fetches what the first message needs.
  SpinLock& lock() { return first.lock; }
  // The slot of a message; a free one if this is its first side. `sends`: whether the sender asks.
  // The caller must hold the lock.
  Slot& at(std::int64_t sequence, bool sends);
  // Each side calls this once and does not touch the slot afterwards.
  static void leave(Slot& slot, bool sends) {
    (sends ? slot.sender_left : slot.receiver_left).store(true, std::memory_order_release);
  }
};

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cpu/channel.h"

#include <algorithm>
#include <span>

namespace parallelarium {
namespace {

// From this size on a message is delivered in pieces, by both sides.
constexpr std::int64_t kSharedBytes = 32 << 10;
constexpr std::int64_t kLeastPiece = 16 << 10, kMostPiece = 8 << 20;
constexpr std::int64_t kPieceGrain = 4096;  // whole elements of every type

// Copies or combines one piece of a message.
void deliver_piece(DeviceStream& device, const TransferPart& recv, std::byte* to,
                   const std::byte* from, std::int64_t bytes) {
  if (recv.reduction == Reduction::kNone) {
    device.copy(to, from, bytes);
  } else {
    const std::byte* parts[] = {to, from};
    device.combine(recv.type, recv.reduction, to, parts, 1, bytes / size_of(recv.type));
  }
}

// Bytes [begin, end) of a message, from the sender's stretches into the receiver's.
void deliver(DeviceStream& device, const TransferPart& send, const TransferPart& recv,
             std::int64_t begin, std::int64_t end) {
  const MemoryPiece whole_send{send.data, send.bytes}, whole_recv{recv.data, recv.bytes};
  const std::span<const MemoryPiece> from =
      send.stretches.empty() ? std::span(&whole_send, 1) : send.stretches;
  const std::span<const MemoryPiece> to =
      recv.stretches.empty() ? std::span(&whole_recv, 1) : recv.stretches;
  std::size_t source = 0, target = 0;
  std::int64_t source_begin = 0, target_begin = 0;  // of the current stretches, in the message
  for (std::int64_t at = begin; at < end;) {
    while (source_begin + from[source].bytes <= at) source_begin += from[source++].bytes;
    while (target_begin + to[target].bytes <= at) target_begin += to[target++].bytes;
    const std::int64_t until =
        std::min({end, source_begin + from[source].bytes, target_begin + to[target].bytes});
    deliver_piece(device, recv, to[target].data + (at - target_begin),
                  from[source].data + (at - source_begin), until - at);
    at = until;
  }
}

void take_pieces(DeviceStream& device, Slot& slot) {
  while (true) {
    const std::int64_t begin = slot.taken.fetch_add(slot.piece_bytes, std::memory_order_relaxed);
    if (begin >= slot.bytes) return;
    const std::int64_t end = std::min(slot.bytes, begin + slot.piece_bytes);
    deliver(device, *slot.send, *slot.recv, begin, end);
    slot.delivered.fetch_add(end - begin, std::memory_order_release);
  }
}

void set_done(DeviceStream& device, std::int32_t marks, Slot& slot) {
  if (device.runs_behind()) {
    slot.copier = &device;
    slot.copier_marks = marks;
  }
  if (slot.state.exchange(kDone, std::memory_order_acq_rel) == kAsleep) Stop::wake(slot.state);
}

}  // namespace

bool offer(Slot& slot) {
  if (slot.bytes >= kSharedBytes) {
    const std::int64_t eighth = (slot.bytes / 8 + kPieceGrain - 1) / kPieceGrain * kPieceGrain;
    slot.piece_bytes = std::clamp(eighth, kLeastPiece, kMostPiece);
    slot.taken.store(0, std::memory_order_relaxed);
    slot.delivered.store(0, std::memory_order_relaxed);
  }
  std::uint32_t expected = kOpen;
  return slot.state.compare_exchange_strong(expected, kReady, std::memory_order_acq_rel);
}

void take(DeviceStream& device, std::int32_t marks, Slot& slot) {
  std::uint32_t state = slot.state.load(std::memory_order_acquire);
  if (state == kCopying) take_pieces(device, slot);
  if (state != kReady) return;
  const bool shares = slot.bytes >= kSharedBytes;
  if (!slot.state.compare_exchange_strong(state, shares ? kCopying : kTaken,
                                          std::memory_order_acq_rel))
    return;
  if (shares) {
    take_pieces(device, slot);
    while (slot.delivered.load(std::memory_order_acquire) < slot.bytes) std::this_thread::yield();
  } else {
    deliver(device, *slot.send, *slot.recv, 0, slot.bytes);
  }
  set_done(device, marks, slot);
}

void deliver_alone(DeviceStream& device, std::int32_t marks, Slot& slot) {
  deliver(device, *slot.send, *slot.recv, 0, slot.bytes);
  device.mark(marks + kDoneMark);
  set_done(device, marks, slot);
}

Slot& Channel::at(std::int64_t sequence, bool sends) {
  Slot *met = nullptr, *free = nullptr;
  std::size_t own = 1;  // of this side's batch so far
  for (std::size_t i = 0; i <= more.size(); ++i) {
    Slot& slot = i == 0 ? first : *more[i - 1];
    const bool sender_left = slot.sender_left.load(std::memory_order_acquire);
    const bool receiver_left = slot.receiver_left.load(std::memory_order_acquire);
    if (sender_left && receiver_left) {
      if (free == nullptr) free = &slot;
      continue;
    }
    if (slot.sequence == sequence) met = &slot;
    const bool is_own =
        sends ? slot.send != nullptr && !sender_left : slot.recv != nullptr && !receiver_left;
    own += is_own ? 1 : 0;
  }
  // The other side may begin its next batch while this one is still under way: room for both from
  // the first time on, so that later steps allocate nothing.
  while (more.size() + 1 < 2 * own) {
    more.push_back(std::make_unique<Slot>());
    if (free == nullptr) free = more.back().get();
  }
  if (met != nullptr) return *met;
  if (free == nullptr) free = more.emplace_back(std::make_unique<Slot>()).get();
  free->sequence = sequence;
  free->state.store(kOpen, std::memory_order_relaxed);
  free->send = free->recv = nullptr;
  free->sender_left.store(false, std::memory_order_relaxed);
  free->receiver_left.store(false, std::memory_order_relaxed);
  free->paced = false;
  return *free;
}

}  // namespace parallelarium

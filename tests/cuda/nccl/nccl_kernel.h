// SPDX-License-Identifier: Apache-2.0
// What one NCCL group does on a device, for ThreadNccl: it waits for the other ranks' and moves the
// bytes.
#pragma once

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "engine/run/gpu/nccl/library/nccl.h"
#include "tests/cuda/queued_device.h"

namespace parallelarium {

// The ranks of one communicator.
struct Clique {
  int id = 0, size = 0;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<NcclComm*> arrived;  // to init or to be split
  std::map<int, std::vector<std::tuple<int, NcclComm*, NcclComm**>>>
      splits;  // by call: key, parent
  struct Message {
    const std::byte* data = nullptr;
    std::int64_t bytes = 0;
    bool taken = false;
  };
  std::map<std::tuple<int, int, std::int64_t>, Message> mail;  // from, to, how many before
  struct Gathering {
    std::map<int, const std::byte*> from;
    int computed = 0, written = 0;
  };
  std::map<std::int64_t, Gathering> gatherings;
  int finalized = 0;
};

struct NcclComm {
  std::shared_ptr<Clique> clique;
  int rank = 0, world_rank = 0;
  std::atomic<NcclStatus> state{NcclStatus::kInProgress};
  std::atomic<bool> aborted{false}, finalized{false}, destroyed{false};
  std::map<int, std::int64_t> sent, received;  // messages by peer
  std::int64_t collectives = 0;
  int splits = 0;
};

enum class Call { kSend, kRecv, kAllReduce, kReduce, kBroadcast, kAllGather, kReduceScatter };
struct Operation {
  Call kind = Call::kSend;
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  std::int64_t count = 0;  // bytes of send and recv, else elements
  int peer = 0;            // or root
  DataType type = DataType::kF32;
  Reduction reduction = Reduction::kNone;
  std::int64_t sequence = 0;
  NcclComm* comm = nullptr;
  QueuedDevice* lane = nullptr;
};

// In the order of the ranks backwards, so that nobody relies on the order of additions.
inline void add_up(std::vector<std::byte>& result, const Operation& one,
                   const Clique::Gathering& all, std::int64_t skip) {
  std::vector<const std::byte*> parts;
  for (auto part = all.from.rbegin(); part != all.from.rend(); ++part)
    parts.push_back(part->second + skip);
  make_cpu_device()->combine(one.type, one.reduction, result.data(), parts, 1, one.count);
}

inline std::vector<std::byte> result_of(const Operation& one, const Clique::Gathering& all, int n) {
  const std::int64_t size = one.count * size_of(one.type);
  std::vector<std::byte> result(static_cast<std::size_t>(size) *
                                (one.kind == Call::kAllGather ? static_cast<std::size_t>(n) : 1));
  if (one.kind == Call::kAllGather) {
    for (const auto& [rank, from] : all.from)
      std::memcpy(result.data() + rank * size, from, static_cast<std::size_t>(size));
  } else if (one.kind == Call::kBroadcast) {
    std::memcpy(result.data(), all.from.at(one.peer), static_cast<std::size_t>(size));
  } else {
    const std::int64_t skip = one.kind == Call::kReduceScatter ? one.comm->rank * size : 0;
    add_up(result, one, all, skip);
  }
  return result;
}

// Everybody's input is read before anybody's output is written, since the two may overlap.
inline void gather(const Operation& one) {
  Clique& clique = *one.comm->clique;
  std::unique_lock lock(clique.mutex);
  Clique::Gathering& all = clique.gatherings[one.sequence];
  all.from[one.comm->rank] = one.from;
  clique.changed.notify_all();
  const auto wait = [&](const auto& ready) {
    clique.changed.wait(lock, [&] { return one.comm->aborted || ready(); });
    return !one.comm->aborted;
  };
  if (!wait([&] { return static_cast<int>(all.from.size()) == clique.size; })) return;
  const std::vector<std::byte> result = result_of(one, all, clique.size);
  ++all.computed;
  clique.changed.notify_all();
  if (!wait([&] { return all.computed == clique.size; })) return;
  const bool writes = one.kind != Call::kReduce || one.peer == one.comm->rank;
  if (writes) std::memcpy(one.to, result.data(), result.size());
  if (++all.written == clique.size) clique.gatherings.erase(one.sequence);
}

inline void receive(const Operation& one) {
  Clique& clique = *one.comm->clique;
  std::unique_lock lock(clique.mutex);
  const auto key = std::make_tuple(one.peer, one.comm->rank, one.sequence);
  clique.changed.wait(lock, [&] { return one.comm->aborted || clique.mail.count(key) > 0; });
  if (one.comm->aborted) return;
  Clique::Message& message = clique.mail[key];
  message.taken = message.bytes == one.count;  // else both hang, as with NCCL
  if (message.taken) std::memcpy(one.to, message.data, static_cast<std::size_t>(message.bytes));
  clique.changed.notify_all();
}

// All operations of a group together: the kernel. Waits for the other ranks' kernels.
inline void run_kernel(const std::vector<Operation>& operations) {
  for (const Operation& one : operations) {
    if (one.kind != Call::kSend) continue;
    Clique& clique = *one.comm->clique;
    const std::lock_guard lock(clique.mutex);
    clique.mail[{one.comm->rank, one.peer, one.sequence}] = {one.from, one.count, false};
    clique.changed.notify_all();
  }
  for (const Operation& one : operations) {
    if (one.kind == Call::kRecv) receive(one);
    if (one.kind != Call::kSend && one.kind != Call::kRecv) gather(one);
  }
  for (const Operation& one : operations) {
    if (one.kind != Call::kSend) continue;
    Clique& clique = *one.comm->clique;
    std::unique_lock lock(clique.mutex);
    const auto key = std::make_tuple(one.comm->rank, one.peer, one.sequence);
    clique.changed.wait(lock, [&] { return one.comm->aborted || clique.mail[key].taken; });
    clique.mail.erase(key);
  }
}

}  // namespace parallelarium

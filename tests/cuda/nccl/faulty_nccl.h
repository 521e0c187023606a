// SPDX-License-Identifier: Apache-2.0
// ThreadNccl with one thing wrong between GPUs: a pair that changes what it carries, loses it, or
// is slow; a collective that leaves one rank's part out.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "tests/cuda/nccl/thread_nccl.h"

namespace parallelarium {

// One that knows which GPU it stands for.
class NumberedDevice : public QueuedDevice {
 public:
  explicit NumberedDevice(int gpu) : QueuedDevice(std::chrono::microseconds{0}), gpu_(gpu) {}
  int gpu() const { return gpu_; }

 private:
  const int gpu_;
};

class FaultyNccl final : public Nccl {
 public:
  enum class Pair { kCorrupts, kLoses, kIsSlow };
  explicit FaultyNccl(int version = 22809) : inner_(version) {}

  // Messages of GPU `from` to `to`, of at least so many bytes. Where devices have no number, a GPU
  // is its world rank.
  void pair(int from, int to, Pair how, std::int64_t least_bytes = 0) {
    from_ = from, to_ = to, how_ = how, least_bytes_ = least_bytes;
  }
  // All-reduces of `ranks` ranks do not count what world rank `rank` has.
  void leave_out(int rank, int ranks) { left_out_ = rank, of_ranks_ = ranks; }
  // Worlds of more than two are never made whole, nor that of two with this GPU's ranks.
  void never_connect(int ranks) { unconnected_ = ranks; }
  // Messages after the first so many are lost; -1: none.
  void stop_after(int messages) { last_ = messages < 0 ? -1 : sent_ + messages; }
  int messages() const { return sent_; }  // that were to be sent
  // Of several numbers it gives the sum where the largest is asked for.
  void take_max_for_sum() { max_is_sum_ = true; }
  ThreadNccl& inner() { return inner_; }

  int version() const override { return inner_.version(); }
  NcclStatus get_unique_id(NcclId& id) override { return inner_.get_unique_id(id); }
  NcclStatus init(NcclComm*& comm, int ranks, const NcclId& id, int rank,
                  DeviceStream& lane) override {
    {
      const auto* numbered = dynamic_cast<const NumberedDevice*>(&lane);
      const std::lock_guard lock(mutex_);
      gpus_[rank] = numbered != nullptr ? numbered->gpu() : rank;
    }
    inner_.lose(unconnected_ == ranks ? 0 : -1);
    return inner_.init(comm, ranks, id, rank, lane);
  }
  NcclStatus split(NcclComm* parent, int color, int key, NcclComm*& child) override {
    return inner_.split(parent, color, key, child);
  }
  NcclStatus get_async_error(NcclComm* comm, NcclStatus& state) override {
    return inner_.get_async_error(comm, state);
  }
  NcclStatus finalize(NcclComm* comm) override { return inner_.finalize(comm); }
  NcclStatus destroy(NcclComm* comm) override { return inner_.destroy(comm); }
  NcclStatus abort(NcclComm* comm) override { return inner_.abort(comm); }
  std::string get_last_error(NcclComm* comm) override { return inner_.get_last_error(comm); }
  NcclStatus group_start() override { return inner_.group_start(); }
  NcclStatus group_end() override { return inner_.group_end(); }

  NcclStatus send(const std::byte* from, std::int64_t bytes, int peer, NcclComm* comm,
                  DeviceStream& lane) override {
    const int number = ++sent_;
    if (last_ >= 0 && number > last_) return NcclStatus::kSuccess;
    const bool its =
        gpu_of(comm->world_rank) == from_ && gpu_of(peer) == to_ && bytes >= least_bytes_;
    if (its && how_ == Pair::kLoses) return NcclStatus::kSuccess;
    if (its && how_ == Pair::kIsSlow)
      dynamic_cast<QueuedDevice&>(lane).enqueue(
          [] { std::this_thread::sleep_for(std::chrono::milliseconds{100}); });
    if (its && how_ == Pair::kCorrupts) {
      const std::lock_guard lock(mutex_);
      // What is sent is there: the check waits for it.
      kept_.emplace_back(from, from + bytes);
      kept_.back()[static_cast<std::size_t>(bytes / 2)] ^= std::byte{1};
      from = kept_.back().data();
    }
    return inner_.send(from, bytes, peer, comm, lane);
  }
  NcclStatus recv(std::byte* to, std::int64_t bytes, int peer, NcclComm* comm,
                  DeviceStream& lane) override {
    return inner_.recv(to, bytes, peer, comm, lane);
  }
  NcclStatus all_reduce(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                        Reduction reduction, NcclComm* comm, DeviceStream& lane) override {
    if (comm->world_rank == left_out_ && comm->clique->size == of_ranks_) {
      const std::lock_guard lock(mutex_);
      kept_.emplace_back(static_cast<std::size_t>(count * size_of(type)));
      from = kept_.back().data();
    }
    if (max_is_sum_ && reduction == Reduction::kMax) reduction = Reduction::kSum;
    return inner_.all_reduce(from, to, count, type, reduction, comm, lane);
  }
  NcclStatus reduce(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                    Reduction reduction, int root, NcclComm* comm, DeviceStream& lane) override {
    return inner_.reduce(from, to, count, type, reduction, root, comm, lane);
  }
  NcclStatus broadcast(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                       int root, NcclComm* comm, DeviceStream& lane) override {
    return inner_.broadcast(from, to, count, type, root, comm, lane);
  }
  NcclStatus all_gather(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                        NcclComm* comm, DeviceStream& lane) override {
    return inner_.all_gather(from, to, count, type, comm, lane);
  }
  NcclStatus reduce_scatter(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                            Reduction reduction, NcclComm* comm, DeviceStream& lane) override {
    return inner_.reduce_scatter(from, to, count, type, reduction, comm, lane);
  }

 private:
  // In the world that was made last: one is at work at a time.
  int gpu_of(int world_rank) {
    const std::lock_guard lock(mutex_);
    const auto found = gpus_.find(world_rank);
    return found != gpus_.end() ? found->second : world_rank;
  }

  std::map<int, int> gpus_;  // by world rank
  int from_ = -1, to_ = -1, left_out_ = -1, of_ranks_ = 0, unconnected_ = 0;
  std::atomic<int> sent_{0}, last_{-1};
  std::int64_t least_bytes_ = 0;
  bool max_is_sum_ = false;
  Pair how_ = Pair::kCorrupts;
  std::mutex mutex_;
  std::deque<std::vector<std::byte>> kept_;
  ThreadNccl inner_;  // ends first: its devices read what is kept
};

}  // namespace parallelarium

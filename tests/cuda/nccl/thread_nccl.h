// SPDX-License-Identifier: Apache-2.0
// NCCL's functions among the threads of a test: they move real bytes between the threads' buffers
// on queued devices, complete later as NCCL does, and can be told to fail or to stall one rank. As
// with NCCL, a first group is launched when all whom it connects have called theirs, and an abort
// ends when no kernel runs on its rank's devices any more.
//
// Whatever the user guide forbids is written down as a violation: a call for a device while its
// last group is not launched, two threads at once, an operation outside of a group, an abort that
// waits for a kernel which nobody has told to end.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "engine/run/gpu/nccl/library/nccl.h"
#include "tests/cuda/nccl/nccl_connections.h"
#include "tests/cuda/nccl/nccl_kernel.h"
#include "tests/cuda/nccl/nccl_mishaps.h"
#include "tests/cuda/nccl/nccl_thread.h"

namespace parallelarium {

class ThreadNccl final : public Nccl, public NcclMishaps {
 public:
  explicit ThreadNccl(int version = 22809) : version_(version) {}
  ThreadNccl(const ThreadNccl&) = delete;
  ThreadNccl& operator=(const ThreadNccl&) = delete;

  std::vector<std::string> violations() const {
    const std::lock_guard lock(mutex_);
    return violations_;
  }
  int open() const { return open_; }  // communicators neither destroyed nor aborted
  int aborted() const { return aborted_; }
  // By world rank: the communicators of its groups, in the order of the calls.
  std::map<int, std::vector<int>> order() const {
    const std::lock_guard lock(mutex_);
    return order_;
  }

  int version() const override { return version_; }
  NcclStatus get_unique_id(NcclId& id) override {
    const std::lock_guard lock(mutex_);
    const int number = ++ids_;
    std::memcpy(id.bytes.data(), &number, sizeof number);
    return NcclStatus::kSuccess;
  }
  NcclStatus init(NcclComm*& comm, int ranks, const NcclId& id, int rank,
                  DeviceStream& device) override {
    static_cast<void>(dynamic_cast<QueuedDevice&>(device));
    int number = 0;
    std::memcpy(&number, id.bytes.data(), sizeof number);
    stay(rank, "init");
    comm = make(rank, rank);
    std::shared_ptr<Clique> clique;
    {
      const std::lock_guard lock(mutex_);
      auto& known = worlds_[number];
      if (known == nullptr) known = make_clique(ranks);
      clique = known;
    }
    comm->clique = clique;
    if (is_lost(rank)) return NcclStatus::kInProgress;
    const std::lock_guard lock(clique->mutex);
    clique->arrived.push_back(comm);
    if (static_cast<int>(clique->arrived.size()) == ranks) {
      own_.later([all = clique->arrived] {
        for (NcclComm* one : all) one->state = NcclStatus::kSuccess;
      });
    }
    return NcclStatus::kInProgress;
  }
  NcclStatus split(NcclComm* parent, int color, int key, NcclComm*& child) override {
    stay(parent->world_rank, "split");
    const Inside inside(*this, parent->world_rank, "split");
    if (parent->state != NcclStatus::kSuccess) note("split of a communicator in progress");
    parent->state = NcclStatus::kInProgress;
    begin_split(parent, color == kNcclNoColor ? nullptr : &child);
    Clique& clique = *parent->clique;
    const std::lock_guard lock(clique.mutex);
    auto& call = clique.splits[parent->splits++];
    call.emplace_back((color + 1) * 65536 + key, parent, &child);
    if (static_cast<int>(call.size()) < clique.size) return NcclStatus::kInProgress;
    // The last to come: children by color, ordered by key.
    auto all = call;
    std::sort(all.begin(), all.end());
    own_.later([this, all] {
      for (const auto& [order, from, place] : all)
        if (from->aborted) return;  // the places may be gone
      std::map<int, std::vector<NcclComm*>> children;
      for (const auto& [order, from, place] : all) {
        const int of_color = order / 65536;
        begin_split(from, nullptr);
        *place = nullptr;
        if (of_color == 0) continue;
        NcclComm* made = make(static_cast<int>(children[of_color].size()), from->world_rank);
        *place = made;
        children[of_color].push_back(made);
      }
      for (auto& [of_color, members] : children) {
        const std::shared_ptr<Clique> made = make_clique(static_cast<int>(members.size()));
        for (NcclComm* member : members) {
          member->clique = made;
          member->state = NcclStatus::kSuccess;
        }
      }
      for (const auto& [order, from, place] : all) from->state = NcclStatus::kSuccess;
    });
    return NcclStatus::kInProgress;
  }
  NcclStatus get_async_error(NcclComm* comm, NcclStatus& state) override {
    state = comm->state;
    return NcclStatus::kSuccess;
  }
  NcclStatus finalize(NcclComm* comm) override {
    const Inside inside(*this, comm->world_rank, "finalize");
    if (comm->finalized.exchange(true)) note("finalize of a communicator that is already");
    comm->state = NcclStatus::kInProgress;
    if (stays_open(comm->world_rank)) return NcclStatus::kInProgress;
    Clique& clique = *comm->clique;
    const std::lock_guard lock(clique.mutex);
    clique.arrived.push_back(comm);
    if (++clique.finalized < clique.size) return NcclStatus::kInProgress;
    own_.later([all = clique.arrived] {
      for (NcclComm* one : all) one->state = NcclStatus::kSuccess;
    });
    return NcclStatus::kInProgress;
  }
  NcclStatus destroy(NcclComm* comm) override {
    if (comm->state != NcclStatus::kSuccess || !comm->finalized || comm->destroyed.exchange(true))
      note("destroy of a communicator in progress, not finalized, or destroyed before");
    --open_;
    return NcclStatus::kSuccess;
  }
  NcclStatus abort(NcclComm* comm) override {
    if (comm->state == NcclStatus::kInProgress) {
      const std::lock_guard lock(mutex_);
      for (const auto& other : comms_)
        if (other->world_rank == comm->world_rank && other->clique != nullptr && !other->aborted &&
            other->state == NcclStatus::kSuccess && !other->finalized)
          violations_.push_back("an abort of what is in progress before what is not");
    }
    comm->aborted = true;
    connections_.drop(comm);
    if (comm->clique != nullptr) {
      const std::lock_guard lock(comm->clique->mutex);
      comm->clique->changed.notify_all();
    }
    --open_;
    ++aborted_;
    own_.wait_until_idle();
    leave_child(comm);
    group().aborted = comm;
    return group().open ? NcclStatus::kSuccess : group_end();
  }
  std::string get_last_error(NcclComm*) override { return "told on purpose"; }

  NcclStatus group_start() override {
    group().open = true;
    return NcclStatus::kSuccess;
  }
  NcclStatus group_end() override {
    Group done = std::move(group());
    group() = {};
    if (done.aborted != nullptr) reclaim(done.aborted->world_rank);
    if (done.operations.empty()) return NcclStatus::kSuccess;
    std::vector<NcclComm*> comms;
    QueuedDevice* lane = done.operations.front().lane;
    const int rank = done.operations.front().comm->world_rank;
    for (const Operation& one : done.operations) {
      one.comm->state = NcclStatus::kInProgress;
      // Once each: whoever sees a success may call again, and must not be told of it twice.
      if (std::find(comms.begin(), comms.end(), one.comm) == comms.end()) comms.push_back(one.comm);
      if (one.lane != lane) note("one group on two lanes");
    }
    int number = 0;
    {
      const std::lock_guard lock(mutex_);
      order_[rank].push_back(done.operations.front().comm->clique->id);
      number = static_cast<int>(order_[rank].size());
    }
    const auto launch = [=, this, operations = done.operations] {
      if (stalls(rank, number)) return;
      const bool broken = breaks(rank, number);
      own_.later([=, this] {
        enqueue(*lane, rank, operations, broken);
        for (NcclComm* comm : comms) comm->state = NcclStatus::kSuccess;
      });
      if (!broken) return;
      own_.later([=, this] {
        std::this_thread::sleep_for(std::chrono::milliseconds{100});
        comms.front()->state = failure();
      });
    };
    for (const NcclConnections::Launch& ready : connections_.call(done.operations, launch)) ready();
    return NcclStatus::kInProgress;
  }

  NcclStatus send(const std::byte* from, std::int64_t bytes, int peer, NcclComm* comm,
                  DeviceStream& lane) override {
    Operation one{Call::kSend, from, nullptr, bytes, peer};
    one.sequence = comm->sent[peer]++;
    return add(one, comm, lane);
  }
  NcclStatus recv(std::byte* to, std::int64_t bytes, int peer, NcclComm* comm,
                  DeviceStream& lane) override {
    Operation one{Call::kRecv, nullptr, to, bytes, peer};
    one.sequence = comm->received[peer]++;
    return add(one, comm, lane);
  }
  NcclStatus all_reduce(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                        Reduction reduction, NcclComm* comm, DeviceStream& lane) override {
    return collect(Call::kAllReduce, from, to, count, type, reduction, 0, comm, lane);
  }
  NcclStatus reduce(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                    Reduction reduction, int root, NcclComm* comm, DeviceStream& lane) override {
    return collect(Call::kReduce, from, to, count, type, reduction, root, comm, lane);
  }
  NcclStatus broadcast(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                       int root, NcclComm* comm, DeviceStream& lane) override {
    return collect(Call::kBroadcast, from, to, count, type, Reduction::kNone, root, comm, lane);
  }
  NcclStatus all_gather(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                        NcclComm* comm, DeviceStream& lane) override {
    return collect(Call::kAllGather, from, to, count, type, Reduction::kNone, 0, comm, lane);
  }
  NcclStatus reduce_scatter(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                            Reduction reduction, NcclComm* comm, DeviceStream& lane) override {
    return collect(Call::kReduceScatter, from, to, count, type, reduction, 0, comm, lane);
  }

 private:
  struct Group {
    bool open = false;
    std::vector<Operation> operations;
    NcclComm* aborted = nullptr;  // the last of them
  };
  static Group& group() {
    static thread_local Group mine;
    return mine;
  }

  // Writes down who calls for a device at the wrong moment.
  struct Inside {
    Inside(ThreadNccl& nccl, int rank, const char* call) : nccl_(nccl), rank_(rank) {
      const std::lock_guard lock(nccl.mutex_);
      if (nccl.inside_[rank]++ > 0) nccl.violations_.push_back("two threads of one rank at once");
      for (const auto& comm : nccl.comms_) {
        if (comm->world_rank == rank && !comm->aborted && comm->state == NcclStatus::kInProgress &&
            comm->clique != nullptr)
          nccl.violations_.push_back(std::string(call) + " before the last call had succeeded");
      }
    }
    ~Inside() {
      const std::lock_guard lock(nccl_.mutex_);
      --nccl_.inside_[rank_];
    }
    ThreadNccl& nccl_;
    int rank_;
  };

  // Where the child of a split under way is to be put; null: nowhere, or it is done.
  void begin_split(NcclComm* parent, NcclComm** place) {
    const std::lock_guard lock(mutex_);
    splitting_[parent] = place;
  }
  // What a split leaves whose parent is aborted meanwhile.
  void leave_child(NcclComm* parent) {
    NcclComm** place = nullptr;
    {
      const std::lock_guard lock(mutex_);
      place = std::exchange(splitting_[parent], nullptr);
    }
    if (place == nullptr) return;
    *place = make(0, parent->world_rank);
    (*place)->state = NcclStatus::kInternalError;
  }

  void enqueue(QueuedDevice& lane, int rank, const std::vector<Operation>& operations,
               bool broken) {
    {
      const std::lock_guard lock(kernels_mutex_);
      ++kernels_[rank];
    }
    lane.enqueue([=, this] {
      if (broken) {
        const NcclComm& comm = *operations.front().comm;
        std::unique_lock lock(comm.clique->mutex);
        comm.clique->changed.wait(lock, [&] { return comm.aborted.load(); });
      } else {
        run_kernel(operations);
      }
      const std::lock_guard lock(kernels_mutex_);
      --kernels_[rank];
      kernels_ended_.notify_all();
    });
  }
  // NCCL frees memory of the GPU, for which CUDA waits until nothing runs there.
  void reclaim(int rank) {
    abort_slowly(rank);
    std::unique_lock lock(kernels_mutex_);
    if (!kernels_ended_.wait_for(lock, std::chrono::seconds{4},
                                 [&] { return kernels_[rank] == 0; }))
      note("an abort waits for a kernel that nobody has told to end");
  }

  NcclStatus add(Operation one, NcclComm* comm, DeviceStream& lane) {
    const Inside inside(*this, comm->world_rank, "an operation");
    if (!group().open) note("an operation outside of a group");
    one.comm = comm;
    one.lane = &dynamic_cast<QueuedDevice&>(lane);
    group().operations.push_back(one);
    const std::lock_guard lock(mutex_);
    if (fails(comm->world_rank)) return failure();
    return NcclStatus::kSuccess;
  }
  NcclStatus collect(Call kind, const std::byte* from, std::byte* to, std::int64_t count,
                     DataType type, Reduction reduction, int root, NcclComm* comm,
                     DeviceStream& lane) {
    Operation one{kind, from, to, count, root, type, reduction, comm->collectives++};
    return add(one, comm, lane);
  }

  NcclComm* make(int rank, int world_rank) {
    auto comm = std::make_unique<NcclComm>();
    comm->rank = rank;
    comm->world_rank = world_rank;
    ++open_;
    const std::lock_guard lock(mutex_);
    comms_.push_back(std::move(comm));
    return comms_.back().get();
  }
  std::shared_ptr<Clique> make_clique(int size) {
    auto clique = std::make_shared<Clique>();
    clique->id = ++cliques_;
    clique->size = size;
    return clique;
  }
  void note(const char* what) {
    const std::lock_guard lock(mutex_);
    violations_.push_back(what);
  }

  const int version_;
  mutable std::mutex mutex_;
  int ids_ = 0;
  std::atomic<int> cliques_{0}, open_{0}, aborted_{0};
  std::map<int, std::shared_ptr<Clique>> worlds_;
  std::vector<std::unique_ptr<NcclComm>> comms_;
  std::map<int, int> inside_;
  std::map<int, std::vector<int>> order_;
  std::vector<std::string> violations_;
  std::map<NcclComm*, NcclComm**> splitting_;
  NcclConnections connections_;
  std::mutex kernels_mutex_;
  std::condition_variable kernels_ended_;
  std::map<int, int> kernels_;  // by world rank: launched and not ended
  NcclThread own_;              // ends before what its tasks use
};

}  // namespace parallelarium

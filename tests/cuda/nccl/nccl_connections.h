// SPDX-License-Identifier: Apache-2.0
// When NCCL connects, for ThreadNccl: two ranks, or all of a communicator, once both or all have
// called a group that needs it. Until then none of these groups is launched.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/cuda/nccl/nccl_kernel.h"

namespace parallelarium {

class NcclConnections {
 public:
  using Launch = std::function<void()>;

  // A rank calls a group. Returns what can be launched now, of all ranks.
  std::vector<Launch> call(const std::vector<Operation>& group, Launch launch) {
    const std::lock_guard lock(mutex_);
    Waiting mine;
    mine.launch = std::move(launch);
    for (const Operation& one : group) {
      const Clique& clique = *one.comm->clique;
      mine.comms.push_back(one.comm);
      if (one.kind == Call::kSend || one.kind == Call::kRecv) {
        const bool sends = one.kind == Call::kSend;
        const int from = sends ? one.comm->rank : one.peer, to = sends ? one.peer : one.comm->rank;
        came_.insert({clique.id, from, to, one.comm->rank});
        mine.needs.insert({clique.id, from, to, one.peer});
      } else {
        came_.insert({clique.id, kAll, kAll, one.comm->rank});
        for (int rank = 0; rank < clique.size; ++rank)
          mine.needs.insert({clique.id, kAll, kAll, rank});
      }
    }
    waiting_.push_back(std::move(mine));
    std::vector<Launch> ready;
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      if (std::includes(came_.begin(), came_.end(), at->needs.begin(), at->needs.end())) {
        ready.push_back(std::move(at->launch));
        at = waiting_.erase(at);
      } else {
        ++at;
      }
    }
    return ready;
  }

  // Groups of an aborted communicator are launched no more.
  void drop(const NcclComm* comm) {
    const std::lock_guard lock(mutex_);
    waiting_.erase(std::remove_if(waiting_.begin(), waiting_.end(),
                                  [&](const Waiting& one) {
                                    return std::count(one.comms.begin(), one.comms.end(), comm) > 0;
                                  }),
                   waiting_.end());
  }

 private:
  static constexpr int kAll = -1;
  using End = std::tuple<int, int, int, int>;  // of a connection: clique, from, to, whose end
  struct Waiting {
    std::vector<const NcclComm*> comms;
    std::set<End> needs;
    Launch launch;
  };

  std::mutex mutex_;
  std::set<End> came_;
  std::vector<Waiting> waiting_;
};

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// All ranks of a collective's Program: their devices, memory and transport, and their threads while
// it runs. collective_run.cpp fills them, runs them and reads the results.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "engine/run/collective/collective_run.h"
#include "engine/run/cores.h"
#include "engine/run/cpu/fabric.h"
#include "engine/run/train/executor/executor.h"

namespace parallelarium {

struct TeamRank {
  LaneDevices devices;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<Transport> transport;
  std::thread thread;
  // By repeat: when the rank went in, and its spans from the common start.
  std::vector<Nanoseconds> entered;
  std::vector<std::vector<Span>> spans;
  std::int64_t sent = 0, received = 0;
  Nanoseconds clock_error{0};  // the largest of the repeats
};

class CollectiveTeam {
 public:
  // References outlive the team. `cores`: available_cores(). If every rank can have a core, it
  // stays there and waits awake.
  CollectiveTeam(const Program& program, const CollectiveRanks& on, const std::vector<Core>& cores,
                 const std::atomic<bool>* cancel);

  // Makes devices and memory, and the ranks meet. Call it once, first. It zeroes memory, since
  // unwritten memory has no pages of its own and reads of it stay in the cache.
  Result<void> assemble();
  // Runs the Program `times` times on all ranks together. `keep` keeps what was observed.
  Result<void> run(int times, bool keep);
  // Lets the ranks part in order after the last run; without it they break off.
  Result<void> close();

  std::size_t size() const { return ranks_.size(); }
  const std::vector<TeamRank>& ranks() const { return ranks_; }
  const std::string& transport() const { return transport_; }  // its name
  // Whether the host can read and write the ranks' buffers at address().
  bool on_host() const { return !behind_; }
  std::byte* address(std::size_t rank, std::size_t buffer) const;
  // Calls `work(rank)` on a thread of every rank. Returns the first error.
  Result<void> each(const std::function<Result<void>(std::size_t)>& work);
  // Copies between the host and a buffer of a rank, from byte `offset` on. No run may be under way.
  Result<void> write(std::size_t rank, std::size_t buffer, std::int64_t offset,
                     const std::vector<std::byte>& bytes);
  Result<std::vector<std::byte>> read(std::size_t rank, std::size_t buffer);

 private:
  // Calls `work(index)` on a thread of every rank. Error: why it was stopped. `times`: how often
  // the Program runs, for the watch.
  template <class Work>
  Result<void> on_every_rank(int times, const Work& work);
  void told(const Result<void>& done);
  void rank_thread(std::size_t index, int times, bool keep);
  void steps(std::size_t index, int times, bool keep);
  void watch(int times);

  const Program& program_;
  const CollectiveRanks& on_;
  const std::atomic<bool>* cancel_;
  const std::vector<Core>& cores_;
  Stop stop_;
  CpuFabric fabric_;
  std::vector<TeamRank> ranks_;
  RunProgress progress_;
  std::string transport_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_ = 0;  // threads of on_every_rank()
  bool behind_ = false;      // devices run behind
  bool connects_ = false;    // the transport does
};

}  // namespace parallelarium

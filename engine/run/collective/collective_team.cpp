// SPDX-License-Identifier: Apache-2.0
#include "engine/run/collective/collective_team.h"

#include <unistd.h>

#include <new>
#include <system_error>
#include <utility>

#include "engine/run/train/launch.h"
#include "engine/run/train/watch.h"

namespace parallelarium {

namespace {

// A short wait is cheaper than a sleep where every rank has a core. Threads of ranks on GPUs meet
// only to agree on the order of their launches.
std::chrono::nanoseconds spin_of(const CollectiveRanks& on, std::size_t ranks, std::size_t cores) {
  if (ranks > cores) return std::chrono::nanoseconds{0};
  if (on.choice.backend == Backend::kCuda) return std::chrono::microseconds{5};
  return std::chrono::milliseconds{5};
}

Result<LaunchOptions> options_of(const CollectiveRanks& on, std::size_t ranks) {
  return on.make ? on.make() : launch_options(on.choice, ranks);
}

}  // namespace

CollectiveTeam::CollectiveTeam(const Program& program, const CollectiveRanks& on,
                               const std::vector<Core>& cores, const std::atomic<bool>* cancel)
    : program_(program),
      on_(on),
      cancel_(cancel),
      cores_(cores),
      stop_(spin_of(on, program.ranks.size(), cores.size())),
      fabric_(static_cast<int>(program.ranks.size()), program.groups, stop_),
      ranks_(program.ranks.size()) {
  for (std::size_t i = 0; i < ranks_.size(); ++i)
    progress_.push_back(std::make_unique<RankProgress>());
}

Result<void> CollectiveTeam::assemble() {
  const Result<LaunchOptions> options = options_of(on_, ranks_.size());
  if (!options) return options.error();
  transport_ = options->transport;
  connects_ = static_cast<bool>(options->make_transport);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    TeamRank& rank = ranks_[i];
    const auto number = static_cast<int>(i);
    for (int lane = 0; lane < kLanes; ++lane)
      rank.devices[static_cast<std::size_t>(lane)] =
          options->make_device(number, static_cast<Lane>(lane));
    auto arena = Arena::make(*rank.devices[0], program_.ranks[i], false);
    if (!arena) return arena.error();
    rank.arena = std::move(*arena);
    rank.transport = fabric_.transport(number);
    if (connects_) {
      rank.transport = options->make_transport(
          {program_, program_.ranks[i], stop_, *rank.devices[0], std::move(rank.transport)});
    }
  }
  behind_ = ranks_.front().devices[0]->runs_behind();
  if (!connects_) return {};
  return on_every_rank(0, [this](std::size_t i) {
    TeamRank& rank = ranks_[i];
    Executor executor(program_, program_.ranks[i], *rank.transport, rank.devices, *rank.arena,
                      stop_, *progress_[i], {});
    if (executor.load()) told(rank.transport->connect());
  });
}

Result<void> CollectiveTeam::run(int times, bool keep) {
  if (times == 0) return {};
  return on_every_rank(times, [this, times, keep](std::size_t i) { rank_thread(i, times, keep); });
}

std::byte* CollectiveTeam::address(std::size_t rank, std::size_t buffer) const {
  return ranks_[rank].arena->base() + program_.ranks[rank].buffers[buffer].offset;
}

Result<void> CollectiveTeam::each(const std::function<Result<void>(std::size_t)>& work) {
  return on_every_rank(0, [this, &work](std::size_t i) { told(work(i)); });
}

Result<void> CollectiveTeam::close() {
  if (!connects_) return {};
  return on_every_rank(0, [this](std::size_t i) { told(ranks_[i].transport->close()); });
}

// The first reason ends the run of all ranks.
void CollectiveTeam::told(const Result<void>& done) {
  if (!done && !stop_.raised()) stop_.raise(done.error());
}

template <class Work>
Result<void> CollectiveTeam::on_every_rank(int times, const Work& work) {
  running_ = ranks_.size();
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    try {
      ranks_[i].thread = std::thread([this, &work, i] {
        try {
          work(i);
        } catch (const std::bad_alloc&) {
          stop_.raise(message("memory-short.array",
                              "Rank {} found no room for its array on the host; choose a smaller "
                              "one or fewer ranks.",
                              i));
        }
        const std::lock_guard lock(mutex_);
        --running_;
        ended_.notify_one();
      });
    } catch (const std::system_error&) {
      const std::lock_guard lock(mutex_);
      running_ -= ranks_.size() - i;
      stop_.raise(message("threads-short",
                          "This computer gives the engine no more threads after {} ranks; "
                          "choose fewer ranks.",
                          i));
      break;
    }
  }
  // CPU ranks look for cancel themselves: a thread that wakes now and then would take their cores.
  if (behind_) watch(times);
  for (TeamRank& rank : ranks_) {
    if (rank.thread.joinable()) rank.thread.join();
  }
  if (stop_.raised()) return stop_.why();
  return {};
}

// As launch() watches a training run: what is under way on devices ends only when it is aborted.
void CollectiveTeam::watch(int times) {
  Setup setup;  // of nothing but steps
  setup.run.warmup = 0;
  setup.run.steps = times;
  for (const std::unique_ptr<RankProgress>& rank : progress_) rank->steps_done.store(0);
  RunControl control;
  control.cancel = cancel_;
  control.hang_timeout_seconds = on_.hang_timeout_seconds;
  control.abandon = on_.abandon;
  std::vector<Transport*> transports;
  for (const TeamRank& rank : ranks_) transports.push_back(rank.transport.get());
  RunWatch watch(setup, program_, control, progress_, stop_, std::move(transports), false,
                 static_cast<int>(cores_.size()));
  std::unique_lock lock(mutex_);
  while (running_ > 0 || watch.aborts()) {
    ended_.wait_for(lock, kLookEvery);
    lock.unlock();
    watch.look();
    lock.lock();
  }
}

void CollectiveTeam::rank_thread(std::size_t index, int times, bool keep) {
  TeamRank& rank = ranks_[index];
  if (behind_) {
    ask_for_precise_sleep();
  } else if (stop_.spin().count() > 0) {
    // Processes that run collectives at the same time begin at different cores.
    stay_on(cores_[(static_cast<std::size_t>(getpid()) + index) % cores_.size()]);
  }
  try {
    steps(index, times, keep);
  } catch (const std::system_error&) {
    // The executor has told why.
  } catch (const std::exception& error) {
    stop_.raise(message("rank-failed.outside", "Rank {} failed outside of its ops: {}", index,
                        error.what()));
  }
  // Nothing of a stopped run may still be under way when its memory goes.
  if (behind_) {
    for (const std::unique_ptr<Device>& device : rank.devices) static_cast<void>(device->finish());
  }
}

// Ends early when the run is stopped.
void CollectiveTeam::steps(std::size_t index, int times, bool keep) {
  TeamRank& rank = ranks_[index];
  Executor executor(program_, program_.ranks[index], *rank.transport, rank.devices, *rank.arena,
                    stop_, *progress_[index], {});
  StepRecord record;
  record.wants_cpu_time = false;
  for (int time = 0; time < times; ++time) {
    if (cancel_ != nullptr && cancel_->load())
      stop_.raise(message("cancelled", "The run was cancelled."));
    if (behind_ && !executor.align()) return;
    const Result<TimePoint> start = executor.meet();
    if (!start) return;
    const Nanoseconds entered = Clock::now() - *start;
    if (!executor.step(*start, {}, record)) return;
    if (!keep) continue;
    rank.entered.push_back(entered);
    rank.spans.push_back(record.spans);
    rank.clock_error = std::max(rank.clock_error, record.clock_error);
    rank.sent = rank.received = 0;
    for (const TrafficRow& row : record.traffic) {
      rank.sent += row.sent_bytes;
      rank.received += row.received_bytes;
    }
  }
}

Result<void> CollectiveTeam::write(std::size_t rank, std::size_t buffer, std::int64_t offset,
                                   const std::vector<std::byte>& bytes) {
  Device& device = *ranks_[rank].devices[0];
  device.copy_to_device(address(rank, buffer) + offset, bytes.data(),
                        static_cast<std::int64_t>(bytes.size()));
  return device.finish();
}

Result<std::vector<std::byte>> CollectiveTeam::read(std::size_t rank, std::size_t buffer) {
  Device& device = *ranks_[rank].devices[0];
  const Buffer& place = program_.ranks[rank].buffers[buffer];
  std::vector<std::byte> bytes(static_cast<std::size_t>(place.bytes));
  constexpr std::int64_t kPiece = 64 << 20;  // between two looks at cancel
  for (std::int64_t first = 0; first < place.bytes; first += kPiece) {
    if (cancel_ != nullptr && cancel_->load())
      return message("cancelled", "The run was cancelled.");
    device.copy_to_host(bytes.data() + first, address(rank, buffer) + first,
                        std::min(kPiece, place.bytes - first));
    if (Result<void> done = device.finish(); !done) return done.error();
  }
  return bytes;
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/launch.h"

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <fstream>
#include <limits>
#include <system_error>
#include <thread>

#include "engine/plan/text/units.h"
#include "engine/run/cores.h"
#include "engine/run/cpu/fabric.h"
#include "engine/run/gpu/memory.h"
#include "engine/run/net/outcome_bytes.h"
#include "engine/run/net/world.h"
#include "engine/run/train/outcome.h"
#include "engine/run/train/rank.h"
#include "engine/run/train/watch.h"

namespace parallelarium {

namespace {

// Starts VmHWM anew, so that an engine that has run before reports this run's peak. Where the
// system does not allow it, the peak is that of the whole process so far, never too small.
void forget_peak() {
  malloc_trim(0);  // what earlier runs gave back is not this run's
  std::ofstream("/proc/self/clear_refs") << "5";
}

// Why this Program cannot be run as asked, before any thread starts.
Result<void> check_request(const Setup& setup, const Program& program, const BackendChoice& choice,
                           const RunControl& control, const World* world) {
  if (Result<void> can = can_execute(setup); !can) return can;
  if (Result<void> can = can_slow(setup, choice); !can) return can;
  if (program.level != Level::kPiece || program.representatives ||
      static_cast<int>(program.ranks.size()) != setup.mesh.ranks()) {
    return message("program-partial", "Only a Program of all ranks at piece level can be run.");
  }
  if (choice.backend == Backend::kPaced) {
    bool fits = control.modelled.size() == program.ranks.size();
    for (std::size_t i = 0; fits && i < program.ranks.size(); ++i) {
      fits = control.modelled[i].size() == program.ranks[i].ops.size();
    }
    if (!fits)
      return message("durations-missing", "A rehearsal needs a predicted time for every op.");
  }
  if (choice.backend == Backend::kCuda) return {};  // its memory is asked for rank by rank
  std::int64_t needed = 0;
  for (const RankProgram& rank : program.ranks) {
    if (world == nullptr || rank.rank == world->rank()) needed += rank.arena_bytes;
  }
  if (world != nullptr) needed *= world->place().local_size;
  const std::int64_t free = proc_bytes("/proc/meminfo", "MemAvailable:");
  if (free > 0 && needed > free) {
    return message("memory-short.ranks",
                   "The ranks need {} together and this computer has {} free; a smaller model, "
                   "micro-batch or sequence needs less.",
                   figure(bytes_text(static_cast<double>(needed))),
                   figure(bytes_text(static_cast<double>(free))));
  }
  return {};
}

Message without_fp8() {
  Message why = message("fp8-gpu",
                        "Only GPUs of compute capability 8.9 or newer multiply FP8, and this one "
                        "is older; choose products same.");
  why.field = "products";
  why.alternatives = {"same"};
  return why;
}

Result<void> check_text(const Setup& setup, const Text& text, const RunWishes& wishes) {
  const int needed = setup.mesh.dp * setup.micro_batch;
  if (!wishes.held_out_loss || text.held_out_count() >= needed) return {};
  return message("text-short.held-out",
                 "The held-out part of the text has {} sequences and one micro-batch "
                 "of every replica needs {}; choose a longer text.",
                 text.held_out_count(), needed);
}

// One thread per rank, and all that a rank owns. Members go in reverse order, after the threads.
struct LocalRank {
  LaneDevices devices;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<Transport> transport;
  RankOutcome outcome;
  std::thread thread;
};

// One run, from its ranks' memory to their outcomes: prepare(), start(), follow(), finish().
class LocalRun {
 public:
  LocalRun(const Setup& setup, const Program& program, const BackendChoice& choice,
           const RunControl& control, const RunWishes& wishes, const LaunchOptions& options,
           const Text& text)
      : setup_(setup),
        program_(program),
        choice_(choice),
        control_(control),
        wishes_(wishes),
        options_(options),
        world_(options.world),
        text_(text),
        paced_(choice.backend == Backend::kPaced),
        cores_(static_cast<int>(available_cores().size())),
        meter_(options.gpu_bytes),
        // Looking at a word for a moment before sleeping only pays where every rank has a core.
        stop_(std::chrono::microseconds(
            paced_ || static_cast<int>(program.ranks.size()) > cores_ ? 0 : 5)),
        fabric_(static_cast<int>(program.ranks.size()), program.groups, stop_),
        ranks_(program.ranks.size()) {
    for (std::size_t i = 0; i < ranks_.size(); ++i)
      progress_.push_back(std::make_unique<RankProgress>());
  }

  // Devices, memory and transports of the ranks that run here.
  Result<void> prepare() {
    if (Result<void> fits = check_gpus(); !fits) return fits;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (!runs_here(i)) continue;
      if (Result<void> made = prepare(i); !made) return made;
    }
    if (world_ != nullptr) {
      world_->begin(stop_, progress_, [this](int rank) {
        const auto at = static_cast<std::size_t>(rank);
        return describe_now(program_.ranks[at], *progress_[at]);
      });
    }
    return {};
  }

  // A thread for each of them.
  void start() {
    running_ = world_ != nullptr ? 1 : ranks_.size();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (!runs_here(i)) continue;
      try {
        ranks_[i].thread = std::thread([this, i] { run(i); });
      } catch (const std::system_error&) {
        stop_.raise(message("threads-short",
                            "This computer gives the engine no more threads after {} ranks; "
                            "choose fewer ranks.",
                            i));
        const std::lock_guard lock(mutex_);
        running_ -= world_ != nullptr ? 1 : ranks_.size() - i;
        break;
      }
    }
  }

  // Watches them until all have ended.
  void follow() {
    // Rank 0 alone knows where all ranks are.
    RunControl watched = control_;
    if (world_ != nullptr && !world_->leads())
      watched.hang_timeout_seconds = std::numeric_limits<double>::infinity();
    std::vector<Transport*> transports;
    for (const LocalRank& rank : ranks_) transports.push_back(rank.transport.get());
    RunWatch watch(setup_, program_, watched, progress_, stop_, std::move(transports), paced_,
                   cores_);
    {
      std::unique_lock lock(mutex_);
      while (running_ > 0 || watch.aborts()) {
        ended_.wait_for(lock, kLookEvery);
        lock.unlock();
        watch.look();
        lock.lock();
      }
    }
    for (LocalRank& rank : ranks_) {
      if (rank.thread.joinable()) rank.thread.join();
    }
    watch.look();
  }

  Result<RunResult> finish() {
    if (!stop_.raised() && options_.gpu_bytes) give_back();
    if (world_ != nullptr) {
      if (Result<void> done = gather(); !done) return done.error();
    }
    if (stop_.raised()) return stop_.why();
    if (world_ != nullptr && !world_->leads()) return RunResult{};
    std::vector<RankOutcome*> outcomes;
    for (LocalRank& rank : ranks_) outcomes.push_back(&rank.outcome);
    RunResult result = result_of(setup_, program_, choice_, control_, outcomes);
    result.observation.transport = options_.transport;
    for (const RankOutcome* rank : outcomes)
      if (rank != outcomes.front()) result.observation.process_bytes += rank->process_bytes;
    return result;
  }

 private:
  bool runs_here(std::size_t i) const {
    return world_ == nullptr || program_.ranks[i].rank == world_->rank();
  }

  Result<void> check_gpus() const {
    if (!options_.gpu_bytes) return {};
    std::vector<std::int64_t> needed, extra;
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      needed.push_back(runs_here(i) ? program_.ranks[i].arena_bytes : 0);
      if (options_.gpu_extra) extra.push_back(options_.gpu_extra(program_, program_.ranks[i]));
    }
    return check_gpu_memory(options_.gpus, needed, options_.gpu_bytes, extra);
  }

  Result<void> prepare(std::size_t i) {
    LocalRank& rank = ranks_[i];
    const RankProgram& program = program_.ranks[i];
    if (options_.gpu_bytes) meter_.begin(options_.gpus[i], static_cast<int>(i));
    for (int lane = 0; lane < kLanes; ++lane) {
      rank.devices[static_cast<std::size_t>(lane)] =
          options_.make_device(program.rank, static_cast<Lane>(lane));
    }
    Result<std::unique_ptr<Arena>> arena = Arena::make(*rank.devices[0], program, options_.poison);
    if (!arena) return arena.error();  // also of a device that could not be made
    if (program_.shape.fp8 && !rank.devices[0]->has_fp8()) return without_fp8();
    rank.arena = std::move(*arena);
    std::int64_t workspaces = 0;
    for (const std::unique_ptr<Device>& device : rank.devices)
      workspaces += device->workspace_bytes();
    if (options_.gpu_bytes) meter_.holds(options_.gpus[i], program.arena_bytes, workspaces);
    rank.transport = world_ != nullptr ? nullptr : fabric_.transport(program.rank);
    if (options_.make_transport) {
      rank.transport = options_.make_transport(
          {program_, program, stop_, *rank.devices[0], std::move(rank.transport)});
    }
    return {};
  }

  // The thread of a rank.
  void run(std::size_t i) {
    LocalRank& rank = ranks_[i];
    RankJob job{setup_,
                text_,
                program_,
                program_.ranks[i],
                *rank.transport,
                rank.devices,
                *rank.arena,
                stop_,
                *progress_[i],
                {},
                wishes_,
                [this, i] {
                  if (options_.gpu_bytes) meter_.end(options_.gpus[i]);
                }};
    if (paced_) {
      for (const Nanoseconds duration : control_.modelled[i]) {
        job.durations.push_back(
            Nanoseconds{std::llround(static_cast<double>(duration.count()) * control_.stretch)});
      }
    }
    // A failure has been given to `stop_`, which all ranks share.
    static_cast<void>(run_rank(job, rank.outcome));
    // Nothing of a stopped run may still be under way when its memory goes.
    for (const std::unique_ptr<Device>& device : rank.devices) static_cast<void>(device->finish());
    const std::lock_guard lock(mutex_);
    --running_;
    ended_.notify_one();
  }

  // Takes the ranks apart, part by part, and measures what each was of their GPUs.
  void give_back() {
    using Gone = GpuMemoryMeter::Gone;
    meter_.look(Gone::kCommunicators);
    for (LocalRank& rank : ranks_) rank.transport.reset();
    meter_.look(Gone::kTransports);
    for (LocalRank& rank : ranks_) rank.arena.reset();
    meter_.look(Gone::kArenas);
    for (LocalRank& rank : ranks_) rank.devices = {};
    meter_.look(Gone::kDevices);
    for (const GpuMemory& row : meter_.result())
      ranks_[static_cast<std::size_t>(row.rank)].outcome.gpu_memory = row;
  }

  // Every process's outcome to rank 0's.
  Result<void> gather() {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      if (!runs_here(i)) continue;
      ranks_[i].outcome.process_bytes = proc_bytes("/proc/self/status", "VmHWM:");
      Result<std::vector<std::string>> all = world_->finish(to_bytes(ranks_[i].outcome));
      if (!all) return all.error();
      for (std::size_t other = 0; other < all->size(); ++other) {
        if (other == i) continue;
        Result<RankOutcome> outcome = outcome_from_bytes((*all)[other]);
        if (!outcome) return outcome.error();
        ranks_[other].outcome = std::move(*outcome);
        ranks_[other].outcome.clock_error += world_->clock_error(program_.ranks[other].rank);
      }
      break;
    }
    return {};
  }

  const Setup& setup_;
  const Program& program_;
  const BackendChoice& choice_;
  const RunControl& control_;
  const RunWishes& wishes_;
  const LaunchOptions& options_;
  World* const world_;
  const Text& text_;
  const bool paced_;
  const int cores_;
  GpuMemoryMeter meter_;
  Stop stop_;
  CpuFabric fabric_;
  RunProgress progress_;
  std::vector<LocalRank> ranks_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::size_t running_ = 0;  // ranks whose threads have not ended
};

}  // namespace

Result<RunResult> launch(const Setup& setup, const Program& program, const BackendChoice& choice,
                         const RunControl& control, const RunWishes& wishes,
                         const LaunchOptions& options) {
  if (Result<void> can = check_request(setup, program, choice, control, options.world); !can)
    return can.error();
  if (!options.unchecked && !control.hung) {
    if (const std::vector<Message> wrong = check(program); !wrong.empty()) return wrong.front();
  }
  for (const Probe& probe : wishes.probes)
    if (Result<void> can = check_probe(setup, program, probe); !can) return can.error();
  const Result<Text> text = Text::load(setup.run.text, setup.model.sequence);
  if (!text) return text.error();
  if (Result<void> enough = check_text(setup, *text, wishes); !enough) return enough.error();
  forget_peak();
  LocalRun run(setup, program, choice, control, wishes, options, *text);
  if (Result<void> ready = run.prepare(); !ready) return ready.error();
  run.start();
  run.follow();
  return run.finish();
}

}  // namespace parallelarium

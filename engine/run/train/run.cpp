// SPDX-License-Identifier: Apache-2.0
#include "engine/run/train/run.h"

#include <malloc.h>

#include <algorithm>
#include <cmath>
#include <condition_variable>
#include <fstream>
#include <limits>
#include <system_error>
#include <thread>

#include "engine/run/cores.h"
#include "engine/run/cpu/fabric.h"
#include "engine/run/gpu/extra_memory.h"
#include "engine/run/gpu/memory.h"
#include "engine/run/gpu/module.h"
#include "engine/run/gpu/nccl/nccl_launch.h"
#include "engine/run/gpu/nccl/nccl_rules.h"
#include "engine/run/net/outcome_bytes.h"
#include "engine/run/net/socket_transport.h"
#include "engine/run/net/world.h"
#include "engine/run/train/launch.h"
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
  if (program.level != Level::kPiece || program.representatives ||
      static_cast<int>(program.ranks.size()) != setup.mesh.ranks()) {
    return message("program-partial", "Only a Program of all ranks at piece level can be run.");
  }
  if (choice.backend == Backend::kPaced) {
    bool fits = control.modelled.size() == program.ranks.size();
    for (std::size_t i = 0; fits && i < program.ranks.size(); ++i) {
      fits = control.modelled[i].size() == program.ranks[i].ops.size();
    }
    if (!fits) return message("pace-missing", "A paced run needs a modelled time for every op.");
  }
  if (choice.backend == Backend::kCuda) return {};  // its memory is asked for rank by rank
  std::int64_t needed = 0;
  for (const RankProgram& rank : program.ranks) {
    if (world == nullptr || rank.rank == world->rank()) needed += rank.arena_bytes;
  }
  if (world != nullptr) needed *= world->place().local_size;
  const std::int64_t free = proc_bytes("/proc/meminfo", "MemAvailable:");
  if (free > 0 && needed > free) {
    return message(
        "memory-short.ranks",
        "The ranks need {} MB together and this computer has {} MB free; a smaller model, "
        "micro-batch or sequence needs less.",
        (needed + 999'999) / 1'000'000, free / 1'000'000);
  }
  return {};
}

// One thread per rank, and all that a rank owns. Members go in reverse order, after the threads.
struct LocalRank {
  LaneDevices devices;
  std::unique_ptr<Arena> arena;
  std::unique_ptr<Transport> transport;
  RankOutcome outcome;
  std::thread thread;
};

// Takes the ranks apart, part by part, and measures what each was of their GPUs.
void give_back(std::vector<LocalRank>& ranks, GpuMemoryMeter& meter) {
  using Gone = GpuMemoryMeter::Gone;
  meter.look(Gone::kCommunicators);
  for (LocalRank& rank : ranks) rank.transport.reset();
  meter.look(Gone::kTransports);
  for (LocalRank& rank : ranks) rank.arena.reset();
  meter.look(Gone::kArenas);
  for (LocalRank& rank : ranks) rank.devices = {};
  meter.look(Gone::kDevices);
  for (const GpuMemory& row : meter.result())
    ranks[static_cast<std::size_t>(row.rank)].outcome.gpu_memory = row;
}

// Every process's outcome to rank 0's.
Result<void> gather(World& world, const Program& program, std::vector<LocalRank>& ranks) {
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (program.ranks[i].rank != world.rank()) continue;
    ranks[i].outcome.process_bytes = proc_bytes("/proc/self/status", "VmHWM:");
    Result<std::vector<std::string>> all = world.finish(to_bytes(ranks[i].outcome));
    if (!all) return all.error();
    for (std::size_t other = 0; other < all->size(); ++other) {
      if (other == i) continue;
      Result<RankOutcome> outcome = outcome_from_bytes((*all)[other]);
      if (!outcome) return outcome.error();
      ranks[other].outcome = std::move(*outcome);
      ranks[other].outcome.clock_error += world.clock_error(program.ranks[other].rank);
    }
    break;
  }
  return {};
}

}  // namespace

Result<RunResult> launch(const Setup& setup, const Program& program, const BackendChoice& choice,
                         const RunControl& control, const RunWishes& wishes,
                         const LaunchOptions& options) {
  if (Result<void> can = check_request(setup, program, choice, control, options.world); !can)
    return can.error();
  if (!options.unchecked) {
    if (const std::vector<Message> wrong = check(program); !wrong.empty()) return wrong.front();
  }
  const Result<Text> text = Text::load(setup.run.text, setup.model.sequence);
  if (!text) return text.error();
  const bool paced = choice.backend == Backend::kPaced;
  const auto cores = static_cast<int>(available_cores().size());
  const std::size_t count = program.ranks.size();
  if (wishes.held_out_loss && text->held_out_count() < setup.mesh.dp * setup.micro_batch) {
    return message("text-short.held-out",
                   "The held-out part of the text has {} sequences and one micro-batch "
                   "of every replica needs {}; choose a longer text.",
                   text->held_out_count(), setup.mesh.dp * setup.micro_batch);
  }

  World* const world = options.world;
  const auto runs_here = [&](std::size_t i) {
    return world == nullptr || program.ranks[i].rank == world->rank();
  };
  if (options.gpu_bytes) {
    std::vector<std::int64_t> needed, extra;
    for (std::size_t i = 0; i < count; ++i) {
      needed.push_back(runs_here(i) ? program.ranks[i].arena_bytes : 0);
      if (options.gpu_extra) extra.push_back(options.gpu_extra(program, program.ranks[i]));
    }
    if (Result<void> fits = check_gpu_memory(options.gpus, needed, options.gpu_bytes, extra); !fits)
      return fits.error();
  }
  forget_peak();
  GpuMemoryMeter meter(options.gpu_bytes);
  // Looking at a word for a moment before sleeping only pays where every rank has a core.
  Stop stop(std::chrono::microseconds(paced || static_cast<int>(count) > cores ? 0 : 5));
  CpuFabric fabric(static_cast<int>(count), program.groups, stop);
  RunProgress progress;
  std::vector<LocalRank> ranks(count);
  std::vector<RankOutcome*> outcomes;
  for (std::size_t i = 0; i < count; ++i) {
    progress.push_back(std::make_unique<RankProgress>());
    LocalRank& rank = ranks[i];
    outcomes.push_back(&rank.outcome);
    if (!runs_here(i)) continue;
    if (options.gpu_bytes) meter.begin(options.gpus[i], static_cast<int>(i));
    for (int lane = 0; lane < kLanes; ++lane) {
      rank.devices[static_cast<std::size_t>(lane)] =
          options.make_device(program.ranks[i].rank, static_cast<Lane>(lane));
    }
    Result<std::unique_ptr<Arena>> arena =
        Arena::make(*rank.devices[0], program.ranks[i], options.poison);
    if (!arena) return arena.error();
    rank.arena = std::move(*arena);
    std::int64_t workspaces = 0;
    for (const std::unique_ptr<Device>& device : rank.devices)
      workspaces += device->workspace_bytes();
    if (options.gpu_bytes) meter.holds(options.gpus[i], program.ranks[i].arena_bytes, workspaces);
    rank.transport = world != nullptr ? nullptr : fabric.transport(program.ranks[i].rank);
    if (options.make_transport) {
      rank.transport = options.make_transport(
          {program, program.ranks[i], stop, *rank.devices[0], std::move(rank.transport)});
    }
  }
  if (world != nullptr) {
    world->begin(stop, progress, [&](int rank) {
      const auto at = static_cast<std::size_t>(rank);
      return describe_now(program.ranks[at], *progress[at]);
    });
  }

  std::mutex mutex;
  std::condition_variable ended;
  std::size_t running = world != nullptr ? 1 : count;
  const auto rank_thread = [&](std::size_t i) {
    RankJob job{setup,
                *text,
                program,
                program.ranks[i],
                *ranks[i].transport,
                ranks[i].devices,
                *ranks[i].arena,
                stop,
                *progress[i],
                {},
                wishes,
                [&meter, &options, i] {
                  if (options.gpu_bytes) meter.end(options.gpus[i]);
                }};
    if (paced) {
      for (const Nanoseconds duration : control.modelled[i]) {
        job.durations.push_back(
            Nanoseconds{std::llround(static_cast<double>(duration.count()) * control.pace_factor)});
      }
    }
    // A failure has been given to `stop`, which all ranks share.
    static_cast<void>(run_rank(job, ranks[i].outcome));
    // Nothing of a stopped run may still be under way when its memory goes.
    for (const std::unique_ptr<Device>& device : ranks[i].devices)
      static_cast<void>(device->finish());
    const std::lock_guard lock(mutex);
    --running;
    ended.notify_one();
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (!runs_here(i)) continue;
    try {
      ranks[i].thread = std::thread(rank_thread, i);
    } catch (const std::system_error&) {
      stop.raise(message("threads-short",
                         "This computer gives the engine no more threads after {} ranks; choose "
                         "fewer ranks.",
                         i));
      const std::lock_guard lock(mutex);
      running -= world != nullptr ? 1 : count - i;
      break;
    }
  }
  // Rank 0 alone knows where all ranks are.
  RunControl watched = control;
  if (world != nullptr && !world->leads())
    watched.hang_timeout_seconds = std::numeric_limits<double>::infinity();
  std::vector<Transport*> transports;
  for (const LocalRank& rank : ranks) transports.push_back(rank.transport.get());
  RunWatch watch(setup, program, watched, progress, stop, std::move(transports), paced, cores);
  {
    std::unique_lock lock(mutex);
    while (running > 0 || watch.aborts()) {
      ended.wait_for(lock, kLookEvery);
      lock.unlock();
      watch.look();
      lock.lock();
    }
  }
  for (LocalRank& rank : ranks) {
    if (rank.thread.joinable()) rank.thread.join();
  }
  watch.look();
  if (!stop.raised() && options.gpu_bytes) give_back(ranks, meter);
  if (world != nullptr) {
    if (Result<void> done = gather(*world, program, ranks); !done) return done.error();
  }
  if (stop.raised()) return stop.why();
  RunResult result;
  if (world != nullptr && !world->leads()) return result;
  result = result_of(setup, program, choice, control, outcomes);
  result.observation.transport = options.transport;
  for (const RankOutcome* rank : outcomes)
    if (rank != outcomes.front()) result.observation.process_bytes += rank->process_bytes;
  return result;
}

Result<LaunchOptions> launch_options(const BackendChoice& choice, std::size_t ranks, World* world) {
  LaunchOptions options;
  options.world = world;
  if (world != nullptr) {
    options.transport = "TCP between processes";
    options.make_transport = [world](TransportParts parts) {
      return make_socket_transport(*world, parts.program, parts.stop);
    };
  }
  if (choice.backend != Backend::kCuda) return options;
  const Result<CudaModule*> module = cuda_module();
  if (!module) return module.error();
  options.make_device = [cuda = *module, gpus = choice.gpus](int rank, Lane lane) {
    return cuda->make_device(gpus[static_cast<std::size_t>(rank)], rank, lane);
  };
  options.gpus = choice.gpus;
  options.gpu_bytes = [cuda = *module](int gpu) { return cuda->bytes(gpu); };
  // Ranks on one GPU meet in its memory.
  const bool together = world == nullptr && (ranks == 1 || choice.source == Source::kSharedGpu);
  if (Result<std::vector<GpuFacts>> facts = (*module)->gpus()) {
    options.gpu_extra = [facts = std::move(*facts), gpus = choice.gpus, together](
                            const Program& program, const RankProgram& rank) {
      const int gpu = gpus[static_cast<std::size_t>(rank.rank)];
      return extra_memory(program, rank, facts[static_cast<std::size_t>(gpu)], !together).sum();
    };
  }
  if (together) {
    options.transport = "memory of one GPU";
    return options;
  }
  const Result<Nccl*> nccl = (*module)->nccl();
  if (!nccl) return nccl.error();
  options.nccl = *nccl;
  options.transport = "NCCL " + nccl_version_text((*nccl)->version());
  options.make_transport =
      world != nullptr ? nccl_between_processes(**nccl, *world) : nccl_between_threads(**nccl);
  return options;
}

Result<RunResult> run(const Setup& setup, const Program& program, const BackendChoice& choice,
                      const RunControl& control, const RunWishes& wishes, World* world) {
  const Result<LaunchOptions> options = launch_options(choice, program.ranks.size(), world);
  if (!options) return options.error();
  Nccl* const nccl = options->nccl;
  if (nccl != nullptr) static_cast<void>(nccl->take_choices());  // of runs and calibrations before
  Result<RunResult> result = launch(setup, program, choice, control, wishes, *options);
  if (!result || nccl == nullptr) return result;
  result->observation.choices = nccl->take_choices();
  result->observation.transport =
      nccl_text(nccl->version(), (*cuda_module())->versions().driver, plan_splits(program).size());
  return result;
}

}  // namespace parallelarium

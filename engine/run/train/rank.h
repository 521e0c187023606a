// SPDX-License-Identifier: Apache-2.0
// Runs one rank from first to last step. It loads the micro-batches, executes the rank's part of
// the Program, and reads back loss and gradient norm. It knows nothing of other ranks' threads or
// processes: a launcher (run in run.cpp) makes the Transport.
#pragma once

#include <functional>
#include <vector>

#include "engine/plan/model/routing.h"
#include "engine/run/train/executor/executor.h"
#include "engine/run/train/probe/probe.h"
#include "engine/run/train/run.h"
#include "engine/train/data.h"
#include "engine/train/parameters.h"

namespace parallelarium {

// Everything that a rank gets. References outlive the call.
struct RankJob {
  const Setup& setup;
  const Text& text;
  const Program& program;
  const RankProgram& rank;
  Transport& transport;
  LaneDevices& devices;
  Arena& arena;
  Stop& stop;
  RankProgress& progress;
  std::vector<Nanoseconds> durations;  // by op, by the clock; empty: no rehearsal
  RunWishes wishes;
  std::function<void()> before_close;  // called after all steps, before the transport closes
};

// Elements [first, first + values) of this rank's slice of a parameter.
struct SlicePart {
  Parameter parameter = Parameter::kTokenTable;
  int layer = -1;
  std::int64_t first = 0;
  std::vector<float> values;
};

// What was observed of a rank.
struct RankOutcome {
  std::vector<std::vector<Span>> spans;  // of every timed step, by op
  // For every timed step, as in StepRecord; wall_time includes loading and reading back.
  std::vector<Nanoseconds> compute_cpu_time, modelled_end, compute_given, host_time, wall_time;
  std::vector<double> loss_sums;    // of every step, warm-up included; ranks with the loss
  std::vector<double> square_sums;  // of every step
  // What the rank's routers did in every step; only the first rank of a TP group fills it.
  std::vector<std::vector<RoutedMicrobatch>> routing;
  Nanoseconds clock_error{0};                         // the largest of all steps
  MemoryRow memory;                                   // of the last step
  std::vector<std::vector<TrafficRow>> traffic;       // by timed step
  std::vector<std::vector<std::int64_t>> sent_bytes;  // by timed step, then by op
  // The rank's own gradients after the first and the last step, and its parameters after the last.
  // Of equal replicas only the first has them.
  std::vector<SlicePart> gradients, last_gradients, parameters;
  double held_out_sum = 0;  // sum of the losses of this rank's tokens
  std::int64_t held_out_tokens = 0;
  std::int64_t process_bytes = 0;      // peak of resident memory, if the rank is a process
  RankState state;                     // without replica_of and copy_of; only when asked for
  std::uint64_t owned = 0, whole = 0;  // from RankStateReader
  std::vector<ProbedRank> probed;
  std::int64_t probe_bytes = 0;
  GpuMemory gpu_memory;  // of its GPU, if it is its process's first rank there
};

// Runs setup.run.warmup + setup.run.steps steps. Blocks; ends soon after job.stop is raised. Error:
// "stopped"; Stop has the reason.
Result<void> run_rank(const RankJob& job, RankOutcome& outcome);

// The experts of the rank at these coordinates.
ExpertShare expert_share(const Setup& setup, const Coordinates& at);

}  // namespace parallelarium

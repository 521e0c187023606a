// SPDX-License-Identifier: Apache-2.0
// One rank from first to last step: loads its micro-batches, executes its part of the Program,
// reads back loss and gradient norm. Knows nothing of threads or processes of other ranks: a
// launcher (run in run.cpp) makes the Transport.
#pragma once

#include <functional>
#include <vector>

#include "engine/plan/model/routing.h"
#include "engine/run/train/executor.h"
#include "engine/run/train/run.h"
#include "engine/train/data.h"
#include "engine/train/parameters.h"

namespace parallelarium {

// What a rank is given. References outlive the call.
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
  std::vector<Nanoseconds> durations;  // by op, wall time; empty: not paced
  RunWishes wishes;
  std::function<void()> before_close;  // of the transport, after all steps
};

// Elements [first, first + values) of this rank's slice of a parameter.
struct SlicePart {
  Parameter parameter = Parameter::kTokenTable;
  int layer = -1;
  std::int64_t first = 0;
  std::vector<float> values;
};

// What it was seen to do.
struct RankOutcome {
  std::vector<std::vector<Span>> spans;  // of every timed step, by op
  // Of every timed step, see StepRecord; wall_time: with loading and reading back.
  std::vector<Nanoseconds> compute_cpu_time, modelled_end, host_time, wall_time;
  std::vector<double> loss_sums;    // of every step, warm-up included; ranks with the loss
  std::vector<double> square_sums;  // of every step
  // Of every step, what the rank's routers did; the first of every TP group alone.
  std::vector<std::vector<RoutedMicrobatch>> routing;
  Nanoseconds clock_error{0};                    // the largest of all steps
  MemoryRow memory;                              // of the last step
  std::vector<std::vector<TrafficRow>> traffic;  // by timed step
  // What the rank owns of gradients after the first and the last step and of parameters after the
  // last; where replicas are alike, the first one's only.
  std::vector<SlicePart> gradients, last_gradients, parameters;
  double held_out_sum = 0;  // of the losses of this rank's tokens
  std::int64_t held_out_tokens = 0;
  std::int64_t process_bytes = 0;  // resident memory at the peak, where the rank is a process
  GpuMemory gpu_memory;            // of its GPU, where it is the first of its process there
};

// Runs setup.run.warmup + setup.run.steps steps. Errors: "stopped", after the reason has been given
// to Stop. Blocks; ends soon after job.stop is raised.
Result<void> run_rank(const RankJob& job, RankOutcome& outcome);

// Which experts the rank at these coordinates holds.
ExpertShare expert_share(const Setup& setup, const Coordinates& at);

// Whether a collective adds up this tensor over ranks, so that one rank's value is everyone's.
bool is_summed_over_ranks(const RankProgram& rank, Tensor tensor);
// Whether the rank computes losses that no other rank of its TP group counts.
bool has_loss(const RankProgram& rank);

}  // namespace parallelarium

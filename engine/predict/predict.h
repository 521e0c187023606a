// SPDX-License-Identifier: Apache-2.0
// Memory, traffic, timeline and step time of a Setup on a Machine, before anything runs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/passes/build.h"
#include "engine/plan/machine/machine.h"
#include "engine/plan/program/program.h"
#include "engine/plan/program/report.h"
#include "engine/plan/program/timeline.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/cost/pieces/expert_rows.h"

namespace parallelarium {

// A closed form with its value for this Setup.
struct Formula {
  Message name;        // "bubble over ideal time"; its kind is "bubble", "held", "time", "memory",
                       // "traffic", "parameters", "work", "steps" or "bandwidth"
  Message expression;  // "(p − 1) / m"
  std::string values;  // "(4 − 1) / 8"
  double value = 0;
  std::string unit;  // "1", "bytes", "seconds", "flops"
  Message source;    // "Narayanan et al. 2021, section 2.2"
  Message note;      // why the simulated figure may differ, or empty
};

struct Prediction {
  Setup setup;
  Machine machine;
  std::string word;  // prediction_word(machine): "calibrated", "published", "assumed", "peak"
  // The Setup's ranks would be on GPUs of this computer and the Machine is its cores, since those
  // were never calibrated: bytes are those of a run, times are not.
  bool cores_for_gpus = false;
  Order order;
  Program program;
  ExpertRows rows;  // what the timeline and the traffic assume of routing
  Timeline timeline;
  ParameterCounts parameters;
  double step_flops = 0;  // model FLOPs of one step, all ranks
  // Memory of one device, and the most that a rank needs. Ranks of this computer share its memory,
  // ranks on one GPU that of the GPU: there both are of all ranks together.
  std::int64_t capacity_bytes = 0, needed_bytes = 0;
  // By itself: without framework_bytes, with which a plan of a search must fit into the device,
  // too.
  bool fits() const { return needed_bytes <= capacity_bytes; }
  bool memory_together() const {
    return machine.ranks_share_memory() || ranks_share_gpu(setup, machine);
  }
  std::vector<MemoryRow> memory;    // one per pipeline stage (its first rank)
  std::vector<TrafficRow> traffic;  // of rank 0
  Bubble bubble;
  StepFigures step;
  std::vector<Formula> formulas;
};

// What a step's durations stand on: shares of the seconds that the ops of the busiest rank take,
// and the largest that stand on one rate for all sizes.
struct RateShares {
  double measured = 0, interpolated = 0, assumed = 0;
  struct Assumed {
    std::string what;  // "norm1, forward", "all_reduce of gradients"
    double share = 0;
  };
  std::vector<Assumed> largest_assumed;  // at most five, falling
};
RateShares rate_shares(const Prediction& prediction);

// Of the rank that loses most by it: transfers and collectives that took longer since others used
// the same links meanwhile, and by how much in all (cost/links.h). Hidden ones count, too, so that
// the step may lose less.
struct LinkSharing {
  int rank = 0;
  double seconds = 0;
  struct Slowed {
    std::string what = {};  // "all_reduce of gradients"
    int count = 0;
    double seconds = 0;
  };
  std::vector<Slowed> slowed = {};  // falling
};
LinkSharing link_sharing(const Prediction& prediction);

// Error: the first sentence of validate(), or of make_order/build_program, or that the routing is
// not the Setup's. Pure; safe on any thread.
// `routing`: what a run of the same Setup was seen to route; else the Setup's skew is assumed.
Result<Prediction> predict(const Setup& setup, const Machine& machine, bool all_ranks = false,
                           const Routing* routing = nullptr);

// The same of a Program built as `options` say: folded (`stage_level`) it has the same figures in
// less time, but no pieces to look at, and one rank stands for those that do the same
// (network/alike_ranks.h).
Result<Prediction> predict(const Setup& setup, const Machine& machine, const BuildOptions& options,
                           const Routing* routing = nullptr);

// Lets the process keep memory that it has freed: predictions follow one another and need as much
// each time, and fresh pages cost more than a tenth of one. For programs that predict many times.
void keep_freed_memory();

// Whether CP is by ring but predicted as an all-gather of keys and values: unfused attention keeps
// whole scores.
bool gathers_instead_of_ring(const Prediction& prediction);

// What the prediction does other than its Setup seems to say: cores in place of GPUs, ranks and ops
// that were not built, ranks that share a GPU, a ring predicted as an all-gather, stages held
// twice; unwise(); and why the Setup cannot be run.
std::vector<Message> remarks_of(const Prediction& prediction);
// Settings which are legal, but seldom wise, or do nothing, such as ZeRO with nothing to shard.
std::vector<Message> unwise(const Prediction& prediction);

// What a rank sends and receives, by global rank.
std::vector<TrafficRow> expected_traffic(const Prediction& prediction, int rank);

// The object of `predict --json`; traffic of global rank `rank`.
nlohmann::json to_json(const Prediction& prediction, int rank = 0);

// The closed forms of a Setup, see formulas.cpp.
std::vector<Formula> formulas_of(const Setup& setup, const Machine& machine);

}  // namespace parallelarium

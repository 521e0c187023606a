// SPDX-License-Identifier: Apache-2.0
// The figures of a step that a prediction and a run share, so that the two can stand side by side.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/model/routing.h"
#include "engine/plan/program/timeline.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct MemoryRow {
  int rank = 0, stage = 0;
  std::int64_t bytes[kCategories] = {};  // peak of each category over the step
  std::int64_t framework_bytes = 0;      // framework_bytes_of(), beyond the peak; 0 for a run
  std::int64_t peak_bytes = 0;           // peak of the sum
  // fsdp_reserved_bytes(); 0 for other frameworks, for a run, and in a search
  std::int64_t reserved_bytes = 0;
  // The most that the framework holds.
  std::int64_t bytes_with_framework() const {
    return reserved_bytes > 0 ? reserved_bytes : peak_bytes + framework_bytes;
  }
};

struct TrafficRow {
  Axis axis = Axis::kWorld;
  std::string operation;  // "all_reduce", ..., or "send_recv"
  Purpose purpose = Purpose::kNone;
  std::int64_t calls = 0, sent_bytes = 0, received_bytes = 0;
  bool counted = true;  // false: a run's bytes follow from a formula instead of counting
  bool operator==(const TrafficRow&) const = default;
};

struct StepFigures {
  double seconds = 0;  // for a run: the median
  double seconds_min = 0, seconds_max = 0;
  double compute_seconds = 0;  // compute lane of the busiest rank
  // Time of that rank's communication and of its copies to the host and back, added up over its
  // lanes; then the part of the step that they take while the rank computes nothing.
  double communication_seconds = 0, exposed_communication_seconds = 0;
  double tokens_per_second = 0;
  double model_flops_per_second_per_rank = 0;
  // Shares of the peak; 0 if they would mean nothing (a rehearsal, or no known peak). MFU follows
  // three conventions of what attention's scores count (ScoreFlops: in full, causal, not at all).
  // HFU counts all FLOPs that are executed, recomputed ones too.
  double mfu = 0, mfu_causal = 0, mfu_6n = 0, hfu = 0;
  void forget_peak() { mfu = mfu_causal = mfu_6n = hfu = 0; }
};

// How a library did collectives of one kind, over all steps of a run. Algorithm and protocol are
// NCCL's words; they are empty if it did not tell.
struct LibraryChoice {
  std::string collective;  // "all_reduce"
  int ranks = 0;
  std::string algorithm, protocol;  // "RING", "LL128"
  int channels = 0;
  std::int64_t calls = 0;
  std::int64_t least_bytes = 0, most_bytes = 0;  // bytes of a call, as the library counts them
  bool operator==(const LibraryChoice&) const = default;
};

// What a run held of one GPU beyond the driver's context, which was there before. driver_bytes is
// the driver's count. Arenas and workspaces are what was asked for; the other parts are measured.
// The remainder is unexplained.
struct GpuMemory {
  int gpu = -1;                         // its number in the rank's process
  int rank = 0;                         // the first on it
  std::int64_t driver_bytes = 0;        // bytes of the whole run
  std::int64_t arena_bytes = 0;         // planned, of all ranks on it
  std::int64_t workspace_bytes = 0;     // for products, and CUDA's pool for kernels' scratch
  std::int64_t communicator_bytes = 0;  // NCCL's
  std::int64_t context_bytes = 0;       // what stays after all is given back: code loaded meanwhile
  std::int64_t unexplained_bytes() const {
    return driver_bytes - arena_bytes - workspace_bytes - communicator_bytes - context_bytes;
  }
  bool operator==(const GpuMemory&) const = default;
};

// What one rank had done and held at the end of the last training step. It shows that copies of a
// model are copies, and that ranks with different text differ.
struct RankState {
  int rank = 0;
  // The mean over the tokens whose loss the rank computes; none if it computes none.
  std::optional<double> loss;
  // L2 norms of its gradients: before they are added up over data-parallel ranks, and after all is
  // added up, tied tables too. The second covers those that the rank updates: with ZeRO its part.
  // The first is none if ZeRO adds up each micro-batch at once, since then no rank ever has the
  // gradients of a whole step.
  std::optional<double> gradient_norm;
  double gradient_norm_reduced = 0;
  // Fingerprints (16 hex digits) of the parameters that the rank updates, before the first step and
  // after the last. They follow from which elements of the model these are, and from their bytes
  // alone.
  std::string weights_before, weights_after;
  int replica_of = 0;  // the lowest rank that must hold the same bytes
  // The same for all parameters that the rank computes with, also those that others update and it
  // gathers, after the last step. Empty if it never holds all at once (ZeRO 3).
  std::string copy_after = {};
  int copy_of = 0;  // the lowest rank that must compute with the same
  bool operator==(const RankState&) const = default;
};

// What was observed in a run.
struct Observation {
  Setup setup;                         // exactly what was run
  std::string machine;                 // title of the Machine that was measured or acted out
  std::string backend;                 // "cpu", "paced", "cuda"
  std::string transport;               // "shared memory", "TCP", "NCCL 2.28.9"; empty: not known
  std::vector<LibraryChoice> choices;  // choices of the transport, if it makes any and tells them
  Source source = Source::kMeasured;
  // Seconds of the clock for one second of the machine in a rehearsal. All times are the machine's:
  // those of the clock divided by this. 0: no rehearsal.
  double stretch = 0;
  // How far times of the step shown are off because of other work on the cores. For a rehearsal it
  // is the larger of two factors: the step over the end that was set for it; and, for the rank
  // whose compute ops began late most, the time that was set for them over the time that they took.
  // For a measurement on CPUs it is, for the rank that had to wait most, the time of its compute
  // ops over the processor time that it got. 0: not known.
  double delay_factor = 0;
  std::string gpu_use;            // other users as the run began: "GPU 1: python (4711) 11.2 GiB"
  Timeline timeline;              // the one real step of median duration
  std::vector<MemoryRow> memory;  // counted; one per rank
  std::vector<std::vector<TrafficRow>> traffic;  // by rank
  // Of the step shown, by rank, then by op: what the op's transport call sent; in all, what the
  // rows of traffic say. Empty: the document of an older version.
  std::vector<std::vector<std::int64_t>> sent_bytes;
  Bubble bubble;
  StepFigures step;
  std::vector<double> losses;          // warm-up and timed steps, means over all tokens
  std::vector<double> gradient_norms;  // global L2 before clipping
  std::vector<Routing> routing;        // for warm-up and timed steps; empty without experts
  std::vector<RankState> ranks_state;  // by rank; empty if nobody asked
  std::int64_t process_bytes = 0;      // measured: resident memory of the engine at the peak
  std::vector<GpuMemory> gpu_memory;   // measured; empty if ranks are not on GPUs
  // Median seconds of a whole training step by the host's clock: loading, the step, reading back. 0
  // for a rehearsal: its clock says nothing.
  double wall_seconds = 0;
  // On GPUs: how long at most, in the step shown, the busiest rank waited for its host with compute
  // ops. This is the engine's own cost. 0 elsewhere.
  double host_seconds = 0;
  std::string date;  // ISO 8601, UTC
};

// Whether all these bytes were counted. Those of a whole collective of NCCL are not: they follow
// from a formula.
bool all_counted(const std::vector<TrafficRow>& rows);

// The place of the timeline's step among warm-up and timed steps: an index into losses.
int training_step_of(const Observation& observation);
// What the routers did in that step; null without experts.
const Routing* routing_of_timeline(const Observation& observation);

// One sentence if other work kept the cores for more than a few percent of the step, or used the
// GPUs. A rehearsal then came late, or a measurement says little of this computer. Otherwise none.
std::optional<Message> delay_of(const Observation& observation);

// The keys of `predict --json` that both sides have: "memory", "traffic", "bubble", "step".
nlohmann::json to_json(const MemoryRow& row);
nlohmann::json to_json(const std::vector<TrafficRow>& rows);
nlohmann::json to_json(const Bubble& bubble);
nlohmann::json to_json(const std::vector<LibraryChoice>& choices);
nlohmann::json to_json(const std::vector<GpuMemory>& memory);
nlohmann::json to_json(const StepFigures& step, bool observed);
nlohmann::json to_json(const std::vector<RankState>& ranks);

// Sums the communication of one built rank from the Program. A run's ledger must count the same.
std::vector<TrafficRow> traffic_of(const Program& program, int rank_index);

// What a rank's buffers hold during each of its ops, in issue order. Buffers open before their
// first op and close after their last. `op` is -1 before all ops, when only those are there that
// are held for the whole step. `most` is for each category by itself; `at_peak` is for all
// categories when their sum is largest.
struct HeldBytes {
  int op = -1;
  CategoryBytes most{}, at_peak{};
  std::int64_t sum() const;  // of at_peak
};
void for_held_bytes(const Program& program, const RankProgram& rank,
                    const std::function<void(const HeldBytes&)>& visit);

// The most bytes of activations that a rank keeps from one action to a later one. Papers count
// these, without what an action needs for itself alone.
std::int64_t kept_activation_bytes(const RankProgram& rank);

// The peaks of every built rank, from the planned buffers.
std::vector<MemoryRow> memory_of(const Program& program);

// Figures that follow from a Timeline alone. `machine` gives the peak for MFU.
StepFigures step_figures(const Program& program, const Timeline& timeline, const Setup& setup,
                         const Machine& machine);

}  // namespace parallelarium

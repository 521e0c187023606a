// SPDX-License-Identifier: Apache-2.0
// One run from Setup to answer, for the command line and for the window: calibrate if that was
// never done, predict, run or rehearse, prove.
#pragma once

#include <atomic>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/placement/resolve.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/compare.h"
#include "engine/predict/predict.h"
#include "engine/run/net/place.h"
#include "engine/run/train/run.h"

namespace parallelarium {

// Who looks on: may cancel from any thread, and hears of progress on the calling thread.
struct Watch {
  const std::atomic<bool>* cancel = nullptr;
  // phase: "checking", "calibrating", "running" or "proving"; share from 0 to 1 within it.
  std::function<void(std::string_view phase, double share, const Message& what)> progress;
  // GPUs were checked, and what was found is kept: what is known of this computer may be another.
  std::function<void()> checked;
  // RunControl::loss of the run itself. Steps count from 1 again where the run begins again.
  std::function<void(int step, double loss)> loss;
  // The run was stopped and its ranks do not end (RunControl::abandon): report and end the process.
  std::function<void(const Message& why)> abandon;
};

// What a Setup that was asked for means on this computer; GPUs are looked for only where its ranks
// might take them. Error: it is not valid, or its Machine cannot be read.
Result<Situation> situation_here(const Setup& asked, const ProcessPlace* place = nullptr);

// A Setup that this computer can run, and how.
struct Preparation {
  Setup asked;
  Setup setup;  // resolved
  Machine machine;
  BackendChoice choice;
  std::optional<ProcessPlace> place;  // set: each rank is a process, and this is one of them
  std::string gpu_use;                // Observation::gpu_use
  std::string gpu;                    // of this process, where each rank is one: GpuFacts::uuid
  bool leads() const { return !place || place->rank == 0; }
  // Ranks in processes cannot measure what other processes hold: their GPUs are taken as they are.
  bool calibrated() const {
    if (choice.backend == Backend::kCuda) return place.has_value() || machine.name == kLocalGpus;
    if (!machine.local) return true;
    return !machine.calibrated.empty() && !outdated_rates(setup, machine, bf16_products_here());
  }
};
// Error: why the Setup cannot run here, in one sentence: invalid, beyond this version, on another
// computer and no rehearsal, or an unreadable text.
Result<Preparation> prepare(const Setup& asked, std::optional<ProcessPlace> place = {});
// Whether train() calibrates first: not where it lets an order hang, since no rate matters to ranks
// that wait for ever.
bool calibrates_first(const Preparation& preparation, double let_it_hang_seconds);
// What to say where it does.
std::string calibrating_text(const Preparation& preparation);

// Measures the cores of this computer, or its GPUs, and stores the result. Some 5 s; GPUs
// some 25, and 20 more for every further kind.
enum class Calibrated : std::uint8_t { kCores, kGpus };
Result<Machine> calibrate_and_store(Calibrated what, const Watch& watch);

// A run that was allowed to hang, and did.
struct HangReport {
  double seconds = 0;  // for so long no rank moved
  std::vector<StuckRank> ranks;
};

// In a world of processes rank 0 alone has a training to tell of.
struct Training {
  Setup asked;            // prediction.setup is what it was resolved to
  Prediction prediction;  // of all ranks
  BackendChoice choice;
  RunResult result;
  // With experts: the same prediction by the routing of the step shown.
  std::optional<Prediction> routed;
  std::optional<Proof> proof;
  // Of the proof's run on one rank: what the probes saw there, where it has such pieces.
  std::vector<ProbedRank> one_rank_probes;
  std::optional<Message> unstored;  // why this run's calibration could not be kept
  std::optional<Message> unproven;  // why --verify could not compare
  std::optional<HangReport> hang;   // set: it hung as it was allowed to, and `result` holds nothing
};
// Calibrates first where the machine is this computer and never was calibrated.
// `let_it_hang_seconds` above 0: an order that waits for ever is run, too, without calibrating, and
// ended when no rank has moved for so long; one that does not hang is run as ever. On cores, ranks
// as threads.
// Errors: one sentence; is_about_request() tells a wish that cannot be met from a run that failed.
// `probes`: RunWishes::probes. Errors of what is not there are about the request.
Result<Training> train(const Preparation& preparation, bool verify, const Watch& watch,
                       double let_it_hang_seconds = 0, const std::vector<Probe>& probes = {});

bool is_about_request(const Message& why);
// Whether rank 0 tells the same, so that the processes of other ranks may keep quiet.
bool is_told_by_leader(const Message& why);

nlohmann::json to_json(const Proof& proof);
// Why a proof of `setup` does not hold, and by how much. The proof must not hold.
Message why_refuted(const Setup& setup, const Proof& proof);
// {observation, machine, proof?, unproven?, unstored?}: what `run` of the protocol answers and a
// document keeps. Of a run that hung: {hang, machine, unstored?}, hang being {seconds, ranks:
// [{rank, waits_in, for_rank, needs, sentence}]} with Messages; for_rank and needs may be null.
nlohmann::json to_json(const Training& training);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Executes a Setup on local ranks.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/placement/placement.h"
#include "engine/plan/program/program.h"
#include "engine/plan/program/report.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"
#include "engine/run/train/probe/probe.h"

namespace parallelarium {

struct ProcessPlace;  // net/place.h
class World;          // net/world.h

using BackendChoice = Placement;
// Where the ranks of a Setup go on this computer: can_execute(), then place(). `place`: set if
// every rank is a process of its own.
Result<Placement> choose_backend(const Setup& setup, const ProcessPlace* place = nullptr);

// Where a rank is in a run in which nothing moves any more.
struct StuckRank {
  int rank = 0;
  Message waits_in;   // the op that does not go on; "the next step" between steps
  int for_rank = -1;  // the rank whose op must come first, maybe its own; -1: it waits for no op
  Message needs;      // that op; empty if there is none
  Message sentence;   // the three in one
};

struct RunControl {
  const std::atomic<bool>* cancel = nullptr;  // set from any thread; the run ends within 0.5 s
  std::function<void(double share, const Message& what)> progress;  // from the calling thread
  // Hears the loss of each step (from 1, warm-up included) when it is done. It is called on the
  // calling thread, before `progress` hears of the step. It is not called if ranks are processes.
  std::function<void(int step, double loss)> loss;
  // Ranks count as hanging if nothing happens on any rank for this time, counted after the longest
  // op must have ended. That op may take three times its modelled time, and more if ranks share
  // cores.
  double hang_timeout_seconds = 20;
  // Durations by [rank][op] on the Setup's Machine. The caller takes them from the prediction,
  // because run/ does not know predict/. A rehearsal needs them; without them every op counts as
  // short.
  std::vector<std::vector<Nanoseconds>> modelled;
  double stretch = 1;  // in a rehearsal: time of the clock = time of the Machine * stretch
  // If set, the Program may wait for ever. check() is then not called, and the run ends with a
  // "hang" after no rank has moved for hang_timeout_seconds; the time of the longest op is not
  // added. The function is called once, on the calling thread, with the place of every rank, before
  // the ranks are stopped.
  std::function<void(std::vector<StuckRank>)> hung;
  // Called once, from the calling thread, if ranks are still in an op 0.4 s after the run was
  // stopped for `why`, since nobody can interrupt a kernel. It may report and end the process. If
  // it is absent or returns, run() waits for the ranks.
  std::function<void(const Message& why)> abandon;
};

// Success, or why no rank can be slowed down on the devices of the Setup's ranks.
Result<void> can_slow(const Setup& setup, const BackendChoice& choice);

// A parameter of the trained model, or its gradient, gathered from the ranks that own it.
struct NamedTensor {
  Parameter parameter = Parameter::kTokenTable;
  int layer = -1;
  std::vector<float> values;
};

struct RunResult {
  Observation observation;
  std::vector<NamedTensor> gradients;       // of the first step, when asked for
  std::vector<NamedTensor> last_gradients;  // of the last step, when asked for
  std::vector<NamedTensor> parameters;      // after the last step, when asked for
  std::vector<ProbedRank> probes;           // by rank, when asked for
  std::int64_t probe_bytes = 0;             // host memory for the copies of all ranks
  double held_out_loss = 0;  // mean over the held-out text after the last step, when asked for
};

struct RunWishes {
  bool gradients = false, last_gradients = false;
  bool parameters = false;
  bool held_out_loss = false;
  // Whether to fill Observation::ranks_state. It costs a pass over the weights before the first
  // step and after the last, and one over the gradients during the last step.
  bool ranks_state = false;
  // The probes for RunResult::probes. Each costs host memory, and a copy in its step of what it
  // looks at. An error of kind "probe" refuses what is not there.
  std::vector<Probe> probes = {};
};

// Runs warm-up and timed steps of `program` (all ranks, piece level) and observes them. `world`:
// set if every rank is a process; then only rank 0's result holds anything. Errors, each one
// sentence: cannot execute, text unreadable or too short, not enough memory, a rehearsal that needs
// more stretch ("stretch-short", with how much), cancelled ("cancelled"), a rank that threw or did
// not arrive (names rank and op).
Result<RunResult> run(const Setup& setup, const Program& program, const BackendChoice& choice,
                      const RunControl& control, const RunWishes& wishes = {},
                      World* world = nullptr);

// The comparison with the same training on one rank: "Prove it".
struct Proof {
  double loss_difference = 0;      // largest relative difference over the steps
  double gradient_difference = 0;  // norm(difference) / norm(one rank's), all parameters together
  double loss_bound = 1e-6, gradient_bound = 5e-6;
  Message worst_parameter;              // "layer 3 MLP in weight"
  std::vector<double> losses_one_rank;  // of one rank in fp32, also if the run is in 16 bit
  bool in_16_bit = false;               // then the reference is one rank in fp32
  bool losses_hold() const { return std::isfinite(loss_bound) && loss_difference <= loss_bound; }
  bool gradients_hold() const {
    return std::isfinite(gradient_bound) && gradient_difference <= gradient_bound;
  }
  bool holds() const { return losses_hold() && gradients_hold(); }
};
Proof compare(const RunResult& many, const RunResult& one);
// The comparison for 16 bit. The reference is `exact`, one rank in fp32. The bounds follow from the
// distance of `one`, one rank in 16 bit, from it: r of its gradients, a vector, which no chance
// makes small. TP and CP add up n = tp * cp partial sums that one rank does not round. Their errors
// add up as random ones do, so that a mesh differs by r sqrt(n) and the spread of two draws. Where
// there are experts, one of N tokens may go to another expert, since two were nearly as good. Its
// share of the gradients is 1 / sqrt(N), of which half has an expert's gate.
// A loss is a mean over tokens, each with an error of its own: bound / sqrt(N), and at least 2^-13,
// 1/32 of the most that rounding to bf16 costs. Later losses differ by what parameters differ by,
// as a share of an update, times what an update changes of the loss. No bound is above a tenth of
// the gradients or 2^-4 of a loss, since beyond that the two were not trained alike.
// `one` and `exact` must have their parameters.
Proof compare(const Setup& setup, const RunResult& many, const RunResult& one,
              const RunResult& exact);
// The Setup of the reference: one rank, the same global batch in the same order.
Setup one_rank_setup(const Setup& setup);

// How this engine multiplies bf16 on cores: kNativeBf16 or kWidenedBf16.
const char* bf16_products_here();
// Measures this computer with as many busy ranks as there are cores: matrix products by shape,
// every other kernel, copy bandwidth, and message latency and bandwidth between ranks. It takes
// some 5 s, longer beside other work.
Result<Machine> calibrate(const RunControl& control);

}  // namespace parallelarium

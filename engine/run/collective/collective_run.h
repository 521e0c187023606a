// SPDX-License-Identifier: Apache-2.0
// Executes a collective on local ranks, one thread each, on CPUs or GPUs, with the devices and
// transports that training uses. It compares the result cell by cell, since its inputs have an
// exact result.
#pragma once

#include <atomic>
#include <functional>

#include "engine/collectives/collective.h"
#include "engine/collectives/observation.h"
#include "engine/plan/result.h"
#include "engine/run/train/run.h"

namespace parallelarium {

struct LaunchOptions;  // launch.h

// Where the ranks run: on the CPU, unless choose_collective_backend() says otherwise.
struct CollectiveRanks {
  BackendChoice choice;
  // For ranks on GPUs, as in RunControl.
  double hang_timeout_seconds = 20;
  std::function<void(const Message& why)> abandon;
  // Tests replace launch_options() by this; it is called once for every Program.
  std::function<Result<LaunchOptions>()> make;
};

struct CollectiveRunOptions {
  int warmup = 3;
  int repeats = 20;  // each is timed by itself, after a barrier
  // Keep the values that ranks held after every step of the last repeat.
  bool values = false;
  // Compare the bits of the result with this algorithm's on inexact inputs; empty: do not.
  std::string rounding;
  CollectiveRanks on = {};
};

// A repeat lasts from when the last rank goes in to when the last comes out. GPUs end later than
// their threads, so this includes the launching. Errors: not enough memory or threads; no GPU or no
// NCCL; a rank that failed or did not arrive; cancelled.
Result<CollectiveObservation> run_collective(const Collective& collective,
                                             const CollectiveRunOptions& options,
                                             const std::atomic<bool>* cancel = nullptr);

// The median of the timed repeats of CPU ranks on zeros. It verifies nothing. Errors: as
// run_collective.
Result<double> collective_seconds(const Collective& collective, int warmup, int repeats,
                                  const std::atomic<bool>* cancel = nullptr);

// The value that a rank puts into an element of its array.
using InputValue = double (*)(const CollectiveSpec& spec, int rank, std::int64_t element);

// Numbers from 1 to 2 that fill the type's mantissa. Combining them has to round and cancels
// nothing, so results differ in their last bits alone.
double inexact_value(const CollectiveSpec& spec, int rank, std::int64_t element);

// The same collective by another algorithm, for compare_rounding. Errors: as make_collective, or a
// kind that combines nothing.
Result<Collective> rounding_rival(const CollectiveSpec& spec, const std::string& algorithm);

// Runs both once on the same inputs and compares their results bit by bit.
// The specs must differ by the algorithm alone, and the kind must reduce.
// Errors: as run_collective.
Result<RoundingComparison> compare_rounding(const Collective& collective, const Collective& other,
                                            const std::atomic<bool>* cancel = nullptr,
                                            InputValue inputs = inexact_value,
                                            const CollectiveRanks& on = {});

// Small whole numbers (powers of two for products): every order of combining gives the same bits in
// every type. Source: nccl-tests' verifiable has the idea.
double input_value(const CollectiveSpec& spec, int rank, std::int64_t element);
// The result of combining all ranks' inputs, rounded as the type rounds.
double combined_value(const CollectiveSpec& spec, std::int64_t element);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Executes a collective on local ranks, one thread each, on CPUs or GPUs: the Program's ops on the
// devices and through the transports that training uses, on inputs whose result is known exactly,
// compared cell by cell.
#pragma once

#include <atomic>
#include <functional>

#include "engine/collectives/collective.h"
#include "engine/collectives/observation.h"
#include "engine/plan/result.h"
#include "engine/run/train/run.h"

namespace parallelarium {

struct LaunchOptions;  // launch.h

// Where the ranks run: threads of the CPU, unless choose_collective_backend() said otherwise.
struct CollectiveRanks {
  BackendChoice choice;
  // As in RunControl, for ranks on GPUs.
  double hang_timeout_seconds = 20;
  std::function<void(const Message& why)> abandon;
  // Instead of what launch_options() makes of the choice, once for every Program; for tests.
  std::function<Result<LaunchOptions>()> make;
};

struct CollectiveRunOptions {
  int warmup = 3;
  int repeats = 20;  // timed one by one, each after a barrier
  // Keep what ranks held after every step of the last repeat.
  bool values = false;
  // Compare the bits of the result with this algorithm's on inexact inputs; empty: do not.
  std::string rounding;
  CollectiveRanks on = {};
};

// A repeat lasts from when the last rank goes in to when the last comes out; on GPUs, which end
// later than their threads, that holds the launching. Errors, each one sentence: not enough memory
// or threads; no GPU or no NCCL; a rank that failed or did not arrive; cancelled.
Result<CollectiveObservation> run_collective(const Collective& collective,
                                             const CollectiveRunOptions& options,
                                             const std::atomic<bool>* cancel = nullptr);

// The median of the timed repeats alone, of CPU ranks on zeros, nothing verified. Errors: as
// run_collective.
Result<double> collective_seconds(const Collective& collective, int warmup, int repeats,
                                  const std::atomic<bool>* cancel = nullptr);

// What rank `rank` puts into an element of its array.
using InputValue = double (*)(const CollectiveSpec& spec, int rank, std::int64_t element);

// Numbers from 1 to 2 that fill the type's mantissa, so that combining them has to round, and
// nothing cancels: what differs are last bits.
double inexact_value(const CollectiveSpec& spec, int rank, std::int64_t element);

// The same collective by another algorithm, for compare_rounding. Errors: as make_collective; a
// kind that combines nothing.
Result<Collective> rounding_rival(const CollectiveSpec& spec, const std::string& algorithm);

// Runs both once on the same inputs and compares their results bit by bit.
// Requires: the specs differ by the algorithm alone, and the kind reduces.
// Errors: as run_collective.
Result<RoundingComparison> compare_rounding(const Collective& collective, const Collective& other,
                                            const std::atomic<bool>* cancel = nullptr,
                                            InputValue inputs = inexact_value,
                                            const CollectiveRanks& on = {});

// Small whole numbers (or powers of two for products), so that every order of combining gives the
// same bits in every type. Source: the idea of nccl-tests' verifiable.
double input_value(const CollectiveSpec& spec, int rank, std::int64_t element);
// What combining all ranks' inputs gives, rounded as the type would.
double combined_value(const CollectiveSpec& spec, std::int64_t element);

}  // namespace parallelarium

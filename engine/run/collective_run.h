// SPDX-License-Identifier: Apache-2.0
// Executes a collective on CPU ranks, one thread each: the Program's ops through the transport that
// training uses, on inputs whose result is known exactly, compared cell by cell.
#pragma once

#include <atomic>

#include "engine/collectives/collective.h"
#include "engine/collectives/observation.h"
#include "engine/plan/result.h"

namespace parallelarium {

struct CollectiveRunOptions {
  int warmup = 3;
  int repeats = 20;  // timed one by one, each after a barrier
  // Keep what ranks held after every step of the last repeat.
  bool values = false;
  // Compare the bits of the result with this algorithm's on inexact inputs; empty: do not.
  std::string rounding;
};

// Errors, each one sentence: not enough memory or threads; cancelled.
Result<CollectiveObservation> run_collective(const Collective& collective,
                                             const CollectiveRunOptions& options,
                                             const std::atomic<bool>* cancel = nullptr);

// The median of the timed repeats alone, on zeros, nothing verified. Errors: as run_collective.
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
                                            InputValue inputs = inexact_value);

// Small whole numbers (or powers of two for products), so that every order of combining gives the
// same bits in every type. Source: the idea of nccl-tests' verifiable.
double input_value(const CollectiveSpec& spec, int rank, std::int64_t element);
// What combining all ranks' inputs gives, rounded as the type would.
double combined_value(const CollectiveSpec& spec, std::int64_t element);

}  // namespace parallelarium

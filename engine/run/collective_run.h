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
  // Keep what ranks held after every step of the last repeat .
  bool values = false;
};

// Errors, each one sentence: not enough memory or threads; cancelled.
Result<CollectiveObservation> run_collective(const Collective& collective,
                                             const CollectiveRunOptions& options,
                                             const std::atomic<bool>* cancel = nullptr);

// What rank `rank` puts into element `element` of its array: small whole numbers (or powers of two
// for products), so that every order of combining gives the same bits in every type.
// Source: the idea of nccl-tests' verifiable.
double input_value(const CollectiveSpec& spec, int rank, std::int64_t element);
// What combining all ranks' inputs gives, rounded as the type would.
double combined_value(const CollectiveSpec& spec, std::int64_t element);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The parts of collective_run.cpp: exact inputs and results, and a Program that notes what ranks
// hold.
#pragma once

#include <cstddef>

#include "engine/run/collective/collective_run.h"

namespace parallelarium {

// Fills in `count` elements of the rank's input, from `first` on.
void fill_input(const CollectiveSpec& spec, int rank, std::byte* into, std::int64_t count,
                InputValue value, std::int64_t first = 0);
double read_value(DataType type, const std::byte* array, std::int64_t element);
// Adds this rank's wrong cells to the run; ends early when cancelled. Only an all-to-all has
// `result`.
void compare_result(const Collective& collective, int rank, const std::byte* array,
                    const std::byte* result, CollectiveObservation& run,
                    const std::atomic<bool>* cancel = nullptr);
inline constexpr std::size_t kMostTold = 8;  // wrong cells that the sentence names

// Runs the collective once on these inputs and returns every rank's array.
Result<std::vector<std::vector<std::byte>>> arrays_after(const Collective& collective,
                                                         InputValue inputs,
                                                         const CollectiveRanks& on,
                                                         const std::atomic<bool>* cancel);

// The same Program with one more buffer on every rank, the last. After each step the rank copies
// into it the first element of every chunk that it has a place for: to element (step + 1) * chunks
// + chunk.
Program with_notes(const Collective& collective);

}  // namespace parallelarium

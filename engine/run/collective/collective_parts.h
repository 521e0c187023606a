// SPDX-License-Identifier: Apache-2.0
// What collective_run.cpp is made of: exact inputs and results, and a Program that notes what it
// holds.
#pragma once

#include <cstddef>

#include "engine/run/collective/collective_run.h"

namespace parallelarium {

// `count` elements of the rank's input, from `first` on.
void fill_input(const CollectiveSpec& spec, int rank, std::byte* into, std::int64_t count,
                InputValue value, std::int64_t first = 0);
double read_value(DataType type, const std::byte* array, std::int64_t element);
// Adds this rank's wrong cells to the run; ends early when cancelled. `result`: of an all-to-all.
void compare_result(const Collective& collective, int rank, const std::byte* array,
                    const std::byte* result, CollectiveObservation& run,
                    const std::atomic<bool>* cancel = nullptr);
inline constexpr std::size_t kMostTold = 8;  // wrong cells that are named

// Runs the collective once on these inputs; every rank's array as it is then.
Result<std::vector<std::vector<std::byte>>> arrays_after(const Collective& collective,
                                                         InputValue inputs,
                                                         const CollectiveRanks& on,
                                                         const std::atomic<bool>* cancel);

// The same Program in which every rank, after each of its steps, copies the first element of every
// chunk that it has a place for into one more buffer, its last: element (step + 1) * chunks +
// chunk.
Program with_notes(const Collective& collective);

}  // namespace parallelarium

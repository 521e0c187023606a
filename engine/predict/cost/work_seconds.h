// SPDX-License-Identifier: Apache-2.0
// What pieces take on a Machine, from its calibrated rates or from its peaks.
#pragma once

#include "engine/plan/machine/machine.h"
#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Seconds for an amount at a rate in units per second; 0 where no rate is known.
inline double over(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

// Seconds of one Work entry: a matrix product at the calibrated rate of its shape or at
// peak * efficiency, anything else at its kernel's rate or at memory bandwidth; and what the piece
// computes beside it (kernel_beside), where that was measured. `products`: what linear layers and
// experts multiply; FP8 has a rate of its own and a pass that makes it.
double work_seconds(const Work& work, const Shape& shape, const Machine& machine, DataType type,
                    ProductType products = ProductType::kSame);

// What a duration stands on: a rate measured at that very size, one between measured sizes (or at
// the edge of a table of them), or one rate for all sizes.
enum class RateKind : std::uint8_t { kMeasured, kInterpolated, kAssumed };
inline constexpr int kRateKinds = 3;
// Tells it of one Work entry, by the rate that work_seconds() takes.
RateKind rate_kind(const Work& work, const Shape& shape, const Machine& machine, DataType type,
                   ProductType products = ProductType::kSame);

// The type that an entry's data are stored in.
DataType storage_of(const Work& work, const Setup& setup);

// Seconds that a GPU's host needs to launch an entry: an op costs host_seconds, with one launch in
// it, for which stand the entry's own calls where they were measured.
double work_host_seconds(const Work& work, const Shape& shape, const Machine& machine);

// Elements per second that a reduction adds in a large array; 0 where it was not measured.
double combine_rate(const Machine& machine, DataType type);

}  // namespace parallelarium

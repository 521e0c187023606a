// SPDX-License-Identifier: Apache-2.0
// The time of pieces on a Machine, from its calibrated rates or from its peaks.
#pragma once

#include "engine/plan/machine/machine.h"
#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// Seconds for an amount at a rate in units per second; 0 if no rate is known.
inline double over(double amount, double rate) { return rate > 0 ? amount / rate : 0; }

// Seconds of one Work entry. A matrix product goes at the calibrated rate of its shape, or at the
// efficiency times the peak. Everything else goes at its kernel's rate, or at memory bandwidth.
// What the piece computes beside it (kernel_beside) is added if it was measured. `products`: what
// linear layers and experts multiply. FP8 has its own rate, and a pass that makes it.
double work_seconds(const Work& work, const Shape& shape, const Machine& machine, DataType type,
                    ProductType products = ProductType::kSame);

// The kind of rate behind a duration: measured at that very size, taken between measured sizes (or
// at the edge of a table), or one rate for all sizes.
enum class RateKind : std::uint8_t { kMeasured, kInterpolated, kAssumed };
inline constexpr int kRateKinds = 3;
// The kind of rate that work_seconds() takes for one Work entry.
RateKind rate_kind(const Work& work, const Shape& shape, const Machine& machine, DataType type,
                   ProductType products = ProductType::kSame);

// The type that an entry's data are stored in.
DataType storage_of(const Work& work, const Setup& setup);

// Seconds that a GPU's host needs to launch an entry. An op costs host_seconds, which contain one
// launch. If the entry's own calls were measured, they replace that launch.
double work_host_seconds(const Work& work, const Shape& shape, const Machine& machine);

// Elements per second that a reduction adds in a large array; 0 where it was not measured.
double combine_rate(const Machine& machine, DataType type);

}  // namespace parallelarium

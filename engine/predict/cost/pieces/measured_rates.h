// SPDX-License-Identifier: Apache-2.0
// Rates of a calibrated Machine at sizes between those that were measured.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/program/program.h"

namespace parallelarium {

// The type whose rates count for data stored as `type`: fp32 if `type` was not measured.
DataType measured_type(const std::vector<KernelRate>& rates, DataType type);
// Whether the point is of this type, as MatmulPoint::type says.
bool is_product_of(const MatmulPoint& point, std::string_view type);
// The MatmulPoint::type whose points count for products of data stored as `type`, in FP8 if `fp8`.
std::string_view measured_product(const std::vector<MatmulPoint>& points, DataType type, bool fp8);

// Elements per second of calls with `elements` elements. Between two measured sizes the times lie
// on a line, as for a kernel with a fixed part and a part that grows with its elements. Below the
// smallest size the line of the two smallest goes on. Beyond the largest size, and if that line had
// no fixed part, the nearest rate counts. 0: nothing was measured.
double kernel_rate(const Machine& machine, std::string_view kernel, DataType type, double elements);
// The same for the variant of the kernel that models of this shape have, if that was measured.
double kernel_rate(const Machine& machine, std::string_view kernel, const Shape& shape,
                   DataType type, double elements);

// The rate of a product [m,k] x [k,n] from measured ones: the mean of the logarithms of the rates
// of the four nearest points of the same phase, weighted by the inverse square of their distance in
// log-space. A change of aspect (a thin product against a square one) counts twice as much as a
// change of size. 0: nothing was measured.
double matmul_rate(const std::vector<MatmulPoint>& points, std::string_view type,
                   std::string_view phase, std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Rates of a calibrated Machine at sizes between those that were measured.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/program/program.h"

namespace parallelarium {

// The type whose rates stand for what is stored so: fp32 where nothing else was measured.
DataType measured_type(const std::vector<KernelRate>& rates, DataType type);
// Whether the point is of this type, as MatmulPoint::type says.
bool is_product_of(const MatmulPoint& point, std::string_view type);
// MatmulPoint::type of those that stand for products of what is stored so, in FP8 if `fp8`.
std::string_view measured_product(const std::vector<MatmulPoint>& points, DataType type, bool fp8);

// Elements per second of calls of so many elements. Between two measured sizes their times are
// joined by a line, as of a kernel that has a fixed part and one that goes with its elements. Below
// the smallest the line of the two smallest goes on; beyond the largest, and where that line would
// have no fixed part, the nearest rate stands. 0 where none was measured.
double kernel_rate(const Machine& machine, std::string_view kernel, DataType type, double elements);
// As models of this shape compute it, where that was measured.
double kernel_rate(const Machine& machine, std::string_view kernel, const Shape& shape,
                   DataType type, double elements);

// The rate of a product [m,k] x [k,n] from measured ones: the mean of the logarithms of the four
// nearest points' rates of the same phase, weighted by the inverse square of their distance in
// log-space. A change of aspect (a thin product beside a square one) counts twice a change of size.
// 0 where none was measured.
double matmul_rate(const std::vector<MatmulPoint>& points, std::string_view type,
                   std::string_view phase, std::int64_t m, std::int64_t n, std::int64_t k);

}  // namespace parallelarium

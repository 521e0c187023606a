// SPDX-License-Identifier: Apache-2.0
// The time of pieces by a Machine's peaks and its tables of shares, where no calibration has them.
#pragma once

#include "engine/predict/cost/pieces/work_seconds.h"

namespace parallelarium {

// Seconds of one Work entry beside its launch: the slower of arithmetic and memory traffic (the
// roofline), each at the share that the Machine's tables say, and the kernels that a framework has
// beside the products of experts and routers.
double shipped_seconds(const Work& work, const Shape& shape, const Machine& machine, DataType type,
                       ProductType products);
// Whether a table has the share that it takes.
RateKind shipped_kind(const Work& work, const Shape& shape, const Machine& machine, DataType type,
                      ProductType products);

}  // namespace parallelarium

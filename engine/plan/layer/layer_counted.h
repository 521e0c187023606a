// SPDX-License-Identifier: Apache-2.0
// What a run counted of one layer on one rank, beside what LayerSteps say of it.
#pragma once

#include <cstdint>
#include <optional>

#include "engine/plan/layer/layer_steps.h"
#include "engine/plan/program/report.h"

namespace parallelarium {

struct LayerCounted {
  std::optional<std::int64_t> sent_bytes;  // none: the run is of an older version
  bool counted = true;                     // false: a formula gave what a collective sent
  std::int64_t kept_bytes = 0;             // as LayerRank::kept_bytes
};

// `program` is the run's, of which `layer` was read; `rank` is an index in LayerSteps::ranks.
LayerCounted layer_counted(const LayerSteps& layer, const Program& program, const Observation& run,
                           int rank);

// FLOPs of the layer on a rank for each second in which it computed them, by a Timeline of the
// Program that `layer` was read of. 0: it computes nothing.
double layer_flops_per_second(const LayerSteps& layer, const Timeline& timeline, int rank);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// A cluster as its own tools tell it: `nvidia-smi topo -m` says how the GPUs of a node are linked,
// nccl-tests how fast collectives are.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"

namespace parallelarium {

struct ClusterText {
  nlohmann::json changes;        // of `base`, as a MachineChoice has them
  std::vector<Message> found;    // a sentence for each part that was read
  std::vector<Message> assumed;  // what follows by assumption, or was left out
};
// Reads the output of either or both, one after the other in any order; lines of other programs
// between them are skipped. `base`: the Machine with these GPUs; what the text does not say stays.
// Times of collectives within a node replace those of `base` of the same kind and ranks. From a
// collective that spans nodes comes the rate between them: bus bandwidth over the GPUs of a node,
// each of which drives a port of the network.
// Sources: nccl-tests, src/common.cu (columns) and doc/PERFORMANCE.md (bus bandwidth).
// Errors: "cluster-empty", "cluster-ranks" (a table of nccl-tests without its list of devices).
Result<ClusterText> read_cluster(const Machine& base, std::string_view text);

}  // namespace parallelarium

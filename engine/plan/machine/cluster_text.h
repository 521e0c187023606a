// SPDX-License-Identifier: Apache-2.0
// Reads a cluster as its own tools describe it: `nvidia-smi topo -m` says how the GPUs of a node
// are linked, and nccl-tests says how fast collectives are.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"

namespace parallelarium {

struct ClusterText {
  nlohmann::json changes;        // keys that differ from `base`, as a MachineChoice has them
  std::vector<Message> found;    // a sentence for each part that was read
  std::vector<Message> assumed;  // what was assumed or left out
};
// Reads the output of one tool or both, in any order. It skips lines of other programs between
// them. `base` is the Machine with these GPUs; it keeps what the text does not tell. Times of
// collectives within a node replace those of `base` for the same kind and ranks. A collective that
// spans nodes tells the rate between them: its bus bandwidth over the GPUs of a node, each of which
// drives a port of the network.
// Sources: nccl-tests, src/common.cu (columns) and doc/PERFORMANCE.md (bus bandwidth).
// Errors: "cluster-empty", "cluster-ranks" (a table of nccl-tests without its list of devices).
Result<ClusterText> read_cluster(const Machine& base, std::string_view text);

}  // namespace parallelarium

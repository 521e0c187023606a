// SPDX-License-Identifier: Apache-2.0
// How `predict` says what nodes.h knows of a Setup's ranks.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/plan/machine/nodes.h"

namespace parallelarium {

// "nodes" of `predict --json`: the nodes with their ranks, the links, and for every axis how many
// of its groups stay inside a node, how many cross, and over which links.
nlohmann::json nodes_json(const Mesh& mesh, const Nodes& nodes);

// "2 nodes of 8 ranks: TP 8 inside a node (NVLink), DP 2 across 2 nodes (InfiniBand)". Empty for
// one rank.
std::string nodes_text(const Mesh& mesh, const Nodes& nodes);

}  // namespace parallelarium

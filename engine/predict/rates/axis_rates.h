// SPDX-License-Identifier: Apache-2.0
// What the prediction assumes of each axis's communication: what a rank sends, over which links,
// and where their rate comes from. Exposed communication follows from these rates.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <vector>

#include "engine/plan/program/repeats.h"
#include "engine/predict/predict.h"

namespace parallelarium {

struct AxisRate {
  Axis axis = Axis::kWorld;
  std::int64_t sent_bytes = 0;  // bytes that rank 0 sends in a step
  bool between = false;         // a group's ranks are on several nodes
  Link link;                    // the slowest link that they use
  double links = 1;  // links used at once: several of a device in a torus, or cards (nics_of())
  // Set if rings between nodes go no faster than the ranks inside a node; then `link` is the link
  // in the node. This is the link by which they leave a node, and the number of cards.
  std::optional<Link> network;
  double cards = 0;
  // Set if an oversubscribed network leaves it fewer cards than its nodes have.
  int nodes_per_leaf = 0;
  double oversubscription = 1;
  bool reduced = false;  // switches add up what its all-reduces send
  // The most that an array of any size gets. Latencies come on top.
  double bytes_per_second() const {
    return link.bytes_per_second.value * link.sustained.value * links;
  }
};
// The rates of the axes that communicate. None for this computer: its links were measured, and
// machine_text.h describes them. `repeats` belongs to a prediction that does not have every op of
// its step.
std::vector<AxisRate> axis_rates(const Prediction& prediction, const Repeats& repeats = {});

// "TP: a rank sends 12.3 GiB over NVLink at 185 GB/s at most: 50 % (fitted on …) of 370 GB/s …"
Message said_of(const AxisRate& rate);
// [{"axis", "sent_bytes", "between_nodes", "network_bytes_per_second", "wire", "links",
// "link_bytes_per_second", "origin", "sustained", "sustained_origin", "bytes_per_second",
// "in_network_reduction", "sentence"}]. "nodes_per_leaf" and "oversubscription" are there if they
// slow the axis. The network's rate is null if `wire` is the network itself, or if there is none.
nlohmann::json to_json(const std::vector<AxisRate>& rates);

}  // namespace parallelarium

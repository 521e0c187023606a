// SPDX-License-Identifier: Apache-2.0
// What the communication of each axis is predicted by: what a rank sends, over which links, and
// where their rate comes from. It is what exposed communication stands on.
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
  std::int64_t sent_bytes = 0;  // by rank 0 in a step
  bool between = false;         // a group's ranks are on several nodes
  Link link;                    // the slowest of those that they use
  double links = 1;             // at once: several of a device in a torus, or cards (nics_of())
  // Where rings between nodes go no faster than the ranks in a node, whose link is `link` then:
  // what they leave a node over, and by how many cards.
  std::optional<Link> network;
  double cards = 0;
  // Where an oversubscribed network leaves it fewer cards than its nodes have.
  int nodes_per_leaf = 0;
  double oversubscription = 1;
  bool reduced = false;  // switches add up what its all-reduces send
  // What an array of any size gets at most; latencies come on top.
  double bytes_per_second() const {
    return link.bytes_per_second.value * link.sustained.value * links;
  }
};
// Of the axes that communicate; none of this computer, whose links were measured (machine_text.h
// tells of those). `repeats`: of a prediction that has not every op of its step.
std::vector<AxisRate> axis_rates(const Prediction& prediction, const Repeats& repeats = {});

// "TP: a rank sends 12.3 GiB over NVLink at 185 GB/s at most: 50 % (fitted on …) of 370 GB/s …"
Message said_of(const AxisRate& rate);
// [{"axis", "sent_bytes", "between_nodes", "network_bytes_per_second", "wire", "links",
// "link_bytes_per_second", "origin", "sustained", "sustained_origin", "bytes_per_second",
// "in_network_reduction", "sentence"}], and "nodes_per_leaf" and "oversubscription" where they slow
// it; the network's is null where it is `wire` itself, or none.
nlohmann::json to_json(const std::vector<AxisRate>& rates);

}  // namespace parallelarium

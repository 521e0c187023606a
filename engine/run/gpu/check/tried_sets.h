// SPDX-License-Identifier: Apache-2.0
// Sets of GPUs that a check tried together: what is known, and what is still open. Pure.
#pragma once

#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

struct TriedSet {
  std::vector<int> gpus;     // by number, ascending
  bool collectives = false;  // collectives of all were tried; else messages of a pair, both ways
  Message failure;           // empty: it works
  bool works() const { return failure.text.empty(); }
};

std::vector<std::vector<int>> broken_sets(const std::vector<TriedSet>& tried);

// Pairs of these GPUs whose messages were not tried. Here and below, `gpus` must be ascending.
std::vector<std::vector<int>> open_pairs(const std::vector<int>& gpus,
                                         const std::vector<TriedSet>& tried);
// Those groups of the first two, three ... GPUs whose collectives were tried neither among them nor
// among a larger group. Groups that contain a broken set are left out, since they are known not to
// work.
std::vector<std::vector<int>> open_groups(const std::vector<int>& gpus,
                                          const std::vector<TriedSet>& tried);
// Whether nothing is open for those of these GPUs that can meet.
bool are_tried(const std::vector<int>& gpus, const std::vector<TriedSet>& tried);

// "GPUs 0, 1 and 2".
Message gpus_named(const std::vector<int>& gpus);

}  // namespace parallelarium

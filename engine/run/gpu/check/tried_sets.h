// SPDX-License-Identifier: Apache-2.0
// GPUs that a check tried together: what is known of them, and what is still open. Pure.
#pragma once

#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

struct TriedSet {
  std::vector<int> gpus;     // by number, ascending
  bool collectives = false;  // of all of them; else messages of a pair, both ways
  Message failure;           // empty: it works
  bool works() const { return failure.text.empty(); }
};

std::vector<std::vector<int>> broken_sets(const std::vector<TriedSet>& tried);

// Pairs of these GPUs whose messages were not tried. `gpus`: ascending, here and below.
std::vector<std::vector<int>> open_pairs(const std::vector<int>& gpus,
                                         const std::vector<TriedSet>& tried);
// The first two, three ... of these GPUs whose collectives were tried neither among them nor among
// more. None that a broken set is part of: these are known not to work.
std::vector<std::vector<int>> open_groups(const std::vector<int>& gpus,
                                          const std::vector<TriedSet>& tried);
// Whether of these GPUs, as far as they meet, nothing is open.
bool are_tried(const std::vector<int>& gpus, const std::vector<TriedSet>& tried);

// "GPUs 0, 1 and 2".
Message gpus_named(const std::vector<int>& gpus);

}  // namespace parallelarium

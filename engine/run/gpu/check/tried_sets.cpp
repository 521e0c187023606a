// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/check/tried_sets.h"

#include <algorithm>

#include "engine/plan/placement/placement.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {

namespace {

// Whether all of `some` are among `gpus`; both ascending.
bool is_part(const std::vector<int>& some, const std::vector<int>& gpus) {
  return std::includes(gpus.begin(), gpus.end(), some.begin(), some.end());
}

}  // namespace

std::vector<std::vector<int>> broken_sets(const std::vector<TriedSet>& tried) {
  std::vector<std::vector<int>> sets;
  for (const TriedSet& set : tried)
    if (!set.works()) sets.push_back(set.gpus);
  return sets;
}

std::vector<std::vector<int>> open_pairs(const std::vector<int>& gpus,
                                         const std::vector<TriedSet>& tried) {
  std::vector<std::vector<int>> open;
  for (std::size_t a = 0; a < gpus.size(); ++a) {
    for (std::size_t b = a + 1; b < gpus.size(); ++b) {
      std::vector<int> pair = {gpus[a], gpus[b]};
      const auto is_known = [&](const TriedSet& set) {
        return set.gpus == pair && (!set.collectives || !set.works());
      };
      if (std::none_of(tried.begin(), tried.end(), is_known)) open.push_back(std::move(pair));
    }
  }
  return open;
}

std::vector<std::vector<int>> open_groups(const std::vector<int>& gpus,
                                          const std::vector<TriedSet>& tried) {
  std::vector<std::vector<int>> open;
  for (std::ptrdiff_t size = 2; size <= std::ssize(gpus); ++size) {
    std::vector<int> group(gpus.begin(), gpus.begin() + size);
    const auto is_known = [&](const TriedSet& set) {
      if (!set.works()) return is_part(set.gpus, group);
      return set.collectives && is_part(group, set.gpus);
    };
    if (std::none_of(tried.begin(), tried.end(), is_known)) open.push_back(std::move(group));
  }
  return open;
}

bool are_tried(const std::vector<int>& gpus, const std::vector<TriedSet>& tried) {
  return open_pairs(gpus, tried).empty() &&
         open_groups(that_meet(gpus, broken_sets(tried)), tried).empty();
}

Message gpus_named(const std::vector<int>& gpus) {
  std::vector<std::string> numbers;
  for (const int gpu : gpus) numbers.push_back(std::to_string(gpu));
  return message("gpus-named", "GPUs {}", join_and(numbers));
}

}  // namespace parallelarium

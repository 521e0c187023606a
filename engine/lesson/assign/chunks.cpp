// SPDX-License-Identifier: Apache-2.0
// Chunks of a sequence on the ranks of context parallelism. Under the causal mask a chunk's queries
// meet the keys of all chunks before it, and half of its own.
#include <algorithm>
#include <cstdlib>

#include "engine/lesson/assign/assignment.h"

namespace parallelarium {

AssignmentFacts chunk_facts(const Assignment& assignment) {
  const std::size_t ranks = assignment.size() / 2;
  std::vector<double> work(ranks, 0);
  std::vector<int> chunks(ranks, 0);
  double all = 0;
  for (const auto& [slot, value] : assignment) {
    const auto number = [](const std::string& name) {
      return std::strtoul(name.c_str() + name.rfind('-') + 1, nullptr, 10);
    };
    const double blocks = static_cast<double>(number(slot)) + 0.5;
    work.at(number(value)) += blocks;
    ++chunks.at(number(value));
    all += blocks;
  }
  const double even = all / static_cast<double>(ranks);
  const auto most = std::max_element(work.begin(), work.end());
  const auto least = std::min_element(work.begin(), work.end());
  const auto fullest = std::max_element(chunks.begin(), chunks.end());
  AssignmentFacts out;
  out.facts = {
      {"work", work}, {"chunks", chunks}, {"most_chunks", *fullest}, {"over_even", *most / even}};
  if (*fullest > 2)
    out.reasons.push_back(message("assign-chunks.memory",
                                  "Rank {} holds {} of {} chunks, and an even share is 2: it needs "
                                  "more memory than the others.",
                                  fullest - chunks.begin(), *fullest, assignment.size()));
  if (*most > *least)
    out.reasons.push_back(message("assign-chunks.work",
                                  "Rank {} computes {} blocks of scores and rank {} only {}: all "
                                  "wait for rank {}.",
                                  most - work.begin(), *most, least - work.begin(), *least,
                                  most - work.begin()));
  return out;
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/setup/schedule_rules.h"

#include <algorithm>

#include "engine/plan/settings/alternatives.h"

namespace parallelarium {

const ScheduleRule* find_schedule_rule(const Schedule& schedule) {
  if (schedule.order() != nullptr) return nullptr;
  const auto found =
      std::find_if(kScheduleRules.begin(), kScheduleRules.end(),
                   [&](const ScheduleRule& rule) { return rule.name == schedule.name(); });
  return found == kScheduleRules.end() ? nullptr : &*found;
}

Message title_of(const ScheduleRule& rule) {
  return rule.name == "naive" ? message("schedule-naive-title", "Naive")
                              : plain(std::string(rule.title));
}

Result<void> check_schedule_sizes(const ScheduleRule& rule, int ranks, int microbatches,
                                  int chunks) {
  if (rule.chunks == 0) {
    if (chunks < 2) {
      return refuse(
          message("schedule-chunks.interleaved",
                  "{} needs 2 or more chunks on each rank; with 1 it would be 1F1B.", rule.title),
          "chunks", {"2"});
    }
  } else if (chunks != rule.chunks && !(rule.chunks == 2 && chunks == 1)) {
    return refuse(rule.chunks == 1
                      ? message("schedule-chunks.one", "{} holds 1 chunk per rank, not {}.",
                                title_of(rule), chunks)
                      : message("schedule-chunks", "{} holds {} chunks per rank, not {}.",
                                title_of(rule), rule.chunks, chunks),
                  "chunks", {std::to_string(rule.chunks)});
  }
  if (rule.even_ranks && ranks % 2 != 0) {
    std::vector<std::string> even;
    if (ranks > 1) even.push_back(std::to_string(ranks - 1));
    even.push_back(std::to_string(ranks + 1));
    return refuse(message("schedule-ranks",
                          "{} runs micro-batches from both ends at once, so it needs an even "
                          "number of stages, not {}; {} would do.",
                          title_of(rule), ranks, even.front()),
                  "mesh.pp", even);
  }
  if (rule.two_rounds && microbatches < 2 * ranks) {
    return refuse(message("schedule-microbatches",
                          "{} needs twice as many micro-batches as ranks, {} or more, not {}.",
                          title_of(rule), 2 * ranks, microbatches),
                  "microbatches", {std::to_string(2 * ranks)});
  }
  if (rule.even_ranks && microbatches % 2 != 0) {
    return refuse(message("schedule-microbatches.odd",
                          "{} sends half of the micro-batches from each end, so it needs an even "
                          "number of them, not {}; {} would do.",
                          title_of(rule), microbatches, microbatches + 1),
                  "microbatches", {std::to_string(microbatches + 1)});
  }
  return {};
}

int chunks_of(const Setup& setup) {
  const ScheduleRule* rule = find_schedule_rule(setup.schedule);
  return rule != nullptr && rule->chunks > 1 ? rule->chunks : setup.chunks;
}

bool holds_stages_twice(const Setup& setup) {
  if (const ScheduleRule* rule = find_schedule_rule(setup.schedule))
    return rule->holds_stages_twice;
  const Order* own = setup.schedule.order();
  return own != nullptr && setup.chunks == 2 && setup.mesh.pp > 1 && own->stages == setup.mesh.pp;
}

bool hands_over_in_a_rank(const Setup& setup) {
  if (setup.mesh.pp == 1 || holds_stages_twice(setup)) return false;
  if (const ScheduleRule* rule = find_schedule_rule(setup.schedule)) return rule->chunks == 2;
  const Order* own = setup.schedule.order();
  if (own == nullptr) return false;
  for (const std::vector<int>& stages : own->stage_of)
    for (const int stage : stages)
      if (std::find(stages.begin(), stages.end(), stage + 1) != stages.end()) return true;
  return false;
}

int stages_of(const Setup& setup) {
  return holds_stages_twice(setup) ? setup.mesh.pp : setup.mesh.pp * chunks_of(setup);
}

}  // namespace parallelarium

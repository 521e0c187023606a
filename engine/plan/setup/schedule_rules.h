// SPDX-License-Identifier: Apache-2.0
// The schedules and the sizes that each of them needs. Setup and the generators of Orders must
// agree on these.
#pragma once

#include <array>
#include <string_view>

#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// When the planner tries a schedule without being told to. Those that take longer than others but
// hold less are tried where memory alone counts.
enum class InSearch : std::uint8_t { kAlways, kForMemory, kNever };

struct ScheduleRule {
  std::string_view name;   // "zb-h1"
  std::string_view title;  // "ZB-H1"; in other languages title_of() says it
  InSearch in_search = InSearch::kAlways;
  int chunks = 1;  // fixed number on each rank; 0: the user chooses 2 or more
  bool splits_backward = false;
  bool alike_on_one_stage = false;  // on one stage its order equals that of all others that say so
  bool even_ranks = false;          // ranks and micro-batches come in pairs
  bool two_rounds = false;          // needs twice as many micro-batches as ranks
  bool holds_stages_twice = false;  // it has as many stages as ranks, each on two ranks
};
// In teaching order.
inline constexpr auto kScheduleRules = std::to_array<ScheduleRule>({
    {"naive", "Naive", InSearch::kForMemory},
    {"gpipe", "GPipe", InSearch::kNever},
    {"1f1b", "1F1B"},
    {"interleaved", "Interleaved 1F1B", InSearch::kAlways, 0},
    {"zb-h1", "ZB-H1", InSearch::kAlways, 1, true, true},
    {"zb-h2", "ZB-H2", InSearch::kAlways, 1, true, true},
    {"zb-1p", "ZB-1p", InSearch::kNever, 1, true},
    {"zb-2p", "ZB-2p", InSearch::kNever, 1, true},
    {"zb-v", "ZB-V", InSearch::kAlways, 2, true},
    {"v-half", "V-Half", InSearch::kForMemory, 2, true},
    {"v-min", "V-Min", InSearch::kForMemory, 2, true},
    {"dualpipe", "DualPipe", InSearch::kAlways, 2, true, false, true, true, true},
    {"dualpipe-v", "DualPipe-V", InSearch::kAlways, 2, true, false, false, true},
});
// Its title as a person reads it: all are proper names but that of the naive schedule.
Message title_of(const ScheduleRule& rule);
// The rule, or null for an order of the user and for unknown names.
const ScheduleRule* find_schedule_rule(const Schedule& schedule);

// Success, or a sentence that says why a schedule cannot have these sizes, with values that would
// do (the Message's field and alternatives). Schedules with two chunks by nature accept 1, the
// default, as well. Sources: Megatron-LM (interleaved), deepseek-ai/DualPipe (its asserts).
Result<void> check_schedule_sizes(const ScheduleRule& rule, int ranks, int microbatches,
                                  int chunks);

// Whether every stage is on two ranks, r and p - 1 - r: DualPipe, or a user's order like it.
bool holds_stages_twice(const Setup& setup);
// Whether a rank has neighbouring stages, between which it sends nothing. So do schedules that go
// through the ranks as a V, and a user's order like them.
bool hands_over_in_a_rank(const Setup& setup);
// The number of chunks on each rank, and of stages of the whole model, with the Setup's schedule.
int chunks_of(const Setup& setup);
int stages_of(const Setup& setup);

}  // namespace parallelarium

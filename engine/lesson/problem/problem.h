// SPDX-License-Identifier: Apache-2.0
// Planning problems of a lesson. The planner solves them, and expressions name what it finds.
//
// A problem called "plan" gives these names beside the drawn ones: plan_tp, plan_pp, plan_dp,
// plan_zero, plan_micro_batch, plan_microbatches, plan_chunks, plan_schedule (place in
// kScheduleRules), plan_recompute (0: none, 1: selective, 2: full) and plan_sp of the fastest plan,
// with plan_seconds of its step and plan_bytes of its fullest rank. If "rejections" is true, three
// rejected candidates have the same names with "refused_", "large_" and "slow_" in front, and a
// _cause (place in kRejectionCauses) and a _number:
//
//   refused  by validate(), since layers or heads do not divide: what is left over
//   large    too large for a device: bytes that its fullest rank needs
//   slow     slower than the best, from which it differs in one axis: by which share of its step
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/lesson/text/expression.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct ScheduleRule;

inline constexpr std::string_view kRejectionCauses[] = {
    "layers", "heads", "states", "activations", "recompute", "waiting", "tp", "dp"};

// Settings by dotted key, as lessons write them (lesson.h).
using Fields = std::vector<std::pair<std::string, std::string>>;

struct PlanProblem {
  std::string name;
  Fields setup;  // on top of the lesson's start
  // Expressions. `memory_bytes`: bytes of a device that may be used; empty: all.
  std::string gpus, global_batch, memory_bytes;
  Fields allowed;  // by axis: "1,2,4"
  bool rejections = false;
};

// The schedule at the place in kScheduleRules that the expression gives. Error: it gives none.
Result<const ScheduleRule*> schedule_at(std::string_view expression, const Symbols& symbols);

// The value of a field or a part. A plain text is its own value. "=expression" gives the value of
// the expression. "=expression | a | b" gives the alternative at the place, from 0, that the
// expression gives. "=schedule: expression" gives the name of schedule_at(). Error: there is no
// value.
Result<std::string> picked(const std::string& text, const Symbols& symbols);
// The alternatives of such a text; empty if it has none.
std::vector<std::string> alternatives_of(const std::string& text);

// Returns what the planner finds. `base` is the Setup of the lesson's start. Cost: a search, where
// this process has not made it.
// Errors: those of the search; nothing fits; there is no such rejection.
Result<Symbols> solve(const PlanProblem& problem, const Setup& base, const Symbols& drawn);

}  // namespace parallelarium

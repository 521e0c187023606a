// SPDX-License-Identifier: Apache-2.0
// Why the best plan has not another value of an axis: the best that has it, and what it costs; or
// that none with it can be, and the commonest reason.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/planner/search.h"

namespace parallelarium {

struct WhyNot {
  std::string axis, value;                                  // as they are typed: "tp", "8"
  std::int64_t candidates = 0, classes[kPlanClasses] = {};  // with the value
  std::vector<ReasonCount> reasons;                         // most frequent first
  std::optional<Plan> plan;       // the best with that value; none: each is refused or too large
  std::optional<double> seconds;  // that its step takes longer than the best plan's
  Change change;                  // from the best plan to it
  Message sentence;
};
// What is known of the request's own search.
struct KnownPlans {
  const Plan* best = nullptr;  // null: it found none
  std::vector<Setup> fastest;  // of all its candidates, in their order; `best` is the first
  TieThreshold ties;
};
// The request's own limits on that axis do not count. Some values need another axis, too: chunks
// need an interleaved schedule, a group needs ZeRO; the request's limits on that axis do not count
// either. If the request has no such limits and one of the known fastest plans has the value, that
// plan is the answer; it costs a prediction, and `candidates` is 0, since nobody counted. Otherwise
// the candidates with that value are searched. Errors: those of search(), but for "plan-empty",
// which is an answer.
Result<WhyNot> why_not(const std::string& axis, const std::string& value, PlanRequest request,
                       const KnownPlans& known, const PlanWatch& watch);

// Whether the axis can have the value at all. Errors: those of why_not() that are known without a
// search.
Result<void> check_value(const std::string& axis, const std::string& value, PlanRequest request);

// {"axis", "value", "candidates", "classes", "reasons", "plan", "seconds", "change", "changed",
// "sentence", "message"}; "plan" and "seconds" are null where there is none.
nlohmann::json to_json(const WhyNot& answer);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// What a search makes of one Setup that somebody asks about: its class, why, and the one change
// that serves it best.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "engine/plan/machine/machine.h"
#include "engine/planner/reasons/advice/neighbours.h"
#include "engine/planner/search.h"

namespace parallelarium {

struct Standing {
  PlanClass plan_class = PlanClass::kRefused;
  bool candidate =
      true;  // of the search; else `sentence` says why it is none, and figures are told
  Message sentence;
  std::optional<Message> own;  // the settings that it has and no plan of the search
  std::optional<Tried> tried;  // none where it is refused
  // The cheapest change that makes it fit. Of a Setup that fits it is the fastest change, and none
  // where no change is faster.
  std::optional<SingleChange> change;
};
// Which changes of the Setup keep to the search: those that it covers; of a Setup that it does not
// cover itself, those that give no axis a value that the request does not allow. Setup and request
// must outlive the filter.
SetupFilter changes_within(const Setup& setup, const PlanRequest& request);
// `result` is what the search of the request found. Cost: some dozens of predictions, of which
// `progress` hears on the calling thread; null: nobody.
Standing standing_of(const Setup& setup, const PlanRequest& request, const PlanResult& result,
                     const std::function<void(double share)>& progress = {});
// Of a Setup that is refused before it can be tried.
Standing refused_standing(const Message& why, const Setup& setup, const PlanRequest& request);

// {"setup": asked, "class", "candidate", "sentence", "own", "step", "memory", "plan", "change"};
// the last five are null where there is none. "plan" has the figures that plans of a search have.
// "message" and "change.message" are the sentences for a window in any language.
nlohmann::json to_json(const Standing& standing, const Setup& asked);

}  // namespace parallelarium

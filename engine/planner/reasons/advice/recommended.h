// SPDX-License-Identifier: Apache-2.0
// The plans of a search that people look at first, and what limits each.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "engine/planner/search.h"

namespace parallelarium {

// Notes three plans, or says why they are fewer: the fastest that the search kept; the one with the
// least memory; and the one with the fewest of TP, PP, CP and EP in use, in a plain pipeline (1F1B,
// even stages, ranks and groups of ZeRO as they stand where nobody says), of equally many the
// fastest. The last two are of those that cannot be told apart from the fastest, on as many GPUs or
// fewer. Where that leaves fewer than three, the fastest of all with a tenth less memory stands for
// the one, and the fastest of all with fewer axes for the other. What the request allows counts
// first. Where the search or this was cancelled, it says so and recommends nothing for its
// simplicity. For another objective than time the best by it comes first, and none stands for its
// memory. Where all of them need something unusual, the fastest that does not comes last.
// note_ties() comes before it; without a threshold no plan is tied. Cost: a search for each set of
// axes that is no larger than the fastest plan's, up to the first that has a tie.
void note_recommended(PlanResult& result, const PlanRequest& request, const PlanWatch& watch = {});

// "95.9 % compute, then 1.93 % exposed communication of DP; 74.2 % of the memory, 19.2 GiB free".
// `pipeline`: there are several stages, so that what is idle is a bubble.
Message limits_of(const StepParts& parts, bool pipeline, const MemoryRoom& room);
Message limits_of(const Plan& plan);

// The fastest of them. There must be one.
const Plan& fastest_of(const std::vector<Recommended>& recommended);

// [{"merits": ["fastest"], "limits": sentence, and the keys of a plan}]
nlohmann::json recommended_json(const std::vector<Recommended>& recommended);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// What each rank of a run had and did, and where each waits in one that hangs.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "engine/cli/training.h"
#include "engine/predict/training/noise_scale.h"

namespace parallelarium {

// A table of Observation::ranks_state, and a sentence for each rank that does not hold what it
// must.
std::string ranks_state_text(const Observation& observed);

// The batch at which the noise of gradients equals the gradient, by runs that differ in their seed;
// empty of none.
std::string noise_text(std::span<const NoiseScale> runs);

// "5s", "5" or "0.5" in seconds; 0 of an empty text. Error: no such time, or too long a one.
Result<double> seconds_to_hang(const std::string& text);

// Of a run that hung. There must be a training.hang.
std::string hang_text(const Training& training);
// {setup, resolved, source, backend, hang: {seconds, ranks: [{rank, waits_in, for_rank, needs,
// sentence}]}}; for_rank and needs are null of a rank that waits for no op.
nlohmann::json hang_json(const Training& training);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// A rank's outcome as bytes, for the way from its process to rank 0's.
#pragma once

#include <string>

#include "engine/run/train/rank.h"

namespace parallelarium {

std::string to_bytes(const RankOutcome& outcome);
// Error "outcome-broken".
Result<RankOutcome> outcome_from_bytes(const std::string& bytes);

}  // namespace parallelarium

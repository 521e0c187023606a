// SPDX-License-Identifier: Apache-2.0
// Tables in the report of a run.
#pragma once

#include <string>
#include <vector>

#include "engine/plan/program/report.h"
#include "engine/run/train/run.h"

namespace parallelarium {

// Loss and gradient norm of each step; of more than 20 steps the first and the last eight.
std::string losses_text(const Observation& observed);
// What was compared with one rank, and whether it holds.
std::string proof_text(const Proof& proof);
// What NCCL chose for which collective.
std::string choices_text(const std::vector<LibraryChoice>& choices);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Runs of some hand-ins once more: whoever made a run has its losses, since a training step that
// begins with the same seed ends with the same bits on the same backend.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/lesson/teaching/report.h"

namespace parallelarium {

// What a hand-in says of a run: {source, machine, backend, setup, losses, sent_bytes}.
nlohmann::json hand_in_run(const Observation& seen);

struct RerunCount {
  int drawn = 0;
  int run = 0;  // of those drawn, with a run that could be compared
};

// Draws `count` of the hand-ins that have runs (all, if there are no more), and runs every training
// step of theirs again: with the Setup that the lesson sets for the student's numbers, on CPU
// ranks. Fills HandIn::drawn and HandInStep::rerun. Nothing is run that is not the lesson's own
// Setup; who hands in another has a fault. `course`: where the lessons lie.
RerunCount rerun_hand_ins(ClassReport& report, int count, std::uint64_t seed,
                          const std::string& course,
                          const std::function<Result<Observation>(const Setup&)>& run);

}  // namespace parallelarium

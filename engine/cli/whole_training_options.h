// SPDX-License-Identifier: Apache-2.0
// --tokens and --price: how long all tokens of a training take at the speed of one step, and what
// they cost.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/plan/program/report.h"
#include "engine/plan/result.h"

namespace parallelarium {

struct WholeTraining {
  double tokens = 0;  // of the training; 0: nobody asked
  double price = 0;   // of a GPU hour; 0: nobody said
};
void add_whole_training(CLI::App& command, std::string& tokens, double& price);
// "300B", "15T". Errors: what is no number above 0; a price without tokens.
Result<WholeTraining> whole_training_from(const std::string& tokens, double price);

// {"tokens", "days", "gpu_hours", "cost"} on so many devices; the last is null without a price.
nlohmann::json to_json(const WholeTraining& training, const StepFigures& step, int devices);
// The same as a sentence.
std::string training_text(const WholeTraining& training, const StepFigures& step, int devices);

}  // namespace parallelarium

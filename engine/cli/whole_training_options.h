// SPDX-License-Identifier: Apache-2.0
// --tokens and --price, and what they tell beside a step.
#pragma once

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "engine/plan/program/report.h"
#include "engine/predict/training/whole_training.h"

namespace parallelarium {

void add_whole_training(CLI::App& command, std::string& tokens, double& price);

// {"tokens", "days", "gpu_hours", "cost"} on so many devices; the last is null without a price.
nlohmann::json to_json(const WholeTraining& training, const StepFigures& step, int devices);
// The same as a sentence.
std::string training_text(const WholeTraining& training, const StepFigures& step, int devices);

}  // namespace parallelarium

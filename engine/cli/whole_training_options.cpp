// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/whole_training_options.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "engine/plan/text/units.h"

namespace parallelarium {

void add_whole_training(CLI::App& command, std::string& tokens, double& price) {
  command.add_option("--tokens", tokens, "how long so many tokens take: 300B, 15T")
      ->option_text("N");
  command.add_option("--price", price, "of a GPU hour, for the cost of --tokens")
      ->option_text("MONEY");
}

nlohmann::json to_json(const WholeTraining& training, const StepFigures& step, int devices) {
  const TrainingTime time = time_of(training, step.tokens_per_second, devices);
  return {{"tokens", training.tokens},
          {"days", time.days},
          {"gpu_hours", time.gpu_hours},
          {"cost", time.cost ? nlohmann::json(*time.cost) : nlohmann::json(nullptr)}};
}

std::string training_text(const WholeTraining& training, const StepFigures& step, int devices) {
  const TrainingTime time = time_of(training, step.tokens_per_second, devices);
  std::string text = fmt::format(
      "{} tokens take {} days on {}, {} GPU hours", count_text(training.tokens),
      three_digits(time.days),
      devices == 1 ? std::string("this device") : fmt::format("these {} devices", devices),
      count_text(time.gpu_hours));
  if (time.cost) text += fmt::format(", {} at {} an hour", count_text(*time.cost), training.price);
  return text + ".";
}

}  // namespace parallelarium

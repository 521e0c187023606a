// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/whole_training.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/plan/text/units.h"

namespace parallelarium {
namespace {

Result<double> tokens_from(const std::string& text) {
  if (text.empty()) return 0.0;
  double unit = 1;
  std::string digits = text;
  for (const auto& [letter, factor] :
       {std::pair{'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'G', 1e9}, {'T', 1e12}})
    if (digits.back() == letter || digits.back() == letter + 'a' - 'A') unit = factor;
  if (unit > 1) digits.pop_back();
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  if (digits.empty() || end != digits.c_str() + digits.size() || !(value > 0) ||
      !(value * unit < 1e20))
    return message("tokens-wrong", "--tokens must be a number such as 300B or 15T, not “{}”.",
                   text);
  return value * unit;
}

double hours_of(const WholeTraining& training, const StepFigures& step) {
  return training.tokens / step.tokens_per_second / 3600;
}

}  // namespace

void add_whole_training(CLI::App& command, std::string& tokens, double& price) {
  command.add_option("--tokens", tokens, "how long so many tokens take: 300B, 15T")
      ->option_text("N");
  command.add_option("--price", price, "of a GPU hour, for the cost of --tokens")
      ->option_text("MONEY");
}

Result<WholeTraining> whole_training_from(const std::string& tokens, double price) {
  const Result<double> count = tokens_from(tokens);
  if (!count) return count.error();
  if (!(price >= 0) || (price > 0 && *count == 0))
    return message("price-alone", "--price is of a GPU hour, 0 or more, and goes with --tokens.");
  return WholeTraining{*count, price};
}

nlohmann::json to_json(const WholeTraining& training, const StepFigures& step, int devices) {
  const double hours = hours_of(training, step), gpu_hours = hours * devices;
  nlohmann::json json = {
      {"tokens", training.tokens}, {"days", hours / 24}, {"gpu_hours", gpu_hours}};
  json["cost"] =
      training.price > 0 ? nlohmann::json(gpu_hours * training.price) : nlohmann::json(nullptr);
  return json;
}

std::string training_text(const WholeTraining& training, const StepFigures& step, int devices) {
  const double hours = hours_of(training, step), gpu_hours = hours * devices;
  std::string text = fmt::format("{} tokens take {} days on these {} devices, {} GPU hours",
                                 count_text(training.tokens), three_digits(hours / 24), devices,
                                 count_text(gpu_hours));
  if (training.price > 0)
    text +=
        fmt::format(", {} at {} an hour", count_text(gpu_hours * training.price), training.price);
  return text + ".";
}

}  // namespace parallelarium

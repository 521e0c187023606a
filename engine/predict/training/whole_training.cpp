// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/training/whole_training.h"

#include <cstdlib>
#include <utility>

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

}  // namespace

Result<WholeTraining> whole_training_from(const std::string& tokens, double price) {
  const Result<double> count = tokens_from(tokens);
  if (!count) return count.error();
  if (!(price >= 0) || (price > 0 && *count == 0))
    return message("price-alone", "--price is of a GPU hour, 0 or more, and goes with --tokens.");
  return WholeTraining{*count, price};
}

TrainingTime time_of(const WholeTraining& training, double tokens_per_second, int devices) {
  constexpr double kHour = 3600, kHoursOfADay = 24;
  const double hours = training.tokens / tokens_per_second / kHour;
  TrainingTime time{hours / kHoursOfADay, hours * devices, std::nullopt};
  if (training.price > 0) time.cost = time.gpu_hours * training.price;
  return time;
}

}  // namespace parallelarium

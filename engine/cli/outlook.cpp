// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/outlook.h"

#include <fmt/format.h>

#include "engine/cli/training.h"
#include "engine/plan/text/units.h"
#include "engine/predict/compare.h"
#include "engine/predict/explain/explanation.h"

namespace parallelarium {

std::optional<Outlook> outlook_of(const Prediction& prediction, const Situation& situation) {
  if (!situation.placement || !can_execute(situation.setup)) return std::nullopt;
  Outlook outlook{*situation.placement, 1, 1, prediction.step.seconds, std::nullopt};
  if (outlook.choice.source == Source::kPaced) {
    const Result<double> wished = pace_factor(prediction.setup, prediction.machine);
    if (!wished) return std::nullopt;
    const Result<PaceChoice> pace = pace_on(prediction, prediction.machine);
    if (!pace) outlook.refusal = pace.error();
    outlook.pace_factor = pace ? pace->factor : *wished;
    outlook.pace_slowed = pace ? pace->slowed : 1;
    outlook.step_seconds = dilated(prediction, outlook.pace_factor).step.seconds;
  }
  return outlook;
}

std::string outlook_text(const Outlook& outlook) {
  if (outlook.choice.source != Source::kPaced)
    return fmt::format("Here: {}.\n", outlook.choice.why.text);
  if (outlook.refusal)
    return fmt::format("Here: {}; `run` refuses: {}\n", outlook.choice.why.text,
                       outlook.refusal->text);
  return fmt::format("Here: {}; `run` then takes {} for a step ({} times slower{}).\n",
                     outlook.choice.why.text, seconds_text(outlook.step_seconds),
                     three_digits(outlook.pace_factor),
                     outlook.pace_slowed > 1 ? ", the least that leaves the cores room" : "");
}

nlohmann::json prediction_answer(const Prediction& prediction, const Situation& situation, int rank,
                                 bool spans) {
  nlohmann::json json = to_json(prediction, rank);
  json["setup"] = to_json(situation.asked);
  if (const auto outdated =
          outdated_rates(situation.setup, situation.machine, bf16_products_here()))
    json["remarks"].push_back(outdated->text);
  json["explain"] = to_json(explain(prediction.program, prediction.timeline));
  if (!spans) json["explain"]["critical_path"].erase("steps");
  if (const std::optional<Outlook> here = outlook_of(prediction, situation))
    json["run"] = {
        {"source", name_of(here->choice.source)},
        {"reason", here->choice.why.text},
        {"pace_factor", here->choice.source == Source::kPaced ? nlohmann::json(here->pace_factor)
                                                              : nlohmann::json(nullptr)},
        {"step_seconds", here->step_seconds},
        {"refusal", here->refusal ? nlohmann::json(here->refusal->text) : nlohmann::json(nullptr)}};
  return json;
}

}  // namespace parallelarium

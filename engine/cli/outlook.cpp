// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/outlook.h"

#include <fmt/format.h>

#include "engine/cli/training.h"
#include "engine/plan/placement/small_copy.h"
#include "engine/plan/text/units.h"
#include "engine/predict/explain/explanation.h"
#include "engine/predict/rehearsal.h"
#include "engine/run/gpu/module/module.h"
#include "engine/run/train/outcome.h"

namespace parallelarium {

std::optional<Outlook> outlook_of(const Prediction& prediction, const Situation& situation) {
  const RunSettings& run = situation.setup.run;
  const int ranks = situation.setup.mesh.ranks();
  if (!can_execute(situation.setup)) return std::nullopt;
  Outlook outlook;
  if (situation.placement)
    outlook.choice = *situation.placement;
  else if (situation.machine.local || run.backend != Backend::kPaced)
    return std::nullopt;
  else if (Result<Placement> cores = place(run, ranks, computer_here(run, ranks)))
    outlook.choice = std::move(*cores);
  else
    return std::nullopt;
  if (outlook.choice.source == Source::kPaced) {
    const Result<Machine> here = find_machine("local");
    outlook.stretch = stretch_of(prediction, here ? *here : uncalibrated_local_machine());
  }
  return outlook;
}

std::string outlook_text(const Outlook& outlook, const Prediction& prediction) {
  if (outlook.choice.source != Source::kPaced)
    return fmt::format("Here: {}.\n", outlook.choice.why.text);
  const double clock = clock_seconds_of(prediction, outlook.stretch);
  std::string text =
      fmt::format("Here: {}, some {} for all steps (1:{}).\n", outlook.choice.why.text,
                  seconds_text(clock), three_digits(outlook.stretch));
  if (clock > kPatienceSeconds)
    text += "Fewer --steps and --warmup, a smaller model or fewer --microbatches take less.\n";
  return text;
}

std::optional<Message> too_large_to_rehearse(const Situation& situation) {
  const Setup& setup = situation.setup;
  const Precision& precision = setup.precision;
  const double needed = static_cast<double>(count_parameters(setup.model).total) *
                        (precision.parameter_bytes + precision.gradient_bytes +
                         precision.master_bytes + precision.moments_bytes);
  const auto free = static_cast<double>(proc_bytes("/proc/meminfo", "MemAvailable:"));
  if (free <= 0 || needed <= free) return std::nullopt;
  Message why = message(
      "run-elsewhere-large",
      "A run measures this computer, and the machine is {}. Parameters, gradients and optimizer of "
      "{} need {}, and {} are free here, so it cannot be rehearsed; a small model can: {}.",
      title_of(situation.machine), title_of(setup.model), figure(bytes_text(needed)),
      figure(bytes_text(free)),
      fmt::format("--model {} --backend paced", tiny_preset_like(setup.model)));
  why.field = "model";
  return why;
}

namespace {

nlohmann::json outlook_json(const Outlook& outlook, const Prediction& prediction) {
  nlohmann::json json = {{"source", name_of(outlook.choice.source)},
                         {"reason", outlook.choice.why.text}};
  if (outlook.choice.source != Source::kPaced) return json;
  json["stretch"] = outlook.stretch;
  json["clock_seconds"] = prediction.step.seconds * outlook.stretch;
  json["all_steps_seconds"] = clock_seconds_of(prediction, outlook.stretch);
  return json;
}

}  // namespace

nlohmann::json prediction_answer(const Prediction& prediction, const Situation& situation, int rank,
                                 bool spans) {
  nlohmann::json json = to_json(prediction, rank);
  json["setup"] = to_json(situation.asked);
  if (const auto outdated =
          outdated_rates(situation.setup, situation.machine, bf16_products_here()))
    json["remarks"].push_back(outdated->text);
  if (const auto disturbed = disturbed_calibration(situation.machine))
    json["remarks"].push_back(disturbed->text);
  json["explain"] = to_json(explain(prediction.program, prediction.timeline));
  if (!spans) json["explain"]["critical_path"].erase("steps");
  if (const std::optional<Outlook> here = outlook_of(prediction, situation))
    json["run"] = outlook_json(*here, prediction);
  return json;
}

}  // namespace parallelarium

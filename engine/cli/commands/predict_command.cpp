// SPDX-License-Identifier: Apache-2.0
// `predict`: memory, traffic, timeline and step time of a Setup, before anything runs.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/cli/text/report_text.h"
#include "engine/cli/training.h"
#include "engine/plan/text/units.h"
#include "engine/predict/compare.h"
#include "engine/predict/explain/explanation.h"
#include "engine/predict/predict.h"
#include "engine/run/train/run.h"

namespace parallelarium {
namespace {

// How ranks of this computer would act the Setup out.
struct Outlook {
  BackendChoice choice;
  double pace_factor = 1, pace_slowed = 1;
  double step_seconds = 0;
  std::optional<Message> refusal;  // why this computer cannot keep the pace
};
std::optional<Outlook> outlook_of(const Prediction& prediction, BackendChoice choice) {
  Outlook outlook{std::move(choice), 1, 1, prediction.step.seconds, std::nullopt};
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

}  // namespace

void add_predict(Commands& commands) {
  CLI::App* command = commands.add(
      "predict", "predict memory, traffic and time of a training step",
      "  parallelarium-engine predict --pp 4 --microbatches 16 --schedule gpipe\n"
      "  parallelarium-engine predict --model gpt3-175b --machine dgx-a100-80g --tp 8 --pp 16 \\\n"
      "      --dp 6 --microbatches 64\n"
      "  parallelarium-engine predict --setup lesson.json --json\n");
  struct Options {
    SetupOptions setup;
    int rank = 0;
    bool json = false;
    std::string routing;
  };
  auto options = std::make_shared<Options>();
  command->add_flag("--json", options->json, "print JSON");
  command->add_option("--rank", options->rank, "whose traffic to show (default: 0)")
      ->option_text("R");
  command
      ->add_option("--routing", options->routing, "experts: what a run measured, its `run --json`")
      ->option_text("FILE");
  options->setup.add_to(*command);
  commands.set_body(command, [options](Progress&) {
    Result<Situation> situation = options->setup.situation();
    if (!situation) return Outcome::invalid(situation.error());
    const Setup& setup = situation->setup;
    const int ranks = setup.mesh.ranks();
    if (options->rank < 0 || options->rank >= ranks)
      return Outcome::invalid(message("rank-outside",
                                      "There is no rank {}; this Setup has ranks 0 "
                                      "to {}.",
                                      options->rank, ranks - 1));
    Result<Routing> routing = Routing{};
    if (!options->routing.empty()) routing = read_routing(options->routing, setup);
    if (!routing) return Outcome::invalid(routing.error());
    const Result<Prediction> prediction =
        predict(setup, situation->machine, false, options->routing.empty() ? nullptr : &*routing);
    if (!prediction) return Outcome::invalid(prediction.error());
    std::optional<Outlook> here;
    if (situation->placement && can_execute(setup))
      here = outlook_of(*prediction, std::move(*situation->placement));
    if (options->json) {
      nlohmann::json json = to_json(*prediction, options->rank);
      json["setup"] = to_json(situation->asked);
      if (const auto outdated = outdated_rates(setup, situation->machine, bf16_products_here()))
        json["remarks"].push_back(outdated->text);
      json["explain"] = to_json(explain(prediction->program, prediction->timeline));
      if (here)
        json["run"] = {{"source", name_of(here->choice.source)},
                       {"reason", here->choice.why.text},
                       {"pace_factor", here->choice.source == Source::kPaced
                                           ? nlohmann::json(here->pace_factor)
                                           : nlohmann::json(nullptr)},
                       {"step_seconds", here->step_seconds},
                       {"refusal", here->refusal ? nlohmann::json(here->refusal->text)
                                                 : nlohmann::json(nullptr)}};
      return Outcome::done(json_text(json));
    }
    return Outcome::done(prediction_text(*prediction, situation->asked, options->rank) +
                         (here ? "\n" + outlook_text(*here) : ""));
  });
}

}  // namespace parallelarium

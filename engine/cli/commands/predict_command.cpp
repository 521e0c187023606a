// SPDX-License-Identifier: Apache-2.0
// `predict`: memory, traffic, timeline and step time of a Setup, before anything runs.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/cli/outlook.h"
#include "engine/cli/text/run/report_text.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/plan/text/units.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

// "Assumed, since nothing says otherwise: DP 1, ..."
std::string assumed_text(const nlohmann::json& assumed) {
  std::string text;
  for (const auto& [key, value] : assumed.items()) {
    const SetupSetting& row = *find_setting(setup_settings(), key);
    text += fmt::format("{}--{} {}", text.empty() ? "" : ", ", row.option, text_of_value(value));
  }
  return text.empty() ? text : "Assumed, since nothing says otherwise: " + text + ".\n\n";
}

// "15T", "300B", "2e12" as a number of tokens; 0 where nothing is said.
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

// How long a training of so many tokens takes, all devices together.
struct WholeTraining {
  double days = 0, gpu_hours = 0, cost = 0;
};
WholeTraining training_of(const Prediction& prediction, double tokens, double price) {
  const double seconds = tokens / prediction.step.tokens_per_second;
  const double hours = seconds / 3600 * prediction.setup.mesh.ranks();
  return {seconds / 86'400, hours, hours * price};
}

nlohmann::json training_json(const Prediction& prediction, double tokens, double price) {
  const WholeTraining whole = training_of(prediction, tokens, price);
  nlohmann::json json = {{"tokens", tokens}, {"days", whole.days}, {"gpu_hours", whole.gpu_hours}};
  json["cost"] = price > 0 ? nlohmann::json(whole.cost) : nlohmann::json(nullptr);
  return json;
}

std::string training_text(const Prediction& prediction, double tokens, double price) {
  const WholeTraining whole = training_of(prediction, tokens, price);
  std::string text = fmt::format("\n{} take {} days on these {} devices, {} GPU hours",
                                 count_text(tokens) + " tokens", three_digits(whole.days),
                                 prediction.setup.mesh.ranks(), count_text(whole.gpu_hours));
  if (price > 0) text += fmt::format(", {} at {} an hour", count_text(whole.cost), price);
  return text + ".\n";
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
    bool json = false, spans = false;
    std::string routing, tokens;
    double price = 0;
  };
  auto options = std::make_shared<Options>();
  command->add_flag("--json", options->json, "print JSON");
  command->add_option("--rank", options->rank, "whose traffic to show (default: 0)")
      ->option_text("R");
  command
      ->add_option("--routing", options->routing, "experts: what a run measured, its `run --json`")
      ->option_text("FILE");
  command->add_flag("--spans", options->spans, "JSON: also every step of the critical path");
  command->add_option("--tokens", options->tokens, "how long so many tokens take: 300B, 15T")
      ->option_text("N");
  command->add_option("--price", options->price, "of a GPU hour, for the cost of --tokens")
      ->option_text("MONEY");
  options->setup.add_to(*command);
  commands.set_body(command, [options](Progress&) {
    const Result<double> tokens = tokens_from(options->tokens);
    if (!tokens) return Outcome::invalid(tokens.error());
    if (!(options->price >= 0) || (options->price > 0 && *tokens == 0))
      return Outcome::invalid(
          message("price-alone", "--price is of a GPU hour, 0 or more, and goes with --tokens."));
    std::string read_text;
    Result<Situation> situation = options->setup.situation(&read_text);
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
    const nlohmann::json assumed = options->setup.assumed(read_text);
    if (options->json) {
      nlohmann::json json =
          prediction_answer(*prediction, *situation, options->rank, options->spans);
      json["assumed"] = assumed;
      if (*tokens > 0) json.update(training_json(*prediction, *tokens, options->price));
      return Outcome::done(json_text(json));
    }
    const std::optional<Outlook> here = outlook_of(*prediction, *situation);
    return Outcome::done(assumed_text(assumed) +
                         prediction_text(*prediction, situation->asked, options->rank) +
                         (*tokens > 0 ? training_text(*prediction, *tokens, options->price) : "") +
                         (here ? "\n" + outlook_text(*here, *prediction) : ""));
  });
}

}  // namespace parallelarium

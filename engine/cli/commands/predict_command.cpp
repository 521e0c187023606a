// SPDX-License-Identifier: Apache-2.0
// `predict`: memory, traffic, timeline and step time of a Setup, before anything runs.
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/cli/outlook.h"
#include "engine/cli/text/run/report_text.h"
#include "engine/cli/whole_training_options.h"
#include "engine/plan/text/units.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

// What stands before a prediction: what nobody said, and what was said for nothing.
std::string heading_of(std::string assumed, const std::vector<Message>& idle) {
  std::string text = assumed.empty() ? "" : std::move(assumed) + "\n";
  for (const Message& sentence : idle) text += "Note: " + sentence.text + "\n";
  return text.empty() ? text : text + "\n";
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
  add_whole_training(*command, options->tokens, options->price);
  options->setup.add_to(*command);
  commands.set_body(command, [options](Progress&) {
    const Result<WholeTraining> whole = whole_training_from(options->tokens, options->price);
    if (!whole) return Outcome::invalid(whole.error());
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
    std::vector<Message> idle = options->setup.without_effect(setup);
    for (const Message& remark : unwise(*prediction))  // which says it in its own words
      std::erase_if(idle, [&](const Message& note) { return note.field == remark.field; });
    if (options->json) {
      nlohmann::json json =
          prediction_answer(*prediction, *situation, options->rank, options->spans);
      json["assumed"] = options->setup.assumed(read_text);
      for (const Message& sentence : idle) json["remarks"].push_back(sentence.text);
      if (whole->tokens > 0) json.update(to_json(*whole, prediction->step, ranks));
      return Outcome::done(json_text(json));
    }
    const std::optional<Outlook> here = outlook_of(*prediction, *situation);
    return Outcome::done(
        heading_of(options->setup.assumed_sentence(read_text), idle) +
        prediction_text(*prediction, situation->asked, options->rank) +
        (whole->tokens > 0 ? "\n" + training_text(*whole, prediction->step, ranks) + "\n" : "") +
        (here ? "\n" + outlook_text(*here, *prediction) : ""));
  });
}

}  // namespace parallelarium

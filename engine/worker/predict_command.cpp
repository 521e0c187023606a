// SPDX-License-Identifier: Apache-2.0
// `predict`: memory, traffic, timeline and step time of a Setup, before anything runs.
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/predict/predict.h"
#include "engine/worker/command.h"
#include "engine/worker/report_text.h"
#include "engine/worker/setup_options.h"

namespace parallelarium {

void add_predict(Commands& commands) {
  CLI::App* command = commands.add(
      "predict", "predict memory, traffic and time of a training step",
      "  parallelarium-engine predict --pp 4 --microbatches 16 --schedule gpipe\n"
      "  parallelarium-engine predict --model gpt3-175b --machine dgx-a100-80g --tp 8 --pp 16 \\\n"
      "      --dp 6 --precision mixed-16 --microbatches 64\n"
      "  parallelarium-engine predict --setup lesson.json --json\n");
  struct Options {
    SetupOptions setup;
    int rank = 0;
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  command->add_flag("--json", options->json, "print JSON");
  command->add_option("--rank", options->rank, "whose traffic to show (default: 0)")
      ->option_text("R");
  options->setup.add_to(*command);
  commands.set_body(command, [options](Progress&) {
    const Result<Setup> setup = options->setup.resolve();
    if (!setup) return Outcome::invalid(setup.error());
    const int ranks = setup->mesh.ranks();
    if (options->rank < 0 || options->rank >= ranks)
      return Outcome::invalid(message("rank-outside",
                                      "There is no rank {}; this Setup has ranks 0 "
                                      "to {}.",
                                      options->rank, ranks - 1));
    const Result<Machine> machine = find_machine(setup->machine);
    if (!machine) return Outcome::invalid(machine.error());
    const Result<Prediction> prediction = predict(*setup, *machine);
    if (!prediction) return Outcome::invalid(prediction.error());
    if (options->json) return Outcome::done(json_text(to_json(*prediction, options->rank)));
    return Outcome::done(prediction_text(*prediction, options->rank));
  });
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// `calibrate`: measures this computer, so that predictions of local runs stand on measured rates.
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/cli/commands/check_before_run.h"
#include "engine/cli/commands/command.h"
#include "engine/cli/computer/probe.h"
#include "engine/cli/text/machine_text.h"
#include "engine/cli/training.h"
#include "engine/run/gpu/module.h"

namespace parallelarium {

void add_calibrate(Commands& commands) {
  CLI::App* command = commands.add("calibrate",
                                   "measure this computer (some 12 s; GPUs some 15, 10 more for "
                                   "every further kind) and keep the result",
                                   "  parallelarium-engine calibrate\n"
                                   "  parallelarium-engine calibrate --json > this_computer.json\n"
                                   "  parallelarium-engine calibrate --gpus\n");
  struct Options {
    bool json = false, gpus = false;
  };
  auto options = std::make_shared<Options>();
  command->add_flag("--json", options->json, "print the Machine file as JSON");
  command->add_flag("--gpus", options->gpus,
                    "measure and print the GPUs alone (without: the cores, then GPUs if any)");
  commands.set_body(command, [options](Progress& progress) {
    const Watch watch = watch_of(progress);
    std::string text;
    for (const Calibrated what : {Calibrated::kCores, Calibrated::kGpus}) {
      const bool gpus = what == Calibrated::kGpus;
      if (options->gpus && !gpus) continue;
      if (gpus) {
        const Result<std::vector<GpuFacts>> found = usable_gpus();
        if (!found && !options->gpus) continue;
        std::vector<int> all(found ? found->size() : 0);
        std::iota(all.begin(), all.end(), 0);
        say_who_shares(use_of(all), progress);
        const Result<void> checked = check_before_calibrating(
            watch, [&](const std::string& sentence) { progress.say(sentence); });
        if (!checked) return Outcome::failed(checked.error());
      }
      const Result<Machine> machine = calibrate_and_store(what, watch);
      if (!machine) return Outcome::failed(machine.error());
      progress.say("Stored in " + local_machine_path(gpus) + ".");
      if (!options->json) text += (text.empty() ? "" : "\n") + machine_text(*machine);
      if (options->json && text.empty()) text = json_text(to_json(*machine));
    }
    return Outcome::done(text);
  });
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// `calibrate`: measures this computer, so that predictions of local runs stand on measured rates.
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/worker/cancel.h"
#include "engine/worker/command.h"
#include "engine/worker/machine_text.h"
#include "engine/worker/training.h"

namespace parallelarium {

void add_calibrate(Commands& commands) {
  CLI::App* command =
      commands.add("calibrate", "measure this computer (about 5 s) and keep the result",
                   "  parallelarium-engine calibrate\n"
                   "  parallelarium-engine calibrate --json > this_computer.json\n");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print the Machine file as JSON");
  commands.set_body(command, [json](Progress& progress) {
    Watch watch;
    watch.cancel = &cancelled_by_signal();
    watch.progress = [&progress](std::string_view, double share, const std::string& what) {
      progress.report(share, what);
    };
    const Result<Machine> machine = calibrate_and_store(watch);
    if (!machine) return Outcome::failed(machine.error());
    progress.say("Stored in " + local_machine_path() + ".");
    return Outcome::done(*json ? json_text(to_json(*machine)) : machine_text(*machine));
  });
}

}  // namespace parallelarium

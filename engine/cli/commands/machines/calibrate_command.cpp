// SPDX-License-Identifier: Apache-2.0
// `calibrate`: measures this computer, so that predictions of local runs stand on measured rates.
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/cli/cancel.h"
#include "engine/cli/commands/check_before_run.h"
#include "engine/cli/commands/command.h"
#include "engine/cli/computer/probe.h"
#include "engine/cli/text/machine_text.h"
#include "engine/cli/text/table.h"
#include "engine/cli/training.h"
#include "engine/plan/text/units.h"
#include "engine/run/calibrate/memory_ladder.h"
#include "engine/run/gpu/module/module.h"

namespace parallelarium {
namespace {

// The sizes where the caches end are what to look for.
std::string ladder_text(const MemoryLadder& ladder) {
  std::string text;
  for (const CacheLevel& cache : ladder.caches)
    text += fmt::format("{}{} {}", text.empty() ? "Caches of a core: " : ", ", cache.name,
                        bytes_text(static_cast<double>(cache.bytes)));
  if (!text.empty()) text += "\n\n";
  Table sets({"working set", ">a load", ">copied in a row", ">every 64 B", ">every 4096 B"});
  for (const ChaseTime& time : ladder.chases) {
    std::vector<std::string> cells = {bytes_text(static_cast<double>(time.bytes)),
                                      seconds_text(time.seconds)};
    for (const CopyRate& rate : ladder.copies)
      if (rate.bytes == time.bytes) cells.push_back(count_text(rate.bytes_per_second, "B/s"));
    sets.add(std::move(cells));
  }
  Table tiles({"tile", ">FLOP/B", ">rate"});
  for (const TileRate& tile : ladder.tiles)
    tiles.add({fmt::format("{} x {}", tile.tile, tile.tile),
               three_digits(tile.flops() / tile.bytes()),
               count_text(tile.flops() / tile.seconds, "FLOP/s")});
  const std::int64_t size = ladder.tiles.front().size;
  return text + sets.text() +
         fmt::format("\nA product of {} x {} floats in a plain loop, tile by tile\n\n{}\n{}\n",
                     size, size, tiles.text(), ladder.origin);
}

Outcome calibrate_memory(bool json, Progress& progress) {
  progress.say("This measures the memory of a core; that of GPUs is not measured by this version.");
  const Result<MemoryLadder> ladder =
      measure_memory({}, [&](double share, const std::string& what) {
        progress.report(share, what);
        return !cancelled_by_signal();
      });
  progress.clear();
  if (!ladder) return Outcome::failed(ladder.error());
  return Outcome::done(json ? json_text(to_json(*ladder)) : ladder_text(*ladder));
}

}  // namespace

void add_calibrate(Commands& commands) {
  CLI::App* command = commands.add("calibrate",
                                   "measure this computer (some 12 s; GPUs some 15, 10 more for "
                                   "every further kind) and keep the result",
                                   "  parallelarium-engine calibrate\n"
                                   "  parallelarium-engine calibrate --json > this_computer.json\n"
                                   "  parallelarium-engine calibrate --gpus\n"
                                   "  parallelarium-engine calibrate --memory\n");
  struct Options {
    bool json = false, gpus = false, memory = false;
  };
  auto options = std::make_shared<Options>();
  command->add_flag("--json", options->json, "print the Machine file as JSON");
  command->add_flag("--gpus", options->gpus,
                    "measure and print the GPUs alone (without: the cores, then GPUs if any)");
  command->add_flag("--memory", options->memory,
                    "print what a core's caches and memory give by size; nothing is kept");
  commands.set_body(command, [options](Progress& progress) {
    if (options->memory && options->gpus)
      return Outcome::invalid(message("calibrate-memory-gpus",
                                      "--memory measures a core, so --gpus does not go with it."));
    if (options->memory) return calibrate_memory(options->json, progress);
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

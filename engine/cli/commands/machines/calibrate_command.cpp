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

std::string step_text(const StepTime& step) {
  const std::string seconds = seconds_text(step.seconds);
  return step.cycles > 0 ? fmt::format("{}, {} cycles", seconds, three_digits(step.cycles))
                         : seconds;
}

// The sizes where the caches end are what to look for.
std::string ladder_text(const MemoryLadder& ladder) {
  Table rungs({"level", ">bytes", ">latency", ">rate"});
  for (const MemoryRung& rung : rungs_of(ladder))
    rungs.add(
        {rung.level, rung.bytes > 0 ? bytes_text(static_cast<double>(rung.bytes)) : "",
         rung.latency_seconds.value > 0 ? seconds_text(rung.latency_seconds.value) : "",
         rung.bytes_per_second.value > 0 ? count_text(rung.bytes_per_second.value, "B/s") : ""});
  std::vector<std::string> columns = {"working set", ">a load"};
  std::vector<std::int64_t> strides;
  for (const CopyRate& rate : ladder.copies)
    if (strides.empty() || strides.back() != rate.stride_bytes)
      strides.push_back(rate.stride_bytes);
  for (const std::int64_t stride : strides)
    columns.push_back(stride == 4 ? ">copied in a row" : fmt::format(">every {} B", stride));
  Table sets(columns);
  for (const ChaseTime& time : ladder.chases) {
    std::vector<std::string> cells = {bytes_text(static_cast<double>(time.bytes)),
                                      step_text(time.load)};
    for (const CopyRate& rate : ladder.copies)
      if (rate.bytes == time.bytes) cells.push_back(count_text(rate.bytes_per_second, "B/s"));
    cells.resize(columns.size());
    sets.add(std::move(cells));
  }
  Table tiles({"tile", ">FLOP/B", ">rate"});
  for (const TileRate& tile : ladder.tiles)
    tiles.add({fmt::format("{} x {}", tile.tile, tile.tile),
               three_digits(tile.flops() / tile.bytes),
               count_text(tile.flops() / tile.seconds, "FLOP/s")});
  const std::int64_t size = ladder.tiles.front().size;
  return fmt::format(
      "{}\n\n{}\n{}\nA product of {} x {} floats in a plain loop, tile by tile\n\n{}\n{}\n",
      ladder.device, rungs.text(), sets.text(), size, size, tiles.text(), text_of(ladder.origin));
}

// The first GPU that this build can use.
Result<std::unique_ptr<MemoryProbe>> probe_of_gpu(Progress& progress) {
  const Result<CudaModule*> module = cuda_module();
  if (!module) return module.error();
  const Result<void> checked = check_before_calibrating(
      watch_of(progress), [&](const std::string& sentence) { progress.say(sentence); });
  if (!checked) return checked.error();
  const Result<std::vector<GpuFacts>> gpus = usable_gpus();
  if (!gpus) return gpus.error();
  for (std::size_t gpu = 0; gpu < gpus->size(); ++gpu) {
    if (!check_gpu((*gpus)[gpu])) continue;
    say_who_shares(use_of({static_cast<int>(gpu)}), progress);
    return (*module)->make_memory_probe(static_cast<int>(gpu));
  }
  return check_gpu(gpus->front()).error();
}

Outcome calibrate_memory(bool gpus, bool json, Progress& progress) {
  Result<std::unique_ptr<MemoryProbe>> probe =
      gpus ? probe_of_gpu(progress) : Result(make_core_probe());
  if (!probe) return Outcome::failed(probe.error());
  const Result<MemoryLadder> ladder =
      measure_memory(**probe, gpus ? gpu_ladder_sizes() : core_ladder_sizes(),
                     [&](double share, const std::string& what) {
                       progress.report(share, what);
                       return !cancelled_by_signal();
                     });
  progress.clear();
  if (!ladder) return Outcome::failed(ladder.error());
  const nlohmann::json measured = to_json(*ladder);
  if (const Result<void> saved = save_local_ladder(measured, gpus); !saved)
    return Outcome::failed(saved.error());
  progress.say("Stored in " + local_ladder_path(gpus) + ".");
  return Outcome::done(json ? json_text(measured) : ladder_text(*ladder));
}

}  // namespace

void add_calibrate(Commands& commands) {
  CLI::App* command = commands.add(
      "calibrate",
      "measure this computer (some 5 s, longer beside other work; GPUs some 15, 10 more for "
      "every further kind) and keep the result",
      "  parallelarium-engine calibrate\n"
      "  parallelarium-engine calibrate --json > this_computer.json\n"
      "  parallelarium-engine calibrate --gpus\n"
      "  parallelarium-engine calibrate --memory\n"
      "  parallelarium-engine calibrate --memory --gpus\n");
  struct Options {
    bool json = false, gpus = false, memory = false;
  };
  auto options = std::make_shared<Options>();
  command->add_flag("--json", options->json, "print the Machine file as JSON");
  command->add_flag("--gpus", options->gpus,
                    "measure and print the GPUs alone (without: the cores, then GPUs if any)");
  command->add_flag(
      "--memory", options->memory,
      "instead, measure registers, caches and memory by size, of a core or, with --gpus, of "
      "a GPU, and keep that for `roofline`");
  commands.set_body(command, [options](Progress& progress) {
    if (options->memory) return calibrate_memory(options->gpus, options->json, progress);
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

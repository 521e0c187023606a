// SPDX-License-Identifier: Apache-2.0
#include "engine/worker/training.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "engine/run/gpu/calibration.h"
#include "engine/run/gpu/module.h"
#include "engine/run/gpu/nccl_rules.h"
#include "engine/run/net/world.h"
#include "engine/train/data.h"
#include "engine/wire/messages.h"
#include "engine/wire/version.h"
#include "engine/worker/probe.h"

namespace parallelarium {
namespace {

RunControl control_of(const Watch& watch, std::string_view phase) {
  RunControl control;
  control.cancel = watch.cancel;
  control.abandon = watch.abandon;
  if (watch.progress) {
    control.progress = [&watch, phase](double share, const std::string& what) {
      watch.progress(phase, share, what);
    };
  }
  return control;
}

// Rank 0 learns from the others whether each has a GPU of its own.
Result<void> label(BackendChoice& choice, const World& world) {
  if (choice.backend != Backend::kCuda || !world.leads()) return {};
  const Result<CudaModule*> module = cuda_module();
  if (!module) return module.error();
  const Result<Nccl*> nccl = (*module)->nccl();
  if (!nccl) return nccl.error();
  const Result<Source> source =
      source_of_processes(world.devices(), (*nccl)->version(), process_environment());
  if (!source) return source.error();
  if (*source == choice.source) return {};
  choice.source = *source;
  choice.why = message("backend", "{} processes, some on the same GPU: {}", world.size(),
                       name_of(choice.source));
  return {};
}

// This process's rank of the run, with the others' processes. `choice`: the Preparation's,
// corrected by what the others say.
Result<RunResult> run_in_world(const Preparation& preparation, BackendChoice& choice,
                               const Program& program, const RunControl& control,
                               const RunWishes& wishes) {
  const std::string digest =
      fmt::format("{} {} {} {}", kVersion, static_cast<int>(preparation.choice.backend),
                  wishes.gradients, to_json(preparation.setup).dump());
  Result<std::unique_ptr<World>> world =
      World::join(*preparation.place, digest, {}, preparation.gpu);
  if (!world) return world.error();
  const Result<void> apart = label(choice, **world);
  Result<RunResult> result =
      apart ? run(preparation.setup, program, choice, control, wishes, world->get())
            : Result<RunResult>(apart.error());
  if (result) return result;
  (*world)->give_up(result.error());
  if (!(*world)->leader_tells()) return result;
  Message quiet = result.error();
  quiet.id = "told";
  return quiet;
}

// A training on one rank, as fast as it goes: only its numbers are wanted. Its progress is the
// `part` of the proof's that begins at `from`.
Result<RunResult> run_alone(const Setup& alone, const Preparation& preparation, const Watch& watch,
                            double from, double part) {
  // The run's own machine, or where it was GPUs, the cores beside them.
  const Result<Machine> machine = preparation.choice.backend == Backend::kCuda
                                      ? find_machine("local")
                                      : Result<Machine>(preparation.machine);
  if (!machine) return machine.error();
  const Result<Prediction> prediction = predict(alone, *machine, true);
  if (!prediction) return prediction.error();
  const Result<BackendChoice> choice = choose_backend(alone);
  if (!choice) return choice.error();
  RunWishes wishes;
  wishes.gradients = true;
  Watch scaled = watch;
  if (watch.progress)
    scaled.progress = [&](std::string_view phase, double share, const std::string& what) {
      watch.progress(phase, from + part * share, what);
    };
  RunControl control = control_of(scaled, "proving");
  control.modelled = modelled_durations(*prediction);
  return run(alone, prediction->program, *choice, control, wishes);
}

Result<Proof> prove(const Preparation& preparation, const RunResult& many, const Watch& watch) {
  Setup alone = one_rank_setup(preparation.setup);
  const bool in_16_bit = alone.precision.parameter_bytes == 2;
  const Result<RunResult> one = run_alone(alone, preparation, watch, 0, in_16_bit ? 0.5 : 1);
  if (!one) return one.error();
  if (!in_16_bit) return compare(many, *one);
  alone.precision = {};
  const Result<RunResult> exact = run_alone(alone, preparation, watch, 0.5, 0.5);
  if (!exact) return exact.error();
  return compare(many, *one, *exact);
}

}  // namespace

Result<Preparation> prepare(const Setup& setup, std::optional<ProcessPlace> place) {
  const std::vector<Message> problems = validate(setup);
  if (!problems.empty()) return problems.front();
  if (place && place->size != setup.mesh.ranks()) {
    Message why = message("processes-differ",
                          "{} started {} processes and this Setup has {} ranks; start as many as "
                          "there are ranks, or change --dp, --tp, --pp or --cp.",
                          place->launcher, place->size, setup.mesh.ranks());
    why.field = "mesh";
    return why;
  }
  if (const Result<void> can = can_execute(setup); !can) return can.error();
  Result<Machine> machine = find_machine(setup.machine);
  if (!machine) return machine.error();
  std::vector<GpuFacts> gpus;  // as the driver told them for this choice
  Computer computer = computer_here();
  computer.gpus = [&gpus, ask = computer.gpus] {
    Result<std::vector<GpuFacts>> found = ask();
    if (found) gpus = *found;
    return found;
  };
  Result<BackendChoice> choice = choose_backend(setup, place ? &*place : nullptr, computer);
  if (!choice) return choice.error();
  if (!machine->local && choice->source != Source::kPaced) {
    Message why =
        message("run-elsewhere",
                "A run measures this computer, and the machine is {}; use --machine local, "
                "or --backend paced to act out its predicted times.",
                machine->title);
    why.field = "run.backend";
    why.alternatives = {"paced"};
    return why;
  }
  if (choice->backend == Backend::kCuda) {
    // The calibration of other GPUs, or of another number, counts as none. A process may see only
    // its own of several: there the name counts.
    Result<Machine> measured = find_machine(kLocalGpus);
    const std::vector<int> ids = gpus_to_measure(gpus, *device_list(setup.run.devices));
    std::vector<GpuFacts> to_measure;
    for (const int gpu : ids) to_measure.push_back(gpus[static_cast<std::size_t>(gpu)]);
    const auto links_them = [&](const PairLink& pair) {
      return pair.from == ids.front() && pair.to == ids.back();
    };
    const bool same =
        measured &&
        (place
             ? is_among(measured->title, gpus[static_cast<std::size_t>(choice->gpus.front())].name)
             : measured->title == title_of(to_measure) &&
                   (measured->pairs.empty() ||
                    std::any_of(measured->pairs.begin(), measured->pairs.end(), links_them)));
    if (same) machine = std::move(measured);
    // Every process has a GPU of its own, wherever it is.
    if (place) machine->nodes = place->size;
  }
  // A text that nobody can train on must be refused before a calibration.
  if (const Result<Text> text = Text::load(setup.run.text, setup.model.sequence); !text) {
    Message why = text.error();
    why.field = "run.text";
    if (setup.run.text != "default") why.alternatives = {"default"};
    return why;
  }
  std::string gpu_use = use_of(choice->gpus);
  std::string gpu;
  if (place && choice->backend == Backend::kCuda)
    gpu = gpus[static_cast<std::size_t>(choice->gpus.front())].uuid;
  return Preparation{
      setup,         std::move(*machine), std::move(*choice), std::move(place), std::move(gpu_use),
      std::move(gpu)};
}

std::optional<BackendChoice> choice_here(const Setup& setup) {
  if (setup.machine != "local") return std::nullopt;
  Result<BackendChoice> choice = choose_backend(setup);
  if (!choice) return std::nullopt;
  return std::move(*choice);
}

Result<Machine> machine_here(const Setup& setup, const std::optional<BackendChoice>& choice) {
  const bool auto_takes_gpus = choice ? choice->backend == Backend::kCuda : has_nvidia_driver();
  return find_machine(machine_name_of(setup, auto_takes_gpus));
}

std::string calibrating_text(const Preparation& preparation) {
  const bool gpus = preparation.choice.backend == Backend::kCuda;
  return fmt::format("These ranks' {} not calibrated as they are now; measuring them takes {}.",
                     gpus ? "GPUs are" : "cores are",
                     gpus ? "some 15 s, and 10 more for every further kind of GPU" : "some 12 s");
}

bool is_about_request(const Message& why) {
  static constexpr std::array<std::string_view, 7> kRequests = {
      "backend-missing", "memory-short", "pace-too-fast",  "text-large",
      "text-not-utf8",   "text-short",   "text-unreadable"};
  return !why.field.empty() ||
         std::find(kRequests.begin(), kRequests.end(), why.id) != kRequests.end();
}

Result<Machine> calibrate_and_store(Calibrated what, const Watch& watch) {
  const RunControl control = control_of(watch, "calibrating");
  Result<Machine> machine =
      what == Calibrated::kGpus ? calibrate_gpus(control) : calibrate(control);
  if (!machine) return machine.error();
  if (const Result<void> saved = save_local_machine(*machine); !saved) return saved.error();
  return machine;
}

bool is_told_by_leader(const Message& why) { return why.id == "rank-refused" || why.id == "told"; }

Result<Training> train(const Preparation& preparation, bool verify, const Watch& watch) {
  Training training;
  Preparation ready = preparation;
  if (!ready.calibrated() && ready.leads()) {
    const RunControl control = control_of(watch, "calibrating");
    Result<Machine> machine = ready.choice.backend == Backend::kCuda
                                  ? calibrate_gpus(control, *device_list(ready.setup.run.devices))
                                  : calibrate(control);
    if (!machine) return machine.error();
    ready.machine = std::move(*machine);
    // Kept for this run alone where it cannot be stored.
    if (const Result<void> saved = save_local_machine(ready.machine); !saved)
      training.unstored = saved.error();
  }
  Result<Prediction> prediction = predict(ready.setup, ready.machine, true);
  if (!prediction) return prediction.error();

  training.choice = ready.choice;
  RunControl control = control_of(watch, "running");
  control.modelled = modelled_durations(*prediction);
  if (ready.choice.source == Source::kPaced) {
    const Result<double> pace = pace_factor(ready.setup, ready.machine);
    if (!pace) return pace.error();
    const Result<Machine> here = find_machine("local");
    if (!here) return here.error();
    const Result<void> keeps =
        can_keep_pace(*prediction, *pace, ready.machine.local ? ready.machine : *here);
    if (!keeps) return keeps.error();
    control.pace_factor = *pace;
    *prediction = dilated(std::move(*prediction), *pace);
  }
  RunWishes wishes;
  wishes.gradients = verify;
  Result<RunResult> result =
      ready.place ? run_in_world(ready, training.choice, prediction->program, control, wishes)
                  : run(ready.setup, prediction->program, ready.choice, control, wishes);
  if (!result) return result.error();
  training.result = std::move(*result);
  training.result.observation.gpu_use = ready.gpu_use;
  const Routing* routing = routing_of_timeline(training.result.observation);
  if (routing != nullptr && ready.leads()) {
    Result<Prediction> routed = predict(ready.setup, ready.machine, true, routing);
    if (!routed) return routed.error();
    if (ready.choice.source == Source::kPaced)
      *routed = dilated(std::move(*routed), control.pace_factor);
    training.routed = std::move(*routed);
  }
  if (verify && ready.leads()) {
    Result<Proof> proof = prove(ready, training.result, watch);
    if (proof)
      training.proof = std::move(*proof);
    else if (proof.error().id == "cancelled")
      return proof.error();
    else
      training.unproven = proof.error();
  }
  training.prediction = std::move(*prediction);
  return training;
}

nlohmann::json to_json(const Proof& proof) {
  return {{"holds", proof.holds()},
          {"loss_difference", proof.loss_difference},
          {"loss_bound", proof.loss_bound},
          {"gradient_difference", proof.gradient_difference},
          {"gradient_bound", proof.gradient_bound},
          {"worst_parameter", proof.worst_parameter},
          {"losses_one_rank", proof.losses_one_rank},
          {"in_16_bit", proof.in_16_bit}};
}

nlohmann::json to_json(const Training& training) {
  nlohmann::json json = {{"observation", to_json(training.result.observation)},
                         {"machine", to_json(training.prediction.machine)}};
  if (training.proof) json["proof"] = to_json(*training.proof);
  if (training.unproven) json["unproven"] = to_json(*training.unproven);
  if (training.unstored) json["unstored"] = to_json(*training.unstored);
  return json;
}

}  // namespace parallelarium

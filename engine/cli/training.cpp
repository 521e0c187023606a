// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/training.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "engine/cli/computer/probe.h"
#include "engine/cli/outlook.h"
#include "engine/plan/text/phrases.h"
#include "engine/predict/rehearsal.h"
#include "engine/run/gpu/calibration.h"
#include "engine/run/gpu/module/module.h"
#include "engine/run/gpu/nccl/nccl_rules.h"
#include "engine/run/net/world.h"
#include "engine/schedules/schedule.h"
#include "engine/train/data.h"
#include "engine/wire/messages.h"
#include "engine/wire/version.h"

namespace parallelarium {
namespace {

RunControl control_of(const Watch& watch, std::string_view phase) {
  RunControl control;
  control.cancel = watch.cancel;
  control.abandon = watch.abandon;
  if (watch.progress) {
    control.progress = [&watch, phase](double share, const Message& what) {
      watch.progress(phase, share, what);
    };
  }
  if (phase == "running") control.loss = watch.loss;
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
  choice.why = message("backend.shared", "{} processes, some on the same GPU: {}", world.size(),
                       word("source", spoken_name(choice.source)));
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
  quiet.kind = "told";
  return quiet;
}

// A training on one rank, as fast as it goes: only its numbers are wanted. Its progress is the
// `part` of the proof's that begins at `from`.
Result<RunResult> run_alone(const Setup& alone, const Preparation& preparation, const Watch& watch,
                            double from, double part, const std::vector<Probe>& probes = {}) {
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
  wishes.gradients = wishes.parameters = true;
  for (const Probe& probe : probes)
    if (check_probe(alone, prediction->program, probe)) wishes.probes.push_back(probe);
  Watch scaled = watch;
  if (watch.progress)
    scaled.progress = [&](std::string_view phase, double share, const Message& what) {
      watch.progress(phase, from + part * share, what);
    };
  RunControl control = control_of(scaled, "proving");
  control.modelled = modelled_durations(*prediction);
  return run(alone, prediction->program, *choice, control, wishes);
}

// `one_rank_probes` takes what `probes` see of the run on one rank.
Result<Proof> prove(const Preparation& preparation, const RunResult& many, const Watch& watch,
                    const std::vector<Probe>& probes, std::vector<ProbedRank>& one_rank_probes) {
  Setup alone = one_rank_setup(preparation.setup);
  const bool in_16_bit = alone.precision.parameter_bytes == 2;
  Result<RunResult> one = run_alone(alone, preparation, watch, 0, in_16_bit ? 0.5 : 1, probes);
  if (!one) return one.error();
  one_rank_probes = std::move(one->probes);
  if (!in_16_bit) return compare(many, *one);
  alone.precision = {};
  alone.products = ProductType::kSame;
  const Result<RunResult> exact = run_alone(alone, preparation, watch, 0.5, 0.5);
  if (!exact) return exact.error();
  return compare(preparation.setup, many, *one, *exact);
}

}  // namespace

Result<Situation> situation_here(const Setup& asked, const ProcessPlace* place) {
  const bool here = asked.machine == "local";
  Result<Situation> situation =
      situation_of(asked, here ? computer_here(asked.run, asked.mesh.ranks(), place) : Computer{});
  if (!situation) return situation;
  if (const std::vector<Message> wrong = validate(situation->setup); !wrong.empty())
    return wrong.front();
  return situation;
}

namespace {

// Where the ranks of a Setup run: as its Situation says or, where its machine is another, as acted
// out by this computer's cores, which must be asked for.
Result<Placement> placement_of(Situation& situation, const ProcessPlace* place) {
  if (situation.refusal) return *situation.refusal;
  if (situation.placement) return *situation.placement;
  const RunSettings& run = situation.asked.run;
  const int ranks = situation.asked.mesh.ranks();
  Result<Placement> found = parallelarium::place(run, ranks, computer_here(run, ranks, place));
  if (!found) return found.error();
  if (found->source != Source::kPaced) {
    if (const std::optional<Message> large = too_large_to_rehearse(situation)) return *large;
    Message why =
        message("run-elsewhere",
                "A run measures this computer, and the machine is {}; use --machine local, "
                "or --backend paced to rehearse it with its predicted times.",
                title_of(situation.machine));
    why.field = "run.backend";
    why.alternatives = {"paced"};
    return why;
  }
  situation.setup.run.backend = Backend::kPaced;
  return found;
}

}  // namespace

Result<Preparation> prepare(const Setup& asked, std::optional<ProcessPlace> place) {
  const ProcessPlace* const process = place ? &*place : nullptr;
  Result<Situation> situation = situation_here(asked, process);
  if (!situation) return situation.error();
  if (place && place->size != asked.mesh.ranks()) {
    Message why = message("processes-differ",
                          "{} started {} processes and this Setup has {} ranks; start as many as "
                          "there are ranks, or change --dp, --tp, --pp or --cp.",
                          place->launcher, place->size, asked.mesh.ranks());
    why.field = "mesh";
    return why;
  }
  if (const Result<void> can = can_execute(situation->setup); !can) return can.error();
  Result<Placement> placement = placement_of(*situation, process);
  if (!placement) return placement.error();
  if (const Result<void> can = can_slow(situation->setup, *placement); !can) return can.error();
  // Every process has a GPU of its own, wherever it is.
  if (place && placement->on_gpus()) situation->machine.nodes = place->size;
  // A text that nobody can train on must be refused before a calibration.
  const Setup& setup = situation->setup;
  if (const Result<Text> text = Text::load(setup.run.text, setup.model.sequence); !text) {
    Message why = text.error();
    why.field = "run.text";
    if (setup.run.text != "default") why.alternatives = {"default"};
    return why;
  }
  Preparation ready{
      asked, setup, std::move(situation->machine), std::move(*placement), std::move(place), {}, {}};
  ready.gpu_use = use_of(ready.choice.gpus);
  if (ready.place && ready.choice.on_gpus()) {
    const Result<std::vector<GpuFacts>> gpus = usable_gpus();
    if (!gpus) return gpus.error();
    ready.gpu = (*gpus)[static_cast<std::size_t>(ready.choice.gpus.front())].uuid;
  }
  return ready;
}

bool calibrates_first(const Preparation& preparation, double let_it_hang_seconds) {
  const bool hangs = let_it_hang_seconds > 0 && !make_order(preparation.setup);
  return !preparation.calibrated() && !hangs;
}

std::string calibrating_text(const Preparation& preparation) {
  const bool gpus = preparation.choice.backend == Backend::kCuda;
  return fmt::format("These ranks' {} not calibrated as they are now; measuring them takes {}.",
                     gpus ? "GPUs are" : "cores are",
                     gpus ? "some 25 s, and 20 more for every further kind of GPU"
                          : "some 5 s, longer while other programs run");
}

bool is_about_request(const Message& why) {
  static constexpr std::array<std::string_view, 6> kRequests = {
      "backend-missing", "memory-short", "text-large",
      "text-not-utf8",   "text-short",   "text-unreadable"};
  return !why.field.empty() || why.kind.starts_with("order-") ||
         std::find(kRequests.begin(), kRequests.end(), why.kind) != kRequests.end();
}

Result<Machine> calibrate_and_store(Calibrated what, const Watch& watch) {
  const RunControl control = control_of(watch, "calibrating");
  Result<Machine> machine =
      what == Calibrated::kGpus ? calibrate_gpus(control) : calibrate(control);
  if (!machine) return machine.error();
  if (const Result<void> saved = save_local_machine(*machine); !saved) return saved.error();
  return machine;
}

bool is_told_by_leader(const Message& why) {
  return why.kind == "rank-refused" || why.kind == "told";
}

namespace {

// Why a run of it cannot be left to hang.
Result<void> can_hang(const Preparation& preparation) {
  Message why;
  if (preparation.place)
    why = message("hang-processes",
                  "Only ranks that are threads of one engine can be left to hang; start it without "
                  "{}.",
                  preparation.place->launcher);
  else if (preparation.choice.backend == Backend::kCuda)
    why = message("hang-gpu",
                  "Ranks on GPUs cannot be left to hang: let the backend be the cores, or a "
                  "rehearsal on them.");
  else
    return {};
  why.field = "run.backend";
  why.alternatives = {"cpu", "paced"};
  return why;
}

}  // namespace

Result<Training> train(const Preparation& preparation, bool verify, const Watch& watch,
                       double let_it_hang_seconds, const std::vector<Probe>& probes) {
  Training training;
  Preparation ready = preparation;
  const bool may_hang = let_it_hang_seconds > 0;
  if (may_hang) {
    if (const Result<void> can = can_hang(ready); !can) return can.error();
  } else if (const Result<Order> order = make_order(ready.setup); !order) {
    return order.error();  // before anything is measured
  }
  if (ready.leads() && calibrates_first(ready, let_it_hang_seconds)) {
    const RunControl control = control_of(watch, "calibrating");
    Result<Machine> machine = ready.choice.backend == Backend::kCuda
                                  ? calibrate_gpus(control, ready.choice.gpus)
                                  : calibrate(control);
    if (!machine) return machine.error();
    ready.machine = std::move(*machine);
    // Kept for this run alone where it cannot be stored.
    if (const Result<void> saved = save_local_machine(ready.machine); !saved)
      training.unstored = saved.error();
  }
  Result<Prediction> prediction =
      predict(ready.setup, ready.machine, BuildOptions{.all_ranks = true, .may_wait = may_hang});
  if (!prediction) return prediction.error();

  training.choice = ready.choice;
  RunControl control = control_of(watch, "running");
  control.modelled = modelled_durations(*prediction);
  if (ready.choice.source == Source::kPaced) {
    const Result<Machine> here = find_machine("local");
    if (!here) return here.error();
    control.stretch = stretch_of(*prediction, ready.machine.local ? ready.machine : *here);
  }
  if (may_hang) {
    control.hang_timeout_seconds = let_it_hang_seconds;
    control.hung = [&](std::vector<StuckRank> ranks) {
      training.hang = HangReport{let_it_hang_seconds, std::move(ranks)};
    };
  }
  RunWishes wishes;
  wishes.gradients = verify;
  wishes.ranks_state = true;
  wishes.probes = probes;
  Result<RunResult> result =
      ready.place ? run_in_world(ready, training.choice, prediction->program, control, wishes)
                  : run(ready.setup, prediction->program, ready.choice, control, wishes);
  training.asked = ready.asked;
  if (!result && result.error().kind == "hang" && training.hang) {
    training.prediction = std::move(*prediction);
    return training;
  }
  if (!result) return result.error();
  training.result = std::move(*result);
  training.result.observation.gpu_use = ready.gpu_use;
  const Routing* routing = routing_of_timeline(training.result.observation);
  if (routing != nullptr && ready.leads()) {
    Result<Prediction> routed = predict(ready.setup, ready.machine, true, routing);
    if (!routed) return routed.error();
    training.routed = std::move(*routed);
  }
  if (verify && ready.leads()) {
    Result<Proof> proof = prove(ready, training.result, watch, probes, training.one_rank_probes);
    if (proof)
      training.proof = std::move(*proof);
    else if (proof.error().kind == "cancelled")
      return proof.error();
    else
      training.unproven = proof.error();
  }
  training.prediction = std::move(*prediction);
  return training;
}

Message why_refuted(const Setup& setup, const Proof& proof) {
  const std::string loss = fmt::format("{:.2g}", proof.loss_difference);
  const std::string gradients = fmt::format("{:.2g}", proof.gradient_difference);
  if (setup.mesh.cp > 1 && setup.context_parallel == ContextParallel::kLocal)
    return message(
        "proof-fails.local",
        "Local attention is another function than the model's: where each of {} CP ranks "
        "attends to its own {} tokens only, losses differ from one rank's by {} and "
        "gradients by {} of theirs, most in {}; rounding explains {} and {}.",
        setup.mesh.cp, setup.model.sequence / setup.mesh.cp, loss, gradients, proof.worst_parameter,
        fmt::format("{:.2g}", proof.loss_bound), fmt::format("{:.2g}", proof.gradient_bound));
  return message("proof-fails",
                 "The run differs from the same training on one rank by "
                 "more than rounding, most in {}.",
                 proof.worst_parameter);
}

nlohmann::json to_json(const Proof& proof) {
  nlohmann::json json = {{"holds", proof.holds()},
                         {"loss_difference", proof.loss_difference},
                         {"loss_bound", proof.loss_bound},
                         {"gradient_difference", proof.gradient_difference},
                         {"gradient_bound", proof.gradient_bound},
                         {"losses_one_rank", proof.losses_one_rank},
                         {"in_16_bit", proof.in_16_bit}};
  put_text(json, "worst_parameter", proof.worst_parameter);
  return json;
}

namespace {

nlohmann::json to_json(const HangReport& hang) {
  nlohmann::json ranks = nlohmann::json::array();
  for (const StuckRank& stuck : hang.ranks) {
    nlohmann::json& row = ranks.emplace_back();
    row = {{"rank", stuck.rank},
           {"waits_in", to_json(stuck.waits_in)},
           {"for_rank", nullptr},
           {"needs", nullptr},
           {"sentence", to_json(stuck.sentence)}};
    if (stuck.for_rank < 0) continue;
    row["for_rank"] = stuck.for_rank;
    row["needs"] = to_json(stuck.needs);
  }
  return {{"seconds", hang.seconds}, {"ranks", std::move(ranks)}};
}

}  // namespace

nlohmann::json to_json(const Training& training) {
  if (training.hang) {
    nlohmann::json json = {{"hang", to_json(*training.hang)},
                           {"machine", to_json(training.prediction.machine)}};
    if (training.unstored) json["unstored"] = to_json(*training.unstored);
    return json;
  }
  nlohmann::json json = {{"observation", to_json(training.result.observation)},
                         {"machine", to_json(training.prediction.machine)}};
  if (training.proof) {
    json["proof"] = to_json(*training.proof);
    if (!training.proof->holds())
      json["proof"]["sentence"] = to_json(why_refuted(training.prediction.setup, *training.proof));
  }
  if (training.unproven) json["unproven"] = to_json(*training.unproven);
  if (training.unstored) json["unstored"] = to_json(*training.unstored);
  return json;
}

}  // namespace parallelarium

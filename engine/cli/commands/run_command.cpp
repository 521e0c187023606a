// SPDX-License-Identifier: Apache-2.0
// `run`: the Setup executed on local ranks, beside its prediction.
#include <algorithm>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/cli/cancel.h"
#include "engine/cli/commands/check_before_run.h"
#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/cli/text/context_text.h"
#include "engine/cli/text/run/balance_text.h"
#include "engine/cli/text/run/probe_text.h"
#include "engine/cli/text/run/ranks_text.h"
#include "engine/cli/text/run/report_text.h"
#include "engine/cli/text/run/run_text.h"
#include "engine/cli/training.h"
#include "engine/cli/whole_training_options.h"
#include "engine/planner/reasons/causes.h"
#include "engine/predict/training/noise_scale.h"
#include "engine/wire/export/csv.h"
#include "engine/wire/export/trace.h"
#include "engine/wire/messages.h"

namespace parallelarium {
namespace {

constexpr int kMostSeeds = 100;

struct RunOptions {
  SetupOptions setup;
  bool verify = false;
  std::string let_it_hang;  // "5s"; empty: no
  bool json = false, spans = false;
  int rank = 0, seeds = 1;
  std::string trace, csv, document;
  std::vector<std::string> probes;
  std::string probe_out, tokens;
  double price = 0;
};

nlohmann::json run_json(const Training& training, int rank, bool spans) {
  const Observation& observed = training.result.observation;
  // The keys of a prediction, with what was observed in place of what was predicted. `rates` stay:
  // the prediction beside stands on them.
  nlohmann::json json = to_json(training.prediction, rank);
  nlohmann::json predicted = json;
  const Program& program = training.prediction.program;
  json["explain"] = to_json(explain(program, observed.timeline));
  predicted["explain"] = to_json(explain(program, training.prediction.timeline));
  if (!spans)
    for (nlohmann::json* each : {&json, &predicted})
      (*each)["explain"]["critical_path"].erase("steps");
  json["source"] = name_of(observed.source);
  json["backend"] = observed.backend;
  json["backend_reason"] = training.choice.why.text;
  json["transport"] = observed.transport;
  json["transport_choices"] = to_json(observed.choices);
  json["clock_error_seconds"] =
      std::chrono::duration<double>(observed.timeline.clock_error).count();
  json["setup"] = predicted["setup"] = to_json(training.asked);
  json["resolved"] = to_json(observed.setup);
  json["date"] = observed.date;
  // Row by row beside the prediction, which has one rank of every stage; and all of them.
  nlohmann::json memory = nlohmann::json::array(), all = nlohmann::json::array();
  for (const MemoryRow& row : observed.memory) {
    all.push_back(to_json(row));
    for (const MemoryRow& beside : training.prediction.memory)
      if (beside.rank == row.rank) memory.push_back(to_json(row));
  }
  json["memory"]["ranks"] = std::move(memory);
  json["memory"]["all_ranks"] = std::move(all);
  json["memory"]["process_bytes"] = observed.process_bytes;
  if (observed.gpu_memory.empty())
    json["memory"]["unexplained_bytes"] = observed.process_bytes - counted_bytes(observed);
  else
    json["memory"]["gpus"] = to_json(observed.gpu_memory);
  const auto at = static_cast<std::size_t>(rank);
  json["traffic"] =
      at < observed.traffic.size() ? to_json(observed.traffic[at]) : nlohmann::json::array();
  json["bubble"] = to_json(observed.bubble);
  const StepParts parts = parts_of(training.prediction, observed.timeline);
  json["parts_seconds"] = parts_json(parts);
  json["exposed_seconds"] = exposed_json(parts);
  json["step"] = to_json(observed.step, true);
  json["step"]["flops_convention"] = "full";
  if (observed.source == Source::kPaced) {
    json["stretch"] = observed.stretch;
    json["clock_seconds"] = observed.step.seconds * observed.stretch;
  } else {
    json["wall_seconds"] = observed.wall_seconds;
  }
  if (observed.backend == "cuda") json["host_seconds"] = observed.host_seconds;
  if (!observed.gpu_use.empty()) json["gpu_use"] = observed.gpu_use;
  json["losses"] = observed.losses;
  json["gradient_norms"] = observed.gradient_norms;
  json["ranks_state"] = to_json(observed.ranks_state);
  if (observed.delay_factor > 0) json["delay_factor"] = observed.delay_factor;
  json["compare"] = to_json(compare_with(training.prediction, observed));
  if (training.routed) {
    json["routing"] = to_json(*routing_of_timeline(observed));
    json["balance"] = balance_json(observed);
    json["compare_routed"] = to_json(compare_with(*training.routed, observed));
  }
  const Setup& ran = training.prediction.setup;
  if (const ContextTimes times = context_times(ran, program, observed.timeline); times.known())
    json["context"] =
        context_times_json(context_times(ran, program, training.prediction.timeline), times);
  json["predicted"] = std::move(predicted);
  if (training.proof) json["proof"] = to_json(*training.proof);
  return json;
}

// A rank that is not rank 0, in a process of its own: rank 0 tells.
Outcome run_member(const Preparation& preparation, bool verify, const std::vector<Probe>& probes) {
  Watch watch;
  watch.abandon = [](const Message&) { std::_Exit(kFailed); };
  const Result<Training> training = train(preparation, verify, watch, 0, probes);
  Outcome outcome;
  if (training) return outcome;
  outcome.status = kFailed;
  if (!is_told_by_leader(training.error())) outcome.error = training.error();
  return outcome;
}

std::vector<ProbedIdentity> identities_of(const Training& training) {
  return identities_of(training.prediction.setup, training.prediction.program,
                       training.result.probes, training.one_rank_probes);
}

// The same with other seeds, one after the other: text and first weights differ, and so do
// gradients. Of the run itself and of these what each says of the noise in its gradients; empty
// where they cannot say. Error: a run's.
Result<std::vector<NoiseScale>> noise_of_seeds(const Preparation& preparation,
                                               const Training& first, int seeds,
                                               Progress& progress) {
  std::vector<NoiseScale> found;
  const auto add = [&found](const Training& training) {
    const auto noise = noise_scale_of(training.result.observation);
    if (noise) found.push_back(*noise);
    return noise.has_value();
  };
  if (!add(first)) return found;
  for (int more = 1; more < seeds; ++more) {
    Preparation other = preparation;
    other.setup.run.seed += static_cast<std::uint64_t>(more);
    const Result<Training> training = train(other, false, watch_of(progress), 0, {});
    if (!training) return training.error();
    add(*training);
  }
  return found;
}

// What a run tells beside its observation.
struct Beside {
  WholeTraining whole;
  bool might_hang = false;  // it was allowed to
  std::vector<std::string> probe_files;
  std::vector<NoiseScale> noise;
};

std::string answer_of(const Training& training, const RunOptions& options, const Beside& beside) {
  const auto& [whole, might_hang, probe_files, noise] = beside;
  if (training.hang) return options.json ? json_text(hang_json(training)) : hang_text(training);
  const StepFigures& step = training.result.observation.step;
  const int ranks = training.prediction.setup.mesh.ranks();
  if (!options.json)
    return (might_hang ? "It did not hang: it ended by itself.\n" : "") + run_text(training) +
           (whole.tokens > 0 ? "\n" + training_text(whole, step, ranks) + "\n" : "") +
           noise_text(noise) +
           (options.probes.empty()
                ? ""
                : "\n" + probes_text(training.result, identities_of(training), probe_files));
  nlohmann::json json = run_json(training, options.rank, options.spans);
  if (whole.tokens > 0) json.update(to_json(whole, step, ranks));
  if (might_hang) json["hang"] = nullptr;
  json["noise_scale"] = noise.empty() ? nlohmann::json() : to_json(std::span(noise));
  if (!options.probes.empty())
    add_probes(json, training.result, identities_of(training), probe_files);
  return json_text(json);
}

// What was asked for by name and could only be passed over.
std::optional<Message> unused_wish(const RunOptions& options, const Preparation& preparation) {
  const std::string& devices = preparation.asked.run.devices;
  if (options.setup.typed("devices") && devices != "all" && !preparation.choice.on_gpus())
    return message("devices-on-cores",
                   "--devices {} names GPUs, and ranks would go on cores ({}); leave it out, or "
                   "choose --backend cuda.",
                   devices, preparation.choice.why.text);
  if (!options.probe_out.empty() && options.probes.empty())
    return message("probe-out-alone", "--probe-out keeps what --probe sees; add --probe.");
  if (options.seeds < 1 || options.seeds > kMostSeeds)
    return message("seeds-range", "--seeds takes 1 to {} runs, not {}.", kMostSeeds, options.seeds);
  if (options.seeds > 1 && (preparation.place || !options.let_it_hang.empty()))
    return message("seeds-alone",
                   "--seeds runs the setup several times in this process: leave out "
                   "--let-it-hang, and start no process for each rank.");
  return std::nullopt;
}

Outcome run_setup(const RunOptions& options, Progress& progress) {
  std::string read_text;
  const Result<Setup> setup = options.setup.asked(&read_text);
  if (!setup) return Outcome::invalid(setup.error());
  if (options.rank < 0 || options.rank >= setup->mesh.ranks())
    return Outcome::invalid(message("rank-outside",
                                    "There is no rank {}; this Setup has ranks 0 to {}.",
                                    options.rank, setup->mesh.ranks() - 1));
  Result<std::optional<ProcessPlace>> place = find_place(process_environment());
  if (!place) return Outcome::invalid(place.error());
  const Result<Preparation> preparation =
      prepare_checked(*setup, std::move(*place), watch_of(progress),
                      [&](const std::string& sentence) { progress.say(sentence); });
  if (!preparation)
    return preparation.error().kind == "cancelled"
               ? Outcome::failed(preparation.error())
               : Outcome::invalid(options.setup.as_typed(preparation.error()));
  if (const auto unused = unused_wish(options, *preparation)) return Outcome::invalid(*unused);
  const Result<double> hang_seconds = seconds_to_hang(options.let_it_hang);
  if (!hang_seconds) return Outcome::invalid(hang_seconds.error());
  const Result<std::vector<Probe>> probes = parse_probes(options.probes);
  if (!probes) return Outcome::invalid(probes.error());
  const Result<WholeTraining> whole = whole_training_from(options.tokens, options.price);
  if (!whole) return Outcome::invalid(whole.error());
  if (!preparation->leads()) return run_member(*preparation, options.verify, *probes);
  for (const std::string& file : {options.trace, options.csv, options.document}) {
    if (file.empty()) continue;
    if (const Result<void> can = can_write(file); !can) return Outcome::failed(can.error());
  }
  if (const Result<void> can = can_write_probes(options.probe_out); !can)
    return Outcome::failed(can.error());
  progress.note(options.setup.assumed_sentence(read_text));
  for (const Message& sentence : options.setup.without_effect(preparation->setup))
    progress.say("Note: " + sentence.text);
  std::optional<CancelWithoutReader> reader;
  if (options.trace.empty() && options.csv.empty() && options.document.empty()) reader.emplace();
  say_who_shares(preparation->gpu_use, progress);
  if (calibrates_first(*preparation, *hang_seconds)) progress.say(calibrating_text(*preparation));
  Result<Training> training =
      train(*preparation, options.verify, watch_of(progress), *hang_seconds, *probes);
  if (!training)
    return is_about_request(training.error()) ? Outcome::invalid(training.error())
                                              : Outcome::failed(told_why(training.error()));
  if (training->unstored) progress.say(training->unstored->text + " It serves this run alone.");
  Beside beside{*whole, *hang_seconds > 0, {}, {}};
  if (!training->hang) {
    Result<std::vector<NoiseScale>> noise =
        noise_of_seeds(*preparation, *training, options.seeds, progress);
    if (!noise) return Outcome::failed(told_why(noise.error()));
    beside.noise = std::move(*noise);
  }
  if (options.seeds > 1 && beside.noise.empty())
    progress.say(
        "Note: the noise in gradients is seen where data-parallel ranks alone share the work, and "
        "each has the gradients of its own text (ZeRO 0 or 1).");
  progress.clear();
  const Result<std::vector<std::string>> probe_files =
      write_probes(options.probe_out, training->result.probes);
  if (probe_files) beside.probe_files = *probe_files;
  Outcome outcome = Outcome::done(answer_of(*training, options, beside));
  if (!probe_files) {
    outcome.status = kFailed;
    outcome.error = probe_files.error();
  }
  if (training->hang) return outcome;
  const Program& program = training->prediction.program;
  const Timeline& timeline = training->result.observation.timeline;
  // What cannot be written must not lose the report.
  const auto keep = [&outcome](const std::string& file, const std::string& content) {
    const Result<void> written = write_file(file, content);
    if (written || outcome.error) return;
    outcome.status = kFailed;
    outcome.error = written.error();
  };
  if (!options.trace.empty()) keep(options.trace, to_chrome_trace(program, timeline));
  if (!options.csv.empty()) keep(options.csv, to_csv(program, timeline));
  if (!options.document.empty())
    keep(options.document, json_text({{"format", kDocumentFormat},
                                      {"setup", to_json(training->result.observation.setup)},
                                      {"runs", nlohmann::json::array({to_json(*training)})}}));
  if (training->unproven) {
    outcome.status = kFailed;
    outcome.error = message("proof-impossible", "The run could not be repeated on one rank: {}",
                            training->unproven->text);
  } else if (training->proof && !training->proof->holds()) {
    outcome.status = kFailed;
    outcome.error = why_refuted(training->prediction.setup, *training->proof);
  }
  return outcome;
}

}  // namespace

void say_who_shares(const std::string& gpu_use, Progress& progress) {
  Observation seen;  // the sentence that the run's report will have
  seen.gpu_use = gpu_use;
  if (const std::optional<Message> told = delay_of(seen)) progress.say(told->text);
}

Watch watch_of(Progress& progress) {
  Watch watch;
  watch.cancel = &cancelled_by_signal();
  watch.progress = [&progress](std::string_view phase, double share, const Message& what) {
    progress.report(share, fmt::format("{}: {}", phase, what.text));
  };
  watch.abandon = [&progress](const Message& why) {
    progress.say(why.text);
    std::_Exit(kFailed);
  };
  return watch;
}

void add_run(Commands& commands) {
  CLI::App* command = commands.add(
      "run", "train on local ranks and set what is seen beside the prediction",
      "  parallelarium-engine run\n"
      "  parallelarium-engine run --pp 2 --dp 2 --schedule gpipe --verify\n"
      "  parallelarium-engine run --steps 200 --text novel.txt --backend cpu --pp 2\n"
      "  parallelarium-engine run --trace step.json --csv step.csv\n"
      "  parallelarium-engine run --pp 2 --backend cuda              (a GPU for each rank)\n"
      "  parallelarium-engine run --pp 2 --backend cuda --devices 0  (all ranks on one)\n"
      "  parallelarium-engine run --pp 2 --schedule wrong.txt --let-it-hang 5s\n"
      "  parallelarium-engine run --pp 1 --tp 2 --probe layer=0,piece=mlp-out --probe-out tensors\n"
      "  mpirun -n 2 parallelarium-engine run --pp 2 --backend cpu   (or torchrun, srun)\n");
  auto options = std::make_shared<RunOptions>();
  command->add_flag("--json", options->json, "print JSON");
  command->add_flag("--spans", options->spans, "JSON: also every step of the critical path");
  command->add_flag("--verify", options->verify,
                    "repeat it on one rank and compare losses and gradients; in 16 bit with fp32, "
                    "within what one rank in 16 bit differs by");
  command
      ->add_option("--let-it-hang", options->let_it_hang,
                   "run an order that waits for ever, too (in a circle, or for its own later "
                   "work), end it when no rank has moved for so long, and say where each waits")
      ->option_text("TIME");
  command->add_option("--trace", options->trace, "also write the step as a Chrome trace")
      ->option_text("FILE");
  command->add_option("--csv", options->csv, "also write the step as a table of ops")
      ->option_text("FILE");
  command
      ->add_option("--document", options->document,
                   "also write the run as a document, which parallelarium opens and draws")
      ->option_text("FILE");
  command
      ->add_option("--probe", options->probes,
                   "also tell what went into a piece and came out of it on each rank; again for "
                   "another one. Pieces and phases are named as the Program names them (qkv, "
                   "mlp-in, norm-1; forward, input-gradient, weight-gradient), and step=S looks at "
                   "another step than the first")
      ->allow_extra_args(false)
      ->option_text("layer=L,piece=P,microbatch=M,phase=F");
  command
      ->add_option("--probe-out", options->probe_out,
                   "write the tensors of each probe and rank as an .npz, which NumPy opens")
      ->option_text("DIR");
  command->add_option("--rank", options->rank, "whose traffic to print in JSON (default: 0)")
      ->option_text("R");
  command
      ->add_option("--seeds", options->seeds,
                   "run it with so many seeds, and say how much the estimated noise scale of the "
                   "gradients differs (data-parallel ranks alone; default: 1)")
      ->option_text("N");
  add_whole_training(*command, options->tokens, options->price);
  options->setup.add_to(*command);
  commands.set_body(command,
                    [options](Progress& progress) { return run_setup(*options, progress); });
}

}  // namespace parallelarium

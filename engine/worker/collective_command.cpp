// SPDX-License-Identifier: Apache-2.0
// `collective NAME`: a collective algorithm, its steps and cost; with --run executed, with --sweep
// over sizes.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/collectives/symbolic.h"
#include "engine/predict/collective_formulas.h"
#include "engine/run/collective_calibrate.h"
#include "engine/run/collective_memory.h"
#include "engine/run/collective_run.h"
#include "engine/run/cores.h"
#include "engine/run/gpu/module.h"
#include "engine/wire/collective_messages.h"
#include "engine/worker/cancel.h"
#include "engine/worker/collective_sweep.h"
#include "engine/worker/collective_text.h"
#include "engine/worker/command.h"
#include "engine/worker/probe.h"
#include "engine/worker/training.h"

namespace parallelarium {
namespace {

struct Options {
  CollectiveSpec spec;
  std::string name, algorithm, bytes = "4194304", type = "float32", operation = "sum";
  std::string topology = "switch", machine, counts, against, rounding;
  std::string backend = "auto", devices = "all";
  double latency = 1e-6, bandwidth = 10e9, node_latency = 5e-6, node_bandwidth = 10e9;
  double combine = 0;
  int repeats = 20;
  bool json = false, run = false, sweep = false, csv = false, calibrate = false;
  const CLI::Option *latency_given = nullptr, *bandwidth_given = nullptr;
  const CLI::Option *topology_given = nullptr, *bytes_given = nullptr, *root_given = nullptr;
  const CLI::Option *op_given = nullptr, *repeats_given = nullptr;
  const CLI::Option *backend_given = nullptr, *devices_given = nullptr;
};

std::string list_of(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

// "4194304", "64K" and "64KiB" (1024s), "1MB" (1000s).
std::optional<std::int64_t> bytes_of(const std::string& text) {
  std::size_t end = 0;
  while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
  if (end == 0 || end > 15) return std::nullopt;
  const std::int64_t number = std::stoll(text.substr(0, end));
  std::string unit = text.substr(end);
  if (unit.empty() || unit == "B") return number;
  const std::size_t power = std::string("KMGT").find(unit[0] == 'k' ? 'K' : unit[0]);
  if (power == std::string::npos) return std::nullopt;
  unit = unit.substr(1);
  if (unit != "" && unit != "i" && unit != "iB" && unit != "B") return std::nullopt;
  std::int64_t scale = 1;
  for (std::size_t i = 0; i <= power; ++i) scale *= unit == "B" ? 1000 : 1024;
  if (number > (std::int64_t{1} << 40) / scale) return std::int64_t{1} << 41;
  return number * scale;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    words.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return words;
}

Result<CollectiveSpec> spec_of(const Options& options) {
  CollectiveSpec spec = options.spec;
  const auto kind = collective_kind(options.name);
  if (!kind) {
    std::vector<std::string> names;
    for (int i = 0; i < kCollectiveKinds; ++i)
      names.emplace_back(name_of(static_cast<CollectiveKind>(i)));
    return message("collective-unknown", "\"{}\" is no collective; there are {}.", options.name,
                   list_of(names));
  }
  spec.kind = *kind;
  spec.algorithm = options.algorithm;
  const auto bytes = bytes_of(options.bytes);
  if (!bytes) {
    return message("collective-bytes",
                   "--bytes {} is no size; give a number of bytes such as 4194304, 64KiB or 1MB.",
                   options.bytes);
  }
  spec.bytes = *bytes;
  const auto type = data_type_by_name(options.type);
  if (!type) {
    return message("collective-type",
                   "--dtype {} is no type; there are float32, float64, bfloat16 and int32.",
                   options.type);
  }
  spec.type = *type;
  const auto reduction = reduction_by_name(options.operation);
  if (!reduction) {
    return message("collective-operation",
                   "--op {} is no operation; there are sum, prod, min, max and avg.",
                   options.operation);
  }
  spec.reduction = *reduction;
  if (options.counts.empty()) return spec;
  for (const std::string& word : words_of(options.counts)) {
    const bool digits = !word.empty() && word.size() <= 12 &&
                        word.find_first_not_of("0123456789") == std::string::npos;
    if (!digits) {
      return message("collective-counts", "--counts has \"{}\" where a whole number belongs.",
                     word);
    }
    spec.counts.push_back(std::stoll(word));
  }
  return spec;
}

Result<Network> network_for(const Options& options, const Collective& collective) {
  Network network;
  const int ranks = collective.spec.ranks;
  const auto cores = static_cast<int>(available_cores().size());
  if (options.calibrate && (!options.machine.empty() || options.topology_given->count() > 0))
    return message("collective-links",
                   "--calibrate measures this computer's memory; leave --machine and --topology "
                   "out.");
  if (options.calibrate && (cores < 2 || ranks > cores))
    return message("collective-cores",
                   "--calibrate measures ranks that have a core each, two at least; the engine may "
                   "use {}, for {}.",
                   cores == 1 ? "one core" : fmt::format("{} cores", cores),
                   ranks == 1 ? "one rank" : fmt::format("{} ranks", ranks));
  if (!(options.combine >= 0 && options.combine < 1e18))
    return message("collective-combine", "--combine-bandwidth is 0 or more bytes per second.");
  if (!options.machine.empty()) {
    const Result<Machine> machine = find_machine(options.machine);
    if (!machine) return machine.error();
    network = network_of(*machine, ranks);
  }
  if (options.machine.empty() || options.topology_given->count() > 0) {
    const auto topology = topology_by_name(options.topology);
    if (!topology) {
      return message("collective-topology",
                     "--topology {} is none; there are switch, ring, torus, two-level and memory.",
                     options.topology);
    }
    network.topology = *topology;
  }
  if (options.machine.empty()) {
    network.node_latency_seconds = options.node_latency;
    network.node_bytes_per_second = options.node_bandwidth;
    network.combine_bytes_per_second = options.combine;
  }
  const bool latency = options.latency_given->count() > 0;
  const bool bandwidth = options.bandwidth_given->count() > 0;
  if (latency || bandwidth) {
    if (options.calibrate)
      return message("collective-links",
                     "--calibrate measures the links; leave --latency and --bandwidth out.");
    network.transfers.clear();
  }
  if (options.machine.empty() || latency) network.latency_seconds = options.latency;
  if (options.machine.empty() || bandwidth) network.bytes_per_second = options.bandwidth;
  if (options.calibrate) {
    Result<std::vector<TransferPoint>> points = measure_transfers(cores);
    if (!points) return points.error();
    use_transfers(network, std::move(*points));
  }
  if (network.node_size == 0) network.node_size = collective.spec.node_size;
  if (network.node_size == 0) network.node_size = default_node_size(network.topology, ranks);
  if (Result<void> good = check_network(network, ranks); !good) return good.error();
  return network;
}

// Where the ranks run, as `run` is told it; says who else uses their GPUs.
Result<CollectiveRanks> ranks_of(const Options& options, int ranks, Progress& progress) {
  Setup setup;
  // What is predicted of cores runs on cores, also where there are GPUs, unless these are asked
  // for.
  const bool of_cores = options.calibrate || options.machine == "local";
  const std::string backend = of_cores && options.backend == "auto" ? "cpu" : options.backend;
  if (Result<void> set = set_field(setup, "backend", backend); !set) return set.error();
  if (Result<void> set = set_field(setup, "devices", options.devices); !set) return set.error();
  Result<BackendChoice> choice = choose_collective_backend(setup.run, ranks);
  if (!choice) return choice.error();
  CollectiveRanks on;
  on.choice = std::move(*choice);
  on.abandon = watch_of(progress).abandon;
  say_who_shares(use_of(on.choice.gpus), progress);
  return on;
}

// Several algorithms, or all that there are, over sizes.
Outcome sweep_of(const Options& options, CollectiveSpec spec, Progress& progress) {
  std::vector<std::string> algorithms;
  if (!spec.algorithm.empty() && spec.algorithm != "all") algorithms = words_of(spec.algorithm);
  for (const AlgorithmInfo& info : collective_algorithms()) {
    if (info.kind == spec.kind && (spec.algorithm.empty() || spec.algorithm == "all"))
      algorithms.push_back(info.name);
  }
  if (options.bytes_given->count() == 0) spec.bytes = 64 << 20;
  CollectiveRunOptions wishes;
  wishes.repeats = options.run ? options.repeats : 0;
  if (options.run) {
    Result<CollectiveRanks> on = ranks_of(options, spec.ranks, progress);
    if (!on) return Outcome::invalid(on.error());
    wishes.on = std::move(*on);
  }
  // Whatever is wrong with the spec is wrong with every algorithm; and it gives the node size.
  std::optional<Network> network;
  for (const std::string& algorithm : algorithms) {
    spec.algorithm = algorithm;
    const Result<Collective> made = make_collective(spec);
    if (!made && (algorithms.size() == 1 || made.error().id == "collective-algorithm"))
      return Outcome::invalid(made.error());
    if (!made) continue;
    if (options.run && wishes.on.choice.backend == Backend::kCpu) {
      if (Result<void> fits = fits_memory(*made, {}); !fits) return Outcome::failed(fits.error());
    }
    if (network) continue;
    const Result<Network> found = network_for(options, *made);
    if (!found) return Outcome::invalid(found.error());
    network = *found;
  }
  if (!network) return Outcome::invalid(make_collective(spec).error());
  const Result<std::vector<SweepRow>> rows = sweep(
      spec, algorithms, *network, wishes,
      [&](double share) { progress.report(share, "measuring"); },
      options.run ? &cancelled_by_signal() : nullptr);
  if (!rows) return Outcome::failed(rows.error());
  Outcome outcome = Outcome::done(options.json  ? json_text(sweep_json(*rows))
                                  : options.csv ? sweep_csv(*rows)
                                                : sweep_text(*rows));
  const auto wrong =
      std::count_if(rows->begin(), rows->end(), [](const SweepRow& row) { return !row.correct; });
  if (wishes.repeats > 0 && wrong > 0) {
    outcome.status = kFailed;
    outcome.error = message("collective-incorrect", "Results have wrong cells in {} rows.", wrong);
  }
  return outcome;
}

Outcome collective(const Options& options, Progress& progress) {
  Result<CollectiveSpec> spec = spec_of(options);
  if (!spec) return Outcome::invalid(spec.error());
  if (options.repeats < 1 || options.repeats > 100000)
    return Outcome::invalid(
        message("collective-repeats", "--repeats is 1 to 100000, not {}.", options.repeats));
  if (options.csv && !options.sweep)
    return Outcome::invalid(message("collective-csv", "--csv belongs to --sweep; add it."));
  if (options.csv && options.json)
    return Outcome::invalid(
        message("collective-printed", "--csv and --json print the same sweep; leave one out."));
  if (options.op_given->count() > 0 && !reduces(spec->kind))
    return Outcome::invalid(message("collective-combines-nothing",
                                    "--op belongs to collectives that combine; {} does not, leave "
                                    "it out.",
                                    name_of(spec->kind)));
  if (options.repeats_given->count() > 0 && !options.run)
    return Outcome::invalid(
        message("collective-repeats-run", "--repeats says how often --run runs it; add --run."));
  if (options.bytes_given->count() > 0 && !spec->counts.empty())
    return Outcome::invalid(
        message("collective-counts-bytes", "--counts says what is sent, so --bytes is left out."));
  if (options.root_given->count() > 0 && !has_root(spec->kind))
    return Outcome::invalid(message("collective-rootless",
                                    "--root belongs to broadcast, scatter, gather and reduce; {} "
                                    "has none, leave it out.",
                                    name_of(spec->kind)));
  if (options.sweep && !options.against.empty())
    return Outcome::invalid(
        message("collective-against-sweep",
                "--against names one more algorithm, and --sweep compares all of --algorithm a,b; "
                "leave one out."));
  if (!options.rounding.empty() && (!options.run || options.sweep))
    return Outcome::invalid(message(
        "collective-rounding-run",
        "--rounding compares what two runs leave; it needs --run and goes without --sweep."));
  if (!options.run && options.backend_given->count() + options.devices_given->count() > 0)
    return Outcome::invalid(message("collective-backend-run",
                                    "--backend and --devices say where --run runs it; add --run."));
  if (options.sweep && !spec->counts.empty())
    return Outcome::invalid(message(
        "collective-counts-sweep",
        "--counts says what is sent, so that there are no sizes to sweep over; leave one out."));
  if (options.sweep) return sweep_of(options, *spec, progress);
  if (spec->algorithm.empty()) {
    for (const AlgorithmInfo& info : collective_algorithms()) {
      if (info.kind != spec->kind) continue;
      if (spec->algorithm.empty() || info.name == "ring") spec->algorithm = info.name;
    }
  }
  const Result<Collective> made = make_collective(*spec);
  if (!made) return Outcome::invalid(made.error());
  const Result<Network> network = network_for(options, *made);
  if (!network) return Outcome::invalid(network.error());
  std::vector<Message> wrong = check(made->program);
  if (wrong.empty()) wrong = check_collective(*made);
  if (!wrong.empty()) return Outcome::failed(wrong.front());
  const CollectiveCost cost = cost_of(*made, *network);
  std::optional<std::int64_t> crossover;
  if (!options.against.empty()) {
    CollectiveSpec other = *spec;
    other.algorithm = options.against;
    const Result<Collective> rival = make_collective(other);
    if (!rival) return Outcome::invalid(rival.error());
    crossover = crossover_bytes(*spec, other, *network);
  }
  if (!options.rounding.empty()) {
    const Result<Collective> rival = rounding_rival(made->spec, options.rounding);
    if (!rival) return Outcome::invalid(rival.error());
  }
  std::optional<CollectiveObservation> seen;
  if (options.run) {
    CollectiveRunOptions wishes;
    wishes.repeats = options.repeats;
    wishes.rounding = options.rounding;
    Result<CollectiveRanks> on = ranks_of(options, spec->ranks, progress);
    if (!on) return Outcome::invalid(on.error());
    wishes.on = std::move(*on);
    if (wishes.on.choice.backend == Backend::kCpu) {
      if (Result<void> fits = fits_memory(*made, options.rounding); !fits)
        return Outcome::failed(fits.error());
    }
    progress.report(0, "running");
    Result<CollectiveObservation> run = run_collective(*made, wishes, &cancelled_by_signal());
    if (!run) return Outcome::failed(run.error());
    seen = std::move(*run);
  }
  Outcome outcome;
  if (options.json) {
    nlohmann::json json = to_json(*made, *network, cost);
    if (crossover) json["crossover_bytes"] = *crossover;
    if (seen) {
      json["measured"] = to_json(*seen);
      json["correct"] = seen->correct;
    }
    outcome = Outcome::done(json_text(json));
  } else {
    std::string text = collective_text(*made, *network, cost, seen);
    if (!options.against.empty())
      text += crossover_text(*spec, options.against, *network, crossover);
    outcome = Outcome::done(std::move(text));
  }
  if (seen && !seen->correct) {
    outcome.status = kFailed;
    outcome.error =
        message("collective-incorrect", "{} cells of the result are wrong.", seen->wrong_cells);
  }
  return outcome;
}

}  // namespace

void add_collective(Commands& commands) {
  CLI::App* command = commands.add(
      "collective", "a collective algorithm: its steps, its cost, and its run on local ranks",
      "  parallelarium-engine collective all_reduce --algorithm ring --ranks 4 --bytes 4MiB\n"
      "  parallelarium-engine collective all_gather --algorithm ring --ranks 8 --bytes 1MiB "
      "--json\n"
      "  parallelarium-engine collective all_reduce --ranks 2 --run\n"
      "  parallelarium-engine collective all_reduce --ranks 8 --algorithm tree --against ring\n"
      "  parallelarium-engine collective all_reduce --dtype bfloat16 --run --rounding tree\n"
      "  parallelarium-engine collective all_reduce --ranks 2 --calibrate --sweep --run --csv\n"
      "  parallelarium-engine collective all_reduce --ranks 4 --run --backend cuda --devices "
      "0,1,2,3\n"
      "  parallelarium-engine collective all_to_all --ranks 2 --counts 1,2,3,4\n\n" +
          algorithms_text());
  auto options = std::make_shared<Options>();
  const auto add = [command](const char* name, auto& into, const char* help, const char* unit) {
    return command->add_option(name, into, help)->option_text(unit);
  };
  add("name", options->name, "all_reduce, all_gather, ... (see below)", "NAME")->required();
  add("--algorithm", options->algorithm, "one of those below (default: ring, or the first)", "A");
  add("--ranks", options->spec.ranks, "1 to 64 (default: 4)", "N");
  options->bytes_given =
      add("--bytes", options->bytes, "the whole array, as in nccl-tests (default: 4MiB)", "S");
  options->root_given = add("--root", options->spec.root,
                            "root of broadcast, scatter, gather, reduce (default: 0)", "R");
  add("--counts", options->counts, "all_to_all: elements from each rank to each, row by row",
      "C,C,...");
  add("--dtype", options->type, "float32, float64, bfloat16 or int32", "T");
  options->op_given = add("--op", options->operation, "sum, prod, min, max or avg", "O");
  add("--segments", options->spec.segments, "pieces of a pipelined array", "K");
  add("--node-size", options->spec.node_size, "ranks of a node, or of a row of a torus", "G");
  options->topology_given = add("--topology", options->topology,
                                "switch, ring, torus, two-level or memory (default: switch)", "T");
  options->latency_given =
      add("--latency", options->latency, "of a link (default: 1e-6)", "SECONDS");
  options->bandwidth_given =
      add("--bandwidth", options->bandwidth, "of a link, one direction (default: 10e9)", "B/S");
  add("--node-latency", options->node_latency, "two-level: between nodes (default: 5e-6)",
      "SECONDS");
  add("--node-bandwidth", options->node_bandwidth, "two-level: of a node's link (default: 10e9)",
      "B/S");
  add("--combine-bandwidth", options->combine,
      "what a rank combines per second (default: combining takes no time)", "B/S");
  add("--machine", options->machine, "links of this machine instead (local: this computer)", "M");
  command->add_flag("--run", options->run, "execute it on local ranks and verify every cell");
  options->backend_given = add("--backend", options->backend,
                               "with --run: auto (default), cpu or cuda: a GPU for each rank by "
                               "NCCL, or all on one (shared GPU)",
                               "B");
  options->devices_given =
      add("--devices", options->devices,
          "with --run: all (default), or the GPUs that ranks may use, such as 0,2", "D");
  options->repeats_given =
      add("--repeats", options->repeats, "timed repeats of a run (default: 20)", "N");
  add("--rounding", options->rounding,
      "with --run: compare the result's bits with this algorithm's, on inexact inputs", "A");
  add("--against", options->against, "also the size at which this algorithm takes over", "A");
  command->add_flag("--calibrate", options->calibrate,
                    "measure messages between two threads first (3 s), predict from them");
  command->add_flag("--sweep", options->sweep,
                    "over sizes from 4 KiB to --bytes (default: 64MiB); --algorithm a,b or all");
  command->add_flag("--csv", options->csv, "print a sweep as CSV");
  command->add_flag("--json", options->json, "print JSON");
  commands.set_body(command,
                    [options](Progress& progress) { return collective(*options, progress); });
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// `collective NAME`: a collective algorithm, its steps and cost; with --run executed, with --sweep
// over sizes.
#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/cancel.h"
#include "engine/cli/commands/check_before_run.h"
#include "engine/cli/commands/command.h"
#include "engine/cli/commands/parts/collective_sweep.h"
#include "engine/cli/computer/probe.h"
#include "engine/cli/options/collective_options.h"
#include "engine/cli/text/collective_text.h"
#include "engine/cli/text/table.h"
#include "engine/cli/training.h"
#include "engine/collectives/symbolic.h"
#include "engine/plan/text/phrases.h"
#include "engine/plan/text/units.h"
#include "engine/run/calibrate/collectives/collective_calibrate.h"
#include "engine/run/collective/collective_memory.h"
#include "engine/run/collective/collective_run.h"
#include "engine/run/cores.h"
#include "engine/run/gpu/module/module.h"
#include "engine/wire/collective_messages.h"

namespace parallelarium {
namespace {

Result<Network> network_for(const CollectiveOptions& options, const Collective& collective) {
  Network network;
  const int ranks = collective.spec.ranks;
  const auto cores = static_cast<int>(available_cores().size());
  if (options.calibrate && (!options.machine.empty() || options.topology_given->count() > 0))
    return message("collective-links.machine",
                   "--calibrate measures this computer's memory; leave --machine and --topology "
                   "out.");
  if (options.calibrate && (cores < 2 || ranks > cores))
    return message("collective-cores",
                   "--calibrate measures ranks that have a core each, two at least; the engine may "
                   "use {}, for {}.",
                   counted_cores(cores), counted_ranks(ranks));
  if (!(options.combine >= 0 && options.combine < 1e18))
    return message("collective-combine", "--combine-bandwidth is 0 or more bytes per second.");
  if (!options.machine.empty()) {
    const Result<Machine> machine = find_machine(options.machine);
    if (!machine) return machine.error();
    const std::vector<int>& axes = machine->torus;
    const int axis = axes.empty() ? ranks : axes[0];
    const int plane = axes.size() > 1 ? axis * axes[1] : axis;
    if (ranks != axis && ranks != plane && options.topology_given->count() == 0)
      return message("collective-torus",
                     "A collective alone takes one or two whole axes of a torus, which in {} have "
                     "{} and {} devices; give --ranks {} or {}.",
                     machine->title, axis, plane, axis, plane);
    network = network_of(*machine, ranks);
  }
  if (options.machine.empty() || options.topology_given->count() > 0) {
    const auto topology = topology_by_name(options.topology);
    if (!topology) {
      return message("collective-topology.option",
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

// Why `predict` gives the same collective another time; empty: it does not.
std::string within_a_step(const CollectiveOptions& options) {
  if (options.machine.empty()) return {};
  const Result<Machine> machine = find_machine(options.machine);
  if (!machine) return {};
  const double node = machine->intra_node.sustained.value,
               network = machine->inter_node.sustained.value;
  if (node == 1 && network == 1 && machine->collective_times.empty()) return {};
  std::string text =
      "This is the collective alone, message by message over links as fast as a benchmark finds "
      "them. `predict` times it within a training step";
  if (node < 1 || network < 1)
    text += fmt::format(", where links sustain {} of that in a node and {} between nodes",
                        percent_text(node), percent_text(network));
  if (!machine->collective_times.empty()) text += ", and in a node by measured times of whole ones";
  return text + ".";
}

// Where the ranks run, as `run` is told it; says who else uses their GPUs.
Result<CollectiveRanks> ranks_of(const CollectiveOptions& options, int ranks, Progress& progress) {
  Setup setup;
  // What is predicted of cores runs on cores, also where there are GPUs, unless these are asked
  // for.
  const bool of_cores = options.calibrate || options.machine == "local";
  const std::string backend = of_cores && options.backend == "auto" ? "cpu" : options.backend;
  if (Result<void> set = set_field(setup, "backend", backend); !set) return set.error();
  if (Result<void> set = set_field(setup, "devices", options.devices); !set) return set.error();
  Result<BackendChoice> choice =
      choose_collective_checked(setup.run, ranks, watch_of(progress),
                                [&](const std::string& sentence) { progress.say(sentence); });
  if (!choice) return choice.error();
  CollectiveRanks on;
  on.choice = std::move(*choice);
  on.abandon = watch_of(progress).abandon;
  say_who_shares(use_of(on.choice.gpus), progress);
  return on;
}

// Several algorithms, or all that there are, over sizes.
Outcome sweep_of(const CollectiveOptions& options, CollectiveSpec spec, Progress& progress) {
  const std::vector<std::string> algorithms = algorithms_of(spec);
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
    if (!made && (algorithms.size() == 1 || made.error().kind == "collective-algorithm"))
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
  std::optional<CancelWithoutReader> reader;
  if (options.run) reader.emplace();
  const Result<std::vector<SweepRow>> rows = sweep(
      spec, algorithms, *network, wishes,
      [&](double share) { progress.report(share, "measuring"); },
      options.run ? &cancelled_by_signal() : nullptr);
  if (!rows) return Outcome::failed(told_why(rows.error()));
  Outcome outcome = Outcome::done(options.json  ? json_text(sweep_json(*rows))
                                  : options.csv ? sweep_csv(*rows)
                                                : sweep_text(*rows));
  const auto wrong =
      std::count_if(rows->begin(), rows->end(), [](const SweepRow& row) { return !row.correct; });
  if (wishes.repeats > 0 && wrong > 0) {
    outcome.status = kFailed;
    outcome.error =
        message("collective-incorrect.sweep", "Results have wrong cells in {} rows.", wrong);
  }
  return outcome;
}

Outcome collective(const CollectiveOptions& options, Progress& progress) {
  Result<CollectiveSpec> spec = spec_of(options);
  if (!spec) return Outcome::invalid(spec.error());
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
    const CancelWithoutReader reader;
    Result<CollectiveObservation> run = run_collective(*made, wishes, &cancelled_by_signal());
    if (!run) return Outcome::failed(told_why(run.error()));
    seen = std::move(*run);
  }
  Outcome outcome;
  if (options.json) {
    nlohmann::json json = to_json(*made, *network, cost);
    if (crossover) json["crossover_bytes"] = *crossover;
    if (const std::string remark = within_a_step(options); !remark.empty()) json["remark"] = remark;
    if (seen) {
      json["measured"] = to_json(*seen);
      json["correct"] = seen->correct;
    }
    outcome = Outcome::done(json_text(json));
  } else {
    std::string text = collective_text(*made, *network, cost, seen);
    if (const std::string remark = within_a_step(options); !remark.empty())
      text += "\n" + wrapped(remark, 100, 0) + "\n";
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
  auto options = std::make_shared<CollectiveOptions>();
  options->add_to(*command);
  commands.set_body(command,
                    [options](Progress& progress) { return collective(*options, progress); });
}

}  // namespace parallelarium

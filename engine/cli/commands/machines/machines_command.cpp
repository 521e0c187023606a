// SPDX-License-Identifier: Apache-2.0
// `machines`: what a Setup can be predicted for, every number with its origin.
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/commands/machines/machine_files.h"
#include "engine/cli/text/machine_text.h"
#include "engine/cli/text/table.h"
#include "engine/plan/machine/machine.h"
#include "engine/plan/program/program.h"
#include "engine/plan/setup/setup.h"
#include "engine/plan/text/units.h"
#include "engine/predict/cases/fit.h"
#include "engine/run/train/run.h"

namespace parallelarium {

namespace {

// What the nodes share of the network.
void network_rows(Table& table, const Machine& machine) {
  table.add({"network cards of a node", fmt::format("{:.0f}", machine.nics()),
             text_of(machine.nics_per_node.value > 0 ? machine.nics_per_node.origin
                                                     : with_note({}, "origin-note-card-each"))});
  const Sourced &leaf = machine.nodes_per_leaf, &over = machine.oversubscription;
  table.add({"nodes of a leaf group", fmt::format("{:.0f}", leaf.value), text_of(leaf.origin)});
  table.add({"oversubscription above it",
             over.value > 1 ? fmt::format("1:{}", three_digits(over.value)) : "none",
             text_of(over.origin)});
  table.add({"reduction in the network", machine.in_network_reduction ? "yes" : "no",
             machine.in_network_reduction ? "as the machine says" : "assumed"});
}

std::string rates_text(const Machine& machine) {
  Table table({"", ">", "origin"});
  const auto row = [&table](const char* name, const std::string& value, const Sourced& number) {
    table.add({name, value, text_of(number.origin)});
  };
  if (machine.cores > 0) table.add({"cores", fmt::format("{}", machine.cores), ""});
  table.add({"devices", fmt::format("{}", machine.devices_per_node * machine.nodes), ""});
  if (!machine.torus.empty())
    table.add({"torus of a node", fmt::format("{}", fmt::join(machine.torus, " x ")), ""});
  row("memory of a device", bytes_text(machine.memory_bytes.value), machine.memory_bytes);
  if (machine.usable_memory_share != 1)
    table.add(
        {"of it may be used", percent_text(machine.usable_memory_share), "as the machine says"});
  row("memory bandwidth", count_text(machine.memory_bytes_per_second.value, "B/s"),
      machine.memory_bytes_per_second);
  row("peak, fp32", count_text(machine.fp32_flops_per_second.value, "FLOP/s"),
      machine.fp32_flops_per_second);
  row("peak, 16 bit", count_text(machine.half_flops_per_second.value, "FLOP/s"),
      machine.half_flops_per_second);
  if (machine.fp8_flops_per_second.value > 0)
    row("peak, FP8", count_text(machine.fp8_flops_per_second.value, "FLOP/s"),
        machine.fp8_flops_per_second);
  row("share of peak reached", percent_text(machine.matmul_efficiency.value),
      machine.matmul_efficiency);
  const auto sizes = [&table](const char* name, const auto& of) {
    if (!of.shares.empty())
      table.add({name, fmt::format("{} size{}", of.shares.size(), of.shares.size() == 1 ? "" : "s"),
                 text_of(of.origin)});
  };
  sizes(machine.products.weight_grad.empty() ? "products of 16 bit"
                                             : "products of 16 bit, each phase",
        machine.products);
  sizes("products of FP8", machine.fp8_products);
  sizes("fused attention", machine.attention);
  if (!machine.experts.rows.empty())
    table.add({"experts' products", fmt::format("{} sizes", machine.experts.rows.size()),
               text_of(machine.experts.origin)});
  else if (machine.experts_efficiency.value > 0)
    row("of experts' products", percent_text(machine.experts_efficiency.value),
        machine.experts_efficiency);
  if (!machine.passes.empty())
    table.add({"passes at memory speed", fmt::format("{} kernels", machine.passes.size()),
               text_of(machine.passes.front().origin)});
  const auto sustained = [&](const char* name, const Sourced& share) {
    if (share != Sourced{1}) row(name, percent_text(share.value), share);
  };
  sustained("sustained by a device", machine.sustained);
  sustained("sustained by memory", machine.memory_efficiency);
  sustained("sustained in a node", machine.intra_node.sustained);
  sustained("sustained between nodes", machine.inter_node.sustained);
  row("fixed cost of an op", seconds_text(machine.launch_seconds.value), machine.launch_seconds);
  if (machine.host_seconds.value > 0)
    row("host's cost of an op", seconds_text(machine.host_seconds.value), machine.host_seconds);
  if (machine.host_message_seconds.value > 0)
    row("host's cost of a message", seconds_text(machine.host_message_seconds.value),
        machine.host_message_seconds);
  row("latency within a node", seconds_text(machine.intra_node.latency_seconds.value),
      machine.intra_node.latency_seconds);
  row("bandwidth within a node", count_text(machine.intra_node.bytes_per_second.value, "B/s"),
      machine.intra_node.bytes_per_second);
  if (!machine.local && machine.inter_node.bytes_per_second.value > 0) {
    row("latency between nodes", seconds_text(machine.inter_node.latency_seconds.value),
        machine.inter_node.latency_seconds);
    row("bandwidth of a network card", count_text(machine.inter_node.bytes_per_second.value, "B/s"),
        machine.inter_node.bytes_per_second);
    network_rows(table, machine);
  }
  for (const CollectiveTimes& times : machine.collective_times)
    table.add({fmt::format("{} of {}", times.collective, times.ranks),
               fmt::format("{} sizes", times.bytes.size()), text_of(times.origin)});
  if (machine.host_bytes_per_second.value > 0)
    row("bandwidth to a host's memory", count_text(machine.host_bytes_per_second.value, "B/s"),
        machine.host_bytes_per_second);
  row("computing beside communication",
      fmt::format("{} times as long", three_digits(machine.overlap_slowdown.value)),
      machine.overlap_slowdown);
  return table.text();
}

// Older files do not name what they measured in.
std::string type_text(const std::string& type) {
  return type.empty() ? std::string(name_of(DataType::kF32)) : type;
}

std::string matmuls_text(const std::vector<MatmulPoint>& matmuls) {
  std::map<std::string, std::vector<const MatmulPoint*>> by_type;
  for (const MatmulPoint& point : matmuls) by_type[type_text(point.type)].push_back(&point);
  Table products({"", "", "", ">"});
  for (const auto& [type, points] : by_type) {
    const auto [least, most] = std::minmax_element(
        points.begin(), points.end(), [](const MatmulPoint* a, const MatmulPoint* b) {
          return a->flops_per_second.value < b->flops_per_second.value;
        });
    const auto add = [&, type = type](const char* name, const MatmulPoint& point) {
      products.add({type, name,
                    fmt::format("[{}, {}] x [{}, {}]", point.m, point.k, point.k, point.n),
                    count_text(point.flops_per_second.value, "FLOP/s")});
    };
    add("slowest", **least);
    add("fastest", **most);
  }
  return fmt::format("\n{} matrix products, measured (--json lists them)\n{}", matmuls.size(),
                     products.text());
}

std::string links_text(const Machine& machine) {
  std::string text;
  if (!machine.pairs.empty()) {
    Table pairs({"", ">latency", ">bandwidth"});
    for (const PairLink& pair : machine.pairs)
      pairs.add({fmt::format("GPU {} to {}", pair.from, pair.to),
                 seconds_text(pair.link.latency_seconds.value),
                 count_text(pair.link.bytes_per_second.value, "B/s")});
    text += "\nMessages between GPUs, measured\n" + pairs.text();
  }
  if (!machine.collectives.empty()) {
    Table collectives({"collective", ">ranks", ">latency", ">bytes of a rank"});
    for (const CollectiveRate& rate : machine.collectives)
      collectives.add({rate.collective, fmt::format("{}", rate.ranks),
                       seconds_text(rate.link.latency_seconds.value),
                       count_text(rate.link.bytes_per_second.value, "B/s")});
    text += "\nWhole collectives, measured\n" + collectives.text();
  }
  if (!machine.host_calls.empty()) {
    Table calls({"call", ">host"});
    for (const HostCall& call : machine.host_calls)
      calls.add({call.call, seconds_text(call.seconds.value)});
    text += "\nTime of a host to launch a call, measured\n" + calls.text();
  }
  if (!machine.transfers.empty()) {
    Table transfers({">bytes", ">one message", ">one each way", ">a ring's, each"});
    for (const TransferPoint& point : machine.transfers)
      transfers.add({bytes_text(static_cast<double>(point.bytes)), seconds_text(point.one),
                     seconds_text(point.both), seconds_text(point.ring)});
    text += fmt::format(
        "\nMessages of a collective alone, measured; the ring has {} ranks (--json: more)\n{}",
        machine.transfers.front().ring_ranks, transfers.text());
  }
  return text;
}

std::string kernels_text(const std::vector<KernelRate>& rates) {
  Table kernels({"kernel", "type", ">elements", ">rate"});
  for (const KernelRate& kernel : rates)
    kernels.add({kernel.kernel, type_text(kernel.type),
                 kernel.elements > 0 ? fmt::format("{:.0f}", kernel.elements) : "",
                 count_text(kernel.elements_per_second.value, "elements/s")});
  return "\nOther kernels, measured\n" + kernels.text();
}

}  // namespace

std::string machine_text(const Machine& machine) {
  std::string text = fmt::format("{} ({})\n\n", machine.title, machine.name) + rates_text(machine);
  if (!machine.matmuls.empty()) text += matmuls_text(machine.matmuls);
  text += links_text(machine);
  if (!machine.kernels.empty()) text += kernels_text(machine.kernels);
  if (!machine.calibrated.empty())
    text += fmt::format("\nCalibrated {}.\n", machine.calibrated);
  else if (machine.local)
    text += "\nNever calibrated: `calibrate` measures this computer.\n";
  if (machine.ranks_share_memory() && machine.cores > 1 && !machine.calibrated.empty() &&
      machine.transfers.empty())
    text +=
        "An older version calibrated it: predictions of collectives alone come out too long until "
        "`calibrate` runs again.\n";
  if (const std::optional<Message> outdated = outdated_bf16(machine, bf16_products_here()))
    text += outdated->text + "\n";
  if (const std::optional<Message> disturbed = disturbed_calibration(machine))
    text += disturbed->text + "\n";
  return text;
}

std::string word_text(const Machine& machine) {
  const std::string word = prediction_word(machine);
  if (word == "peak") return "lower bound at peak rates";
  if (word == "assumed") return "predicted with assumed rates";
  const bool launch_assumed = is_assumed(machine.launch_seconds.origin);
  const std::optional<Origin> fitted = own_fit_of(machine);
  return "predicted with " + word + " rates" +
         (word == "published" && launch_assumed ? " and an assumed cost of starting an op" : "") +
         (fitted ? ", " + text_of(*fitted) : "");
}

namespace {

Outcome list(bool json) {
  nlohmann::json all = nlohmann::json::array();
  Table table({"name", "title", ">devices", ">memory", ">fp32", ">16 bit", ">in node",
               ">between nodes", "times are"});
  for (const std::string& name : machine_names()) {
    Result<Machine> machine = find_machine(name);
    if (!machine) return Outcome::failed(machine.error());
    all.push_back(to_json(*machine));
    const auto rate = [](const Sourced& number, const char* unit) {
      return number.value > 0 ? count_text(number.value, unit) : std::string();
    };
    table.add(
        {name, machine->title,
         fmt::format("{}", machine->local ? machine->cores : machine->devices_per_node),
         bytes_text(machine->memory_bytes.value), rate(machine->fp32_flops_per_second, "FLOP/s"),
         rate(machine->half_flops_per_second, "FLOP/s"),
         rate(machine->intra_node.bytes_per_second, "B/s"),
         machine->local || machine->inter_node.bytes_per_second.value <= 0
             ? ""
             : count_text(machine->inter_node.bytes_per_second.value * machine->nics_of_device(),
                          "B/s"),
         word_text(*machine)});
  }
  if (json) return Outcome::done(json_text({{"machines", all}}));
  return Outcome::done(table.text() +
                       "\nDevices are those of one node. `machines NAME` shows the origin of every "
                       "number.\n");
}

// By its name, or of a file of changes to one, as --machine takes both.
Outcome show(const std::string& name, bool json) {
  std::error_code ignored;
  Setup setup;
  const bool file = std::filesystem::is_regular_file(name, ignored);
  if (file)
    if (const Result<void> set = set_typed(setup, "machine", name); !set)
      return Outcome::invalid(set.error());
  const Result<Machine> machine = file ? machine_of(setup.machine) : find_machine(name);
  if (!machine) return Outcome::invalid(machine.error());
  return Outcome::done(json ? json_text(to_json(*machine)) : machine_text(*machine));
}

}  // namespace

void add_machines(Commands& commands) {
  CLI::App* command = commands.add(
      "machines", "list the machines to predict for, show one, or make one of one's own",
      "  parallelarium-engine machines\n"
      "  parallelarium-engine machines show dgx-h100\n"
      "  parallelarium-engine machines new my-cluster.json --from dgx-h100\n"
      "  parallelarium-engine machines new my-cluster.json --from dgx-h100 --links topo.txt "
      "--links all_reduce.txt\n"
      "  parallelarium-engine machines fit --measured 118.4s --setup plan.json --to mine.json\n"
      "  parallelarium-engine machines fit --case llama-3-2024-table-4\n");
  struct Options {
    std::vector<std::string> words;
    std::string from;
    std::vector<std::string> links;
    FitOptions fit;
    std::vector<std::pair<std::string, const CLI::Option*>> of_verb;  // "new" or "fit", its option
  };
  auto options = std::make_shared<Options>();
  command
      ->add_option("words", options->words,
                   "a machine to show in full, by name or file; or show NAME, new FILE, fit")
      ->option_text("[NAME]")
      ->expected(0, 2);
  const auto add = [&](const char* verb, const char* name, auto& into, const char* help,
                       const char* text) {
    options->of_verb.emplace_back(
        verb,
        command->add_option(name, into, fmt::format("{}: {}", verb, help))->option_text(text));
  };
  add("new", "--from", options->from, "the machine to start from", "NAME");
  add("new", "--links", options->links,
      "what nvidia-smi topo -m and nccl-tests print on the cluster", "FILE");
  add("fit", "--run", options->fit.runs, "measured runs, as `run --json` printed them", "FILE");
  add("fit", "--case", options->fit.cases, "published runs: the rows that rates are fitted on",
      "NAME");
  add("fit", "--measured", options->fit.measured, "the step time of --setup, such as 118.4s",
      "TIME");
  add("fit", "--setup", options->fit.setup, "the Setup that was measured", "FILE");
  add("fit", "--to", options->fit.to, "the file for the machine that was found", "FILE");
  command->add_flag("--json", options->fit.json, "print JSON");
  commands.set_body(command, [options](Progress&) {
    const std::vector<std::string>& words = options->words;
    const bool json = options->fit.json;
    for (const auto& [verb, option] : options->of_verb)
      if (option->count() > 0 && (words.empty() || words[0] != verb))
        return Outcome::invalid(
            message("machines-option", "{} belongs to machines {}.", option->get_name(), verb));
    if (words.empty()) return list(json);
    const std::string rest = words.size() > 1 ? words[1] : "";
    if (words[0] == "new") return new_machine(rest, options->from, options->links, json);
    if (words[0] == "fit" && rest.empty()) return fit_machine_file(options->fit);
    if (words[0] == "show" && rest.empty())
      return Outcome::invalid(message(
          "machines-show", "Say the machine to show, or its file: machines show NAME or FILE."));
    if (words.size() > 1 && words[0] != "show")
      return Outcome::invalid(message("machines-words",
                                      "machines does not expect the word \"{}\"; machines --help "
                                      "shows what it takes.",
                                      rest));
    return show(words.back(), json);
  });
}

}  // namespace parallelarium

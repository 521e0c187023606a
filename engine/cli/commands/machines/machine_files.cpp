// SPDX-License-Identifier: Apache-2.0
// `machines new` and `machines fit`: Machines of one's own, as files of changes to one of the list.
#include "engine/cli/commands/machines/machine_files.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/cli/text/table.h"
#include "engine/plan/machine/cluster_text.h"
#include "engine/plan/placement/resolve.h"
#include "engine/plan/text/durations.h"
#include "engine/plan/text/units.h"
#include "engine/predict/cases/cases.h"
#include "engine/predict/cases/fit.h"
#include "engine/wire/reading.h"

namespace parallelarium {
namespace {

// What people change first, as the Machine has it.
nlohmann::json changeable(const Machine& machine) {
  const nlohmann::json all = to_json(machine);
  nlohmann::json json = {{"based_on", machine.name}};
  for (const char* key :
       {"devices_per_node", "usable_memory_share", "memory_bytes", "memory_bytes_per_second",
        "half_flops_per_second", "matmul_efficiency", "sustained", "memory_efficiency",
        "intra_node", "inter_node", "host_bytes_per_second"})
    if (all.contains(key)) json[key] = all[key];
  const auto put = [&json](const char* key, double value, const Origin& origin) {
    json[key] = {{"value", value}, {"origin", text_of(origin)}};
  };
  put("overlap_slowdown", machine.overlap_slowdown.value, machine.overlap_slowdown.origin);
  put("nics_per_node", machine.nics(), machine.nics_per_node.origin);
  put("nodes_per_leaf", machine.nodes_per_leaf.value, machine.nodes_per_leaf.origin);
  put("oversubscription", machine.oversubscription.value, machine.oversubscription.origin);
  json["in_network_reduction"] = machine.in_network_reduction;
  return json;
}

// The Setup of a file, as ranks of its machine would take it.
Result<Setup> resolved_setup(const nlohmann::json& json) {
  const Result<Setup> asked = setup_from_file(json);
  if (!asked) return asked;
  Result<Situation> situation = situation_of(*asked, Computer());
  if (!situation) return situation.error();
  return situation->setup;
}

// A measured step, and the machine that it was measured on.
struct StepOnMachine {
  MeasuredStep step;
  MachineChoice machine;
};

Result<StepOnMachine> step_of_run(const std::string& path) {
  const Result<nlohmann::json> json = read_json(path);
  if (!json) return json.error();
  std::string source = "unknown", machine_name;
  double seconds = 0;
  ObjectReader run(*json, "run");
  run.read("source", source);
  if (run.error()) return about_file(path, *run.error());
  if (!json->contains("step") || !json->at("step").contains("seconds") || !json->contains("setup"))
    return message("fit-no-run", "{} is no run: it has no setup with a measured step.", path);
  if (source != "measured")
    return message("fit-not-measured", "{} holds no measured step, but a {} one.", path,
                   source == name_of(Source::kPaced) ? "rehearsed" : source);
  ObjectReader step(json->at("step"), "run.step");
  step.read("seconds", seconds);
  if (step.error()) return about_file(path, *step.error());
  if (json->contains("machine") && json->at("machine").is_object()) {
    ObjectReader machine(json->at("machine"), "run.machine");
    machine.read("name", machine_name);
    if (machine.error()) return about_file(path, *machine.error());
  }
  Result<Setup> setup = resolved_setup(json->at(json->contains("resolved") ? "resolved" : "setup"));
  if (!setup) return setup.error();
  const bool on_gpus = machine_name == kLocalGpus && !setup->machine.is_changed();
  MachineChoice machine = on_gpus ? MachineChoice(kLocalGpus) : setup->machine;
  return StepOnMachine{{path, *setup, seconds}, std::move(machine)};
}

Result<void> add_steps_of_case(const std::string& name, std::vector<MeasuredStep>& steps) {
  const Result<Case> found = find_case(name);
  if (!found) return found.error();
  const std::size_t before = steps.size();
  for (const CaseRow& row : found->rows) {
    if (!row.fitted) continue;
    const Result<double> seconds = published_seconds(row);
    if (!seconds) return seconds.error();
    if (*seconds > 0) steps.push_back({row.name, row.setup, *seconds});
  }
  if (steps.size() == before)
    return message("fit-case", "No rates are fitted on a step of the case {}.", found->name);
  return {};
}

Outcome measured_machine(const std::string& path, const Machine& machine,
                         const std::vector<std::string>& links, bool json) {
  std::string all;
  for (const std::string& file : links) {
    const Result<std::string> text = read_file(file);
    if (!text) return Outcome::invalid(text.error());
    all += *text + "\n";
  }
  Result<ClusterText> read = read_cluster(machine, all);
  if (!read) return Outcome::invalid(read.error());
  read->changes["based_on"] = machine.name;
  if (Result<void> written = write_file(path, json_text(read->changes)); !written)
    return Outcome::failed(written.error());
  std::string said;
  nlohmann::json found = nlohmann::json::array(), assumed = nlohmann::json::array();
  for (const Message& sentence : read->found) {
    said += sentence.text + "\n";
    found.push_back(sentence.text);
  }
  for (const Message& sentence : read->assumed) {
    said += "Note: " + sentence.text + "\n";
    assumed.push_back(sentence.text);
  }
  if (json)
    return Outcome::done(json_text({{"file", path},
                                    {"machine", read->changes},
                                    {"found", std::move(found)},
                                    {"assumed", std::move(assumed)}}));
  return Outcome::done(said + fmt::format("Wrote {}: --machine {} predicts for it.\n", path, path));
}

}  // namespace

Outcome new_machine(const std::string& path, const std::string& from,
                    const std::vector<std::string>& links, bool json) {
  if (path.empty() || from.empty())
    return Outcome::invalid(
        message("machine-new",
                "Say the file and the machine that it starts from: machines new FILE --from "
                "NAME."));
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored))
    return Outcome::invalid(
        message("file-exists", "{} is there already; nothing was changed.", path));
  const Result<Machine> machine = find_machine(from);
  if (!machine) return Outcome::invalid(machine.error());
  if (machine->local)
    return Outcome::invalid(
        message("machine-local.own", "A machine of one's own cannot be this computer."));
  if (!links.empty()) return measured_machine(path, *machine, links, json);
  const nlohmann::json file = changeable(*machine);
  if (Result<void> written = write_file(path, json_text(file)); !written)
    return Outcome::failed(written.error());
  if (json) return Outcome::done(json_text({{"file", path}, {"machine", file}}));
  return Outcome::done(fmt::format(
      "Wrote {}: change what differs from {} and delete the rest; --machine {} then predicts for "
      "it.\n",
      path, machine->title, path));
}

Outcome fit_machine_file(const FitOptions& options) {
  std::vector<MeasuredStep> steps;
  std::vector<MachineChoice> machines;  // of the runs, which come first
  for (const std::string& path : options.runs) {
    Result<StepOnMachine> found = step_of_run(path);
    if (!found) return Outcome::invalid(found.error());
    steps.push_back(std::move(found->step));
    machines.push_back(std::move(found->machine));
  }
  for (const std::string& name : options.cases)
    if (Result<void> added = add_steps_of_case(name, steps); !added)
      return Outcome::invalid(added.error());
  if (!options.measured.empty()) {
    const std::optional<double> seconds = seconds_of_text(options.measured);
    if (!seconds || *seconds == 0)
      return Outcome::invalid(message("fit-seconds",
                                      "--measured must be a time such as 118.4s or 2h, not "
                                      "“{}”.",
                                      options.measured));
    if (options.setup.empty())
      return Outcome::invalid(
          message("fit-setup", "--measured needs the Setup that took it: --setup FILE."));
    const Result<nlohmann::json> json = read_json(options.setup);
    if (!json) return Outcome::invalid(json.error());
    Result<Setup> setup = resolved_setup(*json);
    if (!setup) return Outcome::invalid(setup.error());
    steps.push_back({options.setup, *setup, *seconds});
  }
  if (steps.empty())
    return Outcome::invalid(
        message("fit-measured",
                "Say what was measured: --run FILE, --measured TIME with --setup FILE, or "
                "--case NAME."));
  for (std::size_t at = machines.size(); at < steps.size(); ++at)
    machines.push_back(steps[at].setup.machine);
  const MachineChoice& choice = machines.front();
  for (std::size_t at = 0; at < steps.size(); ++at)
    if (!(machines[at] == choice))
      return Outcome::invalid(message("fit-machines", "{} is of another machine than {}.",
                                      steps[at].name, steps.front().name));
  const Result<Machine> start = machine_of(choice);
  if (!start) return Outcome::invalid(start.error());
  const Result<Fit> fit = fit_machine(*start, steps);
  if (!fit) return Outcome::invalid(fit.error());
  nlohmann::json file = to_json(choice);
  if (!file.is_object()) file = {{"based_on", choice.name()}};
  const nlohmann::json found = to_json(fit->machine);
  for (const char* key : {"sustained", "memory_efficiency"})
    if (found.contains(key)) file[key] = found[key];
  for (const char* link : {"intra_node", "inter_node"})
    if (found[link].contains("sustained")) file[link]["sustained"] = found[link]["sustained"];
  if (!options.to.empty()) {
    if (Result<void> written = write_file(options.to, json_text(file)); !written)
      return Outcome::failed(written.error());
  }
  if (options.json)
    return Outcome::done(json_text({{"machine", file},
                                    {"errors", fit->errors},
                                    {"mean_error", fit->mean_error},
                                    {"worst_error", fit->worst_error}}));
  Table table({"step", ">measured", ">error after the fit"});
  for (std::size_t at = 0; at < steps.size(); ++at)
    table.add({steps[at].name, seconds_text(steps[at].seconds),
               fmt::format("{:+.1f} %", 100 * fit->errors[at])});
  return Outcome::done(
      table.text() +
      fmt::format("\nDevices sustain {}, memory {}, links in a node {}, between nodes {}.\n{}",
                  percent_text(fit->machine.sustained.value),
                  percent_text(fit->machine.memory_efficiency.value),
                  percent_text(fit->machine.intra_node.sustained.value),
                  percent_text(fit->machine.inter_node.sustained.value),
                  options.to.empty() ? "--to FILE stores them as a machine.\n"
                                     : fmt::format("Wrote {}.\n", options.to)));
}

}  // namespace parallelarium

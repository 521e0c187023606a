// SPDX-License-Identifier: Apache-2.0
// `devices`: what this computer has for training, what is missing, and what to do.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/cli/commands/command.h"
#include "engine/cli/computer/gpu_check.h"
#include "engine/cli/computer/probe.h"
#include "engine/cli/text/machine_text.h"
#include "engine/cli/text/table.h"
#include "engine/plan/machine/machine.h"
#include "engine/plan/text/units.h"

namespace parallelarium {
namespace {

// What keeps ranks from a GPU, or makes others the first choice.
std::string use_of_gpu(const Computer& computer, std::size_t gpu) {
  if (gpu >= computer.gpus.size()) return "";
  const ComputerGpu& facts = computer.gpus[gpu];
  if (facts.unusable) return "not used: " + facts.unusable->text;
  return facts.display ? "drives a display: others are taken first" : "";
}

// Where the first lesson would run.
std::string placement_text(const Computer& computer) {
  const Setup first = new_setup();
  const Result<Placement> placed = place(first.run, first.mesh.ranks(), computer);
  return placed ? placed->why.text : placed.error().text;
}

std::string devices_text(const Devices& devices) {
  std::string text = fmt::format("{}\n", devices.host);
  Table computer({"", ""});
  if (!devices.processor.empty()) computer.add({"processor", devices.processor});
  computer.add(
      {"cores", fmt::format("{} ({} hardware threads)", devices.computer.cores, devices.threads)});
  computer.add({"memory", fmt::format("{}, {} available",
                                      bytes_text(static_cast<double>(devices.memory_bytes)),
                                      bytes_text(static_cast<double>(devices.available_bytes)))});
  const Result<Machine> local = find_machine("local");
  if (local) {
    computer.add({"rates", local->calibrated.empty() ? "assumed; `calibrate` measures them"
                                                     : "calibrated " + local->calibrated});
    if (const std::optional<Message> outdated = outdated_bf16(*local, devices.bf16_products))
      computer.add({"", outdated->text});
    if (const std::optional<Message> disturbed = disturbed_calibration(*local))
      computer.add({"", disturbed->text});
  }
  text += computer.text();
  Table backends({"", "", ""});
  for (const BackendFact& backend : devices.backends)
    backends.add({backend.name, backend.available ? "ready" : "missing", backend.why.text});
  text += "\nBackends\n" + backends.text();
  text += fmt::format("  By itself, `run` takes {}.\n", placement_text(devices.computer));
  if (!devices.gpus.empty()) {
    Table gpus({"", "", ">memory", "", ""});
    for (std::size_t i = 0; i < devices.gpus.size(); ++i)
      gpus.add({fmt::format("GPU {}", i), devices.gpus[i].name,
                bytes_text(static_cast<double>(devices.gpus[i].memory_bytes)),
                i < devices.topology.pcie.size() ? devices.topology.pcie[i] : "",
                use_of_gpu(devices.computer, i)});
    text += "\nGPUs\n" + gpus.text();
  }
  for (const GpusApart& set : devices.computer.apart)
    text += "  Not used together: " + set.why.text + "\n";
  if (!devices.topology.links.empty()) {
    Table links({"", "", ""});
    for (const GpuLink& link : devices.topology.links)
      links.add({fmt::format("GPU {} to {}", link.from, link.to), link.kind,
                 link.p2p ? "peer to peer" : "through host memory"});
    text += "\nLinks between GPUs\n" + links.text();
  }
  Table facts({"", "", "", ""});
  for (const Fact& fact : devices.facts)
    facts.add({fact.title.text,
               fact.state == FactState::kThere     ? "there"
               : fact.state == FactState::kLimited ? "limited"
                                                   : "missing",
               fact.found.text, fact.advice.text});
  return text + "\nFor GPUs and several computers\n" + facts.text();
}

// A kernel or a thread that never ends would hold the end of the process up.
void end_if_stuck(const CheckedComputer& checked, const std::string& answer) {
  if (!checked.check.stuck) return;
  std::fputs(answer.c_str(), stdout);
  std::fflush(stdout);
  std::_Exit(kFailed);
}

Outcome check(bool json, Progress& progress) {
  std::vector<int> all(usable_gpus() ? usable_gpus()->size() : 0);
  std::iota(all.begin(), all.end(), 0);
  say_who_shares(use_of(all), progress);
  const Result<CheckedComputer> checked = check_this_computer(watch_of(progress));
  if (!checked) return Outcome::failed(checked.error());
  progress.clear();
  if (checked->unstored) progress.say(checked->unstored->text);
  Outcome outcome = Outcome::done(json ? json_text(to_json(*checked)) : report_text(*checked));
  if (checked->passed()) return outcome;
  end_if_stuck(*checked, outcome.text);
  outcome.status = kFailed;
  return outcome;
}

}  // namespace

void add_devices(Commands& commands) {
  CLI::App* command =
      commands.add("devices", "list what this computer has, what is missing, and what to do",
                   "  parallelarium-engine devices\n"
                   "  parallelarium-engine devices --check\n");
  struct Options {
    bool json = false, check = false;
  };
  auto options = std::make_shared<Options>();
  command->add_flag("--json", options->json, "print JSON");
  command->add_flag("--check", options->check,
                    "check the GPUs instead: kernels, messages, collectives and bandwidth (at most "
                    "15 s; status 1 where one fails)");
  commands.set_body(command, [options](Progress& progress) {
    if (options->check) return check(options->json, progress);
    const Devices devices = probe_devices();
    return Outcome::done(options->json ? json_text(to_json(devices)) : devices_text(devices));
  });
}

}  // namespace parallelarium

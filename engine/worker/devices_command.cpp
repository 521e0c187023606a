// SPDX-License-Identifier: Apache-2.0
// `devices`: what this computer has for training, what is missing, and what to do.
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/plan/machine.h"
#include "engine/plan/units.h"
#include "engine/worker/command.h"
#include "engine/worker/machine_text.h"
#include "engine/worker/probe.h"
#include "engine/worker/table.h"

namespace parallelarium {
namespace {

std::string devices_text(const Devices& devices) {
  std::string text = fmt::format("{}\n", devices.host);
  Table computer({"", ""});
  if (!devices.processor.empty()) computer.add({"processor", devices.processor});
  computer.add({"cores", fmt::format("{} ({} hardware threads)", devices.cores, devices.threads)});
  computer.add({"memory", fmt::format("{}, {} available",
                                      bytes_text(static_cast<double>(devices.memory_bytes)),
                                      bytes_text(static_cast<double>(devices.available_bytes)))});
  const Result<Machine> local = find_machine("local");
  if (local) {
    computer.add({"rates", local->calibrated.empty() ? "assumed; `calibrate` measures them"
                                                     : "calibrated " + local->calibrated});
    if (const std::optional<Message> outdated = outdated_bf16(*local, devices.bf16_products))
      computer.add({"", outdated->text});
  }
  text += computer.text();
  Table backends({"", "", ""});
  for (const BackendFact& backend : devices.backends)
    backends.add({backend.name, backend.available ? "ready" : "missing", backend.why});
  text += "\nBackends\n" + backends.text();
  if (!devices.gpus.empty()) {
    Table gpus({"", "", ">memory", ""});
    for (std::size_t i = 0; i < devices.gpus.size(); ++i)
      gpus.add({fmt::format("GPU {}", i), devices.gpus[i].name,
                bytes_text(static_cast<double>(devices.gpus[i].memory_bytes)),
                i < devices.topology.pcie.size() ? devices.topology.pcie[i] : ""});
    text += "\nGPUs\n" + gpus.text();
  }
  if (!devices.topology.links.empty()) {
    Table links({"", "", ""});
    for (const GpuLink& link : devices.topology.links)
      links.add({fmt::format("GPU {} to {}", link.from, link.to), link.kind,
                 link.p2p ? "peer to peer" : "through host memory"});
    text += "\nLinks between GPUs\n" + links.text();
  }
  Table facts({"", "", "", ""});
  for (const Fact& fact : devices.facts)
    facts.add({fact.title,
               fact.state == FactState::kThere     ? "there"
               : fact.state == FactState::kLimited ? "limited"
                                                   : "missing",
               fact.found, fact.advice});
  return text + "\nFor GPUs and several computers\n" + facts.text();
}

}  // namespace

void add_devices(Commands& commands) {
  CLI::App* command =
      commands.add("devices", "list what this computer has, what is missing, and what to do",
                   "  parallelarium-engine devices\n");
  auto json = std::make_shared<bool>(false);
  command->add_flag("--json", *json, "print JSON");
  commands.set_body(command, [json](Progress&) {
    const Devices devices = probe_devices();
    return Outcome::done(*json ? json_text(to_json(devices)) : devices_text(devices));
  });
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/placer.h"

#include "engine/plan/text/message_json.h"

namespace parallelarium {

Placer::Placer() : computer_(computer_until_told()) {}

bool Placer::may_find_gpus() const { return !told_ && has_nvidia_driver(); }

void Placer::hear(const nlohmann::json& devices) {
  told_ = true;
  backends_ = nullptr;
  if (!devices.is_object()) return;
  computer_ = computer_from_json(devices);
  if (const auto way = devices.find("bf16_products"); way != devices.end() && way->is_string())
    bf16_products_ = way->get<std::string>();
  if (devices.contains("backends")) backends_ = devices["backends"];
}

const Result<Machine>& Placer::find(const std::string& name) const {
  const auto found = machines_.find(name);
  if (found != machines_.end()) return found->second;
  return machines_.emplace(name, find_machine(name)).first->second;
}

Machine Placer::cores_here() const {
  const Result<Machine>& cores = find("local");
  return cores ? *cores : uncalibrated_local_machine();
}

Situation Placer::situation_of(const Setup& setup) const {
  Result<Situation> situation = parallelarium::situation_of(
      setup, computer_, [this](const std::string& name) { return find(name); });
  if (situation) return std::move(*situation);
  const Machine machine = uncalibrated_local_machine();
  return {setup, resolve(setup, machine), machine, std::nullopt, situation.error()};
}

Placement Placer::of_collective(const RunSettings& run, int ranks) const {
  return place_collective(run, ranks, computer_);
}

int Placer::gpus_for(const Situation& situation) const {
  return parallelarium::gpus_for(situation, computer_);
}

std::optional<Message> Placer::missing_backend(const std::string& name) const {
  for (const nlohmann::json& backend : backends_) {
    if (!backend.is_object() || backend.value("name", "") != name) continue;
    if (backend.value("available", true)) return {};
    Message why = message_at(backend, "why");
    why.kind = "backend-missing";
    return why;
  }
  return {};
}

std::optional<Message> Placer::outdated_rates(const Situation& situation) const {
  return parallelarium::outdated_rates(situation.setup, situation.machine, bf16_products_);
}

}  // namespace parallelarium

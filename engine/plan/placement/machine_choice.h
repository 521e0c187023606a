// SPDX-License-Identifier: Apache-2.0
// The Machine of a Setup: one of the list, or one of the list with some keys changed.
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"

namespace parallelarium {

class MachineChoice {
 public:
  // Takes one of the list, by its name: "dgx-h100".
  MachineChoice(std::string_view name) : name_(name) {}    // NOLINT: names stand for machines
  MachineChoice(const char* name) : name_(name) {}         // NOLINT
  MachineChoice(const std::string& name) : name_(name) {}  // NOLINT
  // Takes that Machine with `changes`, keys of a Machine file; itself where none differs. Numbers
  // of no origin are assumed. One of this computer is predicted alone: its ranks do not run. Error:
  // no such Machine.
  static Result<MachineChoice> changed(std::string name, const nlohmann::json& changes);

  const std::string& name() const { return name_; }
  bool is_changed() const { return changes_ != nullptr; }
  // The Machine of that name with the changes.
  Result<Machine> of(Result<Machine> named) const;
  bool operator==(const MachineChoice& other) const;

 private:
  friend nlohmann::json to_json(const MachineChoice& choice);
  std::string name_;
  std::shared_ptr<const nlohmann::json> changes_;
};

// Returns find_machine() of the choice, with the changes.
Result<Machine> machine_of(const MachineChoice& choice);

// Reads a name, or {"based_on": name, changed keys}. Errors name `key`.
Result<MachineChoice> machine_choice_from_json(const nlohmann::json& json, const std::string& key);
nlohmann::json to_json(const MachineChoice& choice);

}  // namespace parallelarium

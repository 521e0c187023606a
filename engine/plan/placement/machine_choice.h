// SPDX-License-Identifier: Apache-2.0
// Which Machine a Setup has: one of the list, or one of the list with some keys changed.
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
  // One of the list, by its name: "dgx-h100".
  MachineChoice(std::string_view name) : name_(name) {}    // NOLINT: names stand for machines
  MachineChoice(const char* name) : name_(name) {}         // NOLINT
  MachineChoice(const std::string& name) : name_(name) {}  // NOLINT
  // That preset with `changes`, an object of keys of a Machine file; a bare number stands for one
  // of an assumed origin. Error: no such preset (this computer is none), or no such Machine.
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

// find_machine() of the choice, with the changes.
Result<Machine> machine_of(const MachineChoice& choice);

// A name, or {"based_on": name, changed keys}; `key` stands in errors.
Result<MachineChoice> machine_choice_from_json(const nlohmann::json& json, const std::string& key);
nlohmann::json to_json(const MachineChoice& choice);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/placement/machine_choice.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/plan/settings/setting_values.h"

namespace parallelarium {
namespace {

constexpr const char* kBase = "based_on";

void put(nlohmann::json& machine, const nlohmann::json& changes);

// Another number is not from where the machine's own came: without an origin of its own it is
// assumed.
void put_object(nlohmann::json& at, const nlohmann::json& changes) {
  const nlohmann::json before = at;
  put(at, changes);
  const auto origin_of = [](const nlohmann::json& number) {
    return number.contains("origin") ? number["origin"] : nlohmann::json(text_of(Origin{}));
  };
  if (at.contains("value") && before.contains("value") && at["value"] != before["value"] &&
      origin_of(at) == origin_of(before))
    at["origin"] = text_of(Origin{});
}

// The file of a Machine with changes put in, level by level.
void put(nlohmann::json& machine, const nlohmann::json& changes) {
  for (const auto& [key, value] : changes.items()) {
    nlohmann::json& at = machine[key];
    const bool number = at.is_object() && at.contains("value") && value.is_number();
    if (number || (value.is_number() && at.is_null()))
      at = {{"value", value}, {"origin", text_of(Origin{})}};
    else if (value.is_object() && at.is_object())
      put_object(at, value);
    else
      at = value;
  }
}

Result<Machine> with_changes(const Machine& named, const nlohmann::json& changes) {
  nlohmann::json json = to_json(named);
  put(json, changes);
  if (!named.local) json["name"] = "custom";  // this computer's devices stay what they are
  return machine_from_json(json);
}

// Whether `changed` has nothing of its own. A machine that says nothing of its network cards has
// one for each device, which a file of changes may say.
bool is_same(Machine changed, Machine named) {
  changed.name = named.name;
  for (Machine* machine : {&changed, &named}) machine->nics_per_node.value = machine->nics();
  return to_json(changed) == to_json(named);
}

}  // namespace

Result<Machine> MachineChoice::of(Result<Machine> named) const {
  if (!named || changes_ == nullptr) return named;
  Result<Machine> machine = with_changes(*named, *changes_);
  if (!machine || changes_->contains("title")) return machine;
  machine->changed_from = named->title;
  machine->title = title_of(*machine).text;
  return machine;
}

Result<MachineChoice> MachineChoice::changed(std::string name, const nlohmann::json& changes) {
  const std::vector<std::string> names = machine_names();
  if (name != kLocalGpus && std::find(names.begin(), names.end(), name) == names.end())
    return unknown_choice(std::string("machine.") + kBase, name, names);
  const Result<Machine> named = find_machine(name);
  if (!named) return named.error();
  const Result<Machine> machine = with_changes(*named, changes);
  if (!machine) return machine.error();
  if (machine->local != named->local)
    return message("machine-local.own", "A machine of one's own cannot be this computer.");
  MachineChoice choice(std::move(name));
  if (!is_same(*machine, *named)) choice.changes_ = std::make_shared<const nlohmann::json>(changes);
  return choice;
}

bool MachineChoice::operator==(const MachineChoice& other) const {
  if (name_ != other.name_ || is_changed() != other.is_changed()) return false;
  return changes_ == other.changes_ || *changes_ == *other.changes_;
}

Result<Machine> machine_of(const MachineChoice& choice) {
  return choice.of(find_machine(choice.name()));
}

Result<MachineChoice> machine_choice_from_json(const nlohmann::json& json, const std::string& key) {
  // Names of other versions are validate()'s to refuse.
  if (json.is_string()) return MachineChoice(machine_called(json.get<std::string>()));
  if (!json.is_object() || !json.contains(kBase))
    return wrong_type(key, message("value-machine",
                                   "a name, or an object with based_on and the keys that it "
                                   "changes"));
  const Result<std::string> base = text_from(json[kBase], key + "." + kBase);
  if (!base) return base.error();
  nlohmann::json changes = json;
  changes.erase(kBase);
  return MachineChoice::changed(machine_called(*base), changes);
}

nlohmann::json to_json(const MachineChoice& choice) {
  if (!choice.is_changed()) return choice.name_;
  nlohmann::json json = *choice.changes_;
  json[kBase] = choice.name_;
  return json;
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// Where ranks go: this computer as the engine told of it, and the Machines that are known. It
// decides nothing: engine/plan/machine does.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "engine/plan/placement/resolve.h"

namespace parallelarium {

class Placer {
 public:
  Placer();

  // This computer as the engine told last; until then computer_until_told().
  const Computer& computer() const { return computer_; }
  bool told() const { return told_; }
  // Whether an `auto` backend may still come to mean GPUs, of which only the engine can tell.
  bool may_find_gpus() const;
  // What the engine told of this computer: the "devices" of its greeting.
  void hear(const nlohmann::json& devices);
  // The engine that told has ended: the next one may find other backends.
  void forget_backends() { backends_ = nullptr; }
  // Machines are read anew: a calibration may have written one.
  void forget_machines() { machines_.clear(); }

  // What `setup` means here, and on which Machine. A Setup whose machine is unknown has a
  // situation, too: validate() says what is wrong with it.
  Situation situation_of(const Setup& setup) const;
  // The Machine of this computer's cores.
  Machine cores_here() const;
  // Where ranks of a collective alone go.
  Placement of_collective(const RunSettings& run, int ranks) const;
  // Of a situation(): how many GPUs of this computer there are for its ranks; 0: they are on cores,
  // or the engine has not told.
  int gpus_for(const Situation& situation) const;
  // Why this computer does not have the backend; none where it does, or nobody has said.
  std::optional<Message> missing_backend(const std::string& name) const;
  // Why the rates of a situation's Machine are not those of its Setup any more, and what to do;
  // none: they are, or nobody has said otherwise.
  std::optional<Message> outdated_rates(const Situation& situation) const;

 private:
  const Result<Machine>& find(const std::string& name) const;
  // As find_machine() gave them.
  mutable std::map<std::string, Result<Machine>> machines_;
  Computer computer_;
  bool told_ = false;          // kept when the engine dies
  std::string bf16_products_;  // how it multiplies bf16 on cores, as Machine's; kept, too
  nlohmann::json backends_;
};

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// What is known about where ranks can go: this computer as the engine described it, and the known
// Machines. It decides nothing itself: engine/plan/placement does.
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

  // This computer as the engine described it last. Before that it is computer_until_told().
  const Computer& computer() const { return computer_; }
  bool told() const { return told_; }
  // Whether an `auto` backend may still turn out to mean GPUs. Only the engine knows.
  bool may_find_gpus() const;
  // Takes what the engine says of this computer: the "devices" of its greeting.
  void hear(const nlohmann::json& devices);
  // Call it when the engine has ended, since the next one may find other backends.
  void forget_backends() { backends_ = nullptr; }
  // Makes Machines be read again, since a calibration may have written one.
  void forget_machines() { machines_.clear(); }

  // What `setup` means here, and on which Machine. A Setup with an unknown machine has a situation
  // too; validate() says what is wrong with it.
  Situation situation_of(const Setup& setup) const;
  // The Machine of this computer's cores.
  Machine cores_here() const;
  // Where the ranks of a collective alone go.
  Placement of_collective(const RunSettings& run, int ranks) const;
  // How many GPUs of this computer the ranks of a situation() can have. 0: they are on cores, or
  // the engine has not told.
  int gpus_for(const Situation& situation) const;
  // Why this computer does not have the backend. None: it has it, or this is not known.
  std::optional<Message> missing_backend(const std::string& name) const;
  // Why the rates of a situation's Machine do not fit its Setup any more, and what to do. None:
  // they fit, or nothing else is known.
  std::optional<Message> outdated_rates(const Situation& situation) const;

 private:
  const Result<Machine>& find(const std::string& name) const;
  // The answers of find_machine().
  mutable std::map<std::string, Result<Machine>> machines_;
  Computer computer_;
  bool told_ = false;          // kept when the engine dies
  std::string bf16_products_;  // as Machine::bf16_products; kept when the engine dies
  nlohmann::json backends_;
};

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// What a search is asked for, as a person says it.
#pragma once

#include <QString>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "engine/plan/setup/setup.h"

namespace parallelarium {

struct PlanWish {
  // A preset's name, or the model's shape as JSON.
  QString model = QStringLiteral("llama3-8b");
  // A preset's name, or {"based_on": one, changes} as JSON.
  QString machine = QStringLiteral("dgx-h100");
  QString gpus = QStringLiteral("8");  // or a range
  std::int64_t global_batch = 128;
  std::int64_t sequence = 0;      // 0: the model's
  std::int64_t memory_bytes = 0;  // of a device that may be used; 0: all that the Machine says
  // Axis and the values that it may take, "8" or "0,1"; what is not here is free.
  std::map<QString, QString> fixed;
  // Of a whole training, for its days, GPU hours and cost.
  QString tokens = QStringLiteral("1T");
  double price = 0;            // of a GPU hour; 0: nobody said
  QString framework;           // that must be able to say the plans, by its name; empty: any
  std::optional<Setup> today;  // what is trained today, for comparison
  QString today_text;          // from which that was read, or empty
  QString today_framework;     // of that text, by its name; empty: none is known
  bool operator==(const PlanWish&) const = default;
};

// How a wish names that model or machine: a preset by its name, another by what it is.
QString wish_of(const Model& model);
QString wish_of(const MachineChoice& machine);
// The Setup that a search of this wish begins with. Error: there is no such model or machine.
Result<Setup> base_of(const PlanWish& wish);
// That Setup on all of the GPUs, of a range the most, with their number and the batch as wished
// where DP can make them; what is wrong with the wish is as new_setup() has it.
Setup plainest_of(const PlanWish& wish);
// Whether the same search answers both: they differ in nothing but what is trained today, and in
// how long and at what price.
bool asks_the_same(const PlanWish& a, const PlanWish& b);
// The Setup with what changes how well a model learns and no layout (clip, learning rate, seed,
// steps) as every plan has it: a launch line says these of a whole training with its own data,
// which a plan's proof, small copy and launch line are not.
Setup trained_as_plans(Setup setup);
// The layout of the Setup for another model: what that model cannot have (a split of its layers,
// EP) is left out.
Setup on_model(Setup setup, const Model& model);
// The framework in whose words plans are told: the one that must be able to say them, or else the
// one whose text today was read from. Empty: neither is known.
std::string framework_of(const PlanWish& wish);
// The sizes of the Setup, with everything else as in `wish`.
PlanWish sized_like(PlanWish wish, const Setup& setup);
// What `plan` of the protocol takes of a wish, whose `base` this is.
nlohmann::json parameters_of(const PlanWish& wish, const Setup& base);
// As the window remembers a wish. None: it is not one, or of another version.
nlohmann::json to_json(const PlanWish& wish);
std::optional<PlanWish> wish_from_json(const nlohmann::json& json);

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// What a search is asked for, as a person writes it.
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
  QString objective = QStringLiteral("time");  // name_of() an Objective
  std::int64_t sequence = 0;                   // 0: the model's
  std::int64_t memory_bytes = 0;  // bytes of a device that may be used; 0: all that the Machine has
  // The axes and the values that they may take, "8" or "0,1". Axes that are not here are free.
  std::map<QString, QString> fixed;
  // The tokens of a whole training, for its days, GPU hours and cost.
  QString tokens = QStringLiteral("1T");
  double price = 0;   // price of a GPU hour; 0: not given
  QString framework;  // name of the framework that must be able to express the plans; empty: any
  std::optional<Setup> today;  // what is trained today, for comparison
  QString today_text;          // the text from which that was read, or empty
  QString today_framework;     // name of that text's framework; empty: not known
  bool operator==(const PlanWish&) const = default;
};

// The text of a model or machine in a wish: a preset's name, or its contents as JSON.
QString wish_of(const Model& model);
QString wish_of(const MachineChoice& machine);
// The Setup with which a search of this wish begins. Error: there is no such model or machine.
Result<Setup> base_of(const PlanWish& wish);
// That Setup on all of the GPUs; of a range, on the most. The number of GPUs and the batch are as
// wished if DP can make them. Wrong parts of the wish are replaced by those of new_setup().
Setup plainest_of(const PlanWish& wish);
// Whether the same search answers both: they differ only in what is trained today, in the tokens
// and in the price.
bool asks_the_same(const PlanWish& a, const PlanWish& b);
// The Setup with the learning settings that every plan has (clip, learning rate, seed, steps).
// These change how well a model learns, but no layout. A launch line gives them for a whole
// training with its own data. A plan's proof, small copy and launch line are no such training.
Setup trained_as_plans(Setup setup);
// The layout of the Setup for another model. It leaves out what that model cannot have (a split of
// its layers, EP).
Setup on_model(Setup setup, const Model& model);
// The framework in whose words plans are described: the one that must be able to express them or,
// without it, the one of today's text. Empty: neither is known.
std::string framework_of(const PlanWish& wish);
// The wish with the sizes of the Setup.
PlanWish sized_like(PlanWish wish, const Setup& setup);
// The parameters of `plan` of the protocol for a wish with this `base`.
nlohmann::json parameters_of(const PlanWish& wish, const Setup& base);
// The form in which the window remembers a wish. None: it is no wish, or one of another version.
nlohmann::json to_json(const PlanWish& wish);
std::optional<PlanWish> wish_from_json(const nlohmann::json& json);

}  // namespace parallelarium

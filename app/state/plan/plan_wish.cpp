// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/plan/plan_wish.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/plan/machine/machine.h"
#include "engine/plan/model/model.h"
#include "engine/plan/model/model_presets.h"
#include "engine/planner/space/space.h"

namespace parallelarium {
QString wish_of(const MachineChoice& machine) {
  return QString::fromStdString(machine.is_changed() ? to_json(machine).dump() : machine.name());
}

QString wish_of(const Model& model) {
  const Result<Model> preset = find_model(model.name);
  if (preset && *preset == model) return QString::fromStdString(model.name);
  return QString::fromStdString(to_json(model).dump());
}

bool asks_the_same(const PlanWish& a, const PlanWish& b) {
  PlanWish like = a;
  like.today = b.today;
  like.today_text = b.today_text;
  like.today_framework = b.today_framework;
  like.tokens = b.tokens;
  like.price = b.price;
  return like == b;
}

Setup trained_as_plans(Setup setup) {
  const Setup plan = new_setup();
  setup.clip = plan.clip;
  setup.learning_rate = plan.learning_rate;
  setup.run.seed = plan.run.seed;
  setup.run.steps = plan.run.steps;
  return setup;
}

Setup on_model(Setup setup, const Model& model) {
  if (setup.model.layers != model.layers) setup.stage_layers.clear();
  if (model.experts.count == 0) setup.mesh.ep = 1;
  setup.model = model;
  return setup;
}

std::string framework_of(const PlanWish& wish) {
  return (wish.framework.isEmpty() ? wish.today_framework : wish.framework).toStdString();
}

PlanWish sized_like(PlanWish wish, const Setup& setup) {
  const Model* const preset = preset_at_any_sequence(setup.model);
  const Model& usual = preset ? *preset : setup.model;
  wish.model = wish_of(usual);
  wish.sequence = usual.sequence == setup.model.sequence ? 0 : setup.model.sequence;
  wish.gpus = QString::number(setup.mesh.ranks());
  wish.global_batch = setup.global_batch();
  return wish;
}

Result<Setup> base_of(const PlanWish& wish) {
  Setup base = new_setup();
  base.mesh = Mesh();
  base.microbatches = 1;
  const auto json_of = [](const QString& text) {
    return text.startsWith(QLatin1Char('{'))
               ? nlohmann::json::parse(text.toStdString(), nullptr, false)
               : nlohmann::json(text.toStdString());
  };
  Result<MachineChoice> machine = machine_choice_from_json(json_of(wish.machine), "machine");
  if (!machine) return machine.error();
  base.machine = std::move(*machine);
  Result<Model> model = wish.model.startsWith(QLatin1Char('{'))
                            ? model_from_json(json_of(wish.model))
                            : find_model(wish.model.toStdString());
  if (!model) return model.error();
  base.model = std::move(*model);
  if (wish.sequence > 0)
    if (const Result<void> set = set_field(base, "sequence", std::to_string(wish.sequence)); !set)
      return set.error();
  return base;
}

Setup plainest_of(const PlanWish& wish) {
  const Result<Setup> base = base_of(wish);
  Setup setup = base ? *base : new_setup();
  const std::string gpus = wish.gpus.section(QStringLiteral(".."), -1).toStdString();
  for (const auto& [option, value] :
       {std::pair("gpus", gpus), {"global-batch", std::to_string(wish.global_batch)}}) {
    Setup filled = setup;
    if (set_field(filled, option, value).ok()) setup = filled;
  }
  return setup;
}

nlohmann::json parameters_of(const PlanWish& wish, const Setup& base) {
  nlohmann::json allowed = nlohmann::json::object();
  for (const auto& [axis, values] : wish.fixed)
    for (const QString& value : values.split(QLatin1Char(',')))
      allowed[axis.toStdString()].push_back(value.trimmed().toStdString());
  nlohmann::json parameters = {{"setup", to_json(base)},
                               {"gpus", wish.gpus.toStdString()},
                               {"global_batch", wish.global_batch},
                               {"objective", wish.objective.toStdString()},
                               {"allowed", std::move(allowed)},
                               {"for", wish.framework.toStdString()}};
  if (wish.memory_bytes > 0) parameters["memory_bytes"] = wish.memory_bytes;
  return parameters;
}

nlohmann::json to_json(const PlanWish& wish) {
  nlohmann::json fixed = nlohmann::json::object();
  for (const auto& [axis, values] : wish.fixed) fixed[axis.toStdString()] = values.toStdString();
  return {{"model", wish.model.toStdString()},
          {"machine", wish.machine.toStdString()},
          {"gpus", wish.gpus.toStdString()},
          {"global_batch", wish.global_batch},
          {"objective", wish.objective.toStdString()},
          {"sequence", wish.sequence},
          {"memory_bytes", wish.memory_bytes},
          {"fixed", std::move(fixed)},
          {"tokens", wish.tokens.toStdString()},
          {"price", wish.price},
          {"framework", wish.framework.toStdString()},
          {"today", wish.today ? to_json(*wish.today) : nlohmann::json()},
          {"today_text", wish.today_text.toStdString()},
          {"today_framework", wish.today_framework.toStdString()}};
}

std::optional<PlanWish> wish_from_json(const nlohmann::json& json) {
  PlanWish wish;
  try {
    const auto text = [&](const char* key) {
      return QString::fromStdString(json.at(key).get<std::string>());
    };
    wish.model = text("model");
    wish.machine = text("machine");
    wish.gpus = text("gpus");
    json.at("global_batch").get_to(wish.global_batch);
    const std::string objective = json.value("objective", "time");
    if (std::any_of(std::begin(kObjectives), std::end(kObjectives),
                    [&](Objective each) { return name_of(each) == objective; }))
      wish.objective = QString::fromStdString(objective);
    json.at("sequence").get_to(wish.sequence);
    json.at("memory_bytes").get_to(wish.memory_bytes);
    for (const auto& [axis, values] : json.at("fixed").items())
      wish.fixed[QString::fromStdString(axis)] = QString::fromStdString(values.get<std::string>());
    wish.tokens = text("tokens");
    json.at("price").get_to(wish.price);
    wish.framework = text("framework");
    if (const nlohmann::json& today = json.at("today"); !today.is_null()) {
      Result<Setup> setup = setup_from_json(today);
      if (!setup) return std::nullopt;
      wish.today = std::move(*setup);
    }
    wish.today_text = text("today_text");
    wish.today_framework = text("today_framework");
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
  return base_of(wish) ? std::optional(std::move(wish)) : std::nullopt;
}

}  // namespace parallelarium

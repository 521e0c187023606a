// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/sweeping.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/cli/outlook.h"
#include "engine/cli/planning.h"
#include "engine/plan/machine/nodes.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/plan/text/message_json.h"
#include "engine/wire/reading.h"

namespace parallelarium {
namespace {

// The base with these settings as if they had been typed, in the order of the table.
Result<Setup> turned_setup(const Setup& base, const Turned& turned) {
  Setup setup = base;
  for (const SetupSetting& row : setup_settings())
    for (const auto& [name, value] : turned)
      if (name == row.key || name == row.option)
        if (const Result<void> set = set_typed(setup, row.key, value); !set) return set.error();
  return setup;
}

// Nodes that one group along an axis has ranks on, where the setting is such an axis.
std::optional<int> group_nodes_of(const Prediction& prediction, const Nodes& nodes,
                                  const std::string& setting) {
  const SetupSetting* row = find_setting(setup_settings(), setting);
  for (const Axis axis : {Axis::kTp, Axis::kCp, Axis::kEp, Axis::kDp, Axis::kPp}) {
    if (row->option != name_of(axis)) continue;
    for (const AxisReach& reach : axis_reaches(prediction.setup.mesh, nodes))
      if (reach.axis == axis) return reach.most_nodes;
    return 1;  // groups of one rank
  }
  return std::nullopt;
}

}  // namespace

std::vector<Metric> metrics_from(const std::string& list) {
  std::vector<Metric> metrics;
  for (std::size_t from = 0; from < list.size();) {
    const std::size_t end = std::min(list.find(',', from), list.size());
    if (end > from) metrics.push_back(metric_from(list.substr(from, end - from)));
    from = end + 1;
  }
  return metrics;
}

Result<Prediction> predict_within(const SweepLimits& limits, const Situation& situation) {
  if (const std::optional<Message> why = refusal_of(situation.setup, limits.refuses)) return *why;
  Machine machine = situation.machine;
  if (limits.memory_bytes > 0)
    if (Result<void> limited = limit_memory(machine, limits.memory_bytes); !limited)
      return limited.error();
  return predict(situation.setup, machine, BuildOptions{.stage_level = true});
}

Result<SweepRequest> sweep_request_from_json(const nlohmann::json& json) {
  SweepRequest request;
  std::string show, framework;
  ObjectReader reader(json, "sweep");
  reader.read("show", show);
  reader.read("memory_bytes", request.limits.memory_bytes);
  reader.read("for", framework);
  if (json.contains("keep")) {
    const nlohmann::json* keep = reader.object("keep");
    if (reader.error()) return *reader.error();
    for (const auto& [name, value] : keep->items()) {
      if (!value.is_string()) return message("wire-keep", "\"keep\" must have texts as values.");
      if (find_setting(setup_settings(), name) == nullptr)
        return message("wire-keep-unknown", "There is no setting “{}” to keep.", shown(name));
      request.kept.emplace_back(name, value.get<std::string>());
    }
  }
  const nlohmann::json* setup = reader.object("setup");
  const nlohmann::json* vary = reader.array("vary");
  if (reader.error()) return *reader.error();
  for (const nlohmann::json& text : *vary) {
    if (!text.is_string()) return message("wire-vary", "\"vary\" must be a list of texts.");
    Result<Variation> variation = variation_from(text.get<std::string>());
    if (!variation) return variation.error();
    request.vary.push_back(std::move(*variation));
  }
  Result<PlanRefusal> refuses = refusal_by(framework);
  if (!refuses) return refuses.error();
  request.limits.refuses = std::move(*refuses);
  Result<Setup> base = setup_from_json(*setup);
  if (!base) return base.error();
  request.base = std::move(*base);
  request.metrics = metrics_from(show);
  return request;
}

Result<nlohmann::json> sweep_answer(const SweepRequest& request, const std::atomic<bool>* cancel,
                                    const std::function<void(std::size_t, std::size_t)>& progress) {
  struct Reach {
    int nodes = 0;  // 0: the point is refused
    std::optional<int> of_group;
  };
  std::vector<Reach> reaches;  // of each point
  std::int64_t capacity_bytes = 0;
  const TurnedAnswer answer = [&](const Turned& turned) -> Result<nlohmann::json> {
    reaches.emplace_back();
    Turned all = turned;
    all.insert(all.end(), request.kept.begin(), request.kept.end());
    const Result<Setup> setup = turned_setup(request.base, all);
    if (!setup) return setup.error();
    const Result<Situation> situation = situation_here(*setup);
    if (!situation) return situation.error();
    const Result<Prediction> prediction = predict_within(request.limits, *situation);
    if (!prediction) return prediction.error();
    const Nodes nodes = nodes_of(prediction->setup, prediction->machine);
    reaches.back() = {nodes.count(), group_nodes_of(*prediction, nodes, request.vary.front().key)};
    capacity_bytes = prediction->capacity_bytes;
    return prediction_answer(*prediction, *situation, 0, false);
  };
  const Result<std::vector<SweepPoint>> points =
      sweep(request.vary, request.metrics, answer, cancel, progress);
  if (!points) {
    Message why = points.error();
    if (why.id == "sweep-cancelled") why.kind = "cancelled";
    return why;
  }
  nlohmann::json json = to_json(*points, request.vary, request.metrics);
  for (std::size_t at = 0; at < points->size(); ++at) {
    nlohmann::json& point = json["points"][at];
    if (reaches[at].nodes > 0) point["nodes"] = reaches[at].nodes;
    if (reaches[at].of_group) point["group_nodes"] = *reaches[at].of_group;
    if ((*points)[at].refused) point["message"] = to_json(*(*points)[at].refused);
  }
  if (capacity_bytes > 0) json["capacity_bytes"] = capacity_bytes;
  return json;
}

}  // namespace parallelarium

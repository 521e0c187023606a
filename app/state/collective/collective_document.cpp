// SPDX-License-Identifier: GPL-3.0-or-later
// The Collectives view in a document.
#include "app/state/document/document.h"
#include "engine/wire/collective_messages.h"

namespace parallelarium {
namespace {

Source source_of(const nlohmann::json& json) {
  for (const Source source : {Source::kOversubscribed, Source::kSharedGpu})
    if (json.is_string() && json == std::string(name_of(source))) return source;
  return Source::kMeasured;
}

std::optional<double> number(const nlohmann::json& json, const char* key) {
  const auto found = json.find(key);
  if (found == json.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

}  // namespace

nlohmann::json collective_document(const CollectiveSession& collectives) {
  if (collectives.choice() == CollectiveChoice{} && collectives.runs().empty() &&
      collectives.all_sweeps().empty())
    return {};
  nlohmann::json json = to_json(collectives.choice());
  for (const CollectiveRun& run : collectives.runs())
    json["runs"].push_back(
        {{"spec", to_json(run.plan->choice.spec)}, {"observation", to_json(run.seen)}});
  for (const MeasuredPoint& point : collectives.all_sweeps()) {
    json["sweep"].push_back({{"spec", to_json(point.spec)},
                             {"source", name_of(point.source)},
                             {"seconds", point.seconds},
                             {"bus_bandwidth", point.bus_bandwidth}});
    if (point.on_gpus) json["sweep"].back()["on_gpus"] = true;
  }
  return json;
}

Result<CollectivesKept> collectives_from_json(const nlohmann::json& json,
                                              std::vector<Message>& notes) {
  Result<CollectiveChoice> choice = collective_choice_from_json(json);
  if (!choice) return choice.error();
  CollectivesKept kept{*choice, {}, {}};
  if (json.contains("runs") && json["runs"].is_array()) {
    for (const nlohmann::json& run : json["runs"]) {
      if (!run.is_object() || !run.contains("spec") || !run.contains("observation")) {
        notes.push_back(message("document-collective",
                                "A run of a collective in the document has no \"observation\"."));
        continue;
      }
      const Result<CollectiveSpec> spec = collective_spec_from_json(run["spec"]);
      Result<CollectiveObservation> seen = collective_observation_from_json(run["observation"]);
      Result<CollectiveRun> made = !spec   ? Result<CollectiveRun>(spec.error())
                                   : !seen ? Result<CollectiveRun>(seen.error())
                                           : make_collective_run(*spec, std::move(*seen));
      if (made)
        kept.runs.push_back(std::move(*made));
      else
        notes.push_back(made.error());
    }
  }
  if (!json.contains("sweep") || !json["sweep"].is_array()) return kept;
  for (const nlohmann::json& point : json["sweep"]) {
    if (!point.is_object() || !point.contains("spec")) continue;
    const Result<CollectiveSpec> spec = collective_spec_from_json(point["spec"]);
    const auto seconds = number(point, "seconds"), bandwidth = number(point, "bus_bandwidth");
    const auto on_gpus = point.find("on_gpus");
    if (spec && seconds && bandwidth)
      kept.sweep.push_back({*spec, source_of(point.value("source", nlohmann::json())), *seconds,
                            *bandwidth, on_gpus != point.end() && *on_gpus == true});
  }
  return kept;
}

}  // namespace parallelarium

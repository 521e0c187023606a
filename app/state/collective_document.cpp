// SPDX-License-Identifier: GPL-3.0-or-later
// The Collectives view in a document.
#include "app/state/document.h"
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
  for (const SweepPoint& point : collectives.all_sweeps()) {
    json["sweep"].push_back({{"spec", to_json(point.spec)},
                             {"source", name_of(point.source)},
                             {"seconds", point.seconds},
                             {"bus_bandwidth", point.bus_bandwidth}});
    if (point.on_gpus) json["sweep"].back()["on_gpus"] = true;
  }
  return json;
}

Result<void> restore_collectives(CollectiveSession& collectives, const nlohmann::json& json,
                                 std::vector<Message>& notes) {
  Result<CollectiveChoice> choice = collective_choice_from_json(json);
  if (!choice) return choice.error();
  collectives.restore(*choice, {}, {});
  if (json.contains("runs") && json["runs"].is_array()) {
    for (const nlohmann::json& run : json["runs"]) {
      if (!run.is_object() || !run.contains("spec") || !run.contains("observation")) {
        notes.push_back(message("document-collective",
                                "A run of a collective in the document has no \"observation\"."));
        continue;
      }
      const Result<CollectiveSpec> spec = collective_spec_from_json(run["spec"]);
      Result<CollectiveObservation> seen = collective_observation_from_json(run["observation"]);
      const Result<void> kept = !spec   ? Result<void>(spec.error())
                                : !seen ? Result<void>(seen.error())
                                        : collectives.keep_run(*spec, std::move(*seen));
      if (!kept) notes.push_back(kept.error());
    }
  }
  if (!json.contains("sweep") || !json["sweep"].is_array()) return {};
  for (const nlohmann::json& point : json["sweep"]) {
    if (!point.is_object() || !point.contains("spec")) continue;
    const Result<CollectiveSpec> spec = collective_spec_from_json(point["spec"]);
    const auto seconds = number(point, "seconds"), bandwidth = number(point, "bus_bandwidth");
    const auto on_gpus = point.find("on_gpus");
    if (spec && seconds && bandwidth)
      collectives.keep_sweep({*spec, source_of(point.value("source", nlohmann::json())), *seconds,
                              *bandwidth, on_gpus != point.end() && *on_gpus == true});
  }
  return {};
}

}  // namespace parallelarium

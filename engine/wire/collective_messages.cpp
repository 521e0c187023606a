// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/collective_messages.h"

#include <cmath>

#include "engine/plan/setup/setup_names.h"
#include "engine/plan/text/phrases.h"
#include "engine/predict/formulas/collective_formulas.h"
#include "engine/wire/reading.h"

namespace parallelarium {

namespace {

nlohmann::json steps_json(const Collective& collective) {
  nlohmann::json steps = nlohmann::json::array();
  for (const std::vector<Move>& moves : collective.steps) {
    nlohmann::json& step = steps.emplace_back(nlohmann::json::array());
    for (const Move& move : moves) {
      step.push_back({{"from", move.from},
                      {"to", move.to},
                      {"chunk", move.chunk},
                      {"bytes", move.bytes},
                      {"reduce", move.reduce}});
    }
  }
  return steps;
}

nlohmann::json formula_json(const Formula& formula) {
  return {{"name", formula.name.text}, {"expression", formula.expression.text},
          {"values", formula.values},  {"value", formula.value},
          {"unit", formula.unit},      {"source", formula.source.text},
          {"note", formula.note.text}, {"kind", formula.name.kind}};
}

void read_counts(ObjectReader& reader, const nlohmann::json& json, const char* key,
                 std::vector<std::int64_t>& into) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return;
  if (!found->is_array()) return reader.fail(key, message(kValueWholes));
  for (const nlohmann::json& value : *found) {
    if (!value.is_number_integer()) return reader.fail(key, message(kValueWholes));
    into.push_back(value.get<std::int64_t>());
  }
}

// What LinkFigures are called in JSON.
constexpr std::pair<const char*, std::optional<double> LinkFigures::*> kLinkFigures[] = {
    {"latency_seconds", &LinkFigures::latency_seconds},
    {"bytes_per_second", &LinkFigures::bytes_per_second},
    {"node_latency_seconds", &LinkFigures::node_latency_seconds},
    {"node_bytes_per_second", &LinkFigures::node_bytes_per_second}};

nlohmann::json to_json(const RoundingComparison& rounding) {
  nlohmann::json cells = nlohmann::json::array();
  for (const RoundingCell& cell : rounding.cells)
    cells.push_back({{"elements", cell.elements},
                     {"differing", cell.differing},
                     {"first", cell.first},
                     {"here", cell.here},
                     {"there", cell.there}});
  return {{"other", rounding.other},
          {"elements", rounding.elements},
          {"differing", rounding.differing},
          {"most_steps", rounding.most_steps},
          {"ranks_agree", rounding.ranks_agree},
          {"cells", std::move(cells)}};
}

Result<RoundingComparison> rounding_from_json(const nlohmann::json& json) {
  RoundingComparison rounding;
  ObjectReader reader(json, "collective observation.rounding");
  reader.read("other", rounding.other);
  reader.read("elements", rounding.elements);
  reader.read("differing", rounding.differing);
  reader.read("most_steps", rounding.most_steps);
  reader.read("ranks_agree", rounding.ranks_agree);
  const nlohmann::json* cells = reader.array("cells");
  if (reader.error()) return *reader.error();
  Result<std::vector<RoundingCell>> read = rows_from_json<RoundingCell>(
      *cells, "collective observation.rounding.cells", [](ObjectReader& cell, RoundingCell& told) {
        cell.read("elements", told.elements);
        cell.read("differing", told.differing);
        cell.read("first", told.first);
        cell.read("here", told.here);
        cell.read("there", told.there);
      });
  if (!read) return read.error();
  rounding.cells = std::move(*read);
  return rounding;
}

}  // namespace

nlohmann::json to_json(const CollectiveSpec& spec) {
  nlohmann::json json = {{"name", name_of(spec.kind)},
                         {"algorithm", spec.algorithm},
                         {"ranks", spec.ranks},
                         {"bytes", spec.bytes},
                         {"root", spec.root},
                         {"type", name_of(spec.type)},
                         {"operation", name_of(spec.reduction)},
                         {"segments", spec.segments},
                         {"node_size", spec.node_size}};
  if (!spec.counts.empty()) json["counts"] = spec.counts;
  return json;
}

Result<CollectiveSpec> collective_spec_from_json(const nlohmann::json& json) {
  CollectiveSpec spec;
  ObjectReader reader(json, "collective");
  std::string name(name_of(spec.kind)), type(name_of(spec.type));
  std::string operation(name_of(spec.reduction));
  reader.read("name", name);
  reader.read("algorithm", spec.algorithm);
  reader.read("ranks", spec.ranks);
  reader.read("bytes", spec.bytes);
  reader.read("root", spec.root);
  reader.read("type", type);
  reader.read("operation", operation);
  reader.read("segments", spec.segments);
  reader.read("node_size", spec.node_size);
  if (!reader.error()) read_counts(reader, json, "counts", spec.counts);
  if (const auto kind = collective_kind(name))
    spec.kind = *kind;
  else
    reader.fail("name",
                message("value-collective", "the name of a collective, such as all_reduce"));
  if (const auto found = data_type_by_name(type))
    spec.type = *found;
  else
    reader.fail("type", join_or({"float32", "float64", "bfloat16", "int32"}));
  if (const auto found = reduction_by_name(operation))
    spec.reduction = *found;
  else
    reader.fail("operation", join_or({"sum", "prod", "min", "max", "avg"}));
  if (reader.error()) return *reader.error();
  return spec;
}

nlohmann::json to_json(const CollectiveChoice& choice) {
  nlohmann::json json = to_json(choice.spec);
  json["topology"] = name_of(choice.topology);
  if (choice.gpus > 0) json["gpus"] = choice.gpus;
  for (const auto& [key, figure] : kLinkFigures)
    if (choice.links.*figure) json[key] = *(choice.links.*figure);
  return json;
}

Result<CollectiveChoice> collective_choice_from_json(const nlohmann::json& json) {
  Result<CollectiveSpec> spec = collective_spec_from_json(json);
  if (!spec) return spec.error();
  CollectiveChoice choice{std::move(*spec), Topology::kMemory};
  ObjectReader reader(json, "collective");
  for (const auto& [key, figure] : kLinkFigures) {
    if (!json.contains(key) || json[key].is_null()) continue;
    reader.read(key, (choice.links.*figure).emplace());
  }
  if (reader.error()) return *reader.error();
  const auto topology = json.find("topology");
  if (topology == json.end()) return choice;
  const auto known = topology->is_string() ? topology_by_name(topology->get<std::string>())
                                           : std::optional<Topology>();
  if (!known)
    return message("collective-topology",
                   "The topology of a collective is switch, ring, torus, two-level or memory.");
  choice.topology = *known;
  return choice;
}

nlohmann::json to_json(const Collective& collective, const Network& network,
                       const CollectiveCost& cost) {
  const CollectiveSpec& spec = collective.spec;
  nlohmann::json json = to_json(spec);
  json["chunks"] = collective.chunks;
  json["steps"] = steps_json(collective);
  json["sent_bytes"] = cost.sent_bytes;
  json["received_bytes"] = cost.received_bytes;
  json["seconds"] = cost.seconds;
  json["algorithm_bandwidth"] = cost.algorithm_bandwidth;
  json["bus_bandwidth"] = cost.bus_bandwidth;
  json["step_seconds"] = cost.step_seconds;
  json["topology"] = name_of(network.topology);
  json["latency_seconds"] = network.latency_seconds;
  json["bytes_per_second"] = network.bytes_per_second;
  nlohmann::json& links = json["links"] = nlohmann::json::array();
  for (const LinkUse& link : cost.links)
    links.push_back({{"name", link.name}, {"bytes", link.bytes}, {"busy", link.busy}});
  nlohmann::json& formulas = json["formulas"] = nlohmann::json::array();
  for (const Formula& formula : formulas_of(collective, network))
    formulas.push_back(formula_json(formula));
  return json;
}

nlohmann::json to_json(const CollectiveObservation& observation) {
  nlohmann::json wrong = nlohmann::json::array();
  for (const WrongCell& cell : observation.wrong)
    wrong.push_back({{"rank", cell.rank},
                     {"element", cell.element},
                     {"expected", cell.expected},
                     {"found", cell.found}});
  nlohmann::json json = {{"source", name_of(observation.source)},
                         {"seconds", observation.seconds},
                         {"seconds_min", observation.seconds_min},
                         {"seconds_max", observation.seconds_max},
                         {"algorithm_bandwidth", observation.algorithm_bandwidth},
                         {"bus_bandwidth", observation.bus_bandwidth},
                         {"correct", observation.correct},
                         {"wrong_cells", observation.wrong_cells},
                         {"wrong", std::move(wrong)},
                         {"sent_bytes", observation.sent_bytes},
                         {"received_bytes", observation.received_bytes},
                         {"timeline", to_json(observation.timeline)}};
  if (!observation.values.first.empty()) {
    json["values"] = {{"steps", observation.values.steps}, {"first", observation.values.first}};
  }
  if (observation.on_gpus) json["on_gpus"] = true;
  if (!observation.ranks_on.empty()) json["ranks_on"] = observation.ranks_on;
  if (!observation.transport.empty()) json["transport"] = observation.transport;
  if (observation.rounding) json["rounding"] = to_json(*observation.rounding);
  return json;
}

Result<CollectiveObservation> collective_observation_from_json(const nlohmann::json& json) {
  CollectiveObservation seen;
  ObjectReader reader(json, "collective observation");
  std::string source;
  reader.read("source", source);
  reader.read("seconds", seen.seconds);
  reader.read("seconds_min", seen.seconds_min);
  reader.read("seconds_max", seen.seconds_max);
  reader.read("algorithm_bandwidth", seen.algorithm_bandwidth);
  reader.read("bus_bandwidth", seen.bus_bandwidth);
  reader.read("correct", seen.correct);
  reader.read("wrong_cells", seen.wrong_cells);
  if (source == name_of(Source::kOversubscribed))
    seen.source = Source::kOversubscribed;
  else if (source == name_of(Source::kSharedGpu))
    seen.source = Source::kSharedGpu;
  else if (source != name_of(Source::kMeasured))
    reader.fail("source", join_or({"measured", "oversubscribed", "shared GPU"}));
  reader.read("on_gpus", seen.on_gpus);
  reader.read("ranks_on", seen.ranks_on);
  reader.read("transport", seen.transport);
  const nlohmann::json* wrong = reader.array("wrong");
  const nlohmann::json* timeline = reader.object("timeline");
  if (!reader.error()) {
    read_counts(reader, json, "sent_bytes", seen.sent_bytes);
    read_counts(reader, json, "received_bytes", seen.received_bytes);
  }
  if (reader.error()) return *reader.error();
  Result<std::vector<WrongCell>> read_wrong = rows_from_json<WrongCell>(
      *wrong, "collective observation.wrong", [](ObjectReader& cell, WrongCell& told) {
        cell.read("rank", told.rank);
        cell.read("element", told.element);
        cell.read("expected", told.expected);
        cell.read("found", told.found);
      });
  if (!read_wrong) return read_wrong.error();
  seen.wrong = std::move(*read_wrong);
  Result<Timeline> read_timeline = timeline_from_json(*timeline);
  if (!read_timeline) return read_timeline.error();
  seen.timeline = std::move(*read_timeline);
  if (json.contains("values")) {
    const nlohmann::json* values = reader.object("values");
    if (reader.error()) return *reader.error();
    ObjectReader inner(*values, "collective observation.values");
    inner.read("steps", seen.values.steps);
    inner.read("first", seen.values.first);
    if (inner.error()) return *inner.error();
  }
  if (json.contains("rounding")) {
    Result<RoundingComparison> rounding = rounding_from_json(json["rounding"]);
    if (!rounding) return rounding.error();
    seen.rounding = std::move(*rounding);
  }
  return seen;
}

nlohmann::json to_json(const CollectiveRequest& request) {
  nlohmann::json json = to_json(request.spec);
  json["repeats"] = request.repeats;
  json["warmup"] = request.warmup;
  json["values"] = request.values;
  if (!request.rounding.empty()) json["rounding"] = request.rounding;
  if (request.backend != Backend::kCpu) json["backend"] = word_of(kBackends, request.backend);
  if (request.devices != "all") json["devices"] = request.devices;
  return json;
}

Result<CollectiveRequest> collective_request_from_json(const nlohmann::json& params) {
  CollectiveRequest request;
  Result<CollectiveSpec> spec = collective_spec_from_json(params);
  if (!spec) return spec.error();
  request.spec = std::move(*spec);
  ObjectReader reader(params, "params");
  reader.read("repeats", request.repeats);
  reader.read("warmup", request.warmup);
  reader.read("values", request.values);
  reader.read("rounding", request.rounding);
  std::string backend(word_of(kBackends, request.backend));
  reader.read("backend", backend);
  reader.read("devices", request.devices);
  if (request.repeats < 1 || request.repeats > 100000)
    reader.fail("repeats", message("value-range", "{} to {}", 1, 100000));
  if (request.warmup < 0 || request.warmup > 100000)
    reader.fail("warmup", message("value-range", "{} to {}", 0, 100000));
  if (reader.error()) return *reader.error();
  Setup setup;
  if (Result<void> set = set_field(setup, "backend", backend); !set) return set.error();
  if (Result<void> set = set_field(setup, "devices", request.devices); !set) return set.error();
  request.backend = setup.run.backend;
  return request;
}

}  // namespace parallelarium

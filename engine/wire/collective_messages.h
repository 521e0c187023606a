// SPDX-License-Identifier: Apache-2.0
// A collective as JSON: the request, what `collective --json` prints, and the answer of a run.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/collectives/observation.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/network/collective_plan.h"

namespace parallelarium {

// {"name","algorithm","ranks","bytes","root","type","operation","segments","node_size","counts"}.
// An absent key has its default. Errors name the key.
nlohmann::json to_json(const CollectiveSpec& spec);
Result<CollectiveSpec> collective_spec_from_json(const nlohmann::json& json);

// The spec's keys, "topology", and those of "latency_seconds", "bytes_per_second",
// "node_latency_seconds" and "node_bytes_per_second" that are set.
nlohmann::json to_json(const CollectiveChoice& choice);
Result<CollectiveChoice> collective_choice_from_json(const nlohmann::json& json);

// The object of `collective NAME --json`, without a run: the plan and its cost, and
// "root", "type", "operation", "chunks", "topology", "latency_seconds", "bytes_per_second",
// "step_seconds", "links", "formulas".
nlohmann::json to_json(const Collective& collective, const Network& network,
                       const CollectiveCost& cost);

// "measured" of `collective NAME --json`, and the answer of the method `collective`. It loses
// nothing.
nlohmann::json to_json(const CollectiveObservation& observation);
Result<CollectiveObservation> collective_observation_from_json(const nlohmann::json& json);

// Parameters of the method `collective`: a spec and {"repeats","warmup","values","rounding",
// "backend","devices"}.
struct CollectiveRequest {
  CollectiveSpec spec;
  int repeats = 20, warmup = 3;
  bool values = false;
  std::string rounding;  // the algorithm to compare the result's bits with; empty: none
  // As in RunSettings, but the default is the CPU, since older windows know nothing else.
  Backend backend = Backend::kCpu;
  std::string devices = "all";
};
Result<CollectiveRequest> collective_request_from_json(const nlohmann::json& params);
nlohmann::json to_json(const CollectiveRequest& request);

}  // namespace parallelarium

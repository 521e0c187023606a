// SPDX-License-Identifier: Apache-2.0
// Setups, runs and cases side by side: their figures, and why the first two differ.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/result.h"
#include "engine/planner/causes.h"

namespace parallelarium {

// What stands in one column: a prediction, or what a run was seen to do.
struct Column {
  std::string name;                // "plan.json", "korthikanti-2022-table-5/175B, full recompute"
  std::string source;              // "predicted", "measured", "paced", ...
  std::string machine;             // whose time it is
  nlohmann::json facts;            // of `predict --json` or `run --json`
  std::optional<StepParts> parts;  // of a prediction
  StepFigures step;
  bool predicted() const { return source == "predicted"; }
};
Column column_of(const std::string& name, const Prediction& prediction);
// Error: the object is no answer of `run --json`.
Result<Column> column_of(const std::string& name, nlohmann::json run);

struct ComparedRow {
  std::string metric, unit;
  std::vector<std::optional<double>> values;  // none: not known, or `why`
  std::vector<std::optional<Message>> why;    // why a value is left out
};
struct SideBySide {
  std::vector<Column> columns;
  std::vector<ComparedRow> rows;  // those of which a column knows something
  std::vector<Cause> causes;      // between the first two
  std::optional<Message> without_causes;
};
// Times of a run stand beside those of other columns only where all are of one machine: durations
// of a rehearsal are set, and a measurement says nothing of other devices.
// Requires: two columns or more.
SideBySide compare_columns(std::vector<Column> columns);

// {"columns", "rows": [{"metric", "unit", "values", "why"}], "causes"}
nlohmann::json to_json(const SideBySide& comparison);

}  // namespace parallelarium

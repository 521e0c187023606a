// SPDX-License-Identifier: Apache-2.0
// Setups, runs and cases side by side: their figures, and why each differs from the first.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/result.h"
#include "engine/planner/reasons/causes.h"
#include "engine/predict/cases/cases.h"

namespace parallelarium {

// What stands in one column: a prediction, or what a run was seen to do.
struct Column {
  std::string name;                // "plan.json", "korthikanti-2022-table-5/175B, full recompute"
  std::string source;              // "predicted", "measured", "paced", ...
  std::string machine;             // whose time it is
  nlohmann::json facts;            // of `predict --json` or `run --json`
  std::optional<StepParts> parts;  // none where only the answer of `run --json` is known
  StepFigures step;
  std::vector<PublishedFigure> published = {};  // of a case's row
  bool predicted() const { return source == "predicted"; }
};
Column column_of(const std::string& name, const Prediction& prediction);
// Of a run of that prediction's Program, with its parts.
Column column_of(const std::string& name, const Prediction& prediction, const Observation& run);
// Error: the object is no answer of `run --json`.
Result<Column> column_of(const std::string& name, nlohmann::json run);

struct ComparedRow {
  std::string metric, unit;
  std::vector<std::optional<double>> values;  // none: not known, or `why`
  std::vector<std::optional<Message>> why;    // why a value is left out
  // Of each column less the first; none of the first, and where a value is left out or not known.
  std::vector<std::optional<double>> differences;
  // Why there is no difference though there may be values: `why`, or that a duration was set.
  std::vector<std::optional<Message>> why_no_difference;
};
// Why the step of a column differs from that of another.
struct Explained {
  std::vector<Cause> causes;
  std::optional<Message> without_causes;  // why nothing can be said
};
// `first` and `second` must be indices of `columns`.
Explained explain_difference(const std::vector<Column>& columns, std::size_t first,
                             std::size_t second);

// That two columns make different global batches, whose steps are different work; none: they do
// not, or it is not known.
std::optional<Message> other_batch(const Column& first, const Column& second);

struct SideBySide {
  std::vector<Column> columns;
  std::vector<ComparedRow> rows;     // those of which a column knows something
  std::vector<Explained> explained;  // of each column against the first; of the first, nothing
  std::vector<Message> remarks;      // what to know before the figures
};
// Times of a run stand beside those of other columns only where all are of one machine: durations
// of a rehearsal are set, and a measurement says nothing of other devices.
// A difference of such durations says nothing either, nor do causes.
// There must be a column or more.
SideBySide compare_columns(std::vector<Column> columns);

// A column of a case has "published": [{"metric", "unit", "value", "predicted", "error", "rates"}].
// {"columns", "rows": [{"metric", "unit", "values", "why", "differences", "why_no_difference"}],
// "causes", "remarks": sentences}. Each column but the first has its own "causes" against the
// first, or says "without_causes" why nothing can be said; those beside "columns" are the second's.
nlohmann::json to_json(const SideBySide& comparison);

}  // namespace parallelarium

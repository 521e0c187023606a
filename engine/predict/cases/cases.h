// SPDX-License-Identifier: Apache-2.0
// Published training runs as data (resources/cases/), so that predictions can be compared with
// them.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "engine/plan/machine/machine.h"
#include "engine/plan/result.h"
#include "engine/plan/setup/setup.h"

namespace parallelarium {

// A published figure of a configuration.
struct CaseFigure {
  std::string metric;    // a name of kCaseMetrics
  double published = 0;  // in the metric's unit
};

// One configuration of a source.
struct CaseRow {
  std::string name;  // "22B, full recompute"
  std::vector<CaseFigure> figures;
  bool fitted = false;     // the rates of its machine were fitted on it; else it was held out
  std::string impossible;  // why it cannot be expressed; empty: it can be
  nlohmann::json asked;    // its Setup as in a file
  Setup setup;             // resolved for `machine`
  Machine machine;
};

// The rows of one table or figure of one source.
struct Case {
  std::string name;    // "korthikanti-2022-table-5", as its file
  std::string title;   // for people
  std::string source;  // "Korthikanti et al. 2022, Table 5"
  std::string url;
  std::vector<std::string> assumed;  // what the source does not say
  std::vector<CaseRow> rows;
};

// A figure that a prediction has, too.
struct CaseMetric {
  const char* name;   // "step_seconds"
  const char* label;  // "step"
  const char* unit;   // "s"
};
inline constexpr CaseMetric kCaseMetrics[] = {
    {"step_seconds", "step", "s"},
    {"tokens_per_second_per_rank", "tokens per GPU", "tokens/s"},
    {"mfu_causal_percent", "MFU, causal", "%"},
    {"layer_forward_ms", "forward of a layer", "ms"},
    {"layer_backward_ms", "backward of a layer", "ms"},
    {"peak_gib", "peak memory", "GiB"},
    {"framework_peak_gib", "peak memory with framework", "GiB"},
    {"states_gib", "model states", "GiB"},
    {"parameters_billion", "parameters", "billion"},
    {"first_stage_activations_gib", "activations of stage 0", "GiB"},
    {"layer_activations_mib", "activations of a layer", "MiB"},
};
const CaseMetric& metric_of(const CaseFigure& figure);

// All cases, sorted by name: read once, since shipped files do not change. Error: a file is broken.
const Result<std::vector<Case>>& all_cases();
// Error: "case-unknown" lists the names.
Result<Case> find_case(const std::string& name);

// What is predicted of a row.
struct CasePrediction {
  std::vector<double> values;  // of each figure, in the metric's unit
  // A rank needs more memory than its device has, though the row was published as run.
  std::optional<Message> too_large;
};
// Errors: those of predict().
Result<CasePrediction> predict_case(const CaseRow& row);
// The same as a search counts memory: without what PyTorch's allocator reserves
// (MemoryRow::reserved_bytes). Each row is predicted once, since searches on many machines ask for
// the same rows.
Result<CasePrediction> predict_case_as_in_search(const CaseRow& row);

// Seconds of the step that the row publishes, or that follow from its tokens per second or its
// share of the peak. 0: it publishes none of these. Errors: those of predict().
Result<double> published_seconds(const CaseRow& row);

// A published figure of a row beside the predicted one.
struct PublishedFigure {
  CaseFigure figure;
  double predicted = 0;  // in the metric's unit
  bool fitted = false;   // the machine's rates were fitted on the row
  double error() const { return predicted / figure.published - 1; }
};
Result<std::vector<PublishedFigure>> published_beside(const CaseRow& row);

}  // namespace parallelarium

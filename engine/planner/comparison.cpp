// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/comparison.h"

#include <algorithm>

#include "engine/predict/figure_at.h"

namespace parallelarium {

namespace {

using nlohmann::json;

struct RowRule {
  const char* metric;  // its key in predict --json and run --json
  const char* unit;
  bool time = false;
};
constexpr RowRule kRows[] = {
    {"ranks", ""},
    {"step.seconds", "seconds", true},
    {"step.compute_seconds", "seconds", true},
    {"step.exposed_communication_seconds", "seconds", true},
    {"step.tokens_per_second", "tokens/s", true},
    {"step.mfu", "1", true},
    {"bubble.of_total", "1", true},
    {"memory.ranks.*.peak_bytes", "bytes"},
    {"memory.ranks.*.parameters_bytes", "bytes"},
    {"memory.ranks.*.gradients_bytes", "bytes"},
    {"memory.ranks.*.optimizer_bytes", "bytes"},
    {"memory.ranks.*.activations_bytes", "bytes"},
    {"memory.ranks.*.buffers_bytes", "bytes"},
    {"memory.capacity_bytes", "bytes"},
    {"traffic.tp.sent_bytes", "bytes"},
    {"traffic.cp.sent_bytes", "bytes"},
    {"traffic.ep.sent_bytes", "bytes"},
    {"traffic.pp.sent_bytes", "bytes"},
    {"traffic.dp.sent_bytes", "bytes"},
};

std::string machine_title(const json& facts) {
  const auto machine = facts.find("machine");
  if (machine == facts.end()) return {};
  if (machine->is_string()) return machine->get<std::string>();
  return machine->is_object() ? machine->value("title", machine->value("name", "")) : "";
}

StepFigures figures_of(const json& facts) {
  StepFigures step;
  step.seconds = figure_at(facts, "step.seconds").value_or(0);
  step.compute_seconds = figure_at(facts, "step.compute_seconds").value_or(0);
  step.exposed_communication_seconds =
      figure_at(facts, "step.exposed_communication_seconds").value_or(0);
  return step;
}

// Why the times of a column may not stand beside those of the others.
std::optional<Message> why_no_times(const std::vector<Column>& columns, const Column& column) {
  if (column.predicted()) return std::nullopt;
  const bool one_machine = std::all_of(columns.begin(), columns.end(), [&](const Column& other) {
    return other.machine == column.machine;
  });
  if (one_machine) return std::nullopt;
  if (column.source == "paced")
    return message("compare-rehearsal",
                   "The durations of this rehearsal were set as predicted for {}, and another "
                   "column is of another machine.",
                   column.machine);
  return message("compare-machine", "This run is of {}, and another column is of another machine.",
                 column.machine);
}

}  // namespace

Column column_of(const std::string& name, const Prediction& prediction) {
  Column column;
  column.name = name;
  column.source = "predicted";
  column.facts = to_json(prediction);
  column.machine = machine_title(column.facts);
  column.parts = parts_of(prediction);
  column.step = prediction.step;
  return column;
}

Result<Column> column_of(const std::string& name, json run) {
  const auto source = run.find("source");
  if (!run.is_object() || source == run.end() || !source->is_string() ||
      !figure_at(run, "step.seconds"))
    return message("compare-no-run", "{} is neither a Setup nor what `run --json` printed.", name);
  Column column;
  column.name = name;
  column.source = source->get<std::string>();
  column.machine = machine_title(run);
  column.step = figures_of(run);
  column.facts = std::move(run);
  return column;
}

SideBySide compare_columns(std::vector<Column> columns) {
  SideBySide beside;
  for (const RowRule& rule : kRows) {
    ComparedRow row{rule.metric, rule.unit, {}, {}};
    for (const Column& column : columns) {
      std::optional<Message> why = rule.time ? why_no_times(columns, column) : std::nullopt;
      row.values.push_back(why ? std::nullopt : figure_at(column.facts, rule.metric));
      row.why.push_back(std::move(why));
    }
    const bool known = std::any_of(row.values.begin(), row.values.end(),
                                   [](const auto& value) { return value.has_value(); });
    if (known) beside.rows.push_back(std::move(row));
  }
  const Column& first = columns[0];
  const Column& second = columns[1];
  std::optional<Message> against = why_no_times(columns, first);
  if (!against) against = why_no_times(columns, second);
  if (against)
    beside.without_causes = std::move(against);
  else if (first.parts && second.parts)
    beside.causes =
        causes_of(*first.parts, *second.parts, second.step.seconds - first.step.seconds);
  else
    beside.causes = causes_of(first.step, second.step);
  beside.columns = std::move(columns);
  return beside;
}

json to_json(const SideBySide& beside) {
  json columns = json::array(), rows = json::array();
  for (const Column& column : beside.columns)
    columns.push_back(
        {{"name", column.name}, {"source", column.source}, {"machine", column.machine}});
  for (const ComparedRow& row : beside.rows) {
    json values = json::array(), why = json::array();
    for (std::size_t at = 0; at < row.values.size(); ++at) {
      values.push_back(row.values[at] ? json(*row.values[at]) : json(nullptr));
      why.push_back(row.why[at] ? json(row.why[at]->text) : json(nullptr));
    }
    rows.push_back({{"metric", row.metric},
                    {"unit", row.unit},
                    {"values", std::move(values)},
                    {"why", std::move(why)}});
  }
  json all = {{"columns", std::move(columns)},
              {"rows", std::move(rows)},
              {"causes", to_json(beside.causes)}};
  if (beside.without_causes) all["without_causes"] = beside.without_causes->text;
  return all;
}

}  // namespace parallelarium

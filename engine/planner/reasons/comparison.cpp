// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/reasons/comparison.h"

#include <algorithm>

#include "engine/plan/machine/machine.h"
#include "engine/predict/cases/figure_at.h"
#include "engine/predict/cost/simulate.h"

namespace parallelarium {

namespace {

using nlohmann::json;

// What a figure follows from, of which a rehearsal sets durations and observes who waits for whom.
enum class Follows { kPlan, kDurations, kWaiting };

struct RowRule {
  const char* metric;  // its key in predict --json and run --json
  const char* unit;
  Follows from = Follows::kPlan;
};
constexpr RowRule kRows[] = {
    {"ranks", ""},
    {"step.seconds", "seconds", Follows::kDurations},
    {"step.compute_seconds", "seconds", Follows::kDurations},
    {"step.exposed_communication_seconds", "seconds", Follows::kDurations},
    {"step.tokens_per_second", "tokens/s", Follows::kDurations},
    {"step.mfu", "1", Follows::kDurations},
    {"bubble.of_total", "1", Follows::kWaiting},
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

constexpr std::string_view kExposed = "step.exposed_communication_seconds";

Follows follows_from(std::string_view metric) {
  if (metric.starts_with("exposed_seconds")) return Follows::kDurations;
  const auto* rule = std::find_if(std::begin(kRows), std::end(kRows),
                                  [&](const RowRule& row) { return metric == row.metric; });
  return rule == std::end(kRows) ? Follows::kPlan : rule->from;
}

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

// None: the column knows no Setup, as an older answer of `run --json` may.
std::optional<Setup> setup_of(const Column& column) {
  const auto told = column.facts.find("setup");
  if (told == column.facts.end()) return std::nullopt;
  Result<Setup> setup = setup_from_json(*told);
  return setup ? std::optional(std::move(*setup)) : std::nullopt;
}

// Whether the lanes of the column's ranks share a core, by the rule that predictions go by.
bool lanes_share_core(const Column& column) {
  const std::optional<Setup> setup = setup_of(column);
  return setup && setup->machine == "local" && setup->run.backend != Backend::kCuda &&
         sharing_of(*setup, uncalibrated_local_machine()) == Sharing::kCore;
}

// A rehearsal of this computer's cores beside what ranks that share them do, or would.
bool only_one_has_cores(const Column& first, const Column& second) {
  const bool rehearsed = first.source == "paced";
  const Column &rehearsal = rehearsed ? first : second, &other = rehearsed ? second : first;
  if (rehearsal.source != "paced" || other.source == "paced") return false;
  const std::optional<Setup> set = setup_of(rehearsal);
  return set && set->machine == "local" && lanes_share_core(other);
}

// Why a figure of `column` less that of `first` would say nothing.
std::optional<Message> why_no_difference(const std::vector<Column>& columns, const Column& first,
                                         const Column& column, Follows from) {
  if (from == Follows::kPlan) return std::nullopt;
  for (const Column* one : {&first, &column})
    if (std::optional<Message> why = why_no_times(columns, *one)) return why;
  if (from == Follows::kWaiting) return std::nullopt;
  if (only_one_has_cores(first, column))
    return message("compare-set-cores",
                   "The durations of {} were set as predicted, so that a difference of them says "
                   "nothing. One cause is known: the rehearsal gave every lane of a rank a core of "
                   "its own, and without it the lanes of a rank share one.",
                   first.source == "paced" ? first.name : column.name);
  for (const Column* one : {&first, &column})
    if (one->source == "paced")
      return message(
          "compare-set",
          "The durations of {} were set as predicted: a difference of them says nothing.",
          one->name);
  return std::nullopt;
}

// What is exposed along each axis that a column exposes anything of.
void add_exposed(std::vector<ComparedRow>& rows, const std::vector<Column>& columns) {
  for (std::size_t axis = 0; axis < std::tuple_size_v<decltype(StepParts::exposed)>; ++axis) {
    ComparedRow row{"exposed_seconds." + std::string(name_of(static_cast<Axis>(axis))),
                    "seconds",
                    {},
                    {},
                    {},
                    {}};
    bool any = false;
    for (const Column& column : columns) {
      std::optional<Message> why = why_no_times(columns, column);
      const bool known = column.parts && !why;
      row.values.push_back(known ? std::optional(column.parts->exposed[axis]) : std::nullopt);
      row.why.push_back(std::move(why));
      any = any || (known && column.parts->exposed[axis] > 0);
    }
    if (any) rows.push_back(std::move(row));
  }
}

void add_differences(ComparedRow& row, const std::vector<Column>& columns) {
  for (std::size_t at = 0; at < columns.size(); ++at) {
    std::optional<Message> why =
        at > 0 ? why_no_difference(columns, columns[0], columns[at], follows_from(row.metric))
               : std::nullopt;
    const bool both = at > 0 && !why && row.values[0] && row.values[at];
    row.differences.push_back(both ? std::optional(*row.values[at] - *row.values[0])
                                   : std::nullopt);
    row.why_no_difference.push_back(std::move(why));
  }
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

Column column_of(const std::string& name, const Prediction& prediction, const Observation& run) {
  Column column;
  column.name = name;
  column.source = name_of(run.source);
  column.machine = run.machine;
  column.parts = parts_of(prediction, run.timeline);
  column.step = run.step;
  column.facts = to_json(prediction);
  column.facts["step"] = to_json(run.step, true);
  column.facts["bubble"] = to_json(run.bubble);
  json memory = json::array();
  for (const MemoryRow& row : run.memory) memory.push_back(to_json(row));
  column.facts["memory"]["ranks"] = std::move(memory);
  column.facts["traffic"] = run.traffic.empty() ? json::array() : to_json(run.traffic[0]);
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

std::optional<Message> other_batch(const Column& first, const Column& second) {
  const std::optional<Setup> one = setup_of(first), other = setup_of(second);
  if (!one || !other) return std::nullopt;
  const std::int64_t before = one->global_batch(), after = other->global_batch();
  if (before == after) return std::nullopt;
  return message("compare-batch",
                 "{} makes a global batch of {}, not {} as {}: a step of it is other work, and "
                 "tokens/s compare, not steps.",
                 second.name, after, before, first.name);
}

Explained explain_difference(const std::vector<Column>& columns, std::size_t first,
                             std::size_t second) {
  const Column &from = columns[first], &to = columns[second];
  if (std::optional<Message> against = why_no_difference(columns, from, to, Follows::kDurations))
    return {{}, std::move(against)};
  if (from.parts && to.parts)
    return {causes_of(*from.parts, *to.parts, to.step.seconds - from.step.seconds), std::nullopt};
  return {causes_of(from.step, to.step), std::nullopt};
}

SideBySide compare_columns(std::vector<Column> columns) {
  SideBySide beside;
  for (const RowRule& rule : kRows) {
    ComparedRow row{rule.metric, rule.unit, {}, {}, {}, {}};
    for (const Column& column : columns) {
      std::optional<Message> why =
          rule.from == Follows::kPlan ? std::nullopt : why_no_times(columns, column);
      row.values.push_back(why ? std::nullopt : figure_at(column.facts, rule.metric));
      row.why.push_back(std::move(why));
    }
    // What no column sends is left out.
    const bool sent = row.metric.starts_with("traffic.");
    const bool known = std::any_of(row.values.begin(), row.values.end(), [&](const auto& value) {
      return value && (!sent || *value > 0);
    });
    if (known) beside.rows.push_back(std::move(row));
    if (std::string_view(rule.metric) == kExposed) add_exposed(beside.rows, columns);
  }
  for (ComparedRow& row : beside.rows) add_differences(row, columns);
  beside.explained.resize(1);
  for (std::size_t at = 1; at < columns.size(); ++at) {
    beside.explained.push_back(explain_difference(columns, 0, at));
    if (std::optional<Message> other = other_batch(columns[0], columns[at]))
      beside.remarks.push_back(std::move(*other));
  }
  beside.columns = std::move(columns);
  return beside;
}

namespace {

json list_of(const std::vector<std::optional<double>>& values) {
  json list = json::array();
  for (const auto& value : values) list.push_back(value ? json(*value) : json(nullptr));
  return list;
}

json list_of(const std::vector<std::optional<Message>>& sentences) {
  json list = json::array();
  for (const auto& one : sentences) list.push_back(one ? json(one->text) : json(nullptr));
  return list;
}

void put_explained(json& into, const Explained& explained) {
  into["causes"] = to_json(explained.causes);
  if (explained.without_causes) into["without_causes"] = explained.without_causes->text;
}

}  // namespace

json to_json(const SideBySide& beside) {
  json columns = json::array(), rows = json::array();
  for (std::size_t at = 0; at < beside.columns.size(); ++at) {
    const Column& column = beside.columns[at];
    columns.push_back(
        {{"name", column.name}, {"source", column.source}, {"machine", column.machine}});
    if (const auto rates = column.facts.find("communication");
        column.predicted() && rates != column.facts.end())
      columns.back()["communication"] = *rates;
    for (const PublishedFigure& each : column.published)
      columns.back()["published"].push_back({{"metric", each.figure.metric},
                                             {"unit", metric_of(each.figure).unit},
                                             {"value", each.figure.published},
                                             {"predicted", each.predicted},
                                             {"error", each.error()},
                                             {"rates", each.fitted ? "fitted" : "held_out"}});
    if (at > 0) put_explained(columns.back(), beside.explained[at]);
  }
  for (const ComparedRow& row : beside.rows) {
    rows.push_back({{"metric", row.metric},
                    {"unit", row.unit},
                    {"values", list_of(row.values)},
                    {"why", list_of(row.why)},
                    {"differences", list_of(row.differences)},
                    {"why_no_difference", list_of(row.why_no_difference)}});
  }
  json all = {{"columns", std::move(columns)},
              {"rows", std::move(rows)},
              {"causes", json::array()},
              {"remarks", json::array()}};
  for (const Message& remark : beside.remarks) all["remarks"].push_back(remark.text);
  if (beside.columns.size() > 1) put_explained(all, beside.explained[1]);
  return all;
}

}  // namespace parallelarium

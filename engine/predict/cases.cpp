// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cases.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/plan/machine/presets.h"
#include "engine/plan/machine/resolve.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"
#include "engine/predict/predict.h"

namespace parallelarium {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;
constexpr std::string_view kFolder = "cases/";

// A row's setup changes that of the whole case, key by key.
nlohmann::json setup_of_row(nlohmann::json common, const nlohmann::json& row) {
  if (row.contains("setup")) common.merge_patch(row.at("setup"));
  return common;
}

Result<Situation> situation_of_json(const nlohmann::json& json) {
  const Result<Setup> asked = setup_from_json(json);
  if (!asked) return asked.error();
  return situation_of(*asked, Computer());
}

Result<Case> read_case(const std::string& name, std::string_view content) {
  const Result<nlohmann::json> parsed = parse_json(content);
  if (!parsed) return parsed.error();
  const nlohmann::json& json = *parsed;
  Case read;
  read.name = name;
  read.title = json.at("title");
  read.source = json.at("source");
  read.url = json.value("url", "");
  read.assumed = json.value("assumed", std::vector<std::string>());
  for (const nlohmann::json& entry : json.at("rows")) {
    CaseRow row;
    row.name = entry.at("name");
    row.fitted = entry.value("fitted", false);
    row.impossible = entry.value("impossible", "");
    if (row.impossible.empty()) {
      row.asked = setup_of_row(json.at("setup"), entry);
      Result<Situation> situation = situation_of_json(row.asked);
      if (!situation) {
        Message why = situation.error();
        why.text = fmt::format("{}, {}: {}", name, row.name, why.text);
        return why;
      }
      row.setup = std::move(situation->setup);
      row.machine = std::move(situation->machine);
    }
    for (const auto& [metric, value] : entry.at("published").items())
      row.figures.push_back({metric, value});
    read.rows.push_back(std::move(row));
  }
  return read;
}

}  // namespace

const CaseMetric& metric_of(const CaseFigure& figure) {
  return *std::find_if(std::begin(kCaseMetrics), std::prev(std::end(kCaseMetrics)),
                       [&](const CaseMetric& metric) { return figure.metric == metric.name; });
}

Result<std::vector<Case>> all_cases() {
  std::vector<Case> cases;
  for (const EmbeddedFile& file : embedded_files()) {
    if (!file.path.starts_with(kFolder)) continue;
    std::string name(file.path.substr(kFolder.size()));
    name.resize(name.size() - std::string_view(".json").size());
    Result<Case> read = read_case(name, file.content);
    if (!read) return read.error();
    cases.push_back(std::move(*read));
  }
  return cases;
}

Result<Case> find_case(const std::string& name) {
  Result<std::vector<Case>> cases = all_cases();
  if (!cases) return cases.error();
  std::vector<std::string> names;
  for (Case& one : *cases) {
    if (one.name == name) return std::move(one);
    names.push_back(one.name);
  }
  const std::string near = nearest(name, names);
  Message error =
      message("case-unknown", "There is no case “{}”{}; there are {}.", shown(name),
              near.empty() ? "" : " (" + near + "?)", fmt::format("{}", fmt::join(names, ", ")));
  error.alternatives = names;
  return error;
}

Result<std::vector<double>> predict_case(const CaseRow& row) {
  const Result<Prediction> prediction = predict(row.setup, row.machine);
  if (!prediction) return prediction.error();
  const auto predicted = [&](const std::string& metric) {
    if (metric == "step_seconds") return prediction->step.seconds;
    if (metric == "mfu_causal_percent") return 100 * prediction->step.mfu_causal;
    if (metric == "peak_gib") return static_cast<double>(prediction->needed_bytes) / kGib;
    return static_cast<double>(kept_activation_bytes(prediction->program.ranks.front())) / kGib;
  };
  std::vector<double> values;
  for (const CaseFigure& figure : row.figures) values.push_back(predicted(figure.metric));
  return values;
}

}  // namespace parallelarium

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
Result<Situation> situation_of_row(const nlohmann::json& common, const nlohmann::json& row) {
  nlohmann::json json = common;
  if (row.contains("setup")) json.merge_patch(row.at("setup"));
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
      Result<Situation> situation = situation_of_row(json.at("setup"), entry);
      if (!situation) {
        Message why = situation.error();
        why.text = fmt::format("{}, {}: {}", name, row.name, why.text);
        return why;
      }
      row.setup = std::move(situation->setup);
      row.machine = std::move(situation->machine);
    }
    for (const auto& [metric, value] : entry.at("published").items()) {
      row.metric = metric;
      row.published = value;
      read.rows.push_back(row);
    }
  }
  return read;
}

}  // namespace

const CaseMetric& metric_of(const CaseRow& row) {
  return *std::find_if(std::begin(kCaseMetrics), std::prev(std::end(kCaseMetrics)),
                       [&](const CaseMetric& metric) { return row.metric == metric.name; });
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

Result<CaseResult> predict_case(const CaseRow& row) {
  const Result<Prediction> prediction = predict(row.setup, row.machine);
  if (!prediction) return prediction.error();
  CaseResult result;
  if (row.metric == "step_seconds") {
    result.predicted = prediction->step.seconds;
  } else if (row.metric == "peak_gib") {
    result.predicted = static_cast<double>(prediction->needed_bytes) / kGib;
  } else {
    const MemoryRow& first = prediction->memory.front();
    result.predicted =
        static_cast<double>(first.bytes[static_cast<int>(Category::kActivations)]) / kGib;
  }
  result.error = result.predicted / row.published - 1;
  return result;
}

}  // namespace parallelarium

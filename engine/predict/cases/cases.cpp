// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cases/cases.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "engine/plan/machine/presets.h"
#include "engine/plan/placement/resolve.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"
#include "engine/plan/text/phrases.h"
#include "engine/plan/text/units.h"
#include "engine/predict/predict.h"
#include "engine/predict/predict_steps.h"
#include "engine/predict/repeats/step_prediction.h"

namespace parallelarium {
namespace {

constexpr double kMib = 1024.0 * 1024.0, kGib = 1024.0 * kMib;
constexpr std::string_view kFolder = "cases/";

std::vector<const EmbeddedFile*> case_files() {
  std::vector<const EmbeddedFile*> files;
  for (const EmbeddedFile& file : embedded_files())
    if (file.path.starts_with(kFolder)) files.push_back(&file);
  return files;
}

// "korthikanti-2022-table-5"
std::string name_of(const EmbeddedFile& file) {
  std::string name(file.path.substr(kFolder.size()));
  name.resize(name.size() - std::string_view(".json").size());
  return name;
}

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

// The layer that stands for all: one in the middle, whose neighbours are alike.
int middle_layer(const RankProgram& rank) { return rank.layers[rank.layers.size() / 2]; }

// From the first op of that layer and direction to the end of the last, of one micro-batch.
double layer_ms(const Prediction& prediction, bool forward) {
  const RankProgram& rank = prediction.program.ranks.front();
  const auto& spans = prediction.timeline.ranks.front().spans;
  Nanoseconds begin = Nanoseconds::max(), end{0};
  for (std::size_t at = 0; at < rank.ops.size(); ++at) {
    const Op& op = rank.ops[at];
    if (op.layer != middle_layer(rank) || op.microbatch != 0 || op.lane != Lane::kCompute) continue;
    if ((op.phase == Phase::kForward) != forward) continue;
    begin = std::min(begin, spans[at].begin);
    end = std::max(end, spans[at].end);
  }
  return begin > end ? 0 : 1e-6 * static_cast<double>((end - begin).count());
}

// What that layer keeps of a micro-batch from its forward to its backward.
double kept_mib(const Prediction& prediction) {
  const RankProgram& rank = prediction.program.ranks.front();
  double bytes = 0;
  for (const Buffer& buffer : rank.buffers) {
    if (buffer.category != Category::kActivations || buffer.layer != middle_layer(rank)) continue;
    if (buffer.microbatch != 0 || buffer.opened_by < 0) continue;
    const auto phase_of = [&](std::int32_t op) {
      return rank.ops[static_cast<std::size_t>(op)].phase;
    };
    if (phase_of(buffer.opened_by) == Phase::kForward &&
        phase_of(buffer.closed_by) != Phase::kForward)
      bytes += static_cast<double>(buffer.bytes);
  }
  return bytes / kMib;
}

double states_gib(const Prediction& prediction) {
  double most = 0;
  for (const MemoryRow& row : prediction.memory) {
    double states = 0;
    for (const Category of : {Category::kParameters, Category::kGradients, Category::kOptimizer})
      states += static_cast<double>(row.bytes[static_cast<int>(of)]);
    most = std::max(most, states);
  }
  return most / kGib;
}

// Of the fullest rank, with what PyTorch or Megatron-LM holds there.
double framework_peak_gib(const Prediction& prediction) {
  std::int64_t most = 0;
  for (const MemoryRow& row : prediction.memory) most = std::max(most, row.bytes_with_framework());
  return static_cast<double>(most) / kGib;
}

// Whether a metric is read from the ops and buffers of a layer. A prediction of whole stages has
// none of them; it takes a tenth of the time.
bool is_of_pieces(std::string_view metric) {
  return metric.starts_with("layer_") || metric == "first_stage_activations_gib";
}

Result<Prediction> predict_stages(const Setup& setup, const Machine& machine) {
  Result<StepPrediction> step = predict_step(setup, machine);
  if (!step) return step.error();
  add_step_figures(*step);
  return std::move(step->prediction);
}

double value_of(std::string_view metric, const Prediction& prediction) {
  if (metric == "step_seconds") return prediction.step.seconds;
  if (metric == "tokens_per_second_per_rank")
    return prediction.step.tokens_per_second / prediction.setup.mesh.ranks();
  if (metric == "mfu_causal_percent") return 100 * prediction.step.mfu_causal;
  if (metric == "layer_forward_ms") return layer_ms(prediction, true);
  if (metric == "layer_backward_ms") return layer_ms(prediction, false);
  if (metric == "peak_gib") return static_cast<double>(prediction.needed_bytes) / kGib;
  if (metric == "framework_peak_gib") return framework_peak_gib(prediction);
  if (metric == "states_gib") return states_gib(prediction);
  if (metric == "parameters_billion")
    return 1e-9 * static_cast<double>(prediction.parameters.total);
  if (metric == "layer_activations_mib") return kept_mib(prediction);
  return static_cast<double>(kept_activation_bytes(prediction.program.ranks.front())) / kGib;
}

Result<CasePrediction> predict_row(const CaseRow& row, bool as_in_search) {
  const bool pieces = std::any_of(row.figures.begin(), row.figures.end(),
                                  [](const auto& figure) { return is_of_pieces(figure.metric); });
  Result<Prediction> prediction =
      pieces ? predict(row.setup, row.machine) : predict_stages(row.setup, row.machine);
  if (!prediction) return prediction.error();
  if (!pieces && !as_in_search) add_reserved(*prediction);
  CasePrediction of;
  for (const CaseFigure& figure : row.figures)
    of.values.push_back(value_of(figure.metric, *prediction));
  if (!prediction->fits())
    of.too_large = message("case-too-large", "It is predicted not to fit: a rank needs {} of {}.",
                           figure(bytes_text(static_cast<double>(prediction->needed_bytes))),
                           figure(bytes_text(static_cast<double>(prediction->capacity_bytes))));
  return of;
}

}  // namespace

const CaseMetric& metric_of(const CaseFigure& figure) {
  return *std::find_if(std::begin(kCaseMetrics), std::prev(std::end(kCaseMetrics)),
                       [&](const CaseMetric& metric) { return figure.metric == metric.name; });
}

const Result<std::vector<Case>>& all_cases() {
  static const Result<std::vector<Case>> read = []() -> Result<std::vector<Case>> {
    std::vector<Case> cases;
    for (const EmbeddedFile* file : case_files()) {
      Result<Case> one = read_case(name_of(*file), file->content);
      if (!one) return one.error();
      cases.push_back(std::move(*one));
    }
    return cases;
  }();
  return read;
}

Result<Case> find_case(const std::string& name) {
  std::vector<std::string> names;
  for (const EmbeddedFile* file : case_files()) {
    names.push_back(name_of(*file));
    if (names.back() == name) return read_case(name, file->content);
  }
  const std::string near = nearest(name, names);
  Message error =
      message("case-unknown", "There is no case “{}”{}; there are {}.", shown(name),
              near.empty() ? "" : " (" + near + "?)", fmt::format("{}", fmt::join(names, ", ")));
  error.alternatives = names;
  return error;
}

Result<CasePrediction> predict_case(const CaseRow& row) { return predict_row(row, false); }

Result<CasePrediction> predict_case_as_in_search(const CaseRow& row) {
  static std::mutex known_mutex;
  static std::map<std::string, Result<CasePrediction>> known;
  std::string key = to_json(row.setup).dump() + to_json(row.machine).dump();
  for (const CaseFigure& figure : row.figures) key += figure.metric + " ";
  {
    const std::lock_guard lock(known_mutex);
    if (const auto found = known.find(key); found != known.end()) return found->second;
  }
  Result<CasePrediction> made = predict_row(row, true);  // others predict beside it
  const std::lock_guard lock(known_mutex);
  return known.try_emplace(std::move(key), std::move(made)).first->second;
}

Result<double> published_seconds(const CaseRow& row) {
  const Setup& setup = row.setup;
  const double tokens = static_cast<double>(setup.global_batch() * setup.model.sequence);
  for (const CaseFigure& figure : row.figures) {
    if (figure.metric == "step_seconds") return figure.published;
    if (figure.metric == "tokens_per_second_per_rank")
      return tokens / (figure.published * setup.mesh.ranks());
    if (figure.metric != "mfu_causal_percent") continue;
    const Result<Prediction> prediction = predict_stages(setup, row.machine);
    if (!prediction) return prediction.error();
    const double share = 100 * prediction->step.mfu_causal;
    return prediction->step.seconds * share / figure.published;
  }
  return 0;
}

Result<std::vector<PublishedFigure>> published_beside(const CaseRow& row) {
  const Result<CasePrediction> predicted = predict_case(row);
  if (!predicted) return predicted.error();
  std::vector<PublishedFigure> figures;
  for (std::size_t at = 0; at < row.figures.size(); ++at)
    figures.push_back({row.figures[at], predicted->values[at], row.fitted});
  return figures;
}

}  // namespace parallelarium

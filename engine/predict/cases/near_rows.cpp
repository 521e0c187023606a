// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cases/near_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>

#include "engine/plan/placement/parallel.h"

namespace parallelarium {
namespace {

// None: it is of no kind.
std::optional<NearRows::Of> kind_of(const CaseRow& row, const Setup& setup,
                                    const Machine& machine) {
  if (row.fitted || !row.impossible.empty() ||
      row.machine.half_flops_per_second.value != machine.half_flops_per_second.value)
    return std::nullopt;
  Model same = row.setup.model;
  same.sequence = setup.model.sequence;
  if (same == setup.model)
    return row.setup.products == setup.products ? NearRows::Of::kModel : NearRows::Of::kOtherTypes;
  const bool alike = (same.experts.count > 0) == (setup.model.experts.count > 0);
  return alike ? std::optional(NearRows::Of::kLikeModels) : std::nullopt;
}

// None where the row publishes no step, or it cannot be predicted.
std::optional<double> predicted_over_published(const CaseRow& row) {
  const auto of_step = [](const CaseFigure& figure) {
    return figure.metric == "step_seconds" || figure.metric == "tokens_per_second_per_rank" ||
           figure.metric == "mfu_causal_percent";
  };
  const auto figure = std::find_if(row.figures.begin(), row.figures.end(), of_step);
  if (figure == row.figures.end()) return std::nullopt;
  const Result<CasePrediction> predicted = predict_case_as_in_search(row);
  if (!predicted) return std::nullopt;
  const double ratio =
      predicted->values[static_cast<std::size_t>(figure - row.figures.begin())] / figure->published;
  return figure->metric == "step_seconds" ? ratio : 1 / ratio;
}

Message side_of(double ratio) {
  // A tenth of a percent: predictions are not better than that.
  const Message share = figure(fmt::format("{:.1f} %", 100 * std::abs(ratio - 1)));
  return ratio < 1 ? message("near-rows-fast", "{} too fast", share)
                   : message("near-rows-slow", "{} too slow", share);
}

}  // namespace

std::optional<NearRows> near_rows(const std::vector<Case>& cases, const Setup& setup,
                                  const Machine& machine) {
  for (const auto wanted :
       {NearRows::Of::kModel, NearRows::Of::kOtherTypes, NearRows::Of::kLikeModels}) {
    std::vector<const CaseRow*> rows;
    for (const Case& of : cases)
      for (const CaseRow& row : of.rows)
        if (kind_of(row, setup, machine) == wanted) rows.push_back(&row);
    std::vector<std::optional<double>> ratios(rows.size());
    in_parallel(rows.size(),
                [&](std::size_t at) { ratios[at] = predicted_over_published(*rows[at]); });
    NearRows near;
    near.of = wanted;
    for (const std::optional<double>& ratio : ratios) {
      if (!ratio) continue;
      near.least = near.rows == 0 ? *ratio : std::min(near.least, *ratio);
      near.most = std::max(near.most, *ratio);
      ++near.rows;
    }
    if (near.rows > 0) return near;
  }
  return std::nullopt;
}

Message words_of(const NearRows& near, const Model& model) {
  const Message title = title_of(model), least = side_of(near.least), most = side_of(near.most);
  const bool one = near.rows == 1;
  switch (near.of) {
    case NearRows::Of::kModel:
      return one ? message("near-row",
                           "One published row is of {} on such GPUs: it is predicted {}.", title,
                           least)
                 : message("near-rows",
                           "{} published rows are of {} on such GPUs: they are predicted from {} "
                           "to {}.",
                           near.rows, title, least, most);
    case NearRows::Of::kOtherTypes:
      return one ? message("near-row-types",
                           "One published row is of {} on such GPUs, with products of another "
                           "type: it is predicted {}.",
                           title, least)
                 : message("near-rows-types",
                           "{} published rows are of {} on such GPUs, with products of other "
                           "types: they are predicted from {} to {}.",
                           near.rows, title, least, most);
    case NearRows::Of::kLikeModels:
      break;
  }
  const Message kind = model.experts.count > 0 ? message("near-rows-experts", "with experts")
                                               : message("near-rows-dense", "without experts");
  return one ? message("near-row-like",
                       "No published row is of {} on such GPUs, but one is of another model {}: it "
                       "is predicted {}.",
                       title, kind, least)
             : message("near-rows-like",
                       "No published row is of {} on such GPUs, but {} are of other models {}: "
                       "they are predicted from {} to {}.",
                       title, near.rows, kind, least, most);
}

// Shipped rows do not change, and their predictions take a second.
std::optional<Message> near_rows_said(const Setup& setup, const Machine& machine) {
  static std::mutex known_mutex;
  static std::map<std::tuple<double, std::string, ProductType>, std::optional<NearRows>> known;
  Model model = setup.model;
  model.sequence = 1;  // whichever it is, the rows are the same
  const std::lock_guard lock(known_mutex);
  const std::tuple key(machine.half_flops_per_second.value, to_json(model).dump(), setup.products);
  auto found = known.find(key);
  if (found == known.end()) {
    const Result<std::vector<Case>>& cases = all_cases();
    if (!cases) return std::nullopt;
    found = known.emplace(key, near_rows(*cases, setup, machine)).first;
  }
  return found->second ? std::optional(words_of(*found->second, setup.model)) : std::nullopt;
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cases/near_rows.h"

#include <algorithm>
#include <cmath>

#include "engine/plan/text/units.h"

namespace parallelarium {
namespace {

bool is_near(const CaseRow& row, const Setup& setup, const Machine& machine) {
  if (row.fitted || !row.impossible.empty() || row.setup.products != setup.products) return false;
  Model same = row.setup.model;
  same.sequence = setup.model.sequence;
  return same == setup.model &&
         row.machine.half_flops_per_second.value == machine.half_flops_per_second.value;
}

// None where the row publishes no step, or it cannot be predicted.
std::optional<double> predicted_over_published(const CaseRow& row) {
  const auto of_step = [](const CaseFigure& figure) {
    return figure.metric == "step_seconds" || figure.metric == "tokens_per_second_per_rank" ||
           figure.metric == "mfu_causal_percent";
  };
  const auto figure = std::find_if(row.figures.begin(), row.figures.end(), of_step);
  if (figure == row.figures.end()) return std::nullopt;
  const Result<std::vector<double>> predicted = predict_case(row);
  if (!predicted) return std::nullopt;
  const double ratio =
      (*predicted)[static_cast<std::size_t>(figure - row.figures.begin())] / figure->published;
  return figure->metric == "step_seconds" ? ratio : 1 / ratio;
}

Message side_of(double ratio) {
  const Message share = figure(percent_text(std::abs(ratio - 1)));
  return ratio < 1 ? message("near-rows-fast", "{} too fast", share)
                   : message("near-rows-slow", "{} too slow", share);
}

}  // namespace

std::optional<NearRows> near_rows(const std::vector<Case>& cases, const Setup& setup,
                                  const Machine& machine) {
  NearRows near;
  for (const Case& of : cases)
    for (const CaseRow& row : of.rows) {
      if (!is_near(row, setup, machine)) continue;
      const std::optional<double> ratio = predicted_over_published(row);
      if (!ratio) continue;
      near.least = near.rows == 0 ? *ratio : std::min(near.least, *ratio);
      near.most = std::max(near.most, *ratio);
      ++near.rows;
    }
  return near.rows > 0 ? std::optional(near) : std::nullopt;
}

Message words_of(const NearRows& near, const Model& model) {
  if (near.rows == 1)
    return message("near-row", "One published row is of {} on such GPUs: it is predicted {}.",
                   title_of(model), side_of(near.least));
  return message("near-rows",
                 "{} published rows are of {} on such GPUs: they are predicted from {} to {}.",
                 near.rows, title_of(model), side_of(near.least), side_of(near.most));
}

}  // namespace parallelarium

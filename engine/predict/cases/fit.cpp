// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/cases/fit.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/plan/text/phrases.h"
#include "engine/plan/text/units.h"
#include "engine/predict/repeats/step_prediction.h"

namespace parallelarium {
namespace {

constexpr double kLeastShare = 0.05;
constexpr int kRounds = 12;
constexpr double kMostMiss = 1.25;  // by which factor a step that is explained is still missed
// To turn a share by a factor of e costs as much as to miss a step by 1 %, so that steps which tell
// next to nothing of a share leave it where it was.
constexpr double kTurnCost = 0.01 * 0.01;

Origin fitted_on(std::size_t steps) {
  const Origin fitted{OriginKind::kFitted};
  return steps == 1 ? with_note(fitted, "origin-note-measured-step", {"1"})
                    : with_note(fitted, "origin-note-measured-steps", {std::to_string(steps)});
}

class Fitter {
 public:
  Fitter(const Machine& start, const std::vector<MeasuredStep>& steps)
      : machine_(start), steps_(steps) {
    devices_ = {&machine_.sustained};
    memory_ = {&machine_.memory_efficiency};
    intra_ = {&machine_.intra_node.sustained};
    inter_ = {&machine_.inter_node.sustained};
    for (const std::vector<Sourced*>& knob : {devices_, memory_, intra_, inter_})
      for (Sourced* share : knob) started_.emplace_back(share, share->value);
  }

  Result<Fit> fit() {
    Result<double> least = misfit();
    if (!least) return least.error();
    std::vector<std::vector<Sourced*>> knobs = {devices_, memory_, intra_, inter_};
    if (steps_.size() == 1) knobs = {{&machine_.sustained, &machine_.memory_efficiency}};
    double stride = 1.3;
    for (int round = 0; round < kRounds; ++round) {
      bool better = false;
      for (const std::vector<Sourced*>& knob : knobs)
        better |= turned(knob, stride, *least) || turned(knob, 1 / stride, *least);
      if (!better) stride = std::sqrt(stride);
    }
    return result();
  }

 private:
  // The sum of the squared logarithms of predicted / measured, and what the turns cost; or what of
  // it is `most` already.
  Result<double> misfit(double most = std::numeric_limits<double>::infinity()) {
    double sum = 0;
    for (const auto& [share, start] : started_) {
      const double turn = std::log(share->value / start);
      sum += kTurnCost * turn * turn;
    }
    errors_.clear();
    for (const MeasuredStep& step : steps_) {
      if (sum >= most) return sum;
      Result<StepPrediction> predicted = predict_step(step.setup, machine_);
      if (!predicted) return predicted.error();
      add_step_figures(*predicted);
      const double ratio = predicted->prediction.step.seconds / step.seconds;
      errors_.push_back(ratio - 1);
      sum += std::log(ratio) * std::log(ratio);
    }
    return sum;
  }

  // Turns on while it helps; says whether it did.
  bool turned(const std::vector<Sourced*>& knob, double factor, double& least) {
    bool better = false;
    for (;;) {
      const Machine before = machine_;
      for (Sourced* share : knob)
        share->value = std::clamp(share->value * factor, kLeastShare, 1.0);
      if (machine_ == before) return better;
      const Result<double> now = misfit(least);
      if (!now || !(*now < least - 1e-12)) {
        machine_ = before;
        return better;
      }
      least = *now;
      if (!better) turned_.push_back(knob);
      better = true;
    }
  }

  Result<Fit> result() {
    if (Result<double> last = misfit(); !last) return last.error();
    Fit fit;
    fit.errors = errors_;
    for (const double error : errors_) {
      fit.mean_error += std::abs(error) / static_cast<double>(errors_.size());
      fit.worst_error = std::max(fit.worst_error, std::abs(error));
    }
    for (std::size_t at = 0; at < steps_.size(); ++at)
      if (std::abs(std::log(1 + errors_[at])) > std::log(kMostMiss))
        return message("fit-fails",
                       "{} took {}, and with {} to 100 % of the machine's rates it is predicted to "
                       "take {} {}: more than a factor of {} off, so that no such rates explain "
                       "it.",
                       steps_[at].name, seconds_text(steps_[at].seconds),
                       ten_digits(100 * kLeastShare),
                       seconds_text((1 + errors_[at]) * steps_[at].seconds),
                       steps_.size() > 1 ? message("fit-best", "at best")
                       : errors_[at] < 0 ? message("fit-most", "at most")
                                         : message("fit-least", "at least"),
                       ten_digits(kMostMiss));
    const Origin origin = fitted_on(steps_.size());
    for (const std::vector<Sourced*>& knob : turned_)
      for (Sourced* share : knob) share->origin = origin;
    fit.machine = machine_;
    return fit;
  }

  Machine machine_;
  const std::vector<MeasuredStep>& steps_;
  std::vector<double> errors_;
  std::vector<Sourced*> devices_, memory_, intra_, inter_;
  std::vector<std::pair<Sourced*, double>> started_;  // with the values that they began with
  std::vector<std::vector<Sourced*>> turned_;         // what the steps told something of
};

}  // namespace

Result<Fit> fit_machine(const Machine& start, const std::vector<MeasuredStep>& steps) {
  if (steps.empty()) return message("fit-empty", "There is no measured step to fit rates on.");
  return Fitter(start, steps).fit();
}

std::optional<Origin> own_fit_of(const Machine& machine) {
  for (const Sourced* share : {&machine.sustained, &machine.memory_efficiency,
                               &machine.intra_node.sustained, &machine.inter_node.sustained}) {
    const Origin& origin = share->origin;
    if (origin.kind == OriginKind::kFitted && origin.source.empty() && !origin.notes.empty() &&
        origin.notes.front().id.starts_with("origin-note-measured-step"))
      return origin;
  }
  return std::nullopt;
}

}  // namespace parallelarium

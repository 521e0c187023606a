// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/reasons/causes.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/predict/cost/simulate.h"

namespace parallelarium {

namespace {

constexpr double kNanosecond = 1e-9;

// When a rank communicates beside its compute lane, and along which axis; disjoint and ascending.
struct Exchange {
  Span span;
  Axis axis = Axis::kWorld;
};

Axis axis_of(const Program& program, const Op& op) {
  return op.group < 0 ? Axis::kWorld : program.groups[static_cast<std::size_t>(op.group)].axis;
}

std::vector<Exchange> exchanges_of(const Program& program, const Timeline& timeline,
                                   const Repeats& repeats, std::size_t rank) {
  std::array<std::vector<Exchange>, kLanes> lanes;  // each in order
  for_each_op(program, timeline, repeats, rank, [&](const Op& op, const Span& span) {
    if (op.lane != Lane::kCompute && op.kind != OpKind::kCompute && span.end > span.begin)
      lanes[static_cast<std::size_t>(op.lane)].push_back({span, axis_of(program, op)});
  });
  std::vector<Exchange> all;
  for (const std::vector<Exchange>& lane : lanes) {
    const auto middle = all.insert(all.end(), lane.begin(), lane.end());
    std::ranges::inplace_merge(all, middle, {}, [](const Exchange& of) { return of.span.begin; });
  }
  Nanoseconds until{0};
  for (Exchange& each : all) {
    each.span.begin = std::max(each.span.begin, until);
    until = std::max(until, each.span.end);
  }
  std::erase_if(all, [](const Exchange& each) { return each.span.end <= each.span.begin; });
  return all;
}

// The share of a fold's time in each phase.
struct PhaseShares {
  double recompute = 0, update = 0;
};

class PartsOfRank {
 public:
  PartsOfRank(const Prediction& prediction, const Timeline& timeline, const Repeats& repeats,
              const std::vector<PhaseShares>& folds, std::size_t rank, StepParts& parts)
      : program_(prediction.program),
        timeline_(timeline),
        repeats_(repeats),
        rank_(rank),
        folds_(folds),
        exchanges_(exchanges_of(program_, timeline, repeats, rank)),
        parts_(parts) {}

  void add() {
    const std::pair<std::size_t, std::size_t> of_actions = actions();
    const std::size_t first = of_actions.first, last = of_actions.second;
    Nanoseconds free{0};
    std::size_t at = 0;
    for_each_op(program_, timeline_, repeats_, rank_, [&](const Op& op, const Span& span) {
      double& idle = at <= first ? parts_.warm_up : at > last ? parts_.drain : parts_.wait;
      ++at;
      if (op.lane != Lane::kCompute) return;
      add_gap({free, span.begin}, idle);
      add_op(op, {std::max(free, span.begin), span.end});
      free = std::max(free, span.end);
    });
    add_gap({free, timeline_.duration}, parts_.drain);
  }

 private:
  // The places of the first and the last op that belong to an action, among all ops of the rank in
  // issue order. A rank without any gets {SIZE_MAX, 0}, which no place lies between.
  std::pair<std::size_t, std::size_t> actions() const {
    const std::vector<Op>& ops = program_.ranks[rank_].ops;
    const auto acts = [](const Op& op) { return op.lane == Lane::kCompute && op.microbatch >= 0; };
    const auto first = std::find_if(ops.begin(), ops.end(), acts);
    if (first == ops.end()) return {SIZE_MAX, 0};
    const auto last =
        static_cast<std::size_t>(ops.rend() - 1 - std::find_if(ops.rbegin(), ops.rend(), acts));
    std::size_t more = 0;  // ops that come again before the last
    if (!repeats_.ranks.empty()) {
      const Repeats::Body& body = repeats_.ranks[rank_];
      more = static_cast<std::size_t>((body.last - body.first) * repeats_.times);
    }
    return {static_cast<std::size_t>(first - ops.begin()), last + more};
  }

  static double seconds_in(const Span& span) {
    return std::max(0.0, seconds_of(span.end - span.begin));
  }

  void add_gap(const Span& gap, double& idle) {
    if (gap.end <= gap.begin) return;
    double left = seconds_in(gap);
    while (next_ < exchanges_.size() && exchanges_[next_].span.end <= gap.begin) ++next_;
    for (std::size_t at = next_; at < exchanges_.size(); ++at) {
      const Exchange& each = exchanges_[at];
      if (each.span.begin >= gap.end) break;
      const double part =
          seconds_in({std::max(gap.begin, each.span.begin), std::min(gap.end, each.span.end)});
      parts_.exposed[static_cast<std::size_t>(each.axis)] += part;
      left -= part;
    }
    idle += left;
  }

  void add_op(const Op& op, const Span& span) {
    const double seconds = seconds_in(span);
    if (op.kind != OpKind::kCompute) {
      parts_.exposed[static_cast<std::size_t>(axis_of(program_, op))] += seconds;
      return;
    }
    PhaseShares shares;
    if (op.fold >= 0)
      shares = folds_[static_cast<std::size_t>(op.fold)];
    else
      shares = {op.phase == Phase::kRecompute ? 1.0 : 0.0, op.phase == Phase::kUpdate ? 1.0 : 0.0};
    parts_.recompute += shares.recompute * seconds;
    parts_.optimizer += shares.update * seconds;
    parts_.compute += (1 - shares.recompute - shares.update) * seconds;
  }

  const Program& program_;
  const Timeline& timeline_;
  const Repeats& repeats_;
  std::size_t rank_;
  const std::vector<PhaseShares>& folds_;
  std::vector<Exchange> exchanges_;
  StepParts& parts_;
  std::size_t next_ = 0;  // the first exchange that a later gap may meet
};

std::vector<PhaseShares> shares_of_folds(const Prediction& prediction) {
  std::vector<PhaseShares> shares(prediction.program.folds.size());
  if (shares.empty()) return shares;
  const CostModel cost(prediction.program, prediction.machine, prediction.setup, &prediction.rows);
  std::vector<bool> known(shares.size(), false);
  for (const RankProgram& rank : prediction.program.ranks) {
    for (const Op& op : rank.ops) {
      if (op.fold < 0 || known[static_cast<std::size_t>(op.fold)]) continue;
      const auto fold = static_cast<std::size_t>(op.fold);
      known[fold] = true;
      double all = 0;
      for (const Fold::Part& part : prediction.program.folds[fold].parts) {
        const double seconds = cost.seconds(op_of(part, op), rank.rank);
        all += seconds;
        if (part.phase == Phase::kRecompute) shares[fold].recompute += seconds;
        if (part.phase == Phase::kUpdate) shares[fold].update += seconds;
      }
      if (all > 0) shares[fold] = {shares[fold].recompute / all, shares[fold].update / all};
    }
  }
  return shares;
}

}  // namespace

double StepParts::sum() const {
  double all = compute + recompute + optimizer + warm_up + wait + drain;
  for (const double seconds : exposed) all += seconds;
  return all;
}

StepParts parts_of(const Prediction& prediction, const Repeats& repeats) {
  return parts_of(prediction, prediction.timeline, repeats);
}

StepParts parts_of(const Prediction& prediction, const Timeline& timeline, const Repeats& repeats) {
  StepParts parts;
  const std::vector<PhaseShares> folds = shares_of_folds(prediction);
  const std::size_t ranks = prediction.program.ranks.size();
  for (std::size_t rank = 0; rank < ranks; ++rank)
    PartsOfRank(prediction, timeline, repeats, folds, rank, parts).add();
  const auto count = static_cast<double>(std::max<std::size_t>(1, ranks));
  for (double* part : {&parts.compute, &parts.recompute, &parts.optimizer, &parts.warm_up,
                       &parts.wait, &parts.drain})
    *part /= count;
  for (double& seconds : parts.exposed) seconds /= count;
  return parts;
}

namespace {

// What the named parts leave of the difference; rounding of a nanosecond is none.
void add_rest(std::vector<Cause>& causes, double seconds) {
  std::erase_if(causes, [](const Cause& cause) { return std::abs(cause.seconds) < 1e-12; });
  double rest = seconds;
  for (const Cause& cause : causes) rest -= cause.seconds;
  causes.push_back({CauseKind::kRest, std::abs(rest) < kNanosecond ? 0 : rest});
}

}  // namespace

std::string name_of(const Cause& cause) {
  switch (cause.kind) {
    case CauseKind::kCompute:
      return "compute";
    case CauseKind::kRecompute:
      return "recompute";
    case CauseKind::kOptimizer:
      return "optimizer";
    case CauseKind::kWarmUp:
      return "bubble: warm-up";
    case CauseKind::kWait:
      return "bubble: wait";
    case CauseKind::kDrain:
      return "bubble: drain";
    case CauseKind::kBubble:
      return "bubble";
    case CauseKind::kExposed:
      return cause.axis ? fmt::format("exposed communication: {}", name_of(*cause.axis))
                        : "exposed communication";
    case CauseKind::kRest:
      break;
  }
  return "unexplained";
}

Message words_of(const Cause& cause) {
  switch (cause.kind) {
    case CauseKind::kCompute:
      return message("plan-cause-compute", "compute");
    case CauseKind::kRecompute:
      return message("plan-cause-recompute", "recompute");
    case CauseKind::kOptimizer:
      return message("plan-cause-optimizer", "the optimizer");
    case CauseKind::kWarmUp:
      return message("plan-cause-warm-up", "the bubble at warm-up");
    case CauseKind::kWait:
      return message("plan-cause-wait", "waiting for other stages");
    case CauseKind::kDrain:
      return message("plan-cause-drain", "the bubble at the drain");
    case CauseKind::kBubble:
      return message("plan-part-bubble", "bubble");
    case CauseKind::kExposed: {
      if (!cause.axis) return message("plan-cause-exposed-all", "exposed communication");
      std::string axis(name_of(*cause.axis));
      std::transform(axis.begin(), axis.end(), axis.begin(),
                     [](char of) { return std::toupper(of); });
      return message("plan-cause-exposed", "exposed communication of {}", axis);
    }
    case CauseKind::kRest:
      break;
  }
  return message("plan-cause-rest", "unexplained");
}

std::vector<Cause> causes_of(const StepParts& first, const StepParts& second, double seconds) {
  std::vector<Cause> causes = {
      {CauseKind::kCompute, second.compute - first.compute},
      {CauseKind::kRecompute, second.recompute - first.recompute},
      {CauseKind::kOptimizer, second.optimizer - first.optimizer},
      {CauseKind::kWarmUp, second.warm_up - first.warm_up},
      {CauseKind::kWait, second.wait - first.wait},
      {CauseKind::kDrain, second.drain - first.drain},
  };
  for (std::size_t axis = 0; axis < first.exposed.size(); ++axis)
    causes.push_back(
        {CauseKind::kExposed, second.exposed[axis] - first.exposed[axis], static_cast<Axis>(axis)});
  add_rest(causes, seconds);
  return causes;
}

std::vector<Cause> causes_of(const StepFigures& first, const StepFigures& second) {
  std::vector<Cause> causes = {
      {CauseKind::kCompute, second.compute_seconds - first.compute_seconds},
      {CauseKind::kExposed,
       second.exposed_communication_seconds - first.exposed_communication_seconds},
  };
  add_rest(causes, second.seconds - first.seconds);
  return causes;
}

Cause largest_of(const std::vector<Cause>& causes) {
  double all = 0;
  for (const Cause& cause : causes) all += cause.seconds;
  // Of those that go with the difference: one that goes against it is no cause.
  const auto largest =
      std::max_element(causes.begin(), causes.end(), [all](const Cause& a, const Cause& b) {
        return all < 0 ? a.seconds > b.seconds : a.seconds < b.seconds;
      });
  return largest == causes.end() ? Cause() : *largest;
}

nlohmann::json to_json(const std::vector<Cause>& causes) {
  nlohmann::json list = nlohmann::json::array();
  for (const Cause& cause : causes)
    list.push_back({{"cause", name_of(cause)}, {"seconds", cause.seconds}});
  return list;
}

nlohmann::json parts_json(const StepParts& parts) {
  return {{"compute", parts.compute},     {"recompute", parts.recompute},
          {"optimizer", parts.optimizer}, {"warm_up", parts.warm_up},
          {"wait", parts.wait},           {"drain", parts.drain}};
}

nlohmann::json exposed_json(const StepParts& parts) {
  nlohmann::json json = nlohmann::json::object();
  for (std::size_t axis = 0; axis < parts.exposed.size(); ++axis)
    if (parts.exposed[axis] > 0)
      json[std::string(name_of(static_cast<Axis>(axis)))] = parts.exposed[axis];
  return json;
}

}  // namespace parallelarium

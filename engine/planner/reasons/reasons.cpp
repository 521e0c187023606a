// SPDX-License-Identifier: Apache-2.0
// Why the neighbours of the best plan lose, and the plans behind it.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "engine/plan/placement/parallel.h"
#include "engine/plan/text/phrases.h"
#include "engine/plan/text/units.h"
#include "engine/planner/reasons/neighbours.h"
#include "engine/planner/search.h"
#include "engine/predict/cases/near_rows.h"

namespace parallelarium {

namespace {

// "TP 8 → 4 takes 1.2 s more; the largest difference is exposed communication of TP, +0.9 s."
Message sentence_of(const Message& change, double seconds, const Cause& cause) {
  const Message by = figure(seconds_text(std::abs(seconds)));
  const Message part = figure(
      fmt::format("{}{}", cause.seconds < 0 ? "-" : "+", seconds_text(std::abs(cause.seconds))));
  const Message why = words_of(cause);
  if (seconds == 0) return message("plan-why-equal", "{} takes exactly as long.", change);
  return seconds > 0
             ? message("plan-why-slower", "{} takes {} longer; the largest difference is {}, {}.",
                       change, by, why, part)
             : message("plan-why-faster", "{} takes {} less; the largest difference is {}, {}.",
                       change, by, why, part);
}

// Of the plan `tried`, which `change` makes of the best.
PlanReason reason_of(const Plan& best, Change change, const Plan& plan) {
  PlanReason reason;
  reason.change = std::move(change);
  reason.seconds = plan.step.seconds - best.step.seconds;
  const Cause cause = largest_of(causes_of(best.parts, plan.parts, *reason.seconds));
  reason.sentence = sentence_of(reason.change.said, *reason.seconds, cause);
  return reason;
}

PlanReason reason_of(const Plan& best, const ChangedSetup& changed, const Result<Tried>& tried,
                     const Machine& machine) {
  PlanReason reason;
  reason.change = changed.change;
  if (!tried) {
    reason.sentence = tried.error();
    return reason;
  }
  if (!tried->fits()) {
    reason.sentence = too_large(*tried, machine);
    return reason;
  }
  return reason_of(best, changed.change, tried->plan);
}

std::vector<TriedNeighbour> tried_all(const std::vector<ChangedSetup>& changes,
                                      const Machine& machine, const PlanRefusal& refuses) {
  std::vector<TriedNeighbour> all;
  for (const ChangedSetup& change : changes) all.push_back({change.setup, Message()});
  in_parallel(all.size(), [&](std::size_t at) {
    all[at].tried = try_setup(all[at].setup, machine, true, refuses);
  });
  return all;
}

// Of these changes of a plan, each of which was tried, the fastest first, and last those that
// cannot be.
std::vector<PlanReason> neighbour_reasons(const Plan& plan,
                                          const std::vector<ChangedSetup>& changes,
                                          const std::vector<TriedNeighbour>& all,
                                          const Machine& machine) {
  struct Neighbour {
    const Plan* plan = nullptr;  // null: it cannot be
    PlanReason reason;
  };
  std::vector<Neighbour> neighbours(changes.size());
  for (std::size_t at = 0; at < changes.size(); ++at) {
    const Result<Tried>& tried = all[at].tried;
    neighbours[at].reason = reason_of(plan, changes[at], tried, machine);
    if (tried && tried->fits()) neighbours[at].plan = &tried->plan;
  }
  std::stable_sort(neighbours.begin(), neighbours.end(), [](const auto& a, const auto& b) {
    if (a.plan == nullptr || b.plan == nullptr) return a.plan != nullptr && b.plan == nullptr;
    return stands_before(*a.plan, *b.plan, Objective::kTime);
  });
  std::vector<PlanReason> reasons;
  for (Neighbour& neighbour : neighbours) reasons.push_back(std::move(neighbour.reason));
  return reasons;
}

}  // namespace

PlanReason reason_for(const Plan& plan, const Change& change, const Plan& changed) {
  return reason_of(plan, change, changed);
}

PlanReason reason_behind(const Plan& best, const Plan& plan) {
  return reason_of(best, change_of(best.setup, plan.setup), plan);
}

Result<std::vector<PlanReason>> neighbours_of_plan(const Setup& setup, const Machine& machine,
                                                   const PlanRefusal& refuses,
                                                   const SetupFilter& wanted) {
  const Result<Tried> tried = try_setup(setup, machine, true);
  if (!tried) return tried.error();
  std::vector<ChangedSetup> changes = single_changes(setup, machine);
  if (wanted) std::erase_if(changes, [&](const auto& change) { return !wanted(change.setup); });
  std::vector<PlanReason> reasons =
      neighbour_reasons(tried->plan, changes, tried_all(changes, machine, refuses), machine);
  std::set<nlohmann::json> near;
  for (const ChangedSetup& neighbour : neighbours_of(setup, machine))
    near.insert(to_json(neighbour.change.settings));
  std::erase_if(reasons, [&](const PlanReason& reason) {
    return !reason.seconds && near.count(to_json(reason.change.settings)) == 0;
  });
  return reasons;
}

std::vector<std::vector<PlanReason>> reasons_of(const std::vector<Plan>& best,
                                                const PlanRequest& request,
                                                std::vector<TriedNeighbour>& tried) {
  std::vector<std::vector<PlanReason>> all(best.size());
  if (best.empty()) return all;
  const std::vector<ChangedSetup> changes = neighbours_of(best.front().setup, request.machine);
  tried = tried_all(changes, request.machine, request.refuses);
  all.front() = neighbour_reasons(best.front(), changes, tried, request.machine);
  for (std::size_t at = 1; at < best.size(); ++at)
    all[at].push_back(reason_behind(best.front(), best[at]));
  return all;
}

namespace {

// What of a row says memory; none: nothing.
const CaseFigure* memory_of(const CaseRow& row) {
  const auto found = std::find_if(row.figures.begin(), row.figures.end(), [](const auto& of) {
    return of.metric == "peak_gib" || of.metric == "framework_peak_gib";
  });
  return found == row.figures.end() ? nullptr : &*found;
}

// How far memory is missed in published rows.
struct MemoryErrors {
  int rows = 0;
  double missed = 0;
  std::vector<Message> machines;  // that the rows are of
  void add(const CaseRow& row, const std::vector<double>& predicted) {
    const CaseFigure* published = memory_of(row);
    if (published == nullptr) return;
    ++rows;
    missed += std::abs(predicted[static_cast<std::size_t>(published - row.figures.data())] /
                           published->published -
                       1);
    const Message of = title_of(row.machine);
    if (std::find(machines.begin(), machines.end(), of) == machines.end()) machines.push_back(of);
  }
  double mean() const { return missed / rows; }
};

// All rows that no rate was fitted on, of a machine or of others.
std::vector<const CaseRow*> held_out_rows(const std::vector<Case>& all,
                                          const std::function<bool(const CaseRow&)>& wanted) {
  std::vector<const CaseRow*> held_out;
  for (const Case& of : all)
    for (const CaseRow& row : of.rows)
      if (!row.fitted && row.impossible.empty() && wanted(row)) held_out.push_back(&row);
  return held_out;
}

using CasePrediction = Result<std::vector<double>>;
// All cores predict them.
std::vector<CasePrediction> predicted_rows(const std::vector<const CaseRow*>& rows) {
  std::vector<CasePrediction> figures(rows.size(), CasePrediction(Message()));
  in_parallel(rows.size(), [&](std::size_t at) { figures[at] = predict_case(*rows[at]); });
  return figures;
}

// Whether the row ran on such nodes, also with other kernels on them.
bool ran_on(const CaseRow& row, const Machine& machine) {
  if (row.machine.name == machine.name) return true;
  Machine same = row.machine;
  same.name = machine.name;
  same.title = machine.title;
  same.changed_from = machine.changed_from;
  same.nodes = machine.nodes;
  same.usable_memory_share = machine.usable_memory_share;
  same.attention = machine.attention;
  same.narrow_attention = machine.narrow_attention;
  same.wide_attention = machine.wide_attention;
  same.passes = machine.passes;
  return same == machine;
}

// What a rank holds follows from the Setup and from what the devices compute in, so that machines
// with GPUs of the same kind, which have the same peak, stand for each other.
MemoryErrors errors_of_like_machines(const std::vector<Case>& all, const Machine& machine) {
  const std::vector<const CaseRow*> rows = held_out_rows(all, [&](const CaseRow& row) {
    return !ran_on(row, machine) && memory_of(row) != nullptr &&
           row.machine.half_flops_per_second.value == machine.half_flops_per_second.value;
  });
  const std::vector<CasePrediction> predicted = predicted_rows(rows);
  MemoryErrors errors;
  for (std::size_t at = 0; at < rows.size(); ++at)
    if (predicted[at]) errors.add(*rows[at], *predicted[at]);
  return errors;
}

// Says how far memory is missed: `own` are the rows of the machine.
void tell_memory(const std::vector<Case>& all, const Machine& machine, const MemoryErrors& own,
                 TieThreshold& ties) {
  if (own.rows > 0) {
    ties.memory_error = own.mean();
    const Message missed = figure(percent_text(own.mean()));
    ties.memory_trust =
        own.rows == 1
            ? message("plan-trust-memory-row", "Memory of one published row on {} is missed by {}.",
                      title_of(machine), missed)
            : message("plan-trust-memory",
                      "Memory of {} published rows on {} is missed by {} on average.", own.rows,
                      title_of(machine), missed);
    return;
  }
  const MemoryErrors like = errors_of_like_machines(all, machine);
  ties.memory_trust =
      like.rows == 1
          ? message("plan-trust-memory-like-row",
                    "No published table on {} says memory; that of one row on a machine with GPUs "
                    "of the same peak ({}) is missed by {}.",
                    title_of(machine), listed(like.machines), figure(percent_text(like.mean())))
      : like.rows > 0
          ? message("plan-trust-memory-like",
                    "No published table on {} says memory; that of {} rows on machines with GPUs "
                    "of the same peak ({}) is missed by {} on average.",
                    title_of(machine), like.rows, listed(like.machines),
                    figure(percent_text(like.mean())))
          : message("plan-trust-memory-none",
                    "How far memory may be off is not known: no published table on {} says it.",
                    title_of(machine));
}

// Says how far steps are missed, of which `missed` is the sum over the rows.
void tell_trust(const Machine& machine, double missed, TieThreshold& ties) {
  ties.trust = message("plan-trust-none",
                       "How far a step may be off is not known: of no published table on {} a row "
                       "was held out of the fit of its rates.",
                       title_of(machine));
  if (ties.held_out > 0) {
    ties.error = missed / ties.held_out;
    const Message off = figure(percent_text(*ties.error));
    ties.trust =
        ties.held_out == 1
            ? message("plan-trust-row",
                      "The step of one published row on {} that no rate was fitted on is missed by "
                      "{}.",
                      title_of(machine), off)
            : message("plan-trust",
                      "Steps of {} published rows on {} that no rate was fitted on are missed by "
                      "{} on average; single ones by more.",
                      ties.held_out, title_of(machine), off);
  }
}

// Says how far plans must be apart to differ, from the sum over the pairs and their sources.
void tell_ties(const Machine& machine, double sum, const std::vector<Message>& sources,
               TieThreshold& ties) {
  if (ties.pairs == 0) {
    ties.said = message("plan-ties-none",
                        "How far plans must be apart to differ is not known: of no published table "
                        "on {} two rows of one model were held out of the fit of its rates.",
                        title_of(machine));
    return;
  }
  ties.share = sum / ties.pairs;
  ties.said = message(
      "plan-ties",
      "Steps less than {} apart are ties: by so much the predicted ratio of two runs differs from "
      "the published one, in the mean of {} pairs of neighbouring rows of one table and model that "
      "no rate was fitted on ({}, on {}).",
      figure(percent_text(*ties.share)), ties.pairs, listed(sources), title_of(machine));
}

}  // namespace

TieThreshold tie_threshold_of(const Machine& machine) {
  TieThreshold ties;
  const Result<std::vector<Case>> cases = all_cases();
  const std::vector<Case> none;
  const std::vector<Case>& all = cases ? *cases : none;
  const std::vector<const CaseRow*> held_out =
      held_out_rows(all, [&](const CaseRow& row) { return ran_on(row, machine); });
  const std::vector<CasePrediction> figures_of = predicted_rows(held_out);
  std::size_t next = 0;
  double sum = 0, missed = 0;
  MemoryErrors memory;
  std::vector<Message> sources;
  for (const Case& of : all) {
    struct Seen {
      TieThreshold::Row row;
      const Model* model = nullptr;
      bool paired = false;
    };
    std::vector<Seen> seen;
    for (const CaseRow& row : of.rows) {
      if (next == held_out.size() || held_out[next] != &row) continue;
      const CasePrediction& predicted = figures_of[next++];
      if (predicted) memory.add(row, *predicted);
      const auto figure =
          std::find_if(row.figures.begin(), row.figures.end(), [](const CaseFigure& each) {
            return each.metric == "step_seconds" || each.metric == "tokens_per_second_per_rank" ||
                   each.metric == "mfu_causal_percent";
          });
      if (figure == row.figures.end() || !predicted) continue;
      const double ratio =
          (*predicted)[static_cast<std::size_t>(figure - row.figures.begin())] / figure->published;
      missed += std::abs(ratio - 1);
      ++ties.held_out;
      // Plans of one search are of one model: how another's ratio differs says nothing of them.
      Seen now{{of.source, row.name, ratio}, &row.setup.model};
      const auto before = std::find_if(seen.rbegin(), seen.rend(), [&](const Seen& each) {
        return *each.model == row.setup.model;
      });
      if (before != seen.rend()) {
        sum += std::abs(ratio / before->row.ratio - 1);
        ++ties.pairs;
        before->paired = now.paired = true;
      }
      seen.push_back(std::move(now));
    }
    std::erase_if(seen, [](const Seen& each) { return !each.paired; });
    if (seen.empty()) continue;
    sources.push_back(message("plan-ties-rows", "{} rows of {}", seen.size(), of.source));
    for (Seen& each : seen) ties.rows.push_back(std::move(each.row));
  }
  tell_trust(machine, missed, ties);
  tell_memory(all, machine, memory, ties);
  tell_ties(machine, sum, sources, ties);
  return ties;
}

// Shipped rates and rows do not change, and their predictions take seconds.
TieThreshold known_ties_of(const Machine& machine) {
  static std::mutex known_mutex;
  static std::map<std::pair<std::string, std::string>, TieThreshold> known;
  const std::lock_guard lock(known_mutex);
  const std::pair key(machine.name, title_of(machine).text);
  auto found = known.find(key);
  if (found == known.end()) found = known.emplace(key, tie_threshold_of(machine)).first;
  return found->second;
}

void note_ties(PlanResult& result, const PlanRequest& request, const PlanWatch& watch) {
  watch.tell(kTiesShare, message("plan-published", "Predicting published runs on this machine."));
  result.ties = known_ties_of(request.machine);
  result.near_rows = near_rows_said(request.base, request.machine);
  if (!result.ties.share || result.best.empty()) return;
  const double best = result.best.front().step.seconds;
  for (Plan& plan : result.best) plan.tied = result.ties.within(best, plan.step.seconds);
  for (std::vector<PlanReason>& reasons : result.why)
    for (PlanReason& reason : reasons)
      reason.tied = reason.seconds && result.ties.within(best, best + *reason.seconds);
  result.ties.plans = std::count_if(
      result.points.begin(), result.points.end(),
      [&](const PlanResult::Point& point) { return result.ties.within(best, point.seconds); });
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// How far predictions miss published rows on a machine, and how far apart plans must be to differ.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "engine/plan/placement/parallel.h"
#include "engine/plan/text/phrases.h"
#include "engine/plan/text/units.h"
#include "engine/planner/search.h"
#include "engine/predict/cases/near_rows.h"

namespace parallelarium {

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

// All cores predict them.
std::vector<Result<CasePrediction>> predicted_rows(const std::vector<const CaseRow*>& rows) {
  std::vector<Result<CasePrediction>> figures(rows.size(), Result<CasePrediction>(Message()));
  in_parallel(rows.size(),
              [&](std::size_t at) { figures[at] = predict_case_as_in_search(*rows[at]); });
  return figures;
}

// The title of the preset that the machine is, or was before it was changed.
const std::string& preset_title(const Machine& machine) {
  return machine.changed_from.empty() ? machine.title : machine.changed_from;
}

// The machine without what rows on it may differ in: their own nodes and kernels.
Machine bare_nodes(Machine machine) {
  // 0 means the same as one card for each device.
  machine.nics_per_node = {machine.nics() / std::max(1, machine.devices_per_node), {}};
  machine.name = machine.title = machine.changed_from = {};
  machine.nodes = machine.devices_per_node = 1;
  machine.usable_memory_share = 1;
  machine.attention = machine.narrow_attention = machine.wide_attention = {};
  machine.passes.clear();
  return machine;
}

// Whether the row ran on the machine, before it was changed, or on such nodes with other kernels.
bool ran_on(const CaseRow& row, const Machine& machine) {
  return preset_title(row.machine) == preset_title(machine) ||
         bare_nodes(row.machine) == bare_nodes(machine);
}

// The machine that rows ran on: one that was changed has those from before.
Message measured_machine(const Machine& machine) {
  if (machine.changed_from.empty()) return title_of(machine);
  const Message base = plain(machine.changed_from);
  for (const std::string& name : machine_names()) {
    if (name == "local") continue;
    const Result<Machine> preset = find_machine(name);
    if (!preset || preset->title != machine.changed_from) continue;
    const Machine before = bare_nodes(*preset);
    Machine changed = bare_nodes(machine);
    if (changed == before) return base;
    changed.intra_node = before.intra_node;
    changed.inter_node = before.inter_node;
    changed.nics_per_node = before.nics_per_node;
    if (changed == before)
      return message("plan-before-links", "{} (before its links were changed)", base);
  }
  return message("plan-before-change", "{} (before it was changed)", base);
}

// What a rank holds follows from the Setup and from what the devices compute in, so that machines
// with GPUs of the same kind, which have the same peak, stand for each other.
MemoryErrors errors_of_like_machines(const std::vector<Case>& all, const Machine& machine) {
  const std::vector<const CaseRow*> rows = held_out_rows(all, [&](const CaseRow& row) {
    return !ran_on(row, machine) && memory_of(row) != nullptr &&
           row.machine.half_flops_per_second.value == machine.half_flops_per_second.value;
  });
  const std::vector<Result<CasePrediction>> predicted = predicted_rows(rows);
  MemoryErrors errors;
  for (std::size_t at = 0; at < rows.size(); ++at)
    if (predicted[at]) errors.add(*rows[at], predicted[at]->values);
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
                      measured_machine(machine), missed)
            : message("plan-trust-memory",
                      "Memory of {} published rows on {} is missed by {} on average.", own.rows,
                      measured_machine(machine), missed);
    return;
  }
  const MemoryErrors like = errors_of_like_machines(all, machine);
  ties.memory_trust =
      like.rows == 1
          ? message("plan-trust-memory-like-row",
                    "No published table on {} says memory; that of one row on a machine with GPUs "
                    "of the same peak ({}) is missed by {}.",
                    measured_machine(machine), listed(like.machines),
                    figure(percent_text(like.mean())))
      : like.rows > 0
          ? message("plan-trust-memory-like",
                    "No published table on {} says memory; that of {} rows on machines with GPUs "
                    "of the same peak ({}) is missed by {} on average.",
                    measured_machine(machine), like.rows, listed(like.machines),
                    figure(percent_text(like.mean())))
          : message("plan-trust-memory-none",
                    "How far memory may be off is not known: no published table on {} says it.",
                    measured_machine(machine));
}

// Says how far steps are missed, of which `missed` is the sum over the rows.
void tell_trust(const Machine& machine, double missed, TieThreshold& ties) {
  ties.trust = message("plan-trust-none",
                       "How far a step may be off is not known: of no published table on {} a row "
                       "was held out of the fit of its rates.",
                       measured_machine(machine));
  if (ties.held_out > 0) {
    ties.error = missed / ties.held_out;
    const Message off = figure(percent_text(*ties.error));
    ties.trust =
        ties.held_out == 1
            ? message("plan-trust-row",
                      "The step of one published row on {} that no rate was fitted on is missed by "
                      "{}.",
                      measured_machine(machine), off)
            : message("plan-trust",
                      "Steps of {} published rows on {} that no rate was fitted on are missed by "
                      "{} on average; single ones by more.",
                      ties.held_out, measured_machine(machine), off);
  }
}

// Says how far plans must be apart to differ, from the sum over the pairs and their sources.
void tell_ties(const Machine& machine, double sum, const std::vector<Message>& sources,
               TieThreshold& ties) {
  if (ties.pairs == 0) {
    ties.said = message("plan-ties-none",
                        "How far plans must be apart to differ is not known: of no published table "
                        "on {} two rows of one model were held out of the fit of its rates.",
                        measured_machine(machine));
    return;
  }
  ties.share = sum / ties.pairs;
  ties.said = message(
      "plan-ties",
      "Steps less than {} apart are ties. By so much the predicted ratio of two runs differs from "
      "the published one on average. The runs are {} pairs of neighbouring rows of one table and "
      "model on {}; no rate was fitted on them ({}).",
      figure(percent_text(*ties.share)), ties.pairs, measured_machine(machine), listed(sources));
}

}  // namespace

TieThreshold tie_threshold_of(const Machine& machine) {
  TieThreshold ties;
  const Result<std::vector<Case>>& cases = all_cases();
  const std::vector<Case> none;
  const std::vector<Case>& all = cases ? *cases : none;
  const std::vector<const CaseRow*> held_out =
      held_out_rows(all, [&](const CaseRow& row) { return ran_on(row, machine); });
  const std::vector<Result<CasePrediction>> figures_of = predicted_rows(held_out);
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
      const Result<CasePrediction>& predicted = figures_of[next++];
      if (predicted) memory.add(row, predicted->values);
      const auto figure =
          std::find_if(row.figures.begin(), row.figures.end(), [](const CaseFigure& each) {
            return each.metric == "step_seconds" || each.metric == "tokens_per_second_per_rank" ||
                   each.metric == "mfu_causal_percent";
          });
      if (figure == row.figures.end() || !predicted) continue;
      const double ratio =
          predicted->values[static_cast<std::size_t>(figure - row.figures.begin())] /
          figure->published;
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
  Machine asked = machine;
  asked.nodes = 1;  // whatever these are, the rows are the same
  asked.usable_memory_share = 1;
  const std::lock_guard lock(known_mutex);
  const std::pair key(preset_title(machine), to_json(asked).dump());
  auto found = known.find(key);
  if (found == known.end()) found = known.emplace(key, tie_threshold_of(machine)).first;
  return found->second;
}

void note_ties(PlanResult& result, const PlanRequest& request, const PlanWatch& watch) {
  watch.tell(kTiesShare, message("plan-published", "Predicting published runs on this machine."));
  result.ties = known_ties_of(request.machine);
  result.near_rows = near_rows_said(request.base, request.machine);
  // Plans that are best for something else than their step share no rank for it.
  if (!result.ties.share || result.best.empty() || request.objective != Objective::kTime) return;
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

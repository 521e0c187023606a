// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/reasons/rules.h"

#include <algorithm>

#include "engine/plan/text/units.h"

namespace parallelarium {
namespace {

struct Rule {
  const char* id;
  const char* source;
  bool (*keeps)(const Setup& setup, const Machine& machine);
  Message (*said)();
};

constexpr Rule kRules[] = {
    {"tp-in-node", "Narayanan et al. 2021, section 3.2, takeaway 1",
     [](const Setup& of, const Machine& machine) {
       return of.mesh.tp <= std::max(1, machine.devices_per_node);
     },
     [] { return message("plan-rule-node", "TP stays inside a node"); }},
    {"four-microbatches", "Huang et al. 2019, section 2.3",
     [](const Setup& of, const Machine&) {
       return of.mesh.pp == 1 || of.microbatches >= 4 * of.mesh.pp;
     },
     [] { return message("plan-rule-four", "A pipeline has 4 micro-batches a stage or more"); }},
    {"zero-1-in-pipelines", "DeepSpeed, deepspeed/runtime/pipe/engine.py",
     [](const Setup& of, const Machine&) { return of.mesh.pp == 1 || of.zero <= 1; },
     [] { return message("plan-rule-zero", "Beside a pipeline ZeRO is 0 or 1"); }},
    {"sequence-parallel", "Korthikanti et al. 2022, section 4.2.2",
     [](const Setup& of, const Machine&) { return of.mesh.tp == 1 || of.sequence_parallel; },
     [] { return message("plan-rule-sequence", "Where there is TP, there is SP"); }},
    {"no-full-recompute", "Korthikanti et al. 2022, section 5",
     [](const Setup& of, const Machine&) { return of.recompute != Recompute::kFull; },
     [] { return message("plan-rule-recompute", "No layer is computed again as a whole"); }},
};

Message sentence_of(const PlanRule& told, const Message& said, const Plan& best) {
  const Mesh& mesh = best.setup.mesh;
  if (told.holds && mesh.tp == 1 && (told.id == "tp-in-node" || told.id == "sequence-parallel"))
    return message("plan-rule-no-tp", "{}: the best plan has no TP.", said);
  if (told.holds && mesh.pp == 1 &&
      (told.id == "four-microbatches" || told.id == "zero-1-in-pipelines"))
    return message("plan-rule-no-pipeline", "{}: the best plan has no pipeline.", said);
  if (told.holds) return message("plan-rule-holds", "{}: the best plan does so.", said);
  if (!told.seconds) return message("plan-rule-none", "{}: no plan that does so fits.", said);
  const Message takes = figure(seconds_text(*told.seconds));
  const Message share = figure(percent_text(*told.seconds / best.step.seconds));
  return told.tied ? message("plan-rule-tied", "{}: costs {} ({}), a tie.", said, takes, share)
                   : message("plan-rule-costs", "{}: costs {} ({}).", said, takes, share);
}

}  // namespace

void note_rules(PlanResult& result, const PlanRequest& request) {
  if (result.best.empty() || result.cancelled) return;
  const Plan& best = result.best.front();
  for (std::size_t at = 0; at < result.keeping.size(); ++at) {
    const Rule& rule = kRules[at];
    const std::optional<Plan>& plan = result.keeping[at];
    PlanRule told;
    told.id = rule.id;
    told.source = rule.source;
    told.holds = rule.keeps(best.setup, request.machine);
    if (plan) told.seconds = plan->step.seconds - best.step.seconds;
    told.tied = !told.holds && plan && result.ties.within(best.step.seconds, plan->step.seconds);
    told.sentence = sentence_of(told, rule.said(), best);
    result.rules.push_back(std::move(told));
  }
}

const std::vector<std::string>& rule_ids() {
  static const std::vector<std::string> ids = [] {
    std::vector<std::string> all;
    for (const Rule& rule : kRules) all.emplace_back(rule.id);
    return all;
  }();
  return ids;
}

bool keeps_to_rule(const std::string& id, const Setup& setup, const Machine& machine) {
  const auto* rule = std::find_if(std::begin(kRules), std::end(kRules),
                                  [&](const Rule& of) { return id == of.id; });
  return rule != std::end(kRules) && rule->keeps(setup, machine);
}

}  // namespace parallelarium

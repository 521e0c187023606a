// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/reasons/rules.h"

#include <algorithm>

#include "engine/plan/text/phrases.h"
#include "engine/plan/text/units.h"
#include "engine/planner/entry.h"

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
     [] { return message("plan-rule-recompute", "Recompute is none or selective, never full"); }},
};

Message cost_of(const PlanRule& told, const Message& said, const Plan& best) {
  if (!told.seconds && told.too_long > 0)
    return message("plan-rule-long",
                   "{}: none is known. Of plans that do so, {} are not ruled out by their memory, "
                   "and their stages times their micro-batches are more than the {} that a search "
                   "simulates for this at most.",
                   said, told.too_long, kMostFrontActions);
  if (!told.seconds) return message("plan-rule-none", "{}: no plan that does so fits.", said);
  const Message takes = figure(seconds_text(*told.seconds));
  const Message share = figure(percent_text(*told.seconds / best.step.seconds));
  return told.tied
             ? message("plan-rule-tied", "{}: a step takes {} ({}) longer, a tie.", said, takes,
                       share)
             : message("plan-rule-costs", "{}: a step takes {} ({}) longer.", said, takes, share);
}

Message sentence_of(const PlanRule& told, const Message& said, const Plan& best) {
  const Mesh& mesh = best.setup.mesh;
  if (told.holds && mesh.tp == 1 && (told.id == "tp-in-node" || told.id == "sequence-parallel"))
    return message("plan-rule-no-tp", "{}: the best plan has no TP.", said);
  if (told.holds && mesh.pp == 1 &&
      (told.id == "four-microbatches" || told.id == "zero-1-in-pipelines"))
    return message("plan-rule-no-pipeline", "{}: the best plan has no pipeline.", said);
  if (told.holds) return message("plan-rule-holds", "{}: the best plan does so.", said);
  return cost_of(told, said, best);
}

Message sentence_of_order(const PlanRule& told, const Plan& best) {
  const Message order =
      message("plan-rule-order", "TP in the node until a plan fits, then PP, DP with the rest");
  if (!told.setup) return cost_of(told, order, best);
  const Message makes = message("plan-rule-makes", "{} ({})", order, short_axes(*told.setup));
  return told.holds ? message("plan-rule-best", "{}: that is the best plan.", makes)
                    : cost_of(told, makes, best);
}

// As titles of models say it: "6.98 B".
std::string parameters_text(double parameters) {
  constexpr double kBillion = 1e9;
  return parameters < kBillion ? count_text(parameters)
                               : three_digits(parameters / kBillion) + " B";
}

// Of the degrees of DP that divide the GPUs, those that divide the batch or do not.
std::vector<Message> degrees_of(const std::vector<int>& all, std::int64_t batch, bool divides) {
  std::vector<Message> degrees;
  for (const int dp : all)
    if ((batch % dp == 0) == divides) degrees.push_back(figure(std::to_string(dp)));
  return degrees;
}

// None: no batch nearby can be divided by more degrees of DP.
std::optional<PlanRule> rule_of_divisors(const Plan& best, std::int64_t batch) {
  const int gpus = best.setup.mesh.ranks();
  std::vector<int> all;
  for (int dp = 1; dp <= gpus && dp <= batch; ++dp)
    if (gpus % dp == 0) all.push_back(dp);
  const auto divisors = [&](std::int64_t of) {
    return std::count_if(all.begin(), all.end(), [&](int dp) { return of % dp == 0; });
  };
  // A twentieth more or less. All degrees divide a multiple of the GPUs, and one lies within as
  // many sequences as there are GPUs.
  constexpr std::int64_t kNear = 20;
  const std::int64_t most_away = std::min<std::int64_t>(batch / kNear, gpus);
  std::int64_t better = batch;
  for (std::int64_t away = 1; away <= most_away; ++away)
    for (const std::int64_t other : {batch + away, batch - away})
      if (divisors(other) > divisors(better)) better = other;
  if (better == batch) return std::nullopt;
  PlanRule told;
  told.id = "batch-divides";
  told.source = "Megatron-LM, megatron/core/num_microbatches_calculator.py";
  const double more = static_cast<double>(better - batch) / static_cast<double>(batch);
  told.sentence =
      message("plan-rule-divides",
              "DP divides the batch: with {} sequences {} GPUs can have DP {}, and not {}. With {} "
              "({}) they "
              "could have DP {}.",
              std::to_string(batch), std::to_string(gpus), listed(degrees_of(all, batch, true)),
              listed(degrees_of(all, batch, false)), std::to_string(better),
              figure(signed_percent_text(more)), listed(degrees_of(all, better, true)));
  return told;
}

PlanRule rule_of_batch(const PlanRequest& request) {
  const CriticalBatch critical = critical_batch(request.base.model);
  const auto sequence = static_cast<double>(request.base.model.sequence);
  const double tokens = static_cast<double>(request.global_batch) * sequence;
  PlanRule told;
  told.id = "critical-batch";
  told.source = "Kaplan et al. 2020, equations 1.1 and 1.4; McCandlish et al. 2018, section 2.3";
  told.holds = tokens <= critical.tokens;
  told.critical = critical;
  const Message of_step = figure(count_text(tokens));
  const Message saved = figure(percent_text(critical.saved_by_twice(tokens)));
  const Message here =
      told.holds ? message("plan-rule-below",
                           "A step has {} tokens, fewer than that: twice as many would save {} of "
                           "the steps.",
                           of_step, saved)
                 : message("plan-rule-above",
                           "A step has {} tokens, more than that: twice as many would save only {} "
                           "of the steps.",
                           of_step, saved);
  const Message unknown = message("plan-rule-unknown",
                                  "Earlier in training that batch is smaller, and other data have "
                                  "another one. No plan knows it; a run with DP measures it.");
  const Message fitted = message(
      "plan-rule-fitted", "{} The law was fitted on smaller models, all of them dense.", unknown);
  told.sentence = message(
      "plan-rule-batch",
      "A larger batch, and with it more DP, saves steps up to a critical batch. Here that is {} "
      "tokens ({} sequences) at most. A law says so for a loss of {}, the best that {} parameters "
      "reach: those that a token meets, without tables. {} {}",
      figure(count_text(critical.tokens)), figure(three_digits(critical.tokens / sequence)),
      figure(three_digits(critical.loss)), figure(parameters_text(critical.parameters)), here,
      critical.parameters > kMostFittedParameters ? fitted : unknown);
  return told;
}

}  // namespace

void note_rules(PlanResult& result, const PlanRequest& request) {
  // Fewer are of another objective, or of a search that was cancelled.
  if (result.best.empty() || result.cancelled || result.keeping.size() <= std::size(kRules)) return;
  const Plan& best = result.best.front();
  const auto tell = [&](PlanRule told, std::size_t at, const auto& say) {
    const std::optional<Plan>& plan = result.keeping[at];
    told.too_long = result.keeping_too_long[at];
    if (plan) {
      told.setup = plan->setup;
      told.seconds = plan->step.seconds - best.step.seconds;
      told.tied = !told.holds && result.ties.within(best.step.seconds, plan->step.seconds);
    }
    told.sentence = say(told);
    if (told.seconds && told.too_long > 0)
      told.sentence =
          message("plan-rule-untried",
                  "{} Others that may come before that, {} in all, were not tried: their stages "
                  "times their micro-batches are more than {}.",
                  told.sentence, told.too_long, kMostFrontActions);
    result.rules.push_back(std::move(told));
  };
  for (std::size_t at = 0; at < std::size(kRules); ++at) {
    const Rule& rule = kRules[at];
    PlanRule told;
    told.id = rule.id;
    told.source = rule.source;
    told.holds = rule.keeps(best.setup, request.machine);
    tell(std::move(told), at,
         [&](const PlanRule& of) { return sentence_of(of, rule.said(), best); });
  }
  const std::optional<Plan>& ordered = result.keeping.back();
  PlanRule order;
  order.id = "axis-order";
  order.source = "Narayanan et al. 2021, sections 3.2 and 3.3, takeaways 1 and 2";
  order.holds = ordered && ordered->setup == best.setup;
  tell(std::move(order), result.keeping.size() - 1,
       [&](const PlanRule& of) { return sentence_of_order(of, best); });
  if (std::optional<PlanRule> told = rule_of_divisors(best, request.global_batch))
    result.rules.push_back(std::move(*told));
  result.rules.push_back(rule_of_batch(request));
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

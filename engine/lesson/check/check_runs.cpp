// SPDX-License-Identifier: Apache-2.0
// The checks of a lesson's runs: each is run, and must pass.
#include <algorithm>

#include "engine/lesson/check/check_parts.h"
#include "engine/plan/placement/resolve.h"

namespace parallelarium {

namespace {

// Runs what is set and notes what was seen. Error: it could not be run or predicted.
Result<void> observe(Context& context, const Step& step, const CheckOptions& options) {
  if (step.runs_collective()) {
    const CollectiveChoice& choice = context.settings.collective;
    const Result<CollectivePlan> plan = plan_collective(choice, this_computer(choice.gpus));
    if (!plan) return plan.error();
    const Result<CollectiveObservation> seen = options.run_collective(choice.spec);
    if (!seen) return seen.error();
    context.collective_observed = facts_of(*seen, *plan);
    return {};
  }
  const Setup& setup = context.settings.setup;
  const Result<Situation> here = situation_of(setup, options.computer);
  if (!here) return here.error();
  const Result<Prediction> prediction = predict(here->setup, here->machine, true);
  if (!prediction) return prediction.error();
  if (step.wants_proof()) {
    const Result<ProvedRun> proved = options.prove(setup);
    if (!proved) return proved.error();
    context.observed = facts_of(proved->observation, prediction->program);
    context.observed["proof"] = proof_facts(proved->proof);
    return {};
  }
  const Result<Observation> observation = options.run(setup);
  if (!observation) return observation.error();
  context.observed = facts_of(*observation, prediction->program);
  return {};
}

// The order that solves the step runs on ranks, whose losses and gradients must be one rank's.
// Returns the number of runs.
std::size_t run_solution(const Step& step, Settings settings, const CheckOptions& options,
                         Faults& faults) {
  Result<Schedule> order = Schedule::own(step.id, step.order.solution);
  if (!order) return 0;  // check_step() says why
  settings.setup.schedule = std::move(*order);
  const Result<ProvedRun> proved = options.prove(settings.setup);
  if (!proved)
    faults.add("run-failed", proved.error(), step.id, "order.solution");
  else if (!proved->proof.is_object() || !proved->proof.value("holds", false))
    faults.add(message("run-proof",
                       "Ranks that run the order of the solution have other losses or gradients "
                       "than one rank."),
               step.id, "order.solution");
  return 1;
}

}  // namespace

std::size_t check_run(const Lesson& lesson, std::size_t index, const Symbols& drawn,
                      Predictions& predictions, const CheckOptions& options, Faults& faults) {
  const Step& step = lesson.steps[index];
  if (step.builds_order()) {
    const Result<Settings> settings = settings_at(lesson, index, drawn);
    return settings && options.prove ? run_solution(step, *settings, options, faults) : 0;
  }
  const bool runs = std::any_of(step.checks.begin(), step.checks.end(),
                                [](const Check& check) { return check.of_run(); });
  if (!runs || step.kind == StepKind::kBuild) return 0;
  const bool can = step.runs_collective() ? bool(options.run_collective)
                   : step.wants_proof()   ? bool(options.prove)
                                          : bool(options.run);
  if (!can) return 0;
  const Result<Context> start = context_at(lesson, index, drawn, predictions);
  if (!start) return 0;
  Result<Settings> solved = with_fields(start->settings, step.solution, drawn);
  if (!solved) return 0;
  Result<Context> context = context_of(std::move(*solved), drawn, predictions);
  if (!context) return 0;
  for (const Check& check : step.checks) {
    if (check.than.empty() || context->kept.count(check.than)) continue;
    const auto keeps = std::find_if(lesson.steps.begin(), lesson.steps.end(),
                                    [&](const Step& other) { return other.keep == check.than; });
    Result<Context> earlier = context_at(
        lesson, static_cast<std::size_t>(keeps - lesson.steps.begin()), drawn, predictions);
    if (!earlier) return 0;
    if (keeps->wants_proof() ? !options.prove : !options.run) return 0;
    if (const Result<void> seen = observe(*earlier, *keeps, options); !seen) {
      faults.add("run-failed", seen.error(), keeps->id);
      return 1;
    }
    context->kept[check.than] = std::move(earlier->observed);
  }
  const Result<void> seen = observe(*context, step, options);
  if (!seen) {
    faults.add("run-failed", seen.error(), step.id);
    return 1;
  }
  const Result<Judgement> judgement = judge(step, {}, *context);
  if (!judgement) {
    faults.add("run-judge", judgement.error(), step.id);
  } else if (judgement->verdict != Verdict::kRight) {
    for (const Message& reason : judgement->reasons) faults.add(reason, step.id);
    for (std::size_t at = 0; at < judgement->checks.size(); ++at)
      if (const CheckOutcome& outcome = judgement->checks[at]; !outcome.holds && outcome.value)
        faults.add(message("run-missed", "The run has {} = {}, not {} {}.", outcome.check.key,
                           figure(fmt::format("{:.4g}", *outcome.value)), outcome.check.op,
                           figure(fmt::format("{:.4g}", outcome.wanted))),
                   step.id, fmt::format("checks.{}", at));
  }
  return 1;
}

}  // namespace parallelarium

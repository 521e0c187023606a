// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/serve_jobs.h"

#include <utility>
#include <vector>

#include "engine/cli/commands/check_before_run.h"
#include "engine/cli/computer/gpu_check.h"
#include "engine/cli/computer/probe.h"
#include "engine/cli/outlook.h"
#include "engine/cli/planning.h"
#include "engine/cli/text/run/probe_text.h"
#include "engine/plan/placement/resolve.h"
#include "engine/plan/text/message_json.h"
#include "engine/planner/reasons/advice/neighbours.h"
#include "engine/planner/reasons/advice/recommended.h"
#include "engine/planner/reasons/rules.h"
#include "engine/planner/reasons/standing.h"
#include "engine/planner/reasons/why_not.h"
#include "engine/predict/predict.h"
#include "engine/run/collective/collective_memory.h"
#include "engine/run/collective/collective_run.h"
#include "engine/run/gpu/module/module.h"

namespace parallelarium {

namespace {

// `list` is the JSON of these reasons: adds what the window needs to say them in its language.
template <class Reasons>
void add_messages(nlohmann::json& list, const Reasons& reasons) {
  for (std::size_t at = 0; at < reasons.size(); ++at)
    list[at]["message"] = to_json(reasons[at].sentence);
}

}  // namespace

Result<nlohmann::json> calibrate_job(const Watch& watch) {
  Result<Machine> machine = calibrate_and_store(Calibrated::kCores, watch);
  if (!machine) return machine.error();
  if (usable_gpus()) {
    if (const Result<void> checked = check_before_calibrating(watch); !checked)
      return checked.error();
    if (const Result<Machine> gpus = calibrate_and_store(Calibrated::kGpus, watch); !gpus)
      return gpus.error();
  }
  return nlohmann::json{{"machine", to_json(*machine)}};
}

Result<nlohmann::json> check_job(const Watch& watch) {
  const Result<CheckedComputer> checked = check_this_computer(watch);
  if (!checked) return checked.error();
  nlohmann::json answer = to_json(*checked);
  if (checked->check.stuck) answer["stuck"] = true;
  return answer;
}

Result<nlohmann::json> run_job(const RunRequest& request, const Watch& watch) {
  const Result<std::vector<Probe>> probes = parse_probes(request.probes);
  if (!probes) return probes.error();
  const Result<Preparation> preparation = prepare_checked(request.setup, {}, watch);
  if (!preparation) return preparation.error();
  watch.progress("running", 0, preparation->choice.why);
  const Result<Training> training =
      train(*preparation, request.verify, watch, request.let_it_hang_seconds, *probes);
  if (!training) return training.error();
  nlohmann::json answer = to_json(*training);
  if (probes->empty() || training->hang) return answer;
  const Prediction& of = training->prediction;
  add_probes(
      answer, training->result,
      identities_of(of.setup, of.program, training->result.probes, training->one_rank_probes), {});
  add_cells(answer, training->result);
  return answer;
}

Result<nlohmann::json> collective_job(const CollectiveRequest& request, const Watch& watch) {
  const Result<Collective> collective = make_collective(request.spec);
  if (!collective) return collective.error();
  RunSettings settings;
  settings.backend = request.backend;
  settings.devices = request.devices;
  Result<BackendChoice> choice = choose_collective_checked(settings, request.spec.ranks, watch);
  if (!choice) return choice.error();
  if (choice->backend == Backend::kCpu) {
    if (Result<void> fits = fits_memory(*collective, request.rounding); !fits) return fits.error();
  }
  watch.progress("running", 0, choice->why);
  CollectiveRunOptions options;
  options.on.choice = std::move(*choice);
  options.on.abandon = watch.abandon;
  options.repeats = request.repeats;
  options.warmup = request.warmup;
  options.values = request.values;
  options.rounding = request.rounding;
  const Result<CollectiveObservation> seen = run_collective(*collective, options, watch.cancel);
  if (!seen) return seen.error();
  return to_json(*seen);
}

Result<nlohmann::json> plan_job(const PlanRequest& request, const std::optional<Setup>& today,
                                const Watch& watch) {
  PlanWatch seen;
  seen.cancel = watch.cancel;
  seen.progress = [&](double share, const Message& what) {
    watch.progress("planning", share, what);
  };
  Result<PlanResult> result = search(request, seen);
  if (!result) return result.error();
  note_ties(*result, request, seen);
  note_fitting_changes(*result, request, seen);
  note_recommended(*result, request, seen);
  if (today) note_nearest_to(*today, request, *result, seen);
  note_rules(*result, request);
  nlohmann::json answer = to_json(*result);
  add_messages(answer["reasons"], result->reasons);
  for (std::size_t at = 0; at < result->why.size(); ++at)
    add_messages(answer["best"][at]["why"], result->why[at]);
  add_messages(answer["rules"], result->rules);
  for (std::size_t at = 0; at < result->rules.size(); ++at)
    for (const std::optional<Plan>& kept : result->keeping)
      if (kept && result->rules[at].setup == kept->setup)
        answer["rules"][at]["plan"] = to_json(*kept);
  answer["tie_source"]["message"] = to_json(result->ties.said);
  answer["tie_source"]["trust_message"] = to_json(result->ties.trust);
  answer["tie_source"]["memory_trust_message"] = to_json(result->ties.memory_trust);
  answer["memory_limit"] = memory_limit_json(request.machine);
  answer["capacity_bytes"] = usable_bytes(request.machine);
  answer["rates"] = prediction_word(request.machine);
  const std::optional<Message>& near = result->near_rows;
  answer["near_rows"] = near ? to_json(*near) : nlohmann::json(nullptr);
  if (today && !result->cancelled)
    answer["explained"] = explanation_of(*today, request, *result, seen);
  return answer;
}

Result<nlohmann::json> why_not_job(const PlanRequest& request, const std::string& axis,
                                   const std::string& value, const Setup& best,
                                   std::vector<Setup> fastest, const Watch& watch) {
  PlanWatch seen;
  seen.cancel = watch.cancel;
  seen.progress = [&](double share, const Message& what) {
    watch.progress("planning", share, what);
  };
  const Result<Tried> tried = try_setup(best, request.machine, true);
  if (!tried) return tried.error();
  const KnownPlans known{&tried->plan, std::move(fastest), known_ties_of(request.machine)};
  const Result<WhyNot> answer = why_not(axis, value, request, known, seen);
  if (!answer) return answer.error();
  return to_json(*answer);
}

Result<nlohmann::json> standing_job(PlanRequest request, const Setup& asked,
                                    const std::vector<Setup>& plans, const Watch& watch) {
  PlanWatch seen;
  seen.cancel = watch.cancel;
  seen.progress = [&](double share, const Message& what) {
    watch.progress("planning", share, what);
  };
  PlanResult found;
  for (const Setup& plan : plans) {
    Result<Tried> tried = try_setup(plan, request.machine, true);
    if (!tried) return tried.error();
    found.best.push_back(std::move(tried->plan));
  }
  request.top = std::max(1, static_cast<int>(plans.size()));
  found.ties = known_ties_of(request.machine);
  return explanation_of(asked, request, found, seen);
}

Result<nlohmann::json> neighbours_job(const PlanRequest& request, const Setup& asked,
                                      const Watch& /*watch*/) {
  const Result<Situation> situation = situation_here(asked);
  if (!situation) return situation.error();
  if (const Result<Space> space = Space::of(request); !space) return space.error();
  const Result<std::vector<PlanReason>> reasons =
      neighbours_of_plan(situation->setup, request.machine, request.refuses,
                         changes_within(situation->setup, request), request.objective);
  if (!reasons) return reasons.error();
  nlohmann::json why = to_json(*reasons);
  add_messages(why, *reasons);
  return nlohmann::json{{"why", std::move(why)}};
}

Result<nlohmann::json> sweep_job(const SweepRequest& request, const Watch& watch) {
  return sweep_answer(request, watch.cancel, [&](std::size_t done, std::size_t all) {
    watch.progress("sweeping", static_cast<double>(done) / static_cast<double>(all),
                   message("sweep-progress", "{} of {} points", done, all));
  });
}

}  // namespace parallelarium

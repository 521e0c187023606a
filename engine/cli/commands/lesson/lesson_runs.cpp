// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/commands/lesson/lesson_runs.h"

#include <nlohmann/json.hpp>

#include "engine/cli/commands/check_before_run.h"
#include "engine/cli/training.h"
#include "engine/run/collective/collective_run.h"
#include "engine/wire/messages.h"

namespace parallelarium {

namespace {

Result<Training> trained(const Setup& setup, bool verify, Progress& progress) {
  const Result<Preparation> preparation = prepare_checked(setup, {}, watch_of(progress));
  if (!preparation) return preparation.error();
  return train(*preparation, verify, watch_of(progress));
}

}  // namespace

Result<Observation> run_for_check(const Setup& setup, Progress& progress) {
  Result<Training> training = trained(setup, false, progress);
  if (!training) return training.error();
  return std::move(training->result.observation);
}

Result<ProvedRun> prove_for_check(const Setup& setup, Progress& progress) {
  Result<Training> training = trained(setup, true, progress);
  if (!training) return training.error();
  if (training->unproven) return *training->unproven;
  return ProvedRun{std::move(training->result.observation),
                   training->proof ? to_json(*training->proof) : nlohmann::json()};
}

Result<CollectiveObservation> run_collective_for_check(const CollectiveSpec& spec,
                                                       Progress& progress) {
  const Result<Collective> made = make_collective(spec);
  if (!made) return made.error();
  Result<BackendChoice> choice =
      choose_collective_checked(RunSettings(), spec.ranks, watch_of(progress));
  if (!choice) return choice.error();
  CollectiveRunOptions options;
  options.warmup = 1;
  options.repeats = 5;
  options.on.choice = std::move(*choice);
  options.on.abandon = watch_of(progress).abandon;
  return run_collective(*made, options);
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// A rehearsal beside its prediction, as the engine program sets them up.
#pragma once

#include <cstdlib>
#include <sstream>

#include "tests/ranks/harness.h"

namespace parallelarium {

struct PacedRun {
  Prediction predicted;
  RunResult observed;
  double step_error() const {
    return predicted.step.seconds / observed.observation.step.seconds - 1;
  }
  double bubble_error() const {
    return predicted.bubble.of_total - observed.observation.bubble.of_total;
  }
};

// Predicts `setup` and runs `executed`, by default the same program, with durations of the machine.
// Where `executed` differs, its own durations are modelled.
inline Result<PacedRun> run_paced(const Setup& setup, const Machine& machine,
                                  const Program* executed = nullptr) {
  Result<Prediction> predicted = predict(setup, machine, true);
  if (!predicted) return predicted.error();
  Prediction run_like = *predicted;
  if (executed != nullptr) run_like.program = *executed;
  RunControl control;
  control.modelled = modelled_durations(run_like);
  control.stretch = stretch_of(run_like, uncalibrated_local_machine());
  Result<RunResult> observed =
      run(setup, run_like.program, {Backend::kPaced, Source::kPaced, {}}, control);
  if (!observed) return observed.error();
  return PacedRun{std::move(*predicted), std::move(*observed)};
}

// Setups of up to 8 ranks, of several schedules, meshes and micro-batch counts; the slow link of
// the machine makes transfers matter.
struct PacedCase {
  int pp, dp, microbatches;
  const char* schedule;
  int micro_batch = 1;
  const char* words = "";  // "tp=2 zero=3"
};

inline Setup paced_setup(const PacedCase& c) {
  Setup setup = default_setup();
  setup.model.layers = 12 % c.pp == 0 ? 12 : 8;
  setup.model.sequence = 32;
  setup.model.hidden = 32;
  setup.model.ffn = 128;
  setup.mesh.pp = c.pp;
  setup.mesh.dp = c.dp;
  setup.microbatches = c.microbatches;
  setup.micro_batch = c.micro_batch;
  setup.schedule = c.schedule;
  setup.run.backend = Backend::kPaced;
  setup.run.warmup = 1;
  setup.run.steps = 3;
  std::istringstream words(c.words);
  for (std::string word; words >> word;) {
    const std::size_t equals = word.find('=');
    if (!set_field(setup, word.substr(0, equals), word.substr(equals + 1))) std::abort();
  }
  return setup;
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// Running: from the press of the button to the record, through calibration where it is due.
#include <algorithm>

#include "app/session.h"
#include "app/session_state.h"

namespace parallelarium {

RunState Session::run_state() const { return state_->run_state; }
double Session::run_progress() const { return state_->run_progress; }
QString Session::run_progress_text() const { return state_->run_progress_text; }
bool Session::run_verifies() const { return state_->run_verifies; }
QString Session::last_error() const { return state_->last_error; }
EngineProcess& Session::engine() { return *state_->engine; }

void Session::dismiss_error() {
  if (state_->last_error.isEmpty()) return;
  state_->last_error.clear();
  Q_EMIT run_state_changed();
}

bool Session::machine_is_elsewhere() const { return !machine().local; }

Source Session::expected_source() const {
  const int ranks = state_->setup.mesh.ranks();
  const bool enough = machine().cores >= ranks;
  switch (state_->setup.run.backend) {
    case Backend::kPaced:
      return Source::kPaced;
    case Backend::kCpu:
      return enough ? Source::kMeasured : Source::kOversubscribed;
    case Backend::kCuda:
      return Source::kMeasured;
    case Backend::kAuto:
      break;
  }
  return enough ? Source::kMeasured : Source::kPaced;
}

QString Session::run_refusal() const {
  if (!state_->problems.empty()) return QString::fromStdString(state_->problems.front().text);
  if (machine_is_elsewhere())
    return tr("%1 is not this computer, so nothing can run on it from here; run a small copy here "
              "instead.")
        .arg(QString::fromStdString(machine().title));
  const Result<void> executable = can_execute(state_->setup);
  if (!executable) return QString::fromStdString(executable.error().text);
  return {};
}

QString Session::run_label() const {
  if (machine_is_elsewhere()) return tr("Run a small copy here");
  const int ranks = state_->setup.mesh.ranks();
  const QString base =
      state_->setup.run.backend == Backend::kCuda
          ? tr("Run on %n GPU rank(s)", nullptr, ranks)
          : (ranks == 1 ? tr("Run on 1 CPU rank") : tr("Run on %1 CPU ranks").arg(ranks));
  switch (expected_source()) {
    case Source::kPaced:
      return tr("%1, paced").arg(base);
    case Source::kOversubscribed:
      return tr("%1, oversubscribed").arg(base);
    default:
      return base;
  }
}

Setup Session::small_copy() const {
  const Setup& big = state_->setup;
  Setup copy = big;
  const char* preset = big.model.experts.count > 0     ? "moe-tiny"
                       : big.model.mlp == Mlp::kSwiglu ? "llama-tiny"
                                                       : "gpt-tiny";
  if (Result<Model> model = find_model(preset)) copy.model = std::move(*model);
  const int stages = std::max(1, big.mesh.pp * big.chunks);
  if (copy.model.layers % stages != 0)
    copy.model.layers = (copy.model.layers / stages + 1) * stages;
  copy.model.stage_layers.clear();
  copy.stage_layers.clear();
  copy.machine = "local";
  copy.nodes = 0;
  copy.micro_batch = 1;
  copy.precision = Precision{};
  copy.run.backend = Backend::kAuto;
  return copy;
}

void Session::start_run(bool verify) {
  if (state_->run_state != RunState::kIdle || !run_refusal().isEmpty()) return;
  state_->run_setup = state_->setup;
  state_->run_verifies = verify;
  state_->last_error.clear();
  if (machine().calibrated.empty())
    calibrate(true);
  else
    send_run();
}

void Session::start_calibration() {
  if (state_->run_state != RunState::kIdle) return;
  state_->last_error.clear();
  state_->run_verifies = false;
  calibrate(false);
}

void Session::calibrate(bool then_run) {
  state_->run_state = RunState::kCalibrating;
  state_->run_progress = 0;
  state_->run_progress_text = tr("Measuring this computer once");
  state_->request = state_->engine->request(
      "calibrate", nlohmann::json::object(), [this, then_run](Result<nlohmann::json> result) {
        if (!result) return finish_run(QString::fromStdString(result.error().text));
        state_->machines.clear();
        if (state_->problems.empty()) refresh_prediction();
        wait_for_prediction();
        if (then_run && state_->run_state != RunState::kCancelling) return send_run();
        finish_run({});
      });
  Q_EMIT run_state_changed();
}

void Session::send_run() {
  state_->run_state = RunState::kStarting;
  state_->run_progress = 0;
  state_->run_progress_text = tr("Starting the ranks");
  state_->request = state_->engine->request(
      "run", {{"setup", to_json(state_->run_setup)}, {"verify", state_->run_verifies}},
      [this](Result<nlohmann::json> result) {
        if (!result) return finish_run(QString::fromStdString(result.error().text));
        if (!result->is_object() || !result->contains("observation"))
          return finish_run(
              tr("The engine answered a run without an observation; press Run to "
                 "try again."));
        Result<Observation> observation = observation_from_json(result->at("observation"));
        if (!observation) return finish_run(QString::fromStdString(observation.error().text));
        RunRecord record;
        record.observation = std::move(*observation);
        record.observation.setup = state_->run_setup;
        if (state_->prediction->setup == state_->run_setup &&
            !state_->prediction->program.representatives) {
          record.prediction = state_->prediction;
        } else {
          Result<Machine> on = find_machine(state_->run_setup.machine);
          if (!on) return finish_run(QString::fromStdString(on.error().text));
          Result<Prediction> again = predict(state_->run_setup, *on, true);
          if (!again) return finish_run(QString::fromStdString(again.error().text));
          record.prediction = std::make_shared<const Prediction>(std::move(*again));
        }
        const auto& built = record.prediction->program.ranks;
        const auto& ranks = record.observation.timeline.ranks;
        bool same = built.size() == ranks.size();
        for (std::size_t rank = 0; same && rank < ranks.size(); ++rank)
          same = ranks[rank].spans.size() == built[rank].ops.size();
        if (!same)
          return finish_run(
              tr("The engine ran another program than was predicted; install engine "
                 "and window of the same version."));
        if (result->contains("proof") && result->at("proof").is_object())
          record.proof = result->at("proof");
        std::erase_if(state_->runs, [&](const RunRecord& run) {
          return run.observation.setup == record.observation.setup;
        });
        state_->runs.push_back(std::move(record));
        if (state_->runs.size() > 20) state_->runs.erase(state_->runs.begin());
        finish_run({});
      });
  Q_EMIT run_state_changed();
}

void Session::cancel_run() {
  if (state_->run_state == RunState::kIdle || state_->run_state == RunState::kCancelling) return;
  state_->run_state = RunState::kCancelling;
  state_->run_progress_text = tr("Cancelling");
  state_->engine->cancel(state_->request);
  Q_EMIT run_state_changed();
}

void Session::finish_run(const QString& error) {
  state_->run_state = RunState::kIdle;
  state_->run_progress = 0;
  state_->run_progress_text.clear();
  state_->last_error = error;
  state_->request = 0;
  horizon_changed();
  Q_EMIT run_changed();
  Q_EMIT run_state_changed();
}

}  // namespace parallelarium

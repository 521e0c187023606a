// SPDX-License-Identifier: GPL-3.0-or-later
// Running: from the press of the button to the record, through calibration where it is due.
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/state/session.h"
#include "app/state/session_state.h"
#include "app/state/small_copy.h"
#include "engine/plan/text/message_json.h"
#include "engine/predict/compare.h"
#include "engine/predict/local_prediction.h"

namespace parallelarium {

RunState Session::run_state() const { return state_->run_state; }
double Session::run_progress() const { return state_->run_progress; }
QString Session::run_progress_text() const { return state_->run_progress_text; }
bool Session::run_verifies() const { return state_->run_verifies; }
const std::vector<double>& Session::live_losses() const { return state_->live_losses; }
QString Session::live_step_text() const {
  const RunSettings& run = state_->run_setup.run;
  const int done = int(state_->live_losses.size());
  return done <= run.warmup ? tr("warm-up step %1 of %2").arg(done).arg(run.warmup)
                            : tr("step %1 of %2").arg(done - run.warmup).arg(run.steps);
}
const std::optional<Message>& Session::last_problem() const { return state_->last_problem; }
QString Session::last_error() const { return state_->last_error; }
EngineProcess& Session::engine() { return *state_->engine; }

void Session::dismiss_error() {
  if (state_->last_error.isEmpty()) return;
  state_->last_error.clear();
  state_->last_problem.reset();
  Q_EMIT run_state_changed();
}

bool Session::machine_is_elsewhere() const { return topic().is_step() && !machine().local; }

Source Session::expected_source() const {
  if (!topic().is_step()) return collective_placement(topic().ranks()).source;
  return parallelarium::expected_source(resolved(), machine());
}

QString Session::run_refusal() const {
  if (const std::optional<Message> problem = topic().problem()) return sentence(*problem);
  if (!topic().is_step()) return question_refusal();
  if (machine_is_elsewhere())
    return tr("%1 is not this computer, so nothing can run on it from here. %2")
        .arg(sentence(title_of(machine())), small_copy_offer());
  if (const std::optional<Message> problem = run_problem()) return sentence(*problem);
  return question_refusal();
}

QString Session::question_refusal() const {
  return state_->question_open
             ? tr("A run would show the answer: commit yours in the lesson first.")
             : QString();
}

std::optional<Message> Session::run_problem() const {
  if (!topic().is_step() || !state_->problems.empty() || machine_is_elsewhere()) return {};
  if (const Result<void> executable = can_execute(resolved()); !executable)
    return executable.error();
  if (state_->setup.run.backend == Backend::kCuda)
    if (std::optional<Message> missing = missing_backend("cuda")) return missing;
  if (!prediction_is_current()) return {};
  // What is free on the GPUs that a run would take is known to the engine alone.
  if (!takes_gpus())
    if (std::optional<Message> problem = memory_problem()) return problem;
  return state_->too_fast;
}

// What the engine told of this computer and of a backend; null where it has not said yet.
const nlohmann::json* Session::greeted_devices() const {
  const nlohmann::json& greeting = state_->engine->greeting();
  if (!greeting.is_object() || !greeting.contains("devices")) return nullptr;
  const nlohmann::json& devices = greeting["devices"];
  return devices.is_object() ? &devices : nullptr;
}

const nlohmann::json* Session::greeted_backend(const std::string& name) const {
  const nlohmann::json* devices = greeted_devices();
  if (devices == nullptr || !devices->contains("backends")) return nullptr;
  for (const nlohmann::json& backend : devices->at("backends"))
    if (backend.is_object() && backend.value("name", "") == name) return &backend;
  return nullptr;
}

// Why this computer does not have what Run would use; none where the engine has not said yet.
std::optional<Message> Session::missing_backend(const std::string& name) const {
  const nlohmann::json* backend = greeted_backend(name);
  if (backend == nullptr || backend->value("available", true)) return {};
  Message why = message_at(*backend, "why");
  why.kind = "backend-missing";
  return why;
}

std::optional<Message> Session::gpu_offer() const {
  const std::optional<Placement>& placed = state_->situation.placement;
  const bool fits = prediction_is_current() && topic().is_step() && placed && placed->on_gpus() &&
                    state_->lesson_state.is_null();
  const Result<Model> tiny = find_model("gpt-tiny");
  if (!fits || !tiny || state_->setup.model.hidden > tiny->hidden) return {};
  Setup larger = state_->setup;
  if (!set_field(larger, "model", "gpt2-124m") || !validate(resolved(larger)).empty()) return {};
  Message offer = message("gpus-wait", "{}",
                          tr("These ranks are on GPUs, which %1 keeps waiting: gpt2-124m gives "
                             "them work.")
                              .arg(sentence(title_of(state_->setup.model)))
                              .toStdString());
  offer.field = "model";
  offer.alternatives = {"gpt2-124m"};
  return offer;
}

// Ranks of this computer share its memory, ranks on one GPU that; elsewhere one rank has a device.
std::optional<Message> Session::memory_problem() const {
  if (!prediction_is_current() || state_->prediction->fits()) return {};
  if (state_->prediction->cores_for_gpus) return {};  // the memory of the cores is not theirs
  const Prediction& prediction = *state_->prediction;
  const bool together = prediction.memory_together();
  const QString how = together ? tr("Fewer ranks, a smaller model or micro-batch would shrink it.")
                               : tr("More stages, TP, ZeRO or recompute would shrink it.");
  const QString needed = bytes_text(prediction.needed_bytes);
  const QString capacity = bytes_text(prediction.capacity_bytes);
  QString sentence;
  if (hidden(QStringLiteral("memory"))) {
    sentence = tr("This does not fit in memory. %1").arg(how);
  } else if (together) {
    sentence = tr("This does not fit in memory: the ranks need %1 together of %2. %3")
                   .arg(needed, capacity, how);
  } else {
    const auto fullest = std::max_element(
        prediction.memory.begin(), prediction.memory.end(),
        [](const MemoryRow& a, const MemoryRow& b) { return a.peak_bytes < b.peak_bytes; });
    sentence = tr("This does not fit in memory: stage %1 needs %2 of %3. %4")
                   .arg(fullest->stage)
                   .arg(needed, capacity, how);
  }
  return message("memory-full", "{}", sentence.toStdString());
}

QString Session::run_label() const {
  if (machine_is_elsewhere()) return tr("Run a small copy here");
  const int ranks = topic().ranks();
  const bool on_gpus =
      topic().is_step() ? takes_gpus() || machine().name == kLocalGpus : collective_gpus(ranks) > 0;
  const QString base =
      on_gpus ? (ranks == 1 ? tr("Run on 1 GPU rank") : tr("Run on %1 GPU ranks").arg(ranks))
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

QString Session::small_copy_refusal() const {
  if (!state_->problems.empty()) return sentence(state_->problems.front());
  const Result<Setup> copy = small_copy(state_->setup, state_->computer);
  return copy ? question_refusal()
              : tr("A small copy cannot run here either: %1").arg(sentence(copy.error()));
}

QString Session::small_copy_offer() const {
  const Result<Setup> copy = small_copy(state_->setup, state_->computer);
  if (!copy) return small_copy_refusal();
  const QString reduced = reduced_degrees(state_->setup, *copy);
  return reduced.isEmpty()
             ? tr("Run a small copy here instead, with the same mesh and schedule.")
             : tr("Run a small copy here instead; fewer ranks run at once here: %1.").arg(reduced);
}

void Session::run_small_copy() {
  if (!small_copy_refusal().isEmpty()) return;
  Result<Setup> copy = small_copy(state_->setup, state_->computer);
  if (!copy) return;
  std::optional<Message> too_fast;
  const Situation here = situation_of(*copy);
  if (predict_as_shown(here.setup, here.machine, false, &too_fast).ok() && too_fast)
    for (const std::string& pace : too_fast->alternatives)
      if (Setup slower = *copy; set_field(slower, "pace", pace)) *copy = slower;
  change_setup(*copy, tr("Small copy"));
  wait_for_prediction();
  start_run(false);
}

void Session::start_run(bool verify) {
  if (state_->run_state != RunState::kIdle || !run_refusal().isEmpty()) return;
  if (!topic().is_step()) return start_topic();
  state_->run_setup = state_->setup;
  state_->run_verifies = verify;
  begin_request(tr("Starting the ranks"));
  // As it was asked for: only the engine knows whether the GPUs that auto would take can be used.
  state_->request = state_->engine->request(
      "run", {{"setup", to_json(state_->run_setup)}, {"verify", verify}},
      [this](Result<nlohmann::json> result) {
        const Result<void> kept = result ? keep_run(*result) : Result<void>(result.error());
        QString said = kept ? QString() : sentence(kept.error());
        if (!kept) state_->last_problem = kept.error();
        // The run is there, but one rank could not repeat it: say why.
        if (kept && result->contains("unproven"))
          said = sentence(message_from_json((*result)["unproven"]));
        finish_request(said);
      });
}

void Session::start_calibration() {
  if (state_->run_state != RunState::kIdle) return;
  state_->run_verifies = false;
  begin_request(tr("Measuring this computer"));
  state_->request = state_->engine->request(
      "calibrate", nlohmann::json::object(), [this](Result<nlohmann::json> result) {
        finish_request(result ? QString() : sentence(result.error()));
      });
}

void Session::begin_request(const QString& what) {
  state_->run_state = RunState::kStarting;
  state_->run_progress = 0;
  state_->run_progress_text = what;
  state_->last_error.clear();
  state_->last_problem.reset();
  state_->live_losses.clear();
  Q_EMIT run_state_changed();
}

// Files the answer of a run, with the prediction on the Machine that the engine used.
Result<void> Session::keep_run(const nlohmann::json& answer) {
  if (!answer.is_object() || !answer.contains("observation") || !answer.contains("machine"))
    return message("run-answer",
                   "The engine answered a run without an observation; press Run to try again.");
  Result<Observation> observation = observation_from_json(answer["observation"]);
  if (!observation) return observation.error();
  Result<Machine> on = machine_from_json(answer["machine"]);
  if (!on) return on.error();
  Result<RunRecord> record = make_run_record(std::move(*observation), *on);
  if (!record) return record.error();
  if (answer.contains("proof") && answer["proof"].is_object()) record->proof = answer["proof"];
  std::vector<RunRecord>& runs = state_->runs;
  const auto forget = [&](std::size_t run) {
    runs.erase(runs.begin() + std::ptrdiff_t(run));
    if (run < state_->earlier_runs) --state_->earlier_runs;
  };
  for (std::size_t run = runs.size(); run-- > 0;)
    if (runs[run].observation.setup == record->observation.setup) forget(run);
  if (runs.size() == kMostRuns) forget(0);
  runs.push_back(std::move(*record));
  return {};
}

Result<RunRecord> make_run_record(Observation observation, const Machine& machine) {
  const auto predicted = [&](const Routing* routing) {
    Result<Prediction> made = predict(observation.setup, machine, true, routing);
    if (made && observation.source == Source::kPaced && observation.pace_factor > 0) {
      const Result<double> wished = pace_factor(observation.setup, machine);
      if (wished && observation.pace_factor > *wished * kSamePace)
        made->pace_slowed = observation.pace_factor / *wished;
      made = dilated(std::move(*made), observation.pace_factor);
    }
    return made;
  };
  Result<Prediction> prediction = predicted(nullptr);
  if (!prediction) return prediction.error();
  const auto& built = prediction->program.ranks;
  const auto& ranks = observation.timeline.ranks;
  bool same = built.size() == ranks.size() && observation.memory.size() == ranks.size() &&
              observation.traffic.size() == ranks.size();
  for (std::size_t rank = 0; same && rank < ranks.size(); ++rank)
    same = ranks[rank].spans.size() == built[rank].ops.size();
  if (!same)
    return message("run-program",
                   "The run was made by an engine of another version, whose program differs from "
                   "the predicted one; run it again with this version.");
  RunRecord record;
  if (const Routing* routing = routing_of_timeline(observation)) {
    Result<Prediction> routed = predicted(routing);
    if (!routed) return routed.error();
    record.routed = std::make_shared<const Prediction>(std::move(*routed));
  }
  record.prediction = std::make_shared<const Prediction>(std::move(*prediction));
  record.observation = std::move(observation);
  return record;
}

void Session::cancel_run() {
  if (state_->run_state == RunState::kIdle || state_->run_state == RunState::kCancelling) return;
  state_->run_state = RunState::kCancelling;
  state_->run_progress_text = tr("Cancelling");
  state_->engine->cancel(state_->request);
  Q_EMIT run_state_changed();
}

void Session::finish_request(const QString& error) {
  state_->run_state = RunState::kIdle;
  state_->run_progress = 0;
  state_->run_progress_text.clear();
  state_->last_error = error;
  state_->live_losses.clear();
  state_->request = 0;
  state_->sweep.clear();
  state_->sweep_size = 0;
  // A calibration may have been part of it.
  state_->machines.clear();
  resolve_setup();
  state_->collectives.refresh_rates();
  if (state_->problems.empty() && !(machine() == state_->prediction->machine)) refresh_prediction();
  const std::shared_ptr<const Prediction> before = state_->prediction;
  take_pace_of_run();
  if (state_->prediction != before) Q_EMIT prediction_changed();
  horizon_changed();
  Q_EMIT run_changed();
  Q_EMIT run_state_changed();
}

}  // namespace parallelarium

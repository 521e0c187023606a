// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/session.h"

#include <QPointer>
#include <algorithm>
#include <tuple>

#include "app/look/sentence.h"
#include "app/state/collective/collective_session.h"
#include "app/state/document/document.h"
#include "app/state/predictor.h"
#include "app/state/run/run_advice.h"
#include "app/state/step/order_edit.h"
#include "app/state/step/training_step.h"

namespace parallelarium {

namespace {

// How long what is shown of a prediction, a run and a pin takes. A run of other settings is not
// shown.
Nanoseconds horizon_of(const Prediction& prediction, const RunStore& runs,
                       const LessonLocks& locks) {
  const bool show_predicted = !locks.hidden(QStringLiteral("lane.predicted"));
  const bool show_run = !locks.hidden(QStringLiteral("lane.run"));
  Nanoseconds longest{0};
  if (show_predicted) longest = prediction.timeline.duration;
  const RunRecord* run = runs.current();
  if (run && show_run && !runs.current_is_stale())
    longest = std::max(longest, run->observation.timeline.duration);
  const RunRecord* pin = runs.pinned();
  if (pin && (pin->observed() ? show_run : show_predicted))
    longest = std::max(longest, pin->observed() ? pin->observation.timeline.duration
                                                : pin->prediction->timeline.duration);
  return longest;
}

}  // namespace

struct Session::State {
  History history;
  Placer placer;
  Predictor predictor;
  RunStore runs;
  Subject subject;
  Playback playback;
  LessonLocks locks;
  CollectiveSession collectives{history.stack()};
  EngineJobs jobs;

  Situation situation;  // of history.setup()
  std::vector<Message> problems;
  double rehearsal_seconds = 0;
  std::optional<Setup> meant;  // what it meant where a document was saved: see keep_meaning()
  QPointer<Topic> topic;       // null: the training step
  std::unique_ptr<TrainingStep> step;
  std::unique_ptr<OrderEdit> order_edit;
};

// Parts are connected here first, so that all of them agree before a view hears of a change.
Session::Session(QObject* parent) : QObject(parent), state_(std::make_unique<State>()) {
  State& s = *state_;
  connect(&s.history, &History::changed, this, &Session::follow_setup);
  connect(&s.history, &History::base_changed, this, &Session::setup_changed);
  connect(&s.predictor, &Predictor::predicted, this, &Session::accept_prediction);
  connect(&s.runs, &RunStore::changed, this, &Session::match_runs);
  // What is hidden does not lengthen the time axis.
  connect(&s.locks, &LessonLocks::hidden_changed, this, &Session::refit);
  connect(&s.locks, &LessonLocks::question_changed, this, &Session::run_state_changed);
  connect(&s.playback, &Playback::frame, this, [this, &s](double share) {
    Topic& plays = topic();
    plays.set_playhead(s.playback.next(plays.playhead(), plays.played(), share));
  });
  connect(&s.collectives, &CollectiveSession::changed, this, &Session::run_state_changed);
  connect(&s.jobs, &EngineJobs::finished, this, &Session::end_job);
  connect(&s.jobs, &EngineJobs::state_changed, this, &Session::run_state_changed);
  connect(&s.jobs.process(), &EngineProcess::greeted, this, &Session::hear_of_devices);
  connect(&s.jobs.process(), &EngineProcess::ended, this, [&s] { s.placer.forget_backends(); });
  s.collectives.set_gpus_of([this](int ranks) {
    const Placement placed = placement_of(ranks);
    return !placed.on_gpus() ? 0 : placed.source == Source::kSharedGpu ? 1 : ranks;
  });

  s.step = std::make_unique<TrainingStep>(*this);
  s.order_edit = std::make_unique<OrderEdit>(*this);

  Prediction empty;  // until the first one is there, and where it cannot be made
  empty.setup = s.placer.situation_of(s.history.setup()).setup;
  s.subject.show(std::make_shared<const Prediction>(std::move(empty)));
  refresh_prediction();
  s.predictor.wait();  // the first lesson's Setup is small: its picture comes with the window
}

Session::~Session() = default;

History& Session::history() { return state_->history; }
const History& Session::history() const { return state_->history; }
const Placer& Session::placer() const { return state_->placer; }
EngineJobs& Session::jobs() { return state_->jobs; }
const EngineJobs& Session::jobs() const { return state_->jobs; }
RunStore& Session::runs() { return state_->runs; }
const RunStore& Session::runs() const { return state_->runs; }
Subject& Session::subject() { return state_->subject; }
const Subject& Session::subject() const { return state_->subject; }
Playback& Session::playback() { return state_->playback; }
const Playback& Session::playback() const { return state_->playback; }
LessonLocks& Session::locks() { return state_->locks; }
const LessonLocks& Session::locks() const { return state_->locks; }
CollectiveSession& Session::collectives() { return state_->collectives; }
const CollectiveSession& Session::collectives() const { return state_->collectives; }
TrainingStep& Session::training_step() const { return *state_->step; }
OrderEdit& Session::order_edit() const { return *state_->order_edit; }
Topic& Session::topic() const { return state_->topic ? *state_->topic : *state_->step; }

const Setup& Session::setup() const { return state_->history.setup(); }
const Setup& Session::resolved() const { return state_->situation.setup; }
Setup Session::resolved(const Setup& setup) const {
  return state_->placer.situation_of(setup).setup;
}
const Situation& Session::situation() const { return state_->situation; }
const Machine& Session::machine() const { return state_->situation.machine; }
const std::vector<Message>& Session::problems() const { return state_->problems; }
double Session::rehearsal_seconds() const { return state_->rehearsal_seconds; }

bool Session::prediction_is_current() const {
  return state_->problems.empty() && !state_->predictor.busy();
}

void Session::wait_for_prediction() { state_->predictor.wait(); }

QString Session::guess_at(const QString& metric) const {
  return state_->locks.guess_at(metric, setup(), state_->collectives.choice());
}

// --- setup → placement → resolve → predict → match runs ---

void Session::follow_setup() {
  refresh_prediction();
  state_->collectives.refresh_place();
  Q_EMIT setup_changed();
  Q_EMIT run_changed();
  Q_EMIT run_state_changed();  // the label and the refusal of Run
}

void Session::resolve_setup() {
  state_->situation = state_->placer.situation_of(setup());
  state_->runs.match(resolved());
  refresh_horizon();  // another run may be of it
}

void Session::refresh_prediction() {
  resolve_setup();
  state_->problems = validate(resolved());
  ask_for_gpus();
  if (state_->problems.empty())
    return state_->predictor.predict(resolved(), machine(), state_->placer.cores_here());
  state_->predictor.forget();
  Q_EMIT prediction_changed();
}

void Session::accept_prediction(const Predicted& answer) {
  state_->rehearsal_seconds = answer.rehearsal_seconds;
  if (answer.prediction) {
    state_->subject.show(*answer.prediction);
  } else {
    state_->problems = {answer.prediction.error()};
    Q_EMIT setup_changed();
  }
  refit();
  Q_EMIT prediction_changed();
  Q_EMIT run_state_changed();
}

void Session::refresh_horizon() {
  const Nanoseconds horizon =
      horizon_of(*state_->subject.prediction(), state_->runs, state_->locks);
  state_->subject.set_horizon(horizon);
  state_->playback.set_horizon(horizon);
}

void Session::refit() {
  refresh_horizon();
  state_->subject.refit();
  state_->playback.set_playhead(state_->playback.playhead());  // it may be beyond the end now
}

void Session::match_runs() {
  refit();
  Q_EMIT run_changed();
}

void Session::set_earlier_runs_aside(bool aside) {
  state_->collectives.set_earlier_runs_aside(aside);
  state_->runs.set_earlier_aside(aside);
}

void Session::pin() {
  const RunRecord* run = state_->runs.current();
  state_->runs.pin(
      run && !state_->runs.current_is_stale() ? *run : record_of(state_->subject.prediction()));
}

// --- what the engine tells ---

// Only the engine knows of GPUs: it is asked as soon as they are wanted, or may be there.
void Session::ask_for_gpus() {
  const Backend backend = setup().run.backend;
  const bool wanted = backend == Backend::kCuda && state_->jobs.process().greeting().is_null();
  const bool possible = backend == Backend::kAuto && state_->placer.may_find_gpus();
  if (wanted || possible) state_->jobs.ask_for_devices();
}

void Session::hear_of_devices() {
  State& s = *state_;
  const auto ranks_are_on = [&] {
    return std::tuple(setup(), resolved(), machine().name, s.placer.gpus_for(s.situation));
  };
  const auto before = ranks_are_on();
  const bool was_outdated = s.placer.outdated_rates(s.situation).has_value();
  const nlohmann::json& greeting = s.jobs.process().greeting();
  s.placer.hear(greeting.is_object() ? greeting.value("devices", nlohmann::json())
                                     : nlohmann::json());
  resolve_setup();
  keep_meaning();
  const bool elsewhere = ranks_are_on() != before;
  if (elsewhere) refresh_prediction();
  s.collectives.refresh_place();
  if (elsewhere || s.placer.outdated_rates(s.situation).has_value() != was_outdated)
    Q_EMIT setup_changed();
  Q_EMIT run_state_changed();
}

void Session::keep_meaning() {
  // Until the engine tells, `auto` of the backend is not known where there may be GPUs.
  const bool untold =
      state_->placer.may_find_gpus() || (!state_->placer.told() && state_->jobs.asks_for_devices());
  if (!state_->meant || (setup().run.backend == Backend::kAuto && untold)) return;
  const Setup asked = setup();
  const Setup kept = kept_meaning(asked, *state_->meant, resolved());
  state_->meant.reset();
  state_->history.replace(kept);
  resolve_setup();
  if (kept != asked) Q_EMIT meaning_kept(sentence(meaning_note(asked, kept)));
}

// A calibration may have been part of the job.
void Session::end_job() {
  state_->placer.forget_machines();
  resolve_setup();
  state_->collectives.refresh_rates();
  if (state_->problems.empty() && !(machine() == state_->subject.prediction()->machine))
    refresh_prediction();
  match_runs();
}

// --- running ---

void Session::set_topic(Topic& wanted) {
  if (&wanted == &topic()) return;
  state_->topic = &wanted;
  Q_EMIT run_state_changed();  // what Run says, and whether it may
  Q_EMIT topic_changed();
}

Placement Session::placement_of(int ranks) const {
  return state_->placer.of_collective(setup().run, ranks);
}

void Session::start_run(bool verify) {
  if (state_->jobs.state() != RunState::kIdle || !run_refusal(*this).isEmpty()) return;
  if (!topic().is_step())
    return state_->jobs.run(topic().run_request(placement_of(topic().ranks()), setup().run));
  // As it was asked for: only the engine knows whether the GPUs that auto would take can be used.
  state_->jobs.run(setup(), verify, [this](RunRecord run) { state_->runs.keep(std::move(run)); });
}

void Session::start_sweep(const std::vector<CollectiveSpec>& specs) {
  if (state_->jobs.state() != RunState::kIdle || specs.empty() || state_->locks.question_open())
    return;
  std::vector<CollectiveRequest> requests;
  for (const CollectiveSpec& spec : specs)
    requests.push_back(sweep_request(spec, placement_of(spec.ranks), setup().run));
  state_->jobs.sweep(std::move(requests),
                     [this](const CollectiveSpec& spec, const CollectiveObservation& seen) {
                       state_->collectives.keep_sweep(
                           {spec, seen.source, seen.seconds, seen.bus_bandwidth, seen.on_gpus});
                       return Result<void>();
                     });
}

// --- documents ---

void Session::restore(const Setup& setup, std::vector<RunRecord> runs,
                      std::optional<RunRecord> pinned, const std::optional<Setup>& there) {
  State& s = *state_;
  s.locks.clear();
  s.jobs.dismiss_error();
  s.playback.set_playhead(Nanoseconds(0));
  s.subject.set_marks({});
  s.subject.select({}, false);
  s.subject.follow_lengths();
  s.collectives.restore({}, {}, {});
  s.runs.restore(std::move(runs), std::move(pinned));
  s.history.restart(setup);
  resolve_setup();
  s.meant = there;
  keep_meaning();
  follow_setup();
  s.history.stack().clear();
  refit();
}

}  // namespace parallelarium

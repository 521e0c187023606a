// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/session.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "app/local_prediction.h"
#include "app/session_state.h"
#include "engine/passes/build.h"

namespace parallelarium {

namespace {

constexpr double kFrameBudgetSeconds = 0.012;  // of 16 ms, the rest is for painting
constexpr int kMergeMs = 1000;
constexpr int kFrameMs = 16, kReducedFrameMs = 250;

// How many ops a Setup's Program has, roughly: only to decide whether to predict at once.
double estimated_ops(const Setup& setup) {
  const double built = setup.mesh.ranks() <= kMostBuiltRanks ? setup.mesh.ranks() : setup.mesh.pp;
  const double layers = std::max(1.0, double(setup.model.layers) / std::max(1, setup.mesh.pp));
  const double pieces = built * layers * setup.microbatches * 24;
  return pieces <= double(kMostPieceOps) ? pieces : built * setup.microbatches * 6.0;
}

// The dotted keys in which two Setups differ, as one number: equal for two edits of the same field.
int difference_id(const nlohmann::json& before, const nlohmann::json& after) {
  std::string keys;
  for (const auto& change : nlohmann::json::diff(before, after))
    keys += change.at("path").get<std::string>() + '\n';
  return static_cast<int>(std::hash<std::string>{}(keys)&0x7fffffff);
}

}  // namespace

// One edit of the Setup.
class SetupCommand : public QUndoCommand {
 public:
  SetupCommand(Session& session, const Setup& before, const Setup& after, const QString& what)
      : QUndoCommand(what),
        session_(session),
        before_(before),
        after_(after),
        id_(difference_id(to_json(before), to_json(after))) {
    age_.start();
  }
  void undo() override { session_.apply_setup(before_); }
  void redo() override { session_.apply_setup(after_); }
  int id() const override { return id_; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* next = static_cast<const SetupCommand*>(other);
    if (age_.elapsed() > kMergeMs) return false;
    age_.restart();
    after_ = next->after_;
    setObsolete(after_ == before_);
    return true;
  }

 private:
  Session& session_;
  Setup before_, after_;
  int id_;
  QElapsedTimer age_;
};

Session::Session(QObject* parent) : QObject(parent), state_(std::make_unique<State>()) {
  state_->worker.setMaxThreadCount(1);
  state_->engine = std::make_unique<EngineProcess>();
  connect(state_->engine.get(), &EngineProcess::progressed, this,
          [this](int id, const QString& phase, double share, const QString& what) {
            if (id != state_->request) return;
            if (state_->run_state != RunState::kCancelling)
              state_->run_state = phase == QLatin1String("calibrating") ? RunState::kCalibrating
                                                                        : RunState::kRunning;
            state_->run_progress = std::clamp(share, 0.0, 1.0);
            state_->run_progress_text = what;
            Q_EMIT run_state_changed();
          });
  connect(&state_->frames, &QTimer::timeout, this, [this] {
    const double elapsed = double(state_->since_frame.nsecsElapsed()) / 1e9;
    state_->since_frame.restart();
    const double whole = double(horizon().count());
    if (whole <= 0) return;
    double next = double(state_->playhead.count()) + whole * elapsed / state_->seconds_per_step;
    if (next > whole) next = 0;
    set_playhead(Nanoseconds(std::llround(next)));
  });
  state_->frames.setTimerType(Qt::PreciseTimer);

  // The first lesson's Setup is valid and small, so this is there before the window is.
  state_->setup = default_setup();
  Result<Prediction> first = predict_as_shown(state_->setup, machine());
  if (first) {
    state_->prediction = std::make_shared<const Prediction>(std::move(*first));
  } else {  // never null: an empty picture with the sentence above it
    Prediction empty;
    empty.setup = state_->setup;
    state_->prediction = std::make_shared<const Prediction>(std::move(empty));
    state_->problems = {first.error()};
  }
  state_->visible = {Nanoseconds(0), horizon()};
}

Session::~Session() {
  state_->frames.stop();
  state_->worker.waitForDone();
  state_->undo.disconnect();
  state_->engine->disconnect(this);
}

const Setup& Session::setup() const { return state_->setup; }
QUndoStack& Session::undo_stack() { return state_->undo; }
const std::vector<Message>& Session::problems() const { return state_->problems; }

void Session::change_setup(const Setup& setup, const QString& what) {
  if (setup == state_->setup) return;
  state_->undo.push(new SetupCommand(*this, state_->setup, setup, what));
}

void Session::apply_setup(const Setup& setup) {
  state_->setup = setup;
  refresh_prediction();
  Q_EMIT setup_changed();
  Q_EMIT run_changed();
  Q_EMIT run_state_changed();  // the label and the refusal of Run
}

std::shared_ptr<const Prediction> Session::prediction() const { return state_->prediction; }

bool Session::prediction_is_current() const {
  return state_->problems.empty() && !state_->wanted && !state_->working;
}

const Machine& Session::machine() const {
  auto found = state_->machines.find(state_->setup.machine);
  if (found == state_->machines.end()) {
    Result<Machine> machine = find_machine(state_->setup.machine);
    found = state_->machines
                .emplace(state_->setup.machine,
                         machine ? std::move(*machine) : uncalibrated_local_machine())
                .first;
  }
  return found->second;
}

void Session::refresh_prediction() {
  state_->problems = validate(state_->setup);
  if (!state_->problems.empty()) {
    state_->wanted.reset();
    Q_EMIT prediction_changed();
    return;
  }
  const double estimate = estimated_ops(state_->setup) * state_->seconds_per_op;
  if (state_->working || estimate > kFrameBudgetSeconds) {
    state_->wanted = state_->setup;
    start_worker();
    return;
  }
  QElapsedTimer timer;
  timer.start();
  Result<Prediction> result = predict_as_shown(state_->setup, machine());
  const double measured = double(timer.nsecsElapsed()) / 1e9 / estimated_ops(state_->setup);
  state_->seconds_per_op = 0.5 * (state_->seconds_per_op + measured);
  accept_prediction(std::move(result));
}

void Session::start_worker() {
  if (state_->working || !state_->wanted) return;
  state_->working = true;
  const auto setup = std::make_shared<Setup>(*state_->wanted);
  state_->wanted.reset();
  const auto on = std::make_shared<Machine>(machine());
  state_->worker.start([this, setup, on] {
    const auto result = std::make_shared<Result<Prediction>>(predict_as_shown(*setup, *on));
    QMetaObject::invokeMethod(
        this,
        [this, result] {
          state_->working = false;
          if (state_->wanted) {  // a newer one waits: this one is of no use any more
            start_worker();
          } else if (state_->problems.empty()) {
            accept_prediction(std::move(*result));
          }
        },
        Qt::QueuedConnection);
  });
}

void Session::wait_for_prediction() {
  while (state_->working || state_->wanted) {
    state_->worker.waitForDone();
    QCoreApplication::sendPostedEvents(this, QEvent::MetaCall);
  }
}

void Session::accept_prediction(Result<Prediction> result) {
  if (result) {
    state_->prediction = std::make_shared<const Prediction>(std::move(*result));
    const OpRef chosen = state_->selected;
    const auto& ranks = state_->prediction->program.ranks;
    if (chosen.rank >= int(ranks.size()) ||
        (chosen.rank >= 0 && chosen.op >= int(ranks[std::size_t(chosen.rank)].ops.size())))
      select({}, false);
  } else {
    state_->problems = {result.error()};
    Q_EMIT setup_changed();
  }
  horizon_changed();
  Q_EMIT prediction_changed();
  Q_EMIT run_state_changed();
}

const RunRecord* Session::run_record() const {
  for (auto run = state_->runs.rbegin(); run != state_->runs.rend(); ++run)
    if (run->observation.setup == state_->setup) return &*run;
  return state_->runs.empty() ? nullptr : &state_->runs.back();
}

bool Session::run_is_stale() const {
  const RunRecord* run = run_record();
  return run && !(run->observation.setup == state_->setup);
}

const std::vector<RunRecord>& Session::runs() const { return state_->runs; }

const RunRecord* Session::pinned() const { return state_->pinned ? &*state_->pinned : nullptr; }

void Session::pin() {
  const RunRecord* run = run_record();
  if (run && !run_is_stale()) {
    state_->pinned = *run;
  } else {
    RunRecord record;
    record.prediction = state_->prediction;
    record.observation.setup = state_->prediction->setup;
    state_->pinned = std::move(record);
  }
  horizon_changed();
  Q_EMIT run_changed();
}

void Session::unpin() {
  state_->pinned.reset();
  horizon_changed();
  Q_EMIT run_changed();
}

Nanoseconds Session::playhead() const { return state_->playhead; }

void Session::set_playhead(Nanoseconds time) {
  time = std::clamp(time, Nanoseconds(0), std::max(Nanoseconds(0), horizon()));
  if (time == state_->playhead) return;
  state_->playhead = time;
  Q_EMIT playhead_changed();
}

bool Session::playing() const { return state_->playing; }

void Session::set_playing(bool playing) {
  if (playing == state_->playing) return;
  state_->playing = playing;
  if (playing) {
    state_->since_frame.restart();
    state_->frames.start(state_->reduced_motion ? kReducedFrameMs : kFrameMs);
  } else {
    state_->frames.stop();
  }
  Q_EMIT view_changed();
}

bool Session::reduced_motion() const { return state_->reduced_motion; }

void Session::set_reduced_motion(bool reduced) {
  if (reduced == state_->reduced_motion) return;
  state_->reduced_motion = reduced;
  if (state_->playing) state_->frames.start(reduced ? kReducedFrameMs : kFrameMs);
  Q_EMIT view_changed();
}

double Session::seconds_per_step() const { return state_->seconds_per_step; }

void Session::set_seconds_per_step(double seconds) {
  state_->seconds_per_step = std::clamp(seconds, 0.5, 600.0);
  Q_EMIT view_changed();
}

TimeRange Session::visible() const { return state_->visible; }

void Session::set_visible(TimeRange range) {
  const Nanoseconds whole = std::max(horizon(), Nanoseconds(1));
  const Nanoseconds length = std::clamp(range.length(), Nanoseconds(1), whole);
  const Nanoseconds begin = std::clamp(range.begin, Nanoseconds(0), whole - length);
  const TimeRange next{begin, begin + length};
  state_->follows_horizon = next == TimeRange{Nanoseconds(0), whole};
  if (next == state_->visible) return;
  state_->visible = next;
  Q_EMIT view_changed();
}

void Session::fit_all() { set_visible({Nanoseconds(0), horizon()}); }

Nanoseconds Session::horizon() const {
  Nanoseconds longest = state_->prediction ? state_->prediction->timeline.duration : Nanoseconds(0);
  if (const RunRecord* run = run_record())
    longest = std::max(longest, run->observation.timeline.duration);
  if (state_->pinned)
    longest = std::max(longest, state_->pinned->observed()
                                    ? state_->pinned->observation.timeline.duration
                                    : state_->pinned->prediction->timeline.duration);
  return longest;
}

void Session::horizon_changed() {
  const Nanoseconds whole = std::max(horizon(), Nanoseconds(1));
  if (state_->follows_horizon || state_->visible.end > whole) {
    const bool follows = state_->follows_horizon;
    set_visible(follows ? TimeRange{Nanoseconds(0), whole} : state_->visible);
  }
  if (state_->playhead > whole) set_playhead(whole);
  state_->range.reset();
}

OpRef Session::selected() const { return state_->selected; }
bool Session::selected_in_run() const { return state_->selected_in_run; }

void Session::select(OpRef op, bool in_run) {
  if (op == state_->selected && in_run == state_->selected_in_run) return;
  state_->selected = op;
  state_->selected_in_run = in_run;
  Q_EMIT selection_changed();
}

std::optional<TimeRange> Session::range() const { return state_->range; }

void Session::set_range(std::optional<TimeRange> range) {
  if (range == state_->range) return;
  state_->range = range;
  Q_EMIT selection_changed();
}

std::vector<Nanoseconds> Session::marks() const { return state_->marks; }

void Session::set_marks(std::vector<Nanoseconds> marks) {
  std::sort(marks.begin(), marks.end());
  state_->marks = std::move(marks);
  Q_EMIT view_changed();
}

bool Session::hidden(const QString& key) const {
  return std::any_of(state_->hidden.begin(), state_->hidden.end(), [&](const QString& hidden) {
    return key == hidden || key.startsWith(hidden + QLatin1Char('.'));
  });
}

QStringList Session::hidden_keys() const { return state_->hidden; }

void Session::set_hidden(QStringList keys) {
  state_->hidden = std::move(keys);
  Q_EMIT view_changed();
}

bool Session::allowed(const QString& key) const {
  return state_->allowed.isEmpty() || state_->allowed.contains(key);
}

void Session::set_allowed(QStringList keys) {
  state_->allowed = std::move(keys);
  Q_EMIT view_changed();
}

const std::vector<Guess>& Session::guesses() const { return state_->guesses; }

void Session::set_guesses(std::vector<Guess> guesses) {
  state_->guesses = std::move(guesses);
  Q_EMIT view_changed();
}

nlohmann::json Session::lesson_state() const { return state_->lesson_state; }
void Session::set_lesson_state(nlohmann::json state) { state_->lesson_state = std::move(state); }

void Session::restore(const Setup& setup, std::vector<RunRecord> runs,
                      std::optional<RunRecord> pinned) {
  if (runs.size() > kMostRuns) runs.erase(runs.begin(), runs.end() - kMostRuns);
  state_->runs = std::move(runs);
  state_->pinned = std::move(pinned);
  state_->marks.clear();
  state_->hidden.clear();
  state_->allowed.clear();
  state_->guesses.clear();
  state_->last_error.clear();
  state_->follows_horizon = true;
  state_->playhead = Nanoseconds(0);
  select({}, false);
  apply_setup(setup);
  state_->undo.clear();
  horizon_changed();
  Q_EMIT view_changed();
}

}  // namespace parallelarium

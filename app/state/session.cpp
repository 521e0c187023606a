// SPDX-License-Identifier: GPL-3.0-or-later
// Time, selection, zoom, what a lesson hides, and documents; the Setup and its prediction stand in
// session_setup.cpp, running in session_run.cpp.
#include "app/state/session.h"

#include <algorithm>
#include <cmath>

#include "app/state/session_state.h"
#include "engine/predict/local_prediction.h"

namespace parallelarium {

namespace {

constexpr int kFrameMs = 16, kReducedFrameMs = 250;

}  // namespace

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
            if (state_->sweep_size > 0) {
              const auto whole = double(state_->sweep_size);
              state_->run_progress =
                  (whole - double(state_->sweep.size()) + state_->run_progress) / whole;
              state_->run_progress_text = sweep_text();
            }
            Q_EMIT run_state_changed();
          });
  connect(state_->engine.get(), &EngineProcess::losses_told, this,
          [this](int id, int step, const std::vector<double>& losses) {
            if (id != state_->request) return;
            const auto before = std::size_t(std::max(0, step - int(losses.size())));
            std::vector<double>& all = state_->live_losses;
            if (before > all.size()) return;
            all.resize(before);
            all.insert(all.end(), losses.begin(), losses.end());
          });
  connect(&state_->frames, &QTimer::timeout, this, [this] {
    const double elapsed = double(state_->since_frame.nsecsElapsed()) / 1e9;
    state_->since_frame.restart();
    const bool collective = state_->collective_in_front;
    const TimeRange range =
        collective ? TimeRange{Nanoseconds(0), state_->collectives.horizon()} : played();
    const auto whole = double(range.length().count());
    if (whole <= 0) return;
    const Nanoseconds now = collective ? state_->collectives.playhead() : state_->playhead;
    double next = double((now - range.begin).count()) + whole * elapsed / state_->seconds_per_step;
    if (next > whole || now < range.begin) next = 0;
    const Nanoseconds time = range.begin + Nanoseconds(std::llround(next));
    if (collective)
      state_->collectives.set_playhead(time);
    else
      set_playhead(time);
  });
  state_->frames.setTimerType(Qt::PreciseTimer);
  connect(&state_->collectives, &CollectiveSession::changed, this, &Session::run_state_changed);
  state_->collectives.set_gpus_of([this](int ranks) { return collective_gpus(ranks); });

  // The first lesson's Setup is valid and small, so this is there before the window is.
  state_->setup = state_->base = new_setup();
  state_->computer = computer_until_told();
  resolve_setup();
  Result<Prediction> first = predict_as_shown(resolved(), machine(), false, &state_->too_fast);
  if (first) {
    state_->prediction = std::make_shared<const Prediction>(std::move(*first));
  } else {  // never null: an empty picture with the sentence above it
    Prediction empty;
    empty.setup = resolved();
    state_->prediction = std::make_shared<const Prediction>(std::move(empty));
    state_->problems = {first.error()};
  }
  state_->visible = {Nanoseconds(0), horizon()};
  connect(state_->engine.get(), &EngineProcess::greeted, this, &Session::hear_of_devices);
  ask_for_gpus();
}

Session::~Session() {
  state_->frames.stop();
  state_->worker.waitForDone();
  state_->undo.disconnect();
  state_->engine->disconnect(this);
}

const RunRecord* Session::run_record() const {
  const std::span<const RunRecord> runs = shown_runs();
  for (auto run = runs.rbegin(); run != runs.rend(); ++run)
    if (run->observation.setup == resolved()) return &*run;
  return runs.empty() ? nullptr : &runs.back();
}

bool Session::run_is_stale() const {
  const RunRecord* run = run_record();
  return run && !(run->observation.setup == resolved());
}

const std::vector<RunRecord>& Session::runs() const { return state_->runs; }

std::span<const RunRecord> Session::shown_runs() const {
  return std::span(state_->runs).subspan(state_->earlier_runs);
}

void Session::set_earlier_runs_aside(bool aside) {
  state_->earlier_runs = aside ? state_->runs.size() : 0;
  if (aside) state_->pinned.reset();
  state_->collectives.set_earlier_runs_aside(aside);
  horizon_changed();
  Q_EMIT run_changed();
}

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

TimeRange Session::played() const {
  const TimeRange whole{Nanoseconds(0), fitted()};
  const bool fits = state_->played && state_->played->end <= whole.end;
  return fits ? *state_->played : whole;
}

void Session::set_played(std::optional<TimeRange> part) {
  if (part == state_->played) return;
  state_->played = part;
  Q_EMIT view_changed();
}

TimeRange Session::visible() const { return state_->visible; }

void Session::set_visible(TimeRange range) {
  const Nanoseconds whole = std::max(horizon(), Nanoseconds(1));
  const Nanoseconds length = std::clamp(range.length(), Nanoseconds(1), whole);
  const Nanoseconds begin = std::clamp(range.begin, Nanoseconds(0), whole - length);
  const TimeRange next{begin, begin + length};
  state_->follows_horizon = next.begin.count() == 0 && (next.end == whole || next.end == fitted());
  if (next == state_->visible) return;
  state_->visible = next;
  Q_EMIT view_changed();
}

void Session::fit_all() {
  // A second time also shows the end of a longer run of other settings.
  const TimeRange fit{Nanoseconds(0), std::max(fitted(), Nanoseconds(1))};
  set_visible(visible() == fit ? TimeRange{Nanoseconds(0), horizon()} : fit);
}

Nanoseconds Session::horizon() const { return longest(true); }

Nanoseconds Session::fitted() const { return longest(false); }

Nanoseconds Session::longest(bool with_stale_run) const {
  const bool show_predicted = !hidden(QStringLiteral("lane.predicted"));
  const bool show_run = !hidden(QStringLiteral("lane.run"));
  Nanoseconds longest{0};
  if (state_->prediction && show_predicted) longest = state_->prediction->timeline.duration;
  const RunRecord* run = run_record();
  if (run && show_run && (with_stale_run || longest.count() == 0 || !run_is_stale()))
    longest = std::max(longest, run->observation.timeline.duration);
  if (const RunRecord* pin = pinned(); pin && (pin->observed() ? show_run : show_predicted))
    longest = std::max(longest, pin->observed() ? pin->observation.timeline.duration
                                                : pin->prediction->timeline.duration);
  return longest;
}

void Session::horizon_changed() {
  const Nanoseconds whole = std::max(horizon(), Nanoseconds(1));
  if (state_->follows_horizon || state_->visible.end > whole) {
    const bool follows = state_->follows_horizon;
    set_visible(follows ? TimeRange{Nanoseconds(0), std::max(fitted(), Nanoseconds(1))}
                        : state_->visible);
  }
  if (state_->playhead > whole) set_playhead(whole);
  state_->range.reset();
}

OpRef Session::selected() const { return state_->selected; }
bool Session::selected_in_run() const { return state_->selected_in_run; }
Zoom Session::selected_zoom() const { return state_->selected_zoom; }

void Session::select(OpRef op, bool in_run, Zoom zoom) {
  if (op == state_->selected && in_run == state_->selected_in_run && zoom == state_->selected_zoom)
    return;
  state_->selected = op;
  state_->selected_in_run = in_run;
  state_->selected_zoom = zoom;
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
  horizon_changed();  // what is hidden does not lengthen the time axis
  Q_EMIT view_changed();
}

bool Session::allowed(const QString& key) const {
  return state_->allowed.isEmpty() || state_->allowed.contains(key);
}

void Session::set_allowed(QStringList keys) {
  state_->allowed = std::move(keys);
  Q_EMIT view_changed();
}

bool Session::question_open() const { return state_->question_open; }

void Session::set_question_open(bool open) {
  if (open == state_->question_open) return;
  state_->question_open = open;
  Q_EMIT run_state_changed();  // whether Run can be pressed
}

const std::vector<Guess>& Session::guesses() const { return state_->guesses; }

void Session::set_guesses(std::vector<Guess> guesses) {
  state_->guesses = std::move(guesses);
  Q_EMIT view_changed();
}

QString Session::guess_at(const QString& metric) const {
  if (hidden(metric)) return {};
  for (const Guess& guess : state_->guesses) {
    if (guess.metric != metric) continue;
    if (guess.collective && !(*guess.collective == state_->collectives.choice())) return {};
    if (!guess.setup) return guess.text;
    Setup now = state_->setup;
    now.run = guess.setup->run;
    return now == *guess.setup ? guess.text : QString();
  }
  return {};
}

nlohmann::json Session::lesson_state() const { return state_->lesson_state; }
void Session::set_lesson_state(nlohmann::json state) { state_->lesson_state = std::move(state); }

void Session::restore(const Setup& setup, std::vector<RunRecord> runs,
                      std::optional<RunRecord> pinned, const std::optional<Setup>& there) {
  if (runs.size() > kMostRuns) runs.erase(runs.begin(), runs.end() - kMostRuns);
  state_->runs = std::move(runs);
  state_->earlier_runs = 0;
  state_->pinned = std::move(pinned);
  state_->marks.clear();
  state_->hidden.clear();
  state_->allowed.clear();
  state_->question_open = false;
  state_->guesses.clear();
  state_->base = new_setup();
  state_->last_error.clear();
  state_->last_problem.reset();
  state_->follows_horizon = true;
  state_->playhead = Nanoseconds(0);
  select({}, false);
  state_->collectives.restore({}, {}, {});
  state_->setup = setup;
  resolve_setup();
  state_->meant = there;
  keep_meaning();
  apply_setup(Setup(state_->setup));
  state_->undo.clear();
  horizon_changed();
  Q_EMIT view_changed();
}

}  // namespace parallelarium

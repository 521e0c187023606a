// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the player that starts the run of a part, and judges it when it has ended.
#include <QScopedValueRollback>

#include "app/lesson/player/lesson_player.h"
#include "app/views/views.h"
#include "engine/lesson/teaching/grading/rerun.h"

namespace parallelarium {

// The run that was judged: each is judged once.
void LessonPlayer::note_run() {
  StepState& state = states_[at_];
  if (step().runs_collective()) {
    const CollectiveRun& run = *session_.collectives().fresh_run();
    state.run = {{"source", name_of(run.seen.source)},
                 {"machine", this_computer(run.plan->choice.gpus).name}};
    state.judged = run.plan;
    return;
  }
  const Observation& seen = session_.runs().current()->observation;
  state.run = hand_in_run(seen);
  state.date = seen.date;
}

std::optional<Message> LessonPlayer::disturbance() const {
  if (step().kind != StepKind::kRun || step().runs_collective() || !state().judgement ||
      state().judgement->verdict == Verdict::kRight)
    return std::nullopt;
  const RunRecord* run = session_.runs().current();
  if (!run || !run->observed() || run->observation.date != state().date) return std::nullopt;
  return delay_of(run->observation);
}

void LessonPlayer::run() {
  if (!is_open() || step().kind != StepKind::kRun) return;
  // Run runs what is in front: what the step is about, wherever the student has looked meanwhile.
  if (step().runs_collective() == session_.topic().is_step()) {
    Topic& topic = step().runs_collective() ? static_cast<Topic&>(session_.collectives())
                                            : session_.training_step();
    Q_EMIT tab_wanted(QLatin1String(view_about(topic, session_).id));
    session_.set_topic(topic);
  }
  session_.start_run(step().wants_proof());
}

void LessonPlayer::watch() {
  if (!is_open() || busy_ || step().kind != StepKind::kRun) return;
  if (state().solved && !state().unmet) return;
  const QScopedValueRollback<bool> busy(busy_, true);
  if (step().runs_collective()) {
    const CollectiveRun* run = session_.collectives().fresh_run();
    if (run && !session_.collectives().problem() && run->plan != state().judged) judge_now({});
    return;
  }
  const RunRecord* run = session_.runs().current();
  const bool has_run = run && run->observed() && !session_.runs().current_is_stale();
  if (has_run && session_.prediction_is_current() && run->observation.date != state().date)
    judge_now({});
}

}  // namespace parallelarium

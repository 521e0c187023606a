// SPDX-License-Identifier: GPL-3.0-or-later
// What a Session keeps; for session*.cpp only.
#pragma once

#include <QElapsedTimer>
#include <QThreadPool>
#include <QTimer>
#include <QUndoCommand>
#include <map>

#include "app/state/collective_session.h"
#include "app/state/engine_process.h"
#include "app/state/session.h"

namespace parallelarium {

inline constexpr std::size_t kMostRuns = 20;  // kept; older ones go first
inline constexpr double kSamePace =
    1.001;                             // factors nearer than this are the same but for rounding
inline constexpr int kMergeMs = 1000;  // changes of one setting within it are one step of undo

struct Session::State {
  Setup setup, base;
  // Of setup; its `setup` is resolved(). Kept up to date by resolve_setup().
  Situation situation;
  Computer computer;
  bool told = false;           // the engine has told of this computer; kept when it dies
  std::optional<Setup> meant;  // what setup meant where a document was saved: see keep_meaning()
  std::vector<Message> problems;
  std::shared_ptr<const Prediction> prediction;
  std::string bf16_products;  // how it multiplies bf16 on cores, as Machine's; kept when it dies
  bool asks_for_gpus = false;
  std::optional<Message> too_fast;  // why the paced ranks of prediction would be late
  // As find_machine gave them; emptied by a calibration.
  mutable std::map<std::string, Result<Machine>> machines;

  // Prediction on a worker thread: one at a time, and only the newest of those that wait.
  std::optional<Setup> wanted;
  bool working = false;
  double seconds_per_op = 1e-6;  // learned from the predictions made so far

  std::vector<RunRecord> runs;
  std::size_t earlier_runs = 0;  // how many of the oldest are aside
  std::optional<RunRecord> pinned;

  RunState run_state = RunState::kIdle;
  double run_progress = 0;
  QString run_progress_text, last_error;
  std::optional<Message> last_problem;
  std::vector<double> live_losses;
  Setup run_setup;
  bool run_verifies = false;
  int request = 0;

  Nanoseconds playhead{0};
  bool playing = false, reduced_motion = false;
  double seconds_per_step = 12;
  QTimer frames;
  QElapsedTimer since_frame;
  std::optional<TimeRange> played;
  TimeRange visible;
  bool follows_horizon = true;
  OpRef selected;
  bool selected_in_run = false;
  Zoom selected_zoom = Zoom::kPieces;
  std::optional<TimeRange> range;
  std::vector<Nanoseconds> marks;

  QStringList hidden, allowed;
  bool question_open = false;
  std::vector<Guess> guesses;
  nlohmann::json lesson_state;

  bool collective_in_front = false;
  std::vector<CollectiveSpec> sweep;  // still to be measured and being measured, last first
  std::size_t sweep_size = 0;         // of the whole sweep, 0: none

  QUndoStack undo;
  CollectiveSession collectives{undo};
  std::unique_ptr<EngineProcess> engine;
  QThreadPool worker;  // last: its destructor waits for the prediction under way
};

}  // namespace parallelarium

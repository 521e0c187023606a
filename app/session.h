// SPDX-License-Identifier: GPL-3.0-or-later
// The one owner of the window's state. Views read it and ask it to change; every change comes back
// as a signal. It knows no widget.
#pragma once

#include <QObject>
#include <QString>
#include <QUndoStack>
#include <memory>
#include <optional>
#include <vector>

#include "engine/plan/report.h"
#include "engine/plan/setup.h"
#include "engine/predict/explain.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// A run and the prediction of exactly its Setup, on the same Machine and Program.
struct RunRecord {
  std::shared_ptr<const Prediction> prediction;  // all ranks of the run are built
  Observation observation;
  std::optional<nlohmann::json> proof;  // of "Prove it", as the engine sent it
};

// A time window on the step.
struct TimeRange {
  Nanoseconds begin{0}, end{0};
  Nanoseconds length() const { return end - begin; }
  bool operator==(const TimeRange&) const = default;
};

enum class RunState { kIdle, kStarting, kCalibrating, kRunning, kCancelling };

class EngineProcess;

class Session : public QObject {
  Q_OBJECT

 public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  // --- what is set -------------------------------------------------------------------------------
  const Setup& setup() const;
  // Replaces the Setup as one undo step named `what`. An invalid one is kept, with problems().
  void change_setup(const Setup& setup, const QString& what);
  QUndoStack& undo_stack();
  // Sentences about an invalid Setup; empty when prediction() is of setup().
  const std::vector<Message>& problems() const;

  // --- what is predicted
  // --------------------------------------------------------------------------- Of the latest valid
  // Setup; never null. Stale (drawn dimmed) while problems() is not empty.
  std::shared_ptr<const Prediction> prediction() const;

  // --- what was observed
  // --------------------------------------------------------------------------- The latest run, if
  // any. It is stale when its Setup is not setup(): drawn desaturated, and no difference is
  // computed.
  const RunRecord* run_record() const;
  bool run_is_stale() const;
  // Pinned: an earlier prediction (observation empty) or run, drawn as a third, outlined lane.
  const RunRecord* pinned() const;
  void pin();  // the current run if it is not stale, else the prediction
  void unpin();

  // --- running
  // ---------------------------------------------------------------------------------------
  RunState run_state() const;
  double run_progress() const;  // 0 to 1
  QString run_progress_text() const;
  // Why Run is disabled, or empty; and what the Run button says.
  QString run_refusal() const;
  QString run_label() const;
  void start_run(bool verify);  // verify: "Prove it"
  void cancel_run();
  // One sentence about the last failure (engine died, run refused, ...), or empty.
  QString last_error() const;

  // --- time, selection, zoom
  // ---------------------------------------------------------------------------
  Nanoseconds playhead() const;
  void set_playhead(Nanoseconds time);
  bool playing() const;
  void set_playing(bool playing);
  double seconds_per_step() const;  // screen seconds for one step, default 12
  void set_seconds_per_step(double seconds);
  TimeRange visible() const;  // shared by all lanes
  void set_visible(TimeRange range);
  Nanoseconds horizon() const;   // the longest of what is shown
  OpRef selected() const;        // rank index and op index in the shown Program; {-1,-1}: none
  bool selected_in_run() const;  // the click was in the observed lane
  void select(OpRef op, bool in_run);
  std::optional<TimeRange> range() const;  // dragged range
  void set_range(std::optional<TimeRange> range);
  std::vector<Nanoseconds> marks() const;
  void set_marks(std::vector<Nanoseconds> marks);

  // --- what a lesson hides
  // --------------------------------------------------------------------------- Metrics and lanes
  // that read "?" until an answer is committed: "bubble.of_total", "lane.predicted", "lane.run",
  // "memory", ...
  bool hidden(const QString& key) const;
  void set_hidden(QStringList keys);
  // Setting keys that may be changed now; empty means all.
  bool allowed(const QString& key) const;
  void set_allowed(QStringList keys);

 signals:
  void setup_changed();  // also on undo and redo
  void prediction_changed();
  void run_changed();  // run_record, staleness, pin
  void run_state_changed();
  void playhead_changed();
  void view_changed();  // visible range, marks, hidden, allowed
  void selection_changed();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium

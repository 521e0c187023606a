// SPDX-License-Identifier: GPL-3.0-or-later
// The one owner of the window's state. Views read it and ask it to change; every change comes back
// as a signal. It knows no widget. All calls are made from the thread of the window.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>
#include <QUndoStack>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "engine/plan/machine/resolve.h"
#include "engine/plan/program/report.h"
#include "engine/plan/setup/setup.h"
#include "engine/predict/explain/explain.h"
#include "engine/predict/predict.h"

namespace parallelarium {

// A run and the prediction of exactly its Setup, on the same Machine and Program.
struct RunRecord {
  std::shared_ptr<const Prediction> prediction;  // all ranks of the run are built
  std::shared_ptr<const Prediction> routed;  // by what the run's routers did; null without experts
  Observation observation;                   // of a pinned prediction: no ranks in the timeline
  std::optional<nlohmann::json> proof;       // of "Prove it", as the engine sent it
  bool observed() const { return !observation.timeline.ranks.empty(); }
};

// The record of an observation made on `machine`. Error: the prediction cannot be made, or is of
// another Program than the one that ran (an engine of another version).
Result<RunRecord> make_run_record(Observation observation, const Machine& machine);

// A time window on the step.
struct TimeRange {
  Nanoseconds begin{0}, end{0};
  Nanoseconds length() const { return end - begin; }
  bool operator==(const TimeRange&) const = default;
};

// How near the timeline is seen: what one bar of a compute lane is.
enum class Zoom : std::uint8_t { kActions, kLayers, kPieces };

enum class RunState { kIdle, kStarting, kCalibrating, kRunning, kCancelling };

struct CollectiveChoice;

// An answer that a student committed, kept as a third mark until the lesson ends.
struct Guess {
  QString metric;  // dotted key, such as "bubble.of_total"
  double value = 0;
  QString text;  // "16 %"
  // The guess is about figures of these settings (how to run aside) or of this collective. Without
  // either it is about whatever is set.
  std::optional<Setup> setup = {};
  std::shared_ptr<const CollectiveChoice> collective = {};
};

class CollectiveSession;
class TrainingStep;
class Topic;
struct CollectiveRequest;
struct CollectiveSpec;
class EngineProcess;

class Session : public QObject {
  Q_OBJECT

 public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  // --- what is set ---

  // As it was asked for: precision, attention and backend may be `auto`.
  const Setup& setup() const;
  // What setup() means on this computer, as far as the engine has told of it: nothing in it is
  // `auto`. Predictions, runs and pins are of such Setups.
  const Setup& resolved() const;
  // The same of another Setup.
  Setup resolved(const Setup& setup) const;
  // Replaces the Setup as one undo step named `what`. An invalid one is kept, with problems().
  // Repeats of the same fields within a second merge into one step.
  void change_setup(const Setup& setup, const QString& what);
  QUndoStack& undo_stack();
  // What settings count as changed from and are reset to: new_setup(), or the Setup that the open
  // lesson started with.
  const Setup& base() const;
  void set_base(const Setup& base);
  // Sentences about an invalid Setup; empty when prediction() is of setup() (or soon will be).
  const std::vector<Message>& problems() const;

  // --- what is predicted ---

  // Of the latest valid Setup; never null. Stale (drawn dimmed) while problems() is not empty.
  std::shared_ptr<const Prediction> prediction() const;
  // Whether prediction() is of setup(). False while a large Setup is still being predicted on the
  // worker thread, and while the Setup is invalid.
  bool prediction_is_current() const;
  // Returns when nothing is being predicted any more (for exports and tests).
  void wait_for_prediction();
  // The engine was asked for GPUs, which may change machine() and prediction(), and has not told.
  bool asks_for_gpus() const;
  // The Machine of setup(), as predictions use it.
  const Machine& machine() const;
  // This computer as the engine told last; until then computer_until_told().
  const Computer& computer() const;
  // Why its rates are not those of setup() any more, and what to do; none: they are, or the engine
  // has not told otherwise.
  std::optional<Message> outdated_rates() const;

  // --- what was observed ---

  // The run of resolved() if there is one, else the latest, if any. It is stale when its Setup is
  // not resolved(): drawn desaturated, and no difference is computed.
  const RunRecord* run_record() const;
  bool run_is_stale() const;
  const std::vector<RunRecord>& runs() const;  // all that a document keeps, oldest first
  // What a lesson that starts does not want to see: keeps the runs made so far out of every view
  // (a document still keeps them) and takes the pin away. False: they are back.
  void set_earlier_runs_aside(bool aside);
  std::span<const RunRecord> shown_runs() const;  // those not aside, oldest first
  // Pinned: an earlier prediction (observed() is false) or run, drawn as a third, outlined lane.
  const RunRecord* pinned() const;
  void pin();  // the current run if it is not stale, else the prediction
  void unpin();

  // --- running ---

  RunState run_state() const;
  double run_progress() const;  // 0 to 1
  QString run_progress_text() const;
  bool run_verifies() const;  // the run that is under way is a "Prove it"
  // The losses of the training steps that the run under way has done, warm-up included.
  const std::vector<double>& live_losses() const;
  QString live_step_text() const;  // of the last of them: "step 3 of 5", "warm-up step 1 of 1"
  // Why Run is disabled, or empty; and what the Run button says.
  QString run_refusal() const;
  // Why the ranks of a valid Setup of this computer cannot run, most lasting first: what this
  // version cannot execute, memory that is not there, a pace that its cores cannot keep. With the
  // field to change and values that would do, where there are any.
  std::optional<Message> run_problem() const;
  // What the shown prediction needs more memory than its Machine has, or none, also where that is
  // not what a run would have: the cores' in place of GPUs that were never calibrated.
  std::optional<Message> memory_problem() const;
  // A larger model for ranks that are on GPUs of this computer, which a tiny one keeps waiting;
  // none in a lesson, which chooses its own.
  std::optional<Message> gpu_offer() const;
  std::optional<Message> missing_backend(const std::string& name) const;
  QString run_label() const;
  // How many GPUs of this computer there are for ranks of setup(); 0: they are on cores, or the
  // engine has not told.
  int gpus() const;
  // Where ranks of setup() would run: "measured", "oversubscribed" or "paced".
  Source expected_source() const;
  void start_run(bool verify);  // verify: "Prove it"
  void start_calibration();
  void cancel_run();
  // One sentence about the last failure (engine died, run refused, ...), or empty.
  QString last_error() const;
  // The same with what would mend it, where the engine said so.
  const std::optional<Message>& last_problem() const;
  void dismiss_error();
  bool machine_is_elsewhere() const;  // setup()'s Machine is another than this computer
  // Why "Run a small copy here" is disabled, or empty; what it would do, in a sentence; and doing
  // it: the copy of small_copy.h becomes setup(), with a pace that this computer keeps, and runs.
  QString small_copy_refusal() const;
  QString small_copy_offer() const;
  void run_small_copy();
  EngineProcess& engine();

  // --- what is in front ---

  // What plays and what Run runs: what the view in front is about, at first the training step. A
  // topic that is destroyed leaves its place to the training step.
  Topic& topic() const;
  void set_topic(Topic& topic);
  TrainingStep& training_step() const;
  CollectiveSession& collectives();
  const CollectiveSession& collectives() const;
  // Measures each spec in turn, for the plot of bandwidth by size; not while question_open().
  void start_sweep(std::vector<CollectiveSpec> specs);

  // --- time, selection, zoom ---

  Nanoseconds playhead() const;
  void set_playhead(Nanoseconds time);
  // While playing, the session itself advances the playhead and starts again at the horizon.
  bool playing() const;
  void set_playing(bool playing);
  // Reduced motion: the playhead goes in steps of a quarter of a second and nothing is tweened.
  bool reduced_motion() const;
  void set_reduced_motion(bool reduced);
  double seconds_per_step() const;  // screen seconds for one step, default 12
  void set_seconds_per_step(double seconds);
  // What plays: the whole step, or the part of it that the view in front is about.
  TimeRange played() const;
  void set_played(std::optional<TimeRange> part);
  TimeRange visible() const;  // shared by all lanes
  void set_visible(TimeRange range);
  void fit_all();  // visible() becomes 0 to fitted(), and follows it; a second time to horizon()
  // The longest of what is shown; lanes that a lesson hides do not count, 0: all are hidden.
  Nanoseconds horizon() const;
  // The same without a run of other settings: that does not squeeze the prediction.
  Nanoseconds fitted() const;
  OpRef selected() const;        // rank index and op index in the shown Program; {-1,-1}: none
  bool selected_in_run() const;  // the click was in the observed lane
  // How much the op stands for: all of its action (the forward of a micro-batch, with the
  // collectives inside), its layer there, or itself.
  Zoom selected_zoom() const;
  void select(OpRef op, bool in_run, Zoom zoom = Zoom::kPieces);
  std::optional<TimeRange> range() const;  // dragged range
  void set_range(std::optional<TimeRange> range);
  std::vector<Nanoseconds> marks() const;
  void set_marks(std::vector<Nanoseconds> marks);

  // --- what a lesson hides and keeps ---

  // Metrics and lanes that read "?" until an answer is committed: "bubble.of_total",
  // "lane.predicted", "lane.run", "memory", ... A hidden key hides the keys below it.
  bool hidden(const QString& key) const;
  QStringList hidden_keys() const;
  void set_hidden(QStringList keys);
  // Setting keys that may be changed now; empty means all.
  bool allowed(const QString& key) const;
  void set_allowed(QStringList keys);
  // A question of the lesson is open and a run would show its answer: run_refusal() says so.
  bool question_open() const;
  void set_question_open(bool open);
  const std::vector<Guess>& guesses() const;
  void set_guesses(std::vector<Guess> guesses);
  // The text of the guess at this metric of what is set now, or empty; also while a lesson hides
  // the metric, since it then asks about it anew.
  QString guess_at(const QString& metric) const;
  // What the lesson player keeps in a document; the session only carries it.
  nlohmann::json lesson_state() const;
  void set_lesson_state(nlohmann::json state);

  // --- documents ---

  // Starts afresh with what a document holds: empties the undo stack. Runs whose prediction cannot
  // be made again are left out. `there`: what `setup` meant where it was saved; where it means
  // something else here, its `auto` becomes what it was there.
  void restore(const Setup& setup, std::vector<RunRecord> runs, std::optional<RunRecord> pinned,
               const std::optional<Setup>& there = std::nullopt);

 Q_SIGNALS:
  // Also on undo and redo, when problems() change, and when the engine tells of GPUs that its ranks
  // would be on, or what changes outdated_rates().
  void setup_changed();
  void prediction_changed();
  void run_changed();  // run_record, staleness, pin
  void run_state_changed();
  void playhead_changed();
  void topic_changed();
  void view_changed();  // visible range, marks, hidden, allowed, guesses, playing, speed
  void selection_changed();
  void restored();  // a document was opened; lesson_state() is the document's
  // What `auto` of a document meant where it was saved is written out, also where that had to wait
  // for the engine.
  void meaning_kept(const QString& sentence);

 private:
  Nanoseconds longest(bool with_stale_run) const;
  friend class SetupCommand;
  struct State;
  void apply_setup(const Setup& setup);
  bool takes_gpus() const;  // ranks of setup(), of this computer
  Situation situation_of(const Setup& setup) const;
  void resolve_setup();
  void keep_meaning();  // of a document, once it is known what setup() means here
  Placement collective_placement(int ranks) const;
  int collective_gpus(int ranks) const;
  void ask_for_gpus();  // where they matter and the engine has not told of them
  void hear_of_devices();
  const nlohmann::json* greeted_devices() const;
  const nlohmann::json* greeted_backend(const std::string& name) const;
  void refresh_prediction();
  void start_worker();
  void accept_prediction(Result<Prediction> result, std::optional<Message> too_fast);
  void take_pace_of_run();
  void horizon_changed();
  void begin_request(const QString& what);
  void start_topic();
  void continue_sweep();
  QString sweep_text() const;  // what of it is measured now
  QString question_refusal() const;
  Result<void> keep_run(const nlohmann::json& answer);
  void finish_request(const QString& error);
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The one owner of the window's state, in parts that do not know each other. It keeps their order:
// when the Setup changes it is placed, resolved, predicted, and the runs are matched with it.
// Views read the parts and ask them to change. A part tells of its own change at once; the signals
// of the Session come when all parts agree. It knows no widget. All calls are made from the thread
// of the window.
#pragma once

#include <QObject>
#include <QString>
#include <memory>
#include <optional>
#include <vector>

#include "app/state/history.h"
#include "app/state/lesson_locks.h"
#include "app/state/placer.h"
#include "app/state/run/engine_jobs.h"
#include "app/state/run/run_store.h"
#include "app/state/step/playback.h"
#include "app/state/step/subject.h"

namespace parallelarium {

class CollectiveSession;
class OrderEdit;
class Topic;
class TrainingStep;
struct Predicted;

class Session : public QObject {
  Q_OBJECT

 public:
  explicit Session(QObject* parent = nullptr);
  ~Session() override;

  // --- the parts ---

  History& history();  // the Setup's undo steps, and what it is reset to
  const History& history() const;
  const Placer& placer() const;  // this computer and the known Machines
  EngineJobs& jobs();            // what the engine is doing
  const EngineJobs& jobs() const;
  RunStore& runs();
  const RunStore& runs() const;
  Subject& subject();  // the prediction, and what of it is shown and selected
  const Subject& subject() const;
  Playback& playback();
  const Playback& playback() const;
  LessonLocks& locks();
  const LessonLocks& locks() const;
  CollectiveSession& collectives();  // all of the Collectives view
  const CollectiveSession& collectives() const;
  TrainingStep& training_step() const;  // what the others together say of the step
  OrderEdit& order_edit() const;        // the order that the user builds

  // --- what is in front ---

  // What plays and what Run runs: what the view in front is about, at first the training step. A
  // topic that is destroyed leaves its place to the training step.
  Topic& topic() const;
  void set_topic(Topic& topic);

  // --- what is set ---

  // As it was asked for: history().setup().
  const Setup& setup() const;
  // What setup() means on this computer, as far as the engine has told of it: nothing in it is
  // `auto`. Predictions, runs and pins are of such Setups.
  const Setup& resolved() const;
  // The same of another Setup.
  Setup resolved(const Setup& setup) const;
  // Of setup(), with the Machine that its prediction is of and where its ranks go.
  const Situation& situation() const;
  const Machine& machine() const;
  // Sentences about an invalid Setup; empty when subject().prediction() is of setup() (or soon will
  // be). Else that is the latest valid one's, and drawn dimmed.
  const std::vector<Message>& problems() const;

  // --- what is predicted and pinned ---

  // Whether subject().prediction() is of setup(). False while a large Setup is still being
  // predicted on the worker thread, and while the Setup is invalid.
  bool prediction_is_current() const;
  // Returns when nothing is being predicted any more (for exports and tests).
  void wait_for_prediction();
  // What a rehearsal of the prediction would take by the clock, all steps; 0: ranks would not.
  double rehearsal_seconds() const;
  void pin();  // the current run if it is not stale, else the prediction
  // What a lesson that starts does not want to see: runs made so far, and the pin. False: the runs
  // are back.
  void set_earlier_runs_aside(bool aside);
  // The guess at this metric of what is set now: see LessonLocks::guess_at.
  QString guess_at(const QString& metric) const;

  // --- running: run_advice.h says whether and how ---

  void start_run(bool verify);  // of topic(); verify: "Prove it"
  // Measures each spec in turn, for the plot of bandwidth by size; not while a question is open.
  void start_sweep(const std::vector<CollectiveSpec>& specs);

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
  void run_changed();        // runs().current(), staleness, pin
  void run_state_changed();  // jobs(), and what run_advice.h says
  void topic_changed();
  void restored();  // a document was opened; locks().lesson_state() is the document's
  // What `auto` of a document meant where it was saved is written out, also where that had to wait
  // for the engine.
  void meaning_kept(const QString& sentence);

 private:
  struct State;
  void follow_setup();
  void resolve_setup();
  void refresh_prediction();
  void accept_prediction(const Predicted& answer);
  void refresh_horizon();
  void refit();
  void match_runs();
  void end_job();
  void ask_for_gpus();  // where they matter and the engine has not told of them
  void hear_of_devices();
  void keep_meaning();  // of a document, once it is known what setup() means here
  Placement placement_of(int ranks) const;  // of a topic that is not the step
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium

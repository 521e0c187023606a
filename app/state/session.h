// SPDX-License-Identifier: GPL-3.0-or-later
// The one owner of the window's state. The state is in parts that do not know each other, and the
// Session keeps their order: when the Setup changes, it is placed, resolved and predicted, and the
// runs are matched with it. Views read the parts and ask them to change. A part sends its own
// signal at once. The signals of the Session come when all parts agree. The Session knows no
// widget. All calls must come from the thread of the window.
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
  Subject& subject();  // the prediction, and its shown and selected parts
  const Subject& subject() const;
  Playback& playback();
  const Playback& playback() const;
  LessonLocks& locks();
  const LessonLocks& locks() const;
  CollectiveSession& collectives();  // the state of the Collectives view
  const CollectiveSession& collectives() const;
  TrainingStep& training_step() const;  // the step, as the other parts together show it
  OrderEdit& order_edit() const;        // the order that the user builds

  // --- what is in front ---

  // What plays and what Run runs. It is the topic of the view in front, and at first the training
  // step. If a topic is destroyed, the training step takes its place.
  Topic& topic() const;
  void set_topic(Topic& topic);

  // --- what is set ---

  // The Setup as the user asked for it: history().setup().
  const Setup& setup() const;
  // What setup() means on this computer, as far as the engine has described it. Nothing in it is
  // `auto`. Predictions, runs and pins belong to such Setups.
  const Setup& resolved() const;
  // The same for another Setup.
  Setup resolved(const Setup& setup) const;
  // The situation of setup(), with the Machine of its prediction and the places of its ranks.
  const Situation& situation() const;
  const Machine& machine() const;
  // Sentences about an invalid Setup. If there are none, subject().prediction() is that of setup(),
  // or soon will be. Otherwise it is that of the latest valid Setup, and is drawn dimmed.
  const std::vector<Message>& problems() const;

  // --- what is predicted and pinned ---

  // Whether subject().prediction() is that of setup(). False while a large Setup is being predicted
  // on the worker thread, and while the Setup is invalid.
  bool prediction_is_current() const;
  // Waits until nothing is being predicted any more (for exports and tests).
  void wait_for_prediction();
  // The seconds that all steps of a rehearsal of the prediction would take by the clock. 0: ranks
  // would not rehearse.
  double rehearsal_seconds() const;
  void pin();  // the current run if it is not stale, else the prediction
  // Keeps runs made so far, and the pin, out of the views, as a starting lesson needs. False brings
  // the runs back.
  void set_earlier_runs_aside(bool aside);
  // The guess at this metric for the present settings: see LessonLocks::guess_at.
  QString guess_at(const QString& metric) const;

  // --- running: run_advice.h says whether and how ---

  void start_run(bool verify);  // runs topic(); `verify`: "Prove it"
  // Measures one spec after the other, for the plot of bandwidth by size. Not while a question is
  // open.
  void start_sweep(const std::vector<CollectiveSpec>& specs);

  // --- documents ---

  // Starts again with the contents of a document, and empties the undo stack. Runs whose prediction
  // cannot be made again are left out. `there`: what `setup` meant where it was saved. If it means
  // something else here, each `auto` becomes what it was there.
  void restore(const Setup& setup, std::vector<RunRecord> runs, std::optional<RunRecord> pinned,
               const std::optional<Setup>& there = std::nullopt);

 Q_SIGNALS:
  // Sent also on undo and redo, when problems() change, and when the engine reports GPUs for its
  // ranks or something that changes outdated_rates().
  void setup_changed();
  void prediction_changed();
  void run_changed();        // runs().current(), staleness, pin
  void run_state_changed();  // jobs(), and what run_advice.h says
  void topic_changed();
  void restored();  // a document was opened; locks().lesson_state() is the document's
  // Each `auto` of a document was replaced by what it meant where the document was saved, maybe
  // only after the engine had answered.
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
  void ask_for_gpus();  // if they matter and the engine has not reported them
  void hear_of_devices();
  void keep_meaning();  // for a document, once the meaning of setup() here is known
  Placement placement_of(int ranks) const;  // for a topic that is not the step
  std::unique_ptr<State> state_;
};

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the Session that belongs to the Collectives view: the choice, its prediction, its
// runs, and its own playhead. Views read it and ask it to change, as with the Session.
#pragma once

#include <QObject>
#include <QUndoStack>
#include <functional>
#include <memory>

#include "app/state/collective/collective_plan.h"
#include "app/state/topic.h"
#include "app/views/collectives/picture/collective_motion.h"

namespace parallelarium {

struct CollectiveRequest;

// What the picture's chunks show.
enum class ChunkContent : std::uint8_t {
  kContributions,  // whose contributions are in each chunk
  kValues,         // the first number of each chunk in the run
  kRounding        // the number of elements whose bits differ from another algorithm's result
};

QString name_of(ChunkContent content);  // "contributions" "values" "bits"
std::optional<ChunkContent> chunk_content_by_name(const QString& name);

// The algorithm with which a run's order of adding is compared: the ring or the tree, whichever is
// not chosen. Empty if nothing is combined, or if arrays are too large to run twice.
std::string rounding_rival_of(const CollectiveSpec& spec);

// The request to the engine for one point of a sweep.
CollectiveRequest sweep_request(const CollectiveSpec& spec, const Placement& placement,
                                const RunSettings& asked);

class CollectiveSession : public Topic {
  Q_OBJECT

 public:
  // Changes become steps of `undo`, which must outlive this.
  explicit CollectiveSession(QUndoStack& undo, QObject* parent = nullptr);
  // Sets the function that says how many of this computer's GPUs a run of `ranks` ranks would take:
  // none, one for each, or one that they share. Without it there are none.
  void set_gpus_of(std::function<int(int ranks)> gpus_of);

  // The choice, without where it would run. That follows from it: plan() has both.
  const CollectiveChoice& choice() const { return choice_; }
  // Changes the choice as one undo step named `what`. It keeps an invalid choice, with a problem().
  void change(const CollectiveChoice& choice, const QString& what);
  std::optional<Message> problem() const override { return problem_; }
  std::vector<Remedy> remedies(const Message& problem) override;
  bool is_step() const override { return false; }
  // The plan of the latest valid choice; never null. It is drawn dimmed while there is a problem().
  std::shared_ptr<const CollectivePlan> plan() const { return plan_; }
  // Predicts again if the rates of this computer have changed (after a calibration).
  void refresh_rates();
  // The same if a run would now take other devices.
  void refresh_place();

  // The run of the chosen spec on the devices where it would run. If there is none, the latest run,
  // which is then stale; null if there are no runs.
  const CollectiveRun* run() const;
  bool run_is_stale() const;
  const CollectiveRun* fresh_run() const { return run_is_stale() ? nullptr : run(); }
  // Whether the prediction is for this computer, where ranks run. Otherwise prediction and run
  // share no time axis, and there is no difference of times.
  bool times_compare() const { return plan_->choice.topology == Topology::kMemory; }
  const std::vector<CollectiveRun>& runs() const { return runs_; }
  // Keeps the runs and sweeps made so far out of the view, as a starting lesson needs; a document
  // still keeps them. False brings them back.
  void set_earlier_runs_aside(bool aside);
  // Error: the observation's Program is not that of the spec (an engine of another version).
  Result<void> keep_run(const CollectiveSpec& spec, CollectiveObservation seen);

  // The points of sweeps over sizes with the chosen operation, ranks and type, on the devices that
  // a run would take.
  std::vector<MeasuredPoint> sweep() const;
  const std::vector<MeasuredPoint>& all_sweeps() const { return sweep_; }
  void keep_sweep(const MeasuredPoint& point);

  // What is animated: the run of the choice if times_compare(), else the prediction.
  const CollectiveMotion& motion() const { return *motion_; }
  Nanoseconds horizon() const;
  Nanoseconds playhead() const override { return playhead_; }
  void set_playhead(Nanoseconds time) override;
  TimeRange played() const override;
  // The begin of the step before or after `time`. Beyond them, the end of the timeline.
  Nanoseconds next_event(Nanoseconds time, bool forward) const override;
  double telling_share() const override { return 0.42; }
  QString time_title() const override;
  QString time_text(const Session& session) const override;
  QString widest_time_text() const override;
  QString length_key() const override;

  int ranks() const override { return choice_.spec.ranks; }
  QString proof_tip() const override;
  EngineRequest run_request(const Placement& placement, const RunSettings& asked) override;

  std::vector<Formula> formulas(const QString& quantity) const override;
  QString trace_title() const override;
  QString table_title() const override;
  Result<std::string> trace_text(const Session& session) const override;
  Result<std::string> table_text(const Session& session) const override;

  ChunkContent content() const { return content_; }
  void set_content(ChunkContent content);
  // Whether a reduce-scatter and an all-gather are shown beside an all-reduce.
  bool shows_parts() const { return shows_parts_; }
  void set_shows_parts(bool shows);

  MoveRef selected() const { return selected_; }
  void select(MoveRef move);

  // Starts afresh with what a document holds.
  void restore(const CollectiveChoice& choice, std::vector<CollectiveRun> runs,
               std::vector<MeasuredPoint> sweep);

 Q_SIGNALS:
  void selection_changed();
  void content_changed();  // or shows_parts()

 private:
  friend class CollectiveCommand;
  void apply(const CollectiveChoice& choice);
  bool is_chosen(const CollectiveRun& run) const;
  CollectiveChoice placed() const;  // choice_ with the devices that a run would take
  void add(CollectiveRun run);
  void add(const MeasuredPoint& point);
  void make_motion();
  QUndoStack& undo_;
  std::function<int(int)> gpus_of_;
  CollectiveChoice choice_;
  std::optional<Message> problem_;
  std::shared_ptr<const CollectivePlan> plan_;
  std::vector<CollectiveRun> runs_;
  std::vector<MeasuredPoint> sweep_;
  std::size_t earlier_runs_ = 0, earlier_points_ = 0;  // how many of the oldest are kept aside
  std::shared_ptr<const CollectiveMotion> motion_;
  Nanoseconds playhead_{0};
  ChunkContent content_ = ChunkContent::kContributions;
  bool shows_parts_ = false;
  MoveRef selected_;
};

}  // namespace parallelarium

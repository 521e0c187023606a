// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the Session that belongs to the Collectives view: what is chosen, what is predicted
// for it, its runs, and its own playhead. Views read it and ask it to change, as with the Session.
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
  kValues,         // the run's first number of each
  kRounding        // in how many elements the run's result differs from another algorithm's
};

QString name_of(ChunkContent content);  // "contributions" "values" "bits"
std::optional<ChunkContent> chunk_content_by_name(const QString& name);

// The algorithm whose order of adding a run is compared with: the ring's or the tree's where they
// are not the chosen one. Empty where nothing is combined, or arrays are too large to run twice.
std::string rounding_rival_of(const CollectiveSpec& spec);

// What the engine is asked for one point of a sweep.
CollectiveRequest sweep_request(const CollectiveSpec& spec, const Placement& placement,
                                const RunSettings& asked);

class CollectiveSession : public Topic {
  Q_OBJECT

 public:
  // Changes become steps of `undo`, which must outlive this.
  explicit CollectiveSession(QUndoStack& undo, QObject* parent = nullptr);
  // How many of this computer's GPUs a run of so many ranks would take: none, one for each, or one
  // that they share. Without it none.
  void set_gpus_of(std::function<int(int ranks)> gpus_of);

  // What is set, without where it would run, which follows from it: plan() has both.
  const CollectiveChoice& choice() const { return choice_; }
  // As one undo step named `what`. An invalid choice is kept, with problem().
  void change(const CollectiveChoice& choice, const QString& what);
  std::optional<Message> problem() const override { return problem_; }
  std::vector<Remedy> remedies(const Message& problem) override;
  bool is_step() const override { return false; }
  // Of the latest valid choice; never null. Drawn dimmed while there is a problem().
  std::shared_ptr<const CollectivePlan> plan() const { return plan_; }
  // Predicts again where the rates of this computer are other ones (after a calibration).
  void refresh_rates();
  // The same where a run would now take the other devices.
  void refresh_place();

  // The run of the chosen spec where it would run if there is one, else the latest, if any; then it
  // is stale.
  const CollectiveRun* run() const;
  bool run_is_stale() const;
  const CollectiveRun* fresh_run() const { return run_is_stale() ? nullptr : run(); }
  // Whether the prediction is for this computer, whose ranks run: else the two share no time axis
  // and no difference of times.
  bool times_compare() const { return plan_->choice.topology == Topology::kMemory; }
  const std::vector<CollectiveRun>& runs() const { return runs_; }
  // What a lesson that starts does not want to see: keeps the runs and sweeps made so far out of
  // the view (a document still keeps them). False: they are back.
  void set_earlier_runs_aside(bool aside);
  // Error: the observation is of another Program than the spec's (an engine of another version).
  Result<void> keep_run(const CollectiveSpec& spec, CollectiveObservation seen);

  // Measured by a sweep over sizes, of the operation, ranks and type that is chosen, on the devices
  // that a run would take.
  std::vector<MeasuredPoint> sweep() const;
  const std::vector<MeasuredPoint>& all_sweeps() const { return sweep_; }
  void keep_sweep(const MeasuredPoint& point);

  // What is animated: the run of the choice where times_compare(), else the prediction.
  const CollectiveMotion& motion() const { return *motion_; }
  Nanoseconds horizon() const;
  Nanoseconds playhead() const override { return playhead_; }
  void set_playhead(Nanoseconds time) override;
  TimeRange played() const override;
  // The begin of the step before or after `time`; the ends of the timeline beyond them.
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
  // An all-reduce with a reduce-scatter and an all-gather beside it.
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
  std::size_t earlier_runs_ = 0, earlier_points_ = 0;  // how many of the oldest are aside
  std::shared_ptr<const CollectiveMotion> motion_;
  Nanoseconds playhead_{0};
  ChunkContent content_ = ChunkContent::kContributions;
  bool shows_parts_ = false;
  MoveRef selected_;
};

}  // namespace parallelarium

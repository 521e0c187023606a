// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/collective/collective_session.h"

#include <QElapsedTimer>
#include <QUndoCommand>
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "app/state/history.h"
#include "engine/wire/collective_messages.h"

namespace parallelarium {
namespace {

constexpr std::size_t kMostCollectiveRuns = 20, kMostSweepPoints = 2000;

// Makes room for one more entry, of which those that `replaced` names are the older version.
// `aside`: how many of the oldest are aside.
template <typename Entry, typename Replaced>
void forget(std::vector<Entry>& entries, std::size_t& aside, std::size_t most, Replaced replaced) {
  const auto drop = [&](std::size_t at) {
    entries.erase(entries.begin() + std::ptrdiff_t(at));
    if (at < aside) --aside;
  };
  for (std::size_t at = entries.size(); at-- > 0;)
    if (replaced(entries[at])) drop(at);
  if (entries.size() >= most) drop(0);
}

// Equal for two edits of the same keys.
int edit_id(const CollectiveChoice& before, const CollectiveChoice& after) {
  std::string keys = "collective";
  for (const auto& change : nlohmann::json::diff(to_json(before), to_json(after)))
    keys += change.at("path").get<std::string>() + '\n';
  return static_cast<int>(std::hash<std::string>{}(keys)&0x7fffffff);
}

constexpr std::int64_t kMostRoundedBytes = std::int64_t{256} << 20;  // of all ranks' arrays
constexpr const char* kContents[] = {"contributions", "values", "bits"};

}  // namespace

QString name_of(ChunkContent content) {
  return QLatin1String(kContents[static_cast<std::size_t>(content)]);
}

std::optional<ChunkContent> chunk_content_by_name(const QString& name) {
  for (std::size_t at = 0; at < std::size(kContents); ++at)
    if (name == QLatin1String(kContents[at])) return static_cast<ChunkContent>(at);
  return std::nullopt;
}

std::string rounding_rival_of(const CollectiveSpec& spec) {
  if (!reduces(spec.kind) || spec.bytes * spec.ranks > kMostRoundedBytes) return {};
  for (const char* name : {"ring", "tree", "direct"}) {
    CollectiveSpec other = spec;
    other.algorithm = name;
    other.segments = other.node_size = 0;
    if (name != spec.algorithm && make_collective(other)) return name;
  }
  return {};
}

// One edit of the choice.
class CollectiveCommand : public QUndoCommand {
 public:
  CollectiveCommand(CollectiveSession& session, const CollectiveChoice& before,
                    const CollectiveChoice& after, const QString& what)
      : QUndoCommand(what),
        session_(session),
        before_(before),
        after_(after),
        id_(edit_id(before, after)) {
    age_.start();
  }
  void undo() override { session_.apply(before_); }
  void redo() override { session_.apply(after_); }
  int id() const override { return id_; }
  bool mergeWith(const QUndoCommand* other) override {
    const auto* next = dynamic_cast<const CollectiveCommand*>(other);
    if (!next || age_.elapsed() > kMergeMs) return false;
    age_.restart();
    after_ = next->after_;
    setObsolete(after_ == before_);
    return true;
  }

 private:
  CollectiveSession& session_;
  CollectiveChoice before_, after_;
  int id_;
  QElapsedTimer age_;
};

CollectiveSession::CollectiveSession(QUndoStack& undo, QObject* parent)
    : Topic(parent), undo_(undo) {
  Result<CollectivePlan> plan = plan_collective(choice_, this_computer());
  // The default is an all-reduce by ring over four ranks, which every version of the engine has.
  Q_ASSERT(plan.ok());
  plan_ = std::make_shared<const CollectivePlan>(std::move(*plan));
  make_motion();
}

void CollectiveSession::set_gpus_of(std::function<int(int ranks)> gpus_of) {
  gpus_of_ = std::move(gpus_of);
  refresh_place();
}

CollectiveChoice CollectiveSession::placed() const {
  CollectiveChoice choice = choice_;
  choice.gpus = gpus_of_ ? gpus_of_(choice.spec.ranks) : 0;
  return choice;
}

void CollectiveSession::change(const CollectiveChoice& choice, const QString& what) {
  CollectiveChoice set = choice;
  set.gpus = 0;
  if (set == choice_) return;
  undo_.push(new CollectiveCommand(*this, choice_, set, what));
}

void CollectiveSession::apply(const CollectiveChoice& choice) {
  choice_ = choice;
  const double share =
      horizon().count() > 0 ? double(playhead_.count()) / double(horizon().count()) : 0;
  const CollectiveChoice here = placed();
  Result<CollectivePlan> plan = plan_collective(here, this_computer(here.gpus));
  problem_.reset();
  if (plan)
    plan_ = std::make_shared<const CollectivePlan>(std::move(*plan));
  else
    problem_ = plan.error();
  selected_ = {};
  make_motion();
  // The picture stays about where it was in the collective, however long that now takes.
  playhead_ = Nanoseconds(std::llround(share * double(horizon().count())));
  Q_EMIT changed();
  Q_EMIT run_changed();
  Q_EMIT selection_changed();
  Q_EMIT playhead_changed();
}

void CollectiveSession::refresh_rates() {
  const CollectiveChoice& choice = plan_->choice;
  if (choice.topology != Topology::kMemory) return;
  const Machine machine = this_computer(choice.gpus);
  const Network network = network_for(choice, plan_->collective.spec.node_size, machine);
  if (prediction_word(machine) != plan_->word || !(network == plan_->network)) apply(choice_);
}

void CollectiveSession::refresh_place() {
  if (!problem_ && placed().gpus != plan_->choice.gpus) apply(choice_);
}

const CollectiveRun* CollectiveSession::run() const {
  const std::size_t from = earlier_runs_;
  for (std::size_t run = runs_.size(); run-- > from;)
    if (is_chosen(runs_[run])) return &runs_[run];
  return runs_.size() > from ? &runs_.back() : nullptr;
}

void CollectiveSession::set_earlier_runs_aside(bool aside) {
  earlier_runs_ = aside ? runs_.size() : 0;
  earlier_points_ = aside ? sweep_.size() : 0;
  apply(choice_);
}

bool CollectiveSession::is_chosen(const CollectiveRun& run) const {
  return run.plan->choice.spec == choice_.spec && run.plan->choice.gpus == plan_->choice.gpus;
}

bool CollectiveSession::run_is_stale() const {
  const CollectiveRun* now = run();
  return now && !is_chosen(*now);
}

Result<void> CollectiveSession::keep_run(const CollectiveSpec& spec, CollectiveObservation seen) {
  Result<CollectiveRun> run = make_collective_run(spec, std::move(seen));
  if (!run) return run.error();
  add(std::move(*run));
  make_motion();
  playhead_ = Nanoseconds(0);
  Q_EMIT run_changed();
  Q_EMIT playhead_changed();
  return {};
}

void CollectiveSession::add(CollectiveRun run) {
  forget(runs_, earlier_runs_, kMostCollectiveRuns, [&](const CollectiveRun& old) {
    return old.plan->choice.spec == run.plan->choice.spec &&
           old.plan->choice.gpus == run.plan->choice.gpus;
  });
  runs_.push_back(std::move(run));
}

void CollectiveSession::add(const MeasuredPoint& point) {
  forget(sweep_, earlier_points_, kMostSweepPoints, [&](const MeasuredPoint& old) {
    return old.spec == point.spec && old.on_gpus == point.on_gpus;
  });
  sweep_.push_back(point);
}

std::vector<MeasuredPoint> CollectiveSession::sweep() const {
  std::vector<MeasuredPoint> points;
  const CollectiveSpec& now = plan_->choice.spec;
  for (std::size_t at = earlier_points_; at < sweep_.size(); ++at) {
    const CollectiveSpec& spec = sweep_[at].spec;
    if (spec.kind == now.kind && spec.ranks == now.ranks && spec.type == now.type &&
        sweep_[at].on_gpus == (plan_->choice.gpus > 0))
      points.push_back(sweep_[at]);
  }
  return points;
}

void CollectiveSession::keep_sweep(const MeasuredPoint& point) {
  add(point);
  Q_EMIT run_changed();
}

void CollectiveSession::make_motion() {
  const CollectiveRun* seen = problem_ || !times_compare() ? nullptr : fresh_run();
  motion_ = seen ? std::make_shared<const CollectiveMotion>(seen->plan, seen->seen.timeline)
                 : std::make_shared<const CollectiveMotion>(plan_, plan_->cost.timeline);
}

Nanoseconds CollectiveSession::horizon() const {
  Nanoseconds longest = plan_->cost.timeline.duration;
  const CollectiveRun* seen = times_compare() ? fresh_run() : nullptr;
  return seen ? std::max(longest, seen->seen.timeline.duration) : longest;
}

void CollectiveSession::set_playhead(Nanoseconds time) {
  time = std::clamp(time, Nanoseconds(0), std::max(Nanoseconds(0), horizon()));
  if (time == playhead_) return;
  playhead_ = time;
  Q_EMIT playhead_changed();
}

Nanoseconds CollectiveSession::next_event(Nanoseconds time, bool forward) const {
  Nanoseconds best = forward ? horizon() : Nanoseconds(0);
  for (int step = 0; step < motion_->steps(); ++step) {
    const Nanoseconds begin = motion_->step_span(step).begin;
    if (forward ? begin > time && begin < best : begin < time && begin > best) best = begin;
  }
  return best;
}

void CollectiveSession::set_content(ChunkContent content) {
  if (content == content_) return;
  content_ = content;
  Q_EMIT content_changed();
}

void CollectiveSession::set_shows_parts(bool shows) {
  if (shows == shows_parts_) return;
  shows_parts_ = shows;
  Q_EMIT content_changed();
}

void CollectiveSession::select(MoveRef move) {
  if (move == selected_) return;
  selected_ = move;
  Q_EMIT selection_changed();
}

void CollectiveSession::restore(const CollectiveChoice& choice, std::vector<CollectiveRun> runs,
                                std::vector<MeasuredPoint> sweep) {
  runs_.clear();
  sweep_.clear();
  earlier_runs_ = earlier_points_ = 0;
  for (CollectiveRun& run : runs) add(std::move(run));
  for (const MeasuredPoint& point : sweep) add(point);
  playhead_ = Nanoseconds(0);
  apply(choice);
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/search.h"

#include <chrono>
#include <mutex>
#include <nlohmann/json.hpp>
#include <queue>
#include <tuple>

#include "engine/passes/build.h"
#include "engine/plan/placement/parallel.h"
#include "engine/plan/text/phrases.h"
#include "engine/planner/bounds/bound_tables.h"
#include "engine/planner/entry.h"
#include "engine/planner/front.h"
#include "engine/planner/keeping.h"
#include "engine/planner/listing.h"
#include "engine/planner/space/coming.h"
#include "engine/planner/tally.h"

namespace parallelarium {

namespace {

// Shares of the progress at which stages are timed, and the best plans are known.
constexpr double kTablesShare = 0.15, kBestShare = 0.5;

class Search {
 public:
  Search(const PlanRequest& request, const Space& space, const PlanWatch& watch)
      : request_(request), space_(space), watch_(watch), capacity_(capacity_of(request.machine)) {}

  Result<PlanResult> run() {
    const Result<Listing> listing =
        list_candidates(request_, space_, tables_, tally_, watch_, entries_);
    if (!listing) return listing.error();
    result_.candidates = listing->candidates;
    listed_ = listing->all;
    make_tables();
    if (!cancelled()) bound_all();
    find_best();
    if (request_.best_alone)
      for (; !queue_.empty() && !cancelled(); queue_.pop())
        count_bounded(entries_[std::get<2>(queue_.top())]);
    else
      find_front();
    find_keeping();
    {
      const std::lock_guard lock(told_);
      over_ = true;
    }
    if (cancelled() && result_.best.empty())
      return message("cancelled.plan", "The search was cancelled.");
    finish();
    return std::move(result_);
  }

 private:
  bool cancelled() const { return watch_.cancel != nullptr && *watch_.cancel; }
  // `say` makes the sentence of how many candidates are decided, and of all.
  template <class Say>
  void tell(double share, const Say& say) const {
    if (!watch_.progress) return;
    share_ = std::max(share_, share);
    const auto count = [](std::int64_t of) { return figure(std::to_string(of)); };
    watch_.progress(share_, say(count(tally_.decided()), count(result_.candidates)));
  }

  void make_tables() {
    tables_.make([this] { return cancelled(); },
                 [this](std::size_t made, std::size_t all) {
                   watch_.tell(share_ = kTablesShare * double(made) / double(all),
                               message("plan-tables", "Timing stages: {} of {} kinds.",
                                       figure(std::to_string(made)), figure(std::to_string(all))));
                 });
  }

  // Quick bounds, which tell many that are too large.
  void bound_all() {
    std::vector<Bound> bounds(entries_.size());
    constexpr std::size_t kRun = 1024;
    in_parallel((entries_.size() + kRun - 1) / kRun, [&](std::size_t run) {
      if (cancelled()) return;
      Setup setup = request_.base;
      std::optional<QuickBound> known;
      const Entry* of = nullptr;  // whose it is
      for (std::size_t at = run * kRun; at < std::min(entries_.size(), (run + 1) * kRun); ++at) {
        if (tables_.refusal(entries_[at])) continue;
        const Entry& entry = entries_[at];
        space_.write(entry.candidate, setup);
        if (of == nullptr || !entry.candidate.is_like(of->candidate)) {
          known.emplace(setup, tables_.table(entry.footing));
          of = &entry;
        }
        bounds[at] = tables_.quick(entry, setup, *known);
      }
    });
    if (cancelled()) return;
    for (std::size_t at = 0; at < entries_.size(); ++at) {
      Entry& entry = entries_[at];
      if (const auto& refusal = tables_.refusal(entry)) {
        entry.out = true;
        tally_.count(PlanClass::kRefused, *refusal, entry.candidate);
        continue;
      }
      if (take_bound(entry, bounds[at])) queue_.push(place_of(at, entry));
    }
  }

  // Keeps the larger bounds; false: it does not fit, and is counted.
  bool take_bound(Entry& entry, const Bound& bound) {
    entry.raise(bound, capacity_);
    if (!entry.out) return true;
    note_least(entry.candidate, bound.bytes - *capacity_);
    const bool by_states = bound.states > *capacity_;
    tally_.count(
        by_states ? Tally::Kind::kStatesTooLarge : Tally::Kind::kTooLarge, PlanClass::kDoesNotFit,
        [&] { return too_large(bound.stage, bound.bytes, request_.machine, bound.states); },
        entry.candidate);
    return false;
  }

  void note_least(const Candidate& candidate, std::int64_t over_bytes) {
    if (least_over_ > 0 && over_bytes >= least_over_) return;
    least_over_ = over_bytes;
    least_ = candidate;
  }

  // Ascending by what the objective promises at most.
  using Place = std::tuple<double, std::int64_t, std::size_t>;
  Place place_of(std::size_t at, const Entry& entry) const {
    return {value_of(entry), entry.nanoseconds, at};
  }
  double value_of(const Entry& entry) const {
    return objective_value(request_.objective, entry.nanoseconds, entry.bytes,
                           entry.candidate.gpus());
  }
  double value_of(const Plan& plan) const {
    return objective_value(request_.objective, plan.time.count(), plan.needed_bytes,
                           plan.candidate.gpus());
  }

  bool cannot_be_among_best(const Entry& entry) const {
    const auto& best = result_.best;
    if (best.size() < static_cast<std::size_t>(request_.top)) return false;
    // Of plans that the objective takes for equal, the faster stands first.
    return std::pair(value_of(entry), entry.nanoseconds) >
           std::pair(value_of(best.back()), std::int64_t{best.back().time.count()});
  }

  bool dominated(const Entry& entry) const {
    return dominates(result_.pareto, entry.nanoseconds, entry.bytes, entry.candidate.gpus());
  }

  void find_best() {
    double first = -1;
    while (!queue_.empty() && !cancelled()) {
      const std::size_t at = std::get<2>(queue_.top());
      if (cannot_be_among_best(entries_[at])) return;
      const double least = value_of(entries_[at]);
      if (first < 0) first = least;
      queue_.pop();
      if (look_at(at, [&](const auto& known) { return coming_best(at, known); }))
        queue_.push(place_of(at, entries_[at]));
      const auto& best = result_.best;
      const bool enough = best.size() >= static_cast<std::size_t>(request_.top);
      const double span = enough ? value_of(best.back()) - first : 0;
      tell(kTablesShare + (kBestShare - kTablesShare) *
                              (span > 0 ? std::clamp((least - first) / span, 0.0, 1.0) : 0),
           [](const Message& decided, const Message& all) {
             return message("plan-best", "Simulating the best: {} of {} candidates are decided.",
                            decided, all);
           });
    }
  }
  std::vector<NextLook> coming_best(std::size_t first, const LooksAhead::Known& known) {
    return coming_looks(
        queue_, entries_, capacity_, Coming(space_, entries_[first]), known,
        [&](std::size_t at, const Entry& entry) { return place_of(at, entry); },
        [&](const Entry& entry, bool /*of_queue*/, const Coming& /*coming*/) {
          return cannot_be_among_best(entry) ? Foreseen::kStop : Foreseen::kLook;
        });
  }

  // What is left may still be smaller than all that were simulated. It is taken in the order of
  // time, so that what covers a candidate comes before it.
  void find_front() {
    std::vector<Timed> undecided;
    for (const auto& [value, nanoseconds, at] : queue_.places())
      undecided.emplace_back(nanoseconds, at);
    queue_ = {};
    left_ = Places<Timed>(std::greater<>(), std::move(undecided));
    const auto all = static_cast<double>(std::max<std::size_t>(1, left_.size()));
    while (!left_.empty() && !cancelled()) {
      const std::size_t at = left_.top().second;
      left_.pop();
      if (is_decided_by_bounds(entries_[at])) continue;
      if (look_at(at, [&](const auto& known) { return coming_smaller(at, known); }))
        left_.emplace(entries_[at].nanoseconds, at);
      tell(kBestShare + (kRulesShare - kBestShare) * (1 - static_cast<double>(left_.size()) / all),
           [](const Message& decided, const Message& of) {
             return message("plan-smaller",
                            "Simulating smaller plans: {} of {} candidates are decided.", decided,
                            of);
           });
    }
  }
  std::vector<NextLook> coming_smaller(std::size_t first, const LooksAhead::Known& known) {
    return coming_looks(
        left_, entries_, capacity_, Coming(space_, entries_[first]), known,
        [](std::size_t at, const Entry& entry) { return Timed(entry.nanoseconds, at); },
        [&](const Entry& entry, bool of_queue, const Coming& coming) {
          if (dominated(entry)) {  // and will be
            if (of_queue) count_bounded(entry);
            return Foreseen::kDrop;
          }
          return too_long_for_front(entry) || coming.may_bound(entry) ? Foreseen::kSkip
                                                                      : Foreseen::kLook;
        });
  }

  bool too_long_for_front(const Entry& entry) const {
    return entry.walked() && actions_of(entry, space_) > kMostFrontActions;
  }
  bool is_decided_by_bounds(const Entry& entry) {
    if (dominated(entry)) {
      count_bounded(entry);
      return true;
    }
    if (!too_long_for_front(entry)) return false;
    ++result_.front_too_long;
    tally_.count(PlanClass::kBounded, too_long(actions_of(entry, space_)), entry.candidate);
    return true;
  }

  void count_bounded(const Entry& entry) {
    tally_.count(
        Tally::Kind::kBounded, PlanClass::kBounded,
        [&] { return too_slow(entry.nanoseconds, result_.best); }, entry.candidate);
  }

  // Walks what was bounded quickly, and simulates what was walked. Whether it has no class yet.
  bool look_at(std::size_t at, const LooksAhead::Coming& coming) {
    Entry& entry = entries_[at];
    Look look = ahead_.take({at, entry}, coming);
    if (cancelled()) return false;  // a trial may have stopped for that
    if (look.trial) {
      take(entry, *look.trial);
      return false;
    }
    if (!*look.bound) {
      entry.out = true;
      tally_.count(PlanClass::kRefused, look.bound->error(), entry.candidate);
      return false;
    }
    ++entry.walks;
    return take_bound(entry, **look.bound);
  }

  // Whether a plan of such time and memory, or more, may be among what is told in the end. What is
  // better now stays better.
  bool may_be_told(const Candidate& candidate, std::int64_t nanoseconds, std::int64_t bytes) const {
    const std::lock_guard lock(told_);
    if (over_) return false;
    if (keeping_) return true;
    Entry entry;
    entry.candidate = candidate;
    entry.nanoseconds = nanoseconds;
    entry.bytes = bytes;
    if (!cannot_be_among_best(entry)) return true;
    return !outdoes(result_.pareto, nanoseconds, bytes, candidate.gpus());
  }

  Look look_of(const Entry& entry) const {
    Look look;
    if (cancelled()) return look;
    const Setup setup = space_.setup_of(entry.candidate);
    if (entry.walked())
      look.trial.emplace(try_candidate(setup, request_.machine, [&](auto at_least, auto bytes) {
        return !cancelled() &&
               may_be_told(entry.candidate, std::max(entry.nanoseconds, at_least), bytes);
      }));
    else
      look.bound.emplace(entry.walks == 0   ? tables_.walked(entry, setup)
                         : entry.walks == 1 ? tables_.alone(entry, setup)
                                            : tables_.laned(entry, setup));
    return look;
  }

  void take(Entry& entry, Result<Trial>& trial) {
    if (!trial) {
      entry.out = true;
      tally_.count(PlanClass::kRefused, trial.error(), entry.candidate);
      return;
    }
    Plan& plan = trial->tried.plan;
    plan.candidate = entry.candidate;
    // Whether another thread was early enough to stop it makes no difference.
    const std::int64_t known = std::max(entry.nanoseconds, trial->at_least);
    if (trial->tried.fits() && !may_be_told(entry.candidate, known, plan.needed_bytes)) {
      entry.nanoseconds = known;
      entry.bytes = plan.needed_bytes;
      count_bounded(entry);
      return;
    }
    const std::lock_guard lock(told_);
    if (!trial->tried.fits()) {
      entry.out = true;
      tally_.count(PlanClass::kDoesNotFit, too_large(trial->tried, request_.machine),
                   entry.candidate);
      note_least(entry.candidate, trial->tried.over.bytes);
      return;
    }
    entry.nanoseconds = plan.time.count();
    entry.bytes = plan.needed_bytes;
    result_.points.push_back({plan.step.seconds, plan.needed_bytes});
    tally_.count(PlanClass::kSimulated);
    add_to_front(result_.pareto, plan);
    auto& best = result_.best;
    const auto same = std::find_if(best.begin(), best.end(), [&](const Plan& other) {
      return comes_to_the_same(plan, other);
    });
    if (same != best.end()) {
      if (!stands_before(plan, *same, request_.objective)) return;
      best.erase(same);
    }
    const auto place = std::find_if(best.begin(), best.end(), [&](const Plan& other) {
      return stands_before(plan, other, request_.objective);
    });
    best.insert(place, std::move(plan));
    if (best.size() > static_cast<std::size_t>(request_.top)) best.pop_back();
  }

  void find_keeping() {
    const bool told = request_.objective == Objective::kTime && !request_.best_alone;
    if (!told || cancelled() || result_.best.empty()) return;
    tell(kRulesShare, [](auto, auto) { return message("plan-rules", "Testing rules of thumb."); });
    std::unique_lock lock(told_);
    keeping_ = true;
    lock.unlock();
    Keeping(request_, space_, capacity_, entries_, ahead_, watch_.cancel).note(result_);
  }

  void finish() {
    tally_.tell(result_, space_);
    result_.left = result_.candidates - tally_.decided();
    result_.cancelled = result_.left > 0 || !listed_;
    if (least_over_ > 0) result_.least = LeastPlan{least_over_, space_.setup_of(least_)};
    std::sort(result_.pareto.begin(), result_.pareto.end(),
              [](const Plan& a, const Plan& b) { return stands_before(a, b, Objective::kTime); });
  }

  const PlanRequest& request_;
  const Space& space_;
  const PlanWatch& watch_;
  mutable double share_ = 0;              // that was told last
  std::optional<std::int64_t> capacity_;  // of a device; none: ranks share their memory
  std::int64_t least_over_ = 0;           // bytes too many, of those that do not fit
  Candidate least_;
  bool listed_ = false;  // all candidates
  std::vector<Entry> entries_;
  BoundTables tables_{space_, request_.machine};
  Tally tally_;
  Places<Place> queue_;
  using Timed = std::pair<std::int64_t, std::size_t>;
  Places<Timed> left_;  // of find_front()
  PlanResult result_;
  bool keeping_ = false;     // all have their class, and rules are tested
  mutable std::mutex told_;  // over_, keeping_, the best and the front, for other threads
  bool over_ = false;        // nothing is looked at any more
  LooksAhead ahead_{[this](const NextLook& next) { return look_of(next.entry); }};
};

}  // namespace

Result<PlanResult> search(const PlanRequest& request, const PlanWatch& watch) {
  const auto begin = std::chrono::steady_clock::now();
  const Result<Space> space = Space::of(request);
  if (!space) return space.error();
  Result<PlanResult> result = Search(request, *space, watch).run();
  if (!result) return result;
  result->objective = request.objective;
  result->tried = space->tried_said();
  if (!result->cancelled && !request.best_alone) {
    watch.tell(kNeighboursShare,
               message("plan-neighbours", "Trying one change of the best plan after another."));
    std::vector<TriedNeighbour> tried;
    result->why = reasons_of(result->best, request, tried);
    result->neighbours = neighbours_of_best(result->best, request, tried);
  }
  result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace parallelarium

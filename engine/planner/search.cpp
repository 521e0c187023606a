// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/search.h"

#include <chrono>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <queue>
#include <tuple>

#include "engine/passes/build.h"
#include "engine/plan/text/phrases.h"
#include "engine/planner/ahead.h"
#include "engine/planner/bounds/bound_tables.h"
#include "engine/planner/entry.h"
#include "engine/planner/front.h"
#include "engine/planner/parallel.h"

namespace parallelarium {

namespace {

// Shares of the progress at which stages are timed, and the best plans are known.
constexpr double kTablesShare = 0.15, kBestShare = 0.5;

class Search {
 public:
  Search(const PlanRequest& request, const Space& space, const PlanWatch& watch)
      : request_(request), space_(space), watch_(watch) {
    const Machine& machine = request.machine;
    capacity_ = usable_bytes(machine);
    together_ = machine.ranks_share_memory() || machine.local;
  }

  Result<PlanResult> run() {
    if (Result<void> listed = list(); !listed) return listed.error();
    make_tables();
    if (!cancelled()) bound_all();
    find_best();
    if (request_.best_alone)
      for (; !queue_.empty() && !cancelled(); queue_.pop())
        count_bounded(entries_[std::get<2>(queue_.top())]);
    else
      find_front();
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
    std::int64_t decided = 0;
    for (const std::int64_t count : result_.classes) decided += count;
    share_ = std::max(share_, share);
    watch_.progress(share_, say(decided, result_.candidates));
  }

  void count(PlanClass plan_class, const Message& sentence, std::int64_t times = 1) {
    result_.classes[static_cast<std::size_t>(plan_class)] += times;
    ReasonCount& reason = reasons_[{plan_class, sentence.id, sentence.field}];
    if (reason.count == 0) reason.sentence = sentence;
    reason.plan_class = plan_class;
    reason.count += times;
  }

  // Every candidate, with the table of stages that its bounds stand on; the refused are counted.
  Result<void> list() {
    watch_.tell(0, message("plan-listing", "Listing the candidates."));
    Setup setup = request_.base;
    bool too_many = false;
    space_.for_each([&](const Candidate& group) {
      const std::vector<Sharding> shardings = space_.shardings_of(group);
      const auto recomputes = static_cast<std::int64_t>(space_.recomputes().size());
      result_.candidates += static_cast<std::int64_t>(shardings.size()) * recomputes;
      too_many = result_.candidates > kMostCandidates;
      listed_ = !too_many && !cancelled();
      if (!listed_) return false;
      Candidate candidate = group;
      for (std::size_t at = 0, end = 0; at < shardings.size(); at = end) {
        while (end < shardings.size() && shardings[end].group == shardings[at].group) ++end;
        candidate.zero = shardings[at].zero;
        candidate.zero_group = shardings[at].group;
        space_.write(candidate, setup);
        const std::vector<Message> wrong = validate(setup);
        // One rule alone looks at the group.
        if (!wrong.empty() && wrong.front().field != "zero_group") end = shardings.size();
        if (!wrong.empty())
          count(PlanClass::kRefused, wrong.front(),
                static_cast<std::int64_t>(end - at) * recomputes);
        else
          enter(candidate, setup,
                {shardings.begin() + std::ptrdiff_t(at), shardings.begin() + std::ptrdiff_t(end)});
      }
      return true;
    });
    if (too_many)
      return message("plan-many",
                     "These axes have more than {} combinations; fix some of them, such as --fix "
                     "tp=8.",
                     kMostCandidates);
    if (result_.candidates == 0)
      return message("plan-empty",
                     "No combination of the axes makes {} GPUs and a global batch of {} sequences; "
                     "free an axis, or choose a batch that more ranks divide.",
                     request_.least_gpus == request_.most_gpus
                         ? std::to_string(request_.most_gpus)
                         : fmt::format("{}..{}", request_.least_gpus, request_.most_gpus),
                     request_.global_batch);
    return {};
  }

  std::optional<Message> refusal_of(const Setup& setup) const {
    return request_.refuses ? request_.refuses(setup) : std::nullopt;
  }

  // `setup` is that of the candidate, which is valid with all these.
  void enter(Candidate candidate, Setup& setup, const std::vector<Sharding>& shardings) {
    // What is refused for another axis is refused with any of these and any recompute.
    if (const auto why = refusal_of(setup);
        why && why->field != "zero" && why->field != "zero_group" && why->field != "recompute")
      return count(PlanClass::kRefused, *why,
                   static_cast<std::int64_t>(shardings.size() * space_.recomputes().size()));
    for (std::size_t recompute = 0; recompute < space_.recomputes().size(); ++recompute) {
      candidate.recompute = static_cast<std::uint8_t>(recompute);
      setup.recompute = space_.recomputes()[recompute];
      const Footing footing = tables_.footing_of(candidate, setup);
      for (const Sharding& sharding : shardings) {
        candidate.zero = sharding.zero;
        setup.zero = sharding.zero;
        if (const auto why = refusal_of(setup)) {
          count(PlanClass::kRefused, *why);
          continue;
        }
        entries_.push_back({candidate, footing, tables_.end_of(candidate, setup), 0, 0, 0});
      }
    }
  }

  void make_tables() {
    tables_.make([this] { return cancelled(); },
                 [this](std::size_t made, std::size_t all) {
                   watch_.tell(share_ = kTablesShare * double(made) / double(all),
                               message("plan-tables", "Timing stages: {} of {} kinds.", made, all));
                 });
  }

  // Quick bounds, which tell many that are too large.
  void bound_all() {
    std::vector<Bound> bounds(entries_.size());
    constexpr std::size_t kRun = 1024;
    in_parallel((entries_.size() + kRun - 1) / kRun, [&](std::size_t run) {
      Setup setup = request_.base;
      StageTable table;  // of the entry before
      Footing footing{-1, -1};
      for (std::size_t at = run * kRun; at < std::min(entries_.size(), (run + 1) * kRun); ++at) {
        if (tables_.refusal(entries_[at])) continue;
        const Entry& entry = entries_[at];
        if (!(entry.footing == footing)) {
          footing = entry.footing;
          table = tables_.table(footing);
        }
        space_.write(entry.candidate, setup);
        bounds[at] = tables_.quick(entry, setup, table);
      }
    });
    for (std::size_t at = 0; at < entries_.size(); ++at) {
      Entry& entry = entries_[at];
      if (const auto& refusal = tables_.refusal(entry)) {
        count(PlanClass::kRefused, *refusal);
        continue;
      }
      if (take_bound(entry, bounds[at])) queue_.push(place_of(at));
    }
  }

  // Keeps the larger bounds; false: it does not fit, and is counted.
  bool take_bound(Entry& entry, const Bound& bound) {
    entry.nanoseconds = std::max(entry.nanoseconds, bound.nanoseconds);
    if (together_) return true;
    entry.bytes = std::max(entry.bytes, bound.bytes);
    if (bound.bytes <= capacity_) return true;
    note_least(entry.candidate, bound.bytes);
    count(PlanClass::kDoesNotFit,
          too_large(bound.stage, bound.bytes, request_.machine, bound.states));
    return false;
  }

  void note_least(const Candidate& candidate, std::int64_t bytes) {
    if (least_bytes_ > 0 && bytes >= least_bytes_) return;
    least_bytes_ = bytes;
    least_ = candidate;
  }

  // Ascending by what the objective promises at most.
  using Place = std::tuple<double, std::int64_t, std::size_t>;
  Place place_of(std::size_t at) const {
    const Entry& entry = entries_[at];
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
      if (look_at(at, [&] { return coming_best(); })) queue_.push(place_of(at));
      const auto& best = result_.best;
      const bool enough = best.size() >= static_cast<std::size_t>(request_.top);
      const double span = enough ? value_of(best.back()) - first : 0;
      tell(kTablesShare + (kBestShare - kTablesShare) *
                              (span > 0 ? std::clamp((least - first) / span, 0.0, 1.0) : 0),
           [](auto decided, auto all) {
             return message("plan-best", "Simulating the best: {} of {} candidates are decided.",
                            decided, all);
           });
    }
  }
  std::vector<std::size_t> coming_best() {
    Coming coming;
    for (; !queue_.empty(); queue_.pop()) {
      const std::size_t at = std::get<2>(queue_.top());
      if (cannot_be_among_best(entries_[at]) || !coming.takes(entries_[at])) break;
      coming.add(at, entries_[at]);
    }
    for (const std::size_t at : coming.items) queue_.push(place_of(at));
    return std::move(coming.items);
  }

  // What is left may still be smaller than all that were simulated. It is taken in the order of
  // time, so that what covers a candidate comes before it.
  void find_front() {
    for (; !queue_.empty(); queue_.pop()) {
      const std::size_t at = std::get<2>(queue_.top());
      left_.emplace(entries_[at].nanoseconds, at);
    }
    const auto all = static_cast<double>(std::max<std::size_t>(1, left_.size()));
    while (!left_.empty() && !cancelled()) {
      const std::size_t at = left_.top().second;
      left_.pop();
      if (dominated(entries_[at])) {
        count_bounded(entries_[at]);
        continue;
      }
      if (look_at(at, [&] { return coming_smaller(); }))
        left_.emplace(entries_[at].nanoseconds, at);
      tell(kBestShare +
               (kNeighboursShare - kBestShare) * (1 - static_cast<double>(left_.size()) / all),
           [](auto decided, auto of) {
             return message("plan-smaller",
                            "Simulating smaller plans: {} of {} candidates are decided.", decided,
                            of);
           });
    }
  }
  std::vector<std::size_t> coming_smaller() {
    Coming coming;
    for (; !left_.empty(); left_.pop()) {
      const std::size_t at = left_.top().second;
      if (dominated(entries_[at])) {  // and will be
        count_bounded(entries_[at]);
        continue;
      }
      if (!coming.takes(entries_[at])) break;
      coming.add(at, entries_[at]);
    }
    for (const std::size_t at : coming.items) left_.emplace(entries_[at].nanoseconds, at);
    return std::move(coming.items);
  }

  void count_bounded(const Entry& entry) {
    if (const auto known = reasons_.find({PlanClass::kBounded, "plan-bounded", ""});
        known != reasons_.end()) {  // there may be millions
      ++known->second.count;
      ++result_.classes[static_cast<std::size_t>(PlanClass::kBounded)];
      return;
    }
    const Plan* best = result_.best.empty() ? nullptr : &result_.best.front();
    count(PlanClass::kBounded,
          message("plan-bounded", "It takes {} s or more, and the best plan takes {} s.",
                  figure(fmt::format("{:.4g}", 1e-9 * static_cast<double>(entry.nanoseconds))),
                  figure(best == nullptr ? "?" : fmt::format("{:.4g}", best->step.seconds))));
  }

  // Walks what was bounded quickly, and simulates what was walked. Whether it has no class yet.
  template <class Coming>
  bool look_at(std::size_t at, const Coming& coming) {
    Look look = ahead_.take(at, coming);
    Entry& entry = entries_[at];
    if (look.tried) {
      take(entry, *look.tried);
      return false;
    }
    if (!look.bound) return false;  // cancelled
    if (!*look.bound) {
      count(PlanClass::kRefused, look.bound->error());
      return false;
    }
    ++entry.walks;
    return take_bound(entry, **look.bound);
  }

  // Whether a plan of such time and memory may be among what is told in the end. What is better now
  // stays better.
  bool may_be_told(const Candidate& candidate, Nanoseconds time, std::int64_t bytes) const {
    const std::lock_guard lock(told_);
    Entry entry;
    entry.candidate = candidate;
    entry.nanoseconds = time.count();
    entry.bytes = bytes;
    if (!cannot_be_among_best(entry)) return true;
    return std::none_of(result_.pareto.begin(), result_.pareto.end(), [&](const Plan& plan) {
      const auto gpus = plan.candidate.gpus();
      return plan.time <= time && plan.needed_bytes <= bytes && gpus <= candidate.gpus() &&
             (plan.time < time || plan.needed_bytes < bytes || gpus < candidate.gpus());
    });
  }

  Look look_of(const Entry& entry) const {
    Look look;
    if (cancelled()) return look;
    const Setup setup = space_.setup_of(entry.candidate);
    if (entry.walked())
      look.tried.emplace(try_setup(setup, request_.machine, [&](auto time, auto bytes) {
        return may_be_told(entry.candidate, time, bytes);
      }));
    else
      look.bound.emplace(entry.walks == 0 ? tables_.walked(entry, setup)
                                          : tables_.laned(entry, setup));
    return look;
  }

  void take(const Entry& entry, Result<Tried>& tried) {
    if (!tried) {
      count(PlanClass::kRefused, tried.error());
      return;
    }
    Plan& plan = tried->plan;
    plan.candidate = entry.candidate;
    const std::lock_guard lock(told_);
    if (!tried->fits) {
      const auto fullest = std::max_element(
          plan.memory.begin(), plan.memory.end(),
          [](const auto& a, const auto& b) { return a.peak_bytes < b.peak_bytes; });
      count(PlanClass::kDoesNotFit,
            too_large(fullest->stage, plan.needed_bytes, request_.machine, 0));
      note_least(entry.candidate, plan.needed_bytes);
      return;
    }
    result_.points.push_back({plan.step.seconds, plan.needed_bytes});
    ++result_.classes[static_cast<std::size_t>(PlanClass::kSimulated)];
    add_to_front(result_.pareto, plan);
    auto& best = result_.best;
    const auto place = std::find_if(best.begin(), best.end(), [&](const Plan& other) {
      return stands_before(plan, other, request_.objective);
    });
    best.insert(place, std::move(plan));
    if (best.size() > static_cast<std::size_t>(request_.top)) best.pop_back();
  }

  void finish() {
    result_.left = result_.candidates;
    for (const std::int64_t count : result_.classes) result_.left -= count;
    result_.cancelled = result_.left > 0 || !listed_;
    if (least_bytes_ > 0) result_.least = LeastPlan{least_bytes_, space_.setup_of(least_)};
    for (auto& [key, reason] : reasons_) result_.reasons.push_back(std::move(reason));
    std::stable_sort(result_.reasons.begin(), result_.reasons.end(),
                     [](const auto& a, const auto& b) { return a.count > b.count; });
    std::sort(result_.pareto.begin(), result_.pareto.end(),
              [](const Plan& a, const Plan& b) { return stands_before(a, b, Objective::kTime); });
  }

  const PlanRequest& request_;
  const Space& space_;
  const PlanWatch& watch_;
  mutable double share_ = 0;  // that was told last
  std::int64_t capacity_ = 0;
  std::int64_t least_bytes_ = 0;  // of those that do not fit
  Candidate least_;
  bool listed_ = false;    // all candidates
  bool together_ = false;  // ranks share their memory, so that no rank alone tells what fits
  std::vector<Entry> entries_;
  BoundTables tables_{space_, request_.machine};
  std::map<std::tuple<PlanClass, std::string, std::string>, ReasonCount>
      reasons_;  // by id and field
  std::priority_queue<Place, std::vector<Place>, std::greater<>> queue_;
  using Timed = std::pair<std::int64_t, std::size_t>;
  std::priority_queue<Timed, std::vector<Timed>, std::greater<>> left_;  // of find_front()
  PlanResult result_;
  mutable std::mutex told_;  // the best and the front, which other threads read
  Ahead<Look> ahead_{[this](std::size_t at) { return look_of(entries_[at]); }};
};

}  // namespace

Result<PlanResult> search(const PlanRequest& request, const PlanWatch& watch) {
  const auto begin = std::chrono::steady_clock::now();
  const Result<Space> space = Space::of(request);
  if (!space) return space.error();
  Result<PlanResult> result = Search(request, *space, watch).run();
  if (!result) return result;
  if (!result->cancelled && !request.best_alone) {
    watch.tell(kNeighboursShare,
               message("plan-neighbours", "Trying one change of the best plan after another."));
    result->why = reasons_of(result->best, request);
  }
  result->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return result;
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/reasons/advice/neighbours.h"

#include <algorithm>
#include <mutex>

#include "engine/plan/placement/parallel.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/text/units.h"
#include "engine/planner/bounds/bound.h"
#include "engine/planner/entry.h"
#include "engine/planner/space/space.h"

namespace parallelarium {

namespace {

constexpr int kLargestDegree = 128;  // that a single change goes to

// Collects Setups that differ in one axis.
class Changes {
 public:
  Changes(const Setup& setup, const Machine& machine) : setup_(setup), machine_(machine) {
    head_ = head_layers(setup.model);
    balanced_ = !setup.stage_layers.empty() && setup.stage_layers == balanced(setup);
    by_node_ = setup.zero_group > 0 && setup.zero_group == node_group(setup.mesh, machine);
  }

  // Adds what `change` makes of it where that can be.
  void add(const std::function<void(Setup&)>& change) {
    Setup chosen = setup_;
    change(chosen);
    Setup other = chosen;
    if (!refill(other)) return;
    if (stages_of(other) != stages_of(setup_))
      other.stage_layers = balanced_ ? balanced(other) : std::vector<int>();
    if (by_node_ && other.zero_group > 0) other.zero_group = node_group(other.mesh, machine_);
    if (other == setup_) return;
    Change told = change_of(setup_, chosen, other);
    all_.push_back({std::move(other), std::move(told)});
  }

  // What has no order: how states are shared, layers are cut and ranks stand.
  void add_placements() {
    if (setup_.zero > 0)
      add([&](Setup& of) {
        of.zero_group = setup_.zero_group > 0 ? 0 : node_group(setup_.mesh, machine_);
      });
    if (stages_of(setup_) > 1)
      add([&](Setup& of) {
        of.stage_layers = setup_.stage_layers.empty() ? balanced(setup_) : std::vector<int>();
      });
    if (setup_.mesh.pp > 1 && setup_.mesh.dp > 1)
      add([](Setup& of) {
        of.mesh.order = of.mesh.order == RankOrder::kTpCpEpDpPp ? RankOrder::kTpCpEpPpDp
                                                                : RankOrder::kTpCpEpDpPp;
      });
    if (setup_.mesh.tp > 1) add([](Setup& of) { of.sequence_parallel = !of.sequence_parallel; });
  }
  void add_schedule(std::string_view name, int chunks) {
    add([&](Setup& of) {
      of.schedule = std::string(name);
      of.chunks = chunks;
    });
  }

  std::vector<ChangedSetup> take() { return std::move(all_); }

 private:
  std::vector<int> balanced(const Setup& setup) const {
    return balanced_cut(setup.model, stages_of(setup), head_);
  }
  // DP, EP and the micro-batches follow a degree; false: it cannot be.
  bool refill(Setup& other) const {
    const Mesh& mesh = other.mesh;
    const std::int64_t ranks = setup_.mesh.ranks(), batch = setup_.global_batch();
    const std::int64_t replica = std::int64_t{mesh.tp} * mesh.pp * mesh.cp;
    if (replica < 1 || ranks % replica != 0) return false;
    other.mesh.dp = static_cast<int>(ranks / replica);
    const std::int64_t at_once = std::int64_t{other.mesh.dp} * other.micro_batch;
    if (other.micro_batch < 1 || batch % at_once != 0) return false;
    other.microbatches = static_cast<int>(batch / at_once);
    if (other.mesh.tp == 1) other.sequence_parallel = false;
    if (!other.sequence_parallel) other.ring_tensor = false;
    return true;
  }

  const Setup& setup_;
  const Machine& machine_;
  double head_ = 0;
  bool balanced_ = false, by_node_ = false;
  std::vector<ChangedSetup> all_;
};

using Degree = int& (*)(Setup&);
std::vector<Degree> degrees_of(const Setup& setup) {
  std::vector<Degree> degrees = {[](Setup& of) -> int& { return of.mesh.tp; },
                                 [](Setup& of) -> int& { return of.mesh.pp; },
                                 [](Setup& of) -> int& { return of.mesh.cp; }};
  if (setup.model.experts.count > 0)
    degrees.push_back([](Setup& of) -> int& { return of.mesh.ep; });
  return degrees;
}
int& micro_batch_of(Setup& setup) { return setup.micro_batch; }

}  // namespace

std::vector<ChangedSetup> single_changes(const Setup& setup, const Machine& machine) {
  Changes changes(setup, machine);
  const int ranks = setup.mesh.ranks();
  for (const Degree degree : degrees_of(setup))
    for (int value = 1; value <= std::min(ranks, kLargestDegree); ++value)
      if (ranks % value == 0) changes.add([&](Setup& of) { degree(of) = value; });
  for (const std::int64_t size : divisors(std::int64_t{setup.micro_batch} * setup.microbatches))
    changes.add([&](Setup& of) { of.micro_batch = static_cast<int>(size); });
  if (setup.model.experts.count > 0 && setup.mesh.tp * setup.mesh.cp > 1)
    changes.add([&](Setup& of) { of.mesh.expert_tensor = !setup.mesh.expert_tensor; });
  for (int zero = 0; zero <= 3 && setup.mesh.dp * setup.mesh.cp > 1; ++zero)
    changes.add([&](Setup& of) { of.zero = zero; });
  for (const Recompute recompute : {Recompute::kNone, Recompute::kSelective, Recompute::kFull})
    changes.add([&](Setup& of) { of.recompute = recompute; });
  for (const ScheduleRule& rule : kScheduleRules) {
    for (int chunks = rule.chunks == 0 ? 2 : 1; chunks <= (rule.chunks == 0 ? kMostPlanChunks : 1);
         ++chunks)
      changes.add_schedule(rule.name, chunks);
  }
  changes.add_placements();
  return changes.take();
}

namespace {

// The two best plans by the objective that are known so far, by what it compares: on as many GPUs
// memory, or else time.
class TwoBest {
 public:
  explicit TwoBest(Objective objective) : by_memory_(objective == Objective::kMemory) {}
  std::int64_t value(std::int64_t nanoseconds, std::int64_t bytes) const {
    return by_memory_ ? bytes : nanoseconds;
  }
  void add(std::int64_t value) {
    const std::lock_guard lock(mutex_);
    second_ = std::min(second_, std::max(first_, value));
    first_ = std::min(first_, value);
  }
  bool may_have(std::int64_t value) const {
    const std::lock_guard lock(mutex_);
    return value <= second_;
  }

 private:
  bool by_memory_;
  mutable std::mutex mutex_;
  std::int64_t first_ = INT64_MAX, second_ = INT64_MAX;
};

// The plan of a Setup that fits; none: it cannot be, or two others are better.
std::optional<Plan> fitting_plan(const Setup& setup, std::int64_t at_least, const Machine& machine,
                                 const PlanRefusal& refuses, TwoBest& best) {
  if (!best.may_have(at_least) || refusal_of(setup, refuses)) return std::nullopt;
  Result<Trial> trial =
      try_candidate(setup, machine, [&](std::int64_t nanoseconds, std::int64_t bytes) {
        return best.may_have(best.value(nanoseconds, bytes));
      });
  if (!trial || trial->stopped || !trial->tried.fits()) return std::nullopt;
  const Plan& plan = trial->tried.plan;
  best.add(best.value(plan.time.count(), plan.needed_bytes));
  return std::move(trial->tried.plan);
}

// Those that may fit by the bounds of a search, with the least value that they leave possible, in
// its order. What of a change cannot be bounded may have none.
std::vector<std::pair<std::int64_t, ChangedSetup>> by_bound(std::vector<ChangedSetup> changed,
                                                            const Machine& machine,
                                                            const TwoBest& best,
                                                            const std::atomic<bool>* cancel) {
  constexpr std::int64_t kOut = INT64_MAX;
  const std::optional<std::int64_t> capacity = capacity_of(machine);
  std::vector<std::pair<std::int64_t, ChangedSetup>> all;
  for (ChangedSetup& change : changed) all.emplace_back(0, std::move(change));
  in_parallel(all.size(), [&](std::size_t at) {
    auto& [least, change] = all[at];
    if (cancel != nullptr && *cancel) return;
    if (!validate(change.setup).empty()) least = kOut;
    if (least == kOut || !may_bound(change.setup, machine)) return;
    const Result<Bound> bound = bound_of(change.setup, machine);
    if (!bound) return;  // a prediction says so
    least =
        capacity && bound->bytes > *capacity ? kOut : best.value(bound->nanoseconds, bound->bytes);
  });
  std::erase_if(all, [](const auto& each) { return each.first == kOut; });
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  return all;
}

// The single change that fits, is wanted and is the best by the objective, without its sentence.
std::optional<SingleChange> best_change(const Setup& setup, const Machine& machine,
                                        const ChangeRules& rules) {
  std::vector<ChangedSetup> changed = single_changes(setup, machine);
  if (rules.wanted)
    std::erase_if(changed, [&](const auto& change) { return !rules.wanted(change.setup); });
  changed.insert(changed.end(), rules.others.begin(), rules.others.end());
  TwoBest best(rules.objective);
  const auto ordered = by_bound(std::move(changed), machine, best, rules.cancel);
  struct Fitting {
    std::size_t at = 0;
    Plan plan;
  };
  std::vector<std::optional<Fitting>> tried(ordered.size());
  const std::size_t at_once = 4 * parallel_bodies();
  for (std::size_t first = 0; first < ordered.size(); first += at_once) {
    in_parallel(std::min(at_once, ordered.size() - first), [&](std::size_t item) {
      const std::size_t at = first + item;
      const auto& [least, change] = ordered[at];
      if (auto plan = fitting_plan(change.setup, least, machine, rules.refuses, best))
        tried[at] = Fitting{at, std::move(*plan)};
    });
    if (rules.cancel != nullptr && *rules.cancel) return std::nullopt;
    if (rules.progress)
      rules.progress(static_cast<double>(std::min(first + at_once, ordered.size())) /
                     static_cast<double>(ordered.size()));
  }
  std::vector<Fitting> fitting;
  for (std::optional<Fitting>& each : tried)
    if (each) fitting.push_back(std::move(*each));
  if (fitting.empty()) return std::nullopt;
  std::sort(fitting.begin(), fitting.end(), [&](const auto& a, const auto& b) {
    return stands_before(a.plan, b.plan, rules.objective);
  });
  Result<Tried> whole =
      try_setup(ordered[fitting[0].at].second.setup, machine, true, rules.refuses);
  if (!whole) return std::nullopt;
  SingleChange found{ordered[fitting[0].at].second.change, std::move(whole->plan), {}, false, {}};
  if (fitting.size() > 1)
    found.next = {ordered[fitting[1].at].second.change, fitting[1].plan.step.seconds};
  return found;
}

}  // namespace

std::vector<ChangedSetup> neighbours_of(const Setup& setup, const Machine& machine) {
  Changes changes(setup, machine);
  std::vector<Degree> degrees = degrees_of(setup);
  degrees.push_back(micro_batch_of);
  for (const Degree degree : degrees) {
    changes.add([&](Setup& of) { degree(of) *= 2; });
    if (Setup copy = setup; degree(copy) % 2 == 0) changes.add([&](Setup& of) { degree(of) /= 2; });
  }
  if (setup.mesh.dp * setup.mesh.cp > 1) {
    if (setup.zero < 3) changes.add([](Setup& of) { ++of.zero; });
    if (setup.zero > 0) changes.add([](Setup& of) { --of.zero; });
  }
  changes.add([](Setup& of) {
    of.recompute = of.recompute == Recompute::kNone ? Recompute::kFull : Recompute::kNone;
  });
  for (const char* name : {"1f1b", "zb-h1"}) changes.add_schedule(name, 1);
  changes.add_placements();
  return changes.take();
}

std::optional<SingleChange> cheapest_change(const Setup& setup, const Machine& machine,
                                            const ChangeRules& rules) {
  ChangeRules shortest = rules;
  shortest.objective = Objective::kTime;
  std::optional<SingleChange> found = best_change(setup, machine, shortest);
  if (found)
    found->sentence = message(
        "plan-fitting-change",
        "The cheapest single change that would fit is {}: {} of {}, and a step of {}.",
        found->change.said, figure(bytes_text(static_cast<double>(found->plan.needed_bytes))),
        figure(bytes_text(static_cast<double>(found->plan.capacity_bytes))),
        figure(seconds_text(found->plan.step.seconds)));
  return found;
}

std::optional<SingleChange> improving_change(const Plan& plan, const Machine& machine,
                                             const ChangeRules& rules) {
  std::optional<SingleChange> found = best_change(plan.setup, machine, rules);
  if (!found) return std::nullopt;
  if (rules.objective == Objective::kMemory) {
    const std::int64_t bytes = found->plan.needed_bytes;
    if (bytes >= plan.needed_bytes) return std::nullopt;
    found->sentence = message(
        "plan-smaller-change",
        "The best single change of it is {}: the fullest rank needs {}, {} less, and a step takes "
        "{}.",
        found->change.said, figure(bytes_text(static_cast<double>(bytes))),
        figure(bytes_text(static_cast<double>(plan.needed_bytes - bytes))),
        figure(seconds_text(found->plan.step.seconds)));
    return found;
  }
  if (found->plan.time >= plan.time) return std::nullopt;
  found->sentence = message(
      "plan-faster-change",
      "The best single change of it is {}: a step of {}, {} less, and {} on the fullest rank.",
      found->change.said, figure(seconds_text(found->plan.step.seconds)),
      figure(seconds_text(plan.step.seconds - found->plan.step.seconds)),
      figure(bytes_text(static_cast<double>(found->plan.needed_bytes))));
  return found;
}

void note_fitting_changes(PlanResult& result, const PlanRequest& request, const PlanWatch& watch) {
  if (result.cancelled) return;
  const Result<Space> space = Space::of(request);
  if (!space) return;  // and there was no search
  std::vector<ReasonCount*> large;
  for (ReasonCount& reason : result.reasons)
    if (reason.plan_class == PlanClass::kDoesNotFit) large.push_back(&reason);
  ChangeRules rules;
  rules.refuses = request.refuses;
  rules.cancel = watch.cancel;
  if (!result.best.empty()) rules.wanted = [&](const Setup& other) { return space->covers(other); };
  for (std::size_t at = 0; at < large.size(); ++at) {
    rules.progress = [&](double share) {
      const double done = (static_cast<double>(at) + share) / static_cast<double>(large.size());
      watch.tell(kFittingShare + (kRecommendedShare - kFittingShare) * done,
                 message("plan-fitting", "Looking for changes with which candidates would fit."));
    };
    rules.progress(0);
    std::optional<SingleChange> change =
        cheapest_change(large[at]->example, request.machine, rules);
    if (watch.cancel != nullptr && *watch.cancel) return;
    large[at]->fitting_said =
        change         ? change->sentence
        : rules.wanted ? message("plan-fitting-none-searched",
                                 "No change of one axis to a value of this search would make it "
                                 "fit.")
                       : message("plan-fitting-none", "No change of one axis would make it fit.");
    large[at]->fitting = std::move(change);
  }
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/reasons/advice/recommended.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>

#include "engine/plan/text/units.h"

namespace parallelarium {

std::string_view name_of(PlanMerit merit) {
  switch (merit) {
    case PlanMerit::kObjective:
      return "objective";
    case PlanMerit::kFastest:
      return "fastest";
    case PlanMerit::kLeastMemory:
      return "least-memory";
    case PlanMerit::kSimplest:
      return "simplest";
    case PlanMerit::kSimpler:
      return "simpler";
    case PlanMerit::kLessMemory:
      return "less-memory";
    case PlanMerit::kUsual:
      return "usual";
    case PlanMerit::kNearest:
      return "nearest";
  }
  return "";
}

namespace {

constexpr const char* kMeshAxes[] = {"tp", "pp", "cp", "ep"};

int axes_in_use(const Setup& setup) {
  const Mesh& mesh = setup.mesh;
  return (mesh.tp > 1) + (mesh.pp > 1) + (mesh.cp > 1) + (mesh.ep > 1);
}

// Leaves an axis this value alone where the request allows it; false: it does not.
bool fix_axis(PlanRequest& request, const char* axis, const std::string& value) {
  const auto [allowed, fresh] = request.allowed.try_emplace(axis);
  std::vector<std::string>& values = allowed->second;
  if (!fresh && std::find(values.begin(), values.end(), value) == values.end()) return false;
  values = {value};
  return true;
}

// The request with these axes alone, and else plain; false: it has another axis above 1.
bool narrow_to(unsigned axes, PlanRequest& request) {
  for (std::size_t at = 0; at < std::size(kMeshAxes); ++at)
    if ((axes >> at & 1) == 0 && !fix_axis(request, kMeshAxes[at], "1")) return false;
  // What the request wants otherwise stays so.
  (void)fix_axis(request, "schedule", "1f1b");
  (void)fix_axis(request, "order", std::string(name_of(Mesh().order)));
  (void)fix_axis(request, "zero-group", "0");
  (void)fix_axis(request, "stage-layers", "even");
  return true;
}

class Recommender {
 public:
  Recommender(PlanResult& result, const PlanRequest& request, const PlanWatch& watch)
      : result_(result), request_(request), watch_(watch) {
    for (const std::vector<Plan>* plans : {&result.pareto, &result.best})
      for (const Plan& plan : *plans) kept_.push_back(&plan);
    fastest_ = *std::min_element(kept_.begin(), kept_.end(), [](const Plan* a, const Plan* b) {
      return stands_before(*a, *b, Objective::kTime);
    });
  }

  void recommend() {
    find_simple();
    const auto is_one = [&](const Plan& plan) {
      return plan.setup == fastest_->setup || (simple_ && simple_->setup == plan.setup);
    };
    const Plan& smallest = smallest_tie();
    const Plan* smaller = is_one(smallest) ? smaller_than(smallest) : nullptr;
    const bool by_time = result_.objective == Objective::kTime;
    result_.recommended.clear();
    if (!by_time) add(PlanMerit::kObjective, result_.best.front());
    add(PlanMerit::kFastest, *fastest_);
    if (by_time && smaller != nullptr)
      add(PlanMerit::kLessMemory, *smaller);
    else if (by_time)
      add(PlanMerit::kLeastMemory, smallest);
    const bool slower = simple_ && !tied(*simple_);
    if (!cancelled_)
      add(slower ? PlanMerit::kSimpler : PlanMerit::kSimplest, simple_ ? *simple_ : *fastest_);
    const bool may_be_usual = !cancelled_;
    say_why_fewer(by_time && smaller == nullptr && is_one(smallest) ? &smallest : nullptr);
    if (may_be_usual) add_usual();
  }

 private:
  static constexpr double kWorth = 0.9;  // of the memory of another: a choice of its own

  static bool is_smaller(const Plan& plan, const Plan& than) {
    return static_cast<double>(plan.needed_bytes) <=
           kWorth * static_cast<double>(than.needed_bytes);
  }

  bool tied(const Plan& plan) const {
    return plan.setup == fastest_->setup ||
           (plan.setup.mesh.ranks() <= fastest_->setup.mesh.ranks() &&
            result_.ties.within(fastest_->step.seconds, plan.step.seconds));
  }

  const Plan& smallest_tie() const {
    const Plan* smallest = fastest_;
    for (const Plan* plan : kept_)
      if (tied(*plan) && stands_before(*plan, *smallest, Objective::kMemory)) smallest = plan;
    return *smallest;
  }

  // The fastest of the front with so much less memory that it is worth a choice; null: none.
  const Plan* smaller_than(const Plan& than) const {
    const Plan* found = nullptr;
    for (const Plan& plan : result_.pareto) {
      if (!is_smaller(plan, than)) continue;
      if (plan.setup.mesh.ranks() > fastest_->setup.mesh.ranks()) continue;
      if (simple_ && simple_->setup == plan.setup) continue;
      if (found == nullptr || stands_before(plan, *found, Objective::kTime)) found = &plan;
    }
    return found;
  }

  void add(PlanMerit merit, const Plan& plan) {
    for (Recommended& other : result_.recommended)
      if (other.plan.setup == plan.setup) return other.merits.push_back(merit);
    result_.recommended.push_back({{merit}, plan});
  }

  // All that are recommended may need what few know; then the fastest that does not need it is
  // told, tied or not.
  void add_usual() {
    if (!request_.unusual ||
        !std::all_of(result_.recommended.begin(), result_.recommended.end(), [&](const auto& each) {
          return request_.unusual(each.plan.setup).has_value();
        }))
      return;
    PlanRequest request = request_;
    request.refuses = [&](const Setup& setup) {
      std::optional<Message> why = refusal_of(setup, request_.refuses);
      if (why) return why;
      why = request_.unusual(setup);
      if (why) why->field = "zero";  // so that the search asks for each way to share states
      return why;
    };
    if (const std::optional<Plan> usual = fastest_of_all(std::move(request)))
      add(PlanMerit::kUsual, *usual);
    else if (!cancelled_)
      result_.recommended_why.push_back(
          message("plan-none-usual", "No plan fits that the framework trains in its usual way."));
  }

  // Why no plan stands beside the fastest and the simple one for its memory. `than`, which has the
  // least of the ties, is one of these.
  Message why_none_smaller(const Plan& than) const {
    if (than.setup != fastest_->setup)
      return message("plan-none-smaller-simplest",
                     "No plan on as many GPUs needs a tenth less memory than the simplest.");
    if (simple_ && is_smaller(*simple_, than))
      return message("plan-simpler-smaller",
                     "Of the plans on as many GPUs that need a tenth less memory than the fastest, "
                     "the simpler one has the shortest step.");
    return message("plan-none-smaller",
                   "No plan on as many GPUs needs a tenth less memory than the fastest.");
  }

  // `smallest`: the plan with the least memory of the ties, where no other row stands for it.
  void say_why_fewer(const Plan* smallest) {
    std::vector<Message>& why = result_.recommended_why;
    why.clear();
    if (smallest != nullptr && !result_.cancelled) why.push_back(why_none_smaller(*smallest));
    if (simple_) return;
    if (cancelled_)
      why.push_back(message("plan-simple-cancelled",
                            "The search was cancelled before it had found a simpler plan."));
    else if (axes_in_use(fastest_->setup) == 0)
      why.push_back(message("plan-none-simpler",
                            "No plan is simpler than the fastest, which uses none of TP, PP, CP "
                            "and EP."));
    else
      why.push_back(message("plan-no-simpler-fits",
                            "No plan with fewer of TP, PP, CP and EP and a plain 1F1B pipeline "
                            "fits."));
  }

  // Finds the tie with the fewest axes, or else the fastest of all with fewer than the fastest plan
  // has; none: there is no such plan but the fastest.
  void find_simple() {
    cancelled_ = result_.cancelled;
    if (cancelled_) return;
    const unsigned sets = request_.base.model.experts.count > 0 ? 16 : 8;
    const int most = axes_in_use(fastest_->setup);
    std::optional<Plan> simpler;
    for (int axes = 0; axes <= most; ++axes) {
      for (unsigned set = 0; set < sets; ++set) {
        if (std::popcount(set) != axes) continue;
        std::optional<Plan> plan = best_of(set);
        if (cancelled_) return simple_.reset();
        if (!plan) continue;
        if (tied(*plan))
          keep_faster(simple_, std::move(*plan));
        else if (axes < most)
          keep_faster(simpler, std::move(*plan));
      }
      if (simple_) break;
    }
    if (!simple_ || simple_->setup == fastest_->setup) simple_ = std::move(simpler);
  }

  static void keep_faster(std::optional<Plan>& found, Plan plan) {
    if (!found || stands_before(plan, *found, Objective::kTime)) found = std::move(plan);
  }

  // The fastest that has these axes alone; none: no mesh has, or none fits, or it was cancelled.
  std::optional<Plan> best_of(unsigned axes) {
    PlanRequest request = request_;
    if (!narrow_to(axes, request)) return std::nullopt;
    return fastest_of_all(std::move(request));
  }

  // The fastest of the request on as many GPUs or fewer; none: none fits, or it was cancelled.
  std::optional<Plan> fastest_of_all(PlanRequest request) {
    request.objective = Objective::kTime;
    request.best_alone = true;
    request.top = 1;
    request.most_gpus = fastest_->setup.mesh.ranks();
    PlanWatch quiet;
    quiet.cancel = watch_.cancel;
    Result<PlanResult> found = search(request, quiet);
    cancelled_ = watch_.cancel != nullptr && *watch_.cancel;
    if (cancelled_ || !found || found->best.empty()) return std::nullopt;
    return std::move(found->best.front());
  }

  PlanResult& result_;
  const PlanRequest& request_;
  const PlanWatch& watch_;
  std::vector<const Plan*> kept_;
  const Plan* fastest_ = nullptr;
  bool cancelled_ = false;      // before all that may be simpler was searched
  std::optional<Plan> simple_;  // what stands for the simplest, where that is not the fastest
};

Message part_words(const Cause& part, bool pipeline) {
  return part.kind == CauseKind::kBubble && !pipeline
             ? message("plan-part-idle", "waiting for other ranks")
             : words_of(part);
}

}  // namespace

void note_recommended(PlanResult& result, const PlanRequest& request, const PlanWatch& watch) {
  if (result.best.empty()) return;
  watch.tell(kRecommendedShare, message("plan-recommending", "Looking for a simpler plan."));
  Recommender(result, request, watch).recommend();
  const double fastest = fastest_of(result.recommended).step.seconds;
  for (Recommended& each : result.recommended)
    each.plan.tied = result.ties.within(fastest, each.plan.step.seconds);
}

const Plan& fastest_of(const std::vector<Recommended>& recommended) {
  return std::find_if(recommended.begin(), recommended.end(),
                      [](const Recommended& each) {
                        return std::find(each.merits.begin(), each.merits.end(),
                                         PlanMerit::kFastest) != each.merits.end();
                      })
      ->plan;
}

Message limits_of(const Plan& plan) {
  return limits_of(plan.parts, plan.setup.mesh.pp > 1,
                   room_of(plan.memory, plan.capacity_bytes, plan.device_bytes));
}

Message limits_of(const StepParts& parts, bool pipeline, const MemoryRoom& room) {
  std::vector<Cause> all = causes_of(StepParts(), parts, parts.sum());
  double bubble = 0;
  std::erase_if(all, [&](const Cause& cause) {
    if (cause.is_bubble()) bubble += cause.seconds;
    return cause.is_bubble();
  });
  all.push_back({CauseKind::kBubble, bubble});
  std::stable_sort(all.begin(), all.end(),
                   [](const Cause& a, const Cause& b) { return a.seconds > b.seconds; });
  const auto share = [](double of, double whole) {
    return figure(percent_text(whole > 0 ? of / whole : 0));
  };
  const auto limit = static_cast<double>(room.limit_bytes);
  const auto free_bytes = static_cast<double>(room.free_bytes);
  const Message used = share(limit - free_bytes, limit);
  const Message memory =
      room.framework_bytes > 0
          ? message("plan-used-framework", "{} of the memory with the {} that a framework keeps",
                    used, figure(bytes_text(static_cast<double>(room.framework_bytes))))
          : message("plan-used", "{} of the memory", used);
  const Message left = figure(bytes_text(free_bytes));
  // Memory of published runs is missed by some percent.
  constexpr double kTight = 0.05;
  const Message rest = free_bytes < kTight * limit
                           ? message("plan-free-tight", "only {} free: tight", left)
                           : message("plan-free", "{} free", left);
  const Message first = share(all[0].seconds, parts.sum());
  const Message most = part_words(all[0], pipeline);
  if (all[1].seconds <= 0) return message("plan-limit", "{} {}; {}, {}", first, most, memory, rest);
  return message("plan-limits", "{} {}, then {} {}; {}, {}", first, most,
                 share(all[1].seconds, parts.sum()), part_words(all[1], pipeline), memory, rest);
}

nlohmann::json recommended_json(const std::vector<Recommended>& recommended) {
  nlohmann::json list = nlohmann::json::array();
  for (const Recommended& each : recommended) {
    const Plan& plan = each.plan;
    nlohmann::json entry = to_json(plan);
    entry["limits"] = limits_of(plan).text;
    for (const PlanMerit merit : each.merits) entry["merits"].push_back(name_of(merit));
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace parallelarium

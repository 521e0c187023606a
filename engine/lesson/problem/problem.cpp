// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/problem/problem.h"

#include <cmath>
#include <deque>
#include <mutex>

#include "engine/lesson/problem/rejections.h"
#include "engine/plan/placement/resolve.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {

namespace {

constexpr std::string_view kBetween = " | ";
constexpr std::string_view kSchedule = "schedule:";
constexpr std::size_t kMostSolved = 500;  // problems that are remembered, some 20 KB each

double number_of(const Schedule& schedule) {
  const ScheduleRule* rule = find_schedule_rule(schedule);
  return rule ? static_cast<double>(rule - kScheduleRules.data()) : -1;
}

double number_of(Recompute recompute) {
  return recompute == Recompute::kNone ? 0 : recompute == Recompute::kFull ? 2 : 1;
}

std::string without_spaces(std::string_view text) {
  const auto begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(' ') - begin + 1));
}

// "1,2,4" as a list.
std::vector<std::string> values_in(const std::string& text) {
  std::vector<std::string> values;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(',', from), text.size());
    if (end > from) values.push_back(without_spaces(text.substr(from, end - from)));
    from = end + 1;
  }
  return values;
}

Result<Fields> picked_fields(const Fields& fields, const Symbols& drawn) {
  Fields all;
  for (const auto& [key, value] : fields) {
    Result<std::string> text = picked(value, drawn);
    if (!text) return text.error();
    all.emplace_back(key, std::move(*text));
  }
  return all;
}

// What the search is asked for.
Result<PlanRequest> request_for(const PlanProblem& problem, Setup base, const Symbols& drawn) {
  const Result<Fields> fields = picked_fields(problem.setup, drawn);
  if (!fields) return fields.error();
  if (Result<void> set = set_fields(base, *fields); !set) return set.error();
  const Result<Situation> situation = situation_of(without_axes(std::move(base)), Computer());
  if (!situation) return situation.error();
  PlanRequest request;
  request.base = situation->setup;
  request.machine = situation->machine;
  request.top = 1;
  request.best_alone = true;
  const Result<double> gpus = evaluate(problem.gpus, drawn);
  if (!gpus) return gpus.error();
  const Result<double> batch = evaluate(problem.global_batch, drawn);
  if (!batch) return batch.error();
  request.least_gpus = request.most_gpus = std::llround(*gpus);
  request.global_batch = std::llround(*batch);
  if (!problem.memory_bytes.empty()) {
    const Result<double> bytes = evaluate(problem.memory_bytes, drawn);
    if (!bytes) return bytes.error();
    if (*bytes < request.machine.memory_bytes.value)
      request.machine.usable_memory_share = *bytes / request.machine.memory_bytes.value;
  }
  const Result<Fields> allowed = picked_fields(problem.allowed, drawn);
  if (!allowed) return allowed.error();
  for (const auto& [axis, values] : *allowed) {
    const std::string called = axis_called(axis);
    if (called.empty())
      return message("lesson-problem-axis", "\"{}\" is no axis of the search.", axis);
    request.allowed[called] = values_in(values);
  }
  return request;
}

void name_setup(Symbols& symbols, const std::string& name, const Setup& setup) {
  const auto add = [&](const char* what, double value) { symbols[name + "_" + what] = value; };
  add("tp", setup.mesh.tp);
  add("pp", setup.mesh.pp);
  add("dp", setup.mesh.dp);
  add("zero", setup.zero);
  add("micro_batch", setup.micro_batch);
  add("microbatches", setup.microbatches);
  add("chunks", setup.chunks);
  add("schedule", number_of(setup.schedule));
  add("recompute", number_of(setup.recompute));
  add("sp", setup.sequence_parallel ? 1 : 0);
}

Result<void> name_rejection(Symbols& symbols, const std::string& name,
                            const std::optional<Rejection>& rejection) {
  if (!rejection)
    return message("lesson-problem-rejection",
                   "The planner has no rejection \"{}\" whose cause can be asked for.", name);
  name_setup(symbols, name, rejection->setup);
  symbols[name + "_cause"] = rejection->cause;
  symbols[name + "_number"] = rejection->number;
  return {};
}

}  // namespace

std::vector<std::string> alternatives_of(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = text.find(kBetween); at != std::string::npos;) {
    const std::size_t begin = at + kBetween.size();
    at = text.find(kBetween, begin);
    all.push_back(without_spaces(std::string_view(text).substr(begin, at - begin)));
  }
  return all;
}

Result<const ScheduleRule*> schedule_at(std::string_view expression, const Symbols& symbols) {
  const Result<double> place = evaluate(expression, symbols);
  if (!place) return place.error();
  if (*place < 0 || *place >= static_cast<double>(kScheduleRules.size()) ||
      *place != std::floor(*place))
    return message("lesson-schedule", "There are {} schedules, and {} is none of them.",
                   kScheduleRules.size(), *place);
  return &kScheduleRules[static_cast<std::size_t>(*place)];
}

Result<std::string> picked(const std::string& text, const Symbols& symbols) {
  if (text.empty() || text.front() != '=') return text;
  if (text.starts_with("=" + std::string(kSchedule))) {
    const Result<const ScheduleRule*> rule =
        schedule_at(std::string_view(text).substr(1 + kSchedule.size()), symbols);
    if (!rule) return rule.error();
    return std::string((*rule)->name);
  }
  const std::string expression = text.substr(1, text.find(kBetween) - 1);
  const Result<double> number = evaluate(expression, symbols);
  if (!number) return number.error();
  const std::vector<std::string> all = alternatives_of(text);
  if (all.empty()) return fmt::format("{}", *number);
  if (*number < 0 || *number >= static_cast<double>(all.size()) || *number != std::floor(*number))
    return message("lesson-alternative", "\"{}\" has {} alternatives, and {} is none of them.",
                   expression, all.size(), *number);
  return all[static_cast<std::size_t>(*number)];
}

namespace {

Result<Symbols> searched(const PlanProblem& problem, const PlanRequest& request) {
  const Result<PlanResult> result = search(request);
  if (!result) return result.error();
  if (result->best.empty())
    return message("lesson-problem-none", "No plan of the problem \"{}\" fits.", problem.name);
  const Plan& best = result->best.front();
  Symbols symbols;
  name_setup(symbols, problem.name, best.setup);
  symbols[problem.name + "_seconds"] = best.step.seconds;
  symbols[problem.name + "_bytes"] = static_cast<double>(best.needed_bytes);
  if (!problem.rejections) return symbols;
  const Result<Space> space = Space::of(request);
  if (!space) return space.error();
  const Rejections rejections = rejections_of(request, *space, best, result->least);
  for (const auto& [name, rejection] : {std::pair("refused", &rejections.refused),
                                        {"large", &rejections.large},
                                        {"slow", &rejections.slow}})
    if (Result<void> named = name_rejection(symbols, name, *rejection); !named)
      return named.error();
  return symbols;
}

// What a search is of: all that request_for() and searched() read of a problem.
struct Searched {
  std::string name;
  bool rejections = false;
  std::int64_t gpus = 0, global_batch = 0;
  std::map<std::string, std::vector<std::string>> allowed;
  Setup base;
  Machine machine;
  bool operator==(const Searched&) const = default;
};

// The solutions of this process, so that each search is made once: draws that differ in what a
// problem does not read ask for the same one, and so do a lesson that is read again and the answers
// of a class. Several threads may ask it.
class SolvedProblems {
 public:
  std::optional<Symbols> find(const Searched& of) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [known, symbols] : known_)
      if (known == of) return symbols;
    return std::nullopt;
  }
  void note(Searched of, const Symbols& symbols) {
    const std::lock_guard lock(mutex_);
    if (known_.size() == kMostSolved) known_.pop_front();
    known_.emplace_back(std::move(of), symbols);
  }

 private:
  mutable std::mutex mutex_;
  std::deque<std::pair<Searched, Symbols>> known_;  // oldest first
};

}  // namespace

Result<Symbols> solve(const PlanProblem& problem, const Setup& base, const Symbols& drawn) {
  const Result<PlanRequest> request = request_for(problem, base, drawn);
  if (!request) return request.error();
  static SolvedProblems solved;
  Searched of{problem.name,     problem.rejections, request->most_gpus, request->global_batch,
              request->allowed, request->base,      request->machine};
  if (std::optional<Symbols> known = solved.find(of)) return std::move(*known);
  Result<Symbols> symbols = searched(problem, *request);
  if (symbols) solved.note(std::move(of), *symbols);
  return symbols;
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/state/plan/plan_answer.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/plan/text/message_json.h"
#include "engine/planner/search.h"
#include "engine/wire/reading.h"

namespace parallelarium {

namespace {

Message no_plan_answer() {
  return message("plan-answer", "The engine's answer to the search cannot be read.");
}

std::vector<PlanWhy> why_of(const nlohmann::json& list) {
  std::vector<PlanWhy> all;
  for (const nlohmann::json& entry : list) {
    PlanWhy why;
    why.change = message_at(entry, "change");
    if (entry.contains("seconds") && entry["seconds"].is_number())
      why.seconds = entry["seconds"].get<double>();
    if (entry.contains("more_bytes") && entry["more_bytes"].is_number())
      why.more_bytes = entry["more_bytes"].get<std::int64_t>();
    if (entry.contains("message")) why.sentence = message_from_json(entry["message"]);
    all.push_back(std::move(why));
  }
  return all;
}

Result<FoundPlan> plan_of(const nlohmann::json& json) {
  FoundPlan plan;
  ObjectReader reader(json, "plan");
  reader.read("gpus", plan.gpus);
  reader.read("tied", plan.tied);
  const nlohmann::json* setup_json = reader.object("setup");
  const nlohmann::json* step = reader.object("step");
  const nlohmann::json* memory = reader.object("memory");
  const nlohmann::json* exposed = reader.object("exposed_seconds");
  const nlohmann::json* parts_json = reader.object("parts_seconds");
  if (reader.error()) return *reader.error();
  Result<Setup> setup = setup_from_json(*setup_json);
  if (!setup) return setup.error();
  plan.setup = std::move(*setup);
  ObjectReader figures(*step, "plan.step");
  figures.read("seconds", plan.seconds);
  figures.read("tokens_per_second", plan.tokens_per_second);
  for (const auto& [key, into] :
       {std::pair("mfu", &plan.mfu), {"mfu_causal", &plan.mfu_causal}, {"mfu_6n", &plan.mfu_6n}})
    figures.read(key, *into);
  ObjectReader bytes(*memory, "plan.memory");
  bytes.read("needed_bytes", plan.bytes);
  bytes.read("device_bytes", plan.device_bytes);
  for (const auto& [axis, seconds] : exposed->items())
    if (seconds.is_number()) {
      plan.exposed.emplace_back(axis, seconds.get<double>());
      plan.exposed_seconds += plan.exposed.back().second;
      for (std::size_t at = 0; at < plan.parts.exposed.size(); ++at)
        if (name_of(Axis(at)) == axis) plan.parts.exposed[at] = seconds.get<double>();
    }
  for (const nlohmann::json& rate : json.value("communication", nlohmann::json::array()))
    plan.rates.push_back(message_at(rate, "sentence"));
  ObjectReader parts(*parts_json, "plan.parts_seconds");
  for (const auto& [key, into] : {std::pair("compute", &plan.parts.compute),
                                  {"recompute", &plan.parts.recompute},
                                  {"optimizer", &plan.parts.optimizer},
                                  {"warm_up", &plan.parts.warm_up},
                                  {"wait", &plan.parts.wait},
                                  {"drain", &plan.parts.drain}})
    parts.read(key, *into);
  if (plan.seconds > 0) plan.bubble = plan.parts.idle() / plan.seconds;
  std::int64_t most = -1;
  for (const nlohmann::json& json_row : memory->value("ranks", nlohmann::json::array())) {
    MemoryRow row;
    ObjectReader reads(json_row, "plan.memory.ranks");
    reads.read("peak_bytes", row.peak_bytes);
    reads.read("framework_bytes", row.framework_bytes);
    reads.read("stage", row.stage);
    if (row.peak_bytes > most) plan.stage = row.stage;
    most = std::max(most, row.peak_bytes);
    plan.memory.push_back(row);
  }
  if (plan.memory.empty()) return no_plan_answer();
  if (json.contains("why")) plan.why = why_of(json["why"]);
  return plan;
}

Result<std::vector<FoundPlan>> plans_of(const nlohmann::json& list) {
  std::vector<FoundPlan> plans;
  for (const nlohmann::json& entry : list) {
    Result<FoundPlan> plan = plan_of(entry);
    if (!plan) return plan.error();
    plans.push_back(std::move(*plan));
  }
  return plans;
}

}  // namespace

Result<ExplainedPlan> explained_plan_from_json(const nlohmann::json& json) {
  ExplainedPlan told;
  ObjectReader reader(json, "explained");
  const nlohmann::json* setup_json = reader.object("setup");
  const nlohmann::json* why = reader.object("message");
  reader.read("class", told.plan_class);
  if (reader.error()) return *reader.error();
  Result<Setup> setup = setup_from_json(*setup_json);
  if (!setup) return setup.error();
  told.setup = std::move(*setup);
  told.sentence = message_from_json(*why);
  const auto part = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_object() ? *found : nlohmann::json::object();
  };
  if (const nlohmann::json step = part("step"); step.contains("seconds"))
    told.seconds = step.value("seconds", 0.0);
  told.bytes = part("memory").value("needed_bytes", std::int64_t{0});
  if (const nlohmann::json figures = part("plan"); !figures.empty()) {
    Result<FoundPlan> plan = plan_of(figures);
    if (!plan) return plan.error();
    told.plan = std::move(*plan);
  }
  if (const nlohmann::json own = part("own"); !own.empty()) told.own = message_from_json(own);
  if (const nlohmann::json change = part("change"); !change.empty()) {
    Result<FoundPlan> changed = plan_of(change.value("plan", nlohmann::json::object()));
    if (!changed) return changed.error();
    told.change = {message_from_json(change.value("message", nlohmann::json::object())),
                   std::move(*changed)};
  }
  return told;
}

namespace {

// The classes of the candidates, and of each the reasons.
Result<void> read_losses(const nlohmann::json& classes, const nlohmann::json& reasons,
                         PlanAnswer& answer) {
  constexpr const char* kNames[] = {"refused", "does_not_fit", "bounded", "simulated"};
  ObjectReader counts(classes, "plan.classes");
  for (int at = 0; at < PlanAnswer::kClasses; ++at) counts.read(kNames[at], answer.counts[at]);
  answer.valid = answer.candidates - answer.counts[PlanAnswer::kRefused];
  answer.fitting = answer.valid - answer.counts[PlanAnswer::kDoesNotFit];
  for (const nlohmann::json& entry : reasons) {
    const std::string of = entry.value("class", std::string());
    const auto* name = std::find(std::begin(kNames), std::end(kNames), of);
    if (name == std::end(kNames) || !entry.contains("message")) return no_plan_answer();
    Result<Setup> example = setup_from_json(entry.value("setup", nlohmann::json::object()));
    if (!example) return example.error();
    answer.losses[name - std::begin(kNames)].push_back(
        {entry.value("count", std::int64_t{0}), message_from_json(entry["message"]),
         std::move(*example), message_at(entry, "fitting")});
  }
  return {};
}

Result<void> read_rules(const nlohmann::json& rules, PlanAnswer& answer) {
  for (const nlohmann::json& entry : rules) {
    if (!entry.contains("message")) return no_plan_answer();
    const bool holds = entry.value("holds", false);
    answer.rules.push_back(
        {entry.value("source", std::string()), message_from_json(entry["message"]),
         !holds && !entry.value("tied", false) && !entry.contains("critical_batch"), std::nullopt});
    if (const auto kept = entry.find("plan"); !holds && kept != entry.end() && kept->is_object()) {
      Result<FoundPlan> plan = plan_of(*kept);
      if (!plan) return plan.error();
      answer.rules.back().plan = std::move(*plan);
    }
  }
  return {};
}

// How far its figures can be trusted, and when plans are tied.
void read_trust(const nlohmann::json& json, PlanAnswer& answer) {
  const nlohmann::json ties = json.value("tie_source", nlohmann::json::object());
  if (ties.contains("message")) answer.ties = message_from_json(ties["message"]);
  if (ties.contains("trust_message")) answer.trust = message_from_json(ties["trust_message"]);
  if (ties.contains("memory_trust_message"))
    answer.memory_trust = message_from_json(ties["memory_trust_message"]);
  if (const auto error = ties.find("memory_error"); error != ties.end() && error->is_number())
    answer.memory_error = error->get<double>();
  if (const auto error = ties.find("error"); error != ties.end() && error->is_number())
    answer.step_error = error->get<double>();
  if (const auto share = json.find("tie_threshold"); share != json.end() && share->is_number())
    answer.tie_threshold = share->get<double>();
}

// By time, ties stand by memory.
void order_ties(PlanAnswer& answer) {
  answer.best_at = 0;
  if (answer.by_time())
    std::stable_sort(answer.plans.begin(), answer.plans.end(),
                     [](const FoundPlan& a, const FoundPlan& b) {
                       if (a.tied != b.tied) return a.tied;
                       return a.tied && a.bytes < b.bytes;
                     });
  for (std::size_t at = 0; at < answer.plans.size(); ++at) {
    FoundPlan& plan = answer.plans[at];
    if (answer.by_time() && plan.seconds < answer.plans[answer.best_at].seconds)
      answer.best_at = at;
    plan.on_front = std::any_of(answer.front.begin(), answer.front.end(),
                                [&](const FoundPlan& other) { return other.setup == plan.setup; });
  }
}

}  // namespace

Result<PlanAnswer> plan_answer_from_json(const nlohmann::json& json) {
  PlanAnswer answer;
  ObjectReader reader(json, "plan");
  reader.read("objective", answer.objective);
  reader.read("candidates", answer.candidates);
  reader.read("cancelled", answer.cancelled);
  reader.read("left", answer.undecided);
  reader.read("capacity_bytes", answer.capacity_bytes);
  reader.read("rates", answer.rates);
  reader.read("seconds", answer.search_seconds);
  const nlohmann::json* classes = reader.object("classes");
  const nlohmann::json* reasons = reader.array("reasons");
  const nlohmann::json* best = reader.array("best");
  const nlohmann::json* front = reader.array("pareto");
  const nlohmann::json* points = reader.array("points");
  const nlohmann::json* rules = reader.array("rules");
  if (reader.error()) return *reader.error();
  if (const Result<void> read = read_losses(*classes, *reasons, answer); !read) return read.error();
  Result<std::vector<FoundPlan>> plans = plans_of(*best), on_front = plans_of(*front);
  if (!plans) return plans.error();
  if (!on_front) return on_front.error();
  answer.plans = std::move(*plans);
  answer.front = std::move(*on_front);
  for (const nlohmann::json& point : *points)
    answer.points.emplace_back(point.value("seconds", 0.0),
                               point.value("needed_bytes", std::int64_t{0}));
  if (const Result<void> read = read_rules(*rules, answer); !read) return read.error();
  if (const auto least = json.find("least"); least != json.end() && least->is_object()) {
    const Result<Setup> setup = setup_from_json(least->value("setup", nlohmann::json::object()));
    if (!setup) return setup.error();
    answer.least = {least->value("over_bytes", std::int64_t{0}), *setup};
  }
  read_trust(json, answer);
  if (const auto near = json.find("near_rows"); near != json.end() && near->is_object())
    answer.near_rows = message_from_json(*near);
  for (const nlohmann::json& entry : json.value("recommended", nlohmann::json::array())) {
    Result<FoundPlan> plan = plan_of(entry);
    if (!plan) return plan.error();
    answer.recommended.push_back(
        {entry.value("merits", std::vector<std::string>()), std::move(*plan)});
  }
  for (const auto& [key, into] :
       {std::pair("recommended_why", &answer.recommended_why), {"tried", &answer.tried}})
    for (const nlohmann::json& each : json.value(key, nlohmann::json::array()))
      into->push_back(message_at(each, "sentence"));
  answer.searched_bytes = answer.capacity_bytes;
  if (const auto told = json.find("explained"); told != json.end()) {
    Result<ExplainedPlan> explained = explained_plan_from_json(*told);
    if (!explained) return explained.error();
    answer.explained = std::move(*explained);
  }
  order_ties(answer);
  return answer;
}

PlanAnswer with_limit(const PlanAnswer& answer, std::int64_t bytes) {
  PlanAnswer limited = answer;
  limited.capacity_bytes = bytes;
  limited.rules.clear();  // they are beside the best of all the memory
  limited.recommended.clear();
  limited.recommended_why.clear();
  const auto too_large = [&](const FoundPlan& plan) { return plan.bytes > bytes; };
  std::erase_if(limited.front, too_large);
  std::erase_if(limited.plans, too_large);
  for (const FoundPlan& plan : limited.front)
    if (std::none_of(limited.plans.begin(), limited.plans.end(),
                     [&](const FoundPlan& other) { return other.setup == plan.setup; }))
      limited.plans.push_back(plan);
  std::stable_sort(limited.plans.begin(), limited.plans.end(),
                   [](const FoundPlan& a, const FoundPlan& b) {
                     return std::pair(a.seconds, a.bytes) < std::pair(b.seconds, b.bytes);
                   });
  if (limited.plans.empty() && !answer.front.empty())
    limited.least = {answer.front.back().bytes - bytes, answer.front.back().setup};
  if (limited.plans.size() > answer.plans.size()) limited.plans.resize(answer.plans.size());
  for (auto* plans : {&limited.plans, &limited.front})
    for (FoundPlan& plan : *plans) plan.why.clear();  // they are about plans that may be gone
  for (FoundPlan& plan : limited.plans)
    plan.tied = answer.tie_threshold &&
                plan.seconds <= limited.plans.front().seconds * (1 + *answer.tie_threshold);
  order_ties(limited);
  return limited;
}

void PlanAnswer::note_ties(double seconds, std::vector<PlanWhy>& changes) const {
  if (!by_time()) return;  // plans tie in their steps alone
  TieThreshold threshold;
  threshold.share = tie_threshold;
  for (PlanWhy& why : changes)
    why.tied = why.seconds && threshold.within(seconds, seconds + *why.seconds);
}

std::vector<const FoundPlan*> PlanAnswer::front_up_to(int gpus) const {
  std::vector<const FoundPlan*> found;
  for (const FoundPlan& plan : front)
    if (plan.gpus <= gpus && (found.empty() || plan.bytes < found.back()->bytes))
      found.push_back(&plan);
  return found;
}

std::vector<int> PlanAnswer::gpu_counts() const {
  std::set<int> counts;
  for (const FoundPlan& plan : front) counts.insert(plan.gpus);
  return {counts.begin(), counts.end()};
}

std::int64_t PlanAnswer::tied_plans() const {
  if (!tie_threshold || plans.empty()) return 0;
  const double most = plans[best_at].seconds * (1 + *tie_threshold);
  return std::count_if(points.begin(), points.end(), [&](const auto& point) {
    return point.first <= most && point.second <= capacity_bytes;
  });
}

PlanWhy why_behind(const PlanAnswer& answer, const FoundPlan& best, const FoundPlan& plan) {
  const auto told = [](const FoundPlan& of) {
    Plan made;
    made.setup = of.setup;
    made.step.seconds = of.seconds;
    made.needed_bytes = of.bytes;
    made.parts = of.parts;
    return made;
  };
  const PlanReason reason = reason_behind(
      told(best), told(plan), answer.by_memory() ? Objective::kMemory : Objective::kTime);
  return {reason.change.said, reason.seconds, reason.more_bytes, reason.sentence};
}

Result<ValueAnswer> value_answer_from_json(const nlohmann::json& json) {
  ValueAnswer answer;
  ObjectReader reader(json, "why_not");
  reader.read("axis", answer.axis);
  reader.read("value", answer.value);
  const nlohmann::json* said = reader.object("message");
  if (reader.error()) return *reader.error();
  answer.sentence = message_from_json(*said);
  if (const auto plan = json.find("plan"); plan != json.end() && plan->is_object()) {
    Result<FoundPlan> found = plan_of(*plan);
    if (!found) return found.error();
    answer.plan = std::move(*found);
  }
  return answer;
}

Result<std::vector<PlanWhy>> neighbours_from_json(const nlohmann::json& json) {
  const auto list = json.find("why");
  if (list == json.end() || !list->is_array()) return no_plan_answer();
  return why_of(*list);
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Plans and what a search says of them as JSON, for the command line and the window.
#include <nlohmann/json.hpp>

#include "engine/plan/text/message_json.h"
#include "engine/planner/reasons/advice/neighbours.h"
#include "engine/planner/reasons/advice/recommended.h"
#include "engine/planner/search.h"

namespace parallelarium {

nlohmann::json to_json(const Plan& plan) {
  nlohmann::json ranks = nlohmann::json::array();
  for (const MemoryRow& row : plan.memory) ranks.push_back(to_json(row));
  return {{"setup", to_json(plan.setup)},
          {"gpus", plan.setup.mesh.ranks()},
          {"step", to_json(plan.step, false)},
          {"memory",
           {{"capacity_bytes", plan.capacity_bytes},
            {"device_bytes", plan.device_bytes},
            {"free_bytes", room_of(plan.memory, plan.capacity_bytes, plan.device_bytes).free_bytes},
            {"needed_bytes", plan.needed_bytes},
            {"held_bytes", plan.held_bytes},
            {"fits", plan.needed_bytes <= plan.capacity_bytes},
            {"stage", fullest_row(plan).stage},
            {"ranks", std::move(ranks)}}},
          {"bubble", to_json(plan.bubble)},
          {"exposed_seconds", exposed_json(plan.parts)},
          {"communication", to_json(plan.rates)},
          {"parts_seconds", parts_json(plan.parts)},
          {"tied", plan.tied}};
}

nlohmann::json to_json(const std::vector<PlanReason>& reasons) {
  using nlohmann::json;
  json list = json::array();
  for (const PlanReason& why : reasons) {
    json entry = {{"seconds", why.seconds ? json(*why.seconds) : json(nullptr)},
                  {"more_bytes", why.seconds ? json(why.more_bytes) : json(nullptr)},
                  {"tied", why.tied},
                  {"sentence", why.sentence.text}};
    put_change(entry, why.change);
    list.push_back(std::move(entry));
  }
  return list;
}

nlohmann::json to_json(const std::vector<ReasonCount>& reasons) {
  nlohmann::json list = nlohmann::json::array();
  for (const ReasonCount& reason : reasons) {
    list.push_back({{"id", reason.sentence.id},
                    {"class", name_of(reason.plan_class)},
                    {"count", reason.count},
                    {"sentence", reason.sentence.text},
                    {"example", short_axes(reason.example)},
                    {"setup", to_json(reason.example)}});
    if (!reason.fitting_said) continue;
    list.back()["change"] = reason.fitting ? to_json(*reason.fitting) : nlohmann::json();
    put_text(list.back(), "fitting", *reason.fitting_said);
  }
  return list;
}

nlohmann::json to_json(const SingleChange& change) {
  nlohmann::json json = {{"sentence", change.sentence.text},
                         {"message", to_json(change.sentence)},
                         {"tied", change.tied},
                         {"seconds", change.plan.step.seconds},
                         {"needed_bytes", change.plan.needed_bytes},
                         {"setup", to_json(change.plan.setup)},
                         {"plan", to_json(change.plan)}};
  put_change(json, change.change);
  return json;
}

nlohmann::json classes_json(const std::int64_t (&counts)[kPlanClasses]) {
  nlohmann::json json = nlohmann::json::object();
  for (int at = 0; at < kPlanClasses; ++at)
    json[std::string(name_of(static_cast<PlanClass>(at)))] = counts[at];
  return json;
}

nlohmann::json to_json(const PlanResult& result) {
  using nlohmann::json;
  json best = json::array(), pareto = json::array();
  for (std::size_t at = 0; at < result.best.size(); ++at) {
    json plan = to_json(result.best[at]);
    plan["why"] = to_json(at < result.why.size() ? result.why[at] : std::vector<PlanReason>());
    if (at < result.neighbours.size()) plan["neighbours"] = to_json(result.neighbours[at]);
    best.push_back(std::move(plan));
  }
  for (const Plan& plan : result.pareto) {
    json entry = to_json(plan);
    const Plan& first = result.best.front();
    std::vector<PlanReason> why;
    if (plan.setup != first.setup) {
      why.push_back(reason_behind(first, plan, result.objective));
      why.back().tied = result.ties.within(first.step.seconds, plan.step.seconds);
    }
    entry["why"] = to_json(why);
    pareto.push_back(std::move(entry));
  }
  json points = json::array(), rules = json::array(), least = nullptr;
  for (const PlanRule& rule : result.rules) {
    rules.push_back({{"id", rule.id},
                     {"sentence", rule.sentence.text},
                     {"holds", rule.holds},
                     {"seconds", rule.seconds ? json(*rule.seconds) : json(nullptr)},
                     {"tied", rule.tied},
                     {"too_long", rule.too_long},
                     {"setup", rule.setup ? to_json(*rule.setup) : json(nullptr)},
                     {"source", rule.source}});
    if (rule.critical)
      rules.back()["critical_batch"] = {{"parameters", rule.critical->parameters},
                                        {"loss", rule.critical->loss},
                                        {"tokens", rule.critical->tokens}};
  }
  for (const PlanResult::Point& point : result.points)
    points.push_back({{"seconds", point.seconds}, {"needed_bytes", point.bytes}});
  const auto sentences = [](const std::vector<Message>& all) {
    json list = json::array();
    for (const Message& each : all) put_text(list.emplace_back(json::object()), "sentence", each);
    return list;
  };
  json rows = json::array();
  for (const TieThreshold::Row& row : result.ties.rows)
    rows.push_back(
        {{"source", row.source}, {"row", row.name}, {"predicted_over_published", row.ratio}});
  json ties = {
      {"pairs", result.ties.pairs},
      {"error", result.ties.error ? json(*result.ties.error) : json(nullptr)},
      {"held_out", result.ties.held_out},
      {"trust", result.ties.trust.text},
      {"memory_error", result.ties.memory_error ? json(*result.ties.memory_error) : json(nullptr)},
      {"memory_trust", result.ties.memory_trust.text},
      {"near_rows", result.near_rows ? json(result.near_rows->text) : json(nullptr)},
      {"rows", std::move(rows)},
      {"sentence", result.ties.said.text},
      {"plans", result.ties.plans}};
  if (result.least)
    least = {{"over_bytes", result.least->over_bytes}, {"setup", to_json(result.least->setup)}};
  return {{"objective", name_of(result.objective)},
          {"candidates", result.candidates},
          {"classes", classes_json(result.classes)},
          {"cancelled", result.cancelled},
          {"left", result.left},
          {"tried", sentences(result.tried)},
          {"reasons", to_json(result.reasons)},
          {"best", std::move(best)},
          {"pareto", std::move(pareto)},
          {"front_complete", result.front_too_long == 0 && !result.cancelled},
          {"front_too_long", result.front_too_long},
          {"points", std::move(points)},
          {"least", std::move(least)},
          {"recommended", recommended_json(result.recommended)},
          {"recommended_why", sentences(result.recommended_why)},
          {"tie_threshold", result.ties.share ? json(*result.ties.share) : json(nullptr)},
          {"tie_source", std::move(ties)},
          {"rules", std::move(rules)},
          {"seconds", result.seconds}};
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/text/plan_text.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/cli/text/table.h"
#include "engine/plan/text/units.h"
#include "engine/planner/reasons/advice/recommended.h"

namespace parallelarium {
namespace {

constexpr std::size_t kPlanWidth = 100;
constexpr std::size_t kReasonsShown = 8;
constexpr std::size_t kFrontShown = 10;

// "1 GPU", "8 GPUs"
std::string counted(std::int64_t count, const char* one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string plan_bytes(std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

// The sentence of a reason, with its example and with what would make that fit, behind `before`.
std::string counted_text(const ReasonCount& reason, const std::string& before) {
  const std::string said = short_axes(reason.example) + ": " + reason.sentence.text +
                           (reason.fitting_said ? " " + reason.fitting_said->text : "");
  std::string text = before;
  for (const char letter : wrapped(said, kPlanWidth + 20 - before.size(), 0)) {
    text += letter;
    if (letter == '\n') text.append(before.size(), ' ');
  }
  return text + "\n";
}

std::string funnel(const PlanResult& result) {
  const std::map<PlanClass, std::string> words = {
      {PlanClass::kRefused, "refused: no setup may be so"},
      {PlanClass::kDoesNotFit, "do not fit into the memory that may be used"},
      {PlanClass::kBounded,
       "ruled out: a bound shows that they are none of the best that are listed"},
      {PlanClass::kSimulated, "simulated"},
  };
  const std::size_t width = std::to_string(result.candidates).size();
  std::string text = "Search\n";
  const auto add = [&](std::int64_t count, std::string_view what) {
    text += fmt::format("  {:>{}}  {}\n", count, width, what);
  };
  add(result.candidates, "candidates");
  for (const auto& [plan_class, word] : words) {
    add(result.classes[static_cast<std::size_t>(plan_class)], word);
    std::size_t shown = 0;
    for (const ReasonCount& reason : result.reasons)
      if (reason.plan_class == plan_class && reason.sentence.id != "plan-bounded" &&
          shown++ < kReasonsShown)
        text += counted_text(reason, fmt::format("  {:>{}}    {:>8}  ", "", width, reason.count));
  }
  if (result.left > 0) add(result.left, "not decided: the search was cancelled");
  return text;
}

double exposed_of(const Plan& plan) {
  double sum = 0;
  for (const double seconds : plan.parts.exposed) sum += seconds;
  return sum;
}

std::string schedule_of(const Setup& setup) {
  std::string text = setup.schedule.name();
  if (setup.chunks > 1) text += fmt::format(" v{}", setup.chunks);
  return text;
}

// "3/8": ZeRO 3 in groups of 8.
std::string zero_text(const Setup& setup) {
  return setup.zero > 0 && setup.zero_group > 0 ? fmt::format("{}/{}", setup.zero, setup.zero_group)
                                                : std::to_string(setup.zero);
}

std::string merits_text(const std::vector<PlanMerit>& merits, Objective objective) {
  const std::string_view best = objective == Objective::kMemory         ? "least memory"
                                : objective == Objective::kGpus         ? "fewest GPUs"
                                : objective == Objective::kTokensPerGpu ? "most tokens per GPU"
                                                                        : "fastest";
  std::string text;
  for (const PlanMerit merit : merits) {
    std::string_view name = merit == PlanMerit::kObjective     ? best
                            : merit == PlanMerit::kLeastMemory ? "least memory of the ties"
                            : merit == PlanMerit::kLessMemory  ? "less memory"
                            : merit == PlanMerit::kUsual       ? "fastest usual way"
                                                               : name_of(merit);
    text += fmt::format("{}{}", text.empty() ? "" : ", ", name);
  }
  return text;
}

// The plans to look at first, with what limits each.
std::string recommended_text(const PlanResult& result, const PlanRequest& request) {
  if (result.recommended.empty()) return {};
  Table table({"", ">step", ">memory", "plan, and what limits it"});
  for (const Recommended& each : result.recommended) {
    const Plan& plan = each.plan;
    std::string step = seconds_text(plan.step.seconds);
    if (result.ties.error) step += " ± " + percent_text(*result.ties.error);
    table.add({merits_text(each.merits, result.objective), step, plan_bytes(plan.needed_bytes),
               short_axes(plan.setup)});
    table.add({"", "", "", limits_of(plan).text});
    if (request.unusual)
      if (const std::optional<Message> needs = request.unusual(plan.setup))
        table.add({"", "", "", needs->text});
  }
  std::string text = "Recommended\n" + table.text();
  for (const Message& why : result.recommended_why) text += wrapped(why.text, kPlanWidth, 0) + "\n";
  if (result.near_rows) text += wrapped(result.near_rows->text, kPlanWidth, 0) + "\n";
  return text +
         wrapped(result.ties.trust.text + ' ' + result.ties.memory_trust.text, kPlanWidth, 0) +
         "\n\n";
}

std::string plans_table(const std::vector<Plan>& plans, std::size_t most) {
  const bool experts = std::any_of(plans.begin(), plans.end(), [](const Plan& plan) {
    return plan.setup.model.experts.count > 0;
  });
  std::vector<std::string> titles = {">", ">GPUs", ">TP", ">PP", ">CP", ">DP"};
  if (experts) titles.emplace_back(">EP");
  const bool uneven = std::any_of(plans.begin(), plans.end(), [](const Plan& plan) {
    return !plan.setup.stage_layers.empty();
  });
  const bool ordered = std::any_of(plans.begin(), plans.end(), [](const Plan& plan) {
    return plan.setup.mesh.order != Mesh().order;
  });
  for (const char* title : {">SP", ">ZeRO", "schedule"}) titles.emplace_back(title);
  if (uneven) titles.emplace_back("layers");
  if (ordered) titles.emplace_back("order");
  for (const char* title : {">b", ">m", "recompute", ">step", ">tokens/s/GPU", ">MFU", ">memory",
                            ">stage", ">bubble", ">exposed"})
    titles.emplace_back(title);
  Table table(titles);
  const bool ties =
      std::count_if(plans.begin(), plans.end(), [](const Plan& plan) { return plan.tied; }) > 1;
  for (std::size_t at = 0; at < std::min(most, plans.size()); ++at) {
    const Plan& plan = plans[at];
    const Setup& setup = plan.setup;
    const Mesh& mesh = setup.mesh;
    std::vector<std::string> cells = {
        ties && plan.tied ? std::string("1 =") : std::to_string(at + 1),
        std::to_string(mesh.ranks()),
        std::to_string(mesh.tp),
        std::to_string(mesh.pp),
        std::to_string(mesh.cp),
        std::to_string(mesh.dp)};
    const bool whole = differs_by_whole_experts(setup);
    if (experts) cells.push_back(fmt::format("{}{}", mesh.ep, whole ? ", ETP 1" : ""));
    cells.insert(cells.end(),
                 {setup.sequence_parallel ? "on" : "-", zero_text(setup), schedule_of(setup)});
    if (uneven) cells.push_back(layers_text(setup.stage_layers));
    if (ordered) cells.emplace_back(name_of(mesh.order));
    for (std::string cell :
         {std::to_string(setup.micro_batch), std::to_string(setup.microbatches),
          text_of(setup.recompute), seconds_text(plan.step.seconds),
          three_digits(plan.step.tokens_per_second / mesh.ranks()), percent_text(plan.step.mfu),
          plan_bytes(plan.needed_bytes), std::to_string(fullest_row(plan).stage),
          mesh.pp > 1 ? percent_text(plan.parts.idle() / plan.step.seconds) : std::string("-"),
          seconds_text(exposed_of(plan))})
      cells.push_back(std::move(cell));
    table.add(std::move(cells));
  }
  return table.text();
}

// What the communication of plan 1 stands on.
std::string best_rates_text(const std::vector<AxisRate>& rates) {
  std::string text;
  for (const AxisRate& rate : rates)
    text += "  1, " + wrapped(said_of(rate).text, kPlanWidth - 2, 4) + "\n";
  return text;
}

std::string_view words_of(Objective objective) {
  switch (objective) {
    case Objective::kTime:
      return "time";
    case Objective::kGpus:
      return "GPUs";
    case Objective::kMemory:
      return "memory";
    case Objective::kTokensPerGpu:
      return "tokens per GPU and second";
  }
  return "";
}

std::string ties(const TieThreshold& ties, std::ptrdiff_t shown) {
  std::string text = wrapped(ties.said.text, kPlanWidth, 0) + "\n";
  if (ties.plans > 0)
    text += fmt::format("Shown {} {} of the {} simulated plans within the tie.\n",
                        shown == 1 ? "is" : "are", shown, ties.plans);
  return text;
}

// What a neighbour makes of the step, or why it cannot be.
std::string reason_text(const PlanReason& reason) {
  const std::string said = reason.seconds || reason.change.empty()
                               ? reason.sentence.text
                               : reason.change.said.text + ": " + reason.sentence.text;
  return reason.tied ? "tie: " + said : said;
}

std::string rules_text(const std::vector<PlanRule>& rules) {
  if (rules.empty()) return {};
  std::string text = "\nRules of thumb\n";
  for (const PlanRule& rule : rules)
    text += "  " + wrapped(rule.sentence.text + " [" + rule.source + "]", kPlanWidth - 2, 4) + "\n";
  return text;
}

}  // namespace

std::string plan_text(const PlanResult& result, const PlanRequest& request) {
  const std::int64_t tokens = request.global_batch * request.base.model.sequence;
  std::string text = fmt::format(
      "{} on {} of {}, {} of {} tokens ({}) a step\n\n{}\n", title_of(request.base.model).text,
      request.least_gpus == request.most_gpus
          ? counted(request.most_gpus, "GPU")
          : fmt::format("{} to {} GPUs", request.least_gpus, request.most_gpus),
      request.machine.title, counted(request.global_batch, "sequence"), request.base.model.sequence,
      count_text(static_cast<double>(tokens)) + " tokens", funnel(result));
  if (result.best.empty()) {
    text += result.classes[static_cast<std::size_t>(PlanClass::kDoesNotFit)] > 0
                ? "No candidate fits. The reasons above say what is too large.\n"
                : "No candidate can be. The reasons above say why.\n";
    if (result.least)
      text += fmt::format("Nearest to fitting is {}: it has {} or more too much.\n",
                          short_axes(result.least->setup), plan_bytes(result.least->over_bytes));
    return text;
  }
  text += recommended_text(result, request);
  text += fmt::format(
      "{} {} by {} (predicted, {} rates; {})\n{}", result.cancelled ? "Best so far" : "Best",
      result.best.size(), words_of(request.objective), prediction_word(request.machine),
      result.cancelled
          ? fmt::format("the search was cancelled: {} candidates were not decided", result.left)
          : "exact: no other of these candidates is better",
      plans_table(result.best, result.best.size()));
  const auto tied = std::count_if(result.best.begin(), result.best.end(),
                                  [](const Plan& plan) { return plan.tied; });
  const bool lone = std::any_of(result.best.begin(), result.best.end(),
                                [](const Plan& plan) { return plan.setup.mesh.pp == 1; });
  for (const Message& tried : result.tried) text += wrapped(tried.text, kPlanWidth, 0) + "\n";
  if (lone) text += "Of plans with PP 1 that differ in the schedule alone the fastest is listed.\n";
  text += wrapped(
              "exposed: time in which a rank communicates and computes nothing; bubble: share of "
              "the step in which it does neither. Both are means of the ranks, and what computing "
              "leaves of the step.",
              kPlanWidth, 0) +
          "\n" + best_rates_text(result.best.front().rates) +
          wrapped(memory_counted(request.machine).text, kPlanWidth, 0) + "\n" +
          (request.objective == Objective::kTime ? ties(result.ties, tied) : std::string()) + "\n";
  if (!result.why.empty()) text += "Neighbours of 1\n";
  for (const PlanReason& reason :
       result.why.empty() ? std::vector<PlanReason>() : result.why.front())
    text += "  " + wrapped(reason_text(reason), kPlanWidth - 2, 4) + "\n";
  if (result.why.size() > 1) text += "\nBehind 1\n";
  for (std::size_t at = 1; at < result.why.size(); ++at)
    for (const PlanReason& reason : result.why[at])
      text +=
          fmt::format("  {}: ", at + 1) + wrapped(reason_text(reason), kPlanWidth - 6, 4) + "\n";
  text += rules_text(result.rules);
  text += fmt::format("\nFastest for their memory and GPUs ({})\n{}",
                      counted(static_cast<std::int64_t>(result.pareto.size()), "plan"),
                      plans_table(result.pareto, kFrontShown));
  if (result.front_too_long > 0)
    text += wrapped(fmt::format("There {} that may belong to them and {} too many stages times "
                                "micro-batches to be simulated for that.",
                                result.front_too_long == 1
                                    ? std::string("is one more candidate")
                                    : fmt::format("are {} more candidates", result.front_too_long),
                                result.front_too_long == 1 ? "has" : "have"),
                    kPlanWidth, 0) +
            "\n";
  return text + fmt::format("\nSearched in {}.\n", seconds_text(result.seconds));
}

std::string beside_text(const nlohmann::json& plan, const PlanResult& result) {
  if (plan.is_null()) return {};
  std::vector<std::string> titles = {"", ">this"};
  std::vector<nlohmann::json> columns = {plan};
  if (!result.best.empty()) {
    titles.emplace_back(">the best");
    columns.push_back(to_json(result.best.front()));
  }
  Table table(titles);
  const auto add = [&](const char* name, const auto& cell) {
    std::vector<std::string> cells = {name};
    for (const nlohmann::json& each : columns) cells.push_back(cell(each));
    table.add(std::move(cells));
  };
  const auto of_step = [](const char* key) {
    return [key](const nlohmann::json& of) { return of.at("step").at(key).get<double>(); };
  };
  add("step", [&](const nlohmann::json& of) { return seconds_text(of_step("seconds")(of)); });
  add("tokens/s",
      [&](const nlohmann::json& of) { return three_digits(of_step("tokens_per_second")(of)); });
  add("MFU", [&](const nlohmann::json& of) { return percent_text(of_step("mfu")(of)); });
  add("memory, fullest stage", [](const nlohmann::json& of) {
    return fmt::format("{} (stage {})",
                       plan_bytes(of.at("memory").at("needed_bytes").get<std::int64_t>()),
                       of.at("memory").at("stage").get<int>());
  });
  add("bubble", [](const nlohmann::json& of) {
    const bool pipeline = of.at("setup").at("mesh").at("pp").get<int>() > 1;
    const nlohmann::json& parts = of.at("parts_seconds");
    double idle = 0;
    for (const char* part : {"warm_up", "wait", "drain"}) idle += parts.at(part).get<double>();
    return pipeline ? percent_text(idle / of.at("step").at("seconds").get<double>()) : "-";
  });
  add("exposed, mean of ranks", [](const nlohmann::json& of) {
    double sum = 0;
    for (const nlohmann::json& seconds : of.at("exposed_seconds")) sum += seconds.get<double>();
    return seconds_text(sum);
  });
  return table.text();
}

}  // namespace parallelarium

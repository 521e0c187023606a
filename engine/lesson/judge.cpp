// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engine/lesson/lesson.h"
#include "engine/lesson/play.h"
#include "engine/plan/text/phrases.h"
#include "engine/predict/cases/figure_at.h"
#include "engine/schedules/order_search.h"
#include "engine/wire/collective_messages.h"

namespace parallelarium {

namespace {

using nlohmann::json;

constexpr std::size_t kMostOrderBytes = 20000;

bool compares(double found, const std::string& op, double wanted, double tolerance) {
  if (op == "<") return found < wanted + tolerance;
  if (op == "<=") return found <= wanted + tolerance;
  if (op == ">") return found > wanted - tolerance;
  if (op == ">=") return found >= wanted - tolerance;
  const bool equal = std::abs(found - wanted) <= tolerance;
  return op == "==" ? equal : !equal;
}

// A setting that is a word: "schedule", "recompute".
const json* word_at(const json& facts, const std::string& key) {
  const json* at = &facts;
  for (std::size_t begin = 0; begin <= key.size();) {
    const std::size_t end = std::min(key.find('.', begin), key.size());
    const auto member = at->find(key.substr(begin, end - begin));
    if (!at->is_object() || member == at->end()) return nullptr;
    at = &*member;
    begin = end + 1;
  }
  return at->is_string() ? at : nullptr;
}

// What a run's times must be for the check: a rehearsal's are set, but it really waits; those of
// ranks that shared cores say nothing.
enum class Times { kAny, kRehearsed, kMeasured };
Times needed_times(const Check& check) {
  const auto begins = [&](const char* start) { return check.key.rfind(start, 0) == 0; };
  if (check.of == "collective-run")
    return begins("seconds") || begins("bus_") || begins("algorithm_") ? Times::kMeasured
                                                                       : Times::kAny;
  if (check.of != "run") return Times::kAny;
  return begins("step.") ? Times::kMeasured : begins("bubble.") ? Times::kRehearsed : Times::kAny;
}

class Judge {
 public:
  Judge(const Step& step, const Answer& answer, const Context& context)
      : step_(step), answer_(answer), context_(context) {
    judgement_.symbols = context.symbols();
  }

  Result<Judgement> judge() {
    Result<void> done;
    switch (step_.kind) {
      case StepKind::kRead:
        judgement_.verdict = Verdict::kRight;
        break;
      case StepKind::kPredict:
      case StepKind::kExplain:
        if (step_.ask) add_figures(step_.ask->metric);
        done = !step_.parts.empty()                      ? parts()
               : step_.ask && !step_.ask->answer.empty() ? number()
                                                         : choice();
        break;
      case StepKind::kBuild:
        if (step_.assigns())
          done = assignment();
        else if (read_order())
          done = checks();
        break;
      case StepKind::kFind:
        marks();
        break;
      case StepKind::kRun:
      case StepKind::kGoal:
        done = checks();
        break;
    }
    if (!done) return done.error();
    if (judgement_.feedback.empty())
      judgement_.feedback = judgement_.verdict == Verdict::kRight   ? "right"
                            : judgement_.verdict == Verdict::kAgain ? "again"
                                                                    : "wrong";
    return std::move(judgement_);
  }

 private:
  Result<double> value_of(const std::string& expression) const {
    return evaluate(expression, context_.symbols());
  }

  // What feedback may name of the metric in question.
  void add_figures(const std::string& metric) {
    if (metric.empty()) return;
    if (const auto figure = context_.predicted_figure(metric))
      judgement_.symbols["predicted"] = *figure;
    if (const auto figure = context_.observed_figure(metric))
      judgement_.symbols["observed"] = *figure;
  }

  Result<void> number() {
    const Result<double> right = value_of(step_.ask->answer);
    if (!right) return right.error();
    judgement_.symbols["answer"] = *right;
    if (!answer_.number || !std::isfinite(*answer_.number)) return {};
    const double guess = *answer_.number;
    judgement_.symbols["guess"] = guess;
    if (std::abs(guess - *right) <= step_.ask->tolerance.around(*right)) {
      judgement_.verdict = Verdict::kRight;
      return {};
    }
    double nearest = 0;
    for (const Option& option : step_.options) {
      const Result<double> foreseen = value_of(option.value);
      if (!foreseen) return foreseen.error();
      const double distance = std::abs(guess - *foreseen);
      if (distance > step_.ask->tolerance.around(*foreseen)) continue;
      if (judgement_.feedback.empty() || distance < nearest) {
        judgement_.feedback = option.id;
        nearest = distance;
      }
    }
    return {};
  }

  Result<void> choice() {
    for (const Option& option : step_.options) {
      const bool chosen = option.id == answer_.option;
      if (chosen) {
        judgement_.verdict = option.correct ? Verdict::kRight : Verdict::kWrong;
        judgement_.feedback = option.correct ? "right" : option.id;
      }
      if (option.value.empty() || (!chosen && !option.correct)) continue;
      const Result<double> value = value_of(option.value);
      if (!value) return value.error();
      if (chosen) judgement_.symbols["guess"] = *value;
      if (option.correct) judgement_.symbols["answer"] = *value;
    }
    return {};
  }

  // Right if every part is; texts may name how many there are and how many are wrong.
  Result<void> parts() {
    for (const QuestionPart& part : step_.parts) {
      const auto given = answer_.parts.find(part.id);
      const PartAnswer answer = given == answer_.parts.end() ? PartAnswer{} : given->second;
      bool right = false;
      if (part.option.empty()) {
        const Result<double> wanted = value_of_part(part, context_);
        if (!wanted) return wanted.error();
        right = answer.number &&
                std::abs(*answer.number - *wanted) <= part.ask.tolerance.around(*wanted);
      } else {
        const Result<std::string> option = option_of_part(part, context_);
        if (!option) return option.error();
        right = answer.option == *option;
      }
      if (!right) judgement_.wrong_parts.insert(part.id);
    }
    judgement_.symbols["all_parts"] = static_cast<double>(step_.parts.size());
    judgement_.symbols["wrong_parts"] = static_cast<double>(judgement_.wrong_parts.size());
    if (step_.checks.empty()) {
      if (judgement_.wrong_parts.empty()) judgement_.verdict = Verdict::kRight;
      return {};
    }
    Result<void> done = checks();
    if (done && !judgement_.wrong_parts.empty()) judgement_.verdict = Verdict::kWrong;
    judgement_.symbols["broken_checks"] = static_cast<double>(
        std::count_if(judgement_.checks.begin(), judgement_.checks.end(),
                      [](const CheckOutcome& outcome) { return !outcome.holds; }));
    return done;
  }

  // Decided by what the choice makes, never by comparing it with the solution.
  Result<void> assignment() {
    Assignment chosen;
    for (const QuestionPart& part : step_.parts) {
      const auto given = answer_.parts.find(part.id);
      const std::string option =
          given == answer_.parts.end() ? std::string() : given->second.option;
      if (std::any_of(step_.options.begin(), step_.options.end(),
                      [&](const Option& known) { return known.id == option; }))
        chosen[part.id] = option;
    }
    judgement_.symbols["all_parts"] = static_cast<double>(step_.parts.size());
    if (chosen.size() < step_.parts.size()) {
      judgement_.reasons.push_back(message("lesson-assign-open", "{} of {} are not chosen yet.",
                                           step_.parts.size() - chosen.size(), step_.parts.size()));
      return {};
    }
    AssignmentFacts made = assignment_facts(step_.assign.of, context_.settings.setup, chosen);
    chosen_facts_ = std::move(made.facts);
    if (Result<void> done = checks(); !done) return done;
    if (judgement_.verdict != Verdict::kRight) judgement_.reasons = std::move(made.reasons);
    return {};
  }

  // Says of each mark what the action waits for, or that it may stand there; of what is not marked
  // only how many there are.
  void marks() {
    std::set<std::pair<int, int>> left = answer_.marks;
    double found = 0;
    const std::vector<DrawnFault> faults = faults_of(step_.drawing);
    for (const DrawnFault& fault : faults)
      if (left.erase({fault.stage, fault.slot}) > 0) {
        judgement_.reasons.push_back(fault.sentence());
        ++found;
      }
    for (const auto& [stage, slot] : left)
      if (step_.drawing.has(stage, slot))
        judgement_.reasons.push_back(sound_sentence(step_.drawing, stage, slot));
    const auto all = static_cast<double>(faults.size());
    judgement_.symbols["faults"] = all;
    judgement_.symbols["found"] = found;
    judgement_.symbols["missed"] = all - found;
    if (found == all && left.empty()) judgement_.verdict = Verdict::kRight;
  }

  // Whether the written order can be timed; if not, the reasons say why.
  bool read_order() {
    std::string text;
    for (const std::string& line : answer_.order) text += line + '\n';
    if (text.size() > kMostOrderBytes) {
      judgement_.reasons.push_back(message(
          "lesson-order-long", "An order has at most {} characters here.", kMostOrderBytes));
      return false;
    }
    const Result<Order> order = order_from_text(text);
    if (!order) {
      judgement_.reasons.push_back(order.error());
      return false;
    }
    const int ranks = static_cast<int>(order->ranks.size());
    const Setup& setup = context_.settings.setup;
    if (ranks != setup.mesh.pp || order->microbatches != setup.microbatches) {
      judgement_.reasons.push_back(
          message("lesson-order-size",
                  "The order has {} ranks and {} micro-batches; this step wants {} and {}.", ranks,
                  order->microbatches, setup.mesh.pp, setup.microbatches));
      return false;
    }
    if (!step_.order.split && splits_backward(*order)) {
      judgement_.reasons.push_back(message(
          "lesson-order-split", "This step keeps each backward whole: write B, not I and W."));
      return false;
    }
    judgement_.reasons = check_order(*order);
    if (!judgement_.reasons.empty()) return false;
    order_facts_ = facts_of(*order, step_.order.by_stage(order->stages));
    return true;
  }

  Result<void> checks() {
    bool all = true, only_runs_fail = true;
    if (!step_.checks.empty()) add_figures(step_.checks.front().metric());
    for (const Check& check : step_.checks) {
      Result<CheckOutcome> outcome = one(check);
      if (!outcome) return outcome.error();
      if (!outcome->holds) {
        all = false;
        only_runs_fail = only_runs_fail && check.of_run();
      }
      if (judgement_.checks.empty() && outcome->value)
        judgement_.symbols["found"] = *outcome->value;
      judgement_.checks.push_back(std::move(*outcome));
    }
    judgement_.verdict = all ? Verdict::kRight : only_runs_fail ? Verdict::kAgain : Verdict::kWrong;
    return {};
  }

  Result<CheckOutcome> one(const Check& check) {
    CheckOutcome outcome;
    outcome.check = check;
    json setup;
    if (check.of == "setup") {
      setup = to_json(context_.settings.setup);
      setup["collective"] = to_json(context_.settings.collective);
      setup["ranks"] = context_.settings.setup.mesh.ranks();
      setup["global_batch"] = context_.settings.setup.global_batch();
    }
    const json& facts = check.of == "setup"            ? setup
                        : check.of == "predicted"      ? context_.predicted.json()
                        : check.of == "run"            ? context_.observed
                        : check.of == "collective"     ? context_.collective_predicted.json()
                        : check.of == "collective-run" ? context_.collective_observed
                        : check.of == "assignment"     ? chosen_facts_
                                                       : order_facts_;
    Symbols symbols = judgement_.symbols;  // "predicted" is this check's own key
    if (const auto predicted = context_.predicted_figure(check.metric()))
      symbols["predicted"] = *predicted;
    if (check.of_run() && facts.is_null()) {
      if (const Result<double> wanted = evaluate(check.value, symbols)) outcome.wanted = *wanted;
      say_once(
          check.of_collective()
              ? message("lesson-no-run.collective", "This collective has not been run yet: run it.")
              : message("lesson-no-run", "This setup has not been run yet: run it."));
      return outcome;
    }
    if (check.of_proof() && !facts.contains("proof")) {
      say_once(
          message("lesson-no-proof",
                  "This run was not proved yet: press Prove it, which repeats it on one rank."));
      return outcome;
    }
    if (const Times needed = needed_times(check); needed != Times::kAny) {
      const std::string source = facts.value("source", "");
      const bool rehearsed = source == name_of(Source::kPaced);
      if (source != name_of(Source::kMeasured) && !(rehearsed && needed == Times::kRehearsed)) {
        const Message seen = word("source", rehearsed ? spoken_name(Source::kPaced) : source);
        say_once(needed == Times::kMeasured
                     ? message("lesson-source.measured",
                               "This run is {}: its times are no evidence. Run it on as many cores "
                               "as ranks.",
                               seen)
                     : message("lesson-source",
                               "This run is {}: its times are no evidence. Rehearse it, or run it "
                               "on as many cores as ranks.",
                               seen));
        return outcome;
      }
    }
    if (const json* word = word_at(facts, check.key)) {
      const bool equal = word->get_ref<const std::string&>() == check.value;
      outcome.holds = check.op == "==" ? equal : check.op == "!=" && !equal;
      return outcome;
    }
    if (!check.than.empty()) {
      const auto kept = context_.kept.find(check.than);
      if (kept == context_.kept.end()) {
        say_once(message("lesson-kept",
                         "The run \"{}\" that this step compares with is not here: go back and run "
                         "it again.",
                         check.than));
        return outcome;
      }
      if (const auto figure = figure_at(kept->second, check.key)) symbols["kept"] = *figure;
    }
    const Result<double> wanted = evaluate(check.value, symbols);
    if (!wanted) return wanted.error();
    outcome.wanted = *wanted;
    outcome.value = figure_at(facts, check.key);
    if (const auto kept = symbols.find("kept"); kept != symbols.end() && outcome.value)
      judgement_.symbols.insert(
          {{"kept", kept->second}, {"difference", *outcome.value - kept->second}});
    if (!outcome.value)
      return message("lesson-key", "\"{}\" is not a figure of \"{}\".", check.key, check.of);
    // A limit without a tolerance is exact: 10.0001 % is not under 10 %.
    const bool exact = check.tolerance.absolute == 0 && check.tolerance.relative == 0 &&
                       check.op != "==" && check.op != "!=";
    outcome.holds =
        compares(*outcome.value, check.op, *wanted, exact ? 0 : check.tolerance.around(*wanted));
    return outcome;
  }

  void say_once(Message reason) {
    const bool said = std::any_of(judgement_.reasons.begin(), judgement_.reasons.end(),
                                  [&](const Message& other) { return other.kind == reason.kind; });
    if (!said) judgement_.reasons.push_back(std::move(reason));
  }

  const Step& step_;
  const Answer& answer_;
  const Context& context_;
  json order_facts_, chosen_facts_;
  Judgement judgement_;
};

}  // namespace

Result<Judgement> judge(const Step& step, const Answer& answer, const Context& context) {
  return Judge(step, answer, context).judge();
}

}  // namespace parallelarium

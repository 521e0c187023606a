// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <set>

#include "engine/lesson/check/check_parts.h"
#include "engine/plan/placement/resolve.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {

namespace {

// Options of a choice that read alike help nobody: the least relative distance.
constexpr double kLeastDifference = 0.01;

// The step's checks without those on runs; with or without the ones marked as limit.
Step only(const Step& step, bool limits) {
  Step part = step;
  part.checks.clear();
  for (const Check& check : step.checks)
    if (!check.of_run() && check.limit == limits) part.checks.push_back(check);
  return part;
}
Step without_runs(const Step& step) {
  Step part = step;
  part.checks.erase(std::remove_if(part.checks.begin(), part.checks.end(),
                                   [](const Check& check) { return check.of_run(); }),
                    part.checks.end());
  return part;
}

class StepCheck {
 public:
  StepCheck(const Lesson& lesson, std::size_t index, const Symbols& drawn, Predictions& predictions,
            Faults& faults)
      : lesson_(lesson),
        step_(lesson.steps[index]),
        index_(index),
        drawn_(drawn),
        predictions_(predictions),
        faults_(faults) {}

  void check() {
    const Result<Settings> before = settings_at(lesson_, index_, drawn_);
    if (!before) return setup_fault(before.error());
    if (const auto& entering = predictions_.of(before->setup); !entering)
      return setup_fault(entering.error());
    if (const auto& entering = predictions_.of(before->collective); !entering)
      return setup_fault(entering.error());
    const Result<Context> context = context_at(lesson_, index_, drawn_, predictions_);
    if (!context) return setup_fault(context.error());
    if (step_.assigns())
      assignment(*context);
    else if (step_.sets_plan())
      plan(*context);
    else if (!step_.parts.empty())
      parts(*context);
    else if (step_.ask && !step_.ask->answer.empty())
      number(*context);
    else if (!step_.options.empty())
      choice(*context);
    if (step_.kind == StepKind::kGoal) goal(*context);
    if (step_.builds_order()) build(*context);
    if (step_.kind == StepKind::kFind && faults_of(step_.drawing).empty())
      fault(message("find-sound", "The drawing breaks no rule: there is nothing to find."),
            "drawing");
  }

 private:
  // `key`: of the step.
  void fault(Message sentence, const std::string& key) {
    faults_.add(with_drawn(std::move(sentence), lesson_, drawn_), step_.id, key);
  }
  void fault(const char* rule, const Message& error, const std::string& key) {
    faults_.add(rule, with_drawn(error, lesson_, drawn_), step_.id, key);
  }

  // Of settings that mean nothing or cannot be predicted: at the setting that is told of, where the
  // step or the lesson's start sets it.
  void setup_fault(const Message& error) {
    const auto sets = [&](const Fields& fields) {
      return std::any_of(fields.begin(), fields.end(),
                         [&](const auto& field) { return field.first == error.field; });
    };
    for (const auto& [key, fields] :
         {std::pair("reveal", &step_.reveal), std::pair("setup", &step_.setup)})
      if (sets(*fields)) return fault("step-setup", error, key + ("." + error.field));
    if (sets(lesson_.start))
      return faults_.add("step-setup", with_drawn(error, lesson_, drawn_), "start", error.field);
    fault("step-setup", error, "setup");
  }

  // Judges and tells a broken lesson; the verdict, or none.
  std::optional<Judgement> judged(const Step& step, const Answer& answer, const Context& context) {
    Result<Judgement> judgement = judge(step, answer, context);
    if (!judgement) {
      fault("step-judge", judgement.error(), key_not_judged(answer, context));
      return std::nullopt;
    }
    return std::move(*judgement);
  }

  // The check that cannot be judged, or else what is asked.
  std::string key_not_judged(const Answer& answer, const Context& context) {
    for (std::size_t at = 0; at < step_.checks.size(); ++at) {
      Step one = step_;
      one.checks = {step_.checks[at]};
      if (!judge(one, answer, context)) return fmt::format("checks.{}.key", at);
    }
    return step_.ask ? "ask" : step_.parts.empty() ? "" : "parts";
  }

  // The number that answers `ask`, compared with what is predicted; none if it has no value.
  // `key`: of the ask.
  std::optional<double> right_number(const Ask& ask, const std::string& key,
                                     const Context& context) {
    const Result<double> right = evaluate(ask.answer, context.symbols());
    if (!right) {
      fault("answer-expression", right.error(), key + ".answer");
      return std::nullopt;
    }
    const double tolerance = ask.tolerance.around(*right);
    if (!ask.metric.empty()) {
      const auto predicted = context.predicted_figure(ask.metric);
      if (!predicted) {
        fault(message("answer-metric", "\"{}\" is not a figure of the prediction.", ask.metric),
              key + ".metric");
      } else if (std::abs(*predicted - *right) > tolerance) {
        fault(message("answer-prediction", "The answer {} is not what is predicted, {}, within {}.",
                      figure(write_number(*right, ask.unit)),
                      figure(write_number(*predicted, ask.unit)),
                      figure(write_number(tolerance, ask.unit))),
              key + ".answer");
      }
      if (!covers(step_.hide, ask.metric))
        fault(message("answer-shown", "The figure \"{}\" is asked for and not hidden.", ask.metric),
              key + ".metric");
    }
    return *right;
  }

  // What each part names or computes.
  Answer right_parts(const Context& context) {
    Answer all;
    for (std::size_t at = 0; at < step_.parts.size(); ++at) {
      const QuestionPart& part = step_.parts[at];
      const std::string key = fmt::format("parts.{}", at);
      PartAnswer& answer = all.parts[part.id];
      if (!part.option.empty()) {
        const Result<std::string> option = option_of_part(part, context);
        if (option) answer.option = *option;
        if (!option) fault("answer-option", option.error(), key + ".option");
      } else if (part.ask.answer.find("predicted") == std::string::npos) {
        answer.number = right_number(part.ask, key, context);
      } else {  // is what is predicted
        const Result<double> right = value_of_part(part, context);
        if (right) answer.number = *right;
        if (!right) fault("answer-metric", right.error(), key + ".answer");
        if (!covers(step_.hide, part.ask.metric))
          fault(message("answer-shown", "The figure \"{}\" is asked for and not hidden.",
                        part.ask.metric),
                key + ".metric");
      }
    }
    return all;
  }

  // Those are judged right, and without any of them they are not.
  void parts(const Context& context) {
    const Answer all = right_parts(context);
    if (const auto verdict = judged(step_, all, context);
        verdict && verdict->verdict != Verdict::kRight)
      fault(message("answer-refused", "The right parts are not judged right."), "parts");
    for (std::size_t at = 0; at < step_.parts.size(); ++at) {
      const std::string& id = step_.parts[at].id;
      const PartAnswer& answer = all.parts.at(id);
      Answer less = all;
      less.parts[id] = {};
      if (answer.number) less.parts[id].number = *answer.number * 2 + 1;
      const auto verdict = judged(step_, less, context);
      if (verdict && verdict->wrong_parts != std::set<std::string>{id})
        fault(message("answer-refused.other", "Another answer to \"{}\" is judged right.", id),
              fmt::format("parts.{}", at));
    }
  }

  // The solution with its own figures passes; what the step begins with breaks a check.
  void plan(const Context& start) {
    const auto at_start = judged(step_, right_parts(start), start);
    if (at_start && at_start->verdict == Verdict::kRight)
      fault(message("goal-reached", "The plan that the step begins with passes already."),
            "checks");
    const auto solved = with(start, step_.solution, "goal-solution", "solution");
    if (!solved) return;
    parts(*solved);
    for (std::size_t at = 0; at < step_.checks.size(); ++at) {
      const Check& check = step_.checks[at];
      Step one = step_;
      one.checks = {check};
      const auto end = judged(one, right_parts(*solved), *solved);
      if (end && end->verdict != Verdict::kRight)
        fault(
            message("goal-solution", "The solution does not pass the check of \"{}\".", check.key),
            fmt::format("checks.{}", at));
    }
  }

  void number(const Context& context) {
    const Ask& ask = *step_.ask;
    const std::optional<double> right = right_number(ask, "ask", context);
    if (!right) return;
    const double tolerance = ask.tolerance.around(*right);
    Answer answer;
    answer.number = *right;
    if (const auto verdict = judged(step_, answer, context);
        verdict && verdict->verdict != Verdict::kRight)
      fault(message("answer-refused.number", "The right number is not judged right."),
            "ask.answer");
    for (std::size_t at = 0; at < step_.options.size(); ++at) {
      const Option& option = step_.options[at];
      const std::string key = fmt::format("options.{}.value", at);
      const Result<double> wrong = evaluate(option.value, context.symbols());
      if (!wrong) {
        fault("option-expression", wrong.error(), key);
      } else if (std::abs(*wrong - *right) <= tolerance) {
        fault(
            message("option-too-near",
                    "The wrong number \"{}\" lies within the tolerance of the answer.", option.id),
            key);
      } else {
        answer.number = *wrong;
        const auto verdict = judged(step_, answer, context);
        if (verdict && verdict->feedback != option.id)
          fault(message("option-feedback", "The wrong number \"{}\" gets the feedback of \"{}\".",
                        option.id, verdict->feedback),
                key);
      }
    }
  }

  void choice(const Context& context) {
    std::optional<double> right;
    const auto key_of = [](std::size_t at) { return fmt::format("options.{}.value", at); };
    for (std::size_t at = 0; at < step_.options.size(); ++at)
      if (const Option& option = step_.options[at]; option.correct && !option.value.empty()) {
        const Result<double> value = evaluate(option.value, context.symbols());
        if (!value) return fault("option-expression", value.error(), key_of(at));
        right = *value;
      }
    const Tolerance given = step_.ask ? step_.ask->tolerance : Tolerance{};
    for (std::size_t at = 0; at < step_.options.size(); ++at) {
      const Option& option = step_.options[at];
      if (option.correct || option.value.empty() || !right) continue;
      const Result<double> wrong = evaluate(option.value, context.symbols());
      if (!wrong) return fault("option-expression", wrong.error(), key_of(at));
      if (std::abs(*wrong - *right) <=
          std::max(given.around(*right), kLeastDifference * std::abs(*right)))
        fault(
            message("option-too-near.choice",
                    "The wrong option \"{}\" lies within the tolerance of the answer.", option.id),
            key_of(at));
    }
    if (!step_.ask || step_.ask->metric.empty()) return;
    if (!covers(step_.hide, step_.ask->metric))
      fault(message("answer-shown", "The figure \"{}\" is asked for and not hidden.",
                    step_.ask->metric),
            "ask.metric");
    const auto predicted = context.predicted_figure(step_.ask->metric);
    if (!predicted)
      fault(
          message("answer-metric", "\"{}\" is not a figure of the prediction.", step_.ask->metric),
          "ask.metric");
    else if (right && std::abs(*predicted - *right) > given.around(*right))
      fault(message("answer-prediction.choice", "The right option says {} and {} is predicted.",
                    figure(write_number(*right, step_.ask->unit)),
                    figure(write_number(*predicted, step_.ask->unit))),
            "ask.metric");
  }

  // The context with the fields of that key of the step set on top.
  std::optional<Context> with(const Context& context, const Fields& fields, const char* rule,
                              const std::string& key) {
    Result<Settings> settings = with_fields(context.settings, fields, drawn_);
    Result<Context> changed = settings ? context_of(std::move(*settings), drawn_, predictions_)
                                       : Result<Context>(settings.error());
    if (!changed) {
      fault(rule, changed.error(), key + "." + changed.error().field);
      return std::nullopt;
    }
    return std::move(*changed);
  }

  void goal(const Context& start) {
    const Step known = without_runs(step_);
    if (const auto at_start = judged(known, {}, start);
        at_start && at_start->verdict == Verdict::kRight)
      fault(message("goal-reached.state", "The state the goal starts from reaches it already."),
            "checks");
    if (const auto solved = with(start, step_.solution, "goal-solution", "solution")) {
      const auto end = judged(known, {}, *solved);
      if (end && end->verdict != Verdict::kRight)
        fault(message("goal-solution.state", "The solution does not reach the goal."), "solution");
    }
    if (only(step_, true).checks.empty())
      return fault(message("goal-limit", "No check is marked as the limit."), "checks");
    if (const auto tempted = with(start, step_.tempting, "goal-tempting", "tempting")) {
      const auto rest = judged(only(step_, false), {}, *tempted);
      const auto limit = judged(only(step_, true), {}, *tempted);
      if (rest && rest->verdict != Verdict::kRight)
        fault(message("goal-tempting", "The tempting setting does not reach the rest of the goal."),
              "tempting");
      if (limit && limit->verdict == Verdict::kRight)
        fault(
            message("goal-limit.binds", "The limit does not bind: the tempting setting keeps it."),
            fmt::format("checks.{}", limit_at()));
    }
  }

  // The first check that is marked as the limit.
  std::ptrdiff_t limit_at() const {
    return std::find_if(step_.checks.begin(), step_.checks.end(),
                        [](const Check& check) { return check.limit; }) -
           step_.checks.begin();
  }

  void build(const Context& context) {
    const Step known = without_runs(step_);
    Answer answer;
    answer.order = step_.order.start;
    Result<Judgement> start = judge(known, answer, context);
    if (start && start->verdict == Verdict::kRight)
      fault(message("build-reached", "The order the step starts from solves it already."),
            "order.start");
    answer.order = step_.order.solution;
    const auto end = judged(known, answer, context);
    if (end && end->verdict != Verdict::kRight)
      fault("build-solution",
            end->reasons.empty()
                ? message("build-solution", "The order given as solution does not solve it.")
                : end->reasons.front(),
            "order.solution");
  }

  // The solution passes; the tempting choice and an unfinished one are refused, with a reason.
  void assignment(const Context& context) {
    const auto judged_as = [&](const Assignment& chosen) {
      Answer answer;
      for (const auto& [slot, value] : chosen) answer.parts[slot].option = value;
      return judged(step_, answer, context);
    };
    Assignment chosen;
    for (const QuestionPart& part : step_.parts) chosen[part.id] = part.option;
    if (const auto end = judged_as(chosen); end && end->verdict != Verdict::kRight)
      fault(end->reasons.empty()
                ? message("assign-solution", "The parts' options do not solve it.")
                : message("assign-solution.reason", "The parts' options do not solve it: {}.",
                          clause(end->reasons.front())),
            "parts");
    Assignment tempted = chosen;
    for (const auto& [slot, value] : step_.assign.tempting) tempted[slot] = value;
    const auto refuse = [&](const Assignment& refused, bool finished) {
      const auto verdict = judged_as(refused);
      if (verdict && verdict->verdict == Verdict::kRight)
        fault(finished
                  ? message("assign-tempting", "The tempting choice is not refused.")
                  : message("assign-tempting.unfinished", "The unfinished choice is not refused."),
              finished ? "assign.tempting" : "checks");
      else if (verdict && verdict->reasons.empty())
        fault(finished
                  ? message("assign-reason", "The tempting choice is refused without a reason.")
                  : message("assign-reason.unfinished",
                            "The unfinished choice is refused without a reason."),
              finished ? "assign.tempting" : "checks");
    };
    refuse(tempted, true);
    refuse({}, false);
  }

  const Lesson& lesson_;
  const Step& step_;
  std::size_t index_;
  const Symbols& drawn_;
  Predictions& predictions_;
  Faults& faults_;
};

}  // namespace

void check_step(const Lesson& lesson, std::size_t step, const Symbols& drawn,
                Predictions& predictions, Faults& faults) {
  StepCheck(lesson, step, drawn, predictions, faults).check();
}

}  // namespace parallelarium

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
    if (!before) return fault("step-setup", before.error());
    if (const auto& entering = predictions_.of(before->setup); !entering)
      return fault("step-setup", entering.error());
    if (const auto& entering = predictions_.of(before->collective); !entering)
      return fault("step-setup", entering.error());
    const Result<Context> context = context_at(lesson_, index_, drawn_, predictions_);
    if (!context) return fault("step-setup", context.error());
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
      fault(message("find-sound", "The drawing breaks no rule: there is nothing to find."));
  }

 private:
  void fault(Message sentence) {
    faults_.add(with_drawn(std::move(sentence), lesson_, drawn_), step_.id);
  }
  void fault(const char* rule, const Message& error) {
    faults_.add(rule, with_drawn(error, lesson_, drawn_), step_.id);
  }

  // Judges and tells a broken lesson; the verdict, or none.
  std::optional<Judgement> judged(const Step& step, const Answer& answer, const Context& context) {
    Result<Judgement> judgement = judge(step, answer, context);
    if (!judgement) {
      fault("step-judge", judgement.error());
      return std::nullopt;
    }
    return std::move(*judgement);
  }

  // The number that answers `ask`, compared with what is predicted; none if it has no value.
  std::optional<double> right_number(const Ask& ask, const Context& context) {
    const Result<double> right = evaluate(ask.answer, context.symbols());
    if (!right) {
      fault("answer-expression", right.error());
      return std::nullopt;
    }
    const double tolerance = ask.tolerance.around(*right);
    if (!ask.metric.empty()) {
      const auto predicted = context.predicted_figure(ask.metric);
      if (!predicted) {
        fault(message("answer-metric", "\"{}\" is not a figure of the prediction.", ask.metric));
      } else if (std::abs(*predicted - *right) > tolerance) {
        fault(message("answer-prediction", "The answer {} is not what is predicted, {}, within {}.",
                      figure(write_number(*right, ask.unit)),
                      figure(write_number(*predicted, ask.unit)),
                      figure(write_number(tolerance, ask.unit))));
      }
      if (!covers(step_.hide, ask.metric))
        fault(
            message("answer-shown", "The figure \"{}\" is asked for and not hidden.", ask.metric));
    }
    return *right;
  }

  // What each part names or computes.
  Answer right_parts(const Context& context) {
    Answer all;
    for (const QuestionPart& part : step_.parts) {
      PartAnswer& answer = all.parts[part.id];
      if (!part.option.empty()) {
        const Result<std::string> option = option_of_part(part, context);
        if (option) answer.option = *option;
        if (!option) fault("answer-option", option.error());
      } else if (part.ask.answer.find("predicted") == std::string::npos) {
        answer.number = right_number(part.ask, context);
      } else {  // is what is predicted
        const Result<double> right = value_of_part(part, context);
        if (right) answer.number = *right;
        if (!right) fault("answer-metric", right.error());
        if (!covers(step_.hide, part.ask.metric))
          fault(message("answer-shown", "The figure \"{}\" is asked for and not hidden.",
                        part.ask.metric));
      }
    }
    return all;
  }

  // Those are judged right, and without any of them they are not.
  void parts(const Context& context) {
    const Answer all = right_parts(context);
    if (const auto verdict = judged(step_, all, context);
        verdict && verdict->verdict != Verdict::kRight)
      fault(message("answer-refused", "The right parts are not judged right."));
    for (const auto& [id, answer] : all.parts) {
      Answer less = all;
      less.parts[id] = {};
      if (answer.number) less.parts[id].number = *answer.number * 2 + 1;
      const auto verdict = judged(step_, less, context);
      if (verdict && verdict->wrong_parts != std::set<std::string>{id})
        fault(message("answer-refused.other", "Another answer to \"{}\" is judged right.", id));
    }
  }

  // The solution with its own figures passes; what the step begins with breaks a check.
  void plan(const Context& start) {
    const auto at_start = judged(step_, right_parts(start), start);
    if (at_start && at_start->verdict == Verdict::kRight)
      fault(message("goal-reached", "The plan that the step begins with passes already."));
    const auto solved = with(start, step_.solution, "goal-solution");
    if (!solved) return;
    parts(*solved);
    for (const Check& check : step_.checks) {
      Step one = step_;
      one.checks = {check};
      const auto end = judged(one, right_parts(*solved), *solved);
      if (end && end->verdict != Verdict::kRight)
        fault(
            message("goal-solution", "The solution does not pass the check of \"{}\".", check.key));
    }
  }

  void number(const Context& context) {
    const Ask& ask = *step_.ask;
    const std::optional<double> right = right_number(ask, context);
    if (!right) return;
    const double tolerance = ask.tolerance.around(*right);
    Answer answer;
    answer.number = *right;
    if (const auto verdict = judged(step_, answer, context);
        verdict && verdict->verdict != Verdict::kRight)
      fault(message("answer-refused.number", "The right number is not judged right."));
    for (const Option& option : step_.options) {
      const Result<double> wrong = evaluate(option.value, context.symbols());
      if (!wrong) {
        fault("option-expression", wrong.error());
      } else if (std::abs(*wrong - *right) <= tolerance) {
        fault(message("option-too-near",
                      "The wrong number \"{}\" lies within the tolerance of the answer.",
                      option.id));
      } else {
        answer.number = *wrong;
        const auto verdict = judged(step_, answer, context);
        if (verdict && verdict->feedback != option.id)
          fault(message("option-feedback", "The wrong number \"{}\" gets the feedback of \"{}\".",
                        option.id, verdict->feedback));
      }
    }
  }

  void choice(const Context& context) {
    std::optional<double> right;
    for (const Option& option : step_.options)
      if (option.correct && !option.value.empty()) {
        const Result<double> value = evaluate(option.value, context.symbols());
        if (!value) return fault("option-expression", value.error());
        right = *value;
      }
    const Tolerance given = step_.ask ? step_.ask->tolerance : Tolerance{};
    for (const Option& option : step_.options) {
      if (option.correct || option.value.empty() || !right) continue;
      const Result<double> wrong = evaluate(option.value, context.symbols());
      if (!wrong) return fault("option-expression", wrong.error());
      if (std::abs(*wrong - *right) <=
          std::max(given.around(*right), kLeastDifference * std::abs(*right)))
        fault(message("option-too-near.choice",
                      "The wrong option \"{}\" lies within the tolerance of the answer.",
                      option.id));
    }
    if (!step_.ask || step_.ask->metric.empty()) return;
    if (!covers(step_.hide, step_.ask->metric))
      fault(message("answer-shown", "The figure \"{}\" is asked for and not hidden.",
                    step_.ask->metric));
    const auto predicted = context.predicted_figure(step_.ask->metric);
    if (!predicted)
      fault(
          message("answer-metric", "\"{}\" is not a figure of the prediction.", step_.ask->metric));
    else if (right && std::abs(*predicted - *right) > given.around(*right))
      fault(message("answer-prediction.choice", "The right option says {} and {} is predicted.",
                    figure(write_number(*right, step_.ask->unit)),
                    figure(write_number(*predicted, step_.ask->unit))));
  }

  // The context with `fields` set on top.
  std::optional<Context> with(const Context& context, const Fields& fields, const char* rule) {
    Result<Settings> settings = with_fields(context.settings, fields, drawn_);
    Result<Context> changed = settings ? context_of(std::move(*settings), drawn_, predictions_)
                                       : Result<Context>(settings.error());
    if (!changed) {
      fault(rule, changed.error());
      return std::nullopt;
    }
    return std::move(*changed);
  }

  void goal(const Context& start) {
    const Step known = without_runs(step_);
    if (const auto at_start = judged(known, {}, start);
        at_start && at_start->verdict == Verdict::kRight)
      fault(message("goal-reached.state", "The state the goal starts from reaches it already."));
    if (const auto solved = with(start, step_.solution, "goal-solution")) {
      const auto end = judged(known, {}, *solved);
      if (end && end->verdict != Verdict::kRight)
        fault(message("goal-solution.state", "The solution does not reach the goal."));
    }
    if (only(step_, true).checks.empty())
      return fault(message("goal-limit", "No check is marked as the limit."));
    if (const auto tempted = with(start, step_.tempting, "goal-tempting")) {
      const auto rest = judged(only(step_, false), {}, *tempted);
      const auto limit = judged(only(step_, true), {}, *tempted);
      if (rest && rest->verdict != Verdict::kRight)
        fault(
            message("goal-tempting", "The tempting setting does not reach the rest of the goal."));
      if (limit && limit->verdict == Verdict::kRight)
        fault(
            message("goal-limit.binds", "The limit does not bind: the tempting setting keeps it."));
    }
  }

  void build(const Context& context) {
    const Step known = without_runs(step_);
    Answer answer;
    answer.order = step_.order.start;
    Result<Judgement> start = judge(known, answer, context);
    if (start && start->verdict == Verdict::kRight)
      fault(message("build-reached", "The order the step starts from solves it already."));
    answer.order = step_.order.solution;
    const auto end = judged(known, answer, context);
    if (end && end->verdict != Verdict::kRight)
      fault("build-solution",
            end->reasons.empty()
                ? message("build-solution", "The order given as solution does not solve it.")
                : end->reasons.front());
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
                          clause(end->reasons.front())));
    Assignment tempted = chosen;
    for (const auto& [slot, value] : step_.assign.tempting) tempted[slot] = value;
    const auto refuse = [&](const Assignment& refused, bool finished) {
      const auto verdict = judged_as(refused);
      if (verdict && verdict->verdict == Verdict::kRight)
        fault(finished
                  ? message("assign-tempting", "The tempting choice is not refused.")
                  : message("assign-tempting.unfinished", "The unfinished choice is not refused."));
      else if (verdict && verdict->reasons.empty())
        fault(finished
                  ? message("assign-reason", "The tempting choice is refused without a reason.")
                  : message("assign-reason.unfinished",
                            "The unfinished choice is refused without a reason."));
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

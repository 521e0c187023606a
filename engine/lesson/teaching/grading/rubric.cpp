// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/teaching/grading/rubric.h"

#include <algorithm>

#include "engine/lesson/play.h"

namespace parallelarium {

namespace {

double points_for(const RubricRow& row, const HandInStep* step) {
  if (step == nullptr || !step->answered) return 0;
  if (!row.parts.empty()) {
    double right = 0;
    for (const HandInPart& part : step->parts)
      right += part.right && std::count(row.parts.begin(), row.parts.end(), part.id) > 0 ? 1 : 0;
    return row.points * right / static_cast<double>(row.parts.size());
  }
  const bool holds = std::all_of(step->checks.begin(), step->checks.end(),
                                 [](const CheckOutcome& outcome) { return outcome.holds; });
  return (step->checks.empty() ? step->right : holds) ? row.points : 0;
}

}  // namespace

std::vector<HandInPart> judged_parts(const Step& step, const Answer& answer, const Context& context,
                                     const Judgement& judgement) {
  std::vector<HandInPart> parts;
  for (const QuestionPart& part : step.parts) {
    HandInPart& noted = parts.emplace_back();
    noted.id = part.id;
    noted.right = judgement.wrong_parts.count(part.id) == 0;
    if (const auto given = answer.parts.find(part.id); given != answer.parts.end())
      noted.given = given->second;
    if (part.option.empty()) {
      if (const Result<double> number = value_of_part(part, context)) noted.wanted.number = *number;
    } else if (const Result<std::string> option = option_of_part(part, context)) {
      noted.wanted.option = *option;
    }
  }
  return parts;
}

std::vector<HandInPoints> points_of(const Lesson& lesson, const std::vector<HandInStep>& steps) {
  std::vector<HandInPoints> points;
  for (const Step& step : lesson.steps) {
    const auto answered = std::find_if(steps.begin(), steps.end(),
                                       [&](const HandInStep& one) { return one.step == step.id; });
    for (const RubricRow& row : step.rubric) {
      HandInPoints& mark = points.emplace_back();
      mark.step = step.id;
      mark.id = row.id;
      mark.most = row.points;
      if (!row.teacher)
        mark.points = points_for(row, answered == steps.end() ? nullptr : &*answered);
    }
  }
  return points;
}

double HandIn::points_given() const {
  double sum = 0;
  for (const HandInPoints& row : points) sum += row.points.value_or(0);
  return sum;
}

int HandIn::points_most(bool teacher) const {
  int sum = 0;
  for (const HandInPoints& row : points) sum += row.points.has_value() != teacher ? row.most : 0;
  return sum;
}

}  // namespace parallelarium

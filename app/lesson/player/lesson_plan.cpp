// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the player that tells what a student has said of a plan: why it is none, figures
// beside predicted ones, those that are right in another unit, and the order of axes.
#include <QCoreApplication>
#include <cmath>

#include "app/lesson/player/answers/figures_table.h"
#include "app/lesson/player/lesson_player.h"
#include "app/look/sentence.h"

namespace parallelarium {

namespace {

struct PlanFigures {
  Q_DECLARE_TR_FUNCTIONS(planFigures)
};

const QString kParagraph = QStringLiteral("\n\n");
constexpr double kGib = 1073741824, kGb = 1e9;

}  // namespace

// A plan that makes another batch, or that cannot be, is no plan for this task.
QString LessonPlayer::plan_problem() const {
  if (!is_open() || !step().sets_plan() || state().solved) return {};
  if (!session_.prediction_is_current()) return tr("This setup cannot be: see what is marked.");
  Step known;
  known.kind = StepKind::kGoal;
  for (const Check& check : step().checks)
    if (check.of == "setup") known.checks.push_back(check);
  Context context;
  context.settings = settings();
  context.drawn = drawn_;
  const Result<Judgement> now = judge(known, {}, context);
  if (!now) return sentence(now.error());
  return now->verdict == Verdict::kRight ? QString()
                                         : tr("Your plan must meet the conditions first.");
}

QString LessonPlayer::own_figures() const {
  if (!step().sets_plan() || !state().committed || !state().judgement || exam_) return {};
  const std::vector<HandInPart> parts =
      judged_parts(step(), state().answer, context(), *state().judgement);
  return kParagraph + figures_table(step(), parts, [&](const std::string& part) {
           return filled(text(at_).part(part), part_symbols());
         });
}

QString LessonPlayer::unit_remarks() const {
  QString remarks;
  if (!state().judgement) return remarks;
  for (const QuestionPart& part : step().parts) {
    const auto given = state().answer.parts.find(part.id);
    const bool wrong = state().judgement->wrong_parts.count(part.id) > 0;
    if (!wrong || given == state().answer.parts.end() || !given->second.number) continue;
    const QString asked = counted(part.id);
    const bool gib = asked == QLatin1String("GiB");
    const Result<double> right = value_of_part(part, context());
    if ((!gib && asked != QLatin1String("GB")) || !right) continue;
    const double meant = *given->second.number * (gib ? kGb / kGib : kGib / kGb);
    if (std::abs(meant - *right) > part.ask.tolerance.around(*right)) continue;
    remarks += kParagraph + PlanFigures::tr(
                                "**%1:** it would be right in %2; the question asks for %3. "
                                "1 GiB is 1.074 GB.")
                                .arg(part_text(part.id),
                                     gib ? QStringLiteral("GB") : QStringLiteral("GiB"), asked);
  }
  return remarks;
}

QString LessonPlayer::own_order() const {
  const Step* from = lesson_->find(step().from);
  if (!step().small_copy || !from) return {};
  const auto at = static_cast<std::size_t>(from - lesson_->steps.data());
  QStringList order;
  for (const QuestionPart& part : from->parts)
    if (const auto given = states_[at].answer.parts.find(part.id);
        given != states_[at].answer.parts.end() && !given->second.option.empty())
      order << QString::fromStdString(text(at).part("option " + given->second.option));
  if (order.isEmpty()) return {};
  return kParagraph +
         PlanFigures::tr("You wrote down: **%1**.").arg(order.join(QStringLiteral(", ")));
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include <QCoreApplication>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/search/search_words.h"

namespace parallelarium {
namespace {

struct DescriptionTexts {
  Q_DECLARE_TR_FUNCTIONS(SearchView)
};

}  // namespace

QString search_description(const PlanSearch& search) {
  QStringList said{question_text(search)};
  if (search.searching())
    said << DescriptionTexts::tr("Searching: %1.").arg(share_text(search.progress()))
         << search.progress_text();
  if (!search.answer()) {
    if (!search.searching())
      said << (search.error().isEmpty() ? DescriptionTexts::tr("Not searched yet: press Search.")
                                        : search.error());
    return said.join(QLatin1Char('\n'));
  }
  const PlanAnswer& answer = *search.answer();
  if (const QString remark = remark_text(search); !remark.isEmpty()) said << remark;
  said << DescriptionTexts::tr("The limit is %1. The keys left and right move it by a GiB.")
              .arg(bytes_text(answer.capacity_bytes));
  said << funnel_title(answer) + QLatin1Char(':')
       << DescriptionTexts::tr("%1 candidates.").arg(count_text(answer.candidates));
  for (int at = 0; at < PlanAnswer::kClasses; ++at) {
    const auto of = PlanAnswer::Class(at);
    said << QStringLiteral("%1 %2.").arg(count_text(answer.counts[at]), class_text(of));
    for (const PlanLoss& loss : answer.losses[at])
      said << QStringLiteral("  %1: %2").arg(count_text(loss.count), loss_text(loss));
  }
  if (const ExplainedPlan* told = search.today()) {
    said << DescriptionTexts::tr("Today: %1.").arg(today_text(told->setup));
    if (!search.is_limited()) said << today_sentences(answer, *told);
    for (const TodayFigure& figure : today_figures(search))
      said << DescriptionTexts::tr("%1: %2 today, %3 with the best plan.")
                  .arg(figure.title, figure.today, figure.best);
  }
  for (const PlanAdvice& advice : answer.recommended)
    said << DescriptionTexts::tr("%1: %2, step %3, %4; %5.")
                .arg(merits_text(answer, advice.merits), axes_text(advice.plan.setup),
                     step_text(answer, advice.plan), bytes_text(advice.plan.bytes),
                     limits_text(advice.plan, answer.capacity_bytes))
         << needs_text(framework_of(search.wish()), advice.plan.setup);
  for (const Message& why : answer.recommended_why) said << sentence(why);
  said << trust_texts(answer);
  if (const QString tied = tied_text(answer); !tied.isEmpty()) said << tied;
  said << search.memory_text();
  if (answer.plans.empty() && answer.least)
    said << DescriptionTexts::tr(
                "None fits. %1 comes nearest: it has %2 or more too much on one GPU.")
                .arg(axes_text(answer.least->second), bytes_text(answer.least->first));
  for (const FoundPlan& plan : answer.plans)
    said << DescriptionTexts::tr(
                "%1: step %2, %3, MFU (attention in full) %4, bubble %5, exposed "
                "communication %6%7.")
                .arg(axes_text(plan.setup), seconds_text(plan.seconds), bytes_text(plan.bytes),
                     share_text(plan.mfu), bubble_text(plan), seconds_text(plan.exposed_seconds),
                     plan.tied ? DescriptionTexts::tr(", tie") : QString());
  if (const FoundPlan* plan = search.selected()) {
    said << DescriptionTexts::tr("Selected: %1.").arg(axes_text(plan->setup));
    const std::vector<PlanWhy>* neighbours = search.neighbours();
    std::vector<PlanWhy> changes = neighbours ? *neighbours : search.why_selected();
    answer.note_ties(neighbours || !search.best() ? plan->seconds : search.best()->seconds,
                     changes);
    for (const PlanWhy& why : changes)
      said << (why.tied ? DescriptionTexts::tr("%1 It is a tie.").arg(sentence(why.sentence))
                        : sentence(why.sentence));
  }
  for (const ToldRule& rule : answer.rules) said << rule_text(rule);
  if (const QString head = value_head(search); !head.isEmpty())
    said << head + QLatin1Char('.') << value_said(search);
  said.removeAll(QString());
  return said.join(QLatin1Char('\n'));
}

}  // namespace parallelarium

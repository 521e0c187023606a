// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/search_words.h"

#include <QCoreApplication>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "engine/plan/machine/machine.h"

namespace parallelarium {
namespace {

struct SearchTexts {
  Q_DECLARE_TR_FUNCTIONS(SearchView)
};

Quantity quantity(const char* key, const QString& title, const QString& text, const QString& source,
                  double value, const QString& exact = {}) {
  Quantity made;
  made.key = QLatin1String(key);
  made.title = title;
  made.predicted = {text, source, exact};
  made.predicted_value = value;
  return made;
}

}  // namespace

QString batch_text(const PlanSearch& search) {
  return SearchTexts::tr("%1 tokens a step")
      .arg(count_text(search.wish().global_batch * search.sequence()));
}

QString question_text(const PlanSearch& search) {
  const PlanWish& wish = search.answer() ? search.answered() : search.wish();
  const Result<Setup> base = base_of(wish);
  const Result<Machine> machine = base ? machine_of(base->machine) : Result<Machine>(base.error());
  return SearchTexts::tr("How should %1 be trained on %2 GPUs of %3?")
      .arg(base ? sentence(title_of(base->model)) : wish.model, wish.gpus,
           machine ? sentence(title_of(*machine)) : wish.machine);
}

QStringList today_sentences(const ExplainedPlan& today) {
  QStringList said{sentence(today.sentence)};
  if (today.change)
    said << sentence(today.change->sentence);
  else if (today.plan_class == "does_not_fit")
    said << SearchTexts::tr("No change of one axis would make it fit.");
  else if (today.seconds)
    said << SearchTexts::tr("No change of one axis makes it faster.");
  return said;
}

QString class_text(PlanAnswer::Class of) {
  switch (of) {
    case PlanAnswer::kRefused:
      return SearchTexts::tr("are refused");
    case PlanAnswer::kDoesNotFit:
      return SearchTexts::tr("do not fit");
    case PlanAnswer::kBounded:
      return SearchTexts::tr("bounded");
    default:
      return SearchTexts::tr("simulated");
  }
}

QString tie_text(const PlanAnswer& answer) {
  return answer.tie_threshold
             ? SearchTexts::tr(
                   "Rows within %1 of the first share its rank: so far off are differences "
                   "of predictions. Among them the least memory stands first.")
                   .arg(share_text(*answer.tie_threshold))
             : SearchTexts::tr(
                   "How far rows must be apart to differ is not known for this cluster.");
}

QString cancelled_text(const PlanAnswer& answer) {
  return SearchTexts::tr(
             "The search was cancelled: this is the best found so far. %1 candidates are not "
             "decided, and a better one may be among them.")
      .arg(count_text(answer.undecided));
}

QString rates_text(const PlanAnswer& answer) { return prediction_source_text(answer.rates); }

QString search_description(const PlanSearch& search) {
  QStringList said{question_text(search)};
  if (search.searching())
    said << SearchTexts::tr("Searching: %1.").arg(share_text(search.progress()))
         << search.progress_text();
  if (!search.answer()) {
    if (!search.searching())
      said << (search.error().isEmpty() ? SearchTexts::tr("Not searched yet: press Search.")
                                        : search.error());
    return said.join(QLatin1Char('\n'));
  }
  const PlanAnswer& answer = *search.answer();
  said << SearchTexts::tr("%1 candidates.").arg(count_text(answer.candidates));
  if (answer.cancelled) said << cancelled_text(answer);
  for (int at = 0; at < PlanAnswer::kClasses; ++at) {
    const auto of = PlanAnswer::Class(at);
    said << QStringLiteral("%1 %2.").arg(count_text(answer.counts[at]), class_text(of));
    for (const PlanLoss& loss : answer.losses[at])
      said << QStringLiteral("  %1: %2").arg(count_text(loss.count), sentence(loss.sentence));
  }
  if (answer.explained) {
    said << SearchTexts::tr("Today: %1.").arg(axes_text(answer.explained->setup));
    said << today_sentences(*answer.explained);
  }
  if (answer.plans.empty() && answer.least)
    said << SearchTexts::tr("None fits. The least is %1 or more, with %2.")
                .arg(bytes_text(answer.least->first), axes_text(answer.least->second));
  for (const FoundPlan& plan : answer.plans)
    said << SearchTexts::tr("%1: step %2, %3, MFU %4, bubble %5, exposed %6%7.")
                .arg(axes_text(plan.setup), seconds_text(plan.seconds), bytes_text(plan.bytes),
                     share_text(plan.mfu), share_text(plan.bubble),
                     seconds_text(plan.exposed_seconds),
                     plan.tied ? SearchTexts::tr(", tie") : QString());
  if (const FoundPlan* plan = search.selected()) {
    said << SearchTexts::tr("Selected: %1.").arg(axes_text(plan->setup));
    for (const PlanWhy& why : plan->why) said << sentence(why.sentence);
  }
  return said.join(QLatin1Char('\n'));
}

std::vector<Quantity> search_quantities(const PlanSearch& search) {
  const FoundPlan* plan = search.selected();
  const QString source = plan              ? rates_text(*search.answer())
                         : search.answer() ? SearchTexts::tr("none fits")
                                           : SearchTexts::tr("not searched yet");
  const auto text = [&](const QString& of) { return plan ? of : QString(); };
  return {
      quantity("plan.seconds", SearchTexts::tr("Step time"),
               text(plan ? seconds_text(plan->seconds) : QString()), source,
               plan ? plan->seconds : 0),
      quantity("plan.mfu", SearchTexts::tr("MFU"), text(plan ? share_text(plan->mfu) : QString()),
               source, plan ? plan->mfu : 0),
      quantity(
          "plan.needed_bytes",
          plan ? SearchTexts::tr("Memory, stage %1").arg(plan->stage) : SearchTexts::tr("Memory"),
          text(plan ? bytes_text(plan->bytes) : QString()), source, plan ? double(plan->bytes) : 0,
          plan ? exact_bytes_text(plan->bytes) : QString()),
      quantity("plan.bubble", SearchTexts::tr("Bubble of whole step"),
               text(plan ? share_text(plan->bubble) : QString()), source, plan ? plan->bubble : 0),
      quantity("plan.exposed_seconds", SearchTexts::tr("Exposed communication"),
               text(plan ? seconds_text(plan->exposed_seconds) : QString()), source,
               plan ? plan->exposed_seconds : 0)};
}

}  // namespace parallelarium

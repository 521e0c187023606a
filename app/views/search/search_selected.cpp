// SPDX-License-Identifier: GPL-3.0-or-later
// What is said of a plan or a dot that is selected or pointed at.
#include <QCoreApplication>
#include <cmath>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/search/search_words.h"
#include "engine/predict/training/whole_training.h"

namespace parallelarium {
namespace {

struct SelectedTexts {
  Q_DECLARE_TR_FUNCTIONS(SearchView)
};

// Three digits say all that a prediction knows; the others are zeros, where there are many.
QString size_text(double value) {
  constexpr double kMany = 1e6;
  if (value < kMany) return number_text(value);
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return count_text(std::llround(std::round(value / unit) * unit));
}

}  // namespace

QString quantity_origin(const QString& quantity) {
  if (quantity == QLatin1String("plan.mfu"))
    return SelectedTexts::tr("MFU = FLOPs of the model / (step time × GPUs × peak FLOP/s)");
  if (quantity == QLatin1String("plan.needed_bytes"))
    return SelectedTexts::tr(
        "The memory is the most bytes that a rank of the fullest stage holds at once.");
  if (quantity == QLatin1String("plan.bubble"))
    return SelectedTexts::tr(
        "Bubble here = share of the step in which ranks neither compute nor communicate, mean of "
        "ranks. With computing and exposed communication it is the whole step; the bubble of a "
        "setup in Explore also has what they communicate meanwhile.");
  if (quantity == QLatin1String("plan.exposed_seconds"))
    return SelectedTexts::tr(
        "Exposed is the time in which a rank communicates and computes nothing.");
  return SelectedTexts::tr(
      "The step time is from the first op of the step to the end of its last, on all ranks.");
}

QString training_text(const PlanWish& wish, const FoundPlan& plan) {
  const Result<WholeTraining> training = whole_training_from(wish.tokens.toStdString(), wish.price);
  if (!training) return sentence(training.error());
  const TrainingTime time = time_of(*training, plan.tokens_per_second, plan.gpus);
  const QString took = SelectedTexts::tr("%1 days, %2 GPU hours")
                           .arg(number_text(time.days), size_text(time.gpu_hours));
  return time.cost ? SelectedTexts::tr("%1; cost: %2 at %3 an hour")
                         .arg(took, size_text(*time.cost), number_text(wish.price))
                   : took;
}

SelectionText describe_plan(const PlanSearch& search) {
  const FoundPlan* plan = search.selected();
  SelectionText text;
  if (!plan) {
    text.headline = SelectedTexts::tr("No plan yet: what is found stands here.");
    return text;
  }
  text.headline = search.is_today(*plan)
                      ? SelectedTexts::tr("Today: %1").arg(axes_text(plan->setup))
                      : axes_text(plan->setup);
  if (search.is_outdated())
    text.headline = SelectedTexts::tr("Of other settings: %1").arg(text.headline);
  const PlanAnswer& answer = *search.answer();
  const std::string framework = framework_of(search.wish());
  text.facts = {{SelectedTexts::tr("step"), step_text(answer, *plan)},
                {SelectedTexts::tr("limited by"), limits_text(*plan, answer.capacity_bytes)},
                {SelectedTexts::tr("tokens per second"), number_text(plan->tokens_per_second)},
                {SelectedTexts::tr("%1 tokens take").arg(search.wish().tokens),
                 training_text(search.wish(), *plan)},
                {SelectedTexts::tr("MFU, attention in full"), share_text(plan->mfu)},
                {SelectedTexts::tr("MFU, attention causal"), share_text(plan->mfu_causal)},
                {SelectedTexts::tr("MFU, 6N: no attention"), share_text(plan->mfu_6n)},
                {SelectedTexts::tr("bubble without communication"), bubble_text(*plan)}};
  if (answer.near_rows)
    text.facts.insert(text.facts.begin() + 1,
                      {SelectedTexts::tr("published of this model"), sentence(*answer.near_rows)});
  if (const QString needs = needs_text(framework, plan->setup); !needs.isEmpty())
    text.facts.insert(text.facts.begin() + 1, {SelectedTexts::tr("launch line"), needs});
  for (const auto& [axis, seconds] : plan->exposed)
    if (seconds > 0)
      text.facts.push_back({SelectedTexts::tr("exposed communication of %1, mean of ranks")
                                .arg(QString::fromStdString(axis).toUpper()),
                            seconds_text(seconds)});
  for (const Message& rate : plan->rates)
    text.facts.push_back(
        {SelectedTexts::tr("communication stands on"), with_firm_units(sentence(rate))});
  std::int64_t beside = 0;
  for (const MemoryRow& row : plan->memory) {
    beside = std::max(beside, row.framework_bytes);
    text.facts.push_back(
        {SelectedTexts::tr("memory, stage %1").arg(row.stage), bytes_text(row.peak_bytes)});
  }
  text.facts.push_back({SelectedTexts::tr("beside it: a framework's own"), bytes_text(beside)});
  text.facts.push_back({SelectedTexts::tr("limit of a GPU"), bytes_text(answer.capacity_bytes)});
  return text;
}

QString plan_tip(const PlanSearch& search, const FoundPlan& plan) {
  const QString figures =
      SelectedTexts::tr("step %1, %2, MFU %3 (attention in full)")
          .arg(seconds_text(plan.seconds), bytes_text(plan.bytes), share_text(plan.mfu)) +
      QLatin1Char('\n') + limits_text(plan, search.answer()->capacity_bytes);
  const QString axes = axes_text(plan.setup);
  return (search.is_today(plan) ? SelectedTexts::tr("Today: %1").arg(axes) : axes) +
         QLatin1Char('\n') + figures;
}

SelectionText describe_point(const PlanSearch& search, double seconds, std::int64_t bytes) {
  SelectionText text;
  text.headline = SelectedTexts::tr("Simulated, and not kept by the search");
  text.facts = {{SelectedTexts::tr("step"), seconds_text(seconds)},
                {SelectedTexts::tr("memory of the fullest GPU"), bytes_text(bytes)}};
  if (const FoundPlan* best = search.best(); best && seconds > best->seconds)
    text.facts.push_back(
        {SelectedTexts::tr("longer than the best by"),
         SelectedTexts::tr("%1, %2").arg(seconds_text(seconds - best->seconds),
                                         share_text(seconds / best->seconds - 1))});
  if (search.answer() && bytes > search.answer()->capacity_bytes)
    text.facts.push_back(
        {SelectedTexts::tr("does not fit"),
         SelectedTexts::tr("the limit is %1").arg(bytes_text(search.answer()->capacity_bytes))});
  text.facts.push_back({SelectedTexts::tr("its settings"),
                        SelectedTexts::tr("are not told: the search keeps the best plans and the "
                                          "Pareto front. To come to another one fix an axis, or "
                                          "ask “Why not …”.")});
  return text;
}

QString point_tip(const PlanSearch& search, double seconds, std::int64_t bytes) {
  const SelectionText text = describe_point(search, seconds, bytes);
  QStringList lines{text.headline};
  for (const FactLine& fact : text.facts) lines << fact.word + QLatin1Char(' ') + fact.value;
  return lines.join(QLatin1Char('\n'));
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/search_words.h"

#include <QCoreApplication>
#include <QRegularExpression>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/search/column/search_axes.h"
#include "app/views/shared/words/words.h"
#include "engine/plan/machine/machine.h"
#include "engine/planner/reasons/advice/recommended.h"
#include "engine/wire/frameworks/framework.h"

namespace parallelarium {
namespace {

struct SearchTexts {
  Q_DECLARE_TR_FUNCTIONS(SearchView)
};

}  // namespace

QString gib_text(std::int64_t bytes) {
  return QLocale().toString(double(bytes) / double(kGib), 'f', 1);
}

QString firm_text(const QString& text) {
  static const QRegularExpression kTogether(
      QStringLiteral("(?<=\\b(?:TP|PP|DP|CP|EP|SP)|ZeRO) (?=\\S)| (?=→)|(?<=→) "));
  QString firm = with_firm_units(text);
  return firm.replace(kTogether, QString(QChar(0x00a0)));
}

QString change_value(const PlanAnswer& answer, const PlanWhy& why) {
  if (!why.seconds) return QStringLiteral("–");
  if (answer.by_memory())
    return why.more_bytes < 0 ? QStringLiteral("−") + bytes_text(-why.more_bytes)
                              : QStringLiteral("+") + bytes_text(why.more_bytes);
  const QString value = *why.seconds < 0 ? QStringLiteral("−") + seconds_text(-*why.seconds)
                                         : QStringLiteral("+") + seconds_text(*why.seconds);
  return why.tied ? SearchTexts::tr("%1, tie").arg(value) : value;
}

QString rule_text(const ToldRule& rule) {
  return QStringLiteral("%1 (%2)").arg(sentence(rule.sentence),
                                       QString::fromStdString(rule.source));
}

QString example_tip(const Setup& example) {
  return SearchTexts::tr("Opens this one in Explore: %1").arg(axes_text(example));
}

QString rule_tip(const ToldRule& rule) {
  const QString source = QString::fromStdString(rule.source);
  return rule.plan ? source + QLatin1Char('\n') +
                         SearchTexts::tr("Selects %1").arg(axes_text(rule.plan->setup))
                   : source;
}

QString batch_text(const PlanSearch& search) {
  return SearchTexts::tr("%1 tokens a step")
      .arg(count_text(search.wish().global_batch * search.sequence()));
}

QString question_text(const PlanSearch& search) {
  const PlanWish& wish = search.subject();
  const Result<Setup> base = base_of(wish);
  const Result<Machine> machine = base ? machine_of(base->machine) : Result<Machine>(base.error());
  const QString model = base ? model_words(base->model) : wish.model;
  const QString cluster = machine ? sentence(title_of(*machine)) : wish.machine;
  const QString gpus = wish.gpus == QStringLiteral("1") ? SearchTexts::tr("one GPU")
                                                        : SearchTexts::tr("%1 GPUs").arg(wish.gpus);
  for (const FrameworkInfo& info : framework_infos())
    if (wish.framework == QString::fromStdString(info.name))
      return SearchTexts::tr("How should %1 be trained with %4 on %2 of %3?")
          .arg(model, gpus, cluster, QString::fromStdString(info.title));
  return SearchTexts::tr("How should %1 be trained on %2 of %3?").arg(model, gpus, cluster);
}

QString outdated_plans_text() {
  return SearchTexts::tr("The plans are of other settings: search again.");
}

QString remark_text(const PlanSearch& search) {
  const bool busy = search.searching() && !search.asking();
  if (search.searches_other())
    return SearchTexts::tr(
        "The search under way is of other settings: cancel it, and search again.");
  if (search.is_outdated())
    return busy ? SearchTexts::tr("Until the search ends, the answer below is of other settings.")
                : SearchTexts::tr("The answer below is of other settings: search again.");
  if (busy) return {};
  if (search.is_limited()) return limited_text(search);
  if (search.is_stale())
    return SearchTexts::tr(
        "More memory may be used than was searched: search again for the plans that it allows.");
  return search.answer() && search.answer()->cancelled ? cancelled_text(*search.answer())
                                                       : QString();
}

QString today_text(const Setup& today) {
  return SearchTexts::tr("%1; GPUs: %2; on %3")
      .arg(axes_text(today), count_text(today.mesh.ranks()), model_words(today.model));
}

QString needs_text(const std::string& framework, const Setup& setup) {
  const std::optional<Message> needs = framework_needs(framework, setup);
  return needs ? sentence(*needs) : QString();
}

QStringList today_sentences(const PlanAnswer& answer, const ExplainedPlan& today) {
  QStringList said{sentence(today.sentence)};
  if (today.own) said << sentence(*today.own);
  if (today.change)
    said << sentence(today.change->sentence);
  else if (today.plan_class == "does_not_fit")
    said << SearchTexts::tr("No change of one axis would make it fit.");
  else if (today.seconds)
    said << (answer.by_memory()
                 ? SearchTexts::tr("No single change makes its fullest rank need less.")
                 : SearchTexts::tr("No single change makes it faster."));
  return said;
}

QString merits_text(const PlanAnswer& answer, const std::vector<std::string>& merits) {
  const QString best = answer.by_memory()           ? SearchTexts::tr("least memory")
                       : answer.objective == "gpus" ? SearchTexts::tr("fewest GPUs")
                       : answer.objective == "tokens-per-gpu"
                           ? SearchTexts::tr("most tokens per GPU")
                           : SearchTexts::tr("fastest");
  QStringList words;
  for (const std::string& merit : merits)
    words << (merit == "objective"      ? best
              : merit == "fastest"      ? SearchTexts::tr("fastest")
              : merit == "usual"        ? SearchTexts::tr("fastest usual way")
              : merit == "least-memory" ? SearchTexts::tr("least memory of the ties")
              : merit == "less-memory"  ? SearchTexts::tr("less memory")
              : merit == "simpler"      ? SearchTexts::tr("simpler")
              : merit == "nearest"      ? SearchTexts::tr("nearest to today")
                                        : SearchTexts::tr("simplest"));
  return capitalised(words.join(QStringLiteral(", ")));
}

QString step_text(const PlanAnswer& answer, const FoundPlan& plan) {
  const QString step = seconds_text(plan.seconds);
  return answer.step_error ? QStringLiteral("%1 ± %2").arg(step, share_text(*answer.step_error))
                           : step;
}

QString limits_text(const FoundPlan& plan, std::int64_t capacity_bytes) {
  return sentence(limits_of(plan.parts, plan.setup.mesh.pp > 1,
                            room_of(plan.memory, capacity_bytes, plan.device_bytes)));
}

QString bubble_text(const FoundPlan& plan) {
  return plan.setup.mesh.pp > 1 ? share_text(plan.bubble) : QStringLiteral("–");
}

QString memory_trust_text(const PlanAnswer& answer) {
  const QString said = sentence(answer.memory_trust);
  return answer.memory_error
             ? said
             : said + QLatin1Char(' ') +
                   SearchTexts::tr("“Published runs …” has the errors on other machines.");
}

QString model_title(const PlanAnswer& answer) {
  return answer.recommended.empty() ? QString()
                                    : model_words(answer.recommended.front().plan.setup.model);
}

QStringList trust_texts(const PlanAnswer& answer) {
  const QString near =
      answer.near_rows ? sentence(*answer.near_rows) + QLatin1Char(' ') : QString();
  QStringList said{near + sentence(answer.trust) + QLatin1Char(' ') + memory_trust_text(answer),
                   tie_text(answer)};
  for (const Message& tried : answer.tried) said << sentence(tried);
  said.removeAll(QString());
  return said;
}

QString objective_text(const std::string& objective) {
  if (objective == "gpus") return SearchTexts::tr("GPUs");
  if (objective == "memory") return SearchTexts::tr("memory");
  if (objective == "tokens-per-gpu") return SearchTexts::tr("tokens per GPU");
  return SearchTexts::tr("time");
}

QString loss_text(const PlanLoss& loss) {
  const QString said = sentence(loss.sentence);
  return loss.fitting.text.empty() ? said : said + QLatin1Char(' ') + sentence(loss.fitting);
}

QString class_text(PlanAnswer::Class of) {
  switch (of) {
    case PlanAnswer::kRefused:
      return SearchTexts::tr("are refused");
    case PlanAnswer::kDoesNotFit:
      return SearchTexts::tr("do not fit");
    case PlanAnswer::kBounded:
      return SearchTexts::tr("ruled out");
    default:
      return SearchTexts::tr("simulated");
  }
}

QString tie_text(const PlanAnswer& answer) {
  if (!answer.by_time()) return {};
  const bool tied = std::any_of(answer.plans.begin(), answer.plans.end(),
                                [](const FoundPlan& plan) { return plan.tied; });
  return tied ? sentence(answer.ties) + QLatin1Char(' ') +
                    SearchTexts::tr("Among ties the least memory stands first.")
              : sentence(answer.ties);
}

QString tied_text(const PlanAnswer& answer) {
  const auto shown = std::count_if(answer.plans.begin(), answer.plans.end(),
                                   [](const FoundPlan& plan) { return plan.tied; });
  const std::int64_t more = answer.tied_plans() - shown;
  if (shown < 2 || !answer.tie_threshold) return {};
  QString said = SearchTexts::tr(
                     "%1 plans are less than %2 behind the fastest and share rank 1, "
                     "the smallest first.")
                     .arg(count_text(shown), share_text(*answer.tie_threshold));
  if (more == 1)
    said += SearchTexts::tr(" One more that was simulated is as close; it is a dot of the plot.");
  if (more > 1)
    said += SearchTexts::tr(" %1 more that were simulated are as close; they are dots of the plot.")
                .arg(count_text(more));
  return said;
}

QString value_head(const PlanSearch& search) {
  std::optional<PlanSearch::AxisValue> of = search.asking();
  if (const ValueAnswer* asked = search.value_answer(); asked && !of)
    of = {QString::fromStdString(asked->axis), QString::fromStdString(asked->value)};
  if (!of) return {};
  for (const SearchAxis& axis : search_axes())
    if (axis.option == of->axis)
      return SearchTexts::tr("Why not %1: %2").arg(axis.label, axis.word_of(of->value));
  return {};
}

QString value_said(const PlanSearch& search) {
  if (search.asking()) return SearchTexts::tr("Searching for the best plan with it …");
  const ValueAnswer* asked = search.value_answer();
  if (!asked) return {};
  QString said = sentence(asked->sentence);
  const FoundPlan *selected = search.selected(), *best = search.best();
  const bool beside = asked->plan && selected && best && selected->setup != best->setup &&
                      selected->setup != asked->plan->setup;
  if (beside)
    said += QLatin1Char(' ') +
            SearchTexts::tr("Beside the selected plan: %1")
                .arg(sentence(why_behind(*search.answer(), *selected, *asked->plan).sentence));
  return said;
}

std::vector<TodayFigure> today_figures(const PlanSearch& search) {
  const FoundPlan* best = search.best();
  const ExplainedPlan* told = search.today();
  if (!told || !told->plan) return {};
  const FoundPlan& today = *told->plan;
  const bool fits = told->seconds.has_value() && today.bytes <= search.answer()->capacity_bytes;
  std::vector<TodayFigure> figures;
  const auto add = [&](const QString& title, bool always, const auto& cell) {
    const QString dash = QStringLiteral("–");
    figures.push_back({title, fits || always ? cell(today) : dash, best ? cell(*best) : dash});
  };
  using Of = const FoundPlan&;
  add(SearchTexts::tr("step"), false, [](Of of) { return seconds_text(of.seconds); });
  add(SearchTexts::tr("tokens/s"), false, [](Of of) { return number_text(of.tokens_per_second); });
  add(SearchTexts::tr("MFU, full"), false, [](Of of) { return share_text(of.mfu); });
  add(SearchTexts::tr("fullest stage"), true,
      [](Of of) { return QStringLiteral("%1: %2").arg(of.stage).arg(bytes_text(of.bytes)); });
  add(SearchTexts::tr("bubble"), false, [](Of of) { return bubble_text(of); });
  add(SearchTexts::tr("exposed comm."), false,
      [](Of of) { return seconds_text(of.exposed_seconds); });
  return figures;
}

QString limited_text(const PlanSearch& search) {
  const PlanAnswer& answer = *search.answer();
  QString said = SearchTexts::tr(
                     "These plans of the search with %1 fit into %2. No plan that fits is faster "
                     "than the fastest of them; slower ones may be missing. Search again to find "
                     "them all.")
                     .arg(bytes_text(answer.searched_bytes), bytes_text(answer.capacity_bytes));
  if (const FoundPlan* displaced = search.displaced(); displaced && search.selected())
    said += QLatin1Char(' ') +
            SearchTexts::tr(
                "The plan that you selected needs %1 and does not fit: the fastest is "
                "selected in its place.")
                .arg(bytes_text(displaced->bytes));
  return said;
}

QString funnel_title(const PlanAnswer& answer) {
  return answer.capacity_bytes < answer.searched_bytes
             ? SearchTexts::tr("How few remain with %1").arg(bytes_text(answer.searched_bytes))
             : SearchTexts::tr("How few remain");
}

QString cancelled_text(const PlanAnswer& answer) {
  return SearchTexts::tr(
             "The search was cancelled: this is the best found so far. %1 candidates are not "
             "decided, and a better one may be among them.")
      .arg(count_text(answer.undecided));
}

}  // namespace parallelarium

// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/words/plan_words.h"

#include <QCoreApplication>
#include <QPushButton>

#include "app/look/figures.h"
#include "app/state/session.h"
#include "app/views/shared/words/setup_words.h"
#include "app/views/shared/words/words.h"

namespace parallelarium {
namespace {

struct PlanTexts {
  Q_DECLARE_TR_FUNCTIONS(SearchView)
};

Quantity plan_quantity(const char* key, const QString& title, const QString& text,
                       const QString& source, double value, const QString& exact = {}) {
  Quantity made;
  made.key = QLatin1String(key);
  made.title = title;
  made.predicted = {text, source, exact};
  made.predicted_value = value;
  return made;
}

}  // namespace

QString rates_text(const PlanAnswer& answer) { return prediction_source_text(answer.rates); }

const PlanSearch& search_in(const Session& session) {
  return PlanSearch::of(const_cast<Session&>(session));
}

std::optional<Setup> selected_plan(const Session& session) {
  const FoundPlan* plan = search_in(session).selected();
  return plan ? std::optional(plan->setup) : std::nullopt;
}

std::optional<Setup> shown_plan(const Session& session) {
  return search_in(session).shows_plan() ? selected_plan(session) : std::nullopt;
}

QString outdated_plan_text() {
  return PlanTexts::tr("It is a plan of other settings: search again.");
}

namespace {

QString whose_plan(const PlanSearch& search, const Setup& plan) {
  const FoundPlan *selected = search.selected(), *best = search.best();
  const QString axes = axes_text(plan);
  if (!selected || !best || !(selected->setup == plan))
    return PlanTexts::tr("Of the plan that is selected in Search: %1.").arg(axes);
  if (search.is_today(*selected)) return PlanTexts::tr("Of what is trained today: %1.").arg(axes);
  const QString step = seconds_text(selected->seconds);
  const double longer = selected->seconds - best->seconds;
  if (longer <= 0)
    return PlanTexts::tr(
               "Of the plan that is selected in Search, the fastest with a step of %1: %2.")
        .arg(step, axes);
  return PlanTexts::tr(
             "Of the plan that is selected in Search, whose step takes %1, %2 longer than the "
             "fastest plan's: %3.")
      .arg(step, seconds_text(longer), axes);
}

}  // namespace

QString whose_text(const Session& session, const std::optional<Setup>& plan) {
  if (!plan)
    return PlanTexts::tr("Of what is set in Explore: %1.").arg(axes_text(session.resolved()));
  const PlanSearch& search = search_in(session);
  const QString whose = whose_plan(search, *plan);
  return search.is_outdated() ? whose + QLatin1Char(' ') + outdated_plan_text() : whose;
}

QString whose_text(const Session& session) { return whose_text(session, shown_plan(session)); }

QPushButton* make_whose_button(PlanSearch& search, QWidget* parent) {
  auto* button = new QPushButton(parent);
  button->setAutoDefault(true);
  QObject::connect(button, &QPushButton::clicked, &search,
                   [&search] { search.show_plan(!search.shows_plan()); });
  return button;
}

void refresh_whose(QPushButton& button, const PlanSearch& search) {
  button.setVisible(search.selected() != nullptr);
  button.setText(search.shows_plan() ? PlanTexts::tr("Show what is set")
                                     : PlanTexts::tr("Show the selected plan"));
}

std::vector<Quantity> plan_quantities(const PlanSearch& search) {
  const FoundPlan* plan = search.selected();
  const QString source = plan && search.is_outdated()     ? PlanTexts::tr("of other settings")
                         : plan                           ? rates_text(*search.answer())
                         : !search.answer()               ? PlanTexts::tr("not searched yet")
                         : search.answer()->plans.empty() ? PlanTexts::tr("none fits")
                                                          : PlanTexts::tr("none selected");
  const auto text = [&](const QString& of) { return plan ? of : QString(); };
  Quantity mfu =
      plan_quantity("plan.mfu", PlanTexts::tr("MFU, attention in full"),
                    text(plan ? share_text(plan->mfu) : QString()), source, plan ? plan->mfu : 0);
  if (plan)
    mfu.note = PlanTexts::tr("causal %1, 6N %2")
                   .arg(share_text(plan->mfu_causal), share_text(plan->mfu_6n));
  std::vector<Quantity> all = {
      plan_quantity("plan.seconds", PlanTexts::tr("Step time"),
                    text(plan ? seconds_text(plan->seconds) : QString()), source,
                    plan ? plan->seconds : 0),
      mfu,
      plan_quantity(
          "plan.needed_bytes",
          plan ? PlanTexts::tr("Memory, stage %1").arg(plan->stage) : PlanTexts::tr("Memory"),
          text(plan ? bytes_text(plan->bytes) : QString()), source, plan ? double(plan->bytes) : 0,
          plan ? exact_bytes_text(plan->bytes) : QString()),
      plan_quantity(
          "plan.bubble", PlanTexts::tr("Bubble without communication"),
          text(plan && plan->setup.mesh.pp > 1 ? share_text(plan->bubble) : QStringLiteral("–")),
          source, plan && plan->setup.mesh.pp > 1 ? plan->bubble : 0),
      plan_quantity("plan.exposed_seconds", PlanTexts::tr("Exposed, mean of ranks"),
                    text(plan ? seconds_text(plan->exposed_seconds) : QString()), source,
                    plan ? plan->exposed_seconds : 0)};
  for (Quantity& each : all) each.predicted.outdated = search.is_outdated();
  return all;
}

}  // namespace parallelarium

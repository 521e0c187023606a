// SPDX-License-Identifier: GPL-3.0-or-later
// What can become a column: what is set, as a pin; the plan of the search; earlier runs; published
// cases.
#include <QAction>
#include <QMenu>
#include <QPushButton>

#include "app/look/sentence.h"
#include "app/state/plan/plan_search.h"
#include "app/views/compare/compare_state.h"
#include "app/views/shared/earlier_runs.h"
#include "app/views/shared/words/case_words.h"
#include "app/views/shared/words/words.h"
#include "engine/predict/cases/cases.h"

namespace parallelarium {
namespace {

// The name of a case, and why it cannot be a column, which screen readers read too.
QString case_entry(const CaseRow& row) {
  constexpr qsizetype kMostLetters = 90;
  const QString name = QString::fromStdString(row.name);
  if (row.impossible.empty()) return name;
  QString why = case_text(row.impossible);
  const qsizetype first = why.indexOf(QStringLiteral(". "));
  if (why.size() > kMostLetters && first > 0) why.truncate(first + 1);
  if (why.size() > kMostLetters) why = why.left(kMostLetters - 1).trimmed() + QChar(0x2026);
  return QStringLiteral("%1 · %2").arg(name, why);
}

}  // namespace

void CompareView::build_actions() {
  State& s = *state_;
  s.pin = new QAction(tr("&Pin what is set"), this);
  connect(s.pin, &QAction::triggered, this, [this] { state_->session.pin(); });
  s.menu = new QMenu(this);
  s.add->setMenu(s.menu);
  connect(s.menu, &QMenu::aboutToShow, this, &CompareView::fill_menu);
}

void CompareView::fill_menu() {
  State& s = *state_;
  s.menu->clear();
  s.menu->addAction(s.pin);
  // Where the view shows the selected plan, it has a column already.
  const PlanSearch& search = PlanSearch::of(s.session);
  const FoundPlan* found = search.selected();
  QAction* plan =
      search.shows_plan() ? nullptr : s.menu->addAction(tr("The p&lan selected in Search"));
  if (plan) plan->setEnabled(found != nullptr);
  if (plan && found)
    connect(plan, &QAction::triggered, this, [this, setup = found->setup] {
      const Session& session = state_->session;
      const Result<Machine> machine = find_machine(setup.machine.name());
      if (machine) add(tr("PLAN · %1").arg(setup_footer(setup)), session.resolved(setup), *machine);
    });
  add_earlier_runs(*s.menu->addMenu(tr("An earlier &run")), s.session.runs(),
                   [this](const RunRecord& run) { add(run_title(run.observation, false), run); });
  add_cases(s.menu->addMenu(tr("A published &case")));
}

void CompareView::add_cases(QMenu* menu) {
  const Result<std::vector<Case>>& cases = all_cases();
  menu->setEnabled(cases.ok());
  if (!cases) return;
  for (const Case& one : *cases) {
    QMenu* rows = menu->addMenu(QString::fromStdString(one.source));
    rows->setToolTipsVisible(true);
    for (const CaseRow& row : one.rows) {
      QAction* action = rows->addAction(case_entry(row));
      action->setEnabled(row.impossible.empty());
      if (!row.impossible.empty()) action->setToolTip(case_text(row.impossible));
      const QString title =
          tr("CASE · %1 · %2")
              .arg(QString::fromStdString(one.source), QString::fromStdString(row.name));
      connect(action, &QAction::triggered, this, [this, title, row] { add(title, row); });
    }
  }
}

}  // namespace parallelarium

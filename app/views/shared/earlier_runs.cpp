// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/shared/earlier_runs.h"

#include <QAction>
#include <QMenu>

#include "app/views/shared/words/words.h"

namespace parallelarium {

void add_earlier_runs(QMenu& menu, const RunStore& runs,
                      const std::function<void(const RunRecord&)>& choose) {
  const std::span<const RunRecord> shown = runs.shown();
  for (auto run = shown.rbegin(); run != shown.rend(); ++run) {
    if (&*run == runs.current() && !runs.current_is_stale()) continue;
    QAction* action = menu.addAction(setup_footer(run->observation.setup));
    action->setToolTip(run_title(run->observation, false));
    QObject::connect(action, &QAction::triggered, &menu,
                     [choose, record = *run] { choose(record); });
  }
  menu.setToolTipsVisible(true);
  menu.setEnabled(!menu.isEmpty());
}

}  // namespace parallelarium

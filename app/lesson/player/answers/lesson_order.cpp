// SPDX-License-Identifier: GPL-3.0-or-later
// The part of the player that deals with orders to build.
#include <algorithm>

#include "app/lesson/player/lesson_player.h"
#include "app/look/sentence.h"
#include "app/state/step/order_edit.h"
#include "engine/schedules/timing.h"

namespace parallelarium {

// The order that the student goes on with, in the Setup.
void LessonPlayer::set_order(const std::vector<std::string>& lines) {
  Result<Schedule> order = Schedule::own(kOwnOrderName, lines);
  if (!order) {
    Q_EMIT failed(sentence(order.error()));
    return;
  }
  Settings now = settings();
  now.setup.schedule = std::move(*order);
  set_settings(now);
}

// A build step opens the editor with its durations, limits and par; any other closes it.
void LessonPlayer::set_task() {
  OrderEdit& edit = session_.order_edit();
  if (!is_open() || !step().builds_order()) {
    edit.set_task(std::nullopt);
    return edit.set_open(false);  // what the student built freely would stand in the lesson's place
  }
  const OrderToBuild& order = step().order;
  const Setup& setup = session_.setup();
  const int stages = setup.mesh.pp * std::max(1, setup.chunks);
  OrderTask task{order.by_stage(stages), {}, std::nullopt, order.split,  order.ghosts,
                 state().solved,         {}, {},           state().tries};
  if (const Result<Schedule> start = Schedule::own(kOwnOrderName, order.start))
    task.start = *start->order();
  const Result<Schedule> goal = Schedule::own(kOwnOrderName, order.solution);
  if (goal && check_order(*goal->order()).empty())
    task.goal = time_by_stage(*goal->order(), task.durations).spans;
  HeldLimits limits(static_cast<std::size_t>(setup.mesh.pp), setup.microbatches);
  bool limited = false;
  const Symbols symbols = symbols_at(settings());
  for (const Check& check : step().checks) {
    const Result<double> bound = evaluate(check.value, symbols);
    if (check.of != "order" || check.op != "<=" || !bound) continue;
    if (check.key == "makespan") task.par = *bound;
    if (!check.key.starts_with("peak_in_flight.")) continue;
    limited = true;
    const QString rank = QString::fromStdString(check.key).section(QLatin1Char('.'), 1);
    for (std::size_t each = 0; each < limits.size(); ++each)
      if (rank == QLatin1String("*") || rank.toInt() == static_cast<int>(each))
        limits[each] = std::min(limits[each], *bound);
  }
  if (limited) task.limits = std::move(limits);
  edit.set_task(std::move(task));
}

}  // namespace parallelarium

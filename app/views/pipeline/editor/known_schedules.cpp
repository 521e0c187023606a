// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/pipeline/editor/known_schedules.h"

#include <QObject>
#include <algorithm>

#include "app/look/figures.h"
#include "app/look/sentence.h"
#include "app/views/pipeline/editor/editor_paint.h"
#include "app/views/pipeline/editor/editor_words.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/schedules/order_search.h"
#include "engine/schedules/schedule.h"
#include "engine/schedules/timing.h"

namespace parallelarium {

std::vector<KnownSchedule> known_schedules(const OrderEdit& edit) {
  const Order& draft = edit.draft();
  const auto ranks = static_cast<int>(draft.ranks.size());
  std::vector<KnownSchedule> known;
  std::vector<Order> listed;
  for (const ScheduleInfo& info : schedules()) {
    const ScheduleRule* rule = find_schedule_rule(Schedule(info.name));
    if (!rule || !check_schedule_sizes(*rule, ranks, draft.microbatches, draft.chunks).ok())
      continue;
    const Result<Order> order = make_order(info.name, ranks, draft.microbatches, draft.chunks);
    if (!order || order->stage_of != draft.stage_of || splits_backward(*order) != edit.split())
      continue;
    const bool twice = std::any_of(listed.begin(), listed.end(),
                                   [&](const Order& other) { return other.ranks == order->ranks; });
    if (twice) continue;
    const TimedOrder timed = time_by_stage(*order, edit.durations());
    KnownSchedule row{sentence(title_of(*rule)), timed.makespan, timed.bubble_of_total};
    for (std::size_t rank = 0; rank < timed.peak_in_flight.size(); ++rank) {
      row.held = std::max(row.held, timed.peak_in_flight[rank]);
      if (row.keeps_limits() && rank < edit.limits().size() &&
          timed.peak_in_flight[rank] > edit.limits()[rank] + 1e-9) {
        row.over = static_cast<int>(rank);
        row.held_there = timed.peak_in_flight[rank];
      }
    }
    known.push_back(std::move(row));
    listed.push_back(*order);
  }
  return known;
}

namespace {

// "4"; "2 on stage 1, limit 1" where that is the first stage that holds too many.
QString held_words(const KnownSchedule& known, const HeldLimits& limits) {
  if (known.keeps_limits()) return number_text(known.held);
  if (!limits_differ(limits))
    return QObject::tr("%1, above the limit").arg(number_text(known.held));
  return QObject::tr("%1 on stage %2, limit %3")
      .arg(number_text(known.held_there))
      .arg(known.over)
      .arg(number_text(limits[static_cast<std::size_t>(known.over)]));
}

}  // namespace

bool shows_known_schedules(const OrderEdit& edit) {
  if (!edit.task() || !edit.task()->solved || !edit.problem().isEmpty()) return false;
  const bool met = edit.times().whole() && edit.faults().empty() && edit.over_limit() < 0;
  return met && (!edit.par() || edit.times().makespan <= *edit.par() * (1 + 1e-9));
}

QString known_schedules_table(const OrderEdit& edit) {
  const std::vector<KnownSchedule> known = known_schedules(edit);
  if (known.empty()) return {};
  const auto row = [](const char* tag, const QStringList& cells) {
    QString line;
    for (const QString& cell : cells)
      line += QStringLiteral("<%1 align=\"%2\">%3&nbsp;&nbsp;&nbsp;&nbsp;</%1>")
                  .arg(QLatin1String(tag), QLatin1String(line.isEmpty() ? "left" : "right"),
                       cell.toHtmlEscaped());
    return QStringLiteral("<tr>") + line + QStringLiteral("</tr>");
  };
  QString table = row("th", {QObject::tr("Known schedules of this work"), QObject::tr("forwards"),
                             QObject::tr("bubble"), QObject::tr("most held")});
  for (const KnownSchedule& each : known)
    table += row("td", {each.title, forwards_figure(edit.in_forwards(each.makespan)),
                        share_text(each.bubble), held_words(each, edit.limits())});
  return QStringLiteral("<table>") + table + QStringLiteral("</table>");
}

}  // namespace parallelarium

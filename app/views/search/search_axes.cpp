// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/search_axes.h"

#include "app/views/search/search_column.h"
#include "app/views/shared/setup_words.h"
#include "engine/plan/program/mesh.h"
#include "engine/plan/setup/schedule_rules.h"

namespace parallelarium {

std::vector<SearchAxis> search_axes() {
  const QStringList degrees = QStringLiteral("1 2 4 8 16 32 64").split(QLatin1Char(' '));
  const QStringList groups = degrees.mid(1);
  QStringList schedules, titles, orders, order_titles;
  for (const ScheduleRule& rule : kScheduleRules) {
    schedules << QString::fromUtf8(rule.name.data(), qsizetype(rule.name.size()));
    titles << QString::fromUtf8(rule.title.data(), qsizetype(rule.title.size()));
  }
  for (const RankOrder order : {RankOrder::kTpCpEpDpPp, RankOrder::kTpCpEpPpDp}) {
    orders << QString::fromUtf8(name_of(order).data(), qsizetype(name_of(order).size()));
    order_titles << order_words(order);
  }
  return {{QStringLiteral("tp"), SearchColumn::tr("Tensor, TP"), degrees.mid(0, 6), {}},
          {QStringLiteral("pp"), SearchColumn::tr("Pipeline, PP"), degrees, {}},
          {QStringLiteral("cp"), SearchColumn::tr("Context, CP"), degrees.mid(0, 5), {}},
          {QStringLiteral("ep"), SearchColumn::tr("Experts, EP"), degrees, {}},
          {QStringLiteral("zero"),
           SearchColumn::tr("ZeRO"),
           QStringLiteral("0 1 2 3").split(QLatin1Char(' ')),
           {}},
          {QStringLiteral("zero-group"), SearchColumn::tr("ZeRO group"),
           QStringList{QStringLiteral("0")} + groups,
           QStringList{SearchColumn::tr("all replicas")} + groups},
          {QStringLiteral("schedule"), SearchColumn::tr("Schedule"), schedules, titles},
          {QStringLiteral("chunks"),
           SearchColumn::tr("Chunks"),
           QStringLiteral("2 3 4 5 6 7 8").split(QLatin1Char(' ')),
           {}},
          {QStringLiteral("stage-layers"),
           SearchColumn::tr("Stage layers"),
           {QStringLiteral("even"), QStringLiteral("balanced")},
           {SearchColumn::tr("even"), SearchColumn::tr("balanced")}},
          {QStringLiteral("micro-batch"), SearchColumn::tr("Micro-batch"), degrees.mid(0, 5), {}},
          {QStringLiteral("recompute"),
           SearchColumn::tr("Recompute"),
           {QStringLiteral("none"), QStringLiteral("selective"), QStringLiteral("full")},
           {SearchColumn::tr("none"), SearchColumn::tr("selective"), SearchColumn::tr("full")}},
          {QStringLiteral("sequence-parallel"),
           SearchColumn::tr("SP"),
           {QStringLiteral("true"), QStringLiteral("false")},
           {SearchColumn::tr("on"), SearchColumn::tr("off")}},
          {QStringLiteral("order"), SearchColumn::tr("Rank order"), orders, order_titles}};
}

}  // namespace parallelarium

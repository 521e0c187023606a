// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/column/search_axes.h"

#include <tuple>

#include "app/look/sentence.h"
#include "app/views/search/column/search_column.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/reasons/advice/change.h"

namespace parallelarium {

std::vector<SearchAxis> search_axes() {
  const auto list = [](const char* words) {
    return QString::fromLatin1(words).split(QLatin1Char(' '));
  };
  QStringList schedules;
  for (const ScheduleRule& rule : kScheduleRules)
    schedules << QString::fromUtf8(rule.name.data(), qsizetype(rule.name.size()));
  const std::tuple<const char*, QString, QStringList> axes[] = {
      {"tp", SearchColumn::tr("Tensor, TP"), list("1 2 4 8 16 32")},
      {"pp", SearchColumn::tr("Pipeline, PP"), list("1 2 4 8 16 32 64")},
      {"cp", SearchColumn::tr("Context, CP"), list("1 2 4 8 16")},
      {"ep", SearchColumn::tr("Experts, EP"), list("1 2 4 8 16 32 64")},
      {"expert-tensor", SearchColumn::tr("Experts cut, ETP"), list("true false")},
      {"zero", SearchColumn::tr("ZeRO"), list("0 1 2 3")},
      {"zero-group", SearchColumn::tr("ZeRO group"), list("0 2 4 8 16 32 64")},
      {"schedule", SearchColumn::tr("Schedule"), schedules},
      {"chunks", SearchColumn::tr("Chunks"), list("2 3 4 5 6 7 8")},
      {"stage-layers", SearchColumn::tr("Stage layers"), list("even balanced")},
      {"micro-batch", SearchColumn::tr("Micro-batch"), list("1 2 4 8 16 32 64")},
      {"recompute", SearchColumn::tr("Recompute"), list("none selective full")},
      {"sequence-parallel", SearchColumn::tr("SP"), list("true false")},
      {"order", SearchColumn::tr("Rank order"), list("tp-cp-ep-dp-pp tp-cp-ep-pp-dp")}};
  std::vector<SearchAxis> all;
  for (const auto& [option, label, values] : axes) {
    QStringList words;
    for (const QString& value : values) words << sentence(value_words(option, value.toStdString()));
    all.push_back({QLatin1String(option), label, values, words});
  }
  return all;
}

}  // namespace parallelarium

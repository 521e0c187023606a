// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/search_csv.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <set>

#include "app/settings/setup_fields.h"
#include "app/state/topic.h"
#include "app/views/shared/words/plan_words.h"
#include "engine/wire/export/csv.h"

namespace parallelarium {
namespace {

struct CsvTexts {
  Q_DECLARE_TR_FUNCTIONS(SearchView)
};

using Fields = std::vector<std::string>;

std::string exact(double value) { return QByteArray::number(value, 'g', 17).toStdString(); }
std::string flag(bool is) { return is ? "true" : "false"; }

using Columns = std::vector<std::pair<const char*, std::string>>;

// The settings that the search turns, as the command line calls and takes them.
Columns settings_of(const Setup& setup) {
  Columns all;
  for (const char* option :
       {"tp", "pp", "dp", "cp", "ep", "expert-tensor", "zero", "zero-group", "sequence-parallel",
        "schedule", "chunks", "micro-batch", "microbatches", "recompute", "order", "stage-layers"})
    all.emplace_back(option, field_text(setup, option).toStdString());
  return all;
}

Columns figures_of(const FoundPlan& plan, const PlanAnswer& answer) {
  QStringList merits;
  for (const PlanAdvice& advice : answer.recommended)
    if (advice.plan.setup == plan.setup)
      for (const std::string& merit : advice.merits) merits << QString::fromStdString(merit);
  return {{"ranks", std::to_string(plan.gpus)},
          {"step_seconds", exact(plan.seconds)},
          {"needed_bytes", std::to_string(plan.bytes)},
          {"tokens_per_second", exact(plan.tokens_per_second)},
          {"mfu", exact(plan.mfu)},
          {"bubble_share", exact(plan.bubble)},
          {"exposed_seconds", exact(plan.exposed_seconds)},
          {"tied", flag(plan.tied)},
          {"on_front", flag(plan.on_front)},
          {"recommended", merits.join(QLatin1Char(' ')).toStdString()},
          {"source", answer.rates}};
}

std::string line_of(const Fields& fields) {
  std::string line;
  for (const std::string& field : fields) line += csv_field(field) + ',';
  line.back() = '\n';
  return line;
}

}  // namespace

std::string search_csv(const PlanSearch& search) {
  const PlanAnswer& answer = *search.answer();
  const auto columns = [&](const FoundPlan& plan) {
    Columns all = figures_of(plan, answer);
    for (auto& setting : settings_of(plan.setup)) all.push_back(std::move(setting));
    return all;
  };
  Fields titles;
  for (const auto& [name, value] : columns({})) titles.emplace_back(name);
  std::string text = line_of(titles);
  std::multiset<std::pair<double, std::int64_t>> told;
  for (const FoundPlan* plan : search.selectable()) {
    told.emplace(plan->seconds, plan->bytes);
    Fields fields;
    for (auto& [name, value] : columns(*plan)) fields.push_back(value);
    text += line_of(fields);
  }
  for (const auto& [seconds, bytes] : answer.points) {
    if (bytes > answer.capacity_bytes) continue;
    // Each plan above stands for one point alone: another plan may have equal figures.
    if (const auto line = told.find({seconds, bytes}); line != told.end()) {
      told.erase(line);
      continue;
    }
    Fields fields;
    for (const std::string& title : titles)
      fields.push_back(title == "step_seconds"   ? exact(seconds)
                       : title == "needed_bytes" ? std::to_string(bytes)
                       : title == "source"       ? answer.rates
                                                 : std::string());
    text += line_of(fields);
  }
  return text;
}

std::optional<ViewTable> searched_table(const Session& session) {
  const PlanSearch& search = search_in(session);
  if (!search.answer()) return std::nullopt;
  return ViewTable{CsvTexts::tr("Search: plans (CSV)"),
                   [&session, &search]() -> Result<std::string> {
                     if (session.locks().hidden(QStringLiteral("lane.predicted")))
                       return hidden_figures();
                     return search_csv(search);
                   },
                   true};
}

}  // namespace parallelarium

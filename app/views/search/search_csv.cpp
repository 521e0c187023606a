// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/views/search/search_csv.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <set>

#include "app/state/topic.h"
#include "app/views/shared/plan_words.h"
#include "engine/plan/program/mesh.h"
#include "engine/planner/search.h"
#include "engine/wire/export/csv.h"

namespace parallelarium {
namespace {

struct CsvTexts {
  Q_DECLARE_TR_FUNCTIONS(SearchView)
};

using Fields = std::vector<std::string>;

std::string exact(double value) { return QByteArray::number(value, 'g', 17).toStdString(); }
std::string flag(bool is) { return is ? "true" : "false"; }

// Names beside what a plan has of them.
std::vector<std::pair<const char*, std::string>> axes_of(const Setup& setup) {
  const Mesh& mesh = setup.mesh;
  const auto number = [](int value) { return std::to_string(value); };
  return {{"tp", number(mesh.tp)},
          {"pp", number(mesh.pp)},
          {"dp", number(mesh.dp)},
          {"cp", number(mesh.cp)},
          {"ep", number(mesh.ep)},
          {"zero", number(setup.zero)},
          {"zero_group", number(setup.zero_group)},
          {"sequence_parallel", flag(setup.sequence_parallel)},
          {"schedule", setup.schedule.name()},
          {"chunks", number(setup.chunks)},
          {"stage_layers", layers_text(setup.stage_layers)},
          {"micro_batch", number(setup.micro_batch)},
          {"microbatches", number(setup.microbatches)},
          {"recompute", text_of(setup.recompute)},
          {"order", std::string(name_of(mesh.order))}};
}

std::vector<std::pair<const char*, std::string>> figures_of(const FoundPlan& plan,
                                                            const PlanAnswer& answer) {
  QStringList merits;
  for (const PlanAdvice& advice : answer.recommended)
    if (advice.plan.setup == plan.setup)
      for (const std::string& merit : advice.merits) merits << QString::fromStdString(merit);
  return {{"ranks", std::to_string(plan.gpus)},
          {"step_seconds", exact(plan.seconds)},
          {"needed_bytes", std::to_string(plan.bytes)},
          {"tokens_per_second", exact(plan.tokens_per_second)},
          {"mfu", exact(plan.mfu)},
          {"bubble_of_total", exact(plan.bubble)},
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
    auto all = axes_of(plan.setup);
    for (auto& figure : figures_of(plan, answer)) all.push_back(std::move(figure));
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
                   session.locks().hidden(QStringLiteral("lane.predicted"))
                       ? Result<std::string>(hidden_figures())
                       : Result<std::string>(search_csv(search))};
}

}  // namespace parallelarium

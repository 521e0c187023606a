// SPDX-License-Identifier: Apache-2.0
// `cases`: published training runs, each predicted beside what was published.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/cancel.h"
#include "engine/cli/commands/command.h"
#include "engine/cli/text/table.h"
#include "engine/plan/text/message_json.h"
#include "engine/plan/text/units.h"
#include "engine/predict/cases/cases.h"

namespace parallelarium {
namespace {

struct CasesOptions {
  std::string name;
  bool json = false, summary = false;
};

std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

// The row's prediction. Error: Ctrl-C was pressed, or it cannot be predicted.
Result<CasePrediction> predicted_unless_cancelled(const CaseRow& row) {
  if (cancelled_by_signal())
    return message("cancelled.cases", "The comparison with published runs was cancelled.");
  return predict_case(row);
}

// What a source's rows of one metric miss by.
struct Misses {
  int rows = 0;
  double sum = 0, signed_sum = 0, worst = 0;
  void add(double error) {
    ++rows;
    sum += std::abs(error);
    signed_sum += error;
    worst = std::max(worst, std::abs(error));
  }
};

// By source, metric and whether the rates were fitted on the rows, in their order.
Outcome summary(const std::vector<Case>& cases, bool as_json) {
  nlohmann::json json = nlohmann::json::array();
  Table table({"source", "metric", "rates", ">rows", ">mean error", ">worst", ">bias"});
  std::ptrdiff_t impossible = 0;
  for (const Case& of : cases) {
    const auto unsaid = std::count_if(of.rows.begin(), of.rows.end(),
                                      [](const CaseRow& row) { return !row.impossible.empty(); });
    impossible += unsaid;
    std::map<std::pair<std::string, bool>, std::pair<const CaseFigure*, Misses>> by_metric;
    for (const CaseRow& row : of.rows) {
      if (!row.impossible.empty()) continue;
      const Result<CasePrediction> predicted = predicted_unless_cancelled(row);
      if (!predicted) return Outcome::failed(predicted.error());
      for (std::size_t at = 0; at < row.figures.size(); ++at) {
        auto& [figure, misses] = by_metric[{row.figures[at].metric, row.fitted}];
        figure = &row.figures[at];
        misses.add(predicted->values[at] / row.figures[at].published - 1);
      }
    }
    for (const auto& [key, entry] : by_metric) {
      const Misses& misses = entry.second;
      const double mean = misses.sum / misses.rows, bias = misses.signed_sum / misses.rows;
      const char* rates = key.second ? "fitted" : "held_out";
      table.add({of.source, metric_of(*entry.first).label, key.second ? "fitted" : "held out",
                 fmt::format("{}", misses.rows), fmt::format("{:.1f} %", 100 * mean),
                 fmt::format("{:.1f} %", 100 * misses.worst), signed_percent(bias)});
      json.push_back({{"case", of.name},
                      {"source", of.source},
                      {"metric", key.first},
                      {"rates", rates},
                      {"rows", misses.rows},
                      {"impossible", unsaid},
                      {"mean_error", mean},
                      {"worst_error", misses.worst},
                      {"bias", bias}});
    }
    if (by_metric.empty())  // no case is left out
      json.push_back({{"case", of.name},
                      {"source", of.source},
                      {"metric", nullptr},
                      {"rates", nullptr},
                      {"rows", 0},
                      {"impossible", unsaid},
                      {"mean_error", nullptr},
                      {"worst_error", nullptr},
                      {"bias", nullptr}});
  }
  if (as_json) return Outcome::done(json_text(json));
  std::string text = table.text() +
                     "\nErrors are of absolute values; the bias says whether predictions are high "
                     "(+) or low.\n";
  if (impossible > 0)
    text += fmt::format("{} rows cannot be said as a Setup; `cases NAME` tells why.\n", impossible);
  return Outcome::done(std::move(text));
}

Outcome list(const std::vector<Case>& cases, bool as_json) {
  nlohmann::json json = nlohmann::json::array();
  std::string text;
  for (const Case& of : cases) {
    Table table({"", "metric", ">published", ">predicted", ">error", "rates"});
    std::string too_large;
    for (const CaseRow& row : of.rows) {
      CasePrediction predicted;
      if (row.impossible.empty()) {
        Result<CasePrediction> made = predicted_unless_cancelled(row);
        if (!made) return Outcome::failed(made.error());
        predicted = std::move(*made);
      }
      nlohmann::json figures = nlohmann::json::array();
      for (std::size_t at = 0; at < row.figures.size(); ++at) {
        const CaseFigure& figure = row.figures[at];
        const CaseMetric& metric = metric_of(figure);
        const auto value = [&](double number) { return three_digits(number) + " " + metric.unit; };
        nlohmann::json entry = {{"metric", figure.metric},
                                {"unit", metric.unit},
                                {"value", figure.published},
                                {"source", of.source},
                                {"predicted", nullptr},
                                {"error", nullptr},
                                {"rates", row.fitted ? "fitted" : "held_out"}};
        if (predicted.values.empty()) {
          table.add({row.name, metric.label, value(figure.published), "-", "", row.impossible});
        } else {
          const double error = predicted.values[at] / figure.published - 1;
          entry["predicted"] = predicted.values[at];
          entry["error"] = error;
          table.add({row.name, metric.label, value(figure.published), value(predicted.values[at]),
                     signed_percent(error), row.fitted ? "fitted" : "held out"});
        }
        figures.push_back(std::move(entry));
      }
      json.push_back({{"case", of.name},
                      {"row", row.name},
                      {"setup", row.asked},
                      {"published", figures},
                      {"unpublished", of.assumed}});
      if (!row.impossible.empty()) json.back()["impossible"] = row.impossible;
      if (!predicted.too_large) continue;
      put_text(json.back(), "too_large", *predicted.too_large);
      too_large += "  " + wrapped(row.name + ": " + predicted.too_large->text, 96, 4) + "\n";
    }
    text += fmt::format("{}{} ({})\n{}\n\n{}", text.empty() ? "" : "\n", of.title, of.name,
                        of.source + (of.url.empty() ? "" : ", " + of.url), table.text());
    if (!too_large.empty()) text += "\nToo large, though it was published as run:\n" + too_large;
    if (!of.assumed.empty()) text += "\nWhat the source does not say:\n";
    for (const std::string& sentence : of.assumed) text += "  " + wrapped(sentence, 96, 4) + "\n";
  }
  return Outcome::done(as_json ? json_text(json) : text);
}

}  // namespace

void add_cases(Commands& commands) {
  CLI::App* command = commands.add("cases", "set predictions beside published training runs",
                                   "  parallelarium-engine cases --summary\n"
                                   "  parallelarium-engine cases korthikanti-2022-table-5\n"
                                   "  parallelarium-engine cases --json\n");
  auto options = std::make_shared<CasesOptions>();
  command->add_option("name", options->name, "one source's table, by its name")
      ->option_text("[NAME]");
  command->add_flag("--summary", options->summary, "the mean and the worst error of each source");
  command->add_flag("--json", options->json, "print JSON");
  commands.set_body(command, [options](Progress&) {
    std::vector<Case> chosen;
    if (options->name.empty()) {
      Result<std::vector<Case>> all = all_cases();
      if (!all) return Outcome::failed(all.error());
      chosen = std::move(*all);
    } else {
      Result<Case> one = find_case(options->name);
      if (!one) return Outcome::invalid(one.error());
      chosen.push_back(std::move(*one));
    }
    return options->summary ? summary(chosen, options->json) : list(chosen, options->json);
  });
}

}  // namespace parallelarium

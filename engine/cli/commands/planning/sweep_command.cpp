// SPDX-License-Identifier: Apache-2.0
// `sweep`: any figures of a prediction over settings that vary.
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "engine/cli/cancel.h"
#include "engine/cli/commands/command.h"
#include "engine/cli/options/setup_options.h"
#include "engine/cli/outlook.h"
#include "engine/cli/planning.h"
#include "engine/cli/sweeping.h"
#include "engine/cli/text/table.h"
#include "engine/plan/text/units.h"
#include "engine/planner/sweep.h"

namespace parallelarium {
namespace {

struct SweepOptions {
  SetupOptions setup;
  std::vector<std::string> vary;
  std::string show = "step,memory,mfu,bubble", framework;
  std::optional<double> memory;  // GiB
  bool json = false;
};

std::string figure_text(const std::optional<double>& figure, const std::string& unit) {
  if (!figure) return "-";
  if (unit.empty()) return exact_text(*figure);
  return unit == "1" ? percent_text(*figure) : in_unit(*figure, unit);
}

std::string table_of(const std::vector<SweepPoint>& points,
                     const std::vector<Variation>& variations, const std::vector<Metric>& metrics) {
  std::vector<std::string> titles;
  for (const Variation& variation : variations) titles.push_back(">" + variation.key);
  for (const Metric& metric : metrics) titles.push_back(">" + metric.name);
  titles.emplace_back("");
  Table table(titles);
  for (const SweepPoint& point : points) {
    std::vector<std::string> cells = point.values;
    for (std::size_t at = 0; at < metrics.size(); ++at)
      cells.push_back(figure_text(point.figures[at], metrics[at].unit));
    cells.push_back(point.refused         ? point.refused->text
                    : point.fits == false ? "DOES NOT FIT"
                                          : "");
    table.add(std::move(cells));
  }
  return table.text();
}

// What an efficiency is a share of; empty where none is shown.
std::string efficiency_text(const std::vector<SweepPoint>& points,
                            const std::vector<Variation>& variations) {
  std::vector<std::vector<std::string>> bases;
  for (const SweepPoint& point : points)
    if (point.efficiency_of &&
        std::find(bases.begin(), bases.end(), *point.efficiency_of) == bases.end())
      bases.push_back(*point.efficiency_of);
  if (bases.empty()) return {};
  std::string list;
  for (const std::vector<std::string>& values : bases) {
    std::string point;
    for (std::size_t at = 0; at < values.size(); ++at)
      point += fmt::format("{}{} {}", point.empty() ? "" : ", ", variations[at].key, values[at]);
    list += (list.empty() ? "" : "; ") + point;
  }
  return "  " +
         wrapped(fmt::format("efficiency: tokens/s of a rank, as a share of those at the fewest "
                             "ranks whose memory is enough ({}).",
                             list),
                 98, 2) +
         "\n";
}

Outcome run_sweep(const SweepOptions& options, Progress& progress) {
  std::vector<Variation> variations;
  for (const std::string& text : options.vary) {
    Result<Variation> variation = variation_from(text);
    if (!variation) return Outcome::invalid(variation.error());
    variations.push_back(std::move(*variation));
  }
  const Result<std::string> text = options.setup.file_text();
  if (!text) return Outcome::invalid(text.error());
  SweepLimits limits;
  if (options.memory) {
    const Result<double> bytes = memory_from_gib(*options.memory);
    if (!bytes) return Outcome::invalid(bytes.error());
    limits.memory_bytes = *bytes;
  }
  Result<PlanRefusal> refuses = refusal_by(options.framework);
  if (!refuses) return Outcome::invalid(refuses.error());
  limits.refuses = std::move(*refuses);
  double capacity = 0;
  std::string machine;
  Turned varied;
  for (const Variation& variation : variations) varied.emplace_back(variation.key, "");
  const TurnedAnswer answer = [&](const Turned& turned) -> Result<nlohmann::json> {
    const Result<Situation> situation = options.setup.situation_with(turned, *text);
    if (!situation) return situation.error();
    const Result<Prediction> prediction = predict_within(limits, *situation);
    if (!prediction) return prediction.error();
    capacity = static_cast<double>(prediction->capacity_bytes);
    machine = prediction->machine.title;
    return prediction_answer(*prediction, *situation, 0, false);
  };
  const std::vector<Metric> metrics = metrics_from(options.show);
  const auto tell = [&](std::size_t done, std::size_t all) {
    progress.report(static_cast<double>(done) / static_cast<double>(all),
                    fmt::format("{} of {} points", done, all));
  };
  const Result<std::vector<SweepPoint>> points =
      sweep(variations, metrics, answer, &cancelled_by_signal(), tell);
  if (!points)
    return points.error().id == "sweep-cancelled" ? Outcome::failed(points.error())
                                                  : Outcome::invalid(points.error());
  progress.note(options.setup.assumed_sentence(*text, varied));
  if (options.json) return Outcome::done(json_text(to_json(*points, variations, metrics)));
  std::string answer_text = "Predicted\n" + table_of(*points, variations, metrics);
  if (capacity > 0)
    answer_text +=
        fmt::format("  {}: {} of memory{}.\n", machine, bytes_text(capacity), " to fit into");
  return Outcome::done(answer_text + efficiency_text(*points, variations));
}

}  // namespace

void add_sweep(Commands& commands) {
  CLI::App* command = commands.add(
      "sweep", "predict figures over settings that vary",
      "  parallelarium-engine sweep --vary microbatches=4..64*2 --show step,bubble\n"
      "  parallelarium-engine sweep --model llama3-70b --machine dgx-h100 --gpus 64 --pp 4 \\\n"
      "      --global-batch 256 --vary tp=1,2,4,8 --vary recompute=none,full --show step,memory\n"
      "  parallelarium-engine sweep --model llama3-70b --sequence 512 --machine tpu-v5p-4x4x4 \\\n"
      "      --gpus 64 --zero 3 --microbatches 1 --vary tp=1,4,16 --vary micro-batch=1..16*2 \\\n"
      "      --show compute,communication,communication-over-compute\n"
      "  parallelarium-engine sweep --setup plan.json --vary dp=1..8*2 \\\n"
      "      --show step.tokens_per_second,traffic.dp.sent_bytes --json\n");
  auto options = std::make_shared<SweepOptions>();
  command
      ->add_option("--vary", options->vary,
                   "a setting and its values: tp=1,2,4 or microbatches=8..64*2; may be repeated")
      ->option_text("KEY=VALUES")
      ->allow_extra_args(false);
  command
      ->add_option("--show", options->show,
                   fmt::format("figures: {}, or dotted keys of predict --json (default: {})",
                               fmt::join(short_metric_names(), ", "), options->show))
      ->option_text("METRIC,...");
  command->add_option("--memory", options->memory, kMemoryOptionHelp)->option_text("GIB");
  command
      ->add_option("--for", options->framework,
                   "refuse points whose axes this framework cannot say, as plan --for does")
      ->option_text("FRAMEWORK");
  command->add_flag("--json", options->json, "print JSON");
  options->setup.add_to(*command);
  commands.set_body(command,
                    [options](Progress& progress) { return run_sweep(*options, progress); });
}

}  // namespace parallelarium

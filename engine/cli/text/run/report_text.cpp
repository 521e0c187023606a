// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/text/run/report_text.h"

#include <cmath>

#include "engine/cli/options/setup_options.h"
#include "engine/cli/text/machine_text.h"
#include "engine/cli/text/table.h"
#include "engine/plan/machine/nodes_text.h"
#include "engine/plan/setup/setup_names.h"
#include "engine/plan/text/units.h"
#include "engine/predict/rates/axis_rates.h"
#include "engine/run/train/run.h"

namespace parallelarium {
namespace {

constexpr std::size_t kLineWidth = 100;

std::string bytes_of(std::int64_t bytes) { return bytes_text(static_cast<double>(bytes)); }

std::string model_block(const Prediction& prediction) {
  const ParameterCounts& counts = prediction.parameters;
  Table table({"", ""});
  table.add({"parameters",
             fmt::format("{} ({})", count_text(static_cast<double>(counts.total)), counts.total)});
  if (counts.active != counts.total)
    table.add({"active for a token", count_text(static_cast<double>(counts.active))});
  table.add({"work of a step", count_text(prediction.step_flops, "FLOP")});
  const std::int64_t sequences = prediction.setup.global_batch();
  table.add(
      {"global batch", fmt::format("{} sequence{}, {} tokens", sequences, sequences == 1 ? "" : "s",
                                   sequences * prediction.setup.model.sequence)});
  return "Model\n" + table.text();
}

std::string memory_block(const Prediction& prediction) {
  Table table({">stage", ">rank", ">parameters", ">gradients", ">optimizer", ">activations",
               ">buffers", ">peak"});
  const std::vector<MemoryRow>& rows = prediction.memory;
  const auto bytes_cells = [](const MemoryRow& row) {
    std::vector<std::string> cells;
    for (const std::int64_t bytes : row.bytes) cells.push_back(bytes_of(bytes));
    cells.push_back(bytes_of(row.peak_bytes));
    return cells;
  };
  // Neighbouring stages that would say the same are one row.
  for (std::size_t first = 0, next = 0; first < rows.size(); first = next) {
    const std::vector<std::string> bytes = bytes_cells(rows[first]);
    for (next = first + 1; next < rows.size() && bytes_cells(rows[next]) == bytes;) ++next;
    const auto span = [&, last = next - 1](const auto& of) {
      return last == first ? fmt::format("{}", of(rows[first]))
                           : fmt::format("{} to {}", of(rows[first]), of(rows[last]));
    };
    std::vector<std::string> cells = {span([](const MemoryRow& row) { return row.stage; }),
                                      span([](const MemoryRow& row) { return row.rank; })};
    cells.insert(cells.end(), bytes.begin(), bytes.end());
    table.add(std::move(cells));
  }
  const char* fits = prediction.fits() ? "Fits into" : "DOES NOT FIT into";
  const std::string capacity = bytes_of(prediction.capacity_bytes);
  return "Memory (predicted: peak of each category and of the whole)\n" + table.text() +
         (prediction.machine.local
              ? fmt::format("  {} the {} of this computer: its ranks need {} together.\n", fits,
                            capacity, bytes_of(prediction.needed_bytes))
              : fmt::format("  {} the {} of a device.\n", fits, capacity));
}

std::string bubble_block(const Prediction& prediction) {
  const Bubble& bubble = prediction.bubble;
  Table table({"", ">", ""});
  table.add({"of whole step", percent_text(bubble.of_total), "idle / (idle + busy)"});
  table.add({"over ideal time", percent_text(bubble.over_ideal), "idle / busy"});
  table.add({"of longest rank", percent_text(bubble.of_longest_rank),
             "idle / its own time from its first F to its last B or W"});
  return "Bubble (predicted: idle compute lanes from the first F to the last B or W)\n" +
         table.text();
}

std::string rates_text(const RateShares& shares) {
  std::string text = fmt::format(
      "  {} of the busiest rank's op time stands on measured rates, {} on rates between measured\n"
      "  sizes, {} on one assumed rate for all sizes",
      percent_text(shares.measured), percent_text(shares.interpolated),
      percent_text(shares.assumed));
  std::string largest;
  for (const RateShares::Assumed& each : shares.largest_assumed)
    largest +=
        fmt::format("{}{} ({})", largest.empty() ? "" : "; ", each.what, percent_text(each.share));
  return text + (largest.empty() ? "" : ":\n    " + wrapped(largest, kLineWidth - 4, 4)) + "\n";
}

std::string sharing_text(const LinkSharing& sharing) {
  if (sharing.slowed.empty()) return {};
  std::string parts;
  for (const LinkSharing::Slowed& each : sharing.slowed)
    parts += fmt::format("{}{} {} ({})", parts.empty() ? "" : "; ", each.count, each.what,
                         seconds_text(each.seconds));
  return fmt::format(
      "  On rank {} others used the same links at the same time, which made these {} longer in "
      "all:\n    {}\n",
      sharing.rank, seconds_text(sharing.seconds), wrapped(parts, kLineWidth - 4, 4));
}

std::string step_block(const Prediction& prediction) {
  const StepFigures& step = prediction.step;
  Table table({"", ""});
  table.add({"step time", seconds_text(step.seconds)});
  table.add({"compute", seconds_text(step.compute_seconds) + " on the busiest rank"});
  table.add({"exposed communication",
             seconds_text(step.exposed_communication_seconds) + " on that rank"});
  table.add({"throughput", in_unit(step.tokens_per_second, "tokens/second")});
  table.add({"model FLOPs of a rank", count_text(step.model_flops_per_second_per_rank, "FLOP/s")});
  if (step.mfu > 0) {
    table.add({"MFU", fmt::format("{} with all scores (causal {}, 6N {})", percent_text(step.mfu),
                                  percent_text(step.mfu_causal), percent_text(step.mfu_6n))});
    table.add({"HFU", percent_text(step.hfu) + ", recomputed FLOPs too"});
    if (prediction.setup.products == ProductType::kFp8)
      table.add({"", "both of the peak of 16 bit, which products in FP8 may exceed"});
  }
  std::string communication;
  for (const AxisRate& rate : axis_rates(prediction))
    communication += "    " + wrapped(said_of(rate).text, kLineWidth - 4, 6) + "\n";
  if (!communication.empty()) communication = "  Communication stands on\n" + communication;
  return fmt::format("Step ({})\n{}{}{}{}", word_text(prediction.machine), table.text(),
                     rates_text(rate_shares(prediction)), communication,
                     sharing_text(link_sharing(prediction)));
}

std::string formulas_block(const Prediction& prediction) {
  if (prediction.formulas.empty()) return {};
  std::string text = "Formulas (closed forms with this Setup's numbers put in)\n";
  for (const Formula& formula : prediction.formulas) {
    text += fmt::format("  {}: {}\n", formula.name.text, in_unit(formula.value, formula.unit));
    std::string line = "= " + formula.expression.text;
    if (!formula.values.empty()) line += " = " + formula.values;
    text += "      " + wrapped(line, kLineWidth - 6, 8) + "\n";
    if (!formula.source.text.empty())
      text += "      " + wrapped("Source: " + formula.source.text, kLineWidth - 6, 8) + "\n";
    if (!formula.note.text.empty())
      text += "      " + wrapped(formula.note.text, kLineWidth - 6, 6) + "\n";
  }
  return text;
}

bool is_category(const std::string& metric) {
  return metric.rfind("memory.", 0) == 0 && metric.find("peak_bytes") == std::string::npos;
}

std::string title_of(const std::string& metric) {
  if (metric == "step.seconds") return "step time";
  if (metric == "step.compute_seconds") return "compute, busiest rank";
  if (metric == "step.tokens_per_second") return "throughput";
  if (metric == "bubble.of_total") return "bubble of whole step";
  if (metric == "bubble.over_ideal") return "bubble over ideal time";
  if (metric == "bubble.of_longest_rank") return "bubble of longest rank";
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= metric.size();) {
    const std::size_t end = std::min(metric.find('.', begin), metric.size());
    parts.push_back(metric.substr(begin, end - begin));
    begin = end + 1;
  }
  const auto without_unit = [](std::string name) {
    const std::size_t unit = name.rfind("_bytes");
    return unit == std::string::npos ? name : name.substr(0, unit);
  };
  if (parts.size() == 4 && parts[0] == "memory")
    return fmt::format("stage {} {}", parts[2],
                       parts[3] == "peak_bytes" ? "peak memory" : without_unit(parts[3]));
  if (parts.size() == 5 && parts[0] == "traffic")
    return fmt::format("rank 0 sends, {} {} ({})", parts[2], parts[3], parts[1]);
  return metric;
}

std::string value_text(const Comparison& comparison, double value) {
  if (comparison.metric.rfind("bubble.", 0) == 0) return percent_text(value);
  return in_unit(value, comparison.unit);
}

// What stands in place of a difference of durations; empty where durations may be compared.
std::string no_difference(Source source) {
  switch (source) {
    case Source::kPaced:
      return "set";
    case Source::kOversubscribed:
    case Source::kSharedGpu:
      return "not evidence of speed";
    default:
      return {};
  }
}

std::string difference_text(const Comparison& comparison, Source source) {
  if (comparison.metric.rfind("step.", 0) == 0 && !no_difference(source).empty())
    return no_difference(source);
  if (comparison.metric.rfind("bubble.", 0) == 0) {
    const double points = (comparison.observed - comparison.predicted) * 100;
    if (std::abs(points) < 0.005) return "0 points";
    return fmt::format("{:+.2f} points", points);
  }
  if (comparison.predicted == comparison.observed) return "equal";
  const auto difference = relative_difference(comparison.predicted, comparison.observed);
  return difference ? signed_percent_text(*difference) : "";
}

}  // namespace

std::string traffic_text(const std::vector<TrafficRow>& rows) {
  if (rows.empty()) return "  none: nothing leaves this rank\n";
  Table table({"group", "operation", "purpose", ">calls", ">sent", ">received"});
  for (const TrafficRow& row : rows)
    table.add({std::string(name_of(row.axis)), row.operation, std::string(name_of(row.purpose)),
               fmt::format("{}", row.calls), bytes_of(row.sent_bytes),
               bytes_of(row.received_bytes)});
  return table.text();
}

std::string chosen_text(const Setup& setup, const Setup& asked) {
  const auto value = [](bool was_auto, std::string_view chosen) {
    return was_auto ? fmt::format("auto ({})", chosen) : std::string(chosen);
  };
  const Precision& precision = setup.precision;
  const std::string bytes =
      fmt::format("{} + {} + {} + {} bytes a parameter", precision.parameter_bytes,
                  precision.gradient_bytes, precision.master_bytes, precision.moments_bytes);
  return fmt::format(
      "precision {}, {}; attention {}", value(is_auto(asked.precision), precision.name), bytes,
      value(asked.attention == Attention::kAuto, word_of(kAttentions, setup.attention)));
}

std::string prediction_text(const Prediction& prediction, const Setup& asked, int rank) {
  const std::vector<TrafficRow> traffic = expected_traffic(prediction, rank);
  std::string text = fmt::format("{}\n{}\non {}: {}\n", describe(prediction.setup),
                                 chosen_text(prediction.setup, asked), prediction.machine.title,
                                 word_text(prediction.machine));
  const std::string nodes =
      nodes_text(prediction.setup.mesh, nodes_of(prediction.setup, prediction.machine));
  if (!nodes.empty()) text += nodes + "\n";
  if (prediction.setup.run.backend == Backend::kCuda && prediction.machine.name == "local")
    text +=
        "These are the rates of its CPU cores: as many GPUs are not calibrated here (`calibrate "
        "--gpus`).\n";
  if (const auto outdated =
          outdated_rates(prediction.setup, prediction.machine, bf16_products_here()))
    text += outdated->text + "\n";
  if (const auto disturbed = disturbed_calibration(prediction.machine))
    text += disturbed->text + "\n";
  text += "\n";
  text += step_block(prediction) + "\n";
  text += bubble_block(prediction) + "\n";
  text += memory_block(prediction) + "\n";
  text += explanation_text(explain(prediction.program, prediction.timeline), "predicted") + "\n";
  text +=
      fmt::format("Traffic of rank {} in one step (predicted)\n{}\n", rank, traffic_text(traffic));
  text += model_block(prediction) + "\n";
  text += formulas_block(prediction);
  for (const Message& remark : remarks_of(prediction)) text += "\n" + remark.text + "\n";
  return text;
}

std::string comparison_text(const std::vector<Comparison>& comparisons, Source source) {
  Table table({"", ">predicted", fmt::format(">{}", spoken_name(source)), ">difference"});
  std::size_t categories = 0, equal = 0;
  for (const Comparison& comparison : comparisons) {
    // Rows of nothing on both sides say nothing.
    if (comparison.predicted == 0 && comparison.observed == 0) continue;
    // Peaks are shown; their parts only where something is to be learned from them.
    if (is_category(comparison.metric)) {
      ++categories;
      if (comparison.predicted == comparison.observed && ++equal) continue;
    }
    table.add({title_of(comparison.metric), value_text(comparison, comparison.predicted),
               value_text(comparison, comparison.observed), difference_text(comparison, source)});
  }
  std::string text = table.text();
  if (categories > 0 && equal == categories)
    text += "  All categories of memory are counted to the byte as predicted.\n";
  else if (equal > 0)
    text += fmt::format("  The other {} categories of memory are equal to the byte.\n", equal);
  return text;
}

}  // namespace parallelarium

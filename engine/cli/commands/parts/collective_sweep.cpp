// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/commands/parts/collective_sweep.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/cli/text/table.h"
#include "engine/plan/text/units.h"

namespace parallelarium {

namespace {

std::vector<std::int64_t> sizes_up_to(std::int64_t bytes, std::int64_t grain) {
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = 4096; size < bytes; size *= 4) sizes.push_back(size / grain * grain);
  sizes.push_back(bytes);
  return sizes;
}

}  // namespace

Result<std::vector<SweepRow>> sweep(const CollectiveSpec& spec,
                                    const std::vector<std::string>& algorithms,
                                    const Network& network, const CollectiveRunOptions& wishes,
                                    const std::function<void(double)>& tell,
                                    const std::atomic<bool>* cancel) {
  std::vector<SweepRow> rows;
  const std::vector<std::int64_t> sizes = sizes_up_to(spec.bytes, size_of(spec.type));
  const double all = static_cast<double>(sizes.size() * algorithms.size());
  double done = 0;
  for (const std::string& algorithm : algorithms) {
    for (const std::int64_t size : sizes) {
      tell(done++ / all);
      SweepRow row;
      row.spec = spec;
      row.spec.algorithm = algorithm;
      row.spec.bytes = size;
      const Result<Collective> collective = make_collective(row.spec);
      if (!collective && algorithms.size() == 1) return collective.error();
      if (!collective) continue;
      const CollectiveCost cost = cost_of(*collective, network);
      row.seconds = cost.seconds;
      row.bus_bandwidth = cost.bus_bandwidth;
      if (wishes.repeats > 0) {
        const Result<CollectiveObservation> seen = run_collective(*collective, wishes, cancel);
        if (!seen) return seen.error();
        row.measured_seconds = seen->seconds;
        row.measured_min = seen->seconds_min;
        row.measured_max = seen->seconds_max;
        row.measured_bus_bandwidth = seen->bus_bandwidth;
        row.source = seen->source;
        row.correct = seen->correct;
      }
      rows.push_back(std::move(row));
    }
  }
  return rows;
}

std::optional<double> median_error(const std::vector<SweepRow>& rows) {
  std::vector<double> errors;
  for (const SweepRow& row : rows) {
    if (row.measured_seconds > 0) errors.push_back(std::abs(row.error()));
  }
  if (errors.empty()) return std::nullopt;
  std::sort(errors.begin(), errors.end());
  return errors[(errors.size() - 1) / 2];
}

std::string sweep_text(const std::vector<SweepRow>& rows) {
  const std::optional<double> median = median_error(rows);
  // All rows have as many ranks.
  const Source source = rows.empty() ? Source::kMeasured : rows.front().source;
  Table table(median ? std::vector<std::string>{"algorithm", ">bytes", ">predicted", ">bus",
                                                fmt::format(">{}", name_of(source)), ">bus",
                                                ">error", ""}
                     : std::vector<std::string>{"algorithm", ">bytes", ">predicted", ">bus"});
  for (const SweepRow& row : rows) {
    std::vector<std::string> cells = {
        row.spec.algorithm, bytes_text(static_cast<double>(row.spec.bytes)),
        seconds_text(row.seconds), count_text(row.bus_bandwidth, "B/s")};
    if (median) {
      cells.push_back(seconds_text(row.measured_seconds));
      cells.push_back(count_text(row.measured_bus_bandwidth, "B/s"));
      cells.push_back(signed_percent_text(row.error()));
      cells.push_back(row.correct ? "" : "wrong cells");
    }
    table.add(std::move(cells));
  }
  std::string text = table.text();
  if (median)
    text += fmt::format("\nMedian of the errors' sizes: {} (error = predicted / measured − 1)\n",
                        percent_text(*median));
  if (median && source == Source::kOversubscribed)
    text += "More ranks than cores: these times are no evidence of speed.\n";
  if (median && source == Source::kSharedGpu)
    text += "All ranks on one GPU: these times are no evidence of speed.\n";
  return text;
}

std::string sweep_csv(const std::vector<SweepRow>& rows) {
  std::string text =
      "name,algorithm,ranks,type,bytes,predicted_seconds,predicted_bus_bandwidth,measured_seconds,"
      "measured_seconds_min,measured_seconds_max,measured_bus_bandwidth,error,correct,source\r\n";
  for (const SweepRow& row : rows) {
    text += fmt::format("{},{},{},{},{},{},{}", name_of(row.spec.kind), row.spec.algorithm,
                        row.spec.ranks, name_of(row.spec.type), row.spec.bytes, row.seconds,
                        row.bus_bandwidth);
    text += row.measured_seconds > 0
                ? fmt::format(",{},{},{},{},{},{},{}\r\n", row.measured_seconds, row.measured_min,
                              row.measured_max, row.measured_bus_bandwidth, row.error(),
                              row.correct, name_of(row.source))
                : ",,,,,,,\r\n";
  }
  return text;
}

nlohmann::json sweep_json(const std::vector<SweepRow>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const SweepRow& row : rows) {
    nlohmann::json entry = {{"name", name_of(row.spec.kind)}, {"algorithm", row.spec.algorithm},
                            {"ranks", row.spec.ranks},        {"bytes", row.spec.bytes},
                            {"seconds", row.seconds},         {"bus_bandwidth", row.bus_bandwidth}};
    if (row.measured_seconds > 0) {
      entry["measured"] = {
          {"seconds", row.measured_seconds}, {"seconds_min", row.measured_min},
          {"seconds_max", row.measured_max}, {"bus_bandwidth", row.measured_bus_bandwidth},
          {"source", name_of(row.source)},   {"correct", row.correct}};
      entry["error"] = row.error();
    }
    list.push_back(std::move(entry));
  }
  nlohmann::json json = {{"sweep", std::move(list)}};
  if (const auto median = median_error(rows)) json["median_error"] = *median;
  return json;
}

}  // namespace parallelarium

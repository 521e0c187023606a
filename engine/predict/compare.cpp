// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/compare.h"

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

namespace parallelarium {
namespace {

class Comparisons {
 public:
  void add(std::string metric, double predicted, double observed, std::string unit) {
    Comparison comparison{std::move(metric), predicted, observed, std::move(unit), std::nullopt};
    if (observed != 0 && std::isfinite(predicted / observed))
      comparison.error = predicted / observed - 1;
    list_.push_back(std::move(comparison));
  }
  std::vector<Comparison> take() { return std::move(list_); }

 private:
  std::vector<Comparison> list_;
};

void add_memory(Comparisons& comparisons, const Prediction& prediction,
                const Observation& observation) {
  for (std::size_t index = 0; index < prediction.memory.size(); ++index) {
    const MemoryRow& predicted = prediction.memory[index];
    for (const MemoryRow& observed : observation.memory) {
      if (observed.rank != predicted.rank) continue;
      const std::string row = fmt::format("memory.ranks.{}.", index);
      comparisons.add(row + "peak_bytes", static_cast<double>(predicted.peak_bytes),
                      static_cast<double>(observed.peak_bytes), "bytes");
      for (int category = 0; category < kCategories; ++category)
        comparisons.add(fmt::format("{}{}_bytes", row, name_of(static_cast<Category>(category))),
                        static_cast<double>(predicted.bytes[category]),
                        static_cast<double>(observed.bytes[category]), "bytes");
    }
  }
}

void add_traffic(Comparisons& comparisons, const Prediction& prediction,
                 const Observation& observation) {
  std::map<std::tuple<Axis, std::string, Purpose>, std::pair<double, double>> rows;
  for (const TrafficRow& row : prediction.traffic)
    rows[{row.axis, row.operation, row.purpose}].first += static_cast<double>(row.sent_bytes);
  if (!observation.traffic.empty())
    for (const TrafficRow& row : observation.traffic.front())
      rows[{row.axis, row.operation, row.purpose}].second += static_cast<double>(row.sent_bytes);
  for (const auto& [key, sent] : rows)
    comparisons.add(fmt::format("traffic.{}.{}.{}.sent_bytes", name_of(std::get<0>(key)),
                                std::get<1>(key), name_of(std::get<2>(key))),
                    sent.first, sent.second, "bytes");
}

}  // namespace

std::optional<double> relative_difference(double predicted, double observed) {
  if (predicted == 0 || !std::isfinite(predicted) || !std::isfinite(observed)) return std::nullopt;
  return observed / predicted - 1;
}

bool predicts_times(const Machine& machine, const Observation& observation) {
  const bool of_gpus = machine.name == kLocalGpus;
  if (observation.backend != "cuda") return !of_gpus;
  const bool shared = observation.source == Source::kSharedGpu;
  return of_gpus && shared == ranks_share_gpu(observation.setup, machine);
}

std::vector<Comparison> compare_with(const Prediction& prediction, const Observation& observation) {
  Comparisons comparisons;
  const StepFigures& predicted = prediction.step;
  const StepFigures& observed = observation.step;
  if (predicts_times(prediction.machine, observation)) {
    comparisons.add("step.seconds", predicted.seconds, observed.seconds, "seconds");
    comparisons.add("step.compute_seconds", predicted.compute_seconds, observed.compute_seconds,
                    "seconds");
    comparisons.add("step.tokens_per_second", predicted.tokens_per_second,
                    observed.tokens_per_second, "tokens/second");
    comparisons.add("bubble.of_total", prediction.bubble.of_total, observation.bubble.of_total,
                    "1");
    comparisons.add("bubble.over_ideal", prediction.bubble.over_ideal,
                    observation.bubble.over_ideal, "1");
    comparisons.add("bubble.of_longest_rank", prediction.bubble.of_longest_rank,
                    observation.bubble.of_longest_rank, "1");
  }
  add_memory(comparisons, prediction, observation);
  add_traffic(comparisons, prediction, observation);
  return comparisons.take();
}

nlohmann::json to_json(const std::vector<Comparison>& comparisons) {
  nlohmann::json json = nlohmann::json::array();
  for (const Comparison& comparison : comparisons)
    json.push_back({{"metric", comparison.metric},
                    {"predicted", comparison.predicted},
                    {"measured", comparison.observed},
                    {"unit", comparison.unit},
                    {"error", comparison.error ? nlohmann::json(*comparison.error) : nullptr}});
  return json;
}

std::int64_t counted_bytes(const Observation& observation) {
  std::int64_t bytes = 0;
  for (const MemoryRow& row : observation.memory) bytes += row.peak_bytes;
  return bytes;
}

}  // namespace parallelarium

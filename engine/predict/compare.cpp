// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/compare.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/plan/machine/pace.h"
#include "engine/plan/setup/setup_names.h"
#include "engine/predict/cost/simulate.h"

namespace parallelarium {
namespace {

Nanoseconds scaled(Nanoseconds time, double factor) {
  return Nanoseconds(std::llround(static_cast<double>(time.count()) * factor));
}

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

Prediction dilated(Prediction prediction, double factor) {
  assert(factor > 0);
  if (prediction.machine.lanes_share_core) {
    Machine apart = prediction.machine;
    apart.lanes_share_core = false;
    const CostModel cost(prediction.program, apart, prediction.setup, &prediction.rows);
    prediction.timeline = simulate(prediction.program, cost);
    prediction.bubble = bubble_of(prediction.program, prediction.timeline);
    prediction.step =
        step_figures(prediction.program, prediction.timeline, prediction.setup, prediction.machine);
  }
  for (RankTimeline& rank : prediction.timeline.ranks) {
    for (Span& span : rank.spans) span = {scaled(span.begin, factor), scaled(span.end, factor)};
  }
  prediction.timeline.duration = scaled(prediction.timeline.duration, factor);
  prediction.timeline.source = Source::kPredictedPaced;
  prediction.pace_factor *= factor;
  StepFigures& step = prediction.step;
  step.seconds *= factor;
  step.seconds_min *= factor;
  step.seconds_max *= factor;
  step.compute_seconds *= factor;
  step.exposed_communication_seconds *= factor;
  step.tokens_per_second /= factor;
  step.model_flops_per_second_per_rank /= factor;
  step.forget_peak();
  return prediction;
}

Result<double> pace_factor(const Setup& setup, const Machine& machine) {
  Setup alone = setup;
  alone.mesh = {};
  alone.mesh.order = setup.mesh.order;
  alone.sequence_parallel = false;
  alone.zero = 0;
  alone.zero_group = 0;
  alone.schedule = "1f1b";
  alone.chunks = 1;
  alone.micro_batch = 1;
  alone.microbatches = 1;
  alone.recompute = Recompute::kNone;
  alone.stage_layers.clear();
  alone.model.stage_layers.clear();
  Result<Prediction> prediction = predict(alone, machine, true);
  if (!prediction) return prediction.error();
  const CostModel cost(prediction->program, machine, alone);
  double seconds = 0;
  for (const Op& op : prediction->program.ranks.front().ops)
    if (op.kind == OpKind::kCompute && op.phase == Phase::kForward) seconds += cost.seconds(op, 0);
  if (!(seconds > 0))
    return message("pace-no-work",
                   "The forward of this model takes no time on {}, so it cannot "
                   "be paced; choose a larger model.",
                   title_of(machine));
  return setup.run.pace_seconds / seconds;
}

std::int64_t counted_bytes(const Observation& observation) {
  std::int64_t bytes = 0;
  for (const MemoryRow& row : observation.memory) bytes += row.peak_bytes;
  return bytes;
}

namespace {

// The share of the cores of `here` that the real work fills at that factor; 0 where no calibration
// tells.
double paced_load(const Prediction& prediction, double factor, const Machine& here) {
  if (here.cores < 1 || here.calibrated.empty()) return 0;
  const Program& program = prediction.program;
  const CostModel here_cost(program, here, prediction.setup);
  const CostModel cost(program, prediction.machine, prediction.setup);
  double work = 0, load = 0, step = 0;
  for (const RankProgram& rank : program.ranks) {
    double own = 0, modelled = 0;
    for (const Op& op : rank.ops) {
      if (op.kind != OpKind::kCompute) continue;
      own += here_cost.seconds(op, rank.rank);
      modelled += cost.seconds(op, rank.rank) * factor;
    }
    work += own;
    if (modelled > 0) load = std::max(load, own / modelled);
  }
  // A Program of representatives stands for the other ranks too.
  work *= static_cast<double>(program.world) / static_cast<double>(program.ranks.size());
  step = static_cast<double>(prediction.timeline.duration.count()) * 1e-9 * factor;
  if (step > 0) load = std::max(load, work / (step * here.cores));
  return load;
}

}  // namespace

Result<void> can_keep_pace(const Prediction& prediction, double factor, const Machine& here) {
  const double load = paced_load(prediction, factor, here);
  if (load <= 1) return {};
  return pace_too_fast(prediction.setup, load, load, here.cores);
}

Result<PaceChoice> pace_on(const Prediction& prediction, const Machine& here) {
  const RunSettings& run = prediction.setup.run;
  const Result<double> wished = pace_factor(prediction.setup, prediction.machine);
  if (!wished) return wished.error();
  if (!pace_is_default(run)) {
    if (Result<void> keeps = can_keep_pace(prediction, *wished, here); !keeps) return keeps.error();
    return PaceChoice{*wished, 1};
  }
  const double load = paced_load(prediction, *wished, here);
  if (load <= kMostPacedLoad) return PaceChoice{*wished, 1};
  const double least = least_pace(run.pace_seconds, load);
  if (least > kPace.high) return pace_too_fast(prediction.setup, load, load, here.cores);
  const double slowed = least / run.pace_seconds;
  return PaceChoice{*wished * slowed, slowed};
}

std::vector<std::vector<Nanoseconds>> modelled_durations(const Prediction& prediction) {
  // Of even routing: a run knows its own.
  const CostModel cost(prediction.program, prediction.machine, prediction.setup);
  std::vector<std::vector<Nanoseconds>> durations;
  durations.reserve(prediction.program.ranks.size());
  for (const RankProgram& rank : prediction.program.ranks) {
    auto& of_rank = durations.emplace_back();
    of_rank.reserve(rank.ops.size());
    for (const Op& op : rank.ops)
      of_rank.push_back(Nanoseconds(std::llround(cost.seconds(op, rank.rank) * 1e9)));
  }
  return durations;
}

}  // namespace parallelarium

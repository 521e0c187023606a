// SPDX-License-Identifier: Apache-2.0
// One plan: how it is predicted, ordered and said.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

#include "engine/plan/setup/setup_names.h"
#include "engine/plan/text/units.h"
#include "engine/planner/entry.h"
#include "engine/predict/memory.h"
#include "engine/predict/repeats/step_prediction.h"

namespace parallelarium {

std::string_view name_of(PlanClass plan_class) {
  switch (plan_class) {
    case PlanClass::kRefused:
      return "refused";
    case PlanClass::kDoesNotFit:
      return "does_not_fit";
    case PlanClass::kBounded:
      return "bounded";
    case PlanClass::kSimulated:
      return "simulated";
  }
  return "";
}

namespace {

const MemoryRow& fullest_row(const std::vector<MemoryRow>& rows) {
  return *std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return a.peak_bytes < b.peak_bytes;
  });
}

std::int64_t held_bytes_of(const MemoryRow& row) { return row.peak_bytes + row.framework_bytes; }

const MemoryRow& most_held(const std::vector<MemoryRow>& rows) {
  return *std::max_element(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    return held_bytes_of(a) < held_bytes_of(b);
  });
}

// The one limit of a device that is broken: what a rank's own tensors may fill comes first.
Excess excess_of(const Prediction& prediction, const Machine& machine) {
  const std::vector<MemoryRow>& rows = prediction.memory;
  if (!prediction.fits())
    return {prediction.needed_bytes - prediction.capacity_bytes, fullest_row(rows).stage, false};
  const std::int64_t device = device_bytes_of(machine);
  if (device == 0) return {};
  const MemoryRow& most = most_held(rows);
  return {std::max<std::int64_t>(held_bytes_of(most) - device, 0), most.stage, true};
}

Tried tried_of(const Setup& setup, const Machine& machine, const StepPrediction& step) {
  const Prediction& prediction = step.prediction;
  Tried tried;
  Plan& plan = tried.plan;
  plan.setup = setup;
  plan.time = prediction.timeline.duration;
  plan.needed_bytes = prediction.needed_bytes;
  plan.capacity_bytes = prediction.capacity_bytes;
  plan.device_bytes = device_bytes_of(machine);
  plan.memory = prediction.memory;
  plan.held_bytes = held_bytes_of(most_held(plan.memory));
  plan.step = prediction.step;
  plan.step.seconds = seconds_of(plan.time);
  plan.bubble = prediction.bubble;
  tried.over = excess_of(prediction, machine);
  return tried;
}

void add_parts(Plan& plan, const StepPrediction& step) {
  plan.parts = parts_of(step.prediction, step.repeats);
  plan.rates = axis_rates(step.prediction, step.repeats);
}

}  // namespace

std::optional<Message> refusal_of(const Setup& setup, const PlanRefusal& refuses) {
  if (!refuses || !validate(setup).empty()) return std::nullopt;
  return refuses(setup);
}

Result<Tried> try_setup(const Setup& setup, const Machine& machine, bool with_parts,
                        const PlanRefusal& refuses) {
  if (std::optional<Message> why = refusal_of(setup, refuses)) return std::move(*why);
  Result<StepPrediction> step = predict_step(setup, machine);
  if (!step) return step.error();
  add_step_figures(*step);
  Tried tried = tried_of(setup, machine, *step);
  if (with_parts) add_parts(tried.plan, *step);
  return tried;
}

Result<Trial> try_candidate(const Setup& setup, const Machine& machine, const Wanted& wanted) {
  Result<StepPrediction> step =
      predict_step(setup, machine, [&](const Prediction& of, Nanoseconds at_least) {
        return excess_of(of, machine).bytes > 0 || !wanted(at_least.count(), of.needed_bytes);
      });
  if (!step) return step.error();
  const Prediction& prediction = step->prediction;
  const bool told = !step->stopped && excess_of(prediction, machine).bytes == 0 &&
                    wanted(prediction.timeline.duration.count(), prediction.needed_bytes);
  if (told) add_step_figures(*step);
  Trial trial{tried_of(setup, machine, *step), step->at_least.count(), step->stopped};
  if (told) add_parts(trial.tried.plan, *step);
  return trial;
}

MemoryRoom room_of(const std::vector<MemoryRow>& rows, std::int64_t capacity_bytes,
                   std::int64_t device_bytes) {
  const auto left = [](std::int64_t limit, std::int64_t held) {
    return std::max<std::int64_t>(0, limit - held);
  };
  const MemoryRoom own = {left(capacity_bytes, fullest_row(rows).peak_bytes), capacity_bytes, 0};
  if (device_bytes == 0) return own;
  const MemoryRow& most = most_held(rows);
  const std::int64_t beside = left(device_bytes, held_bytes_of(most));
  return beside < own.free_bytes ? MemoryRoom{beside, device_bytes, most.framework_bytes} : own;
}

const MemoryRow& fullest_row(const Plan& plan) { return fullest_row(plan.memory); }

std::int64_t usable_bytes(const Machine& machine) {
  return static_cast<std::int64_t>(machine.memory_bytes.value * machine.usable_memory_share);
}

std::optional<std::int64_t> capacity_of(const Machine& machine) {
  if (machine.ranks_share_memory() || machine.local) return std::nullopt;
  return usable_bytes(machine);
}

Message memory_counted(const Machine& machine) {
  const auto size = [](double of) { return figure(bytes_text(of)); };
  if (machine.usable_memory_share == 1)
    return message("plan-memory-whole",
                   "A rank's own tensors and what a framework keeps beside them must fit into {}. "
                   "The CUDA context is not counted.",
                   size(machine.memory_bytes.value));
  return message("plan-memory-counted",
                 "A rank's own tensors may fill {} of a device. With what a framework keeps "
                 "beside them they must fit into its {}. The CUDA context is not counted.",
                 size(static_cast<double>(usable_bytes(machine))),
                 size(machine.memory_bytes.value));
}

namespace {

Message larger_than(std::int64_t capacity, int stage, std::int64_t bytes, const Machine& machine,
                    std::int64_t states) {
  const auto size = [](double of) { return figure(bytes_text(of)); };
  const Message needs = size(static_cast<double>(bytes));
  const Message more = size(static_cast<double>(bytes - capacity));
  if (machine.usable_memory_share == 1)
    return states > capacity
               ? message("plan-states-large",
                         "Stage {} needs {} or more for its model states, {} more than a device "
                         "has.",
                         stage, needs, more)
               : message("plan-memory-large",
                         "Stage {} needs {} or more, {} more than a device has.", stage, needs,
                         more);
  const Message limit = size(static_cast<double>(capacity)), all = size(machine.memory_bytes.value);
  return states > capacity
             ? message(
                   "plan-states-limit",
                   "Stage {} needs {} or more for its model states, {} more than the limit that "
                   "was set, {} of a device's {}.",
                   stage, needs, more, limit, all)
             : message("plan-memory-limit",
                       "Stage {} needs {} or more, {} more than the limit that was set, {} of a "
                       "device's {}.",
                       stage, needs, more, limit, all);
}

}  // namespace

Message too_large(int stage, std::int64_t bytes, const Machine& machine, std::int64_t states) {
  return larger_than(usable_bytes(machine), stage, bytes, machine, states);
}

Message too_large(const Tried& tried, const Machine& machine) {
  const Plan& plan = tried.plan;
  if (!tried.over.with_framework)
    return larger_than(plan.capacity_bytes, tried.over.stage, plan.needed_bytes, machine, 0);
  const MemoryRow& fullest = most_held(plan.memory);
  const auto size = [](std::int64_t of) { return figure(bytes_text(static_cast<double>(of))); };
  return message("plan-framework-large",
                 "Stage {} needs {}, and the framework keeps {} beside it: together {} more than a "
                 "device has.",
                 fullest.stage, size(fullest.peak_bytes), size(fullest.framework_bytes),
                 size(tried.over.bytes));
}

Message too_long(std::int64_t actions) {
  return message("plan-front-long",
                 "It is none of the best. It may need less memory or fewer GPUs than faster "
                 "plans do, but its stages times its micro-batches are {}, and for that a search "
                 "simulates at most {}.",
                 actions, kMostFrontActions);
}

double objective_value(Objective objective, std::int64_t nanoseconds, std::int64_t bytes,
                       std::int64_t gpus) {
  switch (objective) {
    case Objective::kTime:
      return static_cast<double>(nanoseconds);
    case Objective::kGpus:
      return static_cast<double>(gpus);
    case Objective::kMemory:
      return static_cast<double>(bytes);
    case Objective::kTokensPerGpu:
      return static_cast<double>(nanoseconds) * static_cast<double>(gpus);
  }
  return 0;
}

bool stands_before(const Plan& a, const Plan& b, Objective objective) {
  const auto key = [&](const Plan& plan) {
    return std::tuple(
        objective_value(objective, plan.time.count(), plan.needed_bytes, plan.candidate.gpus()),
        plan.time, plan.needed_bytes, plan.candidate.axes());
  };
  if (key(a) != key(b)) return key(a) < key(b);
  return to_json(a.setup).dump() < to_json(b.setup).dump();
}

bool comes_to_the_same(const Plan& a, const Plan& b) {
  Candidate other = b.candidate;
  other.schedule = a.candidate.schedule;
  other.chunks = a.candidate.chunks;
  other.layers = a.candidate.layers;
  return a.candidate.pp == 1 && a.candidate == other;
}

std::string layers_text(const std::vector<int>& layers) {
  if (layers.empty()) return "even";
  std::string text;
  for (std::size_t at = 0, end = 0; at < layers.size(); at = end) {
    while (end < layers.size() && layers[end] == layers[at]) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : "+", layers[at]);
    if (end - at > 1) text += fmt::format("×{}", end - at);
  }
  return text;
}

std::string short_axes(const Setup& setup) {
  const Mesh& mesh = setup.mesh;
  std::string text = fmt::format("TP {}, PP {}", mesh.tp, mesh.pp);
  const auto add = [&](bool said, const std::string& more) {
    if (said) text += ", " + more;
  };
  add(mesh.cp > 1, fmt::format("CP {}", mesh.cp));
  add(true, fmt::format("DP {}", mesh.dp));
  add(mesh.ep > 1, fmt::format("EP {}", mesh.ep));
  add(differs_by_whole_experts(setup), "ETP 1");
  add(setup.sequence_parallel, "SP");
  add(true, fmt::format("ZeRO {}", setup.zero));
  add(setup.zero > 0 && setup.zero_group > 0, fmt::format("in groups of {}", setup.zero_group));
  add(true, setup.schedule.name());
  add(setup.chunks > 1, fmt::format("{} chunks", setup.chunks));
  add(!setup.stage_layers.empty(), "layers " + layers_text(setup.stage_layers));
  add(mesh.order != Mesh().order, fmt::format("order {}", name_of(mesh.order)));
  add(true, fmt::format("micro-batch {}", setup.micro_batch));
  add(setup.recompute != Recompute::kNone, "recompute " + text_of(setup.recompute));
  return text;
}

}  // namespace parallelarium

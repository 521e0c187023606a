// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/repeats/step_prediction.h"

#include <algorithm>

#include "engine/passes/build.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/predict_steps.h"
#include "engine/predict/repeats/order_repeats.h"
#include "engine/predict/repeats/program_repeats.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

// How many bodies are left out of so many micro-batches: if that costs little, a number that many
// others divide, since places in memory may take turns for some bodies.
int bodies_of(int microbatches, int body) {
  constexpr double kLittle = 0.1;
  const int bodies = microbatches / body;
  for (const int turns : {12, 6, 4, 3, 2})
    if (bodies % turns <= kLittle * bodies) return bodies - bodies % turns;
  return bodies;
}

// None: what repeats itself in the step cannot be told.
std::optional<StepPrediction> predict_shorter(const Setup& setup, const Machine& machine,
                                              const Order& order, const BuildOptions& built) {
  const bool alike = built.representatives || setup.mesh.ranks() > kMostBuiltRanks;
  if (!alike || machine.groups_take_turns || sharing_of(setup, machine) != Sharing::kNone ||
      !may_repeat(setup))
    return std::nullopt;
  // Micro-batches that are enough to have the middle repeat itself, mostly: what goes in and out
  // takes as many as there are stages. Some steps need more until ranks wait for each other alike.
  constexpr int kPipelines = 2, kBodies = 4, kMore = 10, kLonger = 2;
  constexpr double kMostKept = 0.45;  // else little is saved
  const int most = static_cast<int>(kMostKept * setup.microbatches);
  const int around = kPipelines * setup.mesh.pp + kMore;
  if (around + kBodies > most) return std::nullopt;
  const std::vector<NominalRank> ranks = nominal_ranks(setup, order);
  const std::int64_t bytes = boundary_bytes(setup);
  const NominalSteps steps = nominal_steps(order, ranks, bytes);
  const int body = repeating_microbatches(setup, order, steps);
  if (body == 0) return std::nullopt;
  for (int kept = around + kBodies * body, next = 0; kept <= most; kept = next) {
    const std::optional<Order> shorter =
        shorter_order(setup, body * bodies_of(setup.microbatches - kept, body));
    if (!shorter) return std::nullopt;
    // To compare Orders is cheap, so `next` grows by a quarter.
    next = shorter->microbatches + std::max(body, kept / 4);
    const std::vector<OrderRepeats> cuts =
        order_repeats(order, steps, *shorter, nominal_steps(*shorter, ranks, bytes), body);
    if (cuts.empty()) continue;
    next = kLonger * kept;  // timing is dear
    Result<Prediction> timed = time_program(setup, machine, *shorter, built);
    if (!timed) return std::nullopt;
    std::optional<Repeats> repeats;
    for (std::size_t cut = 0; cut < cuts.size() && !repeats; ++cut)
      repeats = program_repeats(cuts[cut], timed->program, timed->timeline);
    if (!repeats) continue;  // ranks do not wait alike yet, or never do
    timed->timeline.duration += repeats->times * repeats->period;
    add_memory(*timed);
    return StepPrediction{std::move(*timed), std::move(*repeats)};
  }
  return std::nullopt;
}

Result<StepPrediction> predict_whole(const Setup& setup, const Machine& machine, Order order,
                                     const BuildOptions& built, const StepWatch& watch) {
  Result<Prediction> prediction = build_prediction(setup, machine, std::move(order), built);
  if (!prediction) return prediction.error();
  add_memory(*prediction);
  StepPrediction step{std::move(*prediction), Repeats()};
  const auto enough = [&](Nanoseconds at_least) {
    step.at_least = at_least;
    return step.stopped = watch && watch(step.prediction, at_least);
  };
  if (!enough(Nanoseconds{0})) add_timeline(step.prediction, enough);
  return step;
}

}  // namespace

Result<StepPrediction> predict_step(const Setup& setup, const Machine& machine,
                                    const StepWatch& watch) {
  const std::vector<Message> wrong = validate(setup);
  if (!wrong.empty()) return wrong.front();
  Result<Order> order = make_order(setup);
  if (!order) return order.error();
  const BuildOptions built = prediction_options(setup, machine, BuildOptions{.stage_level = true});
  if (std::optional<StepPrediction> step = predict_shorter(setup, machine, *order, built))
    return std::move(*step);
  return predict_whole(setup, machine, std::move(*order), built, watch);
}

void add_step_figures(StepPrediction& step) { add_figures(step.prediction, step.repeats); }

}  // namespace parallelarium

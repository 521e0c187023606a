// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/action_seconds.h"

#include <algorithm>

#include "engine/predict/predict.h"
#include "engine/schedules/draft.h"

namespace parallelarium {

namespace {

struct Extent {
  Nanoseconds begin = Nanoseconds::max(), end = Nanoseconds::min();
  void add(const Span& span) {
    begin = std::min(begin, span.begin);
    end = std::max(end, span.end);
  }
  double seconds() const { return end > begin ? seconds_of(end - begin) : 0; }
};

// Adds what one way of a micro-batch through all stages shows.
Result<void> add_way(Setup setup, const Machine& machine, const Order& like, bool split,
                     std::vector<Durations>& stages) {
  Order one = like;
  one.microbatches = setup.microbatches;
  one = one_after_another(one, split);
  Result<Schedule> schedule = Schedule::own("one after another", to_unfinished_lines(one));
  if (!schedule) return schedule.error();
  setup.schedule = std::move(*schedule);
  const Result<Prediction> made = predict(setup, machine);
  if (!made) return made.error();
  const Prediction& prediction = *made;
  for (std::size_t rank = 0; rank < prediction.program.ranks.size(); ++rank) {
    const RankProgram& program = prediction.program.ranks[rank];
    const std::vector<int>& held = one.stage_of[static_cast<std::size_t>(program.stage)];
    const auto stage_of = [&](std::size_t action) -> Durations& {
      const auto chunk = static_cast<std::size_t>(program.actions[action].chunk);
      return stages[static_cast<std::size_t>(held[chunk])];
    };
    std::vector<Extent> actions(program.actions.size());
    for (std::size_t index = 0; index < program.ops.size(); ++index) {
      const Op& op = program.ops[index];
      if (op.action < 0) continue;
      const Span& span = prediction.timeline.ranks[rank].spans[index];
      const auto action = static_cast<std::size_t>(op.action);
      if (op.lane == Lane::kCompute)
        actions[action].add(span);
      else if (op.kind == OpKind::kSend && op.phase == Phase::kForward &&
               op.purpose == Purpose::kActivations)
        stage_of(action).transfer = seconds_of(span.end - span.begin);
    }
    for (std::size_t index = 0; index < actions.size(); ++index) {
      Durations& of = stage_of(index);
      const double seconds = actions[index].seconds();
      switch (program.actions[index].kind) {
        case ActionKind::kForward:
          of.forward = seconds;
          break;
        case ActionKind::kBackward:
          of.backward = seconds;
          break;
        case ActionKind::kInputGrad:
          of.input_grad = seconds;
          break;
        case ActionKind::kWeightGrad:
          of.weight_grad = seconds;
          break;
      }
    }
  }
  return {};
}

}  // namespace

Result<std::vector<Durations>> action_seconds(const Setup& asked, const Machine& machine,
                                              const Order& like) {
  Setup setup = asked;
  // Where two ranks hold each stage both must work.
  setup.microbatches = like.stages < static_cast<int>(like.ranks.size()) * like.chunks ? 2 : 1;
  setup.microbatch_group = 0;
  std::vector<Durations> stages(static_cast<std::size_t>(like.stages));
  for (const bool split : {false, true})
    if (Result<void> added = add_way(setup, machine, like, split, stages); !added)
      return added.error();
  return stages;
}

}  // namespace parallelarium

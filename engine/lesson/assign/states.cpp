// SPDX-License-Identifier: Apache-2.0
// Copies and shards of parameters, gradients and optimizer state. A choice that is a stage of ZeRO
// is built, and its bytes are those of the Program.
#include <algorithm>

#include "engine/lesson/assign/assignment.h"
#include "engine/passes/build.h"
#include "engine/plan/program/report.h"
#include "engine/plan/text/units.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

// -1: no stage of ZeRO.
int stage_of_zero(bool parameters, bool gradients, bool optimizer) {
  if (!optimizer) return parameters || gradients ? -1 : 0;
  if (!gradients) return parameters ? -1 : 1;
  return parameters ? 3 : 2;
}

Message amount(std::int64_t bytes) { return figure(bytes_text(static_cast<double>(bytes))); }

}  // namespace

Result<AssignmentFacts> state_facts(const Setup& setup, const Assignment& assignment) {
  const auto sharded = [&](const char* slot) { return assignment.at(slot) == "shard"; };
  const bool parameters = sharded("parameters"), gradients = sharded("gradients"),
             optimizer = sharded("optimizer");
  AssignmentFacts out;
  Setup of = setup;
  const int stage = stage_of_zero(parameters, gradients, optimizer);
  of.zero = std::max(0, stage);
  if (const auto wrong = validate(of); !wrong.empty()) return wrong.front();
  const Result<Order> order = make_order(of);
  if (!order) return order.error();
  const Result<Program> program = build_program(of, *order);
  if (!program) return program.error();
  const MemoryRow row = memory_of(*program).front();
  const auto held = [&](Category category) {
    return row.bytes[static_cast<std::size_t>(category)];
  };
  if (stage < 0) {
    // The Program has every state whole here.
    const auto part = [&](bool shard, Category category) {
      return held(category) / (shard ? of.mesh.dp : 1);
    };
    out.facts = {{"zero", -1},
                 {"consistent", 0},
                 {"states_bytes", part(parameters, Category::kParameters) +
                                      part(gradients, Category::kGradients) +
                                      part(optimizer, Category::kOptimizer)},
                 {"peak_bytes", row.peak_bytes},
                 {"sent_bytes", 0}};
    if (!optimizer && gradients)
      out.reasons.push_back(message("assign-states.gradients",
                                    "An optimizer state that every rank has whole updates all "
                                    "parameters, and needs the whole gradient for that: a shard of "
                                    "it does not do."));
    if (!optimizer && parameters)
      out.reasons.push_back(message("assign-states.parameters",
                                    "Ranks would keep a shard of the parameters and update all of "
                                    "them: most of a whole optimizer state is of no use then."));
    if (optimizer && !gradients)
      out.reasons.push_back(message("assign-states.whole-gradients",
                                    "A rank that keeps and updates a shard of the parameters needs "
                                    "only that shard of the gradient: the rest takes memory for "
                                    "nothing, and no stage of ZeRO does that."));
    return out;
  }
  std::int64_t sent = 0;
  for (const TrafficRow& traffic : traffic_of(*program, 0)) sent += traffic.sent_bytes;
  const std::int64_t states =
      held(Category::kParameters) + held(Category::kGradients) + held(Category::kOptimizer);
  out.facts = {{"zero", stage},
               {"consistent", 1},
               {"states_bytes", states},
               {"peak_bytes", row.peak_bytes},
               {"sent_bytes", sent}};
  out.reasons.push_back(message("assign-states.held",
                                "So a rank holds {} of states: {} parameters, {} gradients, {} "
                                "optimizer state.",
                                amount(states), amount(held(Category::kParameters)),
                                amount(held(Category::kGradients)),
                                amount(held(Category::kOptimizer))));
  out.reasons.push_back(
      stage == 3 ? message("assign-states.gathered",
                           "It sends {} in a step: shards of parameters are gathered before each "
                           "use, in the forward and again in the backward.",
                           amount(sent))
                 : message("assign-states.sent", "It sends {} in a step.", amount(sent)));
  return out;
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/predict.h"

#include <malloc.h>

#include <algorithm>
#include <optional>

#include "engine/passes/build.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/text/units.h"
#include "engine/predict/cost/in_turns.h"
#include "engine/predict/cost/ring_folds.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/framework/fsdp_memory.h"
#include "engine/predict/memory.h"
#include "engine/predict/network/alike_ranks.h"
#include "engine/predict/predict_steps.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

// The row of the first rank of every pipeline stage.
std::vector<MemoryRow> one_per_stage(std::vector<MemoryRow> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const MemoryRow& a, const MemoryRow& b) {
    return a.stage != b.stage ? a.stage < b.stage : a.rank < b.rank;
  });
  rows.erase(std::unique(rows.begin(), rows.end(),
                         [](const MemoryRow& a, const MemoryRow& b) { return a.stage == b.stage; }),
             rows.end());
  return rows;
}

// What each rank's representative has, for every rank.
std::vector<double> of_every_rank(const std::vector<double>& built, const Program& program,
                                  const Mesh& mesh) {
  std::vector<double> all;
  for (int rank = 0; rank < mesh.ranks(); ++rank)
    all.push_back(built[static_cast<std::size_t>(representative_of(program, mesh, rank))]);
  return all;
}

}  // namespace

std::vector<TrafficRow> expected_traffic(const Prediction& prediction, int rank) {
  const Program& program = prediction.program;
  const int built = representative_of(program, prediction.setup.mesh, rank);
  std::vector<TrafficRow> rows = traffic_of(program, built);
  for (TrafficRow& row : rows) {
    if (row.purpose != Purpose::kTokens || prediction.rows.even()) continue;
    row.sent_bytes = row.received_bytes = 0;
    for (const Op& op : program.ranks[static_cast<std::size_t>(built)].ops) {
      if (op.purpose != Purpose::kTokens) continue;
      const Volume volume = prediction.rows.volume(op, rank);
      row.sent_bytes += volume.sent * op.repeat;
      row.received_bytes += volume.received * op.repeat;
    }
  }
  return rows;
}

void keep_freed_memory() {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the most that glibc takes: larger tables are mapped anew
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
}

Result<Prediction> predict(const Setup& setup, const Machine& machine, bool all_ranks,
                           const Routing* routing) {
  return predict(setup, machine, BuildOptions{.all_ranks = all_ranks}, routing);
}

namespace {

// In a fold, blocks that travel around CP, and 16-bit gradients that are summed in fp32, lie at
// other places in memory than those of pieces, for which computing may have to wait.
bool rings_keep_places(const Setup& setup) {
  const bool sums_apart =
      setup.gradient_reduction == GradientReduction::kFp32 && setup.precision.gradient_bytes < 4;
  return setup.mesh.cp <= 2 && !sums_apart;
}

}  // namespace

BuildOptions prediction_options(const Setup& setup, const Machine& machine, BuildOptions options,
                                const Routing* routing) {
  options.unlike = routing != nullptr || !ranks_are_alike(setup, machine);
  if (options.all_ranks || options.unlike) return options;
  options.representatives = options.representatives || options.stage_level;
  options.fold_rings = sharing_of(setup, machine) == Sharing::kNone && !machine.groups_take_turns &&
                       rings_keep_places(setup);
  return options;
}

Result<Prediction> predict(const Setup& setup, const Machine& machine, const BuildOptions& options,
                           const Routing* routing) {
  const std::vector<Message> wrong = validate(setup);
  if (!wrong.empty()) return wrong.front();
  Result<Order> order = make_order(setup, options.may_wait);
  if (!order.ok()) return order.error();
  const BuildOptions built = prediction_options(setup, machine, options, routing);
  Result<Prediction> timed = time_program(setup, machine, std::move(*order), built, routing);
  if (!timed) return timed;
  add_memory(*timed);
  add_reserved(*timed);
  add_figures(*timed, Repeats());
  timed->traffic = expected_traffic(*timed, 0);
  timed->formulas = formulas_of(setup, machine);
  return timed;
}

Result<Prediction> build_prediction(const Setup& setup, const Machine& machine, Order order,
                                    const BuildOptions& built, const Routing* routing) {
  Result<Program> program = build_program(setup, order, built);
  if (!program.ok()) return program.error();
  Prediction prediction;
  prediction.setup = setup;
  prediction.machine = machine;
  prediction.word = prediction_word(machine);
  prediction.cores_for_gpus =
      setup.run.backend == Backend::kCuda && machine.local && machine.name != kLocalGpus;
  prediction.order = std::move(order);
  prediction.program = std::move(*program);
  Result<ExpertRows> rows = ExpertRows::make(setup, routing);
  if (!rows) return rows.error();
  prediction.rows = std::move(*rows);
  return prediction;
}

void add_timeline(Prediction& prediction, const Enough& enough) {
  const Program& program = prediction.program;
  const CostModel cost(program, prediction.machine, prediction.setup, &prediction.rows);
  prediction.timeline = prediction.machine.groups_take_turns
                            ? simulate(in_turns(program), cost, enough)
                            : simulate(program, cost, enough);
  prediction.timeline.source = Source::kPredicted;
}

Result<Prediction> time_program(const Setup& setup, const Machine& machine, Order order,
                                const BuildOptions& built, const Routing* routing) {
  Result<Prediction> prediction =
      build_prediction(setup, machine, std::move(order), built, routing);
  if (prediction) add_timeline(*prediction);
  return prediction;
}

void add_memory(Prediction& prediction) {
  const Setup& setup = prediction.setup;
  const Machine& machine = prediction.machine;
  const std::vector<MemoryRow> all_memory = memory_of(prediction.program);
  prediction.capacity_bytes =
      static_cast<std::int64_t>(machine.memory_bytes.value * machine.usable_memory_share);
  const bool share_gpu = sharing_of(setup, machine) == Sharing::kGpu,
             together = prediction.memory_together();
  for (const MemoryRow& row : all_memory) {
    prediction.needed_bytes = together ? prediction.needed_bytes + row.peak_bytes
                                       : std::max(prediction.needed_bytes, row.peak_bytes);
  }
  if (together) {
    if (!share_gpu) prediction.capacity_bytes *= machine.devices_per_node;
    // A Program of representatives stands for the other ranks too.
    prediction.needed_bytes *=
        prediction.program.world / static_cast<std::int64_t>(prediction.program.ranks.size());
  }
  prediction.memory = one_per_stage(all_memory);
  for (MemoryRow& row : prediction.memory)
    row.framework_bytes = framework_bytes_of(setup, machine, row.stage);
}

void add_reserved(Prediction& prediction) {
  if (!trains_by_fsdp(prediction.setup, prediction.machine)) return;
  // The prediction's own order may have fewer micro-batches, and an order of the user may wait for
  // ever.
  const Result<Order> order = make_order(prediction.setup);
  if (!order) return;
  const std::vector<std::int64_t> reserved =
      fsdp_reserved_bytes(prediction.setup, prediction.machine, *order);
  for (MemoryRow& row : prediction.memory)
    row.reserved_bytes = reserved[static_cast<std::size_t>(row.stage)];
}

void add_figures(Prediction& prediction, const Repeats& repeats) {
  const Setup& setup = prediction.setup;
  const Machine& machine = prediction.machine;
  prediction.parameters = count_parameters(setup.model);
  prediction.step_flops =
      model_flops_per_sequence(setup.model) * static_cast<double>(setup.global_batch());
  prediction.bubble = bubble_of(prediction.program, prediction.timeline, repeats);
  if (prediction.program.representatives && setup.mesh.ranks() <= kMostBuiltRanks)
    prediction.bubble.ranks =
        of_every_rank(prediction.bubble.ranks, prediction.program, setup.mesh);
  const Program& program = prediction.program;
  std::optional<CostModel> cost;  // a search makes figures of many steps, and few have rings inside
  if (std::any_of(program.folds.begin(), program.folds.end(),
                  [](const Fold& fold) { return !fold.moved.empty(); }))
    cost.emplace(program, machine, setup, &prediction.rows);
  prediction.step = step_figures(program, prediction.timeline, repeats, setup, machine,
                                 cost ? ring_times(program, *cost) : RingTimes());
  if (sharing_of(setup, machine) == Sharing::kGpu)
    prediction.step.forget_peak();  // a rank has no device of its own to use well
}

bool gathers_instead_of_ring(const Prediction& prediction) {
  const Setup& setup = prediction.setup;
  return setup.mesh.cp > 1 && setup.context_parallel == ContextParallel::kRing &&
         setup.attention == Attention::kUnfused;
}

std::vector<Message> remarks_of(const Prediction& prediction) {
  const Setup& setup = prediction.setup;
  const Program& program = prediction.program;
  std::vector<Message> remarks;
  if (prediction.cores_for_gpus)
    remarks.push_back(message("remark-cores",
                              "These times are of the cores: no GPU of this computer has been "
                              "calibrated, which a first run on them or `calibrate` does."));
  if (prediction.machine.local && prediction.machine.calibrated.empty())
    if (const Result<Machine> kept = find_machine("local"); !kept)  // a file that cannot be used
      remarks.push_back(kept.error());
  if (prediction.machine.lanes_share_core && setup.run.backend == Backend::kPaced)
    remarks.push_back(message("remark-lanes",
                              "A rehearsal gives every lane of a rank a core of its own: ranks "
                              "that share cores (--backend cpu) take longer."));
  if (program.representatives && !prediction.machine.local &&
      !ranks_are_alike(setup, prediction.machine))
    remarks.push_back(
        program.world > kMostBuiltRanks
            ? message("remark-stand-unlike",
                      "{} ranks are too many to build each, so one of every stage stands "
                      "for the others, though not all do the same at the same time: the "
                      "step may take longer, and ranks may wait more.",
                      program.world)
            : message("remark-stand-long",
                      "The ops of {} ranks are too many to build with {} micro-batches, so one "
                      "rank of every stage stands for the others, though not all do the same at "
                      "the same time: the step may take longer, and ranks may wait more.",
                      program.world, setup.microbatches));
  else if (program.representatives)
    remarks.push_back(program.ranks.size() == 1
                          ? message("remark-stands",
                                    "1 rank stands for all {}: the others do the same at the same "
                                    "time.",
                                    program.world)
                          : message("remark-stand",
                                    "{} ranks stand for all {}: the others do the same at the same "
                                    "time.",
                                    program.ranks.size(), program.world));
  if (program.level == Level::kStage)
    remarks.push_back(message("remark-stage-level",
                              "Pieces that follow one another are one op here: this Setup has too "
                              "many to show each. The times are the same."));
  if (ranks_share_gpu(setup, prediction.machine))
    remarks.push_back(message("remark-one-gpu",
                              "All {} ranks are on one GPU: their ops take turns there, and its "
                              "memory is theirs together.",
                              setup.mesh.ranks()));
  if (prediction.machine.groups_take_turns && has_several_groups(program))
    remarks.push_back(message("remark-turns",
                              "Communication of different groups goes one after another here: "
                              "below CUDA 12.3 NCCL lets none of a GPU overlap."));
  if (gathers_instead_of_ring(prediction))
    remarks.push_back(message("remark-gathers",
                              "CP's keys and values are gathered here before attention, not passed "
                              "round: unfused attention keeps whole scores. The bytes are the "
                              "same, but none are hidden behind attention."));
  const ScheduleRule* rule = find_schedule_rule(setup.schedule);
  if (holds_stages_twice(setup))
    remarks.push_back(
        message("remark-twice",
                "{} holds every stage on two ranks: twice the model states of 1F1B, "
                "and the gradients of both copies are added up once a step.",
                rule != nullptr ? title_of(*rule) : message("remark-the-order", "The order")));
  if (const SlowRank& slow = setup.run.slow_rank; slow.factor != 1) {
    const Message slowed =
        message("remark-slow", "Rank {} is slow on purpose: its computing takes {} times as long.",
                slow.rank, figure(exact_text(slow.factor)));
    remarks.push_back(program.representatives
                          ? message("remark-slow-replica",
                                    "{} The ranks shown stand for those of its replica.", slowed)
                          : slowed);
  }
  if (const std::int64_t device = device_bytes_of(prediction.machine);
      device > 0 && prediction.fits())
    for (const MemoryRow& row : prediction.memory) {
      const std::int64_t over = row.peak_bytes + row.framework_bytes - device;
      if (row.framework_bytes == 0 || over <= 0) continue;
      remarks.push_back(
          message("remark-framework",
                  "Stage {} fits by itself, but with the {} that the framework keeps "
                  "beside it there are {} more than a device has: `plan` counts it as "
                  "too large.",
                  row.stage, figure(bytes_text(double(row.framework_bytes))),
                  figure(bytes_text(double(over)))));
      break;
    }
  const auto fullest = std::max_element(
      prediction.memory.begin(), prediction.memory.end(),
      [](const MemoryRow& a, const MemoryRow& b) { return a.reserved_bytes < b.reserved_bytes; });
  if (fullest != prediction.memory.end() && fullest->reserved_bytes > 0)
    remarks.push_back(
        message("remark-reserved",
                "PyTorch's FSDP would reserve {} on a rank of stage {}. A stream does "
                "not use what another one has freed, and free blocks are often too "
                "small.",
                figure(bytes_text(static_cast<double>(fullest->reserved_bytes))), fullest->stage));
  for (Message& remark : unwise(prediction)) remarks.push_back(std::move(remark));
  if (const Result<void> runs = can_execute(setup); !runs)
    remarks.push_back(
        message("remark-no-run", "This Setup can be predicted, but not run: {}", runs.error()));
  return remarks;
}

}  // namespace parallelarium

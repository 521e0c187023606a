// SPDX-License-Identifier: Apache-2.0
// What one micro-batch does on each stage, read from small Programs.
#include <algorithm>

#include "engine/passes/build.h"
#include "engine/plan/program/report.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/bound.h"
#include "engine/predict/cost/simulate.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

constexpr int kAlikeStages = 3;

bool is_action(const Op& op, Lane lane) { return op.lane == lane && op.action >= 0; }

// The stage's ops of one kind of action in the compute lane, and what they wait for and enable.
class ActionReader {
 public:
  ActionReader(const RankProgram& rank, const CostModel& cost, ActionKind kind)
      : rank_(rank), cost_(cost), kind_(kind) {}

  ActionBound read() {
    ActionBound bound;
    before_.assign(rank_.ops.size(), -1);
    for (std::size_t at = 0; at < rank_.ops.size(); ++at) {
      const Op& op = rank_.ops[at];
      if (!is_action(op, Lane::kCompute) || kind_of(op) != kind_) continue;
      before_[at] = bound.duration;
      bound.duration += cost_.nanoseconds(op, rank_.rank);
    }
    bound.until_need = bound.duration;
    const bool forward = kind_ == ActionKind::kForward;
    const Purpose travels = forward ? Purpose::kActivations : Purpose::kGradients;
    for (std::size_t at = 0; at < rank_.ops.size(); ++at) {
      const Op& op = rank_.ops[at];
      if (before_[at] >= 0)
        for (const std::int32_t needed : rank_.after_of(op))
          if (is_transfer(needed, OpKind::kRecv, travels))
            bound.until_need = std::min(bound.until_need, before_[at]);
      if (!is_transfer(static_cast<std::int32_t>(at), OpKind::kSend, travels)) continue;
      for (const std::int32_t needed : rank_.after_of(op)) {
        const auto index = static_cast<std::size_t>(needed);
        if (before_[index] >= 0)
          bound.until_have = std::max(
              bound.until_have, before_[index] + cost_.nanoseconds(rank_.ops[index], rank_.rank));
      }
    }
    return bound;
  }

 private:
  ActionKind kind_of(const Op& op) const {
    return rank_.actions[static_cast<std::size_t>(op.action)].kind;
  }
  bool is_transfer(std::int32_t index, OpKind kind, Purpose purpose) const {
    const Op& op = rank_.ops[static_cast<std::size_t>(index)];
    return op.kind == kind && op.purpose == purpose && op.lane == Lane::kPipeline && op.action < 0;
  }

  const RankProgram& rank_;
  const CostModel& cost_;
  ActionKind kind_;
  std::vector<std::int64_t> before_;  // of each op of the action; -1: of another
};

std::int64_t beside_states(const CategoryBytes& bytes) {
  return bytes[static_cast<std::size_t>(Category::kActivations)] +
         bytes[static_cast<std::size_t>(Category::kBuffers)];
}

void read_memory(const Program& program, const RankProgram& rank, StageBound& stage) {
  for_held_bytes(program, rank, [&](const HeldBytes& held) {
    if (held.op < 0) return;
    const Op& op = rank.ops[static_cast<std::size_t>(held.op)];
    if (op.action < 0) return;
    const ActionKind kind = rank.actions[static_cast<std::size_t>(op.action)].kind;
    std::int64_t& peak = stage.actions[static_cast<std::size_t>(kind)].peak_bytes;
    peak = std::max(peak, beside_states(held.at_peak));
  });
  // What is open from the forward's last op to the backward's first.
  std::int32_t forward_end = -1, backward_begin = static_cast<std::int32_t>(rank.ops.size());
  for (std::size_t at = 0; at < rank.ops.size(); ++at) {
    const Op& op = rank.ops[at];
    if (!is_action(op, Lane::kCompute)) continue;
    const auto index = static_cast<std::int32_t>(at);
    if (rank.actions[static_cast<std::size_t>(op.action)].kind == ActionKind::kForward)
      forward_end = index;
    else
      backward_begin = std::min(backward_begin, index);
  }
  for (const Buffer& buffer : rank.buffers) {
    const bool states =
        buffer.category != Category::kActivations && buffer.category != Category::kBuffers;
    if (!states && buffer.microbatch >= 0 && buffer.opened_by >= 0 &&
        buffer.opened_by <= forward_end && buffer.closed_by >= backward_begin)
      stage.kept_bytes += buffer.bytes;
  }
}

void read_parameters(const RankProgram& rank, StageBound& stage) {
  for (const ParameterSlice& slice : rank.parameters) {
    const auto count = static_cast<double>(slice.count);
    (slice.parameter == Parameter::kExpertWeights ? stage.experts : stage.shared) += count;
    if (slice.shared_copy) stage.copied_table += count;
  }
}

struct Stages {
  std::vector<StageBound> stages;
  std::int64_t transfer_bytes = 0;
};

Result<Stages> read_stages(const Setup& setup, const Machine& machine) {
  const Result<Order> order = make_order(setup);
  if (!order) return order.error();
  const Result<Program> program = build_program(setup, *order, BuildOptions{.stage_level = true});
  if (!program) return program.error();
  const Result<ExpertRows> rows = ExpertRows::make(setup, nullptr);
  if (!rows) return rows.error();
  const CostModel cost(*program, machine, setup, &*rows);
  Stages read;
  read.stages.resize(static_cast<std::size_t>(setup.mesh.pp));
  for (const RankProgram& rank : program->ranks) {
    if (rank.at.dp != 0 || rank.at.tp != 0 || rank.at.cp != 0) continue;
    StageBound& stage = read.stages[static_cast<std::size_t>(rank.stage)];
    for (int kind = 0; kind < 4; ++kind)
      stage.actions[static_cast<std::size_t>(kind)] =
          ActionReader(rank, cost, static_cast<ActionKind>(kind)).read();
    read_memory(*program, rank, stage);
    read_parameters(rank, stage);
    for (const Op& op : rank.ops)
      if (op.kind == OpKind::kSend && op.purpose == Purpose::kActivations && op.action < 0)
        read.transfer_bytes = op.bytes;
  }
  return read;
}

// The same stages for one micro-batch of one replica.
Setup small_setup(const Setup& setup, bool alike) {
  Setup small = setup;
  const int stages = stages_of(setup);
  small.mesh.dp = setup.mesh.ep;
  small.mesh.pp = alike ? std::min(stages, kAlikeStages) : stages;
  small.schedule = "gpipe";
  small.chunks = 1;
  small.microbatches = 1;
  small.microbatch_group = 0;
  small.zero = small.zero_group = small.nodes = 0;
  small.run.slow_rank = {};
  small.collectives = "direct";
  if (alike) {
    small.stage_layers.clear();
    small.model.stage_layers.clear();
    small.model.layers = setup.model.layers / stages * small.mesh.pp;
  }
  // Experts of a Setup that can be run have larger buffers, and many ranks cannot.
  constexpr int kTooMany = 17;
  if (setup.model.experts.count > 0 && !can_execute(setup) && can_execute(small))
    small.mesh.dp *= kTooMany;
  return small;
}

// Whether every stage but the first and the last has the same layers as its neighbours.
bool are_alike(const Setup& setup) {
  const std::vector<int> layers = layers_of_stages(setup);
  return setup.model.experts.first_dense == 0 &&
         std::all_of(layers.begin(), layers.end(), [&](int count) { return count == layers[0]; });
}

// What a transfer between two ranks takes at least, by whichever link they have.
std::int64_t least_transfer(const Machine& machine, std::int64_t bytes) {
  if (machine.local || !machine.pairs.empty()) return 0;
  const double fastest = std::max(machine.intra_node.bytes_per_second.value,
                                  machine.inter_node.bytes_per_second.value);
  return fastest > 0 ? static_cast<std::int64_t>(1e9 * static_cast<double>(bytes) / fastest) : 0;
}

}  // namespace

StageKey key_of(const Candidate& candidate, const Setup& setup) {
  StageKey key;
  key.tp = candidate.tp;
  key.cp = candidate.cp;
  key.ep = candidate.ep;
  key.micro_batch = candidate.micro_batch;
  key.stages = stages_of(setup);
  key.recompute = candidate.recompute;
  key.sequence_parallel = candidate.sequence_parallel;
  key.executable = setup.model.experts.count > 0 && can_execute(setup).ok();
  return key;
}

const StageBound& StageTable::stage(int index, int stages, bool of_split) const {
  const std::vector<StageBound>& all = of_split ? split : whole;
  const auto last = static_cast<int>(all.size()) - 1;
  if (!alike) return all[static_cast<std::size_t>(index)];
  return all[static_cast<std::size_t>(index == 0 ? 0 : index == stages - 1 ? last : 1)];
}

Result<StageTable> stage_table(const Setup& setup, const Machine& machine) {
  StageTable table;
  table.alike = are_alike(setup);
  Setup small = small_setup(setup, table.alike);
  Result<Stages> whole = read_stages(small, machine);
  if (!whole) return whole.error();
  small.schedule = "zb-h1";
  Result<Stages> split = read_stages(small, machine);
  if (!split) return split.error();
  table.whole = std::move(whole->stages);
  table.split = std::move(split->stages);
  table.transfer = setup.overlap_pipeline ? least_transfer(machine, whole->transfer_bytes) : 0;
  return table;
}

}  // namespace parallelarium

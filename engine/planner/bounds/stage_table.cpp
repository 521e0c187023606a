// SPDX-License-Identifier: Apache-2.0
// What one micro-batch does on each stage, read from small Programs.
#include <algorithm>
#include <climits>
#include <map>
#include <numeric>
#include <optional>

#include "engine/passes/build.h"
#include "engine/plan/program/report.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/bounds/action_reader.h"
#include "engine/planner/bounds/bound.h"
#include "engine/predict/cost/simulate.h"
#include "engine/predict/network/alike_ranks.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {

namespace {

constexpr int kAlikeStages = 3;
constexpr int kBuiltLayers = 3;  // of a stage that stands for others
constexpr int kFewLayers = 2;    // of those others, at least: fewer leave some sums out

bool is_action(const Op& op, Lane lane) { return op.lane == lane && op.action >= 0; }

std::int64_t beside_states(const CategoryBytes& bytes) {
  return bytes[static_cast<std::size_t>(Category::kActivations)] +
         bytes[static_cast<std::size_t>(Category::kBuffers)];
}

// By action and layer, the last ops that read each bucket: until then it is gathered.
using LastReads = std::map<std::pair<std::int32_t, std::int16_t>, std::map<std::int16_t, int>>;
LastReads last_reads(const RankProgram& rank) {
  LastReads last;
  for (std::size_t at = 0; at < rank.ops.size(); ++at) {
    const Op& op = rank.ops[at];
    if (op.layer < 0) continue;
    for_read_buckets(rank, op, [&](std::int16_t bucket) {
      last[{op.action, op.layer}][bucket] = static_cast<int>(at);
    });
  }
  return last;
}

void read_memory(const Program& program, const RankProgram& rank, StageBound& stage) {
  const LastReads reads = last_reads(rank);
  for_held_bytes(program, rank, [&](const HeldBytes& held) {
    if (held.op < 0) return;
    const Op& op = rank.ops[static_cast<std::size_t>(held.op)];
    if (op.action < 0) return;
    const ActionKind kind = rank.actions[static_cast<std::size_t>(op.action)].kind;
    ActionBound& action = stage.actions[static_cast<std::size_t>(kind)];
    const std::int64_t bytes = beside_states(held.at_peak);
    action.peak_bytes = std::max(action.peak_bytes, bytes);
    const auto read = op.layer >= 0 ? reads.find({op.action, op.layer}) : reads.end();
    if (read != reads.end()) {
      int first = INT_MAX, last = -1;
      for (const auto& [bucket, at] : read->second) {
        first = std::min(first, at);
        last = std::max(last, at);
      }
      if (held.op <= last) action.layer_bytes = std::max(action.layer_bytes, bytes);
      if (held.op <= first) action.buckets_bytes = std::max(action.buckets_bytes, bytes);
    }
    if (op.piece == Piece::kEmbedding) action.table_bytes = std::max(action.table_bytes, bytes);
    if (op.piece == Piece::kHead && op.phase != Phase::kWeightGrad)
      action.head_bytes = std::max(action.head_bytes, bytes);
  });
  // What is open from the forward's last op to the backward's first, and between a backward's
  // parts.
  const auto end = static_cast<std::int32_t>(rank.ops.size());
  std::array<std::int32_t, 4> first, last;
  first.fill(end);
  last.fill(-1);
  for (std::int32_t index = 0; index < end; ++index) {
    const Op& op = rank.ops[static_cast<std::size_t>(index)];
    if (!is_action(op, Lane::kCompute)) continue;
    const auto kind =
        static_cast<std::size_t>(rank.actions[static_cast<std::size_t>(op.action)].kind);
    first[kind] = std::min(first[kind], index);
    last[kind] = index;
  }
  const auto at = [](ActionKind kind) { return static_cast<std::size_t>(kind); };
  const std::int32_t forward_end = last[at(ActionKind::kForward)];
  const std::int32_t weights = first[at(ActionKind::kWeightGrad)];
  const std::int32_t backward_begin =
      std::min({first[at(ActionKind::kBackward)], first[at(ActionKind::kInputGrad)], weights});
  const std::int32_t inputs_end = last[at(ActionKind::kInputGrad)];
  for (const Buffer& buffer : rank.buffers) {
    const bool states =
        buffer.category != Category::kActivations && buffer.category != Category::kBuffers;
    if (states || buffer.microbatch < 0 || buffer.opened_by < 0) continue;
    if (buffer.opened_by <= forward_end && buffer.closed_by >= backward_begin)
      stage.kept_bytes += buffer.bytes;
    if (inputs_end >= 0 && buffer.opened_by <= inputs_end && buffer.closed_by >= weights)
      stage.waiting_bytes += buffer.bytes;
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

// `experts`: the ranks of a group of EP; none: as the Setup has them.
Result<Stages> read_stages(const Setup& setup, const Machine& machine,
                           const std::vector<int>& experts) {
  const Result<Order> order = make_order(setup);
  if (!order) return order.error();
  // One rank of a stage is read, which does as others unless causal scores are cut unevenly.
  Result<Program> program =
      build_program(setup, *order, BuildOptions{.representatives = !is_unbalanced(setup)});
  if (!program) return program.error();
  for (Group& group : program->groups)
    if (group.axis == Axis::kEp && !experts.empty()) group.ranks = experts;
  const Result<ExpertRows> rows = ExpertRows::make(setup, nullptr);
  if (!rows) return rows.error();
  const CostModel cost(*program, machine, setup, &*rows);
  Stages read;
  read.stages.resize(static_cast<std::size_t>(setup.mesh.pp));
  for (const RankProgram& rank : program->ranks) {
    if (rank.at.dp != 0 || rank.at.tp != 0 || rank.at.cp != 0) continue;
    StageBound& stage = read.stages[static_cast<std::size_t>(rank.stage)];
    for (std::size_t kind = 0; kind < 4; ++kind) {
      const ActionReader reader(rank, cost, static_cast<ActionKind>(kind));
      stage.actions[kind] = reader.read();
      stage.stretches[kind] = reader.read_stretches();
    }
    read_memory(*program, rank, stage);
    read_parameters(rank, stage);
    for (const Op& op : rank.ops)
      if (op.kind == OpKind::kSend && op.purpose == Purpose::kActivations && op.action < 0)
        read.transfer_bytes = op.bytes;
  }
  return read;
}

// Stages that stand for all: the first, those between with different numbers of layers, the last.
struct Rows {
  std::vector<int> layers;
  std::vector<std::uint8_t> of_stage;
};
Rows rows_of(const std::vector<int>& layers) {
  Rows rows;
  const std::size_t last = layers.size() - 1;
  for (std::size_t stage = 0; stage <= last; ++stage) {
    const bool between = stage > 0 && stage < last;
    const auto from = rows.layers.begin() + (between ? 1 : static_cast<int>(rows.layers.size()));
    const auto at = std::find(from, rows.layers.end(), layers[stage]);
    rows.of_stage.push_back(static_cast<std::uint8_t>(at - rows.layers.begin()));
    if (at == rows.layers.end()) rows.layers.push_back(layers[stage]);
  }
  return rows;
}

// The same stages for one micro-batch of one replica; alike ones have so many layers each, others
// are one for each of the rows, if any.
Setup small_setup(const Setup& setup, bool alike, int layers, const Rows& rows = {}) {
  Setup small = setup;
  const int stages = stages_of(setup);
  small.mesh.dp = setup.mesh.ep;
  small.mesh.order = Mesh().order;  // in which the ranks of an EP group are nearest
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
    small.model.layers = layers * small.mesh.pp;
  } else if (!rows.layers.empty()) {
    small.mesh.pp = static_cast<int>(rows.layers.size());
    small.stage_layers = rows.layers;
    small.model.stage_layers.clear();
    small.model.layers = std::accumulate(rows.layers.begin(), rows.layers.end(), 0);
  }
  // Experts of a Setup that can be run have larger buffers, and many ranks cannot.
  constexpr int kTooMany = 17;
  if (setup.model.experts.count > 0 && !can_execute(setup) && can_execute(small))
    small.mesh.dp *= kTooMany;
  return small;
}

bool have_equal_layers(const std::vector<int>& layers) {
  return std::all_of(layers.begin(), layers.end(), [&](int count) { return count == layers[0]; });
}

// Whether three stages stand for all: the same layers lie between the first and the last, or all
// have so many that what a stage takes follows from their number.
bool are_alike(const Setup& setup, const std::vector<int>& layers) {
  if (setup.model.experts.first_dense > 0 || recomputes_some_layers(setup)) return false;
  return have_equal_layers(layers) ||
         std::all_of(layers.begin(), layers.end(), [](int count) { return count >= kFewLayers; });
}

// What a transfer between two ranks takes at least, by whichever link they have.
std::int64_t least_transfer(const Machine& machine, std::int64_t bytes) {
  if (machine.local || !machine.pairs.empty()) return 0;
  const double fastest = std::max(machine.intra_node.bytes_per_second.value,
                                  machine.inter_node.bytes_per_second.value);
  return fastest > 0 ? static_cast<std::int64_t>(1e9 * static_cast<double>(bytes) / fastest) : 0;
}

// Where groups of TP and CP do not fill a node, some of the small setup's may lie across two nodes
// though the Setup's own do not: then all are taken to be on one.
std::optional<Machine> with_whole_groups(const Setup& setup, const Machine& machine) {
  const int inner = setup.mesh.tp * setup.mesh.cp;
  if (inner >= machine.devices_per_node || machine.devices_per_node % inner == 0)
    return std::nullopt;
  constexpr int kNodes = 1 << 16;
  Machine whole = machine;
  whole.devices_per_node *= kNodes;
  return whole;
}

// The table's stages with a whole and with a split backward.
Result<void> read_table(Setup small, const Machine& own_machine, const std::vector<int>& experts,
                        StageTable& table) {
  const std::optional<Machine> whole_groups = with_whole_groups(small, own_machine);
  const Machine& machine = whole_groups ? *whole_groups : own_machine;
  Result<Stages> whole = read_stages(small, machine, experts);
  if (!whole) return whole.error();
  small.schedule = "zb-h1";
  Result<Stages> split = read_stages(small, machine, experts);
  if (!split) return split.error();
  table.whole = std::move(whole->stages);
  table.split = std::move(split->stages);
  table.transfer = small.overlap_pipeline ? least_transfer(machine, whole->transfer_bytes) : 0;
  return {};
}

// a + times * b, member by member, without stretches.
StageBound plus(const StageBound& a, const StageBound& b, int times) {
  StageBound sum;
  sum.actions = a.actions;
  sum.kept_bytes = a.kept_bytes;
  sum.waiting_bytes = a.waiting_bytes;
  sum.shared = a.shared;
  sum.experts = a.experts;
  sum.copied_table = a.copied_table;
  for (std::size_t kind = 0; kind < sum.actions.size(); ++kind) {
    ActionBound& action = sum.actions[kind];
    const ActionBound& more = b.actions[kind];
    action.busy += times * more.busy;
    action.duration += times * more.duration;
    action.until_need += times * more.until_need;
    action.until_have += times * more.until_have;
    action.peak_bytes += times * more.peak_bytes;
    action.layer_bytes += times * more.layer_bytes;
    action.buckets_bytes += times * more.buckets_bytes;
    action.table_bytes += times * more.table_bytes;
    action.head_bytes += times * more.head_bytes;
  }
  sum.kept_bytes += times * b.kept_bytes;
  sum.waiting_bytes += times * b.waiting_bytes;
  sum.shared += times * b.shared;
  sum.experts += times * b.experts;
  sum.copied_table += times * b.copied_table;
  return sum;
}

// With so many more layers, or fewer, like the one in the middle, which is neither the first nor
// the last of them.
void lengthen(std::vector<StretchBound>& stretches, int layers) {
  if (stretches.size() < static_cast<std::size_t>(kBuiltLayers)) return;
  const auto middle = stretches.begin() + static_cast<std::ptrdiff_t>(stretches.size() / 2);
  const StretchBound layer = *middle;
  if (layers > 0) stretches.insert(middle, static_cast<std::size_t>(layers), layer);
  if (layers < 0) stretches.erase(middle, middle - layers);
}

std::vector<StageBound> less(const std::vector<StageBound>& a, const std::vector<StageBound>& b) {
  std::vector<StageBound> rest;
  for (std::size_t at = 0; at < a.size(); ++at) rest.push_back(plus(a[at], b[at], -1));
  return rest;
}

}  // namespace

StageKey key_of(const Candidate& candidate, const Setup& setup, const Machine& machine) {
  StageKey key;
  key.tp = candidate.tp;
  key.cp = candidate.cp;
  key.ep = candidate.ep;
  key.micro_batch = candidate.micro_batch;
  key.stages = stages_of(setup);
  const std::vector<int> layers = layers_of_stages(setup);
  if (are_alike(setup, layers)) {
    key.layers =
        have_equal_layers(layers) ? std::min(layers[0], kBuiltLayers + 1) : kBuiltLayers + 1;
    key.stages = std::min(key.stages, kAlikeStages);
  } else {
    key.cut = candidate.layers;
  }
  key.recompute = candidate.recompute;
  key.sequence_parallel = candidate.sequence_parallel;
  key.executable = setup.model.experts.count > 0 && can_execute(setup).ok();
  if (setup.mesh.ep > 1 && ranks_are_alike(setup, machine)) {
    const std::vector<int> group = group_of(setup.mesh, Axis::kEp, 0);
    const int next = group[1] - group[0], node = std::max(1, machine.devices_per_node);
    key.ep_on_node = std::clamp(node / next, 1, setup.mesh.ep);
  }
  return key;
}

const StageBound& StageTable::stage(int index, int stages, bool of_split) const {
  const std::vector<StageBound>& all = of_split ? split : whole;
  const auto last = static_cast<int>(all.size()) - 1;
  if (!rows.empty()) return all[rows[static_cast<std::size_t>(index)]];
  if (!alike) return all[static_cast<std::size_t>(index)];
  return all[static_cast<std::size_t>(index == 0 ? 0 : index == stages - 1 ? last : 1)];
}

StageTable StageTable::grown(const std::vector<int>& layers_of_stages, bool with_stretches) const {
  StageTable table;
  table.transfer = transfer;
  table.rows.reserve(layers_of_stages.size());
  std::vector<std::pair<std::size_t, int>> known;  // place and layers of each row
  for (std::size_t stage = 0; stage < layers_of_stages.size(); ++stage) {
    const std::size_t place = stage == 0                             ? 0
                              : stage + 1 == layers_of_stages.size() ? whole.size() - 1
                                                                     : 1;
    const std::pair row(place, layers_of_stages[stage]);
    const auto at = std::find(known.begin(), known.end(), row);
    table.rows.push_back(static_cast<std::uint8_t>(at - known.begin()));
    if (at != known.end()) continue;
    known.push_back(row);
    const int more = row.second - layers;
    table.whole.push_back(plus(whole[place], whole_more[place], more));
    table.split.push_back(plus(split[place], split_more[place], more));
    for (const bool parted : {false, true}) {
      if (!with_stretches) break;
      StageBound& bound = (parted ? table.split : table.whole).back();
      bound.stretches = (parted ? split : whole)[place].stretches;
      for (std::vector<StretchBound>& stretches : bound.stretches) lengthen(stretches, more);
    }
  }
  return table;
}

Result<StageTable> stage_table(const Setup& setup, const Machine& machine) {
  StageTable table;
  const std::vector<int> own = layers_of_stages(setup);
  table.alike = are_alike(setup, own);
  const bool grows = table.alike && (own[0] > kBuiltLayers || !have_equal_layers(own));
  const int built = grows ? kBuiltLayers : own[0];
  Rows rows;
  if (!table.alike && setup.model.experts.first_dense == 0) rows = rows_of(own);
  // Where all groups of EP lie alike on the nodes, tokens take as long as in the first.
  std::vector<int> experts;
  if (setup.mesh.ep > 1 && ranks_are_alike(setup, machine))
    experts = group_of(setup.mesh, Axis::kEp, 0);
  const Setup small = small_setup(setup, table.alike, built, rows);
  if (Result<void> read = read_table(small, machine, experts, table); !read) return read.error();
  table.rows = std::move(rows.of_stage);
  if (!grows) return table;
  StageTable shorter;
  if (Result<void> read =
          read_table(small_setup(setup, true, built - 1), machine, experts, shorter);
      !read)
    return read.error();
  table.layers = built;
  table.whole_more = less(table.whole, shorter.whole);
  table.split_more = less(table.split, shorter.split);
  return table;
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/planner/bounds/stage_family.h"

#include <algorithm>
#include <optional>

#include "engine/passes/axes/causal_share.h"
#include "engine/passes/build.h"
#include "engine/passes/fold/lone_stages.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/planner/bounds/stage_reader.h"
#include "engine/predict/network/alike_ranks.h"

namespace parallelarium {

namespace {

constexpr int kPlaces = 3;
constexpr std::int16_t kBuiltLayers = 3;  // of a stage that stands for those of more

// The layers that a shape may have more of: experts, or dense ones where it has no experts.
std::int16_t StageShape::*growing(const StageShape& shape) {
  return shape.experts > 0 ? &StageShape::experts : &StageShape::dense;
}
StageShape with_layers(StageShape shape, std::int16_t layers) {
  shape.*growing(shape) = layers;
  return shape;
}

// Layers of the model without experts; they come first.
int dense_layers(const Model& model) {
  return model.experts.count > 0 ? std::min(model.experts.first_dense, model.layers) : model.layers;
}

// One replica of the Setup with its first ranks.
Setup one_replica(const Setup& setup) {
  Setup small = setup;
  small.mesh.dp = setup.mesh.least_replicas();
  small.mesh.order = Mesh().order;  // in which the ranks of an EP group are nearest
  small.mesh.pp = kPlaces;
  small.schedule = "gpipe";
  small.chunks = 1;
  small.microbatches = 1;
  small.microbatch_group = 0;
  small.zero = small.zero_group = small.nodes = 0;
  small.run.slow_rank = {};
  small.collectives = "direct";
  small.scatter_gather = scatters_transfers(setup);  // whatever places stand here for its stages
  small.stage_layers.clear();
  return small;
}

// Of a rank. Experts of a Setup that can be run have larger buffers, and many ranks cannot.
LocalSizes sizes_of(const Setup& small, const Setup& example) {
  constexpr int kTooMany = 17;
  Setup alone = small;
  alone.mesh.pp = 1;
  if (example.model.experts.count > 0 && !can_execute(example) && can_execute(alone))
    alone.mesh.dp *= kTooMany;
  LocalSizes sizes = local_sizes(alone);
  sizes.boundary = local_sizes(small).boundary;
  return sizes;
}

LoneStage lone_stage(const Model& model, const StageShape& shape) {
  LoneStage stage;
  stage.place = shape.place;
  Chunk& chunk = stage.chunk;
  chunk.first = shape.place == 0;
  chunk.last = shape.last;
  chunk.begin = model.experts.count > 0 ? dense_layers(model) - shape.dense : 0;
  for (int layer = 0; layer < shape.dense + shape.experts; ++layer)
    chunk.layers.push_back(chunk.begin + layer);
  return stage;
}

// What a transfer between two ranks takes at least, by whichever link they have.
std::int64_t least_transfer(const Machine& machine, std::int64_t bytes) {
  if (machine.local || !machine.pairs.empty()) return 0;
  const double fastest = std::max(machine.intra_node.bytes_per_second.value,
                                  machine.inter_node.bytes_per_second.value);
  return fastest > 0 ? static_cast<std::int64_t>(1e9 * static_cast<double>(bytes) / fastest) : 0;
}

// Where groups of TP and CP do not fill a node, some of the small Setup's may lie across two nodes
// though the example's own do not: then all are taken to be on one. So may they with leaf groups:
// then the network is taken to be as fast beyond them.
std::optional<Machine> with_whole_groups(const Setup& setup, const Machine& machine) {
  const int inner = setup.mesh.tp * setup.mesh.cp;
  const bool fits = inner >= machine.devices_per_node || machine.devices_per_node % inner == 0;
  if (fits && machine.oversubscription.value <= 1) return std::nullopt;
  constexpr int kNodes = 1 << 16;
  Machine whole = machine;
  whole.oversubscription.value = 1;
  if (fits) return whole;
  if (whole.nics_per_node.value > 0) whole.nics_per_node.value *= kNodes;
  whole.devices_per_node *= kNodes;
  return whole;
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

// With so many more layers like the second of the last three of a forward, or the first three of a
// backward, which is neither the first nor the last of its kind.
std::vector<StretchBound> lengthened(std::vector<StretchBound> stretches, int layers,
                                     bool forward) {
  std::vector<std::size_t> built;
  for (std::size_t at = 0; at < stretches.size(); ++at)
    if (stretches[at].part == StretchBound::Part::kLayer) built.push_back(at);
  if (built.size() < static_cast<std::size_t>(kBuiltLayers)) return stretches;
  const std::size_t middle = forward ? built[built.size() - 2] : built[1];
  const StretchBound layer = stretches[middle];
  stretches.insert(stretches.begin() + static_cast<std::ptrdiff_t>(middle),
                   static_cast<std::size_t>(layers), layer);
  return stretches;
}

// Of a stage with so many layers more than that of three, whose one layer less is `shorter`.
StageBound grown(const StageBound& bound, const StageBound& shorter, int layers) {
  StageBound more = plus(bound, plus(bound, shorter, -1), layers);
  for (std::size_t kind = 0; kind < more.stretches.size(); ++kind)
    more.stretches[kind] = lengthened(bound.stretches[kind], layers,
                                      static_cast<ActionKind>(kind) == ActionKind::kForward);
  return more;
}

}  // namespace

StageKey key_of(const Candidate& candidate, const Setup& setup, const Machine& machine) {
  StageKey key;
  key.tp = candidate.tp;
  key.cp = candidate.cp;
  key.ep = candidate.ep;
  key.micro_batch = candidate.micro_batch;
  key.recompute = candidate.recompute;
  key.sequence_parallel = candidate.sequence_parallel;
  key.expert_tensor = candidate.expert_tensor;
  key.executable = setup.model.experts.count > 0 && can_execute(setup).ok();
  if (setup.mesh.ep > 1 && ranks_are_alike(setup, machine)) {
    const std::vector<int> group = group_of(setup.mesh, Axis::kEp, 0);
    const int node = std::max(1, machine.devices_per_node);
    key.ep_on_node = static_cast<std::int32_t>(
        std::count_if(group.begin(), group.end(), [&](int rank) { return rank < node; }));
  }
  return key;
}

std::vector<StageShape> shapes_of(const Setup& setup) {
  const int dense = dense_layers(setup.model);
  std::vector<StageShape> shapes;
  int begin = 0;
  const std::vector<int> layers = layers_of_stages(setup);
  for (std::size_t stage = 0; stage < layers.size(); ++stage) {
    StageShape& shape = shapes.emplace_back();
    shape.last = stage + 1 == layers.size();
    shape.place =
        static_cast<std::uint8_t>(std::min<std::size_t>(stage, shape.last ? kPlaces - 1 : 1));
    shape.dense = static_cast<std::int16_t>(std::clamp(dense - begin, 0, layers[stage]));
    shape.experts = static_cast<std::int16_t>(layers[stage] - shape.dense);
    begin += layers[stage];
  }
  return shapes;
}

Result<StageFamily> StageFamily::make(const Setup& example, const Machine& own_machine,
                                      const std::set<StageShape>& shapes, bool with_stretches) {
  StageFamily family;
  family.grows_ = !recomputes_some_layers(example);
  std::set<StageShape> read;
  for (const StageShape& shape : shapes) {
    if (!family.grows_ || shape.*growing(shape) <= kBuiltLayers) {
      read.insert(shape);
      continue;
    }
    read.insert(with_layers(shape, kBuiltLayers));
    read.insert(with_layers(shape, kBuiltLayers - 1));
  }
  const Setup small = one_replica(example);
  std::vector<LoneStage> stages;
  for (const StageShape& shape : read) stages.push_back(lone_stage(small.model, shape));
  const LocalSizes sizes = sizes_of(small, example);
  Program program = lone_stages(small, sizes, stages);
  // Where all groups of EP lie alike on the nodes, tokens take as long as in the first.
  if (example.mesh.ep > 1 && ranks_are_alike(example, own_machine))
    for (Group& group : program.groups)
      if (group.axis == Axis::kEp) group.ranks = group_of(example.mesh, Axis::kEp, 0);
  // Of a Setup whose ranks are all built, the one that is read has the least of the causal square.
  const Mesh& mesh = small.mesh;
  program.representatives = !is_unbalanced(small) || mesh.tp * mesh.cp * mesh.dp > kMostBuiltRanks;
  share_causal_work(small, program);
  const Result<ExpertRows> rows = ExpertRows::make(small, nullptr);
  if (!rows) return rows.error();
  const std::optional<Machine> whole_groups = with_whole_groups(small, own_machine);
  const Machine& machine = whole_groups ? *whole_groups : own_machine;
  const CostModel cost(program, machine, small, &*rows);
  std::size_t rank = 0;
  for (const StageShape& shape : read) {
    Bounds& bounds = family.read_[shape];
    bounds.whole = read_stage(program, program.ranks[rank++], cost, with_stretches);
    bounds.split = read_stage(program, program.ranks[rank++], cost, with_stretches);
  }
  family.transfer_ = small.overlap_pipeline ? least_transfer(machine, boundary_bytes(small)) : 0;
  return family;
}

StageFamily::Bounds StageFamily::bounds_of(const StageShape& shape) const {
  const auto known = read_.find(shape);
  if (known != read_.end()) return known->second;
  const Bounds& built = read_.at(with_layers(shape, kBuiltLayers));
  const Bounds& shorter = read_.at(with_layers(shape, kBuiltLayers - 1));
  const int more = shape.*growing(shape) - kBuiltLayers;
  return {grown(built.whole, shorter.whole, more), grown(built.split, shorter.split, more)};
}

StageTable StageFamily::table(const std::vector<StageShape>& stages) const {
  StageTable table;
  table.transfer = transfer_;
  std::vector<const StageShape*> rows;
  for (const StageShape& shape : stages) {
    const auto at = std::find_if(rows.begin(), rows.end(),
                                 [&](const StageShape* row) { return *row == shape; });
    table.rows.push_back(static_cast<std::uint8_t>(at - rows.begin()));
    if (at != rows.end()) continue;
    rows.push_back(&shape);
    Bounds bounds = bounds_of(shape);
    table.whole.push_back(std::move(bounds.whole));
    table.split.push_back(std::move(bounds.split));
  }
  return table;
}

Result<StageTable> stage_table(const Setup& setup, const Machine& machine, bool with_stretches) {
  const std::vector<StageShape> shapes = shapes_of(setup);
  Result<StageFamily> family =
      StageFamily::make(setup, machine, {shapes.begin(), shapes.end()}, with_stretches);
  if (!family) return family.error();
  return family->table(shapes);
}

}  // namespace parallelarium

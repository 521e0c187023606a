// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/memory.h"

#include <algorithm>
#include <vector>

#include "engine/passes/pieces.h"
#include "engine/plan/setup/schedule_rules.h"

namespace parallelarium {

std::int64_t device_bytes_of(const Machine& machine) {
  const auto bytes = static_cast<std::int64_t>(machine.memory_bytes.value);
  return machine.local ? 0 : std::max<std::int64_t>(bytes, 0);
}

bool zero_shards(Category category, int stage) {
  switch (category) {
    case Category::kParameters:
      return stage >= 3;
    case Category::kGradients:
      return stage >= 2;
    case Category::kOptimizer:
      return stage >= 1;
    default:
      return false;
  }
}

ModelStates model_states(double parameters, const Precision& precision, int stage, int shards) {
  const auto held = [&](Category category) {
    return zero_shards(category, stage) ? parameters / shards : parameters;
  };
  ModelStates states;
  states.parameters = held(Category::kParameters) * precision.parameter_bytes;
  states.gradients = held(Category::kGradients) * precision.gradient_bytes;
  states.optimizer =
      held(Category::kOptimizer) * (precision.master_bytes + precision.moments_bytes);
  return states;
}

double largest_parameters(double bytes, const Precision& precision, int stage, int shards) {
  return bytes / model_states(1, precision, stage, shards).total();
}

Precision held_precision(const Setup& setup) {
  Precision precision = setup.precision;
  if (setup.offload_optimizer) precision.master_bytes = precision.moments_bytes = 0;
  return precision;
}

int shards_of(const Setup& setup) {
  if (setup.zero == 0) return 1;
  return setup.zero_group > 0 ? setup.zero_group : setup.mesh.dp * setup.mesh.cp;
}

double deepspeed_zero2_bytes(double parameters, int gpus, bool offload) {
  return offload ? 2 * parameters : 4 * parameters + 16 * parameters / gpus;
}

double deepspeed_zero3_bytes(double parameters, double largest_layer, int gpus, Offload offload) {
  const double held = 4 * largest_layer;
  if (offload == Offload::kAll) return held;
  return held + (offload == Offload::kOptimizer ? 2 : 18) * parameters / gpus;
}

KeptParts kept_parts(Recompute recompute) {
  KeptParts parts;
  if (names(recompute, Recompute::kNorms)) parts.whole -= 4;
  if (names(recompute, Recompute::kActivation)) parts.cut -= 8;
  if (names(recompute, Recompute::kSelective)) parts.scores = 0;
  return parts;
}

KeptParts kept_parts(const LayerShape& shape, Recompute recompute) {
  KeptParts parts = kept_parts(recompute);
  const bool second = names(recompute, Recompute::kSecondProducts);
  if (second) parts.cut -= 2;
  // The second norm's input, and the mask of what is added to the stream before it.
  if (second && !shape.sequence_parallel) parts.whole -= 3;
  if (!shape.sequence_parallel) return parts;
  const int whole = shape.gathered_kept ? 4 : 0;
  parts.cut += parts.whole - whole;
  parts.whole = whole;
  return parts;
}

double layer_activation_bytes(const LayerShape& shape, Recompute recompute) {
  const double sbh = shape.s * shape.b * shape.h;
  if (recompute == Recompute::kFull) return 2 * sbh;
  const KeptParts parts = kept_parts(shape, recompute);
  const double cut = parts.cut + parts.scores * shape.a * shape.s / shape.h;
  return sbh * (parts.whole + cut / shape.t);
}

bool is_paper_gpt(const Model& model) {
  return model.experts.count == 0 && model.latent.kv_rank == 0 && model.mlp == Mlp::kGelu &&
         model.norm == Norm::kLayer && model.biases && model.kv_heads == model.heads &&
         model.head_dim == 0 && model.ffn == 4 * model.hidden;
}

LayerActivations layer_activations(const Setup& setup) {
  LayerActivations layer;
  LayerShape& shape = layer.shape;
  shape.s = static_cast<double>(setup.model.sequence) / setup.mesh.cp;
  shape.b = setup.micro_batch;
  shape.h = static_cast<double>(setup.model.hidden);
  shape.a = setup.model.heads;
  shape.t = setup.mesh.tp;
  shape.sequence_parallel = setup.sequence_parallel;
  shape.gathered_kept = keeps_gathered_inputs(setup);
  const bool no_scores =
      setup.attention == Attention::kFused && setup.recompute != Recompute::kFull;
  layer.kept = no_scores ? setup.recompute | Recompute::kSelective : setup.recompute;
  layer.input_is_part = layer.kept == Recompute::kFull && shape.sequence_parallel;
  layer.bytes = layer_activation_bytes(shape, layer.kept) / (layer.input_is_part ? shape.t : 1);
  return layer;
}

double first_stage_activation_bytes(const LayerShape& shape, Recompute recompute, int layers, int p,
                                    int v) {
  const double interleaved = v > 1 ? 1 + (p - 1.0) / (static_cast<double>(p) * v) : 1;
  return layer_activation_bytes(shape, recompute) * layers * interleaved;
}

double first_stage_extra_bytes(const LayerShape& shape, double vocab, int p) {
  const double gathered = shape.gathered_kept ? shape.t : 1;  // the head's input
  const double last = p == 1 ? 2 + 2 * gathered + 4 * vocab / shape.h : 0;
  return shape.s * shape.b * shape.h / shape.t * (p + last);
}

int held_microbatches(const Schedule& schedule, int p, int m, int stage) {
  if (schedule == "naive") return 1;
  if (schedule == "gpipe") return m;
  if (schedule == "1f1b") return std::min(p - stage, m);
  return 0;
}

namespace {

// A vocabulary that TP does not divide is padded.
double table_parameters(const Setup& setup) {
  const int rows = (setup.model.vocab + setup.mesh.tp - 1) / setup.mesh.tp;
  return static_cast<double>(rows) * static_cast<double>(setup.model.hidden);
}

}  // namespace

StageParameters stage_parameters(const Setup& setup, int stage) {
  const Model& model = setup.model;
  const double t = setup.mesh.tp;
  const ParameterCounts counts = count_parameters(model);
  const double C = static_cast<double>(model.hidden);
  // What every TP rank keeps whole: both norms, the biases of projection and MLP out, the router,
  // and of latent attention its low-rank parts.
  const double norms = (model.norm == Norm::kLayer ? 4 : 2) * C;
  const LatentAttention& latent = model.latent;
  const double low_rank =
      latent.kv_rank > 0 ? (latent.q_rank > 0 ? (C + 1) * static_cast<double>(latent.q_rank) : 0) +
                               C * static_cast<double>(latent.kv_rank + latent.rope_dim) +
                               static_cast<double>(latent.kv_rank)
                         : 0;
  // Key/value heads that are fewer than TP stand on several ranks: one of each kind a rank, where
  // the division below leaves kv_heads / t.
  const double head = model.head_dim > 0 ? static_cast<double>(model.head_dim) : C / model.heads;
  const double copied = latent.kv_rank > 0 || t <= model.kv_heads
                            ? 0
                            : 2 * head * (C + (model.biases ? 1 : 0)) * (1 - model.kv_heads / t);
  const double whole_dense = norms + low_rank + (model.biases ? 2 * C : 0);
  const double dense =
      whole_dense + (static_cast<double>(counts.dense_layer) - whole_dense) / t + copied;
  double expert_layer = 0, routed = 0;
  if (model.experts.count > 0) {
    const Experts& experts = model.experts;
    const double router = C * experts.count;
    const double one =
        (model.mlp == Mlp::kSwiglu ? 3.0 : 2.0) * C * static_cast<double>(experts.ffn);
    const double all = one * (experts.count + experts.shared);
    routed = one * (static_cast<double>(experts.count) / setup.mesh.ep) / setup.mesh.etp();
    const double whole = norms + low_rank + router + (model.biases ? C : 0);
    expert_layer = whole + (static_cast<double>(counts.expert_layer) - whole - all) / t +
                   one * experts.shared / t + copied;
  }
  const std::vector<int> layers = layers_of_stages(setup);
  int first = 0;
  for (int before = 0; before < stage; ++before) first += layers[static_cast<std::size_t>(before)];
  const int end = first + layers[static_cast<std::size_t>(stage)];
  const int dense_end = model.experts.count > 0 ? model.experts.first_dense : model.layers;
  const int dense_layers = std::clamp(dense_end, first, end) - first;
  const int expert_layers = end - first - dense_layers;
  double sum = dense_layers * dense + expert_layers * expert_layer;
  const double table = table_parameters(setup);
  if (stage == 0) sum += table + static_cast<double>(counts.positions);
  if (stage == static_cast<int>(layers.size()) - 1) {
    sum += static_cast<double>(counts.final_norm);
    if (!model.tied || stage > 0) sum += table;
  }
  return {sum, expert_layers * routed};
}

RankParameters first_rank_parameters(const Setup& setup) {
  const int p = setup.mesh.pp, stages = stages_of(setup);
  const ScheduleRule* rule = find_schedule_rule(setup.schedule);
  std::vector<int> held;
  if (rule != nullptr && rule->chunks == 2) {
    held = {0, stages - 1};
  } else if (rule != nullptr || chunks_of(setup) == 1) {
    for (int stage = 0; stage < stages; stage += p) held.push_back(stage);
  }
  RankParameters sum;
  for (const int stage : held) {
    const StageParameters one = stage_parameters(setup, stage);
    sum.shared += one.shared;
    sum.experts += one.experts;
  }
  // Both ends of a tied model on one rank share its table.
  const bool both_ends = stages > 1 && held.size() > 1 && held.back() == stages - 1;
  if (setup.model.tied && both_ends) sum.shared_table = table_parameters(setup);
  sum.shared -= sum.shared_table;
  return sum;
}

namespace {

// Elements of one weight of each shape in the layers of a stage. Two experts have the same shapes,
// and those that all tokens visit stand in one matrix.
std::int64_t weight_shapes(const Setup& setup, int stage) {
  const LocalSizes sizes = local_sizes(setup);
  const Experts& experts = setup.model.experts;
  const std::int64_t C = sizes.shape.C,
                     wide = sizes.F_in / std::max<std::int64_t>(sizes.shape.F, 1);
  std::int64_t elements = sizes.qkv_parameters + sizes.value_width * C;
  if (experts.count == 0 || (stage == 0 && experts.first_dense > 0))
    elements += (wide + 1) * sizes.shape.F * C;
  if (experts.count > 0) {
    elements += (wide + 1) * sizes.shape.experts.ffn * C;
    if (experts.shared > 1)
      elements += (wide + 1) * experts.shared * (experts.ffn / setup.mesh.tp) * C;
  }
  return elements;
}

// The table, where FSDP gathers it and no head on the same rank is the same.
std::int64_t root_bytes(const Setup& setup, int stage) {
  const bool is_head = setup.model.tied && setup.mesh.pp == 1;
  if (setup.zero < 3 || shards_of(setup) == 1 || stage > 0 || is_head) return 0;
  return setup.precision.parameter_bytes * static_cast<std::int64_t>(table_parameters(setup));
}

}  // namespace

std::int64_t cublas_workspace_bytes(const Machine& machine) {
  constexpr double kHopper = 900e12;  // FLOP/s of 16 bit, which tells the generations apart
  constexpr std::int64_t kMib = 1 << 20;
  return (machine.half_flops_per_second.value > kHopper ? 32 : 8) * kMib;
}

std::int64_t framework_bytes_of(const Setup& setup, const Machine& machine, int stage) {
  if (machine.local) return 0;
  const std::int64_t workspace = cublas_workspace_bytes(machine);
  const Precision& precision = setup.precision;
  if (setup.loss_copies != LossCopies::kNone) return workspace + root_bytes(setup, stage);
  if (precision.parameter_bytes != 2 || precision.gradient_bytes != 4) return workspace;
  std::int64_t elements = weight_shapes(setup, stage);
  if (stage == setup.mesh.pp - 1) elements += static_cast<std::int64_t>(table_parameters(setup));
  return workspace + precision.parameter_bytes * elements;
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// What one rank holds after every axis has cut its share: sizes, parameters, categories.
#include <algorithm>

#include "engine/passes/pieces.h"
#include "engine/plan/model/routing.h"

namespace parallelarium {

namespace {

// A Setup that can be executed gets buffers for whatever its routers may do: every token of every
// home on this rank, or as many as the capacity lets through. Of others, which are predicted as
// engines that allocate by the step run them, as many as even routing needs.
void add_expert_rows(const Setup& setup, LocalSizes& sizes) {
  const Experts& experts = setup.model.experts;
  if (experts.count == 0) return;
  const std::int64_t N = home_tokens(setup);
  const std::int64_t k = experts.top_k, ep = setup.mesh.ep, here = experts.count / ep;
  const std::int64_t capacity = expert_capacity(experts, N);
  const std::int64_t each = capacity > 0 ? std::min(capacity, N) : N;  // of one home to one expert
  const double filled = experts.capacity > 0 ? std::min(1.0, experts.capacity) : 1.0;
  sizes.even_rows = static_cast<std::int64_t>(static_cast<double>(N * k) * filled + 0.5);
  sizes.shape.experts.even_rows = sizes.even_rows;
  if (!can_execute(setup)) {
    const double padded = experts.capacity > 0 ? experts.capacity : 1.0;
    sizes.expert_rows = static_cast<std::int64_t>(static_cast<double>(N * k) * padded + 0.5);
    const bool apart = ep > 1 || gathers_expert_tokens(setup);  // sent and taken are other rows
    sizes.sent_rows = apart ? sizes.routed * k : sizes.expert_rows;
    return;
  }
  sizes.sent_rows = std::min(N * k, experts.count * each);
  sizes.expert_rows = ep == 1 ? sizes.sent_rows : ep * std::min(N * std::min(k, here), here * each);
}

}  // namespace

LocalSizes local_sizes(const Setup& setup) {
  const Model& model = setup.model;
  const std::int64_t t = setup.mesh.tp;
  LocalSizes sizes;
  Shape& shape = sizes.shape;
  shape.B = setup.micro_batch;
  shape.T = model.sequence / setup.mesh.cp;
  shape.C = model.hidden;
  shape.H = model.heads / t;
  shape.K = std::max<std::int64_t>(1, model.kv_heads / t);
  shape.D = model.head_dim > 0 ? model.head_dim : model.hidden / model.heads;
  shape.F = model.ffn / t;
  shape.V = (model.vocab + t - 1) / t;
  shape.global_tokens = setup.global_batch() * model.sequence;
  shape.layers = model.layers;
  shape.mlp = model.mlp;
  shape.norm = model.norm;
  shape.biases = model.biases;
  shape.learned_positions = model.learned_positions;
  shape.tied = model.tied;
  shape.sequence = model.sequence;
  shape.zigzag = setup.mesh.cp > 1 && setup.context_parallel != ContextParallel::kUlysses &&
                 setup.cp_split == ContextSplit::kZigzag;
  shape.key_blocks = meets_blocks(setup) ? setup.mesh.cp : 1;
  shape.fused = setup.attention == Attention::kFused;
  shape.fp8 = setup.products == ProductType::kFp8;
  shape.half_gradients = setup.precision.gradient_bytes == 2;
  shape.heads = model.heads;
  shape.vocab = model.vocab;
  shape.dropout = setup.dropout;
  sizes.N = shape.B * shape.T;
  sizes.N_norm = setup.sequence_parallel ? sizes.N / t : sizes.N;
  shape.local = setup.mesh.cp > 1 && setup.context_parallel == ContextParallel::kLocal;
  sizes.T_full = shape.local ? shape.T : model.sequence;
  const LatentAttention& latent = model.latent;
  if (latent.kv_rank > 0) {
    shape.D = latent.nope_dim + latent.rope_dim;
    sizes.A = shape.H * (2 * shape.D + latent.value_dim);
    sizes.value_width = shape.H * latent.value_dim;
    const std::int64_t queries = latent.q_rank > 0 ? model.hidden * latent.q_rank + latent.q_rank +
                                                         latent.q_rank * shape.H * shape.D
                                                   : model.hidden * shape.H * shape.D;
    sizes.qkv_parameters = queries + model.hidden * (latent.kv_rank + latent.rope_dim) +
                           latent.kv_rank +
                           latent.kv_rank * shape.H * (latent.nope_dim + latent.value_dim);
  } else {
    sizes.A = (shape.H + 2 * shape.K) * shape.D;
    sizes.value_width = shape.H * shape.D;
    sizes.qkv_parameters = sizes.A * shape.C;
  }
  sizes.F_in = model.mlp == Mlp::kSwiglu ? 2 * shape.F : shape.F;
  if (model.experts.count > 0) {
    ExpertShape& experts = shape.experts;
    experts.model = model.experts;
    experts.ffn = model.experts.ffn / setup.mesh.etp();
    experts.ranks = setup.mesh.ep;
    experts.stripes = setup.expert_placement == ExpertPlacement::kRoundRobin ? setup.mesh.ep : 1;
    experts.capacity = expert_capacity(model.experts, home_tokens(setup));
    experts.balance_loss = setup.balance_loss;
    experts.z_loss = setup.z_loss;
    experts.bias_rate = setup.bias_rate;
    experts.skew = setup.skew;
  }
  sizes.precision = setup.precision;
  sizes.routed = routes_own_tokens(setup) ? sizes.N_norm : sizes.N;
  add_expert_rows(setup, sizes);
  sizes.boundary = sizes.N_norm * shape.C / (scatters_transfers(setup) ? t : 1);
  sizes.type = setup.precision.activation_bytes() == 2 ? DataType::kBf16 : DataType::kF32;
  return sizes;
}

bool is_expert_layer(const Model& model, int layer) {
  return model.experts.count > 0 && layer >= model.experts.first_dense;
}

std::vector<ParameterSlice> parameter_layout(const Setup& setup, const std::vector<Chunk>& chunks) {
  const Model& model = setup.model;
  const LocalSizes sizes = local_sizes(setup);
  const Shape& s = sizes.shape;
  const bool norm_bias = model.norm == Norm::kLayer;
  std::vector<ParameterSlice> slices;
  std::int64_t offset = 0;
  const auto add = [&](Parameter parameter, int layer, std::int64_t count, std::int64_t rows,
                       bool shared_copy = false) {
    if (count == 0) return;
    slices.push_back(
        {parameter, static_cast<std::int16_t>(layer), shared_copy, offset, count, rows});
    offset += count;
  };
  const bool any_first = std::any_of(chunks.begin(), chunks.end(), [](auto& c) { return c.first; });
  const bool any_last = std::any_of(chunks.begin(), chunks.end(), [](auto& c) { return c.last; });
  if (any_first) {
    add(Parameter::kTokenTable, -1, s.V * s.C, s.V);
    if (model.learned_positions)
      add(Parameter::kPositionTable, -1, model.sequence * s.C, model.sequence);
  }
  for (const Chunk& chunk : chunks) {
    for (const int layer : chunk.layers) {
      add(Parameter::kNorm1Gain, layer, s.C, 1);
      if (norm_bias) add(Parameter::kNorm1Bias, layer, s.C, 1);
      add(Parameter::kQkvWeight, layer, sizes.qkv_parameters, sizes.A);
      if (model.biases) add(Parameter::kQkvBias, layer, sizes.A, 1);
      add(Parameter::kProjectionWeight, layer, s.C * sizes.value_width, s.C);
      if (model.biases) add(Parameter::kProjectionBias, layer, s.C, 1);
      add(Parameter::kNorm2Gain, layer, s.C, 1);
      if (norm_bias) add(Parameter::kNorm2Bias, layer, s.C, 1);
      if (is_expert_layer(model, layer)) {
        const Experts& experts = model.experts;
        const std::int64_t matrices = model.mlp == Mlp::kSwiglu ? 3 : 2;
        const std::int64_t one = matrices * s.C * s.experts.ffn;
        add(Parameter::kRouterWeight, layer, experts.count * s.C, experts.count);
        const std::int64_t here = experts.count / setup.mesh.ep;
        add(Parameter::kExpertWeights, layer, here * one, here);
        if (experts.shared > 0) {
          const std::int64_t shared = experts.shared * (experts.ffn / setup.mesh.tp);
          add(Parameter::kMlpInWeight, layer, (matrices - 1) * shared * s.C,
              (matrices - 1) * shared);
          add(Parameter::kMlpOutWeight, layer, s.C * shared, s.C);
        }
      } else {
        add(Parameter::kMlpInWeight, layer, sizes.F_in * s.C, sizes.F_in);
        if (model.biases) add(Parameter::kMlpInBias, layer, sizes.F_in, 1);
        add(Parameter::kMlpOutWeight, layer, s.C * s.F, s.C);
        if (model.biases) add(Parameter::kMlpOutBias, layer, s.C, 1);
      }
    }
  }
  if (any_last) {
    add(Parameter::kFinalNormGain, -1, s.C, 1);
    if (norm_bias) add(Parameter::kFinalNormBias, -1, s.C, 1);
    if (!model.tied) add(Parameter::kHeadWeight, -1, s.V * s.C, s.V);
    // A tied head on another rank than the embedding keeps its own copy of the table.
    if (model.tied && !any_first) add(Parameter::kTokenTable, -1, s.V * s.C, s.V, true);
  }
  return slices;
}

const ParameterSlice* find_slice(const std::vector<ParameterSlice>& slices, Parameter parameter,
                                 int layer) {
  for (const ParameterSlice& slice : slices) {
    if (slice.parameter == parameter && slice.layer == layer) return &slice;
  }
  return nullptr;
}

Category category_of(Tensor tensor) {
  switch (tensor) {
    case Tensor::kParameters:
      return Category::kParameters;
    case Tensor::kGradients:
      return Category::kGradients;
    case Tensor::kMaster:
    case Tensor::kMoments:
      return Category::kOptimizer;
    case Tensor::kInput:
    case Tensor::kNorm1Out:
    case Tensor::kNorm1Stats:
    case Tensor::kQkvOut:
    case Tensor::kProbabilities:
    case Tensor::kContext:
    case Tensor::kMiddle:
    case Tensor::kNorm2Out:
    case Tensor::kNorm2Stats:
    case Tensor::kMlpInOut:
    case Tensor::kActivationOut:
    case Tensor::kFinalNormOut:
    case Tensor::kFinalNormStats:
    case Tensor::kLogits:
    case Tensor::kLossLogits:
    case Tensor::kLossStats:
    case Tensor::kDropoutMasks:
    case Tensor::kDroppedProbabilities:
    case Tensor::kAttentionStats:
    case Tensor::kHeadsInput:
    case Tensor::kRouterLogits:
    case Tensor::kRouterGates:
    case Tensor::kRoutes:
    case Tensor::kExpertTokens:
    case Tensor::kStageActivations:
      return Category::kActivations;
    default:
      return Category::kBuffers;
  }
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// What follows from a model's shape alone.
#include "engine/plan/model/model.h"

#include <algorithm>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"

namespace parallelarium {
namespace {

std::int64_t head_dim_of(const Model& model) {
  return model.head_dim > 0 ? model.head_dim : model.hidden / model.heads;
}

bool has_experts(const Model& model, int layer) {
  return model.experts.count > 0 && layer >= model.experts.first_dense;
}

int mlp_matrices(const Model& model) { return model.mlp == Mlp::kSwiglu ? 3 : 2; }

std::int64_t norm_parameters(const Model& model) {
  return model.norm == Norm::kLayer ? 2 * model.hidden : model.hidden;
}

// Attention with its projection, without the norm before it.
std::int64_t attention_parameters(const Model& model) {
  const std::int64_t C = model.hidden, H = model.heads;
  const LatentAttention& latent = model.latent;
  if (latent.kv_rank > 0) {
    const std::int64_t query = latent.nope_dim + latent.rope_dim;
    const std::int64_t queries = latent.q_rank > 0
                                     ? C * latent.q_rank + latent.q_rank + latent.q_rank * H * query
                                     : C * H * query;
    const std::int64_t keys_values = C * (latent.kv_rank + latent.rope_dim) + latent.kv_rank +
                                     latent.kv_rank * H * (latent.nope_dim + latent.value_dim);
    return queries + keys_values + H * latent.value_dim * C;
  }
  const std::int64_t D = head_dim_of(model);
  const std::int64_t qkv = (H + 2 * model.kv_heads) * D;
  return C * qkv + H * D * C + (model.biases ? qkv + C : 0);
}

std::int64_t dense_mlp_parameters(const Model& model) {
  const std::int64_t matrices = mlp_matrices(model) * model.hidden * model.ffn;
  return matrices + (model.biases ? (mlp_matrices(model) - 1) * model.ffn + model.hidden : 0);
}

// The same sum in floating point, which cannot overflow; an upper bound is enough.
double rough_parameters(const Model& model) {
  const double C = static_cast<double>(model.hidden);
  const double width =
      model.heads * static_cast<double>(std::max(
                        {model.head_dim, model.hidden / std::max(1, model.heads),
                         model.latent.nope_dim + model.latent.rope_dim + model.latent.value_dim}));
  const double latent = static_cast<double>(model.latent.q_rank + model.latent.kv_rank);
  const double experts = static_cast<double>(model.experts.count + model.experts.shared) *
                         static_cast<double>(model.experts.ffn);
  const double layer =
      C * 4 * width + latent * (C + 2 * width) + 3 * C * (static_cast<double>(model.ffn) + experts);
  return model.layers * layer + C * static_cast<double>(2 * model.vocab + model.sequence);
}

}  // namespace

std::int64_t default_ffn(std::int64_t hidden, Mlp mlp) {
  if (mlp == Mlp::kGelu) return 4 * hidden;
  return (8 * hidden + 3 * 64 - 1) / (3 * 64) * 64;
}

ParameterCounts count_parameters(const Model& model) {
  ParameterCounts counts;
  const std::int64_t C = model.hidden;
  counts.embedding = model.vocab * C;
  counts.positions = model.learned_positions ? model.sequence * C : 0;
  const std::int64_t common = attention_parameters(model) + 2 * norm_parameters(model);
  counts.dense_layer = common + dense_mlp_parameters(model);
  if (model.experts.count > 0) {
    const Experts& experts = model.experts;
    const std::int64_t one = mlp_matrices(model) * C * experts.ffn;
    const std::int64_t router = C * experts.count;
    counts.expert_layer = common + router + (experts.count + experts.shared) * one;
    counts.active_expert_layer = common + router + (experts.top_k + experts.shared) * one;
  }
  counts.final_norm = norm_parameters(model);
  counts.head = model.tied ? 0 : model.vocab * C;
  const std::int64_t expert_layers =
      model.experts.count > 0 ? model.layers - model.experts.first_dense : 0;
  const std::int64_t rest = counts.embedding + counts.positions + counts.final_norm + counts.head +
                            (model.layers - expert_layers) * counts.dense_layer;
  counts.total = rest + expert_layers * counts.expert_layer;
  counts.active = rest + expert_layers * counts.active_expert_layer;
  return counts;
}

double forward_flops_per_sequence(const Model& model, ScoreFlops scores) {
  const double T = static_cast<double>(model.sequence), C = static_cast<double>(model.hidden);
  const double H = model.heads;
  const LatentAttention& latent = model.latent;
  double key_width = static_cast<double>(head_dim_of(model)), value_width = key_width;
  double weights = C * (H + 2 * model.kv_heads) * key_width + H * value_width * C;
  if (latent.kv_rank > 0) {
    key_width = static_cast<double>(latent.nope_dim + latent.rope_dim);
    value_width = static_cast<double>(latent.value_dim);
    // The two small norms inside are not products.
    weights = static_cast<double>(attention_parameters(model) - latent.q_rank - latent.kv_rank);
  }
  const double counted = scores == ScoreFlops::kFull ? 1 : scores == ScoreFlops::kCausal ? 0.5 : 0;
  const double attention = 2 * T * weights + counted * 2 * T * T * H * (key_width + value_width);
  const double dense = 2 * T * mlp_matrices(model) * C * static_cast<double>(model.ffn);
  const Experts& experts = model.experts;
  const double expert = 2 * T * C *
                        (experts.count + mlp_matrices(model) * static_cast<double>(experts.ffn) *
                                             static_cast<double>(experts.top_k + experts.shared));
  double flops = 2 * T * C * static_cast<double>(model.vocab);
  for (int layer = 0; layer < model.layers; ++layer)
    flops += attention + (has_experts(model, layer) ? expert : dense);
  return flops;
}

double model_flops_per_sequence(const Model& model, ScoreFlops scores) {
  return 3 * forward_flops_per_sequence(model, scores);
}

namespace {

// Sentences about what is wrong, each with its field and what would do.
class ModelFaults {
 public:
  void within(const char* field, double value, double low, double high) {
    if (!(value >= low && value <= high)) wrong_.push_back(out_of_range(field, value, low, high));
  }
  void add(Message error, const char* field, std::vector<std::string> alternatives) {
    error.field = field;
    error.alternatives = std::move(alternatives);
    wrong_.push_back(std::move(error));
  }
  bool none() const { return wrong_.empty(); }
  std::vector<Message> take() { return std::move(wrong_); }

 private:
  std::vector<Message> wrong_;
};

void check_sizes(const Model& model, ModelFaults& faults) {
  faults.within("model.layers", model.layers, 1, 10'000);
  faults.within("model.hidden", static_cast<double>(model.hidden), 1, 1 << 20);
  faults.within("model.heads", model.heads, 1, 1 << 16);
  faults.within("model.kv_heads", model.kv_heads, 1, 1 << 16);
  faults.within("model.head_dim", static_cast<double>(model.head_dim), 0, 1 << 16);
  faults.within("model.ffn", static_cast<double>(model.ffn), 1, 1 << 24);
  faults.within("model.vocab", static_cast<double>(model.vocab), 1, 1 << 24);
  faults.within("model.sequence", static_cast<double>(model.sequence), 1, 1 << 24);
  const Experts& experts = model.experts;
  faults.within("model.experts.count", experts.count, 0, 1 << 16);
  faults.within("model.experts.shared", experts.shared, 0, 1 << 10);
  faults.within("model.experts.capacity", experts.capacity, 0, 1 << 16);
  const LatentAttention& latent = model.latent;
  for (const auto& [field, value] : {std::pair{"model.latent.q_rank", latent.q_rank},
                                     {"model.latent.kv_rank", latent.kv_rank},
                                     {"model.latent.nope_dim", latent.nope_dim},
                                     {"model.latent.rope_dim", latent.rope_dim},
                                     {"model.latent.value_dim", latent.value_dim}})
    faults.within(field, static_cast<double>(value), 0, 1 << 20);
}

void check_heads(const Model& model, ModelFaults& faults) {
  const LatentAttention& latent = model.latent;
  if (model.head_dim == 0 && latent.kv_rank == 0 && model.hidden % model.heads != 0) {
    const auto heads = as_text(divisors_near(model.hidden, model.heads, 1 << 16));
    faults.add(message("heads-hidden", "{} heads do not divide hidden {}; {} would.", model.heads,
                       model.hidden, join_or(heads)),
               "model.heads", heads);
  }
  if (model.heads % model.kv_heads != 0) {
    const auto heads = as_text(divisors_near(model.heads, model.kv_heads));
    faults.add(message("kv-heads", "{} key/value heads do not divide {} heads; {} would.",
                       model.kv_heads, model.heads, join_or(heads)),
               "model.kv_heads", heads);
  }
  if (latent.kv_rank == 0) return;
  if (latent.nope_dim + latent.rope_dim < 1)
    faults.add(message("latent-query", "Latent attention needs nope_dim + rope_dim of at least 1."),
               "model.latent.nope_dim", {"128"});
  if (latent.value_dim < 1)
    faults.add(message("latent-value", "Latent attention needs value_dim of at least 1."),
               "model.latent.value_dim", {"128"});
}

void check_expert_sizes(const Model& model, ModelFaults& faults) {
  const Experts& experts = model.experts;
  faults.within("model.experts.top_k", experts.top_k, 1, experts.count);
  faults.within("model.experts.ffn", static_cast<double>(experts.ffn), 1, 1 << 24);
  faults.within("model.experts.first_dense", experts.first_dense, 0, model.layers);
  if (experts.groups > 0)
    faults.within("model.experts.group_limit", experts.group_limit, 1, experts.groups);
}

void check_expert_groups(const Experts& experts, ModelFaults& faults) {
  if (experts.groups <= 0) return;
  if (experts.count % experts.groups != 0) {
    const auto groups = as_text(divisors_near(experts.count, experts.groups));
    faults.add(message("experts-groups", "{} groups do not divide {} experts; {} would.",
                       experts.groups, experts.count, join_or(groups)),
               "model.experts.groups", groups);
    return;
  }
  const int reached = experts.count / experts.groups * experts.group_limit;
  if (reached >= experts.top_k) return;
  const int least = (experts.top_k * experts.groups + experts.count - 1) / experts.count;
  faults.add(message("experts-group-limit",
                     "{} of {} groups hold {} experts, fewer than the {} that a token visits; {} "
                     "groups would do.",
                     experts.group_limit, experts.groups, reached, experts.top_k, least),
             "model.experts.group_limit", {std::to_string(least)});
}

void check_stage_layers(const Model& model, ModelFaults& faults) {
  if (model.stage_layers.empty()) return;
  std::int64_t sum = 0;
  for (const int layers : model.stage_layers) {
    faults.within("model.stage_layers", layers, 0, model.layers);
    sum += layers;
  }
  if (sum != model.layers)
    faults.add(
        message("stage-layers-sum.model",
                "stage_layers adds up to {} layers, but the model has {}.", sum, model.layers),
        "model.stage_layers", {});
}

}  // namespace

std::vector<Message> check_model(const Model& model) {
  ModelFaults faults;
  check_sizes(model, faults);
  if (!faults.none()) return faults.take();
  check_heads(model, faults);
  if (model.experts.count > 0) {
    check_expert_sizes(model, faults);
    if (!faults.none()) return faults.take();
    check_expert_groups(model.experts, faults);
  }
  check_stage_layers(model, faults);
  constexpr double kMostParameters = 1e15;
  if (faults.none() && rough_parameters(model) > kMostParameters)
    faults.add(message("model-too-large",
                       "The model would have more than 10^15 parameters; make it smaller."),
               "model.hidden", {});
  return faults.take();
}

}  // namespace parallelarium

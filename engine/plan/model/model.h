// SPDX-License-Identifier: Apache-2.0
// A transformer language model: its shape, and what follows from the shape alone (parameters,
// FLOPs). Legend used everywhere: B micro-batch, T sequence, C hidden, H heads, K key/value heads,
// F ffn, V vocabulary, L layers, E experts.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "engine/plan/result.h"

namespace parallelarium {

enum class Mlp : std::uint8_t { kGelu, kSwiglu };  // two matrices or three
enum class Norm : std::uint8_t { kLayer, kRms };   // gain and bias, or gain alone

// How a router turns a token's logits into affinities.
enum class Router : std::uint8_t { kSoftmax, kSigmoid };

// Mixture-of-experts layers; count 0 means a dense model.
struct Experts {
  int count = 0;
  int top_k = 0;
  int shared = 0;        // experts that every token visits
  std::int64_t ffn = 0;  // inner width of one expert
  int first_dense = 0;   // leading layers that keep a dense MLP
  double capacity = 0;   // capacity factor; 0 means dropless
  Router router = Router::kSoftmax;
  // A token may use experts from `group_limit` of the `groups` equal groups only (DeepSeek-V3:
  // nodes). groups 0 means no limit.
  int groups = 0;
  int group_limit = 0;
  bool operator==(const Experts&) const = default;
};

// Multi-head latent attention (DeepSeek-V2/V3); kv_rank 0 means ordinary attention.
struct LatentAttention {
  std::int64_t q_rank = 0;
  std::int64_t kv_rank = 0;
  std::int64_t nope_dim = 0;
  std::int64_t rope_dim = 0;
  std::int64_t value_dim = 0;
  bool operator==(const LatentAttention&) const = default;
};

struct Model {
  std::string name = "custom";  // a preset's name, or "custom"
  std::string title;            // "GPT tiny"; empty if it has none
  int layers = 0;
  std::int64_t hidden = 0;
  int heads = 0;
  int kv_heads = 0;
  std::int64_t head_dim = 0;  // 0 means hidden / heads
  std::int64_t ffn = 0;
  std::int64_t vocab = 0;
  std::int64_t sequence = 0;
  Mlp mlp = Mlp::kGelu;
  Norm norm = Norm::kLayer;
  bool tied = true;               // the output head is the token embedding
  bool biases = true;             // linear layers have biases
  bool learned_positions = true;  // a [sequence, hidden] table; else rotary, without parameters
  Experts experts;
  LatentAttention latent;
  std::vector<int> stage_layers;     // a published uneven split; empty means even
  std::vector<std::string> sources;  // "layers: Brown et al. 2020, Table 2.1", ...
  bool operator==(const Model&) const = default;
};

// Parameters of the parts, in elements.
struct ParameterCounts {
  std::int64_t embedding = 0;    // token table
  std::int64_t positions = 0;    // learned position table
  std::int64_t dense_layer = 0;  // one layer with a dense MLP
  std::int64_t expert_layer =
      0;  // one layer with all of its experts and router (0 for dense models)
  std::int64_t active_expert_layer = 0;  // the same with the top_k and shared experts only
  std::int64_t final_norm = 0;
  std::int64_t head = 0;  // 0 when tied
  std::int64_t total = 0;
  std::int64_t active = 0;  // parameters one token meets
};
// check_model(model) must be empty.
ParameterCounts count_parameters(const Model& model);

// Sentences with alternatives that say what is wrong with the shape itself (fields "model.heads",
// ...). Empty if parameters and FLOPs can be counted.
std::vector<Message> check_model(const Model& model);

// The inner width if none is given: 4 hidden, or 8/3 hidden for swiglu, rounded up to 64.
std::int64_t default_ffn(std::int64_t hidden, Mlp mlp);

// Which of attention's scores a convention counts: all of them (Narayanan et al. 2021), those on
// and below the diagonal, which a causal mask leaves (FlashAttention, Llama 3), or none ("6N").
enum class ScoreFlops : std::uint8_t { kFull, kCausal, kNone };

// Floating-point operations of the matrix products in one sequence's forward pass; multiply and add
// count as two. The backward is twice that. Source: Narayanan et al. 2021 eq. (3) / Korthikanti et
// al. 2022 appendix A; here the products are summed.
double forward_flops_per_sequence(const Model& model, ScoreFlops scores = ScoreFlops::kFull);

// 3 x forward. This is the work that the model needs, whatever is recomputed ("model FLOPs", the M
// of MFU).
double model_flops_per_sequence(const Model& model, ScoreFlops scores = ScoreFlops::kFull);

// The title for people: "GPT tiny", "GPT tiny at 4096 tokens", "Custom model".
Message title_of(const Model& model);

// The names of all model presets, in the order that `models` prints.
std::vector<std::string> model_names();

// The preset of that name; error "model-unknown" lists the names.
Result<Model> find_model(const std::string& name);

// Reads and writes the object form of a Setup's "model": keys layers hidden heads kv_heads head_dim
// ffn vocab sequence mlp norm tied biases learned_positions experts{...} latent{...} stage_layers.
// Absent ffn is 4 hidden (8/3 for swiglu, rounded up to 64), absent kv_heads equal heads. Unknown
// keys, wrong types and numbers out of range are errors that name the key. check_model says whether
// the numbers go together, so a file can hold an unfinished Setup.
Result<Model> model_from_json(const nlohmann::json& json);
nlohmann::json to_json(const Model& model);

// Reads a Hugging Face config.json, or says what Model cannot express. `notes` tells what was
// assumed, what the counts leave out, and that a model type is unknown.
Result<Model> import_hugging_face(const nlohmann::json& config, std::vector<Message>& notes);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// Reads the config.json that Hugging Face's transformers library writes. Keys and defaults:
// transformers,
// src/transformers/models/{gpt2,gpt_neox,opt,llama,mistral,qwen2,qwen2_moe,qwen3,qwen3_moe,mixtral,
// deepseek_v2,deepseek_v3,gpt_oss}/configuration_*.py; tie_word_embeddings is true unless a
// family's class says otherwise.
#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

#include "engine/plan/model/hugging_face.h"
#include "engine/plan/model/model.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {
namespace {

constexpr double kLargestCount = 1 << 24;

// Looks keys up under the names that model families use; keeps the first error.
class Config {
 public:
  Config(const nlohmann::json& json, std::vector<Message>& notes) : json_(json), notes_(notes) {}

  const nlohmann::json* find(std::initializer_list<const char*> names) const {
    for (const char* name : names) {
      const auto found = json_.find(name);
      if (found != json_.end() && !found->is_null()) return &*found;
    }
    return nullptr;
  }

  // The number, or `fallback` where no name is there. Fills in no note.
  std::int64_t whole(std::initializer_list<const char*> names, std::int64_t fallback) {
    const nlohmann::json* value = find(names);
    if (value == nullptr) return fallback;
    const double number = value->is_number() ? value->get<double>() : -1;
    if (!(number >= 0 && number <= kLargestCount && number == std::floor(number))) {
      fail(message("import-number", "{} in config.json must be a whole number from 0 to 2^24.",
                   *names.begin()));
      return fallback;
    }
    return static_cast<std::int64_t>(number);
  }

  std::int64_t needed(std::initializer_list<const char*> names) {
    if (find(names) == nullptr)
      fail(message("import-missing", "config.json has no {}, so the model's shape is not known.",
                   *names.begin()));
    return whole(names, 1);
  }

  // Fails with all of `keys` that are not there; a key may go by several names.
  void need_all(std::initializer_list<std::initializer_list<const char*>> keys) {
    std::vector<std::string> missing;
    for (const auto& names : keys)
      if (find(names) == nullptr) missing.emplace_back(*names.begin());
    if (!missing.empty())
      fail(message("import-missing", "config.json has no {}, so the model's shape is not known.",
                   join_and(missing)));
  }

  std::int64_t assumed(std::initializer_list<const char*> names, std::int64_t fallback) {
    if (find(names) == nullptr) note_assumed(*names.begin(), fallback);
    return whole(names, fallback);
  }

  // Reads a number for which null means none (0). It notes where the key is missing, since the
  // file may mean another number.
  std::int64_t said(const char* name) {
    if (!json_.contains(name)) note_assumed(name, 0);
    return whole({name}, 0);
  }

  bool flag(std::initializer_list<const char*> names, bool fallback) const {
    const nlohmann::json* value = find(names);
    return value != nullptr && value->is_boolean() ? value->get<bool>() : fallback;
  }

  std::string text(const char* name) const {
    const nlohmann::json* value = find({name});
    return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
  }

  void note(Message message) { notes_.push_back(std::move(message)); }
  void fail(Message error) {
    if (!failed_) error_ = std::move(error);
    failed_ = true;
  }
  bool failed() const { return failed_; }
  const Message& error() const { return error_; }

 private:
  void note_assumed(const char* name, std::int64_t value) {
    note(message("import-assumed", "config.json has no {}; {} is assumed.", name, value));
  }

  const nlohmann::json& json_;
  std::vector<Message>& notes_;
  bool failed_ = false;
  Message error_;
};

// What a family's configuration need not say. Activations that are not gated have two matrices.
struct Family {
  std::string_view type;
  bool gated = true, layer_norm = false, biases = false, learned_positions = false, tied = false;
  bool experts = false, own_ffn = false,
       latent = false;  // own_ffn: the experts have their own width
};
constexpr Family latent_family(std::string_view type) {
  return {.type = type, .experts = true, .own_ffn = true, .latent = true};
}
constexpr std::array kFamilies = {Family{"gpt2", false, true, true, true, true},
                                  Family{"opt", false, true, true, true, true},
                                  Family{"gpt_neox", false, true, true, false, false},
                                  Family{"llama"},
                                  Family{"mistral"},
                                  Family{"qwen2"},
                                  Family{"qwen3"},
                                  Family{.type = "mixtral", .experts = true},
                                  latent_family("deepseek_v2"),
                                  latent_family("deepseek_v3"),
                                  Family{.type = "qwen2_moe", .experts = true, .own_ffn = true},
                                  Family{.type = "qwen3_moe", .experts = true, .own_ffn = true},
                                  latent_family("kimi_k2"),
                                  Family{.type = "gpt_oss", .biases = true, .experts = true}};

// Models that do not predict the next token of one sequence.
constexpr std::array<std::string_view, 17> kOthers = {
    "bert",    "roberta",    "xlm-roberta", "distilbert", "albert",    "electra",
    "deberta", "deberta-v2", "mpnet",       "modernbert", "camembert", "t5",
    "mt5",     "bart",       "mbart",       "pegasus",    "whisper"};

// The family's defaults; of an unknown one, what its activation says, and the library's tied head.
Family family_of(Config& config, const std::string& type) {
  for (const Family& family : kFamilies)
    if (family.type == type) return family;
  std::string activation = config.text("hidden_act");
  if (activation.empty()) activation = config.text("activation_function");
  const bool gated = activation.empty() || activation == "silu" || activation == "swish";
  config.note(message("import-type",
                      "Model type “{}” is not known here; it is read as if it were {}'s, so check "
                      "it.",
                      type.empty() ? "(none)" : shown(type), gated ? "Llama" : "GPT-NeoX"));
  Family family{type, gated, !gated, !gated};
  if (config.find({"tie_word_embeddings"}) == nullptr) {
    family.tied = true;
    config.note(message("import-tied",
                        "config.json has no tie_word_embeddings; true, the library's default, is "
                        "assumed."));
  }
  return family;
}

// Qwen's shared expert has a width of its own; here it counts as so many of the others.
void read_shared_width(Config& config, Experts& experts) {
  const std::int64_t width = config.whole({"shared_expert_intermediate_size"}, 0);
  if (width == 0 || experts.ffn == 0) return;
  experts.shared = static_cast<int>((width + experts.ffn - 1) / experts.ffn);
  if (width % experts.ffn != 0)
    config.note(message("import-shared-width",
                        "The shared expert is {} wide, no multiple of the other experts' {}; it "
                        "counts as {} of them.",
                        width, experts.ffn, experts.shared));
}

// Layers without experts, by number, count where they are the first ones.
void read_dense_layers(Config& config, Experts& experts) {
  const nlohmann::json* layers = config.find({"mlp_only_layers"});
  if (layers == nullptr || !layers->is_array() || layers->empty()) return;
  int leading = 0;
  for (const nlohmann::json& layer : *layers)
    if (layer == leading) ++leading;
  if (leading == static_cast<int>(layers->size()))
    experts.first_dense = leading;
  else
    config.note(message(
        "import-expert-stride",
        "This version puts experts into every layer; config.json puts them into some only."));
}

void read_experts(Config& config, const Family& family, Model& model) {
  const char* count_name = family.latent    ? "n_routed_experts"
                           : family.own_ffn ? "num_experts"
                                            : "num_local_experts";
  if (family.experts)
    config.need_all({{count_name, "num_local_experts", "n_routed_experts", "num_experts"},
                     {"num_experts_per_tok", "experts_per_token"}});
  if (family.own_ffn) config.need_all({{"moe_intermediate_size"}});
  if (family.experts && !family.own_ffn) config.need_all({{"intermediate_size"}});
  const std::int64_t count =
      config.whole({"num_local_experts", "n_routed_experts", "num_experts"}, 0);
  if (count == 0) return;
  Experts& experts = model.experts;
  experts.count = static_cast<int>(count);
  config.need_all({{"num_experts_per_tok", "experts_per_token"}});
  experts.top_k = static_cast<int>(config.whole({"num_experts_per_tok", "experts_per_token"}, 1));
  experts.shared = static_cast<int>(family.latent ? config.said("n_shared_experts")
                                                  : config.whole({"n_shared_experts"}, 0));
  experts.ffn = config.whole({"moe_intermediate_size"}, model.ffn);
  read_shared_width(config, experts);
  experts.first_dense =
      static_cast<int>(family.latent ? config.said("first_k_dense_replace")
                                     : config.whole({"first_k_dense_replace"}, 0));
  read_dense_layers(config, experts);
  experts.group_limit = static_cast<int>(config.whole({"topk_group"}, 0));
  if (experts.group_limit > 0) experts.groups = static_cast<int>(config.whole({"n_group"}, 0));
  if (experts.groups <= 1) experts.groups = experts.group_limit = 0;  // one group is no limit
  if (config.text("scoring_func") == "sigmoid") experts.router = Router::kSigmoid;
  if (config.whole({"moe_layer_freq", "decoder_sparse_step"}, 1) > 1)
    config.note(message(
        "import-expert-stride",
        "This version puts experts into every layer; config.json puts them into some only."));
}

void read_attention(Config& config, const Family& family, Model& model) {
  if (!family.latent && config.find({"kv_lora_rank"}) == nullptr) {
    const bool own_width = family.type == "gpt_oss" || family.type.starts_with("qwen3");
    const std::int64_t usual = model.heads > 0 ? model.hidden / model.heads : 0;
    model.head_dim =
        own_width ? config.assumed({"head_dim"}, usual) : config.whole({"head_dim"}, 0);
    if (model.head_dim * model.heads == model.hidden) model.head_dim = 0;
    return;
  }
  config.need_all({{"kv_lora_rank"}, {"qk_nope_head_dim"}, {"qk_rope_head_dim"}, {"v_head_dim"}});
  model.latent.kv_rank = config.needed({"kv_lora_rank"});
  model.latent.q_rank = config.said("q_lora_rank");
  model.latent.nope_dim = config.needed({"qk_nope_head_dim"});
  model.latent.rope_dim = config.needed({"qk_rope_head_dim"});
  model.latent.value_dim = config.needed({"v_head_dim"});
}

// Transformers decides it by the family (models/qwen3/modeling_qwen3.py: q_norm, k_norm), or by a
// setting of the configuration.
void note_norms(Config& config, const Family& family) {
  const bool of_family = family.type.starts_with("qwen3");
  const char* const said = config.flag({"use_qk_norm"}, false)    ? "use_qk_norm"
                           : config.flag({"qk_layernorm"}, false) ? "qk_layernorm"
                                                                  : nullptr;
  if (of_family || said != nullptr)
    config.note(message("import-norms",
                        "The model normalizes queries and keys, as {} says; they are left out of "
                        "the counts.",
                        said != nullptr ? plain(said) : plain("model_type")));
}

// Launch lines have those that presets were published with.
void note_rotary_base(Config& config, const Model& model) {
  constexpr double kUsual = 10'000;
  const nlohmann::json* base = config.find({"rope_theta"});
  if (base == nullptr || !base->is_number() || *base == kUsual || model.learned_positions) return;
  for (const std::string& name : model_names()) {
    const Result<Model> preset = find_model(name);
    if (preset && preset->layers == model.layers && preset->hidden == model.hidden &&
        preset->heads == model.heads && preset->kv_heads == model.kv_heads &&
        preset->vocab == model.vocab)
      return;
  }
  config.note(message("import-rotary-base",
                      "The base of rotary positions, {}, is not kept, since no time and no memory "
                      "follows from it: put it into the launch line that is exported.",
                      figure(fmt::format("{}", base->get<double>()))));
}

}  // namespace

bool is_hugging_face(const nlohmann::json& json) {
  return json.is_object() && (json.contains("model_type") || json.contains("architectures"));
}

Result<Model> import_hugging_face(const nlohmann::json& json, std::vector<Message>& notes) {
  if (!json.is_object())
    return message("import-not-object", "config.json must be an object in braces.");
  Config config(json, notes);
  const std::string type = config.text("model_type");
  if (std::find(kOthers.begin(), kOthers.end(), type) != kOthers.end() ||
      config.flag({"is_encoder_decoder"}, false))
    return message("import-encoder",
                   "“{}” is an encoder, and only decoders that predict the next token are "
                   "modelled; choose the config.json of such a model.",
                   type.empty() ? "(none)" : shown(type));
  const Family family = family_of(config, type);

  Model model;
  model.title = type.empty() ? "Imported model" : "Imported " + shown(type);
  model.layers = static_cast<int>(config.needed({"num_hidden_layers", "n_layer"}));
  model.hidden = config.needed({"hidden_size", "n_embd", "d_model"});
  model.heads = static_cast<int>(config.needed({"num_attention_heads", "n_head"}));
  model.kv_heads = static_cast<int>(family.experts && !family.latent
                                        ? config.assumed({"num_key_value_heads"}, model.heads)
                                        : config.whole({"num_key_value_heads"}, model.heads));
  model.vocab = config.needed({"vocab_size"});
  model.sequence = config.assumed({"max_position_embeddings", "n_positions", "n_ctx"}, 2048);
  model.mlp = family.gated ? Mlp::kSwiglu : Mlp::kGelu;
  model.norm = family.layer_norm ? Norm::kLayer : Norm::kRms;
  model.biases = family.biases;
  model.learned_positions = family.learned_positions;
  model.tied = config.flag({"tie_word_embeddings"}, family.tied);
  if (type == "gpt_oss" && config.find({"sliding_window"}) != nullptr)
    config.note(message("import-window",
                        "Some layers attend to a window of tokens alone; here each attends to all "
                        "before it, so FLOPs of attention are counted too high."));
  if ((!model.biases && config.flag({"attention_bias"}, false)) || type == "qwen2" ||
      type == "qwen2_moe")
    config.note(message("import-biases",
                        "Attention has biases in this model; they are left out of the counts."));
  const std::int64_t usual = default_ffn(model.hidden, model.mlp);
  model.ffn = type == "gpt2" ? config.whole({"n_inner", "intermediate_size"}, usual)
                             : config.assumed({"intermediate_size", "ffn_dim", "n_inner"}, usual);
  std::string activation = config.text("hidden_act");
  if (activation.empty()) activation = config.text("activation_function");
  const bool is_gelu = activation.find("gelu") != std::string::npos;
  if (!activation.empty() && (family.gated ? activation != "silu" : !is_gelu))
    config.note(message("import-activation", "Activation “{}” is counted as {}.", shown(activation),
                        family.gated ? "SwiGLU" : "GELU"));
  note_norms(config, family);
  read_attention(config, family, model);
  read_experts(config, family, model);
  if (config.failed()) return config.error();
  note_rotary_base(config, model);
  if (auto wrong = check_model(model); !wrong.empty()) return wrong.front();
  return model;
}

}  // namespace parallelarium

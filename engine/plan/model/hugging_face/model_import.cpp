// SPDX-License-Identifier: Apache-2.0
// Reads the config.json that Hugging Face's transformers library writes.
#include <algorithm>
#include <array>
#include <string_view>

#include "engine/plan/model/hugging_face/hugging_face.h"
#include "engine/plan/model/hugging_face/hugging_face_beyond.h"
#include "engine/plan/model/hugging_face/hugging_face_config.h"
#include "engine/plan/model/hugging_face/hugging_face_form.h"
#include "engine/plan/model/model.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {
namespace {

using Config = HuggingFaceConfig;

// Qwen's shared expert has a width of its own, as wide as so many of the others together.
void read_shared_width(Config& config, Experts& experts) {
  const std::int64_t width = config.whole({"shared_expert_intermediate_size"}, 0);
  if (width == 0 || experts.ffn == 0) return;
  experts.shared = static_cast<int>(width / experts.ffn);
  if (width % experts.ffn != 0)
    config.fail(message("import-shared-width",
                        "The shared expert is {} wide, no multiple of the other experts' {}, and "
                        "here all experts have one width.",
                        width, experts.ffn));
}

bool is_not_dense(const nlohmann::json& type) { return type != "dense"; }

// Which layers have experts: how many without come first, or a failure where others are without.
int leading_dense(Config& config, const Model& model) {
  const auto fails = [&config](const char* key) {
    config.fail(message("import-expert-stride",
                        "By {} in config.json, experts stand in some layers only; here all layers "
                        "after the first dense ones have experts.",
                        key));
    return 0;
  };
  for (const char* key : {"moe_layer_freq", "decoder_sparse_step", "interleave_moe_layer_step"}) {
    const nlohmann::json* step = config.find({key});
    if (step != nullptr && *step != 1) return fails(key);
  }
  if (const nlohmann::json* layers = config.find({"moe_layers"});
      layers != nullptr && layers->size() != static_cast<std::size_t>(model.layers))
    return fails("moe_layers");
  if (const nlohmann::json* types = config.find({"mlp_layer_types"});
      types != nullptr && types->is_array()) {
    const auto first = std::find_if(types->begin(), types->end(), is_not_dense);
    return std::find(first, types->end(), "dense") == types->end()
               ? static_cast<int>(first - types->begin())
               : fails("mlp_layer_types");
  }
  const nlohmann::json* layers = config.find({"mlp_only_layers"});
  if (layers == nullptr || !layers->is_array()) return 0;
  int leading = 0;
  for (const nlohmann::json& layer : *layers)
    if (layer == leading) ++leading;
  return leading == static_cast<int>(layers->size()) ? leading : fails("mlp_only_layers");
}

// Whether the class of a family has no other scores of experts, so that files leave them out.
bool scores_by_sigmoid(std::string_view type) {
  constexpr std::array kTypes = {"deepseek_v3", "kimi_k2", "glm4_moe", "glm_moe_dsa"};
  return std::find(kTypes.begin(), kTypes.end(), type) != kTypes.end();
}

void read_experts(Config& config, const Family& family, Model& model) {
  const char* count_name = family.latent                         ? "n_routed_experts"
                           : family.experts == ExpertWidth::kOwn ? "num_experts"
                                                                 : "num_local_experts";
  if (family.experts != ExpertWidth::kNone)
    config.need_all({{count_name, "num_local_experts", "n_routed_experts", "num_experts"},
                     {"num_experts_per_tok", "experts_per_token"}});
  if (family.experts == ExpertWidth::kOwn) config.need_all({{"moe_intermediate_size"}});
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
  const int dense = leading_dense(config, model);
  const bool by_layer = config.find({"mlp_layer_types"}) != nullptr;  // the library's goes first
  experts.first_dense =
      static_cast<int>(by_layer        ? dense
                       : family.latent ? config.said("first_k_dense_replace")
                                       : config.whole({"first_k_dense_replace"}, dense));
  experts.group_limit = static_cast<int>(config.whole({"topk_group"}, 0));
  if (experts.group_limit > 0) experts.groups = static_cast<int>(config.whole({"n_group"}, 0));
  if (experts.groups <= 1) experts.groups = experts.group_limit = 0;  // one group is no limit
  const std::string scoring = config.text({"scoring_func"});
  if (scoring == "sigmoid" || (scoring.empty() && scores_by_sigmoid(family.type)))
    experts.router = Router::kSigmoid;
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
  model.latent.kv_rank = config.whole({"kv_lora_rank"}, 1);
  model.latent.q_rank = config.said("q_lora_rank");
  model.latent.nope_dim = config.whole({"qk_nope_head_dim"}, 1);
  model.latent.rope_dim = config.whole({"qk_rope_head_dim"}, 1);
  model.latent.value_dim = config.whole({"v_head_dim"}, 1);
}

// Launch lines have those that presets were published with.
void note_rotary_base(Config& config, const Model& model) {
  constexpr double kUsual = 10'000;
  const nlohmann::json* base = config.find({"rope_theta", "rotary_emb_base"});
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

// The library's flags for biases that the family leaves open.
unsigned biases_beyond(const Config& config, const Family& family) {
  if (family.biases) return 0;
  const bool queries_alone = family.type.starts_with("glm4") || family.type == "solar_open";
  unsigned beyond = 0;
  if (config.flag("attention_bias", family.type == "glm4"))
    beyond |= queries_alone ? kQkvBiases : kQkvBiases | kOutputBiases;
  if (config.flag("mlp_bias", false)) beyond |= kMlpBiases;
  return beyond;
}

// Notes the windows that attention of this family is cut to.
void note_window(Config& config, const Family& family, const Model& model) {
  const std::int64_t window = config.whole({"sliding_window", "attention_chunk_size"}, 0);
  const nlohmann::json* types = config.find({"layer_types"});
  const bool all_full = types != nullptr && types->is_array() && !types->empty() &&
                        std::count(types->begin(), types->end(), "full_attention") ==
                            static_cast<std::ptrdiff_t>(types->size());
  const bool used =
      !all_full && config.flag("use_sliding_window", !family.type.starts_with("qwen"));
  if (used && window > 0 && window < model.sequence)
    config.note(message("import-window",
                        "Layers of this model attend to a window of tokens alone; here each "
                        "attends to all before it, so FLOPs of attention are counted too high."));
}

void note_activation(Config& config, const Family& family) {
  std::string activation =
      config.text({"hidden_activation", "hidden_act", "activation_function", "activation"});
  if (activation.empty()) activation = family.activation;
  if (activation.empty()) return;
  if (family.gated && activation != "silu" && activation != "swish")
    config.note(message("import-gate",
                        "The gate of the MLP has the activation “{}”; it is counted as SwiGLU, "
                        "which has the same matrices and products.",
                        shown(activation)));
  if (!family.gated && activation.find("gelu") == std::string::npos)
    config.note(
        message("import-activation", "Activation “{}” is counted as GELU.", shown(activation)));
}

}  // namespace

bool is_hugging_face(const nlohmann::json& json) {
  return json.is_object() && (json.contains("model_type") || json.contains("architectures"));
}

Result<Model> import_hugging_face(const nlohmann::json& json, std::vector<Message>& notes) {
  if (!json.is_object())
    return message("import-not-object", "config.json must be an object in braces.");
  const std::size_t first_note = notes.size();
  Result<CommonForm> form = common_form(json, notes);
  if (!form) return form.error();
  Family& family = form->family;
  Config config(form->keys, family.known ? "" : family.type, notes);

  config.need_all({{"num_hidden_layers"},
                   {"hidden_size"},
                   {"num_attention_heads"},
                   {"intermediate_size"},
                   {"vocab_size"}});
  Model model;
  const std::string type = config.text({"model_type"});
  model.title = type.empty() ? "Imported model" : "Imported " + shown(type);
  model.layers = static_cast<int>(config.whole({"num_hidden_layers"}, 1));
  model.hidden = config.whole({"hidden_size"}, 1);
  model.heads = static_cast<int>(config.whole({"num_attention_heads"}, 1));
  model.kv_heads = static_cast<int>(family.experts != ExpertWidth::kNone && !family.latent
                                        ? config.assumed({"num_key_value_heads"}, model.heads)
                                        : config.whole({"num_key_value_heads"}, model.heads));
  model.vocab = config.whole({"vocab_size"}, 1);
  model.sequence = config.assumed({"max_position_embeddings"}, 2048);
  model.mlp = family.gated ? Mlp::kSwiglu : Mlp::kGelu;
  model.norm = family.layer_norm ? Norm::kLayer : Norm::kRms;
  model.biases = family.biases;
  model.learned_positions = family.learned_positions;
  model.tied = config.flag("tie_word_embeddings", family.tied);
  model.ffn = config.whole({"intermediate_size"}, 1);
  family.beyond |= biases_beyond(config, family);
  read_attention(config, family, model);
  read_experts(config, family, model);
  if (config.flag("use_qk_norm", false) && family.type != "llama4_text")  // Llama 4's has no gains
    family.beyond |= kHeadNorms;
  note_window(config, family, model);
  note_activation(config, family);
  if (config.failed()) return config.error();
  if (auto wrong = check_model(model); !wrong.empty()) return wrong.front();
  note_beyond(config, family, model);
  note_rotary_base(config, model);
  if (config.failed()) return config.error();
  if (!family.known)
    notes.insert(notes.begin() + static_cast<std::ptrdiff_t>(first_note),
                 message("import-type",
                         "Model type “{}” is not known here; its keys are read as {}'s, which "
                         "gives {} parameters: compare them with the published number.",
                         type.empty() ? "(none)" : shown(type), family.gated ? "Llama" : "GPT-NeoX",
                         count_parameters(model).total));
  return model;
}

}  // namespace parallelarium

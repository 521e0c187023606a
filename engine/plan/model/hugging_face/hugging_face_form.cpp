// SPDX-License-Identifier: Apache-2.0
// Source: transformers 5.24, src/transformers/models/*/configuration_*.py (keys, attribute_map).
#include "engine/plan/model/hugging_face/hugging_face_form.h"

#include <algorithm>
#include <array>
#include <optional>

#include "engine/plan/model/hugging_face/hugging_face_config.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/text/phrases.h"

namespace parallelarium {
namespace {

using nlohmann::json;

// Models that do not predict the next token of one sequence, or whose layers are of several kinds.
constexpr std::array kEncoders = {"bert",   "roberta",   "xlm-roberta", "distilbert",
                                  "albert", "electra",   "deberta",     "deberta-v2",
                                  "mpnet",  "camembert", "modernbert"};
constexpr std::array kEncoderDecoders = {
    "t5",      "mt5",        "umt5",   "t5gemma", "longt5",  "bart", "mbart",
    "pegasus", "blenderbot", "marian", "m2m_100", "whisper", "led",  "switch_transformers"};
constexpr std::array kRecurrent = {"mamba", "mamba2", "falcon_mamba", "rwkv", "rwkv5", "xlstm"};
constexpr std::array kMixed = {"jamba",
                               "bamba",
                               "zamba",
                               "zamba2",
                               "nemotron_h",
                               "falcon_h1",
                               "granitemoehybrid",
                               "recurrent_gemma",
                               "qwen3_next",
                               "qwen3_5_text",
                               "lfm2",
                               "qwen3_5_moe_text",
                               "lfm2_moe",
                               "minimax",
                               "kimi_linear",
                               "olmo_hybrid"};

bool holds(const auto& types, const std::string& type) {
  return std::find(types.begin(), types.end(), type) != types.end();
}

// Null, false, zero and what is empty say that a model does without.
bool says_something(const json& value) {
  return !(value.is_null() || value == false || value == 0 || value == "" ||
           (value.is_structured() && value.empty()));
}

// A layer's kind that is not attention to all tokens or to some.
bool mixes_layers(const json& keys) {
  for (const char* name : {"layer_types", "layers_block_type", "block_types"}) {
    const auto types = keys.find(name);
    if (types == keys.end() || !types->is_array()) continue;
    for (const json& type : *types)
      if (!type.is_string() || type == "linear_attention" ||
          type.get<std::string>().find("attention") == std::string::npos)
        return true;
  }
  return keys.contains("hybrid_override_pattern");
}

std::optional<Message> refusal(const std::string& type, const json& keys) {
  const Message name = type.empty() ? plain("(none)") : plain(shown(type));
  if (holds(kEncoders, type))
    return message("import-encoder",
                   "“{}” is an encoder, and only decoders that predict the next token are "
                   "modelled; choose the config.json of such a model.",
                   name);
  const auto both = keys.find("is_encoder_decoder");
  if (holds(kEncoderDecoders, type) || (both != keys.end() && *both == true))
    return message(
        "import-encoder-decoder",
        "“{}” has an encoder and a decoder, and only decoders alone are modelled; choose "
        "the config.json of such a model.",
        name);
  if (holds(kRecurrent, type))
    return message("import-recurrent",
                   "“{}” has recurrent layers and no attention, and only layers with attention are "
                   "modelled; choose the config.json of such a model.",
                   name);
  if (const auto each = keys.find("per_layer_config"); each != keys.end() && says_something(*each))
    return message("import-per-layer",
                   "By per_layer_config in config.json, layers have sizes of their own, and only "
                   "models of equal layers are modelled; choose the config.json of such a model.");
  if (holds(kMixed, type) || mixes_layers(keys))
    return message("import-mixed",
                   "“{}” has recurrences, linear attention or convolutions beside attention, and "
                   "only layers of attention and MLP are modelled; choose the config.json of such "
                   "a model.",
                   name);
  return std::nullopt;
}

// Keys of an unknown type that change the number of parameters in a way that no common key says.
std::vector<std::string> strange_keys(const json& keys) {
  constexpr std::array kUnderstood = {"num_key_value_heads",
                                      "num_experts",
                                      "num_local_experts",
                                      "n_routed_experts",
                                      "n_shared_experts",
                                      "num_experts_per_tok",
                                      "experts_per_token",
                                      "kv_lora_rank",
                                      "q_lora_rank",
                                      "moe_intermediate_size",
                                      "shared_expert_intermediate_size"};
  constexpr std::array kParts = {
      "layer_period", "interleave",   "mamba",      "ssm_",          "conv_",
      "multi_query",  "linear_",      "lora_rank",  "cross_att",     "per_layer",
      "state_",       "altup",        "laurel",     "block_config",  "fn_config",
      "attn_config",  "recurrent",    "hybrid",     "kv_heads",      "key_value_heads",
      "head_kv",      "qk_layernorm", "shared",     "expert",        "moe_",
      "index_",       "embed_dim",    "embed_proj", "embedding_size"};
  constexpr std::array kHarmless = {"rope", "loss", "coef", "router", "scal", "freq"};
  const auto holds_one = [](const std::string& key, const auto& parts) {
    return std::any_of(parts.begin(), parts.end(),
                       [&key](const char* part) { return key.find(part) != std::string::npos; });
  };
  std::vector<std::string> strange;
  for (const auto& [key, value] : keys.items())
    if (says_something(value) && !holds(kUnderstood, key) && holds_one(key, kParts) &&
        !holds_one(key, kHarmless))
      strange.push_back(shown(key));
  return strange;
}

// The family's form; of an unknown one, what its activation and its norms say.
Result<Family> family_of(const std::string& type, const json& keys, std::vector<Message>& notes) {
  if (const Family* family = known_family(type)) return *family;
  if (const std::vector<std::string> strange = strange_keys(keys); !strange.empty())
    return message(
        "import-strange",
        "Model type “{}” is not known here, nor the meaning of {} in config.json, so its "
        "parameters would be a guess.",
        type.empty() ? "(none)" : shown(type), join_and(strange));
  const HuggingFaceConfig config(keys, type, notes);
  const std::string activation =
      config.text({"hidden_act", "hidden_activation", "activation_function"});
  Family family{.type = type};
  family.known = false;
  family.gated = activation.empty() || activation == "silu" || activation == "swish" ||
                 config.find({"rms_norm_eps"}) != nullptr;
  family.layer_norm = family.biases = !family.gated;
  if (config.find({"tie_word_embeddings"}) == nullptr) {
    family.tied = true;
    notes.push_back(message("import-tied",
                            "config.json has no tie_word_embeddings; true, the library's default, "
                            "is assumed."));
  }
  for (const char* key : {"qkv_bias", "use_qkv_bias", "add_qkv_bias"})
    if (config.flag(key, false)) family.beyond |= kQkvBiases;
  return family;
}

// The number at `key`, or `fallback`, which also replaces what is no number of a shape.
std::int64_t number_at(const json& keys, const char* key, std::int64_t fallback) {
  const auto found = keys.find(key);
  if (found == keys.end() || !found->is_number_integer()) return fallback;
  const auto number = found->get<std::int64_t>();
  return number >= 0 && number <= HuggingFaceConfig::kLargest ? number : fallback;
}

bool flag_at(const json& keys, const char* key, bool fallback) {
  const auto found = keys.find(key);
  return found != keys.end() && found->is_boolean() ? found->get<bool>() : fallback;
}

bool lacks(const json& keys, const char* key) {
  const auto found = keys.find(key);
  return found == keys.end() || found->is_null();
}

void widen_mlp(json& keys) {
  if (lacks(keys, "intermediate_size") && !lacks(keys, "hidden_size"))
    keys["intermediate_size"] =
        number_at(keys, "expansion_ratio", 4) * number_at(keys, "hidden_size", 0);
}

void read_falcon(CommonForm& form) {
  json& keys = form.keys;
  widen_mlp(keys);
  const bool later = flag_at(keys, "new_decoder_architecture", false) || !lacks(keys, "n_head_kv");
  const std::int64_t heads = number_at(keys, "num_attention_heads", 1);
  keys["num_key_value_heads"] =
      later ? number_at(keys, "num_kv_heads", number_at(keys, "n_head_kv", heads))
      : flag_at(keys, "multi_query", true) ? 1
                                           : heads;
  if (flag_at(keys, "bias", false)) form.family.biases = true;
  if (!later && !flag_at(keys, "parallel_attn", true)) return;
  form.family.beyond |= kSideBySide;
  if (number_at(keys, "num_ln_in_parallel_attn", later ? 2 : 1) != 2)
    form.family.beyond |= kOneNorm;
}

std::optional<Message> read_chatglm(json& keys) {
  if (lacks(keys, "padded_vocab_size") || !flag_at(keys, "rmsnorm", true) ||
      flag_at(keys, "add_bias_linear", false))
    return message("import-chatglm",
                   "This is a ChatGLM of another form than ChatGLM2 and later, and only those are "
                   "modelled; choose the config.json of such a model.");
  keys["vocab_size"] = keys["padded_vocab_size"];
  if (flag_at(keys, "multi_query_attention", false) && !lacks(keys, "multi_query_group_num"))
    keys["num_key_value_heads"] = keys["multi_query_group_num"];
  return std::nullopt;
}

void read_llama4(json& keys) {
  keys["moe_intermediate_size"] = keys["intermediate_size"];
  keys["intermediate_size"] = keys["intermediate_size_mlp"];
  keys["n_shared_experts"] = 1;
  keys["scoring_func"] = "sigmoid";
}

// What a family says in keys of its own.
std::optional<Message> read_own_keys(CommonForm& form) {
  json& keys = form.keys;
  Family& family = form.family;
  const std::string& type = family.type;
  if (type == "gpt2" || type == "bloom" || type == "gpt_bigcode") widen_mlp(keys);
  if (type == "gpt_bigcode" && flag_at(keys, "multi_query", true)) keys["num_key_value_heads"] = 1;
  if (type == "gpt_neox") {
    if (flag_at(keys, "use_parallel_residual", true)) family.beyond |= kSideBySide;
    if (!flag_at(keys, "attention_bias", true)) {
      family.biases = false;
      family.beyond |= kMlpBiases;
    }
  }
  if (type == "gpt_oss") family.biases = flag_at(keys, "attention_bias", true);
  if (type == "qwen2_moe" && !flag_at(keys, "qkv_bias", true)) family.beyond &= ~kQkvBiases;
  if (type == "falcon") read_falcon(form);
  if (type == "chatglm") return read_chatglm(keys);
  if (type == "llama4_text") read_llama4(keys);
  if (type == "solar_open" && lacks(keys, "intermediate_size"))  // no layer is dense
    keys["intermediate_size"] = keys.value("moe_intermediate_size", json());
  if (type == "mpt") {
    widen_mlp(keys);
    const json attention = keys.value("attn_config", json::object());
    if (attention.is_object() && !lacks(attention, "kv_n_heads"))
      keys["num_key_value_heads"] = attention["kv_n_heads"];
    if (!flag_at(keys, "no_bias", true)) {
      family.biases = family.layer_norm = true;
      family.beyond = 0;
    }
  }
  if (type == "opt") {
    family.biases = flag_at(keys, "enable_bias", true);
    if (!flag_at(keys, "layer_norm_elementwise_affine", true)) family.beyond |= kBareNorms;
    const std::int64_t hidden = number_at(keys, "hidden_size", 0);
    if (const std::int64_t table = number_at(keys, "word_embed_proj_dim", hidden); table != hidden)
      return message("import-table-width",
                     "The token table is {} wide and the layers are {}, and only models with one "
                     "width are modelled; choose the config.json of such a model.",
                     table, hidden);
  }
  return std::nullopt;
}

void rename_keys(json& keys) {
  constexpr std::array<std::array<const char*, 2>, 17> kNames = {
      {{"n_layer", "num_hidden_layers"},
       {"n_layers", "num_hidden_layers"},
       {"num_layers", "num_hidden_layers"},
       {"n_embd", "hidden_size"},
       {"n_embed", "hidden_size"},
       {"d_model", "hidden_size"},
       {"n_head", "num_attention_heads"},
       {"n_heads", "num_attention_heads"},
       {"kv_channels", "head_dim"},
       {"ffn_dim", "intermediate_size"},
       {"n_inner", "intermediate_size"},
       {"ffn_hidden_size", "intermediate_size"},
       {"n_positions", "max_position_embeddings"},
       {"n_ctx", "max_position_embeddings"},
       {"max_seq_len", "max_position_embeddings"},
       {"max_sequence_length", "max_position_embeddings"},
       {"seq_length", "max_position_embeddings"}}};
  for (const auto& [theirs, common] : kNames)
    if (lacks(keys, common) && !lacks(keys, theirs)) keys[common] = json(keys[theirs]);
}

// From version 5 on the library keeps what positions need in an object, or in one for each kind of
// attention.
void take_rope_parameters(json& keys) {
  const auto found = keys.find("rope_parameters");
  if (found == keys.end() || !found->is_object()) return;
  const json& parameters = found->contains("full_attention") ? (*found)["full_attention"] : *found;
  if (lacks(keys, "rope_theta") && parameters.is_object() && parameters.contains("rope_theta"))
    keys["rope_theta"] = json(parameters["rope_theta"]);
}

// A model of pictures or sound holds a language model under a key of its own.
json text_model(const json& file, std::vector<Message>& notes) {
  json keys = file;
  for (const char* inside : {"text_config", "llm_config", "language_config"}) {
    const auto text = file.find(inside);
    if (text == file.end() || !text->is_object()) continue;
    keys = *text;
    if (lacks(keys, "model_type")) keys["model_type"] = file.value("model_type", json());
    if (lacks(keys, "tie_word_embeddings") && !lacks(file, "tie_word_embeddings"))
      keys["tie_word_embeddings"] = file["tie_word_embeddings"];
    notes.push_back(message("import-text",
                            "The language model in {} is read; the rest of the model is left out "
                            "of the counts.",
                            inside));
    return keys;
  }
  std::vector<std::string> others;
  for (const auto& [key, value] : file.items())
    if (value.is_object() &&
        (key.starts_with("vision") || key.starts_with("audio") || key == "img_processor"))
      others.push_back(shown(key));
  if (!others.empty())
    notes.push_back(message("import-other-parts",
                            "The language model is read; {} is left out of the counts.",
                            join_and(others)));
  return keys;
}

void fill_in(CommonForm& form, std::vector<Message>& notes) {
  std::vector<std::string> taken;
  const json defaults = json::parse(form.family.defaults);
  for (const auto& [key, value] : defaults.items())
    if (lacks(form.keys, key.c_str())) {
      form.keys[key] = value;
      taken.push_back(key + " " + value.dump());
    }
  if (!taken.empty())
    notes.push_back(message("import-defaults",
                            "config.json leaves out what its class has by default, which is "
                            "taken: {}.",
                            join_and(taken)));
}

}  // namespace

Result<CommonForm> common_form(const json& file, std::vector<Message>& notes) {
  CommonForm form{text_model(file, notes), {}};
  const auto found = form.keys.find("model_type");
  const std::string type =
      found != form.keys.end() && found->is_string() ? found->get<std::string>() : std::string();
  if (auto why = refusal(type, form.keys)) return *why;
  rename_keys(form.keys);
  take_rope_parameters(form.keys);
  Result<Family> family = family_of(type, form.keys, notes);
  if (!family) return family.error();
  form.family = std::move(*family);
  fill_in(form, notes);
  if (auto why = read_own_keys(form)) return *why;
  return form;
}

}  // namespace parallelarium

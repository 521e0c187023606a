// SPDX-License-Identifier: Apache-2.0
// Source: transformers 5.24, src/transformers/models/*/configuration_*.py (defaults) and
// modeling_*.py (which tensors a layer has).
#include "engine/plan/model/hugging_face/hugging_face_families.h"

#include <array>
#include <vector>

namespace parallelarium {
namespace {

constexpr auto kMlp = ExpertWidth::kMlp, kOwn = ExpertWidth::kOwn;

Family two_matrices(std::string_view type, unsigned beyond = 0) {
  return {.type = std::string(type),
          .gated = false,
          .layer_norm = true,
          .biases = true,
          .beyond = beyond};
}
Family gated(std::string_view type, std::string_view defaults = "{}", unsigned beyond = 0) {
  return {.type = std::string(type), .beyond = beyond, .defaults = defaults};
}
Family gemma(std::string_view type, unsigned beyond, std::string_view defaults) {
  return {.type = std::string(type),
          .tied = true,
          .beyond = beyond,
          .activation = "gelu_pytorch_tanh",
          .defaults = defaults};
}
Family with_experts(std::string_view type, ExpertWidth width, unsigned beyond = 0) {
  return {.type = std::string(type), .experts = width, .beyond = beyond};
}
Family latent(std::string_view type, unsigned beyond = 0) {
  return {.type = std::string(type), .experts = kOwn, .latent = true, .beyond = beyond};
}

std::vector<Family> families() {
  Family gpt2 = two_matrices("gpt2");
  gpt2.tied = gpt2.learned_positions = true;
  Family bigcode = gpt2;
  bigcode.type = "gpt_bigcode";
  Family opt = gpt2;
  opt.type = "opt";
  opt.beyond = kPositionRows;
  Family bloom = two_matrices("bloom", kEmbeddingNorm);
  bloom.tied = true;
  Family falcon = two_matrices("falcon");
  falcon.tied = true;
  falcon.biases = false;
  falcon.defaults =
      R"({"vocab_size":65024,"hidden_size":4544,"num_hidden_layers":32,"num_attention_heads":71,
          "max_position_embeddings":2048})";
  Family mpt = falcon;
  mpt.type = "mpt";
  mpt.layer_norm = false;
  mpt.beyond = kUnbiasedNorms;
  mpt.defaults = R"({"vocab_size":50368,"hidden_size":2048,"num_hidden_layers":24,
          "num_attention_heads":16,"max_position_embeddings":2048})";
  Family gpt_oss = with_experts("gpt_oss", kMlp, kExpertBiases);
  gpt_oss.biases = true;
  Family llama4 = with_experts("llama4_text", kOwn);
  llama4.defaults = R"({"vocab_size":202048,"hidden_size":5120,"intermediate_size":8192,
          "intermediate_size_mlp":16384,"num_hidden_layers":48,"num_attention_heads":40,
          "num_key_value_heads":8,"head_dim":128,"max_position_embeddings":131072,
          "num_experts_per_tok":1,"num_local_experts":16,"attention_chunk_size":8192})";
  return {gpt2,
          bigcode,
          opt,
          bloom,
          two_matrices("gpt_neox"),
          two_matrices("phi", kOneNorm | kSideBySide | kHeadBias),
          falcon,
          mpt,
          gated("llama", R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":11008,
              "num_hidden_layers":32,"num_attention_heads":32,"max_position_embeddings":2048})"),
          gated("mistral", R"({"vocab_size":32000,"hidden_size":4096,"intermediate_size":14336,
              "num_hidden_layers":32,"num_attention_heads":32,"num_key_value_heads":8,
              "max_position_embeddings":131072})"),
          gated("qwen2", "{}", kQkvBiases),
          gated("qwen3", R"({"head_dim":128})", kHeadNorms),
          gated("phi3"),
          gated("olmo", "{}", kBareNorms),
          gated("olmo2", "{}", kWideNorms),
          gated("glm4", R"({"head_dim":128})", kQkvBiases | kOuterNorms),
          gated("chatglm", "{}", kQkvBiases),
          gemma("gemma", 0, R"({"vocab_size":256000,"hidden_size":3072,"intermediate_size":24576,
              "num_hidden_layers":28,"num_attention_heads":16,"num_key_value_heads":16,
              "head_dim":256,"max_position_embeddings":8192})"),
          gemma("gemma2", kOuterNorms, R"({"vocab_size":256000,"hidden_size":2304,
              "intermediate_size":9216,"num_hidden_layers":26,"num_attention_heads":8,
              "num_key_value_heads":4,"head_dim":256,"max_position_embeddings":8192})"),
          gemma("gemma3_text", kOuterNorms | kHeadNorms, R"({"vocab_size":262208,
              "hidden_size":2304,"intermediate_size":9216,"num_hidden_layers":26,
              "num_attention_heads":8,"num_key_value_heads":4,"head_dim":256,
              "max_position_embeddings":131072})"),
          llama4,
          gpt_oss,
          with_experts("mixtral", kMlp),
          with_experts("olmoe", kMlp, kWideNorms),
          with_experts("qwen2_moe", kOwn, kQkvBiases | kSharedGates),
          with_experts("qwen3_moe", kOwn, kHeadNorms),
          with_experts("glm4_moe", kOwn),
          with_experts("solar_open", kOwn),
          latent("deepseek_v2"),
          latent("deepseek_v3"),
          latent("kimi_k2"),
          latent("glm_moe_dsa", kIndexer)};
}

// Types whose class holds the same layers, and what a file without text_config names its family by.
constexpr std::array<std::array<std::string_view, 2>, 11> kSame = {
    {{"qwen2_vl", "qwen2"},
     {"qwen2_vl_text", "qwen2"},
     {"qwen2_5_vl", "qwen2"},
     {"qwen2_5_vl_text", "qwen2"},
     {"qwen3_vl_text", "qwen3"},
     {"qwen3_vl_moe_text", "qwen3_moe"},
     {"ministral3", "mistral"},
     {"llama4", "llama4_text"},
     {"gemma3", "gemma3_text"},
     {"RefinedWeb", "falcon"},
     {"RefinedWebModel", "falcon"}}};

}  // namespace

const Family* known_family(std::string_view type) {
  static const std::vector<Family> kFamilies = families();
  for (const auto& [other, family] : kSame)
    if (type == other) type = family;
  for (const Family& family : kFamilies)
    if (family.type == type) return &family;
  return nullptr;
}

}  // namespace parallelarium

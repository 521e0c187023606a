// SPDX-License-Identifier: Apache-2.0
// Imported config.json files of models that this program cannot express, or does not know.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/plan/model/model.h"

namespace parallelarium {
namespace {

// Where the shape cannot be expressed, one sentence says why.
struct Inexpressible {
  const char* repository;
  const char* config;
  const char* error;
  const char* names;  // what the sentence names
};

TEST(RefusedModels, WhatCannotBeExpressedIsRefusedForWhatItIs) {
  const std::vector<Inexpressible> files = {
      {"google-t5/t5-small",
       R"({"model_type":"t5","d_ff":2048,"d_model":512,"is_encoder_decoder":true,"num_heads":8,
           "num_layers":6,"vocab_size":32128})",
       "import-encoder-decoder", "t5"},
      {"google-bert/bert-base-uncased",
       R"({"model_type":"bert","hidden_size":768,"intermediate_size":3072,
           "num_attention_heads":12,"num_hidden_layers":12,"vocab_size":30522})",
       "import-encoder", "bert"},
      {"state-spaces/mamba-2.8b-hf",
       R"({"model_type":"mamba","d_model":2560,"hidden_size":2560,"intermediate_size":5120,
           "n_layer":64,"num_hidden_layers":64,"state_size":16,"vocab_size":50280})",
       "import-recurrent", "mamba"},
      {"RWKV/rwkv-4-7b-pile",
       R"({"model_type":"rwkv","attention_hidden_size":4096,"hidden_size":4096,
           "num_hidden_layers":32,"vocab_size":50277})",
       "import-recurrent", "rwkv"},
      {"ai21labs/Jamba-v0.1",
       R"({"model_type":"jamba","attn_layer_offset":4,"attn_layer_period":8,
           "expert_layer_offset":1,"expert_layer_period":2,"hidden_act":"silu",
           "hidden_size":4096,"intermediate_size":14336,"mamba_d_conv":4,"mamba_d_state":16,
           "num_attention_heads":32,"num_experts":16,"num_experts_per_tok":2,
           "num_hidden_layers":32,"num_key_value_heads":8,"vocab_size":65536})",
       "import-mixed", "jamba"},
      {"Qwen/Qwen3-Next-80B-A3B-Instruct",
       R"({"model_type":"qwen3_next","full_attention_interval":4,"head_dim":256,
           "hidden_size":2048,"intermediate_size":5120,"linear_num_key_heads":16,
           "moe_intermediate_size":512,"num_attention_heads":16,"num_experts":512,
           "num_experts_per_tok":10,"num_hidden_layers":48,"num_key_value_heads":2,
           "vocab_size":151936})",
       "import-mixed", "qwen3_next"},
      {"meta-llama/Llama-4-Maverick-17B-128E",
       R"({"model_type":"llama4","text_config":{"head_dim":128,"hidden_act":"silu",
           "hidden_size":5120,"interleave_moe_layer_step":2,"intermediate_size":8192,
           "intermediate_size_mlp":16384,"max_position_embeddings":1048576,
           "model_type":"llama4_text","num_attention_heads":40,"num_experts_per_tok":1,
           "num_hidden_layers":48,"num_key_value_heads":8,"num_local_experts":128,
           "vocab_size":202048},"vision_config":{}})",
       "import-expert-stride", "interleave_moe_layer_step"},
      {"facebook/opt-350m",
       R"({"model_type":"opt","ffn_dim":4096,"hidden_size":1024,"max_position_embeddings":2048,
           "num_attention_heads":16,"num_hidden_layers":24,"vocab_size":50272,
           "word_embed_proj_dim":512})",
       "import-table-width", "512"},
      {"THUDM/chatglm-6b",
       R"({"model_type":"chatglm","hidden_size":4096,"inner_hidden_size":16384,
           "num_attention_heads":32,"num_layers":28,"position_encoding_2d":true,
           "vocab_size":130528})",
       "import-chatglm", "ChatGLM"},
      {"databricks/dbrx-base",
       R"({"model_type":"dbrx","attn_config":{"clip_qkv":8,"kv_n_heads":8},"d_model":6144,
           "ffn_config":{"ffn_hidden_size":10752,"moe_num_experts":16,"moe_top_k":4},
           "max_seq_len":32768,"n_heads":48,"n_layers":40,"vocab_size":100352})",
       "import-strange", "attn_config and ffn_config"},
      {"apple/OpenELM-3B",
       R"({"model_type":"openelm","model_dim":3072,"num_transformer_layers":36,
           "vocab_size":32000})",
       "import-missing-unknown", "openelm"}};
  for (const Inexpressible& file : files) {
    std::vector<Message> notes;
    const Result<Model> model = import_hugging_face(nlohmann::json::parse(file.config), notes);
    ASSERT_FALSE(model.ok()) << file.repository;
    EXPECT_EQ(model.error().id, file.error) << file.repository << ": " << model.error().text;
    EXPECT_NE(model.error().text.find(file.names), std::string::npos) << model.error().text;
  }
}

// Experts in some layers only cannot be expressed but for dense layers that come first.
TEST(RefusedModels, ExpertsInSomeLayersOnlyAreRefused) {
  const auto error = [](const char* type, const nlohmann::json& more) {
    nlohmann::json config = {
        {"model_type", type},       {"num_hidden_layers", 8},        {"hidden_size", 64},
        {"num_attention_heads", 4}, {"num_key_value_heads", 4},      {"vocab_size", 256},
        {"intermediate_size", 128}, {"max_position_embeddings", 64}, {"num_experts", 8},
        {"num_experts_per_tok", 2}, {"moe_intermediate_size", 32}};
    config.update(more);
    std::vector<Message> notes;
    const Result<Model> model = import_hugging_face(config, notes);
    return model.ok() ? "first dense " + std::to_string(model->experts.first_dense)
                      : model.error().id;
  };
  EXPECT_EQ(error("qwen3_moe", {{"decoder_sparse_step", 1}, {"mlp_only_layers", {0, 1}}}),
            "first dense 2");
  EXPECT_EQ(error("qwen3_moe", {{"decoder_sparse_step", 2}}), "import-expert-stride");
  EXPECT_EQ(error("qwen3_moe", {{"mlp_only_layers", {3, 5}}}), "import-expert-stride");
  EXPECT_EQ(error("mystery", {{"moe_layer_freq", {0, 1, 0, 1, 0, 1, 0, 1}}}),
            "import-expert-stride");
}

TEST(RefusedModels, ASharedExpertIsAWholeNumberOfTheOthers) {
  const auto shared = [](int width) {
    std::vector<Message> notes;
    const Result<Model> model = import_hugging_face({{"model_type", "qwen2_moe"},
                                                     {"num_hidden_layers", 2},
                                                     {"hidden_size", 64},
                                                     {"num_attention_heads", 4},
                                                     {"vocab_size", 256},
                                                     {"intermediate_size", 128},
                                                     {"num_experts", 8},
                                                     {"num_experts_per_tok", 2},
                                                     {"moe_intermediate_size", 32},
                                                     {"shared_expert_intermediate_size", width}},
                                                    notes);
    return model.ok() ? std::to_string(model->experts.shared) : model.error().id;
  };
  EXPECT_EQ(shared(96), "3");
  EXPECT_EQ(shared(80), "import-shared-width");
}

// A type that no table has is read by the common keys, with its count; any key that would change
// the count in another way stops that.
TEST(RefusedModels, AnUnknownTypeTellsItsCountOrIsRefused) {
  const nlohmann::json plain = {{"model_type", "mystery"}, {"num_hidden_layers", 2},
                                {"hidden_size", 64},       {"num_attention_heads", 4},
                                {"vocab_size", 256},       {"intermediate_size", 128},
                                {"hidden_act", "silu"},    {"tie_word_embeddings", false},
                                {"rope_interleave", true}, {"router_aux_loss_coef", 0.1}};
  std::vector<Message> notes;
  const Result<Model> model = import_hugging_face(plain, notes);
  ASSERT_TRUE(model.ok());
  const std::int64_t layer = 4 * 64 * 64 + 3 * 64 * 128 + 2 * 64;
  EXPECT_NE(notes.front().text.find(std::to_string(2 * 256 * 64 + 2 * layer + 64)),
            std::string::npos)
      << notes.front().text;
  for (const char* key :
       {"attn_layer_period", "expert_layer_period", "interleave_every", "mamba_d_state",
        "multi_query", "multi_query_group_num", "num_kv_heads", "linear_key_head_dim",
        "shared_intermediate_size", "moe_num_experts", "hidden_size_per_layer_input", "o_lora_rank",
        "cross_attention_layers", "ssm_cfg", "index_n_heads"}) {
    nlohmann::json config = plain;
    config[key] = 4;
    const Result<Model> refused = import_hugging_face(config, notes);
    ASSERT_FALSE(refused.ok()) << key;
    EXPECT_EQ(refused.error().id, "import-strange") << key;
    EXPECT_NE(refused.error().text.find(key), std::string::npos);
    config[key] = nullptr;
    EXPECT_TRUE(import_hugging_face(config, notes).ok()) << key;
  }
  nlohmann::json mixed = plain;
  mixed["layer_types"] = {"linear_attention", "full_attention"};
  EXPECT_EQ(import_hugging_face(mixed, notes).error().id, "import-mixed");
}

}  // namespace
}  // namespace parallelarium

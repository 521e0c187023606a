// SPDX-License-Identifier: Apache-2.0
// Models that are read from the configuration files of a library.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "engine/plan/model/model.h"

namespace parallelarium {
namespace {

Model imported(const char* config, std::vector<Message>& notes) {
  Result<Model> model = import_hugging_face(nlohmann::json::parse(config), notes);
  EXPECT_TRUE(model.ok()) << model.error().text;
  return model.ok() ? *model : Model{};
}

// Each as the library writes it for the released model; the count must be the preset's.
TEST(HuggingFace, ImportsTheFamiliesOfThePresets) {
  std::vector<Message> notes;
  const Model gpt2 = imported(R"({"model_type":"gpt2","n_layer":12,"n_embd":768,"n_head":12,
      "n_positions":1024,"n_ctx":1024,"vocab_size":50257,"activation_function":"gelu_new",
      "n_inner":null})",
                              notes);
  EXPECT_EQ(count_parameters(gpt2).total, 124'439'808);
  const Model llama = imported(R"({"model_type":"llama","num_hidden_layers":32,"hidden_size":4096,
      "num_attention_heads":32,"intermediate_size":11008,"vocab_size":32000,"hidden_act":"silu",
      "max_position_embeddings":2048,"tie_word_embeddings":false})",
                               notes);
  EXPECT_EQ(count_parameters(llama).total, 6'738'415'616);
  const Model mixtral = imported(R"({"model_type":"mixtral","num_hidden_layers":32,
      "hidden_size":4096,"num_attention_heads":32,"num_key_value_heads":8,"vocab_size":32000,
      "intermediate_size":14336,"max_position_embeddings":32768,"num_local_experts":8,
      "num_experts_per_tok":2,"hidden_act":"silu"})",
                                 notes);
  EXPECT_EQ(count_parameters(mixtral).total, 46'702'792'704);
  const Model deepseek = imported(R"({"model_type":"deepseek_v3","num_hidden_layers":61,
      "hidden_size":7168,"num_attention_heads":128,"num_key_value_heads":128,"vocab_size":129280,
      "intermediate_size":18432,"moe_intermediate_size":2048,"n_routed_experts":256,
      "n_shared_experts":1,"num_experts_per_tok":8,"first_k_dense_replace":3,"q_lora_rank":1536,
      "n_group":8,"topk_group":4,"scoring_func":"sigmoid",
      "kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,
      "moe_layer_freq":1,"max_position_embeddings":163840,"hidden_act":"silu"})",
                                  notes);
  EXPECT_EQ(count_parameters(deepseek).total, count_parameters(*find_model("deepseek-v3")).total);
  EXPECT_EQ(deepseek.experts, find_model("deepseek-v3")->experts);
  EXPECT_TRUE(notes.empty()) << notes.front().text;
}

// As published, of a shorter sequence and without the title: the preset's shape.
void expect_preset(const char* config, const char* name, std::vector<std::string> noted = {}) {
  std::vector<Message> notes;
  Model model = imported(config, notes);
  Model like = *find_model(name);
  if (like.head_dim * like.heads == like.hidden) like.head_dim = 0;  // the same, left out
  model.name = like.name;
  model.title = like.title;
  model.sources = like.sources;
  model.sequence = like.sequence;
  EXPECT_EQ(model, like) << name << ": " << to_json(model).dump() << "\n" << to_json(like).dump();
  std::vector<std::string> ids;
  for (const Message& note : notes) ids.push_back(note.id);
  EXPECT_EQ(ids, noted) << name;
}

// A model of one's own has a base that no Setup keeps, which is told.
TEST(HuggingFace, SaysThatTheRotaryBaseOfAnOwnModelIsNotKept) {
  const auto noted = [](const char* theta) {
    std::vector<Message> notes;
    imported((std::string(R"({"model_type":"llama","num_hidden_layers":9,"hidden_size":512,
        "num_attention_heads":8,"intermediate_size":1536,"vocab_size":32000,
        "max_position_embeddings":8192,"tie_word_embeddings":false)") +
              theta + "}")
                 .c_str(),
             notes);
    return std::count_if(notes.begin(), notes.end(),
                         [](const Message& note) { return note.id == "import-rotary-base"; });
  };
  EXPECT_EQ(noted(R"(,"rope_theta":750000.0)"), 1);
  EXPECT_EQ(noted(R"(,"rope_parameters":{"rope_theta":750000.0,"rope_type":"default"})"), 1);
  EXPECT_EQ(noted(R"(,"rope_parameters":{"full_attention":{"rope_theta":750000.0},
      "sliding_attention":{"rope_theta":10000.0}})"),
            1);
  EXPECT_EQ(noted(R"(,"rope_parameters":{"rope_theta":10000.0})"), 0);
  EXPECT_EQ(noted(R"(,"rope_theta":10000.0)"), 0);
  EXPECT_EQ(noted(""), 0);
}

// Source: GlmMoeDsaConfig of transformers 5.24 and GLM 5.3's config.json, cut to six layers.
TEST(HuggingFace, ReadsWhichLayersHaveExpertsAndIndexersLayerByLayer) {
  const auto import = [](const std::string& more, std::vector<Message>& notes) {
    return import_hugging_face(
        nlohmann::json::parse(R"({"model_type":"glm_moe_dsa","dtype":"bfloat16","hidden_size":6144,
        "index_head_dim":128,"index_n_heads":32,"intermediate_size":12288,"kv_lora_rank":512,
        "max_position_embeddings":202752,"moe_intermediate_size":2048,"n_group":1,
        "n_routed_experts":256,"n_shared_experts":1,"num_attention_heads":64,
        "num_experts_per_tok":8,"num_hidden_layers":6,"num_key_value_heads":64,
        "q_lora_rank":2048,"qk_nope_head_dim":192,"qk_rope_head_dim":64,"topk_group":1,
        "layer_types":["deepseek_sparse_attention","deepseek_sparse_attention",
          "deepseek_sparse_attention","deepseek_sparse_attention","deepseek_sparse_attention",
          "deepseek_sparse_attention"],
        "rope_parameters":{"rope_theta":8000000,"rope_type":"default"},
        "v_head_dim":256,"vocab_size":154880)" +
                              more + "}"),
        notes);
  };
  const auto left_out = [](const std::vector<Message>& notes) {
    for (const Message& note : notes)
      if (note.id == "import-left-out") return std::stoll(note.arguments.at(1).text);
    return 0LL;
  };
  std::vector<Message> before, notes;
  const Result<Model> by_count = import(R"(,"first_k_dense_replace":2)", before);
  const Result<Model> by_layer =
      import(R"(,"first_k_dense_replace":9,"indexer_types":["full","full","full","shared","shared",
          "shared"],"mlp_layer_types":["dense","dense","sparse","sparse","sparse","sparse"])",
             notes);
  ASSERT_TRUE(by_count.ok()) << by_count.error().text;
  ASSERT_TRUE(by_layer.ok()) << by_layer.error().text;
  EXPECT_EQ(*by_layer, *by_count);
  EXPECT_EQ(by_layer->experts.router, Router::kSigmoid) << "the class has no other";
  EXPECT_EQ(2 * left_out(notes), left_out(before)) << "half of the layers have an indexer";
  const Result<Model> mixed =
      import(R"(,"mlp_layer_types":["dense","sparse","dense","sparse","sparse","sparse"])", notes);
  ASSERT_FALSE(mixed.ok());
  EXPECT_EQ(mixed.error().id, "import-expert-stride");
}

TEST(HuggingFace, RefusesLayersWithSizesOfTheirOwn) {
  std::vector<Message> notes;
  const Result<Model> model = import_hugging_face(
      nlohmann::json::parse(R"({"model_type":"llama","num_hidden_layers":4,"hidden_size":512,
          "num_attention_heads":8,"intermediate_size":1536,"vocab_size":32000,
          "per_layer_config":{"2":{"intermediate_size":1024}}})"),
      notes);
  ASSERT_FALSE(model.ok());
  EXPECT_EQ(model.error().id, "import-per-layer");
}

TEST(HuggingFace, ReadsPublishedFilesOfTheFamilies) {
  expect_preset(R"({"model_type":"llama","num_hidden_layers":32,"hidden_size":4096,
      "num_attention_heads":32,"num_key_value_heads":8,"intermediate_size":14336,
      "vocab_size":128256,"hidden_act":"silu","attention_bias":false,"mlp_bias":false,
      "max_position_embeddings":8192,"tie_word_embeddings":false,"rope_theta":500000.0})",
                "llama3-8b");
  expect_preset(R"({"model_type":"qwen3","num_hidden_layers":36,"hidden_size":4096,
      "num_attention_heads":32,"num_key_value_heads":8,"head_dim":128,"intermediate_size":12288,
      "vocab_size":151936,"hidden_act":"silu","attention_bias":false,
      "max_position_embeddings":40960,"tie_word_embeddings":false,"use_sliding_window":false})",
                "qwen3-8b", {"import-left-out"});
  expect_preset(R"({"model_type":"qwen3_moe","num_hidden_layers":48,"hidden_size":2048,
      "num_attention_heads":32,"num_key_value_heads":4,"head_dim":128,"intermediate_size":6144,
      "moe_intermediate_size":768,"num_experts":128,"num_experts_per_tok":8,"norm_topk_prob":true,
      "decoder_sparse_step":1,"mlp_only_layers":[],"vocab_size":151936,"hidden_act":"silu",
      "max_position_embeddings":40960,"tie_word_embeddings":false})",
                "qwen3-30b-a3b", {"import-left-out"});
  expect_preset(R"({"model_type":"mixtral","num_hidden_layers":56,"hidden_size":6144,
      "num_attention_heads":48,"num_key_value_heads":8,"intermediate_size":16384,
      "num_local_experts":8,"num_experts_per_tok":2,"vocab_size":32768,"hidden_act":"silu",
      "max_position_embeddings":65536,"tie_word_embeddings":false,"sliding_window":null})",
                "mixtral-8x22b");
  expect_preset(R"({"model_type":"deepseek_v2","num_hidden_layers":60,"hidden_size":5120,
      "num_attention_heads":128,"num_key_value_heads":128,"intermediate_size":12288,
      "moe_intermediate_size":1536,"moe_layer_freq":1,"n_routed_experts":160,"n_shared_experts":2,
      "num_experts_per_tok":6,"first_k_dense_replace":1,"n_group":8,"topk_group":3,
      "topk_method":"group_limited_greedy","scoring_func":"softmax","q_lora_rank":1536,
      "kv_lora_rank":512,"qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,
      "vocab_size":102400,"hidden_act":"silu","attention_bias":false,
      "max_position_embeddings":163840,"tie_word_embeddings":false})",
                "deepseek-v2");
  expect_preset(R"({"model_type":"kimi_k2","num_hidden_layers":61,"hidden_size":7168,
      "num_attention_heads":64,"num_key_value_heads":64,"intermediate_size":18432,
      "moe_intermediate_size":2048,"moe_layer_freq":1,"n_routed_experts":384,"n_shared_experts":1,
      "num_experts_per_tok":8,"first_k_dense_replace":1,"n_group":1,"topk_group":1,
      "topk_method":"noaux_tc","scoring_func":"sigmoid","q_lora_rank":1536,"kv_lora_rank":512,
      "qk_nope_head_dim":128,"qk_rope_head_dim":64,"v_head_dim":128,"vocab_size":163840,
      "hidden_act":"silu","max_position_embeddings":131072,"tie_word_embeddings":false})",
                "kimi-k2");
  expect_preset(R"({"model_type":"gpt_oss","num_hidden_layers":24,"hidden_size":2880,
      "num_attention_heads":64,"num_key_value_heads":8,"head_dim":64,"intermediate_size":2880,
      "num_local_experts":32,"num_experts_per_tok":4,"experts_per_token":4,"vocab_size":201088,
      "hidden_act":"silu","attention_bias":true,"sliding_window":128,
      "max_position_embeddings":131072,"tie_word_embeddings":false})",
                "gpt-oss-20b", {"import-window", "import-left-out"});
}

// Qwen2 technical report (arXiv 2407.10671), table 1, and the released config.json files; the
// biases of queries, keys and values are left out, as the note says.
TEST(HuggingFace, ReadsQwen2WithItsBiasesAndSharedExperts) {
  std::vector<Message> notes;
  const Model dense = imported(R"({"model_type":"qwen2","num_hidden_layers":28,"hidden_size":3584,
      "num_attention_heads":28,"num_key_value_heads":4,"intermediate_size":18944,
      "vocab_size":152064,"hidden_act":"silu","max_position_embeddings":131072,
      "tie_word_embeddings":false})",
                               notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes[0].id, "import-left-out");
  EXPECT_EQ(count_parameters(dense).total, 7'615'616'512 - 28 * (3584 + 2 * 512));
  const Model experts = imported(R"({"model_type":"qwen2_moe","num_hidden_layers":28,
      "hidden_size":3584,"num_attention_heads":28,"num_key_value_heads":4,
      "intermediate_size":18944,"moe_intermediate_size":2560,"num_experts":64,
      "num_experts_per_tok":8,"shared_expert_intermediate_size":20480,"decoder_sparse_step":1,
      "mlp_only_layers":[0,1],"vocab_size":151936,"hidden_act":"silu",
      "max_position_embeddings":131072,"tie_word_embeddings":false})",
                                 notes);
  EXPECT_EQ(experts.experts.shared, 8);
  EXPECT_EQ(experts.experts.first_dense, 2);
  EXPECT_EQ(notes.size(), 2u);
}

// Released counts: Pythia paper (arXiv 2304.01373), table 1; OPT's is its checkpoint's.
TEST(HuggingFace, ReadsModelsWithoutGates) {
  std::vector<Message> notes;
  const Model pythia = imported(R"({"model_type":"gpt_neox","num_hidden_layers":24,
      "hidden_size":1024,"num_attention_heads":16,"intermediate_size":4096,"vocab_size":50304,
      "hidden_act":"gelu","max_position_embeddings":2048})",
                                notes);
  EXPECT_EQ(pythia.mlp, Mlp::kGelu);
  EXPECT_FALSE(pythia.tied);
  EXPECT_EQ(count_parameters(pythia).total, 405'334'016);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes.front().id, "import-side-by-side");
  const Model opt = imported(R"({"model_type":"opt","num_hidden_layers":12,"hidden_size":768,
      "num_attention_heads":12,"ffn_dim":3000,"vocab_size":50272,"activation_function":"relu",
      "max_position_embeddings":2048})",
                             notes);
  EXPECT_EQ(opt.ffn, 3000);
  EXPECT_TRUE(opt.tied);
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_NE(notes[1].text.find("relu"), std::string::npos);
  EXPECT_EQ(notes[2].id, "import-left-out");  // two rows of positions
}

TEST(HuggingFace, RefusesEncodersInASentence) {
  std::vector<Message> notes;
  for (const char* type : {"bert", "roberta"}) {
    const auto model = import_hugging_face({{"model_type", type},
                                            {"num_hidden_layers", 12},
                                            {"hidden_size", 768},
                                            {"num_attention_heads", 12},
                                            {"vocab_size", 30522}},
                                           notes);
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.error().id, "import-encoder");
  }
}

TEST(HuggingFace, SaysWhatItAssumed) {
  std::vector<Message> notes;
  const Model model = imported(R"({"model_type":"mystery","num_hidden_layers":2,"hidden_size":64,
      "num_attention_heads":4,"vocab_size":256,"intermediate_size":128})",
                               notes);
  EXPECT_EQ(model.sequence, 2048);
  EXPECT_TRUE(model.tied);  // as the library has it
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_NE(notes.front().text.find("mystery"), std::string::npos);
}

TEST(HuggingFace, RefusesWhatHasNoShape) {
  std::vector<Message> notes;
  for (const char* config : {R"([1])", R"({})", R"({"num_hidden_layers":"two"})",
                             R"({"num_hidden_layers":2,"hidden_size":-8})"})
    EXPECT_FALSE(import_hugging_face(nlohmann::json::parse(config), notes).ok()) << config;
}

// Multi-token prediction is told, since it has parameters.
TEST(HuggingFace, SaysThatPredictionOfFurtherTokensIsLeftOut) {
  std::vector<Message> notes;
  imported(R"({"model_type":"deepseek_v3","num_hidden_layers":4,"hidden_size":64,
      "num_attention_heads":4,"vocab_size":256,"intermediate_size":128,"n_routed_experts":8,
      "num_experts_per_tok":2,"moe_intermediate_size":32,"n_shared_experts":1,
      "first_k_dense_replace":1,"q_lora_rank":16,"kv_lora_rank":16,"qk_nope_head_dim":8,
      "qk_rope_head_dim":8,"v_head_dim":8,"max_position_embeddings":128,
      "num_nextn_predict_layers":1})",
           notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_EQ(notes.front().id, "import-prediction");
}

// Null says that there is none; a file without the key may mean another number.
TEST(HuggingFace, SaysWhatIsAssumedOfAnIncompleteFile) {
  const auto notes_of = [](nlohmann::json config) {
    config.update({{"num_hidden_layers", 4},
                   {"hidden_size", 64},
                   {"num_attention_heads", 4},
                   {"vocab_size", 256},
                   {"intermediate_size", 128},
                   {"num_experts_per_tok", 2},
                   {"max_position_embeddings", 128},
                   {"tie_word_embeddings", false}});
    std::vector<Message> notes;
    EXPECT_TRUE(import_hugging_face(config, notes).ok());
    std::string all;
    for (const Message& note : notes) all += note.text + "\n";
    return all;
  };
  EXPECT_EQ(notes_of({{"model_type", "mixtral"}, {"num_local_experts", 8}}),
            "config.json has no num_key_value_heads; 4 is assumed.\n");
  EXPECT_TRUE(
      notes_of({{"model_type", "gpt_oss"}, {"num_local_experts", 8}, {"num_key_value_heads", 2}})
          .starts_with("config.json has no head_dim; 16 is assumed.\n"));
  nlohmann::json latent = {{"model_type", "deepseek_v3"},
                           {"n_routed_experts", 8},
                           {"moe_intermediate_size", 32},
                           {"kv_lora_rank", 16},
                           {"qk_nope_head_dim", 8},
                           {"qk_rope_head_dim", 8},
                           {"v_head_dim", 8}};
  EXPECT_EQ(notes_of(latent),
            "config.json has no q_lora_rank; 0 is assumed.\n"
            "config.json has no n_shared_experts; 0 is assumed.\n"
            "config.json has no first_k_dense_replace; 0 is assumed.\n");
  latent.update({{"q_lora_rank", nullptr}, {"n_shared_experts", 1}, {"first_k_dense_replace", 1}});
  EXPECT_EQ(notes_of(latent), "");
}

// A family's experts and latents cannot be guessed: a file without their keys is no dense model.
TEST(HuggingFace, NamesTheKeysThatExpertsAndLatentsLack) {
  const auto why = [](const char* type, const nlohmann::json& more) {
    nlohmann::json config = {{"model_type", type},          {"num_hidden_layers", 4},
                             {"hidden_size", 64},           {"num_attention_heads", 4},
                             {"vocab_size", 256},           {"intermediate_size", 128},
                             {"tie_word_embeddings", false}};
    if (!more.is_null()) config.update(more);
    std::vector<Message> notes;
    const Result<Model> model = import_hugging_face(config, notes);
    return model.ok() ? std::string() : model.error().text;
  };
  EXPECT_EQ(why("mixtral", {}),
            "config.json has no num_local_experts and num_experts_per_tok, so the model's shape "
            "is not known.");
  EXPECT_EQ(why("llama", {{"num_local_experts", 8}}),
            "config.json has no num_experts_per_tok, so the model's shape is not known.");
  EXPECT_EQ(why("gpt_oss", {{"num_local_experts", 8}}),
            "config.json has no num_experts_per_tok, so the model's shape is not known.");
  for (const char* type : {"qwen2_moe", "qwen3_moe"}) {
    EXPECT_NE(why(type, {}).find("no num_experts and num_experts_per_tok"), std::string::npos);
    EXPECT_NE(why(type, {{"num_experts", 8}, {"num_experts_per_tok", 2}})
                  .find("no moe_intermediate_size"),
              std::string::npos);
  }
  const nlohmann::json latents = {
      {"kv_lora_rank", 16}, {"qk_nope_head_dim", 16}, {"qk_rope_head_dim", 8}, {"v_head_dim", 16}};
  for (const char* type : {"deepseek_v2", "deepseek_v3", "kimi_k2"}) {
    EXPECT_NE(why(type, {}).find(
                  "no kv_lora_rank, qk_nope_head_dim, qk_rope_head_dim and v_head_dim, so"),
              std::string::npos);
    EXPECT_NE(why(type, latents).find("no n_routed_experts and num_experts_per_tok"),
              std::string::npos);
  }
  EXPECT_EQ(why("mixtral", {{"num_local_experts", 8}, {"num_experts_per_tok", 2}}), "");
}

}  // namespace
}  // namespace parallelarium

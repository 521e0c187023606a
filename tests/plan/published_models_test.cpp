// SPDX-License-Identifier: Apache-2.0
// Imported config.json files of released models against the parameters of their weights.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/plan/model/model.h"

namespace parallelarium {
namespace {

// The keys that say something about the shape, of config.json in `repository` on huggingface.co.
// `published` adds up the tensors of the released weights, as transformers'
// modeling_*.py lists them for the language model: no vision tower.
struct PublishedFile {
  const char* repository;
  const char* config;
  std::int64_t published;
  std::vector<std::string> notes;
};

std::int64_t number_of(const Message& argument) { return std::stoll(argument.text); }

std::vector<PublishedFile> published_models() {
  return {{"google/gemma-2b",
           R"({"model_type":"gemma","attention_bias":false,"head_dim":256,"hidden_act":"gelu",
           "hidden_size":2048,"intermediate_size":16384,"max_position_embeddings":8192,
           "num_attention_heads":8,"num_hidden_layers":18,"num_key_value_heads":1,
           "vocab_size":256000})",
           2'506'172'416,
           {"import-gate"}},
          {"google/gemma-7b",
           R"({"model_type":"gemma","attention_bias":false,"head_dim":256,
           "hidden_act":"gelu_pytorch_tanh","hidden_size":3072,"intermediate_size":24576,
           "max_position_embeddings":8192,"num_attention_heads":16,"num_hidden_layers":28,
           "num_key_value_heads":16,"vocab_size":256000})",
           8'537'680'896,
           {"import-gate"}},
          {"google/gemma-2-9b",
           R"({"model_type":"gemma2","attention_bias":false,"attn_logit_softcapping":50.0,
           "head_dim":256,"hidden_act":"gelu_pytorch_tanh",
           "hidden_activation":"gelu_pytorch_tanh","hidden_size":3584,"intermediate_size":14336,
           "max_position_embeddings":8192,"num_attention_heads":16,"num_hidden_layers":42,
           "num_key_value_heads":8,"sliding_window":4096,"sliding_window_size":4096,
           "vocab_size":256000})",
           9'241'705'984,
           {"import-window", "import-gate", "import-left-out"}},
          {"google/gemma-3-1b-pt",
           R"({"model_type":"gemma3_text","attention_bias":false,"head_dim":256,
           "hidden_activation":"gelu_pytorch_tanh","hidden_size":1152,"intermediate_size":6912,
           "max_position_embeddings":32768,"num_attention_heads":4,"num_hidden_layers":26,
           "num_key_value_heads":1,"sliding_window":512,"sliding_window_pattern":6,
           "rope_theta":1000000,"vocab_size":262144})",
           999'885'952,
           {"import-window", "import-gate", "import-left-out", "import-rotary-base"}},
          {"google/gemma-3-4b-pt",
           R"({"architectures":["Gemma3ForConditionalGeneration"],"model_type":"gemma3",
           "mm_tokens_per_image":256,"text_config":{"hidden_size":2560,"intermediate_size":10240,
           "model_type":"gemma3_text","num_hidden_layers":34,
           "rope_scaling":{"factor":8.0,"rope_type":"linear"},"sliding_window":1024},
           "vision_config":{"hidden_size":1152,"intermediate_size":4304,
           "model_type":"siglip_vision_model","num_attention_heads":16,"num_hidden_layers":27}})",
           3'880'263'168,
           {"import-text", "import-defaults", "import-window", "import-gate", "import-left-out"}},
          {"meta-llama/Llama-4-Scout-17B-16E",
           R"({"architectures":["Llama4ForConditionalGeneration"],"model_type":"llama4",
           "text_config":{"attention_bias":false,"attention_chunk_size":8192,"head_dim":128,
           "hidden_act":"silu","hidden_size":5120,"interleave_moe_layer_step":1,
           "intermediate_size":8192,"intermediate_size_mlp":16384,
           "max_position_embeddings":262144,"model_type":"llama4_text","num_attention_heads":40,
           "num_experts_per_tok":1,"num_hidden_layers":48,"num_key_value_heads":8,
           "num_local_experts":16,"rope_theta":500000.0,"use_qk_norm":true,"vocab_size":202048},
           "vision_config":{"hidden_size":1408,"num_hidden_layers":34}})",
           107'769'861'120,
           {"import-text", "import-window"}},
          {"llava-hf/llava-1.5-7b-hf",
           R"({"architectures":["LlavaForConditionalGeneration"],"model_type":"llava",
           "text_config":{"_name_or_path":"lmsys/vicuna-7b-v1.5","max_position_embeddings":4096,
           "model_type":"llama","rms_norm_eps":1e-05,"vocab_size":32064},
           "vision_config":{"hidden_size":1024,"model_type":"clip_vision_model"}})",
           6'738'939'904,
           {"import-text", "import-defaults"}},
          {"mistralai/Mistral-Small-3.1-24B-Base-2503",
           R"({"architectures":["Mistral3ForConditionalGeneration"],"model_type":"mistral3",
           "text_config":{"attention_dropout":0.0,"head_dim":128,"hidden_act":"silu",
           "hidden_size":5120,"intermediate_size":32768,"max_position_embeddings":131072,
           "model_type":"mistral","num_attention_heads":32,"num_hidden_layers":40,
           "num_key_value_heads":8,"rope_theta":1000000000.0,"sliding_window":null,
           "vocab_size":131072},"vision_config":{"hidden_size":1024,"model_type":"pixtral"}})",
           23'572'403'200,
           {"import-text", "import-rotary-base"}},
          {"Qwen/Qwen2.5-VL-7B-Instruct",
           R"({"architectures":["Qwen2_5_VLForConditionalGeneration"],"model_type":"qwen2_5_vl",
           "hidden_act":"silu","hidden_size":3584,"intermediate_size":18944,
           "max_position_embeddings":128000,"num_attention_heads":28,"num_hidden_layers":28,
           "num_key_value_heads":4,"sliding_window":32768,"use_sliding_window":false,
           "tie_word_embeddings":false,"vision_config":{"depth":32,"hidden_size":1280},
           "vocab_size":152064})",
           7'615'616'512,
           {"import-other-parts", "import-left-out"}},
          {"tiiuae/falcon-7b",
           R"({"model_type":"falcon","alibi":false,"bias":false,"hidden_size":4544,
           "multi_query":true,"new_decoder_architecture":false,"num_attention_heads":71,
           "num_hidden_layers":32,"num_kv_heads":71,"parallel_attn":true,"vocab_size":65024})",
           6'921'720'704,
           {"import-defaults", "import-one-norm", "import-side-by-side"}},
          {"tiiuae/falcon-40b",
           R"({"model_type":"falcon","alibi":false,"bias":false,"hidden_size":8192,
           "new_decoder_architecture":true,"num_attention_heads":128,"num_hidden_layers":60,
           "num_kv_heads":8,"parallel_attn":true,"vocab_size":65024})",
           41'303'293'952,
           {"import-defaults", "import-side-by-side"}},
          {"tiiuae/falcon-40b-instruct, before it was renamed",
           R"({"model_type":"RefinedWeb","alibi":false,"bias":false,"hidden_size":8192,"n_head":128,
           "n_head_kv":8,"n_layer":60,"parallel_attn":true,"vocab_size":65024})",
           41'303'293'952,
           {"import-defaults", "import-side-by-side"}},
          {"mosaicml/mpt-7b",
           R"({"model_type":"mpt","attn_config":{"alibi":true,"attn_type":"multihead_attention"},
           "d_model":4096,"expansion_ratio":4,"learned_pos_emb":true,"max_seq_len":2048,
           "n_heads":32,"n_layers":32,"no_bias":true,"norm_type":"low_precision_layernorm",
           "vocab_size":50432})",
           6'649'286'656,
           {"import-unbiased-norms"}},
          {"THUDM/chatglm3-6b",
           R"({"model_type":"chatglm","add_bias_linear":false,"add_qkv_bias":true,
           "ffn_hidden_size":13696,"hidden_size":4096,"kv_channels":128,
           "multi_query_attention":true,"multi_query_group_num":2,"num_attention_heads":32,
           "num_layers":28,"padded_vocab_size":65024,"rmsnorm":true,"seq_length":8192,
           "tie_word_embeddings":false,"vocab_size":65024})",
           6'243'584'000,
           {"import-left-out"}},
          {"zai-org/GLM-4-9B-0414",
           R"({"model_type":"glm4","attention_bias":true,"head_dim":128,"hidden_act":"silu",
           "hidden_size":4096,"intermediate_size":13696,"max_position_embeddings":32768,
           "num_attention_heads":32,"num_hidden_layers":40,"num_key_value_heads":2,
           "tie_word_embeddings":false,"vocab_size":151552})",
           9'400'279'040,
           {"import-left-out"}},
          {"openai/gpt-oss-120b",
           R"({"model_type":"gpt_oss","attention_bias":true,"experts_per_token":4,"head_dim":64,
           "hidden_act":"silu","hidden_size":2880,"intermediate_size":2880,
           "layer_types":["sliding_attention","full_attention"],
           "max_position_embeddings":131072,"num_attention_heads":64,"num_experts_per_tok":4,
           "num_hidden_layers":36,"num_key_value_heads":8,"num_local_experts":128,
           "sliding_window":128,"tie_word_embeddings":false,"vocab_size":201088})",
           116'829'156'672,
           {"import-window", "import-left-out"}},
          {"microsoft/phi-2",
           R"({"model_type":"phi","hidden_act":"gelu_new","hidden_size":2560,
           "intermediate_size":10240,"max_position_embeddings":2048,"num_attention_heads":32,
           "num_hidden_layers":32,"num_key_value_heads":32,"qk_layernorm":false,
           "tie_word_embeddings":false,"vocab_size":51200})",
           2'779'683'840,
           {"import-left-out", "import-one-norm", "import-side-by-side"}},
          {"microsoft/Phi-3.5-mini-instruct",
           R"({"model_type":"phi3","attention_bias":false,"hidden_act":"silu","hidden_size":3072,
           "intermediate_size":8192,"max_position_embeddings":131072,"num_attention_heads":32,
           "num_hidden_layers":32,"num_key_value_heads":32,"sliding_window":262144,
           "tie_word_embeddings":false,"vocab_size":32064})",
           3'821'079'552,
           {}},
          {"allenai/OLMo-7B-hf",
           R"({"model_type":"olmo","attention_bias":false,"hidden_act":"silu","hidden_size":4096,
           "intermediate_size":11008,"max_position_embeddings":2048,"num_attention_heads":32,
           "num_hidden_layers":32,"num_key_value_heads":32,"tie_word_embeddings":false,
           "vocab_size":50304})",
           6'888'095'744,
           {"import-bare-norms"}},
          {"allenai/OLMo-2-1124-7B",
           R"({"model_type":"olmo2","attention_bias":false,"hidden_act":"silu","hidden_size":4096,
           "intermediate_size":11008,"max_position_embeddings":4096,"num_attention_heads":32,
           "num_hidden_layers":32,"num_key_value_heads":32,"tie_word_embeddings":false,
           "vocab_size":100352})",
           7'298'617'344,
           {"import-left-out"}},
          {"allenai/OLMoE-1B-7B-0924",
           R"({"model_type":"olmoe","attention_bias":false,"hidden_act":"silu","hidden_size":2048,
           "intermediate_size":1024,"max_position_embeddings":4096,"num_attention_heads":16,
           "num_experts":64,"num_experts_per_tok":8,"num_hidden_layers":16,
           "num_key_value_heads":16,"tie_word_embeddings":false,"vocab_size":50304})",
           6'919'161'856,
           {"import-left-out"}},
          {"Qwen/Qwen1.5-MoE-A2.7B",
           R"({"model_type":"qwen2_moe","decoder_sparse_step":1,"hidden_act":"silu",
           "hidden_size":2048,"intermediate_size":5632,"max_position_embeddings":8192,
           "moe_intermediate_size":1408,"num_attention_heads":16,"num_experts":60,
           "num_experts_per_tok":4,"num_hidden_layers":24,"num_key_value_heads":16,
           "shared_expert_intermediate_size":5632,"sliding_window":32768,
           "tie_word_embeddings":false,"use_sliding_window":false,"vocab_size":151936})",
           14'315'784'192,
           {"import-left-out"}},
          {"Qwen/Qwen3-235B-A22B",
           R"({"model_type":"qwen3_moe","attention_bias":false,"decoder_sparse_step":1,
           "head_dim":128,"hidden_act":"silu","hidden_size":4096,"intermediate_size":12288,
           "max_position_embeddings":40960,"mlp_only_layers":[],"moe_intermediate_size":1536,
           "num_attention_heads":64,"num_experts":128,"num_experts_per_tok":8,
           "num_hidden_layers":94,"num_key_value_heads":4,"tie_word_embeddings":false,
           "vocab_size":151936})",
           235'093'634'560,
           {"import-left-out"}},
          {"bigscience/bloom-7b1",
           R"({"model_type":"bloom","hidden_size":4096,"n_head":32,"n_layer":30,"seq_length":2048,
           "vocab_size":250880})",
           7'069'016'064,
           {"import-left-out"}},
          {"facebook/opt-6.7b",
           R"({"model_type":"opt","activation_function":"relu","do_layer_norm_before":true,
           "ffn_dim":16384,"hidden_size":4096,"max_position_embeddings":2048,
           "num_attention_heads":32,"num_hidden_layers":32,"vocab_size":50272,
           "word_embed_proj_dim":4096})",
           6'658'473'984,
           {"import-activation", "import-left-out"}},
          {"bigcode/starcoder",
           R"({"model_type":"gpt_bigcode","activation_function":"gelu","multi_query":true,
           "n_embd":6144,"n_head":48,"n_inner":24576,"n_layer":40,"n_positions":8192,
           "vocab_size":49152})",
           15'517'456'384,
           {}},
          {"EleutherAI/gpt-neox-20b",
           R"({"model_type":"gpt_neox","hidden_act":"gelu_fast","hidden_size":6144,
           "intermediate_size":24576,"max_position_embeddings":2048,"num_attention_heads":64,
           "num_hidden_layers":44,"tie_word_embeddings":false,"vocab_size":50432})",
           20'554'567'680,
           {"import-side-by-side"}},
          // The same without the biases of four matrices of attention in each of 44 layers.
          {"EleutherAI/gpt-neox-20b with attention_bias false",
           R"({"model_type":"gpt_neox","attention_bias":false,"dtype":"float16","hidden_act":"gelu",
           "hidden_size":6144,"intermediate_size":24576,"max_position_embeddings":2048,
           "num_attention_heads":64,"num_hidden_layers":44,
           "rope_parameters":{"partial_rotary_factor":0.25,"rope_theta":10000,
             "rope_type":"default"},
           "tie_word_embeddings":false,"use_parallel_residual":true,"vocab_size":50432})",
           20'554'567'680 - 44 * 4 * 6144,
           {"import-left-out", "import-side-by-side"}}};
}

TEST(PublishedModels, CountedPartsAndTheNotedOnesAddUpToThePublishedNumber) {
  for (const PublishedFile& file : published_models()) {
    std::vector<Message> notes;
    const Result<Model> model = import_hugging_face(nlohmann::json::parse(file.config), notes);
    ASSERT_TRUE(model.ok()) << file.repository << ": " << model.error().text;
    const std::int64_t counted = count_parameters(*model).total;
    std::int64_t noted = 0;
    std::vector<std::string> ids;
    for (const Message& note : notes) {
      ids.push_back(note.id);
      if (note.id == "import-left-out") noted += number_of(note.arguments.at(1));
      if (note.id == "import-one-norm" || note.id == "import-bare-norms")
        noted -= number_of(note.arguments.at(0));
    }
    EXPECT_EQ(counted + noted, file.published) << file.repository;
    EXPECT_LT(std::abs(static_cast<double>(counted - file.published)),
              1e-3 * static_cast<double>(file.published))
        << file.repository;
    EXPECT_EQ(ids, file.notes) << file.repository;
  }
}

TEST(PublishedModels, ActiveParametersOfLlama4HaveTheSharedExpert) {
  for (const PublishedFile& file : published_models())
    if (std::string(file.repository).find("Scout") != std::string::npos) {
      std::vector<Message> notes;
      const Model model = *import_hugging_face(nlohmann::json::parse(file.config), notes);
      const Model preset = *find_model("llama4-scout");
      EXPECT_EQ(model.experts, preset.experts);
      EXPECT_EQ(model.ffn, preset.ffn);
      EXPECT_EQ(count_parameters(model).active, count_parameters(preset).active);
    }
}

// The presets' counts are held to their publications elsewhere.
TEST(PublishedModels, FilesOfPresetsCountAsThePresets) {
  const std::vector<std::pair<const char*, const char*>> files = {
      {"glm-5",
       R"({"model_type":"glm_moe_dsa","first_k_dense_replace":3,"hidden_size":6144,
           "index_head_dim":128,"index_n_heads":32,"intermediate_size":12288,
           "kv_lora_rank":512,"max_position_embeddings":202752,"moe_intermediate_size":2048,
           "n_group":1,"n_routed_experts":256,"n_shared_experts":1,"num_attention_heads":64,
           "num_experts_per_tok":8,"num_hidden_layers":78,"num_key_value_heads":64,
           "num_nextn_predict_layers":1,"q_lora_rank":2048,"qk_nope_head_dim":192,
           "qk_rope_head_dim":64,"scoring_func":"sigmoid","tie_word_embeddings":false,
           "topk_group":1,"v_head_dim":256,"vocab_size":154880})"},
      {"solar-open-100b",
       R"({"model_type":"solar_open","head_dim":128,"hidden_size":4096,
           "max_position_embeddings":131072,"moe_intermediate_size":1280,
           "n_routed_experts":128,"n_shared_experts":1,"num_attention_heads":64,
           "num_experts_per_tok":8,"num_hidden_layers":48,"num_key_value_heads":8,
           "tie_word_embeddings":false,"vocab_size":196608})"}};
  for (const auto& [name, config] : files) {
    std::vector<Message> notes;
    const Result<Model> model = import_hugging_face(nlohmann::json::parse(config), notes);
    ASSERT_TRUE(model.ok()) << model.error().text;
    EXPECT_EQ(count_parameters(*model).total, count_parameters(*find_model(name)).total) << name;
    EXPECT_EQ(count_parameters(*model).active, count_parameters(*find_model(name)).active) << name;
  }
}

}  // namespace
}  // namespace parallelarium

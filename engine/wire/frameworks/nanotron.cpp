// SPDX-License-Identifier: Apache-2.0
// Names and meanings: nanotron/config/config.py, parallelism_config.py, models_config.py.
#include <algorithm>

#include "engine/plan/settings/alternatives.h"
#include "engine/wire/frameworks/syntax/syntax.h"

namespace parallelarium::frameworks {
namespace {

const std::string kShape = "model.model_config.";
const std::string kMoe = "model.model_config.moe_config.";

// A Llama, or a Qwen2, which alone has experts and context parallelism: both gated, with RMS norms
// and rotary positions.
FrameworkRow family() {
  FrameworkRow row;
  row.names = {kShape + "is_llama_config", kShape + "is_qwen2_config", kShape + "hidden_act",
               kShape + "attention_bias", kShape + "is_starcoder2_config"};
  row.settings = {"model.mlp", "model.norm", "model.biases", "model.learned_positions"};
  row.write = [](const Setup& setup, Entries& entries) {
    const bool qwen2 = setup.model.experts.count > 0 || setup.mesh.cp > 1;
    entries.emplace_back(kShape + (qwen2 ? "is_qwen2_config" : "is_llama_config"), true);
    entries.emplace_back(kShape + "hidden_act", "silu");
  };
  row.read = [](Draft& draft) -> Result<void> {
    if (flag_at(draft, kShape + "is_starcoder2_config", false))
      return message("framework-starcoder",
                     "The model is a Starcoder2; read are models with is_llama_config or "
                     "is_qwen2_config.");
    Model& model = draft.setup.model;
    model.mlp = Mlp::kSwiglu;
    model.norm = Norm::kRms;
    model.biases = false;
    model.learned_positions = false;
    model.head_dim = 0;
    model.latent = {};
    if (flag_at(draft, kShape + "attention_bias", false))
      draft.notes.push_back(message("framework-attention-bias",
                                    "Attention has biases in this model; they are left out."));
    return {};
  };
  return row;
}

FrameworkRow moe() {
  FrameworkRow row;
  row.names = {kMoe + "num_experts",
               kMoe + "top_k",
               kMoe + "moe_intermediate_size",
               kMoe + "enable_shared_expert",
               kMoe + "shared_expert_intermediate_size",
               kMoe + "router_aux_loss_coef",
               kMoe + "token_dispatcher_type",
               kMoe + "layers",
               kShape + "moe_config"};
  row.settings = {"model.experts.count",  "model.experts.top_k",       "model.experts.ffn",
                  "model.experts.shared", "model.experts.first_dense", "balance_loss"};
  row.write = [](const Setup& setup, Entries& entries) {
    const Experts& experts = setup.model.experts;
    if (experts.count == 0) return;
    entries.emplace_back(kMoe + "num_experts", experts.count);
    entries.emplace_back(kMoe + "top_k", experts.top_k);
    entries.emplace_back(kMoe + "moe_intermediate_size", experts.ffn);
    entries.emplace_back(kMoe + "enable_shared_expert", experts.shared > 0);
    if (experts.shared > 0)
      entries.emplace_back(kMoe + "shared_expert_intermediate_size", experts.shared * experts.ffn);
    entries.emplace_back(kMoe + "router_aux_loss_coef", setup.balance_loss);
    entries.emplace_back(kMoe + "token_dispatcher_type", "alltoall");
    if (experts.first_dense == 0) return;
    nlohmann::json layers = nlohmann::json::array();
    for (int layer = experts.first_dense; layer < setup.model.layers; ++layer)
      layers.push_back(layer);
    entries.emplace_back(kMoe + "layers", std::move(layers));
  };
  row.read = [](Draft& draft) -> Result<void> {
    Setup& setup = draft.setup;
    setup.model.experts = {};
    if (draft.find(kMoe + "num_experts") == nullptr && draft.find(kMoe + "top_k") == nullptr)
      return {};
    Experts& experts = setup.model.experts;
    const auto put = [&](const char* name, std::int64_t usual, auto& into) -> Result<void> {
      const Result<std::int64_t> value = whole_at(draft, kMoe + name, usual, 1, 1 << 24);
      if (!value) return value.error();
      into = static_cast<std::remove_reference_t<decltype(into)>>(*value);
      return {};
    };
    std::int64_t shared = 0;
    for (const Result<void>& set :
         {put("num_experts", 8, experts.count), put("top_k", 2, experts.top_k),
          put("moe_intermediate_size", 1408, experts.ffn),
          put("shared_expert_intermediate_size", 5632, shared)})
      if (!set) return set.error();
    if (flag_at(draft, kMoe + "enable_shared_expert", false)) {
      if (shared % experts.ffn != 0)
        return message(
            "framework-shared-experts",
            "{} is {}, no multiple of an expert's inner width of {}; a Setup counts shared "
            "experts of that width.",
            kMoe + "shared_expert_intermediate_size", shared, experts.ffn);
      experts.shared = static_cast<int>(shared / experts.ffn);
    }
    const Result<double> loss = number_at(draft, kMoe + "router_aux_loss_coef", 0.01);
    if (!loss) return loss.error();
    setup.balance_loss = *loss;
    const nlohmann::json* layers = draft.find(kMoe + "layers");
    if (layers == nullptr || !layers->is_array() || layers->empty() || layers->front() == -1)
      return {};
    const int dense = setup.model.layers - static_cast<int>(layers->size());
    if (layers->front() == dense)
      experts.first_dense = std::max(0, dense);
    else
      draft.notes.push_back(message("framework-moe-layers",
                                    "{} puts experts into some layers in between; a Setup has them "
                                    "in all layers behind the first ones, so here in all.",
                                    kMoe + "layers"));
    return {};
  };
  return row;
}

// Its tensor parallelism either sums whole activations or shares out the sequence as well.
FrameworkRow tensor_mode() {
  FrameworkRow row;
  row.names = {"parallelism.tp_mode"};
  row.settings = {"sequence_parallel"};
  row.write = [](const Setup& setup, Entries& entries) {
    entries.emplace_back("parallelism.tp_mode",
                         setup.sequence_parallel ? "REDUCE_SCATTER" : "ALL_REDUCE");
  };
  row.read = [](Draft& draft) -> Result<void> {
    std::string word = word_at(draft, "parallelism.tp_mode", "ALL_REDUCE");
    std::transform(word.begin(), word.end(), word.begin(),
                   [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    if (word != "ALL_REDUCE" && word != "REDUCE_SCATTER")
      return unknown_choice("parallelism.tp_mode", word, {"ALL_REDUCE", "REDUCE_SCATTER"});
    draft.setup.sequence_parallel = word == "REDUCE_SCATTER" && draft.setup.mesh.tp > 1;
    return {};
  };
  return row;
}

FrameworkRow nano_schedule() {
  FrameworkRow row;
  row.names = {"parallelism.pp_engine"};
  row.settings = {"schedule", "chunks"};
  row.write = [](const Setup& setup, Entries& entries) {
    entries.emplace_back("parallelism.pp_engine", setup.schedule == "gpipe" ? "afab" : "1f1b");
  };
  row.read = [](Draft& draft) -> Result<void> {
    const std::string word = word_at(draft, "parallelism.pp_engine", "afab");
    if (word != "afab" && word != "1f1b")
      return unknown_choice("parallelism.pp_engine", word, {"1f1b", "afab"});
    draft.setup.schedule = word == "afab" ? "gpipe" : "1f1b";
    draft.setup.chunks = 1;
    return {};
  };
  return row;
}

FrameworkRow nano_precision() {
  const std::string type = "model.dtype", sums = "optimizer.accumulate_grad_in_fp32";
  FrameworkRow row;
  row.names = {type, sums};
  row.settings = {"precision"};
  row.write = [=](const Setup& setup, Entries& entries) {
    const Precision& precision = setup.precision;
    const bool half = precision.parameter_bytes == 2;
    entries.emplace_back(type, half ? "bfloat16" : "float32");
    entries.emplace_back(sums, half && precision.master_bytes == 4);
  };
  row.read = [=](Draft& draft) -> Result<void> {
    const std::string word = word_at(draft, type, "bfloat16");
    if (word != "bfloat16" && word != "float32" && word != "float16")
      return unknown_choice(type, word, {"bfloat16", "float16", "float32"});
    // An accumulator in fp32 keeps a master as well; without one the optimizer takes 16 bit.
    const bool wide = flag_at(draft, sums, true);
    if (word == "float32")
      put_precision(draft.setup, 4, 4, wide ? 4 : 0, 8);
    else if (wide)
      put_precision(draft.setup, 2, 4, 4, 8);
    else
      put_precision(draft.setup, 2, 2, 0, 4);
    return {};
  };
  return row;
}

FrameworkRow nano_sequence() {
  FrameworkRow row = same("tokens.sequence_length", "model.sequence");
  row.names.push_back(kShape + "max_position_embeddings");
  row.write = [write = row.write](const Setup& setup, Entries& entries) {
    write(setup, entries);
    entries.emplace_back(kShape + "max_position_embeddings", setup.model.sequence);
  };
  return row;
}

FrameworkRow nano_attention() {
  FrameworkRow row = translated(kShape + "_attn_implementation", "attention",
                                {{"flash_attention_2", "fused"},
                                 {"sdpa", "unfused"},
                                 {"flex_attention", "fused"},
                                 {"ring_flash_triton", "fused"},
                                 {"ring", "fused"},
                                 {"llama3_ring_attention", "fused"}},
                                "flash_attention_2");
  row.settings = {"attention", "context_parallel", "cp_split"};
  row.write = [](const Setup& setup, Entries& entries) {
    const bool fused = setup.attention == Attention::kFused;
    const bool gathers = setup.context_parallel == ContextParallel::kAllGather;
    entries.emplace_back(kShape + "_attn_implementation",
                         setup.mesh.cp > 1
                             ? (gathers ? "llama3_ring_attention" : "ring_flash_triton")
                         : fused ? "flash_attention_2"
                                 : "sdpa");
    if (setup.mesh.cp > 1 && gathers) entries.emplace_back(kShape + "ring_attn_heads_k_stride", 1);
  };
  row.read = [read = row.read](Draft& draft) -> Result<void> {
    const std::string word = word_at(draft, kShape + "_attn_implementation", "flash_attention_2");
    draft.setup.cp_split = ContextSplit::kContiguous;  // clm_collator.py
    draft.setup.context_parallel =
        word == "llama3_ring_attention" ? ContextParallel::kAllGather : ContextParallel::kRing;
    return read(draft);
  };
  return row;
}

// Those that nobody names are all heads.
FrameworkRow nano_key_value_heads() {
  FrameworkRow row = same(kShape + "num_key_value_heads", "model.kv_heads");
  row.read = [read = row.read](Draft& draft) {
    draft.setup.model.kv_heads = draft.setup.model.heads;
    return read(draft);
  };
  return row;
}

// helpers.py: above 0 it is ZeRO 1.
FrameworkRow nano_zero() {
  const std::string name = "optimizer.zero_stage";
  FrameworkRow row = same(name, "zero", 0);
  row.write = [name](const Setup& setup, Entries& entries) {
    entries.emplace_back(name, std::min(1, setup.zero));
  };
  row.read = [name](Draft& draft) -> Result<void> {
    const Result<std::int64_t> stage = whole_at(draft, name, 0, 0, 3);
    if (!stage) return stage.error();
    draft.setup.zero = *stage > 0 ? 1 : 0;
    draft.setup.zero_group = 0;
    return {};
  };
  return row;
}

// Nothing: no bound.
FrameworkRow nano_clip() {
  const std::string name = "optimizer.clip_grad";
  FrameworkRow row = same(name, "clip", 0.0);
  row.write = [name](const Setup& setup, Entries& entries) {
    entries.emplace_back(name, setup.clip > 0 ? nlohmann::json(setup.clip) : nlohmann::json());
  };
  return row;
}

FrameworkRow nano_recompute() {
  FrameworkRow row = translated("parallelism.recompute_layer", "recompute",
                                {{true, "full"}, {false, "none"}}, false);
  row.read = [read = row.read](Draft& draft) {
    draft.setup.recompute_layers = 0;
    return read(draft);
  };
  return row;
}

const std::string kRates = "optimizer.learning_rate_scheduler.";

std::vector<FrameworkRow> nanotron_rows() {
  return {fixed("general.project", "parallelarium"),
          same("general.seed", "run.seed", 42),
          same("parallelism.dp", "mesh.dp"),
          same("parallelism.pp", "mesh.pp"),
          same("parallelism.tp", "mesh.tp"),
          same("parallelism.context_parallel_size", "mesh.cp", 1),
          same("parallelism.expert_parallel_size", "mesh.ep", 1),
          nano_schedule(),
          tensor_mode(),
          same("parallelism.tp_recompute_allgather", "sequence_regather", true,
               Written::kWhereNotUsual),
          same("parallelism.tp_linear_async_communication", "overlap_tensor", false),
          nano_recompute(),
          same("tokens.micro_batch_size", "micro_batch"),
          same("tokens.batch_accumulation_per_replica", "microbatches"),
          same("tokens.train_steps", "run.steps"),
          family(),
          same(kShape + "num_hidden_layers", "model.layers", 32),
          same(kShape + "hidden_size", "model.hidden", 4096),
          same(kShape + "num_attention_heads", "model.heads", 32),
          nano_key_value_heads(),
          same(kShape + "intermediate_size", "model.ffn", 11008),
          same(kShape + "vocab_size", "model.vocab", 32000),
          same(kShape + "tie_word_embeddings", "model.tied", false),
          nano_sequence(),
          rotary_base(kShape + "rope_theta"),
          nano_attention(),
          moe(),
          nano_precision(),
          fixed("model.init_method.std", 0.02),
          nano_zero(),
          nano_clip(),
          same(kRates + "learning_rate", "learning_rate"),
          fixed(kRates + "lr_warmup_style", "linear"),
          fixed(kRates + "lr_decay_style", "linear"),
          fixed("optimizer.optimizer_factory.name", "adamW"),
          fixed("optimizer.optimizer_factory.adam_beta1", 0.9),
          fixed("optimizer.optimizer_factory.adam_beta2", 0.95),
          fixed("optimizer.optimizer_factory.adam_eps", 1e-8),
          fixed("optimizer.optimizer_factory.torch_adam_is_fused", true),
          fixed("optimizer.weight_decay", 0.01),
          fixed("checkpoints.checkpoints_path", "checkpoints"),
          fixed("checkpoints.checkpoint_interval", 1000),
          fixed("data_stages",
                nlohmann::json::parse(
                    R"([{"data": {"dataset": null, "num_loading_workers": 1, "seed": 42},)"
                    R"( "name": "training", "start_training_step": 1}])")),
          fixed("tokenizer.tokenizer_name_or_path", "robot-test/dummy-tokenizer-wordlevel")};
}

std::string print_nanotron(const FrameworkTable& table, const Setup& setup, const Entries& entries,
                           const std::vector<Message>& not_expressible) {
  const auto [nodes, each] = nodes_and_ranks(setup);
  return heading(table, not_expressible) +
         fmt::format("# torchrun --nnodes {} --nproc-per-node {} run_train.py --config-file FILE\n",
                     nodes, each) +
         yaml_of(nested(entries));
}

std::vector<Message> nanotron_caveats(const Setup& setup) {
  if (setup.mesh.ep == 1) return {};
  Message caveat = message("framework-nanotron-ep",
                           "At this commit nanotron's ranks are a grid of PP, DP, CP and TP, in "
                           "which expert_parallel_size {} finds no room; it starts with 1 alone.",
                           setup.mesh.ep);
  caveat.field = "mesh.ep";
  return {caveat};
}

}  // namespace

FrameworkTable nanotron_table() {
  FrameworkTable table;
  table.info = {"nanotron",     "nanotron",   "huggingface/nanotron",
                "2411b022a75f", "2026-04-07", ".yaml"};
  table.rows = nanotron_rows();
  table.ignored = {"general.*",
                   "checkpoints.*",
                   "data_stages*",
                   "logging.*",
                   "lighteval*",
                   "profiler*",
                   "tokenizer.*",
                   "s3_upload*",
                   "metrics_logging*",
                   "model.ddp_bucket_cap_mb",
                   "model.init_method.*",
                   "model.make_vocab_size_divisible_by",
                   kShape + "bos_token_id",
                   kShape + "eos_token_id",
                   kShape + "pad_token_id",
                   kShape + "initializer_range",
                   kShape + "pretraining_tp",
                   kShape + "rms_norm_eps",
                   kShape + "rope_*",
                   kShape + "use_cache",
                   kShape + "z_loss_*",
                   kShape + "_use_*",
                   kShape + "_fused_*",
                   kShape + "flex_attention_mask",
                   kShape + "ring_attn_heads_k_stride",
                   kShape + "log_attn_probs",
                   kRates + "*",
                   "optimizer.optimizer_factory.*",
                   "optimizer.weight_decay*",
                   "tokens.limit_*",
                   "tokens.val_check_interval"};
  table.reasons = {
      {"schedule", message("framework-nanotron-schedule",
                           "nanotron's engines are 1f1b and afab, which is GPipe.")},
      {"zero", message("framework-nanotron-zero", "nanotron has ZeRO 1 alone.")},
      {"cp_split", message("framework-nanotron-split",
                           "nanotron gives each CP rank one run of tokens, without balance.")},
      {"stage_layers", message("framework-nanotron-layers",
                               "nanotron cuts the model by the costs of its layers.")}};
  table.print = print_nanotron;
  table.caveats = nanotron_caveats;
  table.parse = parse_yaml;
  return table;
}

}  // namespace parallelarium::frameworks

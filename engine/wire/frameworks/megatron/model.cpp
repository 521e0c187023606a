// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/plan/settings/alternatives.h"
#include "engine/wire/frameworks/megatron/megatron.h"
#include "engine/wire/frameworks/syntax/syntax.h"

namespace parallelarium::frameworks {
namespace {

bool has_latent(const Setup& setup) { return setup.model.latent.kv_rank > 0; }
bool has_experts(const Setup& setup) { return setup.model.experts.count > 0; }

FrameworkRow only_where(bool (*condition)(const Setup&), FrameworkRow row) {
  row.write = [condition, write = row.write](const Setup& setup, Entries& entries) {
    if (condition(setup)) write(setup, entries);
  };
  return row;
}

FrameworkRow inner_width(const MegatronNames& n) {
  const std::string name = n("ffn-hidden-size", "model.ffn_hidden_size");
  FrameworkRow row = same(name, "model.ffn");
  row.read = [name](Draft& draft) -> Result<void> {
    Model& model = draft.setup.model;
    if (draft.find(name) != nullptr)
      return put_setting(draft.setup, "model.ffn", *draft.find(name), draft.shown_name(name));
    // arguments.py: 4 hidden, or 8/3 hidden rounded down to 64.
    model.ffn = model.mlp == Mlp::kSwiglu ? model.hidden * 8 / 3 / 64 * 64 : 4 * model.hidden;
    return {};
  };
  return row;
}

FrameworkRow key_value_heads(const MegatronNames& n) {
  const std::string name = n("num-query-groups", "model.num_query_groups");
  FrameworkRow row = same(name, "model.kv_heads");
  if (n.line) row.names.push_back("group-query-attention");
  row.write = [name, line = n.line](const Setup& setup, Entries& entries) {
    const Model& model = setup.model;
    if (model.kv_heads == model.heads) return;
    if (line) entries.emplace_back("group-query-attention", true);
    entries.emplace_back(name, model.kv_heads);
  };
  row.read = [name, line = n.line](Draft& draft) -> Result<void> {
    draft.setup.model.kv_heads = draft.setup.model.heads;
    const bool grouped = !line || draft.find("group-query-attention") != nullptr;
    if (!grouped || draft.find(name) == nullptr) return {};
    return put_setting(draft.setup, "model.kv_heads", *draft.find(name), draft.shown_name(name));
  };
  return row;
}

FrameworkRow activation(const MegatronNames& n) {
  if (n.line)
    return translated("swiglu", "model.mlp", {{true, "swiglu"}, {false, "gelu"}}, false,
                      Written::kWhereNotUsual);
  FrameworkRow row = translated("model.gated_linear_unit", "model.mlp",
                                {{true, "swiglu"}, {false, "gelu"}}, false);
  row.names.push_back("model.activation_func");
  row.write = [write = row.write](const Setup& setup, Entries& entries) {
    write(setup, entries);
    entries.emplace_back("model.activation_func",
                         identifier(setup.model.mlp == Mlp::kSwiglu ? "F.silu" : "F.gelu"));
  };
  return row;
}

// The bases of rotary positions that published models were trained with, where they are not
// Megatron's 10000. A Setup has none, since no time and no memory follows from it; a model of one's
// own is written without, and a text that says another one than is written is told so. Sources:
// Llama Team 2024, section 3.2; Qwen Team 2025, section 2; of the others rope_theta in the
// config.json of the released weights.
struct RotaryBase {
  const char* preset;
  int base;
};
constexpr RotaryBase kRotaryBases[] = {
    {"llama3-8b", 500'000},       {"llama3-70b", 500'000},        {"llama3-405b", 500'000},
    {"llama4-scout", 500'000},    {"qwen3-8b", 1'000'000},        {"qwen3-32b", 1'000'000},
    {"qwen3-30b-a3b", 1'000'000}, {"qwen3-235b-a22b", 1'000'000}, {"mixtral-8x7b", 1'000'000},
    {"mixtral-8x22b", 1'000'000}, {"gpt-oss-20b", 150'000},       {"gpt-oss-120b", 150'000}};

// 0: Megatron's own. Other sequences and stages are the same model.
int rotary_base_of(const Model& model) {
  for (const RotaryBase& each : kRotaryBases) {
    const Result<Model> preset = find_model(each.preset);
    if (preset && preset->layers == model.layers && preset->hidden == model.hidden &&
        preset->heads == model.heads && preset->kv_heads == model.kv_heads &&
        preset->vocab == model.vocab && preset->learned_positions == model.learned_positions)
      return each.base;
  }
  return 0;
}

FrameworkRow rotary_base(const MegatronNames& n) {
  constexpr double kUsual = 10'000;
  const std::string name = n("rotary-base", "model.rotary_base");
  FrameworkRow row = only_read({name}, {}, [name](Draft& draft) -> Result<void> {
    const Result<double> base = number_at(draft, name, kUsual);
    if (!base) return base.error();
    const int written = rotary_base_of(draft.setup.model);
    const bool says = draft.find(name) != nullptr && !draft.setup.model.learned_positions;
    if (says && *base != (written > 0 ? written : kUsual))
      draft.notes.push_back(
          message("framework-rotary-base",
                  "A Setup has no base of rotary positions, from which no time and no memory "
                  "follows: put {} {} back into what is exported.",
                  draft.shown_name(name), figure(fmt::format("{}", *base))));
    return {};
  });
  row.write = [name](const Setup& setup, Entries& entries) {
    if (const int base = rotary_base_of(setup.model); base > 0) entries.emplace_back(name, base);
  };
  return row;
}

FrameworkRow sequence(const MegatronNames& n) {
  FrameworkRow row = same(n("seq-length", "model.seq_length"), "model.sequence");
  if (!n.line) return row;
  row.names.push_back("max-position-embeddings");
  row.write = [write = row.write](const Setup& setup, Entries& entries) {
    write(setup, entries);
    entries.emplace_back("max-position-embeddings", setup.model.sequence);
  };
  return row;
}

// The tokenizer that Megatron has for made-up data adds one word, which ends a document, to those
// that the flag counts (megatron/core/tokenizers, NullTokenizer).
constexpr const char* kNullTokenizer = "NullTokenizer";

FrameworkRow vocabulary(const MegatronNames& n) {
  const std::string name = n("vocab-size", "model.vocab_size");
  FrameworkRow row = same(name, "model.vocab");
  row.names.push_back("padded-vocab-size");
  row.write = [name, line = n.line](const Setup& setup, Entries& entries) {
    if (line) entries.emplace_back("tokenizer-type", kNullTokenizer);
    entries.emplace_back(name, setup.model.vocab - (line ? 1 : 0));
    if (line) entries.emplace_back("make-vocab-size-divisible-by", 1);
  };
  row.read = [name](Draft& draft) -> Result<void> {
    if (draft.find(name) != nullptr && word_at(draft, "tokenizer-type", "") == kNullTokenizer) {
      const Result<std::int64_t> words = whole_at(draft, name, 0, 0, std::int64_t{1} << 30);
      if (!words) return words.error();
      draft.setup.model.vocab = *words + 1;
      return {};
    }
    for (const std::string& each : {name, std::string("padded-vocab-size")})
      if (draft.find(each) != nullptr)
        return put_setting(draft.setup, "model.vocab", *draft.find(each), draft.shown_name(each));
    draft.notes.push_back(message(
        "framework-vocabulary",
        "The text does not say how large the vocabulary is, which comes with the tokenizer; {} is "
        "taken.",
        draft.setup.model.vocab));
    return {};
  };
  return row;
}

FrameworkRow dropouts(const MegatronNames& n) {
  const std::string hidden = n("hidden-dropout", "model.hidden_dropout");
  const std::string attention = n("attention-dropout", "model.attention_dropout");
  FrameworkRow row = same(hidden, "dropout", 0.1);
  row.names.push_back(attention);
  row.write = [hidden, attention](const Setup& setup, Entries& entries) {
    entries.emplace_back(hidden, setup.dropout);
    entries.emplace_back(attention, setup.dropout);
  };
  row.read = [read = row.read, attention](Draft& draft) -> Result<void> {
    if (Result<void> set = read(draft); !set) return set;
    const Result<double> other = number_at(draft, attention, 0.1);
    if (!other) return other.error();
    if (*other != draft.setup.dropout)
      draft.notes.push_back(message(
          "framework-dropout",
          "A Setup has one dropout for all: {} of hidden states counts, {} of attention does not.",
          draft.setup.dropout, *other));
    return {};
  };
  return row;
}

// DeepSeek's attention. The width of queries' low rank may be left out, which is none.
std::vector<FrameworkRow> latent_rows(const MegatronNames& n) {
  FrameworkRow on = only_where(
      has_latent, fixed(n("multi-latent-attention", "model.multi_latent_attention"), true));
  const std::string switch_name = on.names.front();
  on.settings = {"model.latent.kv_rank"};
  on.read = [](Draft& draft) {
    draft.setup.model.latent = {};
    return Result<void>();
  };
  std::vector<FrameworkRow> rows = {on};
  const auto add = [&](const char* flag, const char* field, const char* key, int usual) {
    FrameworkRow row = only_where(has_latent, same(n(flag, field), key, usual));
    row.read = [read = row.read, switch_name](Draft& draft) -> Result<void> {
      return flag_at(draft, switch_name, false) ? read(draft) : Result<void>();
    };
    rows.push_back(std::move(row));
  };
  add("q-lora-rank", "model.q_lora_rank", "model.latent.q_rank", 0);
  add("kv-lora-rank", "model.kv_lora_rank", "model.latent.kv_rank", 32);
  add("qk-head-dim", "model.qk_head_dim", "model.latent.nope_dim", 128);
  add("qk-pos-emb-head-dim", "model.qk_pos_emb_head_dim", "model.latent.rope_dim", 64);
  add("v-head-dim", "model.v_head_dim", "model.latent.value_dim", 128);
  rows[1].write = [name = rows[1].names.front()](const Setup& setup, Entries& entries) {
    if (setup.model.latent.q_rank > 0) entries.emplace_back(name, setup.model.latent.q_rank);
  };
  return rows;
}

// Layers without experts come first: "([0]*3+[1]*58)".
FrameworkRow dense_layers(const MegatronNames& n) {
  const std::string name = n("moe-layer-freq", "model.moe_layer_freq");
  FrameworkRow row;
  row.names = {name};
  row.settings = {"model.experts.first_dense"};
  row.write = [name, line = n.line](const Setup& setup, Entries& entries) {
    const int dense = setup.model.experts.first_dense, all = setup.model.layers;
    if (!has_experts(setup) || dense == 0) return;
    std::string list = fmt::format("[0]*{}+[1]*{}", dense, all - dense);
    if (line)
      entries.emplace_back(name, "(" + list + ")");
    else
      entries.emplace_back(name, identifier(list));
  };
  row.read = [name](Draft& draft) -> Result<void> {
    draft.setup.model.experts.first_dense = 0;
    const nlohmann::json* value = draft.find(name);
    if (value == nullptr || draft.setup.model.experts.count == 0) return {};
    nlohmann::json list = *value;
    if (value->is_string()) {
      const Result<nlohmann::json> parsed = parse_expression(value->get<std::string>());
      if (!parsed) return parsed.error();
      list = *parsed;
    }
    if (list == 1) return {};
    std::size_t dense = 0;
    bool leading = list.is_array();
    while (leading && dense < list.size() && list[dense] == 0) ++dense;
    for (std::size_t layer = dense; leading && layer < list.size(); ++layer)
      leading = list[layer] == 1;
    if (leading) {
      draft.setup.model.experts.first_dense = static_cast<int>(dense);
      return {};
    }
    draft.notes.push_back(message("framework-moe-layers",
                                  "{} puts experts into some layers in between; a Setup has them "
                                  "in all layers behind the first ones, so here in all.",
                                  draft.shown_name(name)));
    return {};
  };
  return row;
}

FrameworkRow shared_experts(const MegatronNames& n) {
  const std::string name =
      n("moe-shared-expert-intermediate-size", "model.moe_shared_expert_intermediate_size");
  FrameworkRow row;
  row.names = {name};
  row.settings = {"model.experts.shared"};
  row.write = [name](const Setup& setup, Entries& entries) {
    const Experts& experts = setup.model.experts;
    if (experts.count > 0 && experts.shared > 0)
      entries.emplace_back(name, experts.shared * experts.ffn);
  };
  row.read = [name](Draft& draft) -> Result<void> {
    Experts& experts = draft.setup.model.experts;
    experts.shared = 0;
    const Result<std::int64_t> width = whole_at(draft, name, 0);
    if (!width) return width.error();
    if (experts.count == 0 || *width == 0) return {};
    if (*width % experts.ffn != 0)
      return message(
          "framework-shared-experts",
          "{} is {}, no multiple of an expert's inner width of {}; a Setup counts shared "
          "experts of that width.",
          draft.shown_name(name), *width, experts.ffn);
    experts.shared = static_cast<int>(*width / experts.ffn);
    return {};
  };
  return row;
}

FrameworkRow selection_bias(const MegatronNames& n) {
  const std::string on = n("moe-router-enable-expert-bias", "model.moe_router_enable_expert_bias");
  const std::string rate = n("moe-router-bias-update-rate", "model.moe_router_bias_update_rate");
  FrameworkRow row;
  row.names = {on, rate};
  row.settings = {"bias_rate"};
  row.write = [on, rate](const Setup& setup, Entries& entries) {
    // transformer_config.py: not of a softmax.
    if (setup.bias_rate == 0 || setup.model.experts.router != Router::kSigmoid) return;
    entries.emplace_back(on, true);
    entries.emplace_back(rate, setup.bias_rate);
  };
  row.read = [on, rate](Draft& draft) -> Result<void> {
    draft.setup.bias_rate = 0;
    if (!flag_at(draft, on, false)) return {};
    const nlohmann::json usual = 1e-3;
    const nlohmann::json* value = draft.find(rate);
    return put_setting(draft.setup, "bias_rate", value ? *value : usual, draft.shown_name(rate));
  };
  return row;
}

FrameworkRow balance(const MegatronNames& n) {
  const std::string kind =
      n("moe-router-load-balancing-type", "model.moe_router_load_balancing_type");
  const std::string name = n("moe-aux-loss-coeff", "model.moe_aux_loss_coeff");
  FrameworkRow row;
  row.names = {name, kind};
  row.settings = {"balance_loss"};
  row.write = [kind, name](const Setup& setup, Entries& entries) {
    if (!has_experts(setup)) return;
    entries.emplace_back(kind, setup.balance_loss > 0 ? "aux_loss" : "none");
    entries.emplace_back(name, setup.balance_loss);
  };
  row.read = [kind, name](Draft& draft) -> Result<void> {
    const nlohmann::json* value = draft.find(name);
    const std::string type = word_at(draft, kind, "aux_loss");
    draft.setup.balance_loss = 0;
    if (value == nullptr || type == "none") return {};
    if (type != "aux_loss")
      draft.notes.push_back(message("framework-balance",
                                    "{} {} is read as the balance loss of a micro-batch.",
                                    draft.shown_name(kind), shown(type)));
    return put_setting(draft.setup, "balance_loss", *value, draft.shown_name(name));
  };
  return row;
}

FrameworkRow dispatcher(const MegatronNames& n) {
  FrameworkRow row = translated(n("moe-token-dispatcher-type", "model.moe_token_dispatcher_type"),
                                "expert_dispatch",
                                {{"alltoall", "copies"},
                                 {"alltoall", "tensor-shares"},
                                 {"flex", "once-per-node"},
                                 {"allgather", nullptr}},
                                "alltoall");
  row.write = [write = row.write, type = n("moe-router-dtype", "model.moe_router_dtype")](
                  const Setup& setup, Entries& entries) {
    write(setup, entries);
    if (setup.expert_dispatch == ExpertDispatch::kOncePerNode)
      entries.emplace_back(type, "fp32");  // DeepEP asks for it
  };
  return row;
}

// transformer_config.py: with EP, without full recompute, and in a pipeline interleaved only.
FrameworkRow exchanges_overlap(const MegatronNames& n) {
  FrameworkRow row = n.flag("overlap-moe-expert-parallel-comm", true,
                            "model.overlap_moe_expert_parallel_comm", "overlap_experts");
  row.write = [write = row.write](const Setup& setup, Entries& entries) {
    const bool staged = setup.mesh.pp == 1 || setup.schedule == "interleaved";
    const bool can = setup.mesh.ep > 1 && staged && setup.recompute != Recompute::kFull;
    if (can || !setup.overlap_experts) write(setup, entries);
  };
  return row;
}

}  // namespace

FrameworkRow MegatronNames::flag(const char* flag_name, bool where, const char* field,
                                 std::string key) const {
  if (line)
    return translated(flag_name, std::move(key), {{true, where}, {false, !where}}, false,
                      Written::kWhereNotUsual);
  return same(field, std::move(key), !where);
}

std::vector<FrameworkRow> megatron_model_rows(const MegatronNames& n) {
  std::vector<FrameworkRow> rows = {
      same(n("num-layers", "model.num_layers"), "model.layers"),
      same(n("hidden-size", "model.hidden_size"), "model.hidden"),
      activation(n),
      inner_width(n),
      same(n("num-attention-heads", "model.num_attention_heads"), "model.heads"),
      key_value_heads(n),
      same(n("kv-channels", "model.kv_channels"), "model.head_dim", 0, Written::kWhereNotUsual),
      translated(n("normalization", "model.normalization"), "model.norm",
                 {{"LayerNorm", "layer"}, {"RMSNorm", "rms"}}, "LayerNorm"),
      n.flag("untie-embeddings-and-output-weights", false,
             "model.share_embeddings_and_output_weights", "model.tied"),
      n.flag("disable-bias-linear", false, "model.add_bias_linear", "model.biases"),
      translated(n("position-embedding-type", "model.position_embedding_type"),
                 "model.learned_positions",
                 {{"rope", false},
                  {"learned_absolute", true},
                  {"yarn", false},
                  {"none", nullptr},
                  {"mrope", nullptr},
                  {"relative", nullptr}},
                 "learned_absolute"),
      sequence(n),
      vocabulary(n),
      rotary_base(n),  // behind all that tells the model
      dropouts(n)};
  for (FrameworkRow& row : latent_rows(n)) rows.push_back(std::move(row));
  return rows;
}

std::vector<FrameworkRow> megatron_expert_rows(const MegatronNames& n) {
  std::vector<FrameworkRow> rows;
  const auto add = [&](FrameworkRow row) {
    rows.push_back(only_where(has_experts, std::move(row)));
  };
  FrameworkRow count = same(n("num-experts", "model.num_moe_experts"), "model.experts.count", 0,
                            Written::kWhereNotUsual);
  count.read = [read = count.read](Draft& draft) {
    draft.setup.model.experts = {};
    return read(draft);
  };
  add(std::move(count));
  const auto of_experts = [&](FrameworkRow row) {  // means nothing of a dense model
    row.read = [read = row.read](Draft& draft) -> Result<void> {
      return has_experts(draft.setup) ? read(draft) : Result<void>();
    };
    add(std::move(row));
  };
  of_experts(same(n("moe-router-topk", "model.moe_router_topk"), "model.experts.top_k", 2));
  FrameworkRow width =
      same(n("moe-ffn-hidden-size", "model.moe_ffn_hidden_size"), "model.experts.ffn");
  width.read = [read = width.read](Draft& draft) {
    draft.setup.model.experts.ffn = draft.setup.model.ffn;
    return read(draft);
  };
  of_experts(std::move(width));
  of_experts(shared_experts(n));
  of_experts(dense_layers(n));
  of_experts(same(n("moe-expert-capacity-factor", "model.moe_expert_capacity_factor"),
                  "model.experts.capacity", 0, Written::kWhereNotUsual));
  of_experts(translated(
      n("moe-router-score-function", "model.moe_router_score_function"), "model.experts.router",
      {{"softmax", "softmax"}, {"sigmoid", "sigmoid"}, {"sqrtsoftplus", nullptr}}, "softmax"));
  of_experts(same(n("moe-router-num-groups", "model.moe_router_num_groups"), "model.experts.groups",
                  0, Written::kWhereNotUsual));
  of_experts(same(n("moe-router-group-topk", "model.moe_router_group_topk"),
                  "model.experts.group_limit", 0, Written::kWhereNotUsual));
  of_experts(balance(n));
  of_experts(
      same(n("moe-z-loss-coeff", "model.moe_z_loss_coeff"), "z_loss", 0, Written::kWhereNotUsual));
  of_experts(selection_bias(n));
  of_experts(dispatcher(n));
  of_experts(exchanges_overlap(n));
  of_experts(fixed(n("moe-grouped-gemm", "model.moe_grouped_gemm"), true));
  return rows;
}

}  // namespace parallelarium::frameworks

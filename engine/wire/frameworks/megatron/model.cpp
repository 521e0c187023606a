// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/plan/settings/alternatives.h"
#include "engine/wire/frameworks/megatron/megatron.h"
#include "engine/wire/frameworks/syntax/syntax.h"

namespace parallelarium::frameworks {
namespace {

bool has_latent(const Setup& setup) { return setup.model.latent.kv_rank > 0; }

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

}  // namespace

FrameworkRow only_where(bool (*condition)(const Setup&), FrameworkRow row) {
  row.write = [condition, write = row.write](const Setup& setup, Entries& entries) {
    if (condition(setup)) write(setup, entries);
  };
  return row;
}

FrameworkRow MegatronNames::flag(const char* flag_name, bool where, const char* field,
                                 std::string key) const {
  if (line)
    return translated(flag_name, std::move(key), {{true, where}, {false, !where}}, false,
                      Written::kWhereNotUsual);
  return same(field, std::move(key), !where);
}

namespace {

// The name with what follows it in the text: "--norm-epsilon 1e-06".
Message shown_entry(const Draft& draft, const std::string& name) {
  const nlohmann::json& value = *draft.find(name);
  if (value.is_boolean()) return plain(draft.shown_name(name));
  return plain(draft.shown_name(name) + " " + shown(word_of(value)));
}

FrameworkRow query_and_key_norms(const MegatronNames& n) {
  const std::string name = n("qk-layernorm", "model.qk_layernorm");
  FrameworkRow row = only_where(norms_queries_and_keys, fixed(name, true));
  row.read = [name](Draft& draft) -> Result<void> {
    if (flag_at(draft, name, false))
      draft.notes.push_back(message("framework-norms-read",
                                    "{} is not said by a Setup: no figure counts norms of queries "
                                    "and keys. Put it into what is exported where it is missing.",
                                    draft.shown_name(name)));
    return {};
  };
  row.says_norms = true;
  return row;
}

// What of a model neither time nor memory follows from. `usual`: Megatron's, which is no news;
// null: it is news wherever it stands.
FrameworkRow free_of_cost(const std::string& name, nlohmann::json usual) {
  return only_read({name}, {}, [name, usual](Draft& draft) -> Result<void> {
    const nlohmann::json* value = draft.find(name);
    if (value == nullptr || value->is_null() || *value == false) return {};
    if (usual.is_number()) {
      const Result<double> number = number_at(draft, name, usual.get<double>());
      if (!number) return number.error();
      if (*number == usual.get<double>()) return {};
    }
    draft.notes.push_back(message("framework-free-of-cost",
                                  "{} is not said by a Setup: no time and no memory follows from "
                                  "it. Put it back into what is exported.",
                                  shown_entry(draft, name)));
    return {};
  });
}

// What changes times, and no figure counts.
FrameworkRow not_counted(const std::string& name) {
  return only_read({name}, {}, [name](Draft& draft) -> Result<void> {
    if (flag_at(draft, name, false))
      draft.notes.push_back(message("framework-not-counted",
                                    "{} is not said by a Setup: no figure counts what it changes. "
                                    "Put it back into what is exported.",
                                    shown_entry(draft, name)));
    return {};
  });
}

// Settings that are read for a note alone. Any other name that no row reads is noted as
// unread, unless the table ignores it.
std::vector<FrameworkRow> noted_rows(const MegatronNames& n) {
  std::vector<FrameworkRow> rows = {
      free_of_cost(n("norm-epsilon", "model.layernorm_epsilon"), 1e-5),
      free_of_cost(n("rotary-percent", "model.rotary_percent"), 1.0),
      free_of_cost(n("rotary-interleaved", "model.rotary_interleaved"), nullptr),
      free_of_cost(n("rotary-seq-len-interpolation-factor", "model.seq_len_interpolation_factor"),
                   nullptr),
      free_of_cost(n("use-rope-scaling", "model.rope_scaling"), nullptr),
      free_of_cost(n("rope-scaling-factor", "model.rope_scaling_factor"), 8.0),
      not_counted(n("fp8-param-gather", "mixed_precision.fp8_param_gather"))};
  if (n.line) {
    rows.push_back(free_of_cost("rope-type", nullptr));
    rows.push_back(not_counted("dataloader-inter-document-masking"));
  }
  return rows;
}

}  // namespace

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
      query_and_key_norms(n),
      sequence(n),
      vocabulary(n),
      rotary_base(n("rotary-base", "model.rotary_base")),  // behind all that tells the model
      dropouts(n)};
  for (auto* part : {latent_rows, noted_rows})
    for (FrameworkRow& row : part(n)) rows.push_back(std::move(row));
  return rows;
}

}  // namespace parallelarium::frameworks

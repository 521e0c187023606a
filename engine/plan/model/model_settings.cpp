// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/model/model_settings.h"

#include <algorithm>

#include "engine/plan/model/model_presets.h"
#include "engine/plan/setup/setup_names.h"

namespace parallelarium {
namespace {

using Is = Of<Model>;
using Row = Setting<Model>;

constexpr Range kLayers{1, 10'000}, kHidden{1, 1 << 20}, kHeads{1, 1 << 16}, kWidth{1, 1 << 24};
constexpr Range kCount{0, 1 << 16}, kSize{0, 1 << 20};

bool never(const Model&) { return false; }
bool has_latent(const Model& model) { return model.latent.kv_rank > 0; }
bool has_expert_settings(const Model& model) { return model.experts != Experts{}; }

void append(SettingTable<Model>& table, SettingTable<Model> rows) {
  for (Row& row : rows) table.push_back(std::move(row));
}

// What names a file, and what a preset says of itself; only the shape is written.
SettingTable<Model> names() {
  Row ignored;
  ignored.value.get = [](const Model&) { return nlohmann::json(); };
  ignored.value.set = [](Model&, const nlohmann::json& json, const std::string& key) {
    const Result<std::string> text = text_from(json, key);
    return text ? Result<void>() : Result<void>(text.error());
  };
  ignored.written = never;
  Row format = ignored, name = ignored;
  format.key = "format";
  name.key = "name";
  return {format,
          name,
          {.key = "title", .value = Is::text(&Model::title), .written = never},
          {.key = "sources", .value = Is::texts(&Model::sources), .written = never}};
}

SettingTable<Model> shape() {
  return {{.key = "layers",
           .option = "layers",
           .value = Is::whole(kLayers, &Model::layers),
           .section = Section::kMoreModel,
           .label = "Layers",
           .help = "transformer layers"},
          {.key = "hidden",
           .option = "hidden",
           .value = Is::whole(kHidden, &Model::hidden),
           .stride = kDoubling,
           .section = Section::kMoreModel,
           .label = "Hidden",
           .help = "width of the residual stream"},
          {.key = "heads",
           .option = "heads",
           .value = Is::whole(kHeads, &Model::heads),
           .section = Section::kMoreModel,
           .label = "Heads",
           .help = "attention heads"},
          {.key = "kv_heads",
           .option = "kv-heads",
           .value = Is::whole(kHeads, &Model::kv_heads),
           .section = Section::kMoreModel,
           .label = "Key/value heads",
           .help = "key/value heads"},
          {.key = "head_dim",
           .value = Is::whole({0, 1 << 16}, &Model::head_dim),
           .written = where_changed<Model>(&Model::head_dim),
           .label = "Width of a head",
           .help = "width of an attention head; 0: hidden / heads"},
          {.key = "mlp",
           .option = "mlp",
           .value = Is::choice(kMlps, &Model::mlp),
           .section = Section::kMoreModel,
           .label = "MLP",
           .help = "gelu or swiglu",
           .captions = {{.value = "gelu", .text = "GELU: two matrices"},
                        {.value = "swiglu", .text = "SwiGLU: three matrices"}}},
          {.key = "norm",
           .option = "norm",
           .value = Is::choice(kNorms, &Model::norm),
           .section = Section::kMoreModel,
           .label = "Norm",
           .help = "layer or rms",
           .captions = {{.value = "layer", .text = "LayerNorm: gain and bias"},
                        {.value = "rms", .text = "RMSNorm: gain alone"}}},
          {.key = "ffn",
           .option = "ffn",
           .value = Is::whole(kWidth, &Model::ffn),
           .stride = kDoubling,
           .section = Section::kMoreModel,
           .label = "Inner width",
           .help = "inner width of the MLP"},
          {.key = "vocab",
           .option = "vocab",
           .value = Is::whole(kWidth, &Model::vocab),
           .stride = kDoubling,
           .section = Section::kMoreModel,
           .label = "Vocabulary",
           .help = "tokens in the vocabulary"},
          {.key = "sequence",
           .option = "sequence",
           .value = Is::whole(kWidth, &Model::sequence),
           .stride = kDoubling,
           .section = Section::kMoreModel,
           .label = "Sequence",
           .unit = "tokens",
           .help = "tokens in a sequence"},
          {.key = "tied",
           .value = Is::flag(&Model::tied),
           .label = "Tied",
           .help = "the output head is the token embedding"},
          {.key = "biases",
           .value = Is::flag(&Model::biases),
           .label = "Biases",
           .help = "linear layers have biases"},
          {.key = "learned_positions",
           .value = Is::flag(&Model::learned_positions),
           .label = "Learned positions",
           .help = "a table of positions is learned; else they are rotary"},
          {.key = "stage_layers",
           .value = Is::wholes({0, 10'000}, &Model::stage_layers),
           .written = where_changed<Model>(&Model::stage_layers),
           .label = "Published split",
           .help = "layers of each stage as published"}};
}

SettingTable<Model> experts() {
  const auto in = &Model::experts;
  SettingTable<Model> rows = {{.key = "experts.count",
                               .option = "experts",
                               .value = Is::whole(kCount, in, &Experts::count),
                               .label = "Experts of a layer",
                               .help = "experts of a layer; 0: a dense model"},
                              {.key = "experts.top_k",
                               .option = "top-k",
                               .value = Is::whole(kCount, in, &Experts::top_k),
                               .label = "Experts a token visits (top-k)",
                               .help = "experts that a token visits"},
                              {.key = "experts.shared",
                               .option = "shared-experts",
                               .value = Is::whole({0, 1 << 10}, in, &Experts::shared),
                               .label = "Shared, visited by all",
                               .help = "experts that every token visits"},
                              {.key = "experts.ffn",
                               .option = "expert-ffn",
                               .value = Is::whole({0, kWidth.high}, in, &Experts::ffn),
                               .stride = kDoubling,
                               .label = "Inner width of an expert",
                               .help = "inner width of an expert"},
                              {.key = "experts.first_dense",
                               .option = "first-dense",
                               .value = Is::whole({0, kLayers.high}, in, &Experts::first_dense),
                               .label = "First layers without",
                               .help = "leading layers without experts"},
                              {.key = "experts.capacity",
                               .option = "capacity",
                               .value = Is::number({0, 1 << 16}, in, &Experts::capacity),
                               .stride = {0.25},
                               .label = "Capacity factor (0: dropless)",
                               .help = "capacity factor of an expert; 0: no token is dropped"},
                              {.key = "experts.router",
                               .option = "router",
                               .value = Is::choice(kRouters, in, &Experts::router),
                               .label = "Router",
                               .help = "softmax or sigmoid"},
                              {.key = "experts.groups",
                               .option = "expert-groups",
                               .value = Is::whole(kCount, in, &Experts::groups),
                               .label = "Groups of experts (0: none)",
                               .help = "groups of experts, such as nodes; 0: none"},
                              {.key = "experts.group_limit",
                               .option = "group-limit",
                               .value = Is::whole(kCount, in, &Experts::group_limit),
                               .label = "Groups a token may use",
                               .help = "groups whose experts a token may use"}};
  for (Row& row : rows) {
    row.written = has_expert_settings;
    row.applies = [](const Model& model) { return model.experts.count > 0; };
    row.needs = "needs experts";
    row.section = Section::kExperts;
  }
  const auto only_where_changed = [&](const char* key, auto member) {
    for (Row& row : rows)
      if (row.key == key) row.written = where_changed<Model>(in, member);
  };
  only_where_changed("experts.router", &Experts::router);
  only_where_changed("experts.groups", &Experts::groups);
  only_where_changed("experts.group_limit", &Experts::group_limit);
  return rows;
}

SettingTable<Model> latent() {
  SettingTable<Model> rows;
  const auto add = [&](const char* key, std::int64_t LatentAttention::*member, const char* help) {
    Row row{.key = key, .value = Is::whole(kSize, &Model::latent, member), .help = help};
    row.written = has_latent;
    rows.push_back(std::move(row));
  };
  add("latent.q_rank", &LatentAttention::q_rank, "latent attention: rank of queries");
  add("latent.kv_rank", &LatentAttention::kv_rank,
      "rank of keys and values; 0: no latent attention");
  add("latent.nope_dim", &LatentAttention::nope_dim, "width of a head without positions");
  add("latent.rope_dim", &LatentAttention::rope_dim, "width of a head with positions");
  add("latent.value_dim", &LatentAttention::value_dim, "width of a head's values");
  return rows;
}

}  // namespace

const SettingTable<Model>& model_settings() {
  static const SettingTable<Model> kTable = [] {
    SettingTable<Model> table;
    for (auto* part : {names, shape, experts, latent}) append(table, part());
    return table;
  }();
  return kTable;
}

namespace {

// How many experts a token visits where nobody says.
int usual_top_k(int experts) { return std::min(2, experts); }

void follow_experts(Model& model, const Model& before) {
  Experts& experts = model.experts;
  const Experts& then = before.experts;
  if (experts.count == then.count) return;
  if (experts.top_k == then.top_k && then.top_k == usual_top_k(then.count))
    experts.top_k = usual_top_k(experts.count);
  if (then.count == 0 && experts.ffn == 0) experts.ffn = model.ffn;
  if (experts.count == 0 && experts.ffn == model.ffn) experts.ffn = 0;
}

}  // namespace

void follow_shape(Model& model, const Model& before) {
  if (model == before) return;
  if (model.ffn == before.ffn && before.ffn == default_ffn(before.hidden, before.mlp))
    model.ffn = default_ffn(model.hidden, model.mlp);
  if (model.kv_heads == before.kv_heads && before.kv_heads == before.heads)
    model.kv_heads = model.heads;
  follow_experts(model, before);
  if (model.layers != before.layers) model.stage_layers.clear();
  model.name = "custom";
  model.title.clear();
  model.sources.clear();
  if (const Model* const preset = preset_of_shape(model)) model = *preset;
}

}  // namespace parallelarium

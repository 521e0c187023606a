// SPDX-License-Identifier: Apache-2.0
// The object form of a model and the presets of resources/models.
#include <algorithm>
#include <array>
#include <map>

#include "engine/plan/machine/presets.h"
#include "engine/plan/model/model.h"
#include "engine/plan/setup/alternatives.h"
#include "engine/plan/setup/settings_reader.h"
#include "engine/plan/setup/setup_names.h"

namespace parallelarium {
namespace {

constexpr std::int64_t kMostWidth = 1 << 24;

Result<Experts> read_experts(const nlohmann::json& json) {
  Experts experts;
  SettingsReader reader(json, "model.experts.");
  reader.whole("count", experts.count, 0, 1 << 16);
  reader.whole("top_k", experts.top_k, 0, 1 << 16);
  reader.whole("shared", experts.shared, 0, 1 << 10);
  reader.whole("ffn", experts.ffn, 0, kMostWidth);
  reader.whole("first_dense", experts.first_dense, 0, 10'000);
  reader.number("capacity", experts.capacity, 0, 1 << 16);
  reader.choice("router", experts.router, kRouters);
  reader.whole("groups", experts.groups, 0, 1 << 16);
  reader.whole("group_limit", experts.group_limit, 0, 1 << 16);
  if (auto done = reader.finish(); !done) return done.error();
  return experts;
}

Result<LatentAttention> read_latent(const nlohmann::json& json) {
  LatentAttention latent;
  SettingsReader reader(json, "model.latent.");
  reader.whole("q_rank", latent.q_rank, 0, 1 << 20);
  reader.whole("kv_rank", latent.kv_rank, 0, 1 << 20);
  reader.whole("nope_dim", latent.nope_dim, 0, 1 << 20);
  reader.whole("rope_dim", latent.rope_dim, 0, 1 << 20);
  reader.whole("value_dim", latent.value_dim, 0, 1 << 20);
  if (auto done = reader.finish(); !done) return done.error();
  return latent;
}

// The keys of a model in `reader`; what must be there is checked by the caller.
void read_shape(SettingsReader& reader, Model& model) {
  reader.whole("layers", model.layers, 1, 10'000);
  reader.whole("hidden", model.hidden, 1, 1 << 20);
  reader.whole("heads", model.heads, 1, 1 << 16);
  reader.choice("mlp", model.mlp, kMlps);
  reader.choice("norm", model.norm, kNorms);
  model.kv_heads = model.heads;
  model.ffn = default_ffn(model.hidden, model.mlp);
  reader.whole("kv_heads", model.kv_heads, 1, 1 << 16);
  reader.whole("head_dim", model.head_dim, 0, 1 << 16);
  reader.whole("ffn", model.ffn, 1, kMostWidth);
  reader.whole("vocab", model.vocab, 1, kMostWidth);
  reader.whole("sequence", model.sequence, 1, kMostWidth);
  reader.flag("tied", model.tied);
  reader.flag("biases", model.biases);
  reader.flag("learned_positions", model.learned_positions);
  reader.wholes("stage_layers", model.stage_layers, 0, 10'000, 10'000);
  if (const nlohmann::json* json = reader.child("experts")) {
    Result<Experts> experts = read_experts(*json);
    if (experts)
      model.experts = *experts;
    else
      reader.fail(experts.error());
  }
  if (const nlohmann::json* json = reader.child("latent")) {
    Result<LatentAttention> latent = read_latent(*json);
    if (latent)
      model.latent = *latent;
    else
      reader.fail(latent.error());
  }
  for (const char* key : {"layers", "hidden", "heads", "vocab", "sequence"}) {
    if (reader.has(key)) continue;
    Message error = message("model-key-missing", "A model needs {}.", reader.dotted(key));
    error.field = reader.dotted(key);
    reader.fail(std::move(error));
  }
}

Result<Model> finish_model(SettingsReader& reader, Model model) {
  if (auto done = reader.finish(); !done) return done.error();
  if (model.latent.kv_rank == 0) model.latent = {};
  return model;
}

Result<Model> read_preset(const EmbeddedFile& file) {
  Result<nlohmann::json> json = parse_json(file.content);
  if (!json) return json.error();
  Model model;
  std::string format;
  SettingsReader reader(*json, "model.");
  reader.text("format", format);
  reader.text("title", model.title);
  reader.texts("sources", model.sources);
  read_shape(reader, model);
  return finish_model(reader, std::move(model));
}

// The order in which menus show them; others follow.
constexpr std::array kModelOrder = {
    "gpt-tiny",     "llama-tiny",    "moe-tiny",    "gpt-small",    "gpt2-124m",  "gpt3-175b",
    "megatron-22b", "megatron-175b", "mt-nlg-530b", "megatron-1t",  "llama-7b",   "llama2-70b",
    "llama3-8b",    "llama3-70b",    "llama3-405b", "mixtral-8x7b", "deepseek-v3"};

std::string model_of_file(const EmbeddedFile& file) {
  return std::string(file.path.substr(7, file.path.size() - 12));  // models/NAME.json
}

}  // namespace

std::vector<std::string> model_names() {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : embedded_files())
    if (file.path.starts_with("models/")) names.push_back(model_of_file(file));
  const auto place = [](const std::string& name) {
    return std::find(kModelOrder.begin(), kModelOrder.end(), name) - kModelOrder.begin();
  };
  std::stable_sort(names.begin(), names.end(),
                   [&](const std::string& a, const std::string& b) { return place(a) < place(b); });
  return names;
}

Result<Model> find_model(const std::string& name) {
  // Read once: every changed setting asks for presets.
  static const std::map<std::string, Result<Model>> kPresets = [] {
    std::map<std::string, Result<Model>> presets;
    for (const EmbeddedFile& file : embedded_files()) {
      if (!file.path.starts_with("models/")) continue;
      const std::string preset = model_of_file(file);
      Result<Model> model = read_preset(file);
      if (model) model->name = preset;
      presets.emplace(preset, std::move(model));
    }
    return presets;
  }();
  if (const auto found = kPresets.find(name); found != kPresets.end()) return found->second;
  const std::vector<std::string> names = model_names();
  const std::string near = nearest(name, names);
  Message error =
      message("model-unknown", "There is no model “{}”{}; there are {}.", shown(name),
              near.empty() ? "" : " (" + near + "?)", fmt::format("{}", fmt::join(names, ", ")));
  error.field = "model";
  error.alternatives = names;
  return error;
}

Result<Model> model_from_json(const nlohmann::json& json) {
  Model model;
  model.title = "Custom model";
  std::string preset;  // `models --json` prints it; only the shape counts here
  SettingsReader reader(json, "model.");
  reader.text("name", preset);
  reader.text("title", model.title);
  reader.texts("sources", model.sources);
  read_shape(reader, model);
  return finish_model(reader, std::move(model));
}

nlohmann::json to_json(const Model& model) {
  nlohmann::json json = {{"layers", model.layers},
                         {"hidden", model.hidden},
                         {"heads", model.heads},
                         {"kv_heads", model.kv_heads},
                         {"ffn", model.ffn},
                         {"vocab", model.vocab},
                         {"sequence", model.sequence},
                         {"mlp", word_of(kMlps, model.mlp)},
                         {"norm", word_of(kNorms, model.norm)},
                         {"tied", model.tied},
                         {"biases", model.biases},
                         {"learned_positions", model.learned_positions}};
  if (model.head_dim > 0) json["head_dim"] = model.head_dim;
  if (model.experts != Experts{}) {
    const Experts& experts = model.experts;
    json["experts"] = {{"count", experts.count},
                       {"top_k", experts.top_k},
                       {"shared", experts.shared},
                       {"ffn", experts.ffn},
                       {"first_dense", experts.first_dense},
                       {"capacity", experts.capacity}};
    if (experts.router != Router::kSoftmax)
      json["experts"]["router"] = word_of(kRouters, experts.router);
    if (experts.groups > 0) json["experts"]["groups"] = experts.groups;
    if (experts.group_limit > 0) json["experts"]["group_limit"] = experts.group_limit;
  }
  if (model.latent.kv_rank > 0) {
    const LatentAttention& latent = model.latent;
    json["latent"] = {{"q_rank", latent.q_rank},
                      {"kv_rank", latent.kv_rank},
                      {"nope_dim", latent.nope_dim},
                      {"rope_dim", latent.rope_dim},
                      {"value_dim", latent.value_dim}};
  }
  if (!model.stage_layers.empty()) json["stage_layers"] = model.stage_layers;
  return json;
}

}  // namespace parallelarium

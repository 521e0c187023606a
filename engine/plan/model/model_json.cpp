// SPDX-License-Identifier: Apache-2.0
// The object form of a model and the presets of resources/models.
#include <algorithm>
#include <array>
#include <map>

#include "engine/plan/machine/presets.h"
#include "engine/plan/model/model.h"
#include "engine/plan/model/model_presets.h"
#include "engine/plan/model/model_settings.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"

namespace parallelarium {
namespace {

// The order in which menus show them; others follow.
constexpr std::array kModelOrder = {
    "gpt-tiny",     "llama-tiny",   "moe-tiny",      "gpt-small",      "gpt2-124m",
    "gpt3-175b",    "megatron-22b", "megatron-175b", "mt-nlg-530b",    "megatron-1t",
    "llama-7b",     "llama2-70b",   "llama3-8b",     "llama3-70b",     "llama3-405b",
    "llama4-scout", "qwen3-8b",     "qwen3-32b",     "qwen3-30b-a3b",  "qwen3-235b-a22b",
    "gpt-oss-20b",  "gpt-oss-120b", "mixtral-8x7b",  "mixtral-8x22b",  "deepseek-v2",
    "deepseek-v3",  "kimi-k2",      "glm-5",         "solar-open-100b"};

std::string model_of_file(const EmbeddedFile& file) {
  return std::string(file.path.substr(7, file.path.size() - 12));  // models/NAME.json
}

}  // namespace

std::vector<std::string> model_names() {
  static const std::vector<std::string> kNames = [] {
    std::vector<std::string> names;
    for (const EmbeddedFile& file : embedded_files())
      if (file.path.starts_with("models/")) names.push_back(model_of_file(file));
    const auto place = [](const std::string& name) {
      return std::find(kModelOrder.begin(), kModelOrder.end(), name) - kModelOrder.begin();
    };
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
      return place(a) < place(b);
    });
    return names;
  }();
  return kNames;
}

namespace {
// Read once: every changed setting asks for presets.
const std::map<std::string, Result<Model>>& read_presets() {
  static const std::map<std::string, Result<Model>> kPresets = [] {
    std::map<std::string, Result<Model>> presets;
    for (const EmbeddedFile& file : embedded_files()) {
      if (!file.path.starts_with("models/")) continue;
      const std::string preset = model_of_file(file);
      const Result<nlohmann::json> json = parse_json(file.content);
      Result<Model> model = json ? model_from_json(*json) : Result<Model>(json.error());
      if (model) model->name = preset;
      presets.emplace(preset, std::move(model));
    }
    return presets;
  }();
  return kPresets;
}

// The first whose shape is this, `any_sequence`: also with sequences of another length.
const Model* preset_like(const Model& shape, bool any_sequence) {
  for (const std::string& name : model_names()) {
    const Result<Model>& preset = read_presets().at(name);
    if (!preset || preset->layers != shape.layers || preset->hidden != shape.hidden) continue;
    Model same = *preset;
    same.name = shape.name;
    same.title = shape.title;
    same.sources = shape.sources;
    if (any_sequence) same.sequence = shape.sequence;
    if (same == shape) return &*preset;
  }
  return nullptr;
}
}  // namespace

const Model* preset_of_shape(const Model& shape) { return preset_like(shape, false); }

const Model* preset_at_any_sequence(const Model& shape) { return preset_like(shape, true); }

Result<Model> find_model(const std::string& name) {
  const auto& presets = read_presets();
  if (const auto found = presets.find(name); found != presets.end()) return found->second;
  const std::vector<std::string> names = model_names();
  const std::string near = nearest(name, names);
  Message error =
      message("model-unknown", "There is no model “{}”{}; there are {}.", shown(name),
              near.empty() ? "" : " (" + near + "?)", fmt::format("{}", fmt::join(names, ", ")));
  error.field = "model";
  error.alternatives = names;
  return error;
}

Message title_of(const Model& model) {
  if (!model.title.empty()) return plain(model.title);
  if (model.name != "custom") return plain(model.name);
  if (const Model* const preset = preset_at_any_sequence(model))
    return message("model-at-sequence", "{} at {} tokens", preset->title, model.sequence);
  return message("model-custom", "Custom model");
}

Result<Model> model_from_json(const nlohmann::json& json) {
  Model model;
  if (Result<void> read = read_settings(model, json, model_settings(), "model."); !read)
    return read.error();
  for (const char* key : {"layers", "hidden", "heads", "vocab", "sequence"}) {
    if (json.contains(key)) continue;
    const std::string dotted = std::string("model.") + key;
    Message error = message("model-key-missing", "A model needs {}.", dotted);
    error.field = dotted;
    return error;
  }
  if (!json.contains("kv_heads")) model.kv_heads = model.heads;
  if (!json.contains("ffn")) model.ffn = default_ffn(model.hidden, model.mlp);
  if (model.latent.kv_rank == 0) model.latent = {};
  return model;
}

nlohmann::json to_json(const Model& model) { return written_settings(model, model_settings()); }

}  // namespace parallelarium

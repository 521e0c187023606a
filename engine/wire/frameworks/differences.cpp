// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/frameworks/differences.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/plan/model/model_settings.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/wire/frameworks/table.h"

namespace parallelarium::frameworks {
namespace {

// The Setup with one way of saying where there are several, and what means nothing as it is usual.
Setup plainly_said(Setup setup) {
  const Setup usual = default_setup();
  const Mesh& mesh = setup.mesh;
  setup.stage_layers = layers_of_stages(setup);
  const std::vector<int>& layers = setup.stage_layers;
  if (std::all_of(layers.begin(), layers.end(), [&](int n) { return n == layers.front(); }))
    setup.stage_layers.clear();
  setup.model.stage_layers.clear();
  setup.chunks = chunks_of(setup);
  if (setup.zero == 0 || setup.zero_group == mesh.dp * mesh.cp) setup.zero_group = 0;
  if (setup.zero != 3) setup.zero_prefetch = usual.zero_prefetch;
  if (mesh.cp == 1) setup.context_parallel = usual.context_parallel;
  if (mesh.dp == 1 || mesh.pp == 1) setup.mesh.order = usual.mesh.order;
  if (mesh.tp == 1 && (mesh.cp == 1 || mesh.ep == 1))
    setup.mesh.expert_tensor = usual.mesh.expert_tensor;
  if (!gathers_expert_tokens(setup) && setup.expert_dispatch == ExpertDispatch::kTensorShares)
    setup.expert_dispatch = usual.expert_dispatch;
  if (mesh.dp * mesh.cp == 1) {
    setup.overlap_parameters = usual.overlap_parameters;
    setup.overlap_gradients = usual.overlap_gradients;
    setup.gradient_reduction = usual.gradient_reduction;
  }
  if (setup.schedule == "interleaved") setup.microbatch_group = interleaved_round(setup);
  setup.nodes = usual.nodes;
  return setup;
}

std::string shown_value(const nlohmann::json& value) {
  if (value.is_object() && value.contains("name") && value.at("name").is_string())
    return value.at("name").get<std::string>();
  if (value.is_object() && value.contains("based_on"))
    return value.at("based_on").get<std::string>() + " changed";
  if (!value.is_object()) return text_of_value(value);
  std::vector<std::string> parts;
  for (const auto& [key, entry] : value.items()) parts.push_back(shown_value(entry));
  return fmt::format("{}", fmt::join(parts, "+"));
}

void compare_models(const Model& before, const Model& after, CompareModels how,
                    std::vector<SettingDifference>& found) {
  bool differ = false;
  for (const Setting<Model>& row : model_settings()) {
    if (row.key == "format" || row.key == "name" || row.key == "title" || row.key == "sources")
      continue;
    if (row.applies && !row.applies(before) && !row.applies(after)) continue;
    const nlohmann::json a = row.value.get(before), b = row.value.get(after);
    if (a == b) continue;
    const bool apart = how == CompareModels::kByKey ||
                       (how == CompareModels::kAsOneButSequence && row.key == "sequence");
    if (!apart)
      differ = true;
    else
      found.push_back({"model." + row.key, shown_value(a), shown_value(b)});
  }
  if (differ) found.push_back({"model", title_of(before).text, title_of(after).text});
}

void compare_setting(const SetupSetting& row, const Setup& a, const Setup& b,
                     std::vector<SettingDifference>& found) {
  if (row.key.starts_with("model") || row.key.starts_with("run.")) return;
  if (row.key == "gpus" || row.key == "global_batch" || row.key == "precision") return;
  if (row.applies && !row.applies(a) && !row.applies(b)) return;
  // How something is done that one of them does not do at all.
  const bool is_how = row.key == "cp_split" || row.key == "sequence_regather";
  if (is_how && !(row.applies(a) && row.applies(b))) return;
  if (row.key == "microbatch_group" && !(a.schedule == b.schedule)) return;
  const nlohmann::json left = row.value.get(a), right = row.value.get(b);
  // The chunks of a schedule are named with it.
  const ScheduleRule* rule = row.key == "chunks" ? find_schedule_rule(a.schedule) : nullptr;
  if (rule != nullptr && rule->chunks > 1 && !(a.schedule == b.schedule)) return;
  if (left != right) found.push_back({row.key, shown_value(left), shown_value(right)});
}

template <class Subject>
Message said_with(const SettingTable<Subject>& table, std::string_view key,
                  const SettingDifference& difference) {
  for (const Setting<Subject>& row : table)
    if (row.key == key)
      return message("setting-value", "{} {}", words_of_setting(row),
                     words_of_value(row, difference.after));
  return message("setting-value", "{} {}", difference.key, difference.after);
}

}  // namespace

Message words_of_difference(const SettingDifference& difference) {
  constexpr std::string_view kModel = "model.";
  const std::string_view key = difference.key;
  return key.starts_with(kModel)
             ? said_with(model_settings(), key.substr(kModel.size()), difference)
             : said_with(setup_settings(), key, difference);
}

std::vector<SettingDifference> differences(const Setup& before, const Setup& after,
                                           CompareModels models) {
  const Setup a = plainly_said(before), b = plainly_said(after);
  std::vector<SettingDifference> found;
  compare_models(a.model, b.model, models, found);
  for (const SetupSetting& row : setup_settings()) compare_setting(row, a, b, found);
  const auto bytes = [](const Precision& of) {
    return fmt::format("{}+{}+{}+{}", of.parameter_bytes, of.gradient_bytes, of.master_bytes,
                       of.moments_bytes);
  };
  if (bytes(a.precision) != bytes(b.precision))
    found.push_back({"precision", bytes(a.precision), bytes(b.precision)});
  return found;
}

std::vector<SettingDifference> differences(const Setup& before, const Setup& after,
                                           const std::vector<std::string>& keys) {
  const Setup a = plainly_said(before), b = plainly_said(after);
  std::vector<SettingDifference> found;
  for (const SetupSetting& row : setup_settings())
    if (std::find(keys.begin(), keys.end(), row.key) != keys.end())
      compare_setting(row, a, b, found);
  return found;
}

}  // namespace parallelarium::frameworks

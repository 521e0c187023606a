// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/frameworks/table.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include "engine/plan/machine/machine.h"
#include "engine/plan/model/model_settings.h"
#include "engine/plan/settings/alternatives.h"
#include "engine/plan/setup/schedule_rules.h"
#include "engine/plan/setup/setup_settings.h"
#include "engine/schedules/schedule.h"

namespace parallelarium::frameworks {
namespace {

constexpr std::string_view kOfModel = "model.";

template <class Subject>
const Setting<Subject>* row_of_key(const SettingTable<Subject>& table, std::string_view key) {
  for (const Setting<Subject>& row : table)
    if (row.key == key) return &row;
  return nullptr;
}

// A text of a launch line as the kind of value that a setting has.
Result<nlohmann::json> as_kind(SettingKind kind, const nlohmann::json& value,
                               const std::string& name) {
  const bool text_kind = kind == SettingKind::kChoice || kind == SettingKind::kText ||
                         kind == SettingKind::kTexts || kind == SettingKind::kObject;
  if (is_identifier(value)) return nlohmann::json(word_of(value));
  if (!value.is_string() || text_kind) return value;
  return value_of_text(kind, name, value.get<std::string>());
}

template <class Subject>
Result<void> put(Subject& subject, const Setting<Subject>& row, const nlohmann::json& value,
                 const std::string& name) {
  const Result<nlohmann::json> typed = as_kind(row.value.kind, value, name);
  if (!typed) return typed.error();
  return row.value.set(subject, *typed, name);
}

bool is_same_value(const nlohmann::json& a, const nlohmann::json& b) {
  if (a.is_number() && b.is_number()) return a.get<double>() == b.get<double>();
  return a == b;
}

}  // namespace

const nlohmann::json* Draft::find(std::string_view name) const {
  const nlohmann::json* found = nullptr;
  for (const Entry& entry : entries)
    if (entry.first == name && !entry.second.is_null()) found = &entry.second;
  return found;
}

nlohmann::json setting_of(const Setup& setup, const std::string& key) {
  if (key.starts_with(kOfModel))
    return row_of_key(model_settings(), std::string_view(key).substr(kOfModel.size()))
        ->value.get(setup.model);
  return row_of_key(setup_settings(), key)->value.get(setup);
}

Result<void> put_setting(Setup& setup, const std::string& key, const nlohmann::json& value,
                         const std::string& name) {
  if (key.starts_with(kOfModel))
    return put(setup.model,
               *row_of_key(model_settings(), std::string_view(key).substr(kOfModel.size())), value,
               name);
  return put(setup, *row_of_key(setup_settings(), key), value, name);
}

FrameworkRow same(std::string name, std::string key, nlohmann::json usual, Written written) {
  FrameworkRow row;
  row.names = {name};
  row.settings = {key};
  row.write = [=](const Setup& setup, Entries& entries) {
    nlohmann::json value = setting_of(setup, key);
    if (written == Written::kAlways || !is_same_value(value, usual))
      entries.emplace_back(name, std::move(value));
  };
  row.read = [=](Draft& draft) -> Result<void> {
    const nlohmann::json* value = draft.find(name);
    if (value == nullptr && usual.is_null()) return {};
    return put_setting(draft.setup, key, value ? *value : usual, draft.shown_name(name));
  };
  return row;
}

FrameworkRow translated(std::string name, std::string key, std::vector<WordPair> words,
                        nlohmann::json usual, Written written) {
  FrameworkRow row;
  row.names = {name};
  row.settings = {key};
  row.write = [=](const Setup& setup, Entries& entries) {
    const nlohmann::json ours = setting_of(setup, key);
    for (const WordPair& pair : words) {
      if (!is_same_value(pair.ours, ours)) continue;
      if (written == Written::kAlways || !is_same_value(pair.theirs, usual))
        entries.emplace_back(name, pair.theirs);
      return;
    }
  };
  row.read = [=](Draft& draft) -> Result<void> {
    const nlohmann::json* found = draft.find(name);
    if (found == nullptr && usual.is_null()) return {};
    const nlohmann::json theirs = found ? *found : usual;
    std::vector<std::string> known;
    for (const WordPair& pair : words) {
      const bool match = is_same_value(pair.theirs, theirs) ||
                         (!theirs.is_boolean() && word_of(pair.theirs) == word_of(theirs));
      if (!match) {
        known.push_back(word_of(pair.theirs));
        continue;
      }
      if (!pair.ours.is_null())
        return put_setting(draft.setup, key, pair.ours, draft.shown_name(name));
      draft.notes.push_back(message("framework-no-counterpart",
                                    "{} {} has no counterpart in a Setup; {} stays {}.",
                                    draft.shown_name(name), shown(word_of(theirs)), key,
                                    text_of_value(setting_of(draft.setup, key))));
      return {};
    }
    return unknown_choice(draft.shown_name(name), word_of(theirs), known);
  };
  return row;
}

FrameworkRow fixed(std::string name, nlohmann::json value) {
  FrameworkRow row;
  row.names = {name};
  row.write = [=](const Setup&, Entries& entries) { entries.emplace_back(name, value); };
  row.read = [](Draft&) { return Result<void>(); };
  return row;
}

FrameworkRow adam(std::string name, nlohmann::json value) {
  FrameworkRow row = fixed(name, value);
  if (value.is_null()) row.write = [](const Setup&, Entries&) {};
  row.read = [name](Draft& draft) -> Result<void> {
    const std::string word = word_at(draft, name, "");
    std::string small = word;
    std::transform(small.begin(), small.end(), small.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    if (!word.empty() && word != "auto" && small.find("adam") == std::string::npos)
      draft.notes.push_back(message("framework-optimizer",
                                    "{} {} is left out: Adam's states are counted, not its own.",
                                    shown(draft.shown_name(name)), shown(word)));
    return {};
  };
  return row;
}

FrameworkRow only_read(std::vector<std::string> names, std::vector<std::string> settings,
                       std::function<Result<void>(Draft&)> read) {
  FrameworkRow row;
  row.names = std::move(names);
  row.settings = std::move(settings);
  row.write = [](const Setup&, Entries&) {};
  row.read = std::move(read);
  return row;
}

Result<std::int64_t> whole_at(const Draft& draft, const std::string& name, std::int64_t usual,
                              std::int64_t low, std::int64_t high) {
  const nlohmann::json* found = draft.find(name);
  if (found == nullptr) return usual;
  const Result<nlohmann::json> value = as_kind(SettingKind::kWhole, *found, draft.shown_name(name));
  if (!value) return value.error();
  return whole_from(*value, draft.shown_name(name),
                    {static_cast<double>(low), static_cast<double>(high)});
}

Result<double> number_at(const Draft& draft, const std::string& name, double usual) {
  const nlohmann::json* found = draft.find(name);
  if (found == nullptr) return usual;
  const Result<nlohmann::json> value =
      as_kind(SettingKind::kNumber, *found, draft.shown_name(name));
  if (!value) return value.error();
  return number_from(*value, draft.shown_name(name), {-1e300, 1e300});
}

bool flag_at(const Draft& draft, const std::string& name, bool usual) {
  const nlohmann::json* found = draft.find(name);
  if (found == nullptr) return usual;
  if (found->is_boolean()) return found->get<bool>();
  const std::string word = word_of(*found);
  return word == "true" || word == "True" || word == "1";
}

std::string word_of(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (is_identifier(value)) return value.at("$").get<std::string>();
  if (is_call(value)) return value.at("()").get<std::string>();
  if (value.is_array() && value.size() == 1) return word_of(value.front());
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  return value.dump();
}

std::string word_at(const Draft& draft, const std::string& name, const std::string& usual) {
  const nlohmann::json* found = draft.find(name);
  return found == nullptr ? usual : word_of(*found);
}

nlohmann::json identifier(const std::string& name) { return {{"$", name}}; }
nlohmann::json call(const std::string& name) { return {{"()", name}}; }
bool is_identifier(const nlohmann::json& value) { return value.is_object() && value.contains("$"); }
bool is_call(const nlohmann::json& value) { return value.is_object() && value.contains("()"); }

int fsdp_degree(const Setup& setup) {
  if (setup.zero == 0) return 1;
  return setup.zero_group > 0 ? std::max(1, setup.zero_group / setup.mesh.cp) : setup.mesh.dp;
}

int group_of_fsdp(std::int64_t copies, std::int64_t degree, std::int64_t cp) {
  return copies > 1 ? static_cast<int>(degree * cp) : 0;
}

bool norms_queries_and_keys(const Setup& setup) { return setup.model.name.starts_with("qwen3"); }

bool is_one_of(const Setup& setup, std::initializer_list<const char*> schedules) {
  return std::any_of(schedules.begin(), schedules.end(),
                     [&](const char* name) { return setup.schedule == name; });
}

std::vector<int> layers_of_ranks(const Setup& setup) {
  const std::vector<int> stages = layers_of_stages(setup);
  const auto ranks = static_cast<std::size_t>(setup.mesh.pp);
  if (stages.size() == ranks) return stages;
  std::vector<int> layers(ranks, 0);
  const ScheduleRule* rule = find_schedule_rule(setup.schedule);
  if (rule != nullptr && rule->chunks == 2) {
    // A V has the first and the last stage on one rank, and was cut for that: a pipeline in a row
    // is cut evenly, and the stages before the last have what is left over.
    std::fill(layers.begin(), layers.end(), setup.model.layers / setup.mesh.pp);
    for (int left = setup.model.layers % setup.mesh.pp; left > 0; --left)
      ++layers[ranks - 1 - static_cast<std::size_t>(left)];
    return layers;
  }
  for (std::size_t stage = 0; stage < stages.size(); ++stage)
    layers[stage % ranks] += stages[stage];
  return layers;
}

bool are_even(const std::vector<int>& layers) {
  return std::all_of(layers.begin(), layers.end(), [&](int n) { return n == layers.front(); });
}

int interleaved_round(const Setup& setup) {
  if (setup.microbatch_group > 0) return std::min(setup.microbatch_group, setup.microbatches);
  // The order says what 0 comes to: first the round's forwards of chunk 0.
  const Order order =
      interleaved_order(setup.mesh.pp, setup.microbatches, std::max(2, setup.chunks));
  int round = 0;
  for (const Action& action : order.ranks.front()) {
    if (action.chunk != 0 || action.kind != ActionKind::kForward) break;
    ++round;
  }
  return round;
}

void put_precision(Setup& setup, int parameter, int gradient, int master, int moments) {
  Precision precision{"custom", parameter, gradient, master, moments};
  for (const Precision& recipe : precision_recipes()) {
    Precision renamed = precision;
    renamed.name = recipe.name;
    if (renamed == recipe) precision = recipe;
  }
  setup.precision = precision;
}

std::pair<int, int> nodes_and_ranks(const Setup& setup) {
  constexpr int kUsualRanks = 8;  // of a node, where the machine does not say
  int on_node = kUsualRanks;
  if (setup.machine.name() != "local")
    if (const Result<Machine> machine = machine_of(setup.machine); machine)
      on_node = machine->devices_per_node;
  const int ranks = setup.mesh.ranks();
  int each = std::max(1, std::min(on_node, ranks));
  while (ranks % each != 0) --each;
  return {ranks / each, each};
}

}  // namespace parallelarium::frameworks

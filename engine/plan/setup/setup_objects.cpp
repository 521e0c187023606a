// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/setup/setup_objects.h"

#include <fstream>
#include <optional>
#include <sstream>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"
#include "engine/plan/setup/setup_names.h"

namespace parallelarium {

Value<Setup> model_value() {
  return {SettingKind::kObject,
          [](const Setup& setup) -> nlohmann::json {
            const Model& model = setup.model;
            const Result<Model> preset = find_model(model.name);
            return preset && *preset == model ? nlohmann::json(model.name) : to_json(model);
          },
          [](Setup& setup, const nlohmann::json& json, const std::string&) -> Result<void> {
            Result<Model> model =
                json.is_string() ? find_model(json.get<std::string>()) : model_from_json(json);
            if (!model) return model.error();
            setup.model = std::move(*model);
            return {};
          }};
}

Value<Setup> machine_value() {
  return {SettingKind::kObject, [](const Setup& setup) { return to_json(setup.machine); },
          [](Setup& setup, const nlohmann::json& json, const std::string& key) -> Result<void> {
            Result<MachineChoice> machine = machine_choice_from_json(json, key);
            if (!machine) return machine.error();
            setup.machine = std::move(*machine);
            return {};
          }};
}

Result<nlohmann::json> machine_from_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return message("machine-file-unread", "{} cannot be read.", path);
  return parse_json(text.str());
}

Value<Setup> schedule_value() {
  return {SettingKind::kObject, [](const Setup& setup) { return to_json(setup.schedule); },
          [](Setup& setup, const nlohmann::json& json, const std::string& key) -> Result<void> {
            Result<Schedule> schedule = schedule_from_json(json, key);
            if (!schedule) return schedule.error();
            setup.schedule = std::move(*schedule);
            return {};
          }};
}

Result<nlohmann::json> schedule_from_file(const std::string& path) {
  const Result<Schedule> schedule = Schedule::from_file(path);
  if (!schedule) return schedule.error();
  return to_json(*schedule);
}

const SettingTable<Precision>& precision_settings() {
  static const SettingTable<Precision> kTable = [] {
    SettingTable<Precision> table;
    const auto add = [&](const char* key, Range bytes, int Precision::*member) {
      Setting<Precision>& row = table.emplace_back();
      row.key = key;
      row.value = Of<Precision>::whole(bytes, member);
    };
    add("parameter_bytes", {2, 4}, &Precision::parameter_bytes);
    add("gradient_bytes", {2, 4}, &Precision::gradient_bytes);
    add("master_bytes", {0, 4}, &Precision::master_bytes);
    add("moments_bytes", {0, 16}, &Precision::moments_bytes);
    return table;
  }();
  return kTable;
}

Value<Setup> precision_value() {
  return {SettingKind::kObject,
          [](const Setup& setup) -> nlohmann::json {
            const Precision& precision = setup.precision;
            if (find_precision(precision.name) == precision) return precision.name;
            return written_settings(precision, precision_settings());
          },
          [](Setup& setup, const nlohmann::json& json, const std::string& key) -> Result<void> {
            if (json.is_string()) {
              const std::string name = json.get<std::string>();
              std::optional<Precision> named = find_precision(name);
              if (!named) return unknown_choice(key, name, precision_names());
              setup.precision = std::move(*named);
              return {};
            }
            Precision precision;
            precision.name = "custom";
            if (auto read = read_settings(precision, json, precision_settings(), key + "."); !read)
              return read;
            for (const Setting<Precision>& row : precision_settings())
              if (!json.contains(row.key)) {
                Message part =
                    message("precision-part", "{} needs a name or all four numbers; {} is missing.",
                            key, row.key);
                part.field = key;
                return part;
              }
            setup.precision = std::move(precision);
            return {};
          }};
}

std::string text_of(Recompute recompute) {
  std::string text;
  for (const auto& [part, word] : kRecomputes)
    if (part == recompute || (part != Recompute::kNone && names(recompute, part)))
      text += (text.empty() ? "" : ",") + std::string(word);
  return text;
}

Value<Setup> recompute_value() {
  return {SettingKind::kChoice,
          [](const Setup& setup) -> nlohmann::json { return text_of(setup.recompute); },
          [](Setup& setup, const nlohmann::json& json, const std::string& key) -> Result<void> {
            const Result<std::string> text = text_from(json, key);
            if (!text) return text.error();
            Recompute all = Recompute::kNone;
            std::istringstream words(*text + ",");
            for (std::string word; std::getline(words, word, ',');) {
              const Result<Recompute> part = choice_from(word, key, kRecomputes);
              if (!part) return part.error();
              const bool alone = *part == Recompute::kNone || *part == Recompute::kFull;
              if (alone && word != *text)
                return message("recompute-alone", "{} is “{}”, but {} stands alone.", key,
                               shown(*text), word);
              all = all | *part;
            }
            setup.recompute = all;
            return {};
          },
          {},
          all_words(kRecomputes)};
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The file form of a Setup.
#include <nlohmann/json.hpp>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"
#include "engine/plan/setup/setup.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

constexpr const char* kFormat = "parallelarium-setup/1";

Result<Setup> read_setup(const nlohmann::json& json) {
  Setup setup = new_setup();
  nlohmann::json settings = json;
  if (json.is_object() && json.contains("format")) {
    const Result<std::string> format = text_from(json["format"], "format");
    if (!format) return format.error();
    if (*format != kFormat) {
      Message error = message("setup-format", "The format is “{}”; this version reads {}.",
                              shown(*format), kFormat);
      error.field = "format";
      return error;
    }
    settings.erase("format");
  }
  if (Result<void> read = read_settings(setup, settings, setup_settings()); !read)
    return read.error();
  return setup;
}

}  // namespace

Result<Setup> setup_from_json(const nlohmann::json& json) {
  if (json.is_object()) {
    const auto format = json.find("format");
    if (format != json.end() && *format == "parallelarium-document/1") {
      const auto setup = json.find("setup");
      if (setup == json.end())
        return message("document-setup", "The document holds no setup; save it again.");
      return read_setup(*setup);
    }
    // What `predict --json` and `run --json` print.
    if (const auto setup = json.find("setup"); setup != json.end() && setup->is_object())
      return read_setup(*setup);
  }
  return read_setup(json);
}

Result<std::optional<Setup>> resolved_from_json(const nlohmann::json& json) {
  if (!json.is_object()) return std::optional<Setup>();
  const auto setup_asked = json.find("setup"), resolved = json.find("resolved");
  if (setup_asked == json.end() || resolved == json.end()) return std::optional<Setup>();
  Result<Setup> setup = read_setup(*resolved);
  if (!setup) return setup.error();
  return std::optional<Setup>(std::move(*setup));
}

Result<Setup> setup_from_text(std::string_view text) {
  Result<nlohmann::json> json = parse_json(text);
  if (!json) return json.error();
  return setup_from_json(*json);
}

nlohmann::json to_json(const Setup& setup) {
  nlohmann::json json = written_settings(setup, setup_settings());
  json["format"] = kFormat;
  return json;
}

Result<Setup> setup_from_file(nlohmann::json json) {
  if (!json.is_object()) return setup_from_json(json);
  nlohmann::json& setup = json.contains("setup") ? json["setup"] : json;
  if (!setup.is_object() || !(setup.contains("model") || setup.contains("machine")))
    return setup_from_json(json);
  if (!setup.contains("mesh")) setup["mesh"] = nlohmann::json::object();
  if (setup["mesh"].is_object() && !setup["mesh"].contains("pp")) setup["mesh"]["pp"] = 1;
  return setup_from_json(json);
}

}  // namespace parallelarium

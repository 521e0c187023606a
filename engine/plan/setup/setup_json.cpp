// SPDX-License-Identifier: Apache-2.0
// The file form of a Setup.
#include <nlohmann/json.hpp>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"
#include "engine/plan/setup/setup.h"
#include "engine/plan/setup/setup_file.h"
#include "engine/plan/setup/setup_settings.h"

namespace parallelarium {
namespace {

constexpr const char* kFormat = "parallelarium-setup/1";
constexpr const char* kDocument = "parallelarium-document/1";

Message unknown_format(const std::string& format, const char* known) {
  Message error =
      message("setup-format", "The format is “{}”; this version reads {}.", shown(format), known);
  error.field = "format";
  return error;
}

// Finds gpus or global_batch beside a mesh.dp or microbatches that disagrees.
std::optional<Message> contradiction(const Setup& setup, const nlohmann::json& settings) {
  const auto other = [&](const char* filler, const char* key, const nlohmann::json& place,
                         std::int64_t made) -> std::optional<Message> {
    if (!settings.is_object() || !settings.contains(filler) || !place.is_object()) return {};
    const auto said =
        place.find(std::string_view(key).substr(std::string_view(key).rfind('.') + 1));
    if (said == place.end() || *said == made) return {};
    Message error =
        message("setting-contradicts", "{} {} makes {} {}, not {}; leave out one of them.", filler,
                settings[filler].dump(), key, made, said->dump());
    error.field = filler;
    return error;
  };
  const nlohmann::json mesh =
      settings.is_object() ? settings.value("mesh", nlohmann::json()) : nlohmann::json();
  if (std::optional<Message> error = other("gpus", "mesh.dp", mesh, setup.mesh.dp)) return error;
  return other("global_batch", "microbatches", settings, setup.microbatches);
}

Result<Setup> read_setup(const nlohmann::json& json) {
  Setup setup = new_setup();
  nlohmann::json settings = json;
  if (json.is_object() && json.contains("format")) {
    const Result<std::string> format = text_from(json["format"], "format");
    if (!format) return format.error();
    if (*format != kFormat) return unknown_format(*format, kFormat);
    settings.erase("format");
  }
  if (Result<void> read = read_settings(setup, settings, setup_settings()); !read)
    return read.error();
  if (std::optional<Message> clash = contradiction(setup, settings)) return std::move(*clash);
  return setup;
}

// Answers of commands that hold no Setup, by a key that only they have.
struct OtherAnswer {
  const char* key;
  const char* command;
};
constexpr OtherAnswer kOtherAnswers[] = {
    {"points", "sweep"}, {"columns", "compare"}, {"makespan", "schedule"}};

}  // namespace

Result<nlohmann::json> setup_in(const nlohmann::json& file) {
  if (file.is_array() && !file.empty() && file[0].is_object() && file[0].contains("case"))
    return message("setup-of-cases",
                   "This is what `cases` prints, which holds many Setups; take the \"setup\" of "
                   "one row.");
  if (!file.is_object()) return file;
  const auto setup = file.find("setup");
  const auto format = file.find("format");
  if (format != file.end() && format->is_string() && *format != kDocument &&
      format->get_ref<const std::string&>().starts_with("parallelarium-document/"))
    return unknown_format(format->get<std::string>(), kDocument);
  if (format != file.end() && *format == kDocument) {
    if (setup != file.end()) return *setup;
    return message("document-setup", "The document holds no setup; save it again.");
  }
  // What `predict --json` and `run --json` print.
  if (setup != file.end() && setup->is_object()) return *setup;
  if (const auto best = file.find("best"); best != file.end() && best->is_array()) {
    if (!best->empty() && best->front().is_object() && best->front().contains("setup"))
      return best->front()["setup"];
    return message("setup-of-plan", "This is what `plan` prints, and it found no Setup.");
  }
  for (const auto& [key, command] : kOtherAnswers)
    if (file.contains(key))
      return message("setup-of-other", "This is what `{}` prints, which holds no Setup.", command);
  if (file.contains("devices_per_node") || file.contains("based_on"))
    return message("setup-of-machine",
                   "This is a machine, not a Setup; a Setup names it as its machine.");
  return file;
}

Result<Setup> setup_from_json(const nlohmann::json& json) {
  const Result<nlohmann::json> setup = setup_in(json);
  if (!setup) return setup.error();
  return read_setup(*setup);
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
  Result<nlohmann::json> inside = setup_in(json);
  if (!inside) return inside.error();
  nlohmann::json& setup = *inside;
  if (!setup.is_object() || !(setup.contains("model") || setup.contains("machine")))
    return read_setup(setup);
  if (!setup.contains("mesh")) setup["mesh"] = nlohmann::json::object();
  if (setup["mesh"].is_object() && !setup["mesh"].contains("pp")) setup["mesh"]["pp"] = 1;
  return read_setup(setup);
}

}  // namespace parallelarium

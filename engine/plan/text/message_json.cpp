// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/text/message_json.h"

#include <nlohmann/json.hpp>

namespace parallelarium {
namespace {

constexpr int kMostNested = 16;  // sentences do so 6 deep

std::string kind_of(const std::string& id) { return id.substr(0, id.find('.')); }

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

Message read(const nlohmann::json& json, int nested) {
  if (json.is_string()) return plain(json.get<std::string>());
  Message result;
  if (!json.is_object() || nested > kMostNested) return result;
  result.id = text_of(json, "id");
  result.kind = json.contains("kind") ? text_of(json, "kind") : kind_of(result.id);
  result.text = text_of(json, "text");
  result.field = text_of(json, "field");
  if (const auto found = json.find("arguments"); found != json.end() && found->is_array())
    for (const nlohmann::json& argument : *found)
      result.arguments.push_back(read(argument, nested + 1));
  if (const auto found = json.find("alternatives"); found != json.end() && found->is_array())
    for (const nlohmann::json& entry : *found)
      if (entry.is_string()) result.alternatives.push_back(entry.get<std::string>());
  return result;
}

}  // namespace

nlohmann::json to_json(const Message& message) {
  if (message == plain(message.text)) return message.text;
  nlohmann::json json = {{"id", message.id}, {"text", message.text}};
  if (message.kind != kind_of(message.id)) json["kind"] = message.kind;
  for (const Message& argument : message.arguments) json["arguments"].push_back(to_json(argument));
  if (!message.field.empty()) json["field"] = message.field;
  if (!message.alternatives.empty()) json["alternatives"] = message.alternatives;
  return json;
}

std::string as_json_text(const Message& message) {
  return to_json(message).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

Message message_from_json(const nlohmann::json& json) { return read(json, 0); }

void put_text(nlohmann::json& object, const std::string& key, const Message& message) {
  object[key] = message.text;
  if (message != plain(message.text)) object[key + "_message"] = to_json(message);
}

Message message_at(const nlohmann::json& object, const std::string& key) {
  for (const std::string& place : {key + "_message", key})
    if (const auto found = object.find(place); found != object.end() && !found->is_null())
      return message_from_json(*found);
  return {};
}

}  // namespace parallelarium

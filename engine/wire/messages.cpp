// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/messages.h"

#include <nlohmann/json.hpp>

namespace parallelarium {
namespace {

std::vector<std::string> texts_of(const nlohmann::json& object, const char* key) {
  std::vector<std::string> texts;
  const auto found = object.find(key);
  if (found == object.end() || !found->is_array()) return texts;
  for (const nlohmann::json& entry : *found)
    if (entry.is_string()) texts.push_back(entry.get<std::string>());
  return texts;
}

std::string text_of(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace

nlohmann::json to_json(const Message& message) {
  nlohmann::json json = {{"id", message.id}, {"text", message.text}};
  if (!message.arguments.empty()) json["arguments"] = message.arguments;
  if (!message.field.empty()) json["field"] = message.field;
  if (!message.alternatives.empty()) json["alternatives"] = message.alternatives;
  return json;
}

Message message_from_json(const nlohmann::json& json) {
  Message result;
  if (!json.is_object()) return result;
  result.id = text_of(json, "id");
  result.text = text_of(json, "text");
  result.field = text_of(json, "field");
  result.arguments = texts_of(json, "arguments");
  result.alternatives = texts_of(json, "alternatives");
  return result;
}

}  // namespace parallelarium

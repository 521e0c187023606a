// SPDX-License-Identifier: Apache-2.0
// A Message as JSON, for another process.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/plan/result.h"

namespace parallelarium {

// {"id","text"} and, if there are any, "kind" (unless the id tells it), "arguments" (texts, or
// objects like this one), "field" and "alternatives".
nlohmann::json to_json(const Message& message);
// The same as text. Bytes that are not UTF-8, which a system's words may hold, are replaced.
std::string as_json_text(const Message& message);
// Leaves out what is not of this form.
Message message_from_json(const nlohmann::json& json);

// Puts a text that other programs read, too: `key` is the text, and "key_message" the Message,
// unless the Message is the same in every language.
void put_text(nlohmann::json& object, const std::string& key, const Message& message);
// The Message that put_text() wrote, or of a text alone; empty if there is none.
Message message_at(const nlohmann::json& object, const std::string& key);

}  // namespace parallelarium

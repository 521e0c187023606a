// SPDX-License-Identifier: Apache-2.0
// A Message on its way to another process.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "engine/plan/result.h"

namespace parallelarium {

// {"id","text"} and, where there are any, "kind" (unless the id tells it), "arguments" (texts, or
// objects like this one), "field" and "alternatives".
nlohmann::json to_json(const Message& message);
// The same as text; bytes that are no UTF-8, as a system's words may hold, are replaced.
std::string as_json_text(const Message& message);
// Whatever is not of this form is left out.
Message message_from_json(const nlohmann::json& json);

// What other programs read, too: `key` is the text, and "key_message" the Message, unless that is
// the same in every language.
void put_text(nlohmann::json& object, const std::string& key, const Message& message);
// The Message of what put_text() wrote, or of a text alone; empty where there is none.
Message message_at(const nlohmann::json& object, const std::string& key);

}  // namespace parallelarium

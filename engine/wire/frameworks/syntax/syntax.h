// SPDX-License-Identifier: Apache-2.0
// The forms in which frameworks write settings. All of them become Entries.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/wire/frameworks/table.h"

namespace parallelarium::frameworks {

// Lines that begin with `mark`. They say which framework and version a text is for, and what it
// leaves out.
std::string heading(const FrameworkTable& table, const std::vector<Message>& not_expressible,
                    const std::string& mark = "# ");

// ---- A launch line: torchrun … script.py --flag value. ---- Quotes, comments, continued lines,
// arrays, NAME=value, $NAME and $((A*B)) are understood. Other words are skipped. Errors: an open
// quote, a variable without a value.
Result<Entries> parse_launch_line(std::string_view text);

// ---- Python: assignments of literals, calls and names, as recipes are made of. ----
// `config.parallelism.degree = 8` and Config(parallelism=Parallelism(degree=8)) are the same. The
// first name does not matter. `from a import b` becomes "import b": "a".
Result<Entries> parse_recipe(std::string_view text);
// One expression, such as "([0]*3+[1]*58)".
Result<nlohmann::json> parse_expression(std::string_view text);
std::string python_of(const nlohmann::json& value);

// ---- YAML: maps, lists and scalars; neither anchors nor texts over several lines. ----
Result<Entries> parse_yaml(std::string_view text);
std::string yaml_of(const nlohmann::ordered_json& json);

// ---- JSON. ----
Result<Entries> parse_json_entries(std::string_view text);

// An object as entries with dotted names, and back.
void flatten(const nlohmann::json& json, const std::string& prefix, Entries& entries);
nlohmann::ordered_json nested(const Entries& entries);

}  // namespace parallelarium::frameworks

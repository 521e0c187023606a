// SPDX-License-Identifier: Apache-2.0
// Places in the text of a JSON file, so that one value can be changed while all else stays. All
// functions require text that was parsed as JSON before.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace parallelarium {

struct JsonPlace {
  std::size_t begin = 0, end = 0;  // bytes of a value
};

// The whole value of the file; the value of a member of the object at `object`; an element of the
// array at `array`.
JsonPlace json_root(std::string_view text);
std::optional<JsonPlace> json_member(std::string_view text, JsonPlace object, std::string_view key);
std::optional<JsonPlace> json_element(std::string_view text, JsonPlace array, std::size_t index);

// How much of a path a file has, and the line of the value there, counted from 1.
struct JsonLine {
  std::string path;
  int line = 1;
};
// The value at a dotted path such as "steps.3.ask.unit" or "start.mesh.pp", where the last key is
// "mesh.pp". If it is not there, the last value on the way that is there.
JsonLine json_line(std::string_view text, std::string_view path);

// Sets a member of the object to that JSON. It replaces the value, or adds a new last member that
// is written like the others.
void set_json_member(std::string& text, JsonPlace object, const std::string& key,
                     const std::string& json);

}  // namespace parallelarium

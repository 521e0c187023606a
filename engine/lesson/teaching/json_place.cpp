// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/teaching/json_place.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

namespace parallelarium {

namespace {

constexpr std::string_view kJsonSpace = " \t\r\n";

std::size_t after_space(std::string_view text, std::size_t at) {
  const std::size_t next = text.find_first_not_of(kJsonSpace, at);
  return next == std::string_view::npos ? text.size() : next;
}

std::size_t end_of_text(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at)
    if (text[at] == '\\') ++at;
  return std::min(text.size(), at + 1);
}

std::size_t end_of_json(std::string_view text, std::size_t at) {
  if (at >= text.size()) return at;
  if (text[at] == '"') return end_of_text(text, at);
  if (text[at] != '{' && text[at] != '[')
    return std::min(text.size(), text.find_first_of(",]} \t\r\n", at));
  int depth = 0;
  while (at < text.size()) {
    if (text[at] == '"') {
      at = end_of_text(text, at);
      continue;
    }
    depth += text[at] == '{' || text[at] == '[';
    depth -= text[at] == '}' || text[at] == ']';
    ++at;
    if (depth == 0) break;
  }
  return at;
}

// Behind a value: where the next one of its object or array begins; none at the last.
std::optional<std::size_t> next_of(std::string_view text, std::size_t end) {
  const std::size_t comma = after_space(text, end);
  if (comma >= text.size() || text[comma] != ',') return std::nullopt;
  return after_space(text, comma + 1);
}

}  // namespace

JsonPlace json_root(std::string_view text) {
  const std::size_t begin = after_space(text, 0);
  return {begin, end_of_json(text, begin)};
}

std::optional<JsonPlace> json_member(std::string_view text, JsonPlace object,
                                     std::string_view key) {
  std::optional<std::size_t> at = after_space(text, object.begin + 1);
  while (at && *at < object.end && text[*at] == '"') {
    const std::size_t name_end = end_of_text(text, *at);
    const auto name = nlohmann::json::parse(text.substr(*at, name_end - *at), nullptr, false);
    const std::size_t begin = after_space(text, after_space(text, name_end) + 1);
    const std::size_t end = end_of_json(text, begin);
    if (name.is_string() && name.get_ref<const std::string&>() == key) return JsonPlace{begin, end};
    at = next_of(text, end);
  }
  return std::nullopt;
}

std::optional<JsonPlace> json_element(std::string_view text, JsonPlace array, std::size_t index) {
  std::optional<std::size_t> at = after_space(text, array.begin + 1);
  while (at && *at < array.end && text[*at] != ']') {
    const std::size_t end = end_of_json(text, *at);
    if (index-- == 0) return JsonPlace{*at, end};
    at = next_of(text, end);
  }
  return std::nullopt;
}

JsonLine json_line(std::string_view text, std::string_view path) {
  JsonPlace place = json_root(text);
  // The value of the shortest key that `rest` begins with, and how long that key is.
  const auto next = [&](std::string_view rest) -> std::pair<std::optional<JsonPlace>, std::size_t> {
    const bool is_list = place.begin < text.size() && text[place.begin] == '[';
    for (std::size_t end = rest.find('.');; end = rest.find('.', end + 1)) {
      const std::string_view key = rest.substr(0, end);
      std::size_t index = 0;
      const bool is_index =
          std::from_chars(key.data(), key.data() + key.size(), index).ec == std::errc{};
      const std::optional<JsonPlace> inner = !is_list   ? json_member(text, place, key)
                                             : is_index ? json_element(text, place, index)
                                                        : std::nullopt;
      if (inner || is_list || end == std::string_view::npos) return {inner, key.size()};
    }
  };
  std::size_t found = 0;  // bytes of the path
  while (found < path.size()) {
    const std::size_t begin = found == 0 ? 0 : found + 1;
    const auto [inner, size] = next(path.substr(begin));
    if (!inner) break;
    place = *inner;
    found = begin + size;
  }
  const std::string_view before = text.substr(0, place.begin);
  return {std::string(path.substr(0, found)),
          1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'))};
}

void set_json_member(std::string& text, JsonPlace object, const std::string& key,
                     const std::string& json) {
  if (const auto place = json_member(text, object, key)) {
    text.replace(place->begin, place->end - place->begin, json);
    return;
  }
  const std::size_t first = after_space(text, object.begin + 1);
  const bool empty = text[first] == '}';
  // What stands before the first member stands before the new one, too.
  const std::string before = empty ? " " : text.substr(object.begin + 1, first - object.begin - 1);
  const std::size_t last = text.find_last_not_of(kJsonSpace, object.end - 2) + 1;
  const std::string member = nlohmann::json(key).dump() + ": " + json;
  text.insert(last, (empty ? "" : ",") + before + member + (empty ? " " : ""));
}

}  // namespace parallelarium

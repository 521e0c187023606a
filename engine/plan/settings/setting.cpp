// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/settings/setting.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "engine/plan/settings/alternatives.h"

namespace parallelarium {
namespace {

// Without the dot: "mesh" of "mesh.". The object of a whole file has no name.
Message object_name(std::string prefix) {
  if (prefix.empty()) return message("the-file", "The file");
  prefix.pop_back();
  return plain(std::move(prefix));
}

}  // namespace

bool is_file(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored);
}

Result<const nlohmann::json*> value_at(const nlohmann::json& json, std::string_view path,
                                       const std::string& prefix) {
  const nlohmann::json* at = &json;
  for (std::size_t begin = 0; begin <= path.size();) {
    if (!at->is_object())
      return message("not-an-object", "{} must be an object in braces.",
                     object_name(prefix + std::string(path.substr(0, begin))));
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const auto found = at->find(std::string(path.substr(begin, end - begin)));
    if (found == at->end()) return nullptr;
    at = &*found;
    begin = end + 1;
  }
  return at;
}

void put_at(nlohmann::json& json, std::string_view path, nlohmann::json value) {
  nlohmann::json* at = &json;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    at = &(*at)[std::string(path.substr(begin, end - begin))];
    begin = end + 1;
  }
  *at = std::move(value);
}

Result<void> check_keys(const nlohmann::json& json, const std::vector<std::string>& paths,
                        const std::string& prefix) {
  std::vector<std::string> known;  // here
  std::vector<std::string> parts;  // those of them that are objects of settings
  for (const std::string& path : paths) {
    const std::string first = path.substr(0, path.find('.'));
    if (std::find(known.begin(), known.end(), first) != known.end()) continue;
    known.push_back(first);
    if (first.size() < path.size()) parts.push_back(first);
  }
  for (const std::string& part : parts) {
    if (!json.contains(part)) continue;
    std::vector<std::string> below;
    for (const std::string& path : paths)
      if (path.starts_with(part + ".")) below.push_back(path.substr(part.size() + 1));
    if (Result<void> done = check_keys(json[part], below, prefix + part + "."); !done) return done;
  }
  for (const auto& [key, value] : json.items()) {
    if (std::find(known.begin(), known.end(), key) != known.end()) continue;
    Message error = message("unknown-key", "Unknown key “{}”; known here: {}.", shown(prefix + key),
                            fmt::format("{}", fmt::join(known, ", ")));
    error.field = shown(prefix + key);
    return error;
  }
  return {};
}

}  // namespace parallelarium

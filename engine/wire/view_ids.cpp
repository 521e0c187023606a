// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/view_ids.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>

#include "engine/plan/machine/presets.h"

namespace parallelarium {

namespace {

const nlohmann::json& views_file() {
  static const nlohmann::json kFile = [] {
    const std::vector<EmbeddedFile>& files = embedded_files();
    const auto file = std::find_if(files.begin(), files.end(), [](const EmbeddedFile& embedded) {
      return embedded.path == "views.json";
    });
    assert(file != files.end());
    return nlohmann::json::parse(file->content);
  }();
  return kFile;
}

}  // namespace

const std::vector<std::string>& view_ids() {
  static const auto kIds = views_file().at("views").get<std::vector<std::string>>();
  return kIds;
}

std::string view_of(std::string_view id) { return std::string(id.substr(0, id.find('/'))); }

std::string part_of_view(std::string_view id) {
  const std::size_t slash = id.find('/');
  return slash == std::string_view::npos ? std::string() : std::string(id.substr(slash + 1));
}

bool is_view_id(std::string_view id) {
  const std::string view = view_of(id);
  if (std::find(view_ids().begin(), view_ids().end(), view) == view_ids().end()) return false;
  if (view.size() == id.size()) return true;
  const nlohmann::json parts = views_file().at("parts").value(view, nlohmann::json::array());
  return std::find(parts.begin(), parts.end(), part_of_view(id)) != parts.end();
}

std::string view_ids_text() {
  const std::vector<std::string>& ids = view_ids();
  return fmt::format("{} or {}", fmt::join(ids.begin(), ids.end() - 1, ", "), ids.back());
}

std::string view_parts_text() {
  std::vector<std::string> names;
  for (const std::string& view : view_ids())
    for (const nlohmann::json& part : views_file().at("parts").value(view, nlohmann::json::array()))
      names.push_back(fmt::format("{}/{}", view, part.get<std::string>()));
  return fmt::format("{} or {}", fmt::join(names.begin(), names.end() - 1, ", "), names.back());
}

}  // namespace parallelarium

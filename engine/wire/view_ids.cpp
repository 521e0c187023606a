// SPDX-License-Identifier: Apache-2.0
#include "engine/wire/view_ids.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cassert>
#include <nlohmann/json.hpp>

#include "engine/plan/machine/presets.h"

namespace parallelarium {

const std::vector<std::string>& view_ids() {
  static const std::vector<std::string> kIds = [] {
    const std::vector<EmbeddedFile>& files = embedded_files();
    const auto file = std::find_if(files.begin(), files.end(), [](const EmbeddedFile& embedded) {
      return embedded.path == "views.json";
    });
    assert(file != files.end());
    return nlohmann::json::parse(file->content).at("views").get<std::vector<std::string>>();
  }();
  return kIds;
}

bool is_view_id(std::string_view id) {
  return std::find(view_ids().begin(), view_ids().end(), id) != view_ids().end();
}

std::string view_ids_text() {
  const std::vector<std::string>& ids = view_ids();
  return fmt::format("{} or {}", fmt::join(ids.begin(), ids.end() - 1, ", "), ids.back());
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/machine/machine_files.h"

#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/plan/settings/alternatives.h"
#include "engine/plan/settings/settings_reader.h"

namespace parallelarium {
namespace {

constexpr std::uintmax_t kMostMachineBytes = 4'000'000;

}  // namespace

std::string machine_of_file(const EmbeddedFile& file) {
  return std::string(file.path.substr(9, file.path.size() - 14));
}

Result<nlohmann::json> preset_json(const EmbeddedFile& file) {
  Result<nlohmann::json> json = parse_json(file.content);
  if (!json || !json->contains("based_on")) return json;
  const auto base =
      std::find_if(embedded_files().begin(), embedded_files().end(), [&](auto& other) {
        return other.path.starts_with("machines/") && (*json)["based_on"] == machine_of_file(other);
      });
  assert(base != embedded_files().end());
  Result<nlohmann::json> whole = preset_json(*base);
  if (!whole) return whole;
  json->erase("based_on");
  whole->merge_patch(*json);
  return whole;
}

std::string kept_path(const std::string& file) {
  if (const char* data = std::getenv("XDG_DATA_HOME"); data != nullptr && data[0] == '/')
    return data + ("/parallelarium/" + file);
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return {};
  return std::string(home) + "/.local/share/parallelarium/" + file;
}

Result<void> keep(const std::string& path, const nlohmann::json& json) {
  if (path.empty())
    return message("machine-home", "There is no HOME, so the calibration has no place; set HOME.");
  const auto failed = [&](const std::string& what) {
    return message("machine-save", "The calibration cannot be written to {}: {}.", shown(path),
                   what);
  };
  const std::filesystem::path target(path);
  std::error_code error;
  std::filesystem::create_directories(target.parent_path(), error);
  if (error) return failed(error.message());
  const std::string partial = fmt::format("{}.{}", path, getpid());
  {
    std::ofstream file(partial, std::ios::binary | std::ios::trunc);
    file << json.dump(2) << '\n';
    file.flush();
    if (!file) {
      std::filesystem::remove(partial, error);
      return failed("the disk is full or the folder cannot be written");
    }
  }
  std::filesystem::rename(partial, target, error);
  if (error) {
    const std::string what = error.message();
    std::filesystem::remove(partial, error);
    return failed(what);
  }
  return {};
}

Result<nlohmann::json> read_kept(const std::string& path) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) > kMostMachineBytes || error)
    return message("file-large", "it is too large or cannot be opened");
  std::ifstream file(path, std::ios::binary);
  std::ostringstream content;
  content << file.rdbuf();
  if (!file) return message("file-unread", "it cannot be read");
  return parse_json(content.str());
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/module/python_wheels.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>

namespace parallelarium {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAnyWheel = "nvidia/*/";

// What stands above bin/python3 in PATH: the environment's own folder also where python3 is a link.
std::optional<fs::path> prefix_of_python(const std::string& path) {
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const fs::path program = fs::path(path.substr(begin, end - begin)) / "python3";
    std::error_code failed;
    if (program.is_absolute() && fs::exists(program, failed))
      return program.parent_path().parent_path();
    begin = end + 1;
  }
  return std::nullopt;
}

// The number behind "python3.", so that 3.12 is newer than 3.9; python3 alone is last.
int minor_of(const fs::path& folder) {
  const std::string name = folder.filename().string();
  int minor = -1;
  constexpr std::size_t kDigits = sizeof("python3.") - 1;
  for (std::size_t i = kDigits; i < name.size() && name[i] >= '0' && name[i] <= '9'; ++i)
    minor = std::max(minor, 0) * 10 + (name[i] - '0');
  return minor;
}

// `below` in this folder of packages, once for every folder that its star stands for.
std::vector<fs::path> files_at(const fs::path& packages, const std::string& below) {
  if (below.rfind(kAnyWheel, 0) != 0) return {packages / below};
  std::vector<fs::path> files;
  std::error_code failed;
  for (const fs::directory_entry& wheel : fs::directory_iterator(packages / "nvidia", failed))
    files.push_back(wheel.path() / below.substr(kAnyWheel.size()));
  std::sort(files.begin(), files.end());
  return files;
}

void add_wheels(const fs::path& prefix, const std::string& below, std::vector<std::string>& files) {
  std::vector<fs::path> pythons;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(prefix / "lib", failed))
    if (entry.path().filename().string().rfind("python3", 0) == 0) pythons.push_back(entry.path());
  std::sort(pythons.begin(), pythons.end(), [](const fs::path& a, const fs::path& b) {
    return minor_of(a) != minor_of(b) ? minor_of(a) > minor_of(b) : a < b;
  });
  for (const fs::path& python : pythons) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      for (const fs::path& file : files_at(python / packages, below))
        if (fs::exists(file, failed) && std::find(files.begin(), files.end(), file) == files.end())
          files.push_back(file.string());
    }
  }
}

}  // namespace

std::vector<std::string> files_of_wheels(const Environment& environment, const std::string& below) {
  std::vector<std::string> files;
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const auto prefix = environment(name); prefix && !prefix->empty())
      add_wheels(*prefix, below, files);
  if (const auto path = environment("PATH"))
    if (const auto prefix = prefix_of_python(*path)) add_wheels(*prefix, below, files);
  if (const auto home = environment("HOME"); home && !home->empty())
    add_wheels(fs::path(*home) / ".local", below, files);
  for (const char* prefix : {"/usr/local", "/usr"}) add_wheels(prefix, below, files);
  return files;
}

}  // namespace parallelarium

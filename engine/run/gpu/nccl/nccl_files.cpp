// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/nccl/nccl_files.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>

#include "engine/run/gpu/nccl/nccl_rules.h"

namespace parallelarium {

namespace {

namespace fs = std::filesystem;

constexpr const char* kName = "libnccl.so.2";

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

void add_wheels(const fs::path& prefix, std::vector<std::string>& files) {
  std::vector<fs::path> pythons;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(prefix / "lib", failed))
    if (entry.path().filename().string().rfind("python3", 0) == 0) pythons.push_back(entry.path());
  std::sort(pythons.begin(), pythons.end(), [](const fs::path& a, const fs::path& b) {
    return minor_of(a) != minor_of(b) ? minor_of(a) > minor_of(b) : a < b;
  });
  for (const fs::path& python : pythons) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      const std::string file = (python / packages / "nvidia" / "nccl" / "lib" / kName).string();
      if (fs::exists(file, failed) && std::find(files.begin(), files.end(), file) == files.end())
        files.push_back(file);
    }
  }
}

Message not_loaded(const std::string& why) {
  return message(
      "nccl-missing",
      "Ranks on several GPUs need NCCL, which does not load ({}); install libnccl2, name "
      "a libnccl.so.2 in PARALLELARIUM_NCCL, or use --devices 0 to put all ranks on one "
      "GPU.",
      why);
}

// The library that a function is from.
std::string path_of(const void* function, const std::string& file) {
  Dl_info where{};
  return dladdr(function, &where) != 0 && where.dli_fname != nullptr ? where.dli_fname : file;
}

Result<NcclFile> open(const std::string& file) {
  // Never closed, like CUDA.
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return not_loaded(why != nullptr ? why : file + ", no reason given");
  }
  NcclFile found;
  std::string missing;
  nccl_api::for_each_function(found.functions, [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr && missing.empty()) missing = name;
  });
  if (!missing.empty()) {
    return message("nccl-missing.symbol",
                   "{} has no {}; install NCCL 2.26 or newer, or use --devices 0 to put all ranks "
                   "on one GPU.",
                   file, missing);
  }
  found.path = path_of(reinterpret_cast<const void*>(found.functions.get_version), file);
  if (found.functions.get_version(&found.version) != 0)
    return not_loaded(found.path + " does not tell its version");
  if (Result<void> can = check_nccl(found.version, 1); !can) return can.error();
  return found;
}

}  // namespace

std::vector<std::string> nccl_files(const Environment& environment) {
  if (const auto given = environment("PARALLELARIUM_NCCL"); given && !given->empty())
    return {*given};
  std::vector<std::string> files = {kName};
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const auto prefix = environment(name); prefix && !prefix->empty())
      add_wheels(*prefix, files);
  if (const auto path = environment("PATH"))
    if (const auto prefix = prefix_of_python(*path)) add_wheels(*prefix, files);
  if (const auto home = environment("HOME"); home && !home->empty())
    add_wheels(fs::path(*home) / ".local", files);
  for (const char* prefix : {"/usr/local", "/usr"}) add_wheels(prefix, files);
  return files;
}

Result<NcclFile> open_nccl(const std::vector<std::string>& files) {
  std::optional<Message> first;
  for (const std::string& file : files) {
    Result<NcclFile> found = open(file);
    if (found) return found;
    if (!first) first = found.error();
  }
  return first ? *first : not_loaded("no file to load");
}

}  // namespace parallelarium

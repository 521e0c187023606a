// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/nccl/library/nccl_files.h"

#include <dlfcn.h>

#include <optional>
#include <utility>

#include "engine/run/gpu/module/python_wheels.h"
#include "engine/run/gpu/nccl/nccl_rules.h"

namespace parallelarium {

namespace {

constexpr const char* kName = "libnccl.so.2";

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
  for (std::string& file : files_of_wheels(environment, std::string("nvidia/nccl/lib/") + kName))
    files.push_back(std::move(file));
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

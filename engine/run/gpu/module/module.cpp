// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/module/module.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "engine/plan/machine/machine.h"
#include "engine/run/gpu/check/check_memory.h"
#include "engine/run/gpu/faults.h"
#include "engine/run/gpu/module/python_wheels.h"

namespace parallelarium {

namespace {

constexpr const char* kFile = "libparallelarium-cuda.so";
#ifdef PARALLELARIUM_BUILT_WITH_CUDA
constexpr int kBuiltWithCuda = PARALLELARIUM_BUILT_WITH_CUDA;  // 13000 is 13.0
#else
constexpr int kBuiltWithCuda = 0;
#endif

std::vector<std::string> places() {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return {};
  const auto folder = program.parent_path();
  return {(folder / kFile).string(),
          (folder.parent_path() / "lib" / "parallelarium" / kFile).string()};
}

// Whether the NVIDIA driver's library is here. It is asked where no file of the driver is, too: the
// driver of a Jetson has others.
bool has_driver_library() {
  return has_nvidia_driver() || dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) != nullptr;
}

// The library that is missing, where that is why dlopen failed: glibc's sentence begins with it.
std::string missing_library(const std::string& why) {
  const std::size_t colon = why.find(':');
  const bool missing = why.find("cannot open shared object file") != std::string::npos;
  return missing && colon != std::string::npos ? why.substr(0, colon) : "";
}

// dlopen, and where libraries of CUDA are missing, once more with those of the wheels that the
// user's Python has: one that is loaded serves whoever needs a library of its name.
void* open_with_wheels(const std::string& file, const Environment& environment, std::string& why) {
  std::string last;
  while (true) {
    // Never closed: CUDA does not like to be unloaded.
    if (void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return handle;
    const char* reason = dlerror();
    why = reason != nullptr ? reason : "no reason given";
    const std::string library = missing_library(why);
    if (library.empty() || library == last || library.find('/') != std::string::npos)
      return nullptr;
    last = library;
    for (const std::string& wheel : files_of_wheels(environment, "nvidia/*/lib/" + library))
      if (dlopen(wheel.c_str(), RTLD_NOW | RTLD_LOCAL) != nullptr) break;
  }
}

}  // namespace

Result<CudaModule*> load_cuda_module(const std::vector<std::string>& files,
                                     const Environment& environment) {
  for (const std::string& file : files) {
    std::error_code failed;
    if (!std::filesystem::exists(file, failed)) continue;
    std::string why;
    void* handle = open_with_wheels(file, environment, why);
    if (handle == nullptr) {
      return message("cuda-missing.module",
                     "The CUDA module does not load ({}); install the CUDA libraries that it was "
                     "built with, by NVIDIA's packages or wheels for Python, or choose cpu.",
                     why);
    }
    auto* entry = reinterpret_cast<CudaModuleEntry*>(dlsym(handle, kCudaModuleEntry));
    CudaModule* found = entry != nullptr ? entry(kCudaModuleVersion) : nullptr;
    if (found == nullptr) {
      return message("cuda-missing.module-other",
                     "{} belongs to another version of this program; install both anew.", file);
    }
    return found;
  }
  return message(
      "cuda-missing.build",
      "There is no CUDA module here ({}); install the package parallelarium-cuda, or build it "
      "with ./app/run --with-cuda, or choose cpu.",
      kFile);
}

// CUDA's libraries take a tenth of a second and 100 MB, only to say the same.
Result<CudaModule*> load_for_driver(const std::vector<std::string>& files, bool driver) {
  const auto exists = [](const std::string& file) {
    std::error_code failed;
    return std::filesystem::exists(file, failed);
  };
  if (!driver && kBuiltWithCuda > 0 && std::any_of(files.begin(), files.end(), exists))
    return driver_missing(kBuiltWithCuda);
  return load_cuda_module(files, process_environment());
}

Result<CudaModule*> cuda_module() {
  static const Result<CudaModule*> loaded = load_for_driver(places(), has_driver_library());
  return loaded;
}

Result<void> check_gpu(const GpuFacts& gpu) {
  if (gpu.check_failure) return failed_check(gpu);
  const int least = gpu.least_capability;
  if (gpu.major == 0 || 10 * gpu.major + gpu.minor >= least) return {};
  return message("gpu-old",
                 "{} has compute capability {}.{}, and this build has code for {}.{} and newer; "
                 "choose other GPUs with --devices, or cpu.",
                 gpu.name, gpu.major, gpu.minor, least / 10, least % 10);
}

bool has_bf16_tensor_cores(const GpuFacts& gpu) { return gpu.major == 0 || gpu.major >= 8; }

Result<std::vector<GpuFacts>> usable_gpus() {
  const Result<CudaModule*> found = cuda_module();
  if (!found) return found.error();
  Result<std::vector<GpuFacts>> gpus = (*found)->gpus();
  if (gpus) mark_failed(*gpus, **found);
  return gpus;
}

}  // namespace parallelarium

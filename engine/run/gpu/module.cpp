// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/module.h"

#include <dlfcn.h>

#include <filesystem>
#include <system_error>

#include "engine/run/gpu/check/check_memory.h"

namespace parallelarium {

namespace {

constexpr const char* kFile = "libparallelarium-cuda.so";

std::vector<std::string> places() {
  std::error_code failed;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) return {};
  const auto folder = program.parent_path();
  return {(folder / kFile).string(),
          (folder.parent_path() / "lib" / "parallelarium" / kFile).string()};
}

}  // namespace

Result<CudaModule*> load_cuda_module(const std::vector<std::string>& files) {
  for (const std::string& file : files) {
    std::error_code failed;
    if (!std::filesystem::exists(file, failed)) continue;
    // Never closed: CUDA does not like to be unloaded.
    void* handle = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* why = dlerror();
      return message("cuda-missing.module",
                     "The CUDA module does not load ({}); install the CUDA libraries that it was "
                     "built with, or choose cpu.",
                     why != nullptr ? why : "no reason given");
    }
    auto* entry = reinterpret_cast<CudaModuleEntry*>(dlsym(handle, kCudaModuleEntry));
    CudaModule* found = entry != nullptr ? entry(kCudaModuleVersion) : nullptr;
    if (found == nullptr) {
      return message("cuda-missing.module-other",
                     "{} belongs to another version of this program; install both anew.", file);
    }
    return found;
  }
  return message("cuda-missing.build",
                 "This build has no CUDA module ({}); build it where nvcc is found, or choose cpu.",
                 kFile);
}

Result<CudaModule*> cuda_module() {
  static const Result<CudaModule*> loaded = load_cuda_module(places());
  return loaded;
}

Result<void> check_gpu(const GpuFacts& gpu) {
  if (!gpu.check_failure.empty()) return failed_check(gpu);
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

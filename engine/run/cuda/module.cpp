// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/module/module.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>
#include <cstring>

#include "engine/run/cuda/device.h"
#include "engine/run/cuda/memory_probe.h"
#include "engine/run/cuda/nccl_library.h"
#include "engine/run/gpu/faults.h"
#include "engine/run/gpu/uuid.h"

namespace parallelarium {
namespace {

#ifndef PARALLELARIUM_LEAST_COMPUTE_CAPABILITY
#error "the build says for which GPUs it has code (engine/run/cuda/CMakeLists.txt)"
#endif

// A slice of a GPU (MIG) has an id of its own, which the driver alone tells: cuDeviceGetUuid_v2.
// CUdevice and CUresult are int. Source: CUDA driver API, "Device Management".
GpuUuid own_uuid(int index) {
  GpuUuid uuid{};
  // The runtime has loaded it.
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  if (driver == nullptr) return uuid;
  auto* const device = reinterpret_cast<int (*)(int*, int)>(dlsym(driver, "cuDeviceGet"));
  auto* const read = reinterpret_cast<int (*)(void*, int)>(dlsym(driver, "cuDeviceGetUuid_v2"));
  int handle = 0;
  if (device == nullptr || read == nullptr || device(&handle, index) != 0 ||
      read(uuid.data(), handle) != 0)
    uuid = {};
  dlclose(driver);
  return uuid;
}

std::string bus_of(int index) {
  std::array<char, 32> bus{};
  if (cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), index) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return {};
  }
  return bus.data();
}

class Module final : public CudaModule {
 public:
  CudaVersions versions() const override {
    CudaVersions found{0, CUDART_VERSION};
    if (cudaDriverGetVersion(&found.driver) != cudaSuccess) found.driver = 0;
    return found;
  }

  Result<std::vector<GpuFacts>> gpus() const override {
    int count = 0;
    cudaError_t status = cudaGetDeviceCount(&count);
    if (status == cudaSuccess && count == 0) status = cudaErrorNoDevice;
    if (status != cudaSuccess) return missing(status);
    std::vector<GpuFacts> found(static_cast<std::size_t>(count));
    for (int index = 0; index < count; ++index) {
      GpuFacts& gpu = found[static_cast<std::size_t>(index)];
      cudaDeviceProp facts{};
      status = cudaGetDeviceProperties(&facts, index);
      if (status != cudaSuccess) return missing(status);
      gpu.name = facts.name;
      GpuUuid whole{};
      std::memcpy(whole.data(), facts.uuid.bytes, whole.size());
      gpu.uuid = uuid_text(whole, own_uuid(index));
      gpu.bus = bus_of(index);
      gpu.memory_bytes = static_cast<std::int64_t>(facts.totalGlobalMem);
      gpu.major = facts.major;
      gpu.minor = facts.minor;
      gpu.least_capability = PARALLELARIUM_LEAST_COMPUTE_CAPABILITY;
      int ends = 0;
      if (cudaDeviceGetAttribute(&ends, cudaDevAttrKernelExecTimeout, index) == cudaSuccess)
        gpu.ends_long_kernels = ends != 0;
      for (int other = 0; other < count; ++other) {
        int reaches = 0;
        if (other != index && cudaDeviceCanAccessPeer(&reaches, index, other) == cudaSuccess &&
            reaches != 0)
          gpu.peers.push_back(other);
      }
    }
    return found;
  }

  GpuBytes bytes(int gpu) const override {
    std::size_t free = 0, all = 0;
    cudaError_t status = cudaSetDevice(gpu);
    if (status == cudaSuccess) status = cudaMemGetInfo(&free, &all);
    GpuBytes bytes;
    if (status == cudaSuccess) bytes.free = static_cast<std::int64_t>(free);
    // Where there are no pools there is nothing in them.
    cudaMemPool_t pool = nullptr;
    std::uint64_t pooled = 0;
    status = cudaDeviceGetDefaultMemPool(&pool, gpu);
    if (status == cudaSuccess)
      status = cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &pooled);
    if (status == cudaSuccess) bytes.pooled = static_cast<std::int64_t>(pooled);
    static_cast<void>(cudaGetLastError());
    return bytes;
  }

  std::unique_ptr<Device> make_device(int gpu, int rank, Lane lane) const override {
    return make_cuda_device(gpu, rank, lane);
  }

  std::unique_ptr<MemoryProbe> make_memory_probe(int gpu) const override {
    cudaDeviceProp facts{};
    static_cast<void>(cudaGetDeviceProperties(&facts, gpu));
    return make_cuda_memory_probe(gpu, facts.name, {});
  }

  Result<Nccl*> nccl() const override { return load_nccl(); }

 private:
  Message missing(cudaError_t status) const {
    const CudaVersions known = versions();
    return cuda_missing(static_cast<int>(status), cudaGetErrorString(status), known.driver,
                        known.built_with);
  }
};

}  // namespace
}  // namespace parallelarium

extern "C" __attribute__((visibility("default"))) parallelarium::CudaModule*
parallelarium_cuda_module(int version) {
  static parallelarium::Module module;
  return version == parallelarium::kCudaModuleVersion ? &module : nullptr;
}

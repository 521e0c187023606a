// SPDX-License-Identifier: Apache-2.0
#include "engine/run/gpu/module.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "engine/run/cuda/device.h"
#include "engine/run/cuda/nccl_library.h"
#include "engine/run/gpu/faults.h"

namespace parallelarium {
namespace {

// Some virtual GPUs have none.
std::string uuid_text(const char (&bytes)[16]) {
  if (std::all_of(std::begin(bytes), std::end(bytes), [](char byte) { return byte == 0; }))
    return {};
  std::string text = "GPU";
  for (int i = 0; i < 16; ++i) {
    if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(bytes[i]));
  }
  return text;
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
      gpu.uuid = uuid_text(facts.uuid.bytes);
      gpu.memory_bytes = static_cast<std::int64_t>(facts.totalGlobalMem);
      gpu.major = facts.major;
      gpu.minor = facts.minor;
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

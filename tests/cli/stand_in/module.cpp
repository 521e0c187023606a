// SPDX-License-Identifier: Apache-2.0
// Stands for the CUDA module: GPUs that are queues of threads, NCCL between them, and one fault
// that PARALLELARIUM_STAND_IN names; two GPUs, or as many as PARALLELARIUM_STAND_INS says. Loaded
// by the program itself, see gpu_check_program_test.cpp.
#include "engine/run/gpu/module/module.h"

#include <cstdlib>
#include <string>

#include "tests/cuda/nccl/faulty_nccl.h"
#include "tests/ranks/made_up_memory.h"

namespace parallelarium {
namespace {

std::string fault() {
  const char* named = std::getenv("PARALLELARIUM_STAND_IN");
  return named != nullptr ? named : "";
}

std::size_t count() {
  const char* said = std::getenv("PARALLELARIUM_STAND_INS");
  return said != nullptr ? std::stoul(said) : 2;
}

// GPU 1 has the fault, where it is one of a kernel.
class FaultyGpu final : public NumberedDevice {
 public:
  explicit FaultyGpu(int gpu) : NumberedDevice(gpu), fault_(gpu == 1 ? fault() : "") {}
  void gelu_forward(Values g, ConstValues u, std::int64_t count) override {
    if (fault_ == "hang")
      return enqueue([] { std::this_thread::sleep_for(std::chrono::hours{1}); });
    QueuedDevice::gelu_forward(g, u, fault_ == "gelu" ? count - 1 : count);
  }
  void linear_forward(Values y, ConstValues x, ConstValues w, ConstValues bias, std::int64_t N,
                      std::int64_t M, std::int64_t K, std::int64_t y_pitch) override {
    // Of an odd leading dimension in bf16 the last column is forgotten.
    const bool forgets = fault_ == "product" && x.type() == DataType::kBf16 && M % 2 == 1;
    QueuedDevice::linear_forward(y, x, w, bias, N, M, K, y_pitch);
    if (forgets) QueuedDevice::fill_rows(y + (M - 1), y_pitch > 0 ? y_pitch : M, 0.25F, N, 1);
  }

 private:
  const std::string fault_;
};

class StandIn final : public CudaModule {
 public:
  StandIn() {
    using Pair = FaultyNccl::Pair;
    if (fault() == "corrupts") nccl_.pair(0, 1, Pair::kCorrupts, 100);
    if (fault() == "loses") nccl_.pair(0, 1, Pair::kLoses);
    if (fault() == "contribution") nccl_.leave_out(1, 2);
  }
  CudaVersions versions() const override { return {13000, 12080}; }
  Result<std::vector<GpuFacts>> gpus() const override {
    std::vector<GpuFacts> gpus(count());
    for (std::size_t gpu = 0; gpu < gpus.size(); ++gpu) {
      gpus[gpu].name = "Stand-in";
      gpus[gpu].uuid = "GPU-" + std::to_string(gpu);
      gpus[gpu].memory_bytes = 1'000'000'000;
      gpus[gpu].major = 9;
    }
    return gpus;
  }
  GpuBytes bytes(int) const override { return {}; }
  std::unique_ptr<Device> make_device(int gpu, int, Lane) const override {
    return std::make_unique<FaultyGpu>(gpu);
  }
  std::unique_ptr<MemoryProbe> make_memory_probe(int) const override {
    auto probe = std::make_unique<MadeUpMemory>();
    probe->name = "Stand-in";
    return probe;
  }
  Result<Nccl*> nccl() const override { return &nccl_; }

 private:
  mutable FaultyNccl nccl_;
};

}  // namespace
}  // namespace parallelarium

extern "C" __attribute__((visibility("default"))) parallelarium::CudaModule*
parallelarium_cuda_module(int version) {
  // Never destroyed, as CUDA is: threads may still be waiting.
  static auto* module = new parallelarium::StandIn;
  return version == parallelarium::kCudaModuleVersion ? module : nullptr;
}

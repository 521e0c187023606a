// SPDX-License-Identifier: Apache-2.0
// The engine reaches GPUs through a module beside the program, which it loads on first use, and so
// links no CUDA. If the module is missing or no driver answers, one sentence says so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/placement/placement.h"
#include "engine/plan/program/program.h"
#include "engine/plan/result.h"
#include "engine/run/calibrate/memory_probe.h"
#include "engine/run/gpu/memory.h"
#include "engine/run/gpu/nccl/library/nccl.h"
#include "engine/run/net/place.h"
#include "engine/run/train/run.h"
#include "engine/train/device.h"

namespace parallelarium {

struct GpuFacts {
  std::string name;
  std::string uuid;  // as in nvidia-smi: "GPU-6f1c…", "MIG-…" for a slice; empty: not known
  std::int64_t memory_bytes = 0;
  int major = 0, minor = 0;                   // compute capability; 0: not known
  std::vector<int> peers;                     // the GPUs whose memory it reaches directly
  std::string bus = {};                       // "0000:65:00.0"
  std::optional<Message> check_failure = {};  // why its check failed (check.h), if it did
  // It drives a display, so the system ends kernels that take seconds.
  bool ends_long_kernels = false;
  // The least capability that this build has code for; 75 is 7.5. The module says its own.
  int least_capability = 75;
};

// Errors: "gpu-old" if this build has no code for it (a GPU that does not say its capability
// passes); "gpu-check-failed" if it computes or sends wrong numbers.
Result<void> check_gpu(const GpuFacts& gpu);

// Whether its tensor cores multiply bf16: from compute capability 8.0 on, and yes if it is not
// known. Others multiply bf16 no faster than fp32.
bool has_bf16_tensor_cores(const GpuFacts& gpu);

struct CudaVersions {  // as CUDA counts: 1000 major + 10 minor; 0: not known
  int driver = 0;      // newest CUDA that the driver knows
  int built_with = 0;
};

// The module's side. Its objects end before the process does. It throws nothing.
class CudaModule {
 public:
  virtual ~CudaModule() = default;
  virtual CudaVersions versions() const = 0;
  // Error "cuda-missing": no driver, one that is too old, or no GPU. Does not yet use any of them.
  virtual Result<std::vector<GpuFacts>> gpus() const = 0;
  // What the driver reports. From then on this process has a context there.
  virtual GpuBytes bytes(int gpu) const = 0;
  // A stream of GPU `gpu` for one lane. If making it fails, allocate() and finish() say why.
  virtual std::unique_ptr<Device> make_device(int gpu, int rank, Lane lane) const = 0;
  // What measures the memories of GPU `gpu`. If making it fails, its first measurement says why.
  virtual std::unique_ptr<MemoryProbe> make_memory_probe(int gpu) const = 0;
  // NCCL's functions. The first call loads the library and sets it up; make it before any thread of
  // a run. Errors: "nccl-missing", "nccl-old" (nccl_files.h).
  virtual Result<Nccl*> nccl() const = 0;
};

// The one symbol of the module, and the version that both sides must have.
inline constexpr const char* kCudaModuleEntry = "parallelarium_cuda_module";
inline constexpr int kCudaModuleVersion = 8;
using CudaModuleEntry = CudaModule*(int version);  // null: another version

// libparallelarium-cuda.so beside the program or in ../lib/parallelarium, loaded once.
// Error "cuda-missing". Thread-safe.
Result<CudaModule*> cuda_module();
// The same from the first of `files` that exists; for tests. It takes libraries that the system
// does not find from the wheels of the user's Python (python_wheels.h).
Result<CudaModule*> load_cuda_module(const std::vector<std::string>& files,
                                     const Environment& environment);
// The same, but where the driver is missing and this build made the module, it is not loaded.
Result<CudaModule*> load_for_driver(const std::vector<std::string>& files, bool driver);

// The GPUs of this computer with the kept results of their checks. Error "cuda-missing".
Result<std::vector<GpuFacts>> usable_gpus();

// Sets the variables that CUDA reads at its first call, unless the user has set them. Call it when
// a program begins.
void prepare_for_gpus();

// The Computer for place(), with `cores` cores and these GPUs, or why it has no GPUs.
Computer computer_of(int cores, const Result<std::vector<GpuFacts>>& gpus);
// Finds out whether ranks on several of these can meet, which sets failed together, and whether
// groups take turns with this driver. Loads NCCL.
void look_at_sets(const std::vector<GpuFacts>& gpus, Computer& computer);
// This computer, as far as placing `ranks` ranks needs it. It does not touch CUDA if the Setup asks
// for cores, or if no driver is loaded and nobody asks for GPUs. `place`: set if every rank is a
// process of its own.
Computer computer_here(const RunSettings& run, int ranks, const ProcessPlace* place = nullptr);
// Places the ranks of a collective alone, up to 64 threads. Errors name "run.backend" or
// "run.devices".
Result<Placement> choose_collective_backend(const RunSettings& run, int ranks);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// What the engine knows of GPUs without linking CUDA: a module beside the program, loaded when it
// is first asked for. Where it is missing, or no driver answers, one sentence says so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/machine/placement.h"
#include "engine/plan/program/program.h"
#include "engine/plan/result.h"
#include "engine/run/gpu/memory.h"
#include "engine/run/gpu/nccl/nccl.h"
#include "engine/run/net/place.h"
#include "engine/run/train/run.h"
#include "engine/train/device.h"

namespace parallelarium {

struct GpuFacts {
  std::string name;
  std::string uuid;  // as nvidia-smi lists it: "GPU-6f1c…", of a slice "MIG-…"; empty: not known
  std::int64_t memory_bytes = 0;
  int major = 0, minor = 0;        // compute capability; 0: not known
  std::vector<int> peers;          // GPUs whose memory it reaches directly
  std::string bus = {};            // "0000:65:00.0"
  std::string check_failure = {};  // what it failed in (check.h); empty: nothing is known of it
  // It drives a display: the system ends kernels of some seconds.
  bool ends_long_kernels = false;
  // The least that this build has code for, 75 is 7.5. The module says its own; this is what it has
  // by default.
  int least_capability = 75;
};

// Error "gpu-old": this build has no code for it. Of GPUs that do not say, it is taken to have
// some. Error "gpu-check-failed": it computes or sends wrong numbers.
Result<void> check_gpu(const GpuFacts& gpu);

// Whether its tensor cores multiply bf16, as from compute capability 8.0 on. Others do it as fast
// as fp32 at most. Of GPUs that do not say: yes.
bool has_bf16_tensor_cores(const GpuFacts& gpu);

struct CudaVersions {  // as CUDA counts: 1000 major + 10 minor; 0: not known
  int driver = 0;      // newest CUDA that the driver knows
  int built_with = 0;
};

// The module's side. Its objects end before the process does; nothing of it throws.
class CudaModule {
 public:
  virtual ~CudaModule() = default;
  virtual CudaVersions versions() const = 0;
  // Error "cuda-missing": no driver, one that is too old, or no GPU. Begins to use none of them.
  virtual Result<std::vector<GpuFacts>> gpus() const = 0;
  // As the driver reports it; from then on this process has a context there.
  virtual GpuBytes bytes(int gpu) const = 0;
  // A stream of GPU `gpu` for one lane. What fails in making it is told by allocate() and finish().
  virtual std::unique_ptr<Device> make_device(int gpu, int rank, Lane lane) const = 0;
  // NCCL's functions, the library loaded and set up when first asked for, before any thread of a
  // run. Errors: "nccl-missing", "nccl-old" (nccl_files.h).
  virtual Result<Nccl*> nccl() const = 0;
};

// The one symbol of the module, and the number that both sides must have been built with.
inline constexpr const char* kCudaModuleEntry = "parallelarium_cuda_module";
inline constexpr int kCudaModuleVersion = 7;
using CudaModuleEntry = CudaModule*(int version);  // null: another version

// libparallelarium-cuda.so beside the program or in ../lib/parallelarium, loaded once.
// Error "cuda-missing". Thread-safe.
Result<CudaModule*> cuda_module();
// The same from the first of `files` that exists; for tests. Libraries that it needs and the system
// does not find are taken from the wheels of the user's Python (python_wheels.h).
Result<CudaModule*> load_cuda_module(const std::vector<std::string>& files,
                                     const Environment& environment);

// The GPUs of this computer for ranks, with what is remembered of their checks. Error
// "cuda-missing".
Result<std::vector<GpuFacts>> usable_gpus();

// Sets what CUDA reads at its first call and the user has not set: for the beginning of a program.
void prepare_for_gpus();

// What place() needs to know of a computer with so many cores and these GPUs, or why it has none.
Computer computer_of(int cores, const Result<std::vector<GpuFacts>>& gpus);
// Of this computer, as far as placing `ranks` ranks needs it: where cores alone are wanted, and
// where no driver is loaded and GPUs are not asked for, CUDA is not touched. `place`: set where
// every rank is a process of its own.
Computer computer_here(const RunSettings& run, int ranks, const ProcessPlace* place = nullptr);
// For the ranks of a collective alone, up to 64, as threads. Errors name "run.backend" or
// "run.devices".
Result<Placement> choose_collective_backend(const RunSettings& run, int ranks);

}  // namespace parallelarium

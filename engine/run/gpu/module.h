// SPDX-License-Identifier: Apache-2.0
// What the engine knows of GPUs without linking CUDA: a module beside the program, loaded when it
// is first asked for. Where it is missing, or no driver answers, one sentence says so.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/plan/program.h"
#include "engine/plan/result.h"
#include "engine/run/gpu/memory.h"
#include "engine/run/gpu/nccl.h"
#include "engine/run/run.h"
#include "engine/train/device.h"

namespace parallelarium {

struct GpuFacts {
  std::string name;
  std::string uuid;  // as nvidia-smi lists it: "GPU-6f1c…"; empty: not known
  std::int64_t memory_bytes = 0;
  int major = 0, minor = 0;  // compute capability; 0: not known
  std::vector<int> peers;    // GPUs whose memory it reaches directly
};

// Error "gpu-old": this build has no code for it. Of GPUs that do not say, it is taken to have
// some.
Result<void> check_gpu(const GpuFacts& gpu);

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
  // run. Error "nccl-missing": not built with it, or not installed.
  virtual Result<Nccl*> nccl() const = 0;
};

// The one symbol of the module, and the number that both sides must have been built with.
inline constexpr const char* kCudaModuleEntry = "parallelarium_cuda_module";
inline constexpr int kCudaModuleVersion = 6;
using CudaModuleEntry = CudaModule*(int version);  // null: another version

// libparallelarium-cuda.so beside the program or in ../lib/parallelarium, loaded once.
// Error "cuda-missing". Thread-safe.
Result<CudaModule*> cuda_module();
// The same from the first of `files` that exists; for tests.
Result<CudaModule*> load_cuda_module(const std::vector<std::string>& files);

// Which GPU each rank gets: one each where there are enough (of `run.devices`), or all the same
// where only one is there; `place` as in choose_backend(). `given`: somebody chose what this
// process sees, so a process that sees one GPU takes it, however many share its host. Pure. Errors
// name "run.devices".
Result<BackendChoice> choose_gpus(const Setup& setup, const std::vector<GpuFacts>& gpus,
                                  const ProcessPlace* place, bool given = false);

// The GPUs of this computer for ranks. Error "cuda-missing".
Result<std::vector<GpuFacts>> usable_gpus();

// Where ranks could run, asked only as far as a choice needs it; tests bring computers of their
// own.
struct Computer {
  int cores = 1;
  bool driver = true;  // NVIDIA's is loaded; where none is, auto asks no further
  std::function<Result<std::vector<GpuFacts>>()> gpus;  // or why there are none
  std::function<Result<void>()> nccl;                   // or why ranks on several GPUs cannot meet
  bool gpus_given = false;  // CUDA_VISIBLE_DEVICES says which GPUs this process sees
};
// Sets what CUDA reads at its first call and the user has not set: for the beginning of a program.
void prepare_for_gpus();
Computer computer_here();
Result<BackendChoice> choose_backend(const Setup& setup, const ProcessPlace* place,
                                     const Computer& computer);
// For the ranks of a collective alone, up to 64, as threads: as for training, but that nothing is
// paced; more ranks than cores share them. `run`: its backend and devices. Errors name
// "run.backend" or "run.devices".
Result<BackendChoice> choose_collective_backend(const RunSettings& run, int ranks,
                                                const Computer& computer = computer_here());

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/cli/computer/probe_cuda.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <memory>

#include "engine/plan/text/phrases.h"
#include "engine/plan/text/units.h"
#include "engine/run/gpu/faults.h"
#include "engine/run/gpu/module/module.h"
#include "engine/run/gpu/nccl/library/nccl_files.h"
#include "engine/run/gpu/nccl/nccl_rules.h"

namespace parallelarium {
namespace {

// A library for as long as it is looked at. It stays loaded: CUDA's driver does not like to go.
class Library {
 public:
  explicit Library(const char* name)
      : handle_(dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)) {}
  ~Library() {
    if (handle_) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  explicit operator bool() const { return handle_ != nullptr; }

  template <class Function>
  Function* find(const char* name) const {
    return handle_ ? reinterpret_cast<Function*>(dlsym(handle_, name)) : nullptr;
  }

 private:
  void* handle_;
};

// The driver's calls as cuda.h declares them; CUresult and CUdevice are int.
struct Driver {
  explicit Driver(const Library& library)
      : init(library.find<int(unsigned)>("cuInit")),
        version(library.find<int(int*)>("cuDriverGetVersion")),
        count(library.find<int(int*)>("cuDeviceGetCount")),
        device(library.find<int(int*, int)>("cuDeviceGet")),
        name(library.find<int(char*, int, int)>("cuDeviceGetName")),
        memory(library.find<int(std::size_t*, int)>("cuDeviceTotalMem_v2")),
        peer(library.find<int(int*, int, int)>("cuDeviceCanAccessPeer")),
        bus(library.find<int(char*, int, int)>("cuDeviceGetPCIBusId")) {}
  bool complete() const {
    return init && version && count && device && name && memory && peer && bus;
  }

  int (*init)(unsigned);
  int (*version)(int*);
  int (*count)(int*);
  int (*device)(int*, int);
  int (*name)(char*, int, int);
  int (*memory)(std::size_t*, int);
  int (*peer)(int*, int, int);
  int (*bus)(char*, int, int);
};

std::vector<Gpu> look_at_gpus(const Driver& driver) {
  std::vector<Gpu> gpus;
  int count = 0;
  if (driver.count(&count) != 0) return gpus;
  for (int index = 0; index < count; ++index) {
    int device = 0;
    std::size_t bytes = 0;
    std::array<char, 256> name{};
    if (driver.device(&device, index) != 0) continue;
    Gpu& gpu = gpus.emplace_back();
    if (driver.name(name.data(), static_cast<int>(name.size()), device) == 0)
      gpu.name = name.data();
    if (driver.bus(name.data(), static_cast<int>(name.size()), device) == 0) gpu.bus = name.data();
    if (driver.memory(&bytes, device) == 0) gpu.memory_bytes = static_cast<std::int64_t>(bytes);
    for (int other = 0; other < count; ++other) {
      int reaches = 0, handle = 0;
      if (other != index && driver.device(&handle, other) == 0 &&
          driver.peer(&reaches, device, handle) == 0 && reaches)
        gpu.peers.push_back(other);
    }
  }
  return gpus;
}

struct FoundNccl {
  int version = 0;
  std::string path;
};
// As ranks would find it: through the CUDA module, whose own folders count; without one as well.
Result<FoundNccl> find_nccl() {
  if (const Result<CudaModule*> module = cuda_module()) {
    const Result<Nccl*> nccl = (*module)->nccl();
    if (!nccl) return nccl.error();
    return FoundNccl{(*nccl)->version(), (*nccl)->path()};
  }
  const Result<NcclFile> file = open_nccl(nccl_files(process_environment()));
  if (!file) return file.error();
  return FoundNccl{file->version, file->path};
}

Fact nccl_fact() {
  Fact fact{"nccl", plain("NCCL"), FactState::kThere, {}, {}};
  const Result<FoundNccl> found = find_nccl();
  if (!found) {
    fact.state = FactState::kMissing;
    fact.found = found.error();
    fact.advice = message("advice-nccl", "Only needed for ranks on several GPUs.");
    return fact;
  }
  fact.found = plain(fmt::format("{} ({})", nccl_version_text(found->version), found->path));
  // Of several groups, as any two axes of parallelism make them.
  if (const Result<void> can = check_nccl(found->version, 2); !can) {
    fact.state = FactState::kLimited;
    fact.advice = can.error();
  }
  return fact;
}

}  // namespace

CudaFacts probe_cuda() {
  CudaFacts result;
  Fact driver_fact{"cuda-driver", message("fact-driver", "NVIDIA driver"), FactState::kMissing,
                   message("fact-no-driver", "libcuda.so.1 is not installed"),
                   message("advice-driver", "Only needed for GPU ranks.")};
  Fact gpu_fact{"gpus",
                message("fact-gpus", "NVIDIA GPUs"),
                FactState::kMissing,
                message("fact-none", "none"),
                {}};
  const Library library("libcuda.so.1");
  const Driver driver(library);
  if (library && driver.complete()) {
    const int status = driver.init(0);
    int version = 0;
    if (status != 0) {
      driver_fact.state = FactState::kLimited;
      driver_fact.found =
          message("fact-no-start", "installed, but does not start (CUDA error {})", status);
      driver_fact.advice =
          message("advice-smi", "nvidia-smi shows whether the driver finds a GPU.");
    } else if (driver.version(&version) == 0) {
      driver_fact.state = FactState::kThere;
      driver_fact.found = message("fact-cuda", "for CUDA {}", cuda_version_text(version));
      driver_fact.advice = {};
      result.gpus = look_at_gpus(driver);
    }
  }
  if (!result.gpus.empty()) {
    gpu_fact.state = FactState::kThere;
    std::vector<Message> found;
    for (const Gpu& gpu : result.gpus) {
      const Message memory = figure(bytes_text(static_cast<double>(gpu.memory_bytes)));
      found.push_back(gpu.peers.empty() ? message("fact-gpu", "{} ({})", gpu.name, memory)
                                        : message("fact-gpu-peers", "{} ({}, reaches {} others)",
                                                  gpu.name, memory, gpu.peers.size()));
    }
    gpu_fact.found = listed(found);
  }
  result.facts = {driver_fact, gpu_fact, nccl_fact()};
  return result;
}

}  // namespace parallelarium

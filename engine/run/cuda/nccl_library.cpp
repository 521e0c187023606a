// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cuda/nccl_library.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <strings.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "engine/run/cuda/device.h"
#include "engine/run/gpu/nccl/library/nccl_files.h"
#include "engine/run/gpu/nccl/nccl_choices.h"

namespace parallelarium {
namespace {

static_assert(sizeof(nccl_api::UniqueId) == sizeof(NcclId));

NcclStatus status_of(nccl_api::Result result) { return static_cast<NcclStatus>(result); }

int type_of(DataType type) {
  switch (type) {
    case DataType::kF32:
      return nccl_api::kFloat32;
    case DataType::kBf16:
      return nccl_api::kBfloat16;
    case DataType::kF64:
      return nccl_api::kFloat64;
    case DataType::kI32:
      return nccl_api::kInt32;
    case DataType::kU8:
      return nccl_api::kUint8;
  }
  return nccl_api::kFloat32;
}
int op_of(Reduction reduction) {
  return reduction == Reduction::kMax ? nccl_api::kMax : nccl_api::kSum;
}

class Library final : public Nccl {
 public:
  explicit Library(NcclFile file) : file_(std::move(file)), call_(file_.functions) {}

  int version() const override { return file_.version; }
  std::string path() const override { return file_.path; }
  std::vector<LibraryChoice> take_choices() override { return nccl_choices().take(); }
  NcclStatus get_unique_id(NcclId& id) override {
    nccl_api::UniqueId made{};
    const nccl_api::Result result = call_.get_unique_id(&made);
    std::memcpy(id.bytes.data(), &made, sizeof made);
    return status_of(result);
  }
  NcclStatus init(NcclComm*& comm, int ranks, const NcclId& id, int rank,
                  DeviceStream& device) override {
    if (cudaSetDevice(gpu_of(device)) != cudaSuccess) return NcclStatus::kUnhandledCudaError;
    nccl_api::UniqueId world;
    std::memcpy(&world, id.bytes.data(), sizeof world);
    nccl_api::Config config;
    comm = nullptr;
    return status_of(call_.init(&comm, ranks, world, rank, &config));
  }
  NcclStatus split(NcclComm* parent, int color, int key, NcclComm*& child) override {
    // The child inherits the parent's configuration, so it does not block either.
    return status_of(call_.split(parent, color, key, &child, nullptr));
  }
  NcclStatus get_async_error(NcclComm* comm, NcclStatus& state) override {
    auto now = static_cast<nccl_api::Result>(NcclStatus::kInProgress);
    const nccl_api::Result result = call_.get_async_error(comm, &now);
    state = status_of(now);
    return status_of(result);
  }
  NcclStatus finalize(NcclComm* comm) override { return status_of(call_.finalize(comm)); }
  NcclStatus destroy(NcclComm* comm) override { return status_of(call_.destroy(comm)); }
  NcclStatus abort(NcclComm* comm) override { return status_of(call_.abort(comm)); }
  std::string get_last_error(NcclComm* comm) override {
    const char* said = call_.get_last_error(comm);
    return said != nullptr ? said : "";
  }

  NcclStatus group_start() override { return status_of(call_.group_start()); }
  NcclStatus group_end() override { return status_of(call_.group_end()); }
  NcclStatus send(const std::byte* from, std::int64_t bytes, int peer, NcclComm* comm,
                  DeviceStream& lane) override {
    return status_of(call_.send(from, static_cast<std::size_t>(bytes), nccl_api::kUint8, peer, comm,
                                stream_of(lane)));
  }
  NcclStatus recv(std::byte* to, std::int64_t bytes, int peer, NcclComm* comm,
                  DeviceStream& lane) override {
    return status_of(call_.recv(to, static_cast<std::size_t>(bytes), nccl_api::kUint8, peer, comm,
                                stream_of(lane)));
  }
  NcclStatus all_reduce(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                        Reduction reduction, NcclComm* comm, DeviceStream& lane) override {
    return status_of(call_.all_reduce(from, to, static_cast<std::size_t>(count), type_of(type),
                                      op_of(reduction), comm, stream_of(lane)));
  }
  NcclStatus reduce(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                    Reduction reduction, int root, NcclComm* comm, DeviceStream& lane) override {
    return status_of(call_.reduce(from, to, static_cast<std::size_t>(count), type_of(type),
                                  op_of(reduction), root, comm, stream_of(lane)));
  }
  NcclStatus broadcast(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                       int root, NcclComm* comm, DeviceStream& lane) override {
    return status_of(call_.broadcast(from, to, static_cast<std::size_t>(count), type_of(type), root,
                                     comm, stream_of(lane)));
  }
  NcclStatus all_gather(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                        NcclComm* comm, DeviceStream& lane) override {
    return status_of(call_.all_gather(from, to, static_cast<std::size_t>(count), type_of(type),
                                      comm, stream_of(lane)));
  }
  NcclStatus reduce_scatter(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                            Reduction reduction, NcclComm* comm, DeviceStream& lane) override {
    return status_of(call_.reduce_scatter(from, to, static_cast<std::size_t>(count), type_of(type),
                                          op_of(reduction), comm, stream_of(lane)));
  }

 private:
  const NcclFile file_;
  const nccl_api::Functions& call_;
};

// This module's own file, as the profiler plugin; one that the user has chosen stays.
void offer_profiler() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&offer_profiler), &here) != 0)
    setenv("NCCL_PROFILER_PLUGIN", here.dli_fname, 0);
}

// The environment and nccl.conf, which never replaces what the environment has, win over what
// callers ask of NCCL; so what the transport relies on stands in the environment too.
// Source: NCCL user guide, "Environment Variables"; NVIDIA/nccl, src/init.cc (envConfigOverride).
void set_environment() {
  // The kernels of all communicators of a GPU run in the order in which they are launched.
  setenv("NCCL_LAUNCH_ORDER_IMPLICIT", "1", 1);
  // Calls return at once, and whoever polls can abort.
  setenv("NCCL_COMM_BLOCKING", "0", 1);
  // Ranks that are threads launch without waiting for each other.
  setenv("NCCL_LAUNCH_MODE", "PARALLEL", 1);
  // Communicators that share buffers would take turns.
  setenv("NCCL_COMM_SPLIT_SHARE_RESOURCES", "0", 1);
  // NCCL logs to standard output, where --json goes. It opens the file anew: redirected to a file,
  // standard error begins again there. At VERSION it ignores the name; WARN tells the version too.
  setenv("NCCL_DEBUG_FILE", "/dev/stderr", 0);
  const char* level = std::getenv("NCCL_DEBUG");
  if (level != nullptr && strcasecmp(level, "VERSION") == 0) setenv("NCCL_DEBUG", "WARN", 1);
}

Result<Nccl*> load() {
  set_environment();
  offer_profiler();
  Result<NcclFile> found = open_nccl(nccl_files(process_environment()));
  if (!found) return found.error();
  static Library loaded(std::move(*found));
  return &loaded;
}

}  // namespace

Result<Nccl*> load_nccl() {
  static const Result<Nccl*> loaded = load();
  return loaded;
}

}  // namespace parallelarium

// What NCCL looks for in its profiler plugin.
extern "C" {
__attribute__((visibility("default"))) parallelarium::NcclProfiler ncclProfiler_v4 =
    parallelarium::nccl_profiler();
}

// SPDX-License-Identifier: Apache-2.0
#include "engine/run/cuda/nccl_library.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <nccl.h>
#include <strings.h>

#include <cstdlib>
#include <cstring>
#include <vector>

#include "engine/run/cuda/device.h"
#include "engine/run/gpu/nccl_choices.h"

namespace parallelarium {
namespace {

static_assert(sizeof(ncclUniqueId) == sizeof(NcclId));
static_assert(static_cast<int>(NcclStatus::kInProgress) == ncclInProgress);
static_assert(static_cast<int>(NcclStatus::kRemoteError) == ncclRemoteError);
static_assert(kNcclNoColor == NCCL_SPLIT_NOCOLOR);

NcclStatus status_of(ncclResult_t result) { return static_cast<NcclStatus>(result); }
ncclComm_t comm_of(NcclComm* comm) { return reinterpret_cast<ncclComm_t>(comm); }

ncclDataType_t type_of(DataType type) {
  switch (type) {
    case DataType::kF32:
      return ncclFloat32;
    case DataType::kBf16:
      return ncclBfloat16;
    case DataType::kF64:
      return ncclFloat64;
    case DataType::kI32:
      return ncclInt32;
    case DataType::kU8:
      return ncclUint8;
  }
  return ncclFloat32;
}
ncclRedOp_t op_of(Reduction reduction) { return reduction == Reduction::kMax ? ncclMax : ncclSum; }

// The functions, by their names in nccl.h.
struct Functions {
  decltype(&ncclGetVersion) get_version = nullptr;
  decltype(&ncclGetUniqueId) get_unique_id = nullptr;
  decltype(&ncclCommInitRankConfig) init = nullptr;
  decltype(&ncclCommSplit) split = nullptr;
  decltype(&ncclCommGetAsyncError) get_async_error = nullptr;
  decltype(&ncclCommFinalize) finalize = nullptr;
  decltype(&ncclCommDestroy) destroy = nullptr;
  decltype(&ncclCommAbort) abort = nullptr;
  decltype(&ncclGetLastError) get_last_error = nullptr;
  decltype(&ncclGroupStart) group_start = nullptr;
  decltype(&ncclGroupEnd) group_end = nullptr;
  decltype(&ncclSend) send = nullptr;
  decltype(&ncclRecv) recv = nullptr;
  decltype(&ncclAllReduce) all_reduce = nullptr;
  decltype(&ncclReduce) reduce = nullptr;
  decltype(&ncclBroadcast) broadcast = nullptr;
  decltype(&ncclAllGather) all_gather = nullptr;
  decltype(&ncclReduceScatter) reduce_scatter = nullptr;
};

// The name of the first function that the library does not have, or null.
const char* fill(Functions& all, void* library) {
  const char* missing = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr && missing == nullptr) missing = name;
  };
  find(all.get_version, "ncclGetVersion");
  find(all.get_unique_id, "ncclGetUniqueId");
  find(all.init, "ncclCommInitRankConfig");
  find(all.split, "ncclCommSplit");
  find(all.get_async_error, "ncclCommGetAsyncError");
  find(all.finalize, "ncclCommFinalize");
  find(all.destroy, "ncclCommDestroy");
  find(all.abort, "ncclCommAbort");
  find(all.get_last_error, "ncclGetLastError");
  find(all.group_start, "ncclGroupStart");
  find(all.group_end, "ncclGroupEnd");
  find(all.send, "ncclSend");
  find(all.recv, "ncclRecv");
  find(all.all_reduce, "ncclAllReduce");
  find(all.reduce, "ncclReduce");
  find(all.broadcast, "ncclBroadcast");
  find(all.all_gather, "ncclAllGather");
  find(all.reduce_scatter, "ncclReduceScatter");
  return missing;
}

class Library final : public Nccl {
 public:
  explicit Library(const Functions& functions) : call_(functions) { call_.get_version(&version_); }

  int version() const override { return version_; }
  std::vector<LibraryChoice> take_choices() override { return nccl_choices().take(); }
  NcclStatus get_unique_id(NcclId& id) override {
    ncclUniqueId made;
    const ncclResult_t result = call_.get_unique_id(&made);
    std::memcpy(id.bytes.data(), &made, sizeof made);
    return status_of(result);
  }
  NcclStatus init(NcclComm*& comm, int ranks, const NcclId& id, int rank, Device& device) override {
    if (cudaSetDevice(gpu_of(device)) != cudaSuccess) return NcclStatus::kUnhandledCudaError;
    ncclUniqueId world;
    std::memcpy(&world, id.bytes.data(), sizeof world);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    ncclComm_t made = nullptr;
    const ncclResult_t result = call_.init(&made, ranks, world, rank, &config);
    comm = reinterpret_cast<NcclComm*>(made);
    return status_of(result);
  }
  NcclStatus split(NcclComm* parent, int color, int key, NcclComm*& child) override {
    // The child inherits the parent's configuration, so it does not block either.
    static_assert(sizeof(NcclComm*) == sizeof(ncclComm_t));
    return status_of(
        call_.split(comm_of(parent), color, key, reinterpret_cast<ncclComm_t*>(&child), nullptr));
  }
  NcclStatus get_async_error(NcclComm* comm, NcclStatus& state) override {
    ncclResult_t now = ncclInProgress;
    const ncclResult_t result = call_.get_async_error(comm_of(comm), &now);
    state = status_of(now);
    return status_of(result);
  }
  NcclStatus finalize(NcclComm* comm) override { return status_of(call_.finalize(comm_of(comm))); }
  NcclStatus destroy(NcclComm* comm) override { return status_of(call_.destroy(comm_of(comm))); }
  NcclStatus abort(NcclComm* comm) override { return status_of(call_.abort(comm_of(comm))); }
  std::string get_last_error(NcclComm* comm) override {
    const char* said = call_.get_last_error(comm_of(comm));
    return said != nullptr ? said : "";
  }

  NcclStatus group_start() override { return status_of(call_.group_start()); }
  NcclStatus group_end() override { return status_of(call_.group_end()); }
  NcclStatus send(const std::byte* from, std::int64_t bytes, int peer, NcclComm* comm,
                  Device& lane) override {
    return status_of(call_.send(from, static_cast<std::size_t>(bytes), ncclUint8, peer,
                                comm_of(comm), stream_of(lane)));
  }
  NcclStatus recv(std::byte* to, std::int64_t bytes, int peer, NcclComm* comm,
                  Device& lane) override {
    return status_of(call_.recv(to, static_cast<std::size_t>(bytes), ncclUint8, peer, comm_of(comm),
                                stream_of(lane)));
  }
  NcclStatus all_reduce(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                        Reduction reduction, NcclComm* comm, Device& lane) override {
    return status_of(call_.all_reduce(from, to, static_cast<std::size_t>(count), type_of(type),
                                      op_of(reduction), comm_of(comm), stream_of(lane)));
  }
  NcclStatus reduce(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                    Reduction reduction, int root, NcclComm* comm, Device& lane) override {
    return status_of(call_.reduce(from, to, static_cast<std::size_t>(count), type_of(type),
                                  op_of(reduction), root, comm_of(comm), stream_of(lane)));
  }
  NcclStatus broadcast(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                       int root, NcclComm* comm, Device& lane) override {
    return status_of(call_.broadcast(from, to, static_cast<std::size_t>(count), type_of(type), root,
                                     comm_of(comm), stream_of(lane)));
  }
  NcclStatus all_gather(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                        NcclComm* comm, Device& lane) override {
    return status_of(call_.all_gather(from, to, static_cast<std::size_t>(count), type_of(type),
                                      comm_of(comm), stream_of(lane)));
  }
  NcclStatus reduce_scatter(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                            Reduction reduction, NcclComm* comm, Device& lane) override {
    return status_of(call_.reduce_scatter(from, to, static_cast<std::size_t>(count), type_of(type),
                                          op_of(reduction), comm_of(comm), stream_of(lane)));
  }

 private:
  const Functions call_;
  int version_ = 0;
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
  // Never closed, like CUDA.
  void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    return message(
        "nccl-missing",
        "Ranks on several GPUs need NCCL, which does not load ({}); install libnccl2, or "
        "use --devices 0 to put all ranks on one GPU.",
        why != nullptr ? why : "no reason given");
  }
  Functions functions;
  if (const char* missing = fill(functions, library)) {
    return message("nccl-missing",
                   "The installed NCCL has no {}; install 2.26 or newer, or use --devices 0 to put "
                   "all ranks on one GPU.",
                   missing);
  }
  static Library loaded(functions);
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

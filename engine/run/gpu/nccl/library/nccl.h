// SPDX-License-Identifier: Apache-2.0
// The engine's calls of NCCL as an interface, so that the code that decides what to call when
// (nccl_transport.h) builds without NCCL and is tested without a GPU. The CUDA module implements it
// with the library's functions (cuda/nccl_library.cpp).
//
// Every call is NCCL's of the same name on a non-blocking communicator. After kInProgress, the
// communicator's state tells when the call is done.
// Source: NCCL user guide, "Creating a communicator with options", "Nonblocking group operation".
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/program/report.h"
#include "engine/train/device_stream.h"

namespace parallelarium {

// ncclResult_t of nccl.h.
enum class NcclStatus : int {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7
};
constexpr bool goes_well(NcclStatus status) {
  return status == NcclStatus::kSuccess || status == NcclStatus::kInProgress;
}

struct NcclId {
  std::array<char, 128> bytes{};
};
struct NcclComm;  // ncclComm_t

inline constexpr int kNcclNoColor = -1;  // of a rank that joins no child of a split

class Nccl {
 public:
  virtual ~Nccl() = default;
  virtual int version() const = 0;  // 22809 is 2.28.9
  // The library's file; empty: there is none.
  virtual std::string path() const { return {}; }
  // What NCCL chose in this process since the last call, if it tells (nccl_choices.h).
  virtual std::vector<LibraryChoice> take_choices() { return {}; }

  virtual NcclStatus get_unique_id(NcclId& id) = 0;
  // Makes a communicator on the GPU of `device`, with config.blocking = 0.
  virtual NcclStatus init(NcclComm*& comm, int ranks, const NcclId& id, int rank,
                          DeviceStream& device) = 0;
  // All ranks of the parent call it. `child` is null for kNcclNoColor; NCCL may fill it while the
  // parent is still in progress.
  virtual NcclStatus split(NcclComm* parent, int color, int key, NcclComm*& child) = 0;
  virtual NcclStatus get_async_error(NcclComm* comm, NcclStatus& state) = 0;
  virtual NcclStatus finalize(NcclComm* comm) = 0;
  virtual NcclStatus destroy(NcclComm* comm) = 0;
  // Blocks until nothing runs on the communicator's GPU, not even work of others. Inside a group it
  // only tells the communicator's kernels to end, and group_end() blocks after all of them are
  // told. Source: NVIDIA/nccl#1013; in groups since NCCL 2.22.
  virtual NcclStatus abort(NcclComm* comm) = 0;
  virtual std::string get_last_error(NcclComm* comm) = 0;

  virtual NcclStatus group_start() = 0;
  virtual NcclStatus group_end() = 0;

  // These launch on the stream of `lane`. Ranks are those of the communicator, counts are elements.
  virtual NcclStatus send(const std::byte* from, std::int64_t bytes, int peer, NcclComm* comm,
                          DeviceStream& lane) = 0;
  virtual NcclStatus recv(std::byte* to, std::int64_t bytes, int peer, NcclComm* comm,
                          DeviceStream& lane) = 0;
  virtual NcclStatus all_reduce(const std::byte* from, std::byte* to, std::int64_t count,
                                DataType type, Reduction reduction, NcclComm* comm,
                                DeviceStream& lane) = 0;
  virtual NcclStatus reduce(const std::byte* from, std::byte* to, std::int64_t count, DataType type,
                            Reduction reduction, int root, NcclComm* comm, DeviceStream& lane) = 0;
  virtual NcclStatus broadcast(const std::byte* from, std::byte* to, std::int64_t count,
                               DataType type, int root, NcclComm* comm, DeviceStream& lane) = 0;
  // `count`: of one rank's chunk.
  virtual NcclStatus all_gather(const std::byte* from, std::byte* to, std::int64_t count,
                                DataType type, NcclComm* comm, DeviceStream& lane) = 0;
  virtual NcclStatus reduce_scatter(const std::byte* from, std::byte* to, std::int64_t count,
                                    DataType type, Reduction reduction, NcclComm* comm,
                                    DeviceStream& lane) = 0;
};

}  // namespace parallelarium

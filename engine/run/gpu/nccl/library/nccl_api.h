// SPDX-License-Identifier: Apache-2.0
// Declares the part of nccl.h that the engine calls, so that a build needs no NCCL: structures,
// numbers and functions as in its binary interface since 2.18. A test compares them with nccl.h if
// it is there (tests/cuda/nccl_api_test). Source: NVIDIA/nccl, src/nccl.h.in.
#pragma once

#include <climits>
#include <cstddef>
#include <type_traits>

#include "engine/run/gpu/nccl/library/nccl.h"

struct CUstream_st;  // of CUDA

namespace parallelarium::nccl_api {

using Result = int;  // ncclResult_t; its values: NcclStatus
using Comm = NcclComm*;
using Stream = CUstream_st*;
struct UniqueId {
  char bytes[128];
};

// ncclConfig_t of NCCL 2.18, filled as by its NCCL_CONFIG_INITIALIZER. Every later library takes
// it: it reads `size` bytes and fills the fields that came after `version` itself, also the last
// word here, where 2.25 put another field. An older library would refuse a later structure, whose
// fields it does not know.
// Source: NVIDIA/nccl, src/init.cc (parseCommConfig).
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21800;
  int blocking = 0;
  int cga_cluster_size = INT_MIN, least_ctas = INT_MIN, most_ctas = INT_MIN;  // not said
  const char* network = nullptr;
  int split_share = INT_MIN;
  int unused = INT_MIN;
};

enum DataTypeCode : int { kUint8 = 1, kInt32 = 2, kFloat32 = 7, kFloat64 = 8, kBfloat16 = 9 };
enum OperationCode : int { kSum = 0, kMax = 2 };

// The functions, by their names in nccl.h. Counts are of elements.
struct Functions {
  Result (*get_version)(int* version) = nullptr;
  Result (*get_unique_id)(UniqueId* id) = nullptr;
  Result (*init)(Comm* comm, int ranks, UniqueId id, int rank, Config* config) = nullptr;
  Result (*split)(Comm parent, int color, int key, Comm* child, Config* config) = nullptr;
  Result (*get_async_error)(Comm comm, Result* state) = nullptr;
  Result (*finalize)(Comm comm) = nullptr;
  Result (*destroy)(Comm comm) = nullptr;
  Result (*abort)(Comm comm) = nullptr;
  const char* (*get_last_error)(Comm comm) = nullptr;
  Result (*group_start)() = nullptr;
  Result (*group_end)() = nullptr;
  Result (*send)(const void* from, std::size_t count, int type, int peer, Comm comm,
                 Stream stream) = nullptr;
  Result (*recv)(void* to, std::size_t count, int type, int peer, Comm comm,
                 Stream stream) = nullptr;
  Result (*all_reduce)(const void* from, void* to, std::size_t count, int type, int operation,
                       Comm comm, Stream stream) = nullptr;
  Result (*reduce)(const void* from, void* to, std::size_t count, int type, int operation, int root,
                   Comm comm, Stream stream) = nullptr;
  Result (*broadcast)(const void* from, void* to, std::size_t count, int type, int root, Comm comm,
                      Stream stream) = nullptr;
  Result (*all_gather)(const void* from, void* to, std::size_t count, int type, Comm comm,
                       Stream stream) = nullptr;
  Result (*reduce_scatter)(const void* from, void* to, std::size_t count, int type, int operation,
                           Comm comm, Stream stream) = nullptr;
};

// Calls find(function, name) for each.
template <class Find>
void for_each_function(Functions& all, const Find& find) {
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
}

}  // namespace parallelarium::nccl_api

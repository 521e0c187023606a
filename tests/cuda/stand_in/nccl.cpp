// SPDX-License-Identifier: Apache-2.0
// A library with the names of NCCL's functions, of version STAND_IN_VERSION, to be found and loaded
// by tests. It communicates nothing. It reads its configuration as NCCL 2.28 does: as many bytes as
// that says, then its own defaults for what came after the version that it says.
#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstring>

namespace {

struct Config {  // of 2.28
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef, version = STAND_IN_VERSION;
  int blocking = INT_MIN, cga = INT_MIN, least = INT_MIN, most = INT_MIN;
  const char* network = nullptr;
  int split_share = INT_MIN, traffic = INT_MIN;
  const char* name = nullptr;
  int collnet = INT_MIN, policy = INT_MIN, shrink = INT_MIN, nvls = INT_MIN;
};
struct Id {
  char bytes[128];
};
constexpr int kSuccess = 0, kInvalidArgument = 4;
int communicator = 0;

}  // namespace

extern "C" {
int ncclGetVersion(int* version) { return *version = STAND_IN_VERSION, kSuccess; }
int ncclGetUniqueId(Id* id) { return std::memset(id, 7, sizeof *id), kSuccess; }
int ncclCommInitRankConfig(void** comm, int ranks, Id id, int rank, const Config* config) {
  Config read;
  read.magic = 0;
  std::memcpy(static_cast<void*>(&read), config, std::min(config->size, sizeof read));
  if (read.version < 22500) read.traffic = INT_MIN;
  const bool plain = read.cga == INT_MIN && read.least == INT_MIN && read.most == INT_MIN &&
                     read.network == nullptr && read.split_share == INT_MIN &&
                     read.traffic == INT_MIN && read.name == nullptr && read.collnet == INT_MIN;
  if (read.magic != 0xcafebeef || read.blocking != 0 || !plain || rank >= ranks ||
      id.bytes[127] != 7)
    return kInvalidArgument;
  *comm = &communicator;
  return kSuccess;
}
// Of these only the names are needed.
#define STAND_IN(name) \
  int name() { return kInvalidArgument; }
STAND_IN(ncclCommSplit)
STAND_IN(ncclCommGetAsyncError)
STAND_IN(ncclCommFinalize)
STAND_IN(ncclCommDestroy)
STAND_IN(ncclCommAbort)
STAND_IN(ncclGetLastError)
STAND_IN(ncclGroupStart)
STAND_IN(ncclGroupEnd)
STAND_IN(ncclSend)
STAND_IN(ncclRecv)
STAND_IN(ncclAllReduce)
STAND_IN(ncclReduce)
STAND_IN(ncclBroadcast)
STAND_IN(ncclAllGather)
STAND_IN(ncclReduceScatter)
}

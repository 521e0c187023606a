// SPDX-License-Identifier: Apache-2.0
// The Transport between threads of one process. Ranks meet in shared memory and copy straight from
// one rank's buffer into another's.
//
// The side that arrives second copies a transfer, so the parts of a batch progress in whatever
// order their peers come. If the first side is still awake, either copies it, or each copies pieces
// of it. An all-reduce is direct: each member sums its chunk over all members' buffers, then copies
// the others' finished chunks. With n members it sends and receives 2 (n-1)/n of the array, the
// least possible.
//
// The lane's Device does all copying and adding, so several ranks on one GPU meet here too. There,
// every side marks its stream and waits for the others' marks.
#pragma once

#include <memory>
#include <vector>

#include "engine/run/transport.h"

namespace parallelarium {

// The ranks of one run share it. It outlives its transports.
class CpuFabric {
 public:
  // Groups must name ranks in [0, ranks), ascending. `stop` outlives the fabric.
  CpuFabric(int ranks, const std::vector<Group>& groups, Stop& stop);
  ~CpuFabric();

  // The rank's end. The caller owns it; the fabric outlives it.
  std::unique_ptr<Transport> transport(int rank);

  struct Shared;  // cpu/fabric.cpp

 private:
  std::unique_ptr<Shared> shared_;
};

}  // namespace parallelarium

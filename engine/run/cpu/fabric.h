// SPDX-License-Identifier: Apache-2.0
// The Transport between threads of one process: ranks meet in shared memory and copy straight from
// one rank's buffer into another's.
//
// A transfer is copied by the side that arrives second, so a posted part needs nobody's attention
// and the parts of a batch progress whatever order their peers come in; where the first side is
// still awake either copies it, or both pieces of it, so that both cores work. An all-reduce is
// done the direct way: each member sums its chunk over all members' buffers, then copies the
// others' finished chunks; with n members it sends and receives 2 (n-1)/n of the array, the least
// possible.
//
// All copying and adding goes through the lane's Device, so several ranks on one GPU meet here too:
// there, every side marks its stream where it stands and waits for the others' marks.
#pragma once

#include <memory>
#include <vector>

#include "engine/run/transport.h"

namespace parallelarium {

// What the ranks of one run share. Outlives its transports.
class CpuFabric {
 public:
  // Requires: groups name ranks in [0, ranks), ascending. `stop` outlives the fabric.
  CpuFabric(int ranks, const std::vector<Group>& groups, Stop& stop);
  ~CpuFabric();

  // Rank's end. The caller owns it; the fabric outlives it.
  std::unique_ptr<Transport> transport(int rank);

  struct Shared;  // cpu/fabric.cpp

 private:
  std::unique_ptr<Shared> shared_;
};

}  // namespace parallelarium

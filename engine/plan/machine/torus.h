// SPDX-License-Identifier: Apache-2.0
// Devices of a node that have links to their neighbours alone: along each axis of a torus they are
// a ring. Ranks fill the first axis first. A collective of a group goes both ways round the rings
// that it fills, on all its axes at once, so that it gets the more of a device's links the more
// axes it spans; where it has a part of a ring, it goes one way at a time.
//
// Source: Austin et al. 2025, How to Scale Your Model, chapter Sharding, for rings and several axes
// and for an all-to-all, which loads each link of a ring of n with n / 8 of what a rank has.
#pragma once

#include <vector>

namespace parallelarium {

struct TorusReach {
  int links = 0;     // of a rank, that carry out what its group's collectives send
  int of_links = 0;  // all links of a device
  int hops = 0;      // that the farthest piece makes, one after another
  double swap = 0;   // of an all-to-all: what the busiest link carries over what a rank has
};
// `torus`: the devices along each axis. `ranks`: of one node, ascending; two at least.
TorusReach torus_reach(const std::vector<int>& torus, const std::vector<int>& ranks);
// Links from a device to another, the shorter way along each axis.
int torus_hops(const std::vector<int>& torus, int from, int to);

}  // namespace parallelarium

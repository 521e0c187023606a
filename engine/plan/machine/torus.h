// SPDX-License-Identifier: Apache-2.0
// Devices of a node that have links to their neighbours alone: along each axis of a torus they are
// a ring. Ranks fill the first axis first. A collective goes both ways round the rings that its
// group fills, on all its axes at once. So it gets more of a device's links the more axes it spans.
// If the group has only a part of a ring, the collective goes one way at a time.
//
// Source: Austin et al. 2025, How to Scale Your Model, chapter Sharding. It treats rings, several
// axes, and an all-to-all, which loads each link of a ring of n with n / 8 of what a rank has.
#pragma once

#include <vector>

namespace parallelarium {

struct TorusReach {
  int links = 0;     // links of a rank that carry out what its group's collectives send
  int of_links = 0;  // all links of a device
  int hops = 0;      // hops that the farthest piece makes, one after another
  double swap = 0;   // for an all-to-all: what the busiest link carries over what a rank has
};
// `torus`: the devices along each axis. `ranks`: at least two of one node, ascending.
TorusReach torus_reach(const std::vector<int>& torus, const std::vector<int>& ranks);
// The number of links from one device to another, the shorter way along each axis.
int torus_hops(const std::vector<int>& torus, int from, int to);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/machine/torus.h"

#include <algorithm>
#include <cstdlib>
#include <set>

namespace parallelarium {
namespace {

// Links of a device along an axis, in one direction each; two devices have one between them.
int links_along(int devices) { return std::min(2, devices - 1); }

}  // namespace

TorusReach torus_reach(const std::vector<int>& torus, const std::vector<int>& ranks) {
  TorusReach reach;
  int stride = 1;
  for (const int devices : torus) {
    std::set<int> places;
    for (const int rank : ranks) places.insert(rank / stride % devices);
    stride *= devices;
    reach.of_links += links_along(devices);
    const auto count = static_cast<int>(places.size());
    if (count < 2) continue;
    const bool ring = count == devices;
    const int links = ring ? links_along(devices) : 1;
    reach.links += links;
    reach.hops += ring ? count / 2 : *places.rbegin() - *places.begin();
    reach.swap = std::max(reach.swap, count / 4.0 / links);
  }
  return reach;
}

int torus_hops(const std::vector<int>& torus, int from, int to) {
  int hops = 0, stride = 1;
  for (const int devices : torus) {
    const int apart = std::abs(to / stride % devices - from / stride % devices);
    hops += std::min(apart, devices - apart);
    stride *= devices;
  }
  return hops;
}

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// The paths between ranks on a Network's topology.
#pragma once

#include <string>
#include <vector>

#include "engine/predict/network/network.h"

namespace parallelarium {

// The links of a Network and the way of every message.
class Routes {
 public:
  Routes(const Network& network, int ranks);

  struct Way {
    std::vector<int> links;
    double latency = 0;
  };
  Way way(int from, int to) const;

  const std::vector<double>& bandwidths() const { return bandwidths_; }
  std::string name_of_link(int link) const;

 private:
  // Steps from `from` to `to` on a ring of n; positive means to the right.
  static int shortest(int from, int to, int n);

  Network network_;
  int ranks_;
  std::vector<double> bandwidths_;
};

}  // namespace parallelarium

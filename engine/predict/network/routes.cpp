// SPDX-License-Identifier: Apache-2.0
#include "engine/predict/network/routes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace parallelarium {

Routes::Routes(const Network& network, int ranks) : network_(network), ranks_(ranks) {
  const double link = network.bytes_per_second;
  const auto n = static_cast<std::size_t>(ranks);
  switch (network.topology) {
    case Topology::kSwitch:  // out of rank r: r; into it: n + r
      bandwidths_.assign(2 * n, link);
      break;
    case Topology::kRing:  // from r to the right: 2 r; to the left: 2 r + 1
      bandwidths_.assign(2 * n, link);
      break;
    case Topology::kTorus:  // from r along the row right 4 r, left 4 r + 1, the column 4 r + 2, + 3
      bandwidths_.assign(4 * n, link);
      break;
    case Topology::kTwoLevel:  // a switch's, then out of node k: 2 n + 2 k; into it: 2 n + 2 k + 1
      bandwidths_.assign(2 * n, link);
      bandwidths_.insert(bandwidths_.end(),
                         2 * n / static_cast<std::size_t>(std::max(1, network.node_size)),
                         network.node_bytes_per_second);
      break;
    case Topology::kMemory:  // what all copies share, then into rank r: 1 + r
      bandwidths_.assign(1 + n, link);
      if (network.shared_bytes_per_second > 0) bandwidths_[0] = network.shared_bytes_per_second;
      break;
  }
}

int Routes::shortest(int from, int to, int n) {
  const int right = ((to - from) % n + n) % n;
  return right <= n - right ? right : right - n;
}

Routes::Way Routes::way(int from, int to) const {
  Way way;
  const int n = ranks_;
  const auto follow = [&](int steps, const auto& link_at) {
    for (int step = 0; step != steps; step += steps > 0 ? 1 : -1) {
      way.links.push_back(link_at(step, steps > 0));
      way.latency += network_.latency_seconds;
    }
  };
  const auto wrap = [](int value, int size) { return (value % size + size) % size; };
  switch (network_.topology) {
    case Topology::kSwitch:
      return {{from, n + to}, network_.latency_seconds};
    case Topology::kRing:
      follow(shortest(from, to, n),
             [&](int step, bool right) { return 2 * wrap(from + step, n) + (right ? 0 : 1); });
      return way;
    case Topology::kTorus: {
      const int columns = network_.node_size, rows = n / columns;
      const int row = from / columns, column = from % columns;
      follow(shortest(column, to % columns, columns), [&](int step, bool right) {
        return 4 * (row * columns + wrap(column + step, columns)) + (right ? 0 : 1);
      });
      follow(shortest(row, to / columns, rows), [&](int step, bool down) {
        return 4 * (wrap(row + step, rows) * columns + to % columns) + (down ? 2 : 3);
      });
      return way;
    }
    case Topology::kTwoLevel: {
      const int a = from / network_.node_size, b = to / network_.node_size;
      if (a == b) return {{from, n + to}, network_.latency_seconds};
      return {{2 * n + 2 * a, 2 * n + 2 * b + 1}, network_.node_latency_seconds};
    }
    case Topology::kMemory:
      return {{0, 1 + to}, network_.latency_seconds};
  }
  return way;
}

std::string Routes::name_of_link(int link) const {
  const int n = ranks_;
  const auto wrap = [](int value, int size) { return (value % size + size) % size; };
  switch (network_.topology) {
    case Topology::kRing: {
      const int from = link / 2;
      return fmt::format("rank {} to rank {}", from, wrap(from + (link % 2 == 0 ? 1 : -1), n));
    }
    case Topology::kTorus: {
      const int columns = network_.node_size, rows = n / columns;
      const int from = link / 4, row = from / columns, column = from % columns;
      const int way = link % 2 == 0 ? 1 : -1;
      const int to = link % 4 < 2 ? row * columns + wrap(column + way, columns)
                                  : wrap(row + way, rows) * columns + column;
      return fmt::format("rank {} to rank {}", from, to);
    }
    case Topology::kMemory:
      return link == 0 ? "all copies" : fmt::format("copies to rank {}", link - 1);
    case Topology::kSwitch:
    case Topology::kTwoLevel:
      break;
  }
  if (link < n) return fmt::format("rank {} to switch", link);
  if (link < 2 * n) return fmt::format("switch to rank {}", link - n);
  const int node = (link - 2 * n) / 2;
  return link % 2 == 0 ? fmt::format("node {} to network", node)
                       : fmt::format("network to node {}", node);
}

}  // namespace parallelarium

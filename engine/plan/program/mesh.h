// SPDX-License-Identifier: Apache-2.0
// The ranks as a grid. Every axis of parallelism is an axis of the grid, and the groups that
// communicate are its slices. EP is carved out of DP, so it does not multiply the world size.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace parallelarium {

enum class Axis : std::uint8_t { kTp, kCp, kPp, kDp, kEp, kWorld };
std::string_view name_of(Axis axis);  // "tp" ...

// Which axis is innermost. The first is Megatron-Core's default, the second its alternative; an
// order that is often drawn, "tp-pp-dp", is the second.
enum class RankOrder : std::uint8_t { kTpCpEpDpPp, kTpCpEpPpDp };
std::string_view name_of(RankOrder order);  // "tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"

struct Mesh {
  int dp = 1, tp = 1, pp = 1, cp = 1, ep = 1;
  RankOrder order = RankOrder::kTpCpEpDpPp;
  int ranks() const { return dp * tp * pp * cp; }
  bool operator==(const Mesh&) const = default;
};

struct Coordinates {
  int dp = 0, tp = 0, pp = 0, cp = 0;
  bool operator==(const Coordinates&) const = default;
};

// The rank must be in [0, mesh.ranks()).
Coordinates coordinates_of(const Mesh& mesh, int rank);
int rank_of(const Mesh& mesh, const Coordinates& at);

// The ranks that share every coordinate of `rank` but the one along `axis`, ascending; kWorld: all;
// kEp: the ep neighbours along dp that hold one set of experts together.
std::vector<int> group_of(const Mesh& mesh, Axis axis, int rank);

}  // namespace parallelarium

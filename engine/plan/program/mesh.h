// SPDX-License-Identifier: Apache-2.0
// The ranks as a grid. Every axis of parallelism is an axis of the grid, and the groups that
// communicate are its slices. EP does not multiply the world size: it is carved out of DP, or, if
// TP cuts no expert, out of all ranks of a stage.
#pragma once

#include <array>
#include <cstdint>
#include <numeric>
#include <string_view>
#include <vector>

namespace parallelarium {

enum class Axis : std::uint8_t { kTp, kCp, kPp, kDp, kEp, kWorld };
std::string_view name_of(Axis axis);  // "tp" ...

// The order of the axes, innermost first. The first order is Megatron-Core's default, the second
// its alternative. The order "tp-pp-dp", which is often drawn, is the second.
enum class RankOrder : std::uint8_t { kTpCpEpDpPp, kTpCpEpPpDp };
std::string_view name_of(RankOrder order);  // "tp-cp-ep-dp-pp", "tp-cp-ep-pp-dp"

struct Mesh {
  int dp = 1, tp = 1, pp = 1, cp = 1, ep = 1;
  RankOrder order = RankOrder::kTpCpEpDpPp;
  // Expert tensor parallelism: TP cuts every expert, too, and EP is carved out of DP. Otherwise
  // each expert is whole on its rank, and EP is carved out of all ranks of a stage; there TP varies
  // fastest, then CP, then DP. Source: Liu et al. 2025, MoE Parallel Folding (arXiv 2504.14960),
  // section 3.2; Megatron-LM, --expert-tensor-parallel-size 1.
  bool expert_tensor = true;
  int ranks() const { return dp * tp * pp * cp; }
  // Ranks over which an expert is cut (ETP).
  int etp() const { return expert_tensor ? tp : 1; }
  // Ranks in the row out of which EP is carved, and the number of EP groups that they make.
  int expert_row() const { return expert_tensor ? dp : dp * cp * tp; }
  int expert_groups() const { return expert_row() / ep; }
  // The fewest replicas, counted from the first, that make whole EP groups.
  int least_replicas() const { return expert_tensor ? ep : ep / std::gcd(ep, cp * tp); }
  // Ranks of a stage that hold the same experts, or the same part of each.
  int expert_replicas() const { return expert_tensor ? expert_groups() * cp : expert_groups(); }
  bool operator==(const Mesh&) const = default;
};

struct Coordinates {
  int dp = 0, tp = 0, pp = 0, cp = 0;
  bool operator==(const Coordinates&) const = default;
};

// `rank` must be in [0, mesh.ranks()).
Coordinates coordinates_of(const Mesh& mesh, int rank);
int rank_of(const Mesh& mesh, const Coordinates& at);

// The place of a rank among those that hold experts: its group in its row, which of the group's ep
// parts it holds, and which of that part's expert_replicas() it is.
struct ExpertPlace {
  int group = 0, part = 0, replica = 0;
};
ExpertPlace expert_place(const Mesh& mesh, const Coordinates& at);
// The rank's place in the row out of which EP is carved.
int place_in_row(const Mesh& mesh, const Coordinates& at);
// How many ranks share the states of experts if `shards` ranks share the other states.
int expert_shards(const Mesh& mesh, int shards);

// The ranks, ascending, that share every coordinate of `rank` but the one along `axis`. kWorld: all
// ranks. kEp: the ep neighbours that hold one set of experts together.
std::vector<int> group_of(const Mesh& mesh, Axis axis, int rank);

}  // namespace parallelarium

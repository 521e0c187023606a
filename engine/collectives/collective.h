// SPDX-License-Identifier: Apache-2.0
// Collective algorithms: who sends which chunk to whom in which step, as a Program like any other.
//
// Every rank holds an array, which is cut into chunks, and each step passes some of them on. A step
// is one batch on every rank, so its messages start together. Between two steps a rank may compute
// (add what came, divide for an average): a Compute op of Piece::kCombine.
//
// `bytes` is the whole array, as nccl-tests counts it: what every rank has after an all-gather,
// what every rank has before a reduce-scatter, what the root has in a scatter or gather. If it does
// not divide by the ranks, chunks differ by one element (chunk_of).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plan/program/program.h"
#include "engine/plan/result.h"

namespace parallelarium {

inline constexpr int kMostCollectiveRanks = 64;

// What to do. Broadcast, scatter, gather and reduce use `root`; reduce, reduce-scatter and
// all-reduce use `reduction`; the others ignore them.
struct CollectiveSpec {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::string algorithm = "ring";
  int ranks = 4;
  std::int64_t bytes = 4 << 20;
  int root = 0;
  DataType type = DataType::kF32;
  Reduction reduction = Reduction::kSum;
  // Pipelined algorithms cut the array into so many segments; 0: they choose.
  int segments = 0;
  // hierarchical: ranks of a node; torus: ranks of a row; a divisor of `ranks`. 0:
  // default_node_size or default_row_size.
  int node_size = 0;
  // Uneven counts of an all-to-all: rank o has [o * ranks + d] elements for rank d. Empty: every
  // rank has bytes / ranks for every other. With counts, `bytes` is the most that a rank sends or
  // receives in all, its own part included.
  std::vector<std::int64_t> counts;
  bool operator==(const CollectiveSpec&) const = default;
};

// One chunk under way. One message may carry several moves of a step from one rank to another.
struct Move {
  int from = 0, to = 0;
  int chunk = 0;
  std::int64_t bytes = 0;
  bool reduce = false;              // combined with what is there, instead of overwriting it
  std::int32_t send = 0, recv = 0;  // its ops on the two ranks
};

// A collective algorithm, written out.
//
// Chunks are parts of the array, except in an all-to-all: there chunk o * ranks + d is what rank o
// has for rank d. Buffer 0 of every rank is its array (Tensor::kArray); chunk_range says where its
// chunks stand. In an all-to-all the array holds the chunks for all destinations, and buffer 1 is
// the result (Tensor::kResult) with the chunks of all origins in order. Further buffers are
// scratch. Op::batch is the step, from 0. All ops stand in the compute lane.
struct Collective {
  CollectiveSpec spec;  // with segments and node_size filled in
  int chunks = 0;
  std::vector<std::vector<Move>> steps;  // in each step in order of messages
  Program program;
};

// The elements of a chunk in the array of any rank (in an all-to-all: of its origin).
ChunkRange chunk_range(const Collective& collective, int chunk);
// All-to-all: where rank `chunk % ranks` finds the chunk in its result.
ChunkRange result_range(const Collective& collective, int chunk);

// Errors, each one sentence: an unknown algorithm, a number of ranks it does not work with, a root
// that is no rank, bytes that are no whole number of elements, a reduction that is none.
Result<Collective> make_collective(const CollectiveSpec& spec);

struct AlgorithmInfo {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  std::string name;     // "ring"
  std::string title;    // "Ring"
  std::string summary;  // what happens, one or two sentences
  std::string source;   // where it comes from
};
Message title_of(const AlgorithmInfo& info);
Message summary_of(const AlgorithmInfo& info);
// All of them, by kind, the simplest first.
const std::vector<AlgorithmInfo>& collective_algorithms();
const AlgorithmInfo* find_algorithm(CollectiveKind kind, std::string_view name);  // or null

// By name, "all_reduce" or "all-reduce"; nothing if there is no such collective.
std::optional<CollectiveKind> collective_kind(std::string_view name);
// Sum, prod, min, max, avg; float32, float64, bfloat16, int32.
std::optional<Reduction> reduction_by_name(std::string_view name);
std::optional<DataType> data_type_by_name(std::string_view name);
// The default number of ranks in a node: the largest divisor below `ranks` that is at most 8.
int default_node_size(int ranks);
// Ranks of a torus's row: the longer side of the squarest grid.
int default_row_size(int ranks);
bool has_root(CollectiveKind kind);
bool reduces(CollectiveKind kind);

// nccl-tests multiplies the algorithm's bandwidth by this factor. The product compares with the
// bandwidth of a link, whatever the collective and the number of ranks.
// Source: NVIDIA/nccl-tests, doc/PERFORMANCE.md.
double bus_factor(CollectiveKind kind, int ranks);

}  // namespace parallelarium

// SPDX-License-Identifier: Apache-2.0
// What a collective was seen to do on real ranks: times, bytes, and whether every cell was right.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/plan/program/timeline.h"

namespace parallelarium {

// A wrong cell of a rank's result. The run compares the whole result of every rank and keeps the
// first differences.
struct WrongCell {
  int rank = 0;
  std::int64_t element = 0;  // in the array, or in the result of an all-to-all
  double expected = 0, found = 0;
};

// The first element of every chunk as the run left it: first[((step + 1) * ranks + rank) * chunks +
// chunk]; step -1 is before the first step. NaN if a chunk has no elements or no place on the rank.
struct CollectiveValues {
  int steps = 0;
  std::vector<double> first;
};

// How the results of two algorithms for the same inputs differ in one chunk of one rank, bit by
// bit.
struct RoundingCell {
  std::int64_t elements = 0;  // of the rank's result, in the chunk
  std::int64_t differing = 0;
  std::int64_t first = -1;  // the first element of the array that differs, as both have it
  double here = 0, there = 0;
  bool operator==(const RoundingCell&) const = default;
};

// A sum of floating-point numbers depends on its order, and each algorithm has its own order.
// Source: Goldberg, What every computer scientist should know about floating-point arithmetic, ACM
// Computing Surveys 23 (1991).
struct RoundingComparison {
  std::string other;                         // the algorithm that it is compared with
  std::int64_t elements = 0, differing = 0;  // over all ranks' results
  std::int64_t most_steps = 0;               // the largest difference, in units in the last place
  bool ranks_agree = true;          // all-reduce: whether every rank ends with the same bits
  std::vector<RoundingCell> cells;  // by rank * chunks + chunk
  bool operator==(const RoundingComparison&) const = default;
};

struct CollectiveObservation {
  // kMeasured, kOversubscribed (more ranks than cores) or kSharedGpu.
  Source source = Source::kMeasured;
  bool on_gpus = false;   // of this computer, instead of its cores
  std::string ranks_on;   // "4 ranks on a NVIDIA H100 each: measured"; empty: not told
  std::string transport;  // "NCCL 2.28.9"; empty: not told
  double seconds = 0, seconds_min = 0, seconds_max = 0;  // median and extremes of the repeats
  double algorithm_bandwidth = 0, bus_bandwidth = 0;     // of the median
  bool correct = false;
  std::int64_t wrong_cells = 0;
  std::vector<WrongCell> wrong;                          // the first of them
  std::vector<std::int64_t> sent_bytes, received_bytes;  // by rank, counted by the transport
  // The repeat of median duration. A span begins when both sides are there; the rank waits from the
  // end of its last op until then.
  Timeline timeline;
  CollectiveValues values;
  std::optional<RoundingComparison> rounding;  // on request
};

}  // namespace parallelarium

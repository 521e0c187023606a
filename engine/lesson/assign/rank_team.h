// SPDX-License-Identifier: Apache-2.0
// A few ranks that compute what a student chose. Each runs in a thread of its own and has matrices
// of its own; what another rank has comes to it by a collective alone, which counts what is sent.
#pragma once

#include <atomic>
#include <barrier>
#include <cstdint>
#include <functional>
#include <vector>

namespace parallelarium {

// Row by row.
struct RankMatrix {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> cells;

  double& at(std::int64_t row, std::int64_t column) {
    return cells[static_cast<std::size_t>(row * columns + column)];
  }
  double at(std::int64_t row, std::int64_t column) const {
    return cells[static_cast<std::size_t>(row * columns + column)];
  }
};

// Numbers between -1 and 1, other ones for each seed.
RankMatrix test_matrix(std::int64_t rows, std::int64_t columns, int seed);
RankMatrix transposed(const RankMatrix& of);
// Columns of `a` must be rows of `b`.
RankMatrix product(const RankMatrix& a, const RankMatrix& b);
// Part `rank` of `ranks` equal ones.
RankMatrix columns_of(const RankMatrix& whole, int rank, int ranks);
RankMatrix rows_of(const RankMatrix& whole, int rank, int ranks);
// Whether both have one shape, and numbers that differ by no more than sums in another order do.
bool agree(const RankMatrix& a, const RankMatrix& b);

class RankTeam {
 public:
  explicit RankTeam(int ranks) : ranks_(ranks), meeting_(ranks), posted_(std::size_t(ranks)) {}
  int ranks() const { return ranks_; }
  // Runs `work` once for each rank, all at once, and returns when all are done. Every rank must
  // take part in the same collectives.
  void run(const std::function<void(int rank)>& work);
  // Each rank becomes the sum of all; all must have the same shape.
  void all_reduce(int rank, RankMatrix& own);
  // Each rank gets its part of the rows of that sum.
  void reduce_scatter_rows(int rank, RankMatrix& own);
  // All ranks' columns side by side, or their rows one below the other, in the order of the ranks.
  void all_gather_columns(int rank, RankMatrix& own);
  void all_gather_rows(int rank, RankMatrix& own);
  // Counted since the team was made: calls of a collective, and bytes that all ranks sent.
  int collectives() const { return collectives_; }
  std::int64_t sent_bytes() const { return sent_; }

 private:
  // Shows the matrix of every rank to every rank, until all are done with `use`.
  void meet(int rank, const RankMatrix& own,
            const std::function<void(const std::vector<const RankMatrix*>&)>& use);

  int ranks_;
  std::barrier<> meeting_;
  std::vector<const RankMatrix*> posted_;
  std::atomic<int> collectives_{0};
  std::atomic<std::int64_t> sent_{0};
};

}  // namespace parallelarium

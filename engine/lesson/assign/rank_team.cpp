// SPDX-License-Identifier: Apache-2.0
#include "engine/lesson/assign/rank_team.h"

#include <cmath>
#include <thread>
#include <utility>

namespace parallelarium {

namespace {

// Of a number near 1. The matrices here are a few dozen wide.
constexpr double kRoundingOfSums = 1e-9;

std::int64_t bytes_of(const RankMatrix& matrix) {
  return static_cast<std::int64_t>(matrix.cells.size() * sizeof(double));
}

RankMatrix sum_of(const std::vector<const RankMatrix*>& all) {
  RankMatrix sum = *all.front();
  for (std::size_t rank = 1; rank < all.size(); ++rank)  // in one order: all get the same bits
    for (std::size_t cell = 0; cell < sum.cells.size(); ++cell)
      sum.cells[cell] += all[rank]->cells[cell];
  return sum;
}

}  // namespace

RankMatrix test_matrix(std::int64_t rows, std::int64_t columns, int seed) {
  RankMatrix made{rows, columns, {}};
  std::uint32_t state = 12345u + 7919u * static_cast<std::uint32_t>(seed);
  for (std::int64_t cell = 0; cell < rows * columns; ++cell) {
    state = state * 1664525u + 1013904223u;  // Numerical Recipes' generator
    made.cells.push_back(static_cast<double>(state >> 8) / (1 << 23) - 1);
  }
  return made;
}

RankMatrix transposed(const RankMatrix& of) {
  RankMatrix made{of.columns, of.rows, std::vector<double>(of.cells.size())};
  for (std::int64_t row = 0; row < of.rows; ++row)
    for (std::int64_t column = 0; column < of.columns; ++column)
      made.at(column, row) = of.at(row, column);
  return made;
}

RankMatrix product(const RankMatrix& a, const RankMatrix& b) {
  RankMatrix made{a.rows, b.columns,
                  std::vector<double>(static_cast<std::size_t>(a.rows * b.columns))};
  for (std::int64_t row = 0; row < a.rows; ++row)
    for (std::int64_t k = 0; k < a.columns; ++k)
      for (std::int64_t column = 0; column < b.columns; ++column)
        made.at(row, column) += a.at(row, k) * b.at(k, column);
  return made;
}

RankMatrix rows_of(const RankMatrix& whole, int rank, int ranks) {
  const std::int64_t each = whole.rows / ranks;
  RankMatrix made{each, whole.columns, {}};
  const auto first = whole.cells.begin() + rank * each * whole.columns;
  made.cells.assign(first, first + each * whole.columns);
  return made;
}

RankMatrix columns_of(const RankMatrix& whole, int rank, int ranks) {
  return transposed(rows_of(transposed(whole), rank, ranks));
}

bool agree(const RankMatrix& a, const RankMatrix& b) {
  if (a.rows != b.rows || a.columns != b.columns) return false;
  for (std::size_t cell = 0; cell < a.cells.size(); ++cell)
    if (std::abs(a.cells[cell] - b.cells[cell]) > kRoundingOfSums * (1 + std::abs(b.cells[cell])))
      return false;
  return true;
}

void RankTeam::run(const std::function<void(int rank)>& work) {
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks_; ++rank) threads.emplace_back(work, rank);
  for (std::thread& thread : threads) thread.join();
}

void RankTeam::meet(int rank, const RankMatrix& own,
                    const std::function<void(const std::vector<const RankMatrix*>&)>& use) {
  posted_[static_cast<std::size_t>(rank)] = &own;
  if (rank == 0) ++collectives_;
  meeting_.arrive_and_wait();
  use(posted_);
  meeting_.arrive_and_wait();  // nobody changes what others may still read
}

void RankTeam::all_reduce(int rank, RankMatrix& own) {
  RankMatrix sum;
  meet(rank, own, [&](const std::vector<const RankMatrix*>& all) {
    sum = sum_of(all);
    sent_ += (ranks_ - 1) * bytes_of(own);  // to each of the others
  });
  own = std::move(sum);
}

void RankTeam::reduce_scatter_rows(int rank, RankMatrix& own) {
  RankMatrix part;
  meet(rank, own, [&](const std::vector<const RankMatrix*>& all) {
    part = rows_of(sum_of(all), rank, ranks_);
    sent_ += (ranks_ - 1) * bytes_of(part);  // to each of the others its own
  });
  own = std::move(part);
}

void RankTeam::all_gather_rows(int rank, RankMatrix& own) {
  RankMatrix whole{0, own.columns, {}};
  meet(rank, own, [&](const std::vector<const RankMatrix*>& all) {
    for (const RankMatrix* other : all) {
      whole.rows += other->rows;
      whole.cells.insert(whole.cells.end(), other->cells.begin(), other->cells.end());
    }
    sent_ += (ranks_ - 1) * bytes_of(own);
  });
  own = std::move(whole);
}

void RankTeam::all_gather_columns(int rank, RankMatrix& own) {
  RankMatrix turned = transposed(own);
  all_gather_rows(rank, turned);
  own = transposed(turned);
}

}  // namespace parallelarium

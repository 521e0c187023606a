// SPDX-License-Identifier: Apache-2.0
// Cuts of matrices, and f and g, held to matrices that are really multiplied on two ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "engine/lesson/assign/assignment.h"
#include "engine/passes/build.h"
#include "engine/plan/layer/layer_steps.h"
#include "engine/schedules/schedule.h"

namespace parallelarium {
namespace {

struct Matrix {
  int rows = 0, columns = 0;
  std::vector<long> cells;
  long at(int row, int column) const { return cells[std::size_t(row * columns + column)]; }
  bool operator==(const Matrix&) const = default;
};
using OnRanks = std::vector<Matrix>;
constexpr int kRanks = 2;

Matrix numbers(int rows, int columns, int seed) {
  Matrix made{rows, columns, {}};
  for (int cell = 0; cell < rows * columns; ++cell)
    made.cells.push_back((cell * 7 + seed * 13) % 11 - 4);
  return made;
}
Matrix transposed(const Matrix& of) {
  Matrix made{of.columns, of.rows, {}};
  for (int row = 0; row < made.rows; ++row)
    for (int column = 0; column < made.columns; ++column) made.cells.push_back(of.at(column, row));
  return made;
}
Matrix times(const Matrix& a, const Matrix& b) {
  EXPECT_EQ(a.columns, b.rows);
  Matrix made{a.rows, b.columns, {}};
  for (int row = 0; row < a.rows; ++row)
    for (int column = 0; column < b.columns; ++column) {
      long sum = 0;
      for (int k = 0; k < a.columns; ++k) sum += a.at(row, k) * b.at(k, column);
      made.cells.push_back(sum);
    }
  return made;
}
Matrix columns_of(const Matrix& of, int rank) {
  const int each = of.columns / kRanks;
  Matrix made{of.rows, each, {}};
  for (int row = 0; row < of.rows; ++row)
    for (int column = 0; column < each; ++column)
      made.cells.push_back(of.at(row, rank * each + column));
  return made;
}
Matrix rows_of(const Matrix& of, int rank) { return transposed(columns_of(transposed(of), rank)); }
// Not linear, and of each number by itself, as GELU is.
Matrix squared(Matrix of) {
  for (long& cell : of.cells) cell *= cell;
  return of;
}
OnRanks all_reduced(OnRanks of) {
  for (std::size_t cell = 0; cell < of[0].cells.size(); ++cell) {
    const long sum = of[0].cells[cell] + of[1].cells[cell];
    of[0].cells[cell] = of[1].cells[cell] = sum;
  }
  return of;
}
OnRanks all_gathered(const OnRanks& of) {
  Matrix whole{of[0].rows, 2 * of[0].columns, {}};
  for (int row = 0; row < whole.rows; ++row)
    for (const Matrix& part : of)
      for (int column = 0; column < part.columns; ++column)
        whole.cells.push_back(part.at(row, column));
  return {whole, whole};
}

constexpr int kWide = 4, kInner = 8;
const Matrix kX = numbers(3, kWide, 1), kIn = numbers(kWide, kInner, 2),
             kOut = numbers(kInner, kWide, 3);

// A product with a matrix that is cut, or nothing where the shapes do not fit.
bool multiply(OnRanks& held, const Matrix& weight, bool by_rows) {
  for (int rank = 0; rank < kRanks; ++rank) {
    Matrix& of = held[std::size_t(rank)];
    if (by_rows && of.columns == weight.rows) of = columns_of(of, rank);
    const Matrix cut = by_rows ? rows_of(weight, rank) : columns_of(weight, rank);
    if (of.columns != cut.rows) return false;
    of = times(of, cut);
  }
  return true;
}

// The fewest collectives with which both ranks end with one rank's result: all ways are tried.
int fewest_collectives(bool first_by_rows, bool second_by_rows) {
  const Matrix wanted = times(squared(times(kX, kIn)), kOut);
  int fewest = 99;
  for (int inside = 0; inside < 3; ++inside)
    for (int end = 0; end < 3; ++end) {
      OnRanks held{kX, kX};
      const auto communicate = [&](int how) {
        if (how == 1) held = all_reduced(held);
        if (how == 2) held = all_gathered(held);
      };
      if (!multiply(held, kIn, first_by_rows)) continue;
      communicate(inside);
      for (Matrix& of : held) of = squared(of);
      if (!multiply(held, kOut, second_by_rows)) continue;
      communicate(end);
      if (held[0] == wanted && held[1] == wanted)
        fewest = std::min(fewest, int(inside > 0) + int(end > 0));
    }
  return fewest;
}

const char* word(bool by_rows) { return by_rows ? "rows" : "columns"; }

TEST(AssignMatrices, NeedAsManyCollectivesAsRanksThatMultiplyThem) {
  std::set<int> counts;
  for (int cut = 0; cut < 16; ++cut) {
    const auto by_rows = [&](int matrix) { return (cut >> matrix & 1) != 0; };
    const AssignmentFacts made = matrix_facts({{"qkv", word(by_rows(0))},
                                               {"projection", word(by_rows(1))},
                                               {"mlp-in", word(by_rows(2))},
                                               {"mlp-out", word(by_rows(3))}});
    const int needed =
        fewest_collectives(by_rows(0), by_rows(1)) + fewest_collectives(by_rows(2), by_rows(3));
    EXPECT_EQ(made.facts.at("collectives"), needed) << cut;
    // One collective of each half is no fault; each of the others has its reason.
    EXPECT_EQ(made.reasons.empty(), needed == 2) << cut;
    counts.insert(needed);
  }
  EXPECT_EQ(counts, (std::set<int>{2, 3, 4}));
}

// The Program cuts by columns, then rows: as many collectives of activations in a forward.
TEST(AssignMatrices, TheProgramsOwnCutNeedsWhatTheFactsSay) {
  auto setup = default_setup();
  setup.mesh = {};
  setup.mesh.tp = 2;
  const auto order = make_order(setup);
  ASSERT_TRUE(order.ok());
  const auto program = build_program(setup, *order, BuildOptions{.all_ranks = true});
  ASSERT_TRUE(program.ok());
  int collectives = 0;
  for (const LayerStep& step : layer_steps(setup, *program, {}).steps)
    collectives += step.kind == LayerStepKind::kCollective;
  const auto facts =
      matrix_facts(
          {{"qkv", "columns"}, {"projection", "rows"}, {"mlp-in", "columns"}, {"mlp-out", "rows"}})
          .facts;
  EXPECT_EQ(facts.at("collectives"), collectives);
  EXPECT_EQ(facts.at("all_reduces"), 2);
  // Each of two ranks sends 4 tokens, 8 wide, of 8 bytes to the other, at the end of each half.
  EXPECT_EQ(facts.at("sent_bytes"), 2 * 2 * 4 * 8 * 8);
}

// f and g as functions of what ranks hold, forward and backward through the cut MLP.
bool is_right(const std::string& first, const std::string& between, const std::string& last) {
  OnRanks held{kX, kX};
  const auto place = [&](const std::string& letter, const char* sums) {
    if (letter == sums) held = all_reduced(held);
  };
  place(first, "g");
  const OnRanks input = held;
  multiply(held, kIn, false);
  const OnRanks inner = held;
  for (Matrix& of : held) of = squared(of);
  place(between, "g");
  multiply(held, kOut, true);
  place(last, "g");
  const Matrix wanted = times(squared(times(kX, kIn)), kOut);
  if (held[0] != wanted || held[1] != wanted) return false;
  const Matrix above = numbers(3, kWide, 5);  // the gradient of Y, the same on all ranks
  held = {above, above};
  place(last, "f");
  for (int rank = 0; rank < kRanks; ++rank)
    held[std::size_t(rank)] = times(held[std::size_t(rank)], transposed(rows_of(kOut, rank)));
  place(between, "f");
  for (int rank = 0; rank < kRanks; ++rank) {
    Matrix& of = held[std::size_t(rank)];
    for (std::size_t cell = 0; cell < of.cells.size(); ++cell)
      of.cells[cell] *= 2 * inner[std::size_t(rank)].cells[cell];
    of = times(of, transposed(columns_of(kIn, rank)));
  }
  place(first, "f");
  const Matrix whole = times(kX, kIn);
  Matrix back = times(above, transposed(kOut));
  for (std::size_t cell = 0; cell < back.cells.size(); ++cell)
    back.cells[cell] *= 2 * whole.cells[cell];
  back = times(back, transposed(kIn));
  return held[0] == back && held[1] == back;
}

TEST(AssignConjugates, AreRightWhereRanksThatComputeWithThemAre) {
  int right = 0;
  for (const char* first : {"f", "g", "nothing"})
    for (const char* between : {"f", "g", "nothing"})
      for (const char* last : {"f", "g", "nothing"}) {
        const AssignmentFacts made = conjugate_facts(
            {{"before-mlp-in", first}, {"before-mlp-out", between}, {"behind-mlp-out", last}});
        const bool computed = is_right(first, between, last);
        EXPECT_EQ(made.facts.at("wrong") == 0, computed) << first << between << last;
        EXPECT_EQ(made.reasons.empty(), computed);
        right += computed;
        const int sums = (std::string(first) != "nothing") + (std::string(between) != "nothing") +
                         (std::string(last) != "nothing");
        EXPECT_EQ(made.facts.at("collectives"), sums) << "f adds on the way back, g on the way on";
      }
  EXPECT_EQ(right, 1);
}

}  // namespace
}  // namespace parallelarium

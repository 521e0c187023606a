// SPDX-License-Identifier: Apache-2.0
// Collectives of every type and reduction in turn, and cells that came out wrong.
#pragma once

#include <gtest/gtest.h>

#include "engine/collectives/collective.h"
#include "engine/collectives/observation.h"

namespace parallelarium {

inline constexpr DataType kTypesInTurn[] = {DataType::kF32, DataType::kBf16, DataType::kF64,
                                            DataType::kI32};
inline constexpr Reduction kReductionsInTurn[] = {
    Reduction::kSum, Reduction::kProd, Reduction::kMin, Reduction::kMax, Reduction::kAvg};

// `count` elements, of the type and with the reduction whose turn it is.
inline CollectiveSpec spec_in_turn(const AlgorithmInfo& algorithm, int ranks, std::int64_t count,
                                   std::size_t turn) {
  CollectiveSpec spec;
  spec.kind = algorithm.kind;
  spec.algorithm = algorithm.name;
  spec.ranks = ranks;
  spec.root = ranks / 2;
  spec.type = kTypesInTurn[turn % 4];
  spec.reduction = kReductionsInTurn[turn % 5];
  spec.bytes = count * size_of(spec.type);
  return spec;
}

inline void expect_no_wrong_cell(const CollectiveObservation& seen, const CollectiveSpec& spec) {
  for (const WrongCell& cell : seen.wrong)
    ADD_FAILURE() << spec.ranks << " ranks, " << spec.bytes / size_of(spec.type) << " of "
                  << name_of(spec.type) << ", " << name_of(spec.reduction) << ": rank " << cell.rank
                  << " element " << cell.element << " is " << cell.found << ", not "
                  << cell.expected;
  EXPECT_TRUE(seen.correct);
}

}  // namespace parallelarium

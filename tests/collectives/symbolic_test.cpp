// SPDX-License-Identifier: Apache-2.0
// Every algorithm, run on sets of contributions: right for every input at once.
#include "engine/collectives/symbolic.h"

#include <gtest/gtest.h>

namespace parallelarium {
namespace {

constexpr int kRanks[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 32, 64};

class EveryAlgorithm : public testing::TestWithParam<AlgorithmInfo> {};

std::string name_of_case(const testing::TestParamInfo<AlgorithmInfo>& info) {
  std::string name = std::string(name_of(info.param.kind)) + "_" + info.param.name;
  for (char& letter : name) {
    if (letter == '-') letter = '_';
  }
  return name;
}

// Fewer elements than ranks, none, and numbers that do not divide.
TEST_P(EveryAlgorithm, IsRightForEveryInput) {
  int made = 0;
  for (const int ranks : kRanks) {
    for (const std::int64_t count : {0, 1, 7, 64, 1000}) {
      CollectiveSpec spec;
      spec.kind = GetParam().kind;
      spec.algorithm = GetParam().name;
      spec.ranks = ranks;
      spec.bytes = count * 4;
      spec.root = ranks - 1 - (ranks - 1) / 3;
      const Result<Collective> collective = make_collective(spec);
      if (!collective) {
        EXPECT_FALSE(ranks == 1 || ranks == 4 || ranks == 64) << collective.error().text;
        continue;
      }
      ++made;
      for (const Message& wrong : check(collective->program)) ADD_FAILURE() << wrong.text;
      for (const Message& wrong : check_collective(*collective))
        ADD_FAILURE() << ranks << " ranks, " << count << " elements: " << wrong.text;
      if (HasFailure()) return;
    }
  }
  EXPECT_GE(made, 5 * 7);  // 1, 2, 4, 8, 16, 32, 64 at least
}

INSTANTIATE_TEST_SUITE_P(Collectives, EveryAlgorithm, testing::ValuesIn(collective_algorithms()),
                         name_of_case);

}  // namespace
}  // namespace parallelarium

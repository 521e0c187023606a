// SPDX-License-Identifier: Apache-2.0
// What Setup::collectives says about each kind of collective.
#include "engine/collectives/algorithm_names.h"

#include <gtest/gtest.h>

namespace parallelarium {
namespace {

std::string of(const AlgorithmNames& names, CollectiveKind kind) {
  return names[static_cast<std::size_t>(kind)];
}

TEST(AlgorithmNames, OneNameIsForEveryKindThatHasItAndDirectForNone) {
  const Result<AlgorithmNames> ring = algorithm_names("ring");
  ASSERT_TRUE(ring);
  for (int kind = 0; kind < kCollectiveKinds; ++kind) {
    const auto at = static_cast<CollectiveKind>(kind);
    EXPECT_EQ(of(*ring, at), find_algorithm(at, "ring") ? "ring" : "");
  }
  EXPECT_EQ(*algorithm_names("direct"), AlgorithmNames{});
  EXPECT_EQ(to_text(AlgorithmNames{}), "direct");
}

TEST(AlgorithmNames, KindByKindComesBackAsItWasWritten) {
  for (const AlgorithmInfo& a : collective_algorithms()) {
    for (const AlgorithmInfo& b : collective_algorithms()) {
      AlgorithmNames names;
      names[static_cast<std::size_t>(a.kind)] = a.name;
      names[static_cast<std::size_t>(b.kind)] = b.name;
      const Result<AlgorithmNames> read = algorithm_names(to_text(names));
      ASSERT_TRUE(read) << to_text(names);
      EXPECT_EQ(*read, names) << to_text(names);
    }
  }
}

TEST(AlgorithmNames, WhatThereIsNotIsNamed) {
  for (const char* text : {"", "rings", "all_reduce=", "all_reduce=bruck", "ring,", "=ring"}) {
    const Result<AlgorithmNames> read = algorithm_names(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().field, "collectives");
  }
}

}  // namespace
}  // namespace parallelarium

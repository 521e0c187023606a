// SPDX-License-Identifier: Apache-2.0
// Orders as their papers and reference implementations have them.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

namespace parallelarium {

// The text of a file in tests/golden.
inline std::string golden(const std::string& name) {
  std::ifstream file(std::string(PARALLELARIUM_SOURCE_DIR) + "/tests/golden/" + name);
  EXPECT_TRUE(file.good()) << name;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace parallelarium

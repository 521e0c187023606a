// SPDX-License-Identifier: Apache-2.0
// The main program of every test program but that of the window.
#include "tests/own_home.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  testing::UnitTest::GetInstance()->listeners().Append(
      new parallelarium::OwnHome);  // gtest owns it
  return RUN_ALL_TESTS();
}

// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/text/durations.h"

#include <gtest/gtest.h>

#include <string>

namespace parallelarium {
namespace {

TEST(Durations, AreReadInEveryUnitWithASpaceOrWithout) {
  for (const TypedUnit& unit : kTimeUnits) {
    const std::string name = unit.name;
    EXPECT_EQ(seconds_of_text("2.5" + name), 2.5 * unit.size) << name;
    EXPECT_EQ(seconds_of_text("2.5 " + name), 2.5 * unit.size) << name;
  }
  EXPECT_EQ(seconds_of_text("2h"), 7200);
  EXPECT_EQ(seconds_of_text("118.4"), 118.4) << "seconds";
  EXPECT_EQ(seconds_of_text("1e-6"), 1e-6);
}

TEST(Durations, AreNothingElse) {
  for (const char* text :
       {"", "s", "soon", "-1s", "2 km", "2hours", "1s2", "inf", "nan", "2  s", "1e308h"})
    EXPECT_FALSE(seconds_of_text(text)) << text;
}

}  // namespace
}  // namespace parallelarium

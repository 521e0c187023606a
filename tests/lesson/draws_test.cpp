// SPDX-License-Identifier: Apache-2.0
// What `lesson check` says where a text names what is drawn.
#include <gmock/gmock.h>

#include <set>

#include "engine/lesson/check/check.h"
#include "tests/lesson/lesson_copy.h"

namespace parallelarium {
namespace {

std::set<std::string> literals_of(const LessonCopy& copy) {
  copy.write();
  std::set<std::string> places;
  for (const Message& fault : check_lesson(copy.folder().string()).faults)
    if (fault.kind == "text-literal") places.insert(fault.field);
  return places;
}

TEST(Draws, ACountOfOnePlayIsNoTextOfAll) {
  LessonCopy copy("first-look");
  EXPECT_TRUE(literals_of(copy).empty());
  copy.replace("{{L}} ÷ 4.", "The answer is 4 layers.");
  EXPECT_THAT(literals_of(copy), testing::ElementsAre("text.en.md: by-layers"));
}

TEST(Draws, APlainNumberMayStandForAnything) {
  LessonCopy copy("first-look");
  copy.replace("Every layer is on one rank", "Each of 4 ranks has its own; every layer is on one");
  EXPECT_TRUE(literals_of(copy).empty());
}

}  // namespace
}  // namespace parallelarium

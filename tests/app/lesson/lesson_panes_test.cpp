// SPDX-License-Identifier: GPL-3.0-or-later
// A step that names a view shows what the view opens with, not what an earlier step left in front.
#include "app/views/memory/memory_view.h"
#include "tests/app/lesson/lesson_fixture.h"
#include "tests/app/window/window_fixture.h"

namespace parallelarium {
namespace {

class LessonPanes : public WindowFixture {};

TEST_F(LessonPanes, OfMemoryAreThoseThatAStepNames) {
  LessonPlayer& player = window->lesson().player();
  ASSERT_TRUE(player.open(kLessons + QStringLiteral("copies-that-agree"), 4));
  const auto* memory = window->findChild<MemoryView*>();
  ASSERT_NE(memory, nullptr);
  player.set_presents(true);  // goes to any step
  while (player.step().id != "run-it" && !player.at_end()) player.show_step(1);
  ASSERT_EQ(player.step().tab, "memory/holders");
  EXPECT_EQ(memory->pane(), MemoryView::Pane::kHolders);
  player.show_step(1);
  ASSERT_EQ(player.step().tab, "memory");
  EXPECT_EQ(memory->pane(), MemoryView::Pane::kStep);
  player.close();
}

}  // namespace
}  // namespace parallelarium
